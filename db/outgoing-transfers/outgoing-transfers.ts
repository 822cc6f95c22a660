import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import { awaitsJudgement } from '../../domain/compliance/checks.ts';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { IncomingTransferName } from '../../domain/incoming-transfers/changes.ts';
import {
  decideAdoption,
  decideAdvance,
  decideAuthorization,
  decideCallback,
  decideCancellation,
  decidePluginReport,
  decideSubmission,
  type LookedUpPayment,
  type ReportOutcome,
} from '../../domain/outgoing-transfers/changes.ts';
import { decideLookUp, type LookUpAnswer } from '../../domain/outgoing-transfers/look-ups.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { type RequirementRules, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange, TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Database, Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { childrenIn } from '../driver/queries/rows.ts';
import { isListed } from '../driver/values.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { newId } from '../frame/ids.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { drawTransactionNumber } from '../ledger/transaction-numbers.ts';
import { applyTogether, applyUnderLocks } from '../ledger/transfer-changes.ts';
import { openBankingConsents } from '../open-banking/open-banking-schema.ts';
import { recordDifference } from '../reconciliation/statements.ts';
import { lockSituation, situationOf } from './situations.ts';

const DUE_SUBMISSION = prepared((db, given: Given<{ ids: readonly string[] }>) => {
  const { id, submissionStatus, waitingFor, nextLookUpAt, nextCheckAt, ...transfer } = outgoingTransfers;
  return db
    .select({ id, attempt: transfer.submissionAttempt })
    .from(outgoingTransfers)
    .where(
      and(
        isListed(id, given.ids),
        eq(transfer.status, 'processing'),
        eq(transfer.method, 'built-in'),
        eq(submissionStatus, 'unresolved'),
        eq(waitingFor, 'provider'),
        isNull(nextLookUpAt),
        sql`${nextCheckAt} > service_now() + interval '30 minutes'`,
      ),
    );
});

/**
 * The submission attempt that the row says is due; null if none is. `advanceOutgoingTransfer` would give the same answer
 * without changing anything, but takes locks. Shortly before the row's next check this returns null anyway, because only
 * `advanceOutgoingTransfer` postpones the check.
 */
export async function findDueSubmission(reader: Reader, id: OutgoingTransferId): Promise<number | null> {
  const due = await reader.find(DUE_SUBMISSION, id);
  return due?.attempt ?? null;
}

function nameOfReturn({ word }: PaymentReport, now: Date): IncomingTransferName | null {
  return word === 'returned' ? drawName(now) : null;
}

export function drawName(now: Date): IncomingTransferName {
  return { id: newId(), transactionNumber: drawTransactionNumber('incoming-transfer', now) };
}

/** Advances a transfer as far as its row allows and returns the next outside step. Safe to repeat. */
export async function advanceOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules & Pick<RequirementRules, 'compliance'>,
): Promise<OutgoingTransferStep> {
  const situation = await lockSituation(tx, id, rules);
  const { change, step } = decideAdvance(situation);
  applyUnderLocks(tx, [change]);
  const transfer = change?.outgoing?.after ?? situation.transfer;
  return awaitsJudgement(transfer, ruleFor(rules.compliance.outgoing, transfer.currency)) ? { do: 'review' } : step;
}

/** Records a submission's outcome, once per attempt; a late or repeated call only returns the next step. */
export async function recordSubmission(
  tx: Transaction,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const situation = await lockSituation(tx, id, rules);
  const { change, step } = decideSubmission(situation, attempt, report, nameOfReturn(report, situation.now));
  applyUnderLocks(tx, [change]);
  return step;
}

const FIND = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select({ ...getTableColumns(outgoingTransfers), now: sql<Date>`service_now()` })
    .from(outgoingTransfers)
    .where(isListed(outgoingTransfers.id, given.ids)),
);

/**
 * A faster `recordSubmission` for the usual outcomes, released and completed. Decides from a read without locks, and applies
 * the change in a shared statement if the transfer still has its revision. Null: nothing was done, and the outcome must be
 * recorded under locks.
 */
export async function recordTakenSubmission(
  database: Database,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep | null> {
  if (report.word !== 'released' && report.word !== 'completed') return null;
  const found = await database.reader.find(FIND, id);
  if (found?.status !== 'processing' || found.scope !== 'external') return null;
  const situation = situationOf(found, null, new Map(), found.now, rules);
  const { change, step } = decideSubmission(situation, attempt, report, null);
  // Without a posting there is no release to record: the answer is already known or belongs to another attempt.
  if (change === null || change.postings.length === 0) return null;
  return (await applyTogether(database, change)).outcome === 'applied' ? step : null;
}

/** Records a look-up, once per count. A payment of another amount or currency becomes a reconciliation break. */
export async function recordLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  count: number,
  answer: LookUpAnswer,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const situation = await lockSituation(tx, id, rules);
  const { changes, step, outcome } = decideLookUp(situation, count, answer, () => drawName(situation.now));
  if (outcome === 'break') await recordContradiction(tx, situation.transfer);
  // One after the other: a list of changes touches each transfer once.
  for (const change of changes) applyUnderLocks(tx, [change]);
  return step;
}

/** A look-up says something else of the payment than is booked: a reconciliation break, which the frequent comparison knows too. */
export async function recordContradiction(tx: Transaction, transfer: OutgoingTransfer): Promise<void> {
  const { id, provider, currency } = transfer;
  await recordDifference(tx, { provider, currency }, { direction: 'out', reference: id }, 'statement-amount-differs');
}

/** A callback's payment and the provider that sent it. */
export interface PaymentNotification {
  readonly id: OutgoingTransferId;
  readonly provider: string;
}

/**
 * Applies a provider's callback, whether or not a workflow is running, and wakes the workflow if the transfer moved. A
 * payment of another provider or amount is a reconciliation break: nothing moves.
 */
export async function applyPaymentReport(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  report: PaymentReport,
  rules: TransferRules,
): Promise<ReportOutcome> {
  const situation = await lockSituation(tx, id, rules);
  const { change, outcome } = decideCallback(situation, provider, report, nameOfReturn(report, situation.now));
  applyUnderLocks(tx, [change]);
  return outcome;
}

/** After a restore, applies what the provider did with a transfer since the backup. */
export async function adoptPayment(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  found: LookedUpPayment,
  rules: TransferRules,
): Promise<ReportOutcome> {
  const situation = await lockSituation(tx, id, rules);
  const { changes, outcome } = decideAdoption(situation, provider, found, () => drawName(situation.now));
  for (const change of changes) applyUnderLocks(tx, [change]);
  return outcome;
}

/** Applies the report of a plug-in account's caller about its payment; throws if it contradicts the row. Returns the transfer. */
export async function reportPluginPayment(
  tx: Transaction,
  id: OutgoingTransferId,
  report: PaymentReport,
  initiator: Initiator,
  rules: TransferRules,
): Promise<OutgoingTransfer> {
  const situation = await lockSituation(tx, id, rules);
  const change = decidePluginReport(situation, report, nameOfReturn(report, situation.now));
  applyAudited(tx, change, 'reported', initiator);
  return change?.outgoing?.after ?? situation.transfer;
}

/** Cancels a pending transfer and returns it; from `processing` on this is an illegal transition. */
export async function cancelOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  initiator: Initiator,
  rules: TransferRules,
): Promise<OutgoingTransfer> {
  const situation = await lockSituation(tx, id, rules);
  const change = decideCancellation(situation);
  applyAudited(tx, change, 'cancelled', initiator);
  return change?.outgoing?.after ?? situation.transfer;
}

// A consent to a payment is approved before the payment is there, so this never changes.
const CONSENTS = childrenIn(
  openBankingConsents,
  openBankingConsents.outgoingTransferId,
  ({ outgoingTransferId }) => outgoingTransferId ?? '',
);

/**
 * Authorizes a pending transfer. Its makers (domain/outgoing-transfers/requests/makers.ts) may not. Returns the transfer as authorized, which is still
 * pending (specification 3): where it goes from there, in the same transaction, are moves of their own.
 */
export async function authorizeOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  initiator: Initiator,
  rules: TransferRules,
): Promise<OutgoingTransfer> {
  const situation = await lockSituation(tx, id, rules);
  const consents = await tx.findChildren(CONSENTS, id);
  const others = consents.flatMap(({ approvedBy }) => approvedBy ?? []);
  applyAudited(tx, decideAuthorization(situation, initiator.actor, others), 'authorized', initiator);
  return { ...situation.transfer, authorizationStatus: 'fulfilled' };
}

/** Applies a requested change and its audit entry. */
function applyAudited(tx: Transaction, change: TransferChange | null, action: string, initiator: Initiator): void {
  if (change === null || change.outgoing === null) return;
  const { before, after } = change.outgoing;
  const entry = { resource: 'outgoing-transfer', resourceId: after.id, action, initiator } as const;
  appendAuditEntry(tx, {
    ...entry,
    ...(before === null ? {} : { before: auditedFields(before) }),
    after: auditedFields(after),
  });
  applyUnderLocks(tx, [change]);
}

function auditedFields(transfer: OutgoingTransfer): AuditedFields {
  const { status, failureCode: statusReasonCode, authorizationStatus, returned, incomingTransferId } = transfer;
  const { serviceProviderId, serviceProviderReference } = transfer;
  const provider = { serviceProviderId, serviceProviderReference };
  return { status, statusReasonCode, authorizationStatus, returned, incomingTransferId, ...provider };
}

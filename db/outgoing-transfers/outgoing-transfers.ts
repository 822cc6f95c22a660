import { and, eq, isNull, sql } from 'drizzle-orm';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { awaitsScreening } from '../../domain/compliance/checks.ts';
import type { IncomingTransferName } from '../../domain/incoming-transfers/changes.ts';
import {
  decideAdoption,
  decideAdvance,
  decideCallback,
  decideSubmission,
} from '../../domain/outgoing-transfers/changes.ts';
import { decideLookUp, type LookUpAnswer } from '../../domain/outgoing-transfers/look-ups.ts';
import type { LookedUpPayment, PaymentReport, ReportOutcome } from '../../domain/outgoing-transfers/reports.ts';
import { type RequirementRules, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/statuses.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { newId } from '../common/ids.ts';
import { outgoingTransfers } from '../common/schema.ts';
import type { Database, Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { recordDifference } from '../reconciliation/statements.ts';
import { drawTransactionNumber } from '../transfers/transaction-numbers.ts';
import { applyUnderLocks, applyWithoutLocks } from '../transfers/transfer-changes.ts';
import { DATED_TRANSFERS, lockSituation, situationOf } from './situations.ts';

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
 * The submission attempt that is due according to the row; null if none is. `advanceOutgoingTransfer` would return the same
 * without changing anything, but takes locks. Shortly before the row's next check this returns null anyway, because only
 * `advanceOutgoingTransfer` postpones the check.
 */
export async function findDueSubmission(reader: Reader, id: OutgoingTransferId): Promise<number | null> {
  const due = await reader.find(DUE_SUBMISSION, id);
  return due?.attempt ?? null;
}

export function nameOfReturn({ outcome }: PaymentReport, now: Date): IncomingTransferName | null {
  return outcome === 'returned' ? drawName(now) : null;
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
  return awaitsScreening(transfer, ruleFor(rules.compliance.outgoing, transfer.currency)) ? { do: 'review' } : step;
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

/**
 * A faster `recordSubmission` for the usual outcomes, released and completed. Decides from a read without locks, and applies
 * the change in a shared statement if the transfer still has its revision. Null: nothing was done, and the outcome must be
 * recorded under locks.
 */
export async function recordAcceptedSubmission(
  database: Database,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep | null> {
  if (report.outcome !== 'released' && report.outcome !== 'completed') return null;
  const found = await database.reader.find(DATED_TRANSFERS, id);
  if (found?.status !== 'processing' || found.scope !== 'external') return null;
  const situation = situationOf(found, null, new Map(), found, rules);
  const { change, step } = decideSubmission(situation, attempt, report, null);
  // Without a posting there is no release to record: the answer is already known, or for a different attempt.
  if (change === null || change.postings.length === 0) return null;
  return (await applyWithoutLocks(database, change)).outcome === 'applied' ? step : null;
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
  // In separate calls: a list of changes touches each transfer once.
  for (const change of changes) applyUnderLocks(tx, [change]);
  return step;
}

/** A look-up contradicts what is booked for the payment: a reconciliation break, which the frequent comparison also finds. */
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
 * Applies a provider's callback, whether or not a workflow is running, and wakes the workflow if the transfer changed. A
 * payment of another provider or amount is a reconciliation break: nothing changes.
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

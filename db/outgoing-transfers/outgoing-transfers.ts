import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { IncomingTransferName } from '../../domain/incoming-transfers/changes.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import {
  decideAdoption,
  decideAdvance,
  decideAuthorization,
  decideCallback,
  decideCancellation,
  decideLookUp,
  decidePluginReport,
  decideSubmission,
  type LookedUpPayment,
  type ReportOutcome,
} from '../../domain/outgoing-transfers/changes.ts';
import type { TransferRules, TransferSituation } from '../../domain/outgoing-transfers/drafts.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Database, Reader, Transaction } from '../driver/client.ts';
import { everyColumn, LISTED_IDS } from '../driver/values.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { newId } from '../frame/ids.ts';
import { incomingTransfers, outgoingTransfers } from '../frame/schema.ts';
import { lockAccountsOf } from '../ledger/ledger.ts';
import { recordDifference } from '../ledger/reconciliation.ts';
import { drawTransactionNumber } from '../ledger/transaction-numbers.ts';
import { applyTogether, applyUnderLocks } from '../ledger/transfer-changes.ts';

const FIND_DUE_SUBMISSION = `
  SELECT id, submission_attempt AS attempt FROM outgoing_transfers
  WHERE id = ANY (${LISTED_IDS}) AND status = 'processing' AND method = 'built-in'
    AND submission_status = 'unresolved' AND waiting_for = 'provider' AND next_check_at > service_now() + interval '30 minutes'`;

/**
 * Which attempt at submitting the payment is due, as the transfer was last left; null where that is not what it waits for.
 * `advanceOutgoingTransfer` would decide the same and change nothing, but takes locks; near the row's next check it is asked
 * all the same, because it puts the check off.
 */
export async function findDueSubmission(reader: Reader, id: OutgoingTransferId): Promise<number | null> {
  const due = await reader.find<{ id: string; attempt: number }>(FIND_DUE_SUBMISSION, id);
  return due?.attempt ?? null;
}

// As text, made once: every transition under locks begins with these.
const LOCK = `SELECT ${everyColumn(outgoingTransfers)} FROM outgoing_transfers WHERE id = $1 FOR UPDATE`;
const LOCK_INCOMING = `SELECT ${everyColumn(incomingTransfers)} FROM incoming_transfers
  WHERE id = (SELECT incoming_transfer_id FROM outgoing_transfers WHERE id = $1) FOR UPDATE`;

/** Locks the transfer's accounts, then the transfer and its incoming one, and reads what is decided from. */
async function lock(tx: Transaction, id: OutgoingTransferId, rules: TransferRules): Promise<TransferSituation> {
  const [accounts, [transfer], [incoming], now] = await Promise.all([
    lockAccountsOf(tx, id),
    tx.statement<OutgoingTransfer>(LOCK, [id]),
    tx.statement<IncomingTransfer>(LOCK_INCOMING, [id]),
    readClock(tx),
  ]);
  if (transfer === undefined) throw recordNotFound('outgoingTransfer', 'id', id);
  return situationOf(transfer, incoming ?? null, accounts, now, rules);
}

export function situationOf(
  transfer: OutgoingTransfer,
  incoming: IncomingTransfer | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  now: Date,
  rules: TransferRules,
): TransferSituation {
  const unmoved = incoming === null ? null : { before: incoming, after: incoming, events: [] };
  return { before: transfer, transfer, incoming: unmoved, accounts, now, rules };
}

function nameOfReturn({ word }: PaymentReport, now: Date): IncomingTransferName | null {
  return word === 'returned'
    ? { id: newId(), transactionNumber: drawTransactionNumber('incoming-transfer', now) }
    : null;
}

/** Moves a transfer as far as its row allows, and says what must be done or waited for outside. Safe to repeat. */
export async function advanceOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const { change, step } = decideAdvance(await lock(tx, id, rules));
  applyUnderLocks(tx, [change]);
  return step;
}

/** Records the outcome of a submission, once per attempt; a later or repeated record only says what is next. */
export async function recordSubmission(
  tx: Transaction,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const situation = await lock(tx, id, rules);
  const { change, step } = decideSubmission(situation, attempt, report, nameOfReturn(report, situation.now));
  applyUnderLocks(tx, [change]);
  return step;
}

const FIND = `SELECT ${everyColumn(outgoingTransfers)}, service_now() AS now FROM outgoing_transfers WHERE id = ANY (${LISTED_IDS})`;

/**
 * As `recordSubmission`, of a payment that was taken or completed, which nearly every submission is: decided from what is read
 * without locks, and applied together with others of the same moment if the transfer still has its revision. Null: nothing
 * was done, and it must be recorded under locks.
 */
export async function recordTakenSubmission(
  database: Database,
  id: OutgoingTransferId,
  attempt: number,
  report: PaymentReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep | null> {
  if (report.word !== 'released' && report.word !== 'completed') return null;
  const found = await database.reader.find<OutgoingTransfer & { readonly now: Date }>(FIND, id);
  if (found?.status !== 'processing' || found.scope !== 'external') return null;
  const situation = situationOf(found, null, new Map(), found.now, rules);
  const { change, step } = decideSubmission(situation, attempt, report, null);
  // Without a posting nothing was released: it was another attempt's answer, or one that is known.
  if (change === null || change.postings.length === 0) return null;
  return (await applyTogether(database, change)).outcome === 'applied' ? step : null;
}

/** Records a look-up, once per count; a payment of other money is a break for a person to look at. */
export async function recordLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  count: number,
  found: LookedUpPayment | null,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const situation = await lock(tx, id, rules);
  const name = found === null ? null : nameOfReturn(found, situation.now);
  const { change, step, outcome } = decideLookUp(situation, count, found, name);
  if (outcome === 'break') {
    const { provider, currency } = situation.transfer;
    await recordDifference(tx, { provider, currency }, { direction: 'out', reference: id }, 'statement-amount-differs');
  }
  applyUnderLocks(tx, [change]);
  return step;
}

/** Which payment a callback is about, and whose callback it is. */
export interface PaymentNotification {
  readonly id: OutgoingTransferId;
  readonly provider: string;
}

/**
 * Applies a provider's callback, with or without a running workflow, and wakes the workflow when something moved. Of a
 * payment that is not this provider's, or of another amount, it is a break: nothing moves.
 */
export async function applyPaymentReport(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  report: PaymentReport,
  rules: TransferRules,
): Promise<ReportOutcome> {
  const situation = await lock(tx, id, rules);
  const { change, outcome } = decideCallback(situation, provider, report, nameOfReturn(report, situation.now));
  applyUnderLocks(tx, [change]);
  return outcome;
}

/** After a restore: applies what the provider did with a transfer before our row was set back. */
export async function adoptPayment(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  found: LookedUpPayment,
  rules: TransferRules,
): Promise<ReportOutcome> {
  const situation = await lock(tx, id, rules);
  const { change, outcome } = decideAdoption(situation, provider, found, nameOfReturn(found, situation.now));
  applyUnderLocks(tx, [change]);
  return outcome;
}

/** A caller of a plug-in account reports how its payment went; throws what contradicts the row. */
export async function reportPluginPayment(
  tx: Transaction,
  id: OutgoingTransferId,
  report: PaymentReport,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  const situation = await lock(tx, id, rules);
  const change = decidePluginReport(situation, report, nameOfReturn(report, situation.now));
  applyAudited(tx, change, 'reported', initiator);
}

/** Cancels a pending transfer; later it is an illegal transition. */
export async function cancelOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  applyAudited(tx, decideCancellation(await lock(tx, id, rules)), 'cancelled', initiator);
}

/** Fulfils the authorization of a pending transfer; never by the machine user that made it. */
export async function authorizeOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  initiator: Initiator,
  rules: TransferRules,
): Promise<void> {
  const change = decideAuthorization(await lock(tx, id, rules), initiator.actor);
  applyAudited(tx, change, 'authorized', initiator);
}

/** Applies what somebody asked for, and records who. */
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

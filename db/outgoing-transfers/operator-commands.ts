import { refusal } from '../../domain/frame/errors.ts';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import { formatDateTime, formatDateTimeMs } from '../../domain/frame/time/dates.ts';
import type { LookedUpPayment, ReportOutcome } from '../../domain/outgoing-transfers/changes.ts';
import { decideLookedUpReturns, decideLookUpRequest } from '../../domain/outgoing-transfers/look-ups.ts';
import {
  decideEndAgain,
  decideFailure,
  decideNextWindow,
  decideRetry,
} from '../../domain/outgoing-transfers/operator-commands.ts';
import { isFinalOutgoingTransferStatus } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type {
  TransferChange,
  TransferRules,
  TransferSituation,
} from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Transaction } from '../driver/client.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { applyUnderLocks } from '../ledger/transfer-changes.ts';
import { readClosure } from '../providers/submissions.ts';
import { drawName, recordContradiction } from './outgoing-transfers.ts';
import { lockSituation } from './situations.ts';

/** The transfer after an operator's command, and whether the command changed it: a repeated one does not. */
export interface Commanded {
  readonly transfer: OutgoingTransfer;
  readonly changed: boolean;
}

/** Submits a payment again that its provider, just looked up, does not know. */
export async function retrySubmission(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideRetry(situation), { action: 'submitted-again', initiator });
}

/** Has the transfer's workflow look up its payment now. */
export async function requestLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideLookUpRequest(situation), { action: 'look-up-requested', initiator });
}

/** Books what the provider of a completed payment, asked by an operator, says has come back. Nothing else of it changes. */
export async function bookLookedUpReturns(
  tx: Transaction,
  { id, found }: { readonly id: OutgoingTransferId; readonly found: LookedUpPayment },
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded & { readonly outcome: ReportOutcome }> {
  const situation = await lockSituation(tx, id, rules);
  const { transfer, now } = situation;
  const { changes, outcome } = decideLookedUpReturns(situation, found, () => drawName(now));
  if (outcome === 'break') await recordContradiction(tx, transfer);
  const after = changes.at(-1)?.outgoing?.after;
  if (after === undefined) return { transfer, changed: false, outcome };
  const entry = { resource: 'outgoing-transfer', resourceId: id, action: 'returns-booked', initiator } as const;
  appendAuditEntry(tx, { ...entry, before: returnFields(transfer), after: returnFields(after) });
  // One after the other: a list of changes touches each transfer once.
  for (const change of changes) applyUnderLocks(tx, [change]);
  return { transfer: after, changed: true, outcome };
}

function returnFields({
  failureCode: statusReasonCode,
  returned,
  incomingTransferId,
}: OutgoingTransfer): AuditedFields {
  return { statusReasonCode, returned, incomingTransferId };
}

/** Fails a transfer that no provider can have paid. */
export async function failOutgoingTransfer(
  tx: Transaction,
  { id, reason }: { readonly id: OutgoingTransferId; readonly reason: string },
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded> {
  const situation = await lockSituation(tx, id, rules);
  const change = decideFailure(situation, reason);
  // A restored row may say less than its provider knows.
  if (change !== null && situation.transfer.scope === 'external' && (await isRestoreUnderWay(tx))) {
    const message = `Outgoing transfer ${id} cannot be failed: after-restore has not ended, and the provider may have paid it.`;
    throw refusal('common.state.illegal_transition', ['outgoingTransfer', 'status', 'failed'], message);
  }
  return applyCommand(tx, situation, change, { action: 'failed', initiator });
}

async function isRestoreUnderWay(tx: Transaction): Promise<boolean> {
  return ((await readClosure(tx))?.restoreBeganAt ?? null) !== null;
}

const ENDED_BEFORE = 'It had ended before the database was restored.';

/**
 * Ends a transfer again whose end the restore of the instant `since` has lost. Only for `after-restore`, which has just seen that its
 * provider does not know it or has refused it; `neverPaid` as in `decideEndAgain`.
 */
export async function endAfterRestore(
  tx: Transaction,
  { id, since, neverPaid }: { readonly id: OutgoingTransferId; readonly since: Date; readonly neverPaid: boolean },
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded> {
  const situation = await lockSituation(tx, id, rules);
  const { transfer } = situation;
  if (isFinalOutgoingTransferStatus(transfer.status)) return { transfer, changed: false };
  const change = decideEndAgain(situation, ENDED_BEFORE, neverPaid);
  const noted = { since: since.toISOString() };
  return applyCommand(tx, situation, change, { action: 'ended-after-restore', initiator, noted });
}

/** Moves a pending transfer to the window after the present one. */
export async function moveToNextWindow(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<Commanded> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideNextWindow(situation), { action: 'postponed', initiator });
}

function applyCommand(
  tx: Transaction,
  { transfer }: TransferSituation,
  change: TransferChange | null,
  given: { readonly action: string; readonly initiator: Initiator; readonly noted?: AuditedFields },
): Commanded {
  const after = change?.outgoing?.after;
  if (after === undefined) return { transfer, changed: false };
  const { action, initiator, noted } = given;
  const entry = { resource: 'outgoing-transfer', resourceId: after.id, action, initiator } as const;
  appendAuditEntry(tx, { ...entry, before: auditedFields(transfer), after: { ...auditedFields(after), ...noted } });
  applyUnderLocks(tx, [change]);
  return { transfer: after, changed: true };
}

function auditedFields(transfer: OutgoingTransfer): AuditedFields {
  const { status, failureCode: statusReasonCode, transferDate, rollCount, submissionAttempt } = transfer;
  return {
    status,
    statusReasonCode,
    transferDate,
    rollCount,
    cutOffDateTime: transfer.cutOffAt === null ? null : formatDateTime(transfer.cutOffAt),
    submissionAttempt,
    // With milliseconds, so that a look-up that is only a little earlier differs.
    nextLookUpDateTime: transfer.nextLookUpAt === null ? null : formatDateTimeMs(transfer.nextLookUpAt),
  };
}

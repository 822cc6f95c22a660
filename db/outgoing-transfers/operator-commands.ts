import { rejection } from '../../domain/common/errors.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { formatDateTime, formatDateTimeMs } from '../../domain/common/time/dates.ts';
import { decideLookedUpReturns, decideLookUpRequest } from '../../domain/outgoing-transfers/look-ups.ts';
import {
  decideFailure,
  decideNextWindow,
  decideRepeatedEnd,
  decideRetry,
} from '../../domain/outgoing-transfers/operator-commands.ts';
import type { LookedUpPayment, ReportOutcome } from '../../domain/outgoing-transfers/reports.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { isFinalOutgoingTransferStatus } from '../../domain/outgoing-transfers/statuses.ts';
import type {
  TransferChange,
  TransferRules,
  TransferSituation,
} from '../../domain/outgoing-transfers/transfer-changes.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClosure } from '../providers/submissions.ts';
import type { Transaction } from '../query/database.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';
import { drawName, recordContradiction } from './outgoing-transfers.ts';
import { lockSituation } from './situations.ts';

/** The transfer after an operator's command, and whether the command changed it: a repeated one does not. */
export interface CommandResult {
  readonly transfer: OutgoingTransfer;
  readonly changed: boolean;
}

/** Submits a payment again after a look-up has just found it unknown to its provider. */
export async function retrySubmission(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<CommandResult> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideRetry(situation), { action: 'submitted-again', initiator });
}

/** Has the transfer's workflow look up its payment now. */
export async function requestLookUp(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<CommandResult> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideLookUpRequest(situation), { action: 'look-up-requested', initiator });
}

/** Books the returns of a completed payment that its provider reports to an operator's look-up. Nothing else changes. */
export async function bookLookedUpReturns(
  tx: Transaction,
  { id, found }: { readonly id: OutgoingTransferId; readonly found: LookedUpPayment },
  rules: TransferRules,
  initiator: Initiator,
): Promise<CommandResult & { readonly outcome: ReportOutcome }> {
  const situation = await lockSituation(tx, id, rules);
  const { transfer, now } = situation;
  const { changes, outcome } = decideLookedUpReturns(situation, found, () => drawName(now));
  if (outcome === 'break') await recordContradiction(tx, transfer);
  const after = changes.at(-1)?.outgoing?.after;
  if (after === undefined) return { transfer, changed: false, outcome };
  const entry = { resource: 'outgoing-transfer', resourceId: id, action: 'returns-booked', initiator } as const;
  appendAuditEntry(tx, { ...entry, before: returnFields(transfer), after: returnFields(after) });
  // In separate calls: a list of changes touches each transfer once.
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
): Promise<CommandResult> {
  const situation = await lockSituation(tx, id, rules);
  const change = decideFailure(situation, reason);
  // A restored row may be older than what its provider knows.
  if (change !== null && situation.transfer.scope === 'external' && (await isRestoreUnderWay(tx))) {
    const message = `Outgoing transfer ${id} cannot be failed: after-restore has not ended, and the provider may have paid it.`;
    throw rejection('common.state.illegal_transition', ['outgoingTransfer', 'status', 'failed'], message);
  }
  return applyCommand(tx, situation, change, { action: 'failed', initiator });
}

async function isRestoreUnderWay(tx: Transaction): Promise<boolean> {
  return ((await readClosure(tx))?.restoreBeganAt ?? null) !== null;
}

const ENDED_BEFORE = 'It had ended before the database was restored.';

/**
 * Ends a transfer again after the restore of the instant `since` has lost its end. Only for `after-restore`, which has just checked that
 * its provider does not know it or has rejected it; `neverPaid` as in `decideRepeatedEnd`.
 */
export async function endAfterRestore(
  tx: Transaction,
  { id, since, neverPaid }: { readonly id: OutgoingTransferId; readonly since: Date; readonly neverPaid: boolean },
  rules: TransferRules,
  initiator: Initiator,
): Promise<CommandResult> {
  const situation = await lockSituation(tx, id, rules);
  const { transfer } = situation;
  if (isFinalOutgoingTransferStatus(transfer.status)) return { transfer, changed: false };
  const change = decideRepeatedEnd(situation, ENDED_BEFORE, neverPaid);
  const noted = { since: since.toISOString() };
  return applyCommand(tx, situation, change, { action: 'ended-after-restore', initiator, noted });
}

/** Moves a pending transfer to the window after the present one. */
export async function moveToNextWindow(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<CommandResult> {
  const situation = await lockSituation(tx, id, rules);
  return applyCommand(tx, situation, decideNextWindow(situation), { action: 'postponed', initiator });
}

function applyCommand(
  tx: Transaction,
  { transfer }: TransferSituation,
  change: TransferChange | null,
  given: { readonly action: string; readonly initiator: Initiator; readonly noted?: AuditedFields },
): CommandResult {
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
    // With milliseconds, so that even a slightly earlier look-up differs.
    nextLookUpDateTime: transfer.nextLookUpAt === null ? null : formatDateTimeMs(transfer.nextLookUpAt),
  };
}

import { sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { isOfOtherMoney } from '../../domain/outgoing-transfers/claims.ts';
import {
  decidePendingTransfer,
  isFinalOutgoingTransferStatus,
  lookUpDelayMs,
  OUTGOING_TRANSFER_MOVES,
  type OutgoingTransferStatus,
  type OutgoingTransferStep,
  type OutgoingTransferWait,
  outgoingTransferEventType,
  type RequirementStatus,
  type Requirements,
} from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { type PaymentReport, reasonCodeOf, statusesAfterWord } from '../../domain/outgoing-transfers/reports.ts';
import type { Schemes } from '../../domain/providers/schemes.ts';
import { leaveToCommit, type Transaction } from '../driver/client.ts';
import { everyColumn } from '../driver/values.ts';
import { readClock } from '../frame/clock.ts';
import type { EventEntry } from '../frame/events.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { createReturn, isBookedReturn } from '../incoming-transfers/returns.ts';
import { completeInternalIncoming, failInternalIncoming, reviewInternalIncoming } from '../incoming-transfers/work.ts';
import { isUsable, type LockedAccount, lockAccountsOf, type Posting, post, reserve } from '../ledger/ledger.ts';
import { outgoingTransferEventData } from '../ledger/transfer-event-data.ts';

export type OutgoingTransferRow = typeof outgoingTransfers.$inferSelect;

/** The configured rules that decide about pending transfers. */
export interface TransferRules {
  readonly rollLimit: number;
  readonly schemes: Schemes;
}

/** One transfer under its locks, and what has become of it so far in this transaction. Saved once, at the end. */
export interface Work {
  readonly tx: Transaction;
  /** Posts to the ledger; that it is written is known when the transaction commits. */
  readonly post: (posting: Posting) => void;
  readonly now: Date;
  readonly rules: TransferRules;
  readonly before: OutgoingTransferRow;
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  transfer: OutgoingTransferRow;
  readonly entries: EventEntry[];
  /** Its row is not there yet: the statement that inserts it also reserves its money, or marks the account that it waits for. */
  readonly isNew: boolean;
}

// As text, made once: every transition begins with it.
const LOCK = `SELECT ${everyColumn(outgoingTransfers)} FROM outgoing_transfers WHERE id = $1 FOR UPDATE`;

/** Locks the transfer's accounts, then the transfer. */
export async function begin(tx: Transaction, id: OutgoingTransferId, rules: TransferRules): Promise<Work> {
  const [accounts, [transfer], now] = await Promise.all([
    lockAccountsOf(tx, id),
    tx.statement<OutgoingTransferRow>(LOCK, [id]),
    readClock(tx),
  ]);
  if (transfer === undefined) throw recordNotFound('outgoingTransfer', 'id', id);
  return { tx, post: posterOf(tx), now, rules, before: transfer, accounts, transfer, entries: [], isNew: false };
}

export function posterOf(tx: Transaction): Work['post'] {
  return (posting) => leaveToCommit(post(tx, posting));
}

export function source(work: Work): LockedAccount {
  const account = work.accounts.get(work.transfer.accountId);
  if (account === undefined) throw recordNotFound('account', 'id', work.transfer.accountId);
  return account;
}

export function totalMinor(transfer: OutgoingTransferRow): bigint {
  return transfer.amountMinor + transfer.feeMinor;
}

export function moveTo(work: Work, status: OutgoingTransferStatus, change: Partial<OutgoingTransferRow> = {}): void {
  requireMove('outgoing transfer', OUTGOING_TRANSFER_MOVES, work.transfer.status, status);
  work.transfer = { ...work.transfer, ...change, status, waitingFor: null, waitingSince: null, waitingUntil: null };
  work.entries.push({ type: outgoingTransferEventType(status), data: outgoingTransferEventData(work.transfer) });
}

function wait(work: Work, waitingFor: OutgoingTransferWait, until: Date | null): OutgoingTransferStep {
  const { transfer, now } = work;
  const waitingSince = transfer.waitingFor === waitingFor ? (transfer.waitingSince ?? now) : now;
  work.transfer = { ...transfer, waitingFor, waitingSince, waitingUntil: until };
  return { do: 'wait', for: waitingFor, until: until?.toISOString() ?? null };
}

export async function advance(work: Work): Promise<OutgoingTransferStep> {
  while (work.transfer.status === 'pending') {
    const { transfer, rules } = work;
    const account = source(work);
    const destination =
      transfer.destinationAccountId === null ? undefined : work.accounts.get(transfer.destinationAccountId);
    const decision = decidePendingTransfer(
      { ...transfer, totalMinor: totalMinor(transfer) },
      {
        now: work.now,
        schemes: rules.schemes,
        rollLimit: rules.rollLimit,
        accountsActive: isUsable(account) && (destination === undefined || isUsable(destination)),
        destinationGone: destination?.status === 'closed' || destination?.status === 'declined',
        availableMinor: account.postedMinor - account.reservedMinor,
      },
    );
    switch (decision.decision) {
      case 'roll':
        work.transfer = {
          ...transfer,
          transferDate: decision.transferDate,
          cutOffAt: decision.cutOffAt,
          rollCount: transfer.rollCount + 1,
          // What was found of the day before says nothing of the new one.
          transferDateStatus: 'not-checked',
        };
        break;
      case 'fail':
        work.transfer = { ...transfer, ...decision.requirements };
        await fail(work, decision.failureCode);
        break;
      case 'wait':
        work.transfer = { ...transfer, ...decision.requirements };
        if (decision.for === 'balance' && !work.isNew) expectMoney(work);
        return wait(work, decision.for, decision.until);
      case 'process':
        await process(work, decision.requirements);
    }
  }
  return stepOfOpenPayment(work);
}

/** Marks the account, so that its next credit tries this transfer again. */
function expectMoney({ tx, transfer }: Work): void {
  const text = 'UPDATE accounts SET has_waiters = true WHERE id = $1 AND NOT has_waiters';
  leaveToCommit(tx.statement(text, [transfer.accountId]));
}

/** Reserves the money; an internal transfer is settled in the same step, unless its receiver's side is to be reviewed. */
export async function process(work: Work, requirements: Requirements): Promise<void> {
  const total = totalMinor(work.transfer);
  const destination = work.transfer.destinationAccountId;
  const isReviewed = destination !== null && (await isReviewedOnArrival(work));
  // What a new transfer still has reserved at the end of this transaction is reserved by the statement that inserts it.
  const isSettled = destination !== null && !isReviewed;
  if (!work.isNew || isSettled) leaveToCommit(reserve(work.tx, work.transfer.accountId, total));
  moveTo(work, 'processing', { ...requirements, reservedMinor: total });
  if (isReviewed) await reviewInternalIncoming(work.tx, incomingOf(work.transfer), work.now);
  if (!isSettled) return;
  await release(work, destination);
  await completeInternalIncoming(work.tx, incomingOf(work.transfer), work.now);
  moveTo(work, 'completed');
}

async function isReviewedOnArrival({ tx, transfer }: Work): Promise<boolean> {
  const [row] = await tx.statement<{ status: RequirementStatus }>(
    'SELECT compliance_check_status AS status FROM incoming_transfers WHERE id = $1',
    [incomingOf(transfer)],
  );
  return row?.status === 'not-checked' || row?.status === 'not-fulfilled';
}

export function incomingOf(transfer: OutgoingTransferRow): IncomingTransferId {
  if (transfer.incomingTransferId === null)
    throw new Error(`outgoing transfer ${transfer.id} has no incoming transfer`);
  return transfer.incomingTransferId;
}

/** Posts principal and fee to the ledger, which uses up the reservation. */
async function release(work: Work, credit: AccountId | null, change: Partial<OutgoingTransferRow> = {}): Promise<void> {
  const { transfer, tx, now } = work;
  const incoming = credit === null ? null : incomingOf(transfer);
  const shared = {
    now,
    debit: transfer.accountId,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'outgoing-transfer',
    outgoingTransferId: transfer.id,
  } as const;
  const creditSide =
    incoming === null
      ? {}
      : ({
          creditNumber: await incomingNumber(tx, incoming),
          creditType: 'incoming-transfer',
          incomingTransferId: incoming,
        } as const);
  const principal: Posting = {
    ...shared,
    ...creditSide,
    credit: credit ?? { provider: transfer.provider, kind: 'settlement' },
    amountMinor: transfer.amountMinor,
    entryType: 'principal',
    narrative: transfer.description,
    releaseMinor: transfer.amountMinor,
  };
  work.post(principal);
  if (transfer.feeMinor > 0n) {
    const fee: Posting = {
      ...shared,
      credit: { provider: transfer.provider, kind: 'fee-revenue' },
      amountMinor: transfer.feeMinor,
      entryType: 'fee',
      releaseMinor: transfer.feeMinor,
    };
    work.post(fee);
  }
  moveTo(work, 'released', { ...change, reservedMinor: 0n });
}

async function incomingNumber(tx: Transaction, id: IncomingTransferId): Promise<string> {
  const [row] = await tx.execute<{ number: string }>(
    sql`SELECT transaction_number AS number FROM incoming_transfers WHERE id = ${id}`,
  );
  if (row === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  return row.number;
}

/** Ends a transfer that will not be paid: the reservation goes, or, after release, both entries are reversed. */
export async function fail(work: Work, failureCode: string, failureMessage: string | null = null): Promise<void> {
  const { transfer, tx, now } = work;
  if (transfer.status === 'processing') leaveToCommit(reserve(tx, transfer.accountId, -transfer.reservedMinor));
  if (transfer.status === 'released') {
    const shared = {
      now,
      credit: transfer.accountId,
      currency: transfer.currency,
      debitNumber: transfer.transactionNumber,
      debitType: 'outgoing-transfer',
      outgoingTransferId: transfer.id,
    } as const;
    const principal: Posting = {
      ...shared,
      debit: { provider: transfer.provider, kind: 'settlement' },
      amountMinor: transfer.amountMinor,
      entryType: 'principal',
      narrative: transfer.description,
    };
    work.post(principal);
    if (transfer.feeMinor > 0n) {
      const debit = { provider: transfer.provider, kind: 'fee-revenue' } as const;
      work.post({ ...shared, debit, amountMinor: transfer.feeMinor, entryType: 'fee' });
    }
  }
  if (transfer.scope === 'internal') await failInternalIncoming(tx, incomingOf(transfer), now, failureCode);
  moveTo(work, 'failed', { reservedMinor: 0n, failureCode, failureMessage });
}

/** What a transfer that is on its way needs next: to be submitted, looked up, or waited for. */
function stepOfOpenPayment(work: Work): OutgoingTransferStep {
  const { transfer, now } = work;
  if (isFinalOutgoingTransferStatus(transfer.status)) return { do: 'end' };
  if (transfer.scope === 'internal') return wait(work, 'compliance', null);
  if (transfer.method === 'plug-in') return wait(work, 'caller', null);
  if (transfer.status === 'processing') {
    const attempt = Math.max(1, transfer.submissionAttempt);
    work.transfer = { ...transfer, submissionAttempt: attempt, submissionStatus: 'unresolved' };
    wait(work, 'provider', null);
    return { do: 'submit', attempt };
  }
  const nextLookUpAt = transfer.nextLookUpAt ?? new Date(now.getTime() + lookUpDelayMs(transfer.lookUpCount));
  work.transfer = { ...transfer, nextLookUpAt };
  if (nextLookUpAt.getTime() <= now.getTime()) return { do: 'look-up', count: transfer.lookUpCount };
  return wait(work, 'provider', nextLookUpAt);
}

/** Carries out what the provider or the plug-in caller said. `break` = it contradicts what is settled, or is of other money; nothing moves. */
export async function applyWord(work: Work, report: PaymentReport): Promise<'applied' | 'no-effect' | 'break'> {
  if (report.claim !== undefined && isOfOtherMoney(report.claim, work.transfer)) return 'break';
  const statuses = statusesAfterWord(work.transfer.status, report.word);
  if (statuses === null) return 'break';
  const provider = {
    submissionStatus: 'resolved',
    serviceProviderId: work.transfer.serviceProviderId ?? report.serviceProviderId,
    serviceProviderReference: work.transfer.serviceProviderReference ?? report.serviceProviderReference,
  } as const;
  const failureCode = reasonCodeOf(report, work.transfer.method);
  const failureMessage = report.message ?? null;
  for (const status of statuses) {
    if (status === 'released') await release(work, null, provider);
    else if (status === 'failed') await fail(work, failureCode, failureMessage);
    else moveTo(work, status, provider);
  }
  if (report.word !== 'returned') return statuses.length > 0 ? 'applied' : 'no-effect';
  if (work.transfer.returned) {
    return (await isBookedReturn(work.tx, work.transfer.incomingTransferId, report)) ? 'no-effect' : 'break';
  }
  const incomingTransferId = await createReturn(work.tx, work.transfer, source(work), work.now, report);
  work.transfer = { ...work.transfer, returned: true, incomingTransferId, failureCode, failureMessage };
  work.entries.push({ type: 'outgoing-transfer-returned', data: outgoingTransferEventData(work.transfer) });
  return 'applied';
}

import { getTableColumns, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import type { IncomingChange } from '../../domain/incoming-transfers/changes.ts';
import type { IncomingTransfer, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { decideAssignment, decideReturn, rejectTerms } from '../../domain/incoming-transfers/operator-commands.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { ReturnShown } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import {
  type AskedReturn,
  decideReturnOfCompleted,
  type ReturnRules,
} from '../../domain/outgoing-transfers/requests/returns.ts';
import type { ReadRows } from '../../domain/transfers/guards.ts';
import { ACCOUNT } from '../accounts/accounts.ts';
import { partyAccountOf } from '../accounts/party-accounts.ts';
import type { AuditEntry, Initiator } from '../common/audit-entries.ts';
import { newId } from '../common/ids.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { decideNewTransfer } from '../outgoing-transfers/creation.ts';
import type { Reader } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lookUpIn } from '../query/rows.ts';
import { isListed } from '../query/values.ts';
import type { DecidedChange, RequestedChange } from '../transfers/requested-changes.ts';
import { drawTransactionNumber } from '../transfers/transaction-numbers.ts';
import { readReceiver } from './arrivals.ts';
import { begin } from './holds.ts';
import { changeOf } from './work.ts';

// What callers and operators request of money that is held. Each is decided from the transfer and its account, and audited.

interface TransferRequest {
  readonly id: IncomingTransferId;
  readonly initiator: Initiator;
}

/** A transfer after its change, and the account that received it, if it has one. */
export interface MovedTransfer {
  readonly transfer: IncomingTransfer;
  readonly receiver: PartyAccount | null;
  /** Oldest first. */
  readonly returns: readonly ReturnShown[];
}

interface IncomingFacts extends ReadRows {
  readonly transfer: IncomingTransfer;
  readonly account: LockedAccount | null;
  /** The account as the answer shows it. */
  readonly receiver: PartyAccount | null;
  /** Its returns so far: none unless it is completed. */
  readonly returns: readonly ReturnShown[];
  readonly now: Date;
}

export type IncomingRequest = RequestedChange<IncomingFacts, MovedTransfer>;

function factsOf(
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  receiver: PartyAccount | null,
  now: Date,
  returns: readonly ReturnShown[] = [],
): IncomingFacts {
  const rows = { outgoing: null, incoming: transfer, accounts: account === null ? [] : [account] };
  return { ...rows, transfer, account, receiver, returns, now };
}

const DATED_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select({ ...getTableColumns(incomingTransfers), now: sql<Date>`service_now()` })
    .from(incomingTransfers)
    .where(isListed(incomingTransfers.id, given.ids)),
);

/**
 * Assigns a payment that matched no account, or several, to an account of the same provider and currency. Money that the provider holds is
 * credited once the provider releases it.
 */
export function assignment(request: TransferRequest & { readonly accountId: AccountId }): IncomingRequest {
  const { id, accountId, initiator } = request;
  return {
    read: async (database) => {
      const [transfer, receiver] = await Promise.all([
        database.reader.find(DATED_TRANSFERS, id),
        readReceiver(database, accountId),
      ]);
      if (transfer === null || receiver === null) return null;
      return factsOf(transfer, receiver.account, receiver.shown, transfer.now);
    },
    lock: async (tx) => {
      const { transfer, account, now } = await begin(tx, id, accountId);
      const receiver = await tx.find(ACCOUNT, accountId);
      // Rejects an unknown id before anything else, even if the transfer can no longer be assigned.
      if (receiver === null) throw recordNotFound('incomingTransfer', 'accountId', accountId);
      return factsOf(transfer, account, partyAccountOf(receiver), now);
    },
    decide: (facts) => {
      // The facts have the transfer's own account, if it has one, and only that: it gets no other.
      const moved = decideAssignment(facts.transfer, facts.account, initiator.actor, facts.now);
      const entry = {
        action: 'assigned',
        before: { status: facts.transfer.status, accountId: null },
        after: { status: moved.incoming.after.status, accountId },
      };
      return decidedChange(facts, moved, { ...entry, initiator });
    },
  };
}

/** How completed money is returned, for callers that may be answered about it. */
export interface ReturnOfCompleted {
  readonly asked: AskedReturn;
  readonly rules: ReturnRules;
}

/**
 * Returns money to its payer: on hold, in full; completed, as `completed` says, by an outgoing transfer. Without it only money on hold is
 * returned. A returned outgoing payment has no payer: it can only be assigned.
 */
export function moneyReturn(
  { id, initiator }: TransferRequest,
  completed: ReturnOfCompleted | null = null,
): IncomingRequest {
  return {
    read: async (database) => {
      const transfer = await database.reader.find(DATED_TRANSFERS, id);
      if (transfer === null) return null;
      const [receiver, returns] = await Promise.all([
        transfer.accountId === null ? null : readReceiver(database, transfer.accountId),
        returnsOf(database.reader, transfer),
      ]);
      return factsOf(transfer, receiver?.account ?? null, null, transfer.now, returns);
    },
    lock: async (tx) => {
      const { transfer, account, now } = await begin(tx, id);
      return factsOf(transfer, account, null, now, await returnsOf(tx, transfer));
    },
    decide: (facts) => {
      if (completed === null)
        return decidedReturn(facts, decideReturn(facts.transfer, facts.account, facts.now), initiator);
      if (facts.transfer.status !== 'completed') rejectTerms(facts.transfer);
      return decidedReturnOfCompleted(facts, completed, initiator);
    },
  };
}

const OUTGOING = lookUpIn(outgoingTransfers);

async function returnsOf(reader: Reader, { returnIds }: IncomingTransfer): Promise<readonly ReturnShown[]> {
  const found = await Promise.all(returnIds.map((id) => reader.find(OUTGOING, id)));
  return found.filter((one) => one !== null);
}

/** The transfer itself does not change, but must still be as it was read: each return counts its revision up. */
function decidedReturnOfCompleted(
  facts: IncomingFacts,
  { asked, rules }: ReturnOfCompleted,
  { actor, ...initiator }: Initiator,
): DecidedChange<MovedTransfer> {
  const { transfer, account, now } = facts;
  const name = {
    id: newId<OutgoingTransferId>(),
    transactionNumber: drawTransactionNumber('outgoing-transfer', now),
    createdBy: actor,
    requestId: initiator.requestId,
  };
  const made = decideReturnOfCompleted(asked, facts, name, rules);
  const { change } = decideNewTransfer(made, null, new Map(account === null ? [] : [[account.id, account]]), rules);
  const created = change.outgoing?.after;
  if (created === undefined) throw new Error('a return that is made is always written');
  const amount = amountNumber(created.amountMinor, created.currency);
  return {
    change,
    auditEntry: {
      initiator: { actor, ...initiator },
      resource: 'incoming-transfer',
      resourceId: transfer.id,
      action: 'returned',
      after: { outgoingTransferId: created.id, amount, code: asked.code },
    },
    result: { transfer, receiver: null, returns: [...facts.returns, created] },
  };
}

export function decidedReturn(
  facts: Pick<IncomingFacts, 'transfer' | 'now'>,
  moved: IncomingChange,
  initiator: Initiator,
): DecidedChange<MovedTransfer> {
  const entry = { action: 'returned', before: { status: facts.transfer.status }, after: { status: 'failed' } };
  return decidedChange({ ...facts, receiver: null }, moved, { ...entry, initiator });
}

function decidedChange(
  { transfer, receiver, now }: Pick<IncomingFacts, 'transfer' | 'receiver' | 'now'>,
  moved: IncomingChange,
  entry: Pick<AuditEntry, 'initiator' | 'action' | 'before' | 'after'>,
): DecidedChange<MovedTransfer> {
  const wakes = [...moved.wakes, `incoming-transfer/${transfer.id}`] as const;
  return {
    change: changeOf(now, { ...moved, wakes }),
    auditEntry: { resource: 'incoming-transfer', resourceId: transfer.id, ...entry },
    result: { transfer: moved.incoming.after, receiver, returns: [] },
  };
}

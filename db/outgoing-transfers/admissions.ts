import { and, eq } from 'drizzle-orm';
import type { AccountId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { availableMinor, type LockedAccount } from '../../domain/ledger/ledger.ts';
import { decideAdmission } from '../../domain/outgoing-transfers/changes.ts';
import { totalMinor } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange, TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';
import { readMoment, situationOf } from './situations.ts';

/** The largest batch of one transaction, which bounds how long it holds the account's lock. */
const ADMISSION_BATCH = 100;

const DUE = 'SELECT id FROM accounts WHERE admission_due AND ($1::uuid IS NULL OR id > $1::uuid) ORDER BY id LIMIT $2';

/** Accounts that were credited while transfers wait there for money, by id, after `after`. */
export async function listAdmissionsDue(
  reader: Reader,
  limit: number,
  after: AccountId | null = null,
): Promise<AccountId[]> {
  const rows = await reader.statement<{ id: AccountId }>(DUE, [after, limit]);
  return rows.map(({ id }) => id);
}

// MATERIALIZED keeps Postgres from reading all waiting transfers by age for the LIMIT. BETWEEN makes it estimate a small range
// and use the index of totals. Those of a scheme that is not configured come last, so that they displace no others.
const OLDEST_THAT_FIT = `
  WITH fitting AS MATERIALIZED (
    SELECT id, destination_account_id, scheme FROM outgoing_transfers
    WHERE account_id = $1 AND waiting_for = 'balance'
      AND amount_minor + fee_minor BETWEEN 1 AND (SELECT posted_minor - reserved_minor FROM accounts WHERE id = $1)
  )
  SELECT id, destination_account_id AS destination, scheme FROM fitting
  ORDER BY scheme IS NOT NULL AND scheme <> ALL ($3::text[]), id LIMIT $2`;

const LOCK_WAITING = preparedChange((db, given: Given<{ ids: readonly OutgoingTransferId[] }>) =>
  db
    .select()
    .from(outgoingTransfers)
    .where(and(isListed(outgoingTransfers.id, given.ids), eq(outgoingTransfers.waitingFor, 'balance')))
    .orderBy(outgoingTransfers.id)
    .for('update'),
);

const LOCK_INCOMING = preparedChange((db, given: Given<{ ids: readonly OutgoingTransferId[] }>) =>
  db
    .select()
    .from(incomingTransfers)
    .where(isListed(incomingTransfers.outgoingTransferId, given.ids))
    .orderBy(incomingTransfers.id)
    .for('update'),
);

// The account's lock blocks credits, payments and new waiting transfers, so both flags are exact only under it. An account that stays due is
// not written again at every poll.
const SETTLE_FLAGS = `
  WITH settled AS (
    SELECT id,
      EXISTS (SELECT FROM outgoing_transfers WHERE account_id = accounts.id AND waiting_for = 'balance') AS has_waiters,
      EXISTS (SELECT FROM outgoing_transfers WHERE account_id = accounts.id AND waiting_for = 'balance'
        AND amount_minor + fee_minor BETWEEN 1 AND accounts.posted_minor - accounts.reserved_minor) AS admission_due
    FROM accounts WHERE id = $1
  ), written AS (
    UPDATE accounts SET has_waiters = settled.has_waiters, admission_due = settled.admission_due
    FROM settled WHERE accounts.id = settled.id
      AND (accounts.has_waiters, accounts.admission_due) <> (settled.has_waiters, settled.admission_due)
  )
  SELECT admission_due AS more FROM settled`;

export interface Admission {
  /** The number of transfers that no longer wait for money. */
  readonly admitted: number;
  /** The account is still due: another waiting transfer fits its available balance, and this batch has moved some. */
  readonly more: boolean;
  /** Transfers that fit but cannot be decided, because their scheme is no longer configured. They keep the account due. */
  readonly skipped: readonly SkippedTransfer[];
}

export interface SkippedTransfer {
  readonly id: OutgoingTransferId;
  readonly scheme: string;
}

interface FittingTransfer {
  readonly id: OutgoingTransferId;
  readonly destination: AccountId | null;
  readonly scheme: string | null;
}

/**
 * Retries transfers that wait for an account's money: among those that fit the available balance, the oldest first. A small
 * transfer may overtake a large one. Wakes the workflows of those that moved.
 */
export async function admitWaitingTransfers(
  tx: Transaction,
  accountId: AccountId,
  rules: TransferRules,
  batchSize = ADMISSION_BATCH,
): Promise<Admission> {
  const { schemes } = rules;
  const found = await tx.statement<FittingTransfer>(OLDEST_THAT_FIT, [accountId, batchSize, schemes.codes]);
  const skipped = found.flatMap(({ id, scheme }) => (scheme === null || schemes.knows(scheme) ? [] : { id, scheme }));
  const fitting = found.filter(({ scheme }) => scheme === null || schemes.knows(scheme));
  // Locks all accounts at once, in order. Balances may change until then, so each transfer is compared again.
  const destinations = fitting.flatMap(({ destination }) => destination ?? []);
  const accounts = new Map(await lockAccounts(tx, [accountId, ...destinations]));
  const ids = fitting.map(({ id }) => id);
  const [waiting, incoming, momentOf] = await Promise.all([
    tx.run(LOCK_WAITING, { ids }),
    tx.run(LOCK_INCOMING, { ids }),
    readMoment(tx, ids),
  ]);
  const incomingOf = new Map(incoming.map((transfer) => [transfer.outgoingTransferId, transfer]));
  const changes: (TransferChange | null)[] = [];
  let admitted = 0;
  for (const transfer of waiting) {
    const account = accounts.get(accountId);
    if (account === undefined || totalMinor(transfer) > availableMinor(account)) continue;
    const situation = situationOf(
      transfer,
      incomingOf.get(transfer.id) ?? null,
      accounts,
      momentOf(transfer.id),
      rules,
    );
    const { change, status } = decideAdmission(situation);
    changes.push(change);
    if (status === 'pending') continue;
    admitted += 1;
    if (status !== 'failed') accounts.set(accountId, withReserved(account, totalMinor(transfer)));
  }
  applyUnderLocks(tx, changes);
  const [account] = await tx.statement<{ more: boolean }>(SETTLE_FLAGS, [accountId]);
  // Without a change, waiting for the next poll is enough: what is left may be what this batch has skipped.
  const hasMoved = changes.some((change) => change !== null);
  return { admitted, more: hasMoved && account?.more === true, skipped };
}

/** The account for the next transfer of the batch. A settled transfer reduces the available balance as much as a reserved one. */
function withReserved(account: LockedAccount, totalMinor: bigint): LockedAccount {
  return { ...account, reservedMinor: account.reservedMinor + totalMinor };
}

import type { AccountId, ClientId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { LedgerSide, LockedAccount, Posting } from '../../domain/ledger/ledger.ts';
import type { Transaction } from '../driver/client.ts';
import { LISTED_IDS } from '../driver/values.ts';

/** The columns of a `LockedAccount`, from an account `a` and its client `c`. */
export const ACCOUNT_FIELDS = `
  a.id, a.client_id AS "clientId", c.status AS "clientStatus",
  status_for_payments(a.status, a.main_account_status) AS status, a.currency, a.country, a.provider, a.method,
  coalesce(a.requested_change = 'close', false) AS closing, a.posted_minor AS "postedMinor", a.reserved_minor AS "reservedMinor",
  a.party_account_id AS "partyAccountId"`;

/** The columns of `ACCOUNT_FIELDS` from an outer join: all null if there is no such account. */
export type PerhapsAccount = { readonly [Field in keyof LockedAccount]: LockedAccount[Field] | null };

export function accountOf(row: PerhapsAccount): LockedAccount | null {
  const {
    id,
    clientId,
    clientStatus,
    status,
    currency,
    country,
    provider,
    method,
    closing,
    postedMinor,
    reservedMinor,
    partyAccountId,
  } = row;
  if (id === null || clientId === null || clientStatus === null || status === null || currency === null) return null;
  if (country === null || provider === null || method === null || closing === null) return null;
  if (postedMinor === null || reservedMinor === null) return null;
  const state = { status, closing, postedMinor, reservedMinor, partyAccountId };
  return { id, clientId, clientStatus, currency, country, provider, method, ...state };
}

function lockStatements(ids: string): { readonly lock: string; readonly read: string } {
  return {
    lock: `SELECT id FROM accounts WHERE id = ANY (${ids}) ORDER BY id FOR UPDATE`,
    read: `SELECT ${ACCOUNT_FIELDS} FROM accounts a JOIN clients c ON c.id = a.client_id WHERE a.id = ANY (${ids})`,
  };
}

const LISTED = lockStatements(LISTED_IDS);
const OF_TRANSFER = lockStatements(`ARRAY(
  SELECT unnest(ARRAY[account_id, destination_account_id]) FROM outgoing_transfers WHERE id = $1)`);

/**
 * Locks accounts in the service's one lock order (idempotency key, accounts by id, transfers by id, callbacks), then reads
 * them in a second statement, which sees what the lock waited for. Unknown ids are absent from the result.
 */
export async function lockAccounts(
  tx: Transaction,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  return ids.length === 0 ? new Map() : lock(tx, LISTED, ids);
}

/** The same for an outgoing transfer's accounts, which never change; empty if the transfer does not exist. */
export async function lockAccountsOf(
  tx: Transaction,
  outgoingTransfer: OutgoingTransferId,
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  return lock(tx, OF_TRANSFER, outgoingTransfer);
}

// One row for the answer: a client may have 50,000 accounts.
const LOCK_OF_CLIENT = `
  SELECT count(*) FROM (SELECT id FROM accounts WHERE client_id = $1 ORDER BY id FOR UPDATE) AS locked`;

/** Locks all accounts of a client, sub-accounts too, in the same order. Waits for every payment that has read the client's status. */
export async function lockAccountsOfClient(tx: Transaction, client: ClientId): Promise<void> {
  await tx.statement(LOCK_OF_CLIENT, [client]);
}

async function lock(
  tx: Transaction,
  statements: { readonly lock: string; readonly read: string },
  which: unknown,
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  const [, rows] = await Promise.all([
    tx.statement(statements.lock, [which]),
    tx.statement<LockedAccount>(statements.read, [which]),
  ]);
  return new Map(rows.map((row) => [row.id, row]));
}

// In the order of `postingValues`.
const POST = `SELECT
  ledger_post($1::timestamptz, coalesce($2::uuid, system_account($3, $9, $4)), coalesce($5::uuid, system_account($6, $9, $7)),
    $8::bigint, $9, $10, $11, $12, $13, $14, $15::uuid, $16::uuid, $17, $18::bigint)`;

function postingValues(posting: Posting): readonly unknown[] {
  const side = (of: LedgerSide) => (typeof of === 'string' ? [of, null, null] : [null, of.provider, of.kind]);
  return [
    posting.now,
    ...side(posting.debit),
    ...side(posting.credit),
    posting.amountMinor,
    posting.currency,
    posting.debitNumber,
    posting.creditNumber ?? posting.debitNumber,
    posting.debitType,
    posting.creditType ?? posting.debitType,
    posting.entryType,
    posting.outgoingTransferId ?? null,
    posting.incomingTransferId ?? null,
    posting.narrative ?? null,
    posting.releaseMinor ?? 0n,
  ];
}

/** Writes one posting and updates the balances. This transaction must hold the locks of its client accounts. */
export async function post(tx: Transaction, posting: Posting): Promise<void> {
  await tx.statement(POST, postingValues(posting));
}

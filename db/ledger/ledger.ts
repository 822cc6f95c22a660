import { sql } from 'drizzle-orm';
import type { AccountId, ClientId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { Transaction } from '../driver/client.ts';
import { LISTED_IDS } from '../driver/values.ts';

/** A client account whose row is locked until the transaction ends, as it is after the lock. Amounts in minor units. */
export interface LockedAccount {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly clientStatus: string;
  readonly status: string;
  readonly currency: string;
  readonly country: string;
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  /** Its provider is closing it: it sends and receives nothing new, but money on its way still arrives. */
  readonly closing: boolean;
  readonly postedMinor: bigint;
  readonly reservedMinor: bigint;
  /** The row by which a transfer that is made now shows the account; null while it has only ever had its first. */
  readonly partyAccountId: bigint | null;
}

/** The fields of `LockedAccount`, of an account `a` and its client `c`. */
export const ACCOUNT_FIELDS = `
  a.id, a.client_id AS "clientId", c.status AS "clientStatus", a.status, a.currency, a.country, a.provider, a.method,
  coalesce(a.requested_change = 'close', false) AS closing, a.posted_minor AS "postedMinor", a.reserved_minor AS "reservedMinor",
  a.party_account_id AS "partyAccountId"`;

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
 * Locks accounts in the one order of the whole service (idempotency key, accounts by id, transfers by id, callbacks) and
 * reads them in a later statement, which sees what the lock waited for. Unknown ids are absent from the answer.
 */
export async function lockAccounts(
  tx: Transaction,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  return ids.length === 0 ? new Map() : lock(tx, LISTED, ids);
}

/** The same for the accounts of an outgoing transfer, which never change; none if there is no such transfer. */
export async function lockAccountsOf(
  tx: Transaction,
  outgoingTransfer: OutgoingTransferId,
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  return lock(tx, OF_TRANSFER, outgoingTransfer);
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

/** Money and its account are active, and so is the client that owns it. */
export function isUsable(account: LockedAccount): boolean {
  return account.status === 'active' && account.clientStatus === 'active' && !account.closing;
}

export type SystemAccountKind = 'settlement' | 'fee-revenue' | 'suspense' | 'correction';

/** One side of a posting: a client account, or the provider's system account of a kind. */
export type LedgerSide = AccountId | { readonly provider: string; readonly kind: SystemAccountKind };

export type TransactionType = 'incoming-transfer' | 'outgoing-transfer' | 'balance-adjustment' | 'fee-sweep';

export interface Posting {
  readonly now: Date;
  readonly debit: LedgerSide;
  readonly credit: LedgerSide;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The transaction number and type that each side's statement shows; one value serves both where they agree. */
  readonly debitNumber: string;
  readonly creditNumber?: string;
  readonly debitType: TransactionType;
  readonly creditType?: TransactionType;
  readonly entryType: 'principal' | 'fee';
  readonly outgoingTransferId?: string | null;
  readonly incomingTransferId?: string | null;
  readonly narrative?: string | null;
  /** The part of the debited account's reservation that this posting uses up. */
  readonly releaseMinor?: bigint;
}

// Of the values of `postingValues`, in their order.
const POSTING_CALL = `
  ledger_post($1::timestamptz, coalesce($2::uuid, system_account($3, $9, $4)), coalesce($5::uuid, system_account($6, $9, $7)),
    $8::bigint, $9, $10, $11, $12, $13, $14, $15::uuid, $16::uuid, $17, $18::bigint)`;
const POST = `SELECT ${POSTING_CALL}`;

/** The text of a call that writes one posting, whose values are the items of a column of texts. */
export function postingCallOf(column: string): string {
  return POSTING_CALL.replaceAll(/\$(\d+)/g, `${column}[$1]`);
}

export function postingValues(posting: Posting): readonly unknown[] {
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

/** Writes one posting and moves the balances. The client accounts it names must be locked by this transaction. */
export async function post(tx: Transaction, posting: Posting): Promise<void> {
  await tx.statement(POST, postingValues(posting));
}

const RESERVE = `UPDATE accounts SET reserved_minor = reserved_minor + $2::bigint,
  admission_due = admission_due OR (has_waiters AND $2::bigint < 0) WHERE id = $1::uuid`;

/** Moves an account's reservation by so many minor units; the CHECK refuses what the balance does not cover. */
export async function reserve(tx: Transaction, accountId: AccountId, byMinor: bigint): Promise<void> {
  await tx.statement(RESERVE, [accountId, byMinor]);
}

/** Moves the sum of what is on its way to an account. */
export async function changeReceivable(tx: Transaction, accountId: AccountId, byMinor: bigint): Promise<void> {
  await tx.execute(
    sql`UPDATE accounts SET receivable_minor = receivable_minor + ${byMinor.toString()}::bigint WHERE id = ${accountId}`,
  );
}

import { sql } from 'drizzle-orm';
import type { AccountId, ClientId } from '../domain/ids.ts';
import type { Transaction } from './client.ts';

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
}

const LOCK = 'SELECT id FROM accounts WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE';
const READ_LOCKED = `
  SELECT a.id, a.client_id AS "clientId", c.status AS "clientStatus", a.status, a.currency, a.country, a.provider, a.method,
    coalesce(a.requested_change = 'close', false) AS closing,
    a.posted_minor AS "postedMinor", a.reserved_minor AS "reservedMinor"
  FROM accounts a JOIN clients c ON c.id = a.client_id WHERE a.id = ANY ($1::uuid[])`;

/**
 * Locks accounts in the one order of the whole service (idempotency key, accounts by id, transfers by id, callbacks) and
 * reads them in a later statement, which sees what the lock waited for. Unknown ids are absent from the answer.
 */
export async function lockAccounts(
  tx: Transaction,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  if (ids.length === 0) return new Map();
  const [, rows] = await Promise.all([tx.statement(LOCK, [ids]), tx.statement<LockedAccount>(READ_LOCKED, [ids])]);
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

/** Writes one posting and moves the balances. The client accounts it names must be locked by this transaction. */
export async function post(tx: Transaction, posting: Posting): Promise<void> {
  const side = (of: LedgerSide) =>
    typeof of === 'string' ? sql`${of}::uuid` : sql`system_account(${of.provider}, ${posting.currency}, ${of.kind})`;
  await tx.execute(sql`
    SELECT ledger_post(${posting.now.toISOString()}::timestamptz, ${side(posting.debit)}, ${side(posting.credit)},
      ${posting.amountMinor.toString()}::bigint, ${posting.currency}, ${posting.debitNumber},
      ${posting.creditNumber ?? posting.debitNumber}, ${posting.debitType}, ${posting.creditType ?? posting.debitType},
      ${posting.entryType}, ${posting.outgoingTransferId ?? null}::uuid, ${posting.incomingTransferId ?? null}::uuid,
      ${posting.narrative ?? null}, ${(posting.releaseMinor ?? 0n).toString()}::bigint)`);
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

import { type AccountId, asId, type ClientId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { LedgerSide, LockedAccount, Posting } from '../../domain/ledger/ledger.ts';
import type { Reader, Transaction } from '../query/database.ts';
import type { ListStatement, RowLock } from '../query/list-statements.ts';
import { type Children, Query } from '../query/queries.ts';
import { LISTED_IDS } from '../query/values.ts';

const ACCOUNT_NAMES = [
  'id',
  'clientId',
  'clientStatus',
  'status',
  'currency',
  'country',
  'accountHolderName',
  'provider',
  'method',
  'closing',
  'postedMinor',
  'reservedMinor',
  'partyAccountId',
] as const satisfies readonly (keyof LockedAccount)[];

/** The columns of a `LockedAccount`, from `payment_accounts a`, in the order of their names. */
export const ACCOUNT_FIELDS = ACCOUNT_NAMES.map((name) => `a.${columnOf(name)} AS "${name}"`).join(', ');

function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

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
    accountHolderName,
    provider,
    method,
    closing,
    postedMinor,
    reservedMinor,
    partyAccountId,
  } = row;
  if (id === null || clientId === null || clientStatus === null || status === null || currency === null) return null;
  if (country === null || provider === null || method === null || closing === null) return null;
  if (accountHolderName === null || postedMinor === null || reservedMinor === null) return null;
  const state = { status, closing, postedMinor, reservedMinor, partyAccountId };
  return { id, clientId, clientStatus, currency, country, accountHolderName, provider, method, ...state };
}

function lockStatements(ids: string): { readonly lock: string; readonly read: string } {
  return {
    lock: `SELECT id FROM accounts WHERE id = ANY (${ids}) ORDER BY id FOR UPDATE`,
    read: `SELECT ${ACCOUNT_FIELDS} FROM payment_accounts a WHERE a.id = ANY (${ids})`,
  };
}

const LISTED = lockStatements(LISTED_IDS);
const OF_TRANSFER = lockStatements(`ARRAY(
  SELECT unnest(ARRAY[account_id, destination_account_id]) FROM outgoing_transfers WHERE id = $1)`);

const LOCK: RowLock<AccountId> = {
  waiting: {
    text: LISTED.lock,
    stage: 'locks',
    paramsOf: (ids) => [[...new Set(ids)]],
    resultsOf: (answer, ids) => {
      const locked = new Set(answer.map(([id]) => id));
      return ids.map((id) => (locked.has(id) ? asId<AccountId>(id) : null));
    },
  },
};

const READ: ListStatement<AccountId, LockedAccount | null> = {
  text: LISTED.read,
  stage: 'reads',
  paramsOf: (ids) => [[...new Set(ids)]],
  resultsOf: (answer, ids) => {
    const named = answer.map((values) => Object.fromEntries(ACCOUNT_NAMES.map((name, at) => [name, values[at]])));
    // The names are those of the columns.
    const rows = new Map((named as unknown as LockedAccount[]).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id) ?? null);
  },
};

/**
 * Locks accounts in the service's one lock order (idempotency key, accounts by id, transfers by id, callbacks), then reads
 * them in a second statement, which sees what the lock waited for. Unknown ids are absent from the result.
 */
export async function lockAccounts(
  tx: Transaction,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  const [, rows] = await Promise.all([tx.lockEach(LOCK, ids), tx.each(READ, ids)]);
  return new Map(rows.flatMap((row) => (row === null ? [] : [[row.id, row]])));
}

/** The same without locks, for what is only shown. */
export async function readAccounts(
  reader: Reader,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  const rows = ids.length === 0 ? [] : await reader.statement<LockedAccount>(LISTED.read, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** As lockAccounts, for the accounts of an outgoing transfer, which it finds itself; empty if the transfer does not exist. */
export async function lockAccountsOf(
  tx: Transaction,
  outgoingTransfer: OutgoingTransferId,
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  return lock(tx, OF_TRANSFER, outgoingTransfer);
}

interface AccountOfTransfer extends LockedAccount {
  readonly transferId: string;
}

// LIMIT keeps the plan to one look-up per account, however few accounts there are when it is made.
const OF_TRANSFERS: Children<AccountOfTransfer> = {
  query: new Query(
    `SELECT transfer.id, account.*
     FROM (SELECT id, unnest(ARRAY[account_id, destination_account_id]) AS account_id FROM outgoing_transfers WHERE id = ANY (${LISTED_IDS})) AS transfer
       CROSS JOIN LATERAL (SELECT ${ACCOUNT_FIELDS} FROM payment_accounts a WHERE a.id = transfer.account_id LIMIT 1) AS account`,
    [(given) => Reflect.get(given, 'ids')],
    ['transferId', ...ACCOUNT_NAMES].map((name) => ({ group: null, name })),
  ),
  parentOf: ({ transferId }) => transferId,
};

/** The same without locks. */
export async function readAccountsOf(
  reader: Reader,
  outgoingTransfer: OutgoingTransferId,
): Promise<ReadonlyMap<AccountId, LockedAccount>> {
  const rows = await reader.findChildren(OF_TRANSFERS, outgoingTransfer);
  return new Map(rows.map((row) => [row.id, row]));
}

// Returns one row: a client may have 50,000 accounts.
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

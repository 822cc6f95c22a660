import { and, eq, sql } from 'drizzle-orm';
import {
  ACCOUNT_MOVES,
  type Account,
  type ChangedAccount,
  CONNECTION_MOVES,
  presentAccountInEvent,
} from '../../domain/accounts/accounts.ts';
import { followMainAccount } from '../../domain/accounts/sub-accounts.ts';
import { type AccountPatch, type OpenItems, updateAccount } from '../../domain/accounts/updates.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { EventEntry } from '../../domain/frame/events.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { recordPlugInClient } from '../clients/connections.ts';
import { type Transaction, uniqueViolation } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { lockIn, lookUpIn, sendUpdate, updateRow } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { appendEvents, appendEventsToEach } from '../frame/events.ts';
import { accounts } from '../frame/schema.ts';
import { wake } from '../frame/workflow-wakeups.ts';
import { wakeTransfersOf } from '../ledger/waiting-transfers.ts';
import { withdrawAccount } from '../open-banking/withdrawals.ts';

export type AccountRow = typeof accounts.$inferSelect;

export const ACCOUNT = lookUpIn(accounts);

/** The sweep checks a pending change this long after its request or a look-up's time, in case its workflow was not woken. */
export const CHANGE_CHECK_MS = 60_000;

/** The change in progress at the provider; all fields are null when there is none. */
export interface ProviderChange {
  readonly requestedChange: 'open' | 'close' | null;
  readonly changeAttempt: number;
  readonly changeSubmittedAt: Date | null;
  readonly nextLookUpAt: Date | null;
  readonly nextCheckAt: Date | null;
}

export const NO_CHANGE = {
  requestedChange: null,
  changeSubmittedAt: null,
  nextLookUpAt: null,
  nextCheckAt: null,
} as const;

/** The account as domain/ sees it. Field by field: spreading so many columns takes longer than reading them. */
export function accountOf(row: AccountRow): Account {
  const { connectionId, connectionState } = row;
  return {
    id: row.id,
    clientId: row.clientId,
    mainAccountId: row.mainAccountId,
    status: row.status,
    method: row.method,
    provider: row.provider,
    country: row.country,
    currency: row.currency,
    alias: row.alias,
    routingCodes: row.routingCodes,
    iban: row.iban,
    accountNumber: row.accountNumber,
    ledgerNumber: row.ledgerNumber,
    accountHolderName: row.accountHolderName,
    accountHolderIdentityType: row.accountHolderIdentityType,
    postedMinor: row.postedMinor,
    reservedMinor: row.reservedMinor,
    receivableMinor: row.receivableMinor,
    connection:
      connectionId === null || connectionState === null
        ? null
        : {
            id: connectionId,
            reference: row.connectionReference,
            state: connectionState,
            status: row.connectionStatus,
            error: row.connectionError,
          },
  };
}

export interface LockedAccountRow {
  readonly row: AccountRow;
  readonly account: Account;
  /** The service's time, read under the lock. */
  readonly now: Date;
}

const LOCK = lockIn(accounts, 'update');

/** Locks and reads the account. */
export async function lockAccount(tx: Transaction, id: AccountId): Promise<LockedAccountRow | null> {
  const [row, now] = await Promise.all([tx.lock(LOCK, id), readClock(tx)]);
  return row === null ? null : { row, account: accountOf(row), now };
}

export async function patchAccount(
  tx: Transaction,
  id: AccountId,
  patch: AccountPatch,
  initiator: Initiator,
): Promise<Account> {
  const locked = await lockAccount(tx, id);
  if (locked === null) throw recordNotFound('account', 'id', id);
  const { row, now } = locked;
  const openItems = patch.status === 'closed' ? await readOpenItems(tx, id) : NO_OPEN_ITEMS;
  const updated = updateAccount(locked.account, patch, openItems);
  const requestedChange = updated.request ?? row.requestedChange;
  appendAuditEntry(tx, {
    initiator,
    resource: 'account',
    resourceId: id,
    action: 'changed',
    before: { ...openFields(locked.account), requestedChange: row.requestedChange },
    after: { ...openFields(updated.account), requestedChange },
    concealed: { before: namedFields(locked.account), after: namedFields(updated.account) },
  });
  if (updated.request === null) return saveAccount(tx, locked, updated, {}, initiator);
  const saved = await saveAccount(tx, locked, updated, {
    requestedChange: updated.request,
    changeAttempt: row.changeAttempt + 1,
    changeSubmittedAt: null,
    nextLookUpAt: null,
    nextCheckAt: new Date(now.getTime() + CHANGE_CHECK_MS),
  });
  await wakeAccountConnection(tx, id);
  return saved;
}

function openFields({ status, country }: Account) {
  return { status, country };
}

function namedFields({ alias, routingCodes, iban, accountNumber, connection }: Account) {
  return { alias, routingCodes, iban, accountNumber, connection };
}

const NO_OPEN_ITEMS: OpenItems = { openTransfers: 0, openSubAccounts: 0 };

/** The account's open items. The caller holds its lock, so no others can appear. */
export async function readOpenItems(tx: Transaction, id: AccountId): Promise<OpenItems> {
  const [openItems] = await tx.execute<OpenItems>(sql`
    SELECT
      (SELECT count(*)::integer FROM outgoing_transfers
        WHERE account_id = ${id} AND status IN ('pending', 'processing', 'released'))
      + (SELECT count(*)::integer FROM incoming_transfers WHERE account_id = ${id} AND status IN ('pending', 'on-hold'))
        AS "openTransfers",
      (SELECT count(*)::integer FROM accounts WHERE main_account_id = ${id} AND status NOT IN ('closed', 'declined'))
        AS "openSubAccounts"`);
  return openItems ?? NO_OPEN_ITEMS;
}

/**
 * Saves a decided change of a locked account with its provider request and events. Only the ledger moves balances.
 * A change of status wakes the transfers that wait for the account; a closed one is taken out of its consents.
 */
export async function saveAccount(
  tx: Transaction,
  { row, account: before, now }: LockedAccountRow,
  { account, events }: ChangedAccount,
  change: Partial<ProviderChange> = {},
  initiator: Initiator | null = null,
): Promise<Account> {
  const saved = await storeAccount(tx, { row, account: before, now }, { account, events }, change);
  if (account.status === before.status) return saved;
  await passOn(tx, account, now);
  if (account.status === 'closed') await withdrawAccount(tx, row.id, initiator);
  return saved;
}

/** The same for an account for which nothing can wait, as one that this transaction has opened. */
export async function storeAccount(
  tx: Transaction,
  { row, account: before, now }: LockedAccountRow,
  { account, events }: ChangedAccount,
  change: Partial<ProviderChange> = {},
): Promise<Account> {
  if (account === before && Object.keys(change).length === 0) return account;
  requireAccountMoves([before, ...events.map((step) => step.account), account]);
  const { connection } = account;
  const changes = {
    status: account.status,
    country: account.country,
    alias: account.alias,
    routingCodes: account.routingCodes,
    iban: account.iban,
    accountNumber: account.accountNumber,
    connectionState: connection?.state ?? null,
    connectionStatus: connection?.status ?? null,
    connectionReference: connection?.reference ?? null,
    connectionError: connection?.error ?? null,
    ...change,
    revision: row.revision + 1n,
  };
  if (account.iban === before.iban && account.status === before.status) sendUpdate(tx, accounts, row, changes);
  else await saveWithIban(tx, row, changes);
  appendAccountEvents(tx, row.id, events, now);
  if (account.method === 'plug-in' && events.some(({ type }) => type === 'connection-created')) {
    await recordPlugInClient(tx, account.clientId, account.provider, now);
  }
  return account;
}

/** Another open account may have the IBAN. */
async function saveWithIban(
  tx: Transaction,
  row: AccountRow,
  changes: Partial<typeof accounts.$inferInsert>,
): Promise<void> {
  try {
    await updateRow(tx, accounts, row.id, changes);
  } catch (error) {
    if (uniqueViolation(error) === 'accounts_by_iban') throw ibanTaken(changes.iban ?? null);
    throw error;
  }
}

const LOCK_PENDING_SUB_ACCOUNTS = prepared((db, given: Given<{ id: AccountId }>) =>
  db
    .select()
    .from(accounts)
    .where(and(eq(accounts.mainAccountId, given.id), eq(accounts.status, 'pending')))
    .orderBy(accounts.id)
    .for('update'),
);

/** Wakes what waits for the account or one of its sub-accounts; those that are pending follow it. */
async function passOn(tx: Transaction, account: Account, now: Date): Promise<void> {
  const { id } = account;
  await wakeTransfersOf(tx, sql`SELECT id FROM accounts WHERE id = ${id} OR main_account_id = ${id}`);
  if (account.mainAccountId !== null) return;
  const followed = (await tx.run(LOCK_PENDING_SUB_ACCOUNTS, { id })).flatMap((row) => {
    const pending = accountOf(row);
    const changed = followMainAccount(pending, account);
    if (changed === null) return [];
    requireAccountMoves([pending, ...changed.events.map((step) => step.account), changed.account]);
    return [changed];
  });
  if (followed.length > 0) await saveFollowed(tx, followed, now);
}

const SAVE_FOLLOWED = `
  UPDATE accounts SET status = followed.status, country = followed.country, revision = accounts.revision + 1
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS followed (id, status, country) WHERE accounts.id = followed.id`;

/** All at once: hundreds of sub-accounts may wait, and a main account that cannot be activated in time would stay pending. */
async function saveFollowed(tx: Transaction, followed: readonly ChangedAccount[], now: Date): Promise<void> {
  const saved = followed.map(({ account }) => account);
  await tx.statement(SAVE_FOLLOWED, [
    saved.map(({ id }) => id),
    saved.map(({ status }) => status),
    saved.map(({ country }) => country),
  ]);
  const appended = followed.map(({ account, events }) => ({
    resourceId: account.id,
    occurredAt: now,
    entries: entriesOf(events),
  }));
  appendEventsToEach(tx, 'accounts', appended);
}

/** Checks each step against the transition tables of accounts and of their connections. */
function requireAccountMoves(steps: readonly Account[]): void {
  for (const [index, after] of steps.slice(1).entries()) {
    const before = steps[index] ?? after;
    requireMove('account', ACCOUNT_MOVES, before.status, after.status);
    if (before.connection === null || after.connection === null) continue;
    requireMove('connection', CONNECTION_MOVES, before.connection.state, after.connection.state);
  }
}

export function ibanTaken(iban: string | null): Error {
  const message = 'Another open account of this currency has this IBAN.';
  return refusal('common.state.illegal_transition', ['account', 'iban', iban ?? ''], message);
}

export function appendAccountEvents(
  tx: Transaction,
  id: AccountId,
  events: ChangedAccount['events'],
  occurredAt: Date,
): void {
  appendEvents(tx, { module: 'accounts', resourceId: id, occurredAt, entries: entriesOf(events) });
}

function entriesOf(events: ChangedAccount['events']): EventEntry[] {
  return events.map(({ type, account }) => ({ type, data: { ...presentAccountInEvent(type, account) } }));
}

export async function wakeAccountConnection(tx: Transaction, id: AccountId): Promise<void> {
  wake(tx, 'account-connection', `account-connection/${id}`);
}

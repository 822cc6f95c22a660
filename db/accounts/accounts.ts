import { and, eq, sql } from 'drizzle-orm';
import {
  ACCOUNT_TRANSITIONS,
  type Account,
  type ChangedAccount,
  CONNECTION_TRANSITIONS,
  presentAccountInEvent,
} from '../../domain/accounts/accounts.ts';
import { followMainAccount } from '../../domain/accounts/sub-accounts.ts';
import { type AccountPatch, type OpenItems, updateAccount } from '../../domain/accounts/updates.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { EventEntry } from '../../domain/common/events.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import { recordPlugInClient } from '../clients/connections.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendEvents, appendEventsToEach } from '../common/events.ts';
import { accounts } from '../common/schema.ts';
import { wake } from '../common/workflow-wakeups.ts';
import { withdrawAccount } from '../open-banking/withdrawals.ts';
import { uniqueViolation } from '../postgres/failures.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { lockIn, lookUpIn, sendUpdate, updateRow } from '../query/rows.ts';
import { wakeTransfersOf } from '../transfers/waiting-transfers.ts';

export type AccountRow = typeof accounts.$inferSelect;

export const ACCOUNT = lookUpIn(accounts);

/** If the workflow was not woken, the sweep checks a pending change this long after its request or after a look-up was due. */
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

/** `before`: as it was under its lock, so that of two who ask for the same, one is told that nothing changed. */
export async function patchAccount(
  tx: Transaction,
  id: AccountId,
  patch: AccountPatch,
  initiator: Initiator,
): Promise<{ readonly before: Account; readonly account: Account }> {
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
    concealed: { before: concealedFields(locked.account), after: concealedFields(updated.account) },
  });
  const before = locked.account;
  if (updated.request === null) return { before, account: await saveAccount(tx, locked, updated, {}, initiator) };
  const account = await saveAccount(tx, locked, updated, {
    requestedChange: updated.request,
    changeAttempt: row.changeAttempt + 1,
    changeSubmittedAt: null,
    nextLookUpAt: null,
    nextCheckAt: new Date(now.getTime() + CHANGE_CHECK_MS),
  });
  await wakeAccountConnection(tx, id);
  return { before, account };
}

function openFields({ status, country }: Account) {
  return { status, country };
}

function concealedFields({ alias, routingCodes, iban, accountNumber, connection }: Account) {
  return { alias, routingCodes, iban, accountNumber, connection };
}

const NO_OPEN_ITEMS: OpenItems = { openTransfers: 0, openSubAccounts: 0 };

/** The account's open items. A decision by them is made under its lock, so that no others can appear. */
export async function readOpenItems(reader: Reader, id: AccountId): Promise<OpenItems> {
  const [openItems] = await reader.execute<OpenItems>(sql`
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
  await wakeDependents(tx, account, now);
  if (account.status === 'closed') await withdrawAccount(tx, row.id, initiator);
  return saved;
}

/** As saveAccount, for an account for which nothing can wait, such as one that this transaction has opened. */
export async function storeAccount(
  tx: Transaction,
  { row, account: before, now }: LockedAccountRow,
  { account, events }: ChangedAccount,
  change: Partial<ProviderChange> = {},
): Promise<Account> {
  if (account === before && Object.keys(change).length === 0) return account;
  requireAccountTransitions([before, ...events.map((step) => step.account), account]);
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
  if (account.iban === before.iban) sendUpdate(tx, accounts, row, changes);
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

const LOCK_PENDING_SUB_ACCOUNTS = preparedChange((db, given: Given<{ id: AccountId }>) =>
  db
    .select()
    .from(accounts)
    .where(and(eq(accounts.mainAccountId, given.id), eq(accounts.status, 'pending')))
    .orderBy(accounts.id)
    .for('update'),
);

/** Wakes what waits for the account or one of its sub-accounts; pending sub-accounts change with it. */
async function wakeDependents(tx: Transaction, account: Account, now: Date): Promise<void> {
  const { id } = account;
  await wakeTransfersOf(tx, sql`SELECT id FROM accounts WHERE id = ${id} OR main_account_id = ${id}`);
  if (account.mainAccountId !== null) return;
  const followed = (await tx.run(LOCK_PENDING_SUB_ACCOUNTS, { id })).flatMap((row) => {
    const pending = accountOf(row);
    const changed = followMainAccount(pending, account);
    if (changed === null) return [];
    requireAccountTransitions([pending, ...changed.events.map((step) => step.account), changed.account]);
    return [changed];
  });
  if (followed.length > 0) await saveSubAccounts(tx, followed, now);
}

const SAVE_SUB_ACCOUNTS = `
  UPDATE accounts SET status = followed.status, country = followed.country, revision = accounts.revision + 1
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS followed (id, status, country) WHERE accounts.id = followed.id`;

/** In one statement: hundreds of sub-accounts may wait, and a main account that cannot be activated in time would stay pending. */
async function saveSubAccounts(tx: Transaction, followed: readonly ChangedAccount[], now: Date): Promise<void> {
  const saved = followed.map(({ account }) => account);
  await tx.statement(SAVE_SUB_ACCOUNTS, [
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
function requireAccountTransitions(steps: readonly Account[]): void {
  for (const [index, after] of steps.slice(1).entries()) {
    const before = steps[index] ?? after;
    requireTransition('account', ACCOUNT_TRANSITIONS, before.status, after.status);
    if (before.connection === null || after.connection === null) continue;
    requireTransition('connection', CONNECTION_TRANSITIONS, before.connection.state, after.connection.state);
  }
}

export function ibanTaken(iban: string | null): Error {
  const message = 'Another open account of this currency has this IBAN.';
  return rejection('common.state.illegal_transition', ['account', 'iban', iban ?? ''], message);
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

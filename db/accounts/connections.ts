import { and, eq, sql } from 'drizzle-orm';
import type { AccountConnectionStep, ChangedAccount, ConnectionError } from '../../domain/accounts/accounts.ts';
import {
  type AccountOutcome,
  applyProviderStatus,
  CLIENT_CONNECTION_FAILED,
  nextLookUp,
  openAtProvider,
  type ProviderAccountStatus,
  rejectAtProvider,
  rejectClosing,
} from '../../domain/accounts/connections.ts';
import { isEmpty } from '../../domain/accounts/updates.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import type { BreakKind } from '../../domain/reconciliation/reconciliation.ts';
import { findClientConnection } from '../clients/connections.ts';
import { clientConnections } from '../clients/schema.ts';
import { newId } from '../common/ids.ts';
import { accounts, clients } from '../common/schema.ts';
import type { CallbackOutcome } from '../providers/callbacks.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { insertRow, updateRow } from '../query/rows.ts';
import { reconciliationBreaks } from '../reconciliation/schema.ts';
import {
  type AccountRow,
  CHANGE_CHECK_MS,
  type LockedAccountRow,
  lockAccount,
  NO_CHANGE,
  readOpenItems,
  saveAccount,
  wakeAccountConnection,
} from './accounts.ts';

const BREAK_CHECK_MS = 3_600_000;

/** Advances an account's change as far as its rows allow and returns the next outside step. Safe to repeat. */
export async function advanceAccountConnection(tx: Transaction, id: AccountId): Promise<AccountConnectionStep> {
  const locked = await lockAccount(tx, id);
  if (locked === null || locked.row.requestedChange === null) return { do: 'end' };
  const { row } = locked;
  if (row.requestedChange === 'open' && row.changeSubmittedAt === null) {
    const client = await findClientConnection(tx, row.clientId, row.provider);
    if (client?.state === 'creation-failed') {
      const cause = client.error === null ? {} : { cause: client.error.code };
      const error = {
        ...CLIENT_CONNECTION_FAILED,
        ...client.error,
        code: CLIENT_CONNECTION_FAILED.code,
        attributes: cause,
      };
      await saveAccount(tx, locked, rejectAtProvider(locked.account, 'dependency-failed', error), NO_CHANGE);
      return { do: 'end' };
    }
    if (client?.state !== 'completed-up-to-date') {
      await scheduleCheck(tx, locked, CHANGE_CHECK_MS);
      return { do: 'connect-client', clientId: row.clientId };
    }
  }
  return submitOrWait(tx, locked);
}

async function submitOrWait(tx: Transaction, locked: LockedAccountRow): Promise<AccountConnectionStep> {
  const { row, now } = locked;
  if (row.changeSubmittedAt === null) {
    await update(tx, row, { changeSubmittedAt: now, ...lookUpAfter(now, now) });
    return { do: row.requestedChange === 'open' ? 'open-account' : 'close-account', attempt: row.changeAttempt };
  }
  if (row.nextLookUpAt !== null && !isLookUpDue(locked)) {
    return { do: 'wait', for: 'provider', until: row.nextLookUpAt.toISOString() };
  }
  return { do: 'look-up', count: nextLookUp(row.changeSubmittedAt, now).count };
}

async function scheduleCheck(tx: Transaction, { row, now }: LockedAccountRow, inMs: number): Promise<void> {
  await update(tx, row, checkAfter(now, inMs));
}

function checkAfter(at: Date, ms: number) {
  return { nextCheckAt: new Date(at.getTime() + ms) };
}

/** The next look-up of a change, and the sweep's check, which only happens if the look-up was missed. */
function lookUpAfter(submittedAt: Date, now: Date) {
  const { at } = nextLookUp(submittedAt, now);
  return { nextLookUpAt: at, ...checkAfter(at, CHANGE_CHECK_MS) };
}

function isLookUpDue({ row: { nextLookUpAt }, now }: LockedAccountRow): boolean {
  return nextLookUpAt === null || nextLookUpAt.getTime() <= now.getTime();
}

async function update(tx: Transaction, row: AccountRow, change: Partial<typeof accounts.$inferInsert>): Promise<void> {
  await updateRow(tx, accounts, row.id, { ...change, revision: row.revision + 1n });
}

/**
 * A provider's report on one request, from an answer, a look-up or a callback. `attempt` numbers an account's requests.
 */
export interface AccountReport {
  readonly accountId: AccountId;
  readonly change: 'open' | 'close';
  readonly attempt: number;
  readonly outcome: AccountOutcome;
}

/**
 * Applies a provider's report. A report about a request that is no longer pending changes nothing: it repeats an earlier
 * report or concerns an earlier request. An unknown outcome never counts as a failure.
 */
export async function recordAccountOutcome(tx: Transaction, report: AccountReport): Promise<CallbackOutcome> {
  const locked = await lockAccount(tx, report.accountId);
  if (locked === null) return 'waiting';
  const { row, account, now } = locked;
  const { outcome } = report;
  if (row.requestedChange !== report.change || row.changeAttempt !== report.attempt) {
    if (!contradicts(row, report)) return 'no-effect';
    await insertBreak(tx, locked, 'account-outcome-contradicts', detailsOf(report));
    return 'break';
  }
  switch (outcome.outcome) {
    case 'unknown':
      await scheduleLookUp(tx, locked);
      return 'no-effect';
    case 'not-found':
      // The provider never received the request, so the workflow sends it again under the same reference.
      await update(tx, row, { changeSubmittedAt: null, nextLookUpAt: null, ...checkAfter(now, CHANGE_CHECK_MS) });
      return 'no-effect';
    case 'accepted':
      if (outcome.reference !== null) await update(tx, row, { connectionReference: outcome.reference });
      if (isLookUpDue(locked)) await scheduleLookUp(tx, locked);
      return 'applied';
    case 'opened':
      if (report.change !== 'open') return recordDiscrepancy(tx, locked, report);
      if (await isIbanTaken(tx, row, outcome.details.iban)) return recordDiscrepancy(tx, locked, report);
      return open(tx, locked, openAtProvider(account, outcome.reference, outcome.details));
    case 'closed':
      if (report.change !== 'close') return recordDiscrepancy(tx, locked, report);
      return saveProviderStatus(tx, locked, { account, events: [] }, 'closed');
    case 'rejected':
      return reject(tx, locked, report, outcome.error);
  }
}

/**
 * Applies a callback, whether or not a workflow is running; a running one wakes and ends. A callback about another
 * provider's account is a reconciliation break.
 */
export async function applyAccountCallback(
  tx: Transaction,
  report: AccountReport,
  provider: string,
): Promise<CallbackOutcome> {
  const locked = await lockAccount(tx, report.accountId);
  if (locked !== null && (await reportsOtherProvidersAccount(tx, locked, provider, detailsOf(report)))) return 'break';
  const outcome = await recordAccountOutcome(tx, report);
  if (outcome === 'applied') await wakeAccountConnection(tx, report.accountId);
  return outcome;
}

/** Whether a provider reports on another provider's account, which is a break. */
export async function reportsOtherProvidersAccount(
  tx: Transaction,
  locked: LockedAccountRow,
  provider: string,
  details: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (locked.row.provider === provider) return false;
  await insertBreak(tx, locked, 'account-of-another-provider', { ...details, toldBy: provider });
  return true;
}

/** Whether a report about a finished request contradicts its result. */
function contradicts({ changeAttempt, connectionState, connectionStatus }: AccountRow, report: AccountReport): boolean {
  const { outcome } = report.outcome;
  if (report.change === 'open') {
    const failed = connectionState === 'creation-failed' || connectionState === 'dependency-failed';
    return failed ? outcome === 'opened' : outcome === 'rejected';
  }
  if (changeAttempt !== report.attempt) return false;
  return connectionStatus === 'closed' ? outcome === 'rejected' : outcome === 'closed';
}

function detailsOf({ change, attempt, outcome }: AccountReport): Readonly<Record<string, unknown>> {
  return { change, attempt, outcome: outcome.outcome };
}

async function settle(tx: Transaction, locked: LockedAccountRow, changed: ChangedAccount): Promise<CallbackOutcome> {
  await saveAccount(tx, locked, changed, NO_CHANGE);
  return 'applied';
}

/** The provider may have changed the account's status before it reported the opening. */
async function open(tx: Transaction, locked: LockedAccountRow, opened: ChangedAccount): Promise<CallbackOutcome> {
  const { providerStatus } = locked.row;
  if (providerStatus === null) return settle(tx, locked, opened);
  return saveProviderStatus(tx, locked, opened, providerStatus);
}

/**
 * Saves what the provider made of an account. This ends a request to open it; `closed` ends any request. An account that it
 * closes with money in it is a break, once.
 */
export async function saveProviderStatus(
  tx: Transaction,
  locked: LockedAccountRow,
  before: ChangedAccount,
  status: ProviderAccountStatus,
): Promise<CallbackOutcome> {
  const isRequestOver = status === 'closed' || locked.row.requestedChange === 'open';
  const empty = status !== 'closed' || isEmpty(before.account, await readOpenItems(tx, locked.row.id));
  await saveAccount(tx, locked, applyProviderStatus(before, status, empty), isRequestOver ? NO_CHANGE : {});
  if (!empty && before.account.connection?.status !== 'closed') {
    await insertBreak(tx, locked, 'account-closed-with-money', {});
  }
  return 'applied';
}

/** An account whose status its provider changed was opened there: a rejection of its opening contradicts that. */
async function reject(tx: Transaction, locked: LockedAccountRow, report: AccountReport, error: ConnectionError) {
  const { row, account } = locked;
  if (report.change === 'close') return settle(tx, locked, rejectClosing(account, error));
  const settled = await settle(tx, locked, rejectAtProvider(account, 'creation-failed', error));
  if (row.providerStatus === null || row.providerStatus === 'closed') return settled;
  await insertBreak(tx, locked, 'account-outcome-contradicts', detailsOf(report));
  await wakeAccountConnection(tx, row.id);
  return 'break';
}

async function scheduleLookUp(tx: Transaction, { row, now }: LockedAccountRow): Promise<void> {
  await update(tx, row, lookUpAfter(row.changeSubmittedAt ?? now, now));
}

/** Whether an open account other than this one has the IBAN. */
export async function isIbanTaken(
  reader: Reader,
  { id, currency }: Pick<AccountRow, 'id' | 'currency'>,
  iban: string | null,
): Promise<boolean> {
  if (iban === null) return false;
  const taken = await reader.execute(sql`
    SELECT id FROM accounts WHERE iban = ${iban} AND currency = ${currency} AND id <> ${id}
      AND main_account_id IS NULL AND status NOT IN ('closed', 'declined')`);
  return taken.length > 0;
}

/**
 * The provider's report is impossible: records a break for a person, leaves the account unchanged, and postpones the
 * next look-up.
 */
async function recordDiscrepancy(
  tx: Transaction,
  locked: LockedAccountRow,
  report: AccountReport,
): Promise<CallbackOutcome> {
  await insertBreak(tx, locked, 'account-outcome-impossible', detailsOf(report));
  await scheduleCheck(tx, locked, BREAK_CHECK_MS);
  return 'break';
}

export async function insertBreak(
  tx: Transaction,
  { row, now }: LockedAccountRow,
  kind: BreakKind,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { provider, id: ourReference } = row;
  await insertRow(tx, reconciliationBreaks, { id: newId(), provider, kind, ourReference, details, foundAt: now });
}

const FOR_PROVIDER = prepared((db, given: Given<{ id: AccountId }>) =>
  db
    .select({ account: accounts, client: clients, clientReference: clientConnections.reference })
    .from(accounts)
    .innerJoin(clients, eq(clients.id, accounts.clientId))
    .leftJoin(
      clientConnections,
      and(eq(clientConnections.clientId, accounts.clientId), eq(clientConnections.provider, accounts.provider)),
    )
    .where(eq(accounts.id, given.id)),
);

/** The account and client data that an adapter sends to the provider. */
export function findAccountForProvider(reader: Reader, id: AccountId) {
  return reader.first(FOR_PROVIDER, { id });
}

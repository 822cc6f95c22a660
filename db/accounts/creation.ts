import { type Account, defaultAlias, presentAccountInEvent } from '../../domain/accounts/accounts.ts';
import { checkSubAccount, followMainAccount, type SubAccountRequest } from '../../domain/accounts/sub-accounts.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { AccountId, ClientId } from '../../domain/common/ids.ts';
import { ledgerNumber } from '../../domain/common/numbers/numbers.ts';
import type { ConnectMethod } from '../../domain/providers/providers.ts';
import { requireClientConnection } from '../clients/connections.ts';
import { SHARE_CLIENT } from '../clients/locks.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendFirstEvent, FIRST_SEQUENCE } from '../common/events.ts';
import { drawNumber, newId, newIdAfter } from '../common/ids.ts';
import { accounts, clients } from '../common/schema.ts';
import type { Transaction } from '../query/database.ts';
import { lockIn, lookUpIn, sendInsertion } from '../query/rows.ts';
import { accountOf, CHANGE_CHECK_MS, storeAccount, wakeAccountConnection } from './accounts.ts';

export interface NewAccount {
  readonly clientId: ClientId;
  readonly method: ConnectMethod;
  readonly provider: string;
  readonly country: string;
  readonly currency: string;
  readonly alias: string;
}

/** Issues an account (specification 4.5, `client.issuing`). A built-in account then opens at its provider. */
export async function createAccount(tx: Transaction, wanted: NewAccount, initiator: Initiator): Promise<Account> {
  const builtIn = wanted.method === 'built-in';
  const { account, now } = await insertAccount(tx, wanted, (now) => ({
    requestedChange: builtIn ? 'open' : null,
    changeAttempt: builtIn ? 1 : 0,
    nextCheckAt: builtIn ? new Date(now.getTime() + CHANGE_CHECK_MS) : null,
    ...FIRST_SEQUENCE,
  }));
  const type = 'connection-creation-instructed';
  const entry = { type, data: { ...presentAccountInEvent(type, account) } };
  appendFirstEvent(tx, { module: 'accounts', resourceId: account.id, occurredAt: now, entry });
  auditAccountCreation(tx, account, initiator);
  if (builtIn) {
    requireClientConnection(tx, wanted.clientId, wanted.provider, now);
    await wakeAccountConnection(tx, account.id);
  }
  return account;
}

/** A pending account of a client that is active, and stays so until the transaction ends. */
export async function insertAccount(
  tx: Transaction,
  wanted: NewAccount,
  more: (now: Date) => Partial<typeof accounts.$inferInsert>,
): Promise<{ readonly account: Account; readonly now: Date }> {
  const [client, now, number] = await Promise.all([
    tx.lock(SHARE_CLIENT, wanted.clientId),
    readClock(tx),
    drawLedgerNumber(tx),
  ]);
  if (client === null) throw recordNotFound('account', 'clientId', wanted.clientId);
  if (client.status !== 'active') {
    const message = `The client is ${client.status} and cannot open accounts.`;
    throw rejection('client.status.not_active', ['account', 'clientId', wanted.clientId], message);
  }
  const row = sendInsertion(tx, accounts, {
    id: newId<AccountId>(),
    ...wanted,
    status: 'pending',
    ledgerNumber: number,
    accountHolderName: client.fullName,
    accountHolderIdentityType: client.identityType,
    connectionId: newId(),
    connectionState: 'creation-in-progress',
    ...more(now),
    createdAt: now,
  });
  return { account: accountOf(row), now };
}

const CLIENT = lookUpIn(clients);

/**
 * Opens a sub-account (specification 4.5, `client.sub-account`), which no provider knows. Returned as created: pending. The
 * main account stays locked until the end, so it neither changes nor closes; if it is active, the sub-account is active at once.
 */
export async function createSubAccount(
  tx: Transaction,
  request: SubAccountRequest,
  initiator: Initiator,
): Promise<Account> {
  const [{ main, closing, clientStatus, now }, number] = await Promise.all([
    shareMainAccount(tx, request),
    drawLedgerNumber(tx),
  ]);
  checkSubAccount(request, { account: main, clientStatus, closing });
  const { clientId, method, provider, country, currency, accountHolderName, accountHolderIdentityType } = main;
  const row = sendInsertion(tx, accounts, {
    id: newIdAfter(main.id),
    mainAccountId: main.id,
    status: 'pending',
    ...{ clientId, method, provider, country, currency, accountHolderName, accountHolderIdentityType },
    alias: request.alias ?? defaultAlias(currency),
    ledgerNumber: number,
    // Its events follow in the same write, which counts them from here.
    eventSequence: 0n,
    createdAt: now,
  });
  const account = accountOf(row);
  auditAccountCreation(tx, account, initiator);
  const followed = followMainAccount(account, main);
  if (followed !== null) await storeAccount(tx, { row, account, now }, followed);
  return account;
}

/** Many open at once under one main account, and none changes it. */
const SHARE_MAIN_ACCOUNT = lockIn(accounts, 'share');

/** Locks the account before its client, as a caller's report that a plug-in account is open does. */
async function shareMainAccount(tx: Transaction, { mainAccountId, clientId }: SubAccountRequest) {
  const [row, now] = await Promise.all([tx.lock(SHARE_MAIN_ACCOUNT, mainAccountId), readClock(tx)]);
  if (row === null) throw recordNotFound('account', 'mainAccountId', mainAccountId);
  if (clientId !== undefined && (await tx.find(CLIENT, clientId)) === null) {
    throw recordNotFound('account', 'clientId', clientId);
  }
  const account = accountOf(row);
  const client = await tx.lock(SHARE_CLIENT, account.clientId);
  if (client === null) throw new Error(`client ${account.clientId} of an account does not exist`);
  return { main: account, closing: row.requestedChange === 'close', clientStatus: client.status, now };
}

/** `more`: how the account came to be, if not by issuing. */
export function auditAccountCreation(
  tx: Transaction,
  account: Account,
  initiator: Initiator,
  more: Readonly<Record<string, unknown>> = {},
): void {
  const { id, clientId, mainAccountId, status, country, currency, ledgerNumber, method, provider } = account;
  const shown = { clientId, mainAccountId, status, country, currency, ledgerNumber, method, serviceProvider: provider };
  const after = { ...shown, ...more };
  appendAuditEntry(tx, { initiator, resource: 'account', resourceId: id, action: 'created', after });
}

async function drawLedgerNumber(tx: Transaction): Promise<string> {
  return ledgerNumber(await drawNumber(tx, 'ledger_numbers'));
}

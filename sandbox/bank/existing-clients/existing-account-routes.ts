import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Bank } from '../bank.ts';
import type { ExistingAccount } from '../books.ts';
import { cut } from '../faults.ts';
import { answer, notFound, readBody } from '../wire.ts';
import {
  ACCOUNT_CLOSED,
  ACCOUNT_OVERDRAWN,
  EXISTING_ACCOUNT_REQUEST,
  existingAccounts,
  findExistingAccount,
  HAND_OVER_REQUEST,
  handOverAccount,
  showExistingAccount,
  storeExistingAccount,
} from './existing-accounts.ts';
import { bySourceId } from './existing-client-routes.ts';
import { existingClients } from './existing-clients.ts';

/** Routes for the bank's operator to enter accounts, and for the service to have them handed over. */
export function existingAccountRoutes(app: Hono<{ Bindings: HttpBindings }>, bank: Bank): void {
  app.post('/existing-accounts', async (c) =>
    answer(c, 201, showExistingAccount(await storeExistingAccount(bank, await readBody(c, EXISTING_ACCOUNT_REQUEST)))),
  );
  app.get('/existing-accounts', (c) => answer(c, 200, { accounts: existingAccounts(bank).map(listed(bank)) }));

  const magic = bySourceId(bank);
  app.get('/existing-accounts/:sourceId', magic, (c) => outcome(c, findExistingAccount(bank, c.req.param('sourceId'))));
  app.post('/existing-accounts/:sourceId/hand-over', magic, async (c) => {
    const sourceId = c.req.param('sourceId');
    const isFirst = findExistingAccount(bank, sourceId)?.ourReference === null;
    const account = await handOverAccount(bank, sourceId, await readBody(c, HAND_OVER_REQUEST));
    if (isFirst && sourceId.startsWith('late-cut')) return cut(c);
    if (account !== null && account.balanceMinor < 0n) return answer(c, 422, { error: ACCOUNT_OVERDRAWN });
    return outcome(c, account);
  });
}

function outcome(c: Context, account: ExistingAccount | null) {
  if (account === null) throw notFound('account');
  if (account.status === 'closed') return answer(c, 422, { error: ACCOUNT_CLOSED });
  return answer(c, 200, showExistingAccount(account));
}

/** `clientSourceId` is null for the account of a client that the service connected. */
function listed(bank: Bank): (account: ExistingAccount) => Record<string, unknown> {
  const sourceIds = new Map(existingClients(bank).map(({ reference, sourceId }) => [reference, sourceId]));
  return (account) => ({
    ...showExistingAccount(account),
    clientSourceId: sourceIds.get(account.clientReference) ?? null,
  });
}

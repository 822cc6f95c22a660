import { randomInt, randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, FRESH_COUNT, inTurns, PARENT_COUNT, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const BUILT_IN = { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' };
const PLUG_IN = { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' };
const STATEMENT_LENGTH = 20;

function newAccounts({ accounts }: Fixtures, connect: object): PreparedRequest[] {
  return accounts.map(({ clientId }) =>
    write('/accounts', 'client.issuing', { account: { clientId, currency: 'GBP' } }, connect),
  );
}

function ofEachAccount(path: string): (fixtures: Fixtures) => Promise<PreparedRequest[]> {
  return async ({ accounts }) => accounts.map(({ accountId }) => ({ path: path.replace('{accountId}', accountId) }));
}

const CLIENT_AT_BANK = 'client-individual';

/** Migrations of different accounts that the bank has for one migrated client. */
async function migrations(fixtures: Fixtures): Promise<PreparedRequest[]> {
  const connect = { type: 'explicit', serviceProvider: 'sandbox-bank' };
  await fixtures.made('migrated client', () =>
    fixtures.send('POST', [write('/clients', 'migration', { sourceId: CLIENT_AT_BANK }, connect)]),
  );
  const [client] = await fixtures.sql<{ clientId: string }[]>`
    SELECT client_id AS "clientId" FROM client_connections WHERE source_id = ${CLIENT_AT_BANK}`;
  const account = { clientId: client?.clientId, currency: 'GBP' };
  const sourceIds = times(STOCK_COUNT, () => randomUUID());
  for (const sourceId of sourceIds) {
    const existing = { sourceId, clientSourceId: CLIENT_AT_BANK, currency: 'GBP', country: 'GB', balance: 10 };
    const body = JSON.stringify(existing);
    const { status } = await fetch(`${fixtures.bench.stage.sandboxUrl}/bank/existing-accounts`, {
      method: 'POST',
      body,
    });
    if (status !== 201) throw new Error(`the bank answered ${status}`);
  }
  return sourceIds.map((sourceId) => write('/accounts', 'client.migration', { sourceId, account }, connect));
}

/** Requests for accounts whose statement has some entries. */
async function ofEachStatement(fixtures: Fixtures, path: string): Promise<PreparedRequest[]> {
  const owners = (await fixtures.plugInAccounts()).slice(0, PARENT_COUNT);
  await fixtures.made('statements', () =>
    fixtures.send(
      'POST',
      owners.flatMap(({ accountId }) => times(STATEMENT_LENGTH, () => credit(accountId))),
    ),
  );
  return owners.map(({ accountId }) => ({ path: `/accounts/${accountId}/${path}` }));
}

export const accountRows: readonly RouteRow[] = [
  {
    route: 'POST /accounts',
    variant: 'built-in',
    requests: async (fixtures) => newAccounts(fixtures, BUILT_IN),
  },
  {
    route: 'POST /accounts',
    variant: 'plug-in',
    requests: async (fixtures) => newAccounts(fixtures, PLUG_IN),
  },
  {
    route: 'POST /accounts',
    variant: 'migration',
    requests: migrations,
    once: true,
    aim: null,
    remark: 'asks the bank twice, on the same machine',
  },
  {
    route: 'POST /accounts',
    variant: 'sub-account',
    requests: async ({ accounts }) =>
      accounts.map(({ accountId }) =>
        write('/accounts', 'client.sub-account', { account: { mainAccountId: accountId } }),
      ),
  },
  {
    route: 'PATCH /accounts/{accountId}',
    requests: async ({ accounts }) =>
      times(FRESH_COUNT, (number) => {
        const account = { alias: `Bench ${randomInt(1e9)}` };
        return write(`/accounts/${inTurns(accounts, number).accountId}`, 'client.direct', { account });
      }),
    once: true,
  },
  { route: 'GET /accounts/{accountId}', requests: ofEachAccount('/accounts/{accountId}') },
  {
    route: 'GET /accounts/{accountId}/timeline',
    requests: async (fixtures) => ofEachStatement(fixtures, 'timeline'),
  },
  { route: 'GET /accounts', requests: async () => [{ path: '/accounts' }] },
  {
    route: 'GET /accounts/{id}/deposit-information',
    requests: ofEachAccount('/accounts/{accountId}/deposit-information'),
  },
  {
    route: 'GET /accounts/{accountId}/account-statements',
    requests: async (fixtures) => ofEachStatement(fixtures, 'account-statements'),
  },
  ...['csv', 'camt.053'].map((format) => ({
    route: 'GET /accounts/{accountId}/account-statements/export',
    variant: format,
    requests: async (fixtures: Fixtures) => ofEachStatement(fixtures, `account-statements/export?format=${format}`),
    aim: null,
    remark: 'a file of twenty entries, sent in parts, after a short transaction that determines its end',
  })),
  {
    route: 'GET /accounts/{accountId}/balances',
    requests: async (fixtures) => ofEachStatement(fixtures, 'balances?data.balance.at=2026-01-01T00:00:00.000'),
  },
  {
    route: 'GET /accounts/{accountId}/outgoing-transfer-schemes/{destinationCountry}',
    requests: ofEachAccount('/accounts/{accountId}/outgoing-transfer-schemes/GB'),
  },
  {
    route: 'GET /accounts/{accountId}/transfer-reasons/{country}',
    requests: ofEachAccount('/accounts/{accountId}/transfer-reasons/IN'),
  },
  { route: 'GET /transfer-reasons/{country}', requests: async () => [{ path: '/transfer-reasons/IN' }] },
  ...[
    ['that never closes', 'faster-payments'],
    ['that closes', 'chaps'],
  ].map(([kind, scheme]) => ({
    route: 'GET /accounts/{accountId}/outgoing-transfer-date-metadata/{transferScope}/{transferScheme}',
    variant: `a scheme ${kind}`,
    requests: ofEachAccount(`/accounts/{accountId}/outgoing-transfer-date-metadata/external/${scheme}`),
  })),
];

/** A penny that the caller reports. */
export function credit(accountId: string): PreparedRequest {
  const provisionedAccountCredit = { accountId, amount: 0.01, currency: 'GBP', scope: 'external', scheme: 'swift' };
  return write('/provisioned-account-credits', 'client.direct', { provisionedAccountCredit });
}

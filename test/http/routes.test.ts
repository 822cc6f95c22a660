import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../api/http/route.ts';
import { ROUTES } from '../../api/routes.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { dummyRoutes } from '../harness/http/dummy-routes.ts';
import { nameOf, routeSuite, WITHOUT_IDS } from '../harness/http/route-suite.ts';
import { moneyWorld } from '../harness/money.ts';
import { rowCounts } from '../harness/parties/migration.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { scriptedProvider } from '../harness/workflows/scripted-provider.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('routes');
  api = await startApi(database, { routes: dummyRoutes, providers: new Map([['sandbox-bank', scriptedProvider()]]) });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const routes = ROUTES.filter((route): route is Route => route.kind === 'route');

for (const route of routes) routeSuite(route, () => api);

test('every route that is listed as one without ids exists', () => {
  const names = routes.map(nameOf);
  expect(Object.keys(WITHOUT_IDS).filter((name) => !names.includes(name))).toEqual([]);
});

test('no two routes share method and path, and every write names its roles', () => {
  const names = ROUTES.map(({ contract }) => `${contract.method} ${contract.path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { contract } of routes) {
    if (contract.method !== 'GET') expect(contract.roles, `${contract.method} ${contract.path}`).toBeDefined();
  }
});

/** A dry run of each route that has one. */
const DRY_RUNS: Readonly<
  Record<string, (ids: Readonly<Record<'clientId' | 'accountId' | 'otherId', string>>) => object>
> = {
  'POST /outgoing-transfers': ({ clientId, accountId, otherId }) => ({
    outgoingTransfer: {
      clientId,
      currency: 'GBP',
      amount: 5,
      scope: 'internal',
      source: { type: 'client-account', accountId },
      destination: { type: 'client-account', accountId: otherId },
    },
  }),
};

describe.each(
  routes.filter(({ contract }) => contract.dryRun !== undefined).map((route) => [nameOf(route), route] as const),
)('%s', (name, { contract }) => {
  test('as a dry run is open to every role and writes nothing, and otherwise only to its own', async () => {
    const world = moneyWorld(api);
    const clientId = await world.client();
    const accountId = await world.account(clientId, { amount: 10 });
    const data = DRY_RUNS[name]?.({ clientId, accountId, otherId: await world.account(clientId) });
    const [code] = Object.keys(contract.workflows ?? {});
    const before = await rowCounts(api);
    for (const as of ROLES) {
      const dry = await api.call(contract.method, contract.path, { workflow: { code, dryRun: true }, data }, { as });
      expect([as, dry.status], dry.text).toEqual([as, 200]);
      if (contract.roles?.includes(as)) continue;
      for (const workflow of [{ code }, { code, dryRun: false }, { code, dryRun: null }]) {
        const { status, body } = await api.call(contract.method, contract.path, { workflow, data }, { as, key: 'key' });
        expect([as, status, body.code]).toEqual([as, 403, 'common.security.access_denied']);
      }
    }
    expect(await rowCounts(api)).toEqual(before);
  });

  test('as a dry run leaves an idempotency key free, and answers while its accounts are locked', async () => {
    const world = moneyWorld(api);
    const clientId = await world.client();
    const accountId = await world.account(clientId, { amount: 10 });
    const data = DRY_RUNS[name]?.({ clientId, accountId, otherId: await world.account(clientId) });
    const [code] = Object.keys(contract.workflows ?? {});
    const dry = () => api.call('POST', contract.path, { workflow: { code, dryRun: true }, data }, { key: 'planned' });
    const before = await rowCounts(api);
    const [first, again] = await api.database.transaction(async (tx) => {
      await tx.statement('SELECT FROM accounts WHERE client_id = $1 FOR UPDATE', [clientId]);
      return [await dry(), await dry()];
    });
    for (const { status, headers, text } of [first, again])
      expect([status, headers.get('x-idempotency-status')], text).toEqual([200, 'processed']);
    expect(await rowCounts(api)).toEqual(before);
    const made = () => api.call('POST', contract.path, { workflow: { code }, data }, { key: 'planned' });
    expect(await made()).toMatchObject({ status: 201 });
    // What has been made is repeated under its key, and planned again by the present facts.
    expect((await made()).headers.get('x-idempotency-status')).toBe('replayed');
    expect([(await dry()).status, (await dry()).headers.get('x-idempotency-status')]).toEqual([200, 'processed']);
  });
});

/** What only administrators read. */
const ADMINISTRATION = /^\/(webhook-subscriptions|machine-users|third-party-providers|audit-entries)(\/|$)/;

test('every role reads everything but administration, which is for admin only', () => {
  for (const { contract } of routes.filter(({ contract: { method } }) => method === 'GET')) {
    const expected = ADMINISTRATION.test(contract.path) ? ['admin'] : ROLES;
    expect(contract.roles ?? ROLES, contract.path).toEqual(expected);
  }
});

test.each(ROLES)('%s polls events and reads webhook deliveries', async (role) => {
  for (const path of ['/events', '/webhook-deliveries'])
    expect((await api.call('GET', path, undefined, { as: role })).status, path).toBe(200);
  for (const path of ['/webhook-subscriptions', '/machine-users'])
    expect((await api.call('GET', path, undefined, { as: role })).status, path).toBe(role === 'admin' ? 200 : 403);
});

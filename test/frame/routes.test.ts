import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Route } from '../../api/frame/route.ts';
import { ROUTES } from '../../api/routes.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { frameRoutes } from '../harness/frame/frame-routes.ts';
import { nameOf, routeSuite, WITHOUT_IDS } from '../harness/frame/route-suite.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { scriptedProvider } from '../harness/workflows/scripted-provider.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('routes');
  api = await startApi(database, { routes: frameRoutes, providers: new Map([['sandbox-bank', scriptedProvider()]]) });
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

/** What only administrators read. */
const ADMINISTRATION = /^\/(webhook-subscriptions|machine-users|third-party-providers|audit-entries)(\/|$)/;

test('every role reads everything but administration, which is for admin alone', () => {
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

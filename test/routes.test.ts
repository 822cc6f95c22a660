import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Route } from '../api/frame/route.ts';
import { ROUTES } from '../api/routes.ts';
import { startApi, type TestApi } from './harness/api.ts';
import { frameRoutes } from './harness/frame-routes.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';
import { routeSuite } from './harness/route-suite.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('routes');
  api = await startApi(database, { routes: frameRoutes });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const routes = ROUTES.filter((route): route is Route => route.kind === 'route');

for (const route of routes) routeSuite(route, () => api);

test('no two routes share method and path, and every write names its roles', () => {
  const names = ROUTES.map(({ contract }) => `${contract.method} ${contract.path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { contract } of routes) {
    if (contract.method !== 'GET') expect(contract.roles, `${contract.method} ${contract.path}`).toBeDefined();
  }
});

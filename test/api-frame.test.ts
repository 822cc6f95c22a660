import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from './harness/api.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('api-frame');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

test('machine users are listed with their page', async () => {
  const { status, body } = await api.call('GET', '/machine-users', undefined, { as: 'admin' });
  expect(status).toBe(200);
  expect(body.data.machineUsers).toHaveLength(5);
  expect(body.metadata.page).toEqual({ size: 10, number: 0, totalElements: 5, totalPages: 1 });
  expect(body.workflow).toEqual({});
});

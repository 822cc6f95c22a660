import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { sqlState, uniqueViolation } from '../../db/postgres/failures.ts';
import type { Database } from '../../db/query/database.ts';
import { insertRow, lookUpIn, updateRow } from '../../db/query/rows.ts';
import { systemAccounts } from '../harness/servers/plain-tables.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('database-rejections');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 4,
    applicationName: 'rejections',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

test('a rejected prepared query is an error of Postgres that names no parameter', async () => {
  const row = { id: newId(), provider: 'secret-provider', currency: 'GBP', kind: 'settlement' as const };
  await database.transaction((tx) => insertRow(tx, systemAccounts, row));
  const again = { ...row, id: newId() };
  const error = await database.transaction((tx) => insertRow(tx, systemAccounts, again)).catch((thrown) => thrown);
  expect(uniqueViolation(error)).toBe('system_accounts_provider_currency_kind_key');
  expect(sqlState(error)).toBe('23505');
  expect(String(error) + JSON.stringify(error)).not.toContain('secret-provider');
});

test('two transactions of prepared queries that lock each other out both finish', async () => {
  const ids = [newId(), newId()];
  await database.transaction((tx) =>
    Promise.all(
      ids.map((id) => insertRow(tx, systemAccounts, { id, provider: id, currency: 'GBP', kind: 'settlement' })),
    ),
  );
  let attempts = 0;
  let arrived = 0;
  const lock = (order: string[]) =>
    database.transaction(async (tx) => {
      attempts += 1;
      const [first = '', second = ''] = order;
      await updateRow(tx, systemAccounts, first, { currency: 'EUR' });
      arrived += 1;
      while (arrived < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await updateRow(tx, systemAccounts, second, { currency: 'EUR' });
    });
  await Promise.all([lock(ids), lock([...ids].reverse())]);
  // Postgres rejects one of the two, or both when each looks before the other is gone.
  expect(attempts).toBeGreaterThan(2);
  const rows = await database.reader.run(lookUpIn(systemAccounts), { ids });
  expect(rows.map(({ currency }) => currency)).toEqual(['EUR', 'EUR']);
});

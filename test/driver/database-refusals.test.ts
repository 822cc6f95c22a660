import { eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database, sqlState, uniqueViolation } from '../../db/driver/client.ts';
import { newId } from '../../db/frame/ids.ts';
import { systemAccounts } from '../../db/frame/schema.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('database-refusals');
  database = createDatabase({ url: testDatabase.url, maxConnections: 4, applicationName: 'refusals' });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

test('a refused statement of the query builder is an error of Postgres that names no parameter', async () => {
  const row = { id: newId(), provider: 'secret-provider', currency: 'GBP', kind: 'settlement' as const };
  await database.reader.drizzle.insert(systemAccounts).values(row);
  const again = { ...row, id: newId() };
  const error = await database
    .transaction((tx) => tx.drizzle.insert(systemAccounts).values(again))
    .catch((thrown) => thrown);
  expect(uniqueViolation(error)).toBe('system_accounts_provider_currency_kind_key');
  expect(sqlState(error)).toBe('23505');
  expect(String(error) + JSON.stringify(error)).not.toContain('secret-provider');
});

test('two transactions of the query builder that lock each other out both finish', async () => {
  const ids = [newId(), newId()];
  await database.reader.drizzle
    .insert(systemAccounts)
    .values(ids.map((id) => ({ id, provider: id, currency: 'GBP', kind: 'settlement' as const })));
  let attempts = 0;
  let arrived = 0;
  const lock = (order: string[]) =>
    database.transaction(async (tx) => {
      attempts += 1;
      const [first = '', second = ''] = order;
      await tx.drizzle.update(systemAccounts).set({ currency: 'EUR' }).where(eq(systemAccounts.id, first));
      arrived += 1;
      while (arrived < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await tx.drizzle.update(systemAccounts).set({ currency: 'EUR' }).where(eq(systemAccounts.id, second));
    });
  await Promise.all([lock(ids), lock([...ids].reverse())]);
  // Postgres refuses one of the two, or both when each looks before the other is gone.
  expect(attempts).toBeGreaterThan(2);
  const rows = await database.reader.drizzle.select().from(systemAccounts).where(inArray(systemAccounts.id, ids));
  expect(rows.map(({ currency }) => currency)).toEqual(['EUR', 'EUR']);
});

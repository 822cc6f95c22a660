import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIST_LOADS } from '../../../bench/cases/lists.ts';
import { createDatabase } from '../../../db/client.ts';
import { type ClientFilter, countClients, listNewestClients } from '../../../db/clients/clients.ts';
import type { Database } from '../../../db/query/database.ts';
import { LOOKED_AT_MAX } from '../../../db/query/newest-lists.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

// Lists for people: newest first, each page of which looks through a bounded part of the table.

const COUNT = 2 * LOOKED_AT_MAX + 500;

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('newest-lists');
  const [clients = ''] = LIST_LOADS;
  await testDatabase.asOwner(
    `SET session_replication_role = replica; ${clients.replaceAll('$1', String(COUNT))}; ANALYZE clients`,
  );
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 1,
    applicationName: 'newest-lists',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Every page, from the newest on. */
async function readAll(filter: ClientFilter, size: number) {
  const pages: { readonly ids: readonly string[]; readonly lookedTo: string | null }[] = [];
  for (let before: string | null = null; ; ) {
    const { rows, lookedTo } = await listNewestClients(database.reader, filter, { before, size });
    const ids = rows.map(({ id }) => id);
    pages.push({ ids, lookedTo });
    const next: string | null = rows.length === size ? (ids.at(-1) ?? null) : lookedTo;
    if (next === null) return pages;
    before = next;
  }
}

async function matching(condition: string): Promise<string[]> {
  const rows = await testDatabase.asOwner<{ id: string }>(`SELECT id FROM clients WHERE ${condition} ORDER BY id DESC`);
  return rows.map(({ id }) => id);
}

test.each<readonly [ClientFilter, string]>([
  [{}, 'true'],
  [{ status: 'suspended' }, `status = 'suspended'`],
  [{ country: 'NZ', identityType: 'individual' }, `country = 'NZ' AND identity_type = 'individual'`],
  [{ fullName: 'List 17 ' }, `full_name ILIKE '%List 17 %'`],
  [{ fullName: 'list 77' }, `full_name ILIKE '%list 77%'`],
])('by %j the pages together have every row once, the newest first', async (filter, condition) => {
  const pages = await readAll(filter, 700);
  expect(pages.flatMap(({ ids }) => ids)).toEqual(await matching(condition));
});

test('a page that finds nothing among the rows that it may look through says from where the next looks on', async () => {
  const oldest = 'Grace List 1';
  const pages = await readAll(
    { fullName: oldest, country: 'GB', status: 'active', identityType: 'individual' },
    10_000,
  );
  expect(pages.slice(0, 2).map(({ lookedTo }) => lookedTo)).toEqual([expect.any(String), expect.any(String)]);
  expect(pages.at(-1)?.lookedTo).toBeNull();
  expect(pages.length).toBe(3);
});

test('what an index finds is found at once, however old it is', async () => {
  const [found] = await readAll({ clientNumber: '0000000001' }, 50);
  expect(found).toEqual({ ids: [expect.any(String)], lookedTo: null });
  expect(await countClients(database.reader, { clientNumber: '0000000001' }, 1_000)).toEqual({
    count: 1,
    isMore: false,
  });
});

test('counts end at their limit, and say so where not all rows were looked at', async () => {
  expect(await countClients(database.reader, {}, 1_000)).toEqual({ count: 1_000, isMore: true });
  expect(await countClients(database.reader, { country: 'NZ' }, 1_000)).toEqual({ count: 20, isMore: true });
  expect(await countClients(database.reader, { email: 'absent@example.com' }, 1_000)).toEqual({
    count: 0,
    isMore: false,
  });
});

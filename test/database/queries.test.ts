import { eq, sql } from 'drizzle-orm';
import { bigint, numeric, pgTable, uuid } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { equalTo } from '../../db/common/filters.ts';
import { newId } from '../../db/common/ids.ts';
import type { Database } from '../../db/query/database.ts';
import { listOf, listWith, readPage, readPageWith } from '../../db/query/lists.ts';
import { type Given, groupRows, type LeftJoin, prepared } from '../../db/query/queries.ts';
import { insertRow, lookUpWith, sendInsertion } from '../../db/query/rows.ts';
import { isListed } from '../../db/query/values.ts';
import { systemAccountCheckpoints, systemAccounts } from '../harness/servers/plain-tables.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;
const ids = [newId(), newId(), newId()].sort();

beforeAll(async () => {
  testDatabase = await createTestDatabase('queries');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 2,
    applicationName: 'queries-test',
    deadlineMs: 60_000,
  });
  await database.transaction(async (tx) => {
    for (const [index, id] of ids.entries()) {
      const currency = index === 0 ? 'EUR' : 'GBP';
      await insertRow(tx, systemAccounts, { id, provider: `bank-${index}`, currency, kind: 'settlement' });
    }
    const systemAccountId = ids[0] ?? '';
    sendInsertion(tx, systemAccountCheckpoints, { systemAccountId, postingId: 1n, balanceMinor: 2n ** 60n });
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const WITH_CHECKPOINT = prepared((db, given: Given<{ id: string }>) =>
  db
    .select({ id: systemAccounts.id, checkpoint: systemAccountCheckpoints })
    .from(systemAccounts)
    .leftJoin(systemAccountCheckpoints, eq(systemAccountCheckpoints.systemAccountId, systemAccounts.id))
    .where(eq(systemAccounts.id, given.id)),
);

test('the columns of a joined table come as one object, and as null where the join found none', async () => {
  const [first = '', second = ''] = ids;
  expect(await database.reader.run(WITH_CHECKPOINT, { id: first })).toEqual([
    { id: first, checkpoint: { systemAccountId: first, postingId: 1n, balanceMinor: 2n ** 60n } },
  ]);
  expect(await database.reader.run(WITH_CHECKPOINT, { id: second })).toEqual([{ id: second, checkpoint: null }]);
});

test('a value that is missing is an error, not a null', async () => {
  const values: { id: string } = JSON.parse('{}');
  await expect(database.reader.run(WITH_CHECKPOINT, values)).rejects.toThrow('without its value id');
});

test('one text is one prepared statement, whatever the values', async () => {
  const apart = createDatabase({
    url: testDatabase.url,
    maxConnections: 1,
    applicationName: 'queries-apart',
    deadlineMs: 60_000,
  });
  for (const id of ids) await apart.reader.run(WITH_CHECKPOINT, { id });
  const rows = await apart.reader.statement<{ executed: bigint }>(
    'SELECT generic_plans + custom_plans AS executed FROM pg_prepared_statements WHERE statement = $1',
    [WITH_CHECKPOINT.text],
  );
  await apart.close();
  expect(rows).toEqual([{ executed: 3n }]);
});

const CHECKPOINTS = {
  query: prepared((db, given: Given<{ ids: readonly string[] }>) =>
    db
      .select()
      .from(systemAccountCheckpoints)
      .where(isListed(systemAccountCheckpoints.systemAccountId, given.ids))
      .orderBy(systemAccountCheckpoints.postingId),
  ),
  parentOf: ({ systemAccountId }: { readonly systemAccountId: string }) => systemAccountId,
};

test('concurrent look-ups of rows by their parents share a statement, and each gets its own rows in order', async () => {
  const apart = createDatabase({
    url: testDatabase.url,
    maxConnections: 1,
    applicationName: 'queries-apart',
    deadlineMs: 60_000,
  });
  const [first = '', second = ''] = ids;
  await apart.transaction(async (tx) => {
    sendInsertion(tx, systemAccountCheckpoints, { systemAccountId: first, postingId: 2n, balanceMinor: 0n });
  });
  const found = await Promise.all([first, second, first].map((id) => apart.reader.findChildren(CHECKPOINTS, id)));
  const [statement] = await apart.reader.statement<{ executed: bigint }>(
    'SELECT generic_plans + custom_plans AS executed FROM pg_prepared_statements WHERE statement = $1',
    [CHECKPOINTS.query.text],
  );
  await apart.close();
  expect(found.map((rows) => rows.map(({ postingId }) => postingId))).toEqual([[1n, 2n], [], [1n, 2n]]);
  expect(statement).toEqual({ executed: 1n });
});

test('a column that the driver returns in another form than the schema says cannot be selected', () => {
  const odd = pgTable('odd', { id: uuid('id'), ratio: numeric('ratio'), total: bigint('total', { mode: 'number' }) });
  expect(() => prepared((db) => db.select({ id: odd.id }).from(odd))).not.toThrow();
  expect(() => prepared((db) => db.select({ total: odd.total }).from(odd))).toThrow('does not parse total');
});

interface Filter {
  readonly currency?: string | undefined;
  readonly provider?: string | undefined;
}

const LIST = listOf<Filter, typeof systemAccounts>(systemAccounts, (given) =>
  equalTo([
    [systemAccounts.currency, given.currency],
    [systemAccounts.provider, given.provider],
  ]).reduce((all, one) => sql`${all} AND ${one}`, sql`${systemAccounts.provider} LIKE 'bank-%'`),
);

async function pageOf(filter: Filter, size: number, offset: number) {
  const { rows, totalElements } = await readPage(database.reader, LIST(filter), filter, { size, offset });
  return { ids: rows.map(({ id }) => id), totalElements };
}

test('a page has its rows in order and the total of the list, also behind the last row', async () => {
  const [first, second, third] = ids;
  expect(await pageOf({}, 2, 0)).toEqual({ ids: [first, second], totalElements: 3 });
  expect(await pageOf({}, 2, 2)).toEqual({ ids: [third], totalElements: 3 });
  expect(await pageOf({}, 2, 4)).toEqual({ ids: [], totalElements: 3 });
  expect(await pageOf({ currency: 'GBP' }, 10, 0)).toEqual({ ids: [second, third], totalElements: 2 });
  expect(await pageOf({ currency: 'GBP', provider: 'bank-0' }, 10, 0)).toEqual({ ids: [], totalElements: 0 });
});

test('a combination of filters has one query, whatever the values', () => {
  expect(LIST({ currency: 'GBP' })).toBe(LIST({ currency: 'EUR', provider: undefined }));
  expect(LIST({ currency: 'GBP' })).not.toBe(LIST({ provider: 'GBP' }));
});

const CHECKPOINT: LeftJoin<{ postingId: bigint }> = {
  table: systemAccountCheckpoints,
  columns: { postingId: systemAccountCheckpoints.postingId },
  on: eq(systemAccountCheckpoints.systemAccountId, systemAccounts.id),
  order: [systemAccountCheckpoints.postingId],
};
const LOOK_UP_WITH = lookUpWith(systemAccounts, CHECKPOINT);
const LIST_WITH = listWith<Filter, typeof systemAccounts, { postingId: bigint }>(systemAccounts, CHECKPOINT, (given) =>
  equalTo([[systemAccounts.currency, given.currency]]).reduce(
    (all, one) => sql`${all} AND ${one}`,
    sql`${systemAccounts.provider} LIKE 'bank-%'`,
  ),
);

async function pageWith(filter: Filter, size: number, offset: number) {
  const { rows, totalElements } = await readPageWith(database.reader, LIST_WITH(filter), filter, { size, offset });
  return { rows: rows.map(({ row, joined }) => [row.id, joined.map(({ postingId }) => postingId)]), totalElements };
}

test('joined rows of another table come with their row in their order, and count neither in a page nor in its total', async () => {
  const [first = '', second = '', third = ''] = ids;
  await database.transaction(async (tx) => {
    for (const postingId of [9n, 8n, 7n]) {
      sendInsertion(tx, systemAccountCheckpoints, { systemAccountId: third, postingId, balanceMinor: 0n });
    }
  });
  const ofFirst = (await database.reader.findChildren(CHECKPOINTS, first)).map(({ postingId }) => postingId);
  expect(await pageWith({}, 2, 0)).toEqual({
    rows: [
      [first, ofFirst],
      [second, []],
    ],
    totalElements: 3,
  });
  expect(await pageWith({ currency: 'GBP' }, 2, 0)).toEqual({
    rows: [
      [second, []],
      [third, [7n, 8n, 9n]],
    ],
    totalElements: 2,
  });
  expect(await pageWith({}, 2, 4)).toEqual({ rows: [], totalElements: 3 });
  const found = await Promise.all(
    [third, second, newId()].map(async (id) => groupRows(await database.reader.findChildren(LOOK_UP_WITH, id))),
  );
  expect(found.map((rows) => rows.map(({ row, joined }) => [row.id, joined.length]))).toEqual([
    [[third, 3]],
    [[second, 0]],
    [],
  ]);
});

import { eq } from 'drizzle-orm';
import { bigint, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { onTestFinished } from 'vitest';
import { createDatabase, type DatabaseOptions } from '../../../db/client.ts';
import { newId } from '../../../db/common/ids.ts';
import type { Database, Transaction } from '../../../db/query/database.ts';
import { type Given, prepared } from '../../../db/query/queries.ts';
import { insertRow, lockIn, lookUpIn, sendUpdate } from '../../../db/query/rows.ts';
import { isListed } from '../../../db/query/values.ts';
import { createTestDatabase, type TestDatabase } from '../servers/postgres.ts';

/** A table for tests of the driver. */
export const rows = pgTable('test_rows', {
  id: uuid('id').primaryKey(),
  value: bigint('value', { mode: 'bigint' }).notNull(),
  note: text('note').unique(),
});

export const FIND = lookUpIn(rows);
export const LOCK = lockIn(rows, 'update', 'row and parts');
export const SHARE = lockIn(rows, 'share');
export const BY_NOTE = prepared((db, given: Given<{ note: string }>) =>
  db.select().from(rows).where(eq(rows.note, given.note)),
);
export const BY_IDS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db.select().from(rows).where(isListed(rows.id, given.ids)),
);

/** A database with the table, and what tests do with it. */
export interface TestRows {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  /** Another client of the same database, closed with the test. */
  open(options: Partial<DatabaseOptions> & { applicationName: string }): Database;
  insert(value?: bigint, note?: string | null): Promise<string>;
  read(id: string): Promise<bigint | undefined>;
  readAll(ids: readonly string[]): Promise<(bigint | undefined)[]>;
  close(): Promise<void>;
}

export async function createTestRows(name: string): Promise<TestRows> {
  const testDatabase = await createTestDatabase(name);
  const open = (options: Partial<DatabaseOptions> & { applicationName: string }) =>
    createDatabase({ url: testDatabase.url, maxConnections: 5, ...options });
  const database = open({ applicationName: `${name}-test`, deadlineMs: 60_000 });
  await testDatabase.asOwner(`
    create table test_rows (id uuid primary key, value bigint not null, note text constraint test_rows_note unique);
    grant all on test_rows to public`);
  const read = async (id: string) => (await database.reader.find(FIND, id))?.value;
  return {
    testDatabase,
    database,
    open: (options) => {
      const opened = open(options);
      onTestFinished(() => opened.close());
      return opened;
    },
    insert: async (value = 0n, note = null) => {
      const { id } = await database.transaction((tx) => insertRow(tx, rows, { id: newId(), value, note }));
      return id;
    },
    read,
    readAll: (ids) => Promise.all(ids.map(read)),
    close: async () => {
      await database.close();
      await testDatabase.drop();
    },
  };
}

export async function lockRow(tx: Transaction, id: string, lock = LOCK) {
  const row = await tx.lock(lock, id);
  if (row === null) throw new Error(`the row ${id} is not there`);
  return row;
}

export async function addOne(tx: Transaction, id: string): Promise<void> {
  const row = await lockRow(tx, id);
  sendUpdate(tx, rows, row, { value: row.value + 1n });
}

/** As the routes write: by one statement if that can do it, else in a transaction. */
export async function write<T>(on: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const written = await on.inOneStatement(work);
  return written === null ? on.transaction(work) : written.value;
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

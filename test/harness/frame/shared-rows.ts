import { eq } from 'drizzle-orm';
import { bigint, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { onTestFinished } from 'vitest';
import { createDatabase, type Database, type DatabaseOptions, type Transaction } from '../../../db/driver/client.ts';
import { type Given, prepared } from '../../../db/driver/queries/queries.ts';
import { insertRow, lockIn, lookUpIn, sendUpdate } from '../../../db/driver/queries/rows.ts';
import { isListed } from '../../../db/driver/values.ts';
import { newId } from '../../../db/frame/ids.ts';
import { createTestDatabase, type TestDatabase } from '../servers/postgres.ts';

/** A table for tests of shared transactions. */
export const rows = pgTable('shared_rows', {
  id: uuid('id').primaryKey(),
  value: bigint('value', { mode: 'bigint' }).notNull(),
  note: text('note').unique(),
});

export const FIND = lookUpIn(rows);
export const LOCK = lockIn(rows, 'update');
export const SHARE = lockIn(rows, 'share');
export const BY_NOTE = prepared((db, given: Given<{ note: string }>) =>
  db.select().from(rows).where(eq(rows.note, given.note)),
);
export const BY_IDS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db.select().from(rows).where(isListed(rows.id, given.ids)),
);

type Work<T> = (tx: Transaction) => Promise<T>;

/** A database with the table, and what tests do with it. */
export interface SharedRows {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  /** Another client of the same database, closed with the test. */
  open(options: Partial<DatabaseOptions> & { applicationName: string }): Database;
  insert(value?: bigint, note?: string | null): Promise<string>;
  read(id: string): Promise<bigint | undefined>;
  readAll(ids: readonly string[]): Promise<(bigint | undefined)[]>;
  close(): Promise<void>;
}

export async function createSharedRows(name: string): Promise<SharedRows> {
  const testDatabase = await createTestDatabase(name);
  const open = (options: Partial<DatabaseOptions> & { applicationName: string }) =>
    createDatabase({ url: testDatabase.url, maxConnections: 5, ...options });
  const database = open({ applicationName: `${name}-test`, deadlineMs: 60_000 });
  await testDatabase.asOwner(`
    create table shared_rows (id uuid primary key, value bigint not null, note text constraint shared_rows_note unique);
    grant all on shared_rows to public`);
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

/** Up to eight works that are begun so in one turn of the event loop, while no other runs, have one transaction. */
export function share<T>(on: Database, work: Work<T>): Promise<T> {
  return on.transaction(work, { shares: true });
}

/** A work with a record of its runs: of each, whether it was among others. */
export function counted<T>(work: Work<T>): { readonly run: Work<T>; readonly runs: readonly boolean[] } {
  const runs: boolean[] = [];
  const run = (tx: Transaction) => {
    runs.push(tx.isShared);
    return work(tx);
  };
  return { run, runs };
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

/** Gives the others of the transaction their turn, so many times. */
export async function letOthers(tx: Transaction, turns: number): Promise<void> {
  const nobody = newId();
  for (let turn = 0; turn < turns; turn += 1) await tx.find(FIND, nobody);
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

import { createServer, type Server } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../../db/client.ts';
import { migrate, roleOf } from '../../../db/migrate.ts';
import { DatabaseUnavailable } from '../../../db/postgres/failures.ts';
import type { ReplicaOutcome } from '../../../db/postgres/replica.ts';
import type { Database } from '../../../db/query/database.ts';
import { executeOn } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts';

// A primary and a standby that streams from it. The tests run in order: the last one promotes the standby.

let pair: PostgresPair;
const opened: Database[] = [];

beforeAll(async () => {
  pair = await startPostgresPair();
  await migrate(pair.ownerUrl, undefined, { serviceRole: roleOf(pair.url) });
  await executeOn(pair.primary.ownerUrl, 'CREATE TABLE notes (id text PRIMARY KEY)');
});

afterAll(async () => {
  for (const database of opened) await database.close();
  await pair?.close();
});

/** Of the primary, wherever it stands among the hosts. */
function open(url = pair.ownerUrl, deadlineMs?: number): Database {
  const database = createDatabase({
    url,
    maxConnections: 5,
    applicationName: 'hosts',
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  opened.push(database);
  return database;
}

const NOTE = 'INSERT INTO notes (id) VALUES ($1)';
/** As the statements of the service do, it takes its deadline as last parameter. */
const NOTE_IN_TIME = 'INSERT INTO notes (id) SELECT $1 FROM before_deadline($2) RETURNING id, before_deadline($2)';

async function noteOf(database: Database, id: string): Promise<boolean> {
  const rows = await database.statement('SELECT id FROM notes WHERE id = $1', [id]);
  return rows.length === 1;
}

test('of several hosts the one that takes writes is found, whatever their order; by the migration too', async () => {
  const database = open();
  await database.statement(NOTE, ['first']);
  const [{ isStandby } = { isStandby: true }] = await database.statement<{ isStandby: boolean }>(
    'SELECT pg_is_in_recovery() AS "isStandby"',
    [],
  );
  expect(isStandby).toBe(false);
  expect(await migrate(pair.ownerUrl)).toEqual([]);
});

test('a host that accepts connections and never answers costs no caller its answer', async () => {
  const silent: Server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const database = open(pair.ownerUrl.replace('@', `@127.0.0.1:${port},`));
  await Promise.all(Array.from({ length: 20 }, (_, number) => database.statement(NOTE, [`silent ${number}`])));
  expect(await noteOf(database, 'silent 19')).toBe(true);
});

test('no host that takes writes: every call fails at once, with nothing done', async () => {
  const database = open(pair.standby.ownerUrl.replace('/financial', `,127.0.0.1:1/financial`));
  const failure = await database.statement(NOTE, ['nowhere']).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DatabaseUnavailable);
  expect(failure).toMatchObject({ outcome: 'nothing-done' });
});

/** Stops the standby's receiver, so that commits wait for it. */
async function withoutStandby(work: () => Promise<void>): Promise<void> {
  const receiver = 'SELECT pid FROM pg_stat_wal_receiver';
  const [{ pid } = { pid: 0 }] = await executeOn<{ pid: number }>(pair.standby.ownerUrl, receiver);
  process.kill(pid, 'SIGSTOP');
  await work().finally(() => process.kill(pid, 'SIGCONT'));
}

const WAITING = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'hosts'`;

async function waitingCommit(): Promise<number> {
  const [row] = await until(
    () => executeOn<{ pid: number }>(pair.primary.ownerUrl, WAITING),
    (rows) => rows.length === 1,
  );
  return row?.pid ?? 0;
}

test('a commit that the synchronous standby has not received is never acknowledged: no time-out of Postgres ends its wait, and a cancelled wait is no answer', async () => {
  await pair.makeSynchronous();
  await withoutStandby(async () => {
    const limits = {
      statement_timeout: 100,
      transaction_timeout: 100,
      lock_timeout: 100,
      client_connection_check_interval: 100,
    };
    const sql = postgres(pair.primary.ownerUrl, { max: 1, connection: { application_name: 'hosts', ...limits } });
    let isAcknowledged = false;
    const answer = sql.unsafe(NOTE, ['timed']).then(() => {
      isAcknowledged = true;
    });
    await waitingCommit();
    // Ten times as long as each limit, by the clock of Postgres.
    await executeOn(pair.primary.ownerUrl, 'SELECT pg_sleep(1)');
    await waitingCommit();
    expect(isAcknowledged).toBe(false);
    answer.catch(() => {});
    await sql.end({ timeout: 0 });
  });
  await until(
    () => executeOn(pair.primary.ownerUrl, WAITING),
    (rows) => rows.length === 0,
  );
  const database = open(pair.ownerUrl, 60_000);
  await database.statement('SELECT 1', []);
  await withoutStandby(async () => {
    for (const write of [
      () => database.write(NOTE_IN_TIME, ['write']),
      () => database.transaction((tx) => tx.statement(NOTE, ['transaction'])),
    ]) {
      const answer = write().catch((error: unknown) => error);
      await executeOn(pair.primary.ownerUrl, `SELECT pg_cancel_backend(${await waitingCommit()})`);
      const message = expect.stringContaining('synchronous standby');
      expect(await answer).toMatchObject({ name: 'DatabaseUnavailable', outcome: 'unknown', message });
    }
  });
  await executeOn(pair.primary.ownerUrl, 'ALTER SYSTEM RESET synchronous_standby_names');
  await executeOn(pair.primary.ownerUrl, 'SELECT pg_reload_conf()');
});

/** The deadline is for a busy machine, where no test needs that it is missed. */
function openWithReplica(replicaUrl = pair.standby.ownerUrl, deadlineMs = 60_000) {
  const outcomes: ReplicaOutcome[] = [];
  const replica = { url: replicaUrl, onRead: (outcome: ReplicaOutcome) => void outcomes.push(outcome) };
  const lists = { maxConnections: 3, deadlineMs, replica };
  const database = createDatabase({ url: pair.primary.ownerUrl, maxConnections: 3, applicationName: 'lists', lists });
  opened.push(database);
  /** As each request for a list has it. */
  const request = () => database.forCaller(database.limits(), 'lists');
  return { database, request, outcomes };
}

interface NoteRow {
  readonly id: string;
  readonly onReplica: boolean;
}

const NOTES = `SELECT id, pg_is_in_recovery() AS "onReplica" FROM notes WHERE id = $1`;

test('lists and snapshots are read on the replica, and show every acknowledged write', async () => {
  const { database, request, outcomes } = openWithReplica();
  const another = open(pair.primary.ownerUrl);
  const servers = new Set<unknown>();
  for (let number = 0; number < 20; number += 1) {
    const id = `read ${number}`;
    await (number % 2 === 0 ? database : another).statement(NOTE, [id]);
    const rows = await request().statement<NoteRow>(NOTES, [id]);
    const snapshot = await request().snapshot((reader) => reader.statement<NoteRow>(NOTES, [id]));
    expect(rows, id).toMatchObject([{ id }]);
    expect(snapshot, id).toMatchObject([{ id }]);
    for (const { onReplica } of [...rows, ...snapshot]) servers.add(onReplica);
  }
  expect(servers).toContain(true);
  expect(outcomes).toContain('read');
  // Everything else is read where it is written.
  const elsewhere = await database.forCaller(database.limits()).statement(NOTES, ['read 0']);
  expect(elsewhere).toEqual([{ id: 'read 0', onReplica: false }]);
});

test('while the replica does not replay, the primary answers in its place; afterwards the replica does again', async () => {
  const { database, request, outcomes } = openWithReplica();
  await database.statement(NOTE, ['seen']);
  await executeOn(pair.standby.ownerUrl, 'SELECT pg_wal_replay_pause()');
  await database.statement(NOTE, ['not replayed']);
  const answers = await Promise.all([
    request().statement(NOTES, ['not replayed']),
    request().snapshot((reader) => reader.statement(NOTES, ['not replayed'])),
  ]);
  for (const answer of answers) expect(answer).toEqual([{ id: 'not replayed', onReplica: false }]);
  expect(new Set(outcomes)).toEqual(new Set(['behind']));
  await executeOn(pair.standby.ownerUrl, 'SELECT pg_wal_replay_resume()');
  await until(
    () => request().statement<{ onReplica: boolean }>(NOTES, ['not replayed']),
    ([row]) => row?.onReplica === true,
  );
});

test('a replica that is away costs no list: the primary answers', async () => {
  const { request, outcomes } = openWithReplica(pair.standby.ownerUrl.replace(/:\d+\//, ':1/'));
  expect(await request().statement(NOTES, ['seen'])).toEqual([{ id: 'seen', onReplica: false }]);
  expect(await request().snapshot((reader) => reader.statement(NOTES, ['seen']))).toHaveLength(1);
  expect(outcomes).toEqual(['away', 'away']);
});

test('a list that is too slow for the replica is not read again on the primary', async () => {
  const { request, outcomes } = openWithReplica(undefined, 1_000);
  await expect(request().statement('SELECT pg_sleep(30)', [])).rejects.toBeInstanceOf(DatabaseUnavailable);
  expect(outcomes).toEqual([]);
});

test('a server that ceases to take writes loses no call: statement, write and transaction go to the promoted standby by themselves', async () => {
  const ways: Record<string, (database: Database, id: string) => Promise<unknown>> = {
    statement: (database, id) => database.statement(NOTE, [id]),
    write: (database, id) => database.write(NOTE_IN_TIME, [id]),
    transaction: (database, id) => database.transaction((tx) => tx.statement(NOTE, [id])),
    'statements at once': (database, id) =>
      database.transaction((tx) => Promise.all([tx.statement(NOTE, [id]), tx.statement(NOTE, [`${id} again`])])),
  };
  const databases = await Promise.all(
    Object.keys(ways).map(async (way) => {
      const database = open();
      // Each has all its connections, idle, to the server that is about to change.
      await Promise.all(Array.from({ length: 5 }, () => database.statement('SELECT pg_sleep(0.2)', [])));
      return { way, database };
    }),
  );
  await executeOn(pair.primary.ownerUrl, 'ALTER SYSTEM SET default_transaction_read_only = on');
  await executeOn(pair.primary.ownerUrl, 'SELECT pg_reload_conf()');
  await until(
    () => executeOn<{ state: string }>(pair.primary.ownerUrl, 'SHOW default_transaction_read_only'),
    ([row]) => JSON.stringify(row).includes('on'),
  );
  await pair.promoteStandby();

  for (const { way, database } of databases) {
    const ids = Array.from({ length: 12 }, (_, number) => `${way} ${number}`);
    await Promise.all(ids.map((id) => ways[way]?.(database, id)));
    for (const id of ids) expect(await noteOf(open(pair.standby.ownerUrl), id), id).toBe(true);
  }
});

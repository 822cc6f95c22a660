import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { findAccount } from '../../db/accounts/reads.ts';
import { createDatabase, type DatabaseOptions } from '../../db/client.ts';
import { readClock } from '../../db/common/clock.ts';
import { newId } from '../../db/common/ids.ts';
import { lockAccounts, lockAccountsOf } from '../../db/ledger/ledger.ts';
import { machineUsers } from '../../db/machine-users/schema.ts';
import { readTransferFacts } from '../../db/outgoing-transfers/creation.ts';
import { findDueSubmission } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { readDueSubmission } from '../../db/outgoing-transfers/payment-submissions.ts';
import { findOutgoingTransfer } from '../../db/outgoing-transfers/reads.ts';
import { QUEUE_LENGTH_MAX } from '../../db/postgres/deadlines.ts';
import { DatabaseUnavailable, LockTimeout, sqlState, uniqueViolation } from '../../db/postgres/failures.ts';
import { type Database, sendWithCommit, type Transaction } from '../../db/query/database.ts';
import { insertRow, insertRowOnce, lookUpIn, updateRow } from '../../db/query/rows.ts';
import {
  type AccountId,
  asId,
  type BeneficiaryBankAccountId,
  type MachineUserId,
  type OutgoingTransferId,
} from '../../domain/common/ids.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('database');
  database = createDatabase({ url: testDatabase.url, maxConnections: 5, applicationName: 'database-test' });
  await testDatabase.asOwner(`create table counters (name text constraint counters_name primary key, value bigint);
    grant all on counters to public`);
  await database.statement(`insert into counters values ('a', 0), ('b', 0)`, []);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Another client of the same database, closed with the test. */
function openDatabase(options: Partial<DatabaseOptions> & { applicationName: string }): Database {
  const opened = createDatabase({ url: testDatabase.url, maxConnections: 5, ...options });
  onTestFinished(() => opened.close());
  return opened;
}

async function sessionsOf(applicationName: string): Promise<number> {
  const [row] = await database.statement<{ count: bigint }>(
    'select count(*) from pg_stat_activity where application_name = $1',
    [applicationName],
  );
  return Number(row?.count ?? 0n);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

/** Again while the deadline was missed. */
async function untilDone(call: () => Promise<unknown>): Promise<void> {
  await until(() =>
    call().then(
      () => true,
      () => false,
    ),
  );
}

const addOne = (tx: Transaction, name: string) =>
  tx.execute(sql`update counters set value = value + 1 where name = ${name}`);

async function counterValue(name: string): Promise<bigint | undefined> {
  const [row] = await database.statement<{ value: bigint }>('select value from counters where name = $1', [name]);
  return row?.value;
}

test('values come back as they were sent: int8 as bigint, timestamptz as Date, date as text, json parsed, arrays as arrays', async () => {
  const at = new Date('2026-03-29T01:30:00.123Z');
  const values = [9_007_199_254_740_993n, at, '2026-02-28', { a: [1, 'x'] }, ['a"b\\', 'c,d', null, ''], true, null];
  const [row] = await database.statement(
    `select $1::bigint as big, $2::timestamptz as at, $3::date as day, $4::jsonb as document, $5::text[] as list,
       $6::boolean as flag, $7::text as nothing, $8::bytea as bytes, $9::integer as small, '{5,6}'::int8[] as bigs`,
    [...values, new Uint8Array([0, 255]), 7],
  );
  expect(row).toEqual({
    big: 9_007_199_254_740_993n,
    at,
    day: '2026-02-28',
    document: { a: [1, 'x'] },
    list: ['a"b\\', 'c,d', null, ''],
    flag: true,
    nothing: null,
    bytes: Buffer.from([0, 255]),
    small: 7,
    bigs: [5n, 6n],
  });
});

test('sessions read committed rows, in UTC and ISO dates, whatever the database sets by default', async () => {
  const name = new URL(testDatabase.url).pathname.slice(1);
  const defaults = { default_transaction_isolation: 'serializable', timezone: 'Asia/Tokyo', datestyle: 'German' };
  for (const [setting, value] of Object.entries(defaults))
    await testDatabase.asOwner(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  onTestFinished(async () => {
    for (const setting of Object.keys(defaults)) await testDatabase.asOwner(`ALTER DATABASE ${name} RESET ${setting}`);
  });
  const own = openDatabase({ applicationName: 'own-defaults' });
  const settings = (reader: { statement: Transaction['statement'] }) =>
    reader.statement(
      `SELECT current_setting('transaction_isolation') AS isolation, current_setting('timezone') AS zone,
        '2026-02-01'::date::text AS day`,
      [],
    );
  const expected = [{ isolation: 'read committed', zone: 'UTC', day: '2026-02-01' }];
  expect(await settings(own.reader)).toEqual(expected);
  expect(await own.transaction((tx) => settings(tx))).toEqual(expected);
});

test('the statements of every transfer are planned once, however few ids they are for', async () => {
  const planned = openDatabase({ applicationName: 'planned', maxConnections: 1 });
  // As dear as rows of large tables are, that one may be cheaper than the ten that Postgres takes an unseen list for.
  await planned.statement('SET random_page_cost = 1000', []);
  await planned.statement('SET enable_seqscan = off', []);
  const id = newId<OutgoingTransferId>();
  const bankAccountId = newId<BeneficiaryBankAccountId>();
  const request = { scope: null, sourceAccountId: newId<AccountId>(), bankAccountId };
  for (let turn = 0; turn < 20; turn += 1) {
    await findOutgoingTransfer(planned.reader, id);
    await findAccount(planned.reader, asId<AccountId>(id));
    await findDueSubmission(planned.reader, id);
    expect(await readDueSubmission(planned.reader, id, 1)).toBeNull();
    await planned.transaction((tx) => lockAccounts(tx, [asId<AccountId>(id)]));
    await planned.transaction((tx) => lockAccountsOf(tx, id));
    await readTransferFacts(planned, request);
  }
  const statements = await planned.reader.statement<{ statement: string; custom: bigint }>(
    'SELECT statement, custom_plans AS custom FROM pg_prepared_statements WHERE generic_plans + custom_plans = 20',
    [],
  );
  // Postgres tries five before it decides. Two of the seven read in a second statement what they have locked.
  expect(statements.filter(({ custom }) => custom !== 5n)).toEqual([]);
  expect(statements).toHaveLength(9);
});

test('a statement that is left to the commit and cannot even be sent fails the transaction', async () => {
  const before = await counterValue('a');
  const work = database.transaction(async (tx) => {
    await addOne(tx, 'a');
    sendWithCommit(tx.statement('SELECT $1::timestamptz', [new Date(Number.NaN)]));
  });
  await expect(work).rejects.toThrow(RangeError);
  const prepared = database.transaction(async (tx) => {
    await addOne(tx, 'a');
    sendWithCommit(updateRow(tx, machineUsers, newId(), { createdAt: new Date(Number.NaN) }));
  });
  await expect(prepared).rejects.toThrow(RangeError);
  expect(await counterValue('a')).toBe(before);
});

test('a prepared query reads and writes inside a transaction and outside', async () => {
  const id = newId<MachineUserId>();
  const createdAt = await readClock(database.reader);
  await database.transaction(async (tx) => {
    const row = { id, name: 'n', roles: ['viewer' as const], status: 'active' as const, createdAt };
    expect(await insertRow(tx, machineUsers, row)).toEqual({ ...row, revokedAt: null });
    expect(await insertRowOnce(tx, machineUsers, row)).toBeNull();
    expect(await updateRow(tx, machineUsers, id, { roles: ['admin', 'viewer'] })).toMatchObject({ name: 'n' });
  });
  const found = { id, name: 'n', roles: ['admin', 'viewer'], status: 'active', createdAt, revokedAt: null };
  expect(await database.reader.find(lookUpIn(machineUsers), id)).toEqual(found);
});

test('what throws leaves nothing behind, and its own error is what the caller sees', async () => {
  const before = await counterValue('a');
  const rejected = new Error('rejected');
  const work = database.transaction(async (tx) => {
    await addOne(tx, 'a');
    throw rejected;
  });
  await expect(work).rejects.toBe(rejected);
  expect(await counterValue('a')).toBe(before);
});

test('a failed statement fails the transaction even when its error was swallowed', async () => {
  const before = await counterValue('a');
  const work = database.transaction(async (tx) => {
    await addOne(tx, 'a');
    await tx.execute(sql`select 1 / 0`).catch(() => {});
    return 'as if nothing had happened';
  });
  await expect(work).rejects.toMatchObject({ code: '22012' });
  expect(await counterValue('a')).toBe(before);
});

test('of statements sent at once, the failure of several ends only the transaction', async () => {
  const work = database.transaction((tx) =>
    Promise.all([1, 2, 3].map(() => tx.execute(sql`insert into counters values ('a', 0)`))),
  );
  await expect(work).rejects.toMatchObject({ code: '23505' });
});

test('a unique violation names its constraint; other errors do not', async () => {
  const error = await database.statement(`insert into counters values ('a', 0)`, []).catch((caught: unknown) => caught);
  expect(uniqueViolation(error)).toBe('counters_name');
  expect(sqlState(error)).toBe('23505');
  // The values that Postgres quotes in DETAIL do not reach a logger that walks the fields.
  expect(JSON.stringify({ ...(error as object) })).not.toContain('(a)');
  const other = await database.statement('select 1 / 0', []).catch((caught: unknown) => caught);
  expect(uniqueViolation(other)).toBeNull();
});

test('a lock that is not granted in time is a LockTimeout, and the connection serves on', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const holder = database.transaction(async (tx) => {
    await addOne(tx, 'a');
    locked();
    await held;
  });
  await isLocked;
  await expect(database.transaction((tx) => addOne(tx, 'a'), { lockTimeoutMs: 50 })).rejects.toBeInstanceOf(
    LockTimeout,
  );
  release();
  await holder;
  await database.transaction((tx) => addOne(tx, 'a'));
});

test('a deadlock is answered by doing the loser again', async () => {
  const [a, b] = [(await counterValue('a')) ?? 0n, (await counterValue('b')) ?? 0n];
  let attempts = 0;
  let arrived = 0;
  const inOrder = (first: string, second: string) =>
    database.transaction(async (tx) => {
      attempts += 1;
      await addOne(tx, first);
      arrived += 1;
      await until(() => arrived >= 2);
      await addOne(tx, second);
    });
  await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')]);
  expect(attempts).toBeGreaterThan(2);
  expect([await counterValue('a'), await counterValue('b')]).toEqual([a + 2n, b + 2n]);
});

test('serialization failures are retried a bounded number of times, then reported', async () => {
  let attempts = 0;
  const fail = sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`;
  const work = database.transaction(async (tx) => {
    attempts += 1;
    await tx.execute(fail);
  });
  await expect(work).rejects.toMatchObject({ code: '40001' });
  expect(attempts).toBe(4);
});

test('a second connection inside a transaction is rejected', async () => {
  const guarded = openDatabase({ applicationName: 'guarded', guardsTransactions: true });
  const nested = guarded.transaction(() => guarded.statement('select 1', []));
  await expect(nested).rejects.toThrow('inside a transaction');
  const twice = guarded.transaction(() => guarded.transaction((tx) => addOne(tx, 'a')));
  await expect(twice).rejects.toThrow('inside a transaction');
});

test('a statement of a caller that writes without its deadline is rejected', async () => {
  const guarded = openDatabase({ applicationName: 'guarded', guardsTransactions: true });
  const caller = guarded.forCaller(guarded.limits());
  for (const text of [
    "update counters set value = 7 where name = 'a'",
    'delete from counters',
    "insert into counters values ('z', 1)",
    'select value from counters for update',
    "select nextval('client_numbers')",
  ]) {
    await expect(caller.statement(text, [])).rejects.toThrow('without a deadline');
  }
  const late = `update counters set value = 7 where name = 'a' and before_deadline($1)`;
  await expect(guarded.write(late, [], { ...guarded.limits(), endsAt: performance.now() - 1 })).rejects.toMatchObject({
    outcome: 'nothing-done',
  });
});

test('a clock of the server that was set costs one call, and not the connection', async () => {
  const own = openDatabase({ applicationName: 'set-clock', maxConnections: 1 });
  const write = () => own.write('select before_deadline($1)', []);
  await write();
  // As if the server's clock had been set a minute forward: every deadline on the connection lies behind.
  const at = performance.now();
  const jumped = vi.spyOn(performance, 'now').mockImplementation(() => at - 60_000);
  const late = own.transaction((tx) => addOne(tx, 'a'), { deadlineMs: 10_000 });
  await expect(late).rejects.toMatchObject({ outcome: 'nothing-done' });
  const sessionsThen = await sessionsOf('set-clock');
  await write();
  jumped.mockRestore();
  expect(sessionsThen).toBe(1);
});

test('a statement that outlives its transaction is rejected', async () => {
  let leaked: Transaction | undefined;
  await database.transaction(async (tx) => {
    leaked = tx;
  });
  await expect(leaked?.execute(sql`select 1`)).rejects.toThrow('after its transaction had ended');
});

test('a missed deadline is DatabaseUnavailable, gives up its locks in Postgres, and the next call works', async () => {
  const impatient = openDatabase({ applicationName: 'impatient' });
  const slow = impatient.transaction(
    async (tx) => {
      await addOne(tx, 'b');
      await tx.execute(sql`select pg_sleep(600)`);
    },
    { deadlineMs: 200 },
  );
  await expect(slow).rejects.toBeInstanceOf(DatabaseUnavailable);
  const stuck = impatient.transaction(
    async (tx) => {
      await addOne(tx, 'b');
      await new Promise(() => {});
    },
    { deadlineMs: 200 },
  );
  await expect(stuck).rejects.toBeInstanceOf(DatabaseUnavailable);
  // Waits for the lock, which the abandoned sessions hold until the server ends them.
  await impatient.transaction((tx) => addOne(tx, 'b'));
});

test('a transaction that says so may take longer than others', async () => {
  const hasty = openDatabase({ applicationName: 'hasty', deadlineMs: 2_000 });
  // A connection is opened under the shorter deadline, which a busy machine may miss.
  await untilDone(() => hasty.statement('select 1', []));
  const longer = hasty.transaction(
    async (tx) => {
      await tx.execute(sql`select pg_sleep(3)`);
      return 'done';
    },
    { deadlineMs: 60_000 },
  );
  expect(await longer).toBe('done');
});

test('waiting for a free connection is under the deadline, too, and is reported once, served or in vain', async () => {
  const waited: string[] = [];
  const onConnectionWait = (pool: string) => waited.push(pool);
  const small = openDatabase({ applicationName: 'small', maxConnections: 1, onConnectionWait });
  // Its one connection is open now, and what comes next finds it free.
  await small.statement('select 1', []);
  waited.length = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holder = small.transaction(async () => held);
  await expect(small.transaction(async () => {}, { deadlineMs: 100 })).rejects.toBeInstanceOf(DatabaseUnavailable);
  expect(waited).toEqual(['small']);
  const served = small.transaction(async () => 'served');
  release();
  await holder;
  expect(await served).toBe('served');
  expect(waited).toEqual(['small', 'small']);
  await small.statement('select 1', []);
  expect(waited).toHaveLength(2);
});

test('where too many wait for a connection, who comes is rejected at once, and those who wait are served', async () => {
  const small = openDatabase({ applicationName: 'crowded', maxConnections: 1, deadlineMs: 120_000 });
  // Its one connection is open, and idle until the next line that asks for one.
  await small.statement('select 1', []);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holder = small.transaction(async () => held);
  const waiting = Array.from({ length: QUEUE_LENGTH_MAX }, () => small.transaction(async () => 'served'));
  const rejected = await Promise.race([
    small.transaction(async () => 'served').catch((error: unknown) => error),
    sleep(60_000, 'still waiting', { ref: false }),
  ]);
  release();
  await holder;
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['served']));
  expect(rejected).toMatchObject({ name: 'DatabaseUnavailable', outcome: 'nothing-done' });
});

/** Forwards to Postgres; `freeze` makes the connections of that moment fall silent without closing them. */
async function startProxy(): Promise<{ url: string; freeze(): void; reject(): void }> {
  const target = new URL(testDatabase.url);
  const sockets = new Set<Socket>();
  let rejecting = false;
  const server: Server = createServer((client) => {
    if (rejecting) {
      client.destroy();
      return;
    }
    const upstream = connectTcp(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const url = new URL(testDatabase.url);
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return {
    url: url.href,
    freeze: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    reject: () => {
      rejecting = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('one missed deadline replaces all connections: silent ones cost no second call its deadline', async () => {
  const proxy = await startProxy();
  const behind = openDatabase({ applicationName: 'frozen', url: proxy.url, deadlineMs: 8_000 });
  await Promise.all(Array.from({ length: 5 }, () => behind.statement('select pg_sleep(0.1)', [])));
  proxy.freeze();
  await expect(behind.statement('select 1', [])).rejects.toBeInstanceOf(DatabaseUnavailable);
  const answers = await Promise.all(Array.from({ length: 20 }, () => behind.statement('select 1 as one', [])));
  expect(answers).toEqual(Array.from({ length: 20 }, () => [{ one: 1 }]));
});

test('while Postgres rejects connections every call fails at once, and none is left waiting', async () => {
  const proxy = await startProxy();
  const behind = openDatabase({ applicationName: 'rejected', url: proxy.url });
  await behind.statement('select 1', []);
  proxy.reject();
  const calls = [
    ...Array.from({ length: 20 }, () => behind.statement('select 1', [])),
    ...Array.from({ length: 20 }, () => behind.transaction((tx) => addOne(tx, 'a'))),
  ];
  const outcomes = await Promise.allSettled(calls);
  for (const outcome of outcomes) {
    expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(DatabaseUnavailable);
  }
});

test('a listener survives the loss of its connection, and is notified to catch up', async () => {
  const listening = openDatabase({ applicationName: 'listening' });
  const heard: string[] = [];
  const listener = await listening.listen('news', (payload) => heard.push(payload));
  await until(() => heard.length === 1);
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listening'`;
  for (let round = 2; round <= 4; round += 1) {
    await database.statement(terminate, []);
    await until(() => heard.length === round);
  }
  expect(heard).toEqual(['', '', '', '']);
  await database.statement(`select pg_notify('news', 'something')`, []);
  await until(() => heard.includes('something'));
  await listener.close();
});

test('two listeners share one connection, and a closed one is not notified', async () => {
  const listening = openDatabase({ applicationName: 'sharing' });
  const heard: string[] = [];
  const first = await listening.listen('x', (payload) => heard.push(`first ${payload}`));
  const second = await listening.listen('y', (payload) => heard.push(`second ${payload}`));
  await until(() => heard.includes('first ') && heard.includes('second '));
  expect(await sessionsOf('sharing')).toBe(1);
  await first.close();
  await database.statement(`select pg_notify('x', '1'), pg_notify('y', '2')`, []);
  await until(() => heard.includes('second 2'));
  expect(heard).not.toContain('first 1');
  await second.close();
});

test('the clock follows the offset of the moment, in transactions and reads', async () => {
  let offset = '0';
  const moved = openDatabase({ applicationName: 'moved', maxConnections: 1, clockOffset: () => offset });
  const [start] = [await readClock(moved.reader)];
  const days = async () => {
    const now = await moved.transaction(readClock);
    return Math.round((now.getTime() - start.getTime()) / 86_400_000);
  };
  offset = '3 days';
  expect(await days()).toBe(3);
  offset = '-40 days';
  expect(await days()).toBe(-40);
  expect(Math.round(((await readClock(moved.reader)).getTime() - start.getTime()) / 86_400_000)).toBe(-40);
  offset = '0';
  expect(await days()).toBe(0);
});

test('a closed client leaves no session behind and rejects calls', async () => {
  const brief = createDatabase({ url: testDatabase.url, maxConnections: 5, applicationName: 'brief' });
  await brief.listen('x', () => {});
  await Promise.all(Array.from({ length: 5 }, () => brief.statement('select pg_sleep(0.05)', [])));
  await brief.close();
  await expect(brief.statement('select 1', [])).rejects.toBeInstanceOf(DatabaseUnavailable);
  await until(async () => (await sessionsOf('brief')) === 0);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../../db/client.ts';
import { DatabaseUnavailable } from '../../../db/postgres/failures.ts';
import type { Database } from '../../../db/query/database.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../../harness/api.ts';
import { internalTransfer, transferOf } from '../../harness/faults/load/orders.ts';
import { TEST_ENCRYPTION_KEY } from '../../harness/keyring.ts';
import { moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';
import { entryArguments } from '../../tools/run/entries.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';

// Debian's PgBouncer, between the service and Postgres. Without apt there is none, which CI does not accept.

let testDatabase: TestDatabase;
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase('pgbouncer');
});

afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await testDatabase?.drop();
});

async function pooled(mode: 'session' | 'transaction'): Promise<PgBouncer> {
  const started = await startPgBouncer(mode, testDatabase.url, [testDatabase.ownerUrl]);
  if (started === null) throw new Error('PgBouncer comes from Debian: there is no apt');
  opened.push(() => started.close());
  return started;
}

function open(url: string, applicationName = 'pooled'): Database {
  const database = createDatabase({ url, maxConnections: 4, applicationName, lists: { maxConnections: 2 } });
  opened.push(() => database.close());
  return database;
}

function pay(api: TestApi, clientId: string, from: string, to: string) {
  const { path, body } = transferOf(internalTransfer({ clientId, currency: 'GBP', amount: 1, from }, to));
  return api.call('POST', path, body);
}

describe('by session', () => {
  let pgBouncer: PgBouncer;
  beforeAll(async () => {
    pgBouncer = await pooled('session');
  });

  test('time-outs, prepared statements, notifications, snapshots and deadlines are those of a direct connection', async () => {
    const database = open(pgBouncer.through(testDatabase.url));
    const direct = open(testDatabase.url);
    const settings = `SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout',
      'idle_in_transaction_session_timeout', 'client_connection_check_interval', 'default_transaction_isolation', 'TimeZone', 'DateStyle')
      ORDER BY name`;
    expect(await database.statement(settings, [])).toEqual(await direct.statement(settings, []));
    const listsOf = (one: Database) => one.forCaller(one.limits(), 'lists');
    expect(await listsOf(database).statement(settings, [])).toEqual(await listsOf(direct).statement(settings, []));

    for (let time = 0; time < 20; time += 1)
      expect(await database.statement('SELECT $1::int + 1 AS next', [time])).toEqual([{ next: time + 1 }]);
    const heard: string[] = [];
    await database.listen('news', (payload) => heard.push(payload));
    await until(
      async () => heard.length,
      (count) => count === 1,
    );
    await database.notify('news');
    await until(
      async () => heard.length,
      (count) => count === 2,
    );
    await expect(database.snapshot((reader) => reader.statement('SELECT 1 AS one', []))).resolves.toEqual([{ one: 1 }]);
    const late = database.write('SELECT before_deadline($1), pg_sleep(2), before_deadline($1)', [], {
      endsAt: performance.now() + 1_000,
      isGone: () => false,
    });
    await expect(late).rejects.toBeInstanceOf(DatabaseUnavailable);
    const locked = (tx: { statement: Database['statement'] }) => tx.statement('SELECT pg_advisory_xact_lock(42)', []);
    await Promise.all(Array.from({ length: 8 }, () => database.transaction(locked)));
  });

  test('money moves, and every invariant holds', async () => {
    const url = pgBouncer.through(testDatabase.url);
    const api = await startApi({ url });
    opened.push(() => api.stop());
    const world = moneyWorld(api);
    const client = await world.client();
    const [from, to] = [await world.account(client, { amount: 1_000 }), await world.account(client)];
    const answers = await Promise.all(Array.from({ length: 40 }, () => pay(api, client, from, to)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await world.balance(to)).toMatchObject({ available: 40 });
    await world.invariantsHold();
  });
});

describe('by transaction', () => {
  let url: string;
  beforeAll(async () => {
    url = (await pooled('transaction')).through(testDatabase.url);
  });

  test('no session is its own, and every call is rejected by a sentence that says so', async () => {
    const failure = await open(url)
      .statement('SELECT 1', [])
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SharedSessions', message: expect.stringContaining('pool_mode to session') });
  });

  test.each(['api/main.ts', 'loops/main.ts', 'activities/main.ts'] as const)(
    '%s ends at its start with that sentence',
    async (entry) => {
      const environment = {
        ...{ PATH: process.env.PATH, DATABASE_URL: url, AUDIENCE: TEST_AUDIENCE, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
        ...{ PORT: '0', METRICS_PORT: '0', TEMPORAL_ADDRESS: '127.0.0.1:1', SANDBOX_BANK_SECRET: 'secret' },
      };
      const child = spawn(process.execPath, entryArguments(entry), {
        env: environment,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [errors] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect(errors).toMatch(/cannot start: .*pool_mode to session/);
      expect(child.exitCode).toBe(1);
    },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { startPostgres } from '../../dev/servers/postgres.ts';
import { type ApiResponse, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { gate, lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

/**
 * A test of the tests: without a safeguard, the checks of test/ledger/ledger.test.ts and test/faults/crash.test.ts must fail. A
 * check that still passes here would prove nothing there.
 */
interface Broken {
  readonly apis: readonly [TestApi, TestApi];
  readonly world: MoneyWorld;
  readonly client: string;
  send(index: number, from: string, to: string, amount: number, key?: string): Promise<ApiResponse>;
  brokenRules(): Promise<string[]>;
  deadlocks(): Promise<number>;
  /** Locks the account in a transaction; returns what ends that. */
  hold(account: string): Promise<() => Promise<void>>;
  /** Ends when that many sessions wait for locks. */
  waiters(count: number): Promise<void>;
}

/** Two API processes on their own database; the defect is planted once the accounts exist. */
async function withDefect(name: string, plant: readonly string[], work: (broken: Broken) => Promise<void>) {
  const database = await createTestDatabase(name);
  const hand = postgres(database.ownerUrl, { max: 1, onnotice: () => {} });
  for (const statement of plant) await hand.unsafe(statement);
  const first = await startApi(database);
  const apis = [first, await startApi(database, { users: first.users })] as const;
  const world = moneyWorld(first);
  const client = await world.client('Ada');
  try {
    await work({
      apis,
      world,
      client,
      send: (index, from, to, amount, key) => {
        const outgoingTransfer = {
          clientId: client,
          currency: 'GBP',
          amount,
          scope: 'internal',
          source: { type: 'client-account', accountId: from },
          destination: { type: 'client-account', accountId: to },
        };
        const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
        const through = index % 2 === 0 ? apis[0] : apis[1];
        return through.call('POST', '/outgoing-transfers', body, key === undefined ? {} : { key });
      },
      brokenRules: async () => [...new Set((await checkLedger(first.database.reader)).map(({ rule }) => rule))],
      deadlocks: async () => {
        const flush = () => first.database.reader.statement('SELECT pg_stat_force_next_flush(), pg_sleep(0.2)', []);
        const flushOther = () =>
          apis[1].database.reader.statement('SELECT pg_stat_force_next_flush(), pg_sleep(0.2)', []);
        await Promise.all(Array.from({ length: 10 }, () => [flush(), flushOther()]).flat());
        const [row] = await first.database.reader.statement<{ count: number }>(
          'SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()',
          [],
        );
        return row?.count ?? 0;
      },
      hold: async (account) => {
        const [locked, release] = [gate(), gate()];
        const holding = first.database.transaction(async (tx) => {
          await tx.statement('SELECT FROM accounts WHERE id = $1::uuid FOR UPDATE', [account]);
          locked.open();
          await release.opened;
        });
        await locked.opened;
        return async () => {
          release.open();
          await holding;
        };
      },
      waiters: async (count) => {
        await until(
          () => lockWaiters(first.database.reader),
          (waiting) => waiting >= count,
        );
      },
    });
  } finally {
    await hand.end();
    for (const api of apis) await api.stop();
    await database.drop();
  }
}

/** A function that settles straight-through transfers, with a part of its text replaced. */
function settleWith(pattern: string, replacement: string, name = 'settle_straight_through_transfers'): string {
  return `DO $defect$ DECLARE v_before text; v_after text; BEGIN
    v_before := pg_get_functiondef('${name}'::regproc);
    v_after := regexp_replace(v_before, '${pattern}', '${replacement}');
    IF v_after = v_before THEN RAISE EXCEPTION 'nothing was replaced'; END IF;
    EXECUTE v_after;
  END $defect$`;
}

const ALWAYS_ENOUGH = settleWith('v_source.available_minor <', '999999999 <');
const NO_CHECK = 'ALTER TABLE accounts DROP CONSTRAINT accounts_available_not_negative';
const NO_CHECK_OF_ENTRIES = 'ALTER TABLE postings ALTER debit_balance_after_minor TYPE bigint';

function made(answers: readonly ApiResponse[]): number {
  return answers.filter(({ status }) => status === 201).length;
}

describe('the check turns red without', () => {
  test('the balance guard: more than ten are made, and a balance is below zero', async () => {
    await withDefect('no-guard', [ALWAYS_ENOUGH, NO_CHECK, NO_CHECK_OF_ENTRIES], async (broken) => {
      const source = await broken.world.account(broken.client, { amount: 100 });
      const destination = await broken.world.account(broken.client);
      const attempts = Array.from({ length: 40 }, (_, index) => broken.send(index, source, destination, 10));
      expect(made(await Promise.all(attempts))).toBeGreaterThan(10);
      expect(await broken.brokenRules()).toContain('no available balance is negative');
    });
  });

  test('the balance guard, but with the CHECK: the database still makes ten', async () => {
    await withDefect('check-only', [ALWAYS_ENOUGH], async (broken) => {
      const source = await broken.world.account(broken.client, { amount: 100 });
      const destination = await broken.world.account(broken.client);
      const attempts = Array.from({ length: 40 }, (_, index) => broken.send(index, source, destination, 10));
      expect(made(await Promise.all(attempts))).toBe(10);
      expect(await broken.brokenRules()).toEqual([]);
    });
  });

  test('the unique key of idempotency: one key makes several transfers', async () => {
    const plant = ['ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey'];
    await withDefect('no-unique-key', plant, async (broken) => {
      const source = await broken.world.account(broken.client, { amount: 100 });
      const destination = await broken.world.account(broken.client);
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, index) => broken.send(index, source, destination, 10, 'one-key')),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(1);
      expect((await broken.world.balance(source)).available).toBeLessThan(90);
    });
  });

  test('the order of locks: opposite loops deadlock', async () => {
    const plant = [
      settleWith(
        'ORDER BY id FOR UPDATE;',
        'ORDER BY id = p_transfers[1].destination_id FOR UPDATE;',
        'lock_straight_through_accounts',
      ),
    ];
    await withDefect('unordered-locks', plant, async (broken) => {
      const [one = '', two = ''] = await Promise.all(
        [0, 1].map(() => broken.world.account(broken.client, { amount: 500 })),
      );
      // Each waits for its source first. The second is given its own before the first is, and then wants the first's.
      const meet = async () => {
        const [holdsOne, holdsTwo] = [await broken.hold(one), await broken.hold(two)];
        const first = broken.send(0, one, two, 1);
        await broken.waiters(1);
        const second = broken.send(1, two, one, 1);
        await broken.waiters(2);
        await holdsTwo();
        await holdsOne();
        await Promise.all([first, second]);
        return broken.deadlocks();
      };
      // Again if the machine was so slow that one gave up waiting.
      await until(meet, (deadlocks) => deadlocks > 0);
    });
  });

  test('the event in the transaction: a transfer without its events is found', async () => {
    const plant = [settleWith('INSERT INTO events.*?;', 'NULL;', 'record_straight_through_transfers')];
    await withDefect('no-event', plant, async (broken) => {
      const source = await broken.world.account(broken.client, { amount: 100 });
      const destination = await broken.world.account(broken.client);
      expect((await broken.send(0, source, destination, 10)).status).toBe(201);
      expect(await broken.brokenRules()).toEqual(['a resource has recorded every event once']);
    });
  });

  test('half of a posting: a currency no longer sums to zero', async () => {
    const half = `CREATE OR REPLACE FUNCTION halve() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE accounts SET posted_minor = posted_minor - 1 WHERE id = NEW.credit_account_id; RETURN NULL; END $$;
      CREATE TRIGGER halve AFTER INSERT ON postings FOR EACH ROW WHEN (NEW.outgoing_transfer_id IS NOT NULL)
      EXECUTE FUNCTION halve()`;
    await withDefect('half-posting', [half], async (broken) => {
      const source = await broken.world.account(broken.client, { amount: 100 });
      const destination = await broken.world.account(broken.client);
      expect((await broken.send(0, source, destination, 10)).status).toBe(201);
      expect(await broken.brokenRules()).toEqual(
        expect.arrayContaining(['a currency sums to zero', 'a balance is the sum of its entries']),
      );
    });
  });
});

/** Acknowledged rows lost when Postgres was killed. */
async function lostByKill(settings: Readonly<Record<string, string>>): Promise<{ acknowledged: number; lost: number }> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'durability-'));
  let running = await startPostgres({ dataDirectory, settings });
  const database = createDatabase({ url: running.ownerUrl, maxConnections: 4, applicationName: 'durability' });
  try {
    await database.statement('CREATE TABLE written (id integer PRIMARY KEY)', []);
    // On disk whatever the settings: only later rows can be lost.
    await database.statement('CHECKPOINT', []);
    for (let id = 0; id < 500; id += 1) await database.statement('INSERT INTO written VALUES ($1)', [id]);
    await running.kill();
    await running.process.ended;
    running = await startPostgres({ dataDirectory, settings, port: running.port });
    const [row] = await database.reader.statement<{ count: number }>(
      'SELECT count(*)::integer AS count FROM written',
      [],
    );
    return { acknowledged: 500, lost: 500 - (row?.count ?? 0) };
  } finally {
    await database.close();
    await running.kill();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

describe('a kill of Postgres', () => {
  test('loses no acknowledged commit', async () => {
    expect(await lostByKill({})).toEqual({ acknowledged: 500, lost: 0 });
  });

  test('is found to lose some where synchronous_commit is off', async () => {
    const { lost } = await lostByKill({ synchronous_commit: 'off', wal_writer_delay: '10000' });
    expect(lost).toBeGreaterThan(0);
  });
});

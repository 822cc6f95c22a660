import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import { numberEvents, readNumberingLagSeconds } from '../../db/webhooks/event-sequencer.ts';
import { eventSequencer } from '../../loops/event-sequencer.ts';
import { loopMetrics } from '../../loops/metrics.ts';
import type { Json } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { appendClientEvents, insertClient, recordEvents, sequence, subscribe } from '../harness/webhooks/webhooks.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('webhook-sequencer');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 30,
    applicationName: 'sequencer-test',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

beforeEach(async () => {
  await testDatabase.asOwner(
    'TRUNCATE events, webhook_subscriptions, webhook_deliveries, webhook_attempts, workflow_wakeups CASCADE',
  );
  await database.reader.execute(sql`UPDATE event_sequencer SET last_position = 0`);
  await database.reader.execute(sql`UPDATE webhook_shards SET busy_until = '-infinity'`);
});

interface Numbered {
  readonly resourceId: string;
  readonly from: number;
  readonly sequence: number;
  readonly count: number;
}

async function numbered(): Promise<Numbered[]> {
  return database.reader.execute<Numbered>(sql`
    SELECT resource_id AS "resourceId", first_position::integer AS "from", first_sequence::integer AS sequence,
      entry_count::integer AS count FROM events WHERE first_position IS NOT NULL ORDER BY first_position`);
}

/** Every position once, from 1 on, and each resource's events in the order of its sequence. */
async function expectNoGaps(events: number): Promise<void> {
  const rows = await numbered();
  let position = 1;
  const sequences = new Map<string, number>();
  for (const row of rows) {
    expect(row.from).toBe(position);
    position += row.count;
    expect(row.sequence).toBe((sequences.get(row.resourceId) ?? 0) + 1);
    sequences.set(row.resourceId, row.sequence + row.count - 1);
  }
  expect(position - 1).toBe(events);
}

/** A transaction with an appended event, which commits on demand. */
async function openTransaction(work: (tx: Transaction) => Promise<void>) {
  let commit = (): void => {};
  let ready = (): void => {};
  const notified = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const appended = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const done = database.transaction(async (tx) => {
    await work(tx);
    ready();
    await notified;
  });
  await Promise.race([appended, done]);
  return {
    commit: async () => {
      commit();
      await done;
    },
  };
}

describe('positions', () => {
  test('have no gaps and no duplicates when transactions commit in another order than they began', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => insertClient(database)));
    const open = await Promise.all(
      clients.map((id, index) => openTransaction((tx) => appendClientEvents(tx, id, 1 + (index % 4)))),
    );
    const events = clients.reduce((sum, _id, index) => sum + 1 + (index % 4), 0);
    for (const index of [7, 0, 11, 3, 4, 10, 1, 2, 9, 8, 5, 6]) {
      await open[index]?.commit();
      await sequence(database);
    }
    await expectNoGaps(events);
  });

  test('an event that commits late comes after those that were numbered, and is not skipped', async () => {
    const [early, late] = await Promise.all([insertClient(database), insertClient(database)]);
    const open = await openTransaction((tx) => appendClientEvents(tx, late));
    await recordEvents(database, early);
    expect(await sequence(database)).toBe(1);
    await open.commit();
    expect(await sequence(database)).toBe(1);
    expect((await numbered()).map((row) => row.resourceId)).toEqual([early, late]);
  });

  test('keep their order under many writers and several sequencers at once', async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => insertClient(database)));
    let writing = true;
    const sequencers = Array.from({ length: 3 }, async () => {
      while (writing) await numberEvents(database, 7, null);
    });
    const writers = Array.from({ length: 10 }, async (_writer, index) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const id = clients[(index + turn) % clients.length];
        if (id !== undefined) await recordEvents(database, id, 1 + (turn % 3));
      }
    });
    await Promise.all(writers);
    writing = false;
    await Promise.all(sequencers);
    await sequence(database);
    await expectNoGaps(10 * (7 * 1 + 7 * 2 + 6 * 3));
  });

  test("keep one resource's order though the clock of the later writer is behind, also across full batches", async () => {
    const id = await insertClient(database);
    const others = await Promise.all(Array.from({ length: 6 }, () => insertClient(database)));
    for (const other of others) await recordEvents(database, other);
    await recordEvents(database, id);
    await recordEvents(database, id);
    // The second row of the resource gets an id from 30 s before all others, as a process with a slow clock makes it, so
    // that a batch of three has the second row and not the first.
    await testDatabase.asOwner(`
      SET session_replication_role = replica;
      UPDATE events SET id = overlay(uuidv7(interval '-30 seconds')::text placing '0' from 36)::uuid
      WHERE resource_id = '${id}' AND first_sequence = 2`);
    let rounds = 0;
    while ((await numberEvents(database, 3, null)).rowCount > 0) rounds += 1;
    expect(rounds).toBeGreaterThan(1);
    await expectNoGaps(8);
  });

  test('jump ahead by a gap where the last position was raised, and continue from there', async () => {
    const id = await insertClient(database);
    await database.reader.execute(sql`UPDATE event_sequencer SET last_position = 1000`);
    await recordEvents(database, id, 2);
    await recordEvents(database, id);
    await sequence(database);
    expect((await numbered()).map((row) => row.from)).toEqual([1001, 1003]);
  });

  test('are not given to rows with older ids until a full poll', async () => {
    const id = await insertClient(database);
    await recordEvents(database, id);
    expect((await numberEvents(database, 10, new Date(Date.now() + 60_000))).rowCount).toBe(0);
    expect((await numberEvents(database, 10, new Date(Date.now() - 60_000))).rowCount).toBe(1);
  });
});

describe('deliveries', () => {
  async function deliveries(): Promise<{ eventId: string; position: number; type: string }[]> {
    return database.reader.execute(sql`
      SELECT event_id::text AS "eventId", position::integer AS position, type FROM webhook_deliveries
      ORDER BY position`);
  }

  test('are made once for each event and subscriber, in the transaction that numbers the event', async () => {
    const subscription = await subscribe(database, 'http://127.0.0.1:9/hook');
    const id = await insertClient(database);
    await recordEvents(database, id, 3);
    await sequence(database);
    await sequence(database);
    const made = await deliveries();
    expect(made.map((one) => one.position)).toEqual([1, 2, 3]);
    expect(made.map((one) => one.eventId.slice(-1))).toEqual(['0', '1', '2']);
    const wakeups = await database.reader.execute<{ id: string }>(sql`SELECT workflow_id AS id FROM workflow_wakeups`);
    expect(wakeups).toEqual([{ id: `webhook-delivery/${subscription.shard}` }]);
  });

  test.each([
    [{ modules: ['clients'] }, 1],
    [{ types: ['created'] }, 1],
    [{ modules: ['clients'], types: ['created'] }, 1],
    [{ modules: ['accounts'] }, 0],
    [{ types: ['connection-created'] }, 0],
    [{ modules: ['accounts'], types: ['created'] }, 0],
    [{ status: 'paused' as const }, 1],
    [{ status: 'disabled' as const }, 0],
  ])('follow what was subscribed to: %j', async (change, count) => {
    await subscribe(database, 'http://127.0.0.1:9/hook', change);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    expect(await deliveries()).toHaveLength(count);
  });

  test('of modules beyond the specification go only to those who name them', async () => {
    const all = await subscribe(database, 'http://127.0.0.1:9/all');
    const named = await subscribe(database, 'http://127.0.0.1:9/named', { modules: ['users'] });
    await database.reader.execute(sql`
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
      VALUES (overlay(uuidv7()::text placing '0' from 36)::uuid, 1, 'users', uuidv7(), 1, service_now(),
        '[{"type":"user-created","data":{}}]')`);
    await sequence(database);
    const rows = await database.reader.execute<{ id: string }>(
      sql`SELECT subscription_id::text AS id FROM webhook_deliveries`,
    );
    expect(rows.map(({ id }) => id)).toEqual([named.id]);
    expect(all.id).not.toBe(named.id);
  });

  test('wake a shard once while its workflow is at work', async () => {
    await subscribe(database, 'http://127.0.0.1:9/hook');
    const id = await insertClient(database);
    const woken: boolean[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await recordEvents(database, id);
      woken.push((await numberEvents(database, 100, null)).woken);
    }
    expect(woken).toEqual([true, false, false]);
    await database.reader.execute(sql`UPDATE webhook_shards SET busy_until = '-infinity'`);
    await recordEvents(database, id);
    expect((await numberEvents(database, 100, null)).woken).toBe(true);
  });
});

describe('the lag of the numbering', () => {
  const shown = async () =>
    Number(/ (\S+)$/.exec((await loopMetrics.getSingleMetricAsString('event_numbering_lag_seconds')).trim())?.[1]);

  test('shows the age of the oldest event without a position while numbering fails, and is 0 once it is done', async () => {
    await recordEvents(database, await insertClient(database));
    await testDatabase.asOwner(`
      SET session_replication_role = replica;
      UPDATE events SET occurred_at = service_now() - interval '2 hours';
      CREATE FUNCTION reject_numbers() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
      CREATE TRIGGER reject_numbers BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION reject_numbers()`);
    const loop = eventSequencer({ database, logger: pino({ level: 'silent' }), now: () => new Date() });
    loop.start();
    try {
      expect(await until(shown, (seconds) => seconds > 0, 60_000)).toBeGreaterThanOrEqual(7_200);
      await testDatabase.asOwner('DROP TRIGGER reject_numbers ON events');
      await until(shown, (seconds) => seconds === 0, 60_000);
    } finally {
      await loop.stop();
      await testDatabase.asOwner('DROP TRIGGER IF EXISTS reject_numbers ON events');
    }
  });

  test('is read from one row by the index of the events without a position, however many wait', async () => {
    await database.reader.execute(sql`
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
      SELECT overlay(uuidv7()::text placing '0' from 36)::uuid, 1, 'clients', uuidv7(), 1, service_now(), '[]'
      FROM generate_series(1, 20000) AS n`);
    await testDatabase.asOwner('ANALYZE events');
    let blocks = 0;
    await readNumberingLagSeconds({
      statement: async <Row>(text: string, params: readonly unknown[]): Promise<Row[]> => {
        const explained = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
        // The first reads the catalogue as well.
        await database.reader.statement(explained, params);
        const rows = await database.reader.statement<Json>(explained, params);
        const plan = rows[0]['QUERY PLAN'][0].Plan;
        blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        return [];
      },
    });
    expect(blocks).toBeGreaterThan(0);
    expect(blocks).toBeLessThan(60);
  });
});

test('a batch that is too large for its deadline is halved until it goes through, and grows again', async () => {
  // Each of its own resource: rows of one resource stay together, however small the batch.
  const insertEvents = (count: number) =>
    database.reader.execute(sql`
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
      SELECT (left(uuidv7()::text, 35) || '0')::uuid, 1, 'clients', uuidv7(), 1, service_now(), '[{"type": "created", "data": {}}]'
      FROM generate_series(1, ${count}) AS n`);
  // As a transaction that takes too long, and is cancelled.
  const limitTo = (rows: number) =>
    testDatabase.asOwner(`
      CREATE OR REPLACE FUNCTION limit_batch() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE v_rows integer; BEGIN
        SELECT count(*) INTO v_rows FROM numbered;
        IF v_rows > ${rows} THEN RAISE EXCEPTION 'too slow' USING ERRCODE = 'query_canceled'; END IF;
        INSERT INTO batches VALUES (v_rows); RETURN NULL;
      END $$`);
  await testDatabase.asOwner('CREATE TABLE batches (number_of_rows integer NOT NULL); GRANT ALL ON batches TO PUBLIC');
  await limitTo(200);
  await testDatabase.asOwner(`
    CREATE TRIGGER limit_batch AFTER UPDATE ON events REFERENCING NEW TABLE AS numbered FOR EACH STATEMENT EXECUTE FUNCTION limit_batch()`);
  const left = async () => {
    const rows = await database.reader.execute(sql`SELECT FROM events WHERE first_position IS NULL LIMIT 1`);
    return rows.length;
  };
  await insertEvents(400);
  const loop = eventSequencer({ database, logger: pino({ level: 'silent' }), now: () => new Date() });
  loop.start();
  try {
    await until(left, (rows) => rows === 0, 60_000);
    await limitTo(1_000_000);
    await insertEvents(6_000);
    await until(left, (rows) => rows === 0, 60_000);
  } finally {
    await loop.stop();
    await testDatabase.asOwner('DROP TRIGGER limit_batch ON events');
  }
  const [largest] = await database.reader.execute<{ rows: number }>(
    sql`SELECT max(number_of_rows) AS rows FROM batches`,
  );
  expect(largest?.rows).toBe(2_000);
  await testDatabase.asOwner('DROP TABLE batches');
});

import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { migrate } from '../../db/migrate.ts';
import { MONTHS_AHEAD, readMonthsOver, readTableEnds, removeMonths } from '../../db/months.ts';
import { COUNTED_TOTALS, keepListCounts } from '../../db/query/counted-lists.ts';
import type { Database, Reader } from '../../db/query/database.ts';
import { readTimeline } from '../../db/timelines/timelines.ts';
import { findOldEvents, findOldWebhookDeliveries } from '../../db/webhooks/retention.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { internalTransfer, transferOf } from '../harness/faults/load/orders.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { fillMonths, makePastMonths } from '../harness/webhooks/months-of-data.ts';
import { sequence, subscribe } from '../harness/webhooks/webhooks.ts';

/** The tables that only grow have a table of their own for each month (docs/adr/0019). */

const MONTHS = 5;
const PAYMENTS = 40;
const TABLES = ['audit_entries', 'events', 'webhook_attempts', 'webhook_deliveries'];
const AS_ADMIN = { as: 'admin' } as const;

let testDatabase: TestDatabase;
let owner: postgres.Sql;
let api: TestApi;
let database: Database;
let subscriptionId: string;
let lines: string[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase('months');
  owner = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  await makePastMonths(owner, MONTHS);
  api = await startApi(testDatabase);
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 1,
    applicationName: 'months-test',
    deadlineMs: 60_000,
  });
  const world = moneyWorld(api);
  const clientId = await world.client();
  const circle = [await world.account(clientId), await world.account(clientId)];
  const [from, to] = [await world.account(clientId, { amount: 10 }), await world.account(clientId)];
  const { path, body } = transferOf(internalTransfer({ clientId, currency: 'GBP', amount: 1, from }, to));
  const outgoingTransferId = (await api.call('POST', path, body)).body.data.outgoingTransfer.id;
  subscriptionId = (await subscribe(api.database, 'http://127.0.0.1:9/')).id;
  await fillMonths(
    owner,
    { outgoingTransferId, accountIds: circle, subscriptionId },
    { months: MONTHS, payments: PAYMENTS },
  );
  while ((await sequence(api.database)) > 0);
});

afterAll(async () => {
  await owner?.end();
  await database?.close();
  await api?.stop();
  await testDatabase?.drop();
});

async function monthsOf(table: string): Promise<string[]> {
  const rows = await owner<{ month: string }[]>`SELECT month FROM table_months() WHERE name = ${table} ORDER BY to_id`;
  return rows.map(({ month }) => month);
}

async function countOf(table: string): Promise<number> {
  const [row] = await owner.unsafe<{ count: number }[]>(`SELECT count(*)::integer AS count FROM ${table}`);
  return row?.count ?? 0;
}

/** Totals of deliveries and audit entries are those of the rows, counted ahead or not. */
async function expectTotals(): Promise<void> {
  const lists = {
    'webhook-deliveries': {
      table: 'webhook_deliveries',
      filters: { status: 'status', type: 'type', webhookSubscriptionId: 'subscription_id::text' },
      noun: 'webhookDelivery',
    },
    'audit-entries': {
      table: 'audit_log',
      filters: { resource: 'resource', action: 'action', actor: 'actor' },
      noun: 'auditEntry',
    },
  };
  for (const [path, { table, filters, noun }] of Object.entries(lists)) {
    const wanted = new Map<string, number>([['', await countOf(table)]]);
    for (const [filter, column] of Object.entries(filters)) {
      const rows = await owner.unsafe<{ value: string; count: number }[]>(
        `SELECT ${column} AS value, count(*)::integer AS count FROM ${table} GROUP BY 1`,
      );
      for (const { value, count } of rows) wanted.set(`data.${noun}.${filter}=${value}`, count);
    }
    for (const [query, count] of wanted) {
      const { body, text } = await api.call('GET', `/${path}?${query}`, undefined, AS_ADMIN);
      expect(body.metadata?.page.totalElements, `${path} ${query} ${text}`).toBe(count);
    }
  }
}

async function countAhead(): Promise<void> {
  for (const list of COUNTED_TOTALS) while ((await keepListCounts(database, list, 100)) > 0);
}

const remove = async () => {
  lines = [];
  await removeMonths(owner, (line) => lines.push(line));
};

/** Begins to detach a month and is cut off, as it waits for an older transaction that uses the table. */
async function cutDetachment(table: string, month: string): Promise<void> {
  const reader = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  await reader.begin(async (tx) => {
    await tx.unsafe(`SELECT FROM ${table} LIMIT 1`);
    const session = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
    await session`SELECT set_config('lock_timeout', '50ms', false)`;
    const detachment = session.unsafe(`ALTER TABLE ${table} DETACH PARTITION ${month} CONCURRENTLY`);
    await expect(detachment).rejects.toThrow('lock timeout');
    await session.end();
  });
  await reader.end();
}

/** Replays the first events that are kept. */
async function replayFirstEvent(): Promise<ApiResponse> {
  const [event] = await owner<
    Json[]
  >`SELECT occurred_at FROM events WHERE first_position >= (SELECT first_position FROM event_log_start) ORDER BY id LIMIT 1`;
  const inSeconds = (ms: number) => new Date(event.occurred_at.getTime() + ms).toISOString().slice(0, 19);
  const webhookSubscription = { from: inSeconds(0), to: inSeconds(1_000) };
  const replay = { workflow: { code: 'direct' }, data: { webhookSubscription } };
  return api.call('POST', `/webhook-subscriptions/${subscriptionId}/replay`, replay, AS_ADMIN);
}

describe('months', () => {
  test('are made half a year ahead by the migration, named as their tables, with the same rules and indexes', async () => {
    const ends = await readTableEnds(database.reader);
    expect(ends.map(({ table }) => table)).toEqual(TABLES);
    for (const { daysLeft } of ends) expect(daysLeft).toBeGreaterThanOrEqual(28 * MONTHS_AHEAD);
    for (const table of TABLES) {
      const [first = '', ...others] = await monthsOf(table);
      const rulesOf = async (month: string) => {
        const rows = await owner<{ rule: string }[]>`
          SELECT replace(pg_get_indexdef(indexrelid), ${month}, 'MONTH') AS rule FROM pg_index WHERE indrelid = ${month}::regclass
          UNION ALL SELECT replace(pg_get_constraintdef(oid), ${month}, 'MONTH') FROM pg_constraint WHERE conrelid = ${month}::regclass AND contype <> 'n'
          UNION ALL SELECT replace(pg_get_triggerdef(oid), ${month}, 'MONTH') FROM pg_trigger WHERE tgrelid = ${month}::regclass
          UNION ALL SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = ${month}::regclass ORDER BY 1`;
        return rows.map(({ rule }) => rule);
      };
      expect(others.length).toBeGreaterThanOrEqual(MONTHS_AHEAD);
      for (const month of others) expect(await rulesOf(month), month).toEqual(await rulesOf(first));
    }
  });

  test('are none a default, and a row without a month is rejected by name', async () => {
    const [found] = await owner`SELECT count(*)::integer AS defaults FROM pg_partitioned_table WHERE partdefid <> 0`;
    expect(found).toEqual({ defaults: 0 });
    const late = `INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id)
      VALUES (uuidv7(interval '3 years'), now(), 'a', 'b', 'c', 'd')`;
    await expect(testDatabase.asOwner(late)).rejects.toThrow('no partition of relation "audit_entries" found for row');
  });

  test('that are missing are made by the next migration, and it then has nothing to do', async () => {
    const all = await monthsOf('events');
    await testDatabase.asOwner(`DROP TABLE ${all.at(-1)}`);
    const made: string[] = [];
    await migrate(testDatabase.ownerUrl, undefined, { onProgress: (line) => made.push(line) });
    expect(await monthsOf('events')).toEqual(all);
    expect(made).toEqual([`Made 1 months of tables, up to ${all.at(-1)}.`]);
    made.length = 0;
    await migrate(testDatabase.ownerUrl, undefined, { onProgress: (line) => made.push(line) });
    expect(made).toEqual([]);
  });

  test('give the service no right that its tables do not give', async () => {
    const [month] = await monthsOf('audit_entries');
    await expect(database.statement(`SELECT FROM ${month}`, [])).rejects.toThrow();
    await expect(database.statement(`DELETE FROM ${month}`, [])).rejects.toThrow();
    await expect(database.statement('SELECT make_months(20)', [])).rejects.toThrow();
  });
});

describe('totals of lists', () => {
  test('are those of the rows before they are counted ahead, while they are, and after', async () => {
    await expectTotals();
    expect(await keepListCounts(database, 'webhook_deliveries', 70)).toBe(70);
    await expectTotals();
    await countAhead();
    expect(await keepListCounts(database, 'webhook_deliveries', 100)).toBe(0);
    const [counted] =
      await owner`SELECT counted_rows::integer AS rows FROM list_counting WHERE list = 'webhook_deliveries'`;
    expect(counted).toEqual({ rows: MONTHS * PAYMENTS });
    await expectTotals();
  });

  test('follow deliveries that change after they were counted, and rows whose ids are old', async () => {
    await testDatabase.asOwner(`UPDATE webhook_deliveries SET status = 'failed' WHERE position % 11 = 0`);
    await testDatabase.asOwner(`INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id)
      VALUES (uuidv7(interval '-40 days'), now() - interval '40 days', 'person', 'changed', 'client', 'client')`);
    await expectTotals();
    await countAhead();
    await expectTotals();
    await testDatabase.asOwner(`UPDATE webhook_deliveries SET status = 'succeeded' WHERE position % 11 = 0`);
    await expectTotals();
    await countAhead();
  });
});

test('events are read over the bounds of months, each once and in order, from any position', async () => {
  const positions: number[] = [];
  for (let after = 0; ; ) {
    const { body, text } = await api.call(
      'GET',
      `/events?data.event.positionAfter=${after}&metadata.page.size=100`,
      undefined,
      AS_ADMIN,
    );
    const page: number[] = body.data?.events.map(({ position }: Json) => position);
    expect(page, text).toBeDefined();
    if (page.length === 0) break;
    positions.push(...page);
    after = page.at(-1) ?? 0;
  }
  const numbered = await owner<{ position: number }[]>`
    SELECT position::integer FROM events, generate_series(first_position, first_position + entry_count - 1) AS position ORDER BY 1`;
  expect(positions).toEqual(numbered.map(({ position }) => position));
  const [first = 0, last = 0] = [positions[0], positions.at(-1)];
  const [floor] =
    await owner`SELECT event_floor(${last}) > uuidv7_floor(now() - interval '40 days') AS bounded, event_floor(${first}) AS least`;
  expect(floor).toEqual({ bounded: true, least: '00000000-0000-0000-0000-000000000000' });
});

describe('of a resource of the present month', () => {
  test.each(['auto', 'force_generic_plan'])(
    'no month before it is read for its timeline (plan_cache_mode %s)',
    async (mode) => {
      const [newest] = await owner<Json[]>`
      SELECT id FROM outgoing_transfers ORDER BY id DESC LIMIT 1`;
      const plan: string[] = [];
      const explaining = {
        statement: (text: string, params: readonly unknown[]) =>
          database.transaction(async (tx) => {
            await tx.statement(`SET LOCAL plan_cache_mode = ${mode}`, []);
            const rows = await tx.statement<{ 'QUERY PLAN': string }>(
              `EXPLAIN (ANALYZE, COSTS off, TIMING off) ${text}`,
              params,
            );
            plan.push(...rows.map((row) => row['QUERY PLAN']));
            return [];
          }),
      };
      await readTimeline(
        explaining as unknown as Reader,
        { resource: 'outgoing-transfer', id: newest.id, withAudit: true, deliveriesKeptDays: 30 },
        { size: 10, offset: 0 },
      );
      for (const table of TABLES.filter((name) => name !== 'webhook_attempts')) {
        const months = await monthsOf(table);
        const read = months.filter((month) =>
          plan.some((step) => step.includes(` on ${month} `) && !step.includes('never executed')),
        );
        expect(read[0], plan.join('\n')).toBe(months[MONTHS - 1]);
      }
    },
  );
});

describe('retention', () => {
  test('finds no month of which anything must be kept', async () => {
    await database.transaction((tx) => findOldEvents(tx, 0));
    await database.transaction((tx) => findOldWebhookDeliveries(tx, 4_000));
    expect(await readMonthsOver(database.reader)).toMatchObject({ count: 0 });
  });

  test('removes months of events that lie before the beginning of the log, and none that a row must stay of', async () => {
    const [first = '', second = '', ...others] = await monthsOf('events');
    const before = await countOf('events');
    // All of the first month, and a part of the second.
    await owner`UPDATE event_log_start SET first_position = (
      SELECT first_position FROM ${owner(second)} ORDER BY first_position OFFSET 3 LIMIT 1)`;
    await database.transaction((tx) => findOldEvents(tx, 0));
    expect(await readMonthsOver(database.reader)).toMatchObject({ count: 1 });
    await remove();
    expect(lines).toEqual([`Removed ${first}.`]);
    expect(await monthsOf('events')).toEqual([second, ...others]);
    expect(await countOf('events')).toBe(before - 2 * PAYMENTS);
    const { body } = await api.call('GET', '/events', undefined, AS_ADMIN);
    const [start] = await owner`SELECT first_position::integer AS position FROM event_log_start`;
    expect(body.data.events[0].position).toBe(start?.position);
    expect(await readMonthsOver(database.reader)).toMatchObject({ count: 0 });
  });

  test('empties months of deliveries that all ended long ago, so that events can be replayed into them', async () => {
    const months = await monthsOf('webhook_deliveries');
    const [first = '', second = '', third = ''] = months;
    await testDatabase.asOwner(`UPDATE ${third} SET status = 'pending', completed_at = NULL WHERE position % 7 = 0`);
    await database.transaction((tx) => findOldWebhookDeliveries(tx, 30));
    await remove();
    // Of the first, no event is left, so there is none to be replayed.
    expect(lines.slice(0, 2)).toEqual([`Removed ${first}.`, `Removed ${second}.`]);
    expect(await monthsOf('webhook_deliveries')).toEqual(months.slice(1));
    expect([await countOf(second), await countOf(third)]).toEqual([0, PAYMENTS]);
    await expectTotals();
    await countAhead();
    await expectTotals();
    const replayed = await replayFirstEvent();
    expect(replayed.status, replayed.text).toBeLessThan(300);
    expect(await countOf(second)).toBeGreaterThan(0);
  });

  test('keeps a month of deliveries of which one was asked for again after it was found', async () => {
    await testDatabase.asOwner(
      `UPDATE webhook_deliveries SET status = 'succeeded', completed_at = created_at WHERE status = 'pending'`,
    );
    await database.transaction((tx) => findOldWebhookDeliveries(tx, 30));
    const [, third = ''] = await monthsOf('webhook_deliveries');
    const [{ id }] = await owner.unsafe<Json[]>(`SELECT id FROM ${third} LIMIT 1`);
    await testDatabase.asOwner(`UPDATE ${third} SET status = 'pending' WHERE id = '${id}'`);
    await remove();
    expect(lines).toContain(`${third} stays: a delivery of it was asked for again.`);
    await expectTotals();
    expect(await countOf(third)).toBe(PAYMENTS);
  });

  test('rejects a replay into a month that is being removed, and takes it again afterwards', async () => {
    const [first = ''] = await monthsOf('webhook_deliveries');
    await cutDetachment('webhook_deliveries', first);
    const rejected = await replayFirstEvent();
    expect(rejected.status, rejected.text).toBe(409);
    expect(rejected.body).toMatchObject({
      code: 'common.state.illegal_transition',
      messageParameters: ['webhookSubscription', 'from', expect.any(String)],
    });
    expect(rejected.body.message).toContain('are being removed');
    await expectTotals();
    await owner`INSERT INTO months_over SELECT month, from_id, to_id, clock_timestamp() FROM table_months() WHERE month = ${first}`;
    await remove();
    expect((await replayFirstEvent()).status).toBe(200);
    await expectTotals();
  });

  test('goes on where a run was ended: after the detachment began, and before the month was dropped', async () => {
    const [second = '', third = ''] = await monthsOf('events');
    await owner`UPDATE event_log_start SET first_position = (SELECT max(first_position + entry_count) FROM ${owner(third)})`;
    await database.transaction((tx) => findOldEvents(tx, 0));
    await cutDetachment('events', second);
    await testDatabase.asOwner(`ALTER TABLE events DETACH PARTITION ${third}`);
    await remove();
    expect(lines).toEqual([`Removed ${second}.`, `Removed ${third}.`]);
    expect(await monthsOf('events')).not.toContain(second);
    const [left] = await owner`SELECT to_regclass(${second}) AS second, to_regclass(${third}) AS third`;
    expect(left).toEqual({ second: null, third: null });
  });
});

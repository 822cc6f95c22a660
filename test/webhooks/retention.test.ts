import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { checkLedger, checkLedgerSince } from '../../db/ledger/check.ts';
import type { Database } from '../../db/query/database.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { insertClient, recordEvents, sequence } from '../harness/webhooks/webhooks.ts';

// How long events and idempotency keys are kept, and what outlives its time. Months of rows: test/database/months.test.ts.

const EVENTS_DAYS = 90;
const DAY_MS = 86_400_000;
const AS_ADMIN = { as: 'admin' } as const;

let testDatabase: TestDatabase;
let api: TestApi;
let later: Database;
let offsetMs: number;
let world: MoneyWorld;
let client: string;
let source: string;
let destination: string;

beforeEach(async () => {
  testDatabase = await createTestDatabase('retention');
  api = await startApi(testDatabase);
  later = createDatabase({
    url: testDatabase.url,
    maxConnections: 3,
    applicationName: 'later',
    deadlineMs: 60_000,
    clockOffset: () => `${offsetMs} milliseconds`,
  });
  offsetMs = (EVENTS_DAYS + 1) * DAY_MS;
  world = moneyWorld(api);
  client = await world.client('Ada');
  source = await world.account(client, { amount: 1_000 });
  destination = await world.account(await world.client('Grace'));
  await pay();
});

afterEach(async () => {
  expect(await checkLedger(api.database.reader)).toEqual([]);
  await later.close();
  await api.stop();
  await testDatabase.drop();
});

async function pay(): Promise<void> {
  const outgoingTransfer = {
    clientId: client,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  expect((await api.call('POST', '/outgoing-transfers', body)).status).toBe(201);
  while ((await sequence(api.database)) > 0);
}

function upkeep(eventsDays: number | null = EVENTS_DAYS) {
  const { configuration, environment, keyring, logger } = api.services;
  const retention = { idempotencyKeysDays: 2, webhookDeliveriesDays: 30, eventsDays };
  const tasks = housekeepingActivities({
    database: later,
    configuration: { ...configuration, retention },
    keyring,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
    providers: new Map(),
  });
  const run = (task: () => Promise<string>) => new MockActivityEnvironment().run(task);
  return {
    forgetEvents: () => run(tasks.forgetOldEvents),
    forgetKeys: () => run(tasks.forgetOldIdempotencyKeys),
  };
}

async function logAfter(position?: number): Promise<Json> {
  const query = position === undefined ? '' : `&data.event.positionAfter=${position}`;
  return api.call('GET', `/events?metadata.page.size=100${query}`);
}

async function positions(): Promise<number[]> {
  const { body } = await logAfter();
  return body.data.events.map((event: Json) => event.position);
}

async function subscription(change: Json = {}): Promise<string> {
  const create = {
    workflow: { code: 'direct' },
    data: { webhookSubscription: { url: 'http://127.0.0.1:4000/hooks' } },
  };
  const { body, status, text } = await api.call('POST', '/webhook-subscriptions', create, AS_ADMIN);
  expect(status, text).toBe(201);
  const { id } = body.data.webhookSubscription;
  const update = { workflow: { code: 'direct' }, data: { webhookSubscription: change } };
  if (Object.keys(change).length > 0) await api.call('PATCH', `/webhook-subscriptions/${id}`, update, AS_ADMIN);
  return id;
}

describe('events', () => {
  test('are kept forever unless the configuration limits them', async () => {
    await checkLedgerSince(api.database);
    offsetMs = 10_000 * DAY_MS;
    const before = await positions();
    expect(await upkeep(null).forgetEvents()).toBe('ok');
    expect(await positions()).toEqual(before);
  });

  test('are deleted from the oldest on after their retention time, and the books stay provable', async () => {
    await checkLedgerSince(api.database);
    const before = await positions();
    offsetMs = (EVENTS_DAYS - 1) * DAY_MS;
    expect(await upkeep().forgetEvents()).toBe('ok');
    expect(await positions()).toEqual(before);
    offsetMs = (EVENTS_DAYS + 1) * DAY_MS;
    expect(await upkeep().forgetEvents()).toBe('ok');
    expect(await positions()).toEqual([]);
    expect(await checkLedger(api.database.reader)).toEqual([]);
    await pay();
    const next = (before.at(-1) ?? 0) + 1;
    expect((await positions())[0]).toBe(next);
    expect(await checkLedger(api.database.reader)).toEqual([]);
    expect(await checkLedgerSince(api.database)).toEqual([]);
  });

  test('that a reader has missed are reported as deleted, not skipped', async () => {
    await checkLedgerSince(api.database);
    const last = (await positions()).at(-1) ?? 0;
    await upkeep().forgetEvents();
    const rejected = await logAfter(1);
    expect(rejected.status).toBe(400);
    expect(rejected.body.code).toBe('common.validation.field_invalid');
    expect(rejected.body.messageParameters).toEqual(['event', 'data.event.positionAfter', '1']);
    expect(rejected.body.message).toContain(`Events up to position ${last} are no longer kept`);
    expect((await logAfter(last)).status).toBe(200);
    expect((await logAfter(0)).status).toBe(200);
  });

  test('that the ledger check has not seen stay', async () => {
    const before = await positions();
    expect(await upkeep().forgetEvents()).toBe('ok');
    expect(await positions()).toEqual(before);
  });

  test.each(['paused', 'disabled'])(
    'that a %s subscription has still to receive stay, with all later ones, and housekeeping says so',
    async (status) => {
      const unsubscribed = (await positions()).at(-1) ?? 0;
      const id = await subscription({ status: 'paused' });
      await pay();
      await api.database.reader.execute(sql`UPDATE webhook_subscriptions SET status = ${status} WHERE id = ${id}`);
      await checkLedgerSince(api.database);
      const owed = (await positions()).filter((position) => position > unsubscribed);
      expect(owed.length).toBeGreaterThan(1);
      expect(await upkeep().forgetEvents()).toBe('old-events-kept-for-subscription');
      expect(await positions()).toEqual(owed);
      expect((await api.call('DELETE', `/webhook-subscriptions/${id}`, undefined, AS_ADMIN)).status).toBe(200);
      expect(await upkeep().forgetEvents()).toBe('ok');
      expect(await positions()).toEqual([]);
    },
  );

  test('missing in the middle of a shortened log are found by the invariants', async () => {
    const resource = await insertClient(api.database);
    const record = async () => {
      await recordEvents(api.database, resource);
      await sequence(api.database);
    };
    await record();
    await checkLedgerSince(api.database);
    await upkeep().forgetEvents();
    for (const _ of ['kept', 'lost', 'kept']) await record();
    expect(await checkLedger(api.database.reader)).toEqual([]);
    const moveTo = (from: number, to: number) =>
      testDatabase.asOwner(`
        SET session_replication_role = replica;
        UPDATE events SET resource_id = '${to === 0 ? newId() : resource}', module = '${to === 0 ? 'users' : 'clients'}'
        WHERE module = '${to === 0 ? 'clients' : 'users'}' AND first_sequence = ${from}`);
    await moveTo(3, 0);
    expect((await checkLedger(api.database.reader)).map(({ rule, subject }) => `${rule}: ${subject}`)).toEqual([
      `a resource has recorded every event once: clients ${resource}`,
    ]);
    await moveTo(3, 3);
  });
});

describe('idempotency keys', () => {
  test('are deleted after their configured days', async () => {
    const keys = async () => {
      const [row] = await api.database.reader.execute<{ count: number }>(
        sql`SELECT count(*)::int AS count FROM idempotency_keys`,
      );
      return row?.count ?? 0;
    };
    const body = {
      workflow: { code: 'direct' },
      data: { webhookSubscription: { url: 'http://127.0.0.1:4000/hooks' } },
    };
    expect((await api.call('POST', '/webhook-subscriptions', body, { ...AS_ADMIN, key: 'two-days' })).status).toBe(201);
    expect(await keys()).toBe(1);
    offsetMs = 2 * DAY_MS - 60_000;
    await upkeep().forgetKeys();
    expect(await keys()).toBe(1);
    offsetMs = 2 * DAY_MS + 60_000;
    await upkeep().forgetKeys();
    expect(await keys()).toBe(0);
  });
});

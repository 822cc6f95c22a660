import type { ServerResponse } from 'node:http';
import { sql } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import type { Database } from '../../db/query/database.ts';
import { listWebhookDeliveries, retryWebhookDelivery, type WebhookDelivery } from '../../db/webhooks/deliveries.ts';
import { claimDeliveries } from '../../db/webhooks/delivery-claims.ts';
import { wakeOverdueShards } from '../../db/webhooks/event-sequencer.ts';
import { replayWebhooks } from '../../db/webhooks/replays.ts';
import {
  changeWebhookSubscription,
  findWebhookSubscription,
  rotateWebhookSecret,
} from '../../db/webhooks/subscriptions.ts';
import { TESTER } from '../harness/audit.ts';
import { TEST_KEYRING } from '../harness/keyring.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  createDrains,
  insertClient,
  newSecret,
  type Received,
  type Receiver,
  recordEvents,
  SCHEDULE,
  sequence,
  startReceiver,
  subscribe,
} from '../harness/webhooks/webhooks.ts';

/** No retry comes so soon that it is due in the drain that has failed, however long a busy machine takes for that. */
const UNHURRIED = {
  ...SCHEDULE,
  attemptDelaysSeconds: SCHEDULE.attemptDelaysSeconds.map((one) => (one === 5 ? 120 : one)),
};
/** A guard against hanging. */
const PATIENT = { timeout: 120_000 };

let testDatabase: TestDatabase;
let database: Database;
let receiver: Receiver;
let offsetMs = 0;
let drains: ReturnType<typeof createDrains>;

beforeAll(async () => {
  testDatabase = await createTestDatabase('webhook-deliveries');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 12,
    applicationName: 'webhooks-test',
    deadlineMs: 60_000,
    clockOffset: () => `${offsetMs} milliseconds`,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

beforeEach(async () => {
  offsetMs = 0;
  await testDatabase.asOwner(
    'TRUNCATE events, webhook_subscriptions, webhook_deliveries, webhook_attempts, workflow_wakeups CASCADE',
  );
  await database.reader.execute(sql`UPDATE event_sequencer SET last_position = 0`);
  receiver = await startReceiver();
  drains = createDrains(database, { schedule: UNHURRIED });
});

afterEach(async () => {
  await drains.close();
  await receiver.close();
});

async function all(): Promise<readonly WebhookDelivery[]> {
  const { rows } = await listWebhookDeliveries(database.reader, {}, { size: 100, offset: 0 });
  return [...rows].sort((one, other) => Number(one.position - other.position));
}

async function only(): Promise<WebhookDelivery> {
  const [delivery, ...rest] = await all();
  if (delivery === undefined || rest.length > 0) throw new Error('not one delivery');
  return delivery;
}

/** Delivers what is due, then moves the clock to when the next is due, until nothing is pending. */
async function drainToTheEnd(): Promise<number[]> {
  const waits: number[] = [];
  for (;;) {
    const waitMs = await drains.drain();
    if (waitMs === null) return waits;
    waits.push(waitMs);
    offsetMs += waitMs + 1;
  }
}

const sequences = (messages: readonly Received[]) => messages.map((message) => Number(message.body.metadata.sequence));

describe('a delivery', () => {
  test('carries the event, signed so that the standard library verifies it', async () => {
    const secret = newSecret();
    await subscribe(database, receiver.url, {}, secret);
    const id = await insertClient(database);
    await recordEvents(database, id);
    await sequence(database);
    expect(await drains.drain()).toBeNull();

    expect(receiver.received).toHaveLength(1);
    const [message] = receiver.received;
    expect(message?.headers['content-type']).toBe('application/json');
    new Webhook(secret).verify(message?.text ?? '', message?.headers ?? {});
    expect(message?.body).toEqual({
      webhook: { module: 'clients', type: 'created' },
      data: { client: expect.objectContaining({ id, fullName: 'Ann Example', status: 'active' }) },
      connect: {},
      metadata: {
        sequence: 1,
        eventId: message?.id,
        eventDateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
      },
    });
    const delivery = await only();
    expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 1, claimToken: null, eventId: message?.id });
    expect(delivery.attempts).toMatchObject([{ number: 1, responseCode: 200, responseBody: 'thank you', error: null }]);
  });

  test('keeps the order of one resource, and continues past a failing event without reordering', async () => {
    await subscribe(database, receiver.url);
    const ids = [await insertClient(database), await insertClient(database)];
    for (let turn = 0; turn < 5; turn += 1) for (const id of ids) await recordEvents(database, id, 3);
    await sequence(database);
    receiver.answer((message, response) => {
      const fails = Number(message.body.metadata.sequence) === 2;
      response.writeHead(fails ? 500 : 204).end();
    });
    const waitMs = await drains.drain();
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(120_000);
    for (const id of ids) {
      const own = receiver.received.filter((message) => message.body.data.client.id === id);
      expect(sequences(own)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    }
    receiver.answer((_message, response) => response.writeHead(200).end());
    offsetMs = 121_000;
    expect(await drains.drain()).toBeNull();
    expect(receiver.received).toHaveLength(32);
    expect((await all()).every((one) => one.status === 'succeeded')).toBe(true);
  });

  test('is tried ten times by the schedule, then failed; on request, ten times more', async () => {
    const subscription = await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(500).end('no'));
    // Failing for 75 hours is less than five days.
    const waits = await drainToTheEnd();
    // The rest of each wait when the drain ends: all of it except the time for recording.
    const expected = UNHURRIED.attemptDelaysSeconds.slice(1);
    expect(waits).toHaveLength(expected.length);
    for (const [index, seconds] of expected.entries()) {
      expect(waits[index]).toBeLessThanOrEqual(seconds * 1_000);
      expect(waits[index]).toBeGreaterThan(seconds * 1_000 - 60_000);
    }
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map((message) => message.id)).size).toBe(1);
    const failed = await only();
    expect(failed).toMatchObject({ status: 'failed', attemptCount: 10 });
    expect(failed.attempts.map((attempt) => attempt.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await findWebhookSubscription(database.reader, subscription.id))?.status).toBe('active');

    await database.transaction((tx) => retryWebhookDelivery(tx, failed.id, TESTER));
    expect(await drains.drain()).toBeLessThanOrEqual(120_000);
    expect(await only()).toMatchObject({ status: 'pending', attemptCount: 11 });
  });

  test.each([
    [301, { location: 'http://127.0.0.1:1/' }],
    [302, { location: '/elsewhere' }],
    [307, { location: '/elsewhere' }],
    [400, {}],
    [404, {}],
    [503, {}],
  ])('answered with %i is made again, and a redirect is not followed', async (code, headers) => {
    await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(code, headers).end('moved'));
    expect(await drains.drain()).not.toBeNull();
    expect(receiver.received).toHaveLength(1);
    expect(await only()).toMatchObject({
      status: 'pending',
      attempts: [{ responseCode: code, responseBody: 'moved' }],
    });
  });

  test('of an event that cannot be rendered fails on its own and blocks nothing', async () => {
    await subscribe(database, receiver.url, { modules: ['outgoing-transfers', 'clients'] });
    await database.reader.execute(sql`
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
      VALUES (overlay(uuidv7()::text placing '0' from 36)::uuid, 1, 'outgoing-transfers', uuidv7(), 1, service_now(),
        '[{"type":"outgoing-transfer-created","data":{"status":"pending"}}]')`);
    await recordEvents(database, await insertClient(database), 2);
    await sequence(database);
    await drains.drain();
    expect(receiver.received).toHaveLength(2);
    // Events of two resources within a millisecond have no order.
    const outcomes = (await all()).map(({ status, attempts }) => `${status}: ${attempts[0]?.error}`);
    expect(outcomes.sort()).toEqual(['pending: event_unreadable', 'succeeded: null', 'succeeded: null']);
  });

  test('waits as long as Retry-After asks', async () => {
    await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(429, { 'retry-after': '120' }).end());
    const waitMs = (await drains.drain()) ?? 0;
    expect(waitMs).toBeGreaterThan(60_000);
    expect(waitMs).toBeLessThanOrEqual(120_000);
  });

  test('keeps only the first KiB of a long answer, and what Postgres cannot store is replaced', async () => {
    await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(200).end(`\0${'a'.repeat(5_000)}`));
    await drains.drain();
    const [attempt] = (await only()).attempts;
    expect(attempt?.responseBody).toBe(`\uFFFD${'a'.repeat(1_023)}`);
  });
});

describe('a subscription', () => {
  test('is disabled by 410, says why, and receives nothing until it is active again', async () => {
    const subscription = await subscribe(database, receiver.url);
    const id = await insertClient(database);
    await recordEvents(database, id);
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(410).end());
    expect(await drains.drain()).toBeNull();
    const disabled = await findWebhookSubscription(database.reader, subscription.id);
    expect(disabled).toMatchObject({ status: 'disabled', statusReason: 'gone' });
    await recordEvents(database, id);
    await sequence(database);
    await drains.drain();
    expect(receiver.received).toHaveLength(1);

    receiver.answer((_message, response) => response.writeHead(200).end());
    const { after: active } = await database.transaction((tx) =>
      changeWebhookSubscription(tx, subscription.id, { status: 'active' }, TESTER),
    );
    expect(active).toMatchObject({ status: 'active', statusReason: null });
    const replayed = await database.transaction((tx) =>
      replayWebhooks(
        tx,
        active,
        { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000), types: null },
        TESTER,
      ),
    );
    expect(replayed).toBe(2);
    await drains.drain();
    expect(sequences(receiver.received).sort()).toEqual([1, 1, 2]);
  });

  test('that answers 410 gets nothing more of what was claimed together', async () => {
    await subscribe(database, receiver.url);
    for (let index = 0; index < 30; index += 1) await recordEvents(database, await insertClient(database));
    await sequence(database);
    receiver.answer((_message, response) => response.writeHead(410).end());
    await drains.drain();
    // The first concurrent ones, and none of the rest.
    expect(receiver.received.length).toBeLessThanOrEqual(8);
    expect((await all()).filter((one) => one.status === 'pending' && one.claimToken === null)).toHaveLength(
      30 - receiver.received.length,
    );
  });

  test('is disabled after five days of nothing but failures, and one success resets the count', async () => {
    const subscription = await subscribe(database, receiver.url);
    const id = await insertClient(database);
    const attemptAfterHours = async (hours: number, code: number) => {
      offsetMs = hours * 3_600_000;
      receiver.answer((_message, response) => response.writeHead(code).end());
      await recordEvents(database, id);
      await sequence(database);
      await drains.drain();
      return (await findWebhookSubscription(database.reader, subscription.id))?.status;
    };
    expect(await attemptAfterHours(0, 500)).toBe('active');
    expect(await attemptAfterHours(100, 200)).toBe('active');
    expect(await attemptAfterHours(121, 500)).toBe('active');
    expect(await attemptAfterHours(240, 500)).toBe('active');
    expect(await attemptAfterHours(242, 500)).toBe('disabled');
    const disabled = await findWebhookSubscription(database.reader, subscription.id);
    expect(disabled?.statusReason).toBe('failing');
  });

  test('that is paused misses nothing', async () => {
    const subscription = await subscribe(database, receiver.url, { status: 'paused' });
    await recordEvents(database, await insertClient(database), 3);
    await sequence(database);
    expect(await drains.drain()).toBeNull();
    expect(receiver.received).toHaveLength(0);
    await database.transaction((tx) => changeWebhookSubscription(tx, subscription.id, { status: 'active' }, TESTER));
    await drains.drain();
    expect(sequences(receiver.received)).toEqual([1, 2, 3]);
  });

  test('signs with both secrets for a day after a rotation, then with the new one only', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const subscription = await subscribe(database, receiver.url, {}, first);
    const id = await insertClient(database);
    const send = async () => {
      await recordEvents(database, id);
      await sequence(database);
      await drains.drain();
      const message = receiver.received.at(-1);
      if (message === undefined) throw new Error('nothing was received');
      return message;
    };
    const rotation = { secret: second, initiator: TESTER };
    await database.transaction((tx) => rotateWebhookSecret(tx, TEST_KEYRING, subscription.id, rotation));
    const rotating = await send();
    expect(rotating.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [first, second]) new Webhook(secret).verify(rotating.text, rotating.headers);
    offsetMs = 25 * 3_600_000;
    const rotated = await send();
    new Webhook(second).verify(rotated.text, rotated.headers);
    expect(() => new Webhook(first).verify(rotated.text, rotated.headers)).toThrow();
  });

  test('that never answers holds up no other', async () => {
    const slow = await startReceiver();
    slow.answer(() => {});
    for (let index = 0; index < 4; index += 1) await subscribe(database, slow.url);
    for (let index = 0; index < 4; index += 1) await subscribe(database, receiver.url);
    for (let index = 0; index < 10; index += 1) await recordEvents(database, await insertClient(database), 2);
    await sequence(database);
    const patient = createDrains(database, { timeoutMs: 120_000 });
    const draining = patient.drain();
    // The slow one does not answer for this long.
    await expect.poll(() => receiver.received.length, PATIENT).toBe(80);
    expect(slow.received.length).toBeGreaterThan(0);
    await slow.close();
    await draining;
    await patient.close();
  });
});

describe('as many subscriptions as there may be, all but one with a backlog', () => {
  const BUSY = 99;
  const RESOURCES = 60;

  test('do not starve the last one: its events arrive while most of the backlog still waits', async () => {
    const clients = await Promise.all(Array.from({ length: RESOURCES }, () => insertClient(database)));
    for (let index = 0; index < BUSY; index += 1) await subscribe(database, receiver.url);
    for (const client of clients) await recordEvents(database, client);
    await sequence(database);
    // Answers wait until the last one's events have come, so that a slow machine delivers no backlog before.
    const held: ServerResponse[] = [];
    receiver.answer((_message, response) => void held.push(response));
    const patient = createDrains(database, { schedule: UNHURRIED, timeoutMs: 180_000 });
    const draining = patient.drain();
    await expect.poll(() => receiver.received.length, PATIENT).toBeGreaterThan(0);
    const fresh = await startReceiver();
    // When the last of its events arrives.
    let deliveredOfBacklog = Number.POSITIVE_INFINITY;
    fresh.answer((_message, response) => {
      if (fresh.received.length === 3) deliveredOfBacklog = receiver.received.length;
      response.writeHead(200).end();
    });
    // It asks for what the others do not get, so that their backlog does not grow.
    await subscribe(database, fresh.url, { modules: ['clients'] });
    await database.reader.execute(
      sql`UPDATE webhook_subscriptions SET modules = ARRAY['accounts'] WHERE url = ${receiver.url}`,
    );
    await recordEvents(database, await insertClient(database), 3);
    await sequence(database);
    receiver.answer((_message, response) => void response.writeHead(200).end());
    for (const response of held) response.writeHead(200).end();
    await expect.poll(() => fresh.received.length, PATIENT).toBe(3);
    expect(deliveredOfBacklog).toBeLessThan((BUSY * RESOURCES) / 2);
    // A run of a drain lasts a minute at most; its workflow begins another at once, or when a busy machine's attempts are due again.
    for (let waitMs = await draining; waitMs !== null; waitMs = await patient.drain()) offsetMs += waitMs;
    await patient.close();
    expect(new Set(receiver.received.map(({ id, headers }) => `${id} ${headers['webhook-signature']}`)).size).toBe(
      BUSY * RESOURCES,
    );
    await fresh.close();
  });
});

describe('a crash', () => {
  test('between sending and recording delivers again under the same id, and records once', async () => {
    await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    // A drainer claims, sends and dies: nothing is recorded, and its claim expires.
    const [shard] = await database.reader.execute<{ shard: number }>(sql`SELECT shard FROM webhook_subscriptions`);
    const claim = {
      shard: shard?.shard ?? 0,
      claimMs: 600_000,
      perSubscription: 10,
      limits: new Map<string, number>(),
    };
    const token = '00000000-0000-4000-8000-000000000001';
    const [claimed] = await claimDeliveries(database.reader, { ...claim, token });
    expect(claimed).toBeDefined();
    await fetch(receiver.url, { method: 'POST', body: '{}', headers: { 'webhook-id': claimed?.eventId ?? '' } });
    const waitMs = (await drains.drain()) ?? 0;
    expect(receiver.received).toHaveLength(1);
    expect(waitMs).toBeGreaterThan(500_000);
    offsetMs = 601_000;
    expect(await drains.drain()).toBeNull();
    expect(receiver.received.map((message) => message.id)).toEqual([claimed?.eventId, claimed?.eventId]);
    expect(await only()).toMatchObject({ status: 'succeeded', attemptCount: 1 });
  });

  test('of a drain releases its claims, and interrupted deliveries are made again', async () => {
    await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database), 2);
    await sequence(database);
    receiver.answer(() => {});
    const stop = new AbortController();
    const running = drains.drains.map((drain) => drain.run(stop.signal));
    await expect.poll(() => receiver.received.length, PATIENT).toBe(1);
    stop.abort();
    await Promise.allSettled(running);
    expect((await all()).map((one) => [one.status, one.claimToken, one.attemptCount])).toEqual([
      ['pending', null, 0],
      ['pending', null, 0],
    ]);
    receiver.answer((_message, response) => response.writeHead(200).end());
    await drains.drain();
    expect(sequences(receiver.received)).toEqual([1, 1, 2]);
  });

  test('of a workflow and its timer is repaired: a shard with overdue deliveries is woken', async () => {
    const subscription = await subscribe(database, receiver.url);
    await recordEvents(database, await insertClient(database));
    await sequence(database);
    await database.reader.execute(sql`DELETE FROM workflow_wakeups`);
    await database.reader.execute(sql`UPDATE webhook_shards SET busy_until = '-infinity'`);
    expect(await wakeOverdueShards(database)).toBe(false);
    offsetMs = 31_000;
    expect(await wakeOverdueShards(database)).toBe(true);
    const wakeups = await database.reader.execute<{ id: string }>(sql`SELECT workflow_id AS id FROM workflow_wakeups`);
    expect(wakeups).toEqual([{ id: `webhook-delivery/${subscription.shard}` }]);
    expect(await wakeOverdueShards(database)).toBe(false);
  });

  test('never lets two drainers at once reorder the first attempts of a resource', async () => {
    await subscribe(database, receiver.url);
    const other = createDrains(database);
    const ids = await Promise.all([1, 2, 3].map(() => insertClient(database)));
    for (let turn = 0; turn < 10; turn += 1) for (const id of ids) await recordEvents(database, id, 2);
    await sequence(database);
    await Promise.all([drains.drain(), other.drain()]);
    await drains.drain();
    await other.close();
    for (const id of ids) {
      const own = receiver.received.filter((message) => message.body.data.client.id === id);
      expect(sequences(own)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    }
  });
});

import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { createDrains, type Receiver, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let receiver: Receiver;
let drains: ReturnType<typeof createDrains>;

beforeAll(async () => {
  database = await createTestDatabase('webhook-subscriptions');
  api = await startApi(database);
  world = moneyWorld(api);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

beforeEach(async () => {
  await sequence(api.database);
  await database.asOwner('TRUNCATE webhook_subscriptions, webhook_deliveries, webhook_attempts CASCADE');
  receiver = await startReceiver();
  drains = createDrains(api.database);
});

afterEach(async () => {
  await drains.close();
  await receiver.close();
});

const direct = (data: Json): Json => ({ workflow: { code: 'direct' }, data });
const admin = { as: 'admin' } as const;

async function subscribe(change: Json = {}): Promise<Json> {
  const body = direct({ webhookSubscription: { url: receiver.url, ...change } });
  const answer = await api.call('POST', '/webhook-subscriptions', body, admin);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.webhookSubscription;
}

function action(subscription: Json, name: string, data: Json = {}): Promise<ApiResponse> {
  return api.call('POST', `/webhook-subscriptions/${subscription.id}/${name}`, direct(data), admin);
}

async function deliver(): Promise<void> {
  await sequence(api.database);
  await drains.drain();
}

/** An internal transfer, settled at once; its ids. */
async function transfer(): Promise<{ outgoing: string; incoming: string; accountId: string }> {
  const clientId = await world.client();
  const [from, to] = [await world.account(clientId, { amount: 100 }), await world.account(clientId)];
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 12.5,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  const outgoing = answer.body.data.outgoingTransfer.id;
  const shown = await api.call('GET', `/outgoing-transfers/${outgoing}`);
  return { outgoing, incoming: shown.body.data.outgoingTransfer.incomingTransferId, accountId: to };
}

describe('subscriptions', () => {
  test('are at most a hundred, also when two ask for the last place at once; deleting one makes a place available', async () => {
    for (let number = 1; number < 99; number += 1) await subscribe();
    const last = await subscribe();
    const body = direct({ webhookSubscription: { url: receiver.url } });
    const ask = () => api.call('POST', '/webhook-subscriptions', body, admin);
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.code).toBe('common.validation.limit_exceeded');
    const list = await api.call('GET', '/webhook-subscriptions', undefined, admin);
    expect(list.body.metadata.page.totalElements).toBe(100);
    expect((await api.call('DELETE', `/webhook-subscriptions/${last.id}`, undefined, admin)).status).toBe(200);
    expect((await ask()).status).toBe(201);
  });
});

describe('a subscription', () => {
  test('is created with a secret that is shown once, and read without it', async () => {
    const created = await subscribe({ description: 'Ledger' });
    expect(created.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret, ...rest } = created;
    expect(rest).toMatchObject({ status: 'active', statusReason: null, modules: null, types: null });
    const read = await api.call('GET', `/webhook-subscriptions/${created.id}`, undefined, admin);
    expect(read.body.data.webhookSubscription).toEqual(rest);
    const listed = await api.call('GET', '/webhook-subscriptions', undefined, admin);
    expect(listed.body.data.webhookSubscriptions).toEqual([rest]);
    expect(listed.text).not.toContain(secret);
    expect(listed.body.metadata.page.totalElements).toBe(1);
  });

  test('is changed field by field; null clears', async () => {
    const created = await subscribe({ modules: ['clients'], description: 'Ledger' });
    const patch = (change: Json) =>
      api.call('PATCH', `/webhook-subscriptions/${created.id}`, direct({ webhookSubscription: change }), admin);
    const paused = await patch({ status: 'paused', types: ['created'] });
    expect(paused.body.data.webhookSubscription).toMatchObject({
      status: 'paused',
      types: ['created'],
      modules: ['clients'],
      description: 'Ledger',
    });
    const cleared = await patch({ modules: null, description: null });
    expect(cleared.body.data.webhookSubscription).toMatchObject({ modules: null, description: null, status: 'paused' });
    expect((await patch({ url: null })).status).toBe(400);
    expect((await patch({ status: 'gone' })).status).toBe(400);
  });

  test.each([
    ['http://10.0.0.1/hook'],
    ['http://169.254.169.254/latest/meta-data'],
    ['https://user:password@receiver.example.org/'],
    ['https://receiver.example.org:22/'],
    ['ftp://receiver.example.org/'],
    ['not a url'],
    ['http://[::ffff:10.0.0.1]/'],
    ['http://0x0a000001/'],
  ])('to %s is rejected, naming the field and no secret', async (url) => {
    const answer = await api.call('POST', '/webhook-subscriptions', direct({ webhookSubscription: { url } }), admin);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'common.validation.field_invalid' });
    expect(answer.body.messageParameters.slice(0, 2)).toEqual(['webhookSubscription', 'url']);
    expect(answer.text).not.toContain('password');
  });

  test('to the service itself is rejected, by any name of it, also in a change', async () => {
    const own = new URL(api.services.environment.publicUrl);
    const created = await subscribe();
    for (const host of ['127.0.0.1', 'localhost', '127.1', '[::1]']) {
      const url = `http://${host}:${own.port}/webhook-subscriptions`;
      const body = direct({ webhookSubscription: { url } });
      expect((await api.call('POST', '/webhook-subscriptions', body, admin)).status).toBe(400);
      expect((await api.call('PATCH', `/webhook-subscriptions/${created.id}`, body, admin)).status).toBe(400);
    }
  });

  test.each([
    { modules: ['accounts', 'nothing'] },
    { modules: [] },
    { types: ['account-exploded'] },
    { status: 'deleted' },
    { secret: 'whsec_mine' },
    { id: '0197b2a4-7c1e-7d10-9b1f-6d0a5f1c2b31' },
  ])('with %j is rejected', async (change) => {
    const body = direct({ webhookSubscription: { url: receiver.url, ...change } });
    expect((await api.call('POST', '/webhook-subscriptions', body, admin)).status).toBe(400);
  });

  test('is for administrators only', async () => {
    const created = await subscribe();
    for (const as of ['viewer', 'operator', 'approver', 'compliance'] as const) {
      for (const path of ['/webhook-subscriptions', `/webhook-subscriptions/${created.id}`]) {
        expect((await api.call('GET', path, undefined, { as })).status, `${as} ${path}`).toBe(403);
      }
    }
  });

  test('that is deleted is gone, receives nothing more, and its deliveries stay readable', async () => {
    const created = await subscribe();
    await world.client();
    await sequence(api.database);
    const removed = await api.call('DELETE', `/webhook-subscriptions/${created.id}`, undefined, admin);
    expect(removed.body).toEqual({ workflow: {}, data: {}, connect: {}, metadata: {} });
    expect((await api.call('GET', `/webhook-subscriptions/${created.id}`, undefined, admin)).status).toBe(404);
    expect((await api.call('DELETE', `/webhook-subscriptions/${created.id}`, undefined, admin)).status).toBe(404);
    await world.client();
    await deliver();
    expect(receiver.received).toHaveLength(0);
    const path = `/webhook-deliveries?data.webhookDelivery.webhookSubscriptionId=${created.id}`;
    expect((await api.call('GET', path, undefined, admin)).body.metadata.page.totalElements).toBe(1);
  });

  test('gets a new secret; both sign for a day', async () => {
    const created = await subscribe();
    const rotated = await action(created, 'rotate-secret');
    expect(rotated.status).toBe(200);
    const { secret } = rotated.body.data.webhookSubscription;
    expect(secret).not.toBe(created.secret);
    await world.client();
    await deliver();
    const [message] = receiver.received;
    for (const known of [created.secret, secret])
      new Webhook(known).verify(message?.text ?? '', message?.headers ?? {});
  });

  test('is tried by a ping, which is no event', async () => {
    const created = await subscribe({ types: ['account-closed'] });
    const pinged = await action(created, 'ping');
    expect(pinged.status).toBe(201);
    const { id } = pinged.body.data.webhookDelivery;
    await drains.drain();
    const [message] = receiver.received;
    new Webhook(created.secret).verify(message?.text ?? '', message?.headers ?? {});
    expect(message?.body).toMatchObject({
      webhook: { module: 'webhook-subscriptions', type: 'ping' },
      data: { webhookSubscription: { id: created.id } },
    });
    const read = await api.call('GET', `/webhook-deliveries/${id}`, undefined, admin);
    expect(read.body.data.webhookDelivery).toMatchObject({
      status: 'succeeded',
      attempts: [{ number: 1, responseCode: 200, responseBody: 'thank you', error: null }],
    });
    const log = await api.call('GET', '/events?metadata.page.size=100', undefined, admin);
    expect(log.text).not.toContain(message?.id);
    await api.call(
      'PATCH',
      `/webhook-subscriptions/${created.id}`,
      direct({ webhookSubscription: { status: 'paused' } }),
      admin,
    );
    expect((await action(created, 'ping')).status).toBe(409);
  });

  test('replays the requested types of a period under the same ids', async () => {
    const created = await subscribe();
    const { outgoing } = await transfer();
    await deliver();
    const before = receiver.received.map((message) => message.id);
    const from = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19);
    const types = ['outgoing-transfer-completed'];
    const replayed = await action(created, 'replay', { webhookSubscription: { from, types } });
    expect(replayed.status, replayed.text).toBe(200);
    const again = receiver.received.length;
    await drains.drain();
    const repeated = receiver.received.slice(again);
    expect(repeated).toHaveLength(replayed.body.data.deliveryCount);
    const own = repeated.filter((message) => message.body.data.outgoingTransfer.id === outgoing);
    expect(own).toHaveLength(1);
    expect(before).toContain(own[0]?.id);
    expect(repeated.every((message) => message.body.webhook.type === types[0])).toBe(true);
    const backwards = { from: '2026-03-02T00:00:00', to: '2026-03-01T00:00:00' };
    expect((await action(created, 'replay', { webhookSubscription: backwards })).status).toBe(400);
    expect((await action(created, 'replay', { webhookSubscription: { from: '2999-01-01T00:00:00' } })).status).toBe(
      400,
    );
  });
});

describe('a delivery', () => {
  test('shows a transfer as GET does, at each step of its way, for both sides', async () => {
    await subscribe({ modules: ['outgoing-transfers', 'incoming-transfers'] });
    const { outgoing, incoming } = await transfer();
    await deliver();
    const sent = receiver.received.filter(({ body }) => body.data.outgoingTransfer?.id === outgoing);
    expect(
      sent.map(({ body }) => [body.webhook.type, body.data.outgoingTransfer.status, body.metadata.sequence]),
    ).toEqual([
      ['outgoing-transfer-created', 'pending', 1],
      ['outgoing-transfer-processing', 'processing', 2],
      ['outgoing-transfer-released', 'released', 3],
      ['outgoing-transfer-completed', 'completed', 4],
    ]);
    const shown = await api.call('GET', `/outgoing-transfers/${outgoing}`);
    // What holds only while it is read is no part of what happened.
    const { waitingFor, returningIncomingTransferIds, ...happened } = shown.body.data.outgoingTransfer;
    expect([waitingFor, returningIncomingTransferIds]).toEqual([null, []]);
    expect(sent.at(-1)?.body.data).toEqual({ outgoingTransfer: happened });
    expect(sent[0]?.body.data.outgoingTransfer).toEqual({
      ...happened,
      status: 'pending',
      requirementConfiguration: {
        ...happened.requirementConfiguration,
        transferDateStatus: 'not-checked',
        balanceCheckStatus: 'not-checked',
      },
    });

    const arrived = receiver.received.filter(({ body }) => body.data.incomingTransfer?.id === incoming);
    expect(arrived.map(({ body }) => [body.webhook.type, body.data.incomingTransfer.transferDate !== null])).toEqual([
      ['incoming-transfer-pending', false],
      ['incoming-transfer-completed', true],
    ]);
    const received = await api.call('GET', `/incoming-transfers/${incoming}`);
    const { waitingFor: wait, returns, ...completed } = received.body.data.incomingTransfer;
    expect(returns).toEqual([]);
    expect(wait).toBeNull();
    expect(arrived.at(-1)?.body.data).toEqual({ incomingTransfer: completed });
    expect(completed.outgoingTransferId).toBe(outgoing);
  });

  test('shows an account and its connection, with exact amounts', async () => {
    await subscribe({ modules: ['accounts'] });
    const account = await world.account(await world.client(), { amount: 9_999_999_999_999.99 });
    const closing = await api.call('PATCH', `/accounts/${account}`, {
      workflow: { code: 'client.direct' },
      data: { account: { status: 'suspended' } },
    });
    expect(closing.status, closing.text).toBe(200);
    await deliver();
    const last = receiver.received.at(-1);
    expect(last?.body.webhook).toEqual({ module: 'accounts', type: 'account-suspended' });
    expect(last?.text).toContain('"availableBalance":9999999999999.99');
    expect(last?.body.data.account).toMatchObject({ id: account, status: 'suspended' });
    expect(last?.body.connect.connection).toEqual(last?.body.data.account.connection);
    expect(receiver.received.map(({ body }) => body.webhook.type)).toContain('account-activated');
  });

  test('is listed with its attempts, filtered by its event, and repeated on request', async () => {
    const created = await subscribe({ types: ['created'] });
    const clientId = await world.client();
    await deliver();
    const filters = [
      `webhookSubscriptionId=${created.id}`,
      `resourceId=${clientId}`,
      'status=succeeded',
      'type=created',
      `eventId=${receiver.received[0]?.id}`,
    ];
    for (const filter of filters) {
      const listed = await api.call('GET', `/webhook-deliveries?data.webhookDelivery.${filter}`, undefined, admin);
      expect(listed.body.data.webhookDeliveries, filter).toHaveLength(1);
      expect(listed.body.data.webhookDeliveries[0].attempts[0].responseBody).toBe('thank you');
    }
    const none = await api.call('GET', '/webhook-deliveries?data.webhookDelivery.status=failed', undefined, admin);
    expect(none.body.data.webhookDeliveries).toEqual([]);
    const listed = await api.call('GET', '/webhook-deliveries', undefined, admin);
    const [{ id }] = listed.body.data.webhookDeliveries;
    const retried = await api.call('POST', `/webhook-deliveries/${id}/retry`, direct({}), admin);
    expect(retried.body.data.webhookDelivery).toMatchObject({ status: 'pending', attemptCount: 1 });
    await drains.drain();
    expect(receiver.received.map((message) => message.id)).toEqual([
      receiver.received[0]?.id,
      receiver.received[0]?.id,
    ]);
    const again = await api.call('GET', `/webhook-deliveries/${id}`, undefined, admin);
    expect(again.body.data.webhookDelivery).toMatchObject({ status: 'succeeded', attemptCount: 2 });
    expect((await api.call('POST', `/webhook-deliveries/${created.id}/retry`, direct({}), admin)).status).toBe(404);
  });
});

describe('the log of events', () => {
  test('is read to its end by position, each event once and in order, as webhooks show them', async () => {
    await subscribe();
    const { outgoing } = await transfer();
    await deliver();
    const seen: Json[] = [];
    let after = 0;
    for (;;) {
      const path = `/events?data.event.positionAfter=${after}&metadata.page.size=7`;
      const { body, text } = await api.call('GET', path, undefined, admin);
      expect(body.data?.events, text).toBeDefined();
      seen.push(...body.data.events);
      if (body.metadata.nextPositionAfter === after) break;
      after = body.metadata.nextPositionAfter;
    }
    expect(seen.map((event) => event.position)).toEqual(seen.map((_event, index) => index + 1));
    const { position, resourceId, ...shown } = seen.findLast((event) => event.resourceId === outgoing);
    expect(resourceId).toBe(outgoing);
    expect(shown).toEqual(receiver.received.find((message) => message.id === shown.metadata.eventId)?.body);
    const byNumber = await api.call('GET', '/events?metadata.page.number=2&metadata.page.size=5', undefined, admin);
    expect(byNumber.body.data.events.map((event: Json) => event.position)).toEqual([11, 12, 13, 14, 15]);
    expect(byNumber.body.metadata.page.totalElements).toBe(seen.length);
    expect(position).toBeGreaterThan(0);
  });

  test('is filtered by module and type, and a reader who finds nothing is led to the end', async () => {
    await transfer();
    await sequence(api.database);
    const released = await api.call('GET', '/events?data.event.type=outgoing-transfer-released', undefined, admin);
    expect(released.body.data.events.length).toBeGreaterThan(0);
    for (const event of released.body.data.events) expect(event.webhook.type).toBe('outgoing-transfer-released');
    const clients = await api.call('GET', '/events?data.event.module=clients', undefined, admin);
    for (const event of clients.body.data.events) expect(event.webhook.module).toBe('clients');
    const none = await api.call('GET', '/events?data.event.module=users', undefined, admin);
    expect(none.body.data.events).toEqual([]);
    expect(none.body.metadata.nextPositionAfter).toBe(none.body.metadata.page.totalElements);
  });

  test('from beyond its end leads back to the end, so that the next event is not missed', async () => {
    const far = await api.call('GET', '/events?data.event.positionAfter=999999999', undefined, admin);
    expect(far.body.data.events).toEqual([]);
    await world.client();
    await sequence(api.database);
    const path = `/events?data.event.positionAfter=${far.body.metadata.nextPositionAfter}`;
    expect((await api.call('GET', path, undefined, admin)).body.data.events).toHaveLength(1);
    expect((await api.call('GET', '/events?data.event.positionAfter=-1', undefined, admin)).status).toBe(400);
  });
});

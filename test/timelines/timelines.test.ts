import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import type { Reader } from '../../db/query/database.ts';
import { readTimeline } from '../../db/timelines/timelines.ts';
import { readTimelineEnd } from '../../db/timelines/waits.ts';
import { forgetOldEvents } from '../../db/webhooks/retention.ts';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { TIMELINE_KINDS, type TimelineResource } from '../../domain/timelines/timelines.ts';
import type { Json } from '../harness/api.ts';
import { type ConsentWorld, consentWorld } from '../harness/parties/consents.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { type PaymentsAtBank, startPaymentsAtBank } from '../harness/servers/payments-at-bank.ts';
import { eventually } from '../harness/servers/sandbox.ts';
import { sequence, subscribe } from '../harness/webhooks/webhooks.ts';

// What happened to a resource, joined from its records: with the real bank, whose callbacks it sends, and a subscriber of every event.

let payments: PaymentsAtBank;
let account: Json;
let consents: ConsentWorld;
let thirdParty: ThirdPartyProviderId;
let userId: string;

beforeAll(async () => {
  // Noon of a Wednesday, a business day of every scheme.
  const aheadMs = Math.round(Date.parse('2027-06-16T12:00:00Z') - Date.now());
  const env = { AUTHORIZATION_RULE: '500' };
  payments = await startPaymentsAtBank('timelines', { clockOffset: () => `${aheadMs} milliseconds`, env });
  const { api, client } = payments;
  await subscribe(api.database, 'https://subscriber.example.com/events', {
    modules: ['outgoing-transfers', 'incoming-transfers', 'accounts', 'clients', 'open-banking-consents'],
  });
  account = await payments.account(1_000);
  consents = consentWorld(api);
  thirdParty = await consents.thirdParty();
  userId = await consents.user([client]);
});

afterEach(async () => {
  await payments.callbacksDelivered();
  await payments.world.invariantsHold();
});

afterAll(() => payments?.stop());

const PATHS: Readonly<Record<TimelineResource, (id: string) => string>> = {
  'outgoing-transfer': (id) => `/outgoing-transfers/${id}/timeline`,
  'incoming-transfer': (id) => `/incoming-transfers/${id}/timeline`,
  account: (id) => `/accounts/${id}/timeline`,
  consent: (id) => `/open-banking/GB/consents/${id}/timeline`,
  client: (id) => `/clients/${id}/timeline`,
};

async function page(of: TimelineResource, id: string, number: number, size: number, as: Role = 'admin'): Promise<Json> {
  const query = `metadata.page.number=${number}&metadata.page.size=${size}`;
  const { body, text } = await payments.api.call('GET', `${PATHS[of](id)}?${query}`, undefined, { as });
  expect(body.data, text).toBeDefined();
  return { ...body.data, ...body.metadata.page };
}

/** All entries, page by page. */
async function walked(of: TimelineResource, id: string, size = 100): Promise<Json[]> {
  const entries: Json[] = [];
  for (let number = 0; ; number += 1) {
    const { timelineEntries, totalElements } = await page(of, id, number, size);
    entries.push(...timelineEntries);
    if (timelineEntries.length < size) {
      expect(entries).toHaveLength(totalElements);
      return entries;
    }
  }
}

/** An entry in one line, without what differs from run to run. */
function line(entry: Json): string {
  switch (entry.kind) {
    case 'provider-callback':
      return `callback ${entry.type} ${entry.outcome}`;
    case 'audit-entry':
      return `audit ${entry.action}`;
    case 'requirement':
      return `requirement ${entry.requirement} ${entry.status}`;
    case 'ledger-entry':
      return `ledger ${entry.entryType} ${entry.amount} ${entry.currency} from ${entry.debit} to ${entry.credit}`;
    case 'event':
      return `event ${entry.type} ${entry.status}${entry.statusReason === null ? '' : ` ${entry.statusReason.code}`}`;
    default:
      return `delivery ${entry.type} ${entry.status}`;
  }
}

/** In the order of the timeline; what has no order of its own in time, the deliveries, apart. */
async function shownOf(of: TimelineResource, id: string): Promise<{ story: string[]; deliveries: string[] }> {
  await sequence(payments.api.database);
  const lines = (await walked(of, id)).map(line);
  const isDelivery = (text: string) => text.startsWith('delivery');
  return { story: lines.filter((text) => !isDelivery(text)), deliveries: lines.filter(isDelivery) };
}

const authorize = (id: string) =>
  payments.api.call(
    'PATCH',
    `/outgoing-transfers/${id}`,
    {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer: { requirementConfiguration: { authorizationStatus: 'fulfilled' } } },
    },
    { as: 'approver' },
  );

/** A payment of 600 pounds, authorized, paid, and returned in part. */
async function returned(): Promise<{ readonly id: string; readonly part: string }> {
  const from = await payments.account(1_000);
  const id = await payments.pay(from.id, 600);
  expect((await authorize(id)).status).toBe(200);
  expect(await payments.steps.go(id)).toEqual({ do: 'end' });
  await payments.bank('POST', `/payments/${id}/return`, { code: 'AC04', amount: 15 });
  const { returningIncomingTransferIds } = await eventually('the return', async () => {
    const shown = await payments.transfer(id);
    return shown.returned ? shown : undefined;
  });
  await payments.callbacksDelivered();
  return { id, part: returningIncomingTransferIds[0] };
}

describe('the timeline', () => {
  test('of an outgoing transfer has its events, requirements, ledger entries, callbacks, deliveries and audit entries', async () => {
    const { id } = await returned();
    const { story, deliveries } = await shownOf('outgoing-transfer', id);
    expect(story).toEqual([
      'audit created',
      'event outgoing-transfer-created pending',
      'requirement authorization fulfilled',
      'requirement date fulfilled',
      'requirement balance fulfilled',
      'event outgoing-transfer-processing processing',
      'audit authorized',
      'ledger principal 600 GBP from account to settlement',
      'event outgoing-transfer-released released',
      'event outgoing-transfer-completed completed',
      'callback payment-returned applied',
      'event outgoing-transfer-returned completed AC04',
    ]);
    expect(deliveries).toEqual(
      ['created', 'processing', 'released', 'completed', 'returned'].map(
        (status) => `delivery outgoing-transfer-${status} pending`,
      ),
    );
  });

  test('of an incoming transfer says where its money came from', async () => {
    const { part } = await returned();
    const { api } = payments;
    expect(await shownOf('incoming-transfer', part)).toEqual({
      story: [
        'ledger principal 15 GBP from settlement to account',
        'event incoming-transfer-pending pending',
        'event incoming-transfer-completed completed',
      ],
      deliveries: ['delivery incoming-transfer-pending pending', 'delivery incoming-transfer-completed pending'],
    });
    const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${account.id}`);
    const paidIn = await shownOf('incoming-transfer', body.data.incomingTransfers[0].id);
    expect(paidIn.story).toEqual([
      'ledger principal 1000 GBP from settlement to account',
      'event incoming-transfer-pending pending',
      'event incoming-transfer-completed completed',
      'callback payment-received applied',
    ]);
  });

  test('of an account has its ledger entries between its other entries', async () => {
    expect(await shownOf('account', account.id)).toEqual({
      story: [
        'event connection-creation-instructed pending',
        'audit created',
        'event connection-created pending',
        'event account-activated active',
        'ledger principal 1000 GBP from settlement to account',
      ],
      deliveries: ['connection-creation-instructed', 'connection-created', 'account-activated'].map(
        (type) => `delivery ${type} pending`,
      ),
    });
  });

  test('of a consent, and what it waits for', async () => {
    const { id } = await consents.request(thirdParty);
    await consents.approve(id, userId, [account.id]);
    expect(await shownOf('consent', id)).toEqual({
      story: [
        'event consent-requested awaiting-authorisation',
        'audit created',
        'event consent-approved awaiting-exchange',
        'audit awaiting-exchange',
      ],
      deliveries: ['delivery consent-requested pending', 'delivery consent-approved pending'],
    });
    expect((await page('consent', id, 0, 10)).wait).toEqual({
      waitingFor: 'exchange',
      waitingSinceDateTime: expect.stringMatching(/^2027-06-16T12:/),
      waitingUntilDateTime: expect.stringMatching(/^2027-06-16T12:/),
      rule: null,
      releasedBy: ['The third party, which exchanges its code: POST /open-banking/GB/token.'],
    });
  });

  test('of a client', async () => {
    expect(await shownOf('client', payments.client)).toEqual({
      story: ['event created active', 'audit created'],
      deliveries: ['delivery created pending'],
    });
  });

  test('has each kind of entry as its contract says, and ends with what the resource waits for', async () => {
    const id = await payments.pay(account.id, 500);
    await sequence(payments.api.database);
    const waiting = await page('outgoing-transfer', id, 0, 10);
    expect(waiting).toMatchObject({
      wait: {
        waitingFor: 'authorization',
        waitingSinceDateTime: expect.stringMatching(/^2027-06-16T12:/),
        waitingUntilDateTime: expect.stringMatching(/^2027-06-16T23:/),
        rule: null,
        releasedBy: [
          `PATCH /outgoing-transfers/${id} with requirementConfiguration.authorizationStatus "fulfilled", by an approver who did not cause it.`,
        ],
      },
      providerAttempt: null,
      omittedTimelineEntries: [],
    });
    expect((await authorize(id)).status).toBe(200);
    await payments.steps.go(id);
    const { timelineEntries, ...end } = await page('outgoing-transfer', id, 0, 100);
    expect(end).toMatchObject({ wait: null, providerAttempt: { number: 1, state: 'resolved' } });
    const dateTime = expect.stringMatching(/^2027-06-16T12:\d\d:\d\d\.\d{3}$/);
    const first = (kind: string) => timelineEntries.find((entry: Json) => entry.kind === kind);
    expect(first('audit-entry')).toEqual({
      kind: 'audit-entry',
      dateTime,
      id,
      actor: payments.api.users.operator.id,
      action: 'created',
      resource: 'outgoing-transfer',
      resourceId: id,
      requestId: expect.any(String),
      before: null,
      after: expect.objectContaining({ amount: 500, currency: 'GBP' }),
      role: null,
      reason: null,
    });
    expect(first('requirement')).toEqual({
      kind: 'requirement',
      dateTime,
      requirement: 'authorization',
      status: 'fulfilled',
    });
    expect(first('ledger-entry')).toEqual({
      kind: 'ledger-entry',
      dateTime,
      debit: 'account',
      credit: 'settlement',
      amount: 500,
      currency: 'GBP',
      entryType: 'principal',
      balance: 500,
    });
    expect(first('event')).toEqual({
      kind: 'event',
      dateTime,
      eventId: expect.any(String),
      type: 'outgoing-transfer-created',
      sequence: 1,
      status: 'pending',
      statusReason: null,
    });
    const [delivery] = (await payments.api.call('GET', `/webhook-deliveries?data.webhookDelivery.resourceId=${id}`))
      .body.data.webhookDeliveries;
    expect(first('webhook-delivery')).toEqual({
      kind: 'webhook-delivery',
      dateTime,
      webhookDeliveryId: delivery.id,
      webhookSubscriptionId: delivery.webhookSubscriptionId,
      eventId: first('event').eventId,
      type: 'outgoing-transfer-created',
      status: 'pending',
      attemptCount: 0,
      nextAttemptDateTime: expect.stringMatching(/^2027-06-16T12:/),
      completedDateTime: null,
    });
  });
});

/** Every resource that has a timeline, with the kind of its timeline. */
async function resources(): Promise<[TimelineResource, string][]> {
  const found: [TimelineResource, string][] = [];
  for (const [of, table] of [
    ['outgoing-transfer', 'outgoing_transfers'],
    ['incoming-transfer', 'incoming_transfers'],
    ['account', 'accounts'],
    ['consent', 'open_banking_consents'],
    ['client', 'clients'],
  ] as const)
    for (const { id } of await rows<{ id: string }>(`SELECT id FROM ${table}`)) found.push([of, id]);
  return found;
}

function rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
  return payments.api.database.reader.statement<Row>(text, params);
}

/** What each record of a kind says, as the entries of all timelines together must have it, by a plainer query than theirs. */
const RECORDS: Readonly<Record<string, string>> = {
  event: `SELECT event_id(id, n) AS key FROM events, generate_series(0, entry_count - 1) AS n
    WHERE module IN ('outgoing-transfers', 'incoming-transfers', 'accounts', 'clients', 'open-banking-consents')`,
  'webhook-delivery': 'SELECT id AS key FROM webhook_deliveries',
  'audit-entry': `SELECT id AS key FROM audit_log
    WHERE resource IN ('outgoing-transfer', 'incoming-transfer', 'account', 'consent', 'client')`,
  'provider-callback': `SELECT provider_event_id AS key FROM provider_callbacks WHERE kind LIKE 'payment-%'`,
  'ledger-entry': `SELECT unnest(ARRAY['account', outgoing_transfer_id::text, incoming_transfer_id::text]) AS of FROM postings`,
};

const KEYS: Readonly<Record<string, string>> = {
  event: 'eventId',
  'webhook-delivery': 'webhookDeliveryId',
  'audit-entry': 'id',
  'provider-callback': 'providerEventId',
};

describe('all timelines together', () => {
  /** Transfers of one instant and account, settled together. */
  async function settledTogether(): Promise<void> {
    const { world, client, api } = payments;
    const [one, other] = [await world.account(client, { amount: 100 }), await world.account(client)];
    const items = Array.from({ length: 40 }, (_, number) => ({
      reference: `timeline-${number}`,
      outgoingTransfer: {
        clientId: client,
        currency: 'GBP',
        amount: (100 + number) / 100,
        scope: 'internal',
        source: { type: 'client-account', accountId: one },
        destination: { type: 'client-account', accountId: other },
      },
    }));
    const body = { workflow: { code: 'client.direct' }, data: { items } };
    const { body: made, text } = await api.call('POST', '/outgoing-transfers/batch', body);
    expect(
      made.data.results.every(({ result }: Json) => result === 'created'),
      text,
    ).toBe(true);
  }

  test('have each record of their resources exactly once, in order, on pages that neither miss nor repeat any', async () => {
    await returned();
    await settledTogether();
    await sequence(payments.api.database);
    const seen: Record<string, string[]> = {};
    const ledger: Record<string, number> = {};
    for (const [of, id] of await resources()) {
      const entries = await walked(of, id);
      expect(await walked(of, id, 7), `${of} ${id}`).toEqual(entries);
      const times = entries.map(({ dateTime }) => dateTime);
      expect(times).toEqual([...times].sort());
      for (const entry of entries) {
        const key = KEYS[entry.kind];
        if (key !== undefined) seen[entry.kind] = [...(seen[entry.kind] ?? []), entry[key]];
        if (entry.kind === 'ledger-entry') ledger[of] = (ledger[of] ?? 0) + 1;
      }
      if (of !== 'account') continue;
      const balances = entries.filter(({ kind }) => kind === 'ledger-entry').map(({ balance }) => balance);
      expect(balances).toEqual((await payments.world.statement(id)).map(({ balance }) => balance));
    }
    for (const kind of Object.keys(KEYS)) {
      const recorded = (await rows<{ key: string }>(RECORDS[kind] ?? '')).map(({ key }) => key);
      expect(recorded.length, kind).toBeGreaterThan(1);
      expect([kind, (seen[kind] ?? []).sort()]).toEqual([kind, recorded.sort()]);
    }
    const [posted] = await rows<Json>(`SELECT count(outgoing_transfer_id)::integer AS "outgoing-transfer",
      count(incoming_transfer_id)::integer AS "incoming-transfer",
      (count(debit_version) + count(credit_version))::integer AS account FROM postings`);
    expect(ledger).toEqual(posted);
  });

  test('are read by every role; only administrators read who did what, and for others the answer says so', async () => {
    const id = await payments.pay(account.id, 1);
    for (const role of ROLES) {
      const { timelineEntries, omittedTimelineEntries, totalElements } = await page(
        'outgoing-transfer',
        id,
        0,
        100,
        role,
      );
      const kinds = timelineEntries.map(({ kind }: Json) => kind);
      expect([role, kinds.includes('audit-entry')]).toEqual([role, role === 'admin']);
      expect(totalElements).toBe(kinds.length);
      expect(omittedTimelineEntries).toEqual(role === 'admin' ? [] : [{ kind: 'audit-entry', reason: 'role' }]);
    }
  });

  test('cost one statement each, and what is waited for at most two, however many deliveries there are', async () => {
    const { database } = payments.api;
    const id = await payments.pay(account.id, 1);
    await rows(
      `INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, next_attempt_at, created_at)
       SELECT uuidv7(), (SELECT id FROM webhook_subscriptions LIMIT 1), uuidv7(), n, $1, 'outgoing-transfers',
         'outgoing-transfer-created', service_now(), service_now() FROM generate_series(1, 3000) AS n`,
      [id],
    );
    let statements = 0;
    const counting = new Proxy(database.reader, {
      get: (target, name: keyof Reader) => {
        statements += 1;
        return target[name].bind(target);
      },
    });
    const found = await readTimeline(
      counting,
      { resource: 'outgoing-transfer', id, withAudit: true, deliveriesKeptDays: 30 },
      { size: 100, offset: 2_950 },
    );
    expect(statements).toBe(1);
    expect(found?.rows.length).toBeGreaterThan(50);
    await readTimelineEnd(counting, { resource: 'outgoing-transfer', id }, loadConfiguration({}));
    expect(statements).toBe(3);
    const entries = await walked('outgoing-transfer', id);
    const deliveries = entries.filter(({ kind }) => kind === 'webhook-delivery');
    expect(new Set(deliveries.map(({ webhookDeliveryId }) => webhookDeliveryId)).size).toBe(3_000);
    await rows('DELETE FROM webhook_deliveries WHERE resource_id = $1', [id]);
  });

  test('ends with the wait that follows from its last entry, although the resource changes while it is read', async () => {
    const id = await payments.pay(account.id, 500);
    const { database } = payments.api;
    const shown = await database.transaction(async (tx) => {
      // The entries of a page name these accounts, so that their statement stands still.
      await tx.statement('LOCK TABLE system_accounts IN ACCESS EXCLUSIVE MODE', []);
      const asked = page('outgoing-transfer', id, 0, 100);
      await eventually('the page waits', async () => ((await lockWaiters(tx)) > 0 ? true : undefined));
      const cancelled = { outgoingTransfer: { status: 'cancelled' } };
      const body = { workflow: { code: 'client.direct' }, data: cancelled };
      expect((await payments.api.call('PATCH', `/outgoing-transfers/${id}`, body)).status).toBe(200);
      return { asked };
    });
    const { timelineEntries, wait } = await shown.asked;
    const last = timelineEntries.findLast(({ kind }: Json) => kind === 'event');
    expect([last.type, wait?.waitingFor]).toBeOneOf([
      ['outgoing-transfer-created', 'authorization'],
      ['outgoing-transfer-cancelled', undefined],
    ]);
  });

  test('reads all its parts from one snapshot', async () => {
    const id = await payments.pay(account.id, 500);
    const asked = { resource: 'outgoing-transfer', id, withAudit: true, deliveriesKeptDays: 30 } as const;
    const cancelled = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    const { before, after } = await payments.api.database.snapshot(async (reader) => {
      const before = await readTimeline(reader, asked, { size: 100, offset: 0 });
      expect((await payments.api.call('PATCH', `/outgoing-transfers/${id}`, cancelled)).status).toBe(200);
      return { before, after: await readTimelineEnd(reader, asked, loadConfiguration({})) };
    });
    expect(before?.rows.findLast(({ kind }) => kind === 'event')?.contents).toMatchObject({ status: 'pending' });
    expect(after.wait).toMatchObject({ for: 'authorization' });
  });

  test('are found by indexes, whatever else is recorded', async () => {
    const used: string[] = [];
    const { database } = payments.api;
    for (const [of, id] of (await resources()).filter(([of], at, all) => all.findIndex(([one]) => one === of) === at)) {
      const explaining = {
        statement: (text: string, params: readonly unknown[]) =>
          database.transaction(async (tx) => {
            await tx.statement('SET LOCAL enable_seqscan = off', []);
            const plan = await tx.statement<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, params);
            used.push(...plan.map((row) => `${of}: ${row['QUERY PLAN']}`));
            return [];
          }),
      };
      await readTimeline(
        explaining as unknown as Reader,
        { resource: of, id, withAudit: true, deliveriesKeptDays: 30 },
        { size: 10, offset: 0 },
      );
    }
    // Of a handful of system accounts there is no index to prefer, nor of one row.
    expect(used.filter((step) => /Seq Scan on (?!system_accounts|event_log_start)/.test(step))).toEqual([]);
    for (const index of [
      /events_\d{4}_\d{2}_by_resource/,
      /webhook_deliveries_\d{4}_\d{2}_by_resource/,
      /postings_by_outgoing_transfer/,
      /provider_callbacks_by_reference/,
    ])
      expect(used.join('\n')).toMatch(index);
  });
});

test('the kinds of the contract are the kinds of the timeline', () => {
  expect([...Object.keys(KEYS), 'ledger-entry', 'requirement'].sort()).toEqual([...TIMELINE_KINDS].sort());
});

test('a timeline says so if its first events are no longer kept, and has the rest', async () => {
  const { database } = payments.api;
  await sequence(database);
  await rows("UPDATE webhook_deliveries SET status = 'succeeded', completed_at = service_now()");
  await rows('UPDATE ledger_checks SET event_position = (SELECT last_position FROM event_sequencer)');
  expect(await database.transaction((tx) => forgetOldEvents(tx, 0, 1))).toMatchObject({ rowCount: 1 });
  const { omittedTimelineEntries, timelineEntries } = await page('client', payments.client, 0, 100);
  expect(omittedTimelineEntries).toEqual([{ kind: 'event', reason: 'retention' }]);
  const [first, ...others] = timelineEntries.map(line);
  expect(first).toBe('audit created');
  expect(others).toContain('event connection-created active');
  expect(others).not.toContain('event created active');
});

test('a timeline of a resource older than the retention of deliveries says that some may be missing', async () => {
  const daysOld = (days: number) =>
    rows(`UPDATE clients SET created_at = service_now() - make_interval(days => $2::integer) WHERE id = $1`, [
      payments.client,
      days,
    ]);
  const missing = { kind: 'webhook-delivery', reason: 'retention' };
  const { webhookDeliveriesDays } = loadConfiguration({}).retention;
  await daysOld(webhookDeliveriesDays - 1);
  expect((await page('client', payments.client, 0, 1)).omittedTimelineEntries).not.toContainEqual(missing);
  await daysOld(webhookDeliveriesDays + 1);
  expect((await page('client', payments.client, 0, 1)).omittedTimelineEntries).toContainEqual(missing);
  expect((await page('client', payments.client, 0, 1, 'viewer')).omittedTimelineEntries).toContainEqual(missing);
});

test('a timeline of a transfer whose events are no longer kept misses its requirements, too, which are read from them', async () => {
  const { database } = payments.api;
  const id = await payments.pay(account.id, 1);
  await payments.steps.go(id);
  await sequence(database);
  await rows("UPDATE webhook_deliveries SET status = 'succeeded', completed_at = service_now()");
  await rows('UPDATE ledger_checks SET event_position = (SELECT last_position FROM event_sequencer)');
  const before = await page('outgoing-transfer', id, 0, 100);
  expect(before.timelineEntries.filter(({ kind }: Json) => kind === 'requirement')).toHaveLength(2);
  expect(before.omittedTimelineEntries).toEqual([]);
  await database.transaction((tx) => forgetOldEvents(tx, 0, 10_000));
  const after = await page('outgoing-transfer', id, 0, 100);
  expect(after.timelineEntries.filter(({ kind }: Json) => kind === 'requirement')).toEqual([]);
  expect(after.omittedTimelineEntries).toEqual([
    { kind: 'requirement', reason: 'retention' },
    { kind: 'event', reason: 'retention' },
  ]);
  expect((await page('account', account.id, 0, 1)).omittedTimelineEntries).toEqual([
    { kind: 'event', reason: 'retention' },
  ]);
});

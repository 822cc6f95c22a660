import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FURTHER_EVENT_TYPES, SPECIFIED_EVENT_TYPES } from '../../domain/webhooks/subscriptions.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { absentBank, recallWorld } from '../harness/transfers/recalls.ts';
import { createDrains, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';

// Which subscriptions get which events: types beyond the specification only on request by name.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;

beforeAll(async () => {
  database = await createTestDatabase('webhook-event-types');
  api = await startApi(database, { providers: absentBank() });
  world = moneyWorld(api);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

interface Kind {
  readonly module: string;
  readonly type: string;
  /** Of specification 6. */
  readonly isSpecified: boolean;
}

function kinds(table: Readonly<Record<string, readonly string[]>>, isSpecified: boolean): Kind[] {
  return Object.entries(table).flatMap(([module, types]) => types.map((type) => ({ module, type, isSpecified })));
}

const KINDS = [...kinds(SPECIFIED_EVENT_TYPES, true), ...kinds(FURTHER_EVENT_TYPES, false)];

async function subscribes(modules: string[] | null, types: string[] | null, kind: Kind): Promise<boolean | undefined> {
  const [row] = await api.database.reader.statement<{ subscribed: boolean }>(
    'SELECT subscribes($1::text[], $2::text[], $3, $4) AS subscribed',
    [modules, types, kind.module, kind.type],
  );
  return row?.subscribed;
}

test.each(KINDS)('$module $type comes only to those who subscribe to it', async (kind) => {
  const { module, type, isSpecified } = kind;
  const ofSpecifiedModule = Object.hasOwn(SPECIFIED_EVENT_TYPES, module);
  expect(await subscribes(null, null, kind)).toBe(isSpecified);
  expect(await subscribes([module], null, kind)).toBe(isSpecified || !ofSpecifiedModule);
  expect(await subscribes(null, [type], kind)).toBe(true);
  expect(await subscribes([module], [type], kind)).toBe(true);
  expect(await subscribes(['another'], null, kind)).toBe(false);
  expect(await subscribes(['another'], [type], kind)).toBe(false);
  expect(await subscribes([module], ['another'], kind)).toBe(false);
  expect(await subscribes(null, ['another'], kind)).toBe(false);
});

interface Happened {
  readonly resourceId: string;
  /** What the event shows. */
  readonly data: Json;
}

async function putOnHold(): Promise<Happened> {
  const account = await world.account(await world.client());
  const body = { workflow: { code: 'client.direct' }, data: { account: { status: 'suspended' } } };
  expect((await api.call('PATCH', `/accounts/${account}`, body)).status).toBe(200);
  const credit = await world.credit(account, 10);
  const { body: found } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${account}`);
  // What it waits for now is no part of what happened.
  const { waitingFor, returns, ...incomingTransfer } = found.data.incomingTransfers[0];
  expect([waitingFor, returns]).toEqual(['account', []]);
  expect(incomingTransfer).toMatchObject({ status: 'on-hold', provisionedAccountCreditId: credit.id });
  return { resourceId: incomingTransfer.id, data: { incomingTransfer } };
}

async function changeStatus(): Promise<Happened> {
  const id = await world.client();
  const body = { workflow: { code: 'direct' }, data: { client: { status: 'suspended' } } };
  const answer = await api.call('PATCH', `/clients/${id}`, body, { as: 'compliance' });
  expect(answer.status, answer.text).toBe(200);
  return { resourceId: id, data: answer.body.data };
}

async function rejectRecall(): Promise<Happened> {
  const { released, recall, rejected } = recallWorld(api);
  const id = await released(await world.client());
  expect(await recall(id)).toMatchObject({ status: 200 });
  expect(await rejected(id, 1)).toBe('applied');
  const { data } = (await api.call('GET', `/outgoing-transfers/${id}`)).body;
  const { waitingFor, returningIncomingTransferIds, ...outgoingTransfer } = data.outgoingTransfer;
  expect([waitingFor, returningIncomingTransferIds]).toEqual(['provider', []]);
  expect(outgoingTransfer).toMatchObject({ status: 'released', statusReason: { code: 'recall.rejected' } });
  return { resourceId: id, data: { outgoingTransfer } };
}

describe('over HTTP', () => {
  test.each<[type: string, module: string, happen: () => Promise<Happened>]>([
    ['incoming-transfer-on-hold', 'incoming-transfers', putOnHold],
    ['outgoing-transfer-recall-rejected', 'outgoing-transfers', rejectRecall],
    ['status-changed', 'clients', changeStatus],
  ])('%s reaches only those who name it; the log shows it to all', async (type, module, happen) => {
    const receiver = await startReceiver();
    const drains = createDrains(api.database);
    try {
      await sequence(api.database);
      const wanted = { all: {}, module: { modules: [module] }, type: { types: [type] } };
      for (const [name, fields] of Object.entries(wanted)) {
        const data = { webhookSubscription: { url: `${receiver.url}/${name}`, ...fields } };
        const body = { workflow: { code: 'direct' }, data };
        const answer = await api.call('POST', '/webhook-subscriptions', body, { as: 'admin' });
        expect(answer.status, answer.text).toBe(201);
      }
      const { resourceId, data } = await happen();
      await sequence(api.database);
      await drains.drain();
      const delivered = receiver.received.filter(({ body: { webhook } }) => webhook.type === type);
      expect(delivered.map(({ body: { webhook, data: shown } }) => ({ webhook, data: shown }))).toEqual([
        { webhook: { module, type }, data },
      ]);
      const log = await api.call('GET', `/events?metadata.page.size=100&data.event.type=${type}`, undefined, {
        as: 'admin',
      });
      expect(log.body.data.events.filter((event: Json) => event.resourceId === resourceId)).toMatchObject([{ data }]);
    } finally {
      await drains.close();
      await receiver.close();
    }
  });
});

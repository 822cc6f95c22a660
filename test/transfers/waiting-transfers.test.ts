import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConnectionWaits } from '../../db/accounts/reads.ts';
import { moveToNextWindow } from '../../db/outgoing-transfers/operator-commands.ts';
import { readTransferWaits } from '../../db/transfers/waiting-transfers.ts';
import { readWebhookBacklog } from '../../db/webhooks/backlog.ts';
import { asId } from '../../domain/common/ids.ts';
import { INCOMING_TRANSFER_WAITS } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { OUTGOING_TRANSFER_WAITS } from '../../domain/outgoing-transfers/statuses.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { reviews } from '../harness/transfers/reviews.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('waiting-transfers');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

test('transfers and accounts are counted by what their rows wait for, with the age of the oldest; ended ones are not', async () => {
  const { reader } = api.database;
  expect(await readTransferWaits(reader)).toEqual([]);
  expect(await readConnectionWaits(reader)).toEqual([]);
  const world = moneyWorld(api);
  const clientId = await world.client();
  const plugIn = { clientId, id: await world.account(clientId, { amount: 100 }) };
  const other = await world.account(clientId);
  const bankAccount = await world.beneficiary(clientId);
  const bank = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).issued(clientId);
  await reviews(api).internal(plugIn, other);
  for (const _ of ['one', 'another']) await reviews(api).external({ clientId, id: bank.id }, bankAccount);
  await reviews(api).external(plugIn, bankAccount);
  await reviews(api).payIn();
  const seconds = expect.any(Number);
  const waits = await readTransferWaits(reader);
  expect(waits.sort((one, next) => one.waitingFor.localeCompare(next.waitingFor))).toEqual([
    { direction: 'outgoing', waitingFor: 'balance', status: 'pending', count: 2, oldestSeconds: seconds },
    { direction: 'outgoing', waitingFor: 'caller', status: 'processing', count: 1, oldestSeconds: seconds },
    { direction: 'incoming', waitingFor: 'match', status: 'on-hold', count: 1, oldestSeconds: seconds },
  ]);
  expect(waits.every(({ oldestSeconds }) => oldestSeconds >= 0)).toBe(true);
  expect(await readConnectionWaits(reader)).toEqual([{ change: 'open', count: 1, oldestSeconds: seconds }]);
});

/** The ids of a list's first page, and its total. */
async function listed(path: string): Promise<{ ids: string[]; total: number }> {
  const { body, text } = await api.call('GET', `${path}&metadata.page.size=100`);
  expect(body.data, text).toBeDefined();
  const [rows = []] = Object.values<Json[]>(body.data);
  return { ids: rows.map(({ id }) => id), total: body.metadata.page.totalElements };
}

/** Two transfers for a later date, and one that has rolled to it. */
async function dated(): Promise<string[]> {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [source, other] = [await world.account(clientId, { amount: 100 }), await world.account(clientId)];
  const transferDate = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  const ids: string[] = [];
  for (const _ of ['one', 'another'])
    ids.push((await reviews(api).internal({ clientId, id: source }, other, { transferDate })).id);
  const { id: empty } = await builtInAccounts(api).opened(clientId);
  const rolled = await reviews(api).external({ clientId, id: empty }, await world.beneficiary(clientId));
  const { configuration } = api.services;
  await api.database.transaction((tx) => moveToNextWindow(tx, asId(rolled.id), configuration, TESTER));
  return [...ids, rolled.id];
}

test('a transfer that waits for its date waits for the next window once that has rolled, in answers, lists, and metrics', async () => {
  const ids = await dated();
  const waits = await Promise.all(ids.map(async (id) => (await reviews(api).find('outgoing-transfer', id)).waitingFor));
  expect(waits).toEqual(['date', 'date', 'next-window']);
  const path = '/outgoing-transfers?data.outgoingTransfer.waitingFor';
  expect(await listed(`${path}=date`)).toEqual({ ids: ids.slice(0, 2), total: 2 });
  expect(await listed(`${path}=next-window`)).toEqual({ ids: ids.slice(2), total: 1 });
  const counts = (await readTransferWaits(api.database.reader)).map(({ waitingFor, count }) => [waitingFor, count]);
  expect(Object.fromEntries(counts)).toMatchObject({ date: 2, 'next-window': 1 });
  const timeline = await api.call('GET', `/outgoing-transfers/${ids[2]}/timeline`);
  expect(timeline.body.data.wait).toMatchObject({ waitingFor: 'next-window' });
  const cancelled = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  for (const id of ids) {
    const { body, text } = await api.call('PATCH', `/outgoing-transfers/${id}`, cancelled);
    expect(body.data.outgoingTransfer.waitingFor, text).toBeNull();
  }
});

test('lists filter by what transfers wait for, answers show it, and a word that nothing waits for is rejected', async () => {
  for (const [direction, resource, waits] of [
    ['outgoing', 'outgoingTransfer', OUTGOING_TRANSFER_WAITS],
    ['incoming', 'incomingTransfer', INCOMING_TRANSFER_WAITS],
  ] as const) {
    const { body } = await api.call('GET', `/${direction}-transfers?metadata.page.size=100`);
    const all: Json[] = body.data[`${resource}s`];
    expect(all.some(({ waitingFor }) => waitingFor === null)).toBe(true);
    for (const wait of waits) {
      const ids = all.flatMap(({ id, waitingFor }) => (waitingFor === wait ? [id] : []));
      const found = await listed(`/${direction}-transfers?data.${resource}.waitingFor=${wait}`);
      expect([wait, found]).toEqual([wait, { ids, total: ids.length }]);
    }
    const rejected = await api.call('GET', `/${direction}-transfers?data.${resource}.waitingFor=godot`);
    expect([rejected.status, rejected.body.messageParameters]).toEqual([400, [resource, 'waitingFor', 'godot']]);
  }
});

test('a list by what transfers wait for reads an index in its order, however many others there are', async () => {
  for (const [table, wait] of [
    ['outgoing_transfers', 'compliance'],
    ['incoming_transfers', 'match'],
  ]) {
    const plan = await api.database.transaction(async (tx) => {
      await tx.statement('SET LOCAL enable_seqscan = off', []);
      return tx.statement<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM ${table} WHERE waiting_for = '${wait}' ORDER BY id LIMIT 10`,
        [],
      );
    });
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain(`${table}_by_wait`);
    expect(text).not.toMatch(/Sort|Seq Scan|Filter/);
  }
});

test('the oldest wait of a kind is the first entry of an index, however many wait; and without webhooks nothing is undelivered', async () => {
  const plans: string[] = [];
  await api.database.transaction(async (tx) => {
    await tx.statement('SET LOCAL enable_seqscan = off', []);
    for (const table of ['outgoing_transfers', 'incoming_transfers'])
      plans.push(
        ...(await tx
          .statement<{ 'QUERY PLAN': string }>(
            `EXPLAIN SELECT coalesce(waiting_since, updated_at) AS since FROM ${table}
             WHERE (waiting_for IS NOT NULL OR next_check_at IS NOT NULL) AND coalesce(waiting_for, 'provider') = 'provider'
               AND status = 'processing' ORDER BY 1 LIMIT 1`,
            [],
          )
          .then((lines) => lines.map((line) => line['QUERY PLAN']))),
      );
  });
  for (const index of ['outgoing_transfers_waits', 'incoming_transfers_waits'])
    expect(plans.join('\n')).toContain(index);
  expect(plans.join('\n')).not.toMatch(/Sort|Seq Scan/);
  expect(await readWebhookBacklog(api.database.reader)).toEqual({
    due: 0,
    undelivered: 0,
    oldestSeconds: 0,
    failing: 0,
    failingSeconds: 0,
    disabled: 0,
  });
});

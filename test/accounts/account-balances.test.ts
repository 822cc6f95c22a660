import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;

beforeAll(async () => {
  database = await createTestDatabase('account-balances');
  api = await startApi(database);
  world = moneyWorld(api);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const ask = (accountId: string, at: string) =>
  api.call('GET', `/accounts/${accountId}/balances?data.balance.at=${at}`, undefined, { as: 'viewer' });

function moved(instant: string, byMs: number): string {
  return new Date(new Date(`${instant}Z`).getTime() + byMs).toISOString().slice(0, 23);
}

test('the balance at an instant is that after all entries up to it, with those of its millisecond', async () => {
  const client = await world.client();
  const accountId = await world.account(client);
  const other = await world.account(client);
  for (const amount of [10, 2.5]) await world.credit(accountId, amount);
  const paid = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: client,
        currency: 'GBP',
        amount: 0.5,
        scope: 'internal',
        source: { type: 'client-account', accountId },
        destination: { type: 'client-account', accountId: other },
      },
    },
  });
  expect(paid.status, paid.text).toBe(201);
  const entries = await world.statement(accountId);
  expect(entries.map(({ balance }) => balance)).toEqual([10, 12.5, 12]);
  const balanceAt = async (at: string): Promise<Json> => {
    const { status, body, text } = await ask(accountId, at);
    expect(status, text).toBe(200);
    return body.data.balance;
  };
  const first = entries[0]?.entryDateTime;
  expect(await balanceAt(moved(first, -1))).toEqual({ accountId, currency: 'GBP', at: moved(first, -1), balance: 0 });
  for (const { entryDateTime } of entries) {
    const upTo = entries.filter((entry) => entry.entryDateTime <= entryDateTime);
    expect((await balanceAt(entryDateTime)).balance).toBe(upTo.at(-1)?.balance);
    expect((await balanceAt(moved(entryDateTime, -1))).balance).toBe(
      entries.findLast((entry) => entry.entryDateTime < entryDateTime)?.balance ?? 0,
    );
  }
  expect((await balanceAt('1999-12-31T23:59:59')).balance).toBe(0);
});

test('forty concurrent requests for several accounts and instants each get their own answer', async () => {
  const client = await world.client();
  const asked: { accountId: string; at: string; answer: Json }[] = [];
  for (const amounts of [[1], [2, 3], [5, 7, 11]]) {
    const accountId = await world.account(client);
    for (const amount of amounts) await world.credit(accountId, amount);
    const entries = await world.statement(accountId);
    const balanceAt = (at: string) => entries.findLast(({ entryDateTime }) => entryDateTime <= at)?.balance ?? 0;
    const instants = entries.flatMap(({ entryDateTime }) => [moved(entryDateTime, -1), entryDateTime]);
    for (const at of instants) asked.push({ accountId, at, answer: [200, balanceAt(at)] });
  }
  const at = '2026-01-01T00:00:00.000';
  const emptyId = await world.account(client);
  asked.push({ accountId: emptyId, at, answer: [200, 0] });
  asked.push({ accountId: emptyId, at: '2999-01-01T00:00:00.000', answer: [400, 'common.validation.field_invalid'] });
  asked.push({ accountId: randomUUID(), at, answer: [404, 'common.coding.internal.record_not_found'] });
  const forty = [...asked, ...asked, ...asked].slice(0, 40);
  expect(forty.length).toBe(40);
  const answers = await Promise.all(
    forty.map(async ({ accountId, at }) => {
      const { status, body } = await ask(accountId, at);
      if (status !== 200) return [status, body.code];
      expect(body.data.balance).toMatchObject({ accountId, currency: 'GBP', at });
      return [status, body.data.balance.balance];
    }),
  );
  expect(answers).toEqual(forty.map(({ answer }) => answer));
});

test('rejects an instant in the future, none, one that does not exist, and an unknown account', async () => {
  const accountId = await world.account(await world.client());
  const rejected = async (path: string) => {
    const { status, body } = await api.call('GET', `/accounts/${path}`);
    return [status, body.code, body.messageParameters[1]];
  };
  const at = 'data.balance.at';
  expect(await rejected(`${accountId}/balances?${at}=2999-01-01T00:00:00.000`)).toEqual([
    400,
    'common.validation.field_invalid',
    'at',
  ]);
  expect(await rejected(`${accountId}/balances`)).toEqual([400, 'common.validation.field_required', 'at']);
  expect((await rejected(`${accountId}/balances?${at}=2026-02-31T00:00:00`))[0]).toBe(400);
  expect((await rejected(`${randomUUID()}/balances?${at}=2026-01-01T00:00:00`))[0]).toBe(404);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConnectionWaits } from '../../db/accounts/reads.ts';
import { readTransferWaits } from '../../db/ledger/waiting-transfers.ts';
import { readWebhookBacklog } from '../../db/webhooks/backlog.ts';
import { startApi, type TestApi } from '../harness/api.ts';
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

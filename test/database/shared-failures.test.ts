import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry } from '../../api/http/metrics.ts';
import { type ApiResponse, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// A shared statement that fails is done again for each of its calls: right and slow. So that it does not stay unseen when it
// always fails, it is counted and logged.

const CANARY = `canary-${randomUUID()}`;

let database: TestDatabase;
let api: TestApi;
let hand: postgres.Sql;
const lines: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase('shared-failures');
  hand = postgres(database.ownerUrl, { max: 1, onnotice: () => {} });
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  api = await startApi(database, { logger });
});

afterAll(async () => {
  await api?.stop();
  await hand?.end();
  await database?.drop();
});

async function failures(): Promise<number> {
  const metric =
    /^shared_statement_failures_total\{statement="settle_straight_through_transfers",sqlstate="P0001"\} (\d+)$/m;
  return Number(metric.exec(await registry.metrics())?.[1] ?? 0);
}

test('a shared statement that always fails is counted each time, and logged once a minute by its name and SQLSTATE alone', async () => {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [from, to] = await Promise.all([0, 1].map(() => world.account(clientId, { amount: 100 })));
  // Only a shared statement waits for locks as briefly as that.
  await hand.unsafe(`
    CREATE FUNCTION fail_shared() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION '%', NEW.description USING ERRCODE = 'P0001'; END $$;
    CREATE TRIGGER shared BEFORE INSERT ON outgoing_transfers FOR EACH ROW
      WHEN (current_setting('lock_timeout') = '100ms') EXECUTE FUNCTION fail_shared()`);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
    description: CANARY,
  };
  const pay = (): Promise<ApiResponse> =>
    api.call('POST', '/outgoing-transfers', { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
  const before = await failures();
  for (let round = 1; round <= 3; round += 1) {
    expect((await pay()).status).toBe(201);
    expect(await failures()).toBe(before + round);
  }
  const news = lines.filter((line) => line.includes('shared statement'));
  expect(news).toHaveLength(1);
  expect(JSON.parse(news[0] ?? '{}')).toMatchObject({
    statement: 'settle_straight_through_transfers',
    sqlState: 'P0001',
  });
  expect(lines.join('\n')).not.toContain(CANARY);
  await world.invariantsHold();
});

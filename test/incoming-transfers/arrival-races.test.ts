import { createHmac, randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Money that arrives at the same moment as other money, or twice.

const SECRET = 'shared by bank and service';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let other: postgres.Sql;

beforeAll(async () => {
  database = await createTestDatabase('arrival-races');
  const providers = new Map([['sandbox-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: SECRET })]]);
  api = await startApi(database, { providers });
  world = moneyWorld(api);
  other = postgres(database.ownerUrl, { max: 2 });
});

afterAll(async () => {
  await other?.end();
  await api?.stop();
  await database?.drop();
});

let drawnNumber = 10_000_000;

async function builtInAccount(): Promise<{ id: string; accountNumber: string }> {
  const id = await world.account(await world.client(), { currency: 'GBP' });
  drawnNumber += 1;
  const accountNumber = String(drawnNumber);
  await api.database.statement(
    `UPDATE accounts SET provider = 'sandbox-bank', method = 'built-in', account_number = $2,
      routing_codes = '{"sort-code": "040075"}' WHERE id = $1`,
    [id, accountNumber],
  );
  return { id, accountNumber };
}

interface Sent {
  readonly accountNumber: string;
  readonly paymentId?: string;
  readonly eventId?: string;
  readonly codes?: Json;
}

async function sendPayment({
  accountNumber,
  paymentId = randomUUID(),
  eventId = `evt-${randomUUID()}`,
  codes = { 'sort-code': '04-00-75' },
}: Sent): Promise<number> {
  const data: Json = {
    paymentId,
    paymentReference: 'FPS-1',
    amount: 1,
    currency: 'GBP',
    scheme: 'faster-payments',
    senderName: 'Paul Payer',
    senderAccount: null,
    iban: null,
    accountNumber,
    routingCodes: codes,
    reference: 'Invoice 12',
  };
  const body = JSON.stringify({ type: 'payment-received', id: eventId, createdAt: new Date().toISOString(), data });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', SECRET).update(`${eventId}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': eventId, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
  const answer = await fetch(`${api.url}/provider-callbacks/sandbox-bank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  await answer.text();
  return answer.status;
}

async function postedTo(id: string): Promise<bigint> {
  const [row] = await api.database.statement<{ posted: bigint }>(
    'SELECT posted_minor AS posted FROM accounts WHERE id = $1',
    [id],
  );
  return row?.posted ?? -1n;
}

test('a payment with text that Postgres cannot hold is held for a person, and fails none of those that arrive with it', async () => {
  const account = await builtInAccount();
  // Postgres holds no text with this character.
  const bad = { ...account, codes: { 'sort-code\u0000': '04-00-75' } };
  const sent = Array.from(
    { length: 10 },
    () => [sendPayment(account), sendPayment(bad), sendPayment(account)] as const,
  );
  const statuses = await Promise.all(sent.flat());
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await postedTo(account.id)).toBe(2000n);
  const [held] = await api.database.statement<{ count: number }>(
    "SELECT count(*)::integer AS count FROM incoming_transfers WHERE hold_reason = 'no-match'",
    [],
  );
  expect(held?.count).toBe(10);
});

test('one payment in many callbacks at once, and one callback many times at once, is credited once', async () => {
  const account = await builtInAccount();
  const one = randomUUID();
  const two = { paymentId: randomUUID(), eventId: `evt-${randomUUID()}` };
  const { accountNumber } = account;
  const statuses = await Promise.all([
    ...Array.from({ length: 12 }, () => sendPayment({ accountNumber, paymentId: one })),
    ...Array.from({ length: 12 }, () => sendPayment({ accountNumber, ...two })),
  ]);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await postedTo(account.id)).toBe(200n);
});

test("a provider's id reported at once for two accounts is credited to one of them", async () => {
  const clientId = await world.client();
  const [first, second] = [await world.account(clientId), await world.account(clientId)];
  const report = (accountId: string, serviceProviderId: string) =>
    api.call('POST', '/provisioned-account-credits', {
      workflow: { code: 'client.direct' },
      data: {
        provisionedAccountCredit: {
          accountId,
          amount: 1,
          currency: 'GBP',
          scope: 'external',
          scheme: 'swift',
          serviceProviderId,
        },
      },
    });
  const ids = Array.from({ length: 8 }, () => randomUUID());
  for (const id of ids) {
    const answers = await Promise.all([report(first, id), report(second, id), report(first, id), report(second, id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201, 409, 409]);
  }
  expect((await postedTo(first)) + (await postedTo(second))).toBe(800n);
});

test('a callback that waits for another of its payment holds no row that the other needs', async () => {
  const { accountNumber } = await builtInAccount();
  const paymentId = randomUUID();
  const eventId = `evt-${randomUUID()}`;
  let waiting: Promise<number> | undefined;
  await other.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`sandbox-bank ${paymentId}`}, 7423021))`;
    waiting = sendPayment({ accountNumber, paymentId, eventId });
    await expect
      .poll(
        async () =>
          (
            await other`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
          ).length,
        { timeout: 120_000 },
      )
      .toBe(1);
    await tx`SET LOCAL lock_timeout = '500ms'`;
    await tx`INSERT INTO provider_callbacks (provider, provider_event_id, kind, payload, outcome, received_at)
      VALUES ('sandbox-bank', ${eventId}, 'payment-received', '{}', 'applied', service_now())`;
  });
  expect(await waiting).toBe(200);
});

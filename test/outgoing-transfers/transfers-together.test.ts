import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// Concurrent internal transfers share a statement and nothing else: a rejection, replay, delay or failure of one is its own.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let hand: postgres.Sql;

beforeAll(async () => {
  database = await createTestDatabase('transfers-together');
  api = await startApi(database);
  world = moneyWorld(api);
  payer = await world.client('Ada');
  hand = postgres(database.ownerUrl, { max: 2, onnotice: () => {} });
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await hand?.end();
  await api.stop();
  await database.drop();
});

function body(source: string, destination: string, change: Json = {}): Json {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
  return { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
}

function send(sent: Json, key: string = randomUUID()): Promise<ApiResponse> {
  return api.call('POST', '/outgoing-transfers', sent, { key });
}

function outcomes(answers: readonly ApiResponse[]): string[] {
  return answers.map((answer) => (answer.status === 201 ? 'settled' : `${answer.status} ${answer.body.code}`));
}

async function accounts(count: number, amount: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => world.account(payer, { amount })));
}

/** The number of commits that transfers with a description took. */
async function commits(description: string): Promise<number> {
  const [row] = await api.database.reader.statement<{ count: number }>(
    'SELECT count(DISTINCT xmin::text)::integer AS count FROM outgoing_transfers WHERE description = $1',
    [description],
  );
  return row?.count ?? 0;
}

test('transfers that come together share commits, and each moves its own money', async () => {
  const [first = '', ...others] = await accounts(5, 100);
  const sent = Array.from({ length: 60 }, (_, index) =>
    body(others[index % 4] ?? '', first, { description: 'shared' }),
  );
  const answers = await Promise.all(sent.map((one) => send(one)));
  expect(outcomes(answers)).toEqual(sent.map(() => 'settled'));
  // Timing decides how many share a commit; unshared, each would have its own.
  expect(await commits('shared')).toBeLessThan(sent.length);
  expect((await world.balance(first)).available).toBe(160);
  for (const other of others) expect((await world.balance(other)).available).toBe(85);
  expect((await world.statement(first)).at(-1)).toMatchObject({ balance: 160 });
});

test('a rejection concerns only its own request, whose key is free again', async () => {
  const [rich = '', poor = '', receiver = ''] = await accounts(3, 10);
  const euro = await world.account(payer, { currency: 'EUR', amount: 10 });
  const unknown = randomUUID();
  const stranger = await world.client('Grace');
  const cases: [Json, string][] = [
    [body(rich, receiver), 'settled'],
    [body(poor, receiver, { amount: 10.01 }), '422 account.balance.insufficient'],
    [body(rich, euro), '422 account.currency.mismatch'],
    [body(rich, unknown), '404 common.coding.internal.record_not_found'],
    [body(unknown, rich), '404 common.coding.internal.record_not_found'],
    [body(rich, receiver, { clientId: stranger }), '422 account.client.mismatch'],
    [body(rich, receiver, { clientId: randomUUID() }), '404 common.coding.internal.record_not_found'],
    [body(receiver, rich), 'settled'],
  ];
  const round = [...cases, ...cases, ...cases];
  const keys = round.map(() => randomUUID());
  const answers = await Promise.all(round.map(([sent], index) => send(sent, keys[index])));
  expect(outcomes(answers)).toEqual(round.map(([, outcome]) => outcome));
  // A rejected request's answer is not stored: with its key, another body is taken for the first one.
  const again = round.flatMap(([, outcome], index) => (outcome === 'settled' ? [] : [keys[index]]));
  const settled = await Promise.all(again.map((key) => send(body(rich, receiver, { amount: 0.01 }), key)));
  expect(outcomes(settled)).toEqual(again.map(() => 'settled'));
});

test('money that one transfer brings may be sent on by those after it, never twice', async () => {
  const [source = '', middle = '', end = ''] = await accounts(3, 20);
  const sent = Array.from({ length: 60 }, (_, index) =>
    index % 2 === 0 ? body(source, middle, { amount: 1 }) : body(middle, end, { amount: 2 }),
  );
  const answers = await Promise.all(sent.map((one) => send(one)));
  const made = answers.filter(({ status }) => status === 201).length;
  const balances = await Promise.all([source, middle, end].map(async (one) => (await world.balance(one)).available));
  expect(balances.reduce((sum, one) => sum + one, 0)).toBe(60);
  expect(Math.min(...balances)).toBeGreaterThanOrEqual(0);
  // The source covers 20 of the 30; money that arrived can be passed on.
  expect(balances[0]).toBe(0);
  expect(made).toBeGreaterThanOrEqual(30);
});

test('one key sent many times at once makes one transfer and gets one answer; with another body it is rejected', async () => {
  const [source = '', destination = ''] = await accounts(2, 50);
  const key = randomUUID();
  const others = Array.from({ length: 10 }, () => send(body(source, destination, { amount: 0.5 })));
  const same = await Promise.all(Array.from({ length: 10 }, () => send(body(source, destination), key)));
  expect(outcomes(await Promise.all(others))).toEqual(others.map(() => 'settled'));
  expect(new Set(same.map(({ text }) => text)).size).toBe(1);
  expect(same.filter(({ headers }) => headers.get('x-idempotency-status') === 'processed')).toHaveLength(1);
  const other = await Promise.all([
    send(body(source, destination, { amount: 2 }), key),
    send(body(source, destination)),
  ]);
  expect(outcomes(other)).toEqual(['409 common.idempotency.key_reused', 'settled']);
  expect((await world.balance(source)).available).toBe(43);
});

test('a key does not get the answer of a concurrent transfer that is rejected in the end', async () => {
  const [source = '', destination = ''] = await accounts(2, 1);
  const key = randomUUID();
  const sent = Array.from({ length: 12 }, () => send(body(source, destination, { amount: 5 }), key));
  expect(new Set(outcomes(await Promise.all(sent)))).toEqual(new Set(['422 account.balance.insufficient']));
});

test('a fee is the entry after its principal, whatever shares the statement', async () => {
  const [source = '', destination = ''] = await accounts(2, 100);
  const priced = (index: number): Json => {
    const plain = body(source, destination, { description: `fee ${index}` });
    return {
      workflow: {
        ...plain.workflow,
        pricing: { sourcingMethod: 'explicit', enabled: true, chargingType: 'fee', chargingMethod: 'on-source' },
      },
      data: { ...plain.data, pricing: { type: 'ratio', ratio: '0.1' } },
    };
  };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(priced(index))));
  expect(outcomes(answers)).toEqual(answers.map(() => 'settled'));
  const entries = (await world.statement(source)).slice(1);
  expect(entries.map(({ entryType }) => entryType)).toEqual(answers.flatMap(() => ['principal', 'fee']));
  for (let index = 0; index < entries.length; index += 2) {
    expect(entries[index + 1]?.transactionNumber).toBe(entries[index]?.transactionNumber);
  }
  expect((await world.balance(source)).available).toBe(78);
});

test('a locked account delays its own transfers, and no others', async () => {
  const [held = '', itsReceiver = '', free = '', receiver = ''] = await accounts(4, 50);
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  onTestFinished(() => release());
  const holding = hand.begin(async (tx) => {
    await tx`SELECT id FROM accounts WHERE id = ${held} FOR UPDATE`;
    await released;
  });
  await until(
    async () => hand`
      SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE relation = 'accounts'::regclass AND mode = 'RowShareLock' AND datname = current_database()`,
    (rows) => rows.length > 0,
  );
  let answered = 0;
  const sendHeld = async () => {
    const answer = await send(body(held, itsReceiver));
    answered += 1;
    return answer;
  };
  const waiting = Array.from({ length: 6 }, sendHeld);
  for (const count of [20, 1, 20]) {
    const others = await Promise.all(Array.from({ length: count }, () => send(body(free, receiver))));
    expect(outcomes(others)).toEqual(others.map(() => 'settled'));
    // A single one.
    waiting.push(sendHeld());
  }
  expect(answered).toBe(0);
  release();
  await holding;
  expect(outcomes(await Promise.all(waiting))).toEqual(waiting.map(() => 'settled'));
  expect((await world.balance(receiver)).available).toBe(91);
  expect((await world.balance(itsReceiver)).available).toBe(59);
});

test('a transfer that the database cannot take fails on its own', async () => {
  const [source = '', destination = ''] = await accounts(2, 50);
  await hand.unsafe(`
    CREATE FUNCTION fail_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$;
    CREATE TRIGGER poison BEFORE INSERT ON outgoing_transfers FOR EACH ROW WHEN (NEW.description = 'poison')
      EXECUTE FUNCTION fail_poison()`);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      send(body(source, destination, { description: index % 8 === 3 ? 'poison' : 'wholesome' })),
    ),
  );
  expect(outcomes(answers)).toEqual(
    answers.map((_, index) => (index % 8 === 3 ? '500 common.internal.error' : 'settled')),
  );
  expect((await world.balance(destination)).available).toBe(85);
  await hand.unsafe('DROP TRIGGER poison ON outgoing_transfers');
});

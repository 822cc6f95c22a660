import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../db/query/database.ts';
import { drawFreeNumbers } from '../../db/transfers/transaction-numbers.ts';
import { PRIORITIES } from '../../domain/common/waits.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { gate, lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// POST /outgoing-transfers/batch: items as if sent singly and in order (`each`), or all in one transaction or none (`all`).

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let bankAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('batches');
  api = await startApi(database);
  world = moneyWorld(api);
  payer = await world.client('Ada');
  bankAccount = await world.beneficiary(payer);
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

function internal(source: string, destination: string, change: Json = {}): Json {
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
}

function external(source: string, change: Json = {}): Json {
  const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount };
  return internal(source, source, { scope: 'external', scheme: 'faster-payments', destination, ...change });
}

function items(transfers: readonly Json[]): Json[] {
  return transfers.map((outgoingTransfer) => ({ reference: randomUUID(), outgoingTransfer }));
}

interface Sent {
  readonly mode?: 'each' | 'all';
  readonly workflow?: Json;
  readonly key?: string;
  readonly as?: 'operator' | 'admin';
}

function send(sent: readonly Json[], { mode, workflow = {}, ...options }: Sent = {}): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct', mode, ...workflow }, data: { items: sent } };
  return api.call('POST', '/outgoing-transfers/batch', body, options);
}

function sendSingle(outgoingTransfer: Json): Promise<ApiResponse> {
  return api.call('POST', '/outgoing-transfers', { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
}

function outcomes(answer: ApiResponse): string[] {
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.results.map(({ result, error }: Json) => (result === 'rejected' ? error.code : result));
}

function accounts(count: number, amount: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => world.account(payer, { amount })));
}

async function transferCount(): Promise<number> {
  const [row] = await api.database.reader.statement<{ count: number }>(
    'SELECT (SELECT count(*) FROM outgoing_transfers)::integer AS count',
    [],
  );
  return row?.count ?? 0;
}

/** Everything that a creation writes. */
async function traces(): Promise<Json> {
  const [row] = await api.database.reader.statement<{ found: Json }>(
    `SELECT json_build_array((SELECT count(*) FROM outgoing_transfers), (SELECT count(*) FROM incoming_transfers),
      (SELECT count(*) FROM postings), (SELECT count(*) FROM events), (SELECT count(*) FROM workflow_wakeups),
      (SELECT count(*) FROM idempotency_keys), (SELECT sum(version) FROM accounts)) AS found`,
    [],
  );
  return row?.found;
}

describe('each', () => {
  test('results come in the order of the items, each as if its transfer had been sent on its own', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const sent = items([internal(from, to, { amount: 40 }), external(from, { amount: 30 }), internal(to, from)]);
    const answer = await send(sent);
    expect(outcomes(answer)).toEqual(['created', 'created', 'created']);
    const { results } = answer.body.data;
    expect(results.map(({ reference }: Json) => reference)).toEqual(sent.map(({ reference }) => reference));
    for (const { outgoingTransfer } of results) expect(outgoingTransfer.status).toBe('pending');
    const states = [];
    for (const { outgoingTransfer } of results) {
      const { body } = await api.call('GET', `/outgoing-transfers/${outgoingTransfer.id}`);
      states.push(body.data.outgoingTransfer.status);
    }
    expect(states).toEqual(['completed', 'processing', 'completed']);
    expect((await world.balance(from)).available).toBe(31);
  });

  test('their workflows have time, like those of transfers for a later day; a single one for today goes before them', async () => {
    const [from = ''] = await accounts(1, 100);
    const later = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const [inBatch] = (await send(items([external(from)]))).body.data.results;
    const ofOne = async (change: Json) => (await sendSingle(external(from, change))).body.data.outgoingTransfer.id;
    const ids = [inBatch.outgoingTransfer.id, await ofOne({ transferDate: later }), await ofOne({})];
    const rows = await api.database.reader.statement<{ priority: number }>(
      `SELECT priority FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, place)
        JOIN workflow_wakeups ON workflow_id = 'outgoing-transfer/' || asked.id ORDER BY place`,
      [ids],
    );
    expect(rows.map(({ priority }) => priority)).toEqual([PRIORITIES.later, PRIORITIES.later, PRIORITIES.usual]);
  });

  test('items that spend from one account are decided in order, with what those before them bring and take', async () => {
    const [rich = '', empty = '', end = ''] = [...(await accounts(1, 10)), ...(await accounts(2, 0))];
    const answer = await send(
      items([
        internal(empty, end, { amount: 1 }),
        internal(rich, empty, { amount: 6 }),
        internal(rich, empty, { amount: 6 }),
        internal(empty, end, { amount: 5 }),
        external(empty, { amount: 1 }),
        internal(rich, end, { amount: 4 }),
        internal(empty, rich, { amount: 0.01 }),
      ]),
    );
    const short = 'account.balance.insufficient';
    expect(outcomes(answer)).toEqual([short, 'created', short, 'created', 'created', 'created', short]);
    expect((await world.balance(end)).available).toBe(9);
  });

  test.each<[string, (from: string, to: string) => Json]>([
    ['a missing field', (from, to) => internal(from, to, { currency: undefined })],
    ['several', (from, to) => internal(from, to, { currency: 'XXX', amount: -1, stranger: 1 })],
    ['an amount of too many decimals', (from, to) => internal(from, to, { amount: 0.001 })],
    ['a date of the past', (from, to) => internal(from, to, { transferDate: '2020-01-01' })],
    ['an unknown account', (from) => internal(from, randomUUID())],
    ['an unknown client', (from, to) => internal(from, to, { clientId: randomUUID() })],
    ['too little money', (from, to) => internal(from, to, { amount: 1_000 })],
    ['an account with itself', (from) => internal(from, from)],
    ['no object', () => 'a transfer' as Json],
  ])('a transfer with %s is rejected on its own, as if sent singly', async (_, transferOf) => {
    const [from = '', to = ''] = await accounts(2, 10);
    const transfer = transferOf(from, to);
    const single = await sendSingle(transfer);
    const answer = await send(items([internal(from, to), transfer, internal(to, from)]));
    expect(outcomes(answer)).toEqual(['created', single.body.code, 'created']);
    const { error } = answer.body.data.results[1];
    const withoutTime = ({ timestamp: _time, errors = [], ...rest }: Json): Json => ({
      ...rest,
      errors: errors.map(withoutTime),
    });
    expect(withoutTime(error)).toEqual(withoutTime(single.body));
  });

  test('a key is free again after a rejection', async () => {
    const [from = '', to = ''] = await accounts(2, 1);
    const [item] = items([internal(from, to, { amount: 5 })]);
    expect(outcomes(await send([item as Json]))).toEqual(['account.balance.insufficient']);
    await world.credit(from, 10);
    expect(outcomes(await send([item as Json]))).toEqual(['created']);
  });

  test('`pricing` of the workflow applies to every item, with the terms of each', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const [priced, other] = items([internal(from, to, { amount: 10 }), internal(from, to)]);
    const pricing = { type: 'ratio', ratio: '0.1' };
    const workflow = { pricing: { sourcingMethod: 'explicit' } };
    const answer = await send([{ ...priced, pricing }, other as Json], { workflow });
    expect(outcomes(answer)).toEqual(['created', 'common.validation.field_required']);
    expect(answer.body.data.results[0].outgoingTransfer.feeAmount).toBe(1);
    expect((await world.balance(from)).available).toBe(89);
  });
});

describe('all', () => {
  test('all transfers are created in one commit', async () => {
    const [from = '', to = ''] = await accounts(2, 200);
    const transfers = Array.from({ length: 150 }, (_, index) =>
      index % 3 === 0 ? external(from, { description: 'in one' }) : internal(from, to, { description: 'in one' }),
    );
    const answer = await send(items(transfers), { mode: 'all' });
    expect(new Set(outcomes(answer))).toEqual(new Set(['created']));
    const [row] = await api.database.reader.statement<{ count: number }>(
      "SELECT count(DISTINCT xmin::text)::integer AS count FROM outgoing_transfers WHERE description = 'in one' AND scope = 'internal'",
      [],
    );
    expect(row?.count).toBe(1);
  });

  test.each<[string, (from: string, to: string) => Json, string, string]>([
    ['malformed', (from, to) => internal(from, to, { amount: -1 }), 'common.validation.field_invalid', 'amount'],
    [
      'unknown',
      (from) => internal(from, randomUUID()),
      'common.coding.internal.record_not_found',
      'destination.accountId',
    ],
    ['too much', (from, to) => internal(from, to, { amount: 99 }), 'account.balance.insufficient', 'source.accountId'],
  ])('nothing is created if one item is %s: 422 with its index', async (_, transferOf, code, field) => {
    const [from = '', to = ''] = await accounts(2, 100);
    const before = await traces();
    const transfers = [internal(from, to), external(from), transferOf(from, to), internal(from, to)];
    const answer = await send(items(transfers), { mode: 'all', key: randomUUID() });
    expect([answer.status, answer.body.code]).toEqual([422, code]);
    expect(answer.body.messageParameters.slice(0, 2)).toEqual(['items', `2.outgoingTransfer.${field}`]);
    expect(await traces()).toEqual(before);
  });

  test('money that an item brings may be spent by a later one', async () => {
    const [from = '', middle = '', end = ''] = [...(await accounts(1, 10)), ...(await accounts(2, 0))];
    const there = [internal(from, middle, { amount: 10 }), internal(middle, end, { amount: 10 })];
    const back = [internal(end, middle, { amount: 10 }), external(middle, { amount: 10 })];
    expect(outcomes(await send(items([...there, ...back]), { mode: 'all' }))).toEqual(Array(4).fill('created'));
    expect((await world.balance(middle)).available).toBe(0);
  });
});

test('numbers that are drawn ahead for many transfers leave out those that are taken', async () => {
  const [from = '', to = ''] = await accounts(2, 10);
  const { body } = await send(items([internal(from, to)]));
  const taken: string = body.data.results[0].outgoingTransfer.transactionNumber;
  const now = new Date(`${taken.slice(0, 4)}-${taken.slice(4, 6)}-${taken.slice(6, 8)}T12:00:00Z`);
  const draws = [taken, 'free', 'incoming', 'other', 'of another day', 'drawn late'];
  const draw = await api.database.transaction((tx) => drawFreeNumbers(tx, 2, now, () => draws.shift() ?? ''));
  expect(draw('incoming-transfer', new Date(now.getTime() + 86_400_000))).toBe('of another day');
  expect(draw('incoming-transfer', now)).toBe('incoming');
  expect([draw('outgoing-transfer', now), draw('outgoing-transfer', now)]).toEqual(['free', 'drawn late']);
});

describe('references', () => {
  test.each(['each', 'all'] as const)(
    'a batch that is sent again shows what it showed first and creates nothing: %s',
    async (mode) => {
      const [from = '', to = ''] = await accounts(2, 100);
      const sent = items([internal(from, to, { amount: 1.5 }), external(from)]);
      const first = await send(sent, { mode });
      const before = await traces();
      const again = await send(sent, { mode });
      expect(outcomes(again)).toEqual(['replayed', 'replayed']);
      const transfers = ({ body }: ApiResponse) =>
        body.data.results.map(({ outgoingTransfer }: Json) => outgoingTransfer);
      expect(transfers(again)).toEqual(transfers(first));
      expect(await traces()).toEqual(before);
    },
  );

  test('an item is the same in another order of its fields and with 1.50 for 1.5, without and with an Idempotency-Key', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const [item] = items([internal(from, to, { amount: 1.5 })]);
    const otherwise = (value: Json): Json =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, part]) => [name, otherwise(part)]),
          )
        : value;
    const key = randomUUID();
    const first = await send([item as Json], { key });
    expect(outcomes(first)).toEqual(['created']);
    const body = JSON.stringify(
      otherwise({ workflow: { code: 'client.direct' }, data: { items: [otherwise(item)] } }),
    ).replace('1.5', '1.50');
    expect(outcomes(await api.call('POST', '/outgoing-transfers/batch', body))).toEqual(['replayed']);
    expect((await api.call('POST', '/outgoing-transfers/batch', body, { key })).text).toBe(first.text);
  });

  test('a reference with other pricing of the whole batch is rejected', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const sent = items([internal(from, to)]);
    const priced = (pricing: Json) =>
      api.call('POST', '/outgoing-transfers/batch', {
        workflow: { code: 'client.direct', pricing },
        data: { items: sent },
      });
    const free = { sourcingMethod: 'explicit', enabled: false };
    expect(outcomes(await priced(free))).toEqual(['created']);
    expect(outcomes(await priced({ enabled: false, sourcingMethod: 'explicit' }))).toEqual(['replayed']);
    expect(outcomes(await priced({ sourcingMethod: 'implicit' }))).toEqual(['common.idempotency.key_reused']);
    expect(outcomes(await send(sent))).toEqual(['common.idempotency.key_reused']);
  });

  test('a reference with another content is rejected: by itself, or with the whole batch', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const [item] = items([internal(from, to)]);
    await send([item as Json]);
    const changed = { ...item, outgoingTransfer: internal(from, to, { amount: 2 }) };
    const other = items([internal(from, to)]);
    expect(outcomes(await send([changed, ...other]))).toEqual(['common.idempotency.key_reused', 'created']);
    const answer = await send([...items([internal(from, to)]), changed], { mode: 'all' });
    expect([answer.status, answer.body.code]).toEqual([422, 'common.idempotency.key_reused']);
    expect(answer.body.messageParameters).toEqual(['items', '1.reference', item?.reference]);
  });

  test('they collide with no Idempotency-Key, and with no other caller’s references', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const sent = items([internal(from, to)]);
    const [{ reference: key }] = sent as [Json];
    const single = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: internal(from, to) } };
    const processed = await api.call('POST', '/outgoing-transfers', single, { key });
    expect(processed.headers.get('x-idempotency-status')).toBe('processed');
    expect(outcomes(await send(sent))).toEqual(['created']);
    expect(outcomes(await send(items([internal(from, to)]), { key }))).toEqual(['created']);
    expect((await world.balance(from)).available).toBe(97);
  });

  test('under one Idempotency-Key the whole answer is replayed byte for byte; another batch is 409', async () => {
    const [from = '', to = ''] = await accounts(2, 1);
    const sent = items([internal(from, to), internal(from, to)]);
    const key = randomUUID();
    const first = await send(sent, { key });
    expect(outcomes(first)).toEqual(['created', 'account.balance.insufficient']);
    await world.credit(from, 10);
    const again = await send(sent, { key });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-idempotency-status')).toBe('replayed');
    const other = await send(items([internal(from, to)]), { key });
    expect([other.status, other.body.code]).toEqual([409, 'common.idempotency.key_reused']);
  });

  test('two batches at once under one Idempotency-Key: each that is rejected has created nothing', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const answers: ApiResponse[] = [];
    for (let round = 0; round < 8; round += 1) {
      const key = randomUUID();
      const both = [1, 2].map(() => send(items([internal(from, to)]), { key }));
      answers.push(...(await Promise.all(both)));
    }
    const created = answers.filter(({ status }) => status === 201);
    for (const one of created) expect(outcomes(one)).toEqual(['created']);
    expect((await world.balance(from)).available).toBe(100 - created.length);
  });

  test('the same batch twice at once under one Idempotency-Key: what is rejected for one is created for neither', async () => {
    const [held = '', poor = '', rich = '', to = ''] = await accounts(4, 100);
    const transfers = Array.from({ length: 40 }, (_, index) => {
      if (index === 0) return internal(poor, to, { amount: 150 });
      return internal(index === 39 ? held : rich, to);
    });
    const sent = items(transfers);
    const key = randomUUID();
    const locked = gate();
    const release = gate();
    const holding = api.database.transaction(async (tx) => {
      await tx.statement('SELECT FROM accounts WHERE id = $1::uuid FOR UPDATE', [held]);
      locked.open();
      await release.opened;
    });
    await locked.opened;
    const both = [send(sent, { key })];
    // Its first 32 items are done, and the rest waits; then money comes for the item that was rejected.
    await until(
      () => lockWaiters(api.database.reader),
      (number) => number === 1,
    );
    await world.credit(poor, 100);
    both.push(send(sent, { key }));
    await until(
      () => lockWaiters(api.database.reader),
      (number) => number === 2,
    );
    release.open();
    await holding;
    const [first, second] = await Promise.all(both);
    const expected = ['account.balance.insufficient', ...Array(39).fill('created')];
    expect(outcomes(first as ApiResponse)).toEqual(expected);
    expect(second?.text).toBe(first?.text);
    expect((await world.balance(poor)).available).toBe(200);
    expect((await send(sent, { key })).text).toBe(first?.text);
  });

  test.each(['each', 'all'] as const)(
    '1,000 items twice at once under one Idempotency-Key are created once, and both get one answer: %s',
    async (mode) => {
      const [from = '', to = ''] = await accounts(2, 1_000);
      const sent = items(Array.from({ length: 1_000 }, () => internal(from, to)));
      const key = randomUUID();
      const both = await Promise.all([send(sent, { mode, key }), send(sent, { mode, key })]);
      const again = await send(sent, { mode, key });
      expect(new Set(outcomes(again))).toEqual(new Set(['created']));
      const answered = both.filter(({ status }) => status === 201);
      expect(new Set(answered.map(({ text }) => text))).toEqual(new Set([again.text]));
      expect((await world.balance(to)).available).toBe(2_000);
    },
  );

  test('under an Idempotency-Key, what was rejected before a batch was cut off stays rejected when it is sent again', async () => {
    const [held = '', poor = '', rich = '', to = ''] = await accounts(4, 100);
    const sent = items(
      Array.from({ length: 40 }, (_, index) =>
        index === 0 ? internal(poor, to, { amount: 150 }) : internal(index === 39 ? held : rich, to),
      ),
    );
    const key = randomUUID();
    const cutOff = await api.database.transaction(async (tx) => {
      await tx.statement('SELECT FROM accounts WHERE id = $1::uuid FOR UPDATE', [held]);
      return send(sent, { key });
    });
    expect(cutOff.status).toBe(503);
    await world.credit(poor, 100);
    const again = await send(sent, { key });
    expect(outcomes(again)).toEqual(['account.balance.insufficient', ...Array(39).fill('created')]);
    expect((await world.balance(poor)).available).toBe(200);
  });

  test('under the Idempotency-Key of a batch that was cut off, another batch creates nothing, also where the first one’s items are malformed', async () => {
    const [held = '', rich = '', to = ''] = await accounts(3, 100);
    const malformed = Array.from({ length: 32 }, () => internal(rich, to, { amount: -1 }));
    const [sent, other] = [items([...malformed, internal(held, to)]), items(malformed.map(() => internal(rich, to)))];
    const key = randomUUID();
    const cutOff = await api.database.transaction(async (tx) => {
      await tx.statement('SELECT FROM accounts WHERE id = $1::uuid FOR UPDATE', [held]);
      return send(sent, { key });
    });
    expect(cutOff.status).toBe(503);
    const rejected = await send(other, { key });
    expect([rejected.status, rejected.body.code]).toEqual([409, 'common.idempotency.key_reused']);
    expect((await world.balance(to)).available).toBe(100);
    expect(outcomes(await send(sent, { key }))).toEqual([
      ...Array(32).fill('common.validation.field_invalid'),
      'created',
    ]);
  });

  test('a batch that cannot continue says whether something was done; sent again, it creates what is missing', async () => {
    const [held = '', from = '', to = '', other = '', heldToo = ''] = await accounts(5, 100);
    const transfers = Array.from({ length: 40 }, (_, index) => internal(index === 39 ? held : from, to));
    const each = items(transfers);
    const all = items([internal(other, heldToo)]);
    const sendBoth = () => Promise.all([send(each), send(all, { mode: 'all' })]);
    const stuck = await api.database.transaction(async (tx) => {
      await tx.statement('SELECT FROM accounts WHERE id = ANY ($1::uuid[]) FOR UPDATE', [[held, heldToo]]);
      return sendBoth();
    });
    expect(stuck.map(({ status }) => status)).toEqual([503, 503]);
    expect(stuck[0]?.body.message).toContain('unknown');
    expect(stuck[1]?.body.message).toContain('Nothing was done');
    const [first, second] = await sendBoth();
    expect(outcomes(first)).toEqual([...Array(32).fill('replayed'), ...Array(8).fill('created')]);
    expect(outcomes(second)).toEqual(['created']);
    expect((await world.balance(to)).available).toBe(140);
  });

  test('what another batch is creating is rejected with its reference: by itself, or among all that may be it', async () => {
    const [from = '', to = ''] = await accounts(2, 100);
    const [unanswered, waited, free] = items([1, 2, 3].map(() => internal(from, to))) as [Json, Json, Json];
    const claim = (tx: Reader, { reference }: Json) =>
      tx.statement(
        `INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
         VALUES ($1, 'POST', '/outgoing-transfers/batch/items', $2, ''::bytea, service_now())`,
        [api.users.operator.id, reference],
      );
    const rejected = (references: readonly Json[]) => ({
      code: 'common.idempotency.in_progress',
      messageParameters: ['item', 'reference', references.map(({ reference }) => reference).join(', ')],
    });
    await api.database.transaction((tx) => claim(tx, unanswered));
    const [result] = (await send([unanswered])).body.data.results;
    expect(result.error).toMatchObject(rejected([unanswered]));
    const answers = await api.database.transaction(async (tx) => {
      await claim(tx, waited);
      return Promise.all([send([waited]), send([waited, free])]);
    });
    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
    expect(answers.map(({ body }) => body)).toMatchObject([rejected([waited]), rejected([waited, free])]);
    expect(outcomes(await send([free]))).toEqual(['created']);
  });

  test('the same batch many times at once creates each transfer once', async () => {
    const [from = '', to = ''] = await accounts(2, 1_000);
    const sent = items(Array.from({ length: 130 }, () => internal(from, to)));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => send(sent, { mode: index % 2 === 0 ? 'each' : 'all' })),
    );
    const ids = new Set(
      answers.flatMap(({ body }) => body.data.results.map(({ outgoingTransfer }: Json) => outgoingTransfer.id)),
    );
    expect(ids.size).toBe(130);
    expect((await world.balance(to)).available).toBe(1_130);
  });
});

/** A client with accounts and a bank account of its own. */
async function smallWorld(amount: number, count: number) {
  const client = await world.client('Ada');
  const open = Array.from({ length: count }, () => world.account(client, { amount }));
  return { client, accounts: await Promise.all(open), bankAccount: await world.beneficiary(client) };
}

type SmallWorld = Awaited<ReturnType<typeof smallWorld>>;

/** A transfer by the places of its accounts, so that it can be sent in several worlds. */
interface Drawn {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  readonly kind: 'internal' | 'external' | 'dated' | 'unknown' | 'malformed';
}

function transferIn({ client, accounts: ids, bankAccount: to }: SmallWorld, drawn: Drawn): Json {
  const change = { clientId: client, amount: drawn.kind === 'malformed' ? -1 : drawn.amount };
  const [source = '', receiver = ''] = [ids[drawn.from], ids[drawn.to]];
  const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: to };
  if (drawn.kind === 'external') return external(source, { ...change, destination });
  if (drawn.kind === 'dated') return internal(source, receiver, { ...change, transferDate: '2027-11-01' });
  return internal(source, drawn.kind === 'unknown' ? randomUUID() : receiver, change);
}

/** What a world's accounts show, without ids. */
async function booksOf({ accounts: ids }: SmallWorld): Promise<Json[]> {
  const books = [];
  for (const id of ids) {
    const entries = (await world.statement(id)).map(({ amount, balance, transactionType }) => [
      amount,
      balance,
      transactionType,
    ]);
    const events = await api.database.reader.statement<{ types: Json }>(
      `SELECT json_agg(entry ->> 'type' ORDER BY transfer.id, first_sequence, place) AS types
        FROM outgoing_transfers transfer JOIN events ON resource_id = transfer.id,
          json_array_elements(entries) WITH ORDINALITY AS item (entry, place) WHERE account_id = $1`,
      [id],
    );
    books.push({ balance: await world.balance(id), entries, events });
  }
  return books;
}

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(`random transfers among few accounts have the same results in a batch as one after the other, from seed ${seed}`, async () => {
  const random = randomFrom(seed);
  const [singly, batched] = [await smallWorld(30, 4), await smallWorld(30, 4)];
  const places = [0, 1, 2, 3];
  const drawn = Array.from({ length: 160 }, (): Drawn => {
    const [from, to] = random.pair(places);
    const kind = random.weighted({ internal: 12, external: 3, dated: 1, unknown: 1, malformed: 1 });
    return { from, to, kind, amount: random.whole(1, 2_500) / 100 };
  });
  const expected: string[] = [];
  for (const one of drawn) {
    const { status, body } = await sendSingle(transferIn(singly, one));
    expected.push(status === 201 ? 'created' : body.code);
  }
  expect(outcomes(await send(items(drawn.map((one) => transferIn(batched, one)))))).toEqual(expected);
  expect(await booksOf(batched)).toEqual(await booksOf(singly));
  expect(new Set(expected).size).toBeGreaterThan(2);

  // Of those that are accepted, `all` makes the same in one transaction.
  const whole = await smallWorld(30, 4);
  const accepted = drawn.filter((_, index) => expected[index] === 'created').map((one) => transferIn(whole, one));
  expect(new Set(outcomes(await send(items(accepted), { mode: 'all' })))).toEqual(new Set(['created']));
  expect(await booksOf(whole)).toEqual(await booksOf(singly));
});

test('callers with overlapping batches of both modes and single callers spend one account to zero, never below', async () => {
  const [source = '', ...receivers] = [...(await accounts(1, 300)), ...(await accounts(3, 0))];
  const pool = items(Array.from({ length: 400 }, (_, index) => internal(source, receivers[index % 3] ?? '')));
  const random = randomFrom(seed);
  // In any order, so that their locks and keys meet in every order.
  const shuffled = () => pool.map((item) => [random.next(), item] as const).sort(([one], [other]) => one - other);
  const batches = Array.from({ length: 12 }, (_, index) =>
    send(
      shuffled()
        .slice(0, 150)
        .map(([, item]) => item),
      { mode: index % 3 === 0 ? 'all' : 'each' },
    ),
  );
  const singles = Array.from({ length: 60 }, (_, index) =>
    sendSingle(internal(receivers[index % 3] ?? '', source, { amount: 0.5 })),
  );
  const answers = await Promise.all(batches);
  for (const { status } of await Promise.all(singles)) expect([201, 422]).toContain(status);
  const idsByReference = new Map<string, Set<string>>();
  for (const { status, body, text } of answers) {
    expect([201, 409, 422], text).toContain(status);
    for (const { reference, outgoingTransfer } of body.data?.results ?? []) {
      if (outgoingTransfer === undefined) continue;
      idsByReference.set(reference, (idsByReference.get(reference) ?? new Set()).add(outgoingTransfer.id));
    }
  }
  for (const ids of idsByReference.values()) expect(ids.size).toBe(1);
  const balances = await Promise.all([source, ...receivers].map(async (id) => (await world.balance(id)).available));
  expect(balances.reduce((sum, balance) => sum + balance)).toBe(300);
  for (const balance of balances) expect(balance).toBeGreaterThanOrEqual(0);
});

describe('rejected whole, before anything is done', () => {
  const transfer = { anything: 1 };
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ reference: `r${index}` }));
  test.each<[string, Json, string, string]>([
    ['no items', [], 'common.validation.limit_exceeded', 'items'],
    ['1,001 items', many(1_001), 'common.validation.limit_exceeded', 'items'],
    ['no list', {}, 'common.validation.field_invalid', 'items'],
    ['an item that is no object', [1], 'common.validation.field_invalid', '0'],
    ['no reference', [{ outgoingTransfer: transfer }], 'common.validation.field_required', '0.reference'],
    ['a blank reference', [{ reference: ' ' }], 'common.validation.field_invalid', '0.reference'],
    ['a long one', [{ reference: 'x'.repeat(101) }], 'common.validation.field_invalid', '0.reference'],
    ['a number for one', [{ reference: 1 }], 'common.validation.field_invalid', '0.reference'],
    ['the same twice', [...many(3), { reference: 'r1' }], 'common.validation.field_invalid', '3.reference'],
  ])('%s', async (_, sent, code, field) => {
    const before = await transferCount();
    const answer = await send(sent);
    expect([answer.status, answer.body.code], answer.text).toEqual([400, code]);
    expect(answer.body.messageParameters[1]).toBe(field);
    expect(await transferCount()).toBe(before);
  });

  test.each(['GET', 'PATCH', 'DELETE'] as const)('%s, whose path is no id of a transfer', async (method) => {
    const headers = { authorization: `Bearer ${api.users.operator.token}` };
    const { status, headers: answered } = await fetch(`${api.url}/outgoing-transfers/batch`, { method, headers });
    expect([status, answered.get('allow')]).toEqual([405, 'POST']);
  });

  test('an unknown mode, and a dry run, which a batch does not have', async () => {
    const answers = [{ mode: 'some' }, { dryRun: true }].map((workflow) => send(many(1), { workflow }));
    for (const { status } of await Promise.all(answers)) expect(status).toBe(400);
  });

  test('a body above 4 MiB is 413, one of 4 MiB of nesting or of fields 400; other routes keep their limit', async () => {
    const post = (path: string, body: string) =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
        body,
      });
    const mebibytes = (count: number) => `{"data":"${'x'.repeat(count * 1024 * 1024)}"}`;
    const statuses = await Promise.all([
      post('/outgoing-transfers/batch', mebibytes(4)),
      post('/outgoing-transfers/batch', mebibytes(3)),
      post('/outgoing-transfers/batch', '['.repeat(4_000_000)),
      post('/outgoing-transfers/batch', `[${'1,'.repeat(2_000_000)}1]`),
      post('/outgoing-transfers', mebibytes(1)),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([413, 400, 400, 400, 413]);
  });
});

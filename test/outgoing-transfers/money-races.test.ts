import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { outgoingTransferTransitions } from '../../activities/outgoing-transfers/activities.ts';
import { moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import {
  advanceOutgoingTransfer,
  applyPaymentReport,
  findDueSubmission,
} from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PaymentOutcome } from '../../domain/outgoing-transfers/reports.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts, OPENED } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { modes } from '../harness/transfers/reviews.ts';
import { raceTransfers } from '../harness/transfers/transfer-races.ts';

// Concurrent changes to the same money, and provider reports about money that is not theirs.

/** Wednesday noon, a business day of every scheme. */
let clock = '2027-06-16T12:00:00Z';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let payer: string;
let source: string;
let destination: string;
let bankAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('money-races');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(clock) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  payer = await world.client('Ada');
  source = await world.account(payer, { amount: 1000 });
  destination = await world.account(await world.client('Grace'));
  bankAccount = await world.beneficiary(payer);
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await api.stop();
  await database.drop();
});

function internal(change: Json = {}): Json {
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
}

function external(change: Json = {}): Json {
  const to = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount };
  return internal({ scope: 'external', scheme: 'faster-payments', destination: to, ...change });
}

function send(outgoingTransfer: Json, key?: string) {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return api.call('POST', '/outgoing-transfers', body, key === undefined ? {} : { key });
}

async function sent(outgoingTransfer: Json): Promise<Json> {
  const answer = await send(outgoingTransfer);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

async function statusOf(id: string): Promise<string> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer.status;
}

function reportPayment(provider: string, id: string, outcome: PaymentOutcome, amountMinor: bigint) {
  const claim = { amountMinor: amountMinor.toString(), currency: 'GBP', returned: null };
  const report = { outcome, serviceProviderId: 'pay-1', serviceProviderReference: null, code: null, claim };
  return api.database.transaction((tx) =>
    applyPaymentReport(tx, { id: asId<OutgoingTransferId>(id), provider }, report, api.services.configuration),
  );
}

test('a provider’s report on an internal transfer is a break: nothing is returned that never left', async () => {
  const { id } = await sent(internal());
  const before = await world.balance(source);
  expect(await reportPayment('custom-bank', id, 'returned', 1000n)).toBe('break');
  expect(await world.balance(source)).toEqual(before);
});

test('a provider’s report on another provider’s payment or account is a break and moves nothing', async () => {
  const { id } = await sent(external());
  expect(await reportPayment('sandbox-bank', id, 'completed', 1000n)).toBe('break');
  expect(await statusOf(id)).toBe('processing');
  const account = await builtIn.issued(payer);
  expect(await builtIn.report(account.id, 'open', 1, OPENED, 'another-bank')).toBe('break');
  expect((await api.call('GET', `/accounts/${account.id}`)).body.data.account.status).toBe('pending');
});

test('money that arrives between two batches of admissions is offered to all who wait', async () => {
  const poor = await world.account(payer, { amount: 1 });
  const from = { type: 'client-account', accountId: poor };
  const first = await sent(external({ amount: 50, source: from }));
  await sent(external({ amount: 900, source: from }));
  await sent(external({ amount: 2, source: from }));
  await sent(external({ amount: 2, source: from }));
  await world.credit(poor, 3);
  const admit = () =>
    api.database.transaction((tx) => admitWaitingTransfers(tx, asId(poor), api.services.configuration, 1));
  expect(await admit()).toEqual({ admitted: 1, more: true, skipped: [] });
  await world.credit(poor, 50);
  const due = () => api.database.reader.execute(sql`SELECT id FROM accounts WHERE id = ${poor} AND admission_due`);
  expect(await due()).toHaveLength(1);
  expect(await admit()).toEqual({ admitted: 1, more: true, skipped: [] });
  expect(await statusOf(first.id)).toBe('processing');
  expect(await admit()).toEqual({ admitted: 1, more: false, skipped: [] });
  expect(await due()).toHaveLength(0);
});

test('a cancel and an admission at the same instant have one winner each, and nothing is reserved twice', async () => {
  const poor = await world.account(payer, { amount: 1 });
  const from = { type: 'client-account', accountId: poor };
  const waiting = await Promise.all(Array.from({ length: 8 }, () => sent(external({ amount: 20, source: from }))));
  await world.credit(poor, 159);
  const cancel = (id: string) =>
    api.call('PATCH', `/outgoing-transfers/${id}`, {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer: { status: 'cancelled' } },
    });
  const admit = () =>
    api.database.transaction((tx) => admitWaitingTransfers(tx, asId(poor), api.services.configuration, 3));
  const [cancelled] = await Promise.all([
    Promise.all([...waiting, ...waiting].map(({ id }) => cancel(id))),
    Promise.all([admit(), admit(), admit()]),
  ]);
  await admit();
  const won = cancelled.filter(({ status }) => status === 200).length;
  expect(cancelled.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  const statuses = await Promise.all(waiting.map(({ id }) => statusOf(id)));
  expect(statuses.filter((status) => status === 'cancelled')).toHaveLength(won);
  const processing = statuses.filter((status) => status === 'processing').length;
  const stillWaiting = statuses.filter((status) => status === 'pending').length;
  expect(won + processing + stillWaiting).toBe(8);
  expect((await world.balance(poor)).available).toBe(160 - 20 * processing);
});

test('money that comes after the cut-off waits for the day that the transfer rolled to', async () => {
  const poor = await world.account(payer, { amount: 1 });
  const from = { type: 'client-account', accountId: poor };
  const { id } = await sent(external({ scheme: 'chaps', amount: 20, source: from }));
  const advance = () =>
    api.database.transaction((tx) =>
      advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), api.services.configuration),
    );
  const admit = () =>
    api.database.transaction((tx) => admitWaitingTransfers(tx, asId(poor), api.services.configuration));
  try {
    clock = '2027-06-16T16:00:30Z';
    await world.credit(poor, 50);
    await admit();
    expect((await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer).toMatchObject({
      status: 'pending',
      transferDate: '2027-06-17',
      originalTransferDate: '2027-06-16',
      rollCount: 1,
      requirementConfiguration: { transferDateStatus: 'not-checked' },
    });
    expect(await advance()).toMatchObject({ do: 'wait', for: 'next-window' });
    expect((await world.balance(poor)).available).toBe(51);
    clock = '2027-06-17T08:00:00Z';
    await advance();
    expect(await statusOf(id)).toBe('processing');
    expect((await world.balance(poor)).available).toBe(31);
  } finally {
    clock = '2027-06-16T12:00:00Z';
  }
});

test('a payment that is due at the provider is found without waiting for its locks, and only while it is due', async () => {
  const due = (id: string) => findDueSubmission(api.database.reader, asId<OutgoingTransferId>(id));
  const { database, services } = api;
  const look = outgoingTransferTransitions({
    database,
    configuration: services.configuration,
    logger: services.logger,
  });
  const advance = (id: string) => look.advanceOutgoingTransfer(id);
  const checks = async (id: string) => {
    const [row] = await database.statement<{ revision: bigint; nextCheckAt: Date }>(
      'SELECT revision, next_check_at AS "nextCheckAt" FROM outgoing_transfers WHERE id = $1',
      [id],
    );
    return row;
  };
  const account = await builtIn.opened(payer);
  await builtIn.payIn(account, 'pay-in-2', 1000n);
  const from = { type: 'client-account', accountId: account.id };
  const { id } = await sent(external({ amount: 4, source: from }));
  const { id: dated } = await sent(external({ amount: 6, source: from, transferDate: '2027-06-18' }));
  const { id: plugin } = await sent(external());
  expect([await due(id), await due(dated), await due(plugin), await due(randomUUID())]).toEqual([1, null, null, null]);
  const made = await checks(id);
  expect(await advance(id)).toEqual({ do: 'submit', attempt: 1 });
  expect(await checks(id)).toEqual(made);
  expect(await advance(dated)).toMatchObject({ do: 'wait', for: 'date' });
  expect(await Promise.all([due(id), due('no-uuid')])).toEqual([1, null]);

  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = api.database.transaction(async (tx) => {
    await lockAccounts(tx, [asId<AccountId>(account.id)]);
    steps.emit('locked');
    await once(steps, 'found');
  });
  await locked;
  expect(await advance(id)).toEqual({ do: 'submit', attempt: 1 });
  steps.emit('found');
  await holding;

  // Long unanswered: its check is put off, so that the sweep has no part in it.
  try {
    clock = '2027-06-16T12:40:00Z';
    expect(await due(id)).toBeNull();
    expect(await advance(id)).toEqual({ do: 'submit', attempt: 1 });
    expect((await checks(id))?.nextCheckAt.toISOString() ?? '').toMatch(/^2027-06-16T13:4/);
    expect(await due(id)).toBe(1);
  } finally {
    clock = '2027-06-16T12:00:00Z';
  }

  expect(await reportPayment('sandbox-bank', id, 'completed', 400n)).toBe('applied');
  expect(await due(id)).toBeNull();
});

test('amounts of currencies with no and with three decimals move to the last minor unit', async () => {
  for (const [currency, amount, rejected] of [
    ['JPY', 5, 0.5],
    ['KWD', 1.234, 0.0001],
  ] as const) {
    const from = await world.account(payer, { currency, amount: 10 });
    const to = await world.account(payer, { currency });
    const moved = internal({
      currency,
      amount,
      source: { type: 'client-account', accountId: from },
      destination: { type: 'client-account', accountId: to },
    });
    await sent(moved);
    expect((await world.balance(to)).available).toBe(amount);
    expect((await world.statement(from)).at(-1)).toMatchObject({ amount, direction: 'debit' });
    expect((await send({ ...moved, amount: rejected })).status).toBe(400);
  }
});

test('a transaction number that is taken is drawn again, whatever the transaction', async () => {
  await database.asOwner(`
    CREATE TABLE drawn (transaction_number text UNIQUE);
    GRANT ALL ON drawn TO PUBLIC;
    INSERT INTO drawn VALUES ('20270616-AAAAAA')`);
  let draws = 0;
  const drawn = await api.database.transaction(async (tx) => {
    draws += 1;
    const number = draws < 3 ? '20270616-AAAAAA' : '20270616-BBBBBB';
    await tx.execute(sql`INSERT INTO drawn VALUES (${number})`);
    return number;
  });
  expect([drawn, draws]).toEqual(['20270616-BBBBBB', 3]);
});

test('accounts of one client are activated at the same instant', async () => {
  const client = await world.client();
  const accounts = await Promise.all(Array.from({ length: 6 }, () => world.account(client)));
  expect(new Set(accounts).size).toBe(6);
  expect(await world.events(client)).toEqual(['created', 'connection-created']);
});

function report(credit: Json) {
  const provisionedAccountCredit = { amount: 5, currency: 'GBP', scope: 'external', scheme: 'swift', ...credit };
  const body = { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit } };
  return api.call('POST', '/provisioned-account-credits', body);
}

test('one provider id reported at once for many accounts is booked once, and the others are rejected', async () => {
  const accounts = await Promise.all(Array.from({ length: 4 }, () => world.account(payer)));
  const answers = await Promise.all(accounts.map((accountId) => report({ accountId, serviceProviderId: 'same-1' })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const balances = await Promise.all(accounts.map(async (id) => (await world.balance(id)).available));
  expect(balances.reduce((sum, one) => sum + one, 0)).toBe(5);
});

test('the same provider id with another sender is other content', async () => {
  const credit = {
    accountId: source,
    serviceProviderId: 'same-2',
    senderBankAccount: { iban: 'GB33BUKB20201555555555' },
  };
  expect((await report(credit)).status).toBe(201);
  expect((await report(credit)).status).toBe(200);
  const other = { ...credit, senderBankAccount: { iban: 'GB94BARC10201530093459' } };
  expect((await report(other)).status).toBe(409);
  expect((await report({ ...credit, senderAddress: { country: 'FR' } })).status).toBe(409);
});

test('a straight-through transfer whose key is in flight answers 409 in time, and keeps the connections', async () => {
  const key = randomUUID();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [{ sessions: before } = { sessions: [] }] = await sessions();
  const steps = new EventEmitter();
  const claimed = once(steps, 'claimed');
  const first = api.database.transaction(async (tx) => {
    await tx.execute(sql`
      INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
      VALUES (${api.users.operator.id}, 'POST', '/outgoing-transfers', ${key}, ''::bytea, now())`);
    steps.emit('claimed');
    await held;
    throw new Error('gives up');
  });
  await claimed;
  const second = await send(internal(), key);
  release();
  await expect(first).rejects.toThrow('gives up');
  expect([second.status, second.body.code]).toEqual([409, 'common.idempotency.in_progress']);
  const [{ sessions: after } = { sessions: [] }] = await sessions();
  expect(after).toEqual(expect.arrayContaining(before));
  expect((await send(internal(), key)).status).toBe(201);
});

function sessions() {
  return api.database.reader.execute<{ sessions: number[] }>(sql`
    SELECT array_agg(pid ORDER BY pid) AS sessions FROM pg_stat_activity
    WHERE application_name = 'test-api' AND datname = current_database()`);
}

test('a straight-through transfer whose account is held by others answers 503, to be asked again', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holder: Promise<void> = Promise.resolve();
  await new Promise<void>((holds) => {
    holder = api.database.transaction(async (tx) => {
      await tx.execute(sql`SELECT id FROM accounts WHERE id = ${source} FOR UPDATE`);
      holds();
      await held;
    });
  });
  const answer = await send(internal(), randomUUID());
  release();
  await holder;
  expect([answer.status, answer.body.code]).toEqual([503, 'common.dependency.unavailable']);
  expect(answer.headers.get('retry-after')).not.toBeNull();
});

test('a reason that does not exist is not found, for internal transfers too', async () => {
  const transferReasonId = randomUUID();
  for (const change of [{ transferReasonId }, { transferReasonId, transferDate: '2027-07-01' }]) {
    const answer = await send(internal(change));
    expect([answer.status, answer.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
  }
});

test('a payment returned to a closed account cannot be returned again: it has no payer', async () => {
  const account = await builtIn.opened(payer);
  await builtIn.payIn(account, 'pay-in-1', 1000n);
  const { id } = await sent(external({ source: { type: 'client-account', accountId: account.id } }));
  expect(await reportPayment('sandbox-bank', id, 'completed', 1000n)).toBe('applied');
  const closing = await api.call('PATCH', `/accounts/${account.id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { status: 'closed' } },
  });
  expect(closing.status, closing.text).toBe(200);
  expect(await builtIn.report(account.id, 'close', 2, { outcome: 'closed' })).toBe('applied');
  expect(await reportPayment('sandbox-bank', id, 'returned', 1000n)).toBe('applied');
  const { body } = await api.call('GET', `/outgoing-transfers/${id}`);
  const incoming = body.data.outgoingTransfer.incomingTransferId;
  await expect(
    api.database.transaction((tx) => changeUnderLocks(tx, moneyReturn({ id: incoming, initiator: TESTER }))),
  ).rejects.toMatchObject({
    code: 'common.state.illegal_transition',
  });
});

/** By hand: RACING_TRANSFERS=1000, and SEED to repeat a run. */
const RACING = Number(process.env.RACING_TRANSFERS ?? 60);
const firstSeed = seedOr(1 + Math.floor(Math.random() * 1e9));

test.each([firstSeed, firstSeed + 1, firstSeed + 2])(
  `whatever happens to ${RACING} transfers at once, each ends legally and no money is lost or made: seed %i`,
  async (seed) => {
    const shared = {
      clockOffset: () => `${Math.round((Date.parse(clock) - Date.now()) / 1000)} seconds`,
      users: api.users,
    };
    const authorize = { env: { AUTHORIZATION_RULE: 'always' } };
    const reviewing = await startApi(database, {
      ...shared,
      configuration: modes('external', 'external', { prices: [] }),
    });
    const others = [
      await startApi(database, { ...shared, ...authorize }),
      await startApi(database, { ...shared, configuration: modes('none', 'external', { prices: [] }) }),
      await startApi(database, { ...shared, configuration: modes('external', 'none', { prices: [] }) }),
      await startApi(database, { ...shared, ...authorize, configuration: modes('none', 'external', { prices: [] }) }),
    ];
    await raceTransfers({ plain: api, others: [...others, reviewing], reviewing }, randomFrom(seed), RACING);
    for (const other of [...others, reviewing]) await other.stop();
  },
  600_000 + RACING * 1_000,
);

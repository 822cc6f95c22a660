import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import { asId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let payee: string;
let source: string;
let destination: string;
let bankAccount: string;

/** The service's clock always shows noon of this Wednesday, a business day of every scheme. */
let clock = '2027-06-16T12:00:00Z';

beforeAll(async () => {
  database = await createTestDatabase('outgoing-transfers');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(clock) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  payee = await world.client('Grace');
  source = await world.account(payer, { amount: 1000 });
  destination = await world.account(payee);
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
  return internal({
    scope: 'external',
    scheme: 'faster-payments',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  });
}

function send(outgoingTransfer: Json, workflow: Json = {}, pricing?: Json, key?: string): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct', ...workflow }, data: { outgoingTransfer, pricing } };
  return api.call('POST', '/outgoing-transfers', body, key === undefined ? {} : { key });
}

async function sent(outgoingTransfer: Json): Promise<Json> {
  const answer = await send(outgoingTransfer);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

function patch(id: string, outgoingTransfer: Json, as: 'operator' | 'approver' = 'operator'): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return api.call('PATCH', `/outgoing-transfers/${id}`, body, { as });
}

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

async function incomingOf(transfer: Json): Promise<Json> {
  const { body } = await api.call('GET', `/incoming-transfers/${transfer.incomingTransferId}`);
  return body.data.incomingTransfer;
}

describe('an internal transfer whose requirements all hold', () => {
  test('is settled before its answer, which shows it as created', async () => {
    const before = await world.balance(destination);
    const transfer = await sent(internal({ amount: 12.34, description: 'Rent June' }));
    expect(transfer).toMatchObject({
      status: 'pending',
      amount: 12.34,
      feeAmount: 0,
      totalAmount: 12.34,
      transferDate: '2027-06-16',
      cutOffDateTime: null,
      scheme: null,
      ownerType: 'client',
      requirementConfiguration: { transferDateStatus: 'not-checked', authorizationStatus: 'not-required' },
    });
    const now = await read(transfer.id);
    expect(now).toMatchObject({
      status: 'completed',
      transactionNumber: transfer.transactionNumber,
      incomingTransferId: transfer.incomingTransferId,
      requirementConfiguration: { transferDateStatus: 'fulfilled', balanceCheckStatus: 'fulfilled' },
      beneficiary: { fullName: 'Grace Lovelace' },
    });
    expect((await world.balance(destination)).available).toBeCloseTo(before.available + 12.34, 10);
  });

  test('creates the incoming transfer with its own transaction number', async () => {
    const transfer = await sent(internal({ description: 'Rent July' }));
    const incoming = await incomingOf(transfer);
    expect(incoming).toMatchObject({
      status: 'completed',
      outgoingTransferId: transfer.id,
      clientId: payee,
      accountId: destination,
      scope: 'internal',
      scheme: null,
      senderInformation: 'Rent July',
      senderName: 'Ada Lovelace',
      transferDate: '2027-06-16',
      senderAccount: { accountHolderName: 'Ada Lovelace' },
      receiverAccount: { accountHolderName: 'Grace Lovelace' },
    });
    expect(incoming.transactionNumber).not.toBe(transfer.transactionNumber);
    const entry = (await world.statement(destination)).at(-1);
    expect(entry).toMatchObject({ transactionNumber: incoming.transactionNumber, direction: 'credit', amount: 10 });
  });

  test('records every event in order, for both sides', async () => {
    const transfer = await sent(internal());
    const all = ['created', 'processing', 'released', 'completed'].map((status) => `outgoing-transfer-${status}`);
    expect(await world.events(transfer.id)).toEqual(all);
    expect(await world.events(transfer.incomingTransferId)).toEqual([
      'incoming-transfer-pending',
      'incoming-transfer-completed',
    ]);
  });

  test('with one idempotency key ten times at once is one transfer and one answer, byte for byte', async () => {
    const before = (await world.balance(source)).available;
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(internal({ amount: 1.5 }), {}, undefined, key)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const statuses = answers.map(({ headers }) => headers.get('x-idempotency-status')).sort();
    expect(statuses).toEqual(['processed', ...Array(9).fill('replayed')]);
    expect((await world.balance(source)).available).toBeCloseTo(before - 1.5, 10);
    const other = await send(internal({ amount: 1.51 }), {}, undefined, key);
    expect({ status: other.status, code: other.body.code }).toEqual({
      status: 409,
      code: 'common.idempotency.key_reused',
    });
  });

  test('that was rejected leaves its key free', async () => {
    const key = randomUUID();
    expect((await send(internal({ amount: 999_999 }), {}, undefined, key)).status).toBe(422);
    expect((await send(internal({ amount: 1 }), {}, undefined, key)).status).toBe(201);
  });
});

describe('a request that cannot be carried out is rejected and changes nothing', () => {
  const stranger = randomUUID();
  const cases: readonly [string, () => Json, number, string, string][] = [
    [
      'money that is not there',
      () => internal({ amount: 100_000 }),
      422,
      'account.balance.insufficient',
      'source.accountId',
    ],
    [
      'an unknown source',
      () => internal({ source: { type: 'client-account', accountId: stranger } }),
      404,
      'common.coding.internal.record_not_found',
      'source.accountId',
    ],
    [
      'an unknown destination',
      () => internal({ destination: { type: 'client-account', accountId: stranger } }),
      404,
      'common.coding.internal.record_not_found',
      'destination.accountId',
    ],
    [
      'an unknown client',
      () => internal({ clientId: stranger }),
      404,
      'common.coding.internal.record_not_found',
      'clientId',
    ],
    [
      'an unknown client of an external one',
      () => external({ clientId: stranger }),
      404,
      'common.coding.internal.record_not_found',
      'clientId',
    ],
    ['another client', () => internal({ clientId: payee }), 422, 'account.client.mismatch', 'clientId'],
    ['another currency', () => internal({ currency: 'EUR' }), 422, 'account.currency.mismatch', 'currency'],
    [
      'the same account',
      () => internal({ destination: { type: 'client-account', accountId: source } }),
      400,
      'common.validation.field_invalid',
      'destination',
    ],
    [
      'a scheme with an internal transfer',
      () => internal({ scheme: 'swift' }),
      400,
      'common.validation.field_invalid',
      'scheme',
    ],
    [
      'no scheme with an external one',
      () => external({ scheme: undefined }),
      400,
      'common.validation.field_required',
      'scheme',
    ],
    [
      'a client account as external destination',
      () => external({ destination: { type: 'client-account', accountId: destination } }),
      400,
      'common.validation.field_invalid',
      'destination',
    ],
    [
      'an unknown bank account',
      () => external({ destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: stranger } }),
      404,
      'common.coding.internal.record_not_found',
      'destination.beneficiaryBankAccountId',
    ],
    [
      'a scheme that the provider does not offer',
      () => external({ scheme: 'sepa' }),
      422,
      'transfer.scheme.unavailable',
      'scheme',
    ],
    [
      'more than the scheme carries',
      () => external({ amount: 1_000_000.01 }),
      422,
      'transfer.amount.limit_exceeded',
      'amount',
    ],
    [
      'a date in the past',
      () => external({ transferDate: '2027-06-15' }),
      400,
      'transfer.date.invalid',
      'transferDate',
    ],
    [
      'an attribute of no currency',
      () => external({ schemeAttributes: { 'trade-order-id': '1' } }),
      400,
      'transfer.attribute.invalid',
      'schemeAttributes.trade-order-id',
    ],
    ['zero', () => internal({ amount: 0 }), 400, 'common.validation.field_invalid', 'amount'],
    [
      'a third decimal of sterling',
      () => internal({ amount: 0.001 }),
      400,
      'common.validation.field_invalid',
      'amount',
    ],
    ['a status', () => internal({ status: 'completed' }), 400, 'common.validation.field_unexpected', 'status'],
  ];

  test.each(cases)('%s', async (_, transfer, status, code, field) => {
    const before = await world.balance(source);
    const answer = await send(transfer());
    expect({ status: answer.status, code: answer.body.code }, answer.text).toEqual({ status, code });
    expect(answer.body.messageParameters.slice(0, 2)).toEqual(['outgoingTransfer', field]);
    expect(await world.balance(source)).toEqual(before);
  });

  test('says which schemes the account has, and which id does not exist', async () => {
    const { message } = (await send(external({ scheme: 'sepa' }))).body;
    expect(message).toMatch(/^The scheme does not support GBP from this account; these do: .*faster-payments/);
    const unknown = await send(internal({ clientId: stranger }));
    expect(unknown.body.message).toBe(`outgoingTransfer.clientId: ${stranger} does not exist.`);
  });

  test('an account that is not active, on either side', async () => {
    const resting = await world.account(payee);
    const body = { workflow: { code: 'client.direct' }, data: { account: { status: 'inactive' } } };
    expect((await api.call('PATCH', `/accounts/${resting}`, body)).status).toBe(200);
    const to = await send(internal({ destination: { type: 'client-account', accountId: resting } }));
    const from = await send(internal({ clientId: payee, source: { type: 'client-account', accountId: resting } }));
    for (const answer of [to, from]) {
      expect({ status: answer.status, code: answer.body.code }).toEqual({
        status: 422,
        code: 'account.status.not_active',
      });
    }
  });

  test('an account that its provider is closing, on either side', async () => {
    const closing = await world.account(payer, { amount: 20 });
    const mark = "UPDATE accounts SET requested_change = 'close' WHERE id = $1";
    await api.database.reader.statement(mark, [closing]);
    const from = { type: 'client-account', accountId: closing };
    const rejected = [
      await send(internal({ source: from })),
      await send(internal({ source: from, transferDate: '2027-07-01' })),
      await send(external({ source: from })),
      await send(internal({ destination: from })),
    ];
    for (const answer of rejected) {
      expect({ status: answer.status, code: answer.body.code }).toEqual({
        status: 422,
        code: 'account.status.not_active',
      });
    }
  });

  test('a beneficiary of another client', async () => {
    const foreign = await world.beneficiary(payee);
    const to = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: foreign };
    const answer = await send(external({ destination: to }));
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 422,
      code: 'transfer.client.mismatch',
    });
  });
});

describe('a dry run', () => {
  test('answers the transfer with its fee, without id or status, and creates nothing', async () => {
    const before = await world.balance(source);
    const pricing = { type: 'ratio', ratio: '0.01', boundaryCurrency: 'GBP', minimumAmount: 0.5, maximumAmount: 5 };
    const explicit = { sourcingMethod: 'explicit', enabled: true, chargingType: 'fee', chargingMethod: 'on-source' };
    const answer = await send(external({ amount: 100.5 }), { dryRun: true, pricing: explicit }, pricing);
    expect(answer.status, answer.text).toBe(200);
    const { outgoingTransfer } = answer.body.data;
    expect(outgoingTransfer).toMatchObject({
      feeCurrency: 'GBP',
      feeAmount: 1.01,
      totalAmount: 101.51,
      rollCount: 0,
      ownerType: 'client',
      originalTransferDate: '2027-06-16',
    });
    expect(outgoingTransfer).not.toHaveProperty('id');
    expect(outgoingTransfer).not.toHaveProperty('status');
    expect(await world.balance(source)).toEqual(before);
  });

  test.each([
    ['explicit pricing without its terms', { sourcingMethod: 'explicit', enabled: true }, undefined],
    ['implicit pricing with terms', { sourcingMethod: 'implicit' }, { type: 'ratio', ratio: '0.1' }],
    ['a ratio that is no decimal', { sourcingMethod: 'explicit' }, { type: 'ratio', ratio: '1e9' }],
    [
      'a minimum above the maximum',
      { sourcingMethod: 'explicit' },
      { type: 'ratio', ratio: '0.1', boundaryCurrency: 'GBP', minimumAmount: 2, maximumAmount: 1 },
    ],
  ])('rejects %s', async (_, workflowPricing, dataPricing) => {
    expect((await send(internal(), { dryRun: true, pricing: workflowPricing }, dataPricing)).status).toBe(400);
  });
});

describe('a fee', () => {
  test('is a separate entry, after the principal, under the same transaction number', async () => {
    const pricing = { type: 'ratio', ratio: '0.1' };
    const answer = await send(internal({ amount: 20 }), { pricing: { sourcingMethod: 'explicit' } }, pricing);
    expect(answer.body.data.outgoingTransfer).toMatchObject({ feeAmount: 2, totalAmount: 22 });
    const [principal, fee] = (await world.statement(source)).slice(-2);
    expect(principal).toMatchObject({ direction: 'debit', amount: 20, entryType: 'principal' });
    expect(fee).toMatchObject({ direction: 'debit', amount: 2, entryType: 'fee' });
    expect(fee.transactionNumber).toBe(principal.transactionNumber);
    expect(fee.balance).toBeCloseTo(principal.balance - 2, 10);
  });
});

describe('an internal transfer for a later date', () => {
  test('waits with its incoming transfer, reserves nothing, and can be cancelled once', async () => {
    const before = await world.balance(source);
    const transfer = await sent(internal({ transferDate: '2027-07-01', amount: 40 }));
    expect(await read(transfer.id)).toMatchObject({ status: 'pending', transferDate: '2027-07-01' });
    expect(await incomingOf(transfer)).toMatchObject({ status: 'pending', transferDate: null });
    expect(await world.balance(source)).toEqual(before);
    expect((await world.balance(destination)).receivable).toBe(0);

    expect((await patch(transfer.id, { status: 'cancelled' })).body.data.outgoingTransfer.status).toBe('cancelled');
    expect(await incomingOf(transfer)).toMatchObject({ status: 'failed' });
    const again = await patch(transfer.id, { status: 'cancelled' });
    expect({ status: again.status, code: again.body.code }).toEqual({
      status: 409,
      code: 'common.state.illegal_transition',
    });
    expect(await world.events(transfer.id)).toEqual(['outgoing-transfer-created', 'outgoing-transfer-cancelled']);
  });
});

describe('an external transfer from a plug-in account', () => {
  test('reserves its total and waits for the caller, whose reports move it on', async () => {
    const before = (await world.balance(source)).available;
    const transfer = await sent(external({ amount: 30 }));
    expect(await read(transfer.id)).toMatchObject({ status: 'processing' });
    expect((await world.balance(source)).available).toBeCloseTo(before - 30, 10);
    const entries = (await world.statement(source)).length;

    expect((await patch(transfer.id, { status: 'released' })).status).toBe(200);
    expect((await world.statement(source)).length).toBe(entries + 1);
    expect((await patch(transfer.id, { status: 'completed' })).body.data.outgoingTransfer.status).toBe('completed');
    expect((await patch(transfer.id, { status: 'failed' })).status).toBe(409);
  });

  test('gives the reservation back when it fails before release, and both entries after it', async () => {
    const before = (await world.balance(source)).available;
    const early = await sent(external({ amount: 5 }));
    expect((await patch(early.id, { status: 'failed' })).status).toBe(200);
    expect((await world.balance(source)).available).toBeCloseTo(before, 10);

    const late = await sent(external({ amount: 6 }));
    expect((await patch(late.id, { status: 'released' })).status).toBe(200);
    expect((await patch(late.id, { status: 'failed' })).status).toBe(200);
    expect((await world.balance(source)).available).toBeCloseTo(before, 10);
    const [debit, credit] = (await world.statement(source)).slice(-2);
    expect(debit).toMatchObject({ direction: 'debit', amount: 6, transactionNumber: late.transactionNumber });
    expect(credit).toMatchObject({ direction: 'credit', amount: 6, transactionNumber: late.transactionNumber });
  });

  test('that is returned brings its principal back by a new incoming transfer, once', async () => {
    const before = (await world.balance(source)).available;
    const transfer = await sent(external({ amount: 7 }));
    expect((await patch(transfer.id, { returned: true })).status).toBe(409);
    expect((await patch(transfer.id, { status: 'completed' })).status).toBe(200);
    const { body } = await patch(transfer.id, { returned: true });
    expect(body.data.outgoingTransfer).toMatchObject({ status: 'completed', returned: true });
    const { returningIncomingTransferIds, incomingTransferId, waitingFor } = body.data.outgoingTransfer;
    expect([returningIncomingTransferIds, waitingFor]).toEqual([[incomingTransferId], null]);
    expect(await read(transfer.id)).toMatchObject({ returningIncomingTransferIds: [incomingTransferId] });
    expect(await incomingOf(body.data.outgoingTransfer)).toMatchObject({
      status: 'completed',
      amount: 7,
      outgoingTransferId: null,
    });
    expect((await world.balance(source)).available).toBeCloseTo(before, 10);
    const again = await patch(transfer.id, { returned: true });
    expect([again.status, again.body.data]).toEqual([200, body.data]);
    expect((await world.balance(source)).available).toBeCloseTo(before, 10);
    expect((await world.events(transfer.id)).slice(-2)).toEqual([
      'outgoing-transfer-completed',
      'outgoing-transfer-returned',
    ]);
  });

  const reports = {
    released: { status: 'released' },
    completed: { status: 'completed' },
    failed: { status: 'failed' },
    returned: { returned: true },
  } as const;
  type Report = keyof typeof reports;

  // Reports in order, then those that repeat them; all others contradict them.
  const stories: readonly (readonly [readonly Report[], readonly Report[]])[] = [
    [['released'], ['released']],
    [['completed'], ['released', 'completed']],
    [
      ['released', 'completed'],
      ['released', 'completed'],
    ],
    [['failed'], ['failed']],
    [
      ['released', 'failed'],
      ['released', 'failed'],
    ],
    [
      ['completed', 'returned'],
      ['released', 'completed', 'returned'],
    ],
  ];

  test.each(stories)(
    'reported as %j answers %j again with the present transfer, and nothing moves',
    async (reported, known) => {
      const transfer = await sent(external({ amount: 8 }));
      for (const report of reported) expect((await patch(transfer.id, reports[report])).status).toBe(200);
      const [row, events, balance] = [
        await read(transfer.id),
        await world.events(transfer.id),
        await world.balance(source),
      ];
      for (const report of known) {
        const { status, body } = await patch(transfer.id, reports[report]);
        expect({ report, status, shown: body.data?.outgoingTransfer }).toEqual({ report, status: 200, shown: row });
      }
      expect(await read(transfer.id)).toEqual(row);
      expect(await world.events(transfer.id)).toEqual(events);
      expect(await world.balance(source)).toEqual(balance);
    },
  );

  test.each<[readonly Report[], readonly Report[]]>([
    [[], ['returned']],
    [['released'], ['returned']],
    [['completed'], ['failed']],
    [['failed'], ['released', 'completed', 'returned']],
    [
      ['released', 'failed'],
      ['completed', 'returned'],
    ],
    [['completed', 'returned'], ['failed']],
  ])('reported as %j rejects %j as contradictions', async (reported, contradicting) => {
    const transfer = await sent(external({ amount: 9 }));
    for (const report of reported) expect((await patch(transfer.id, reports[report])).status).toBe(200);
    const row = await read(transfer.id);
    for (const report of contradicting) {
      const { status, body } = await patch(transfer.id, reports[report]);
      expect({ report, status, code: body.code }).toEqual({
        report,
        status: 409,
        code: 'common.state.illegal_transition',
      });
    }
    expect(await read(transfer.id)).toEqual(row);
  });

  test.each<[Report, readonly Report[]]>([
    ['released', []],
    ['completed', []],
    ['failed', []],
    ['returned', ['completed']],
  ])('eight times at once: %s is 200 for each caller and happens once', async (report, before) => {
    const transfer = await sent(external({ amount: 11 }));
    for (const earlier of before) expect((await patch(transfer.id, reports[earlier])).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 8 }, () => patch(transfer.id, reports[report])));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const row = await read(transfer.id);
    for (const { body } of answers) expect(body.data.outgoingTransfer).toEqual(row);
    const type = `outgoing-transfer-${report}`;
    expect((await world.events(transfer.id)).filter((event) => event === type)).toEqual([type]);
    await world.invariantsHold();
  });

  test('a report about a pending, a cancelled or an internal transfer, or one that its provider carries out, is rejected', async () => {
    const pending = await sent(external({ amount: 9, transferDate: '2027-06-25' }));
    const internalOne = await sent(internal({ amount: 1 }));
    const cancelled = await sent(external({ amount: 9, transferDate: '2027-06-25' }));
    expect((await patch(cancelled.id, { status: 'cancelled' })).status).toBe(200);
    for (const { id } of [pending, cancelled, internalOne]) {
      for (const report of Object.values(reports)) expect((await patch(id, report)).status).toBe(409);
    }
    expect((await patch(pending.id, { status: 'cancelled' })).status).toBe(200);
  });

  test('without the money waits, and goes as soon as the account is credited', async () => {
    const poor = await world.account(payer, { amount: 3 });
    const transfer = await sent(external({ amount: 50, source: { type: 'client-account', accountId: poor } }));
    expect(await read(transfer.id)).toMatchObject({
      status: 'pending',
      requirementConfiguration: { balanceCheckStatus: 'not-fulfilled', transferDateStatus: 'fulfilled' },
    });
    await world.credit(poor, 50);
    const { admitted } = await api.database.transaction((tx) =>
      admitWaitingTransfers(tx, asId(poor), api.services.configuration),
    );
    expect(admitted).toBe(1);
    expect(await read(transfer.id)).toMatchObject({ status: 'processing' });
  });
});

describe('dates of external transfers', () => {
  test('a day that the scheme is closed rolls to the next open one, and the original date is kept', async () => {
    const transfer = await sent(external({ scheme: 'chaps', transferDate: '2027-06-19', amount: 1 }));
    expect(transfer).toMatchObject({
      transferDate: '2027-06-21',
      originalTransferDate: '2027-06-19',
      rollCount: 1,
      cutOffDateTime: '2027-06-21T16:00:00',
    });
    expect((await patch(transfer.id, { status: 'cancelled' })).status).toBe(200);
  });

  test('after the cut-off the first available date is the next open day', async () => {
    clock = '2027-06-18T16:01:00Z';
    const transfer = await sent(external({ scheme: 'chaps', amount: 1 }));
    clock = '2027-06-16T12:00:00Z';
    expect(transfer).toMatchObject({ transferDate: '2027-06-21', rollCount: 0 });
  });
});

describe('lists', () => {
  test('every filter of specification 4.9 narrows, and they combine with AND', async () => {
    const transfer = await sent(internal({ amount: 77.07, description: 'A_filter 100% of it' }));
    const find = async (query: string) => {
      const { body, text } = await api.call('GET', `/outgoing-transfers?metadata.page.size=100&${query}`);
      expect(body.data?.outgoingTransfers, text).toBeDefined();
      return body.data.outgoingTransfers.map(({ id }: Json) => id);
    };
    const p = 'data.outgoingTransfer.';
    const hits = [
      'status=completed',
      `transactionNumber=${transfer.transactionNumber}`,
      'amountFrom=77.07',
      'amountTo=77.07',
      'currency=GBP',
      `clientId=${payer}`,
      `accountId=${source}`,
      'serviceProvider=custom-bank',
      'transferDateFrom=2027-06-16',
      'transferDateTo=2027-06-16',
      'description=a_FILTER%20100%25',
    ];
    for (const hit of hits) {
      expect(
        await find(
          `${p}transactionNumber=${transfer.transactionNumber}&${p}${hit}`.replace(
            `${p}transactionNumber=${transfer.transactionNumber}&${p}transactionNumber`,
            `${p}transactionNumber`,
          ),
        ),
        hit,
      ).toEqual([transfer.id]);
    }
    const misses = [
      'status=failed',
      'amountFrom=77.08',
      'amountTo=77.06',
      'currency=EUR',
      `clientId=${payee}`,
      `accountId=${destination}`,
      'serviceProvider=sandbox-bank',
      'serviceProviderId=x',
      'serviceProviderReference=x',
      'transferDateFrom=2027-06-17',
      'transferDateTo=2027-06-15',
      'description=aXfilter',
    ];
    for (const miss of misses) {
      expect(await find(`${p}transactionNumber=${transfer.transactionNumber}&${p}${miss}`), miss).toEqual([]);
    }
  });
});

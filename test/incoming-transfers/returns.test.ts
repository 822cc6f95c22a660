import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { createDatabase } from '../../db/client.ts';
import { readRuleFacts } from '../../db/compliance/rule-facts.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { readDueSubmission } from '../../db/outgoing-transfers/payment-submissions.ts';
import type { Database } from '../../db/query/database.ts';
import { findNamedPayments } from '../../db/reconciliation/references.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { statusReason } from '../../domain/common/texts/status-reasons.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { RETURN_CODES } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { Schemes } from '../../domain/providers/schemes.ts';
import { type ApiResponse, type CallOptions, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Completed money goes back to its payer by an outgoing transfer, in whole or in part. With the sandbox's bank: held-money.test.ts.

let testDatabase: TestDatabase;
let api: TestApi;
/** The same service, where every payment out needs an authorization. */
let authorizing: TestApi;
let owner: Database;
let world: MoneyWorld;

beforeAll(async () => {
  testDatabase = await createTestDatabase('returns');
  const providers = new Map([['sandbox-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'secret' })]]);
  const configuration = (given: TestApi['services']['configuration']) => ({ ...given, prices: [] });
  api = await startApi(testDatabase, { providers, configuration });
  const env = { AUTHORIZATION_RULE: 'always' };
  authorizing = await startApi(testDatabase, { providers, configuration, env, users: api.users });
  owner = createDatabase({
    url: testDatabase.ownerUrl,
    maxConnections: 2,
    applicationName: 'owner',
    deadlineMs: 60_000,
  });
  world = moneyWorld(api);
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await owner?.close();
  await authorizing?.stop();
  await api?.stop();
  await testDatabase?.drop();
});

interface Paid {
  readonly clientId: string;
  readonly accountId: string;
  /** The incoming transfer. */
  readonly id: string;
}

async function paidIn(amount = 100): Promise<Paid> {
  const clientId = await world.client();
  const accountId = await world.account(clientId);
  await credit(accountId, amount);
  return { clientId, accountId, id: await arrivedAt(accountId) };
}

/** By a scheme that never closes, so that no return waits for its date. */
async function credit(accountId: string, amount: number): Promise<void> {
  const money = { accountId, amount, currency: 'GBP', scope: 'external', scheme: 'faster-payments' };
  const body = { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit: money } };
  expect((await api.call('POST', '/provisioned-account-credits', body)).status).toBe(201);
}

/** Pays to another account of the service; returns that account. */
async function paidOn({ clientId, accountId }: Paid, amount: number): Promise<string> {
  const to = await world.account(await world.client());
  const outgoingTransfer = {
    ...{ clientId, currency: 'GBP', amount, scope: 'internal' },
    source: { type: 'client-account', accountId },
    destination: { type: 'client-account', accountId: to },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  expect((await api.call('POST', '/outgoing-transfers', body)).status).toBe(201);
  return to;
}

async function arrivedAt(accountId: string): Promise<string> {
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  return body.data.incomingTransfers[0].id;
}

/** Of an account at a bank. */
async function paidInAtBank(amountMinor = 10_000n): Promise<Paid> {
  const clientId = await world.client();
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, `in-${account.id}`, amountMinor);
  return { clientId, accountId: account.id, id: await arrivedAt(account.id) };
}

function giveBack(
  id: string,
  { amount, code = 'CUST' }: { readonly amount?: number; readonly code?: string },
  { by = api, ...options }: CallOptions & { readonly by?: TestApi } = {},
): Promise<ApiResponse> {
  const incomingTransfer = { ...(amount === undefined ? {} : { amount }), statusReason: { code } };
  const body = { workflow: { code: 'direct' }, data: { incomingTransfer } };
  return by.call('POST', `/incoming-transfers/${id}/return`, body, options);
}

/** The outgoing transfer of a return that was accepted. */
async function returned(...asked: Parameters<typeof giveBack>): Promise<string> {
  const answer = await giveBack(...asked);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.incomingTransfer.returns.at(-1).outgoingTransferId;
}

const outgoing = async (id: string): Promise<Json> =>
  (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
const incoming = async (id: string): Promise<Json> =>
  (await api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;

async function patch(id: string, outgoingTransfer: Json): Promise<Json> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('PATCH', `/outgoing-transfers/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.outgoingTransfer;
}

function reported(id: string, report: Partial<PaymentReport> & Pick<PaymentReport, 'outcome'>) {
  const notice = { id: asId<OutgoingTransferId>(id), provider: 'sandbox-bank' };
  const whole = { serviceProviderId: `p-${id}`, serviceProviderReference: null, code: null, ...report };
  return api.database.transaction((tx) => applyPaymentReport(tx, notice, whole, api.services.configuration));
}

describe('a part of completed money', () => {
  test('is reserved at once, paid like any transfer, and shown by both transfers', async () => {
    const { accountId, clientId, id } = await paidIn();
    const answer = await giveBack(id, { amount: 30 });
    expect(answer.status, answer.text).toBe(200);
    const [one] = answer.body.data.incomingTransfer.returns;
    expect(one).toEqual({ outgoingTransferId: expect.any(String), amount: 30, code: 'CUST', status: 'processing' });
    expect(answer.body.data.incomingTransfer).toMatchObject({
      id,
      status: 'completed',
      amount: 100,
      statusReason: null,
    });
    expect(await incoming(id)).toEqual(answer.body.data.incomingTransfer);
    expect(await world.balance(accountId)).toEqual({ available: 70, receivable: 0 });
    const { transactionNumber } = await incoming(id);
    expect(await outgoing(one.outgoingTransferId)).toMatchObject({
      clientId,
      amount: 30,
      feeAmount: 0,
      scope: 'external',
      scheme: 'faster-payments',
      status: 'processing',
      waitingFor: 'caller',
      description: `Return of ${transactionNumber}`,
      returnedIncomingTransferId: id,
      returnReason: { code: 'CUST', message: 'The beneficiary requested the return.' },
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: null, beneficiaryId: null },
      beneficiary: null,
    });
    await patch(one.outgoingTransferId, { status: 'completed' });
    expect((await incoming(id)).returns).toEqual([{ ...one, status: 'completed' }]);
    expect(await world.statement(accountId)).toMatchObject([{ amount: 100 }, { amount: 30 }]);
    expect(await world.events(one.outgoingTransferId)).toEqual([
      'outgoing-transfer-created',
      'outgoing-transfer-processing',
      'outgoing-transfer-released',
      'outgoing-transfer-completed',
    ]);
    expect(await auditOf(api.database.reader, id)).toMatchObject([
      { action: 'returned', after: { outgoingTransferId: one.outgoingTransferId, amount: 30, code: 'CUST' } },
    ]);
  });

  test('leaves the rest, which goes back without an amount, and then nothing is left', async () => {
    const { accountId, id } = await paidIn();
    await returned(id, { amount: 0.01 });
    const { returns } = (await giveBack(id, { code: 'AM05' })).body.data.incomingTransfer;
    expect(returns).toMatchObject([{ amount: 0.01 }, { amount: 99.99, code: 'AM05' }]);
    const more = await giveBack(id, { amount: 0.01 });
    expect([more.status, more.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect((await world.balance(accountId)).available).toBe(0);
  });

  test('that is cancelled or fails can be returned again; one that is completed cannot, even if it comes back', async () => {
    const { accountId, id } = await paidIn();
    const cancelled = await returned(id, { amount: 60 }, { by: authorizing });
    expect((await giveBack(id, { amount: 41 })).body.code).toBe('transfer.amount.limit_exceeded');
    await patch(cancelled, { status: 'cancelled' });
    const failed = await returned(id, { amount: 100 });
    await patch(failed, { status: 'failed', statusReason: { code: 'AC04' } });
    expect((await world.balance(accountId)).available).toBe(100);
    const refused = await returned(id, { amount: 100 });
    await patch(refused, { status: 'completed' });
    const back = await patch(refused, { returned: true, statusReason: { code: 'AC04' } });
    expect((await world.balance(accountId)).available).toBe(100);
    const statuses = (await incoming(id)).returns.map(({ status }: Json) => status);
    expect(statuses).toEqual(['cancelled', 'failed', 'completed']);
    // It is the client's money: it has no payer to go back to a second time.
    for (const one of [id, back.incomingTransferId]) {
      const again = await giveBack(one, { amount: 1 });
      expect([again.status, again.body.code], again.text).toEqual([409, 'common.state.illegal_transition']);
    }
  });

  test('waits for its authorization, and reserves nothing before', async () => {
    const { accountId, id } = await paidIn();
    const waiting = await returned(id, { amount: 60 }, { by: authorizing });
    expect(await outgoing(waiting)).toMatchObject({ status: 'pending', waitingFor: 'authorization' });
    expect((await world.balance(accountId)).available).toBe(100);
    const data = { outgoingTransfer: { requirementConfiguration: { authorizationStatus: 'fulfilled' } } };
    const body = { workflow: { code: 'client.direct' }, data };
    expect((await api.call('PATCH', `/outgoing-transfers/${waiting}`, body, { as: 'approver' })).status).toBe(200);
    expect(await outgoing(waiting)).toMatchObject({ status: 'processing' });
    expect((await world.balance(accountId)).available).toBe(40);
  });

  test('waits for the money if the client has spent it, and for an account that is not active', async () => {
    const { accountId, clientId, id } = await paidIn();
    await paidOn({ accountId, clientId, id }, 80);
    const short = await returned(id, { amount: 30 });
    expect(await outgoing(short)).toMatchObject({ status: 'pending', waitingFor: 'balance' });
    await patch(short, { status: 'cancelled' });
    await testDatabase.asOwner(`UPDATE accounts SET status = 'suspended' WHERE id = '${accountId}'`);
    const suspended = await returned(id, { amount: 10 });
    expect(await outgoing(suspended)).toMatchObject({ status: 'pending', waitingFor: 'account' });
  });

  test('is made once under a key, however often it is asked', async () => {
    const { id } = await paidIn();
    const [first, again] = [
      await giveBack(id, { amount: 30 }, { key: `key-${id}` }),
      await giveBack(id, { amount: 30 }, { key: `key-${id}` }),
    ];
    expect(again.text).toBe(first.text);
    expect((await giveBack(id, { amount: 31 }, { key: `key-${id}` })).body.code).toBe('common.idempotency.key_reused');
    expect((await incoming(id)).returns).toHaveLength(1);
  });

  test('at a bank is submitted as the return of that payment, though nothing is known of the payer’s account', async () => {
    const { accountId, id } = await paidInAtBank();
    const part = await returned(id, { amount: 30, code: 'AC06' });
    const due = await readDueSubmission(api.database.reader, asId<OutgoingTransferId>(part), 1);
    expect(due?.payment).toMatchObject({
      ourReference: part,
      amountMinor: 3_000n,
      creditor: { name: 'NOTPROVIDED', iban: null, accountNumber: null },
      returnOf: { serviceProviderId: `in-${accountId}`, code: 'AC06' },
    });
    // By this, a bank's file and its statement name the debit.
    const named = await findNamedPayments(api.database.reader, { provider: 'sandbox-bank', currency: 'GBP' }, [part]);
    expect(named).toEqual([{ direction: 'out', reference: part, name: part, amountMinor: 3_000n }]);
    const claim = { amountMinor: '3000', currency: 'GBP', returned: null };
    // A rejection for a passing reason keeps the reservation and is retried; the bank's "already returned" ends it.
    expect(await reported(part, { outcome: 'failed', rejectedAttempt: 1, code: 'BE08', claim })).toBe('applied');
    expect((await outgoing(part)).status).toBe('processing');
    expect(await reported(part, { outcome: 'completed', claim })).toBe('applied');
    const other = await returned(id, { amount: 70 });
    expect(
      await reported(other, {
        outcome: 'failed',
        rejectedAttempt: 1,
        code: 'ARDT',
        claim: { ...claim, amountMinor: '7000' },
      }),
    ).toBe('applied');
    expect(await outgoing(other)).toMatchObject({ status: 'failed', statusReason: { code: 'ARDT' } });
    expect((await world.balance(accountId)).available).toBe(70);
    const recall = await api.call('POST', `/outgoing-transfers/${part}/recall`, {
      workflow: { code: 'direct' },
      data: {},
    });
    expect([recall.status, recall.body.code], recall.text).toEqual([422, 'transfer.recall.unavailable']);
  });
});

test('the review of a return sees of the payer what the review of the payment in saw', async () => {
  const clientId = await world.client();
  const accountId = await world.account(clientId);
  const money = {
    ...{ accountId, amount: 100, currency: 'GBP', scope: 'external', scheme: 'faster-payments' },
    ...{ senderName: 'Augusta Payer', senderAddress: { country: 'IR', city: 'Tehran' } },
    senderBankAccount: { accountHolderName: 'A. Payer', country: 'TR', iban: 'AE00 UNKNOWN' },
  };
  const body = { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit: money } };
  const credited = await api.call('POST', '/provisioned-account-credits', body);
  expect(credited.status, credited.text).toBe(201);
  const id = await arrivedAt(accountId);
  const part = await returned(id, { amount: 30 });
  const seen = async (direction: 'incoming' | 'outgoing', of: string) => {
    const { transfer } = await readRuleFacts(api.database.reader, { direction, id: of }, []);
    return [[...transfer.counterpartyCountries].sort(), [...transfer.counterpartyNames].sort()];
  };
  const ofPayer = [
    ['AE', 'IR', 'TR'],
    ['A. Payer', 'Augusta Payer'],
  ];
  expect(await seen('incoming', id)).toEqual(ofPayer);
  expect(await seen('outgoing', part)).toEqual(ofPayer);
  const nameless = await paidIn();
  expect(await seen('outgoing', await returned(nameless.id, { amount: 30 }))).toEqual([[], []]);
});

describe('is not returned so', () => {
  const rejected = async (answer: ApiResponse) => [answer.status, answer.body.code];

  test('completed money without a reason, as a request for money on hold has none', async () => {
    const { id } = await paidIn();
    for (const data of [undefined, {}]) {
      const body = { workflow: { code: 'direct' }, data };
      const answer = await api.call('POST', `/incoming-transfers/${id}/return`, body);
      expect(await rejected(answer), answer.text).toEqual([409, 'common.state.illegal_transition']);
      expect(answer.body.message).toContain('statusReason.code');
    }
    expect((await incoming(id)).returns).toEqual([]);
  });

  test.each([
    ['no amount of its currency', { amount: 0.001 }, 400, 'common.validation.field_invalid'],
    ['nothing', { amount: 0 }, 400, 'common.validation.field_invalid'],
    ['less than nothing', { amount: -1 }, 400, 'common.validation.field_invalid'],
    ['more than arrived', { amount: 100.01 }, 422, 'transfer.amount.limit_exceeded'],
    ['for a reason that is none', { code: 'XX99' }, 400, 'common.validation.field_invalid'],
  ])('%s', async (_, asked, status, code) => {
    const { id } = await paidIn();
    const answer = await giveBack(id, asked);
    expect(await rejected(answer), answer.text).toEqual([status, code]);
    expect((await incoming(id)).returns).toEqual([]);
  });

  test('more than its scheme carries at once, or by a scheme that its account’s provider does not offer', async () => {
    const { id } = await paidIn();
    type Given = TestApi['services']['configuration'];
    const otherwise = async (changed: (given: Given) => Partial<Given>, asked: { amount?: number }) => {
      const configuration = (given: Given) => ({ ...given, prices: [], ...changed(given) });
      const other = await startApi(testDatabase, { configuration, users: api.users });
      try {
        return await rejected(await giveBack(id, asked, { by: other }));
      } finally {
        await other.stop();
      }
    };
    const withLimit = ({ calendars }: Given) => {
      const rule = {
        ...{ zone: 'Europe/London', accountsNamedBy: null, currencies: null, destinationCountries: null, cutOff: null },
        ...{ cutOffByCurrency: {}, opensAt: null, calendars: [], amountLimitsMinor: { GBP: 5_000n } },
      };
      const rules = { internal: { ...rule, amountLimitsMinor: {} }, 'faster-payments': rule };
      return { schemes: new Schemes({ rules, calendars: () => calendars.current, calendarByCurrency: {} }) };
    };
    const withoutOffer = ({ providers }: Given) => ({
      providers: providers.map((provider) => ({
        ...provider,
        offers: provider.offers.map((offer) => ({ ...offer, schemes: ['chaps'] })),
      })),
    });
    expect(await otherwise(withLimit, {})).toEqual([422, 'transfer.amount.limit_exceeded']);
    expect(await otherwise(withoutOffer, {})).toEqual([422, 'transfer.scheme.unavailable']);
    expect((await incoming(id)).returns).toEqual([]);
    expect(await otherwise(withLimit, { amount: 50 })).toEqual([200, undefined]);
  });

  test('money from another account of the service', async () => {
    const to = await paidOn(await paidIn(), 5);
    const answer = await giveBack(await arrivedAt(to), {});
    expect(await rejected(answer)).toEqual([409, 'common.state.illegal_transition']);
    expect(answer.body.message).toContain('make an internal transfer');
  });

  test('money of a client that is not active, or of an account that is closed or being closed', async () => {
    for (const [change, code] of [
      ["UPDATE clients SET status = 'suspended' WHERE id = '$client'", 'client.status.not_active'],
      ["UPDATE accounts SET status = 'closed' WHERE id = '$account'", 'account.status.not_active'],
      ["UPDATE accounts SET requested_change = 'close' WHERE id = '$account'", 'account.status.not_active'],
    ] as const) {
      const paid = await paidIn();
      const { clientId, accountId, id } = paid;
      await paidOn(paid, 100);
      await testDatabase.asOwner(change.replace('$client', clientId).replace('$account', accountId));
      expect(await rejected(await giveBack(id, { amount: 1 }))).toEqual([422, code]);
    }
  });

  test('more than arrived, by any writer: the database rejects it', async () => {
    const { id, accountId } = await paidIn();
    const part = await returned(id, { amount: 60 });
    const copy = (change: string) =>
      owner.statement(
        `INSERT INTO outgoing_transfers SELECT (json_populate_record(row, json_build_object('id', gen_random_uuid(),
           'transaction_number', gen_random_uuid(), 'status', 'pending', 'reserved_minor', 0, ${change}))).* FROM outgoing_transfers row WHERE id = $1`,
        [part],
      );
    await expect(copy(`'amount_minor', 4001`)).rejects.toThrow('incoming_transfers_returning');
    const elsewhere = await world.account(await world.client());
    await expect(copy(`'amount_minor', 1, 'account_id', '${elsewhere}'`)).rejects.toThrow('is no return of');
    await testDatabase.asOwner(
      `UPDATE incoming_transfers SET status = 'pending', transfer_date = NULL WHERE id = '${id}'`,
    );
    await expect(copy(`'amount_minor', 1`)).rejects.toThrow('is no return of');
    await testDatabase.asOwner(
      `UPDATE incoming_transfers SET status = 'completed', transfer_date = '2026-01-01' WHERE id = '${id}'`,
    );
    expect((await world.balance(accountId)).available).toBe(40);
  });
});

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(`requested at once, parts together never exceed what arrived, whatever fails or is cancelled between them: seed ${seed}`, async () => {
  const random = randomFrom(seed);
  const { accountId, id } = await paidIn();
  // Money of others lies there too, which a return must not take.
  await credit(accountId, 1_000);
  for (let round = 0; round < 4; round += 1) {
    const amounts = Array.from({ length: 8 }, () => random.whole(1, 5_000));
    const answers = await Promise.all(
      amounts.map((minor) => giveBack(id, { amount: minor / 100 }, { by: random.pick([api, authorizing]) })),
    );
    for (const { status, text } of answers) expect([200, 409, 422], text).toContain(status);
    const { returns } = await incoming(id);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const live = returns.filter(({ status }: Json) => status !== 'cancelled' && status !== 'failed');
    const sum = live.reduce((total: number, { amount }: Json) => total + Math.round(amount * 100), 0);
    expect(sum).toBeLessThanOrEqual(10_000);
    // Every rejection was right: what was asked was more than was left in the end or at some moment before.
    const left = 10_000 - sum;
    expect(amounts.filter((minor, index) => answers[index]?.status !== 200 && minor <= left)).toEqual([]);
    await Promise.all(
      live.map(({ outgoingTransferId, status }: Json) =>
        patch(outgoingTransferId, status === 'pending' ? { status: 'cancelled' } : { status: 'failed' }),
      ),
    );
    await world.invariantsHold();
  }
  expect((await world.balance(accountId)).available).toBe(1_100);
  expect((await giveBack(id, {})).status).toBe(200);
});

test('every reason of a return has its sentence', () => {
  for (const code of RETURN_CODES) expect(statusReason(code, null)?.message).not.toContain(code);
});

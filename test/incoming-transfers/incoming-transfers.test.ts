import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { applyAccountCallback } from '../../db/accounts/connections.ts';
import { advanceIncomingTransfer, recordReturn } from '../../db/incoming-transfers/incoming-transfers.ts';
import { findNearAccounts } from '../../db/incoming-transfers/near-accounts.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { type AccountId, asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import { isTransactionNumber } from '../../domain/common/numbers/numbers.ts';
import type { ReceivedPayment } from '../../domain/incoming-transfers/arrivals.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { PAYMENT_IN } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually } from '../harness/servers/sandbox.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;
let temporal: TemporalClient;

/** Incoming payments by `chaps` cost 2.50, by `swift` 10%, at most 20.00; all others nothing. */
const PRICES = [
  { scheme: 'chaps', fixedMinor: 250n, pricing: null },
  {
    scheme: 'swift',
    fixedMinor: 0n,
    pricing: { ratio: { numerator: 1n, denominator: 10n }, minimumMinor: null, maximumMinor: 2_000n },
  },
].map((price) => ({ direction: 'incoming' as const, currency: 'GBP', ...price }));

beforeAll(async () => {
  database = await createTestDatabase('incoming-transfers');
  api = await startApi(database, { configuration: (configuration) => ({ ...configuration, prices: PRICES }) });
  world = moneyWorld(api);
  clientId = await world.client();
  temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await temporal?.close();
  await api?.stop();
  await database?.drop();
});

function report(provisionedAccountCredit: Json): Promise<ApiResponse> {
  const credit = { amount: 100, currency: 'GBP', scope: 'external', scheme: 'faster-payments' };
  return api.call('POST', '/provisioned-account-credits', {
    workflow: { code: 'client.direct' },
    data: { provisionedAccountCredit: { ...credit, ...provisionedAccountCredit } },
  });
}

async function find(query: Json): Promise<Json[]> {
  const parameters = Object.entries({ 'metadata.page.size': 100, ...query })
    .map(
      ([name, value]) =>
        `${name.includes('.') ? name : `data.incomingTransfer.${name}`}=${encodeURIComponent(String(value))}`,
    )
    .join('&');
  const answer = await api.call('GET', `/incoming-transfers?${parameters}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.incomingTransfers;
}

async function transferOf(serviceProviderId: string): Promise<Json> {
  const found = await find({ serviceProviderId });
  expect(found).toHaveLength(1);
  return found[0];
}

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;
}

/** An account at the built-in bank, as the bank's callback opens it; `pending` leaves it unopened. */
async function builtIn(options: { open?: boolean; owner?: string } = {}): Promise<Json> {
  const answer = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId: options.owner ?? clientId, currency: 'GBP' } },
    connect: { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' },
  });
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data.account;
  if (options.open !== false) await opened(id);
  return (await api.call('GET', `/accounts/${id}`)).body.data.account;
}

let accountNumbers = 10_000_000;

/** With these numbers, or with ones of its own. */
async function opened(id: string, numbers: { iban: null; accountNumber: string } | null = null): Promise<void> {
  accountNumbers += 1;
  const details = {
    country: 'GB',
    iban: ibanOf(accountNumbers),
    accountNumber: String(accountNumbers),
    ...numbers,
    routingCodes: { 'sort-code': '040075', bic: 'SBNKGB2L' },
  };
  const outcome = { outcome: 'opened', reference: `bank-${id}`, details } as const;
  const applied = await api.database.transaction((tx) =>
    applyAccountCallback(tx, { accountId: asId<AccountId>(id), change: 'open', attempt: 1, outcome }, 'sandbox-bank'),
  );
  expect(applied).toBe('applied');
}

/** A British IBAN with its check digits. */
function ibanOf(accountNumber: number): string {
  const account = `SBNK040075${accountNumber}`;
  const digits = `${account}GB00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return `GB${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`;
}

const NO_RECEIVER = { iban: null, accountNumber: null, routingCodes: {} };

async function receive(payment: Partial<ReceivedPayment>): Promise<{ outcome: string; id: string }> {
  const id = `in-${randomUUID()}`;
  const outcome = await api.database.transaction((tx) =>
    receivePayment(
      tx,
      {
        provider: 'sandbox-bank',
        amountMinor: 10_000n,
        currency: 'GBP',
        scheme: 'faster-payments',
        senderName: 'Grace Hopper',
        senderAccount: null,
        receiver: NO_RECEIVER,
        remittanceText: null,
        serviceProviderId: id,
        serviceProviderReference: 'ref-1',
        held: false,
        ...payment,
      },
      { ...api.services.configuration, prices: PRICES },
    ),
  );
  return { outcome, id: payment.serviceProviderId ?? id };
}

/** Held for an operator: the reason is in the row, no account is assigned, and the money is in suspense. */
async function isAmbiguous(transfer: Json): Promise<void> {
  expect(transfer).toMatchObject({ status: 'on-hold', accountId: null, clientId: null });
  const [row] = await api.database.reader.statement<{ reason: string; suspended: boolean }>(
    'SELECT hold_reason AS reason, in_suspense AS suspended FROM incoming_transfers WHERE id = $1',
    [transfer.id],
  );
  expect(row).toEqual({ reason: 'ambiguous-match', suspended: true });
}

/** A transfer whose payment matched no account. */
async function unmatched(payment: Partial<ReceivedPayment> = {}): Promise<Json> {
  return transferOf((await receive(payment)).id);
}

function advance(id: string) {
  return api.database.transaction((tx) =>
    advanceIncomingTransfer(tx, asId<IncomingTransferId>(id), api.services.configuration),
  );
}

function recordReturned(id: string) {
  return api.database.transaction((tx) => recordReturn(tx, asId<IncomingTransferId>(id)));
}

async function isWoken(id: string): Promise<boolean> {
  const rows = await api.database.reader.statement(`SELECT 1 FROM workflow_wakeups WHERE workflow_id = $1`, [
    `incoming-transfer/${id}`,
  ]);
  return rows.length > 0;
}

/** The provider's suspense balance, in minor units. */
async function suspense(provider = 'sandbox-bank'): Promise<bigint> {
  const [row] = await api.database.reader.statement<{ held: bigint }>(
    `SELECT coalesce(sum(amount_minor), 0)::bigint AS held FROM incoming_transfers WHERE in_suspense AND provider = $1`,
    [provider],
  );
  return row?.held ?? 0n;
}

async function operate(name: string, ...given: string[]): Promise<string[]> {
  const lines: string[] = [];
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(`no command ${name}`);
  const context = { database: api.database, temporal, initiator: TESTER, arguments: given };
  expect(await operation.run({ ...context, print: (line) => lines.push(line) })).toBe(0);
  return lines;
}

describe('POST /provisioned-account-credits', () => {
  test('credits a plug-in account and shows the credit and its transfer with every field', async () => {
    const account = await world.account(clientId);
    const answer = await report({
      accountId: account,
      clientId,
      amount: 250.75,
      senderName: 'Grace Hopper',
      senderBankAccount: { accountHolderName: 'G. Hopper', iban: 'DE89370400440532013000', routingCodes: { bic: 'X' } },
      senderAddress: { country: 'US', region: 'VA' },
      senderToReceiverInformation: 'Invoice 7 100% _paid_',
      serviceProviderId: 'custom-1',
    });
    expect(answer.status, answer.text).toBe(201);
    const credit = answer.body.data.provisionedAccountCredit;
    expect(credit).toMatchObject({
      clientId,
      accountId: account,
      amount: 250.75,
      serviceProvider: 'custom-bank',
      serviceProviderId: 'custom-1',
      senderAddress: { country: 'US', region: 'VA', city: null },
      senderBankAccount: { accountHolderName: 'G. Hopper', iban: 'DE89370400440532013000', currency: null },
      receiverAccount: { accountHolderName: 'Ada Lovelace', currency: 'GBP' },
    });
    expect((await api.call('GET', `/provisioned-account-credits/${credit.id}`)).body.data).toEqual(answer.body.data);
    const transfer = await transferOf('custom-1');
    expect(isTransactionNumber(transfer.transactionNumber)).toBe(true);
    expect(transfer).toEqual({
      id: transfer.id,
      transactionNumber: transfer.transactionNumber,
      transferDate: new Date().toISOString().slice(0, 10),
      clientId,
      accountId: account,
      status: 'completed',
      statusReason: null,
      waitingFor: null,
      currency: 'GBP',
      amount: 250.75,
      feeAmount: 0,
      feeCurrency: 'GBP',
      totalAmount: 250.75,
      scope: 'external',
      scheme: 'faster-payments',
      outgoingTransferId: null,
      returnedOutgoingTransferId: null,
      returns: [],
      paymentReference: transfer.id.replaceAll('-', ''),
      provisionedAccountCreditId: credit.id,
      serviceProvider: 'custom-bank',
      serviceProviderId: 'custom-1',
      serviceProviderReference: null,
      senderInformation: 'Invoice 7 100% _paid_',
      senderName: 'Grace Hopper',
      senderAccount: credit.senderBankAccount,
      receiverAccount: credit.receiverAccount,
    });
    expect(await read(transfer.id)).toEqual(transfer);
    expect(await world.events(transfer.id)).toEqual(['incoming-transfer-pending', 'incoming-transfer-completed']);
    expect(await world.balance(account)).toEqual({ available: 250.75, receivable: 0 });
  });

  test('answers the same serviceProviderId with 200 and the first credit, with other content 409', async () => {
    const account = await world.account(clientId);
    const parties = {
      senderName: 'Grace',
      senderBankAccount: { iban: 'I', alias: 'A' },
      senderAddress: { country: 'GB' },
    };
    const credit = { accountId: account, serviceProviderId: 'twice', ...parties };
    const first = await report(credit);
    const second = await report({ ...credit });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.data).toEqual(first.body.data);
    for (const change of [
      { amount: 101 },
      { scheme: 'chaps' },
      { senderName: 'Ada' },
      { senderBankAccount: { iban: 'X', alias: 'A' } },
      { senderAddress: null },
    ]) {
      const other = await report({ ...credit, ...change });
      expect([other.status, other.body.code], JSON.stringify(change)).toEqual([409, 'common.idempotency.key_reused']);
    }
    expect(await world.balance(account)).toEqual({ available: 100, receivable: 0 });
  });

  test('the same serviceProviderId at once: one credit', async () => {
    const account = await world.account(clientId);
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => report({ accountId: account, serviceProviderId: 'rush' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(await world.balance(account)).toEqual({ available: 100, receivable: 0 });
  });

  test.each<[string, Json, number, string, string]>([
    ['an account of nothing', { accountId: randomUUID() }, 404, 'common.coding.internal.record_not_found', 'accountId'],
    ['another currency', { currency: 'EUR', scheme: 'sepa' }, 422, 'account.currency.mismatch', 'currency'],
    ['a client of nothing', { clientId: randomUUID() }, 404, 'common.coding.internal.record_not_found', 'clientId'],
    ['no scheme from outside', { scheme: null }, 400, 'common.validation.field_required', 'scheme'],
    ['a scheme from inside', { scope: 'internal' }, 400, 'common.validation.field_invalid', 'scheme'],
    ['three decimals', { amount: 1.001 }, 400, 'common.validation.field_invalid', 'amount'],
    ['nothing', { amount: 0 }, 400, 'common.validation.field_invalid', 'amount'],
    ['less than nothing', { amount: -1 }, 400, 'common.validation.field_invalid', 'amount'],
    ['no scope', { scope: null }, 400, 'common.validation.field_required', 'scope'],
    [
      'a field of the answer',
      { serviceProvider: 'custom-bank' },
      400,
      'common.validation.field_unexpected',
      'serviceProvider',
    ],
  ])('rejects %s', async (_, change, status, code, field) => {
    const account = await world.account(clientId);
    const answer = await report({ accountId: account, ...change });
    expect([answer.status, answer.body.code], answer.text).toEqual([status, code]);
    expect(answer.body.messageParameters.slice(0, 2)).toEqual(['provisionedAccountCredit', field]);
    expect(await world.balance(account)).toEqual({ available: 0, receivable: 0 });
  });

  test('rejects another client than the account’s', async () => {
    const account = await world.account(clientId);
    const answer = await report({ accountId: account, clientId: await world.client('Grace') });
    expect([answer.status, answer.body.code]).toEqual([422, 'account.client.mismatch']);
  });

  test('rejects a built-in account', async () => {
    const { id } = await builtIn();
    const answer = await report({ accountId: id });
    expect([answer.status, answer.body.code]).toEqual([422, 'account.method.mismatch']);
  });

  test('reports every problem at once, contradictions between fields too', async () => {
    const answer = await report({ accountId: 'mine', scope: 'external', scheme: null, nonsense: 1 });
    const named = [answer.body, ...answer.body.errors].map(({ messageParameters }: Json) => messageParameters[1]);
    expect([answer.status, named.sort()]).toEqual([400, ['accountId', 'nonsense', 'scheme']]);
  });

  test('lists credits by account, currency and amount', async () => {
    const account = await world.account(clientId);
    for (const amount of [10, 20, 30]) await report({ accountId: account, amount });
    const amounts = async (query: string) => {
      const field = 'data.provisionedAccountCredit';
      const path = `/provisioned-account-credits?${field}.accountId=${account}${query.replaceAll('&', `&${field}.`)}`;
      const answer = await api.call('GET', path);
      return answer.body.data.provisionedAccountCredits.map(({ amount }: Json) => amount);
    };
    expect(await amounts('')).toEqual([10, 20, 30]);
    expect(await amounts('&amountFrom=20')).toEqual([20, 30]);
    expect(await amounts('&amountFrom=10.01&amountTo=29.99')).toEqual([20]);
    expect(await amounts('&currency=GBP&amountTo=10')).toEqual([10]);
    expect(await amounts('&currency=EUR')).toEqual([]);
  });
});

describe('fees', () => {
  test.each<[string, string, number, number]>([
    ['fixed', 'chaps', 100, 2.5],
    ['a part of the amount', 'swift', 100, 10],
    ['bounded', 'swift', 10_000, 20],
    ['never more than the money', 'chaps', 1.2, 1.2],
    ['none', 'faster-payments', 100, 0],
  ])('by the price table: %s', async (_, scheme, amount, feeAmount) => {
    const account = await world.account(clientId);
    const serviceProviderId = randomUUID();
    await report({ accountId: account, amount, scheme, serviceProviderId });
    const transfer = await transferOf(serviceProviderId);
    const totalAmount = Math.round((amount - feeAmount) * 100) / 100;
    expect(transfer).toMatchObject({ amount, feeAmount, feeCurrency: 'GBP', totalAmount });
    const entries = (await world.statement(account)).map(
      ({ direction, entryType, amount: entry, transactionNumber }) => {
        expect(transactionNumber).toBe(transfer.transactionNumber);
        return [direction, entryType, entry];
      },
    );
    const fee = feeAmount === 0 ? [] : [['debit', 'fee', feeAmount]];
    expect(entries).toEqual([['credit', 'principal', amount], ...fee]);
    expect(await world.balance(account)).toEqual({ available: totalAmount, receivable: 0 });
  });

  test('of held money are charged when it reaches the account', async () => {
    const account = await builtIn({ open: false });
    const { id } = await receive({ scheme: 'chaps', remittanceText: account.ledgerNumber });
    const held = await transferOf(id);
    expect(held).toMatchObject({ status: 'on-hold', feeAmount: 2.5, totalAmount: 97.5, transferDate: null });
    expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 100 });
    await opened(account.id);
    await advance(held.id);
    expect(await read(held.id)).toMatchObject({ status: 'completed', feeAmount: 2.5 });
    expect(await world.balance(account.id)).toEqual({ available: 97.5, receivable: 0 });
  });
});

describe('a payment that a provider reports', () => {
  test('is matched by IBAN, before all else, however it is written', async () => {
    const [account, other] = [await builtIn(), await builtIn()];
    const spaced = account.iban
      .toLowerCase()
      .replace(/(.{4})/g, '$1 ')
      .trim();
    const { outcome, id } = await receive({
      receiver: { iban: spaced, accountNumber: other.accountNumber, routingCodes: { 'sort-code': '040075' } },
      remittanceText: other.ledgerNumber,
    });
    expect(outcome).toBe('applied');
    expect(await transferOf(id)).toMatchObject({
      accountId: account.id,
      clientId,
      status: 'completed',
      serviceProvider: 'sandbox-bank',
      serviceProviderReference: 'ref-1',
      receiverAccount: { iban: account.iban, ledgerNumber: account.ledgerNumber },
    });
    expect(await world.balance(account.id)).toEqual({ available: 100, receivable: 0 });
  });

  test('is matched by account number and routing code, before the reference', async () => {
    const [account, other] = [await builtIn(), await builtIn()];
    const { id } = await receive({
      receiver: { iban: null, accountNumber: account.accountNumber, routingCodes: { 'sort-code': '04-00-75' } },
      remittanceText: other.ledgerNumber,
    });
    expect((await transferOf(id)).accountId).toBe(account.id);
  });

  test('by bank details that two open accounts share goes where its reference says, and without one is held', async () => {
    const [one, other] = [
      await builtIn({ open: false, owner: await world.client() }),
      await builtIn({ open: false, owner: await world.client() }),
    ];
    const numbers = { iban: null, accountNumber: '70872490' };
    for (const { id } of [one, other]) await opened(id, numbers);
    const receiver = { ...numbers, routingCodes: { 'sort-code': '040075' } };
    for (const account of [one, other]) {
      const { id } = await receive({ receiver, remittanceText: `Rent ${account.ledgerNumber}` });
      expect((await transferOf(id)).accountId).toBe(account.id);
    }
    await isAmbiguous(await unmatched({ receiver }));
    // A national code distinguishes accounts of one number and bank.
    await api.database.reader.statement(
      `UPDATE accounts SET routing_codes = '{"sort-code": "200000", "bic": "SBNKGB2L"}' WHERE id = $1`,
      [other.id],
    );
    const codes = { 'sort-code': '040075', bic: 'SBNKGB2L' };
    expect((await unmatched({ receiver: { ...receiver, routingCodes: codes } })).accountId).toBe(one.id);
    await isAmbiguous(await unmatched({ receiver: { ...receiver, routingCodes: { bic: 'SBNKGB2L' } } }));
    const elsewhere = { 'sort-code': '309634', bic: 'SBNKGB2L' };
    expect((await unmatched({ receiver: { ...receiver, routingCodes: elsewhere } })).accountId).toBeNull();
  });

  test('is matched by the ledger number in the reference, among other words and numbers', async () => {
    const account = await builtIn();
    const spaced = account.ledgerNumber.replace(/(.{4})/g, '$1 ').trim();
    const { id } = await receive({ remittanceText: `Invoice 2026-118 for ${spaced}, thank you` });
    expect((await transferOf(id)).accountId).toBe(account.id);
  });

  test.each<[string, (account: Json) => Partial<ReceivedPayment>]>([
    ['no account', () => ({})],
    [
      'an account number without its routing code',
      ({ accountNumber }) => ({ receiver: { ...NO_RECEIVER, accountNumber } }),
    ],
    [
      'an account number with another bank’s routing code',
      ({ accountNumber }) => ({ receiver: { ...NO_RECEIVER, accountNumber, routingCodes: { 'sort-code': '200000' } } }),
    ],
    [
      'a ledger number with a digit changed',
      ({ ledgerNumber }) => ({
        remittanceText: `${ledgerNumber.slice(0, -1)}${(Number(ledgerNumber.slice(-1)) + 1) % 10}`,
      }),
    ],
    ['an account of another currency', ({ iban }) => ({ currency: 'EUR', receiver: { ...NO_RECEIVER, iban } })],
  ])('that names %s is on hold against suspense', async (_, payment) => {
    const before = await suspense();
    const transfer = await unmatched(payment(await builtIn()));
    expect(transfer).toMatchObject({ status: 'on-hold', accountId: null, clientId: null, transferDate: null });
    expect(await suspense()).toBe(before + 10_000n);
    expect(await world.events(transfer.id)).toEqual(['incoming-transfer-pending', 'incoming-transfer-on-hold']);
    expect(await advance(transfer.id)).toEqual({ do: 'wait', for: 'match', until: null });
  });

  test('however many share an account number, the account that the reference names comes first of those near, then that of the IBAN', async () => {
    const shared = { iban: null, accountNumber: '77777777' };
    for (let number = 0; number < 12; number += 1) await opened((await builtIn({ open: false })).id, shared);
    const [holder, named] = [await builtIn(), await builtIn()];
    const near = (fields: Partial<ReceivedPayment> = {}) => {
      const receiver = { ...shared, iban: holder.iban, routingCodes: {} };
      const payment = { ...PAYMENT_IN, receiver, remittanceText: `for ${named.ledgerNumber}`, ...fields };
      return findNearAccounts(api.database.reader, payment);
    };
    const found = await near();
    expect(found.near.slice(0, 2).map(({ id }) => id)).toEqual([named.id, holder.id]);
    expect([found.near.length, found.areMore]).toEqual([10, true]);
    expect((await near({ remittanceText: null })).near[0]?.id).toBe(holder.id);
    // Of another currency, it is still better evidence than a number that many share.
    expect((await near({ currency: 'EUR' })).near[0]?.id).toBe(named.id);
  });

  describe('for a sub-account', () => {
    async function withSubAccounts(count: number): Promise<{ main: Json; subs: Json[] }> {
      const main = await builtIn();
      const subs: Json[] = [];
      for (let made = 0; made < count; made += 1) subs.push(await subAccount(main));
      return { main, subs };
    }

    async function subAccount(main: Json): Promise<Json> {
      const account = { mainAccountId: main.id };
      const answer = await api.call('POST', '/accounts', {
        workflow: { code: 'client.sub-account' },
        data: { account },
      });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.account;
    }

    const close = (account: Json) =>
      api.database.reader.statement(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [account.id]);

    const byIban = ({ iban }: Json) => ({ ...NO_RECEIVER, iban });
    const byNumber = ({ accountNumber, routingCodes }: Json) => ({ iban: null, accountNumber, routingCodes });

    test.each([
      ['IBAN', byIban],
      ['account number', byNumber],
    ])('the ledger number in the reference wins over the main account, which the %s names', async (_, named) => {
      const { main, subs } = await withSubAccounts(2);
      const { id } = await receive({ receiver: named(main), remittanceText: `for ${subs[1]?.ledgerNumber}` });
      expect(await transferOf(id)).toMatchObject({
        status: 'completed',
        accountId: subs[1]?.id,
        receiverAccount: { ledgerNumber: subs[1]?.ledgerNumber },
      });
      expect(await world.balance(subs[1]?.id)).toEqual({ available: 100, receivable: 0 });
      expect(await world.balance(main.id)).toEqual({ available: 0, receivable: 0 });
    });

    test('the deposit information of a sub-account leads to it, by every scheme', async () => {
      const { subs } = await withSubAccounts(1);
      const answer = await api.call('GET', `/accounts/${subs[0]?.id}/deposit-information`);
      const { internal: _, ...schemes }: Record<string, Json> = answer.body.data.depositInformation;
      expect(Object.keys(schemes).length).toBeGreaterThan(1);
      for (const [scheme, { iban, accountNumber, routingCodes, reference }] of Object.entries(schemes)) {
        const receiver = { iban, accountNumber, routingCodes: routingCodes ?? {} };
        const { id } = await receive({ scheme, receiver, remittanceText: reference });
        expect((await transferOf(id)).accountId, scheme).toBe(subs[0]?.id);
      }
    });

    test('money for a closed one belongs to its main account, with and without the bank details', async () => {
      const { main, subs } = await withSubAccounts(1);
      await close(subs[0]);
      for (const receiver of [byIban(main), NO_RECEIVER]) {
        const { id } = await receive({ receiver, remittanceText: subs[0]?.ledgerNumber });
        expect(await transferOf(id)).toMatchObject({ status: 'completed', accountId: main.id });
      }
    });

    test('another client’s ledger number in addition to the bank details changes nothing', async () => {
      const { main } = await withSubAccounts(1);
      const other = await withSubAccounts(1);
      for (const { ledgerNumber } of [other.main, other.subs[0]]) {
        const { id } = await receive({ receiver: byIban(main), remittanceText: ledgerNumber });
        expect((await transferOf(id)).accountId).toBe(main.id);
      }
    });

    test('two of them in one reference are ambiguous, and so is one together with its main account', async () => {
      const { main, subs } = await withSubAccounts(2);
      for (const numbers of [subs, [main, subs[0]]]) {
        const remittanceText = numbers.map((account) => account?.ledgerNumber).join(' ');
        for (const receiver of [byIban(main), NO_RECEIVER])
          await isAmbiguous(await unmatched({ receiver, remittanceText }));
      }
    });

    test('one that closes while its money arrives leaves the money to its main account', async () => {
      const { main, subs } = await withSubAccounts(1);
      let isLocked = () => {};
      const locked = new Promise<void>((resolve) => {
        isLocked = resolve;
      });
      const closing = api.database.transaction(async (tx) => {
        await tx.statement(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [subs[0]?.id]);
        isLocked();
        await eventually('the payment waits for the sub-account', async () => {
          const waiting = await lockWaiters(tx);
          return waiting > 0 ? true : undefined;
        });
      });
      await locked;
      const { id } = await receive({ receiver: byIban(main), remittanceText: subs[0]?.ledgerNumber });
      await closing;
      expect(await transferOf(id)).toMatchObject({ status: 'completed', accountId: main.id });
    });
  });

  test('that names two ledger numbers is held for a person, in either order; one named twice is one', async () => {
    const [one, other] = [await builtIn(), await builtIn()];
    for (const named of [
      [one, other],
      [other, one],
    ]) {
      const remittanceText = named.map(({ ledgerNumber }) => ledgerNumber).join(' or ');
      await isAmbiguous(await unmatched({ remittanceText }));
    }
    const { id } = await receive({ remittanceText: `${one.ledgerNumber} ${one.ledgerNumber}` });
    expect((await transferOf(id)).accountId).toBe(one.id);
  });

  test.each(['no account', 'its account'])(
    'that is reported several times at once counts once, for %s',
    async (whose) => {
      const account = await builtIn();
      for (let round = 0; round < 10; round += 1) {
        const serviceProviderId = randomUUID();
        const remittanceText = whose === 'no account' ? null : account.ledgerNumber;
        const report = () => receive({ serviceProviderId, remittanceText });
        const outcomes = (await Promise.all([report(), report(), report()])).map(({ outcome }) => outcome);
        expect(outcomes.sort()).toEqual(['applied', 'no-effect', 'no-effect']);
      }
      expect((await world.balance(account.id)).available).toBe(whose === 'no account' ? 0 : 1_000);
    },
  );

  test('that is reported twice counts once; with another amount it is a break', async () => {
    const account = await builtIn();
    const payment = { receiver: { ...NO_RECEIVER, iban: account.iban }, serviceProviderId: randomUUID() };
    expect((await receive(payment)).outcome).toBe('applied');
    expect((await receive(payment)).outcome).toBe('no-effect');
    expect((await receive({ ...payment, amountMinor: 10_001n })).outcome).toBe('break');
    expect(await world.balance(account.id)).toEqual({ available: 100, receivable: 0 });
  });
});

test('money that its provider holds cannot be credited by a decision that overlooks why it is held', async () => {
  const account = await builtIn();
  const { id } = await receive({ remittanceText: account.ledgerNumber, held: true });
  const held = await transferOf(id);
  const credit = () =>
    api.database.statement(
      `UPDATE incoming_transfers SET status = 'completed', in_suspense = false, receivable_minor = 0, hold_reason = NULL,
         transfer_date = '2026-01-02', waiting_for = NULL, waiting_since = NULL, next_check_at = NULL WHERE id = $1`,
      [held.id],
    );
  await expect(credit()).rejects.toThrow(/is held by its provider/);
  expect(await advance(held.id)).toEqual({ do: 'wait', for: 'provider', until: null });
  expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 100 });
});

describe('money for an account that cannot take it', () => {
  test('is held while the account is not active, and credited when it is', async () => {
    const account = await builtIn({ open: false });
    const { id } = await receive({ remittanceText: account.ledgerNumber });
    const held = await transferOf(id);
    expect(held).toMatchObject({ status: 'on-hold', accountId: account.id, transferDate: null });
    expect(await advance(held.id)).toEqual({ do: 'wait', for: 'account', until: null });
    expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 100 });
    await api.database.transaction((tx) =>
      tx.statement('DELETE FROM workflow_wakeups WHERE workflow_id = $1', [`incoming-transfer/${held.id}`]),
    );
    await opened(account.id);
    expect(await isWoken(held.id)).toBe(true);
    expect(await advance(held.id)).toEqual({ do: 'end' });
    expect(await advance(held.id)).toEqual({ do: 'end' });
    expect((await read(held.id)).status).toBe('completed');
    expect(await world.balance(account.id)).toEqual({ available: 100, receivable: 0 });
    expect(await world.events(held.id)).toEqual([
      'incoming-transfer-pending',
      'incoming-transfer-on-hold',
      'incoming-transfer-completed',
    ]);
  });

  test('is held while a plug-in account is suspended, and credited when it is active again', async () => {
    const account = await world.account(clientId);
    const change = (status: string) =>
      api.call('PATCH', `/accounts/${account}`, { workflow: { code: 'client.direct' }, data: { account: { status } } });
    expect((await change('suspended')).status).toBe(200);
    const serviceProviderId = randomUUID();
    expect((await report({ accountId: account, serviceProviderId })).status).toBe(201);
    const held = await transferOf(serviceProviderId);
    expect([held.status, await world.balance(account)]).toEqual(['on-hold', { available: 0, receivable: 100 }]);
    const closing = await change('closed');
    expect([closing.status, closing.body.code]).toEqual([422, 'account.close.not_empty']);
    expect((await change('active')).status).toBe(200);
    await advance(held.id);
    expect([(await read(held.id)).status, await world.balance(account)]).toEqual([
      'completed',
      { available: 100, receivable: 0 },
    ]);
  });

  test('is held while the client is not active', async () => {
    const owner = await world.client('Suspended');
    const account = await builtIn({ owner });
    const set = (status: string) =>
      api.database.transaction((tx) => tx.statement('UPDATE clients SET status = $2 WHERE id = $1', [owner, status]));
    await set('suspended');
    const { id } = await receive({ receiver: { ...NO_RECEIVER, iban: account.iban } });
    const held = await transferOf(id);
    expect(held.status).toBe('on-hold');
    await set('active');
    await advance(held.id);
    expect((await read(held.id)).status).toBe('completed');
  });

  test('fails if the account is closed, and is returned through the provider once', async () => {
    const account = await builtIn();
    const closing = await api.call('PATCH', `/accounts/${account.id}`, {
      workflow: { code: 'client.direct' },
      data: { account: { status: 'closed' } },
    });
    expect(closing.status, closing.text).toBe(200);
    const closed = await api.database.transaction((tx) =>
      applyAccountCallback(
        tx,
        { accountId: asId<AccountId>(account.id), change: 'close', attempt: 2, outcome: { outcome: 'closed' } },
        'sandbox-bank',
      ),
    );
    expect(closed).toBe('applied');
    const before = await suspense();
    const { id } = await receive({ receiver: { ...NO_RECEIVER, iban: account.iban } });
    const failed = await transferOf(id);
    expect(failed).toMatchObject({ status: 'failed', accountId: account.id, feeAmount: 0, transferDate: null });
    expect(await suspense()).toBe(before + 10_000n);
    expect(await isWoken(failed.id)).toBe(true);
    expect(await advance(failed.id)).toEqual({ do: 'send-back' });
    await world.invariantsHold();
    expect(await recordReturned(failed.id)).toEqual({ do: 'end' });
    expect(await recordReturned(failed.id)).toEqual({ do: 'end' });
    expect(await advance(failed.id)).toEqual({ do: 'end' });
    expect(await suspense()).toBe(before);
    expect(await world.events(failed.id)).toEqual(['incoming-transfer-pending', 'incoming-transfer-failed']);
  });

  test('fails on a closed plug-in account, and its caller sends it back', async () => {
    const account = await world.account(clientId);
    await api.call('PATCH', `/accounts/${account}`, {
      workflow: { code: 'client.direct' },
      data: { account: { status: 'closed' } },
    });
    const serviceProviderId = randomUUID();
    expect((await report({ accountId: account, serviceProviderId })).status).toBe(201);
    const failed = await transferOf(serviceProviderId);
    expect(failed.status).toBe('failed');
    expect(await advance(failed.id)).toEqual({ do: 'end' });
    expect(await suspense('custom-bank')).toBe(0n);
  });
});

describe('an operator', () => {
  test('assigns an unmatched payment, once', async () => {
    const account = await builtIn();
    const before = await suspense();
    const transfer = await unmatched({ scheme: 'chaps' });
    expect(await operate('assign-incoming', transfer.id, account.id.toUpperCase())).toHaveLength(1);
    const assigned = await read(transfer.id);
    expect(assigned).toMatchObject({ status: 'completed', accountId: account.id, clientId, feeAmount: 2.5 });
    expect(await auditOf(api.database.reader, transfer.id)).toEqual([
      {
        resource: 'incoming-transfer',
        action: 'assigned',
        ...TESTER,
        before: { status: 'on-hold', accountId: null },
        after: { status: 'completed', accountId: account.id },
      },
    ]);
    const credit = await api.call('GET', `/provisioned-account-credits/${assigned.provisionedAccountCreditId}`);
    expect(credit.body.data.provisionedAccountCredit).toMatchObject({ accountId: account.id, clientId });
    expect(await world.balance(account.id)).toEqual({ available: 97.5, receivable: 0 });
    expect(await suspense()).toBe(before);
    expect(await world.events(transfer.id)).toEqual([
      'incoming-transfer-pending',
      'incoming-transfer-on-hold',
      'incoming-transfer-completed',
    ]);
    expect(await isWoken(transfer.id)).toBe(true);
    await expect(operate('assign-incoming', transfer.id, account.id)).rejects.toThrow('illegal_transition');
    await expect(operate('return-incoming', transfer.id)).rejects.toThrow('illegal_transition');
  });

  test('cannot assign to an account that may not have the money', async () => {
    const transfer = await unmatched();
    const plugIn = await world.account(clientId);
    const dollars = await world.account(clientId, { currency: 'USD' });
    const pending = await builtIn({ open: false });
    for (const [account, code] of [
      [plugIn, 'account.method.mismatch'],
      [dollars, 'account.currency.mismatch'],
      [pending.id, 'account.status.not_active'],
      [randomUUID(), 'record_not_found'],
    ]) {
      await expect(operate('assign-incoming', transfer.id, String(account))).rejects.toThrow(code);
    }
    await expect(operate('assign-incoming', randomUUID(), plugIn)).rejects.toThrow('record_not_found');
    await expect(operate('assign-incoming', transfer.id)).rejects.toThrow('ACCOUNT as its id');
    expect((await read(transfer.id)).status).toBe('on-hold');
  });

  test('returns held money: a provider’s through the provider, a plug-in caller’s at once', async () => {
    const before = await suspense();
    const unmatchedTransfer = await unmatched();
    await operate('return-incoming', unmatchedTransfer.id);
    expect(await read(unmatchedTransfer.id)).toMatchObject({ status: 'failed', feeAmount: 0, accountId: null });
    expect(await isWoken(unmatchedTransfer.id)).toBe(true);
    expect(await advance(unmatchedTransfer.id)).toEqual({ do: 'send-back' });
    await recordReturned(unmatchedTransfer.id);
    expect(await suspense()).toBe(before);

    const account = await world.account(clientId);
    await api.call('PATCH', `/accounts/${account}`, {
      workflow: { code: 'client.direct' },
      data: { account: { status: 'suspended' } },
    });
    const serviceProviderId = randomUUID();
    await report({ accountId: account, serviceProviderId });
    const held = await transferOf(serviceProviderId);
    await operate('return-incoming', held.id);
    expect((await read(held.id)).status).toBe('failed');
    expect(await world.balance(account)).toEqual({ available: 0, receivable: 0 });
    expect(await suspense('custom-bank')).toBe(0n);
    expect(await world.events(held.id)).toEqual([
      'incoming-transfer-pending',
      'incoming-transfer-on-hold',
      'incoming-transfer-failed',
    ]);
  });

  test('two at once: one assigns, the other is rejected', async () => {
    const [one, other] = [await builtIn(), await builtIn()];
    const transfer = await unmatched();
    const outcomes = await Promise.allSettled([
      operate('assign-incoming', transfer.id, one.id),
      operate('assign-incoming', transfer.id, other.id),
      operate('return-incoming', transfer.id),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('GET /incoming-transfers', () => {
  test('filters by every field of the specification, all together, in the order of creation', async () => {
    const owner = await world.client('Lister');
    const account = await world.account(owner);
    const other = await builtIn({ owner, open: false });
    for (const [amount, senderName, senderToReceiverInformation] of [
      [10, 'Gräfin Ada', '100% of it'],
      [20.5, 'Bo_b', 'invoice_7'],
      [30, null, null],
    ]) {
      const serviceProviderId = `list-${amount}`;
      await report({ accountId: account, amount, senderName, senderToReceiverInformation, serviceProviderId });
    }
    await receive({
      remittanceText: other.ledgerNumber,
      amountMinor: 4_000n,
      senderName: 'Boxb',
      serviceProviderReference: 'end-to-end-4',
    });
    const all = await find({ clientId: owner });
    expect(all.map(({ amount }) => amount)).toEqual([10, 20.5, 30, 40]);
    const found = async (query: Json) => (await find({ clientId: owner, ...query })).map(({ amount }) => amount);
    const today = new Date().toISOString().slice(0, 10);
    for (const [query, amounts] of [
      [{ accountId: account }, [10, 20.5, 30]],
      [{ status: 'on-hold' }, [40]],
      [{ status: 'completed', serviceProvider: 'custom-bank' }, [10, 20.5, 30]],
      [{ serviceProvider: 'sandbox-bank' }, [40]],
      [{ transactionNumber: all[1].transactionNumber }, [20.5]],
      [{ amountFrom: '20.5' }, [20.5, 30, 40]],
      [{ amountFrom: 10.01, amountTo: 30 }, [20.5, 30]],
      [{ currency: 'GBP' }, [10, 20.5, 30, 40]],
      [{ currency: 'EUR' }, []],
      [{ senderName: 'gRÄfin' }, [10]],
      [{ senderName: 'bo_B' }, [20.5]],
      [{ senderName: '%' }, []],
      [{ senderInformation: '100%' }, [10]],
      [{ senderInformation: '_' }, [20.5]],
      [{ serviceProviderId: 'list-30' }, [30]],
      [{ serviceProviderId: 'list' }, []],
      [{ serviceProviderReference: 'end-to-end-4' }, [40]],
      [{ transferDateFrom: today, transferDateTo: today }, [10, 20.5, 30]],
      [{ transferDateTo: '2020-01-01' }, []],
      [{ 'metadata.page.size': 2, 'metadata.page.number': 1 }, [30, 40]],
    ] as const) {
      expect(await found(query), JSON.stringify(query)).toEqual(amounts);
    }
    expect((await api.call('GET', '/incoming-transfers?data.incomingTransfer.status=held')).status).toBe(400);
    const unknown = await api.call('GET', `/incoming-transfers/${randomUUID()}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
  });
});

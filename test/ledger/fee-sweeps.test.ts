import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { checkLedger, checkLedgerSince } from '../../db/ledger/check.ts';
import { sweepFeesByHand } from '../../db/ledger/sweeps/fee-sweeps.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Fee revenue moves to settlement once a day, by one posting for each provider and currency.

const BASELINE_DAY = '2020-01-01';

let clock = '2027-06-16T12:00:00Z';
let temporal: TemporalClient;
let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
const accounts: Record<string, { source: string; destination: string }> = {};

beforeAll(async () => {
  database = await createTestDatabase('fee-sweeps');
  const fee = (currency: string) => ({ direction: null, scheme: null, currency, fixedMinor: 5n, pricing: null });
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(clock) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, feeSweepTime: '18:30', prices: [fee('GBP'), fee('JPY')] }),
  });
  temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  for (const currency of ['GBP', 'JPY']) {
    const source = await world.account(payer, { currency, amount: 10_000 });
    accounts[currency] = { source, destination: await world.account(payer, { currency }) };
  }
});

beforeEach(async () => {
  clock = '2027-06-16T12:00:00Z';
  // Sweeps what is there already, dated to a day that no test reads.
  await api.database.transaction((tx) => sweepFeesByHand(tx, BASELINE_DAY, TESTER));
});

afterEach(async () => {
  expect(await checkLedger(api.database.reader)).toEqual([]);
  expect(await checkLedgerSince(api.database)).toEqual([]);
});

afterAll(async () => {
  await temporal.close();
  await api.stop();
  await database.drop();
});

/** Pays so often, each time for a fee of five minor units. */
async function pay(currency: string, times: number): Promise<void> {
  const { source = '', destination = '' } = accounts[currency] ?? {};
  for (let time = 0; time < times; time += 1) {
    const outgoingTransfer = {
      clientId: payer,
      currency,
      amount: 1,
      scope: 'internal',
      source: { type: 'client-account', accountId: source },
      destination: { type: 'client-account', accountId: destination },
    };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answer = await api.call('POST', '/outgoing-transfers', body);
    expect(answer.status, answer.text).toBe(201);
  }
}

/** Housekeeping's task, as the worker runs it. */
function sweepBySchedule(): Promise<string> {
  const { configuration, environment, keyring, logger } = api.services;
  const tasks = housekeepingActivities({
    database: api.database,
    providers: new Map(),
    configuration,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
    keyring,
  });
  return new MockActivityEnvironment().run(tasks.sweepFees);
}

async function operate(...given: string[]): Promise<{ status: number; lines: string[] }> {
  const lines: string[] = [];
  const operation = OPERATIONS['sweep-fees'];
  if (operation === undefined) throw new Error('there is no such operation');
  const context = { database: api.database, temporal, initiator: TESTER, arguments: given };
  return { status: await operation.run({ ...context, print: (line) => lines.push(line) }), lines };
}

/** The day's sweeps, as `currency amount`, in the order of the postings. */
async function sweptFor(day: string): Promise<string[]> {
  const rows = await api.database.reader.statement<{ swept: string }>(
    `SELECT currency || ' ' || amount_minor AS swept FROM fee_sweeps WHERE day = $1 ORDER BY posting_id`,
    [day],
  );
  return rows.map(({ swept }) => swept);
}

async function systemBalance(kind: string): Promise<bigint> {
  const [row] = await api.database.reader.statement<{ minor: bigint }>(
    `SELECT coalesce(sum(CASE WHEN credit_account_id = account.id THEN amount_minor ELSE -amount_minor END), 0)::bigint AS minor
     FROM system_accounts account JOIN postings ON account.id IN (debit_account_id, credit_account_id)
     WHERE account.kind = $1 AND account.currency = 'GBP'`,
    [kind],
  );
  return row?.minor ?? 0n;
}

describe('the sweep of the schedule', () => {
  test('moves each currency once a day, at its time, and leaves what comes later to the next day', async () => {
    clock = '2027-06-16T18:29:00Z';
    expect(await sweepBySchedule()).toBe('ok');
    clock = '2027-06-16T18:31:00Z';
    await pay('GBP', 3);
    await pay('JPY', 2);
    const settlement = await systemBalance('settlement');
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-16')).toEqual(['GBP 15', 'JPY 10']);
    expect(await systemBalance('fee-revenue')).toBe(0n);
    expect(await systemBalance('settlement')).toBe(settlement + 15n);
    await pay('GBP', 1);
    expect(await sweepBySchedule()).toBe('ok');
    clock = '2027-06-17T18:29:00Z';
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-16')).toEqual(['GBP 15', 'JPY 10']);
    clock = '2027-06-17T18:30:30Z';
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-17')).toEqual(['GBP 5']);
  });

  test('is made once when several run at the same instant', async () => {
    clock = '2027-06-18T18:31:00Z';
    await pay('GBP', 2);
    await Promise.all(Array.from({ length: 6 }, sweepBySchedule));
    expect(await sweptFor('2027-06-18')).toEqual(['GBP 10']);
  });

  test('that was missed for days is made once, and counts to the latest day whose time has come', async () => {
    await pay('GBP', 1);
    clock = '2027-06-24T09:00:00Z';
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-23')).toEqual(['GBP 5']);
    for (const day of ['2027-06-19', '2027-06-22', '2027-06-24']) expect(await sweptFor(day)).toEqual([]);
  });

  test('takes corrections of fees with it, also where they are more than the fees', async () => {
    const { source = '' } = accounts.GBP ?? {};
    clock = '2027-06-25T19:00:00Z';
    await pay('GBP', 1);
    const workflow = { code: 'correction', type: 'fee', transactionType: 'incoming-transfer' };
    const correct = async (direction: string, amount: number) => {
      const balanceAdjustment = { accountId: source, direction, amount, currency: 'GBP' };
      const path = `/accounts/${source}/balance-adjustments`;
      const answer = await api.call('POST', path, { workflow, data: { balanceAdjustment } }, { as: 'admin' });
      expect(answer.status, answer.text).toBe(201);
    };
    await correct('credit', 0.15);
    await correct('debit', 0.03);
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-25')).toEqual(['GBP -7']);
    expect(await systemBalance('fee-revenue')).toBe(0n);
  });
});

describe('the operator’s command', () => {
  test('moves what has come since, prints it, and is audited once each time that it moved something', async () => {
    clock = '2027-06-28T10:00:00Z';
    await pay('GBP', 2);
    await pay('JPY', 1);
    const first = await operate();
    expect(first.status).toBe(0);
    expect(first.lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^custom-bank {2}GBP {2}0\.1 {2}20270628-[0-9YZ]/),
      expect.stringMatching(/^custom-bank {2}JPY {2}5 {2}20270628-[0-9YZ]/),
    ]);
    await pay('GBP', 1);
    const second = await operate('2027-06-28', '--json');
    expect(JSON.parse(second.lines.join(''))).toMatchObject({
      day: '2027-06-28',
      moved: [{ serviceProvider: 'custom-bank', currency: 'GBP', amount: '0.05' }],
    });
    expect(await operate()).toEqual({ status: 0, lines: ['2027-06-28: no fees to sweep.'] });
    expect(await sweptFor('2027-06-28')).toEqual(['GBP 10', 'JPY 5', 'GBP 5']);
    expect(await auditOf(api.database.reader, '2027-06-28')).toMatchObject([
      {
        resource: 'fee-sweep',
        action: 'swept',
        actor: 'tester',
        after: { moved: [{ amount: '0.1' }, { amount: '5' }] },
      },
      { resource: 'fee-sweep', action: 'swept', actor: 'tester', after: { moved: [{ amount: '0.05' }] } },
    ]);
  });

  test('takes no part in the schedule: its sweep of the day is still made', async () => {
    clock = '2027-06-29T18:00:00Z';
    await pay('GBP', 1);
    await operate('2027-06-29');
    await pay('GBP', 2);
    clock = '2027-06-29T18:40:00Z';
    expect(await sweepBySchedule()).toBe('ok');
    expect(await sweptFor('2027-06-29')).toEqual(['GBP 5', 'GBP 10']);
  });

  test('at the same instant as others moves each fee once', async () => {
    clock = '2027-06-30T19:00:00Z';
    await pay('GBP', 4);
    await Promise.all([sweepBySchedule(), operate(), operate(), sweepBySchedule()]);
    expect(await sweptFor('2027-06-30')).toEqual(['GBP 20']);
  });

  test('rejects a day that has not begun with status 1, and what is no day', async () => {
    expect(await operate('2027-06-17')).toMatchObject({ status: 1 });
    await expect(operate('17.6.2027')).rejects.toThrow('YYYY-MM-DD');
  });
});

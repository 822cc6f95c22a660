import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { reviews } from '../harness/transfers/reviews.ts';

// `operate positions`: an internal transfer between accounts at different providers moves what is owed, and no money between banks.

let temporal: TemporalClient;
let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let payer: string;

beforeAll(async () => {
  database = await createTestDatabase('positions');
  api = await startApi(database);
  temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  payer = await world.client('Ada');
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await temporal.close();
  await api.stop();
  await database.drop();
});

async function positions(): Promise<{ status: number; rows: unknown }> {
  const lines: string[] = [];
  const context = { database: api.database, temporal, initiator: TESTER, arguments: ['--json'] };
  const status = await OPERATIONS.positions?.run({ ...context, print: (line) => lines.push(line) });
  return { status: status ?? -1, rows: JSON.parse(lines.join('')).positions };
}

async function transfer(source: string, destination: string, amount: number): Promise<void> {
  const { status, text } = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: payer,
        currency: 'GBP',
        amount,
        scope: 'internal',
        source: { type: 'client-account', accountId: source },
        destination: { type: 'client-account', accountId: destination },
      },
    },
  });
  expect(status, text).toBe(201);
}

test('show what banks owe each other once a client has moved money between accounts at two of them', async () => {
  const ledger = await world.account(payer, { amount: 100 });
  const atBank = await builtIn.opened(payer);
  await builtIn.payIn(atBank, 'payment-1', 2_000n);
  const custom = { serviceProvider: 'custom-bank', currency: 'GBP', held: '0', own: '0' };
  const sandbox = { serviceProvider: 'sandbox-bank', currency: 'GBP', held: '0', own: '0' };
  expect(await positions()).toEqual({
    status: 0,
    rows: [
      { ...custom, clients: '100', settled: '100', owedByOthers: '0' },
      { ...sandbox, clients: '20', settled: '20', owedByOthers: '0' },
    ],
  });
  await transfer(ledger, atBank.id, 40.5);
  expect(await positions()).toEqual({
    status: 0,
    rows: [
      { ...custom, clients: '59.5', settled: '100', owedByOthers: '-40.5' },
      { ...sandbox, clients: '60.5', settled: '20', owedByOthers: '40.5' },
    ],
  });
});

test('show money held for no client apart from the service’s own money, until it is assigned', async () => {
  const own = async () => {
    const { rows } = await positions();
    return Array.isArray(rows) ? rows.find(({ serviceProvider }) => serviceProvider === 'sandbox-bank') : undefined;
  };
  const before = await own();
  const { id } = await reviews(api).payIn();
  expect(await own()).toEqual({ ...before, held: '10', settled: '30' });
  const { id: account } = await builtIn.opened(payer);
  const run = OPERATIONS['assign-incoming']?.run({
    database: api.database,
    temporal,
    initiator: TESTER,
    arguments: [id, account],
    print: () => {},
  });
  expect(await run).toBe(0);
  expect(await own()).toEqual({ ...before, held: '0', clients: '70.5', settled: '30' });
});

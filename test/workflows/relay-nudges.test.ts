import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// A commit that wakes a workflow nudges the relay; any other does not.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let accounts: string[];
let bankAccount: string;
let local: { close(): void };
const nudge = vi.fn();

beforeAll(async () => {
  database = await createTestDatabase('relay-nudges');
  api = await startApi(database);
  local = api.database.onWakeup(nudge);
  world = moneyWorld(api);
  payer = await world.client();
  accounts = await Promise.all([0, 1].map(() => world.account(payer, { amount: 1_000 })));
  bankAccount = await world.beneficiary(payer);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

function transfer(change: Json): Json {
  const account = (at: number) => ({ type: 'client-account', accountId: accounts[at] });
  const own = {
    clientId: payer,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: account(0),
    destination: account(1),
  };
  return { ...own, ...change };
}

const OUTSIDE = () => ({
  scope: 'external',
  scheme: 'faster-payments',
  transferCustomReason: 'rent',
  destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
});
const LATER = { transferDate: '2027-03-01' };

function post(change: Json): Promise<ApiResponse> {
  const data = { outgoingTransfer: transfer(change) };
  return api.call('POST', '/outgoing-transfers', { workflow: { code: 'client.direct' }, data });
}

async function cancel(): Promise<ApiResponse> {
  const posted = await post(LATER);
  nudge.mockClear();
  const path = `/outgoing-transfers/${posted.body.data.outgoingTransfer.id}`;
  const data = { outgoingTransfer: { status: 'cancelled' } };
  return api.call('PATCH', path, { workflow: { code: 'client.direct' }, data });
}

function invite(): Promise<ApiResponse> {
  const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
  const invitations = [{ clientId: payer, userClientRelation: 'director' }];
  const data = { user: { email: 'grace@example.com', identity }, invitations };
  return api.call('POST', '/users', { workflow: { code: 'human.external.invitation' }, data });
}

const CASES: readonly (readonly [string, () => Promise<ApiResponse>, boolean])[] = [
  ['a payment to the outside, by its shared statement', () => post(OUTSIDE()), true],
  ['a payment to the outside for a later date', () => post({ ...OUTSIDE(), ...LATER }), true],
  ['a transfer for a later date, in a transaction', () => post(LATER), true],
  ['a cancellation', cancel, true],
  ['an invitation', invite, true],
  ['a payment that is rejected', () => post({ ...OUTSIDE(), amount: 1_000_000_000, currency: 'EUR' }), false],
  ['a straight-through transfer', () => post({}), false],
];

test.each(CASES)('%s: nudged when it is answered, if it woke a workflow', async (_, act, isNudged) => {
  nudge.mockClear();
  await act();
  expect(nudge.mock.calls.length > 0).toBe(isNudged);
});

test('a process without a relay notifies the others of what it woke, and straight-through transfers send nothing', async () => {
  local.close();
  const heard: string[] = [];
  const listener = await api.database.listen('workflow_wakeups', (payload) => heard.push(payload));
  // The listener is called once when it starts to listen.
  const count = (of: number) =>
    until(
      async () => heard.length,
      (length) => length === of,
    );
  await count(1);
  for (let times = 0; times < 20; times += 1) await post({});
  await post(LATER);
  await count(2);
  await listener.close();
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountStatus } from '../../domain/accounts/accounts.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  type FieldRule,
  fieldRules,
  invalid,
  problemsOf,
  rejected,
  same,
  shownAs,
} from '../harness/parties/field-rules.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Accepted and rejected requests for balance adjustments. A rejected one leaves the account as it was.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase('balance-adjustments-rules');
  api = await startApi(database);
  world = moneyWorld(api);
  clientId = await world.client();
  account = await world.account(clientId, { amount: 1000 });
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

const OUTSIDE = 'unconnected-service-provider';
const FEE = { code: 'correction', type: 'fee', transactionType: 'incoming-transfer' };
const OUTSIDE_FEE = { ...FEE, transactionType: OUTSIDE };
const SYNCHRONIZATION = { code: 'synchronization', type: OUTSIDE };
const NAMED = { unconnectedServiceProvider: 'Other Bank Ltd' };

function post(path: string, workflow: Json, balanceAdjustment: Json, as: 'admin' | 'operator' = 'admin') {
  const body = { workflow, data: { balanceAdjustment } };
  return api.call('POST', `/accounts/${path}/balance-adjustments`, body, { as });
}

const least = (): Json => ({ accountId: account, direction: 'credit', amount: 1, currency: 'GBP' });

/** Of the account: its balance and the number of its entries. */
async function moneyOf(id: string): Promise<unknown> {
  return [await world.balance(id), (await world.statement(id)).length];
}

const COMMON: readonly FieldRule[] = [
  {
    rule: '4.5',
    path: 'accountId',
    need: 'required',
    rejects: invalid('17', 17, '', '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02'),
  },
  {
    rule: '4.5',
    path: 'direction',
    need: 'required',
    takes: same('debit', 'credit'),
    rejects: invalid('both', 'DEBIT', '', 1),
  },
  {
    rule: '1 Amounts',
    path: 'amount',
    need: 'required',
    takes: same(0.01, 1.5, 3),
    rejects: invalid(0, -1, 0.001, 1e15, '1', true),
  },
  {
    rule: '1 Currencies',
    path: 'currency',
    need: 'required',
    takes: same('GBP'),
    rejects: invalid('gbp', 'XXX', '', 1),
  },
  {
    rule: '4.5',
    path: 'description',
    need: 'optional',
    takes: [...same('Charged twice', 'ä'.repeat(140)), shownAs('e\u0301', 'é')],
    rejects: invalid('', ' ', 'a'.repeat(141), 'line\nbreak', 1),
  },
];

const resource = (workflow: () => Json, alsoRequired: Json) => ({
  label: 'balanceAdjustment',
  least: () => ({ ...least(), ...alsoRequired }),
  alsoRequired: {},
  post: (sent: Json) => post(account, workflow(), sent),
  shown: ({ body }: ApiResponse) => body.data.balanceAdjustment,
});

describe('fields of a correction of an incoming transfer', () => {
  fieldRules(
    resource(() => FEE, {}),
    [
      ...COMMON,
      {
        rule: 'decisions, Accounts',
        path: 'unconnectedServiceProvider',
        need: 'optional',
        rejects: [rejected('Other Bank Ltd', 'field_unexpected')],
      },
      { rule: '2.5', path: 'id', need: 'read-only', rejects: [rejected(randomUUID(), 'field_unexpected')] },
      {
        rule: '2.5',
        path: 'transactionNumber',
        need: 'read-only',
        rejects: [rejected('20261121-Y4K7QZ', 'field_unexpected')],
      },
    ],
  );
});

const PROVIDER: FieldRule = {
  rule: 'decisions, Accounts',
  path: 'unconnectedServiceProvider',
  need: 'required',
  takes: same('Other Bank Ltd', 'a'.repeat(140)),
  rejects: invalid('', 'a'.repeat(141), 1),
};

describe('fields of a correction of an unconnected provider', () => {
  fieldRules(
    resource(() => OUTSIDE_FEE, NAMED),
    [...COMMON, PROVIDER],
  );
});

describe('fields of a synchronization', () => {
  fieldRules(
    resource(() => SYNCHRONIZATION, NAMED),
    [...COMMON, PROVIDER],
  );
});

const AT = 'common.validation.field_';
const REJECTED_WORKFLOWS: readonly [name: string, workflow: Json, problem: string][] = [
  ['no code', { type: 'fee' }, `${AT}required workflow.code`],
  ['an unknown code', { ...FEE, code: 'direct' }, 'common.workflow.unknown_code workflow.code'],
  ['a correction without a type', { ...FEE, type: undefined }, `${AT}required workflow.type`],
  ['a correction with type null', { ...FEE, type: null }, `${AT}required workflow.type`],
  ['a correction of an unknown type', { ...FEE, type: 'interest' }, `${AT}invalid workflow.type`],
  ['a correction of the type of synchronizations', { ...FEE, type: OUTSIDE }, `${AT}invalid workflow.type`],
  [
    'a correction without a transaction type',
    { ...FEE, transactionType: undefined },
    `${AT}required workflow.transactionType`,
  ],
  [
    'a correction of another transaction type',
    { ...FEE, transactionType: 'outgoing-transfer' },
    `${AT}invalid workflow.transactionType`,
  ],
  ['a synchronization without a type', { code: 'synchronization' }, `${AT}required workflow.type`],
  ['a synchronization of a fee', { ...SYNCHRONIZATION, type: 'fee' }, `${AT}invalid workflow.type`],
  [
    'a synchronization with a transaction type',
    { ...SYNCHRONIZATION, transactionType: OUTSIDE },
    `${AT}unexpected workflow.transactionType`,
  ],
  ['a field that no workflow has', { ...FEE, dryRun: true }, `${AT}unexpected workflow.dryRun`],
];

test.each(REJECTED_WORKFLOWS)('%s is rejected by its field', async (_name, workflow, problem) => {
  const before = await moneyOf(account);
  const answer = await post(account, workflow, { ...least(), ...NAMED });
  expect(answer.status, answer.text).toBe(400);
  expect(problemsOf(answer)).toContain(problem);
  expect(await moneyOf(account)).toEqual(before);
});

test.each([
  [FEE, NAMED, 'unexpected'],
  [OUTSIDE_FEE, {}, 'required'],
])('%j with the provider %j is rejected together with what else is wrong', async (workflow, named, code) => {
  const answer = await post(account, workflow, { ...least(), ...named, amount: -1 });
  expect([answer.status, ...problemsOf(answer)]).toEqual([
    400,
    `${AT}invalid balanceAdjustment.amount`,
    `${AT}${code} balanceAdjustment.unconnectedServiceProvider`,
  ]);
});

test('a field is named once, whatever is wrong with it, and a long value is not repeated', async () => {
  const long = await post(account, FEE, { ...least(), unconnectedServiceProvider: 'x'.repeat(100_000) });
  expect([long.status, ...problemsOf(long)]).toEqual([
    400,
    expect.stringContaining('balanceAdjustment.unconnectedServiceProvider'),
  ]);
  expect(long.text.length).toBeLessThan(1_000);
  const none = await post(account, OUTSIDE_FEE, 5);
  expect(none.body.messageParameters.slice(0, 2)).toEqual(['data', 'balanceAdjustment']);
  expect([none.status, none.body.errors]).toEqual([400, undefined]);
});

/** Each request has all problems of those below it, so the answer shows which of them counts first. */
test('rejections come in one order: the path’s account, the body’s, currency, status, and the balance last', async () => {
  const euro = await world.account(clientId, { currency: 'EUR' });
  const suspended = await inStatus('pending');
  const poor = await world.account(clientId);
  const unknown = randomUUID();
  const beyond = { ...least(), direction: 'debit', amount: 1_000_000, currency: 'USD' };
  const cases: readonly [path: string, sent: Json, status: number, code: string, field: string, value: string][] = [
    [unknown, { ...beyond, ...NAMED }, 400, `${AT}unexpected`, 'unconnectedServiceProvider', 'Other Bank Ltd'],
    [unknown, beyond, 404, 'common.coding.internal.record_not_found', 'id', unknown],
    [suspended, beyond, 400, `${AT}invalid`, 'accountId', account],
    [suspended, { ...beyond, accountId: suspended }, 422, 'account.currency.mismatch', 'currency', 'USD'],
    [euro, { ...beyond, accountId: euro }, 422, 'account.currency.mismatch', 'currency', 'USD'],
    [
      suspended,
      { ...beyond, accountId: suspended, currency: 'GBP' },
      422,
      'account.status.not_active',
      'accountId',
      suspended,
    ],
    [poor, { ...beyond, accountId: poor, currency: 'GBP' }, 422, 'account.balance.insufficient', 'accountId', poor],
  ];
  for (const [path, sent, status, code, field, value] of cases) {
    const { body, ...answer } = await post(path, FEE, sent);
    expect([answer.status, body.code], answer.text).toEqual([status, code]);
    const entity = status === 404 ? 'account' : 'balanceAdjustment';
    expect(body.messageParameters).toEqual([entity, field, value]);
    expect(body.errors).toBeUndefined();
  }
});

async function inStatus(status: AccountStatus): Promise<string> {
  if (status === 'pending' || status === 'declined') {
    const { body } = await api.call('POST', '/accounts', {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP' } },
      connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
    });
    if (status === 'declined') await patchStatus(body.data.account.id, status);
    return body.data.account.id;
  }
  const id = await world.account(clientId, status === 'closed' ? {} : { amount: 10 });
  if (status !== 'active') await patchStatus(id, status);
  return id;
}

async function patchStatus(id: string, status: string): Promise<void> {
  const body = { workflow: { code: 'client.direct' }, data: { account: { status } } };
  const answer = await api.call('PATCH', `/accounts/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
}

const BY_STATUS: Readonly<Record<AccountStatus, 201 | 422>> = {
  active: 201,
  inactive: 201,
  suspended: 201,
  pending: 422,
  declined: 422,
  closed: 422,
};

describe.each(Object.entries(BY_STATUS) as [AccountStatus, 201 | 422][])(
  'an account that is %s',
  (status, expected) => {
    test.each([
      ['debit', FEE],
      ['credit', FEE],
      ['credit', { ...SYNCHRONIZATION }],
    ])(`answers a %s with ${expected}`, async (direction, workflow) => {
      const id = await inStatus(status);
      const before = await moneyOf(id);
      const named = workflow.code === 'synchronization' ? NAMED : {};
      const answer = await post(id, workflow, { ...least(), ...named, accountId: id, direction });
      expect(answer.status, answer.text).toBe(expected);
      if (expected === 201) return;
      expect(answer.body).toMatchObject({
        code: 'account.status.not_active',
        messageParameters: ['balanceAdjustment', 'accountId', id],
      });
      expect(await moneyOf(id)).toEqual(before);
    });
  },
);

test('an account that its provider is closing cannot be adjusted', async () => {
  const { id } = await builtInAccounts(api).opened(clientId);
  await patchStatus(id, 'closed');
  const answer = await post(id, FEE, { ...least(), accountId: id });
  expect([answer.status, answer.body.code]).toEqual([422, 'account.status.not_active']);
});

test('the status of the client does not matter: books are put right whatever it is', async () => {
  const owner = await world.client('Grace');
  const id = await world.account(owner, { amount: 5 });
  const body = { workflow: { code: 'direct' }, data: { client: { status: 'suspended' } } };
  expect((await api.call('PATCH', `/clients/${owner}`, body, { as: 'admin' })).status).toBe(200);
  for (const direction of ['credit', 'debit']) {
    expect((await post(id, FEE, { ...least(), accountId: id, direction })).status).toBe(201);
  }
});

test('an operator may not adjust a balance', async () => {
  const before = await moneyOf(account);
  const answer = await post(account, FEE, least(), 'operator');
  expect([answer.status, answer.body.code]).toEqual([403, 'common.security.access_denied']);
  expect(await moneyOf(account)).toEqual(before);
});

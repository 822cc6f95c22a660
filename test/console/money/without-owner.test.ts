import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, startApi, type TestApi } from '../../harness/api.ts';
import { builtInAccounts, PAYMENT_IN } from '../../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { reviews } from '../../harness/transfers/reviews.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';

// Money that matched no account, or several: whom it may be for, and what people do about it.

let database: TestDatabase;
let api: TestApi;
let underTest: ConsoleUnderTest;
let world: MoneyWorld;
let operator: ConsoleCaller;
let second: ConsoleCaller;
/** At the bank, and so with the same bank details as every other account of these tests: ledger numbers tell them apart. */
let one: Json;
let other: Json;

beforeAll(async () => {
  database = await createTestDatabase('console-unmatched');
  api = await startApi(database);
  underTest = await startConsole(database);
  world = moneyWorld(api);
  one = await builtInAccounts(api).opened(await world.client('Zephyrine'));
  other = await builtInAccounts(api).opened(await world.client('Grace'));
  operator = await underTest.signIn('operator');
  second = await underTest.signIn('second-operator');
});

afterAll(async () => {
  await world?.invariantsHold();
  await underTest?.stop();
  await api?.stop();
  await database?.drop();
});

const DETAILS = { iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };

/** A payment that names the bank details that several accounts share. */
const ambiguous = async (amountMinor = 1_000n): Promise<string> => {
  const payment = { receiver: DETAILS, senderName: 'Augusta Payer', amountMinor };
  return (await reviews(api).payIn({ ...PAYMENT_IN, ...payment })).id;
};
const unmatched = async (): Promise<string> => (await reviews(api).payIn({ senderName: 'Augusta Payer' })).id;

const assign = (by: ConsoleCaller, id: string, fields: Readonly<Record<string, string>>) =>
  by.post(`/incoming-transfers/${id}/assign-incoming`, { reason: 'the client has called', ...fields });

async function entriesOf(id: string): Promise<Json[]> {
  return api.database.reader.statement<Json>(
    `SELECT action, actor, role, reason FROM audit_entries WHERE resource_id = $1 ORDER BY id`,
    [id],
  );
}

async function transferOf(id: string): Promise<Json> {
  return (await api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;
}

test('the list says how much waits, for whom and why, the oldest first, and hides it from a viewer', async () => {
  const [first, next] = [await ambiguous(1_234n), await unmatched()];
  const { text } = await operator.get('/money-without-owner');
  expect(text).toContain('several accounts match');
  expect(text).toContain('no account matches');
  expect(text).toContain('wait for an owner');
  expect(text.indexOf(first)).toBeLessThan(text.indexOf(next));
  expect(text).toContain('Augusta Payer');
  const some = await operator.get('/money-without-owner?why=no-match');
  expect(some.text).not.toContain(first);
  expect((await operator.get('/money-without-owner?currency=EUR')).text).toContain('Nothing is without an owner.');
  const viewer = await underTest.signIn('viewer');
  for (const path of ['/money-without-owner', '/money-without-owner?format=csv']) {
    const masked = await viewer.get(path);
    expect(masked.text).not.toContain('Augusta');
    expect(masked.text).not.toContain('31926819');
  }
});

test('the page of the money says what speaks for and against each near account, and hides the holders from a viewer', async () => {
  const known = await ambiguous();
  await assign(operator, known, { account: one.id });
  const id = await ambiguous();
  const { text } = await operator.get(`/incoming-transfers/${id}`);
  expect(text).toContain('Who is it for?');
  expect(text).toContain('It has the account number of the payment.');
  expect(text).toContain('This payer has paid into it');
  expect(text).toContain('shares it with another account');
  expect(text).toContain(`/incoming-transfers/${id}/assign-incoming?account=${one.id}`);
  expect(text).toContain('Zephyrine');
  expect((await operator.get(`/incoming-transfers/${known}`)).text).not.toContain('Who is it for?');
  const masked = await (await underTest.signIn('viewer')).get(`/incoming-transfers/${id}`);
  expect(masked.text).toContain('Who is it for?');
  expect(masked.text).not.toContain('Zephyrine');
  expect((await operator.get(`/incoming-transfers/${await unmatched()}`)).text).toContain('No account has its IBAN');
});

describe('assigning', () => {
  test('shows each near account with what it would have, and credits the chosen one with person, role and reason', async () => {
    const id = await ambiguous();
    const before = await world.balance(one.id);
    const form = await operator.get(`/incoming-transfers/${id}/assign-incoming?account=${one.id}`);
    expect(form.text).toContain(`To account ${one.id}: £10.00 GBP is credited at once`);
    expect(form.text).toContain(`£${(before.available + 10).toFixed(2)} GBP is then available there`);
    expect(form.text).toContain(other.id);
    const answer = await assign(operator, id, { account: one.id });
    expect(answer.status, answer.text).toBe(303);
    expect((await world.balance(one.id)).available).toBe(before.available + 10);
    expect(await entriesOf(id)).toEqual([
      { action: 'assigned', actor: operator.personId, role: 'operator', reason: 'the client has called' },
    ]);
  });

  test('to an account that is not near goes by its id, and a wrong one is rejected with the rule', async () => {
    const id = await unmatched();
    const elsewhere = await world.account(one.clientId);
    const rejected = await assign(operator, id, { other: elsewhere });
    expect([rejected.status, rejected.text]).toEqual([409, expect.stringContaining('the account at custom-bank')]);
    const unknown = await assign(operator, id, { other: '0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e8f' });
    expect([unknown.status, unknown.text]).toEqual([
      409,
      expect.stringContaining('0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e8f does not exist.'),
    ]);
    expect((await assign(operator, id, { other: 'x' })).status).toBe(409);
    expect((await transferOf(id)).status).toBe('on-hold');
    expect((await assign(operator, id, { other: other.id })).status).toBe(303);
    expect(await transferOf(id)).toMatchObject({ status: 'completed', accountId: other.id });
  });

  test('by two people at once to two accounts credits one of them, once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await ambiguous();
      const before = [(await world.balance(one.id)).available, (await world.balance(other.id)).available];
      const answers = await Promise.all([
        assign(operator, id, { account: one.id }),
        assign(second, id, { account: other.id }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      const after = [(await world.balance(one.id)).available, (await world.balance(other.id)).available];
      expect(after.map((balance, at) => balance - (before[at] ?? 0)).sort()).toEqual([0, 10]);
      expect(await entriesOf(id)).toHaveLength(1);
    }
  });

  test('is for operators only, and says why it is off once the money has an owner', async () => {
    const id = await ambiguous();
    for (const role of ['viewer', 'approver', 'compliance', 'admin'] as const) {
      expect((await assign(await underTest.signIn(role), id, { account: one.id })).status, role).toBe(403);
    }
    await assign(operator, id, { account: one.id });
    const form = await operator.get(`/incoming-transfers/${id}/assign-incoming`);
    expect(form.text).toContain('The incoming transfer is completed and has an account.');
    expect(form.text).not.toContain('name="reason"');
  });
});

describe('returning', () => {
  const giveBack = (by: ConsoleCaller, id: string) =>
    by.post(`/incoming-transfers/${id}/return-incoming`, { reason: 'its payer has asked' });

  test('says whom the money goes back to, and is not shown as done before the bank has answered', async () => {
    const id = await unmatched();
    const form = await operator.get(`/incoming-transfers/${id}/return-incoming`);
    expect(form.text).toContain('£10.00 GBP goes back to its payer Augusta Payer through sandbox-bank');
    expect((await giveBack(operator, id)).status).toBe(303);
    expect(await transferOf(id)).toMatchObject({ status: 'failed' });
    expect((await operator.get(`/incoming-transfers/${id}`)).text).toContain('Not yet known.');
    expect(await entriesOf(id)).toEqual([
      { action: 'returned', actor: operator.personId, role: 'operator', reason: 'its payer has asked' },
    ]);
  });

  test('money that is on an account asks how much and why, and goes back once however often the form is sent', async () => {
    const id = await ambiguous(5_000n);
    await assign(operator, id, { account: one.id });
    const before = (await world.balance(one.id)).available;
    const path = `/incoming-transfers/${id}/return-incoming`;
    const form = await operator.get(path);
    expect(form.text).toContain('£50.00 GBP of £50.00 GBP can go back to its payer Augusta Payer by faster-payments');
    expect(form.text).toContain('CUST: The beneficiary requested the return.');
    const sent = { reason: 'the client has asked', amount: '30', code: 'CUST', left: '5000' };
    const answers = await Promise.all([operator.post(path, sent), second.post(path, sent)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect((await operator.post(path, sent)).status).not.toBe(303);
    const { returns } = await transferOf(id);
    expect(returns).toMatchObject([{ amount: 30, code: 'CUST', status: 'processing' }]);
    expect((await world.balance(one.id)).available).toBe(before - 30);
    const page = await operator.get(`/incoming-transfers/${id}`);
    expect(page.text).toContain(`/outgoing-transfers/${returns[0].outgoingTransferId}`);
    const [made] = await api.database.reader.statement<Json>(
      `SELECT created_by AS "createdBy" FROM outgoing_transfers WHERE return_of = $1`,
      [id],
    );
    const entries = (await entriesOf(id)).filter(({ action }) => action === 'returned');
    expect(entries).toEqual([
      { ...entries[0], actor: made?.createdBy, role: 'operator', reason: 'the client has asked' },
    ]);
  });

  test('and assigning at the same moment has one of the two effects', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await ambiguous();
      const answers = await Promise.all([giveBack(operator, id), assign(second, id, { account: one.id })]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      const { status } = await transferOf(id);
      expect(status).toBe(answers[0]?.status === 303 ? 'failed' : 'completed');
    }
  });
});

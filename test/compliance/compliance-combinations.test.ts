import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { releaseHeldTransfer } from '../../db/incoming-transfers/holds.ts';
import { advanceIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';

// A review together with everything else that a transfer may wait for or that may happen to it. docs/behaviour/states.md says the same in words.

let database: TestDatabase;
let plain: TestApi;
let incomingOnly: TestApi;
let outgoingOnly: TestApi;
let world: MoneyWorld;
let payer: Json;
let payee: Json;
let bankAccount: string;
const started: TestApi[] = [];

/** Noon of a Wednesday, a business day of every scheme. */
const NOON = Date.parse('2027-06-16T12:00:00Z');
let days = 0;
const clock = () => NOON - Date.now() + days * 86_400_000;

beforeAll(async () => {
  database = await createTestDatabase('compliance-combinations');
  plain = await start('none', 'none');
  incomingOnly = await start('external', 'none');
  outgoingOnly = await start('none', 'external', { authorization: { rule: 'always', byCurrency: {} } });
  world = moneyWorld(plain);
  payer = { clientId: await world.client('Ada') };
  payer.id = await world.account(payer.clientId, { amount: 100_000 });
  payee = { clientId: await world.client('Grace') };
  payee.id = await world.account(payee.clientId);
  bankAccount = await world.beneficiary(payer.clientId);
});

afterEach(async () => {
  days = 0;
  await world.invariantsHold();
});

afterAll(async () => {
  for (const one of started) await one.stop();
  await database?.drop();
});

async function start(...[incoming, outgoing, more]: Parameters<typeof modes>): Promise<TestApi> {
  const users = started[0] === undefined ? {} : { users: started[0].users };
  const one = await startApi(database, {
    ...users,
    configuration: modes(incoming, outgoing, more),
    clockOffset: () => `${clock()} milliseconds`,
    maxConnections: 4,
  });
  started.push(one);
  return one;
}

const setStatus = (id: string, status: string) =>
  plain.database.reader.statement('UPDATE accounts SET status = $2 WHERE id = $1', [id, status]);
const advanceOut = (id: string) =>
  incomingOnly.database.transaction((tx) =>
    advanceOutgoingTransfer(tx, asId<OutgoingTransferId>(id), incomingOnly.services.configuration),
  );
const advanceIn = (id: string) =>
  incomingOnly.database.transaction((tx) =>
    advanceIncomingTransfer(tx, asId<IncomingTransferId>(id), incomingOnly.services.configuration),
  );
const patch = (id: string, outgoingTransfer: Json, as: 'operator' | 'approver' = 'operator'): Promise<ApiResponse> =>
  plain.call(
    'PATCH',
    `/outgoing-transfers/${id}`,
    { workflow: { code: 'client.direct' }, data: { outgoingTransfer } },
    { as },
  );
const authorize = (id: string) =>
  patch(id, { requirementConfiguration: { authorizationStatus: 'fulfilled' } }, 'approver');
const requirement = async (id: string) =>
  (await reviews(plain).find('outgoing-transfer', id)).requirementConfiguration.complianceCheckStatus;
const approveOut = (id: string, result = 'all-passed') => reviews(outgoingOnly).decide('outgoing-transfer', id, result);
const decideIn = (id: string, result = 'all-passed') => reviews(incomingOnly).decide('incoming-transfer', id, result);
const wakes = async (id: string) =>
  (
    await plain.database.reader.statement<{ id: string }>(
      "SELECT workflow_id AS id FROM workflow_wakeups WHERE workflow_id LIKE '%' || $1",
      [id],
    )
  ).length;

describe('an outgoing transfer in review', () => {
  test('can be authorized before and after its decision, and continues once it has both', async () => {
    const first = await reviews(plain).external(payer, bankAccount, {}, outgoingOnly);
    expect((await authorize(first.id)).body.data.outgoingTransfer.status).toBe('pending');
    expect(await requirement(first.id)).toBe('not-checked');
    expect((await approveOut(first.id)).status).toBe(200);
    expect((await reviews(plain).find('outgoing-transfer', first.id)).status).toBe('processing');

    const second = await reviews(plain).external(payer, bankAccount, {}, outgoingOnly);
    expect((await approveOut(second.id)).status).toBe(200);
    expect(await reviews(plain).find('outgoing-transfer', second.id)).toMatchObject({
      status: 'pending',
      requirementConfiguration: { complianceCheckStatus: 'fulfilled', authorizationStatus: 'not-checked' },
    });
    expect((await authorize(second.id)).body.data.outgoingTransfer.status).toBe('pending');
    expect((await reviews(plain).find('outgoing-transfer', second.id)).status).toBe('processing');
    expect(await wakes(second.id)).toBe(1);
  });

  test('fails when it is rejected before it is authorized, and can no longer be authorized', async () => {
    const { id } = await reviews(plain).external(payer, bankAccount, {}, outgoingOnly);
    expect((await approveOut(id, 'hard-stop-rejected')).status).toBe(200);
    expect(await reviews(plain).find('outgoing-transfer', id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'compliance.rejected' },
      requirementConfiguration: { complianceCheckStatus: 'not-fulfilled', authorizationStatus: 'not-checked' },
    });
    expect((await authorize(id)).status).toBe(409);
  });

  test('can be cancelled; nothing is left to decide then', async () => {
    const { id, incomingTransferId } = await reviews(plain).internal(payer, payee.id, {}, outgoingOnly);
    expect((await patch(id, { status: 'cancelled' })).status).toBe(200);
    expect((await approveOut(id)).status).toBe(409);
    expect((await reviews(plain).check('outgoing-transfer', id)).status).toBe('in-review');
    expect((await reviews(plain).find('incoming-transfer', incomingTransferId)).status).toBe('failed');
  });

  test('rolls when it is not approved by its cut-off, and continues after a later approval', async () => {
    const { id, transferDate } = await reviews(plain).external(payer, bankAccount, { scheme: 'chaps' }, outgoingOnly);
    await authorize(id);
    days = 1;
    await advanceOut(id);
    const rolled = await reviews(plain).find('outgoing-transfer', id);
    expect(rolled).toMatchObject({ status: 'pending', rollCount: 1, originalTransferDate: transferDate });
    expect((await approveOut(id)).status).toBe(200);
    expect((await reviews(plain).find('outgoing-transfer', id)).status).toBe('processing');
  });

  test('fails after five rolls, and its check stays in review', async () => {
    const { id } = await reviews(plain).external(payer, bankAccount, { scheme: 'chaps' }, outgoingOnly);
    for (days = 1; days < 14; days += 1) await advanceOut(id);
    expect(await reviews(plain).find('outgoing-transfer', id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'transfer.roll.limit_exceeded' },
    });
    expect((await approveOut(id)).status).toBe(409);
  });
});

describe("the receiver's side of an internal transfer in review", () => {
  const make = (change: Json = {}) => reviews(plain).internal(payer, payee.id, change, incomingOnly);
  const TOMORROW = '2027-06-17';

  test('keeps the sender reserved and the receiver waiting; the sender cannot cancel', async () => {
    const before = [await world.balance(payer.id), await world.balance(payee.id)];
    const { id, incomingTransferId } = await make();
    expect(await world.balance(payer.id)).toEqual({ ...before[0], available: (before[0]?.available ?? 0) - 10 });
    expect(await world.balance(payee.id)).toEqual({ ...before[1], receivable: (before[1]?.receivable ?? 0) + 10 });
    expect((await patch(id, { status: 'cancelled' })).status).toBe(409);
    expect(await advanceOut(id)).toEqual({ do: 'wait', for: 'compliance', until: null });
    expect(await advanceIn(incomingTransferId)).toEqual({ do: 'wait', for: 'compliance', until: null });
    await decideIn(incomingTransferId, 'hard-stop-rejected');
    expect([await world.balance(payer.id), await world.balance(payee.id)]).toEqual(before);
    expect(await reviews(plain).check('outgoing-transfer', id)).toEqual({ status: 'skipped', procedureResults: {} });
  });

  test('approved before the date of its transfer, lets it settle on that day without another review', async () => {
    const { id, incomingTransferId } = await make({ transferDate: TOMORROW });
    expect((await decideIn(incomingTransferId)).status).toBe(200);
    expect((await reviews(plain).find('incoming-transfer', incomingTransferId)).status).toBe('pending');
    expect(await advanceIn(incomingTransferId)).toEqual({ do: 'end' });
    days = 1;
    expect(await advanceOut(id)).toEqual({ do: 'end' });
    expect((await reviews(plain).find('incoming-transfer', incomingTransferId)).status).toBe('completed');
  });

  test('rejected before the date of its transfer, fails both sides', async () => {
    const { id, incomingTransferId } = await make({ transferDate: TOMORROW });
    expect((await decideIn(incomingTransferId, 'hard-stop-rejected')).status).toBe(200);
    expect((await reviews(plain).find('outgoing-transfer', id)).status).toBe('failed');
    expect(await wakes(id)).toBe(1);
  });

  test('ends with a transfer that is cancelled', async () => {
    const { id, incomingTransferId } = await make({ transferDate: TOMORROW });
    expect((await patch(id, { status: 'cancelled' })).status).toBe(200);
    expect((await decideIn(incomingTransferId)).status).toBe(409);
    expect(await advanceIn(incomingTransferId)).toEqual({ do: 'end' });
  });

  test('approved while its account is suspended, waits for the account', async () => {
    const { id, incomingTransferId } = await make();
    await setStatus(payee.id, 'suspended');
    expect((await decideIn(incomingTransferId)).status).toBe(200);
    expect(await advanceOut(id)).toEqual({ do: 'wait', for: 'account', until: null });
    expect((await reviews(plain).find('outgoing-transfer', id)).status).toBe('processing');
    await plain.database.reader.statement('DELETE FROM workflow_wakeups WHERE workflow_id LIKE $1', [`%${id}`]);
    const active = { workflow: { code: 'client.direct' }, data: { account: { status: 'active' } } };
    expect((await plain.call('PATCH', `/accounts/${payee.id}`, active)).status).toBe(200);
    expect(await wakes(id)).toBe(1);
    expect(await advanceOut(id)).toEqual({ do: 'end' });
    expect((await reviews(plain).find('incoming-transfer', incomingTransferId)).status).toBe('completed');
  });

  test('approved for an account that was closed meanwhile, fails both sides', async () => {
    const other = await world.account(payee.clientId);
    const { id, incomingTransferId } = await reviews(plain).internal(payer, other, {}, incomingOnly);
    const close = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
    expect((await plain.call('PATCH', `/accounts/${other}`, close)).body.code).toBe('account.close.not_empty');
    await setStatus(other, 'closed');
    expect((await decideIn(incomingTransferId)).status).toBe(200);
    for (const side of [
      await reviews(plain).find('outgoing-transfer', id),
      await reviews(plain).find('incoming-transfer', incomingTransferId),
    ]) {
      expect(side).toMatchObject({ status: 'failed', statusReason: { code: 'account.closed' } });
    }
  });
});

describe('money from outside in review', () => {
  const act = (id: string, action: 'assign' | 'return', data: Json): Promise<ApiResponse> =>
    plain.call('POST', `/incoming-transfers/${id}/${action}`, { workflow: { code: 'direct' }, data });
  const payIn = (payment: Parameters<ReturnType<typeof reviews>['payIn']>[0]) =>
    reviews(plain).payIn(payment, incomingOnly);
  const status = async (id: string) => (await reviews(plain).find('incoming-transfer', id)).status;
  const opened = () => builtInAccounts(plain).opened(payee.clientId);
  const release = ({ serviceProviderId }: Json) =>
    plain.database.transaction((tx) =>
      releaseHeldTransfer(tx, { provider: 'sandbox-bank', serviceProviderId, amountMinor: 1_000n, currency: 'GBP' }),
    );

  test('is receivable, and booked with its fee once approved', async () => {
    const account = await opened();
    const prices = [{ scheme: null, direction: 'incoming', currency: 'GBP', fixedMinor: 30n, pricing: null }] as const;
    const priced = await start('external', 'none', { prices });
    const { id } = await reviews(plain).payIn({ remittanceText: account.ledgerNumber }, priced);
    expect(await reviews(plain).find('incoming-transfer', id)).toMatchObject({ status: 'pending', feeAmount: 0.3 });
    expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 10 });
    expect((await act(id, 'return', {})).status).toBe(409);
    await decideIn(id);
    expect(await world.balance(account.id)).toEqual({ available: 9.7, receivable: 0 });
    expect(await advanceIn(id)).toEqual({ do: 'end' });
  });

  test('of a built-in account goes back through the provider once rejected, without a fee', async () => {
    const account = await opened();
    const { id } = await payIn({ remittanceText: account.ledgerNumber });
    await decideIn(id, 'hard-stop-rejected');
    expect(await advanceIn(id)).toEqual({ do: 'send-back' });
    expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 0 });
  });

  test('that matches no account is held for an operator once approved, and assigned then', async () => {
    const account = await opened();
    const { id } = await payIn({ remittanceText: 'no number in here' });
    expect(await status(id)).toBe('pending');
    expect((await act(id, 'assign', { incomingTransfer: { accountId: account.id } })).status).toBe(409);
    await decideIn(id);
    expect(await reviews(plain).find('incoming-transfer', id)).toMatchObject({
      status: 'on-hold',
      statusReason: { code: 'incoming.match.none' },
    });
    expect((await act(id, 'assign', { incomingTransfer: { accountId: account.id } })).status).toBe(200);
    expect(await status(id)).toBe('completed');
  });

  test('that matched no account is matched again when it is approved', async () => {
    const account = await opened();
    await plain.database.reader.statement("UPDATE accounts SET ledger_number = 'x' || ledger_number WHERE id = $1", [
      account.id,
    ]);
    const { id } = await payIn({ remittanceText: account.ledgerNumber });
    expect((await reviews(plain).find('incoming-transfer', id)).accountId).toBeNull();
    await plain.database.reader.statement('UPDATE accounts SET ledger_number = $2 WHERE id = $1', [
      account.id,
      account.ledgerNumber,
    ]);
    await decideIn(id);
    expect(await reviews(plain).find('incoming-transfer', id)).toMatchObject({
      status: 'completed',
      accountId: account.id,
    });
  });

  test('for an account that is not active is held once approved, until the account is active', async () => {
    const account = await opened();
    const { id } = await payIn({ remittanceText: account.ledgerNumber });
    await setStatus(account.id, 'suspended');
    await decideIn(id);
    expect(await status(id)).toBe('on-hold');
    expect(await world.balance(account.id)).toEqual({ available: 0, receivable: 10 });
    await setStatus(account.id, 'active');
    expect(await advanceIn(id)).toEqual({ do: 'end' });
    expect(await status(id)).toBe('completed');
  });

  test('for an account that its provider has closed goes back once approved', async () => {
    const account = await opened();
    const { id } = await payIn({ remittanceText: account.ledgerNumber });
    await setStatus(account.id, 'closed');
    await decideIn(id);
    expect(await reviews(plain).find('incoming-transfer', id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'account.closed' },
    });
    expect(await advanceIn(id)).toEqual({ do: 'send-back' });
  });

  test('for a closed account fails at once, without a check', async () => {
    const account = await opened();
    await setStatus(account.id, 'closed');
    const { id } = await payIn({ remittanceText: account.ledgerNumber });
    expect(await status(id)).toBe('failed');
    expect(await reviews(plain).check('incoming-transfer', id)).toEqual({ status: 'skipped', procedureResults: {} });
  });

  test('that its provider holds can be decided meanwhile; the release then settles or waits', async () => {
    const account = await opened();
    const held = { remittanceText: account.ledgerNumber, held: true };
    const approved = await payIn(held);
    expect(approved.status).toBe('on-hold');
    expect((await decideIn(approved.id)).status).toBe(200);
    expect(await status(approved.id)).toBe('on-hold');
    await release(approved);
    expect(await status(approved.id)).toBe('completed');

    const rejected = await payIn(held);
    expect((await decideIn(rejected.id, 'hard-stop-rejected')).status).toBe(200);
    expect(await status(rejected.id)).toBe('failed');
    expect(await release(rejected)).toBe('no-effect');

    const undecided = await payIn(held);
    await release(undecided);
    expect(await status(undecided.id)).toBe('pending');
    expect(await world.balance(account.id)).toEqual({ available: 10, receivable: 10 });
    expect((await decideIn(undecided.id)).status).toBe(200);
    expect(await status(undecided.id)).toBe('completed');

    const returned = await payIn(held);
    expect((await act(returned.id, 'return', {})).status).toBe(200);
    expect((await decideIn(returned.id)).status).toBe(409);
  });

  test('that is our own payment come back is not reviewed', async () => {
    const { id } = await reviews(plain).external(payer, bankAccount, {}, incomingOnly);
    for (const change of [{ status: 'completed' }, { returned: true }]) {
      expect((await patch(id, change)).status).toBe(200);
    }
    const { incomingTransferId } = await reviews(plain).find('outgoing-transfer', id);
    expect(await status(incomingTransferId)).toBe('completed');
    expect((await reviews(plain).check('incoming-transfer', incomingTransferId)).status).toBe('skipped');
  });
});

test('Postgres rejects money that moves before its review', async () => {
  const { id, incomingTransferId } = await reviews(plain).internal(payer, payee.id, {}, incomingOnly);
  const force = (table: string, moved: string) =>
    plain.database.statement(`UPDATE ${table} SET status = 'completed' WHERE id = $1`, [moved]);
  await expect(force('incoming_transfers', incomingTransferId)).rejects.toThrow();
  const { id: waiting } = await reviews(plain).external(payer, bankAccount, {}, outgoingOnly);
  await expect(force('outgoing_transfers', waiting)).rejects.toThrow();
  expect((await reviews(plain).find('outgoing-transfer', id)).status).toBe('processing');
});

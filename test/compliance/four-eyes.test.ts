import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complianceTransitions } from '../../activities/compliance/activities.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { listPendingAuthorizations } from '../../db/approvals/pending-authorizations.ts';
import type { CheckedType } from '../../db/compliance/checks.ts';
import { assignment } from '../../db/incoming-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import { createTestMachineUser, type Json, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';

// Four eyes: no one decides about a payment that they made, authorized or assigned, or does these after deciding, at no door; test/outgoing-transfers/specification/makers.test.ts
// has every way in which a payment is made.

let database: TestDatabase;
let api: TestApi;
/** The same service for a machine user that may do everything, and for another one; reviews of both directions are external there. */
let maker: TestApi;
let other: TestApi;
let world: MoneyWorld;
let payer: Json;
let payee: Json;
let bankAccount: string;

const reviewed = modes('external', 'external');
const authorized: typeof reviewed = (configuration) => ({
  ...reviewed(configuration),
  authorization: { rule: 'always', byCurrency: {} },
});

/** The service for another machine user that may do everything. */
async function everything(): Promise<TestApi> {
  const roles = ['operator', 'approver', 'compliance', 'admin'] as const;
  const user = await createTestMachineUser(api.database, TEST_AUDIENCE, [...roles]);
  const users = Object.fromEntries(Object.keys(api.users).map((role) => [role, user])) as TestApi['users'];
  return startApi(database, { configuration: authorized, users, maxConnections: 4 });
}

beforeAll(async () => {
  database = await createTestDatabase('four-eyes');
  api = await startApi(database, { configuration: modes('none', 'none'), maxConnections: 4 });
  maker = await everything();
  other = await everything();
  world = moneyWorld(api);
  payer = { clientId: await world.client('Ada') };
  payer.id = await world.account(payer.clientId, { amount: 100_000 });
  payee = { clientId: await world.client('Grace') };
  payee.id = await world.account(payee.clientId);
  bankAccount = await world.beneficiary(payer.clientId);
});

afterAll(async () => {
  await world?.invariantsHold();
  for (const one of [other, maker, api]) await one?.stop();
  await database?.drop();
});

const decide = (by: TestApi, type: CheckedType, id: string) => reviews(by).decide(type, id, 'all-passed');

async function isRejected(by: TestApi, type: CheckedType, id: string): Promise<void> {
  const rejected = await decide(by, type, id);
  expect([rejected.status, rejected.body.code], rejected.text).toEqual([403, 'common.security.access_denied']);
  expect(await reviews(api).check(type, id)).toMatchObject({ status: 'in-review' });
}

async function isAccepted(by: TestApi, type: CheckedType, id: string): Promise<void> {
  const accepted = await decide(by, type, id);
  expect(accepted.status, accepted.text).toBe(200);
}

const AUTHORIZATION = {
  workflow: { code: 'client.direct' },
  data: { outgoingTransfer: { requirementConfiguration: { authorizationStatus: 'fulfilled' } } },
};
const authorize = (by: TestApi, id: string) => by.call('PATCH', `/outgoing-transfers/${id}`, AUTHORIZATION);
const payment = async () => (await reviews(maker).external(payer, bankAccount, {}, maker)).id;

test('the maker of a payment does not decide about it, and another does', async () => {
  const id = await payment();
  await isRejected(maker, 'outgoing-transfer', id);
  await isAccepted(other, 'outgoing-transfer', id);
});

test('who authorized a payment does not decide about it', async () => {
  const id = await payment();
  expect((await authorize(other, id)).status).toBe(200);
  await isRejected(other, 'outgoing-transfer', id);
  const reviewer = await startApi(database, { configuration: reviewed, users: api.users, maxConnections: 2 });
  await isAccepted(reviewer, 'outgoing-transfer', id);
  await reviewer.stop();
});

test('the maker of an internal transfer does not decide about its receiver’s side either', async () => {
  const { incomingTransferId } = await reviews(maker).internal(payer, payee.id);
  await isRejected(maker, 'incoming-transfer', incomingTransferId);
  await isAccepted(other, 'incoming-transfer', incomingTransferId);
});

test('who decided about the receiver’s side of an internal transfer does not authorize it, nor is it offered to them, and another does', async () => {
  const { id, incomingTransferId } = await reviews(maker).internal(payer, payee.id);
  await isAccepted(other, 'incoming-transfer', incomingTransferId);
  const rejected = await authorize(other, id);
  expect([rejected.status, rejected.body.code], rejected.text).toEqual([403, 'common.security.access_denied']);
  const waiting = await listPendingAuthorizations(api.database.reader, { after: null, size: 100 });
  expect(waiting.find((transfer) => transfer.id === id)?.reviewedBy).toEqual([other.users.compliance.id]);
  const third = await everything();
  expect((await authorize(third, id)).status).toBe(200);
  await third.stop();
});

test('who reported a credit does not decide about its money', async () => {
  const accountId = await world.account(payee.clientId);
  await moneyWorld(maker).credit(accountId, 10);
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  const [{ id }] = body.data.incomingTransfers;
  await isRejected(maker, 'incoming-transfer', id);
  await isAccepted(other, 'incoming-transfer', id);
});

test('who assigned money to an account does not decide about it', async () => {
  const account = await builtInAccounts(api).opened(payee.clientId);
  const { id } = await reviews(maker).payIn({ held: true });
  const initiator = { actor: maker.users.operator.id, requestId: null };
  await maker.database.transaction((tx) =>
    changeUnderLocks(
      tx,
      assignment({ id: asId<IncomingTransferId>(id), accountId: asId<AccountId>(account.id), initiator }),
    ),
  );
  await isRejected(maker, 'incoming-transfer', id);
  await isAccepted(other, 'incoming-transfer', id);
});

test('who decided about money without an owner does not assign it, and another does', async () => {
  const account = await builtInAccounts(api).opened(payee.clientId);
  const { id } = await reviews(maker).payIn();
  await isAccepted(other, 'incoming-transfer', id);
  expect(await reviews(api).find('incoming-transfer', id)).toMatchObject({ status: 'on-hold' });
  const assign = (by: TestApi) => {
    const data = { incomingTransfer: { accountId: account.id } };
    return by.call('POST', `/incoming-transfers/${id}/assign`, { workflow: { code: 'direct' }, data });
  };
  const rejected = await assign(other);
  expect([rejected.status, rejected.body.code], rejected.text).toEqual([403, 'common.security.access_denied']);
  const assigned = await assign(maker);
  expect(assigned.status, assigned.text).toBe(200);
  expect(await reviews(api).find('incoming-transfer', id)).toMatchObject({ status: 'completed' });
});

test('the command rejects the maker too', async () => {
  const id = await payment();
  const run = (actor: string) =>
    OPERATIONS.decide?.run({
      database: api.database,
      temporal: { client: null, connection: null } as never,
      initiator: { actor, requestId: null },
      arguments: ['outgoing-transfer', id, 'all-passed'],
      print: () => {},
    });
  await expect(run(maker.users.operator.id)).rejects.toMatchObject({ code: 'common.security.access_denied' });
  expect(await run('tester')).toBe(0);
});

test('a decision of the maker by signal has no effect and is not repeated, and another’s has', async () => {
  const id = await payment();
  const { recordComplianceDecision } = complianceTransitions({
    database: api.database,
    configuration: maker.services.configuration,
    logger: pino({ level: 'silent' }),
  });
  const signal = (actor: string) => {
    const decision = { procedure: 'transaction-monitoring', result: 'all-passed', actor } as const;
    return recordComplianceDecision('outgoing-transfer', id, { decisionId: randomUUID(), ...decision });
  };
  await signal(maker.users.operator.id);
  expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'in-review' });
  await signal('a reviewer');
  expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'approved' });
});

test('of an authorization and a decision by the same user at the same moment, one is accepted', async () => {
  for (let round = 0; round < 4; round += 1) {
    const id = await payment();
    const [authorization, decision] = await Promise.all([authorize(other, id), decide(other, 'outgoing-transfer', id)]);
    expect([authorization.status, decision.status].sort()).toEqual([200, 403]);
  }
});

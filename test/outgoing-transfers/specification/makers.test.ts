import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAKERS, TRANSFER_ORIGINS, type TransferOrigin } from '../../../domain/outgoing-transfers/requests/makers.ts';
import { createTestMachineUser, type Json, startApi, TEST_AUDIENCE, type TestApi } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { PAYMENT, PUBLIC_URL, type ThirdPartyWorld, thirdPartyWorld } from '../../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

// Four eyes: however a payment comes about, no one who caused it may authorize it, in any role, and another user may.

let database: TestDatabase;
let api: TestApi;
/** The same service for a machine user that may do everything: as each of the roles it is the same one. */
let maker: TestApi;
let other: TestApi;
let world: MoneyWorld;
let parties: ThirdPartyWorld;
let client: string;
let bankAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('makers');
  const env = { PUBLIC_URL, AUTHORIZATION_RULE: 'always' };
  api = await startApi(database, { env });
  const everything = async () => {
    const user = await createTestMachineUser(api.database, TEST_AUDIENCE, [
      'operator',
      'approver',
      'compliance',
      'admin',
    ]);
    const users = Object.fromEntries(Object.keys(api.users).map((role) => [role, user])) as TestApi['users'];
    return startApi(database, { env, users });
  };
  maker = await everything();
  other = await everything();
  world = moneyWorld(api);
  parties = thirdPartyWorld(api);
  client = await world.client();
  bankAccount = await world.beneficiary(client);
});

afterAll(async () => {
  await world?.invariantsHold();
  await other?.stop();
  await maker?.stop();
  await api?.stop();
  await database?.drop();
});

async function paymentOrder(): Promise<Json> {
  return {
    clientId: client,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: await world.account(client, { amount: 100 }) },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  };
}

const workflow = { code: 'client.direct' };

/** A payment by each way, all of whose makers that are machine users are `maker`. */
const MADE: Readonly<Record<TransferOrigin, () => Promise<string>>> = {
  request: async () => {
    const body = { workflow, data: { outgoingTransfer: await paymentOrder() } };
    return (await maker.call('POST', '/outgoing-transfers', body)).body.data.outgoingTransfer.id;
  },
  batch: async () => {
    const items = [{ reference: 'one', outgoingTransfer: await paymentOrder() }];
    const { body } = await maker.call('POST', '/outgoing-transfers/batch', { workflow, data: { items } });
    return body.data.results[0].outgoingTransfer.id;
  },
  'consented-payment': async () => {
    // Registered by another; approved by the maker.
    const party = await parties.thirdParty();
    const user = await parties.user([client]);
    const approving = thirdPartyWorld(maker);
    const from = await world.account(client, { amount: 100 });
    const { accessToken } = await approving.granted(party, PAYMENT, user, [from]);
    const answer = await parties.pay(accessToken);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.payment.outgoingTransferId;
  },
  return: async () => {
    const account = await world.account(client, { amount: 100 });
    const found = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${account}`);
    const data = { incomingTransfer: { amount: 10, statusReason: { code: 'CUST' } } };
    const path = `/incoming-transfers/${found.body.data.incomingTransfers[0].id}/return`;
    const answer = await maker.call('POST', path, { workflow: { code: 'direct' }, data });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data.incomingTransfer.returns[0].outgoingTransferId;
  },
};

const authorize = (by: TestApi, id: string) =>
  by.call(
    'PATCH',
    `/outgoing-transfers/${id}`,
    { workflow, data: { outgoingTransfer: { requirementConfiguration: { authorizationStatus: 'fulfilled' } } } },
    { as: 'approver' },
  );

test.each(TRANSFER_ORIGINS)('%s: its maker cannot authorize it, and another user can', async (origin) => {
  expect(MAKERS[origin]).not.toBe('');
  const id = await MADE[origin]();
  const rejected = await authorize(maker, id);
  expect([rejected.status, rejected.body.code], rejected.text).toEqual([403, 'common.security.access_denied']);
  const shown = await api.call('GET', `/outgoing-transfers/${id}`);
  expect(shown.body.data.outgoingTransfer).toMatchObject({
    status: 'pending',
    requirementConfiguration: { authorizationStatus: 'not-checked' },
  });
  const authorized = await authorize(other, id);
  expect(authorized.status, authorized.text).toBe(200);
});

test('who registered the third party, but approved nothing, may authorize its payment', async () => {
  const registering = thirdPartyWorld(maker);
  const party = await registering.thirdParty();
  const user = await parties.user([client]);
  const { accessToken } = await parties.granted(party, PAYMENT, user, [await world.account(client, { amount: 100 })]);
  const { body } = await parties.pay(accessToken);
  expect((await authorize(maker, body.data.payment.outgoingTransferId)).status).toBe(200);
});

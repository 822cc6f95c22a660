import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { BAKERY, type Beneficiaries, beneficiariesOf, PERSON } from '../harness/parties/beneficiaries.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;
let beneficiaries: Beneficiaries;

beforeAll(async () => {
  database = await createTestDatabase('beneficiary-changes');
  api = await startApi(database);
  world = moneyWorld(api);
  clientId = await world.client();
  beneficiaries = beneficiariesOf(api, clientId);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

test('concurrent changes of different fields all take effect', async () => {
  const { id } = await beneficiaries.created(beneficiaries.body({ identity: PERSON }));
  const address = { country: 'GB', city: 'London' };
  const changes = [
    { beneficiary: { identity: { givenName: 'Grace Brewster' } } },
    { identity: { familyName: 'Murray Hopper' } },
    { beneficiary: { identity: { birthDate: '1906-12-09' } } },
    { beneficiary: { title: 'Rear Admiral' } },
    { beneficiary: { contact: { phone: '+1 202 555 0100' } } },
    { beneficiary: { contact: { email: 'grace@example.com' } } },
    { beneficiary: { contact: { address } } },
  ];
  const answers = await Promise.all(changes.map((change) => beneficiaries.patch(id, change)));
  expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
  expect((await beneficiaries.read(`/beneficiaries/${id}`)).beneficiary).toMatchObject({
    identity: { givenName: 'Grace Brewster', familyName: 'Murray Hopper', birthDate: '1906-12-09' },
    fullName: 'Grace Brewster Murray Hopper',
    title: 'Rear Admiral',
    contact: { phone: '+1 202 555 0100', email: 'grace@example.com', address },
    address,
  });
  expect(await world.events(id)).toEqual(['beneficiary-created', ...changes.map(() => 'beneficiary-updated')]);
});

test('a rejected change leaves everything as it was, without an event', async () => {
  const before = await beneficiaries.created();
  const { bankAccounts, ...shown } = before;
  const rejected = await beneficiaries.patch(before.id, {
    beneficiary: { identity: { legalName: 'Other Ltd' }, title: 'Messrs', bankAccounts: [{ ...bankAccounts[0] }] },
  });
  expect([rejected.status, rejected.body.code]).toEqual([400, 'beneficiary.bank_account.update_not_allowed']);
  const path = `/beneficiaries/${before.id}?metadata.include=data.beneficiary.bankAccounts`;
  expect((await beneficiaries.read(path)).beneficiary).toEqual({ ...shown, bankAccounts });
  expect(await world.events(before.id)).toEqual(['beneficiary-created']);
});

test('a change to the present values succeeds, without an event', async () => {
  const { id, bankAccounts: _, ...shown } = await beneficiaries.created();
  const answer = await beneficiaries.patch(id, { beneficiary: { identity: { ...BAKERY }, title: null } });
  expect([answer.status, answer.body.data.beneficiary]).toEqual([200, { id, ...shown }]);
  expect(await world.events(id)).toEqual(['beneficiary-created']);
});

test.each([{}, { phone: null }, { phone: null, email: null, address: null }])(
  'the contact %j adds nothing to a beneficiary without one: it has none, and no event says so',
  async (contact) => {
    const { id, bankAccounts: _, ...shown } = await beneficiaries.created();
    expect(shown.contact).toBeNull();
    const answer = await beneficiaries.patch(id, { beneficiary: { contact } });
    expect([answer.status, answer.body.data.beneficiary]).toEqual([200, { id, ...shown }]);
    expect(await world.events(id)).toEqual(['beneficiary-created']);
  },
);

test('an unknown beneficiary is 404, whatever is asked', async () => {
  const id = randomUUID();
  const { status, body } = await beneficiaries.patch(id, { identity: { legalName: 'Other Ltd' } });
  expect([status, body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
  expect(body.messageParameters).toEqual(['beneficiary', 'id', id]);
});

test('a transfer keeps showing the beneficiary that it was made for; the next one shows the changed one', async () => {
  const accountId = await world.account(clientId, { amount: 100 });
  const address = { country: 'GB', city: 'London' };
  const beneficiary = await beneficiaries.created(
    beneficiaries.body({ title: 'Messrs', contact: { address, email: 'office@example.com' } }),
  );
  const pay = async () => {
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      // More than there is: it waits.
      amount: 500,
      scope: 'external',
      scheme: 'faster-payments',
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiary.bankAccounts[0].id },
    };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answer = await api.call('POST', '/outgoing-transfers', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.outgoingTransfer.id;
  };
  const shown = async (id: string) => (await beneficiaries.read(`/outgoing-transfers/${id}`)).outgoingTransfer;
  const early = await pay();
  const before = await shown(early);
  expect(before).toMatchObject({ status: 'pending', beneficiary: { fullName: BAKERY.legalName, title: 'Messrs' } });
  expect(before.beneficiary.address).toMatchObject(address);
  const changed = await beneficiaries.patch(beneficiary.id, {
    beneficiary: { identity: { legalName: 'Mill Lane Bakery Ltd' }, title: null, contact: null },
  });
  expect(changed.status, changed.text).toBe(200);
  expect(await shown(early)).toEqual(before);
  expect((await shown(await pay())).beneficiary).toMatchObject({
    fullName: 'Mill Lane Bakery Ltd',
    identity: { legalName: 'Mill Lane Bakery Ltd' },
    title: null,
    address: null,
    // Bank data stays until it is changed by its own operations.
    account: { ...before.beneficiary.account, accountHolderName: BAKERY.legalName },
  });
});

test.each([
  [
    'a type that differs from that of the identity',
    "UPDATE beneficiaries SET identity_type = 'individual' WHERE id = $1",
    'beneficiaries_identity',
  ],
  ['a type without an identity', 'UPDATE beneficiaries SET identity = NULL WHERE id = $1', 'beneficiaries_identity'],
  [
    'an identity without a type',
    'UPDATE beneficiaries SET identity_type = NULL WHERE id = $1',
    'beneficiaries_identity',
  ],
  ['an empty full name', "UPDATE beneficiaries SET full_name = '' WHERE id = $1", 'beneficiaries_full_name'],
  [
    'a bank account without a number',
    'UPDATE beneficiary_bank_accounts SET account_number = NULL, iban = NULL WHERE beneficiary_id = $1',
    'beneficiary_bank_accounts_named',
  ],
])('the database itself rejects %s', async (_, statement, constraint) => {
  const { id } = await beneficiaries.created();
  await expect(api.database.statement(statement, [id])).rejects.toThrow(constraint);
});

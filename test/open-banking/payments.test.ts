import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Configuration } from '../../config/configuration.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  ACCOUNTS,
  CREDITOR,
  PAYMENT,
  PUBLIC_URL,
  signed,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { gate, lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

let database: TestDatabase;
let api: TestApi;
let second: TestApi;
let world: MoneyWorld;
let parties: ThirdPartyWorld;
let party: ThirdParty;
let clientId: string;
let userId: string;
let offset = '0';

beforeAll(async () => {
  database = await createTestDatabase('payments');
  const options = { env: { PUBLIC_URL }, clockOffset: () => offset };
  api = await startApi(database, options);
  second = await startApi(database, { ...options, users: api.users });
  world = moneyWorld(api);
  parties = thirdPartyWorld(api);
  party = await parties.thirdParty();
  clientId = await world.client();
  userId = await parties.user([clientId]);
});

afterAll(async () => {
  await world?.invariantsHold();
  await second?.stop();
  await api?.stop();
  await database?.drop();
});

const seen = ({ status, body }: Pick<ApiResponse, 'status' | 'body'>) => [status, body.code];

const account = (change: { currency?: string; amount?: number } = { amount: 1_000 }) => world.account(clientId, change);

const grantedFor = async (accountId: string, content: Json = PAYMENT, by = party) =>
  parties.granted(by, content, userId, [accountId]);

async function transfersFrom(accountId: string): Promise<Json[]> {
  const answer = await api.call('GET', `/outgoing-transfers?data.outgoingTransfer.accountId=${accountId}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.outgoingTransfers;
}

const transfer = async (id: string): Promise<Json> =>
  (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;

const beneficiaries = async (): Promise<Json[]> =>
  (await api.call('GET', `/beneficiaries?data.beneficiary.clientId=${clientId}&metadata.page.size=100`)).body.data
    .beneficiaries;

test('a payment creates the outgoing transfer that was consented to, and consumes the consent', async () => {
  const from = await account();
  const { accessToken, consentId } = await grantedFor(from);
  const answer = await parties.pay(accessToken);
  expect(answer.status, answer.text).toBe(201);
  const { outgoingTransferId, status } = answer.body.data.payment;
  expect(status).toBe('pending');
  expect(await transfer(outgoingTransferId)).toMatchObject({
    clientId,
    amount: 10.5,
    currency: 'GBP',
    scope: 'external',
    scheme: 'faster-payments',
    source: { accountId: from },
    beneficiary: {
      fullName: CREDITOR.name,
      account: { accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
    },
  });
  expect((await parties.consent(consentId)).status).toBe('consumed');
  // Reserved, by the same decision as any transfer.
  expect((await world.balance(from)).available).toBe(989.5);
  const query = (id: string) => `/audit-entries?data.auditEntry.resourceId=${id}`;
  const actors = async (id: string) =>
    (await api.call('GET', query(id), undefined, { as: 'admin' })).body.data.auditEntries.map(
      ({ action, actor }: Json) => [action, actor],
    );
  expect(await actors(outgoingTransferId)).toEqual([['created', party.id]]);
  expect(await actors(consentId)).toContainEqual(['consumed', party.id]);
});

test('the beneficiary is found where the client has it, and made where it has not', async () => {
  const name = 'Found Again Ltd';
  const content = { ...PAYMENT, creditorAccount: { ...CREDITOR, name } };
  const pay = async () => {
    const { accessToken } = await grantedFor(await account(), content);
    expect((await parties.pay(accessToken, { creditorAccount: content.creditorAccount })).status).toBe(201);
  };
  const known = async () => (await beneficiaries()).filter(({ fullName }) => fullName === name);
  await pay();
  const [first] = await known();
  await pay();
  expect(await known()).toEqual([first]);
  const accounts = (await api.call('GET', `/beneficiaries/${first.id}/bank-accounts`)).body.data
    .beneficiaryBankAccounts;
  expect(accounts).toHaveLength(1);
  // One that is not used any more is not paid.
  await api.call('PATCH', `/beneficiaries/${first.id}/bank-accounts/${accounts[0].id}`, {
    workflow: { code: 'direct' },
    data: { beneficiaryBankAccount: { status: 'inactive' } },
  });
  await pay();
  expect(await known()).toHaveLength(2);
});

test('payments at once to a creditor whom the client does not have yet make one beneficiary', async () => {
  const name = 'Made Once Ltd';
  const content = { ...PAYMENT, creditorAccount: { ...CREDITOR, name } };
  const accounts = await Promise.all(Array.from({ length: 6 }, () => account()));
  const grants = [];
  for (const from of accounts) grants.push(await grantedFor(from, content));
  const elsewhere = thirdPartyWorld(second);
  const answers = await Promise.all(
    grants.map(({ accessToken }, at) =>
      (at % 2 === 0 ? parties : elsewhere).pay(accessToken, { creditorAccount: content.creditorAccount }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(accounts.map(() => 201));
  expect((await beneficiaries()).filter(({ fullName }) => fullName === name)).toHaveLength(1);
  for (const from of accounts) expect(await transfersFrom(from)).toHaveLength(1);
});

test('a payment to a new creditor that waits for its account does not hold the client meanwhile', async () => {
  const content = { ...PAYMENT, creditorAccount: { ...CREDITOR, name: 'Prudence Ltd' } };
  const from = await account();
  const { accessToken } = await grantedFor(from, content);
  const [locked, release] = [gate(), gate()];
  const holding = api.database.transaction(async (tx) => {
    await lockAccounts(tx, [asId<AccountId>(from)]);
    locked.open();
    await release.opened;
  });
  await locked.opened;
  const paying = parties.pay(accessToken, { creditorAccount: content.creditorAccount });
  await until(
    () => lockWaiters(api.database.reader),
    (waiters) => waiters === 1,
  );
  const client = { profile: { identityType: 'individual', phone: '+44 20 7946 0000' } };
  const changed = await api.call('PATCH', `/clients/${clientId}`, { workflow: { code: 'direct' }, data: { client } });
  release.open();
  expect([changed.status, (await paying).status]).toEqual([200, 201]);
  await holding;
});

const OTHER_PAYMENTS: readonly (readonly [string, object, string])[] = [
  ['a penny more', { instructedAmount: 10.51 }, 'instructedAmount'],
  ['a penny less', { instructedAmount: 10.49 }, 'instructedAmount'],
  ['a hundred times as much', { instructedAmount: 1_050 }, 'instructedAmount'],
  ['another currency', { instructedCurrency: 'EUR' }, 'instructedCurrency'],
  [
    'another account number',
    { creditorAccount: { ...CREDITOR, identification: '60161331926818' } },
    'creditorAccount.identification',
  ],
  [
    'another way to name the account',
    { creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.IBAN' } },
    'creditorAccount.schemeName',
  ],
  ['another name', { creditorAccount: { ...CREDITOR, name: 'Brook Lane Bakery' } }, 'creditorAccount.name'],
];

test('a payment other than the consent’s is rejected, moves nothing, and the consent stays good', async () => {
  const from = await account();
  const { accessToken, consentId } = await grantedFor(from);
  for (const [what, change, field] of OTHER_PAYMENTS) {
    const answer = await parties.pay(accessToken, change);
    expect([...seen(answer), answer.body.messageParameters[1]], what).toEqual([422, 'consent.content.mismatch', field]);
  }
  expect(await transfersFrom(from)).toEqual([]);
  expect((await parties.consent(consentId)).status).toBe('authorised');
  expect((await parties.pay(accessToken, { instructedAmount: 10.5 })).status).toBe(201);
});

test('a second payment is rejected, with another key too, and the first answer is repeated under its own', async () => {
  const from = await account();
  const { accessToken } = await grantedFor(from);
  const first = await parties.pay(accessToken, {}, 'rent');
  expect(first.status).toBe(201);
  const again = await parties.pay(accessToken, {}, 'rent');
  expect([again.status, again.text, again.headers.get('x-idempotency-status')]).toEqual([201, first.text, 'replayed']);
  expect(seen(await parties.pay(accessToken, { instructedAmount: 1 }, 'rent'))).toEqual([
    409,
    'common.idempotency.key_reused',
  ]);
  for (const key of [undefined, 'rent again']) {
    expect(seen(await parties.pay(accessToken, {}, key))).toEqual([409, 'consent.status.invalid']);
  }
  expect(await transfersFrom(from)).toHaveLength(1);
});

test('another consent of the same third party has keys of its own', async () => {
  const from = await account();
  const [one, two] = [await grantedFor(from), await grantedFor(from)];
  const ids = [await parties.pay(one.accessToken, {}, 'rent'), await parties.pay(two.accessToken, {}, 'rent')].map(
    ({ body }) => body.data.payment.outgoingTransferId,
  );
  expect(new Set(ids).size).toBe(2);
});

test('of twenty payments at once, over two processes, one is made', async () => {
  const from = await account();
  const { accessToken } = await grantedFor(from);
  const elsewhere = thirdPartyWorld(second);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? parties : elsewhere).pay(accessToken)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(seen(answer)).toEqual([409, 'consent.status.invalid']);
  }
  expect(await transfersFrom(from)).toHaveLength(1);
  expect((await world.balance(from)).available).toBe(989.5);
});

test('of ten payments at once with one key one is made, and all have its answer', async () => {
  const from = await account();
  const { accessToken } = await grantedFor(from);
  const answers = await Promise.all(Array.from({ length: 10 }, () => parties.pay(accessToken, {}, 'at once')));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  expect(await transfersFrom(from)).toHaveLength(1);
});

test('a payment and a revocation at once: the consent is either consumed, with its transfer, or revoked, without', async () => {
  for (let times = 0; times < 5; times += 1) {
    const from = await account();
    const { accessToken, consentId } = await grantedFor(from);
    const [paid, revoked] = await Promise.all([
      parties.pay(accessToken),
      parties.decide(consentId, { action: 'revoke' }),
    ]);
    const { status } = await parties.consent(consentId);
    const isPaid = paid.status === 201;
    expect([status, revoked.status]).toEqual(isPaid ? ['consumed', 409] : ['revoked', 200]);
    expect(await transfersFrom(from)).toHaveLength(isPaid ? 1 : 0);
  }
});

test('a fault after the consent is consumed, before the transfer is written, leaves neither', async () => {
  const from = await account();
  const { accessToken, consentId } = await grantedFor(from);
  // As a process that dies there: Postgres undoes the transaction.
  await database.asOwner(
    `CREATE FUNCTION fail_payment() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'planted'; END $$;
     CREATE TRIGGER fail_payment BEFORE INSERT ON outgoing_transfers FOR EACH ROW WHEN (NEW.account_id = '${from}') EXECUTE FUNCTION fail_payment()`,
  );
  const before = (await beneficiaries()).length;
  expect((await parties.pay(accessToken, {}, 'after a fault')).status).toBe(500);
  expect([(await parties.consent(consentId)).status, (await beneficiaries()).length]).toEqual(['authorised', before]);
  expect((await world.balance(from)).available).toBe(1_000);
  await database.asOwner('DROP TRIGGER fail_payment ON outgoing_transfers');
  expect((await parties.pay(accessToken, {}, 'after a fault')).status).toBe(201);
  expect(await transfersFrom(from)).toHaveLength(1);
});

test('a scheduled payment is a transfer for its date', async () => {
  const at = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 19);
  const { accessToken } = await grantedFor(await account(), {
    ...PAYMENT,
    paymentType: 'scheduled',
    requestedExecutionDateTime: at,
  });
  const answer = await parties.pay(accessToken);
  expect(answer.status, answer.text).toBe(201);
  const { originalTransferDate, status } = await transfer(answer.body.data.payment.outgoingTransferId);
  expect([originalTransferDate, status]).toEqual([at.slice(0, 10), 'pending']);
});

test('a scheduled payment whose day has passed is rejected, and the consent stays good', async () => {
  const at = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 19);
  const consent = { ...PAYMENT, paymentType: 'scheduled', requestedExecutionDateTime: at };
  const { code } = await parties.approved(party, consent, userId, [await account()]);
  const { body } = await parties.token(party, code);
  // The clock has moved on, but not so far that the token has died of it.
  await api.database.reader.statement(
    `UPDATE open_banking_access_tokens SET expires_at = expires_at + interval '5 days'`,
    [],
  );
  offset = '4 days';
  const answer = await parties.pay(body.access_token);
  offset = '0';
  expect(seen(answer)).toEqual([400, 'transfer.date.invalid']);
});

const SCHEMES: readonly (readonly [string, Json, string, string | null])[] = [
  ['in sterling, above the limit of faster payments', { instructedAmount: 2_000_000 }, 'GBP', 'chaps'],
  [
    'in sterling to an IBAN',
    { creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.IBAN', identification: 'GB29 NWBK 6016 1331 9268 19' } },
    'GBP',
    'faster-payments',
  ],
  [
    'abroad, in euro',
    {
      paymentScope: 'international',
      currencyOfTransfer: 'EUR',
      instructedCurrency: 'EUR',
      creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.IBAN', identification: 'DE89370400440532013000' },
    },
    'EUR',
    'sepa',
  ],
  [
    'in euro to a country that no scheme reaches without more',
    {
      paymentScope: 'international',
      currencyOfTransfer: 'EUR',
      instructedCurrency: 'EUR',
      creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.IBAN', identification: 'TR330006100519786457841326' },
    },
    'EUR',
    null,
  ],
];

test.each(SCHEMES)('a payment %s goes by the first scheme that can carry it', async (_, change, currency, scheme) => {
  const content = { ...PAYMENT, ...change };
  const { accessToken, consentId } = await grantedFor(await account({ currency, amount: 3_000_000 }), content);
  const { instructedAmount, instructedCurrency, creditorAccount } = content;
  const answer = await parties.pay(accessToken, { instructedAmount, instructedCurrency, creditorAccount });
  if (scheme === null) {
    expect(seen(answer)).toEqual([422, 'transfer.scheme.unavailable']);
    expect((await parties.consent(consentId)).status).toBe('authorised');
    return;
  }
  expect(answer.status, answer.text).toBe(201);
  expect((await transfer(answer.body.data.payment.outgoingTransferId)).scheme).toBe(scheme);
});

test('without the money the transfer waits, as any other', async () => {
  const from = await account({ amount: 5 });
  const { accessToken } = await grantedFor(from);
  const { body } = await parties.pay(accessToken);
  const { status, requirementConfiguration } = await transfer(body.data.payment.outgoingTransferId);
  expect([status, requirementConfiguration.balanceCheckStatus]).toEqual(['pending', 'not-fulfilled']);
  expect((await world.balance(from)).available).toBe(5);
});

const REJECTED: readonly (readonly [
  string,
  (given: { consentId: string; from: string; user: string }) => Promise<unknown>,
  number,
  string,
])[] = [
  [
    'revoked',
    ({ consentId }) => parties.decide(consentId, { action: 'revoke' }),
    401,
    'common.security.unauthenticated',
  ],
  [
    'given by a user who is inactive now',
    ({ user }) =>
      api.call('PATCH', `/users/${user}`, {
        workflow: { code: 'human.external.direct' },
        data: { user: { status: 'inactive' } },
      }),
    401,
    'common.security.unauthenticated',
  ],
  [
    'of an account that is closed now',
    ({ from }) =>
      api.call('PATCH', `/accounts/${from}`, {
        workflow: { code: 'client.direct' },
        data: { account: { status: 'closed' } },
      }),
    401,
    'common.security.unauthenticated',
  ],
];

test.each(REJECTED)('a consent that is %s pays nothing', async (_, end, status, code) => {
  const from = await account({});
  const user = await parties.user([clientId]);
  const { accessToken, consentId } = await parties.granted(party, PAYMENT, user, [from]);
  expect(((await end({ consentId, from, user })) as ApiResponse).status).toBe(200);
  expect(seen(await parties.pay(accessToken))).toEqual([status, code]);
  expect(await transfersFrom(from)).toEqual([]);
});

test('a payment needs the access token of a consent to payments, in GB', async () => {
  const from = await account();
  const accounts = await grantedFor(from, ACCOUNTS);
  const payments = await grantedFor(from);
  expect(seen(await parties.pay(accounts.accessToken))).toEqual([403, 'common.security.access_denied']);
  expect(seen(await parties.pay(await signed(party)))).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.pay(api.users.operator.token))).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.pay('A'.repeat(43)))).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.call('GET', '/open-banking/GB/accounts', payments.accessToken))).toEqual([
    403,
    'common.security.access_denied',
  ]);
  const { instructedAmount, instructedCurrency, creditorAccount } = PAYMENT;
  const body = {
    workflow: { code: 'direct' },
    data: { payment: { instructedAmount, instructedCurrency, creditorAccount } },
  };
  expect(seen(await parties.call('POST', '/open-banking/FR/payments', payments.accessToken, body))).toEqual([
    422,
    'consent.country.not_supported',
  ]);
  expect(await transfersFrom(from)).toEqual([]);
});

test('what the bank of the account would not take by file is no payment, and leaves the consent as it is', async () => {
  const exchange = {
    profile: 'uk',
    party: { name: 'Clients Ltd', id: 'CLIENTS', country: 'GB' },
    files: 'at-once',
    windowSeconds: 0,
    paymentsPerFileMax: 1_000,
    pollSeconds: 1,
    transport: { kind: 'folder', out: '/nowhere', in: '/nowhere', archive: '/nowhere' },
    trial: true,
  } as const;
  const byFile = await startApi(database, {
    env: { PUBLIC_URL },
    users: api.users,
    configuration: (configuration: Configuration) => ({
      ...configuration,
      fileExchanges: new Map([['custom-bank', exchange]]),
    }),
  });
  try {
    const unwritable = await world.client('株式');
    const from = await world.account(unwritable, { amount: 1_000 });
    const holder = await parties.user([unwritable]);
    const { accessToken } = await parties.granted(party, PAYMENT, holder, [from]);
    const answer = await thirdPartyWorld(byFile).pay(accessToken);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain('Its rule for ultimateDebtorName is characters.');
    expect(await transfersFrom(from)).toEqual([]);
    // Where the account is paid by other ways, the same consent still pays.
    expect((await parties.pay(accessToken)).status).toBe(201);
  } finally {
    await byFile.stop();
  }
});

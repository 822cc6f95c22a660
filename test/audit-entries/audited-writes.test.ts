import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import type { Method } from '../../api/http/route.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import { hashPassword } from '../../api/users/password-hashes.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { createSignUpLink } from '../../db/users/sign-ups.ts';
import { asId, type OutgoingTransferId, type UserSignUpId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { SeenAnswers } from '../harness/http/answers.ts';
import { READS, readEverything } from '../harness/http/reads.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { consentWorld } from '../harness/parties/consents.ts';
import {
  ACCOUNTS,
  PAYMENT,
  PUBLIC_URL,
  REDIRECT_URI,
  signed,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { type RunningSandbox, SANDBOX_SECRET, startSandbox, temporaryDirectory } from '../harness/servers/sandbox.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';
import { seedReconciliation } from '../tools/contract-reconciliation.ts';

const directory = temporaryDirectory();

let database: TestDatabase;
let sandbox: RunningSandbox;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;
const seen = new SeenAnswers(documentOf(ROUTES, 'test'));

beforeAll(async () => {
  database = await createTestDatabase('audited-writes');
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: 'http://127.0.0.1:9/unused' });
  const bank: Provider = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
  const providers = new Map([['sandbox-bank', bank]]);
  api = await startApi(database, {
    providers,
    onAnswer: (answer) => seen.add(answer),
    env: { PUBLIC_URL, SANDBOX_URL: sandbox.url, AUTHORIZATION_RULE: '500' },
    configuration: (configuration) => ({
      ...configuration,
      compliance: {
        incoming: { rule: 'none', byCurrency: { CHF: 'external' } },
        outgoing: { rule: 'none', byCurrency: { NOK: 'external' } },
      },
    }),
  });
  world = moneyWorld(api);
  clientId = await world.client(PERSONAL.givenName);
});

afterAll(async () => {
  await api?.stop();
  await sandbox?.stop();
  await database?.drop();
  directory.remove();
});

/** Personal data and secrets that the writes below contain: no entry may hold any of them. */
const PERSONAL = {
  givenName: 'Zebedee',
  familyName: 'Quillfeather',
  legalName: 'Quagmire Bakery Ltd',
  city: 'Ulaanbaatar',
  accountNumber: '31926819',
  description: 'For Xanthippe',
  address: 'http://127.0.0.1:43210/hook?token=sesame',
  email: 'example.com',
};

const IN_A_SEASON = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);

interface Write {
  /** Fields in addition to the code. */
  readonly workflow?: Json;
  readonly path?: string;
  readonly data?: Json;
  readonly connect?: Json;
  readonly as?: Role;
  /** Of a third party, which is the actor in place of a machine user. */
  readonly bearer?: { readonly token: string; readonly actor: string };
}

const { givenName, familyName, legalName, accountNumber, city } = PERSONAL;
const PERSON = { type: 'individual', givenName, familyName };
const COMPANY = { type: 'corporate', legalName };
const BANK_ACCOUNT = { country: 'GB', currency: 'GBP', accountNumber, routingCodes: { 'sort-code': '601613' } };
const FROM_BANK = { type: 'explicit', serviceProvider: 'sandbox-bank' };

async function made(path: string, code: string, data: Json, as: Role = 'operator'): Promise<Json> {
  const answer = await api.call('POST', path, { workflow: { code }, data }, { as });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

const company = async () => {
  const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city } };
  return (await made('/clients', 'direct', { client: { identity: COMPANY, profile } })).client.id;
};
const relation = { relation: 'director', identity: PERSON };
const related = async () => {
  const owner = await company();
  const { clientRelation } = await made(`/clients/${owner}/relations`, 'direct', { clientRelation: relation });
  return `/clients/${owner}/relations/${clientRelation.id}`;
};
const newUser = () => ({ email: `${randomUUID()}@example.com`, identity: PERSON });
const user = () => made('/users', 'human.external.direct', { user: newUser(), userClientRelations: [{ clientId }] });
const invitation = () => ({
  user: newUser(),
  invitations: [{ clientId, userClientRelation: 'director' }],
});
const invited = async () => {
  const sent = invitation();
  const { invitations } = await made('/users', 'human.external.invitation', sent);
  return { email: sent.user.email, id: invitations[0].id };
};
const beneficiary = async () =>
  (
    await made('/beneficiaries', 'direct', {
      beneficiary: { clientId, identity: COMPANY, bankAccounts: [BANK_ACCOUNT] },
    })
  ).beneficiary;
const held = async () => {
  const serviceProviderId = randomUUID();
  await builtInAccounts(api).payIn({ ledgerNumber: 'no account' }, serviceProviderId, 500n);
  const query = `data.incomingTransfer.serviceProviderId=${serviceProviderId}`;
  return (await api.call('GET', `/incoming-transfers?${query}`)).body.data.incomingTransfers[0].id;
};
/** Paid by a bank that takes recalls. */
const released = async () => {
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, randomUUID(), 100_000n);
  const source = { type: 'client-account', accountId: account.id };
  const { id } = (await made('/outgoing-transfers', 'client.direct', await transfer({ source }))).outgoingTransfer;
  const payment = { id: asId<OutgoingTransferId>(id), provider: 'sandbox-bank' };
  const said = { outcome: 'released', serviceProviderId: 'p-1', serviceProviderReference: null, code: null } as const;
  await api.database.transaction((tx) => applyPaymentReport(tx, payment, said, api.services.configuration));
  return id;
};
const transfer = async (change: Json = {}) => ({
  outgoingTransfer: {
    clientId,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    description: PERSONAL.description,
    source: { type: 'client-account', accountId: await world.account(clientId, { amount: 1_000 }) },
    destination: {
      type: 'beneficiary-bank-account',
      beneficiaryBankAccountId: (await beneficiary()).bankAccounts[0].id,
    },
    ...change,
  },
});
const adjustment = async (workflow: Json, change: Json = {}): Promise<Write> => {
  const accountId = await world.account(clientId);
  const { description } = PERSONAL;
  const balanceAdjustment = { accountId, direction: 'credit', amount: 1, currency: 'GBP', description, ...change };
  return { path: `/accounts/${accountId}/balance-adjustments`, workflow, data: { balanceAdjustment } };
};
const key = () => {
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return { kid: randomUUID(), algorithm: 'EdDSA', jwk: { kty: jwk.kty, crv: jwk.crv, x: jwk.x } };
};
const machineUser = async () =>
  (await made('/machine-users', 'direct', { machineUser: { name: 'caller', roles: ['viewer'], key: key() } }, 'admin'))
    .machineUser;
const newSubscription = () => ({ webhookSubscription: { url: PERSONAL.address, description: PERSONAL.description } });
const subscription = async () =>
  `/webhook-subscriptions/${(await made('/webhook-subscriptions', 'direct', newSubscription(), 'admin')).webhookSubscription.id}`;

const DECISION = {
  complianceCheck: { procedureResult: { procedure: 'transaction-monitoring', result: 'all-passed' } },
};

/** Who has accepted an invitation. */
async function userWithPassword(): Promise<string> {
  const { user: made } = await user();
  const { reader } = api.database;
  await reader.statement(`UPDATE users SET password_hash = 'of a password' WHERE id = $1`, [made.id]);
  return made.id;
}

/** For each writing route and workflow, a request that changes something. */
const WRITES: Readonly<Record<string, () => Promise<Write>>> = {
  'POST /clients direct': async () => {
    const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city } };
    return { data: { client: { identity: COMPANY, profile, relations: [relation] } } };
  },
  'POST /clients migration': async () => ({ data: { sourceId: 'client-individual' }, connect: FROM_BANK }),
  'PATCH /clients/{clientId} direct': async () => ({
    path: `/clients/${await company()}`,
    data: { client: { profile: { identityType: 'corporate', phone: '+44 20 7946 0000' } } },
  }),
  'POST /clients/{clientId}/relations direct': async () => ({
    path: `/clients/${await company()}/relations`,
    data: { clientRelation: relation },
  }),
  'PATCH /clients/{clientId}/relations/{clientRelationId} direct': async () => ({
    path: await related(),
    data: { clientRelation: { identity: { familyName: 'Quill' } } },
  }),
  'DELETE /clients/{clientId}/relations/{clientRelationId}': async () => ({ path: await related() }),
  'POST /users human.external.direct': async () => ({ data: { user: newUser() } }),
  'POST /users human.external.invitation': async () => ({ data: invitation() }),
  'PATCH /users/{userId} human.external.direct': async () => ({
    path: `/users/${(await user()).user.id}`,
    data: { user: { email: `${randomUUID()}@example.com` } },
  }),
  'PATCH /users/{userEmail}/invitations/{usersInvitationId} direct': async () => {
    const { email, id } = await invited();
    return { path: `/users/${email}/invitations/${id}`, data: { userInvitation: { status: 'cancelled' } } };
  },
  'POST /users/{userId}/client-relations direct': async () => ({
    path: `/users/${(await user()).user.id}/client-relations`,
    data: { userClientRelations: [{ clientId: await company() }] },
  }),
  'PATCH /users/{userId}/client-relations/{id} direct': async () => {
    const { user: owner, userClientRelations } = await user();
    const path = `/users/${owner.id}/client-relations/${userClientRelations[0].id}`;
    return { path, data: { userClientRelation: { status: 'revoked' } } };
  },
  'POST /beneficiaries direct': async () => ({
    data: { beneficiary: { clientId, identity: COMPANY, bankAccounts: [BANK_ACCOUNT] } },
  }),
  'POST /accounts client.migration': async () => {
    const body = { workflow: { code: 'migration' }, data: { sourceId: 'client-accents' }, connect: FROM_BANK };
    const { client } = (await api.call('POST', '/clients', body)).body.data;
    const account = { clientId: client.id, currency: 'EUR' };
    return { data: { sourceId: 'account-accents-eur', account }, connect: FROM_BANK };
  },
  'POST /beneficiaries migration': async () => {
    const sourceId = randomUUID();
    const existing = {
      sourceId,
      clientSourceId: 'client-corporate',
      fullName: legalName,
      bankAccounts: [BANK_ACCOUNT],
    };
    await fetch(`${sandbox.url}/bank/existing-beneficiaries`, { method: 'POST', body: JSON.stringify(existing) });
    const body = { workflow: { code: 'migration' }, data: { sourceId: 'client-corporate' }, connect: FROM_BANK };
    const { client } = (await api.call('POST', '/clients', body)).body.data;
    return { data: { sourceId, beneficiary: { clientId: client.id } }, connect: FROM_BANK };
  },
  'PATCH /beneficiaries/{beneficiaryId} direct': async () => ({
    path: `/beneficiaries/${(await beneficiary()).id}`,
    data: { beneficiary: { identity: { type: 'corporate', legalName: `${legalName} II` } } },
  }),
  'POST /beneficiaries/{beneficiaryId}/bank-accounts direct': async () => ({
    path: `/beneficiaries/${(await beneficiary()).id}/bank-accounts`,
    data: { beneficiaryBankAccount: BANK_ACCOUNT },
  }),
  'PATCH /beneficiaries/{beneficiaryId}/bank-accounts/{id} direct': async () => {
    const { id, bankAccounts } = await beneficiary();
    const path = `/beneficiaries/${id}/bank-accounts/${bankAccounts[0].id}`;
    return { path, data: { beneficiaryBankAccount: { alias: legalName } } };
  },
  'POST /beneficiary-verifications client.pay-uk.cop': async () => ({
    data: {
      beneficiary: {
        clientId,
        identity: PERSON,
        bankAccount: { accountNumber: '00000001', routingCodes: { 'sort-code': '123456' } },
      },
    },
  }),
  'POST /beneficiary-verifications client.eu-vop.cop': async () => ({
    data: { beneficiary: { clientId, identity: PERSON, bankAccount: { iban: 'DE96999123000000000001' } } },
  }),
  'POST /accounts client.issuing': async () => ({ data: { account: { clientId, currency: 'GBP', alias: legalName } } }),
  'POST /accounts client.sub-account': async () => ({
    data: { account: { mainAccountId: await world.account(clientId), alias: legalName } },
  }),
  'PATCH /accounts/{accountId} client.direct': async () => ({
    path: `/accounts/${await world.account(clientId)}`,
    data: { account: { alias: legalName } },
  }),
  'POST /accounts/{id}/balance-adjustments correction': async () =>
    adjustment({ type: 'unknown', transactionType: 'incoming-transfer' }),
  'POST /accounts/{id}/balance-adjustments synchronization': async () =>
    adjustment({ type: 'unconnected-service-provider' }, { unconnectedServiceProvider: 'card-processor' }),
  'POST /provisioned-account-credits client.direct': async () => ({
    data: {
      provisionedAccountCredit: {
        accountId: await world.account(clientId),
        amount: 1,
        currency: 'GBP',
        scope: 'external',
        scheme: 'swift',
        senderName: legalName,
      },
    },
  }),
  'POST /incoming-transfers/{id}/assign direct': async () => ({
    path: `/incoming-transfers/${await held()}/assign`,
    data: { incomingTransfer: { accountId: (await builtInAccounts(api).opened(await world.client())).id } },
  }),
  'POST /incoming-transfers/{id}/return direct': async () => ({
    path: `/incoming-transfers/${await held()}/return`,
    data: {},
  }),
  'POST /outgoing-transfers client.direct': async () => ({ data: await transfer() }),
  'POST /outgoing-transfers/batch client.direct': async () => ({
    data: { items: [{ reference: 'first', ...(await transfer()) }] },
  }),
  'POST /outgoing-transfers/{id}/recall direct': async () => ({
    path: `/outgoing-transfers/${await released()}/recall`,
    data: {},
  }),
  'PATCH /outgoing-transfers/{id} client.direct': async () => {
    const { outgoingTransfer } = await made(
      '/outgoing-transfers',
      'client.direct',
      await transfer({ transferDate: IN_A_SEASON }),
    );
    return { path: `/outgoing-transfers/${outgoingTransfer.id}`, data: { outgoingTransfer: { status: 'cancelled' } } };
  },
  'PATCH /incoming-transfers/{id}/compliance-check direct': async () => {
    const accountId = await world.account(clientId, { currency: 'CHF', amount: 10 });
    const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
    return { path: `/incoming-transfers/${body.data.incomingTransfers[0].id}/compliance-check`, data: DECISION };
  },
  'PATCH /outgoing-transfers/{id}/compliance-check direct': async () => {
    const source = {
      type: 'client-account',
      accountId: await world.account(clientId, { currency: 'NOK', amount: 10 }),
    };
    const destination = { type: 'client-account', accountId: await world.account(clientId, { currency: 'NOK' }) };
    const outgoingTransfer = { clientId, currency: 'NOK', amount: 10, scope: 'internal', source, destination };
    const { id } = (await made('/outgoing-transfers', 'client.direct', { outgoingTransfer })).outgoingTransfer;
    return { path: `/outgoing-transfers/${id}/compliance-check`, data: DECISION };
  },
  'PATCH /reconciliation-breaks/{id} direct': async () => {
    const found = await seedReconciliation(api.database, randomUUID());
    const resolution = { status: 'resolved', note: PERSONAL.description };
    return {
      path: `/reconciliation-breaks/${found['reconciliation-breaks']}`,
      data: { reconciliationBreak: resolution },
    };
  },
  'POST /machine-users direct': async () => ({
    data: { machineUser: { name: 'caller', roles: ['viewer'], key: key() } },
  }),
  'PATCH /machine-users/{machineUserId} direct': async () => ({
    path: `/machine-users/${(await machineUser()).id}`,
    data: { machineUser: { roles: ['operator'] } },
  }),
  'POST /machine-users/{machineUserId}/keys direct': async () => ({
    path: `/machine-users/${(await machineUser()).id}/keys`,
    data: { machineUserKey: key() },
  }),
  'DELETE /machine-users/{machineUserId}/keys/{keyId}': async () => {
    const { id, keys } = await machineUser();
    return { path: `/machine-users/${id}/keys/${keys[0].id}` };
  },
  'PATCH /open-banking/{countryCode}/consents/{id} direct': async () => {
    const consents = consentWorld(api);
    const { id } = await consents.request(await consents.thirdParty());
    const accounts = [await world.account(clientId)];
    const consent = { action: 'approve', userId: await consents.user([clientId]), accounts };
    return { path: `/open-banking/GB/consents/${id}`, data: { consent } };
  },
  'POST /third-party-providers direct': async () => ({
    data: { thirdPartyProvider: thirdPartyWorld(api).registration({ redirectUris: [`${REDIRECT_URI}&token=sesame`] }) },
  }),
  'PATCH /third-party-providers/{thirdPartyProviderId} direct': async () => ({
    path: `/third-party-providers/${(await thirdPartyWorld(api).thirdParty()).id}`,
    data: { thirdPartyProvider: { redirectUris: [`${REDIRECT_URI}&token=sesame`], status: 'inactive' } },
  }),
  'POST /open-banking/{countryCode}/consents direct': async () => {
    const parties = thirdPartyWorld(api);
    const party = await parties.thirdParty();
    const { data } = parties.consentBody(PAYMENT);
    return { path: '/open-banking/GB/consents', data, bearer: { token: await signed(party), actor: party.id } };
  },
  'POST /open-banking/{countryCode}/payments direct': async () => {
    const parties = thirdPartyWorld(api);
    const party = await parties.thirdParty();
    const creditorAccount = { ...PAYMENT.creditorAccount, name: legalName };
    const user = await parties.user([clientId]);
    const accounts = [await world.account(clientId, { amount: 1_000 })];
    const { accessToken } = await parties.granted(party, { ...PAYMENT, creditorAccount }, user, accounts);
    const { instructedAmount, instructedCurrency } = PAYMENT;
    return {
      path: '/open-banking/GB/payments',
      data: { payment: { instructedAmount, instructedCurrency, creditorAccount } },
      bearer: { token: accessToken, actor: party.id },
    };
  },
  'POST /users/{userId}/password-reset direct': async () => ({
    path: `/users/${await userWithPassword()}/password-reset`,
    data: {},
  }),
  'POST /webhook-subscriptions direct': async () => ({ data: newSubscription() }),
  'PATCH /webhook-subscriptions/{webhookSubscriptionId} direct': async () => ({
    path: await subscription(),
    data: { webhookSubscription: { url: `${PERSONAL.address}2`, status: 'paused' } },
  }),
  'DELETE /webhook-subscriptions/{webhookSubscriptionId}': async () => ({ path: await subscription() }),
  'POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret direct': async () => ({
    path: `${await subscription()}/rotate-secret`,
    data: {},
  }),
  'POST /webhook-subscriptions/{webhookSubscriptionId}/ping direct': async () => ({
    path: `${await subscription()}/ping`,
    data: {},
  }),
  'POST /webhook-subscriptions/{webhookSubscriptionId}/replay direct': async () => {
    const from = new Date(Date.now() - 60_000).toISOString().slice(0, 19);
    await world.client();
    await sequence(api.database);
    return { path: `${await subscription()}/replay`, data: { webhookSubscription: { from } } };
  },
  'POST /webhook-deliveries/{webhookDeliveryId}/retry direct': async () => {
    const { webhookDelivery } = await made(`${await subscription()}/ping`, 'direct', {}, 'admin');
    return { path: `/webhook-deliveries/${webhookDelivery.id}/retry`, data: {} };
  },
};

/** Writes without an entry of their own. */
const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
  'POST /user-authentications password': 'changes nothing; failures are counted, and forgotten after 15 minutes',
  'POST /provider-callbacks/{provider}': 'a provider reports, and its callback is kept (provider_callbacks)',
};

/** Open routes, whose bodies are not of the interface; tested below. */
const ANSWERED_BY_OTHERS = ['POST /sign-up/{token}', 'POST /open-banking/{countryCode}/token'];

interface WritingRoute {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly code: string | null;
  readonly role: Role;
}

const writes = ROUTES.filter(({ contract }) => contract.method !== 'GET').flatMap((route): WritingRoute[] => {
  const { method, path } = route.contract;
  const name = `${method} ${path}`;
  if (route.kind === 'open') return [{ name, method, path, code: null, role: 'admin' }];
  const { workflows = {} } = route.contract;
  const [role = 'admin'] = route.contract.roles ?? [];
  const codes = Object.keys(workflows);
  if (codes.length === 0) return [{ name, method, path, code: null, role }];
  return codes.map((code) => ({ name: `${name} ${code}`, method, path, code, role }));
});

test('every writing route is known: it leaves an entry, or is listed with the reason why not', () => {
  const known = [...Object.keys(WRITES), ...Object.keys(WITHOUT_ENTRY), ...ANSWERED_BY_OTHERS];
  expect(writes.map(({ name }) => name).sort()).toEqual(known.sort());
});

const loggedBy = async (requestId: string): Promise<Json[]> =>
  api.database.reader.statement<Json>(
    'SELECT resource, resource_id AS "resourceId", actor, action, before, after FROM audit_entries WHERE request_id = $1 ORDER BY id',
    [requestId],
  );

describe('an entry names the actor and the request, without personal data or secrets, for', () => {
  test.each(writes.filter(({ name }) => Object.hasOwn(WRITES, name)))(
    '$name',
    async ({ name, method, path, code, role }) => {
      const write = await WRITES[name]?.();
      const requestId = randomUUID();
      const body =
        code === null
          ? undefined
          : {
              workflow: { code, ...write?.workflow },
              data: write?.data,
              ...(write?.connect && { connect: write.connect }),
            };
      const headers = { 'request-id': requestId };
      const { bearer } = write ?? {};
      const options =
        bearer === undefined
          ? { as: role, headers }
          : { as: null, headers: { ...headers, authorization: `Bearer ${bearer.token}` } };
      const answer = await api.call(method, write?.path ?? path, body, options);
      expect(answer.status, answer.text).toBeLessThan(300);
      const created = answer.body.data.outgoingTransfer ?? answer.body.data.results?.[0].outgoingTransfer;
      const isCreation = name.startsWith('POST /outgoing-transfers') && !path.includes('{id}');
      const entries = isCreation ? await derivedOf(created.id) : await loggedBy(requestId);
      expect(entries.length).toBeGreaterThan(0);
      for (const { actor } of entries) expect(actor).toBe(bearer?.actor ?? api.users[role].id);
      const text = JSON.stringify(entries);
      for (const secret of [...Object.values(PERSONAL), 'Quill', 'whsec_', '20 7946'])
        expect(text).not.toContain(secret);
    },
  );
});

async function derivedOf(id: string): Promise<Json[]> {
  const { body } = await api.call('GET', `/audit-entries?data.auditEntry.resourceId=${id}`, undefined, { as: 'admin' });
  return body.data.auditEntries;
}

test('of an exchanged code the actor is the third party', async () => {
  const parties = thirdPartyWorld(api);
  const party = await parties.thirdParty();
  const user = await parties.user([clientId]);
  const { code, consentId } = await parties.approved(party, ACCOUNTS, user, [await world.account(clientId)]);
  const answer = await parties.token(party, code, {}, { 'request-id': `exchange-${consentId}` });
  expect(answer.status).toBe(200);
  expect(await loggedBy(`exchange-${consentId}`)).toMatchObject([
    { resource: 'consent', resourceId: consentId, actor: party.id, action: 'authorised' },
  ]);
});

describe('of an invited person’s answer the actor is the sign-up', () => {
  const answer = async (form: Record<string, string>) => {
    const { id } = await invited();
    const token = randomBytes(32).toString('base64url');
    const tokenHash = createHash('sha256').update(token).digest();
    await api.database.transaction((tx) => createSignUpLink(tx, asId<UserSignUpId>(id), tokenHash));
    const headers = { 'request-id': `sign-up-${id}` };
    const response = await fetch(`${api.url}/sign-up/${token}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    });
    expect(response.status).toBe(200);
    const entries = await loggedBy(`sign-up-${id}`);
    for (const { actor } of entries) expect(actor).toBe(id);
    return { id, entries: entries.map(({ actor: _, ...entry }) => entry) };
  };

  test('accepted: the user is created, and the invitation names it', async () => {
    const { id, entries } = await answer({ answer: 'accept', password: 'wandering otters sing' });
    const userId = entries[0]?.resourceId;
    expect(entries).toEqual([
      { resource: 'user', resourceId: userId, action: 'created', before: null, after: { status: 'active' } },
      {
        resource: 'user-client-relation',
        resourceId: expect.any(String),
        action: 'created',
        before: null,
        after: { userId, clientId: expect.any(String), status: 'allowed' },
      },
      {
        resource: 'user-invitation',
        resourceId: id,
        action: 'accepted',
        before: { status: 'pending', userId: null },
        after: { status: 'accepted', userId },
      },
    ]);
  });

  test('rejected', async () => {
    const { id, entries } = await answer({ answer: 'reject' });
    expect(entries).toEqual([
      {
        resource: 'user-invitation',
        resourceId: id,
        action: 'rejected',
        before: { status: 'pending' },
        after: { status: 'rejected' },
      },
    ]);
  });
});

/** Routes without the envelope, whose answers are of another’s format. */
const isOpen = (name: string) => ANSWERED_BY_OTHERS.includes(name) || name === 'POST /provider-callbacks/{provider}';

/** Fields that all answers below have, and why others do not. */
const ABSENT_ELSEWHERE: Readonly<Record<string, string>> = {
  'Client.profile': 'GET with metadata.includeProfile=false',
  'ConsentOutcome.location': 'a revocation shows the consent in its place',
  'CreateClientRelationsResponseData.clientRelation': 'a request with several gets clientRelations',
  'ThirdPartyKey.alg': 'its owner may leave it out',
  'ThirdPartyKey.crv': 'an RSA key has n and e',
  'ThirdPartyKey.x': 'an RSA key has n and e',
  'ThirdPartyKey.y': 'an RSA key has n and e',
};

describe('the answers to all these writes, and to every read of what they wrote', () => {
  const password = 'wandering otters sing';

  beforeAll(async () => {
    const parties = thirdPartyWorld(api);
    const party = await parties.thirdParty();
    const person = (await user()).user;
    const accounts = [await world.account(clientId, { amount: 1_000 })];
    const bearers = {
      accounts: (await parties.granted(party, ACCOUNTS, person.id, accounts)).accessToken,
      payments: (await parties.granted(party, PAYMENT, person.id, accounts)).accessToken,
    };
    const { reader } = api.database;
    const hash = await hashPassword(password);
    await reader.statement('UPDATE users SET password_hash = $1 WHERE id = $2', [hash, person.id]);
    for (const source of [undefined, { ipAddress: '203.0.113.7' }]) {
      const data = { user: { email: person.email }, password, source };
      const signedIn = { workflow: { code: 'password' }, data };
      expect((await api.call('POST', '/user-authentications', signedIn)).status).toBe(200);
    }
    await sequence(api.database);
    await readEverything(api, seen.paths, bearers);
  });

  test('are of every route of the interface', () => {
    const routes = [...READS.map(({ contract }) => contract), ...writes.filter(({ name }) => !isOpen(name))];
    expect(routes.filter(({ method, path }) => !seen.isSeen(method, path)).map(({ path }) => path)).toEqual([]);
  });

  test('have every field that the document requires, which requires every field that they all have', () => {
    expect(seen.schemas).toBeGreaterThan(100);
    expect(seen.missing()).toEqual([]);
    expect(seen.alwaysThere()).toEqual(Object.keys(ABSENT_ELSEWHERE).sort());
  });
});

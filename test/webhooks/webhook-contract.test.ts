import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import { advanceConsent } from '../../db/open-banking/consents.ts';
import { FURTHER_EVENT_TYPES, SPECIFIED_EVENT_TYPES } from '../../domain/webhooks/subscriptions.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { beneficiariesOf, direct, EURO, PERSON } from '../harness/parties/beneficiaries.ts';
import { consentWorld, PAYMENT } from '../harness/parties/consents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { absentBank, recallWorld } from '../harness/transfers/recalls.ts';
import { webhookProblem } from '../harness/webhooks/webhook-contract.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

// What each event shows, by the words of specification 6. The table is written from the specification, not from the schemas
// of the OpenAPI document, which the answers of /events are checked against as well.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let log: Json[];
/** Ids of the resources that the table speaks of. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase('webhook-contract');
  const reviewed = { rule: 'none', byCurrency: { EUR: 'external' } } as const;
  const compliance = { incoming: reviewed, outgoing: reviewed };
  api = await startApi(database, {
    providers: absentBank(),
    configuration: (configuration) => ({ ...configuration, compliance }),
  });
  world = moneyWorld(api);
  await payments();
  await recalls();
  await accounts();
  await parties();
  await consents();
  await sequence(api.database);
  log = await wholeLog();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function wholeLog(): Promise<Json[]> {
  const events: Json[] = [];
  for (let position = 0; ; ) {
    const path = `/events?metadata.page.size=100&data.event.positionAfter=${position}`;
    const { body } = await api.call('GET', path, undefined, { as: 'viewer' });
    if (body.data.events.length === 0) return events;
    events.push(...body.data.events);
    position = body.metadata.nextPositionAfter;
  }
}

async function called(method: 'POST' | 'PATCH', path: string, body: Json, as: 'operator' | 'compliance' = 'operator') {
  const answer = await api.call(method, path, body, { as });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body.data;
}

const patchAccount = (id: string, account: Json) =>
  called('PATCH', `/accounts/${id}`, { workflow: { code: 'client.direct' }, data: { account } });
const report = (id: string, outgoingTransfer: Json) =>
  called('PATCH', `/outgoing-transfers/${id}`, { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });

async function incomingOf(accountId: string): Promise<string> {
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  return body.data.incomingTransfers[0].id;
}

async function payments(): Promise<void> {
  const clientId = await world.client();
  const from = await world.account(clientId, { amount: 500 });
  const to = await world.account(clientId);
  const beneficiaryBankAccountId = await world.beneficiary(clientId);
  const send = async (change: Json): Promise<string> => {
    const common = { clientId, currency: 'GBP', amount: 10, source: { type: 'client-account', accountId: from } };
    const outgoingTransfer = { ...common, ...change };
    const data = await called('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
    return data.outgoingTransfer.id;
  };
  const internal = { scope: 'internal', destination: { type: 'client-account', accountId: to } };
  const destination = { type: 'beneficiary-bank-account', beneficiaryBankAccountId };
  const external = { scope: 'external', scheme: 'faster-payments', destination };

  ids.credited = await incomingOf(from);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  ids.cancelled = await send({ ...internal, transferDate: tomorrow });
  await report(ids.cancelled, { status: 'cancelled' });
  ids.paid = await send(external);
  await report(ids.paid, { status: 'released' });
  await report(ids.paid, { status: 'completed' });
  await report(ids.paid, { returned: true });
  ids.rejected = await send(external);
  await report(ids.rejected, { status: 'failed' });

  const resting = await world.account(clientId);
  await patchAccount(resting, { status: 'suspended' });
  await world.credit(resting, 5);
  ids.held = await incomingOf(resting);
  const euros = await world.account(clientId, { currency: 'EUR', amount: 5 });
  ids.creditInReview = await incomingOf(euros);
  ids.inReview = await send({
    scope: 'internal',
    currency: 'EUR',
    transferDate: tomorrow,
    source: { type: 'client-account', accountId: euros },
    destination: { type: 'client-account', accountId: await world.account(clientId, { currency: 'EUR' }) },
  });
  await called('POST', `/incoming-transfers/${ids.held}/return`, direct({}));
}

/** Rejected while the payment is released, again when a part is back, and then the rest comes back all the same. */
async function recalls(): Promise<void> {
  const { released, reported, recall, rejected } = recallWorld(api);
  const id = await released(await world.client());
  const givenBack = (reference: string, amountMinor: string) =>
    reported(id, {
      outcome: 'returned',
      claim: { amountMinor: '1000', currency: 'GBP', returned: { reference, amountMinor } },
    });
  const rejectedOnce = async (number: number) => {
    expect(await recall(id)).toMatchObject({ status: 200 });
    expect(await rejected(id, number)).toBe('applied');
  };
  await rejectedOnce(1);
  await givenBack('first', '400');
  await rejectedOnce(2);
  await givenBack('second', '600');
  ids.recalled = id;
}

const ERROR = { category: 'functional', origin: 'customer', code: 'no', message: 'No.', attributes: { field: 'name' } };

async function accounts(): Promise<void> {
  const clientId = await world.client('Grace');
  const issue = async (): Promise<string> => {
    const { account } = await called('POST', '/accounts', {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP' } },
      connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
    });
    return account.id;
  };
  ids.client = clientId;
  ids.account = await issue();
  await patchAccount(ids.account, {
    status: 'active',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
    connection: { state: 'completed-up-to-date', status: 'active' },
  });
  await patchAccount(ids.account, { alias: 'Savings', iban: 'GB29NWBK60161331926819' });
  await patchAccount(ids.account, { connection: { state: 'update-in-progress' } });
  await patchAccount(ids.account, { connection: { state: 'completed-outdated', error: ERROR } });
  await patchAccount(ids.account, { connection: { state: 'update-in-progress' } });
  await patchAccount(ids.account, { connection: { state: 'completed-up-to-date', status: 'closed' } });
  for (const status of ['inactive', 'suspended', 'closed']) await patchAccount(ids.account, { status });
  ids.declined = await issue();
  await patchAccount(ids.declined, { status: 'declined', connection: { state: 'creation-failed', error: ERROR } });
}

async function parties(): Promise<void> {
  ids.changedClient = await world.client('Emmy');
  await called('PATCH', `/clients/${ids.changedClient}`, direct({ client: { status: 'suspended' } }), 'compliance');
  const workflow = { code: 'human.external.direct' };
  const { user } = await called('POST', '/users', {
    workflow,
    data: { user: { email: 'grace@example.com', identity: PERSON } },
  });
  ids.user = user.id;
  await called('PATCH', `/users/${user.id}`, { workflow, data: { user: { identity: { familyName: 'Murray' } } } });
  const beneficiaries = beneficiariesOf(api, await world.client('Ada'));
  const { id, bankAccounts } = await beneficiaries.created();
  ids.beneficiary = id;
  await beneficiaries.patch(id, { identity: { legalName: 'Mill Lane Bakery Ltd' } });
  const path = `/beneficiaries/${id}/bank-accounts`;
  await called('POST', path, direct({ beneficiaryBankAccount: EURO }));
  await called('PATCH', `${path}/${bankAccounts[0].id}`, direct({ beneficiaryBankAccount: { status: 'inactive' } }));
}

async function consents(): Promise<void> {
  const { thirdParty, request, approve, exchange, consume, decide, user } = consentWorld(api);
  const clientId = await world.client();
  const accountId = await world.account(clientId);
  const [party, holder] = [await thirdParty(), await user([clientId])];
  const requested = async () => {
    const consent = await request(party, PAYMENT);
    return { consent, id: consent.id };
  };
  const used = await requested();
  const { code } = await approve(used.id, holder, [accountId]);
  await exchange(used.consent, code);
  await consume(used.id);
  const rejected = await requested();
  await decide(rejected.id, { action: 'reject' });
  const revoked = await requested();
  await approve(revoked.id, holder, [accountId]);
  await decide(revoked.id, { action: 'revoke' });
  const expired = await requested();
  const overdue = 'UPDATE open_banking_consents SET request_expires_at = created_at WHERE id = $1';
  await api.database.transaction((tx) => tx.statement(overdue, [expired.id]));
  await api.database.transaction((tx) => advanceConsent(tx, expired.id));
  Object.assign(ids, {
    usedConsent: used.id,
    rejectedConsent: rejected.id,
    revokedConsent: revoked.id,
    expiredConsent: expired.id,
  });
}

const DATE = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/);
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const CONNECTION = { id: UUID, method: 'plug-in', serviceProvider: 'custom-bank' };
const made = (status: string) => ({ status, connection: expect.objectContaining(CONNECTION) });
const connection = (fields: Json) => ({ connection: expect.objectContaining({ ...CONNECTION, ...fields }) });
const PROBLEM = {
  category: 'functional',
  origin: 'customer',
  code: 'no',
  message: 'No.',
  attributes: { field: 'name' },
};

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/);
const UNAPPROVED = { userId: null, accounts: null, grantedDateTime: null, expiryDateTime: null };
const APPROVED = { userId: UUID, accounts: [UUID], grantedDateTime: null, expiryDateTime: null };
const GRANTED = { ...APPROVED, grantedDateTime: TIME, expiryDateTime: TIME };
const consentCase = (type: string, whose: string, shows: Json): Case => [
  `open-banking-consents.consent-${type}`,
  `${whose}Consent`,
  'consent',
  { thirdPartyProvider: expect.objectContaining({ name: 'Budget Ltd' }), ...shows },
];

type Case = readonly [name: string, whose: string, resource: string, shows: Json];

/** Of each module and type: whose event it is, the resource's name in `data`, and what it shows there. */
const CASES: readonly Case[] = [
  [
    'incoming-transfers.incoming-transfer-pending',
    'credited',
    'incomingTransfer',
    { status: 'pending', transferDate: null },
  ],
  [
    'incoming-transfers.incoming-transfer-compliance-in-review',
    'creditInReview',
    'incomingTransfer',
    { status: 'pending', transferDate: null },
  ],
  ['outgoing-transfers.outgoing-transfer-compliance-in-review', 'inReview', 'outgoingTransfer', { status: 'pending' }],
  [
    'incoming-transfers.incoming-transfer-completed',
    'credited',
    'incomingTransfer',
    { status: 'completed', transferDate: DATE },
  ],
  ['incoming-transfers.incoming-transfer-on-hold', 'held', 'incomingTransfer', { status: 'on-hold' }],
  ['incoming-transfers.incoming-transfer-failed', 'held', 'incomingTransfer', { status: 'failed' }],
  [
    'outgoing-transfers.outgoing-transfer-created',
    'cancelled',
    'outgoingTransfer',
    { status: 'pending', returned: false },
  ],
  ['outgoing-transfers.outgoing-transfer-cancelled', 'cancelled', 'outgoingTransfer', { status: 'cancelled' }],
  ['outgoing-transfers.outgoing-transfer-processing', 'paid', 'outgoingTransfer', { status: 'processing' }],
  ['outgoing-transfers.outgoing-transfer-released', 'paid', 'outgoingTransfer', { status: 'released' }],
  [
    'outgoing-transfers.outgoing-transfer-completed',
    'paid',
    'outgoingTransfer',
    { status: 'completed', returned: false, incomingTransferId: null },
  ],
  [
    'outgoing-transfers.outgoing-transfer-returned',
    'paid',
    'outgoingTransfer',
    { status: 'completed', returned: true, incomingTransferId: UUID },
  ],
  [
    'outgoing-transfers.outgoing-transfer-recall-rejected',
    'recalled',
    'outgoingTransfer',
    {
      status: expect.stringMatching(/^(released|completed)$/),
      statusReason: { code: 'recall.rejected', message: expect.any(String) },
    },
  ],
  ['outgoing-transfers.outgoing-transfer-failed', 'rejected', 'outgoingTransfer', { status: 'failed' }],
  ['accounts.connection-creation-instructed', 'account', 'account', connection({ state: 'creation-in-progress' })],
  ['accounts.connection-created', 'account', 'account', connection({ state: 'completed-up-to-date', error: null })],
  ['accounts.account-activated', 'account', 'account', { ...made('active'), accountNumber: '31926819' }],
  ['accounts.account-information-updated', 'account', 'account', { ...made('active'), alias: 'Savings' }],
  ['accounts.connection-update-instructed', 'account', 'account', connection({ state: 'update-in-progress' })],
  [
    'accounts.connection-update-failed',
    'account',
    'account',
    connection({ state: 'completed-outdated', error: PROBLEM }),
  ],
  [
    'accounts.connection-updated',
    'account',
    'account',
    connection({ state: 'completed-up-to-date', status: 'closed' }),
  ],
  ['accounts.account-inactivated', 'account', 'account', made('inactive')],
  ['accounts.account-suspended', 'account', 'account', made('suspended')],
  ['accounts.account-closed', 'account', 'account', made('closed')],
  [
    'accounts.connection-creation-failed',
    'declined',
    'account',
    connection({ state: 'creation-failed', error: PROBLEM }),
  ],
  ['accounts.account-declined', 'declined', 'account', { status: 'declined', connection: null }],
  ['clients.created', 'client', 'client', { id: UUID, fullName: 'Grace Lovelace', status: 'active' }],
  ['clients.connection-created', 'client', 'client', { id: UUID, fullName: 'Grace Lovelace' }],
  ['clients.status-changed', 'changedClient', 'client', { status: 'suspended' }],
  consentCase('requested', 'used', { status: 'awaiting-authorisation', ...UNAPPROVED }),
  consentCase('approved', 'used', { status: 'awaiting-exchange', ...APPROVED }),
  consentCase('authorised', 'used', { status: 'authorised', ...GRANTED }),
  consentCase('consumed', 'used', { status: 'consumed', ...GRANTED }),
  consentCase('rejected', 'rejected', { status: 'rejected', ...UNAPPROVED }),
  consentCase('revoked', 'revoked', { status: 'revoked', ...APPROVED }),
  consentCase('expired', 'expired', { status: 'expired', ...UNAPPROVED }),
  ['users.user-created', 'user', 'user', { email: 'grace@example.com' }],
  ['users.user-updated', 'user', 'user', { identity: expect.objectContaining({ familyName: 'Murray' }) }],
  ['beneficiaries.beneficiary-created', 'beneficiary', 'beneficiary', { id: UUID }],
  ['beneficiaries.beneficiary-updated', 'beneficiary', 'beneficiary', { fullName: 'Mill Lane Bakery Ltd' }],
  [
    'beneficiaries.beneficiary-bank-account-created',
    'beneficiary',
    'beneficiary',
    { bankAccounts: [expect.anything()] },
  ],
  [
    'beneficiaries.beneficiary-bank-account-updated',
    'beneficiary',
    'beneficiary',
    { bankAccounts: [expect.objectContaining({ status: 'inactive' })] },
  ],
];

const nameOf = ({ webhook }: Json) => `${webhook.module}.${webhook.type}`;

test.each(CASES)('%s of the %s transfer, account or party', (name, whose, resource, shows) => {
  const found = log.filter((event) => event.resourceId === ids[whose] && nameOf(event) === name);
  expect(found.length).toBeGreaterThan(0);
  for (const event of found) {
    expect(Object.keys(event).sort()).toEqual(['connect', 'data', 'metadata', 'position', 'resourceId', 'webhook']);
    // Only the types in review may show a check.
    expect(Object.keys(event.data)).toEqual(name.endsWith('in-review') ? [resource, 'complianceCheck'] : [resource]);
    expect(event.data[resource]).toMatchObject({ id: ids[whose], ...shows });
    const { connection: own } = event.data[resource];
    if (name === 'clients.connection-created') {
      expect(event.connect).toEqual({ connection: { id: UUID, serviceProvider: 'custom-bank' } });
    } else expect(event.connect).toEqual(resource === 'account' && own !== null ? { connection: own } : {});
  }
});

test('each rejected recall has an event, which shows its payment as at that moment, whatever came later', () => {
  const story = log
    .filter(({ resourceId }) => resourceId === ids.recalled)
    .map(({ webhook, data: { outgoingTransfer: shown } }) => [
      webhook.type.replace('outgoing-transfer-', ''),
      shown.status,
      shown.returned,
      shown.statusReason?.code ?? null,
    ]);
  expect(story.slice(2)).toEqual([
    ['released', 'released', false, null],
    ['recall-rejected', 'released', false, 'recall.rejected'],
    ['completed', 'completed', false, expect.anything()],
    ['returned', 'completed', true, expect.anything()],
    ['recall-rejected', 'completed', true, 'recall.rejected'],
    ['returned', 'completed', true, expect.anything()],
  ]);
});

test('every type has a case, and the OpenAPI document has one entry for each', () => {
  const types = [SPECIFIED_EVENT_TYPES, FURTHER_EVENT_TYPES].flatMap((modules) =>
    Object.entries<readonly string[]>(modules).flatMap(([module, names]) => names.map((type) => `${module}.${type}`)),
  );
  expect(CASES.map(([name]) => name).sort()).toEqual([...types].sort());
  const { webhooks } = documentOf(ROUTES, 'test');
  expect(Object.keys(webhooks).sort()).toEqual([...types, 'webhook-subscriptions.ping'].sort());
});

test('country and bank data of an account change only when it is activated or its information is updated', () => {
  const states = new Map<string, Json>();
  const changed = new Set<string>();
  for (const event of log.filter(({ webhook }) => webhook.module === 'accounts')) {
    const { country, routingCodes, iban, accountNumber } = event.data.account;
    const now = JSON.stringify({ country, routingCodes, iban, accountNumber });
    const before = states.get(event.resourceId);
    if (before !== undefined && before !== now) changed.add(event.webhook.type);
    states.set(event.resourceId, now);
  }
  expect([...changed].sort()).toEqual(['account-activated', 'account-information-updated']);
});

describe('the document rejects', () => {
  type Change = (event: Json) => void;
  test.each<[name: string, what: string, change: Change]>([
    [
      'incoming-transfers.incoming-transfer-completed',
      'no date',
      ({ data }) => (data.incomingTransfer.transferDate = null),
    ],
    [
      'incoming-transfers.incoming-transfer-pending',
      'a date',
      ({ data }) => (data.incomingTransfer.transferDate = '2026-03-02'),
    ],
    [
      'incoming-transfers.incoming-transfer-completed',
      'a check',
      ({ data }) => (data.complianceCheck = { status: 'approved' }),
    ],
    [
      'outgoing-transfers.outgoing-transfer-created',
      'a check',
      ({ data }) => (data.complianceCheck = { status: 'in-review' }),
    ],
    [
      'outgoing-transfers.outgoing-transfer-returned',
      'no return',
      ({ data }) => (data.outgoingTransfer.returned = false),
    ],
    [
      'outgoing-transfers.outgoing-transfer-returned',
      'no id',
      ({ data }) => (data.outgoingTransfer.incomingTransferId = null),
    ],
    [
      'outgoing-transfers.outgoing-transfer-failed',
      'a status',
      ({ data }) => (data.outgoingTransfer.status = 'completed'),
    ],
    ['accounts.account-closed', 'another status', ({ data }) => (data.account.status = 'active')],
    [
      'accounts.account-declined',
      'a connection',
      ({ data }) =>
        (data.account.connection = {
          ...CONNECTION,
          reference: null,
          state: 'creation-failed',
          status: null,
          error: null,
        }),
    ],
    ['accounts.connection-created', 'no connection', ({ data }) => (data.account.connection = null)],
    ['accounts.connection-creation-failed', 'no error', ({ data }) => (data.account.connection.error = null)],
    ['accounts.connection-update-failed', 'no error', ({ data }) => (data.account.connection.error = null)],
    ['clients.connection-created', 'no connection', ({ connect }) => delete connect.connection],
    ['clients.created', 'another type', ({ webhook }) => (webhook.type = 'deleted')],
    ['clients.created', 'an unknown field', ({ data }) => (data.client.nickname = 'Ada')],
  ])('%s with %s', (name, _what, change) => {
    const { position: _, resourceId: __, ...event } = structuredClone(log.find((one) => nameOf(one) === name));
    expect(webhookProblem(event)).toBeNull();
    change(event);
    expect(webhookProblem(event)).not.toBeNull();
  });
});

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import { type SpanReceiver, startSpanReceiver } from '../harness/http/span-receiver.ts';
import { executeOn } from '../harness/servers/postgres.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';
import { connectClient, until } from '../harness/stage.ts';
import { textOf } from '../harness/workflows/histories.ts';

// Marked personal data and secrets in every field that takes them, through the main job and its failures; then all that
// the service writes outside its database is searched for the marks.
let service: WholeService;
let temporal: Client;
let spans: SpanReceiver;
const marks = new Map<string, string>();
const leaksInErrors: string[] = [];

beforeAll(async () => {
  spans = await startSpanReceiver();
  service = await startWholeService({ processesEach: 1, environment: spans.environment });
  temporal = await connectClient(service.temporalAddress);
});

afterAll(async () => {
  await temporal?.connection.close();
  await service?.close();
  await spans?.close();
});

/** A unique text, remembered with the field in which it was sent. */
function mark(field: string): string {
  const text = `Zyx${field.replaceAll(/[^a-zA-Z]/g, '')}${String(marks.size).padStart(3, '0')}qj`;
  return keep(field, text);
}

function keep(field: string, text: string): string {
  marks.set(text, field);
  return text;
}

/** Fields whose marks the text holds. */
function marksIn(text: string): string[] {
  const lower = text.toLowerCase();
  return [...marks]
    .filter(([marked]) => lower.includes(marked.toLowerCase()))
    .map(([marked, field]) => `${field}: ${marked}`);
}

async function call(method: string, path: string, body?: Json, headers: Record<string, string> = {}) {
  const sent = body === undefined ? '' : JSON.stringify(body);
  const response = await fetch(`${service.apiUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: sent }),
  });
  const text = await response.text();
  // An error names the value that it rejects, which is the caller's own; never anything else.
  if (response.status >= 400) {
    const own = new Set(marksIn(`${path} ${sent} ${headers['idempotency-key'] ?? ''}`));
    for (const found of marksIn(text)) if (!own.has(found)) leaksInErrors.push(`${method} ${path}: ${found}`);
  }
  return { status: response.status, text, body: text === '' ? null : JSON.parse(text) };
}

async function create(path: string, code: string, data: Json, connect: Json = {}): Promise<Json> {
  const answer = await call(
    'POST',
    path,
    { workflow: { code }, data, connect },
    { 'idempotency-key': mark('Idempotency-Key') },
  );
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

async function rejected(status: number, path: string, code: string, data: Json, connect: Json = {}): Promise<void> {
  const headers = { 'idempotency-key': mark('Idempotency-Key') };
  const answer = await call('POST', path, { workflow: { code }, data, connect }, headers);
  expect(answer.status, answer.text).toBe(status);
}

async function bank(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(`${service.sandboxUrl}/bank${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

let phones = 0;
function phone(field: string): string {
  phones += 1;
  return keep(field, `+4479460958${String(phones).padStart(2, '0')}`);
}

const email = (field: string) => keep(field, `${mark(field).toLowerCase()}@example.org`);

const address = (of: string): Json => ({
  country: 'GB',
  region: mark(`${of} region`),
  city: mark(`${of} city`),
  street: mark(`${of} street`),
  houseNumber: mark(`${of} house number`),
  postalCode: mark(`${of} postal code`),
  refinement: mark(`${of} refinement`),
});

const identifications = (of: string): Json => [
  { type: 'passport', identificationNumber: mark(`${of} passport`), issuingCountry: 'GB' },
  { type: 'national-id-number', identificationNumber: mark(`${of} national id`) },
];

const person = (of: string): Json => ({
  type: 'individual',
  givenName: mark(`${of} given name`),
  familyName: mark(`${of} family name`),
  birthDate: keep(`${of} birth date`, `19${50 + (marks.size % 40)}-03-17`),
  country: 'GB',
});

const contact = (of: string): Json => ({ phone: phone(`${of} phone`), email: email(`${of} e-mail`) });

interface Made {
  clientId: string;
  userId: string;
  readonly unknown: string;
  plugin: string;
  builtIn: Json;
  bankAccountId: string;
}

const made: Made = {
  clientId: '',
  userId: '',
  unknown: '0190c8a0-0000-7000-8000-000000000000',
  plugin: '',
  builtIn: {},
  bankAccountId: '',
};

async function changeBeneficiary(id: string): Promise<void> {
  const change = async (beneficiary: Json) => {
    const body = { workflow: { code: 'direct' }, data: { beneficiary } };
    return (await call('PATCH', `/beneficiaries/${id}`, body)).status;
  };
  const identity = { givenName: mark('changed given name'), birthDate: keep('changed birth date', '1937-05-06') };
  const own = { ...contact('changed'), address: address('changed') };
  expect(await change({ identity, title: mark('changed title'), contact: own })).toBe(200);
  expect(
    await change({ iban: mark('rejected IBAN'), bankAccounts: [{ accountNumber: mark('rejected number') }] }),
  ).toBe(400);
  expect(
    await change({ fullName: mark('rejected full name'), identity: { legalName: mark('rejected legal name') } }),
  ).toBe(400);
}

async function makeParties(): Promise<void> {
  const { client } = await create('/clients', 'direct', {
    client: {
      identity: {
        type: 'corporate',
        legalName: mark('client legal name'),
        corporationType: mark('client corporation type'),
        country: 'GB',
        identifications: identifications('client'),
      },
      profile: { identityType: 'corporate', registrationAddress: address('client'), ...contact('client') },
      relations: [
        {
          relation: 'director',
          identity: person('relation'),
          profile: { identityType: 'individual', residentialAddress: address('relation'), ...contact('relation') },
        },
      ],
    },
  });
  made.clientId = client.id;
  const { beneficiary } = await create('/beneficiaries', 'direct', {
    beneficiary: {
      clientId: client.id,
      identity: { ...person('beneficiary'), identifications: identifications('beneficiary') },
      title: mark('beneficiary title'),
      contact: { ...contact('beneficiary'), address: address('beneficiary') },
      bankAccounts: [
        {
          country: 'GB',
          currency: 'GBP',
          accountHolderName: mark('bank account holder'),
          accountHolderType: 'individual',
          bankName: mark('bank name'),
          alias: mark('bank account alias'),
          accountNumber: keep('bank account number', '31926819'),
          routingCodes: { 'sort-code': '601613' },
        },
        {
          country: 'DE',
          currency: 'EUR',
          accountHolderName: mark('second holder'),
          iban: keep('bank account IBAN', 'DE89370400440532013000'),
          routingCodes: { bic: 'COBADEFFXXX' },
        },
      ],
    },
  });
  made.bankAccountId = beneficiary.bankAccounts[0].id;
  await changeBeneficiary(beneficiary.id);
  const { user } = await create('/users', 'human.external.direct', {
    user: {
      email: email('user e-mail'),
      identity: { ...person('user'), country: undefined },
      profile: { phone: phone('user phone'), residentialAddress: address('user') },
    },
    userClientRelations: [{ clientId: client.id }],
  });
  made.userId = user.id;
  await create('/webhook-subscriptions', 'direct', {
    webhookSubscription: {
      url: `${service.receiver.url}?secret=${mark('webhook URL')}`,
      description: mark('webhook description'),
    },
  }).then(({ webhookSubscription }) => keep('webhook secret', webhookSubscription.secret));
  await create('/machine-users', 'direct', {
    machineUser: { name: mark('machine user name'), roles: ['viewer'], key: await publicKey() },
  });
}

async function patch(status: number, path: string, data: Json, code = 'direct'): Promise<void> {
  const answer = await call('PATCH', path, { workflow: { code }, data });
  expect(answer.status, answer.text).toBe(status);
}

/** Changed data, and changes rejected for another field than the marked ones. */
async function changeParties(): Promise<void> {
  const path = `/clients/${made.clientId}`;
  const identity = (of: string): Json => ({
    type: 'corporate',
    legalName: mark(`${of} legal name`),
    identifications: identifications(of),
    identificationNumbers: { lei: mark(`${of} map of numbers`) },
  });
  const profile = (of: string): Json => ({
    identityType: 'corporate',
    registrationAddress: address(of),
    ...contact(of),
  });
  await patch(200, path, { client: { identity: identity('changed client'), profile: profile('changed client') } });
  await patch(400, path, {
    client: { identity: { ...identity('rejected change'), type: 'individual' }, profile: profile('rejected change') },
  });
  await patch(404, `/clients/${made.unknown}`, { client: { identity: identity('unknown') } });
  const related = (of: string): Json => ({
    relation: 'shareholder',
    identity: person(of),
    profile: { identityType: 'individual', residentialAddress: address(of), ...contact(of) },
  });
  const { clientRelations } = await create(`${path}/relations`, 'direct', {
    clientRelations: [related('new relation'), related('second relation')],
  });
  const [relation, other] = clientRelations;
  await patch(200, `${path}/relations/${relation.id}`, { clientRelation: related('changed relation') });
  await patch(404, `${path}/relations/${made.unknown}`, { clientRelation: related('no relation') });
  const many = Array.from({ length: 11 }, (_, index) => related(`relation too many ${index}`));
  await rejected(400, `${path}/relations`, 'direct', { clientRelations: many });
  await rejected(400, `${path}/relations`, 'direct', { clientRelation: related('both'), clientRelations: many });
  expect((await call('DELETE', `${path}/relations/${other.id}`)).status).toBe(200);
  const user = (of: string): Json => ({
    email: email(`${of} e-mail`),
    identity: { ...person(of), country: undefined },
    profile: { phone: phone(`${of} phone`), residentialAddress: address(of) },
  });
  await patch(200, `/users/${made.userId}`, { user: user('changed user') }, 'human.external.direct');
  await patch(404, `/users/${made.unknown}`, { user: user('no user') }, 'human.external.direct');
}

const fromBank = { type: 'explicit', serviceProvider: 'sandbox-bank' };

/** The bank's data is personal data that no caller sent: not even errors may contain it. */
async function takeOver(): Promise<void> {
  const held = (of: string): Json => ({
    identity: { ...person(of), identifications: identifications(of) },
    address: address(of),
    ...contact(of),
  });
  const sourceId = mark('source id');
  await bank('POST', '/existing-clients', {
    ...held('existing client'),
    sourceId,
    identity: { type: 'corporate', legalName: mark('existing legal name'), corporationType: mark('existing kind') },
    relations: [{ ...held('existing relation'), relation: 'director' }],
  });
  const { client } = await create('/clients', 'migration', { sourceId }, fromBank);
  const account = { accountHolderName: mark('existing holder'), bankName: mark('existing bank'), currency: 'EUR' };
  const iban = keep('existing IBAN', 'NL91ABNA0417164300');
  const existing = (of: string, change: Json) =>
    bank('POST', '/existing-beneficiaries', {
      ...held(of),
      sourceId: `${sourceId} ${of}`,
      clientSourceId: sourceId,
      ...change,
    });
  await existing('beneficiary', { bankAccounts: [{ ...account, country: 'NL', iban }] });
  const beneficiary = { clientId: client.id };
  await create('/beneficiaries', 'migration', { sourceId: `${sourceId} beneficiary`, beneficiary }, fromBank);

  const wrong = { country: mark('wrong country'), iban: mark('wrong IBAN'), routingCodes: { bic: mark('wrong BIC') } };
  await existing('wrong', { title: mark('wrong title').repeat(3), bankAccounts: [{ ...account, ...wrong }] });
  await rejected(422, '/beneficiaries', 'migration', { sourceId: `${sourceId} wrong`, beneficiary }, fromBank);
  await bank('POST', '/existing-clients', {
    ...held('wrong client'),
    sourceId: `${sourceId} wrong`,
    phone: mark('wrong phone'),
    email: mark('wrong e-mail'),
  });
  await rejected(422, '/clients', 'migration', { sourceId: `${sourceId} wrong` }, fromBank);
  await rejected(409, '/clients', 'migration', { sourceId }, fromBank);
  await rejected(404, '/clients', 'migration', { sourceId: `${sourceId} unknownBankAccount` }, fromBank);
  await rejected(503, '/clients', 'migration', { sourceId: `unavailable ${sourceId}` }, fromBank);
}

async function publicKey(): Promise<Json> {
  const { publicKey: key } = await generateKeyPair('ES256');
  return { kid: mark('key id'), algorithm: 'ES256', jwk: await exportJWK(key) };
}

async function makeAccounts(): Promise<void> {
  const plugin = { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' };
  const wanted = () => ({ account: { clientId: made.clientId, currency: 'GBP', alias: mark('account alias') } });
  made.plugin = (await create('/accounts', 'client.issuing', wanted(), plugin)).account.id;
  const connected = await call('PATCH', `/accounts/${made.plugin}`, {
    workflow: { code: 'client.direct' },
    data: {
      account: {
        status: 'active',
        accountNumber: keep('account number', '55779911'),
        routingCodes: { 'sort-code': '200000' },
        connection: { state: 'completed-up-to-date', status: 'active', reference: mark('connection reference') },
      },
    },
  });
  expect(connected.status, connected.text).toBe(200);
  const { account } = await create('/accounts', 'client.issuing', wanted(), { type: 'implicit' });
  made.builtIn = await accountWhen(account.id, ({ status }) => status === 'active');
  keep('built-in account number', made.builtIn.accountNumber);
  keep('built-in IBAN', made.builtIn.iban);
}

function accountWhen(id: string, good: (account: Json) => boolean): Promise<Json> {
  return until(async () => (await call('GET', `/accounts/${id}`)).body.data.account, good);
}

const sender = (of: string): Json => ({
  accountHolderName: mark(`${of} sender holder`),
  alias: mark(`${of} sender alias`),
  iban: keep(`${of} sender IBAN`, 'FR1420041010050500013M02606'),
});

async function receiveMoney(): Promise<void> {
  await create('/provisioned-account-credits', 'client.direct', {
    provisionedAccountCredit: {
      accountId: made.plugin,
      amount: 900,
      currency: 'GBP',
      scope: 'external',
      scheme: 'faster-payments',
      senderName: mark('sender name'),
      senderAddress: address('sender'),
      senderBankAccount: sender('credit'),
      senderToReceiverInformation: mark('sender information'),
      serviceProviderId: mark('service provider id'),
    },
  });
  const adjustment = await call('POST', `/accounts/${made.plugin}/balance-adjustments`, {
    workflow: { code: 'synchronization', type: 'unconnected-service-provider' },
    data: {
      balanceAdjustment: {
        accountId: made.plugin,
        direction: 'credit',
        amount: 1,
        currency: 'GBP',
        description: mark('adjustment description'),
        unconnectedServiceProvider: mark('unconnected provider'),
      },
    },
  });
  expect(adjustment.status, adjustment.text).toBe(201);
  const payIn = (receiver: Json, amount: number) =>
    bank('POST', '/payments-in', {
      amount,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: mark('payer name'),
      senderAccount: sender('payment in'),
      reference: mark('payment reference'),
      ...receiver,
    });
  await payIn({ iban: made.builtIn.iban }, 1_000);
  await payIn({}, 12.5);
  await accountWhen(made.builtIn.id, ({ availableBalance }) => availableBalance > 0);
}

const external = (amount: number, change: Json = {}): Json => ({
  outgoingTransfer: {
    clientId: made.clientId,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    description: mark('transfer description'),
    source: { type: 'client-account', accountId: made.builtIn.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: made.bankAccountId },
    ...change,
  },
});

async function send(data: Json): Promise<string> {
  return (await create('/outgoing-transfers', 'client.direct', data)).outgoingTransfer.id;
}

const transferWhen = (id: string, good: (transfer: Json) => boolean) =>
  until(async () => (await call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer, good);

async function sendMoney(): Promise<void> {
  await send({
    outgoingTransfer: {
      ...external(10).outgoingTransfer,
      scope: 'internal',
      scheme: undefined,
      source: { type: 'client-account', accountId: made.plugin },
      destination: { type: 'client-account', accountId: made.builtIn.id },
    },
  });
  // Rejected, failed after release, returned, cut after the effect, away twice, plain.
  const ends = {
    10.01: 'failed',
    10.02: 'failed',
    10.03: 'completed',
    10.05: 'completed',
    10.06: 'completed',
    10.5: 'completed',
  };
  const sent = await Promise.all(
    Object.entries(ends).map(async ([amount, end]) => [await send(external(Number(amount))), end]),
  );
  for (const [id = '', end] of sent) await transferWhen(id, ({ status }) => status === end);
  const tooMuch = await send(external(5_000.5));
  await transferWhen(
    tooMuch,
    ({ requirementConfiguration }) => requirementConfiguration.balanceCheckStatus === 'not-fulfilled',
  );
  const cancel = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  expect((await call('PATCH', `/outgoing-transfers/${tooMuch}`, cancel)).status).toBe(200);
  expect((await call('PATCH', `/outgoing-transfers/${tooMuch}`, cancel)).status).toBe(409);
}

async function beRejected(): Promise<void> {
  await rejected(400, '/clients', 'direct', {
    client: { identity: person('rejected'), profile: { [mark('unknown field')]: mark('unknown value') } },
  });
  await rejected(400, '/clients', mark('workflow code'), { client: { identity: person('rejected') } });
  const { outgoingTransfer } = external(10);
  await rejected(400, '/outgoing-transfers', 'client.direct', {
    outgoingTransfer: { ...outgoingTransfer, amount: mark('amount') },
  });
  const unknownBankAccount = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: made.unknown };
  await rejected(404, '/outgoing-transfers', 'client.direct', external(10, { destination: unknownBankAccount }));
  await rejected(
    422,
    '/outgoing-transfers',
    'client.direct',
    external(9_999, {
      scope: 'internal',
      scheme: undefined,
      destination: { type: 'client-account', accountId: made.plugin },
    }),
  );
  const bankAccount = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: mark('wrong account number'),
    routingCodes: { 'sort-code': mark('wrong sort code') },
  };
  await rejected(400, '/beneficiaries', 'direct', {
    beneficiary: { clientId: made.clientId, fullName: mark('full name'), bankAccounts: [bankAccount] },
  });
  const key = mark('Idempotency-Key used twice');
  const answers = [];
  for (const description of [mark('first'), mark('second')]) {
    const body = { workflow: { code: 'client.direct' }, data: external(1.5, { description }) };
    answers.push((await call('POST', '/outgoing-transfers', body, { 'idempotency-key': key })).status);
  }
  expect(answers).toEqual([201, 409]);
  expect((await call('GET', `/clients/${mark('client id')}`)).status).toBe(400);
  expect((await call('GET', `/clients?data.client.fullName=${mark('filter')}&${mark('parameter')}=1`)).status).toBe(
    400,
  );
  expect((await call('GET', `/${mark('path')}`)).status).toBe(404);
  const token = { authorization: `Bearer ${mark('token')}.${mark('token')}.${mark('token')}` };
  expect((await call('GET', '/clients', undefined, token)).status).toBe(401);
  expect((await call('POST', '/provider-callbacks/sandbox-bank', { type: mark('forged callback') })).status).toBe(401);
  await call('POST', '/users', {
    workflow: { code: 'human.external.direct' },
    data: { user: { email: mark('no e-mail') } },
  });
}

/** The database itself rejects a change, quoting user input. */
async function beRejectedByTheDatabase(): Promise<void> {
  const waiting = await send(external(5_000.5));
  await bank('POST', '/faults', { errorRate: 1 });
  const id = await send(external(11.5));
  await transferWhen(id, ({ status }) => status === 'processing');
  await executeOn(
    service.ownerUrl,
    `CREATE FUNCTION quote_row() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'rejected: %', NEW.description USING DETAIL = NEW.beneficiary::text, HINT = NEW.description; END $$;
     CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON outgoing_transfers FOR EACH ROW EXECUTE FUNCTION quote_row()`,
  );
  await bank('DELETE', '/faults');
  const body = { workflow: { code: 'client.direct' }, data: external(12.5) };
  expect((await call('POST', '/outgoing-transfers', body)).status).toBe(500);
  // A credit that covers the transfer which waits for money.
  await bank('POST', '/payments-in', {
    amount: 6_000,
    currency: 'GBP',
    scheme: 'faster-payments',
    iban: made.builtIn.iban,
  });
  await logged('worker', (text) => text.includes('"activity failed"') && text.includes(id));
  await logged('api', (text) => text.includes('"the transfers that wait in an account cannot be admitted"'));
  await executeOn(service.ownerUrl, 'DROP TRIGGER quoting ON outgoing_transfers');
  await transferWhen(id, ({ status }) => status === 'completed');
  await transferWhen(waiting, ({ status }) => status === 'completed');
}

function logged(kind: 'api' | 'worker', good: (text: string) => boolean): Promise<string> {
  const { logFile } = service.process(kind);
  return until(async () => readFileSync(logFile, 'utf8'), good);
}

async function historiesOfAll(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const { workflowId, runId, ...listed } of temporal.workflow.list()) {
    const handle = temporal.workflow.getHandle(workflowId, runId);
    const { raw } = await handle.describe();
    const history = await handle.fetchHistory();
    // The description, the list and the first event contain search attributes and memo.
    texts.set(`${workflowId} ${runId}`, [workflowId, textOf(history), deepText(raw), deepText(listed)].join('\n'));
  }
  return texts;
}

/** As `textOf`, of anything. */
function deepText(value: unknown): string {
  return textOf(value as Parameters<typeof textOf>[0]);
}

describe('personal data and secrets, marked in every field', () => {
  beforeAll(async () => {
    keep('bearer token', service.token.split('.')[2] ?? '');
    service.receiver.answer((message, response) => {
      // A failing receiver that echoes the request and its address.
      response.writeHead(500).end(`${service.receiver.url} ${message.text}`);
    });
    await makeParties();
    await changeParties();
    await takeOver();
    await makeAccounts();
    await receiveMoney();
    await sendMoney();
    await beRejected();
    await beRejectedByTheDatabase();
    service.receiver.answer((_message, response) => response.writeHead(200).end());
    await until(
      () =>
        service.database.reader.statement<{ pending: boolean }>(
          `SELECT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS pending`,
          [],
        ),
      ([row]) => row?.pending === false,
    );
    // Buffered lines of the log.
    await sleep(500);
  });

  test('the marks are found where they belong: in the database and at the receiver', async () => {
    const rows = await service.database.reader.statement<{ text: string }>(
      `SELECT row_to_json(c)::text AS text FROM clients c UNION ALL SELECT row_to_json(r)::text FROM client_relations r
       UNION ALL SELECT row_to_json(u)::text FROM users u UNION ALL SELECT row_to_json(b)::text FROM beneficiary_bank_accounts b
       UNION ALL SELECT row_to_json(t)::text FROM outgoing_transfers t UNION ALL SELECT row_to_json(i)::text FROM incoming_transfers i`,
      [],
    );
    const found = marksIn(rows.map(({ text }) => text).join('\n'));
    expect(found.length).toBeGreaterThan(60);
    expect(found.some((mark) => mark.startsWith('existing holder'))).toBe(true);
    expect(marksIn(service.receiver.received.map(({ text }) => text).join('\n')).length).toBeGreaterThan(10);
  });

  test.each(['api', 'worker'] as const)('are in no line of the log of the %s', (kind) => {
    const text = readFileSync(service.process(kind).logFile, 'utf8');
    expect(text.split('\n').length).toBeGreaterThan(kind === 'api' ? 50 : 3);
    const lines = text.split('\n').filter((line) => marksIn(line).length > 0);
    expect(lines.map((line) => `${marksIn(line).join(', ')} in ${line.slice(0, 400)}`)).toEqual([]);
  });

  test('are in no workflow’s history, search attributes, memo or id', async () => {
    const texts = await historiesOfAll();
    expect([...texts.keys()].filter((id) => id.startsWith('outgoing-transfer/')).length).toBeGreaterThan(5);
    // Payloads and search attributes are searched.
    expect([...texts.values()].filter((text) => text.includes(made.clientId)).length).toBeGreaterThan(0);
    const leaks = [...texts].flatMap(([id, text]) => marksIn(text).map((found) => `${id}: ${found}`));
    expect(leaks).toEqual([]);
  });

  test('are in no span, and neither are the ids of people', async () => {
    const kinds = ['POST /users', 'submitPayment', 'send webhook'];
    const all = await until(
      async () => spans.received(),
      (received) => kinds.every((name) => received.some((span) => span.name === name)),
    );
    const leaks = all.flatMap((span) => marksIn(JSON.stringify(span)).map((found) => `${span.name}: ${found}`));
    expect(leaks).toEqual([]);
    expect(all.filter((span) => JSON.stringify(span).includes(made.userId))).toEqual([]);
  });

  test('are in no error but the caller’s own offending value', () => {
    expect(leaksInErrors).toEqual([]);
  });

  test('are in no metric', async () => {
    const response = await fetch(service.apiMetricsUrls[0] ?? '');
    expect(response.status).toBe(200);
    expect(marksIn(await response.text())).toEqual([]);
  });
});

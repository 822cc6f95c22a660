import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { assignment, moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { loadEventBodies } from '../../db/webhooks/event-documents.ts';
import { numberEvents } from '../../db/webhooks/event-sequencer.ts';
import { asId } from '../../domain/common/ids.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { checkWebhook } from '../harness/webhooks/webhook-contract.ts';

// An event for ever shows the state at the time it was appended: a replayed webhook has the same bytes under the same
// id. A transfer shows accounts of the service as they were at its creation.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let daysAhead = 0;

const PRICES = [
  { direction: 'incoming' as const, scheme: 'swift', currency: 'GBP', fixedMinor: 250n, pricing: null },
  { direction: 'outgoing' as const, scheme: null, currency: 'GBP', fixedMinor: 30n, pricing: null },
];

beforeAll(async () => {
  database = await createTestDatabase('event-immutability');
  api = await startApi(database, {
    clockOffset: () => `${daysAhead} days`,
    configuration: (configuration) => ({ ...configuration, prices: PRICES }),
  });
  world = moneyWorld(api);
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

interface Stored {
  readonly id: string;
  readonly module: string;
  readonly type: string;
}

async function storedEvents(): Promise<Stored[]> {
  while ((await numberEvents(api.database, 1_000, null)).rowCount > 0);
  const rows = await api.database.reader.statement<{ id: string; module: string; entries: { type: string }[] }>(
    'SELECT id, module, entries FROM events ORDER BY id',
    [],
  );
  return rows.flatMap(({ id, module, entries }) =>
    entries.map(({ type }, index) => ({ id: id.slice(0, -1) + index.toString(16), module, type })),
  );
}

async function bodiesOf(events: readonly Stored[]): Promise<ReadonlyMap<string, string>> {
  const bodies = await loadEventBodies(
    api.database.reader,
    events.map(({ id }) => id),
  );
  for (const body of bodies.values()) checkWebhook(JSON.parse(body));
  return bodies;
}

async function send(body: Json): Promise<Json> {
  const answer = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer: { currency: 'GBP', ...body } },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

async function patched(path: string, data: Json, code = 'client.direct'): Promise<void> {
  const answer = await api.call('PATCH', path, { workflow: { code }, data });
  expect(answer.status, answer.text).toBe(200);
}

const report = (id: string, outgoingTransfer: Json) => patched(`/outgoing-transfers/${id}`, { outgoingTransfer });
const advance = (id: string) =>
  api.database.transaction((tx) => advanceOutgoingTransfer(tx, asId(id), api.services.configuration));

/** A payment from outside by the bank's callback, to this account number; none has it unless it was given to one. */
async function arrive(accountNumber: string): Promise<string> {
  const serviceProviderId = `in-${accountNumber}`;
  await api.database.transaction((tx) =>
    receivePayment(
      tx,
      {
        provider: 'custom-bank',
        serviceProviderId,
        serviceProviderReference: null,
        amountMinor: 5_000n,
        currency: 'GBP',
        scheme: 'swift',
        senderName: 'Mary Somerville',
        senderAccount: null,
        remittanceText: 'For you',
        held: false,
        receiver: { iban: null, accountNumber, routingCodes: { 'sort-code': '040075' } },
      },
      api.services.configuration,
    ),
  );
  const { body } = await api.call(
    'GET',
    `/incoming-transfers?data.incomingTransfer.serviceProviderId=${serviceProviderId}`,
  );
  return body.data.incomingTransfers[0].id;
}

interface Scene {
  readonly payer: string;
  readonly payee: string;
  readonly source: string;
  readonly destination: string;
  readonly beneficiary: string;
  readonly settled: Json;
  /** What becomes of everything that is still open. */
  readonly goOn: readonly (() => Promise<unknown>)[];
}

async function play(): Promise<Scene> {
  const [payer, payee] = [await world.client('Ada'), await world.client('Grace')];
  const source = await world.account(payer, { amount: 1_000 });
  const destination = await world.account(payee, { amount: 5 });
  await patched(`/accounts/${destination}`, { account: { alias: 'Before' } });
  const bankAccount = await world.beneficiary(payer);
  const internal = (change: Json = {}) => ({
    clientId: payer,
    amount: 10,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  });
  const external = (change: Json = {}) =>
    internal({
      scope: 'external',
      scheme: 'faster-payments',
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
      ...change,
    });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

  const settled = await send(internal());
  const cancelled = await send(internal({ transferDate: tomorrow }));
  const dated = await send(internal({ transferDate: tomorrow }));
  const rolling = await send(external({ scheme: 'chaps', amount: 4_000 }));
  const waiting = await send(external({ amount: 2_000 }));
  const failing = await send(external());
  const released = await send(external());
  const completed = await send(external());
  await report(released.id, { status: 'released' });
  await report(completed.id, { status: 'completed' });

  const resting = await world.account(payee);
  await patched(`/accounts/${resting}`, {
    account: { status: 'inactive', accountNumber: '10000001', routingCodes: { 'sort-code': '040075' } },
  });
  const held = await arrive('10000001');
  const unmatched = await arrive('10000002');
  const unwanted = await arrive('10000003');

  const goOn = [
    () => report(cancelled.id, { status: 'cancelled' }),
    () => report(failing.id, { status: 'failed' }),
    () => report(released.id, { status: 'failed' }),
    () => report(completed.id, { returned: true }),
    () => world.credit(source, 2_500),
    () => api.database.transaction((tx) => admitWaitingTransfers(tx, asId(source), api.services.configuration)),
    () => report(waiting.id, { status: 'completed' }),
    () => api.database.transaction((tx) => changeUnderLocks(tx, moneyReturn({ id: asId(held), initiator: TESTER }))),
    () =>
      api.database.transaction((tx) =>
        changeUnderLocks(tx, assignment({ id: asId(unmatched), accountId: asId(destination), initiator: TESTER })),
      ),
    () =>
      api.database.transaction((tx) => changeUnderLocks(tx, moneyReturn({ id: asId(unwanted), initiator: TESTER }))),
    () => {
      daysAhead = 5;
      return advance(dated.id);
    },
    () => advance(rolling.id),
    () => patched(`/accounts/${resting}`, { account: { status: 'suspended' } }),
  ];
  const { body } = await api.call('GET', `/beneficiaries?data.beneficiary.clientId=${payer}`);
  return { payer, payee, source, destination, beneficiary: body.data.beneficiaries[0].id, settled, goOn };
}

async function renameEverything({ payer, payee, source, destination, beneficiary }: Scene): Promise<void> {
  for (const client of [payer, payee]) {
    const identity = { type: 'individual', givenName: 'Another', familyName: 'Name', birthDate: '1980-02-03' };
    const profile = { identityType: 'individual', residentialAddress: { country: 'FR', city: 'Paris' } };
    await patched(`/clients/${client}`, { client: { identity, profile } }, 'direct');
  }
  for (const [index, account] of [source, destination].entries()) {
    const bank = { accountNumber: `2000000${index}`, routingCodes: { 'sort-code': '040075' } };
    await patched(`/accounts/${account}`, { account: { alias: `After ${index}`, ...bank } });
  }
  const identity = { type: 'corporate', legalName: 'Another Bakery Ltd' };
  await patched(`/beneficiaries/${beneficiary}`, { beneficiary: { identity } }, 'direct');
  // Changes that no API path makes, but a person with database access may.
  await api.database.statement(
    `UPDATE accounts SET account_holder_name = 'Another Name', iban = NULL, country = 'DE', ledger_number = ledger_number || '9'`,
    [],
  );
  await api.database.statement(
    `UPDATE clients SET full_name = 'Another Name', identity = identity || '{"country": "DE"}'`,
    [],
  );
}

describe('an event', () => {
  let scene: Scene;
  let events: Stored[];
  let before: ReadonlyMap<string, string>;

  beforeAll(async () => {
    scene = await play();
    events = await storedEvents();
    before = await bodiesOf(events);
  });

  test('is the same bytes when its transfer has gone on, failed, or been returned', async () => {
    for (const step of scene.goOn) await step();
    expect(await bodiesOf(events)).toEqual(before);
    await world.invariantsHold();
  });

  test('is the same bytes when clients, accounts and beneficiaries have other names, aliases and numbers', async () => {
    events = await storedEvents();
    before = await bodiesOf(events);
    await renameEverything(scene);
    expect(await bodiesOf(events)).toEqual(before);
  });

  test('was of every type that transfers have', async () => {
    const all = await storedEvents();
    const types = (module: string) =>
      [...new Set(all.filter((event) => event.module === module).map(({ type }) => type))].sort();
    const statuses = ['cancelled', 'completed', 'created', 'failed', 'processing', 'released', 'returned'];
    expect(types('outgoing-transfers')).toEqual(statuses.map((status) => `outgoing-transfer-${status}`));
    const arrivals = ['completed', 'failed', 'on-hold', 'pending'];
    expect(types('incoming-transfers')).toEqual(arrivals.map((status) => `incoming-transfer-${status}`));
    expect(types('accounts')).toEqual(
      expect.arrayContaining(['account-activated', 'account-information-updated', 'connection-creation-instructed']),
    );
    expect(types('clients')).toEqual(['connection-created', 'created']);
  });

  test('shows what GET and lists show of its transfer, whatever its accounts are called by now', async () => {
    const shownBy = async (path: string) => (await api.call('GET', path)).body.data;
    const { id, incomingTransferId } = scene.settled;
    const { outgoingTransfer } = await shownBy(`/outgoing-transfers/${id}`);
    const { incomingTransfer } = await shownBy(`/incoming-transfers/${incomingTransferId}`);
    const last = (type: string) => {
      const found = events
        .filter((event) => event.type === type)
        .map((event) => JSON.parse(before.get(event.id) ?? ''));
      return found.map(({ data }) => data);
    };
    // What holds only now is in no event.
    const { waitingFor: _, returningIncomingTransferIds: __, ...outgoingThen } = outgoingTransfer;
    const { waitingFor: ___, returns: ____, ...incomingThen } = incomingTransfer;
    expect(last('outgoing-transfer-completed')).toContainEqual({ outgoingTransfer: outgoingThen });
    expect(last('incoming-transfer-completed')).toContainEqual({ incomingTransfer: incomingThen });
    expect(outgoingTransfer.beneficiary.account).toMatchObject({
      accountHolderName: 'Grace Lovelace',
      alias: 'Before',
    });
    const listed = await shownBy(`/outgoing-transfers?data.outgoingTransfer.accountId=${scene.source}`);
    expect(listed.outgoingTransfers).toContainEqual(outgoingTransfer);
    const query = `data.incomingTransfer.accountId=${scene.destination}&data.incomingTransfer.senderName=ada%20love`;
    expect((await shownBy(`/incoming-transfers?${query}`)).incomingTransfers).toContainEqual(incomingTransfer);
  });
});

describe('what a payer sees of the receiver of an internal transfer', () => {
  test('is name, type and account: no birth date, documents or nationality, in answers, lists and events', async () => {
    const identification = { type: 'passport', identificationNumber: 'P7712345' };
    const created = await api.call('POST', '/clients', {
      workflow: { code: 'direct' },
      data: {
        client: {
          identity: {
            type: 'individual',
            givenName: 'Emmy',
            familyName: 'Noether',
            birthDate: '1982-03-23',
            country: 'PT',
            identifications: [identification],
          },
          profile: { identityType: 'individual', residentialAddress: { country: 'NL', city: 'Utrecht' } },
        },
      },
    });
    const payer = await world.client('Ada');
    const source = await world.account(payer, { amount: 10 });
    const destination = await world.account(created.body.data.client.id);
    const transfer = await send({
      clientId: payer,
      amount: 1,
      scope: 'internal',
      source: { type: 'client-account', accountId: source },
      destination: { type: 'client-account', accountId: destination },
    });
    const answer = await api.call('GET', `/outgoing-transfers/${transfer.id}`);
    const { fullName, identity, address, title, account } = answer.body.data.outgoingTransfer.beneficiary;
    expect({ fullName, identity, address, title }).toEqual({
      fullName: 'Emmy Noether',
      identity: { type: 'individual', givenName: 'Emmy', familyName: 'Noether' },
      address: null,
      title: null,
    });
    expect(account).toMatchObject({ accountHolderName: 'Emmy Noether', currency: 'GBP' });
    const list = await api.call('GET', `/outgoing-transfers?data.outgoingTransfer.accountId=${source}`);
    const ofTransfer = (await storedEvents()).filter(({ module }) => module === 'outgoing-transfers');
    const bodies = [...(await bodiesOf(ofTransfer)).values()].filter((body) => body.includes(transfer.id));
    expect(bodies).toHaveLength(4);
    for (const text of [answer.text, list.text, ...bodies]) {
      expect(text).toContain('Noether');
      for (const secret of ['1982-03-23', 'P7712345', '"PT"', 'Utrecht']) expect(text).not.toContain(secret);
    }
  });
});

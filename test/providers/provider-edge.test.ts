import { createHmac } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountProviderCalls, accountTransitions } from '../../activities/accounts/activities.ts';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import { incomingTransferProviderCalls } from '../../activities/incoming-transfers/activities.ts';
import {
  outgoingTransferProviderCalls,
  outgoingTransferTransitions,
} from '../../activities/outgoing-transfers/activities.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { decideComplianceCheck } from '../../db/compliance/checks.ts';
import type { Transaction } from '../../db/query/database.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import {
  changed,
  cutAfter,
  cutBefore,
  type Fault,
  type FaultyServer,
  passThrough,
  startFaultyServer,
} from '../harness/faults/faulty-server.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';
import { modes } from '../harness/transfers/reviews.ts';
import '../harness/workflows/temporal-runtime.ts';

// Money between the service and the real bank, activity by activity as the workflows call them: only the bank's own
// statement moves a payment, by exactly what it says, and nothing leaves unless its row requires it.

// The SDK's own lines say nothing that a failing test would not.

const directory = temporaryDirectory();
let testDatabase: TestDatabase;
let api: TestApi;
let sandbox: RunningSandbox;
let server: FaultyServer;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let dependencies: ActivityDependencies;
let client: string;
let account: Json;
let bankAccount: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase('provider-edge');
  const providers = new Map<string, Provider>();
  api = await startApi(testDatabase, {
    providers,
    env: { AUTHORIZATION_RULE: '5000' },
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  server = await startFaultyServer(sandbox.url);
  providers.set('sandbox-bank', createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }));
  const { configuration, environment, keyring, logger } = api.services;
  dependencies = {
    database: api.database,
    providers,
    configuration,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
    keyring,
  };
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  client = await world.client('Ada');
  bankAccount = await world.beneficiary(client);
});

beforeEach(async () => {
  account = await builtIn.opened(client);
  const money = { amount: 100, currency: 'GBP', scheme: 'faster-payments', reference: account.ledgerNumber };
  await bank('POST', '/payments-in', money);
  await eventually('the money', async () => ((await available()) === 100 ? true : undefined));
});

afterEach(async () => {
  await bank('DELETE', '/faults');
  await world.invariantsHold();
});

afterAll(async () => {
  await server?.close();
  await sandbox?.stop();
  await api?.stop();
  await testDatabase?.drop();
  directory.remove();
});

async function bank(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(`${sandbox.url}/bank${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

async function available(): Promise<number> {
  return (await world.balance(account.id)).available;
}

function payment(amount: number, change: Json = {}): Json {
  return {
    clientId: client,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: account.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
}

async function created(outgoingTransfer: Json): Promise<string> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

async function transfer(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

function reaches(id: string, status: string): Promise<Json> {
  return eventually(`${status} of ${id}`, async () => {
    const shown = await transfer(id);
    return shown.status === status ? shown : undefined;
  });
}

function run<Arguments extends unknown[], Result>(
  activity: (...given: Arguments) => Promise<Result>,
  ...given: Arguments
) {
  return new MockActivityEnvironment().run<Arguments, Result, typeof activity>(activity, ...given);
}

const calls = () => outgoingTransferProviderCalls(dependencies);
const transitions = () => outgoingTransferTransitions(dependencies);

/** As the transfer's workflow submits it: the bank takes it on. */
async function released(amount: number): Promise<string> {
  const id = await created(payment(amount));
  const report = await run(calls().submitOutgoingTransfer, id, 1);
  await run(transitions().recordOutgoingTransferSubmission, id, 1, report);
  expect(await transfer(id)).toMatchObject({ status: 'released' });
  return id;
}

/** As the transfer's workflow looks it up. */
async function lookUp(id: string, count = 0): Promise<void> {
  const report = await run(calls().lookUpOutgoingTransfer, id, count);
  await run(transitions().recordOutgoingTransferLookUp, id, count, report);
}

const isAtBank = async (id: string) => (await fetch(`${sandbox.url}/bank/payments/${id}`)).status === 200;

async function breaks(): Promise<Json[]> {
  return api.database.reader.statement<Json>(
    `SELECT kind, our_reference AS reference FROM reconciliation_breaks WHERE status = 'open' ORDER BY id`,
    [],
  );
}

async function incoming({ incomingTransferId }: Json): Promise<Json> {
  return (await api.call('GET', `/incoming-transfers/${incomingTransferId}`)).body.data.incomingTransfer;
}

const unavailable = { name: 'ProviderUnavailable' };

describe('a rejected look-up says nothing about its payment', () => {
  test('a released payment stays released and is settled by its callback', async () => {
    const id = await released(10.13);
    await expect(lookUp(id)).rejects.toMatchObject(unavailable);
    expect(await transfer(id)).toMatchObject({ status: 'released' });
    expect(await available()).toBeCloseTo(100 - 10.13, 10);
    await bank('POST', `/payments/${id}/settle`, {});
    await reaches(id, 'completed');
    expect(await available()).toBeCloseTo(100 - 10.13, 10);
  });

  test.each(['rejected', 'gateway'])(
    'by a proxy before the bank (%s): the next one finds the payment',
    async (lookUps) => {
      const id = await released(10.1);
      await bank('POST', '/faults', { callbacks: 'held' });
      await bank('POST', `/payments/${id}/settle`, {});
      await bank('POST', '/faults', { lookUps });
      await expect(lookUp(id)).rejects.toMatchObject(unavailable);
      expect(await transfer(id)).toMatchObject({ status: 'released' });
      await bank('POST', '/faults', { lookUps: 'normal' });
      await lookUp(id);
      expect(await transfer(id)).toMatchObject({ status: 'completed' });
    },
  );

  test.each([
    ['before the bank opens it', cutBefore],
    ['after', cutAfter],
  ])(
    'a connection cut between connecting a client and the answer about his account, %s: it is asked for again',
    async (_, cut) => {
      const owner = await world.client('Grace');
      const { id } = await builtIn.issued(owner);
      const accounts = accountProviderCalls(dependencies);
      const openings = () =>
        server.exchanges.filter(({ path, requestBody }) => path === '/bank/accounts' && requestBody.includes(id));
      const before = server.exchanges.length;
      const onlyOpenings: Fault = (forward, response) =>
        response.req.url === '/bank/accounts' ? cut(forward, response) : passThrough(forward, response);
      await bank('POST', '/faults', { callbacks: 'held' });
      const next = await server.during(onlyOpenings, () => run(accounts.connectClient, id));
      expect(next).toEqual({ do: 'open-account', attempt: 1 });
      expect(await run(accounts.openAccount, id, 1)).toMatchObject({ do: expect.stringMatching('wait|end') });
      await bank('DELETE', '/faults');
      await eventually('an active account', async () =>
        (await api.call('GET', `/accounts/${id}`)).body.data.account.status === 'active' ? true : undefined,
      );
      const sent = server.exchanges.slice(before).map(({ path }) => path);
      expect(sent.filter((path) => path === '/bank/clients')).toHaveLength(1);
      expect(new Set(openings().map(({ answer }) => JSON.parse(answer.body).reference)).size).toBe(1);
    },
  );

  test.each(['rejected', 'gateway'])(
    'an account that is opened and closed (%s) is looked up again',
    async (lookUps) => {
      const { id } = await builtIn.issued(client);
      const accounts = accountProviderCalls(dependencies);
      const status = async () => (await api.call('GET', `/accounts/${id}`)).body.data.account.status;
      await bank('POST', '/faults', { callbacks: 'held' });
      await run(accounts.connectClient, id);
      await eventually('an opened account', async () =>
        (await bank('GET', `/accounts/${id}`)).status === 'open' ? true : undefined,
      );

      await bank('POST', '/faults', { lookUps });
      await expect(run(accounts.lookUpAccount, id, 0)).rejects.toMatchObject(unavailable);
      expect(await status()).toBe('pending');
      await bank('POST', '/faults', { lookUps: 'normal' });
      await run(accounts.lookUpAccount, id, 0);
      expect(await status()).toBe('active');

      const closing = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
      expect((await api.call('PATCH', `/accounts/${id}`, closing)).status).toBe(200);
      const closes = await run(accountTransitions(dependencies).advanceAccountConnection, id);
      if (closes.do !== 'close-account') throw new Error(`the account is not to be closed: ${closes.do}`);
      await run(accounts.closeAccount, id, closes.attempt);
      await bank('POST', '/faults', { lookUps });
      await expect(run(accounts.lookUpAccount, id, 1)).rejects.toMatchObject(unavailable);
      expect(await status()).toBe('active');
      await bank('POST', '/faults', { lookUps: 'normal' });
      await eventually('the closed account', async () => {
        await run(accounts.lookUpAccount, id, 1);
        return (await status()) === 'closed' ? true : undefined;
      });
    },
  );
});

describe('exactly the returned amount of a payment is credited', () => {
  const partly = { code: 'AC06', amount: 4 };

  async function isReturnedInPart(id: string): Promise<void> {
    const shown = await transfer(id);
    expect(shown).toMatchObject({ status: 'completed', returned: true, amount: 10.1 });
    expect(await incoming(shown)).toMatchObject({ status: 'completed', amount: 4 });
    expect(await available()).toBeCloseTo(100 - 10.1 + 4, 10);
    expect(await breaks()).toEqual([]);
  }

  test('found by a look-up', async () => {
    const id = await released(10.1);
    await bank('POST', '/faults', { callbacks: 'held' });
    await bank('POST', `/payments/${id}/return`, partly);
    await lookUp(id);
    await isReturnedInPart(id);
    // The callbacks that were late change nothing.
    await bank('POST', '/faults', { callbacks: 'normal' });
    await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
    await isReturnedInPart(id);
  });

  test('reported by a callback', async () => {
    const id = await released(10.1);
    await bank('POST', `/payments/${id}/return`, partly);
    await eventually('the return', async () => ((await transfer(id)).returned ? true : undefined));
    await isReturnedInPart(id);
    await lookUp(id);
    await isReturnedInPart(id);
  });

  test('adopted after a restore', async () => {
    const from = new Date();
    const id = await released(10.1);
    await bank('POST', '/faults', { callbacks: 'held' });
    await bank('POST', `/payments/${id}/return`, partly);
    await catchUpWithProviders({ ...dependencies, initiator: TESTER }, { from, to: new Date(Date.now() + 60_000) });
    await isReturnedInPart(id);
  });

  test('another return of the same payment is another credit, a repeated one is recognised, and more than was paid is left to an operator', async () => {
    const id = await released(10.1);
    await bank('POST', `/payments/${id}/return`, partly);
    await eventually('the return', async () => ((await transfer(id)).returned ? true : undefined));
    const shown = await bank('GET', `/payments/${id}`);
    const again = { ...shown, type: 'payment-returned' };
    await callback('payment-returned', again);
    expect(await breaks()).toEqual([]);
    await callback('payment-returned', { ...again, returnReference: 'another-1' });
    expect(await breaks()).toEqual([]);
    expect(await available()).toBeCloseTo(100 - 10.1 + 8, 10);
    await callback('payment-returned', { ...again, returnReference: 'another-2' });
    expect(await breaks()).toEqual([{ kind: 'callback-contradicts', reference: id }]);
    expect(await available()).toBeCloseTo(100 - 10.1 + 8, 10);
    await forgetBreaks();
  });

  test('more than was paid is left to an operator', async () => {
    const id = await released(10.1);
    const names = { ourReference: id, paymentId: 'p', paymentReference: null, amount: 10.1, currency: 'GBP' };
    await callback('payment-returned', { ...names, code: 'AC06', returnReference: 'r-1', returnedAmount: 10.11 });
    expect(await breaks()).toEqual([{ kind: 'callback-contradicts', reference: id }]);
    expect(await transfer(id)).toMatchObject({ status: 'released', returned: false });
    await forgetBreaks();
  });
});

async function callback(type: string, data: Json): Promise<void> {
  const id = `event-${crypto.randomUUID()}`;
  const body = JSON.stringify({ id, type, createdAt: new Date().toISOString(), data });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', SANDBOX_SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
  const answer = await fetch(`${api.url}/provider-callbacks/sandbox-bank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  expect(answer.status).toBe(200);
}

async function forgetBreaks(): Promise<void> {
  await api.database.reader.statement('DELETE FROM reconciliation_breaks', []);
}

describe('a payment with another amount than the transfer is left to an operator', () => {
  /** The bank says so of every payment that is looked up meanwhile. */
  const saying = (change: Json) => changed((body) => JSON.stringify({ ...JSON.parse(body), ...change }));

  test.each([
    ['of another amount', { amount: 10.11 }],
    ['in another currency', { currency: 'EUR' }],
  ])('%s, looked up: nothing moves, and it is recorded once', async (_, change) => {
    const id = await released(10.1);
    await bank('POST', '/faults', { callbacks: 'held' });
    await bank('POST', `/payments/${id}/settle`, {});
    for (const count of [0, 1]) await server.during(saying(change), () => lookUp(id, count));
    expect(await transfer(id)).toMatchObject({ status: 'released' });
    expect(await breaks()).toEqual([{ kind: 'statement-amount-differs', reference: id }]);
    await lookUp(id, 2);
    expect(await transfer(id)).toMatchObject({ status: 'completed' });
    await forgetBreaks();
  });

  test('adopted after a restore: nothing moves and nothing is reserved, of a transfer that is pending again too', async () => {
    const from = new Date();
    const id = await released(10.1);
    const waiting = await created(payment(10.2, { transferDate: '2027-06-16' }));
    await submitBehindOurBack(waiting, 10.2);
    await bank('POST', '/faults', { callbacks: 'held' });
    await bank('POST', `/payments/${id}/settle`, {});
    const before = await available();
    const adopt = () =>
      catchUpWithProviders({ ...dependencies, initiator: TESTER }, { from, to: new Date(Date.now() + 60_000) });
    const distorted = changed((body) => {
      const answer = JSON.parse(body);
      return 'entries' in answer ? body : JSON.stringify({ ...answer, amount: 10.11 });
    });
    await server.during(distorted, adopt);
    expect([(await transfer(id)).status, (await transfer(waiting)).status]).toEqual(['released', 'pending']);
    expect(await available()).toBe(before);
    await world.invariantsHold();
    await adopt();
    expect([(await transfer(id)).status, (await transfer(waiting)).status]).toEqual(['completed', 'completed']);
    expect(await available()).toBeCloseTo(before - 10.2, 10);
  });
});

test.each(['before', 'after'])(
  'money that arrived %s the backup, was rejected and went back is booked as returned after a restore, not reviewed again',
  async (arrival) => {
    const from = new Date();
    const configuration = modes('external', 'none')(dependencies.configuration);
    const adopt = () =>
      catchUpWithProviders(
        { ...dependencies, configuration, initiator: TESTER },
        { from, to: new Date(Date.now() + 60_000) },
      );
    await bank('POST', '/faults', { callbacks: 'held' });
    const money = { amount: 30.1, currency: 'GBP', scheme: 'faster-payments', reference: account.ledgerNumber };
    const { paymentId } = await bank('POST', '/payments-in', money);
    if (arrival === 'before') await adopt();
    const back = { ourReference: crypto.randomUUID(), amount: '30.10', currency: 'GBP', code: 'AC04' };
    await bank('POST', `/payments-in/${paymentId}/send-back`, back);
    for (const _ of ['once', 'again']) await adopt();
    const query = `data.incomingTransfer.serviceProviderId=${paymentId}`;
    const [shown] = (await api.call('GET', `/incoming-transfers?${query}`)).body.data.incomingTransfers;
    expect(shown).toMatchObject({ status: 'failed', accountId: account.id });
    expect(await world.balance(account.id)).toEqual({ available: 100, receivable: 0 });
    expect(await run(incomingTransferProviderCalls(dependencies).sendBackIncomingTransfer, shown.id)).toBe(true);
    const approve = (tx: Transaction) =>
      decideComplianceCheck(tx, { type: 'incoming-transfer', id: shown.id }, 'all-passed', TESTER, configuration);
    await expect(api.database.transaction(approve)).rejects.toThrow('nothing is left to decide');
  },
);

/** The bank has paid it, as before a restore. */
async function submitBehindOurBack(id: string, amount: number): Promise<void> {
  const party = { iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
  await bank('POST', '/payments', {
    ourReference: id,
    amount,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: { ...party, name: 'Ada Lovelace', accountId: account.id },
    creditor: { ...party, name: 'Brook Lane Bakery Ltd' },
  });
}

describe('a payment leaves only when its row asks for it at that moment', () => {
  const submit = (id: string, attempt = 1) => run(calls().submitOutgoingTransfer, id, attempt);

  test('that is due goes out', async () => {
    const id = await created(payment(10.5));
    expect(await submit(id)).toMatchObject({ outcome: 'completed' });
    expect(await isAtBank(id)).toBe(true);
  });

  test.each<[string, () => Promise<readonly [string, number]>]>([
    ['that waits for its date', async () => [await created(payment(10.5, { transferDate: '2027-06-16' })), 1]],
    ['that waits for its money', async () => [await created(payment(1_000.5)), 1]],
    [
      'that was cancelled',
      async () => {
        const id = await created(payment(10.5, { transferDate: '2027-06-16' }));
        const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
        expect((await api.call('PATCH', `/outgoing-transfers/${id}`, body)).status).toBe(200);
        return [id, 1];
      },
    ],
    [
      'that a callback has failed meanwhile',
      async () => {
        const id = await created(payment(10.5));
        const names = { ourReference: id, paymentId: 'p', paymentReference: null, amount: 10.5, currency: 'GBP' };
        await callback('payment-failed', { ...names, code: 'AC07' });
        expect(await transfer(id)).toMatchObject({ status: 'failed' });
        return [id, 1];
      },
    ],
    [
      'under another attempt',
      async () => {
        return [await created(payment(10.5)), 2];
      },
    ],
    [
      'whose attempt is answered',
      async () => {
        const id = await created(payment(10.5));
        const answered = `UPDATE outgoing_transfers SET submission_status = 'resolved' WHERE id = $1`;
        await api.database.reader.statement(answered, [id]);
        return [id, 1];
      },
    ],
    [
      'from an account whose caller carries it out',
      async () => {
        const accountId = await world.account(client, { amount: 20 });
        return [await created(payment(10.5, { source: { type: 'client-account', accountId } })), 1];
      },
    ],
    [
      'that stays within the service',
      async () => {
        const accountId = (await builtIn.opened(client)).id;
        const internal = { scope: 'internal', scheme: undefined, transferDate: '2027-06-16' };
        return [await created(payment(5, { ...internal, destination: { type: 'client-account', accountId } })), 1];
      },
    ],
    ['that was never ordered', async () => ['0196f4c2-0000-7000-8000-000000000000', 1]],
  ])('one %s does not', async (_, make) => {
    const [id, attempt] = await make();
    expect(await submit(id, attempt)).toBeNull();
    expect(await isAtBank(id)).toBe(false);
  });

  test('that needs an authorization does not go before it has one', async () => {
    const id = await created(payment(5_000.5));
    expect(await transfer(id)).toMatchObject({ requirementConfiguration: { authorizationStatus: 'not-checked' } });
    expect(await submit(id)).toBeNull();
    expect(await isAtBank(id)).toBe(false);
  });

  test('one that is answered does not go out again, and its workflow continues from the row', async () => {
    const id = await released(10.1);
    expect(await submit(id)).toBeNull();
    const next = await run(transitions().recordOutgoingTransferSubmission, id, 1, null);
    expect(next).toMatchObject({ do: 'wait', for: 'provider' });
    expect(await transfer(id)).toMatchObject({ status: 'released' });
  });
});

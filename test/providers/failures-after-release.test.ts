import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/frame/dependencies.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { compareStatements } from '../../activities/reconciliation/reconciliation.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { admitWaitingTransfers, listAdmissionsDue } from '../../db/outgoing-transfers/admissions.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { OPERATIONS } from '../../scripts/operations/operations.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import { cutAfter, type FaultyServer, startFaultyServer } from '../harness/faults/faulty-server.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';
import { type PaymentSteps, paymentSteps } from '../harness/transfers/payment-steps.ts';

// A bank books a payment that fails after release twice: out, and back. So does the service, by whatever way it hears of the failure
// and however little it knew of the payment before.

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });

const HOUR_MS = 3_600_000;
const FUNDS = 5_000;
const FEE = 0.25;
/** The bank releases it and fails it after 0.3 s. */
const FAILS = 10.02;
/** The bank releases it and waits for a lever. */
const STAYS = 10.1;
/** The bank rejects it before release. */
const REFUSED = 10.01;
/** Noon of a Wednesday, a business day of every scheme. */
const NOON = Date.parse('2027-06-16T12:00:00Z');

const directory = temporaryDirectory();
let testDatabase: TestDatabase;
let api: TestApi;
let sandbox: RunningSandbox;
let server: FaultyServer;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let dependencies: ActivityDependencies;
let steps: PaymentSteps;
let client: string;
let account: Json;
let bankAccount: string;
let aheadMs = NOON - Date.now();

beforeAll(async () => {
  testDatabase = await createTestDatabase('failures-after-release');
  const providers = new Map<string, Provider>();
  const fee = { direction: 'outgoing', scheme: null, currency: 'GBP', fixedMinor: 25n, pricing: null } as const;
  api = await startApi(testDatabase, {
    providers,
    clockOffset: () => `${Math.round(aheadMs)} milliseconds`,
    configuration: (configuration) => ({ ...configuration, prices: [fee] }),
  });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  server = await startFaultyServer(sandbox.url);
  providers.set('sandbox-bank', createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }));
  const { configuration, environment, keyring, logger } = api.services;
  const { mail } = environment;
  dependencies = { database: api.database, providers, configuration, logger, publicUrl: api.url, mail, keyring };
  steps = paymentSteps(dependencies);
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  client = await world.client('Ada');
  bankAccount = await world.beneficiary(client);
});

beforeEach(async () => {
  aheadMs = NOON - Date.now();
  account = await builtIn.opened(client);
  const money = { amount: FUNDS, currency: 'GBP', scheme: 'faster-payments', reference: account.ledgerNumber };
  await bank('POST', '/payments-in', money);
  await eventually('the money', async () => ((await available()) === FUNDS ? true : undefined));
});

afterEach(async () => {
  await bank('DELETE', '/faults');
  await told();
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
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(`${sandbox.url}/bank${path}`, init);
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

const told = () =>
  eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
const available = async (): Promise<number> => (await world.balance(account.id)).available;
const failedAtBank = (id: string) =>
  eventually('the failure', async () =>
    (await bank('GET', `/payments/${id}`)).status === 'failed' ? true : undefined,
  );

async function created(amount: number, accountId: string = account.id): Promise<string> {
  const outgoingTransfer = {
    clientId: client,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

async function transfer(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

/** Direction, type and amount of the account's entries about this transfer, oldest first. */
async function entriesOf({ transactionNumber }: Json, accountId: string = account.id): Promise<string[]> {
  const entries = await world.statement(accountId);
  return entries
    .filter((entry) => entry.transactionNumber === transactionNumber)
    .sort((one, other) => one.version - other.version)
    .map(({ direction, entryType, amount }) => `${direction} ${entryType} ${amount}`);
}

const happened = (...words: string[]) => ['created', ...words].map((word) => `outgoing-transfer-${word}`);

/** Entries, events and ids of a payment that was released, and failed afterwards. */
async function failedAfterRelease(id: string): Promise<void> {
  const shown = await transfer(id);
  expect(shown).toMatchObject({ status: 'failed', statusReason: { code: 'AC07' } });
  const { paymentId, paymentReference } = await bank('GET', `/payments/${id}`);
  expect(shown).toMatchObject({ serviceProviderId: paymentId, serviceProviderReference: paymentReference });
  expect(await entriesOf(shown)).toEqual([
    `debit principal ${shown.amount}`,
    `debit fee ${FEE}`,
    `credit principal ${shown.amount}`,
    `credit fee ${FEE}`,
  ]);
  expect(await world.events(id)).toEqual(happened('processing', 'released', 'failed'));
}

/** The operator's command, without Temporal: it only asks for the look-up. */
async function askLookUp(id: string): Promise<void> {
  const { database, providers } = dependencies;
  const temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  const context = { database, providers, temporal, initiator: TESTER, patienceMs: 0, arguments: [id, '--json'] };
  expect(await OPERATIONS['look-up']?.run({ ...context, print: () => {} })).toBe(2);
  await temporal.close();
}

describe('a payment that fails after release has both pairs of entries and both events', () => {
  test('twenty at once, whatever overtakes what', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => created(FAILS)));
    await Promise.all(
      ids.map(async (id, number) => {
        if (number % 2 === 0) return steps.go(id);
        // The callback overtakes the answer to the submission.
        const answer = await steps.submit(id, 1);
        await failedAtBank(id);
        await eventually('the callback', async () => ((await transfer(id)).status === 'failed' ? true : undefined));
        return steps.record(id, 1, answer);
      }),
    );
    for (const id of ids) {
      await eventually('the end', async () => ((await transfer(id)).status === 'failed' ? true : undefined));
      await failedAfterRelease(id);
    }
    expect(await available()).toBe(FUNDS);
  });

  const submittedUnheard = async (amount: number) => {
    const id = await created(amount);
    expect(await server.during(cutAfter, () => steps.go(id))).toEqual({ do: 'unanswered' });
    expect(await transfer(id)).toMatchObject({ status: 'processing' });
    return id;
  };

  const ways: readonly (readonly [string, () => Promise<string>])[] = [
    [
      'told by a callback before the answer to its submission',
      async () => {
        const id = await created(STAYS);
        const answer = await steps.submit(id, 1);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await told();
        expect(await transfer(id)).toMatchObject({ status: 'failed' });
        expect(await steps.record(id, 1, answer)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'told by a callback while nobody knows whether it was submitted',
      async () => {
        const id = await submittedUnheard(STAYS);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await told();
        expect(await steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'told by a callback that comes twice',
      async () => {
        const id = await submittedUnheard(STAYS);
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
        await told();
        return id;
      },
    ],
    [
      'told by the look-up that an operator asks for',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        await askLookUp(id);
        expect(await steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'told by the answer to a repeated submission and the look-up after it',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        expect(await steps.go(id)).toMatchObject({ do: 'wait', for: 'provider' });
        aheadMs += HOUR_MS;
        expect(await steps.go(id)).toEqual({ do: 'end' });
        return id;
      },
    ],
    [
      'found after a restore that lost the submission',
      async () => {
        await bank('POST', '/faults', { callbacks: 'held' });
        const from = new Date(Date.now() - 5_000);
        const id = await submittedUnheard(FAILS);
        await failedAtBank(id);
        const to = new Date(Date.now() + 60_000);
        expect(await catchUpWithProviders({ ...dependencies, initiator: TESTER }, { from, to })).toMatchObject({
          adopted: 1,
        });
        return id;
      },
    ],
  ];

  test.each(ways)('%s', async (_, fail) => {
    const id = await fail();
    await failedAfterRelease(id);
    expect(await available()).toBe(FUNDS);
    await bank('POST', '/faults', { callbacks: 'normal' });
    await told();
    await failedAfterRelease(id);
    expect(await compareStatements(dependencies, {}, -HOUR_MS)).toMatchObject({ differences: 0, failed: 0 });
  });
});

test('the money that comes back with the report is there for a transfer that waits for it', async () => {
  const [id, waiting] = [await created(STAYS), await created(FUNDS - 5)];
  expect(await transfer(waiting)).toMatchObject({ status: 'pending' });
  await steps.submit(id, 1);
  await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
  await told();
  await failedAfterRelease(id);
  expect(await listAdmissionsDue(api.database.reader, 100)).toContain(account.id);
  const { configuration } = api.services;
  await api.database.transaction((tx) => admitWaitingTransfers(tx, account.id, configuration));
  expect(await transfer(waiting)).toMatchObject({ status: 'processing' });
});

describe('a payment that was never released has neither', () => {
  test('because its provider refused it', async () => {
    const id = await created(REFUSED);
    expect(await steps.go(id)).toEqual({ do: 'end' });
    expect(await world.events(id)).toEqual(happened('processing', 'failed'));
    expect(await entriesOf(await transfer(id))).toEqual([]);
    expect(await available()).toBe(FUNDS);
  });

  test('because its caller, who pays it, says that it failed', async () => {
    const plugIn = await world.account(client, { amount: 100 });
    const id = await created(10, plugIn);
    const outgoingTransfer = { status: 'failed' };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answer = await api.call('PATCH', `/outgoing-transfers/${id}`, body);
    expect(answer.status, answer.text).toBe(200);
    expect(await world.events(id)).toEqual(happened('processing', 'failed'));
    expect(await entriesOf(await transfer(id), plugIn)).toEqual([]);
    expect((await world.balance(plugIn)).available).toBe(100);
  });
});

import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import { outgoingTransferTransitions } from '../../activities/outgoing-transfers/activities.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { compareStatements } from '../../activities/reconciliation/reconciliation.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { failOutgoingTransfer, retrySubmission } from '../../db/outgoing-transfers/operator-commands.ts';
import { applyPaymentReport, recordSubmission } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { applyRecallRejection } from '../../db/outgoing-transfers/recalls.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import {
  answered,
  changed,
  cutAfter,
  cutBefore,
  type Fault,
  type FaultyServer,
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
import { paymentSteps } from '../harness/transfers/payment-steps.ts';
import '../harness/workflows/temporal-runtime.ts';

// What follows a rejection or a release, with the real bank, step by step as the transfer's workflow takes them: a rejection that is
// tried again, returns in parts, recalls. Each answer of the bank may be lost, late or repeated, and the money moves once.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FUNDS = 1_000;
/** Noon of a Wednesday, a business day of every scheme. */
const [WEDNESDAY, THURSDAY, MONDAY] = ['2027-06-16', '2027-06-17', '2027-06-21'] as const;
const NOON = Date.parse(`${WEDNESDAY}T12:00:00Z`);

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
let aheadMs = NOON - Date.now();

beforeAll(async () => {
  testDatabase = await createTestDatabase('outcomes');
  const providers = new Map<string, Provider>();
  api = await startApi(testDatabase, {
    providers,
    clockOffset: () => `${Math.round(aheadMs)} milliseconds`,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  sandbox = await startSandbox({
    directory: directory.path,
    callbackUrl: `${api.url}/provider-callbacks/sandbox-bank`,
  });
  server = await startFaultyServer(sandbox.url);
  providers.set('sandbox-bank', createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }));
  const { configuration, environment, keyring, logger } = api.services;
  const { mail } = environment;
  dependencies = {
    database: api.database,
    providers,
    configuration,
    logger,
    publicUrl: api.url,
    mail,
    keyring,
  };
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
  await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
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

const atBank = (id: string) => bank('GET', `/payments/${id}`);
const available = async (): Promise<number> => (await world.balance(account.id)).available;

/** The kinds and amounts of what the bank has booked about a payment. */
async function booked(id: string): Promise<string[]> {
  const { entries } = await bank('GET', '/statement?account=GBP');
  const about = (entries as Json[]).filter(({ ourReference }) => ourReference === id);
  return about.map(({ kind, amount }) => `${kind} ${amount}`);
}

async function created(amount: number, change: Json = {}): Promise<string> {
  const outgoingTransfer = {
    clientId: client,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: account.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

async function transfer(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

async function rowOf(id: string): Promise<Json> {
  const [row] = await api.database.reader.statement<Json>('SELECT * FROM outgoing_transfers WHERE id = $1', [id]);
  return row;
}

function run<Given extends unknown[], Result>(activity: (...given: Given) => Promise<Result>, ...given: Given) {
  return new MockActivityEnvironment().run<Given, Result, typeof activity>(activity, ...given);
}

const transitions = () => outgoingTransferTransitions(dependencies);

const go = (id: string) => paymentSteps(dependencies).go(id);

const rules = () => api.services.configuration;
const idOf = (id: string) => asId<OutgoingTransferId>(id);

/** What the bank calls back, by a provider whose rejections come that way. */
function bankReports(id: string, report: Partial<PaymentReport>): Promise<string> {
  const amount = { amountMinor: '10011', currency: 'GBP', returned: null };
  const said = {
    outcome: 'failed',
    serviceProviderId: 'p-1',
    serviceProviderReference: null,
    code: null,
    claim: amount,
  };
  const about = { id: idOf(id), provider: 'sandbox-bank' };
  return api.database.transaction((tx) =>
    applyPaymentReport(tx, about, { ...said, ...report } as PaymentReport, rules()),
  );
}

const rejected = (attempt: number, code = 'BE08') => ({ outcome: 'failed', rejectedAttempt: attempt, code }) as const;

async function breaks(id: string): Promise<string[]> {
  const rows = await api.database.reader.statement<{ kind: string }>(
    'SELECT kind FROM reconciliation_breaks WHERE our_reference = $1 ORDER BY id',
    [id],
  );
  return rows.map(({ kind }) => kind);
}

/** The bank's statement and the books agree. */
async function agrees(): Promise<void> {
  const before = await compareStatements(dependencies, {}, -HOUR_MS);
  expect(before).toMatchObject({ differences: 0, failed: 0 });
}

/** Answers of the bank that leave the outcome open. */
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['is cut before the effect', cutBefore],
  ['is cut after the effect', cutAfter],
  ['gets 503', answered({ status: 503, body: '{}' })],
  [
    'gets a page of a gateway',
    answered({ status: 422, body: '<h1>422</h1>', headers: { 'content-type': 'text/html' } }),
  ],
];

describe('a retryable rejection', () => {
  test('keeps the reservation, and the next attempt pays once', async () => {
    const id = await created(100.11);
    const waiting = await go(id);
    expect(waiting).toMatchObject({ do: 'wait', for: 'retry', work: { waitingFor: 'retry', status: 'processing' } });
    expect(await transfer(id)).toMatchObject({ status: 'processing', statusReason: null, transferDate: WEDNESDAY });
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
    expect(await booked(id)).toEqual([]);
    // Too early: the same wait, and nothing is sent.
    expect(await go(id)).toMatchObject({ do: 'wait', until: waiting.do === 'wait' ? waiting.until : '' });
    expect(await atBank(id)).toMatchObject({ status: 'rejected', attempt: 1, error: { code: 'BE08' } });

    aheadMs += MINUTE_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'completed', statusReason: null, rollCount: 0 });
    expect(await atBank(id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(await booked(id)).toEqual(['payment-out 100.11']);
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
    expect(await world.events(id)).toEqual(
      ['created', 'processing', 'released', 'completed'].map((event) => `outgoing-transfer-${event}`),
    );
  });

  test('fails with the provider’s reason after the last attempt, and the reservation goes', async () => {
    const id = await created(100.12);
    for (const attempt of [1, 2, 3]) {
      expect(await go(id)).toMatchObject({ do: 'wait', for: 'retry' });
      expect(await rowOf(id)).toMatchObject({
        status: 'processing',
        submission_attempt: attempt,
        retry_count: attempt,
      });
      aheadMs += MINUTE_MS;
    }
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'failed', statusReason: { code: 'BE08' } });
    expect(await atBank(id)).toMatchObject({ status: 'rejected', attempt: 4 });
    expect(await booked(id)).toEqual([]);
    expect(await available()).toBe(FUNDS);
  });

  test('waits for the opening of the next window, and shows its date; a missed window is not an attempt', async () => {
    const id = await created(100.11, { scheme: 'chaps' });
    const next = await go(id);
    expect(next).toMatchObject({ do: 'wait', for: 'retry' });
    const opening = api.services.configuration.schemes.opensAt({ scheme: 'chaps', currency: 'GBP' }, THURSDAY);
    expect(next.do === 'wait' ? next.until : '').toBe(opening.toISOString());
    const moved = { originalTransferDate: WEDNESDAY, rollCount: 0 };
    expect(await transfer(id)).toMatchObject({ status: 'processing', transferDate: THURSDAY, ...moved });

    // The service was away until Friday evening.
    aheadMs += 2 * 24 * HOUR_MS + 9 * HOUR_MS;
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'retry' });
    expect(await transfer(id)).toMatchObject({ status: 'processing', transferDate: MONDAY, ...moved });
    expect(await rowOf(id)).toMatchObject({ submission_attempt: 1, retry_count: 1 });
    aheadMs += 2 * 24 * HOUR_MS + 15 * HOUR_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'completed', transferDate: MONDAY, ...moved });
    expect(await booked(id)).toEqual(['payment-out 100.11']);
  });

  /** The bank rejects the first attempt with this code. */
  const rejecting = (code: string) =>
    changed((body) => {
      const { error, ...answer } = JSON.parse(body);
      return JSON.stringify({ ...answer, error: { ...error, code } });
    });

  test.each(['BE08', 'MS03'])('for %s is tried again when the next window opens, and only then', async (code) => {
    const id = await created(100.11, { scheme: 'chaps' });
    const waiting = await server.during(rejecting(code), () => go(id));
    const opening = api.services.configuration.schemes.opensAt({ scheme: 'chaps', currency: 'GBP' }, THURSDAY);
    expect(waiting).toMatchObject({ do: 'wait', for: 'retry', until: opening.toISOString() });
    expect(await rowOf(id)).toMatchObject({ rejection_code: code, retry_count: 1, submission_status: 'rejected' });
    expect(await transfer(id)).toMatchObject({ status: 'processing', statusReason: null, transferDate: THURSDAY });
    aheadMs = opening.getTime() - Date.now() - MINUTE_MS;
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'retry' });
    expect(await atBank(id)).toMatchObject({ status: 'rejected', attempt: 1 });
    aheadMs += MINUTE_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'completed', statusReason: null, transferDate: THURSDAY });
    expect(await booked(id)).toEqual(['payment-out 100.11']);
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
  });

  test.each(['AC03', 'MS02'])('is not one for %s, which fails the transfer at once', async (code) => {
    const id = await created(100.11, { scheme: 'chaps' });
    expect(await server.during(rejecting(code), () => go(id))).toEqual({ do: 'end' });
    const failed = { status: 'failed', statusReason: { code }, transferDate: WEDNESDAY };
    expect(await transfer(id)).toMatchObject(failed);
    expect(await available()).toBe(FUNDS);
    aheadMs += 24 * HOUR_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject(failed);
    expect(await atBank(id)).toMatchObject({ status: 'rejected', attempt: 1 });
    expect(await booked(id)).toEqual([]);
  });

  test.each(FAULTS)('the next attempt, whose answer %s, is the same one until it is answered', async (_, fault) => {
    const id = await created(100.11);
    await go(id);
    aheadMs += MINUTE_MS;
    expect(await server.during(fault, () => go(id))).toEqual({ do: 'unanswered' });
    expect(await rowOf(id)).toMatchObject({ submission_attempt: 2, submission_status: 'unresolved' });
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await booked(id)).toEqual(['payment-out 100.11']);
    expect(await atBank(id)).toMatchObject({ attempt: 2 });
  });

  test('an answer about an earlier attempt leaves the outcome of the later one open', async () => {
    const id = await created(100.12);
    await go(id);
    const old = server.exchanges.at(-1)?.answer;
    if (old === undefined) throw new Error('nothing was sent');
    aheadMs += MINUTE_MS;
    expect(await server.during(answered(old), () => go(id))).toEqual({ do: 'unanswered' });
    expect(await rowOf(id)).toMatchObject({ submission_attempt: 2, submission_status: 'unresolved', retry_count: 1 });
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'retry' });
    expect(await rowOf(id)).toMatchObject({ submission_attempt: 2, retry_count: 2 });
  });

  test('reported late, after the next attempt began, was released or completed, has no effect', async () => {
    const id = await created(100.11);
    await go(id);
    aheadMs += MINUTE_MS;
    expect(await run(transitions().advanceOutgoingTransfer, id)).toEqual({ do: 'submit', attempt: 2 });
    for (const code of ['BE08', 'AC03']) expect(await bankReports(id, rejected(1, code))).toBe('no-effect');
    expect(await rowOf(id)).toMatchObject({ submission_attempt: 2, submission_status: 'unresolved', retry_count: 1 });
    expect(await bankReports(id, { outcome: 'released' })).toBe('applied');
    expect(await bankReports(id, rejected(1, 'AC03'))).toBe('no-effect');
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'provider' });
    expect(await bankReports(id, { outcome: 'completed' })).toBe('applied');
    expect(await bankReports(id, rejected(1))).toBe('no-effect');
    expect(await transfer(id)).toMatchObject({ status: 'completed' });
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
    expect(await breaks(id)).toEqual([]);
    // The attempt itself, so that the bank's books agree with what it is said to have called back.
    await bank('POST', '/payments', await sentBy(id, 2));
  });

  test('reported by callback and by the answer is one rejection; one that is final fails the transfer once', async () => {
    const id = await created(100.11);
    expect(await run(transitions().advanceOutgoingTransfer, id)).toEqual({ do: 'submit', attempt: 1 });
    expect(await bankReports(id, rejected(1))).toBe('applied');
    const answer = { serviceProviderId: null, serviceProviderReference: null, ...rejected(1) };
    await api.database.transaction((tx) => recordSubmission(tx, idOf(id), 1, answer, rules()));
    expect(await bankReports(id, rejected(1))).toBe('no-effect');
    expect(await rowOf(id)).toMatchObject({ retry_count: 1, submission_status: 'rejected', rejection_code: 'BE08' });
    aheadMs += MINUTE_MS;
    expect(await run(transitions().advanceOutgoingTransfer, id)).toEqual({ do: 'submit', attempt: 2 });
    expect(await bankReports(id, rejected(2, 'AC03'))).toBe('applied');
    expect(await bankReports(id, rejected(2, 'AC03'))).toBe('no-effect');
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'failed', statusReason: { code: 'AC03' } });
    expect(await available()).toBe(FUNDS);
  });

  test('does not outweigh the payment itself: what the bank has paid after all is booked, and not sent again', async () => {
    const id = await created(100.11);
    await go(id);
    expect(await bankReports(id, { outcome: 'completed' })).toBe('applied');
    aheadMs += MINUTE_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await atBank(id)).toMatchObject({ attempt: 1 });
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
    await bank('POST', '/payments', await sentBy(id, 2));
  });

  test('stays rejected when it is looked up, until the same time', async () => {
    const id = await created(100.11);
    const waiting = await go(id);
    const asked = await api.database.reader.statement(
      'UPDATE outgoing_transfers SET next_look_up_at = service_now() WHERE id = $1 RETURNING 1',
      [id],
    );
    expect(asked).toHaveLength(1);
    expect(await go(id)).toMatchObject({ ...waiting, waitMs: expect.any(Number), since: expect.any(String) });
    expect(await rowOf(id)).toMatchObject({ look_up_count: 1, submission_status: 'rejected', retry_count: 1 });
  });

  test('an operator brings the next attempt forward, or fails the transfer, which frees its money once', async () => {
    const [id, other] = [await created(100.11), await created(100.12)];
    for (const one of [id, other]) await go(one);
    const retried = await api.database.transaction((tx) => retrySubmission(tx, idOf(id), rules(), TESTER));
    expect(retried.transfer).toMatchObject({ submissionAttempt: 2, submissionStatus: 'unresolved' });
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await booked(id)).toEqual(['payment-out 100.11']);

    const fail = () =>
      api.database.transaction((tx) => failOutgoingTransfer(tx, { id: idOf(other), reason: 'asked' }, rules(), TESTER));
    expect(
      await Promise.all([fail(), fail(), fail()]).then((all) => all.filter(({ changed: did }) => did)),
    ).toHaveLength(1);
    expect(await go(other)).toEqual({ do: 'end' });
    expect(await available()).toBeCloseTo(FUNDS - 100.11, 10);
  });

  test('whose account is suspended meanwhile waits for it, and pays once it is active again', async () => {
    const id = await created(100.11);
    await go(id);
    const status = (value: string) =>
      api.database.reader.statement('UPDATE accounts SET status = $2 WHERE id = $1', [account.id, value]);
    await status('suspended');
    aheadMs += MINUTE_MS;
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'account' });
    const retry = api.database.transaction((tx) => retrySubmission(tx, idOf(id), rules(), TESTER));
    await expect(retry).rejects.toThrow(/account is not active/);
    aheadMs += 24 * HOUR_MS;
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'account' });
    expect(await transfer(id)).toMatchObject({ status: 'processing', transferDate: THURSDAY, rollCount: 0 });
    expect(await atBank(id)).toMatchObject({ status: 'rejected', attempt: 1 });
    await status('active');
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await booked(id)).toEqual(['payment-out 100.11']);
  });

  test('outside the hours of its scheme an operator brings nothing forward', async () => {
    const id = await created(100.11, { scheme: 'chaps' });
    await go(id);
    aheadMs += 8 * HOUR_MS;
    const retry = api.database.transaction((tx) => retrySubmission(tx, idOf(id), rules(), TESTER));
    await expect(retry).rejects.toThrow(/closed until 2027-06-16T23:00/);
  });
});

/** The request by which an attempt would have reached the bank. */
async function sentBy(id: string, attempt: number): Promise<Json> {
  const sent = server.exchanges.map(({ requestBody }) => requestBody).findLast((body) => body.includes(id));
  if (sent === undefined) throw new Error('nothing was sent');
  return { ...JSON.parse(sent), attempt };
}

async function completed(amount: number): Promise<string> {
  const id = await created(amount);
  expect(await go(id)).toEqual({ do: 'end' });
  return id;
}

const returnFromCreditor = (id: string, body: Json) => bank('POST', `/payments/${id}/return`, body);
const returnedUntil = (id: string, minor: number) =>
  eventually('the return', async () => (Number((await rowOf(id)).returned_minor) === minor ? true : undefined));

async function returnsOf(id: string): Promise<Json[]> {
  return api.database.reader.statement<Json>(
    'SELECT id, status, amount_minor::int AS minor, account_id FROM incoming_transfers WHERE return_of = $1 ORDER BY id',
    [id],
  );
}

/** The operator's command. Of a completed payment it asks the bank itself; Temporal is not there. */
async function lookUp(id: string): Promise<Json> {
  const { database, providers } = dependencies;
  const temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  const lines: string[] = [];
  const context = { database, providers, temporal, initiator: TESTER, answerTimeoutMs: 0, arguments: [id, '--json'] };
  const status = await OPERATIONS['look-up']?.run({ ...context, print: (line) => lines.push(line) });
  await temporal.close();
  return { exit: status, ...JSON.parse(lines.at(-1) ?? 'null') };
}

describe('returns', () => {
  test('in parts, days apart: each is credited once, up to the principal, and shown as the latest', async () => {
    const id = await completed(100.2);
    await returnFromCreditor(id, { amount: 30, code: 'AC06' });
    await returnedUntil(id, 3_000);
    const [first] = await returnsOf(id);
    expect(await transfer(id)).toMatchObject({ returned: true, incomingTransferId: first?.id });
    await returnFromCreditor(id, { amount: 30, code: 'AC06' });
    aheadMs += 5 * 24 * HOUR_MS;
    await returnFromCreditor(id, { amount: 30, code: 'AC04', returnReference: 'second' });
    await returnedUntil(id, 6_000);
    await returnFromCreditor(id, {});
    await returnedUntil(id, 10_020);
    const returns = await returnsOf(id);
    expect(returns.map(({ status, minor }) => `${status} ${minor}`)).toEqual([
      'completed 3000',
      'completed 3000',
      'completed 4020',
    ]);
    expect(await transfer(id)).toMatchObject({
      status: 'completed',
      returned: true,
      incomingTransferId: returns.at(-1)?.id,
      statusReason: { code: 'AC06' },
    });
    expect(await available()).toBe(FUNDS);
    expect((await world.events(id)).filter((event) => event === 'outgoing-transfer-returned')).toHaveLength(3);
    await agrees();
    const claim = (reference: string, amountMinor: string) =>
      bankReports(id, {
        outcome: 'returned',
        claim: { amountMinor: '10020', currency: 'GBP', returned: { reference, amountMinor } },
      });
    expect(await claim('second', '3000')).toBe('no-effect');
    expect(await claim('second', '2999')).toBe('break');
    expect(await claim('fourth', '1')).toBe('break');
    expect(await available()).toBe(FUNDS);
  });

  test('of which the service heard nothing are found by one look-up, or adopted after a restore', async () => {
    const from = new Date();
    const [lookedUp, adopted] = [await created(100.1), await created(100.1)];
    for (const id of [lookedUp, adopted]) {
      expect(await go(id)).toMatchObject({ do: 'wait', for: 'provider' });
    }
    await bank('POST', '/faults', { callbacks: 'held' });
    for (const id of [lookedUp, adopted]) {
      for (const amount of [10, 20.5, 30]) await returnFromCreditor(id, { amount });
    }
    aheadMs += MINUTE_MS;
    expect(await go(lookedUp)).toEqual({ do: 'end' });
    expect(await rowOf(lookedUp)).toMatchObject({ returned_minor: 6_050n });
    await catchUpWithProviders({ ...dependencies, initiator: TESTER }, { from, to: new Date(Date.now() + 60_000) });
    for (const id of [lookedUp, adopted]) {
      expect((await returnsOf(id)).map(({ minor }) => minor)).toEqual([1_000, 2_050, 3_000]);
      expect(await transfer(id)).toMatchObject({ status: 'completed', returned: true });
    }
    await bank('POST', '/faults', { callbacks: 'normal' });
    await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
    expect(await available()).toBeCloseTo(FUNDS - 2 * (100.1 - 60.5), 10);
    for (const id of [lookedUp, adopted]) expect(await breaks(id)).toEqual([]);
    await agrees();
  });

  test('of a completed payment whose callback is lost are booked by an operator’s look-up, once, and nothing else changes', async () => {
    const id = await completed(100.2);
    const settled = await rowOf(id);
    expect(await lookUp(id)).toMatchObject({ exit: 0, result: 'no-news' });
    expect(await rowOf(id)).toEqual(settled);
    await bank('POST', '/faults', { callbacks: 'held' });
    await returnFromCreditor(id, { amount: 30, code: 'AC06' });
    expect(await lookUp(id)).toMatchObject({ id, exit: 0, status: 'completed', result: 'returned' });
    expect((await returnsOf(id)).map(({ minor }) => minor)).toEqual([3_000]);
    for (const amount of [20, 10.2]) await returnFromCreditor(id, { amount, code: 'AC04' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => lookUp(id)));
    expect(answers.filter(({ result }) => result === 'returned')).toHaveLength(1);
    expect(answers.filter(({ result }) => result === 'no-news')).toHaveLength(7);
    await bank('POST', '/faults', { callbacks: 'normal' });
    await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
    expect((await returnsOf(id)).map(({ minor }) => minor)).toEqual([3_000, 2_000, 1_020]);
    expect(await available()).toBeCloseTo(FUNDS - 40, 10);
    expect((await world.events(id)).filter((event) => event === 'outgoing-transfer-returned')).toHaveLength(3);
    expect((await auditOf(api.database.reader, id)).filter(({ action }) => action === 'returns-booked')).toHaveLength(
      2,
    );
    const changes = [
      'returned',
      'returned_minor',
      'incoming_transfer_id',
      'failure_code',
      'revision',
      'event_sequence',
    ];
    const kept = Object.keys(settled).filter((column) => ![...changes, 'updated_at'].includes(column));
    const after = await rowOf(id);
    for (const column of kept) expect([column, after[column]]).toEqual([column, settled[column]]);
    expect(await breaks(id)).toEqual([]);
    await agrees();
  });

  test('reported eight times at once, and two different ones at once, are booked once each', async () => {
    const id = await completed(100.2);
    const claimed = (reference: string) =>
      bankReports(id, {
        outcome: 'returned',
        code: 'AC06',
        claim: { amountMinor: '10020', currency: 'GBP', returned: { reference, amountMinor: '4000' } },
      });
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => claimed(index % 2 === 0 ? 'a' : 'b')));
    expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'no-effect')).toHaveLength(6);
    expect(await claimed('c')).toBe('break');
    expect(await available()).toBeCloseTo(FUNDS - 100.2 + 80, 10);
    for (const returnReference of ['a', 'b']) await returnFromCreditor(id, { amount: 40, returnReference });
    await agrees();
  });

  test('to an account that was closed meanwhile wait for a person, part by part', async () => {
    const id = await completed(FUNDS);
    const closing = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
    expect((await api.call('PATCH', `/accounts/${account.id}`, closing)).status).toBe(200);
    await api.database.reader.statement(
      `UPDATE accounts SET status = 'closed', requested_change = NULL WHERE id = $1`,
      [account.id],
    );
    for (const amount of [400, 600]) await returnFromCreditor(id, { amount });
    await returnedUntil(id, 100_000);
    const held = { status: 'on-hold', account_id: null };
    expect(await returnsOf(id)).toMatchObject([held, held]);
    await agrees();
  });
});

async function recall(id: string, by = api): Promise<{ status: number; body: Json }> {
  return by.call('POST', `/outgoing-transfers/${id}/recall`, { workflow: { code: 'direct' }, data: {} });
}

describe('a recall', () => {
  test('that is accepted brings the money back as a return', async () => {
    const id = await completed(100.2);
    const answer = await recall(id);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
    expect(answer.body.data.outgoingTransfer).toMatchObject({ id, status: 'completed', returned: false });
    expect((await auditOf(api.database.reader, id)).at(-1)).toMatchObject({ action: 'recalled' });
    expect(await recall(id)).toMatchObject({ status: 409 });
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'recall', work: { status: 'completed' } });
    expect(await recall(id)).toMatchObject({ status: 409, body: { code: 'common.state.illegal_transition' } });
    await returnedUntil(id, 10_020);
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'completed', returned: true, statusReason: { code: 'FOCR' } });
    expect(await rowOf(id)).toMatchObject({ recall_status: 'ended', next_check_at: null, waiting_for: null });
    expect(await available()).toBe(FUNDS);
    expect(await recall(id)).toMatchObject({ status: 409 });
  });

  test('that is rejected changes only the reason, and another one may follow', async () => {
    const id = await completed(100.14);
    for (const number of [1, 2]) {
      expect(await recall(id)).toMatchObject({
        status: 200,
        body: { data: { outgoingTransfer: { statusReason: null } } },
      });
      await go(id);
      const shown = await eventually('the rejection', async () => {
        const now = await transfer(id);
        return now.statusReason === null ? undefined : now;
      });
      expect(shown).toMatchObject({ status: 'completed', returned: false, statusReason: { code: 'recall.rejected' } });
      expect(await rowOf(id)).toMatchObject({ recall_number: number, recall_status: 'rejected' });
      expect(await go(id)).toEqual({ do: 'end' });
    }
    expect(await available()).toBeCloseTo(FUNDS - 100.14, 10);
    expect(await booked(id)).toEqual(['payment-out 100.14']);
  });

  const rejection = (id: string, number: number) =>
    run(transitions().recordOutgoingTransferRecall, id, { number, outcome: 'rejected' });
  const rejectionCallback = (id: string, number: number) =>
    api.database.transaction((tx) =>
      applyRecallRejection(tx, { id: idOf(id), provider: 'sandbox-bank' }, number, rules()),
    );
  const rejectionEvents = async (id: string) =>
    (await world.events(id)).filter((event) => event === 'outgoing-transfer-recall-rejected').length;
  const rejectedAtBank = (id: string) =>
    eventually('the rejection at the bank', async () =>
      (await atBank(id)).recall.status === 'rejected' ? true : undefined,
    );
  const keepsIt = { category: 'functional', origin: 'customer', code: 'CUST', message: 'No.', attributes: {} };

  /** How a rejection is reported to the service. */
  const HEARD: readonly (readonly [string, (id: string, number: number) => Promise<unknown>])[] = [
    [
      'the answer',
      (id) => server.during(answered({ status: 422, body: JSON.stringify({ error: keepsIt }) }), () => go(id)),
    ],
    ['eight answers at once', (id, number) => Promise.all(Array.from({ length: 8 }, () => rejection(id, number)))],
    [
      'callback',
      async (id) => {
        await go(id);
        await eventually('the rejection', async () =>
          (await rowOf(id)).recall_status === 'rejected' ? true : undefined,
        );
      },
    ],
    [
      'a look-up',
      async (id) => {
        await bank('POST', '/faults', { callbacks: 'held' });
        await go(id);
        await rejectedAtBank(id);
        aheadMs += 11_000;
        expect(await go(id)).toEqual({ do: 'end' });
        await bank('POST', '/faults', { callbacks: 'normal' });
        await eventually('no callback', async () =>
          (await bank('GET', '/callbacks')).pending === 0 ? true : undefined,
        );
      },
    ],
  ];

  test.each(HEARD)(
    'that is rejected by %s has one event, however often the bank reports it; the next has its own',
    async (_, hear) => {
      const id = await completed(100.14);
      for (const number of [1, 2]) {
        expect(await recall(id)).toMatchObject({ status: 200 });
        expect(await transfer(id)).toMatchObject({ statusReason: null });
        await hear(id, number);
        expect(await transfer(id)).toMatchObject({ status: 'completed', statusReason: { code: 'recall.rejected' } });
        expect(await rejectionEvents(id)).toBe(number);
        await rejection(id, number);
        expect(await rejectionCallback(id, number)).toBe('no-effect');
        expect(await go(id)).toEqual({ do: 'end' });
        expect(await rejectionEvents(id)).toBe(number);
      }
    },
  );

  const lost = { outcome: 'failed', code: 'AC07' } as const;
  const back = { outcome: 'returned', code: 'AC04' } as const;

  test.each([
    ['fails', 'an answer', lost, rejection],
    ['fails', 'a callback', lost, rejectionCallback],
    ['comes back whole', 'an answer', back, rejection],
    ['comes back whole', 'a callback', back, rejectionCallback],
  ] as const)(
    'whose payment %s before %s rejects it is not rejected: the reason stays',
    async (_, _by, end, reject) => {
      const id = await created(100.1);
      await go(id);
      await recall(id);
      const returned = end.outcome === 'returned' ? { reference: 'whole', amountMinor: '10010' } : null;
      expect(await bankReports(id, { ...end, claim: { amountMinor: '10010', currency: 'GBP', returned } })).toBe(
        'applied',
      );
      await reject(id, 1);
      expect(await go(id)).toEqual({ do: 'end' });
      expect(await rowOf(id)).toMatchObject({ recall_status: 'ended', waiting_for: null });
      expect(await transfer(id)).toMatchObject({ statusReason: { code: end.code } });
      expect(await rejectionEvents(id)).toBe(0);
      expect(await available()).toBe(FUNDS);
      // What the bank is said to have reported happens there too, so that its books agree.
      if (returned === null) await bank('POST', `/payments/${id}/reject`, { code: end.code });
      else await returnFromCreditor(id, { code: end.code, returnReference: returned.reference });
      await agrees();
    },
  );

  test('that a look-up finds rejected, of a payment that has since come back whole, is not rejected', async () => {
    const id = await completed(100.14);
    await bank('POST', '/faults', { callbacks: 'held' });
    await recall(id);
    await go(id);
    await rejectedAtBank(id);
    await returnFromCreditor(id, { code: 'AC04' });
    aheadMs += 11_000;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await rowOf(id)).toMatchObject({ recall_status: 'ended', returned_minor: 10_014n });
    expect(await transfer(id)).toMatchObject({ statusReason: { code: 'AC04' } });
    expect(await rejectionEvents(id)).toBe(0);
    await bank('POST', '/faults', { callbacks: 'normal' });
  });

  test('of which the bank says nothing is looked up until it has an outcome', async () => {
    const id = await completed(100.15);
    await recall(id);
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'recall' });
    aheadMs += 11_000;
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'recall' });
    expect(await transfer(id)).toMatchObject({ returned: false });
    await eventually('the return at the bank', async () =>
      (await atBank(id)).status === 'returned' ? true : undefined,
    );
    aheadMs += HOUR_MS;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ status: 'completed', returned: true, statusReason: { code: 'FOCR' } });
    expect(await available()).toBe(FUNDS);
    await agrees();
  });

  test.each(FAULTS)('whose request %s is asked again under the same reference', async (_, fault) => {
    const id = await completed(100.15);
    await recall(id);
    expect(await server.during(fault, () => go(id))).toEqual({ do: 'unanswered' });
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'recall' });
    expect(await atBank(id)).toMatchObject({ recall: { recallReference: `${id}:recall:1` } });
  });

  test('that finds the bank’s look-ups broken is asked for all the same', async () => {
    const id = await created(100.13);
    await go(id);
    aheadMs += MINUTE_MS;
    expect(await go(id)).toEqual({ do: 'unanswered' });
    expect(await recall(id)).toMatchObject({ status: 200 });
    // The request and the look-up take turns, however long each of them takes.
    for (const fault of [cutBefore, null, cutBefore, null]) {
      expect(await (fault === null ? go(id) : server.during(fault, () => go(id)))).toEqual({ do: 'unanswered' });
      aheadMs += MINUTE_MS;
    }
    expect(await go(id)).toMatchObject({ do: 'wait', for: 'recall' });
    await returnedUntil(id, 10_013);
    expect(await available()).toBe(FUNDS);
  });

  test('that is accepted before the money is back is over, and an operator’s look-up still books the return, once', async () => {
    const id = await completed(100.2);
    await bank('POST', '/faults', { callbacks: 'held' });
    await recall(id);
    await go(id);
    aheadMs += 11_000;
    const acceptance = { recallReference: `${id}:recall:1`, status: 'accepted' };
    const accepted = changed((body) =>
      JSON.stringify({ ...JSON.parse(body), status: 'completed', recall: acceptance }),
    );
    const step = await run(transitions().advanceOutgoingTransfer, id);
    expect(await server.during(accepted, () => paymentSteps(dependencies).act(id, step))).toEqual({ do: 'end' });
    expect(await rowOf(id)).toMatchObject({ recall_status: 'ended', returned: false });
    await eventually('the return at the bank', async () =>
      (await atBank(id)).status === 'returned' ? true : undefined,
    );
    expect(await lookUp(id)).toMatchObject({ result: 'returned' });
    await bank('POST', '/faults', { callbacks: 'normal' });
    await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
    expect((await returnsOf(id)).map(({ minor }) => minor)).toEqual([10_020]);
    expect(await available()).toBe(FUNDS);
    await agrees();
  });

  test('that comes after the bank has returned everything in silence is not rejected, and books it', async () => {
    const id = await completed(100.2);
    await bank('POST', '/faults', { callbacks: 'held' });
    await returnFromCreditor(id, { code: 'AC04' });
    expect(await recall(id)).toMatchObject({ status: 200 });
    await go(id);
    expect(await transfer(id)).toMatchObject({ statusReason: null });
    aheadMs += 11_000;
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await transfer(id)).toMatchObject({ returned: true, statusReason: { code: 'AC04' } });
    expect(await available()).toBe(FUNDS);
    await bank('POST', '/faults', { callbacks: 'normal' });
  });

  test('that the bank has lost is asked again', async () => {
    const id = await completed(100.15);
    await recall(id);
    await go(id);
    aheadMs += 11_000;
    const lost = changed((body) => JSON.stringify({ ...JSON.parse(body), status: 'completed', recall: null }));
    const step = await run(transitions().advanceOutgoingTransfer, id);
    expect(await server.during(lost, () => paymentSteps(dependencies).act(id, step))).toEqual({
      do: 'recall',
      number: 1,
    });
    expect(await rowOf(id)).toMatchObject({ recall_status: 'due' });
  });

  test('of a payment that is not settled yet completes it and brings it back', async () => {
    const id = await created(100.1);
    await go(id);
    expect(await recall(id)).toMatchObject({ status: 200 });
    await go(id);
    await returnedUntil(id, 10_010);
    expect(await transfer(id)).toMatchObject({ status: 'completed', returned: true });
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await available()).toBe(FUNDS);
  });

  test('ends with a payment that fails after its release', async () => {
    const id = await created(100.1);
    await go(id);
    await recall(id);
    await bank('POST', `/payments/${id}/reject`, {});
    await eventually('the failure', async () => ((await transfer(id)).status === 'failed' ? true : undefined));
    expect(await go(id)).toEqual({ do: 'end' });
    expect(await rowOf(id)).toMatchObject({ recall_status: 'ended', next_check_at: null });
    expect(await transfer(id)).toMatchObject({ statusReason: { code: 'AC07' } });
    expect(await available()).toBe(FUNDS);
  });

  test('ends with a return that the bank makes of its own accord; a part leaves it open for the rest', async () => {
    const [whole, part] = [await completed(100.14), await completed(100.2)];
    for (const id of [whole, part]) await recall(id);
    await returnFromCreditor(whole, { code: 'AC04' });
    await returnedUntil(whole, 10_014);
    expect(await go(whole)).toEqual({ do: 'end' });
    expect(await transfer(whole)).toMatchObject({ returned: true, statusReason: { code: 'AC04' } });

    await returnFromCreditor(part, { amount: 30 });
    await returnedUntil(part, 3_000);
    expect(await go(part)).toMatchObject({ do: 'wait', for: 'recall' });
    await returnedUntil(part, 10_020);
    expect(await go(part)).toEqual({ do: 'end' });
    expect((await returnsOf(part)).map(({ minor }) => minor)).toEqual([3_000, 7_020]);
    expect(await available()).toBe(FUNDS);
    await agrees();
  });

  test('asked for eight times at once is one', async () => {
    const id = await completed(100.14);
    const answers = await Promise.all(Array.from({ length: 8 }, () => recall(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    expect(await rowOf(id)).toMatchObject({ recall_number: 1 });
  });

  test('is rejected where there is nothing to recall', async () => {
    const plugIn = await world.account(client, { amount: 100 });
    const own = { source: { type: 'client-account', accountId: plugIn } };
    const dated = await created(10, { scheme: 'chaps', transferDate: THURSDAY });
    expect(await recall(dated)).toMatchObject({
      status: 409,
      body: {
        code: 'common.state.illegal_transition',
        messageParameters: ['outgoingTransfer', 'status', 'pending'],
        message: expect.stringContaining('it is pending, not released or completed'),
      },
    });
    expect(await recall(await created(10, own))).toMatchObject({
      status: 422,
      body: { code: 'transfer.recall.unavailable' },
    });
    const failed = await created(100.01);
    await go(failed);
    expect(await recall(failed)).toMatchObject({ status: 409 });
    expect(await recall(crypto.randomUUID())).toMatchObject({ status: 404 });
  });
});

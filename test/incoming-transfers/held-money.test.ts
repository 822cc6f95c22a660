import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { compareStatements } from '../../activities/reconciliation/reconciliation.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { type RunningWorkers, startWorkers } from '../../activities/worker.ts';
import { advanceIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import { assignment } from '../../db/incoming-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../loops/workflow-wakeups.ts';
import { type ApiResponse, type CallOptions, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import '../harness/workflows/temporal-runtime.ts';

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const directory = temporaryDirectory();

let testDatabase: TestDatabase;
let api: TestApi;
let sandbox: RunningSandbox;
let temporal: TestTemporal;
let temporalClient: TemporalClient;
let relay: PollingLoop;
let workers: RunningWorkers;
let world: MoneyWorld;
let account: Json;
let dependencies: ActivityDependencies;

// API, relay and workers in this process; Postgres, Temporal and the bank are the real ones.
beforeAll(async () => {
  [testDatabase, temporal] = await Promise.all([createTestDatabase('held-money'), startTemporalDevServer()]);
  const providers = new Map<string, Provider>();
  api = await startApi(testDatabase, { providers });
  sandbox = await startSandbox({
    directory: directory.path,
    callbackUrl: `${api.url}/provider-callbacks/sandbox-bank`,
  });
  providers.set('sandbox-bank', createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET }));
  const { database, services } = api;
  const address = { address: temporal.address, namespace: temporal.namespace };
  temporalClient = lazyTemporalClient(address);
  relay = workflowWakeupRelay({ database, client: temporalClient.client, logger });
  relay.start();
  dependencies = {
    database,
    providers,
    configuration: services.configuration,
    logger,
    publicUrl: api.url,
    mail: services.environment.mail,
    keyring: services.keyring,
  };
  workers = startWorkers({
    temporal: address,
    dependencies,
    pools: services.configuration.pools,
  });
  await workers.ready;
  world = moneyWorld(api);
  account = await opened(await world.client());
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await relay?.stop();
  await workers?.stop();
  await temporalClient?.close();
  await sandbox?.stop();
  await temporal?.close();
  await api?.stop();
  await testDatabase?.drop();
  directory.remove();
});

/** An account that the bank has opened. */
async function opened(clientId: string): Promise<Json> {
  const answer = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency: 'GBP' } },
  });
  expect(answer.status, answer.text).toBe(201);
  return eventually('the account is active', async () => {
    const { body } = await api.call('GET', `/accounts/${answer.body.data.account.id}`);
    return body.data.account.status === 'active' ? body.data.account : undefined;
  });
}

async function subAccount(mainAccountId: string): Promise<Json> {
  const body = { workflow: { code: 'client.sub-account' }, data: { account: { mainAccountId } } };
  const answer = await api.call('POST', '/accounts', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.account;
}

async function bank(method: 'GET' | 'POST', path: string, body?: Json): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${sandbox.url}/bank${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** A payment in, and the transfer that it has become. */
async function arrives(payment: Json): Promise<Json> {
  const { status, body } = await bank('POST', '/payments-in', {
    amount: 40,
    currency: 'GBP',
    scheme: 'faster-payments',
    senderName: 'Ann Payer',
    ...payment,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return eventually('the payment has arrived', async () => (await find(body.paymentId)) ?? undefined);
}

async function find(paymentId: string): Promise<Json | null> {
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.serviceProviderId=${paymentId}`);
  return body.data.incomingTransfers[0] ?? null;
}

function reaches(id: string, status: string): Promise<Json> {
  return eventually(`transfer ${id} is ${status}`, async () => {
    const { body } = await api.call('GET', `/incoming-transfers/${id}`);
    return body.data.incomingTransfer.status === status ? body.data.incomingTransfer : undefined;
  });
}

function act(id: string, action: 'assign' | 'return', data: Json, options: CallOptions = {}): Promise<ApiResponse> {
  const body = { workflow: { code: 'direct' }, data };
  return api.call('POST', `/incoming-transfers/${id}/${action}`, body, options);
}

const assign = (id: string, accountId: string, options: CallOptions = {}) =>
  act(id, 'assign', { incomingTransfer: { accountId } }, options);

async function hasEnded(id: string): Promise<true> {
  return eventually('the workflow has ended', async () => {
    const { status } = await temporalClient.client.workflow.getHandle(`incoming-transfer/${id}`).describe();
    return status.name === 'COMPLETED' ? true : undefined;
  });
}

/** What the account has got since. */
async function since(before: { available: number }, of = account.id): Promise<number> {
  return Math.round(((await world.balance(of)).available - before.available) * 100) / 100;
}

const HELD = ['incoming-transfer-pending', 'incoming-transfer-on-hold'];

describe('money that the bank holds', () => {
  test('is receivable and not spendable until the bank releases it, then pending, then completed', async () => {
    const before = await world.balance(account.id);
    const held = await arrives({ iban: account.iban, hold: true });
    expect(held).toMatchObject({ status: 'on-hold', accountId: account.id, transferDate: null });
    expect(await world.balance(account.id)).toEqual({ available: before.available, receivable: 40 });
    expect((await bank('GET', `/payments-in/${held.serviceProviderId}`)).body.status).toBe('held');
    // A transition by itself never releases it.
    const look = await api.database.transaction((tx) =>
      advanceIncomingTransfer(tx, asId<IncomingTransferId>(held.id), api.services.configuration),
    );
    expect(look).toEqual({ do: 'wait', for: 'provider', until: null });
    expect((await bank('POST', `/payments-in/${held.serviceProviderId}/release`)).status).toBe(200);
    expect(await reaches(held.id, 'completed')).toMatchObject({ accountId: account.id, amount: 40 });
    expect(await since(before)).toBe(40);
    expect(await world.events(held.id)).toEqual([...HELD, 'incoming-transfer-pending', 'incoming-transfer-completed']);
    await hasEnded(held.id);
    // A repetition changes nothing; the bank had the money in its position from the start.
    expect((await bank('POST', `/payments-in/${held.serviceProviderId}/release`)).status).toBe(200);
    const { body } = await bank('GET', `/statement?account=${account.iban}`);
    const entries = body.entries.filter(({ paymentId }: Json) => paymentId === held.serviceProviderId);
    expect(entries.map(({ kind }: Json) => kind)).toEqual(['payment-in']);
  });

  test('is held for its account once the bank releases it, where that is not active', async () => {
    const other = await opened(await world.client('Held'));
    const held = await arrives({ iban: other.iban, hold: true });
    const set = (status: string) =>
      api.database.reader.statement('UPDATE accounts SET status = $2 WHERE id = $1', [other.id, status]);
    await set('suspended');
    await bank('POST', `/payments-in/${held.serviceProviderId}/release`);
    await eventually('it waits for its account', async () => {
      const [row] = await api.database.reader.statement<{ waitingFor: string }>(
        `SELECT waiting_for AS "waitingFor" FROM incoming_transfers WHERE id = $1 AND hold_reason = 'account-not-active'`,
        [held.id],
      );
      return row?.waitingFor === 'account' ? true : undefined;
    });
    expect(await world.events(held.id)).toEqual([...HELD, ...HELD]);
    expect((await act(held.id, 'return', {})).status).toBe(200);
    await reaches(held.id, 'failed');
  });

  test('can be assigned while the bank holds it, and is credited when the bank releases it', async () => {
    const before = await world.balance(account.id);
    const held = await arrives({ reference: 'no number in here', hold: true });
    const assigned = await assign(held.id, account.id);
    expect(assigned.status, assigned.text).toBe(200);
    expect(assigned.body.data.incomingTransfer).toMatchObject({ status: 'on-hold', accountId: account.id });
    expect(await world.balance(account.id)).toEqual({ ...before, receivable: before.receivable + 40 });
    await bank('POST', `/payments-in/${held.serviceProviderId}/release`);
    await reaches(held.id, 'completed');
    expect(await since(before)).toBe(40);
  });

  test('is released after a restore, where the release happened in the window that was lost', async () => {
    const before = await world.balance(account.id);
    const [held, kept] = [
      await arrives({ iban: account.iban, hold: true }),
      await arrives({ iban: account.iban, hold: true }),
    ];
    await bank('POST', '/faults', { callbacks: 'held' });
    await bank('POST', `/payments-in/${held.serviceProviderId}/release`);
    const { database, providers, configuration } = api.services;
    const window = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 60_000) };
    const initiator = { actor: 'restorer', requestId: null };
    for (const _ of ['once', 'again'])
      await catchUpWithProviders({ database, providers, configuration, initiator }, window);
    expect((await reaches(held.id, 'completed')).accountId).toBe(account.id);
    expect((await reaches(kept.id, 'on-hold')).accountId).toBe(account.id);
    await bank('POST', '/faults', { callbacks: 'normal' });
    await bank('POST', `/payments-in/${kept.serviceProviderId}/release`);
    await reaches(kept.id, 'completed');
    expect(await since(before)).toBe(80);
    expect(await world.events(held.id)).toEqual([...HELD, 'incoming-transfer-pending', 'incoming-transfer-completed']);
  });

  test('can be returned while the bank holds it; the bank then releases nothing', async () => {
    const before = await world.balance(account.id);
    const held = await arrives({ iban: account.iban, hold: true });
    expect((await act(held.id, 'return', {})).body.data.incomingTransfer.status).toBe('failed');
    await eventually('the bank has given it back', async () => {
      const { body } = await bank('GET', `/payments-in/${held.serviceProviderId}`);
      return body.status === 'sent-back' ? true : undefined;
    });
    expect((await bank('POST', `/payments-in/${held.serviceProviderId}/release`)).status).toBe(409);
    expect(await world.balance(account.id)).toEqual(before);
    await hasEnded(held.id);
  });
});

test('held money that is assigned, returned and released at the same moment has one outcome, and the books balance', async () => {
  const before = await world.balance(account.id);
  let credited = 0;
  for (let round = 0; round < 8; round += 1) {
    const held = await arrives({ reference: 'no number in here', hold: true });
    await Promise.all([
      assign(held.id, account.id),
      act(held.id, 'return', {}),
      bank('POST', `/payments-in/${held.serviceProviderId}/release`),
    ]);
    const [present] = await api.database.reader.statement<{ status: string }>(
      'SELECT status FROM incoming_transfers WHERE id = $1',
      [held.id],
    );
    // Assigned before the bank has released it, which follows.
    const status = present?.status === 'failed' ? 'failed' : 'completed';
    if (status === 'completed') await bank('POST', `/payments-in/${held.serviceProviderId}/release`);
    const ended = await eventually('it has ended', async () => {
      const { body } = await api.call('GET', `/incoming-transfers/${held.id}`);
      const { status: now, accountId } = body.data.incomingTransfer;
      // Released but unmatched: an operator assigns it.
      if (now === 'on-hold' && accountId === null) await assign(held.id, account.id);
      return now === 'completed' || now === 'failed' ? now : undefined;
    });
    if (ended === 'completed') credited += 40;
    await world.invariantsHold();
  }
  expect(await since(before)).toBe(credited);
  expect((await world.balance(account.id)).receivable).toBe(0);
});

/** Two transactions, of which the second one waits for the first one's lock of the transfer. */
test('what waits while held money gets its account decides by that account', async () => {
  for (const action of ['return', 'release'] as const) {
    const held = await arrives({ reference: 'no number in here', hold: true });
    const id = asId<IncomingTransferId>(held.id);
    const initiator = { actor: 'tester', requestId: null };
    let second: Promise<unknown> = Promise.resolve();
    await api.database.transaction(async (tx) => {
      await changeUnderLocks(tx, assignment({ id, accountId: asId<AccountId>(account.id), initiator }));
      second = fetchInParallel(action, held);
      await eventually('the second one waits', async () => ((await lockWaiters(tx)) > 0 ? true : undefined));
    });
    await second;
    const ended = await eventually('it has ended', async () => {
      const { body } = await api.call('GET', `/incoming-transfers/${held.id}`);
      if (action === 'return') await act(held.id, 'return', {});
      const { status } = body.data.incomingTransfer;
      return status === 'completed' || status === 'failed' ? status : undefined;
    });
    expect(ended).toBe(action === 'return' ? 'failed' : 'completed');
    await world.invariantsHold();
  }
  expect((await world.balance(account.id)).receivable).toBe(0);
});

/** Outside of the transaction that a test holds open. */
function fetchInParallel(action: 'return' | 'release', held: Json): Promise<unknown> {
  return action === 'return'
    ? act(held.id, 'return', {})
    : bank('POST', `/payments-in/${held.serviceProviderId}/release`);
}

describe('POST /incoming-transfers/{id}/assign', () => {
  test('credits money that matched no account, once, and says who did it', async () => {
    const before = await world.balance(account.id);
    const held = await arrives({ reference: 'rent May' });
    expect(held).toMatchObject({ status: 'on-hold', accountId: null });
    const key = randomUUID();
    const headers = { 'request-id': 'assigned-by-hand' };
    const first = await assign(held.id, account.id, { key, headers });
    expect(first.status, first.text).toBe(200);
    expect(first.body.data.incomingTransfer).toMatchObject({
      id: held.id,
      transactionNumber: held.transactionNumber,
      amount: held.amount,
      status: 'completed',
      accountId: account.id,
      clientId: account.clientId,
      transferDate: new Date().toISOString().slice(0, 10),
      receiverAccount: first.body.data.incomingTransfer.receiverAccount,
    });
    expect((await assign(held.id, account.id, { key })).text).toBe(first.text);
    const again = await assign(held.id, account.id);
    expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect(await since(before)).toBe(40);
    expect(await world.events(held.id)).toEqual([...HELD, 'incoming-transfer-completed']);
    expect(await auditOf(api.database.reader, held.id)).toEqual([
      {
        resource: 'incoming-transfer',
        action: 'assigned',
        actor: api.users.operator.id,
        requestId: 'assigned-by-hand',
        before: { status: 'on-hold', accountId: null },
        after: { status: 'completed', accountId: account.id },
      },
    ]);
    await hasEnded(held.id);
  });

  test('is rejected by the state of transfer and account, and to every role but operator', async () => {
    const held = await arrives({ reference: 'rent June' });
    const completed = await arrives({ iban: account.iban });
    const plugIn = await world.account(account.clientId);
    const euros = await world.account(account.clientId, { currency: 'EUR' });
    const idle = await opened(await world.client('Idle'));
    const client = `/clients/${idle.clientId}`;
    const body = { workflow: { code: 'direct' }, data: { client: { status: 'suspended' } } };
    expect((await api.call('PATCH', client, body, { as: 'compliance' })).status).toBe(200);
    const closing = await opened(account.clientId);
    const { reader } = api.database;
    await reader.statement("UPDATE accounts SET requested_change = 'close' WHERE id = $1", [closing.id]);
    const unknown = randomUUID();
    for (const [id, accountId, status, code, field] of [
      [unknown, account.id, 404, 'common.coding.internal.record_not_found', 'id'],
      [held.id, unknown, 404, 'common.coding.internal.record_not_found', 'accountId'],
      [completed.id, unknown, 404, 'common.coding.internal.record_not_found', 'accountId'],
      [completed.id, account.id, 409, 'common.state.illegal_transition', 'status'],
      [held.id, plugIn, 422, 'account.method.mismatch', 'accountId'],
      [held.id, euros, 422, 'account.currency.mismatch', 'accountId'],
      [held.id, idle.id, 422, 'account.status.not_active', 'accountId'],
      [held.id, closing.id, 422, 'account.status.not_active', 'accountId'],
    ] as const) {
      const answer = await assign(id, accountId);
      expect([answer.status, answer.body.code], answer.text).toEqual([status, code]);
      expect(answer.body.messageParameters.slice(0, 2)).toEqual(['incomingTransfer', field]);
    }
    for (const as of ROLES.filter((role) => role !== 'operator')) {
      expect((await assign(held.id, account.id, { as })).status).toBe(403);
      expect((await act(held.id, 'return', {}, { as })).status).toBe(403);
    }
    expect((await reaches(held.id, 'on-hold')).accountId).toBeNull();
  });

  test('and returns at once: one of them happens', async () => {
    const before = await world.balance(account.id);
    const held = await arrives({ reference: 'rent July' });
    const answers = await Promise.all([
      assign(held.id, account.id),
      assign(held.id, account.id),
      act(held.id, 'return', {}),
      act(held.id, 'return', {}),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const assigned = answers.slice(0, 2).some(({ status }) => status === 200);
    expect(await since(before)).toBe(assigned ? 40 : 0);
    expect(await auditOf(api.database.reader, held.id)).toHaveLength(1);
  });
});

describe('POST /incoming-transfers/{id}/return', () => {
  test('sends money that matched no account back through the bank, with or without the container of no data', async () => {
    for (const body of [{ workflow: { code: 'direct' } }, { workflow: { code: 'direct' }, data: {} }]) {
      const held = await arrives({ reference: 'rent August' });
      const answer = await api.call('POST', `/incoming-transfers/${held.id}/return`, body);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.data.incomingTransfer).toMatchObject({ id: held.id, status: 'failed', accountId: null });
      await eventually('the bank has it back', async () => {
        const payment = await bank('GET', `/payments-in/${held.serviceProviderId}`);
        return payment.body.sentBack?.ourReference === held.id ? true : undefined;
      });
      const again = await api.call('POST', `/incoming-transfers/${held.id}/return`, body);
      expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
      expect(await world.events(held.id)).toEqual([...HELD, 'incoming-transfer-failed']);
      expect(await auditOf(api.database.reader, held.id)).toMatchObject([
        {
          action: 'returned',
          actor: api.users.operator.id,
          before: { status: 'on-hold' },
          after: { status: 'failed' },
        },
      ]);
      await hasEnded(held.id);
    }
  });
});

describe('completed money goes back through the bank', () => {
  const ENDS: Readonly<Record<string, string>> = {
    '10.00': 'completed',
    '5.01': 'failed',
    '5.02': 'failed',
    '5.03': 'completed',
    '5.05': 'completed',
    '5.06': 'completed',
    '5.08': 'completed',
    '5.09': 'completed',
  };

  test('in parts at once, rejected, failing, unheard and coming back: both books are equal, and the rest goes back after', async () => {
    const clientId = await world.client('Returning');
    const main = await opened(clientId);
    const sub = await subAccount(main.id);
    const paid = await arrives({ iban: main.iban, reference: sub.ledgerNumber, amount: 100 });
    expect(paid).toMatchObject({ status: 'completed', accountId: sub.id });
    const terms = (amount?: number) => ({
      incomingTransfer: { ...(amount === undefined ? {} : { amount }), statusReason: { code: 'CUST' } },
    });
    const answers = await Promise.all(Object.keys(ENDS).map((amount) => act(paid.id, 'return', terms(Number(amount)))));
    for (const { status, text } of answers) expect(status, text).toBe(200);
    const { returns } = await eventually('each part has its outcome', async () => {
      const { body } = await api.call('GET', `/incoming-transfers/${paid.id}`);
      const { returns: parts } = body.data.incomingTransfer;
      return parts.every(({ status }: Json) => status === 'completed' || status === 'failed')
        ? body.data.incomingTransfer
        : undefined;
    });
    const ends = returns.map(({ amount, status }: Json) => [amount.toFixed(2), status]);
    expect(Object.fromEntries(ends)).toEqual(ENDS);
    // One comes back from the payer's bank, as money of the client.
    const refused = returns.find(({ amount }: Json) => amount === 5.03).outgoingTransferId;
    await eventually('one part has come back', async () => {
      const { body } = await api.call('GET', `/outgoing-transfers/${refused}`);
      return body.data.outgoingTransfer.returned === true ? true : undefined;
    });
    const rest = await act(paid.id, 'return', terms());
    const last = rest.body.data.incomingTransfer.returns.at(-1);
    expect([rest.status, last.amount], rest.text).toEqual([200, 64.69]);
    await eventually('the rest is completed', async () => {
      const { body } = await api.call('GET', `/outgoing-transfers/${last.outgoingTransferId}`);
      return body.data.outgoingTransfer.status === 'completed' ? true : undefined;
    });
    expect(await world.balance(sub.id)).toEqual({ available: 5.03, receivable: 0 });
    const { body } = await bank('GET', `/statement?account=${main.iban}`);
    const signed = body.entries.map(({ direction, amount }: Json) => (direction === 'credit' ? amount : -amount));
    expect(Math.round(signed.reduce((sum: number, amount: number) => sum + amount, 0) * 100)).toBe(503);
    const atBank = (await bank('GET', `/payments-in/${paid.serviceProviderId}`)).body.returns;
    const ours = [...returns, { ...last, status: 'completed' }].filter(({ amount }: Json) => amount !== 5.01);
    const key = ({ amount }: Json) => amount;
    expect(atBank.map(key).sort()).toEqual(ours.map(key).sort());
    const environment = new MockActivityEnvironment();
    await environment.run(() => compareStatements(dependencies, {}, 0));
    const references = [...returns, last].map(({ outgoingTransferId }: Json) => outgoingTransferId);
    const breaks = await api.database.reader.statement(
      'SELECT kind FROM reconciliation_breaks WHERE our_reference = ANY ($1)',
      [[...references, paid.id]],
    );
    expect(breaks).toEqual([]);
  });

  test('not after the bank has sent it back by itself: its rejection ends the return, and the money stays', async () => {
    const other = await opened(await world.client('Bank'));
    const paid = await arrives({ iban: other.iban, amount: 40 });
    const sentBack = { ourReference: randomUUID(), endToEndId: 'by-hand', amount: 40, currency: 'GBP', code: 'AC04' };
    expect((await bank('POST', `/payments-in/${paid.serviceProviderId}/send-back`, sentBack)).status).toBe(201);
    const answer = await act(paid.id, 'return', { incomingTransfer: { amount: 10, statusReason: { code: 'AM05' } } });
    const { outgoingTransferId } = answer.body.data.incomingTransfer.returns[0];
    const failed = await eventually('the return has failed', async () => {
      const { body } = await api.call('GET', `/outgoing-transfers/${outgoingTransferId}`);
      return body.data.outgoingTransfer.status === 'failed' ? body.data.outgoingTransfer : undefined;
    });
    expect(failed.statusReason.code).toBe('ARDT');
    expect(await world.balance(other.id)).toEqual({ available: 40, receivable: 0 });
  });
});

test('money for a sub-account comes by the bank details of its main account, with its ledger number as reference', async () => {
  const sub = await subAccount(account.id);
  const { body } = await api.call('GET', `/accounts/${sub.id}/deposit-information`);
  const { accountNumber, routingCodes, reference } = body.data.depositInformation['faster-payments'];
  const before = await world.balance(account.id);
  const arrived = await arrives({ accountNumber, routingCodes, reference: `Invoice 7, ${reference}` });
  expect(arrived).toMatchObject({ status: 'completed', accountId: sub.id });
  expect(await world.balance(sub.id)).toEqual({ available: 40, receivable: 0 });
  const ambiguous = await arrives({ iban: account.iban, reference: `${reference} ${account.ledgerNumber}` });
  expect(ambiguous).toMatchObject({ status: 'on-hold', accountId: null });
  expect(await world.balance(account.id)).toEqual(before);
});

test('a sub-account pays at the bank from its main account, takes a return back, and the bank has what both hold', async () => {
  const clientId = await world.client('Pooled');
  const main = await opened(clientId);
  const sub = await subAccount(main.id);
  await arrives({ iban: main.iban, amount: 100 });
  await arrives({ iban: main.iban, reference: sub.ledgerNumber, amount: 60 });
  const bankAccount = await world.beneficiary(clientId);
  const [returned, kept] = [await payOut(25), await payOut(10)];
  expect((await bank('POST', `/payments/${returned}/return`, {})).status).toBe(200);
  await eventually('the payment has come back', async () => {
    const { body } = await api.call('GET', `/outgoing-transfers/${returned}`);
    return body.data.outgoingTransfer.returned === true ? true : undefined;
  });
  const books = { main: await world.balance(main.id), sub: await world.balance(sub.id) };
  expect(books).toEqual({ main: { available: 100, receivable: 0 }, sub: { available: 50, receivable: 0 } });
  const { body } = await bank('GET', `/statement?account=${main.iban}`);
  const signed = body.entries.map(({ direction, amount }: Json) => (direction === 'credit' ? amount : -amount));
  expect(signed.reduce((sum: number, amount: number) => sum + amount, 0)).toBe(150);
  // Payments of this moment are compared at once.
  const environment = new MockActivityEnvironment();
  await environment.run(() => compareStatements(dependencies, {}, 0));
  const breaks = await api.database.reader.statement(
    'SELECT kind FROM reconciliation_breaks WHERE our_reference = ANY ($1)',
    [[returned, kept, main.id, sub.id]],
  );
  expect(breaks).toEqual([]);

  async function payOut(amount: number): Promise<string> {
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      amount,
      scope: 'external',
      scheme: 'faster-payments',
      source: { type: 'client-account', accountId: sub.id },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    };
    const answer = await api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
    expect(answer.status, answer.text).toBe(201);
    const { id } = answer.body.data.outgoingTransfer;
    return eventually('the payment is completed', async () => {
      const read = await api.call('GET', `/outgoing-transfers/${id}`);
      return read.body.data.outgoingTransfer.status === 'completed' ? id : undefined;
    });
  }
});

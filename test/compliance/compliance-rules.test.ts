import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { workerMetricsText } from '../../activities/common/metrics.ts';
import { type RunningWorkers, startWorkers } from '../../activities/worker.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import type { CheckedType } from '../../db/compliance/checks.ts';
import { readRuleFacts } from '../../db/compliance/rule-facts.ts';
import type { ComplianceRule } from '../../domain/compliance/rules.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../loops/workflow-wakeups.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { until } from '../harness/stage.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import { textOf } from '../harness/workflows/histories.ts';
import '../harness/workflows/temporal-runtime.ts';

const folder = mkdtempSync(join(tmpdir(), 'compliance-rules-'));
const file = join(folder, 'sanctions.csv');
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

/** Every rule stops by a value of its own, so that each scenario meets a single one. */
const shared = { directions: ['incoming', 'outgoing'], stop: 'soft-stop' } as const;
const RULES: readonly ComplianceRule[] = [
  { ...shared, name: 'large', kind: 'amount', fromMinor: { GBP: 500_00n, JPY: 500n, KWD: 500_000n } },
  {
    ...shared,
    name: 'busy',
    kind: 'velocity',
    windowMs: 86_400_000,
    fromCount: 3,
    fromSumMinor: { GBP: 400_00n },
  },
  { ...shared, name: 'embargo', kind: 'country', stop: 'hard-stop', countries: new Set(['KP']) },
  { ...shared, name: 'sanctions', kind: 'name', stop: 'hard-stop', file, threshold: 0.85 },
];

let database: TestDatabase;
let temporal: TestTemporal;
let temporalClient: TemporalClient;
let relay: PollingLoop;
let workers: RunningWorkers;
let plain: TestApi;
let api: TestApi;
let world: MoneyWorld;
let payer: Json;
let payee: Json;

beforeAll(async () => {
  writeList(['Q-1,Person,Viktor Andreyevich Sorokin,Виктор Сорокин']);
  [database, temporal] = await Promise.all([createTestDatabase('compliance-rules'), startTemporalDevServer()]);
  plain = await startApi(database, { configuration: modes('none', 'none') });
  const configuration = modes('built-in', 'built-in', { complianceRules: RULES });
  api = await startApi(database, { users: plain.users, configuration });
  const address = { address: temporal.address, namespace: temporal.namespace };
  temporalClient = lazyTemporalClient(address);
  relay = workflowWakeupRelay({ database: plain.database, client: temporalClient.client, logger });
  relay.start();
  workers = startWorkersNow();
  await workers.ready;
  world = moneyWorld(plain);
  payer = { clientId: await world.client('Ada') };
  payee = { clientId: await world.client('Grace') };
});

function startWorkersNow(): RunningWorkers {
  const { services } = api;
  return startWorkers({
    temporal: { address: temporal.address, namespace: temporal.namespace },
    dependencies: {
      database: plain.database,
      providers: new Map(),
      configuration: services.configuration,
      logger,
      publicUrl: api.url,
      mail: services.environment.mail,
      keyring: services.keyring,
    },
    pools: services.configuration.pools,
  });
}

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await relay?.stop();
  await workers?.stop();
  await temporalClient?.close();
  for (const one of [api, plain]) await one?.stop();
  await temporal?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

function writeList(rows: readonly string[], header = 'id,schema,name,aliases'): void {
  writeFileSync(`${file}.new`, [header, ...rows, ''].join('\n'));
  renameSync(`${file}.new`, file);
}

const rich = (currency = 'GBP') => world.account(payer.clientId, { currency, amount: 10_000 });
const poor = (currency = 'GBP') => world.account(payee.clientId, { currency });

/** The check once the rules have screened the transfer, or an operator has decided. */
const screened = (type: CheckedType, id: string): Promise<Json> =>
  until(
    () => reviews(api).check(type, id),
    (check) => check.procedureResults['transaction-monitoring'].result !== null,
  );

interface Outgoing {
  readonly amount?: number;
  readonly country?: string;
  readonly bic?: string;
  readonly name?: string;
  readonly currency?: string;
}

async function beneficiaryOf({
  country = 'GB',
  bic = country === 'GB' ? undefined : `ABCD${country}2L`,
  name = 'Brook Lane Bakery',
  currency = 'GBP',
}: Outgoing): Promise<string> {
  const routingCodes = bic === undefined ? { 'sort-code': '601613' } : { bic };
  const account = { country, currency, accountNumber: '31926819', routingCodes };
  const { body, text } = await plain.call('POST', '/beneficiaries', {
    workflow: { code: 'direct' },
    data: {
      beneficiary: {
        clientId: payer.clientId,
        identity: { type: 'corporate', legalName: name },
        bankAccounts: [account],
      },
    },
  });
  expect(body.data?.beneficiary, text).toBeDefined();
  return body.data.beneficiary.bankAccounts[0].id;
}

/** A payment out, screened. */
async function payOut(change: Outgoing, from?: string): Promise<Json> {
  const source = { clientId: payer.clientId, id: from ?? (await rich()) };
  const scheme = change.country === undefined ? 'faster-payments' : 'swift';
  const more = { amount: change.amount ?? 10, scheme };
  const { id } = await reviews(api).external(source, await beneficiaryOf(change), more);
  return { id, check: await screened('outgoing-transfer', id) };
}

interface Incoming {
  readonly amount?: number;
  readonly senderName?: string;
  readonly senderAddress?: Json;
  readonly currency?: string;
}

/** A provisioned credit, screened. */
async function payIn({ currency = 'GBP', ...change }: Incoming, to?: string): Promise<Json> {
  const accountId = to ?? (await poor(currency));
  const credit = { accountId, amount: 10, currency, scope: 'external', scheme: 'swift', ...change };
  const answer = await api.call('POST', '/provisioned-account-credits', {
    workflow: { code: 'client.direct' },
    data: { provisionedAccountCredit: credit },
  });
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data.provisionedAccountCredit;
  const query = `data.incomingTransfer.accountId=${accountId}&metadata.page.size=100`;
  const { body } = await api.call('GET', `/incoming-transfers?${query}`);
  const transfer = body.data.incomingTransfers.find((one: Json) => one.provisionedAccountCreditId === id);
  return { id: transfer.id, check: await screened('incoming-transfer', transfer.id) };
}

function stopped(name: string, kind: string, result: string): Json {
  return { status: 'in-review', procedureResults: { 'transaction-monitoring': { result, rule: { name, kind } } } };
}

function update(text: string, value: unknown): Promise<unknown> {
  return plain.database.transaction((tx) => tx.statement(text, [value]));
}

/** What Temporal's UI shows of the workflow. */
async function detailsOf(type: CheckedType, id: string): Promise<string> {
  const handle = temporalClient.client.workflow.getHandle(workflowId(type, id));
  return (await handle.query<{ currentDetails?: string }, []>('__temporal_workflow_metadata')).currentDetails ?? '';
}

async function decideByCommand(...given: readonly string[]): Promise<void> {
  const context = {
    database: plain.database,
    temporal: temporalClient,
    initiator: { actor: 'root', requestId: null },
    print: () => {},
  };
  expect(await OPERATIONS.decide?.run({ ...context, arguments: given })).toBe(0);
}

const PASSED = {
  status: 'approved',
  procedureResults: { 'transaction-monitoring': { result: 'all-passed' } },
  decidedBy: 'built-in-review',
};

describe('each rule stops what it is for, and passes the rest', () => {
  test.each<[string, () => Promise<Json>, Json]>([
    ['a payment out below every limit', () => payOut({ amount: 399.99 }), PASSED],
    ['a payment out of a large amount', () => payOut({ amount: 500 }), stopped('large', 'amount', 'soft-stop')],
    ['a payment out to a country', () => payOut({ country: 'KP' }), stopped('embargo', 'country', 'hard-stop')],
    [
      'a payment out to a bank whose BIC names a country',
      () => payOut({ country: 'DE', bic: 'ABCDKP2L' }),
      stopped('embargo', 'country', 'hard-stop'),
    ],
    ['a payment out to a name', () => payOut({ name: 'Victor Sorokin' }), stopped('sanctions', 'name', 'hard-stop')],
    ['a payment out to another name', () => payOut({ name: 'Viktor Morozov' }), PASSED],
    [
      'a payment out to a name, of a large amount: the severest stop',
      () => payOut({ name: 'SOROKIN, VIKTOR', amount: 600 }),
      stopped('sanctions', 'name', 'hard-stop'),
    ],
    ['a credit below every limit', () => payIn({ amount: 399.99 }), PASSED],
    ['a credit of a large amount', () => payIn({ amount: 500 }), stopped('large', 'amount', 'soft-stop')],
    [
      'a credit from a country',
      () => payIn({ senderAddress: { country: 'KP', city: 'Pyongyang' } }),
      stopped('embargo', 'country', 'hard-stop'),
    ],
    ['a credit from a name', () => payIn({ senderName: 'В. Сорокин' }), stopped('sanctions', 'name', 'hard-stop')],
    ['a credit without decimals, below', () => payIn({ currency: 'JPY', amount: 499 }), PASSED],
    [
      'a credit without decimals',
      () => payIn({ currency: 'JPY', amount: 500 }),
      stopped('large', 'amount', 'soft-stop'),
    ],
    ['a credit with three decimals, below', () => payIn({ currency: 'KWD', amount: 499.999 }), PASSED],
    [
      'a credit with three decimals',
      () => payIn({ currency: 'KWD', amount: 500 }),
      stopped('large', 'amount', 'soft-stop'),
    ],
  ])('%s', async (_name, pay, expected) => {
    const { check } = await pay();
    expect(check).toMatchObject(expected);
    if (expected.status === 'in-review') expect(check).toEqual(expected);
  });

  test('an internal transfer is screened on both sides; approved by both, it settles', async () => {
    const to = await poor();
    const { id, incomingTransferId } = await reviews(api).internal({ ...payer, id: await rich() }, to);
    expect(await screened('outgoing-transfer', id)).toMatchObject(PASSED);
    expect(await screened('incoming-transfer', incomingTransferId)).toMatchObject(PASSED);
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'completed',
    );
    expect(await world.balance(to)).toMatchObject({ available: 10 });
  });
});

describe('velocity', () => {
  test('stops the payment that reaches the number, and counts neither cancelled ones nor those before the window', async () => {
    const from = await rich();
    const [old, cancelled] = [await payOut({}, from), await payOut({}, from)];
    await update("UPDATE outgoing_transfers SET created_at = created_at - interval '1 day' WHERE id = $1", old.id);
    const waiting = { amount: 1, transferDate: tomorrow() };
    const { id } = await reviews(api).internal({ ...payer, id: from }, await poor(), waiting);
    await api.call('PATCH', `/outgoing-transfers/${id}`, {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer: { status: 'cancelled' } },
    });
    const second = await payOut({}, from);
    const third = await payOut({}, from);
    expect([cancelled.check, second.check]).toMatchObject([PASSED, PASSED]);
    expect(third.check).toEqual(stopped('busy', 'velocity', 'soft-stop'));
  });

  test('stops the credit that reaches the sum', async () => {
    const to = await poor();
    expect((await payIn({ amount: 399.99 }, to)).check).toMatchObject(PASSED);
    expect((await payIn({ amount: 0.01 }, to)).check).toEqual(stopped('busy', 'velocity', 'soft-stop'));
    // Another account has a window of its own.
    expect((await payIn({ amount: 0.01 })).check).toMatchObject(PASSED);
  });

  test('money that matches no account is counted on its own', async () => {
    const arrives = async (amountMinor: bigint) => {
      const { id, accountId } = await reviews(api).payIn({ amountMinor });
      expect(accountId).toBeNull();
      return screened('incoming-transfer', id);
    };
    expect(await arrives(399_99n)).toMatchObject(PASSED);
    expect(await arrives(400_00n)).toEqual(stopped('busy', 'velocity', 'soft-stop'));
  });

  test('concurrent ones are counted one after the other', async () => {
    const from = { ...payer, id: await rich() };
    const made = [];
    const to = await beneficiaryOf({});
    for (const _ of [1, 2, 3]) made.push((await reviews(plain).external(from, to)).id);
    const ids = made.sort();
    await update('UPDATE outgoing_transfers SET created_at = (SELECT service_now()) WHERE id = ANY ($1::uuid[])', ids);
    const day = 86_400_000;
    const activityOf = async (id: string | undefined) =>
      (await readRuleFacts(api.database.reader, { direction: 'outgoing', id: id ?? '' }, [1, day])).activity;
    const counts = [];
    for (const id of ids) counts.push(await activityOf(id));
    const sums = [1_000n, 2_000n, 3_000n];
    expect(counts).toEqual(sums.map((sumMinor, at) => [1, 2].map(() => ({ count: at + 1, sumMinor }))));
    // One exactly as old as the window is outside it.
    const move = (interval: string) =>
      `UPDATE outgoing_transfers SET created_at = created_at - interval '${interval}' WHERE id = $1`;
    await update(move('1 day'), ids[0]);
    expect(await activityOf(ids[2])).toMatchObject([{ count: 2 }, { count: 2 }]);
    await update(move('-1 microseconds'), ids[0]);
    expect(await activityOf(ids[2])).toMatchObject([{ count: 2 }, { count: 3 }]);
  });
});

function tomorrow(): string {
  return new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
}

describe('a stop waits for an operator', () => {
  test.each(['hard-stop-accepted', 'hard-stop-rejected'] as const)('who decides by the command: %s', async (result) => {
    const { id, check } = await payOut({ name: 'Viktor Sorokin' });
    const details = await until(
      () => detailsOf('outgoing-transfer', id),
      (text) => text.includes('review'),
    );
    expect(details).toMatch(/^Waits for review \(rule sanctions\) since \d{4}-\d\d-\d\d \d\d:\d\d UTC; until /);
    expect(details).not.toContain('Sorokin');
    await decideByCommand('outgoing-transfer', id, result);
    const decided = await reviews(api).check('outgoing-transfer', id);
    const status = result === 'hard-stop-accepted' ? 'approved' : 'rejected';
    expect(decided).toMatchObject({
      status,
      procedureResults: { 'transaction-monitoring': { result, rule: { name: 'sanctions', kind: 'name' } } },
    });
    expect(check.procedureResults['transaction-monitoring'].rule).toEqual({ name: 'sanctions', kind: 'name' });
    expect((await reviews(api).find('outgoing-transfer', id)).status).toBe(
      status === 'approved' ? 'processing' : 'failed',
    );
    const audited = (await auditOf(api.database.reader, id)).filter(({ action }) => action === 'reviewed');
    expect(audited.map(({ actor }) => actor)).toEqual(['built-in-review', 'root']);
  });

  test('histories hold no names and no amounts', async () => {
    const { id } = await payOut({ name: 'Viktor Sorokin', amount: 123.45 });
    const handle = temporalClient.client.workflow.getHandle(workflowId('outgoing-transfer', id));
    const history = textOf(await handle.fetchHistory());
    expect(history).toContain('sanctions');
    for (const secret of ['Sorokin', 'SOROKIN', '123.45', '12345']) expect(history).not.toContain(secret);
  });
});

describe('the list of names', () => {
  const SOROKIN = 'Q-1,Person,Viktor Andreyevich Sorokin,';
  const others = Array.from({ length: 3 }, (_, at) => `Q-1${at},Person,Other Name ${at},`);

  test('is read again when it changes, without a restart', async () => {
    expect((await payIn({ senderName: 'Katharina Lindqvist' })).check).toMatchObject(PASSED);
    writeList([SOROKIN, 'Q-2,Person,Katharina Lindqvist,', ...others]);
    expect((await payIn({ senderName: 'Catharina Lindquist' })).check).toEqual(
      stopped('sanctions', 'name', 'hard-stop'),
    );
    const metrics = (await workerMetricsText()).text;
    expect(metrics).toContain('compliance_name_list_entities{rule="sanctions"} 5');
    expect(metrics).toMatch(/compliance_name_list_modified_timestamp_seconds\{rule="sanctions"\} 1[.\d]+e?\d*/);
  });

  test.each<[string, () => void, string]>([
    ['without its columns', () => writeList([SOROKIN], 'id;schema;name;aliases'), 'line 1 must have the columns'],
    [
      'with a row cut off',
      () => writeList([SOROKIN, ...others, 'Q-9,Person']),
      'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH',
    ],
    ['with a quote that never ends', () => writeList([SOROKIN, 'Q-9,Person,"Secret Name,']), 'CSV_QUOTE_NOT_CLOSED'],
    ['with a row without a name', () => writeList([SOROKIN, ...others, 'Q-9,Person,,']), 'line 6 has no name'],
    ['without entities', () => writeList([]), 'has no entity'],
    [
      'that has lost half of its entities',
      () => writeList([SOROKIN, ...others.slice(2)]),
      'has 2 entities where the list in use has 5',
    ],
    ['that is gone', () => rmSync(file), 'ENOENT'],
  ])('stays as it was while its file is one %s', async (_name, breakIt, reason) => {
    writeList([SOROKIN, 'Q-2,Person,Katharina Lindqvist,', ...others]);
    expect((await payIn({ senderName: 'Katharina Lindqvist' })).check.status).toBe('in-review');
    const failures = await failureCount();
    lines.length = 0;
    breakIt();
    expect((await payIn({ senderName: 'Katharina Lindqvist' })).check).toEqual(
      stopped('sanctions', 'name', 'hard-stop'),
    );
    expect((await payIn({ senderName: 'Emma Thompson' })).check).toMatchObject(PASSED);
    expect(await failureCount()).toBe(failures + 1);
    const logged = lines.filter((line) => line.includes('list of names cannot be used'));
    expect(logged.length).toBe(1);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ level: 50, rule: 'sanctions' });
    expect(logged[0]).toContain(reason);
    for (const name of ['Sorokin', 'Lindqvist', 'Secret']) expect(lines.join('')).not.toContain(name);
  });

  async function failureCount(): Promise<number> {
    const { text } = await workerMetricsText();
    return Number(/compliance_name_list_failures_total\{rule="sanctions"\} (\d+)/.exec(text)?.[1] ?? 0);
  }

  test('that a new worker cannot use leaves transfers in review until it can, and never approves them', async () => {
    writeList(['Q-1,Person,,']);
    await workers.stop();
    workers = startWorkersNow();
    await workers.ready;
    lines.length = 0;
    const accountId = await poor();
    await moneyWorld(api).credit(accountId, 10);
    const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
    const { id } = body.data.incomingTransfers[0];
    const failed = () => lines.filter((line) => line.includes('NameListMissing') && line.includes(id));
    await until(
      async () => failed().length,
      (count) => count >= 2,
    );
    const unjudged = { status: 'in-review', procedureResults: { 'transaction-monitoring': { result: null } } };
    expect(await reviews(api).check('incoming-transfer', id)).toEqual(unjudged);
    writeList([SOROKIN]);
    expect(await screened('incoming-transfer', id)).toMatchObject(PASSED);
  });
});

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningWorkers, startWorkers } from '../../activities/worker.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import type { CheckedType } from '../../db/compliance/checks.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../loops/workflow-wakeups.ts';
import { COMPLIANCE_DECISION_SIGNAL, workflowId } from '../../workflows/common/messages.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { until } from '../harness/stage.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import '../harness/workflows/temporal-runtime.ts';

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

let database: TestDatabase;
let temporal: TestTemporal;
let temporalClient: TemporalClient;
let relay: PollingLoop;
let workers: RunningWorkers;
let plain: TestApi;
/** Callers decide there; the service's own rules, of which there are none, elsewhere. */
let api: TestApi;
let builtIn: TestApi;
let world: MoneyWorld;
let payer: Json;
let payee: Json;

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase('compliance-signals'), startTemporalDevServer()]);
  plain = await startApi(database, { configuration: modes('none', 'none') });
  const users = { users: plain.users };
  api = await startApi(database, { ...users, configuration: modes('external', 'external') });
  builtIn = await startApi(database, { ...users, configuration: modes('built-in', 'built-in') });
  const address = { address: temporal.address, namespace: temporal.namespace };
  temporalClient = lazyTemporalClient(address);
  relay = workflowWakeupRelay({ database: plain.database, client: temporalClient.client, logger });
  relay.start();
  const { services } = plain;
  workers = startWorkers({
    temporal: address,
    dependencies: {
      database: plain.database,
      providers: new Map(),
      configuration: services.configuration,
      logger,
      publicUrl: plain.url,
      mail: services.environment.mail,
      keyring: services.keyring,
    },
    pools: services.configuration.pools,
  });
  await workers.ready;
  world = moneyWorld(plain);
  payer = { clientId: await world.client('Ada') };
  payer.id = await world.account(payer.clientId, { amount: 1_000_000 });
  payee = { clientId: await world.client('Grace') };
  payee.id = await world.account(payee.clientId);
});

afterAll(async () => {
  await relay?.stop();
  await workers?.stop();
  await temporalClient?.close();
  for (const one of [api, builtIn, plain]) await one?.stop();
  await temporal?.close();
  await database?.drop();
});

const handleOf = (type: CheckedType, id: string) => temporalClient.client.workflow.getHandle(workflowId(type, id));

/** Once its workflow has started. */
async function signal(type: CheckedType, id: string, payload: Json): Promise<void> {
  await until(
    () => handleOf(type, id).signal(COMPLIANCE_DECISION_SIGNAL, payload).then(ok, failed),
    (sent) => sent,
  );
}
const ok = () => true;
const failed = () => false;

/** What no client of Temporal's SDK would send. */
const signalBytes = (type: CheckedType, id: string, bytes: string) =>
  temporalClient.client.workflowService.signalWorkflowExecution({
    namespace: temporal.namespace,
    workflowExecution: { workflowId: workflowId(type, id) },
    signalName: COMPLIANCE_DECISION_SIGNAL,
    input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(bytes) }] },
  });

const decision = (result: string, change: Json = {}) => ({
  decisionId: randomUUID(),
  procedure: 'transaction-monitoring',
  result,
  actor: 'compliance desk',
  ...change,
});

const reaches = (type: CheckedType, id: string, status: string) =>
  until(
    () => reviews(plain).find(type, id),
    (transfer) => transfer.status === status,
  );
const hasEnded = (type: CheckedType, id: string) =>
  until(
    () =>
      handleOf(type, id)
        .describe()
        .then(({ status }) => status.name, failed),
    (status) => status === 'COMPLETED',
  );

describe.each(['external', 'built-in'] as const)('a decision signalled to the workflow, in mode %s', (mode) => {
  const by = () => (mode === 'external' ? api : builtIn);

  test.each([
    ['all-passed', 'completed'],
    ['hard-stop-rejected', 'failed'],
  ])('%s: the transfer is %s, decided by the actor, and its workflows end', async (result, status) => {
    const { id, incomingTransferId } = await reviews(by()).internal(payer, payee.id);
    if (result === 'all-passed') {
      await signal('outgoing-transfer', id, decision('all-passed'));
      await reaches('outgoing-transfer', id, 'processing');
    }
    // What is no decision is ignored; the same one again has no effect.
    const [type, checked] =
      result === 'all-passed'
        ? (['incoming-transfer', incomingTransferId] as const)
        : (['outgoing-transfer', id] as const);
    for (const nonsense of [null, 7, {}, decision('passed'), decision(result, { procedure: 'sanctions' })]) {
      await signal(type, checked, nonsense);
    }
    await signalBytes(type, checked, 'no JSON at all');
    const first = decision('soft-stop');
    await signal(type, checked, first);
    await signal(type, checked, decision('hard-stop'));
    await signal(type, checked, first);
    const last = decision(result);
    await signal(type, checked, last);
    await reaches('incoming-transfer', incomingTransferId, status);
    await reaches('outgoing-transfer', id, status);
    expect(await reviews(by()).check(type, checked)).toMatchObject({ decidedBy: 'compliance desk' });
    const audited = await auditOf(plain.database.reader, checked);
    expect(audited.map(({ actor }) => actor)).toEqual(Array.from({ length: 3 }, () => 'compliance desk'));
    expect(audited.at(-1)?.requestId).toBe(last.decisionId);
    await hasEnded('outgoing-transfer', id);
    await hasEnded('incoming-transfer', incomingTransferId);
    await world.invariantsHold();
  });

  test('or by an operator’s command', async () => {
    const { id } = await reviews(by()).internal(payer, payee.id);
    const run = async (...given: string[]) => {
      const lines: string[] = [];
      const context = {
        database: plain.database,
        temporal: temporalClient,
        initiator: { actor: 'root', requestId: null },
      };
      const decide = OPERATIONS.decide;
      if (decide === undefined) throw new Error('no command');
      const status = await decide.run({ ...context, arguments: given, print: (line) => lines.push(line) });
      return { status, answer: JSON.parse(lines.join('')) };
    };
    const done = await run('outgoing-transfer', id, 'hard-stop-rejected', '--json');
    expect(done).toMatchObject({ status: 0, answer: { status: 'failed', complianceCheck: { decidedBy: 'root' } } });
    expect((await run('outgoing-transfer', id, 'all-passed', '--json')).status).toBe(1);
    await expect(run('transfer', id, 'all-passed', '--json')).rejects.toThrow('KIND');
    expect((await auditOf(plain.database.reader, id)).map(({ actor, requestId }) => [actor, requestId])).toEqual([
      ['root', null],
    ]);
    await hasEnded('outgoing-transfer', id);
  });
});

/** Per seed; more by `COMPLIANCE_RACES`. */
const RACES = Number(process.env.COMPLIANCE_RACES ?? 100);
const firstSeed = seedOr(1 + Math.floor(Math.random() * 1e9));

test.each([firstSeed, firstSeed + 1, firstSeed + 2])(
  `${RACES} transfers, decided by PATCH and by signal at once, half of them twice by both, are each decided once: seed %i`,
  async (seed) => {
    const random = randomFrom(seed);
    // Several accounts, so that no lock is what all wait for.
    const pairs = await Promise.all(
      Array.from({ length: Math.ceil(RACES / 10) }, async () => ({
        from: { clientId: payer.clientId, id: await world.account(payer.clientId, { amount: 1_000 }) },
        to: await world.account(payee.clientId),
      })),
    );
    const waiting: { type: CheckedType; id: string; incoming: string }[] = [];
    const incomingOnly = await startApi(database, { users: plain.users, configuration: modes('external', 'none') });
    const outgoingOnly = await startApi(database, { users: plain.users, configuration: modes('none', 'external') });
    await inParallel(Array.from({ length: RACES }), async () => {
      const type = random.pick(['incoming-transfer', 'outgoing-transfer'] as const);
      const { from, to } = random.pick(pairs);
      const made = await reviews(plain).internal(
        from,
        to,
        {},
        type === 'incoming-transfer' ? incomingOnly : outgoingOnly,
      );
      waiting.push({
        type,
        id: type === 'incoming-transfer' ? made.incomingTransferId : made.id,
        incoming: made.incomingTransferId,
      });
    });
    const results = ['all-passed', 'hard-stop-accepted', 'hard-stop-rejected'] as const;
    let accepted = 0;
    await inParallel(waiting, async ({ type, id }) => {
      const patch = async () => {
        const { status, text } = await reviews(api).decide(type, id, random.pick(results));
        expect([200, 409], text).toContain(status);
        if (status === 200) accepted += 1;
      };
      const send = async (payload = decision(random.pick(results))) => {
        await until(
          async () => {
            const sent = await handleOf(type, id).signal(COMPLIANCE_DECISION_SIGNAL, payload).then(ok, failed);
            return sent || (await reviews(plain).check(type, id)).status !== 'in-review';
          },
          (done) => done,
        );
        return payload;
      };
      const ways = random.chance(0.5)
        ? [patch(), patch(), send().then((payload) => send(payload)), send()]
        : [random.chance(0.5) ? patch() : send()];
      await Promise.all(ways);
    });
    let credited = 0;
    for (const { type, id, incoming } of waiting) {
      const { status } = await until(
        () => reviews(plain).check(type, id),
        (check) => check.status !== 'in-review',
      );
      const audited = await auditOf(plain.database.reader, id);
      expect(audited.filter(({ after }) => after.complianceCheck.status !== 'in-review').length).toBe(1);
      const transfer = await reviews(plain).find('incoming-transfer', incoming);
      expect(transfer.status).toBe(status === 'approved' ? 'completed' : 'failed');
      if (status === 'approved') credited += 10;
    }
    expect(accepted).toBeLessThanOrEqual(RACES);
    let [left, arrived] = [0, 0];
    for (const { from, to } of pairs) {
      const [one, other] = [await world.balance(from.id), await world.balance(to)];
      expect([one.receivable, other.receivable]).toEqual([0, 0]);
      left += one.available;
      arrived += other.available;
    }
    expect([left, arrived]).toEqual([pairs.length * 1_000 - credited, credited]);
    await world.invariantsHold();
    for (const one of [incomingOnly, outgoingOnly]) await one.stop();
  },
  600_000 + RACES * 500,
);

/** A few dozen at once, as the machine can bear. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

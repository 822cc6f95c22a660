import { setTimeout as sleep } from 'node:timers/promises';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import { namespacePreparation } from '../../activities/temporal-namespace.ts';
import { WORKER_DEFAULTS } from '../../activities/worker-settings.ts';
import { readRelayBacklog } from '../../db/common/workflow-wakeups.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import { countReleasedBefore } from '../../db/outgoing-transfers/wait-facts.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { TASK_QUEUES, workflowId } from '../../workflows/common/messages.ts';
import { TESTER } from '../harness/audit.ts';
import { startTcpProxy, type TcpProxy } from '../harness/faults/tcp-proxy.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { countEvents } from '../harness/workflows/histories.ts';
import { completedPayment } from '../harness/workflows/scripted-provider.ts';

const PROVIDER_SLOTS = 2;
const WORKFLOW_SLOTS = 3;

let temporal: TestTemporal;
let stage: Stage;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
});

afterAll(async () => {
  await temporal?.close();
});

beforeEach(async () => {
  stage = await setStage({
    name: 'workers',
    address: temporal.address,
    pools: { providerActivities: PROVIDER_SLOTS, workflowTasks: WORKFLOW_SLOTS },
  });
  stage.relay.start();
});

afterEach(async () => {
  await stage.close();
});

const handleOf = (id: OutgoingTransferId) => stage.client.workflow.getHandle(workflowId('outgoing-transfer', id));
const reaches = (id: OutgoingTransferId, status: string) =>
  until(
    () => stage.find(id),
    (row) => row.status === status,
  );

/** A call that ends only on its signal, like the adapters' calls. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ProviderUnavailable('sandbox-bank', 'aborted'));
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
  });
}

describe('the shutdown of a worker', () => {
  test('ends calls under way, and another worker continues with the same payment', async () => {
    const first = stage.startWorkers(undefined, undefined, { settings: { ...WORKER_DEFAULTS, drainSeconds: 0 } });
    await first.ready;
    stage.provider.answer.submit = (_, signal) => untilAborted(signal);
    const id = await stage.transfer(await stage.account(10_000n));
    await until(
      async () => stage.provider.submissions,
      (submissions) => submissions.includes(id),
    );
    await first.stop();
    stage.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
    await stage.startWorkers().ready;
    await reaches(id, 'completed');
    expect(new Set(stage.provider.submissions)).toEqual(new Set([id]));
    expect((await stage.find(id)).submissionAttempt).toBe(1);
  });

  test('lets what is nearly done finish', async () => {
    const worker = stage.startWorkers();
    await worker.ready;
    let answered = (): void => {};
    stage.provider.answer.submit = ({ ourReference }) =>
      new Promise((resolve) => {
        answered = () => resolve(completedPayment(ourReference));
      });
    const id = await stage.transfer(await stage.account(10_000n));
    await until(
      async () => stage.provider.submissions,
      (submissions) => submissions.includes(id),
    );
    const stopped = worker.stop();
    answered();
    await stopped;
    const history = await handleOf(id).fetchHistory();
    expect(countEvents(history, 'activityTaskCompletedEventAttributes')).toBe(1);
  });

  test('lets long calls of a whole fan-out end within its drain, while another worker takes what comes', async () => {
    const calls = new Map<string, { readonly end: () => void; readonly isAborted: () => boolean }>();
    stage.provider.answer.submit = ({ ourReference }, signal) =>
      new Promise((resolve) => {
        const end = () => resolve(completedPayment(ourReference));
        calls.set(ourReference, { end, isAborted: () => signal?.aborted === true });
      });
    await stage.startWorkers(undefined, undefined, { settings: { ...WORKER_DEFAULTS, taskQueues: ['workflows'] } })
      .ready;
    const providers = { taskQueues: ['providers'], drainSeconds: 3_600 } as const;
    const leaving = stage.startWorkers(undefined, undefined, { settings: providers });
    await leaving.ready;
    const account = await stage.account(30_000n);
    const first = [await stage.transfer(account), await stage.transfer(account)];
    await until(
      async () => calls.size,
      (size) => size === PROVIDER_SLOTS,
    );
    const stopped = leaving.stop();
    expect(leaving.isPolling()).toBe(false);
    await stage.startWorkers(undefined, undefined, { settings: providers }).ready;
    const later = await stage.transfer(account);
    await until(
      async () => stage.provider.submissions,
      (submissions) => submissions.includes(later),
    );
    // By then a worker of the usual drain would have cancelled them.
    await sleep((WORKER_DEFAULTS.drainSeconds + 1) * 1_000);
    expect([...calls.values()].filter(({ isAborted }) => isAborted())).toEqual([]);
    for (const { end } of calls.values()) end();
    await stopped;
    for (const id of [...first, later]) await reaches(id, 'completed');
    expect([...stage.provider.submissions].sort()).toEqual([...first, later].sort());
  });
});

describe('the priority of a transfer', () => {
  const waiting = async () => (await readRelayBacklog(stage.database.reader)).lagSeconds;
  const relayed = () => until(waiting, (lagSeconds) => lagSeconds === 0);
  const firstTaskAt = async (id: OutgoingTransferId) => {
    const { events } = await handleOf(id).fetchHistory();
    const started = events?.find(
      ({ workflowTaskStartedEventAttributes }) => workflowTaskStartedEventAttributes != null,
    );
    return started?.eventTime == null ? Number.POSITIVE_INFINITY : tsToMs(started.eventTime);
  };

  test('lets one for today overtake those that were ordered before it for a later day', async () => {
    const account = await stage.account(1_000_000n);
    const transferDate = dateInUtc(new Date(Date.now() + 30 * 86_400_000));
    const later: OutgoingTransferId[] = [];
    for (let number = 0; number < 40; number += 1) later.push(await stage.transfer(account, { transferDate }));
    await relayed();
    const today = await stage.transfer(account);
    await relayed();
    await stage.startWorkers().ready;
    await reaches(today, 'completed');
    const todayAt = await firstTaskAt(today);
    const before = (await Promise.all(later.map(firstTaskAt))).filter((at) => at < todayAt);
    // What the worker had already taken when the queue began to be read.
    expect(before.length).toBeLessThanOrEqual(2 * WORKFLOW_SLOTS);
  });
});

test('transfers that wait for one instant are released in the order of their creation, whichever is requested first', async () => {
  const account = await stage.account(1_000_000n);
  const inDays = (days: number) => dateInUtc(new Date(Date.now() + days * 86_400_000));
  const ordered = async (change: Parameters<Stage['transfer']>[1]) => stage.transfer(account, change);
  const first = await ordered({ transferDate: inDays(33) });
  const cancelled = await ordered({ transferDate: inDays(33) });
  const others = [await ordered({ transferDate: inDays(34) }), await ordered({})];
  const [second, third] = [await ordered({ transferDate: inDays(33) }), await ordered({ transferDate: inDays(33) })];
  await stage.database.transaction((tx) =>
    changeUnderLocks(tx, cancellation({ id: cancelled, initiator: TESTER, rules: stage.configuration })),
  );
  const rows = await stage.database.reader.statement<{ until: Date }>(
    'SELECT waiting_until AS until FROM outgoing_transfers WHERE id = $1',
    [first],
  );
  const instant = rows[0]?.until.toISOString() ?? '';
  const places = (ids: readonly OutgoingTransferId[], limit = 100) =>
    Promise.all(ids.map((id) => countReleasedBefore(stage.database.reader, instant, id, limit)));
  expect(await places([third, first, second])).toEqual([2, 0, 1]);
  expect(await places([third], 1)).toEqual([1]);
  // Neither another day's nor one that goes at once is among them.
  expect(await places(others)).toEqual([1, 1]);
});

test('those whose waits begin at once, each in its own transaction, are released in order but for close neighbours', async () => {
  const account = await stage.account(1_000_000n);
  const count = 300;
  const atOnce = 8;
  const ids: OutgoingTransferId[] = [];
  for (let number = 0; number < count; number += 1) ids.push(await stage.transfer(account));
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const given: number[] = [];
  let next = 0;
  const beginWaits = async () => {
    for (;;) {
      const index = next;
      next += 1;
      const id = ids[index];
      if (id === undefined) return;
      given[index] = await stage.database.transaction(async (tx) => {
        await tx.statement(
          "UPDATE outgoing_transfers SET waiting_for = 'retry', waiting_until = $2::timestamptz WHERE id = $1",
          [id, until],
        );
        return countReleasedBefore(tx, until, id, count);
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, beginWaits));
  const missed = given.map((place, index) => index - place);
  expect(Math.min(...missed)).toBe(0);
  expect(Math.max(...missed)).toBeLessThan(atOnce);
});

describe('the schedules', () => {
  test('that a worker is not permitted to create are named in one warning, and the others are created', async () => {
    const name = 'housekeeping';
    const { client, connection, close } = lazyTemporalClient({ address: temporal.address, namespace: 'default' });
    try {
      const create = connection.workflowService.createSchedule.bind(connection.workflowService);
      const denied = Object.assign(new Error('denied'), { code: 7, details: 'denied', metadata: new Map() });
      Object.assign(connection.workflowService, {
        createSchedule: (request: Parameters<typeof create>[0]) =>
          request.scheduleId === name ? Promise.reject(denied) : create(request),
      });
      const lines: { namespace: string; reserved: string }[] = [];
      const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      const prepare = namespacePreparation(connection, 'default', logger);
      for (const _ of ['at the start', 'and later']) await prepare();
      expect(lines).toMatchObject([{ namespace: 'default', reserved: `schedule ${name}` }]);
      const { action } = await client.schedule.getHandle('reconciliation').describe();
      expect(action).toMatchObject({ workflowType: 'reconciliation' });
    } finally {
      await close();
    }
  });
});

describe('the task queues', () => {
  test('are apart: with every provider slot taken, other transfers move on', async () => {
    await stage.startWorkers().ready;
    let underWay = 0;
    stage.provider.answer.submit = (_, signal) => {
      underWay += 1;
      return untilAborted(signal).finally(() => {
        underWay -= 1;
      });
    };
    const slotsAreTaken = () =>
      until(
        async () => underWay,
        (calls) => calls === PROVIDER_SLOTS,
      );
    const account = await stage.account(100_000n);
    for (let number = 0; number < PROVIDER_SLOTS * 2; number += 1) await stage.transfer(account);
    await slotsAreTaken();
    const other = await stage.transfer(account, { authorizationStatus: 'not-checked' });
    await until(
      async () =>
        (
          await handleOf(other)
            .describe()
            .catch(() => undefined)
        )?.typedSearchAttributes.getAll() ?? [],
      (attributes) => attributes.some(({ key }) => key.name === 'WaitingFor'),
    );
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, cancellation({ id: other, initiator: TESTER, rules: stage.configuration })),
    );
    await handleOf(other).result();
    await slotsAreTaken();
  });

  test('each have a worker, and that of the workflows runs no activity but local ones', async () => {
    await stage.startWorkers().ready;
    const polled = async (name: string, type: 1 | 2) => {
      const { pollers } = await stage.client.connection.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name },
        taskQueueType: type,
      });
      return pollers.length > 0;
    };
    const polls = await until(
      async () => ({
        workflows: await polled(TASK_QUEUES.workflows, 1),
        workflowsActivities: await polled(TASK_QUEUES.workflows, 2),
        providers: await polled(TASK_QUEUES.providers, 2),
        webhooks: await polled(TASK_QUEUES.webhooks, 2),
      }),
      (found) => found.workflows && found.providers && found.webhooks,
    );
    expect(polls.workflowsActivities).toBe(false);
  });
});

describe('with Postgres silent', () => {
  let proxy: TcpProxy;

  beforeEach(async () => {
    const { hostname, port } = new URL(stage.testDatabase.url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  });

  afterEach(async () => {
    await proxy.close();
  });

  test('workflows sleep durably instead of filling all slots, and all complete once it answers again', async () => {
    const url = new URL(stage.testDatabase.url);
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    proxy.hold();
    await stage.startWorkers(url.href).ready;
    const account = await stage.account(100_000n);
    const ids: OutgoingTransferId[] = [];
    // Several times the slots: if each retried a local activity, the later ones would never start.
    for (let number = 0; number < WORKFLOW_SLOTS * 4; number += 1) ids.push(await stage.transfer(account));
    const timers = async () => {
      const counts = await Promise.all(
        ids.map(async (id) => {
          const history = await handleOf(id)
            .fetchHistory()
            .catch(() => ({ events: [] }));
          return countEvents(history, 'timerFiredEventAttributes');
        }),
      );
      return Math.min(...counts);
    };
    await until(timers, (fewest) => fewest >= 1);
    expect(stage.provider.submissions).toEqual([]);
    proxy.release();
    for (const id of ids)
      await until(
        () => stage.find(id),
        (row) => row.status === 'completed',
      );
    expect(new Set(stage.provider.submissions)).toEqual(new Set(ids));
  });
});

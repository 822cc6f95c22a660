import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import {
  type ClaimedWakeup,
  listParkedWakeups,
  releaseWakeup,
  settleAndClaimWakeups,
  settleWakeup,
  wake,
  wakeEach,
} from '../../db/common/workflow-wakeups.ts';
import { WAKEUPS_CHANNEL } from '../../db/postgres/wakeup-nudges.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import { PRIORITIES } from '../../domain/common/waits.ts';
import { loopMetrics } from '../../loops/metrics.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { type RelayOptions, workflowWakeupRelay } from '../../loops/workflow-wakeups.ts';
import { gate, lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { connectClient, until } from '../harness/stage.ts';

/** No worker runs here: Temporal's histories show what the relay did. */
const TYPE = 'outgoing-transfer';
const logger = pino({ level: 'silent' });
const NEVER_MS = 3_600_000;

let temporal: TestTemporal;
let testDatabase: TestDatabase;
let database: Database;
let clockOffset = '0';
/** As the service has it: a call that is given up is made again, which is another signal. */
let connection: TemporalClient;
/** Gives no call up, however busy the machine. */
let patient: Client;
let relays: PollingLoop[] = [];
let numbers = 0;

beforeAll(async () => {
  [temporal, testDatabase] = await Promise.all([startTemporalDevServer(), createTestDatabase('workflow-wakeups')]);
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 12,
    applicationName: 'test',
    deadlineMs: 60_000,
    clockOffset: () => clockOffset,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
  await temporal?.close();
});

beforeEach(async () => {
  clockOffset = '0';
  connection = lazyTemporalClient({ address: temporal.address, namespace: temporal.namespace });
  patient = await connectClient(temporal.address, temporal.namespace);
});

afterEach(async () => {
  for (const relay of relays) await relay.stop();
  relays = [];
  await connection.close();
  await patient.connection.close();
  await database.reader.execute(sql`DELETE FROM workflow_wakeups`);
});

function startRelay(options: Partial<RelayOptions> = {}): PollingLoop {
  const relay = workflowWakeupRelay({ database, client: patient, logger, listen: false, ...options });
  relays.push(relay);
  relay.start();
  return relay;
}

function newId(): string {
  numbers += 1;
  return `${TYPE}/wakeup-${numbers}`;
}

async function wakeOnce(id: string, type: string = TYPE): Promise<void> {
  await database.transaction(async (tx) => wake(tx, type, id));
}

/** Ends when this transaction holds the row's lock: `wake` has sent its statement by then, and does not wait for it. */
async function lockOf(tx: Transaction, id: string): Promise<void> {
  expect(await tx.statement('SELECT 1 FROM workflow_wakeups WHERE workflow_id = $1 FOR UPDATE', [id])).toHaveLength(1);
}

async function waiting(): Promise<number> {
  const [row] = await database.reader.execute<{ number: number }>(
    sql`SELECT count(*)::integer AS number FROM workflow_wakeups`,
  );
  return row?.number ?? -1;
}

/** How often the running workflow has been signalled; 0 when there is none. */
async function signalsOf(id: string): Promise<number> {
  try {
    const { events } = await connection.client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
  } catch {
    return 0;
  }
}

const settled = () => until(waiting, (number) => number === 0);

describe('a committed wake-up', () => {
  test('reaches Temporal by the poll only, without NOTIFY and without a nudge', async () => {
    startRelay();
    const id = newId();
    await wakeOnce(id);
    await settled();
    expect(await signalsOf(id)).toBe(1);
  });

  test('of another process reaches it without a poll, and many commits of one moment by few notifications', async () => {
    const worker = createDatabase({
      url: testDatabase.url,
      maxConnections: 8,
      applicationName: 'without-relay',
      deadlineMs: 60_000,
    });
    onTestFinished(() => worker.close());
    startRelay({ listen: true, pollIntervalMs: NEVER_MS });
    // The relay looks once when it begins to listen: only what comes after that proves anything.
    await worker.transaction(async (tx) => wake(tx, TYPE, newId()));
    await settled();
    const heard: string[] = [];
    const listener = await database.listen(WAKEUPS_CHANNEL, (payload) => heard.push(payload));
    const ids = Array.from({ length: 40 }, newId);
    await Promise.all(ids.map((id) => worker.transaction(async (tx) => wake(tx, TYPE, id))));
    await settled();
    for (const id of ids) expect(await signalsOf(id)).toBe(1);
    expect(heard.length).toBeLessThan(ids.length);
    await listener.close();
  });

  test('of the same process reaches it without a poll or a notification', async () => {
    startRelay({ listen: true, pollIntervalMs: NEVER_MS });
    await wakeOnce(newId());
    await settled();
    const heard: string[] = [];
    const listener = await database.listen(WAKEUPS_CHANNEL, (payload) => heard.push(payload));
    const id = newId();
    await wakeOnce(id);
    await settled();
    expect(await signalsOf(id)).toBe(1);
    // A notification of the commits above would have been sent and received before this one.
    await database.notify('last');
    const last = await database.listen('last', () => {});
    await last.close();
    expect(heard).toEqual([]);
    await listener.close();
  });

  test('that is rolled back is not looked for', async () => {
    const looks = vi.fn();
    const listener = database.onWakeup(looks);
    onTestFinished(() => listener.close());
    const rolledBack = database.transaction(async (tx) => {
      await wake(tx, TYPE, newId());
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(looks).not.toHaveBeenCalled();
    await wakeOnce(newId());
    expect(looks).toHaveBeenCalledTimes(1);
  });

  test('reaches it without AsyncLocalStorage, which would slow down every promise of the API from then on', async () => {
    const run = vi.spyOn(AsyncLocalStorage.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    startRelay({ client: connection.client });
    await wakeOnce(newId());
    await settled();
    const entered = () => run.mock.calls.filter(([store]) => isCallContext(store));
    expect(entered()).toEqual([]);
    // The same look finds a client that does enter it.
    await connection.connection.withDeadline(Date.now() + 5_000, async () => {});
    expect(entered()).toHaveLength(1);
  });

  test('is signalled once, however often it was requested before', async () => {
    const id = newId();
    for (let times = 0; times < 10; times += 1) await wakeOnce(id);
    startRelay();
    await settled();
    expect(await signalsOf(id)).toBe(1);
  });

  test('carries no payload and a summary that a person can read', async () => {
    startRelay();
    const id = newId();
    await wakeOnce(id);
    await settled();
    const handle = connection.client.workflow.getHandle(id);
    const { events } = await handle.fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    const signal = events?.[1]?.workflowExecutionSignaledEventAttributes;
    expect(signal?.signalName).toBe('changed');
    expect([started?.input?.payloads?.length ?? 0, signal?.input?.payloads?.length ?? 0]).toEqual([0, 0]);
    expect(await (await handle.describe()).staticSummary()).toBe(`Outgoing transfer ${id.split('/')[1]}`);
  });

  test('starts what a plain signal could not, before the start and after the end', async () => {
    const id = newId();
    const handle = connection.client.workflow.getHandle(id);
    await expect(handle.signal('changed')).rejects.toThrow();
    startRelay();
    await wakeOnce(id);
    await settled();
    const first = await handle.describe();
    await handle.terminate('ended');
    await expect(handle.signal('changed')).rejects.toThrow();
    await wakeOnce(id);
    await settled();
    const second = await connection.client.workflow.getHandle(id).describe();
    expect(second.status.name).toBe('RUNNING');
    expect(second.runId).not.toBe(first.runId);
  });
});

async function claim(signalled: readonly ClaimedWakeup[] = []): Promise<readonly ClaimedWakeup[]> {
  const asked = { token: crypto.randomUUID(), limit: 8, leaseMs: 30_000 };
  return (await settleAndClaimWakeups(database.reader, signalled, asked)).claimed;
}

test('a wake-up that a caller waits for is claimed before older ones that can wait, and starts its workflow with its priority', async () => {
  const later = Array.from({ length: 9 }, () => crypto.randomUUID());
  const rows = sql`SELECT ${TYPE}::text AS type, unnest(${`{${later.join(',')}}`}::text[]) AS id`;
  await database.transaction((tx) => wakeEach(tx, rows, sql`${PRIORITIES.later}`));
  const urgent = newId();
  await wakeOnce(urgent);
  // Requested again as urgent, it cannot wait.
  await wakeOnce(`${TYPE}/${later.at(-1)}`);
  const first = await claim();
  expect(first).toHaveLength(8);
  expect(
    first
      .filter(({ priority }) => priority === PRIORITIES.usual)
      .map(({ workflowId }) => workflowId)
      .sort(),
  ).toEqual([urgent, `${TYPE}/${later.at(-1)}`].sort());
  for (const wakeup of first) await releaseWakeup(database.reader, wakeup, 0);
  startRelay();
  await settled();
  const priorityOf = async (id: string) => (await connection.client.workflow.getHandle(id).describe()).priority;
  expect(await priorityOf(urgent)).toMatchObject({ priorityKey: PRIORITIES.usual });
  expect(await priorityOf(`${TYPE}/${later[0]}`)).toMatchObject({ priorityKey: PRIORITIES.later });
});

test('no more are claimed than asked for, whichever way Postgres joins', async () => {
  // Postgres knows the table as it was when it was last analyzed: empty.
  await wakeOnce(`${TYPE}/many`);
  await database.reader.execute(sql`DELETE FROM workflow_wakeups`);
  await testDatabase.asOwner('ANALYZE workflow_wakeups');
  for (let number = 0; number < 20; number += 1) await wakeOnce(`${TYPE}/many-${number}`);
  const token = crypto.randomUUID();
  const claimed = await database.transaction(async (tx) => {
    for (const way of ['hashjoin', 'mergejoin', 'material']) await tx.statement(`SET LOCAL enable_${way} = off`, []);
    return (await settleAndClaimWakeups(tx, [], { token, limit: 8, leaseMs: 60_000 })).claimed;
  });
  expect(claimed).toHaveLength(8);
});

test('no more are claimed than asked for, and of a backlog of which the statistics know nothing', async () => {
  const waiting = 20_000;
  const add = () =>
    database.reader.execute(sql`INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at)
      SELECT ${`${TYPE}/many-`}::text || number, ${TYPE}, service_now(), service_now() FROM generate_series(1, ${waiting}::integer) AS number`);
  await add();
  await database.reader.execute(sql`DELETE FROM workflow_wakeups`);
  await testDatabase.asOwner('VACUUM (ANALYZE, TRUNCATE false) workflow_wakeups');
  await add();
  const first = await claim();
  const second = await claim(first);
  expect([first.length, second.length]).toEqual([8, 8]);
  const [left] = await database.reader.execute(sql`SELECT count(*)::integer AS left FROM workflow_wakeups`);
  expect(left).toEqual({ left: waiting - 8 });
});

describe('a wake-up that is requested again during the call to Temporal', () => {
  test('is not deleted with the earlier one, and is due at once', async () => {
    const id = newId();
    await wakeOnce(id);
    const [claimed] = await claim();
    await wakeOnce(id);
    if (claimed === undefined) throw new Error('nothing was claimed');
    await settleWakeup(database.reader, claimed);
    expect(await claim()).toMatchObject([{ workflowId: id, generation: 2n }]);
  });

  test('is due at once even when its transaction commits while the earlier one is being deleted', async () => {
    const id = newId();
    await wakeOnce(id);
    const [claimed] = await claim();
    if (claimed === undefined) throw new Error('nothing was claimed');
    const locked = gate();
    const release = gate();
    const asking = database.transaction(async (tx) => {
      wake(tx, TYPE, id);
      await lockOf(tx, id);
      locked.open();
      await release.opened;
    });
    await locked.opened;
    const settling = settleWakeup(database.reader, claimed);
    await until(
      () => lockWaiters(database.reader),
      (number) => number > 0,
    );
    release.open();
    await Promise.all([asking, settling]);
    expect(await claim()).toMatchObject([{ workflowId: id, generation: 2n }]);
  });
});

describe('wake-ups that are settled together', () => {
  test('are deleted, except those requested again or being requested, without waiting for these', async () => {
    const [signalled, again, being] = [newId(), newId(), newId()];
    for (const id of [signalled, again, being]) await wakeOnce(id);
    const claimed = await claim();
    expect(claimed).toHaveLength(3);
    await wakeOnce(again);
    const locked = gate();
    const release = gate();
    const asking = database.transaction(async (tx) => {
      wake(tx, TYPE, being);
      await lockOf(tx, being);
      locked.open();
      await release.opened;
    });
    await locked.opened;
    const other = newId();
    await wakeOnce(other);
    const asked = { token: crypto.randomUUID(), limit: 8, leaseMs: 30_000 };
    const { settled, claimed: next } = await settleAndClaimWakeups(database.reader, claimed, asked);
    expect(settled).toEqual(new Set([signalled]));
    expect(next).toMatchObject([{ workflowId: other }]);
    release.open();
    await asking;
    expect(await claim(claimed)).toEqual([]);
    for (const wakeup of claimed) await settleWakeup(database.reader, wakeup);
    expect((await claim()).map(({ workflowId }) => workflowId).sort()).toEqual([again, being].sort());
  });

  test('by a relay are signalled again if they were requested again during its call to Temporal', async () => {
    const asked = new Set<string>();
    const client = new Client({ connection: patient.connection, namespace: temporal.namespace });
    const call = client.workflow.signalWithStart.bind(client.workflow);
    Object.assign(client.workflow, {
      signalWithStart: async (...given: Parameters<typeof call>) => {
        const { workflowId } = given[1];
        const isFirst = !asked.has(workflowId);
        asked.add(workflowId);
        if (isFirst && asked.size % 2 === 0) await wakeOnce(workflowId);
        return call(...given);
      },
    });
    const ids = Array.from({ length: 12 }, newId);
    for (const id of ids) await wakeOnce(id);
    startRelay({ client });
    await settled();
    const signals = await Promise.all(ids.map(signalsOf));
    expect(signals.sort()).toEqual([...Array(6).fill(1), ...Array(6).fill(2)]);
  });
});

describe('claims', () => {
  test('of several relays never overlap, and every wake-up is signalled', async () => {
    const ids = Array.from({ length: 40 }, newId);
    for (const id of ids) await wakeOnce(id);
    startRelay();
    startRelay();
    await settled();
    const signals = await Promise.all(ids.map(signalsOf));
    expect(signals).toEqual(ids.map(() => 1));
  });

  test('of a relay that died return when their lease ends, not before', async () => {
    const id = newId();
    await wakeOnce(id);
    expect(await claim()).toHaveLength(1);
    clockOffset = '29 seconds';
    expect(await claim()).toHaveLength(0);
    clockOffset = '31 seconds';
    expect(await claim()).toMatchObject([{ workflowId: id }]);
  });

  test('are worth nothing once another relay holds the row', async () => {
    const id = newId();
    await wakeOnce(id);
    const [late] = await claim();
    clockOffset = '31 seconds';
    await claim();
    if (late === undefined) throw new Error('nothing was claimed');
    await settleWakeup(database.reader, late);
    await releaseWakeup(database.reader, late, 0);
    expect(await waiting()).toBe(1);
    expect(await claim()).toHaveLength(0);
  });
});

describe('calls to Temporal', () => {
  test('are at most eight at once', async () => {
    let running = 0;
    let most = 0;
    const counting = new Client({ connection: patient.connection, namespace: temporal.namespace });
    const call = counting.workflow.signalWithStart.bind(counting.workflow);
    Object.assign(counting.workflow, {
      signalWithStart: async (...given: Parameters<typeof call>) => {
        running += 1;
        most = Math.max(most, running);
        try {
          await sleep(20);
          return await call(...given);
        } finally {
          running -= 1;
        }
      },
    });
    for (let number = 0; number < 60; number += 1) await wakeOnce(newId());
    startRelay({ client: counting });
    await settled();
    expect(most).toBe(8);
  });

  test('that Temporal finds invalid are parked and counted, and hold up no other', async () => {
    const invalid = `${TYPE}/${'x'.repeat(1_500)}`;
    await wakeOnce(invalid);
    const valid = newId();
    await wakeOnce(valid);
    startRelay();
    await until(waiting, (number) => number === 1);
    expect(await listParkedWakeups(database.reader, 10)).toMatchObject([{ workflowId: invalid, attemptCount: 1 }]);
    expect(await signalsOf(valid)).toBe(1);
    await until(
      () => loopMetrics.getSingleMetricAsString('relay_parked_wakeups'),
      (metric) => metric.includes('relay_parked_wakeups 1'),
    );
    await wakeOnce(invalid);
    await until(
      () => listParkedWakeups(database.reader, 10),
      ([row]) => row?.attemptCount === 2,
    );
  });

  test('that Temporal rejects, as in a namespace that does not exist, are warned of once a minute, and wait', async () => {
    const lines: { level: number; reason: string; msg: string }[] = [];
    const nowhere = lazyTemporalClient({ address: temporal.address, namespace: 'nowhere' });
    onTestFinished(() => nowhere.close());
    for (let number = 0; number < 5; number += 1) await wakeOnce(newId());
    startRelay({
      client: nowhere.client,
      logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
    await until(
      () =>
        database.reader.execute<{ attempts: number }>(sql`
          SELECT min(attempt_count)::integer AS attempts FROM workflow_wakeups`),
      ([row]) => (row?.attempts ?? 0) >= 4,
    );
    expect(await waiting()).toBe(5);
    expect(lines).toMatchObject([
      {
        level: 40,
        msg: 'Temporal rejects wake-ups; they wait and are tried again',
        reason: expect.stringMatching(/^5 .*nowhere/),
      },
    ]);
  });

  test('continue when Temporal comes back: nothing is lost, nothing parked, nothing signalled twice', async () => {
    startRelay({ client: connection.client });
    await temporal.kill();
    const ids = Array.from({ length: 30 }, newId);
    for (const id of ids) await wakeOnce(id);
    await sleep(1_500);
    expect(await waiting()).toBe(30);
    await temporal.restart();
    await settled();
    for (const id of ids) expect(await signalsOf(id)).toBe(1);
  });

  test('are given up after their deadline when Temporal hangs, and made again', async () => {
    startRelay({ client: connection.client });
    const id = newId();
    process.kill(temporal.pid(), 'SIGSTOP');
    try {
      await wakeOnce(id);
      // The claim is released: the call was given up without an answer.
      await until(claimedOnce, (claimed) => claimed);
      await until(claimedOnce, (claimed) => !claimed);
      expect(await waiting()).toBe(1);
    } finally {
      process.kill(temporal.pid(), 'SIGCONT');
    }
    await settled();
    expect(await signalsOf(id)).toBeGreaterThanOrEqual(1);
  });
});

/** What Temporal's client keeps there: metadata and deadlines of calls. */
function isCallContext(store: unknown): boolean {
  return typeof store === 'object' && store !== null && ('deadline' in store || 'metadata' in store);
}

async function claimedOnce(): Promise<boolean> {
  const [row] = await database.reader.execute<{ claimed: boolean }>(
    sql`SELECT claim_token IS NOT NULL AS claimed FROM workflow_wakeups`,
  );
  return row?.claimed ?? false;
}

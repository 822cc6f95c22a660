import type { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareNamespace } from '../../activities/temporal-namespace.ts';
import { workflowBundle } from '../../activities/workflow-bundle.ts';
import { wake } from '../../db/common/workflow-wakeups.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import type { Wait } from '../../domain/common/waits.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { TESTER } from '../harness/audit.ts';
import { startTemporalDevServer, type TestTemporal, timeSkippingEnvironment } from '../harness/servers/temporal.ts';
import { connectClient, type Stage, setStage, until } from '../harness/stage.ts';
import { timersSeconds } from '../harness/workflows/histories.ts';

/** The loop on its own, with plain functions for activities: each returns the next step, so that instants can be hit exactly. */
let environment: TestWorkflowEnvironment;
let runs = 0;

beforeAll(async () => {
  environment = await timeSkippingEnvironment();
});

afterAll(async () => {
  await environment?.teardown();
});

const work = { clientId: null, accountId: null, status: '', scheme: null, currency: null, provider: null };
const waitFor = (waitMs: number | null): Wait => ({
  do: 'wait',
  for: 'provider',
  since: null,
  until: waitMs === null ? null : '2026-01-01T00:00:00.000Z',
  waitMs,
  work: { ...work, waitingFor: 'provider' },
});

type Steps = Readonly<Record<string, (id: string) => Promise<unknown>>>;

/** Where workflows run: the time-skipping server, or a real one. */
type Server = Pick<TestWorkflowEnvironment, 'nativeConnection' | 'client'>;

/** Runs a workflow of the type to its end, woken as the relay wakes it. */
async function run(
  type: 'outgoing-transfer' | 'account-connection',
  local: Steps,
  remote: Steps = {},
  { nativeConnection: connection, client }: Server = environment,
) {
  runs += 1;
  const taskQueue = `loop-${runs}`;
  const bundle = { workflowBundle: await workflowBundle() };
  const workers = [
    await Worker.create({ connection, taskQueue, activities: local, ...bundle }),
    await Worker.create({ connection, taskQueue: 'providers', activities: { none: async () => {}, ...remote } }),
  ];
  const running = workers.map((worker) => worker.run());
  try {
    const handle = await client.workflow.signalWithStart(type, {
      taskQueue,
      workflowId: workflowId(type, `run-${runs}`),
      signal: 'changed',
    });
    await handle.result();
    return await handle.fetchHistory();
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  }
}

// On a real server: what it does with a signal that meets the end of a run is what is shown.
describe('a change during a transition', () => {
  let temporal: TestTemporal;
  let server: { readonly nativeConnection: NativeConnection; readonly client: Client };

  beforeAll(async () => {
    temporal = await startTemporalDevServer();
    const nativeConnection = await NativeConnection.connect({ address: temporal.address });
    await prepareNamespace(nativeConnection, temporal.namespace);
    server = { nativeConnection, client: await connectClient(temporal.address, temporal.namespace) };
  });

  afterAll(async () => {
    await server?.client.connection.close();
    await server?.nativeConnection.close();
    await temporal?.close();
  });

  const signal = (type: 'outgoing-transfer' | 'account-connection', id: string) =>
    server.client.workflow.getHandle(workflowId(type, id)).signal('changed');

  test('is not forgotten by the wait that follows', async () => {
    let loads = 0;
    const advanceOutgoingTransfer = async (id: string) => {
      loads += 1;
      if (loads > 1) return { do: 'end' };
      await signal('outgoing-transfer', id);
      return waitFor(null);
    };
    await run('outgoing-transfer', { advanceOutgoingTransfer }, {}, server);
    expect(loads).toBeGreaterThanOrEqual(2);
  });

  test('is not forgotten by the end that follows', async () => {
    let loads = 0;
    const advanceAccountConnection = async (id: string) => {
      loads += 1;
      if (loads === 1) await signal('account-connection', id);
      return { do: 'end' };
    };
    await run('account-connection', { advanceAccountConnection }, {}, server);
    expect(loads).toBeGreaterThanOrEqual(2);
  });

  test('is not forgotten when the provider is called meanwhile: its answer triggers the next look', async () => {
    let loads = 0;
    const advanceAccountConnection = async () => {
      loads += 1;
      return loads === 1 ? { do: 'open-account', attempt: 1 } : { do: 'end' };
    };
    const openAccount = async (id: string) => {
      await signal('account-connection', id);
      return waitFor(null);
    };
    await run('account-connection', { advanceAccountConnection }, { openAccount }, server);
    expect(loads).toBeGreaterThanOrEqual(2);
  });
});

describe('a deadline that has passed already', () => {
  test('is waited for a second at least, so that two clocks cannot make a busy loop', async () => {
    let loads = 0;
    const history = await run('outgoing-transfer', {
      advanceOutgoingTransfer: async () => {
        loads += 1;
        return loads > 3 ? { do: 'end' } : waitFor(loads === 1 ? 0 : -5_000);
      },
    });
    expect(new Set(timersSeconds(history))).toEqual(new Set([1]));
  });
});

describe('a workflow with a long history', () => {
  test('continues as new, and still receives changes', async () => {
    const temporal = await startTemporalDevServer({ dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 30 } });
    let stage: Stage | undefined;
    try {
      stage = await setStage({ name: 'workflow-loop', address: temporal.address });
      const { client, database, configuration, relay } = stage;
      relay.start();
      await stage.startWorkers().ready;
      const id = await stage.transfer(await stage.account(5_000n), { authorizationStatus: 'not-checked' });
      const workflow = workflowId('outgoing-transfer', id);
      const handle = client.workflow.getHandle(workflow);
      const first = await until(
        () => handle.describe().catch(() => undefined),
        (description) => description !== undefined,
      );
      await until(
        async () => {
          // By the relay, which tries again: Temporal rejects a signal to a run that is just closing.
          await database.transaction(async (tx) => wake(tx, 'outgoing-transfer', workflow));
          return (await handle.describe()).runId;
        },
        (runId) => runId !== first?.runId,
      );
      await database.transaction((tx) =>
        changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: configuration })),
      );
      await handle.result();
      expect((await handle.describe()).status.name).toBe('COMPLETED');
    } finally {
      await stage?.close();
      await temporal.close();
    }
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../dev/servers/ports.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { until } from '../harness/stage.ts';
import { entryArguments } from '../tools/run/entries.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

let temporal: TestTemporal;
let testDatabase: TestDatabase;
let connection: TemporalClient;
let worker: WorkerProcess | undefined;

interface WorkerProcess {
  readonly child: ChildProcess;
  output(): string;
  readonly exitCode: Promise<number | null>;
}

function startWorkerProcess(overrides: NodeJS.ProcessEnv = {}): WorkerProcess {
  const child = spawn(process.execPath, entryArguments('activities/main.ts'), {
    cwd: PROJECT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: testDatabase.url,
      TEMPORAL_ADDRESS: temporal.address,
      SANDBOX_URL: 'http://127.0.0.1:9',
      SANDBOX_BANK_SECRET: 'a-secret-of-this-test-that-is-long-enough',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      ...overrides,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const exitCode = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  worker = { child, output: () => output, exitCode };
  return worker;
}

const says = (process: WorkerProcess, words: string) =>
  until(
    async () => process.output(),
    (output) => output.includes(words),
  );

/** A workflow without a row ends at its first task, given a worker with Temporal and Postgres. */
async function doesWork(): Promise<void> {
  const id = workflowId('outgoing-transfer', crypto.randomUUID());
  const handle = await connection.client.workflow.signalWithStart('outgoing-transfer', {
    workflowId: id,
    taskQueue: 'workflows',
    signal: 'changed',
  });
  await until(
    async () => (await handle.describe()).status.name,
    (status) => status === 'COMPLETED',
  );
}

beforeAll(async () => {
  [temporal, testDatabase] = await Promise.all([startTemporalDevServer(), createTestDatabase('worker-process')]);
});

afterAll(async () => {
  await testDatabase?.drop();
  await temporal?.close();
});

beforeEach(() => {
  connection = lazyTemporalClient({ address: temporal.address, namespace: temporal.namespace });
});

afterEach(async () => {
  worker?.child.kill('SIGKILL');
  await worker?.exitCode;
  worker = undefined;
  await connection.close();
});

describe('the worker process', () => {
  test('waits for Temporal, says so, works when it comes, and drains with exit status 0', async () => {
    await temporal.stop();
    const metricsPort = String(await freePort());
    const process = startWorkerProcess({ METRICS_PORT: metricsPort });
    const ready = () => fetch(`http://127.0.0.1:${metricsPort}/health/ready`).then(({ status }) => status);
    await says(process, 'the workers stopped receiving tasks from Temporal; reconnecting');
    expect(process.output()).not.toContain('worker ready');
    expect(await ready()).toBe(503);
    await temporal.restart();
    await says(process, 'worker ready');
    expect(await ready()).toBe(200);
    await doesWork();
    process.child.kill('SIGTERM');
    // A second request to stop changes nothing.
    process.child.kill('SIGTERM');
    expect(await process.exitCode).toBe(0);
  });

  test('works again after Temporal was killed and came back', async () => {
    const process = startWorkerProcess();
    await says(process, 'worker ready');
    await doesWork();
    await temporal.kill();
    await temporal.restart();
    await doesWork();
    process.child.kill('SIGTERM');
    expect(await process.exitCode).toBe(0);
  });

  test('stops while Temporal is away', async () => {
    await temporal.stop();
    try {
      const process = startWorkerProcess();
      await says(process, 'the workers stopped receiving tasks from Temporal; reconnecting');
      process.child.kill('SIGTERM');
      expect(await process.exitCode).toBe(0);
    } finally {
      await temporal.restart();
    }
  });

  test('stops with one clear line when a setting is wrong', async () => {
    const process = startWorkerProcess({ TEMPORAL_ADDRESS: 'nowhere' });
    expect(await process.exitCode).toBe(1);
    expect(process.output().trim().split('\n')).toEqual([
      'The worker cannot start: TEMPORAL_ADDRESS must be host:port, not "nowhere".',
    ]);
  });
});

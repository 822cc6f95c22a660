import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { OWNER_RUNS } from '../../db/service-role.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { until } from '../harness/stage.ts';
import { ownCalendar } from '../harness/transfers/calendar-world.ts';
import { type Entry, entryArguments } from '../tools/run/entries.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Longer than the relay, the sequencer and admissions take to look again. */
const EVERY_LOOP_HAS_LOOKED_MS = 2_000;

let temporal: TestTemporal;
let database: TestDatabase;
/** Creates the machine users of the processes under test, and their funds. Runs no loops. */
let api: TestApi;
let connection: TemporalClient;
const children: ChildProcess[] = [];

beforeAll(async () => {
  [temporal, database] = await Promise.all([startTemporalDevServer(), createTestDatabase('loops-process')]);
  api = await startApi(database);
  connection = lazyTemporalClient(temporal);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await connection?.close();
  await api?.stop();
  await database?.drop();
  await temporal?.close();
});

interface ServiceProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function start(entry: Entry, environment: Readonly<Record<string, string>> = {}): ServiceProcess {
  const child = spawn(process.execPath, entryArguments(entry), {
    cwd: PROJECT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      SANDBOX_BANK_SECRET: 'a-secret-of-this-test-that-is-long-enough',
      AUDIENCE: TEST_AUDIENCE,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, ended, output: () => output };
}

async function port(of: ServiceProcess, kind: 'port' | 'metricsPort', ready: string): Promise<string> {
  const output = await until(
    async () => of.output(),
    (text) => text.includes(`"msg":"${ready}"`) || of.child.exitCode !== null,
  );
  const found = new RegExp(`"${kind}":(\\d+)[^\\n]*"msg":"${ready}"`).exec(output)?.[1];
  if (found === undefined) throw new Error(`not ready: ${output}`);
  return found;
}

async function payOutside(apiPort: string): Promise<string> {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const accountId = await world.account(clientId, { amount: 100 });
  const beneficiaryBankAccountId = await world.beneficiary(clientId);
  const answer = await fetch(`http://127.0.0.1:${apiPort}/outgoing-transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      workflow: { code: 'client.direct' },
      data: {
        outgoingTransfer: {
          clientId,
          currency: 'GBP',
          amount: 1,
          scope: 'external',
          scheme: 'faster-payments',
          transferCustomReason: 'rent',
          source: { type: 'client-account', accountId },
          destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
        },
      },
    }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return JSON.parse(text).data.outgoingTransfer.id;
}

/** What the loops have left to do for the transfer. */
async function leftOf(id: string): Promise<{ wakeups: number; unnumbered: number }> {
  const [left] = await api.database.reader.statement<{ wakeups: number; unnumbered: number }>(
    `SELECT (SELECT count(*)::integer FROM workflow_wakeups WHERE workflow_id = $1) AS wakeups,
       (SELECT count(*)::integer FROM events WHERE resource_id = $2::uuid AND first_position IS NULL) AS unnumbered`,
    [workflowId('outgoing-transfer', id), id],
  );
  if (left === undefined) throw new Error('a count without a row');
  return left;
}

const metrics = async (metricsPort: string) => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

test('loops in a process of their own hand the wake-up of a payment to Temporal and number its event, for an API that runs none', async () => {
  const server = start('api/main.ts', { API_LOOPS: 'off' });
  const id = await payOutside(await port(server, 'port', 'api ready'));
  await new Promise((resolve) => setTimeout(resolve, EVERY_LOOP_HAS_LOOKED_MS));
  expect(await leftOf(id)).toEqual({ wakeups: 1, unnumbered: 1 });
  expect(await metrics(await port(server, 'metricsPort', 'api ready'))).not.toContain('relay_lag_seconds');

  const loops = start('loops/main.ts');
  const metricsPort = await port(loops, 'metricsPort', 'loops ready');
  await until(
    () => leftOf(id),
    ({ wakeups, unnumbered }) => wakeups === 0 && unnumbered === 0,
  );
  const workflow = await connection.client.workflow.getHandle(workflowId('outgoing-transfer', id)).describe();
  expect(workflow.status.name).toBe('RUNNING');
  expect(await metrics(metricsPort)).toMatch(/^relay_lag_seconds /m);

  for (const { child, ended } of [loops, server]) {
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  }
  expect(loops.output()).toContain('"msg":"loops stop"');
});

test('an API runs them itself by default', async () => {
  const server = start('api/main.ts');
  const id = await payOutside(await port(server, 'port', 'api ready'));
  await until(
    () => leftOf(id),
    ({ wakeups, unnumbered }) => wakeups === 0 && unnumbered === 0,
  );
  expect(await metrics(await port(server, 'metricsPort', 'api ready'))).toMatch(/^relay_lag_seconds /m);
});

test('an API, loops and a worker read a changed calendar without a restart, and count one that they cannot use', async () => {
  const own = ownCalendar();
  try {
    const environment = { CONFIG_FILE: own.configFile };
    const running = [
      { of: start('api/main.ts', { ...environment, API_LOOPS: 'off' }), ready: 'api ready' },
      { of: start('loops/main.ts', environment), ready: 'loops ready' },
      { of: start('activities/main.ts', environment), ready: 'worker ready' },
    ];
    const ports = await Promise.all(running.map(({ of, ready }) => port(of, 'metricsPort', ready)));
    own.close('2027-06-21');
    for (const { of } of running) {
      await until(
        async () => of.output(),
        (output) => output.includes('"msg":"calendar changed"'),
      );
    }
    own.write('{');
    for (const metricsPort of ports) {
      await until(
        () => metrics(metricsPort),
        (text) => text.includes('calendar_files_rejected_total{calendar="gb"} 1'),
      );
      expect(await metrics(metricsPort)).toMatch(/^calendar_days_left\{calendar="gb"\} \d+$/m);
    }
  } finally {
    own.remove();
  }
});

test.each([
  ['api/main.ts', 'api ready'],
  ['loops/main.ts', 'loops ready'],
  ['activities/main.ts', 'worker ready'],
] as const)('%s warns when it runs as the owner of its tables, and only then', async (entry, ready) => {
  for (const [url, isOwner] of [
    [database.ownerUrl, true],
    [database.url, false],
  ] as const) {
    const running = start(entry, { DATABASE_URL: url });
    const good = (text: string) =>
      text.includes(`"msg":"${ready}"`) && (!isOwner || text.includes(JSON.stringify(OWNER_RUNS)));
    const output = await until(
      async () => running.output(),
      (text) => good(text) || running.child.exitCode !== null,
    );
    expect(good(output), output).toBe(true);
    running.child.kill('SIGTERM');
    await running.ended;
    // It has ended in order: no line can follow.
    expect(running.output().includes(JSON.stringify(OWNER_RUNS))).toBe(isOwner);
  }
});

test.each([
  ['api/main.ts', 'API_LOOPS', 'perhaps'],
  ['loops/main.ts', 'ENCRYPTION_KEY', ''],
  ['loops/main.ts', 'DATABASE_URL', 'mysql://user:canary@host/db'],
  ['loops/main.ts', 'TEMPORAL_ADDRESS', 'nowhere'],
  ['loops/main.ts', 'METRICS_PORT', 'ninety'],
] as const)('%s: a bad %s ends the start with one clear line that names it', async (entry, name, value) => {
  const failing = start(entry, { [name]: value });
  expect(await failing.ended).toBe(1);
  const lines = failing.output().trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(name);
  expect(lines[0]).not.toContain('canary');
});

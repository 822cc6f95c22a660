import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { loadEventBodies } from '../../db/webhooks/event-documents.ts';
import { writeEndpoints } from '../../scripts/frame/endpoints.ts';
import { identify } from '../../scripts/frame/processes.ts';
import { registerDevelopmentUsers } from '../../scripts/start/development-users.ts';
import { verifyWebhook } from '../../sdk/verify-webhook.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually, temporaryDirectory } from '../harness/servers/sandbox.ts';
import { newSecret, type Receiver, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';

// `npm run listen` as a process: killed, refused, and started again.

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));

let database: TestDatabase;
let api: TestApi;
let receiver: Receiver;
let directory: ReturnType<typeof temporaryDirectory>;
let listeners: Listener[];

beforeAll(async () => {
  database = await createTestDatabase('listen');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

beforeEach(async () => {
  directory = temporaryDirectory();
  listeners = [];
  mkdirSync(join(directory.path, 'run'));
  const none = 'http://127.0.0.1:1';
  writeEndpoints(directory.path, {
    apiUrl: api.url,
    publicUrl: api.url,
    sandboxUrl: none,
    apiMetricsUrl: none,
    workerMetricsUrl: none,
    databaseUrl: database.url,
    temporalAddress: '127.0.0.1:1',
    temporalNamespace: 'default',
    uiUrl: null,
    audience: TEST_AUDIENCE,
    hasDevelopmentUsers: true,
  });
  await registerDevelopmentUsers(directory.path, database.url);
  receiver = await startReceiver();
});

afterEach(async () => {
  for (const listener of listeners) await listener.kill();
  await receiver.close();
  directory.remove();
});

interface Listener {
  readonly process: ChildProcess;
  output(): string;
  secret(): Promise<string>;
  /** `kill -9`. */
  kill(): Promise<void>;
  ended(): Promise<number | null>;
}

function listen(...more: readonly string[]): Listener {
  const argv = ['--import', 'tsx', 'scripts/listen.ts', ...more];
  const env = { ...process.env, DATA_DIR: directory.path };
  const child = spawn(process.execPath, argv, { cwd: PROJECT_DIRECTORY, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const listener: Listener = {
    process: child,
    output: () => output,
    secret: () => eventually('a secret', () => /^Signing secret: (whsec_\S+)$/m.exec(output)?.[1]),
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
    ended: () => closed,
  };
  listeners.push(listener);
  return listener;
}

/** A listener as a developer starts it: npm, its shell, and what they run. */
async function listenByNpm(): Promise<ChildProcess> {
  const argv = ['run', '-s', 'listen', '--', '--forward-to', receiver.url];
  const env = { ...process.env, DATA_DIR: directory.path };
  // In a group of its own, as a terminal's: a signal for npm reaches npm alone.
  const npm = spawn('npm', argv, { cwd: PROJECT_DIRECTORY, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  await until(() => output.includes('Forwarding events after position'));
  return npm;
}

/** The output of the listeners says more than a name of what did not happen. */
function until(holds: () => boolean): Promise<true> {
  return eventually('what a listener does', () => holds() || undefined);
}

/** A listener that has found its position. */
async function listening(...more: readonly string[]): Promise<Listener> {
  const listener = listen('--forward-to', receiver.url, ...more);
  await until(() => listener.output().includes('Forwarding events after position'));
  return listener;
}

/** Clients with one event each; the ids of the events. */
async function happen(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const clientId = await moneyWorld(api).client(`Client${String.fromCharCode(97 + index)}`);
    ids.push(clientId);
  }
  await sequence(api.database);
  const rows = await api.database.reader.statement<{ id: string; resource_id: string }>(
    'SELECT id, resource_id FROM events WHERE resource_id = ANY($1::uuid[])',
    [ids],
  );
  return ids.map((id) => rows.find(({ resource_id }) => resource_id === id)?.id ?? '');
}

/** Waits until the receiver has accepted these, and answers what it has accepted so far. */
async function accepted(taken: readonly string[], ids: readonly string[]): Promise<readonly string[]> {
  await until(() => ids.every((id) => taken.includes(id)));
  return taken;
}

test('begins now, and forwards what happens in order, with the bytes of a webhook and a signature of its secret', async () => {
  await happen(2);
  const listener = await listening();
  const secret = await listener.secret();
  const ids = await happen(3);
  await until(() => receiver.received.length >= 3);
  expect(receiver.received.map(({ id }) => id)).toEqual(ids);
  const bodies = await loadEventBodies(api.database.reader, ids);
  for (const { id, text, headers } of receiver.received) {
    expect(text).toBe(bodies.get(id));
    expect(verifyWebhook(text, headers, secret)).toMatchObject({ name: 'clients.created', id });
  }
});

test('killed while the receiver refuses, it goes on with the refused event: nothing lost, order kept, the same secret', async () => {
  const taken: string[] = [];
  const refused: string[] = [];
  let refusesFrom = 2;
  receiver.answer(({ id }, response) => {
    const isRefused = !taken.includes(id) && taken.length >= refusesFrom;
    (isRefused ? refused : taken).push(id);
    response.writeHead(isRefused ? 503 : 204).end();
  });
  const first = await listening();
  const secret = await first.secret();
  const ids = await happen(4);
  await until(() => refused.length >= 2);
  expect(taken).toEqual(ids.slice(0, 2));
  expect([...new Set(refused)]).toEqual([ids[2]]);
  expect(first.output()).toContain('answered 503');
  await first.kill();

  const later = await happen(2);
  const second = await listening();
  expect(await second.secret()).toBe(secret);
  await until(() => refused.length >= 4);
  expect([...new Set(refused)]).toEqual([ids[2]]);
  refusesFrom = Number.POSITIVE_INFINITY;
  expect(await accepted(taken, [...ids, ...later])).toEqual([...ids, ...later]);
  for (const { text, headers } of receiver.received) verifyWebhook(text, headers, secret);
});

test('waits for a receiver that is away', async () => {
  const { port } = receiver;
  await receiver.close();
  const listener = listen('--forward-to', `http://127.0.0.1:${port}/hook`);
  await until(() => listener.output().includes('Forwarding events after position'));
  const ids = await happen(1);
  await until(() => listener.output().includes('ECONNREFUSED'));
  expect(listener.output()).toContain('trying again in 2 s');
  await listener.kill();
  receiver = await startReceiver();
  await listening();
  await until(() => receiver.received.length >= 1);
  expect(receiver.received.map(({ id }) => id)).toEqual(ids);
});

test('--from goes back to an instant, and --secret signs from then on', async () => {
  const [before, at] = await Promise.all([
    happen(1),
    api.database.statement<{ now: Date }>('SELECT service_now() AS now', []),
  ]);
  const instant = new Date(at[0]?.now ?? '').toISOString().slice(0, 19);
  const ids = await happen(2);
  const secret = newSecret();
  const first = await listening('--from', `${instant}Z`, '--secret', secret);
  await until(() => ids.every((id) => receiver.received.some((one) => one.id === id)));
  const order = receiver.received.map(({ id }) => id).filter((id) => [...before, ...ids].includes(id));
  expect(order.slice(-2)).toEqual(ids);
  await first.kill();
  const sent = new Set(receiver.received.map(({ id }) => id));
  const second = await listening();
  expect(await second.secret()).toBe(secret);
  const next = await happen(2);
  await until(() => next.every((id) => receiver.received.some((one) => one.id === id)));
  expect(receiver.received.map(({ id }) => id).filter((id) => !sent.has(id))).toEqual(next);
});

test.each(['', 'twelve\n', '-1\n'])(
  'a damaged position (%j) is refused in one line, and --from replaces it',
  async (text) => {
    writeFileSync(join(directory.path, 'listener-position'), text);
    const refused = listen('--forward-to', receiver.url);
    expect(await refused.ended()).toBe(1);
    expect(refused.output()).toContain('listener-position holds no position. Begin at an instant with --from');
    expect(receiver.received).toEqual([]);
    await listening('--from', '2100-01-01T00:00:00Z');
  },
);

test('a wrong command line is refused in one line', async () => {
  const url = ['--forward-to', 'http://127.0.0.1:1/'];
  const wrong: [argv: string[], line: string][] = [
    [[], 'Usage: npm run listen'],
    [['--forward-to', 'receiver'], '--forward-to must be an http or https URL'],
    [[...url, '--from', 'yesterday'], '--from must be a date-time'],
    [[...url, '--secret', 'secret'], '--secret must be whsec_'],
  ];
  await Promise.all(
    wrong.map(async ([argv, line]) => {
      const listener = listen(...argv);
      expect(await listener.ended()).toBe(1);
      expect(listener.output()).toContain(line);
      expect(listener.output().trim().split('\n')).toHaveLength(1);
    }),
  );
});

test.each([
  ['is asked to end', 'SIGTERM', 'npm'],
  ['is killed', 'SIGKILL', 'npm'],
  // npm itself waits on it for what it runs, which gets it from the terminal as well.
  ['is interrupted at its terminal', 'SIGINT', 'group'],
] as const)(
  'a listener ends when the npm that started it %s, and leaves no lock; the next one listens',
  async (_, signal, target) => {
    const npm = await listenByNpm();
    const lock = join(directory.path, 'run', 'listener.pid');
    const { pid } = JSON.parse(readFileSync(lock, 'utf8'));
    onTestFinished(() => {
      // What is left of the group, if the test has failed.
      if (identify(pid) !== undefined) process.kill(pid, 'SIGKILL');
    });
    process.kill(target === 'group' ? -(npm.pid ?? 0) : (npm.pid ?? 0), signal);
    await until(() => identify(pid) === undefined);
    expect(existsSync(lock)).toBe(false);
    await listening();
  },
);

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { writeEndpoints } from '../../cli/common/endpoints.ts';
import { identify } from '../../cli/common/processes.ts';
import { EXIT_STATUSES } from '../../cli/program/exit-statuses.ts';
import { verifyWebhook } from '../../client/webhooks.ts';
import { loadEventBodies } from '../../db/webhooks/event-documents.ts';
import { registerDevelopmentUsers } from '../../dev/start/development-users.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { startTcpProxy } from '../harness/faults/tcp-proxy.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually, temporaryDirectory } from '../harness/servers/sandbox.ts';
import { newSecret, type Receiver, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';
import { entryArguments } from '../tools/run/entries.ts';

// `fas listen`, which is also `npm run listen`, as a process: killed, cut off, rejected, and started again.

const CUTS = 20;

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
  reachedAt(api.url);
  await registerDevelopmentUsers(directory.path, database.url);
  receiver = await startReceiver();
});

/** Where the listener finds the API. */
function reachedAt(apiUrl: string): void {
  const none = 'http://127.0.0.1:1';
  writeEndpoints(directory.path, {
    apiUrl,
    publicUrl: apiUrl,
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
}

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
  const argv = [...entryArguments('cli/fas.ts'), 'listen', ...more];
  const env = { ...process.env, DATA_DIR: directory.path, XDG_CONFIG_HOME: directory.path };
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
    secret: async () => {
      const shown = await eventually('a secret', () => /^Signing secret: (?:in )?(\S+)$/m.exec(output)?.[1]);
      return shown.startsWith('whsec_') ? shown : readFileSync(shown, 'utf8').trim();
    },
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
  const env = { ...process.env, DATA_DIR: directory.path, XDG_CONFIG_HOME: directory.path };
  // In a group of its own, as a terminal's: a signal for npm reaches only npm.
  const npm = spawn('npm', argv, { cwd: PROJECT_DIRECTORY, env, stdio: ['ignore', 'inherit', 'pipe'], detached: true });
  let output = '';
  npm.stderr.setEncoding('utf8').on('data', (chunk: string) => {
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

test('killed while the receiver rejects, it continues with the rejected event: nothing lost, order kept, the same secret', async () => {
  const taken: string[] = [];
  const rejected: string[] = [];
  let rejectsFrom = 2;
  receiver.answer(({ id }, response) => {
    const isRejected = !taken.includes(id) && taken.length >= rejectsFrom;
    (isRejected ? rejected : taken).push(id);
    response.writeHead(isRejected ? 503 : 204).end();
  });
  const first = await listening();
  const secret = await first.secret();
  const ids = await happen(4);
  await until(() => rejected.length >= 2);
  expect(taken).toEqual(ids.slice(0, 2));
  expect([...new Set(rejected)]).toEqual([ids[2]]);
  expect(first.output()).toContain('answered 503');
  await first.kill();

  const later = await happen(2);
  const second = await listening();
  expect(await second.secret()).toBe(secret);
  expect(second.output(), 'shown once').not.toContain(secret);
  await until(() => rejected.length >= 4);
  expect([...new Set(rejected)]).toEqual([ids[2]]);
  rejectsFrom = Number.POSITIVE_INFINITY;
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
  expect(listener.output()).toContain('trying until it is accepted');
  await listener.kill();
  receiver = await startReceiver();
  await listening();
  await until(() => receiver.received.length >= 1);
  expect(receiver.received.map(({ id }) => id)).toEqual(ids);
});

test('--from goes back to an instant, and the secret of --secret-file signs from then on', async () => {
  const [before, at] = await Promise.all([
    happen(1),
    api.database.statement<{ now: Date }>('SELECT service_now() AS now', []),
  ]);
  const instant = new Date(at[0]?.now ?? '').toISOString().slice(0, 19);
  const ids = await happen(2);
  const secret = newSecret();
  const file = join(directory.path, 'secret');
  writeFileSync(file, `${secret}\n`);
  const first = await listening('--from', `${instant}Z`, '--secret-file', file);
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
  'a damaged position (%j) is rejected in one line, and --from replaces it',
  async (text) => {
    writeFileSync(join(directory.path, 'listener-position'), text);
    const rejected = listen('--forward-to', receiver.url);
    expect(await rejected.ended()).toBe(EXIT_STATUSES.usage.status);
    expect(rejected.output()).toContain('listener-position holds no position. Begin at an instant with --from');
    expect(receiver.received).toEqual([]);
    await listening('--from', '2100-01-01T00:00:00Z');
  },
);

test('a wrong command line is rejected in one line', async () => {
  const url = ['--forward-to', 'http://127.0.0.1:1/'];
  const file = join(directory.path, 'secret');
  writeFileSync(file, 'secret');
  const wrong: [argv: string[], line: string][] = [
    [[], "Required option '--forward-to <URL>'"],
    [['--forward-to', 'receiver'], '--forward-to must be an http or https URL'],
    [[...url, '--from', 'yesterday'], '--from must be a date-time'],
    [[...url, '--secret-file', file], '--secret-file must have whsec_'],
  ];
  await Promise.all(
    wrong.map(async ([argv, line]) => {
      const listener = listen(...argv);
      expect(await listener.ended()).toBe(EXIT_STATUSES.usage.status);
      expect(listener.output()).toContain(line);
    }),
  );
});

test('cut off from the API 20 times while events come, it says so, and forwards each once and in order', async () => {
  const { hostname, port } = new URL(api.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.close());
  reachedAt(`http://127.0.0.1:${proxy.port}`);
  const listener = await listening();
  const ids: string[] = [];
  for (let cut = 1; cut <= CUTS; cut += 1) {
    // Connections are held, in the middle of whatever they carry, until the events are in the log, and are then closed.
    proxy.hold();
    ids.push(...(await happen(1)));
    proxy.release();
    await until(() => receiver.received.some(({ id }) => id === ids.at(-1)));
  }
  expect(receiver.received.map(({ id }) => id)).toEqual(ids);
  expect(listener.output()).toMatch(/No answer \(.*\): sent again|does not answer/);
});

test('while the service is away it says from which position it will continue, and does so at its next address', async () => {
  const listener = await listening();
  reachedAt('http://127.0.0.1:1');
  const ids = await happen(2);
  await until(() => /does not answer \(.*\): trying again from position \d+/.test(listener.output()));
  reachedAt(api.url);
  await until(() => receiver.received.length >= 2);
  expect(receiver.received.map(({ id }) => id)).toEqual(ids);
  expect(listener.output()).toMatch(/answers again; continuing after position \d+/);
});

test('cut off from its receiver 20 times, it forwards every event in order; one is repeated only where no answer came', async () => {
  const { hostname, port, pathname } = new URL(receiver.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.close());
  const listener = listen('--forward-to', `http://127.0.0.1:${proxy.port}${pathname}`);
  await until(() => listener.output().includes('Forwarding events after position'));
  let cuts = 0;
  receiver.answer((_, response) => {
    // The event has arrived, and its answer is lost.
    if (cuts < CUTS && receiver.received.length % 2 === 1) {
      cuts += 1;
      response.socket?.destroy();
    } else response.writeHead(204).end();
  });
  const ids = await happen(CUTS);
  await until(() => receiver.received.length === 2 * CUTS);
  expect(receiver.received.map(({ id }) => id)).toEqual(ids.flatMap((id) => [id, id]));
});

test('events that are no longer kept are a gap that it names, and it continues behind it', async () => {
  await happen(2);
  writeFileSync(join(directory.path, 'listener-position'), '1\n');
  const [last] = await api.database.statement<{ last: bigint }>(
    'SELECT last_position AS last FROM event_sequencer',
    [],
  );
  await api.database.transaction(async (tx) => {
    await tx.statement('DELETE FROM events WHERE first_position < $1', [last?.last]);
    await tx.statement('UPDATE event_log_start SET first_position = $1', [last?.last]);
  });
  const listener = await listening();
  await until(() => receiver.received.length > 0);
  expect(listener.output()).toMatch(/GAP: the events after position 1, up to \d+, are no longer kept/);
  const ids = await happen(1);
  await until(() => receiver.received.some(({ id }) => id === ids[0]));
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

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { socketTo } from '../harness/faults/sockets.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { entryArguments } from '../tools/run/entries.ts';

let database: TestDatabase;
/** Creates the machine user of the process under test. */
let api: TestApi;
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase('api-process');
  api = await startApi(database);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

interface ApiProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function spawnApi(environment: Readonly<Record<string, string>> = {}): ApiProcess {
  const child = spawn(process.execPath, entryArguments('api/main.ts'), {
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      // Nothing answers there: the API runs with Temporal absent.
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      SANDBOX_BANK_SECRET: 'canary-secret',
      AUDIENCE: TEST_AUDIENCE,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      PORT: '0',
      LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, ended, output: () => output };
}

/** The address in the ready line. */
async function readyUrl(api: ApiProcess): Promise<string> {
  for (;;) {
    const ready = /"port":(\d+),"msg":"api ready"/.exec(api.output());
    if (ready !== null) return `http://127.0.0.1:${ready[1]}`;
    if (api.child.exitCode !== null) throw new Error(`the API ended: ${api.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('starts without Temporal, is ready, answers, and ends with 0 on SIGTERM, also sent twice', async () => {
  const running = spawnApi();
  const url = await readyUrl(running);
  const headers = { authorization: `Bearer ${api.users.admin.token}` };
  /** Once a busy machine has answered within the limits of the process under test. */
  const answered = (path: string) =>
    until(
      () => fetch(`${url}${path}`, { headers }),
      ({ status }) => status !== 503,
    );
  const ready = await answered('/health/ready');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({ postgres: 'reachable', temporal: 'unreachable' });
  expect((await answered('/machine-users')).status).toBe(200);
  // The list had a connection of its own.
  expect(await sessionsOf('api-lists')).toBeGreaterThan(0);
  running.child.kill('SIGTERM');
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(running.output()).toContain('"msg":"api stops"');
  expect(running.output()).not.toMatch(/canary|eyJ/);
});

async function sessionsOf(name: string): Promise<number> {
  const rows = await api.database.reader.statement(
    'SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [name],
  );
  return rows.length;
}

test('starts without Postgres, says that it is not ready, and keeps running', async () => {
  const running = spawnApi({ DATABASE_URL: 'postgres://unknown@127.0.0.1:9/nothing' });
  const url = await readyUrl(running);
  const ready = await fetch(`${url}/health/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ postgres: 'unreachable' });
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
});

test('a shared statement that fails shows in the metrics of the process and in its log', async () => {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [from, to] = await Promise.all([0, 1].map(() => world.account(clientId, { amount: 10 })));
  // Only a shared statement waits for locks as briefly as that.
  await database.asOwner(
    `CREATE FUNCTION fail_shared() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
     CREATE TRIGGER shared BEFORE INSERT ON outgoing_transfers FOR EACH ROW
       WHEN (current_setting('lock_timeout') = '100ms') EXECUTE FUNCTION fail_shared()`,
  );
  const running = spawnApi();
  const url = await readyUrl(running);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  const paid = await fetch(`${url}/outgoing-transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: { code: 'client.direct' }, data: { outgoingTransfer } }),
  });
  expect(paid.status).toBe(201);
  const port = /"metricsPort":(\d+)/.exec(running.output())?.[1];
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/^shared_statement_failures_total\{statement="settle_straight_through_transfers".*\} 1$/m);
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(running.output()).toContain('a shared statement failed');
});

test('accepts as many connections without a token from one address as configured, and logs and counts the next', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'api-process-'));
  const file = join(directory, 'connections.json');
  writeFileSync(file, JSON.stringify({ connections: { withoutTokenPerAddress: 16 } }));
  const running = spawnApi({ CONFIG_FILE: file });
  const url = await readyUrl(running);
  rmSync(directory, { recursive: true });
  const sockets = await Promise.all(Array.from({ length: 17 }, () => socketTo(url)));
  await Promise.race(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))));
  const port = /"metricsPort":(\d+)/.exec(running.output())?.[1];
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('security_rejections_total{reason="connections-of-address"} 1\n');
  for (const socket of sockets) socket.destroy();
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(running.output()).toContain('"event":"security-rejection","reason":"connections-of-address"');
});

test('a batch whose process is killed half-way and that is sent again creates each transfer once', async () => {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [from, to] = await Promise.all([world.account(clientId, { amount: 1_000 }), world.account(clientId)]);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  // However late the kill comes: the last one is held up until then, or until its statement's time is over.
  await database.asOwner(
    `CREATE TABLE held_up (id integer); INSERT INTO held_up VALUES (1); GRANT SELECT ON held_up TO PUBLIC;
     CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       WHILE EXISTS (SELECT FROM held_up) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NEW; END $$;
     CREATE TRIGGER held_up BEFORE INSERT ON outgoing_transfers FOR EACH ROW
       WHEN (NEW.description = 'held up') EXECUTE FUNCTION hold_up()`,
  );
  const items = Array.from({ length: 1_000 }, (_, index) => ({
    reference: `killed ${index}`,
    outgoingTransfer: index === 999 ? { ...outgoingTransfer, description: 'held up' } : outgoingTransfer,
  }));
  const send = (url: string) =>
    fetch(`${url}/outgoing-transfers/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: { code: 'client.direct' }, data: { items } }),
    });
  const created = async () => (await world.balance(to)).available;
  const killed = spawnApi();
  const broken = expect(send(await readyUrl(killed))).rejects.toThrow('fetch failed');
  while ((await created()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  killed.child.kill('SIGKILL');
  await broken;
  const begun = await created();
  expect(begun).toBeGreaterThan(0);
  expect(begun).toBeLessThan(1_000);
  await database.asOwner('DELETE FROM held_up');
  const again = await readyUrl(spawnApi());
  // Once more while a busy machine does not do it within the limits of the process.
  const answer = await until(
    () => send(again),
    ({ status }) => status !== 503,
  );
  expect(answer.status).toBe(201);
  const { data } = JSON.parse(await answer.text());
  const results = data.results.map(({ result }: { result: string }) => result);
  expect(results.filter((result: string) => result === 'replayed').length).toBeGreaterThanOrEqual(begun);
  expect(results.filter((result: string) => result === 'rejected')).toEqual([]);
  expect(await created()).toBe(1_000);
  await world.invariantsHold();
});

test('a port in use ends the start with one clear line', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, resolve));
  const address = taken.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  try {
    const failing = spawnApi({ PORT: String(port) });
    expect(await failing.ended).toBe(1);
    expect(failing.output().trim().split('\n')).toEqual([
      `The API cannot start: port ${port} is in use. Set PORT to another.`,
    ]);
  } finally {
    taken.close();
  }
});

test.each([
  ['PORT', 'eighty'],
  ['AUDIENCE', ''],
  ['API_HOST', '192.0.2.1'],
  ['DATABASE_URL', 'mysql://user:canary@host/db'],
  ['METRICS_PORT', 'ninety'],
  ['METRICS_HOST', 'not a host'],
  ['ENCRYPTION_KEY', 'canary'],
  ['ENCRYPTION_KEY', ''],
  ['TEMPORAL_ADDRESS', 'nowhere'],
  ['CONFIG_FILE', '/does/not/exist.json'],
])('a bad %s ends the start with one clear line that names it', async (name, value) => {
  const failing = spawnApi({ [name]: value });
  expect(await failing.ended).toBe(1);
  const lines = failing.output().trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(name === 'CONFIG_FILE' ? value : name);
  expect(lines[0]).not.toContain('canary');
});

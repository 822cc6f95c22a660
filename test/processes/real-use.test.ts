import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER_RUNS } from '../../db/service-role.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import { startTemporalInOneProcess } from '../../dev/servers/temporal-cluster.ts';
import { orderPayment, reportPaid, senderOf, statusOf } from '../deployment/plug-in-payment.ts';
import type { Json } from '../harness/api.ts';
import { eventually } from '../harness/servers/started-service.ts';
import { checkWebhook } from '../harness/webhooks/webhook-contract.ts';

/** The page on installation, from an empty database to a payment, by its own commands. */
const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const WAIT_MS_MAX = 180_000;
const folder = mkdtempSync(join(tmpdir(), 'real-use-'));
const processes: ChildProcess[] = [];
let server: RunningPostgres;
let temporal: Awaited<ReturnType<typeof startTemporalInOneProcess>>;
let environment: NodeJS.ProcessEnv;
let page: Readonly<Record<'sql' | 'json' | 'sh', readonly string[]>>;
let port: number;

beforeAll(async () => {
  // One server, for the service and for Temporal, which share nothing in it.
  server = await startPostgres({ dataDirectory: join(folder, 'postgres') });
  temporal = await startTemporalInOneProcess({
    serverUrl: server.ownerUrl,
    directory: join(folder, 'temporal'),
    suffix: 'real_use',
  });
  port = await freePort();
  const document = readFileSync(join(PROJECT_DIRECTORY, 'docs/installation.md'), 'utf8');
  const blocks = (kind: string) =>
    [...document.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
  page = { sql: blocks('sql'), json: blocks('json'), sh: blocks('sh') };
});

afterAll(async () => {
  for (const child of processes) await endGroup(child);
  await temporal?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ROLE = 'real_use_service';
const PASSWORD = randomBytes(16).toString('hex');
const OWNER_PASSWORD = randomBytes(16).toString('hex');

/** The page's database and roles, under names that this server has not given yet. */
function ownNames(text: string): string {
  return text
    .replaceAll('financial_accounts', ROLE)
    .replaceAll(/another( |%20)long\1random\1text/g, OWNER_PASSWORD)
    .replaceAll('a long random text', PASSWORD);
}

/** The page's variables with this test's values, plus only what processes need of our environment. */
function realUse(): NodeJS.ProcessEnv {
  const values: NodeJS.ProcessEnv = {
    DATABASE_URL: `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${server.port}/${ROLE}`,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    CONFIG_FILE: join(folder, 'configuration.json'),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    AUDIENCE: 'https://real-use.example.com',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SMTP_URL: 'smtp://127.0.0.1:9',
  };
  const named = [...(page.sh[0] ?? '').matchAll(/^export (\w+)=/gm)].map(([, name]) => name);
  expect(named, 'the variables that the page sets').toEqual(Object.keys(values));
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  return { PATH, HOME, XDG_CACHE_HOME, ...values };
}

/** A line of the page, with our folder and one of our ports. */
function adapted(line: string, metricsPort: number): string {
  return ownNames(line)
    .replace('@postgres.internal:5432', `@127.0.0.1:${server.port}`)
    .replace('?sslmode=verify-full', '')
    .replaceAll(/\bcaller\.(key|pem)\b/g, join(folder, 'caller.$1'))
    .replace('PORT=3000', `PORT=${port}`)
    .replace(/METRICS_PORT=\d+/, `METRICS_PORT=${metricsPort}`);
}

function linesOf(block: string | undefined): string[] {
  const lines = (block ?? '').split('\n').filter((line) => line !== '');
  expect(lines.length).toBeGreaterThan(0);
  return lines;
}

function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd: PROJECT_DIRECTORY, env: environment }, (error, output, errors) => {
      if (error === null) resolve(output);
      else reject(new Error(`${command}: ${output}${errors}`));
    });
  });
}

/** As group leader: npm forwards no signals to its children. */
function startInBackground(command: string): () => string {
  const child = spawn('sh', ['-c', command], {
    cwd: PROJECT_DIRECTORY,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return () => output;
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  process.kill(-child.pid, 'SIGTERM');
  await Promise.race([ended, sleep(20_000)]);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

test('from nothing to a payment that is reported as completed, and the books hold', async () => {
  environment = realUse();
  writeFileSync(join(folder, 'configuration.json'), page.json[0] ?? '');
  const admin = postgres(server.ownerUrl, { max: 1, onnotice: () => {} });
  for (const statement of linesOf(page.sql[0])) await admin.unsafe(ownNames(statement));
  for (const name of [ROLE, `${ROLE}_owner`]) {
    const [role] = await admin`SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = ${name}`;
    expect(role, name).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
  }
  await admin.end({ timeout: 5 });

  let printed = '';
  for (const line of linesOf(page.sh[1])) printed = await run(adapted(line, 0));
  const [, id = ''] = /^id +(\S+)$/m.exec(printed) ?? [];
  const [, kid = ''] = /^kid +(\S+)$/m.exec(printed) ?? [];
  const outputs: (() => string)[] = [];
  for (const line of linesOf(page.sh[2])) outputs.push(startInBackground(adapted(line, await freePort())));
  const log = () => outputs.map((output) => output()).join('\n');
  const url = environment.PUBLIC_URL;
  await eventually(
    async () => (await fetch(`${url}/health/ready`).catch(() => null))?.status === 200,
    WAIT_MS_MAX,
    log,
  );

  const key = readFileSync(join(folder, 'caller.key'), 'utf8');
  const send = await senderOf(url ?? '', { id, kid, key, audience: environment.AUDIENCE ?? '' }, log);
  const transferId = await orderPayment(send);
  // The worker and Temporal carry it to where the caller is to pay.
  await eventually(async () => (await statusOf(send, transferId)) === 'processing', WAIT_MS_MAX, log);
  await reportPaid(send, transferId);
  expect(await run('npm run -s ledger:check')).toContain('The books hold');
  const types = ['created', 'processing', 'released', 'completed'].map((status) => `outgoing-transfer-${status}`);
  // The log gets its positions a moment after the commit.
  await eventually(
    async () => {
      const { events } = await send('GET', '/events?metadata.page.size=100');
      for (const { position: _, resourceId: __, ...event } of events) checkWebhook(event);
      const own = events.filter((event: Json) => event.resourceId === transferId);
      return isDeepStrictEqual(
        own.map((event: Json) => event.webhook.type),
        types,
      );
    },
    WAIT_MS_MAX,
    log,
  );
  expect(await run('npm run -s operate -- stuck')).toContain('Every open row has its workflow');
  expect(log()).not.toContain(OWNER_RUNS.split(':')[0]);
  await rejectsTheService();
});

/** What the page says of the role that the service runs as. */
async function rejectsTheService(): Promise<void> {
  const service = postgres(environment.DATABASE_URL ?? '', { max: 1, onnotice: () => {} });
  for (const statement of ['ALTER TABLE postings DISABLE TRIGGER ALL', 'DELETE FROM postings', 'CREATE TABLE own ()'])
    await expect(service.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' });
  await service.end({ timeout: 5 });
}

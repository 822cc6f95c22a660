import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../dev/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import { temporalBinary } from '../../dev/servers/temporal-binary.ts';
import {
  HISTORY_SHARDS,
  startTemporalInOneProcess,
  TEMPORAL_SERVER_VERSION,
  temporalPrograms,
} from '../../dev/servers/temporal-cluster.ts';
import type { Json } from '../harness/api.ts';
import { buildContext, ignoreRules, layOutImage } from '../harness/servers/docker-image.ts';
import { eventually } from '../harness/servers/started-service.ts';
import { ALERTMANAGER_VERSION, PROMETHEUS_VERSION } from '../tools/prometheus.ts';
import { inFull } from '../tools/run/length.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const WAIT_MS_MAX = 180_000;

/** The operator's variables: first docker-compose.yml's, then the sandbox file's. */
const REQUIRED = [
  'AUDIENCE',
  'CONFIG_FILE',
  'CONSOLE_CLIENT_ID',
  'CONSOLE_CLIENT_SECRET',
  'CONSOLE_ISSUER',
  'CONSOLE_URL',
  'DATABASE_PASSWORD',
  'ENCRYPTION_KEY',
  'MAIL_FROM',
  'MIGRATION_DATABASE_PASSWORD',
  'POSTGRES_PASSWORD',
  'PUBLIC_URL',
  'SMTP_URL',
  'TEMPORAL_POSTGRES_PASSWORD',
];
const REQUIRED_FOR_SANDBOX = ['CONSOLE_CLIENT_SECRET', 'CONSOLE_ISSUER', 'CONSOLE_URL', 'SANDBOX_BANK_SECRET'];
/** The tag of the image: the one variable with a default. */
const RELEASE = /(?<!\$)\$\{RELEASE:-latest\}/g;

function textOf(file: string): string {
  return readFileSync(join(PROJECT_DIRECTORY, file), 'utf8');
}

const text = textOf('docker-compose.yml');
const sandboxText = textOf('docker-compose.sandbox.yml');

/** `$${X:?…}`, the tag and `$$$$` as compose reads them. */
function interpolated(given: string, values: Readonly<Record<string, string>>): string {
  return given
    .replace(RELEASE, 'latest')
    .replace(/\$\$|\$\{(\w+):\?[^}]*\}/g, (found, name: string | undefined) =>
      name === undefined ? '$' : (values[name] ?? found),
    );
}

function parsed(given: string, values: Readonly<Record<string, string>> = {}): Json {
  // Comments name no variable that is read.
  return parse(interpolated(given, values), { merge: true });
}

/** A file laid over another, as far as ours need it: services' environments are merged, new services added. */
function merged(base: Json, over: Json): Json {
  const services = { ...base.services };
  for (const [name, service] of Object.entries<Json>(over.services)) {
    const below = services[name] ?? {};
    services[name] = { ...below, ...service, environment: { ...below.environment, ...service.environment } };
  }
  return { ...base, services };
}

describe('the files', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(textOf('test/fixtures/compose-spec.json')),
  );

  test.each([
    ['docker-compose.yml', text],
    ['docker-compose.sandbox.yml', sandboxText],
  ])('%s is what the Compose specification allows', (_name, given) => {
    expect(validate(parsed(given)), JSON.stringify(validate.errors)).toBe(true);
  });

  test('the check finds a mistake', () => {
    const wrong = parsed(text);
    wrong.services.api.depends_on.migrate.condition = 'service_perfect';
    wrong.services.worker.comand = [];
    expect(validate(wrong)).toBe(false);
  });

  test('there are no development defaults: every variable but the tag is required, and none has a value of ours', () => {
    const variables = (given: string) =>
      [...new Set([...given.replace(RELEASE, '').matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name))].sort();
    expect(variables(text)).toEqual(REQUIRED);
    expect(variables(sandboxText)).toEqual(REQUIRED_FOR_SANDBOX);
    for (const [found] of `${text}${sandboxText}`.replace(RELEASE, '').matchAll(/(?<!\$)\$\{\w+[^}]*\}/g))
      expect(found).toMatch(/:\?.+\}$/);
    for (const name of REQUIRED) expect(text.slice(0, text.indexOf('name: ')), 'the heading').toContain(name);
  });

  test('the service has its own database role, only the migration that of the owner, the sandbox no database access, and the service no sandbox settings', () => {
    const { services } = parsed(text);
    const roleIn = (address: string) => new URL(address.replace(/\$\{[^}]*\}/, 'password')).username;
    for (const name of ['migrate', 'api', 'worker', 'worker-version', 'console'])
      expect(roleIn(services[name].environment.DATABASE_URL)).toBe('financial_accounts');
    for (const [name, { environment = {} }] of Object.entries<Json>(services)) {
      const address: string | undefined = environment.MIGRATION_DATABASE_URL;
      expect(address === undefined ? null : roleIn(address), name).toBe(
        name === 'migrate' ? 'financial_accounts_owner' : null,
      );
    }
    expect(services.postgres.environment.POSTGRES_USER, 'the administrator').toBeUndefined();
    expect(text).not.toMatch(/SANDBOX_/);
    const { sandbox } = parsed(sandboxText).services;
    expect(
      Object.keys(sandbox.environment).filter((name) => !/^(SANDBOX_|CALLBACK_URL$|DATA_DIR$)/.test(name)),
    ).toEqual([]);
    expect(Object.keys(sandbox.networks).filter((name: string) => services.postgres.networks.includes(name))).toEqual(
      [],
    );
  });

  test('every service has a log of limited size, and one tag names the release of every image of ours', () => {
    for (const given of [text, sandboxText]) {
      for (const [name, { image, logging }] of Object.entries<Json>(parse(given, { merge: true }).services)) {
        if (image === undefined) continue;
        expect(logging?.options, name).toMatchObject({
          'max-size': expect.any(String),
          'max-file': expect.any(String),
        });
        if (image.startsWith('financial-accounts-service')) expect(image).toMatch(/:\$\{RELEASE:-latest\}$/);
      }
    }
  });

  test('the profile `watch` has the releases that the tests run, mounts files that exist, and is reached on this host only', () => {
    const { services } = parsed(text);
    const watching = Object.entries<Json>(services).filter(([, { profiles = [] }]) => profiles.includes('watch'));
    expect(watching.map(([name]) => name)).toEqual(['prometheus', 'alertmanager', 'grafana']);
    expect(services.prometheus.image).toBe(`prom/prometheus:v${PROMETHEUS_VERSION}`);
    expect(services.alertmanager.image).toBe(`prom/alertmanager:v${ALERTMANAGER_VERSION}`);
    for (const [name, { image, ports: published, volumes, networks }] of watching) {
      expect(image, name).toMatch(/:v?\d+\.\d+\.\d+$/);
      expect(published, name).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:\d+$/)]);
      expect(networks, name).not.toContain('books');
      for (const volume of volumes.filter((one: string) => one.startsWith('./')))
        expect(existsSync(join(PROJECT_DIRECTORY, volume.split(':')[0])), volume).toBe(true);
    }
    const targets = parse(textOf('deploy/prometheus/prometheus.yml')).scrape_configs;
    for (const { dns_sd_configs: found } of targets) {
      const [{ names, port }] = found;
      expect(String(port), names[0]).toBe(services[names[0]].environment.METRICS_PORT);
      expect(services[names[0]].networks, names[0]).toContain(services.prometheus.networks[0]);
    }
    const source = parse(textOf('deploy/grafana/provisioning/datasources/prometheus.yml')).datasources[0];
    expect(source.url).toBe('http://prometheus:9090');
    const files = parse(textOf('deploy/grafana/provisioning/dashboards/files.yml')).providers[0].options.path;
    expect(services.grafana.volumes).toContain(`./deploy/grafana/dashboards:${files}:ro`);
  });

  test("Temporal's images are of the release that the tests run, and none is the deprecated auto-setup", () => {
    const images = Object.values<Json>(parsed(text).services).map(({ image }) => image);
    const temporals = images.filter((image) => /temporalio\/(server|admin-tools)/.test(image));
    expect(temporals.length).toBeGreaterThan(1);
    for (const image of temporals) expect(image).toContain(`:${TEMPORAL_SERVER_VERSION}`);
    expect(images.join()).not.toContain('auto-setup');
    expect(parsed(text).services.temporal.environment.NUM_HISTORY_SHARDS).toBe(String(HISTORY_SHARDS));
  });
});

describe.runIf(inFull)(
  'the commands, each by itself with the environment of its service, from what the image holds',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'compose-'));
    const image = join(folder, 'image');
    const children: ChildProcess[] = [];
    let server: RunningPostgres;
    let temporal: Awaited<ReturnType<typeof startTemporalInOneProcess>>;
    let files: Json;
    /** Of ours, of which the image is made. */
    let sources: readonly string[];
    /** Replaces the names and ports of compose's networks. */
    let places: readonly (readonly [string, string])[];
    let ports: Readonly<Record<'api' | 'sandbox' | 'smtp', number>>;
    const values = {
      AUDIENCE: 'https://compose.example.com',
      CONFIG_FILE: join(folder, 'configuration.json'),
      DATABASE_PASSWORD: randomBytes(16).toString('hex'),
      CONSOLE_CLIENT_ID: 'console',
      CONSOLE_CLIENT_SECRET: randomBytes(16).toString('hex'),
      CONSOLE_ISSUER: 'https://login.example.com/identity',
      CONSOLE_URL: 'https://console.example.com',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      MAIL_FROM: 'no-reply@example.com',
      MIGRATION_DATABASE_PASSWORD: randomBytes(16).toString('hex'),
      POSTGRES_PASSWORD: 'not-used-here',
      PUBLIC_URL: 'https://accounts.example.com',
      SANDBOX_BANK_SECRET: randomBytes(16).toString('hex'),
      SMTP_URL: 'smtps://mail.example.com',
      TEMPORAL_POSTGRES_PASSWORD: '',
    };

    beforeAll(async () => {
      sources = await layOutImage(PROJECT_DIRECTORY, image);
      server = await startPostgres({ dataDirectory: join(folder, 'postgres') });
      // The server of the tests has a database and a role of this name already, which the image of Postgres has not.
      await onServer((sql) => sql.unsafe('DROP DATABASE financial_accounts'));
      await onServer((sql) => sql.unsafe('DROP ROLE financial_accounts'));
      temporal = await startTemporalInOneProcess({
        serverUrl: server.ownerUrl,
        directory: join(folder, 'temporal'),
        suffix: 'compose',
      });
      values.TEMPORAL_POSTGRES_PASSWORD = decodeURIComponent(new URL(server.ownerUrl).password);
      files = { base: parsed(text, values), all: merged(parsed(text, values), parsed(sandboxText, values)) };
      ports = { api: await freePort(), sandbox: await freePort(), smtp: await freePort() };
      places = [
        ['@postgres:5432', `@127.0.0.1:${server.port}`],
        ['temporal:7233', temporal.address],
        ['http://sandbox:3100', `http://127.0.0.1:${ports.sandbox}`],
        ['sandbox:1025', `127.0.0.1:${ports.smtp}`],
        ['http://api:3000', `http://127.0.0.1:${ports.api}`],
        ['/configuration.json', values.CONFIG_FILE],
        ['/data', join(folder, 'data')],
        ['temporal-postgres', '127.0.0.1'],
      ];
      const realUse = {
        providers: { 'sandbox-bank': null },
        directories: { 'pay-uk': { defaultProvider: 'custom-bank' }, 'eu-vop': { defaultProvider: 'custom-bank' } },
        console: { roles: { 'payments-on-call': 'operator' } },
      };
      writeFileSync(values.CONFIG_FILE, JSON.stringify(realUse));
    });

    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL');
      await temporal?.close();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    async function onServer<Result>(
      work: (sql: postgres.Sql) => Promise<Result>,
      database = 'postgres',
    ): Promise<Result> {
      const url = new URL(server.ownerUrl);
      url.pathname = `/${database}`;
      const sql = postgres(url.href, { max: 1, onnotice: () => {} });
      try {
        return await work(sql);
      } finally {
        await sql.end({ timeout: 5 });
      }
    }

    function here(given: string): string {
      return places.reduce((result, [there, place]) => result.replace(there, place), given);
    }

    /** The service's own variables and nothing of ours, but what finds programs. */
    function environmentOf(service: Json, change: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
      const own = Object.entries<string>(service.environment).map(([name, value]) => [name, here(value)]);
      const loopback = { API_HOST: '127.0.0.1', CONSOLE_HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1' };
      return { PATH: process.env.PATH, HOME: process.env.HOME, ...Object.fromEntries(own), ...loopback, ...change };
    }

    function run(command: readonly string[], env: NodeJS.ProcessEnv): Promise<{ status: number; output: string }> {
      const [program = '', ...words] = command;
      return new Promise((resolve) => {
        execFile(program === 'node' ? process.execPath : program, words, { cwd: image, env }, (error, out, err) => {
          resolve({ status: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output: out + err });
        });
      });
    }

    async function startUntil(word: string, service: Json, change: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
      const [program, ...words] = service.command;
      expect(program).toBe('node');
      const child = spawn(process.execPath, words, {
        cwd: image,
        env: environmentOf(service, change),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.push(child);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
      await eventually(
        () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
          return output.includes(word);
        },
        WAIT_MS_MAX,
        () => output,
      );
      return child;
    }

    async function stop(child: ChildProcess): Promise<number | null> {
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      return ended;
    }

    test('what the image is made of reaches its build, and nothing that is secret or only for tests does', () => {
      const context = buildContext(PROJECT_DIRECTORY, ignoreRules(textOf('.dockerignore')), ['node_modules', '.git']);
      expect(sources.length).toBeGreaterThan(500);
      expect(sources.filter((path) => !context.includes(path))).toEqual([]);
      expect(context.filter((path) => /\.test\.ts$|\.pem$|^\.env/.test(path))).toEqual([]);
    });

    test('the script of the first start makes two roles without further rights, of which one owns the database and migrates', async () => {
      const script: string = files.base.configs['service-roles'].content;
      for (const statement of script.trim().split('\n')) await onServer((sql) => sql.unsafe(statement));
      const roles = await onServer(
        (sql) =>
          sql`SELECT rolname, rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname LIKE 'financial%' ORDER BY 1`,
      );
      const none = { rolsuper: false, rolcreatedb: false, rolcreaterole: false };
      expect([...roles]).toEqual(
        ['financial_accounts', 'financial_accounts_owner'].map((rolname) => ({ rolname, ...none })),
      );
      const { migrate } = files.base.services;
      expect(await run(migrate.command, environmentOf(migrate))).toMatchObject({ status: 0 });
      expect((await run(migrate.command, environmentOf(migrate))).output).toBe('The database is up to date.\n');
    });

    test('operators’ commands act on the database', async () => {
      const check = ['node', 'dist/fas.mjs', 'ledger', 'check', '--json'];
      const checked = await run(check, environmentOf(files.base.services.worker));
      expect(checked).toEqual({ status: 0, output: '{"violations":[]}\n' });
    });

    test("Temporal's schema and namespace are made, and made again without harm", async () => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      symlinkSync((await temporalPrograms()).sqlTool, join(bin, 'temporal-sql-tool'));
      symlinkSync(await temporalBinary(), join(bin, 'temporal'));
      const PATH = `${bin}:${process.env.PATH}`;
      const { 'temporal-schema': schema, 'temporal-namespace': namespace } = files.base.services;
      const { username } = new URL(server.ownerUrl);
      const change = { PATH, SQL_PORT: String(server.port), SQL_USER: username };
      for (const service of [schema, schema, namespace, namespace]) {
        const ran = await run([...service.entrypoint, ...service.command], environmentOf(service, change));
        expect(ran.status, ran.output).toBe(0);
      }
      for (const database of ['temporal', 'temporal_visibility']) {
        const [row] = await onServer((sql) => sql`SELECT curr_version AS version FROM schema_version`, database);
        expect(row?.version).toMatch(/^1\.\d+$/);
      }
    });

    test('API, worker and console start on it, are healthy by their own checks, and end in order', async () => {
      const { api, worker, console: operating } = files.base.services;
      const ownPort = { PORT: String(ports.api), METRICS_PORT: String(await freePort()) };
      const apiProcess = await startUntil('api ready', api, ownPort);
      const guide = await fetch(`http://127.0.0.1:${ports.api}/docs/guides/hold-money`);
      expect(guide.status, 'the image has the guides').toBe(200);
      const workerPort = String(await freePort());
      const workerProcess = await startUntil('worker ready', worker, { METRICS_PORT: workerPort });
      const [, ...apiCheck] = api.healthcheck.test.map((word: string) => word.replace('3000', String(ports.api)));
      expect(await run(apiCheck, environmentOf(api))).toMatchObject({ status: 0 });
      const consolePort = String(await freePort());
      const consoleProcess = await startUntil('console ready', operating, {
        CONSOLE_PORT: consolePort,
        METRICS_PORT: String(await freePort()),
      });
      const [, ...consoleCheck] = operating.healthcheck.test.map((word: string) => word.replace('3200', consolePort));
      expect(await run(consoleCheck, environmentOf(operating))).toMatchObject({ status: 0 });
      expect(Object.keys(operating.environment), 'the console').not.toContain('ENCRYPTION_KEY');
      const [, ...workerCheck] = worker.healthcheck.test.map((word: string) => word.replace('9464', workerPort));
      expect(await run(workerCheck, environmentOf(worker))).toMatchObject({ status: 0 });
      const { 'worker-version': promotion } = files.base.services;
      expect(await run(promotion.command, environmentOf(promotion)), 'the tasks are given to the worker').toEqual({
        status: 0,
        output: expect.stringContaining('Workers of latest get all tasks.\n'),
      });
      expect(await stop(apiProcess)).toBe(0);
      expect(await stop(workerProcess)).toBe(0);
      expect(await stop(consoleProcess)).toBe(0);
      expect((await run(apiCheck, environmentOf(api))).status, 'the check can fail').toBe(1);
    });

    test('with the sandbox, the sandbox starts too, along with API and worker', async () => {
      const { sandbox, api, worker } = files.all.services;
      const change = {
        SANDBOX_PORT: String(ports.sandbox),
        SANDBOX_SMTP_PORT: String(ports.smtp),
        SANDBOX_SFTP_PORT: '0',
        SANDBOX_HOST: '127.0.0.1',
      };
      const started = [await startUntil('sandbox ready', sandbox, change)];
      const [, ...check] = sandbox.healthcheck.test.map((word: string) => word.replace('3100', String(ports.sandbox)));
      expect(await run(check, environmentOf(sandbox))).toMatchObject({ status: 0 });
      const local = { CONFIG_FILE: join(image, 'config/local.json') };
      const metrics = async () => ({ ...local, METRICS_PORT: String(await freePort()) });
      started.push(await startUntil('api ready', api, { ...(await metrics()), PORT: String(ports.api) }));
      started.push(await startUntil('worker ready', worker, await metrics()));
      expect(await Promise.all(started.map(stop))).toEqual([0, 0, 0]);
    });
  },
);

import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readEndpoints } from '../../cli/common/endpoints.ts';
import { isAlive } from '../../cli/common/processes.ts';
import { readStartEnvironment } from '../../dev/start/start-environment.ts';
import type { ChildName } from '../../dev/start/supervisor.ts';
import { Browser } from '../console/browser.ts';
import { blocksOf, GuideShell, isOutput } from '../documents/guide-shell.ts';
import { createEmptyDatabase } from '../harness/servers/postgres.ts';
import {
  eventually,
  FROM_SOURCES,
  newServiceInstallation,
  printedBy,
  recordedChildren,
  recordedProcess,
  removeServiceInstallation,
  runStart,
  type ServiceInstallation,
  type StartedService,
  startService,
} from '../harness/servers/started-service.ts';
import { entryArguments } from '../tools/run/entries.ts';
import { inFull, oneIn, shortOrLong } from '../tools/run/length.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
/** Guards against hanging only: on an idle machine the 20 s follow from the grace periods of the parts. */
const STOPPED_MS_MAX = 120_000;
const RUNNING_MS_MAX = 240_000;
const CHILDREN: ChildName[] = ['console', 'api', 'worker', 'sandbox', 'temporal', 'postgres'];

interface CommandResult {
  output: string;
  errors: string;
  exitCode: number | null;
}

async function runToken(installation: ServiceInstallation, ...tokenArguments: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [...entryArguments('dev/token.ts'), ...tokenArguments], {
    cwd: PROJECT_DIRECTORY,
    env: installation.environment,
  });
  const printed = printedBy(child);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { output: printed.output(), errors: printed.errors(), exitCode };
}

function audienceOf(token: string): unknown {
  return decodeJwt(token.trim()).aud;
}

/** Asked again while a busy machine does not answer within the limits of the service itself. */
async function statusOf(url: string, token?: string): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const deadline = performance.now() + RUNNING_MS_MAX;
  for (;;) {
    const status = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status !== 503 || performance.now() > deadline) return status;
    await sleep(100);
  }
}

function walkIn(service: StartedService): string | undefined {
  return /^Walk through a consent in a browser: (.+\n.+)$/m.exec(service.output())?.[1];
}

async function expectEnd(service: StartedService): Promise<void> {
  const ended = await Promise.race([service.exitCode, sleep(STOPPED_MS_MAX).then(() => 'still running')]);
  expect(ended, service.output() + service.errors()).toBe(0);
}

describe('a started service', () => {
  let first: ServiceInstallation;
  let second: ServiceInstallation;
  let firstService: StartedService;
  let secondService: StartedService;

  beforeAll(async () => {
    first = await newServiceInstallation();
    second = await newServiceInstallation();
    firstService = await startService(first, {}, FROM_SOURCES);
    secondService = await startService(second);
  });

  afterAll(async () => {
    await removeServiceInstallation(first);
    await removeServiceInstallation(second);
  });

  test('runs all its parts, next to another copy on the same machine', async () => {
    for (const installation of [first, second]) {
      expect(recordedChildren(installation).map(({ name }) => name)).toEqual(CHILDREN);
      expect(await statusOf(`${installation.apiUrl}/health/ready`)).toBe(200);
    }
    const pids = [first, second].flatMap((installation) =>
      recordedChildren(installation).map(({ identity }) => identity.pid),
    );
    expect(new Set(pids).size).toBe(2 * CHILDREN.length);
  });

  test('listens on the loopback address only, and its tokens name the installation that they are for', async () => {
    // Other addresses of the machine: a server on all addresses would answer here too.
    for (const other of ['127.0.0.2', '[::1]'])
      expect(await statusOf(`http://${other}:${first.port}/health/live`)).toBe(0);
    const audiences = await Promise.all(
      [first, second].map(async (installation) => audienceOf((await runToken(installation)).output)),
    );
    expect(audiences[0]).toMatch(/^financial-accounts-service-[0-9a-f-]{36}$/);
    expect(audiences[1]).not.toBe(audiences[0]);
  });

  test('prints the addresses and a curl that works when pasted', async () => {
    expect(firstService.output()).toContain(`${first.apiUrl}/docs`);
    expect(firstService.output()).toContain(`http://127.0.0.1:${first.environment.TEMPORAL_UI_PORT}`);
    const curl = /^ +(curl .+)$/m.exec(firstService.output())?.[1];
    expect(curl).toBeDefined();
    const shell = spawn('sh', ['-c', `${curl} -o /dev/null -w '%{http_code}'`], { cwd: '/' });
    let printed = '';
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
    await new Promise((resolve) => shell.once('close', resolve));
    expect(printed).toBe('200');
  });

  test('prints where a consent can be walked through, and how to sign in there, after each start the same', async () => {
    expect(walkIn(firstService)).toMatch(
      new RegExp(`^${first.sandboxUrl}/third-party\n  Sign in as \\S+@example\\.com with the password [a-z2-9-]{19}$`),
    );
    expect(walkIn(secondService)).not.toBe(walkIn(firstService));
    const pages = ['', '/third-party', '/mail'].map((path) => `${first.sandboxUrl}${path}`);
    expect(await Promise.all(pages.map((page) => statusOf(page)))).toEqual([200, 200, 200]);
  });

  test('prints the address of the console, where a person who is picked in the sandbox is signed in', async () => {
    expect(firstService.output()).toContain(`Console        ${first.consoleUrl} (pick who you are)`);
    const browser = new Browser();
    const asked = await browser.open(`${first.consoleUrl}/search`);
    expect(asked.url.startsWith(`${first.sandboxUrl}/identity/`), asked.url).toBe(true);
    const page = await browser.open(asked.url, { form: { person: 'operator' }, headers: { origin: first.sandboxUrl } });
    expect([page.status, page.url]).toEqual([200, `${first.consoleUrl}/search`]);
    expect(page.text).toContain('Olga Ladyzhenskaya');
  });

  test('shows the metrics of API and worker on ports of their own, which it prints and records', async () => {
    for (const [installation, service] of [
      [first, firstService],
      [second, secondService],
    ] as const) {
      const { apiMetricsUrl, workerMetricsUrl } = readEndpoints(installation.dataDirectory);
      expect(service.output()).toContain(apiMetricsUrl);
      expect(service.output()).toContain(workerMetricsUrl);
      const texts = await Promise.all([apiMetricsUrl, workerMetricsUrl].map(async (url) => (await fetch(url)).text()));
      expect(texts.map((text) => text.includes('# TYPE http_request_duration_seconds'))).toEqual([true, false]);
      expect(texts.map((text) => text.includes('# TYPE webhook_attempts_total'))).toEqual([false, true]);
      expect(await statusOf(`${installation.apiUrl}/metrics`)).toBe(404);
    }
  });

  test('generates an encryption key that only its owner can read', () => {
    const keys = [first, second].map(({ dataDirectory }) => join(dataDirectory, 'encryption-key'));
    for (const file of keys) expect(statSync(file).mode & 0o077).toBe(0);
    expect(new Set(keys.map((file) => readFileSync(file, 'utf8'))).size).toBe(2);
  });

  test('gives a token of the development machine user, and nothing else on standard output', async () => {
    const { output, exitCode } = await runToken(first);
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(await statusOf(`${first.apiUrl}/clients`, output.trim())).toBe(200);
    expect(await statusOf(`${first.apiUrl}/machine-users`, output.trim())).toBe(200);
    expect(await statusOf(`${second.apiUrl}/clients`, output.trim()), "another copy's token").toBe(401);
  });

  test('gives a token of a machine user that has only one role', async () => {
    const { output } = await runToken(first, '--role', 'viewer');
    expect(await statusOf(`${first.apiUrl}/clients`, output.trim())).toBe(200);
    expect(await statusOf(`${first.apiUrl}/machine-users`, output.trim())).toBe(403);
  });

  test('rejects a token for an unknown role in one line', async () => {
    const { output, errors, exitCode } = await runToken(first, '--role', 'king');
    expect([output, exitCode]).toEqual(['', 1]);
    expect(errors.trim()).toMatch(/^There is no role "king"[^\n]*$/);
  });

  test('rejects a second start on its data directory, and keeps running', async () => {
    const another = runStart(first);
    expect(await another.exitCode).toBe(1);
    expect(another.errors().trim()).toMatch(/^A service already runs on [^\n]*DATA_DIR[^\n]*$/);
    expect(await statusOf(`${first.apiUrl}/health/ready`)).toBe(200);
  });

  test.each(shortOrLong<ChildName[]>(['worker'], CHILDREN))('starts a killed %s again', async (name) => {
    const before = recordedProcess(first, name);
    if (before === undefined) throw new Error(`${name} does not run`);
    process.kill(before.pid, 'SIGKILL');
    await eventually(
      () => {
        const now = recordedProcess(first, name);
        return now !== undefined && now.pid !== before.pid && firstService.output().includes(`${name} runs again.`);
      },
      RUNNING_MS_MAX,
      firstService.output,
    );
    await eventually(
      async () => (await statusOf(`${first.apiUrl}/health/ready`)) === 200,
      RUNNING_MS_MAX,
      firstService.output,
    );
  });

  test('the tour of the README runs as it stands', async () => {
    const { apiUrl: api, sandboxUrl: sandbox, environment } = first;
    const shell = new GuideShell({ ...environment, api, sandbox });
    onTestFinished(() => shell.close());
    const blocks = blocksOf(readFileSync(join(PROJECT_DIRECTORY, 'README.md'), 'utf8'));
    expect(blocks.filter(({ language }) => language === 'bash').length).toBeGreaterThan(2);
    let printed = '';
    for (const { language, text } of blocks) {
      if (language === 'bash') printed = await shell.run(text);
      if (language === 'text' && !isOutput(text, printed)) expect(printed).toBe(text);
    }
  });

  test('stops everything when its group is signalled to end, twice', async () => {
    const children = recordedChildren(first);
    expect(children).toHaveLength(CHILDREN.length);
    const pid = firstService.process.pid ?? 0;
    process.kill(-pid, 'SIGTERM');
    await sleep(100);
    process.kill(-pid, 'SIGTERM');
    await expectEnd(firstService);
    expect(children.filter(({ identity }) => isAlive(identity))).toEqual([]);
    const order = [...firstService.output().matchAll(/^Stopped (\w+)\.$/gm)].map((match) => match[1]);
    expect(order).toEqual(CHILDREN);
    expect(recordedChildren(second), 'the other copy is not touched').toHaveLength(CHILDREN.length);
  });

  test('after a kill -9 the next start ends what was left and continues with the same data', async () => {
    const { output: token } = await runToken(second);
    const left = recordedChildren(second);
    expect(left).toHaveLength(CHILDREN.length);
    secondService.process.kill('SIGKILL');
    await secondService.exitCode;
    expect(
      left.filter(({ identity }) => !isAlive(identity)),
      'children outlive the kill',
    ).toEqual([]);
    const walk = walkIn(secondService);
    secondService = await startService(second);
    expect(walkIn(secondService)).toBe(walk);
    expect(left.filter(({ identity }) => isAlive(identity))).toEqual([]);
    expect(recordedChildren(second)).toHaveLength(CHILDREN.length);
    expect(await statusOf(`${second.apiUrl}/clients`, token.trim())).toBe(200);
  });

  test('stops on SIGINT', async () => {
    const children = recordedChildren(second);
    secondService.process.kill('SIGINT');
    await expectEnd(secondService);
    expect(children.filter(({ identity }) => isAlive(identity))).toEqual([]);
  });

  test.runIf(inFull)('stops when the process that started it is gone', async () => {
    // The shell plays the part of npm, which ends silently on SIGTERM.
    const shell = spawn('sh', ['-c', `"$0" --import tsx dev/start.ts & echo started; wait`, process.execPath], {
      cwd: PROJECT_DIRECTORY,
      env: second.environment,
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    });
    await eventually(
      async () =>
        recordedChildren(second).length === CHILDREN.length &&
        (await statusOf(`${second.apiUrl}/health/ready`)) === 200,
      RUNNING_MS_MAX,
      () => 'no service',
    );
    const start = recordedProcess(second, 'start');
    const children = recordedChildren(second);
    shell.kill('SIGTERM');
    await eventually(
      () => children.every(({ identity }) => !isAlive(identity)) && (start === undefined || !isAlive(start)),
      STOPPED_MS_MAX,
      () => JSON.stringify(recordedChildren(second)),
    );
  });
});

test.each([
  [undefined, 'http://127.0.0.1:3001'],
  ['192.0.2.7', 'http://192.0.2.7:3001'],
  ['::1', 'http://[::1]:3001'],
  ['0.0.0.0', 'http://127.0.0.1:3001'],
  ['::', 'http://127.0.0.1:3001'],
])('with API_HOST %s the start finds the API at %s, and so do providers', (API_HOST, url) => {
  expect(readStartEnvironment({ API_HOST, PORT: '3001' })).toMatchObject({ apiUrl: url, publicUrl: url });
});

describe('a start on a Postgres of the operator', () => {
  test('registers no development user there, gives no token, and says how to register a machine user', async () => {
    const installation = await newServiceInstallation();
    const database = await createEmptyDatabase('start');
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    onTestFinished(async () => {
      await sql.end({ timeout: 1 });
      await removeServiceInstallation(installation);
      await database.drop();
    });
    const service = await startService(installation, { DATABASE_URL: database.url });
    expect(await statusOf(`${installation.apiUrl}/health/ready`)).toBe(200);
    expect([...(await sql`SELECT name FROM machine_users`)]).toEqual([]);
    expect(service.output()).toContain('operate -- machine-user register NAME');
    expect(walkIn(service)).toBeUndefined();
    expect(await statusOf(`${installation.sandboxUrl}/third-party`)).toBe(404);
    const { output, errors, exitCode } = await runToken(installation);
    expect([output, exitCode]).toEqual(['', 1]);
    expect(errors.trim()).toMatch(/^The service runs on a Postgres of your own[^\n]*machine-user register[^\n]*$/);
    service.process.kill('SIGTERM');
    await expectEnd(service);
  });
});

describe('a start that cannot succeed', () => {
  let installation: ServiceInstallation;

  beforeAll(async () => {
    installation = await newServiceInstallation();
  });

  afterAll(async () => {
    await removeServiceInstallation(installation);
  });

  const mistakes: [string, NodeJS.ProcessEnv, RegExp][] = [
    ['a port that is no number', { PORT: 'three' }, /^PORT is "three".*1 to 65535/],
    ['a port out of range', { TEMPORAL_PORT: '65536' }, /^TEMPORAL_PORT is "65536".*1 to 65535/],
    ['a port given twice', { PORT: '4555', SANDBOX_PORT: '4555' }, /^PORT and SANDBOX_PORT are both 4555/],
    [
      'a DATABASE_URL of another kind',
      { DATABASE_URL: 'mysql://u:secret@h/d' },
      /^DATABASE_URL is no Postgres address(?!.*secret)/,
    ],
    [
      'a Postgres that is not there',
      { DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/d' },
      /^The Postgres of DATABASE_URL cannot be used(?!.*secret)/,
    ],
    [
      'a TEMPORAL_ADDRESS without a port',
      { TEMPORAL_ADDRESS: 'localhost' },
      /^TEMPORAL_ADDRESS is "localhost".*host:port/,
    ],
    ['a PUBLIC_URL that is none', { PUBLIC_URL: 'ftp://x' }, /^PUBLIC_URL is "ftp:\/\/x"/],
    [
      'a configuration value out of its set',
      { COMPLIANCE_INCOMING: 'maybe' },
      /^The configuration is not valid:.*maybe/,
    ],
    [
      'a configuration file that is missing',
      { CONFIG_FILE: '/nowhere/config.json' },
      /^The configuration is not valid:.*\/nowhere\/config\.json/,
    ],
    ['half a client certificate', { TEMPORAL_TLS_CLIENT_KEY_PATH: '/dev/null' }, /^TEMPORAL_TLS_CLIENT_CERT_PATH and/],
    ['a secret that is too short', { SANDBOX_BANK_SECRET: 'short' }, /^SANDBOX_BANK_SECRET must hold(?!.*short)/],
    ['a log level that is none', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL .*loud/],
    ['a data directory that is a file', { DATA_DIR: fileURLToPath(import.meta.url) }, /^DATA_DIR .*cannot be made/],
  ];

  test.each(oneIn(3, mistakes))('ends with one clear line: %s', async (_name, overrides, line) => {
    const service = runStart(installation, overrides);
    expect(await service.exitCode).toBe(1);
    const lines = service.errors().trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(line);
    expect(recordedChildren(installation)).toEqual([]);
  });

  test('ends with one clear line when a port is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(installation.port, '127.0.0.1', resolve));
    const service = runStart(installation);
    const exitCode = await service.exitCode;
    server.close();
    expect(exitCode).toBe(1);
    expect(service.errors().trim()).toMatch(
      new RegExp(`^Port ${installation.port}, wanted for the API, is in use\\.[^\\n]*PORT[^\\n]*$`),
    );
    expect(recordedChildren(installation)).toEqual([]);
  });

  test('a token without a service that ever ran is rejected in one line on standard error', async () => {
    const { output, errors, exitCode } = await runToken(installation);
    expect([output, exitCode]).toEqual(['', 1]);
    expect(errors.trim()).toMatch(/^No service was started with [^\n]*npm start[^\n]*$/);
  });
});

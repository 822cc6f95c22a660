import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { identify } from '../../cli/common/processes.ts';
import { startPostgres } from '../../dev/servers/postgres.ts';
import { postgresUser } from '../../dev/servers/postgres-user.ts';
import {
  eventually,
  newServiceInstallation,
  recordedChildren,
  removeServiceInstallation,
  type ServiceInstallation,
  startService,
} from '../harness/servers/started-service.ts';

/** How often everything is killed; a longer run sets it. */
const ROUNDS = Number(process.env.START_AFTER_KILL_ROUNDS ?? 2);
const WAIT_MS_MAX = 60_000;

/** A process of Postgres's user that has ended and is never reaped, as in a container without an init. */
async function startZombie(): Promise<number> {
  // Its parent has become `sleep` before it ends, and reaps no child.
  const parent = spawn('sh', ['-c', 'exec 3<&0; head -c1 <&3 >/dev/null & echo $!; exec sleep 600'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    ...(postgresUser() ?? {}),
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))));
  await eventually(
    () => commandOf(parent.pid ?? 0) === 'sleep',
    WAIT_MS_MAX,
    () => commandOf(parent.pid ?? 0),
  );
  parent.stdin.write('x');
  await eventually(
    () => stateOf(pid) === 'Z',
    WAIT_MS_MAX,
    () => stateOf(pid),
  );
  return pid;
}

function stat(pid: number | string): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return [
    text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    ...text.slice(text.lastIndexOf(')') + 2).split(' '),
  ];
}

function commandOf(pid: number): string {
  return stat(pid)[0] ?? '';
}

function stateOf(pid: number): string {
  return stat(pid)[1] ?? '';
}

test.runIf(process.platform === 'linux')(
  'a Postgres that was killed and is not reaped yet keeps no other from starting',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postgres-zombie-'));
    const first = await startPostgres({ dataDirectory: directory });
    const sql = postgres(first.ownerUrl, { max: 1, onnotice: () => {} });
    await sql`CREATE TABLE kept AS SELECT 1 AS one`;
    await sql.end({ timeout: 1 });
    await first.kill();
    const pid = await startZombie();
    expect(identify(pid), 'a zombie counts as dead').toBeUndefined();
    const lockFile = join(directory, 'cluster', 'postmaster.pid');
    const [, ...rest] = readFileSync(lockFile, 'utf8').split('\n');
    writeFileSync(lockFile, [String(pid), ...rest].join('\n'));
    const second = await startPostgres({ dataDirectory: directory });
    onTestFinished(async () => {
      await second.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    const again = postgres(second.ownerUrl, { max: 1, onnotice: () => {} });
    expect([...(await again`SELECT one FROM kept`)]).toEqual([{ one: 1 }]);
    await again.end({ timeout: 1 });
  },
);

let installation: ServiceInstallation;

beforeAll(async () => {
  installation = await newServiceInstallation();
});

afterAll(async () => {
  await removeServiceInstallation(installation);
});

/** Every process below these, whatever group it is in. */
function descendantsOf(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = Number(stat(entry)[2]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid: number): number[] => (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return [...new Set(roots.flatMap((pid) => [pid, ...below(pid)]))];
}

test.runIf(process.platform === 'linux')('a start right after a kill -9 of everything works, every time', async () => {
  let service = await startService(installation);
  for (let round = 0; round < ROUNDS; round += 1) {
    const roots = [service.process.pid ?? 0, ...recordedChildren(installation).map(({ identity }) => identity.pid)];
    for (const pid of descendantsOf(roots)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Its parent's end has ended it.
      }
    }
    service = await startService(installation);
    // A busy machine may not answer within the limit that the API has for its own look.
    await eventually(
      async () => (await fetch(`${installation.apiUrl}/health/ready`)).status === 200,
      WAIT_MS_MAX,
      () => `round ${round}: ${service.output()}`,
    );
  }
  service.process.kill('SIGTERM');
  expect(await service.exitCode).toBe(0);
});

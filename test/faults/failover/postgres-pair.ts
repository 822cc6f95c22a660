import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { type RunningPostgres, startPostgres } from '../../../dev/servers/postgres.ts';
import { executeOn } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';

const execute = promisify(execFile);

/** A base backup: the files as they happen to be while they are being written, and the log that makes a whole of them. */
export async function copyRunningPostgres(
  url: string,
  from: string,
  to: string,
  whileCopying: () => Promise<void> = async () => {},
): Promise<void> {
  const session = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await session`SELECT pg_backup_start('test', true)`;
    mkdirSync(to);
    chmodSync(to, 0o711);
    const [source, target] = [join(from, 'cluster'), join(to, 'cluster')];
    // Files may come and go meanwhile, of which cp complains at its end.
    await execute('cp', ['-a', source, target]).catch(() => {});
    await whileCopying();
    const [stopped] = await session<{ label: string }[]>`SELECT labelfile AS label FROM pg_backup_stop(false)`;
    rmSync(join(target, 'postmaster.pid'), { force: true });
    rmSync(join(target, 'pg_wal'), { recursive: true, force: true });
    await execute('cp', ['-a', join(source, 'pg_wal'), join(target, 'pg_wal')]).catch(() => {});
    writeOf(target, 'backup_label', stopped?.label ?? '');
    copyFileSync(join(from, 'password'), join(to, 'password'));
  } finally {
    await session.end();
  }
}

/** Writes a file that belongs to whom the folder belongs. */
function writeOf(folder: string, name: string, text: string): void {
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o600 });
  const { uid, gid } = statSync(folder);
  chownSync(file, uid, gid);
}

/** `kill -9` of a process and its children, which cannot say goodbye. */
export function killWithChildren(pid: number): void {
  // Stopped first, so that it starts nothing while its children are counted.
  killIfAlive(pid, 'SIGSTOP');
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  for (const victim of [pid, ...children.split('\n').map(Number)]) if (victim > 0) killIfAlive(victim, 'SIGKILL');
}

export function killIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** A primary and a standby that streams from it. */
export interface PostgresPair {
  readonly primary: RunningPostgres;
  readonly standby: RunningPostgres;
  /** Both hosts, the standby first, as the service's role. */
  readonly url: string;
  readonly ownerUrl: string;
  /** Until then commits do not wait for the standby. */
  makeSynchronous(): Promise<void>;
  /** `kill -9` of the primary and all its sessions. */
  killPrimary(): Promise<void>;
  promoteStandby(): Promise<void>;
  close(): Promise<void>;
}

const STANDBY = 'standby';

export async function startPostgresPair(): Promise<PostgresPair> {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-pair-'));
  chmodSync(directory, 0o711);
  const running: RunningPostgres[] = [];
  const close = async () => {
    for (const server of running) await server.kill();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const primary = await startPostgres({ dataDirectory: join(directory, 'primary') });
    running.push(primary);
    const home = join(directory, 'standby');
    await copyRunningPostgres(primary.ownerUrl, join(directory, 'primary'), home);
    copyFileSync(join(directory, 'primary', 'service-password'), join(home, 'service-password'));
    writeOf(join(home, 'cluster'), 'standby.signal', '');
    const { port, password } = new URL(primary.ownerUrl);
    const standby = await startPostgres({
      dataDirectory: home,
      settings: {
        primary_conninfo: `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${STANDBY}`,
      },
    });
    running.push(standby);
    const bothOf = (url: string) => url.replace('@', `@127.0.0.1:${standby.port},`);
    return {
      primary,
      standby,
      url: bothOf(primary.url),
      ownerUrl: bothOf(primary.ownerUrl),
      makeSynchronous: async () => {
        await executeOn(primary.ownerUrl, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
        await executeOn(primary.ownerUrl, 'SELECT pg_reload_conf()');
        const states = 'SELECT sync_state AS state FROM pg_stat_replication';
        await until(
          () => executeOn<{ state: string }>(primary.ownerUrl, states),
          (rows) => rows.some(({ state }) => state === 'sync'),
        );
      },
      killPrimary: async () => {
        killWithChildren(primary.process.pid);
        await primary.kill();
        await primary.process.ended;
      },
      promoteStandby: async () => {
        await executeOn(standby.ownerUrl, 'SELECT pg_promote()');
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logTail, spawnRecorded, stopProcess } from '../../../cli/common/processes.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { makePassable, postgresUser } from '../../../dev/servers/postgres-user.ts';
import { executeOn } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';
import { debianPackages } from './debian-packages.ts';

export interface PgBouncer {
  /** The same address, through it. */
  through(url: string): string;
  close(): Promise<void>;
}

/** Debian's PgBouncer before a server, for the roles of these addresses; null on a machine without apt. */
export async function startPgBouncer(
  mode: 'session' | 'transaction',
  server: string,
  others: readonly string[] = [],
): Promise<PgBouncer | null> {
  const root = await debianPackages('pgbouncer', ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'], console.log);
  if (root === null) return null;
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const user = postgresUser();
  const { hostname, port: serverPort } = new URL(server);
  const users = [server, ...others]
    .map((url) => new URL(url))
    .map(({ username, password }) => `"${username}" "${password}"\n`);
  const port = await freePort();
  const files: Record<string, string> = {
    'pgbouncer.ini': `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, 'users.txt')}
pool_mode = ${mode}
default_pool_size = 100
max_client_conn = 200
`,
    'users.txt': users.join(''),
  };
  chmodSync(directory, 0o711);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    if (user !== undefined) chownSync(join(directory, name), user.uid, user.gid);
  }
  const command = join(root, 'usr', 'sbin', 'pgbouncer');
  if (user !== undefined) makePassable([command], user);
  const logFile = join(directory, 'pgbouncer.log');
  const running = await spawnRecorded({
    command,
    arguments: [join(directory, 'pgbouncer.ini')],
    environment: { PATH: process.env.PATH, LD_LIBRARY_PATH: join(root, 'usr', 'lib', 'x86_64-linux-gnu') },
    cwd: directory,
    logFile,
    pidFile: join(directory, 'pgbouncer.pid'),
    ...(user ?? {}),
  });
  const through = (url: string) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href;
  const close = async () => {
    await stopProcess(running, { graceMs: 2_000, signal: 'SIGKILL' });
    await running.ended;
    rmSync(directory, { recursive: true, force: true });
  };
  const answers = () =>
    executeOn(through(server), 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until(answers, (good) => good, 15_000).catch(async (error: unknown) => {
    const log = logTail(logFile, 10);
    await close();
    throw new Error(`PgBouncer does not answer: ${log}`, { cause: error });
  });
  return { through, close };
}

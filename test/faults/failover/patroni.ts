import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, type RunningProcess, spawnRecorded, stopProcess } from '../../../cli/common/processes.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { makePassable, postgresUser } from '../../../dev/servers/postgres-user.ts';
import type { Json } from '../../harness/api.ts';
import { executeOn } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';
import type { Death, FailingPostgres } from './failover-run.ts';
import { killIfAlive, killWithChildren } from './postgres-pair.ts';

export interface PatroniPrograms {
  readonly patroni: string;
  readonly etcd: string;
  /** With all programs of Postgres. */
  readonly binaries: string;
}

const SERVICE_ROLE = 'financial_accounts';
const DATABASE = 'financial_accounts';
/** The shortest that Patroni allows: how long a machine may be silent before another takes its place. */
const LEASE_SECONDS = 20;

/** Two servers of Postgres under Patroni, whose leases are in etcd: what operators run, on one machine. */
export async function startPatroni(
  programs: PatroniPrograms,
): Promise<FailingPostgres & { close(): Promise<void>; readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'patroni-'));
  const user = postgresUser();
  chmodSync(directory, 0o711);
  if (user !== undefined) {
    chownSync(directory, user.uid, user.gid);
    makePassable([programs.patroni, programs.binaries], user);
  }
  const password = randomBytes(16).toString('hex');
  const etcd = await startEtcd(programs.etcd, directory);
  const settings = { programs, directory, etcdPort: etcd.port, password, user };
  const nodes = [await PatroniNode.prepare('one', settings), await PatroniNode.prepare('two', settings)] as const;
  const killAll = () => {
    for (const node of nodes) node.killNow();
    etcd.process.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const close = async () => {
    process.off('exit', killAll);
    for (const node of nodes) await node.kill('machine');
    await etcd.process.end();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    // The first becomes the primary, and the other its copy.
    await nodes[0].start();
    await untilMember(nodes[0], ({ role, state }) => role === 'leader' && state === 'running');
    await nodes[1].start();
    await untilSynchronous(nodes);
    const owner = `postgres://postgres:${password}@127.0.0.1:${nodes[0].port}`;
    await executeOn(`${owner}/postgres`, `CREATE ROLE ${SERVICE_ROLE} LOGIN PASSWORD '${password}'`);
    await executeOn(`${owner}/postgres`, `CREATE DATABASE ${DATABASE}`);
  } catch (error) {
    await close();
    throw error;
  }
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  let killed: PatroniNode | null = null;
  return {
    directory,
    url: `postgres://${SERVICE_ROLE}:${password}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    ownerUrl: `postgres://postgres:${password}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    killPrimary: async (death) => {
      killed = await leaderOf(nodes);
      await killed.kill(death);
    },
    bringBack: async () => {
      await killed?.start();
      await untilSynchronous(nodes);
    },
    close,
  };
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

async function membersAt(node: PatroniNode): Promise<readonly Member[]> {
  try {
    const response = await fetch(`http://127.0.0.1:${node.apiPort}/cluster`);
    const { members }: Json = await response.json();
    return members ?? [];
  } catch {
    return [];
  }
}

async function untilMember(node: PatroniNode, good: (member: Member) => boolean): Promise<void> {
  await until(
    () => membersAt(node),
    (members) => members.some((member) => member.name === node.name && good(member)),
  );
}

/** A leader, and a standby without whose answer nothing is acknowledged. */
async function untilSynchronous(nodes: readonly PatroniNode[]): Promise<void> {
  await until(
    async () => (await Promise.all(nodes.map(membersAt))).find((members) => members.length > 0) ?? [],
    (members) =>
      members.some(({ role, state }) => role === 'leader' && state === 'running') &&
      members.some(({ role, state }) => role === 'sync_standby' && state === 'streaming'),
  );
}

async function leaderOf(nodes: readonly PatroniNode[]): Promise<PatroniNode> {
  for (const node of nodes) {
    const leader = (await membersAt(node)).find(({ role }) => role === 'leader');
    const found = nodes.find(({ name }) => name === leader?.name);
    if (found !== undefined) return found;
  }
  throw new Error('there is no primary');
}

interface OwnProcess {
  kill(signal: NodeJS.Signals): void;
  end(): Promise<void>;
}

function own(running: RunningProcess): OwnProcess {
  return {
    kill: (signal) => killIfAlive(running.pid, signal),
    end: async () => {
      await stopProcess(running, { graceMs: 5_000, signal: 'SIGKILL' });
      await running.ended;
    },
  };
}

async function startEtcd(command: string, directory: string): Promise<{ port: number; process: OwnProcess }> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const running = await spawnRecorded({
    command,
    arguments: [
      ...['--name', 'etcd', '--data-dir', join(directory, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `etcd=${peer}`],
    ],
    environment: { PATH: process.env.PATH },
    logFile: join(directory, 'etcd.log'),
    pidFile: join(directory, 'etcd.pid'),
  });
  const isHealthy = () =>
    fetch(`${client}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isHealthy, (healthy) => healthy, 30_000);
  return { port, process: own(running) };
}

interface NodeSettings {
  readonly programs: PatroniPrograms;
  readonly directory: string;
  readonly etcdPort: number;
  readonly password: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

class PatroniNode {
  readonly name: string;
  readonly port: number;
  readonly apiPort: number;
  readonly #settings: NodeSettings;
  readonly #home: string;
  #running: RunningProcess | null = null;

  static async prepare(name: string, settings: NodeSettings): Promise<PatroniNode> {
    return new PatroniNode(name, await freePort(), await freePort(), settings);
  }

  private constructor(name: string, port: number, apiPort: number, settings: NodeSettings) {
    this.name = name;
    this.port = port;
    this.apiPort = apiPort;
    this.#settings = settings;
    this.#home = join(settings.directory, name);
    mkdirSync(this.#home, { mode: 0o700 });
    const file = join(this.#home, 'patroni.json');
    writeFileSync(file, JSON.stringify(this.#configuration()), { mode: 0o600 });
    const { user } = settings;
    if (user !== undefined) for (const path of [this.#home, file]) chownSync(path, user.uid, user.gid);
  }

  /** After a kill of Postgres only, Patroni still runs and starts it again. */
  async start(): Promise<void> {
    if (this.#running !== null) return;
    const { programs, directory, user } = this.#settings;
    this.#running = await spawnRecorded({
      command: programs.patroni,
      arguments: [join(this.#home, 'patroni.json')],
      environment: { PATH: `${programs.binaries}:${process.env.PATH}`, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      cwd: this.#home,
      logFile: join(directory, `${this.name}.log`),
      pidFile: join(directory, `${this.name}.pid`),
      ...(user ?? {}),
    });
  }

  /** `kill -9` of Postgres with all its sessions; before it, of what watches it, if the machine dies. */
  async kill(death: Death): Promise<void> {
    const running = this.#running;
    if (death === 'machine' && running !== null) killIfAlive(running.pid, 'SIGKILL');
    this.killPostgres();
    if (death !== 'machine' || running === null) return;
    await stopProcess(running, { graceMs: 5_000, signal: 'SIGKILL' });
    await running.ended;
    this.#running = null;
  }

  killNow(): void {
    if (this.#running !== null) killIfAlive(this.#running.pid, 'SIGKILL');
    this.killPostgres();
  }

  killPostgres(): void {
    const pid = this.#postmaster();
    if (pid === null) return;
    killWithChildren(pid);
  }

  #postmaster(): number | null {
    try {
      const pid = Number(readFileSync(join(this.#home, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      // The file of one that was killed may name a process that is not ours.
      return pid > 0 && commandLine(pid)?.includes(this.#home) === true ? pid : null;
    } catch {
      return null;
    }
  }

  #configuration(): Json {
    const { programs, etcdPort, password } = this.#settings;
    const login = (username: string) => ({ username, password });
    const address = `127.0.0.1:${this.port}`;
    const api = `127.0.0.1:${this.apiPort}`;
    return {
      scope: 'accounts',
      name: this.name,
      restapi: { listen: api, connect_address: api },
      etcd3: { hosts: [`127.0.0.1:${etcdPort}`] },
      bootstrap: {
        dcs: {
          ttl: LEASE_SECONDS,
          loop_wait: 2,
          retry_timeout: 5,
          // A server whose Postgres is dead hands over instead of starting it again.
          primary_start_timeout: 0,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 200, jit: 'off', max_wal_size: '2GB', timezone: 'UTC' },
          },
        },
        initdb: [
          { encoding: 'UTF8' },
          { locale: 'C' },
          { 'locale-provider': 'builtin' },
          { 'builtin-locale': 'C.UTF-8' },
          'data-checksums',
        ],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: join(this.#home, 'data'),
        bin_dir: programs.binaries,
        pgpass: join(this.#home, 'pgpass'),
        authentication: { superuser: login('postgres'), replication: login('replicator'), rewind: login('rewinder') },
        parameters: { unix_socket_directories: this.#home },
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
      },
    };
  }
}

import { join } from 'node:path';
import { type RunningProcess, stopProcess } from '../cli/common/processes.ts';
import { startPostgres } from '../dev/servers/postgres.ts';
import { createTemporalCluster, type TemporalService } from '../dev/servers/temporal-cluster.ts';
import { startTemporal } from '../dev/servers/temporal-server.ts';

/** The Temporal of a stage. */
export interface StageTemporal {
  readonly address: string;
  readonly namespace: string;
  /** Its server's processes, without those of its database. */
  readonly processIds: readonly number[];
  /** The Postgres that it has to itself; null if it keeps a file. */
  readonly store: { readonly urls: readonly string[]; readonly processId: number } | null;
  stop(): Promise<void>;
}

/** The server of `npm start`: one process with a file. */
export async function startDevelopmentServer(directory: string, say: (line: string) => void): Promise<StageTemporal> {
  const server = await startTemporal({
    databaseFile: join(directory, 'temporal.db'),
    logFile: join(directory, 'temporal.log'),
    pidFile: join(directory, 'temporal.pid'),
    onProgress: say,
  });
  const { address, namespace, process, stop } = server;
  return { address, namespace, processIds: [process.pid], store: null, stop };
}

const CLUSTER: readonly TemporalService[] = ['frontend', 'history', 'history', 'matching', 'matching', 'worker'];
const STOP_GRACE_MS = 10_000;

/** Each service a process of its own, two of history and matching each. */
export async function startCluster(directory: string, say: (line: string) => void): Promise<StageTemporal> {
  say('Starting a Temporal cluster …');
  const postgres = await startPostgres({ dataDirectory: join(directory, 'temporal-postgres'), onProgress: say });
  const cluster = await createTemporalCluster({
    serverUrl: postgres.ownerUrl,
    directory: join(directory, 'temporal'),
    suffix: 'bench',
  });
  const processes: RunningProcess[] = [];
  const stop = async () => {
    await Promise.all(processes.map((process) => stopProcess(process, { graceMs: STOP_GRACE_MS })));
    await postgres.stop();
  };
  try {
    for (const [index, service] of CLUSTER.entries()) {
      const name = `${service}-${index}`;
      const files = { logFile: join(directory, `${name}.log`), pidFile: join(directory, `${name}.pid`) };
      processes.push(await cluster.start({ name, services: [service], ...files }));
    }
    await cluster.ready(processes);
  } catch (error) {
    await stop();
    throw error;
  }
  const { address, namespace, stores } = cluster;
  const processIds = processes.map(({ pid }) => pid);
  return {
    address,
    namespace,
    processIds,
    store: { urls: Object.values(stores), processId: postgres.process.pid },
    stop,
  };
}

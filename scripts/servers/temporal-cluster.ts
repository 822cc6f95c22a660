import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runLongCommand } from '../frame/long-command.ts';
import { underFileLock } from '../frame/processes.ts';
import { errorMessage, RemedyError } from '../frame/remedy.ts';
import { findGo, outputOf, userCacheDirectory } from '../frame/user-cache.ts';

/** The release of docker-compose.yml and of `npm start`'s Temporal CLI. */
export const TEMPORAL_SERVER_VERSION = '1.29.1';

/** A production-like Temporal cluster: the server, and the tool that sets up its schema in Postgres. */
export interface TemporalCluster {
  readonly server: string;
  readonly sqlTool: string;
}

const PACKAGES = { server: 'cmd/server', sqlTool: 'cmd/tools/sql' } as const;

/** Paths of the two programs: cached, or built with Go. */
export async function temporalCluster(onProgress: (line: string) => void = () => {}): Promise<TemporalCluster> {
  const directory = userCacheDirectory('bin');
  const cluster: TemporalCluster = {
    server: join(directory, `temporal-server-${TEMPORAL_SERVER_VERSION}`),
    sqlTool: join(directory, `temporal-sql-tool-${TEMPORAL_SERVER_VERSION}`),
  };
  const isThere = () => existsSync(cluster.server) && existsSync(cluster.sqlTool);
  if (isThere()) return cluster;
  return underFileLock(
    join(userCacheDirectory(), 'temporal-cluster.lock'),
    async () => {
      // The previous lock holder may have built it.
      if (!isThere()) await build(cluster, onProgress);
      return cluster;
    },
    () => onProgress('Another process is building the Temporal server; waiting for it …'),
  );
}

async function build(cluster: TemporalCluster, onProgress: (line: string) => void): Promise<void> {
  const go = findGo();
  if (go === undefined) {
    throw new RemedyError(
      'No Go found. Install Go 1.25 or later: the test of real use builds a Temporal server with it.',
    );
  }
  onProgress('Building the Temporal server with Go; this takes some minutes, and only the first time …');
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  try {
    const packages = Object.values(PACKAGES).map((path) => `go.temporal.io/server/${path}@v${TEMPORAL_SERVER_VERSION}`);
    await runLongCommand({
      command: go,
      arguments: ['install', '-v', '-ldflags', '-s -w', ...packages],
      title: 'Building the Temporal server',
      onProgress,
      environment: { ...process.env, GOBIN: staging },
    });
    const built = { server: join(staging, 'server'), sqlTool: join(staging, 'sql') };
    for (const path of Object.values(built)) {
      if (outputOf(path, ['--version']) === undefined) throw new Error(`${path} does not run on this machine`);
    }
    renameSync(built.sqlTool, cluster.sqlTool);
    renameSync(built.server, cluster.server);
  } catch (error) {
    throw new RemedyError(`The Temporal server cannot be built: ${errorMessage(error)}`, { cause: error });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

import { goPrograms } from './go-programs.ts';

/** The release of docker-compose.yml and of `npm start`'s Temporal CLI. */
export const TEMPORAL_SERVER_VERSION = '1.29.1';

/** A production-like Temporal cluster: the server, and the tool that sets up its schema in Postgres. */
export interface TemporalCluster {
  readonly server: string;
  readonly sqlTool: string;
}

/** Paths of the two programs: cached, or built with Go. */
export async function temporalCluster(onProgress: (line: string) => void = () => {}): Promise<TemporalCluster> {
  const pathOf = await goPrograms(
    {
      title: 'Temporal server',
      neededFor: 'the test of real use',
      version: TEMPORAL_SERVER_VERSION,
      packages: {
        'temporal-server': 'go.temporal.io/server/cmd/server',
        'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
      },
    },
    onProgress,
  );
  return { server: pathOf('temporal-server'), sqlTool: pathOf('temporal-sql-tool') };
}

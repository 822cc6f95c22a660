import { temporalSettings } from '../../config/temporal.ts';
import { createDatabase } from '../../db/client.ts';
import type { Database } from '../../db/query/database.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { dataDirectory } from '../common/data-directory.ts';
import { readEndpoints } from '../common/endpoints.ts';

export interface Connections {
  readonly database: Database;
  readonly temporal: TemporalClient;
}

/** Database and Temporal as the environment says, or as the service has them that was started with DATA_DIR. */
export async function withConnections<Result>(
  environment: NodeJS.ProcessEnv,
  use: (connections: Connections) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, temporalAddress, temporalNamespace } = connectionSettings(environment);
  const database = createDatabase({ url: databaseUrl, maxConnections: 2, applicationName: 'operate' });
  const temporal = lazyTemporalClient(
    temporalSettings({ ...environment, TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: temporalNamespace }),
  );
  try {
    return await use({ database, temporal });
  } finally {
    await temporal.close();
    await database.close();
  }
}

function connectionSettings(environment: NodeJS.ProcessEnv) {
  const { DATABASE_URL: url, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = environment;
  const started = url ? undefined : readEndpoints(dataDirectory(environment));
  return {
    databaseUrl: url || (started?.databaseUrl ?? ''),
    temporalAddress: address || (started?.temporalAddress ?? ''),
    temporalNamespace: namespace || (started?.temporalNamespace ?? ''),
  };
}

import { existsSync } from 'node:fs';
import { type Configuration, loadConfiguration } from '../../../config/configuration.ts';
import { temporalSettings } from '../../../config/temporal.ts';
import { createDatabase } from '../../../db/client.ts';
import type { Database } from '../../../db/query/database.ts';
import { lazyTemporalClient, type TemporalClient } from '../../../loops/temporal.ts';
import { dataDirectory, setting } from '../../common/data-directory.ts';
import { type Endpoints, endpointsFile, readEndpoints } from '../../common/endpoints.ts';

/** An installation as its environment or DATA_DIR describes it; any part may be missing or broken. */
export interface Installation {
  readonly environment: NodeJS.ProcessEnv;
  readonly directory: string;
  /** Of the service that was started with DATA_DIR; null if none was. */
  readonly endpoints: Endpoints | null;
  /** Null if nothing names one. */
  readonly database: Database | null;
  readonly namespace: string;
  temporal(): TemporalClient;
  configuration(): Configuration;
  close(): Promise<void>;
}

export function openInstallation(environment: NodeJS.ProcessEnv): Installation {
  const directory = dataDirectory(environment);
  const endpoints = startedEndpoints(directory);
  const url = setting(environment, 'DATABASE_URL') ?? endpoints?.databaseUrl;
  const database = url === undefined ? null : createDatabase({ url, maxConnections: 1, applicationName: 'doctor' });
  const address = setting(environment, 'TEMPORAL_ADDRESS') ?? endpoints?.temporalAddress ?? '';
  const namespace = setting(environment, 'TEMPORAL_NAMESPACE') ?? endpoints?.temporalNamespace ?? '';
  const settings = { ...environment, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  let client: TemporalClient | null = null;
  let configuration: Configuration | null = null;
  return {
    environment,
    directory,
    endpoints,
    database,
    namespace: namespace === '' ? 'default' : namespace,
    temporal: () => {
      client ??= lazyTemporalClient(temporalSettings(settings));
      return client;
    },
    configuration: () => {
      configuration ??= loadConfiguration(environment);
      return configuration;
    },
    close: async () => {
      await client?.close();
      await database?.close();
    },
  };
}

/** A file that cannot be read is a finding of the check of files. */
function startedEndpoints(directory: string): Endpoints | null {
  if (!existsSync(endpointsFile(directory))) return null;
  try {
    return readEndpoints(directory);
  } catch {
    return null;
  }
}

import type { Provider } from '../../activities/providers/port.ts';
import { createProviders } from '../../activities/providers/providers.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { readEnvironment } from '../../config/environment.ts';
import type { Database } from '../../db/query/database.ts';
import { dataDirectory } from './data-directory.ts';
import { readEndpoints } from './endpoints.ts';
import { sandboxBankSecret } from './local-secrets.ts';

/** The providers of the service that was started here, or of the environment if it names a database. */
export function configuredProviders(database: Database): ReadonlyMap<string, Provider> {
  const configuration = loadConfiguration(process.env);
  if (process.env.DATABASE_URL) return createProviders(configuration, { ...readEnvironment(process.env), database });
  const directory = dataDirectory(process.env);
  const { sandboxUrl } = readEndpoints(directory);
  return createProviders(configuration, { sandboxUrl, sandboxBankSecret: sandboxBankSecret(directory), database });
}

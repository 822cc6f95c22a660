import type { Provider } from '../../activities/providers/port.ts';
import { createProviders } from '../../activities/providers/providers.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { readEnvironment } from '../../config/environment.ts';
import { dataDirectory } from '../start/start-environment.ts';
import { sandboxBankSecret } from '../start/start-secrets.ts';
import { readEndpoints } from './endpoints.ts';

/** The providers of the service that was started here, or of the environment if it names a database. */
export function configuredProviders(): ReadonlyMap<string, Provider> {
  const configuration = loadConfiguration(process.env);
  if (process.env.DATABASE_URL) return createProviders(configuration, readEnvironment(process.env));
  const directory = dataDirectory(process.env);
  const { sandboxUrl } = readEndpoints(directory);
  return createProviders(configuration, { sandboxUrl, sandboxBankSecret: sandboxBankSecret(directory) });
}

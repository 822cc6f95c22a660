import { localConfigurationFiles } from '../../config/configuration.ts';
import type { Endpoints } from '../frame/endpoints.ts';
import { freePort } from '../servers/ports.ts';
import { partiesFile } from './development-parties.ts';
import { type StartEnvironment, setting } from './start-environment.ts';
import { encryptionKey, sandboxBankSecret } from './start-secrets.ts';

/** The environment of the API, the worker and the sandbox, over our own. */
export async function environmentOfChildren(
  environment: StartEnvironment,
  endpoints: Endpoints,
): Promise<NodeJS.ProcessEnv> {
  return {
    ...process.env,
    DATABASE_URL: endpoints.databaseUrl,
    // The owner's is for the migration alone.
    MIGRATION_DATABASE_URL: '',
    TEMPORAL_ADDRESS: endpoints.temporalAddress,
    TEMPORAL_NAMESPACE: endpoints.temporalNamespace,
    PORT: String(environment.port),
    API_HOST: environment.apiHost,
    // No separate process of loops is started.
    API_LOOPS: 'on',
    AUDIENCE: endpoints.audience,
    CONFIG_FILE: localConfigurationFiles(process.env),
    PUBLIC_URL: endpoints.publicUrl,
    SANDBOX_PORT: String(environment.sandboxPort),
    SANDBOX_URL: endpoints.sandboxUrl,
    SANDBOX_BANK_SECRET: setting(process.env, 'SANDBOX_BANK_SECRET') ?? sandboxBankSecret(environment.dataDirectory),
    // Whatever the environment says: only the clock of our own Postgres may be moved.
    SANDBOX_CLOCK: environment.databaseUrl === undefined ? 'on' : 'off',
    // Only the embedded Postgres knows these two companies of the sandbox.
    SANDBOX_PARTIES: environment.databaseUrl === undefined ? partiesFile(environment.dataDirectory) : '',
    SANDBOX_API_URL: endpoints.apiUrl,
    ENCRYPTION_KEY: setting(process.env, 'ENCRYPTION_KEY') ?? encryptionKey(environment.dataDirectory),
    METRICS_HOST: environment.metricsHost,
    DATA_DIR: environment.dataDirectory,
    ...(await mailEnvironment()),
  };
}

/** Without a mail server, e-mails go to the sandbox, which shows them at /mail. */
async function mailEnvironment(): Promise<NodeJS.ProcessEnv> {
  const smtpPort = setting(process.env, 'SANDBOX_SMTP_PORT') ?? String(await freePort());
  const smtpUrl = setting(process.env, 'SMTP_URL') ?? `smtp://127.0.0.1:${smtpPort}?requireTLS=false`;
  return { SANDBOX_SMTP_PORT: smtpPort, SMTP_URL: smtpUrl };
}

import { setting } from '../../cli/common/data-directory.ts';
import type { Endpoints } from '../../cli/common/endpoints.ts';
import { consoleClientSecret, encryptionKey, sandboxBankSecret } from '../../cli/common/local-secrets.ts';
import { CONSOLE_CLIENT_ID, IDENTITY_PATH } from '../../sandbox/identity/addresses.ts';
import { freePort } from '../servers/ports.ts';
import { filesEnvironment } from './development-bank.ts';
import { partiesFile } from './development-parties.ts';
import type { StartEnvironment } from './start-environment.ts';

/** The environment of the API, the worker and the sandbox, over our own. */
export async function environmentOfChildren(
  environment: StartEnvironment,
  endpoints: Endpoints,
): Promise<NodeJS.ProcessEnv> {
  return {
    ...process.env,
    DATABASE_URL: endpoints.databaseUrl,
    // The owner's address is only for the migration.
    MIGRATION_DATABASE_URL: '',
    TEMPORAL_ADDRESS: endpoints.temporalAddress,
    TEMPORAL_NAMESPACE: endpoints.temporalNamespace,
    PORT: String(environment.port),
    API_HOST: environment.apiHost,
    // No separate process of loops is started.
    API_LOOPS: 'on',
    AUDIENCE: endpoints.audience,
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
    ...identityEnvironment(environment, endpoints),
    METRICS_HOST: environment.metricsHost,
    DATA_DIR: environment.dataDirectory,
    ...(await mailEnvironment()),
    ...(await filesEnvironment(environment.dataDirectory)),
  };
}

/** Without an identity provider, people sign in to the console by that of the sandbox, which lets them in without a password. */
function identityEnvironment(environment: StartEnvironment, endpoints: Endpoints): NodeJS.ProcessEnv {
  const { consolePort, consoleUrl, temporalNamespace } = environment;
  const place = {
    CONSOLE_PORT: String(consolePort),
    CONSOLE_URL: consoleUrl,
    TEMPORAL_UI_URL:
      setting(process.env, 'TEMPORAL_UI_URL') ??
      (endpoints.uiUrl === null ? '' : `${endpoints.uiUrl}/namespaces/${temporalNamespace}`),
  };
  if (setting(process.env, 'CONSOLE_ISSUER') !== undefined) return place;
  const secret = consoleClientSecret(environment.dataDirectory);
  return {
    ...place,
    CONSOLE_ISSUER: `${endpoints.sandboxUrl}${IDENTITY_PATH}`,
    CONSOLE_CLIENT_ID: CONSOLE_CLIENT_ID,
    CONSOLE_CLIENT_SECRET: secret,
    SANDBOX_ISSUER: `${endpoints.sandboxUrl}${IDENTITY_PATH}`,
    SANDBOX_CONSOLE_URL: consoleUrl,
    SANDBOX_CONSOLE_SECRET: secret,
  };
}

/** Without a mail server, e-mails go to the sandbox, which shows them at /mail. */
async function mailEnvironment(): Promise<NodeJS.ProcessEnv> {
  const smtpPort = setting(process.env, 'SANDBOX_SMTP_PORT') ?? String(await freePort());
  const smtpUrl = setting(process.env, 'SMTP_URL') ?? `smtp://127.0.0.1:${smtpPort}?requireTLS=false`;
  return { SANDBOX_SMTP_PORT: smtpPort, SMTP_URL: smtpUrl };
}

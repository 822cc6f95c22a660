import type { Logger } from 'pino';
import type { Configuration } from '../../config/configuration.ts';
import type { MailSettings } from '../../config/environment.ts';
import type { Database } from '../../db/driver/client.ts';
import type { Keyring } from '../../db/frame/keyring.ts';
import type { Provider } from '../providers/port.ts';

/** What activities reach the world with. */
export interface ActivityDependencies {
  readonly database: Database;
  /** The adapters of built-in providers, by code. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** Decrypts the secrets that sign webhooks. */
  readonly keyring: Keyring;
  /** The address of the API, to which webhooks never go, and links in e-mails always. */
  readonly publicUrl: string;
  /** Where e-mails are handed in, and from whom they come. */
  readonly mail: MailSettings;
}

/** Throws when a row names a provider that the configuration no longer has; the call is tried again until it has. */
export function providerOf(dependencies: Pick<ActivityDependencies, 'providers'>, code: string): Provider {
  const provider = dependencies.providers.get(code);
  if (provider === undefined) throw new Error(`no provider ${code} is configured`);
  return provider;
}

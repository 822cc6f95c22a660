import type { Logger } from 'pino';
import type { Configuration } from '../../config/configuration.ts';
import type { MailSettings } from '../../config/environment.ts';
import type { Keyring } from '../../db/common/keyring.ts';
import type { Database } from '../../db/query/database.ts';
import type { Provider } from '../providers/port.ts';

/** What the activities depend on. */
export interface ActivityDependencies {
  readonly database: Database;
  /** The adapters of built-in providers, by code. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** Decrypts webhook signing secrets. */
  readonly keyring: Keyring;
  /** The API's public address: never a webhook target, always the base of links in e-mails. */
  readonly publicUrl: string;
  /** The mail server and the sender's address. */
  readonly mail: MailSettings;
}

/** Throws if the configuration no longer has the row's provider; Temporal retries until it does. */
export function providerOf(dependencies: Pick<ActivityDependencies, 'providers'>, code: string): Provider {
  const provider = dependencies.providers.get(code);
  if (provider === undefined) throw new Error(`no provider ${code} is configured`);
  return provider;
}

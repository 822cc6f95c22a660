import type { Logger } from 'pino';
import type { NameDirectories } from '../../activities/providers/directories/directories.ts';
import type { Provider } from '../../activities/providers/port.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment.ts';
import type { Keyring } from '../../db/common/keyring.ts';
import type { Database } from '../../db/query/database.ts';
import type { SecurityLog } from './connections/security-rejections.ts';

/** Everything outside the request that handlers need. */
export interface Services {
  readonly database: Database;
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly securityLog: SecurityLog;
  /** Encrypts values that must not be readable in the database. */
  readonly keyring: Keyring;
  /** Adapters of built-in providers, by code: for callbacks, and for calls before an answer. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Adapters of name directories, by directory and provider. */
  readonly directories: NameDirectories;
  /** The wall clock, for tokens and headers; business time comes from the database (db/common/clock.ts). */
  readonly now: () => Date;
  /** The service's time in this process; it differs from the wall clock only in a sandbox. Used only to check whether dates are plausible. */
  readonly serviceNow: () => Date;
  /** This process's addresses and secrets. */
  readonly environment: Environment;
  /** Whether Temporal answers; for information, as no request waits for it. */
  readonly isTemporalReachable: () => Promise<boolean>;
}

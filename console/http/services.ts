import type { Logger } from 'pino';
import type { Provider } from '../../activities/providers/port.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { ConsoleSettings } from '../../config/environment/console.ts';
import type { Database } from '../../db/query/database.ts';
import type { TemporalClient } from '../../loops/temporal.ts';

/** Everything outside the request that the console's pages need. */
export interface ConsoleServices {
  readonly database: Database;
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly settings: ConsoleSettings;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  /** Adapters of built-in providers, by code: for a look-up of a payment that has no workflow left. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Real time, for sign-ins and sessions; business time comes from the database (db/common/clock.ts). */
  readonly now: () => Date;
}

import type { Logger } from 'pino';
import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment.ts';
import type { Database } from '../../db/client.ts';

/** What handlers reach the world with. */
export interface Services {
  readonly database: Database;
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** The wall clock, for tokens and headers; business time comes from the database (db/clock.ts). */
  readonly now: () => Date;
  /** Addresses and secrets of this process. */
  readonly environment: Environment;
  /** For after a transaction that woke a workflow: the relay looks at once instead of at its next poll. */
  readonly hurryRelay: () => void;
  /** Whether Temporal answers, as information: no request waits for it. */
  readonly isTemporalReachable: () => Promise<boolean>;
}

/** Work that the API process does beside answering: the relay, the sequencer, admissions, the sweep. */
export interface BackgroundLoop {
  readonly name: string;
  start(): void;
  /** Finishes the step under way, gives claims back, and resolves. */
  stop(): Promise<void>;
}

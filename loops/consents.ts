import type { Logger } from 'pino';
import { expireDueConsents } from '../db/open-banking/expiry.ts';
import type { Database } from '../db/query/database.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

const INTERVAL_MS = 1_000;
/** One batch takes less than a tenth of a second. */
const CONSENTS_AT_ONCE = 200;

/**
 * Records expired consents, many in one transaction: their workflows would take a hundred times as long, and delay
 * payments, if thousands expired at one instant.
 */
export function consentExpiry(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly intervalMs?: number;
}): PollingLoop {
  const { database, logger } = options;
  return pollingLoop({
    name: 'consents',
    intervalMs: options.intervalMs ?? INTERVAL_MS,
    logger,
    poll: async () =>
      (await database.transaction((tx) => expireDueConsents(tx, CONSENTS_AT_ONCE))) === CONSENTS_AT_ONCE,
  });
}

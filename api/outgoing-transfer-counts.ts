import type { Logger } from 'pino';
import type { Database } from '../db/client.ts';
import { keepOutgoingTransferCounts } from '../db/outgoing-transfer-counts.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

/** Totals are exact however late this is; what it left is counted by whoever asks. */
const INTERVAL_MS = 5_000;
/** A batch takes some tens of milliseconds. */
const ROWS_AT_ONCE = 10_000;

/** Counts transfers once they are final, so that lists need not. One process at a time does. */
export function outgoingTransferCounting(options: {
  readonly database: Database;
  readonly logger: Logger;
}): PollingLoop {
  return pollingLoop({
    name: 'outgoing-transfer-counts',
    intervalMs: INTERVAL_MS,
    logger: options.logger,
    poll: async () => (await keepOutgoingTransferCounts(options.database, ROWS_AT_ONCE)) >= ROWS_AT_ONCE,
  });
}

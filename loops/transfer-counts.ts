import type { Logger } from 'pino';
import type { Database } from '../db/driver/client.ts';
import { keepTransferCounts, TRANSFER_DIRECTIONS } from '../db/ledger/transfer-counts.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

/** Totals are exact however late this is; what it left is counted by whoever asks. */
const INTERVAL_MS = 5_000;
/** A batch takes some tens of milliseconds. */
const ROWS_AT_ONCE = 10_000;

/** Counts transfers once they are final, so that lists need not. One process at a time does. */
export function transferCounting(options: { readonly database: Database; readonly logger: Logger }): PollingLoop {
  return pollingLoop({
    name: 'transfer-counts',
    intervalMs: INTERVAL_MS,
    logger: options.logger,
    poll: async () => {
      let more = false;
      for (const direction of TRANSFER_DIRECTIONS) {
        if ((await keepTransferCounts(options.database, direction, ROWS_AT_ONCE)) >= ROWS_AT_ONCE) more = true;
      }
      return more;
    },
  });
}

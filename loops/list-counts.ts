import type { Logger } from 'pino';
import type { Database } from '../db/driver/client.ts';
import { COUNTED_LISTS, keepListCounts } from '../db/driver/queries/counted-lists.ts';
import { keepTransferCounts, TRANSFER_DIRECTIONS } from '../db/ledger/transfer-counts.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

/** Totals stay exact however late this runs: readers count the rest themselves. */
const INTERVAL_MS = 5_000;
/** One batch takes less than a tenth of a second. */
const ROWS_AT_ONCE = 10_000;

/** Counts rows ahead of time, to spare lists the work. One process at a time does this. */
export function listCounting(options: { readonly database: Database; readonly logger: Logger }): PollingLoop {
  return pollingLoop({
    name: 'list-counts',
    intervalMs: INTERVAL_MS,
    logger: options.logger,
    poll: async () => {
      let more = false;
      for (const direction of TRANSFER_DIRECTIONS) {
        if ((await keepTransferCounts(options.database, direction, ROWS_AT_ONCE)) >= ROWS_AT_ONCE) more = true;
      }
      for (const list of COUNTED_LISTS) {
        if ((await keepListCounts(options.database, list, ROWS_AT_ONCE)) >= ROWS_AT_ONCE) more = true;
      }
      return more;
    },
  });
}

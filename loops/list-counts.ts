import type { Logger } from 'pino';
import { COUNTED_LISTS, COUNTED_TOTALS, keepListCounts } from '../db/query/counted-lists.ts';
import type { Database } from '../db/query/database.ts';
import { advanceTransferCounts, TRANSFER_DIRECTIONS } from '../db/transfers/transfer-counts.ts';
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
        if ((await advanceTransferCounts(options.database, direction, ROWS_AT_ONCE)) >= ROWS_AT_ONCE) more = true;
      }
      for (const list of [...COUNTED_LISTS, ...COUNTED_TOTALS]) {
        if ((await keepListCounts(options.database, list, ROWS_AT_ONCE)) >= ROWS_AT_ONCE) more = true;
      }
      return more;
    },
  });
}

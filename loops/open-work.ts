import type { Logger } from 'pino';
import type { Database } from '../db/driver/client.ts';
import { OPEN_WORK_TYPES, wakeOverdue } from '../db/frame/open-work.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

const SWEEP_INTERVAL_MS = 5_000;
/** Few at a time: a large sweep after an outage would cause a load spike of its own. */
const SWEEP_BATCH = 20;

/**
 * Wakes the workflows of open rows whose check is overdue: the workflow was terminated, was lost with Temporal's
 * database, or never got its signal.
 */
export function openWorkSweep(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly intervalMs?: number;
}): PollingLoop {
  const { database, logger } = options;
  return pollingLoop({
    name: 'open-work-sweep',
    intervalMs: options.intervalMs ?? SWEEP_INTERVAL_MS,
    logger,
    poll: async () => {
      for (const type of OPEN_WORK_TYPES) {
        const woken = await database.transaction((tx) => wakeOverdue(tx, type, SWEEP_BATCH));
        if (woken > 0) logger.info({ type, woken }, 'overdue rows woken');
      }
      return false;
    },
  });
}

import type { Logger } from 'pino';
import { readBankFilesAttention } from '../db/bank-files/attention.ts';
import { OPEN_WORK_TYPES, wakeOverdue } from '../db/common/open-work.ts';
import type { Database } from '../db/query/database.ts';
import {
  bankFilesSetAside,
  bankFilesUndeliveredOldestSeconds,
  bankPaymentsSilent,
  bankPaymentsToConfirm,
  bankSumsWithoutDetails,
} from './metrics.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

const SWEEP_INTERVAL_MS = 5_000;
/** Few at a time: a large sweep after an outage would cause a load spike of its own. */
const SWEEP_BATCH = 20;

/** Feeds the metrics of files that wait for a person: in every process, so that a bank whose exchange is away is seen too. */
async function lookAtBankFiles(database: Database): Promise<void> {
  const attention = await readBankFilesAttention(database.reader);
  const { setAside, undeliveredSeconds, silent, sumsWithoutDetails, confirmations } = attention;
  bankFilesSetAside.set(setAside);
  bankFilesUndeliveredOldestSeconds.set(undeliveredSeconds);
  bankPaymentsSilent.set(silent);
  bankSumsWithoutDetails.set(sumsWithoutDetails);
  bankPaymentsToConfirm.set(confirmations);
}

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
      await lookAtBankFiles(database);
      return false;
    },
  });
}

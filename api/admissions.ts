import type { Logger } from 'pino';
import { listAdmissionsDue } from '../db/admissions.ts';
import type { Database } from '../db/client.ts';
import { type AdmissionWalk, admitWaitingTransfers, type TransferRules } from '../db/outgoing-transfers.ts';
import type { AccountId } from '../domain/ids.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

const ADMISSION_INTERVAL_MS = 500;
const ACCOUNTS_AT_ONCE = 20;

/** Tries the transfers that wait for money wherever an account has been credited since. */
export function admissions(options: {
  readonly database: Database;
  readonly rules: TransferRules;
  readonly logger: Logger;
  /** Called after transfers were admitted: the relay's `hurry`. */
  readonly onWake?: () => void;
}): PollingLoop {
  const { database, rules, logger } = options;

  /** Page by page, each in its own transaction, so that an account with many waiters is never locked for long. */
  async function admit(accountId: AccountId): Promise<void> {
    let walk: AdmissionWalk | null = null;
    do {
      const from: AdmissionWalk | null = walk;
      const page: Awaited<ReturnType<typeof admitWaitingTransfers>> = await database.transaction((tx) =>
        admitWaitingTransfers(tx, accountId, rules, from),
      );
      if (page.admitted > 0) options.onWake?.();
      walk = page.next;
    } while (walk !== null);
  }

  return pollingLoop({
    name: 'admissions',
    intervalMs: ADMISSION_INTERVAL_MS,
    logger,
    poll: async () => {
      const due = await listAdmissionsDue(database.reader, ACCOUNTS_AT_ONCE);
      for (const accountId of due) await admit(accountId);
      return due.length === ACCOUNTS_AT_ONCE;
    },
  });
}

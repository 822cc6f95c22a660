import type { Logger } from 'pino';
import { admitWaitingTransfers, listAdmissionsDue, type SkippedTransfer } from '../db/outgoing-transfers/admissions.ts';
import { DatabaseUnavailable, LockTimeout } from '../db/postgres/failures.ts';
import type { Database } from '../db/query/database.ts';
import type { AccountId, OutgoingTransferId } from '../domain/common/ids.ts';
import type { TransferRules } from '../domain/outgoing-transfers/transfer-changes.ts';
import { type PollingLoop, pollingLoop, reasonOf } from './polling.ts';

const ADMISSION_INTERVAL_MS = 500;
/** Accounts processed at once; the remaining connections serve payers. */
const LANES = 4;
const ACCOUNTS_AT_ONCE = 1_000;
/** How long to wait for an account that another transaction has locked. The account stays due. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Retries transfers that wait for funds when their account has been credited. Accounts take turns, one batch each, so
 * that a long queue or a failure on one account delays no other. A failure is logged once and retried at each poll; so is a
 * transfer of a scheme that is no longer configured, which delays no other of its account.
 */
export function admissions(options: {
  readonly database: Database;
  readonly rules: TransferRules;
  readonly logger: Logger;
}): PollingLoop {
  const { database, rules, logger } = options;
  const lanes = new Map<AccountId, Promise<void>>();
  const failing = new Set<AccountId>();
  const noteSkipped = skippedLog(logger);
  let failure: { readonly error: unknown } | null = null;
  let after: AccountId | null = null;

  async function admit(accountId: AccountId): Promise<void> {
    try {
      const { more, skipped } = await database.transaction((tx) => admitWaitingTransfers(tx, accountId, rules), {
        lockTimeoutMs: LOCK_TIMEOUT_MS,
      });
      if (more) loop.nudge();
      skipped.forEach(noteSkipped);
      failing.delete(accountId);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) failure = { error };
      else if (!(error instanceof LockTimeout)) noteFailing(accountId, error);
    } finally {
      lanes.delete(accountId);
    }
  }

  function noteFailing(accountId: AccountId, error: unknown): void {
    if (failing.has(accountId)) return;
    failing.add(accountId);
    logger.error({ accountId, reason: reasonOf(error) }, 'the transfers that wait in an account cannot be admitted');
  }

  async function startLanes(): Promise<boolean> {
    const due = await listAdmissionsDue(database.reader, ACCOUNTS_AT_ONCE, after);
    after = due.length === ACCOUNTS_AT_ONCE ? (due.at(-1) ?? null) : null;
    for (const accountId of due) {
      if (lanes.has(accountId)) continue;
      while (lanes.size >= LANES) await Promise.race(lanes.values());
      if (failure !== null) break;
      lanes.set(accountId, admit(accountId));
    }
    return after !== null;
  }

  const loop = pollingLoop({
    name: 'admissions',
    intervalMs: ADMISSION_INTERVAL_MS,
    logger,
    poll: async () => {
      const more = await startLanes();
      if (failure === null) return more;
      const { error } = failure;
      failure = null;
      throw error;
    },
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await Promise.all(lanes.values());
    },
  };
}

/** Logs each transfer once. */
function skippedLog(logger: Logger): (transfer: SkippedTransfer) => void {
  const logged = new Set<OutgoingTransferId>();
  return ({ id, scheme }) => {
    if (logged.has(id)) return;
    logged.add(id);
    logger.error({ id, scheme }, 'a transfer that waits for money cannot be admitted: its scheme is not configured');
  };
}

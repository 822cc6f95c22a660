import { ActivityFailure, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HousekeepingActivities } from '../activities/housekeeping.ts';
import { LEDGER_CHECK, UPKEEP } from './common/policies.ts';
import { untilClockStands } from './common/waits.ts';

const upkeep = proxyActivities<HousekeepingActivities>(UPKEEP);
const { checkLedger } = proxyActivities<HousekeepingActivities>(LEDGER_CHECK);

/** Tasks run in this order; a failing one does not stop the rest. */
const TASKS = {
  'check the ledger': checkLedger,
  'checkpoint system accounts': upkeep.checkpointSystemAccounts,
  'forget old idempotency keys': upkeep.forgetOldIdempotencyKeys,
  'check the calendars': upkeep.checkCalendars,
  'forget old webhook deliveries': upkeep.forgetOldWebhookDeliveries,
  'compare the statements of providers': upkeep.compareStatements,
  'sweep the fees': upkeep.sweepFees,
  'forget old events': upkeep.forgetOldEvents,
  'forget what has expired': upkeep.forgetWhatHasExpired,
} as const;

/** The result per task: `ok`, or a code to follow up. `not-done`: the task could not run, so nothing is known. */
export type HousekeepingReport = Readonly<Record<string, string>>;

/** Scheduled housekeeping. Operators read its result first. */
export async function housekeeping(): Promise<HousekeepingReport> {
  const report: Record<string, string> = {};
  await untilClockStands(async () => {
    for (const [name, task] of Object.entries(TASKS)) {
      setCurrentDetails(`Under way: ${name}.`);
      try {
        report[name] = await task();
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        log.error('a housekeeping task failed', { task: name });
        report[name] = 'not-done';
      }
    }
    setCurrentDetails('');
  });
  return report;
}

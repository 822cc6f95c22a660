import { ActivityFailure, log, patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HousekeepingActivities } from '../activities/housekeeping.ts';
import { LEDGER_CHECK, UPKEEP } from './frame/policies.ts';
import { evenIfCancelled } from './frame/waits.ts';

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
} as const;

/** Added in later releases: runs that started before them skip these steps. */
const TASKS_WITH_FEE_SWEEP = { ...TASKS, 'sweep the fees': upkeep.sweepFees } as const;
const TASKS_WITH_EVENTS = { ...TASKS_WITH_FEE_SWEEP, 'forget old events': upkeep.forgetOldEvents } as const;
const TASKS_WITH_EXPIRED = { ...TASKS_WITH_EVENTS, 'forget what has expired': upkeep.forgetWhatHasExpired } as const;

function tasksOfThisRun() {
  if (patched('forget-expired')) return TASKS_WITH_EXPIRED;
  if (patched('forget-old-events')) return TASKS_WITH_EVENTS;
  return patched('fee-sweep') ? TASKS_WITH_FEE_SWEEP : TASKS;
}

/** What each task found: `ok`, or a code to follow up. `not-done`: the task could not run, so nothing is known. */
export type HousekeepingReport = Readonly<Record<string, string>>;

/** Scheduled housekeeping. Operators read its result first. */
export async function housekeeping(): Promise<HousekeepingReport> {
  const report: Record<string, string> = {};
  await evenIfCancelled(async () => {
    for (const [name, task] of Object.entries(tasksOfThisRun())) {
      setCurrentDetails(`Under way: ${name}.`);
      try {
        report[name] = await task();
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        log.error('upkeep could not be done', { task: name });
        report[name] = 'not-done';
      }
    }
    setCurrentDetails('');
  });
  return report;
}

import { ActivityFailure, log, patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HousekeepingActivities } from '../activities/housekeeping.ts';
import { LEDGER_CHECK, UPKEEP } from './frame/policies.ts';
import { evenIfCancelled } from './frame/waits.ts';

const upkeep = proxyActivities<HousekeepingActivities>(UPKEEP);
const { checkLedger } = proxyActivities<HousekeepingActivities>(LEDGER_CHECK);

/** The tasks in their order; one that fails does not keep the others from being done. */
const TASKS = {
  'check the ledger': checkLedger,
  'checkpoint system accounts': upkeep.checkpointSystemAccounts,
  'forget old idempotency keys': upkeep.forgetOldIdempotencyKeys,
  'check the calendars': upkeep.checkCalendars,
  'forget old webhook deliveries': upkeep.forgetOldWebhookDeliveries,
  'compare the statements of providers': upkeep.compareStatements,
} as const;

/** Came with a later release: runs that began before it go on without. */
const TASKS_WITH_FEE_SWEEP = { ...TASKS, 'sweep the fees': upkeep.sweepFees } as const;

/** What each task found: `ok`, or a code for a person to follow up. `not-done`: it could not be done, so nothing is known. */
export type HousekeepingReport = Readonly<Record<string, string>>;

/** Regular upkeep, started by a schedule. Its result is what an operator reads first. */
export async function housekeeping(): Promise<HousekeepingReport> {
  const report: Record<string, string> = {};
  await evenIfCancelled(async () => {
    const tasks = patched('fee-sweep') ? TASKS_WITH_FEE_SWEEP : TASKS;
    for (const [name, task] of Object.entries(tasks)) {
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

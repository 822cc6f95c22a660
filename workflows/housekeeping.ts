import { ActivityFailure, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HousekeepingActivities } from '../activities/housekeeping.ts';
import { UPKEEP } from './policies.ts';
import { evenIfCancelled } from './waits.ts';

const upkeep = proxyActivities<HousekeepingActivities>(UPKEEP);

/** The tasks in their order; one that fails does not keep the others from being done. */
const TASKS = {
  'check the ledger': upkeep.checkLedger,
  'checkpoint system accounts': upkeep.checkpointSystemAccounts,
  'forget old idempotency keys': upkeep.forgetOldIdempotencyKeys,
  'check the calendars': upkeep.checkCalendars,
  'forget old webhook deliveries': upkeep.forgetOldWebhookDeliveries,
  'compare the statements of providers': upkeep.compareStatements,
} as const;

/** What each task found: `ok`, or a code for a person to follow up. */
export type HousekeepingReport = Readonly<Record<string, string>>;

/** Regular upkeep, started by a schedule. Its result is what an operator reads first. */
export async function housekeeping(): Promise<HousekeepingReport> {
  const report: Record<string, string> = {};
  await evenIfCancelled(async () => {
    for (const [name, task] of Object.entries(TASKS)) {
      setCurrentDetails(`Under way: ${name}.`);
      try {
        report[name] = await task();
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        log.error('upkeep failed', { task: name });
        report[name] = 'failed';
      }
    }
    setCurrentDetails('');
  });
  return report;
}

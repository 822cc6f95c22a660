import {
  ActivityFailure,
  defineSignal,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ReconciliationActivities } from '../../activities/reconciliation/activities.ts';
import { CHANGED_SIGNAL } from '../frame/messages.ts';
import { RECONCILIATION, UPKEEP } from '../frame/policies.ts';
import { evenIfCancelled } from '../frame/waits.ts';

const { listReconciledProviders } = proxyActivities<ReconciliationActivities>(UPKEEP);
const { reconcileProvider } = proxyActivities<ReconciliationActivities>(RECONCILIATION);

/** What was found at each provider: `ok`, or a code to follow up. `not-done`: nothing is known; the next run tries again. */
export type ReconciliationReport = Readonly<Record<string, string>>;

/** Compares the days of every provider that are due, all providers at a time. Operators read its result first. */
export async function reconciliation(): Promise<ReconciliationReport> {
  let report: ReconciliationReport = {};
  let moved = false;
  // A sandbox's clock has moved on: other days may be due now.
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    moved = true;
  });
  await evenIfCancelled(async () => {
    do {
      moved = false;
      const providers = await listReconciledProviders();
      setCurrentDetails(`Under way: ${providers.join(', ')}.`);
      const results = await Promise.all(providers.map(reconcile));
      report = Object.fromEntries(providers.map((provider, index) => [provider, results[index] ?? 'not-done']));
    } while (moved);
    setCurrentDetails('');
  });
  return report;
}

async function reconcile(provider: string): Promise<string> {
  try {
    return await reconcileProvider(provider);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.error('a provider could not be reconciled', { provider });
    return 'not-done';
  }
}

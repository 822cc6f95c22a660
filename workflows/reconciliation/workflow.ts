import { ActivityFailure, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ReconciliationActivities } from '../../activities/reconciliation/activities.ts';
import { RECONCILIATION, UPKEEP } from '../common/policies.ts';
import { untilClockStands } from '../common/waits.ts';

const { listReconciledProviders } = proxyActivities<ReconciliationActivities>(UPKEEP);
const { reconcileProvider } = proxyActivities<ReconciliationActivities>(RECONCILIATION);

/** The result per provider: `ok`, or a code to follow up. `not-done`: nothing is known; the next run tries again. */
export type ReconciliationReport = Readonly<Record<string, string>>;

/** Compares the due days of every provider, all providers in parallel. Operators read its result first. */
export async function reconciliation(): Promise<ReconciliationReport> {
  let report: ReconciliationReport = {};
  await untilClockStands(async () => {
    const providers = await listReconciledProviders();
    setCurrentDetails(`Under way: ${providers.join(', ')}.`);
    const results = await Promise.all(providers.map(reconcile));
    report = Object.fromEntries(providers.map((provider, index) => [provider, results[index] ?? 'not-done']));
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

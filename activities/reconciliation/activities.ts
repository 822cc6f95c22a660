import { DatabaseUnavailable } from '../../db/driver/client.ts';
import { readClock } from '../../db/frame/clock.ts';
import { listDaysWithBreaks, readProgress } from '../../db/reconciliation/days.ts';
import { listCurrencies, type Position } from '../../db/reconciliation/statements.ts';
import type { LocalDate } from '../../domain/frame/time/dates.ts';
import { daysToCompare, firstDayLookedAtAgain, isLookedAtAgain } from '../../domain/reconciliation/movements.ts';
import type { ActivityDependencies } from '../frame/dependencies.ts';
import { failureName } from '../frame/failures.ts';
import { whileHeartbeating } from '../frame/heartbeats.ts';
import type { CallOptions, Provider } from '../providers/port.ts';
import { compareDay } from './daily-reconciliation.ts';
import { statementOf } from './statement-sources.ts';

export type ReconciliationActivities = ReturnType<typeof reconciliationActivities>;

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'logger'>;

/** Days of one position that a run compares; the next run goes on. After years on a moved clock there may be thousands. */
const DAYS_AT_ONCE = 1_000;

export function reconciliationActivities(dependencies: Dependencies) {
  return {
    /** The providers that are the other side of our books. */
    async listReconciledProviders(): Promise<string[]> {
      return [...dependencies.providers.keys()];
    },

    /** Compares every day of a provider that is due. Returns `ok`, or a code to follow up; the log has the details. */
    async reconcileProvider(code: string): Promise<string> {
      const provider = dependencies.providers.get(code);
      if (provider === undefined) return 'no-such-provider';
      return whileHeartbeating((signal) => reconcileProvider(dependencies, code, provider, { signal }));
    },
  };
}

/** A position that cannot be compared is logged, and stops no other. Its days follow one another, so it waits for the next run. */
async function reconcileProvider(
  dependencies: Dependencies,
  code: string,
  provider: Provider,
  call: CallOptions,
): Promise<string> {
  const { database, logger } = dependencies;
  let failed = 0;
  let open = 0;
  for (const currency of await listCurrencies(database.reader, code)) {
    const position = { provider: code, currency };
    try {
      open += await reconcilePosition(dependencies, position, provider, call);
    } catch (error) {
      // Without the database, or at shutdown, every other position would fail too.
      if (error instanceof DatabaseUnavailable || call.signal?.aborted) throw error;
      logger.error({ ...position, reason: failureName(error) }, 'a day could not be reconciled');
      failed += 1;
    }
  }
  if (failed > 0) return 'days-not-compared';
  return open === 0 ? 'ok' : 'breaks-found';
}

/** How many open breaks the compared days have. */
async function reconcilePosition(
  dependencies: Dependencies,
  position: Position,
  provider: Provider,
  call: CallOptions,
): Promise<number> {
  const { reader } = dependencies.database;
  const now = await readClock(reader);
  const { lastDay, firstBooked } = await readProgress(reader, position);
  const source = statementOf(provider, position.currency);
  let open = 0;
  const compare = async (day: LocalDate) => {
    const { found } = await compareDay(dependencies, { position, day, source, provider }, call);
    open += found.filter(({ status }) => status === 'open').length;
    call.signal?.throwIfAborted();
  };
  const again = await listDaysWithBreaks(reader, position, firstDayLookedAtAgain(now));
  for (const { day, comparedAt } of again) {
    if (isLookedAtAgain(comparedAt, now)) await compare(day);
  }
  for (const day of daysToCompare(lastDay, firstBooked, now, DAYS_AT_ONCE)) await compare(day);
  return open;
}

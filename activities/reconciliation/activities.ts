import { readClock } from '../../db/common/clock.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import { listDaysWithBreaks, readProgress } from '../../db/reconciliation/days.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import { listCurrencies } from '../../db/reconciliation/statements.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import { daysToCompare, isRecheckDue, oldestDayToRecheck } from '../../domain/reconciliation/movements.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { failureName } from '../common/failures.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import type { Provider } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import { compareDay } from './daily-reconciliation.ts';
import { statementOf } from './statement-sources.ts';

export type ReconciliationActivities = ReturnType<typeof reconciliationActivities>;

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'logger'>;

/** Days of one position per run; the next run continues. A clock that was moved by years can make thousands of days due. */
const DAYS_AT_ONCE = 1_000;

export function reconciliationActivities(dependencies: Dependencies) {
  return {
    /** The built-in providers, whose statements our ledger is compared with. */
    async listReconciledProviders(): Promise<string[]> {
      return [...dependencies.providers.keys()];
    },

    /** Compares every due day of a provider. Returns `ok`, or a code to follow up; the log has the details. */
    async reconcileProvider(code: string): Promise<string> {
      const provider = dependencies.providers.get(code);
      if (provider === undefined) return 'no-such-provider';
      return whileHeartbeating((signal) => reconcileProvider(dependencies, code, provider, { signal }));
    },
  };
}

/** A position that cannot be compared is logged and does not stop the others. Its days are compared in order, so it waits for the next run. */
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

/** Returns the number of open breaks of the compared days. */
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
  const again = await listDaysWithBreaks(reader, position, oldestDayToRecheck(now));
  for (const { day, comparedAt } of again) {
    if (isRecheckDue(comparedAt, now)) await compare(day);
  }
  for (const day of daysToCompare(lastDay, firstBooked, now, DAYS_AT_ONCE)) {
    // Days follow one another: this one waits for its statement, and the later ones for it.
    if ((await provider.hasStatementOf?.({ currency: position.currency, day }, call)) === false) break;
    await compare(day);
  }
  return open;
}

import { readClock } from '../db/common/clock.ts';
import { checkLedgerSince } from '../db/ledger/check.ts';
import { sweepFeesOnce } from '../db/ledger/sweeps/fee-sweeps.ts';
import { checkpointSystemAccounts } from '../db/ledger/system-account-checkpoints.ts';
import { countOpenBreaks } from '../db/reconciliation/statements.ts';
import { endsSoon } from '../domain/common/time/calendars.ts';
import { dateInUtc } from '../domain/common/time/dates.ts';
import { latestFeeSweepDay } from '../domain/ledger/fee-sweeps.ts';
import type { ActivityDependencies } from './common/dependencies.ts';
import { whileHeartbeating } from './common/heartbeats.ts';
import { retentionActivities } from './common/retention.ts';
import { compareStatements } from './reconciliation/reconciliation.ts';

export type HousekeepingActivities = ReturnType<typeof housekeepingActivities>;

/** Each task returns `ok`, or a code to follow up; the log has the details. */
export function housekeepingActivities(dependencies: ActivityDependencies) {
  const { database, configuration, providers, logger } = dependencies;
  return {
    ...retentionActivities(dependencies),

    /** Checks the postings made since the last check. Violations are reported, never corrected automatically. */
    async checkLedger(): Promise<string> {
      const violations = await whileHeartbeating(() => checkLedgerSince(database));
      if (violations === null) return 'under-way-elsewhere';
      if (violations.length === 0) return 'ok';
      const rules = [...new Set(violations.map(({ rule }) => rule))];
      logger.error({ violations: violations.length, rules }, 'the ledger check found violations: run ledger:check');
      return 'ledger-violated';
    },

    /** Records differences from the providers' statements for a person to resolve; posts nothing. */
    async compareStatements(): Promise<string> {
      return whileHeartbeating(async (signal) => {
        const { failed } = await compareStatements({ database, providers, logger }, { signal });
        if (failed > 0) return 'statements-not-compared';
        return (await countOpenBreaks(database.reader)) === 0 ? 'ok' : 'reconciliation-breaks-open';
      });
    },

    async checkpointSystemAccounts(): Promise<string> {
      const written = await checkpointSystemAccounts(database.reader);
      if (written > 0) logger.info({ written }, 'system accounts checkpointed');
      return 'ok';
    },

    /** Sweeps once a day, at or after the configured time. Fees of a day without a worker go into the next sweep. */
    async sweepFees(): Promise<string> {
      const day = latestFeeSweepDay(await readClock(database.reader), configuration.feeSweepTime);
      const swept = await database.transaction((tx) => sweepFeesOnce(tx, day));
      if (swept !== null) logger.info({ day, positions: swept.length }, 'fees swept');
      return 'ok';
    },

    /** Reports a calendar that ends soon; `watchCalendars` logs which one, once a day. */
    async checkCalendars(): Promise<string> {
      const today = dateInUtc(await readClock(database.reader));
      const isNear = [...configuration.calendars.current.values()].some((calendar) => endsSoon(calendar, today));
      return isNear ? 'calendar-horizon-near' : 'ok';
    },
  };
}

import type { ReconciliationId } from '../../domain/common/ids.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { Reader } from '../query/database.ts';
import type { Position } from './schema.ts';

/** A day of a position, compared or not. */
export interface CalendarDay extends Position {
  readonly day: LocalDate;
  readonly id: ReconciliationId;
  /** Of at most this many and one more. */
  readonly openBreaks: number;
  /** The statement has nothing of the day, and our books have something. */
  readonly isWithoutStatement: boolean;
  readonly source: 'statement' | 'camt.053';
}

/** More open breaks of a day than this are not counted. */
export const OPEN_BREAKS_COUNTED_MAX = 1_000;

const DAYS = `
  SELECT day.provider, day.currency, day.day, day.id, day.source, (
      SELECT count(*)::integer FROM (SELECT FROM reconciliation_breaks found WHERE found.provider = day.provider
        AND found.currency = day.currency AND found.day = day.day AND found.status = 'open' LIMIT ${OPEN_BREAKS_COUNTED_MAX + 1}) AS counted
    ) AS "openBreaks",
    provider_credit_count + provider_debit_count = 0 AND ledger_credit_count + ledger_debit_count > 0 AS "isWithoutStatement"
  FROM unnest($1::text[], $2::text[]) AS asked (provider, currency)
    JOIN reconciliations day ON (day.provider, day.currency) = (asked.provider, asked.currency)
  WHERE day.day BETWEEN $3::date AND $4::date ORDER BY 1, 2, 3`;

/** The compared days of these positions in a period, both ends included. */
export function readCalendar(
  reader: Reader,
  positions: readonly Position[],
  { from, to }: { readonly from: LocalDate; readonly to: LocalDate },
): Promise<CalendarDay[]> {
  const [providers, currencies] = [
    positions.map(({ provider }) => provider),
    positions.map(({ currency }) => currency),
  ];
  return reader.statement<CalendarDay>(DAYS, [providers, currencies, from, to]);
}

/** Where we have, or have had, money at a provider, and since when. */
export interface PositionDays extends Position {
  /** The first compared day, or else the first on which our books have anything; null: nothing ever moved. */
  readonly firstDay: LocalDate | null;
}

const FIRST_BOOKED = `(SELECT min(posted_at) AT TIME ZONE 'UTC' FROM (
    (SELECT posted_at FROM postings WHERE credit_account_id = account.id AND credit_version IS NULL ORDER BY id LIMIT 1)
    UNION ALL
    (SELECT posted_at FROM postings WHERE debit_account_id = account.id AND debit_version IS NULL ORDER BY id LIMIT 1)
  ) AS first)::date`;

const POSITIONS = `
  SELECT provider, currency, coalesce((SELECT min(day) FROM reconciliations day
    WHERE day.provider = account.provider AND day.currency = account.currency), ${FIRST_BOOKED}) AS "firstDay"
  FROM system_accounts account WHERE kind = 'settlement' ORDER BY 1, 2 LIMIT 200`;

/** All positions: a few for each provider. */
export function listPositions(reader: Reader): Promise<PositionDays[]> {
  return reader.statement<PositionDays>(POSITIONS, []);
}

import { and, type SQL, sql } from 'drizzle-orm';
import type { ReconciliationId } from '../../domain/common/ids.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { DaySums, Totals } from '../../domain/reconciliation/day-balance.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import type { Reader } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import type { Given } from '../query/queries.ts';
import { lookUpIn } from '../query/rows.ts';
import { type Position, reconciliationDays } from './schema.ts';

export type Reconciliation = typeof reconciliationDays.$inferSelect;

/** Both ends of the period are included. */
export interface ReconciliationFilter {
  readonly provider?: string | undefined;
  readonly currency?: string | undefined;
  readonly status?: Reconciliation['status'] | undefined;
  readonly day?: LocalDate | undefined;
  readonly dayFrom?: LocalDate | undefined;
  readonly dayTo?: LocalDate | undefined;
}

function conditions(given: Partial<Given<ReconciliationFilter>>): SQL | undefined {
  const { provider, currency, status, day } = reconciliationDays;
  return and(
    ...equalTo([
      [provider, given.provider],
      [currency, given.currency],
      [status, given.status],
    ]),
    given.day === undefined ? undefined : sql`${day} = ${given.day}::date`,
    given.dayFrom === undefined ? undefined : sql`${day} >= ${given.dayFrom}::date`,
    given.dayTo === undefined ? undefined : sql`${day} <= ${given.dayTo}::date`,
  );
}

const LIST = listOf<ReconciliationFilter, typeof reconciliationDays>(reconciliationDays, conditions);

export function listReconciliations(
  reader: Reader,
  filter: ReconciliationFilter,
  page: PageRequest,
): Promise<PageOf<Reconciliation>> {
  return readPage(reader, LIST(filter), filter, page);
}

const DAY = lookUpIn(reconciliationDays);

export function findReconciliation(reader: Reader, id: ReconciliationId): Promise<Reconciliation | null> {
  return reader.find(DAY, id);
}

/** What a day is compared with: the provider's own statement, or a bank's file. */
export type StatementSourceKind = 'statement' | 'camt.053';

/** How far a position has been compared. */
export interface Progress {
  readonly lastDay: LocalDate | null;
  readonly firstBooked: LocalDate | null;
}

const PROGRESS = `
  SELECT (SELECT max(day) FROM reconciliations WHERE provider = $1 AND currency = $2) AS "lastDay",
    (SELECT min(posted_at) AT TIME ZONE 'UTC' FROM (
      (SELECT posted_at FROM postings WHERE credit_account_id = account.id AND credit_version IS NULL ORDER BY id LIMIT 1)
      UNION ALL
      (SELECT posted_at FROM postings WHERE debit_account_id = account.id AND debit_version IS NULL ORDER BY id LIMIT 1)
    ) AS first)::date AS "firstBooked"
  FROM (SELECT (SELECT id FROM system_accounts WHERE provider = $1 AND currency = $2 AND kind = 'settlement') AS id) AS account`;

export async function readProgress(reader: Reader, { provider, currency }: Position): Promise<Progress> {
  const [progress] = await reader.statement<Progress>(PROGRESS, [provider, currency]);
  return progress ?? { lastDay: null, firstBooked: null };
}

const OF_DAY = 'SELECT id FROM reconciliations WHERE provider = $1 AND currency = $2 AND day = $3::date';

/** The comparison of a position's day; null if it was not compared. */
export async function findDayOf(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
): Promise<ReconciliationId | null> {
  const [row] = await reader.statement<{ id: ReconciliationId }>(OF_DAY, [provider, currency, day]);
  return row?.id ?? null;
}

export async function isCompared(reader: Reader, position: Position, day: LocalDate): Promise<boolean> {
  return (await findDayOf(reader, position, day)) !== null;
}

const WITH_OPEN_BREAKS = `
  SELECT day, compared_at AS "comparedAt" FROM reconciliation_days
  WHERE provider = $1 AND currency = $2 AND day >= $3::date AND open_break_count > 0
    AND id IN (SELECT id FROM reconciliations WHERE source = 'statement') ORDER BY day`;

/** Days from this one on whose statement left breaks that are not all resolved, oldest first. Days compared with a file are not compared again. */
export function listDaysWithBreaks(
  reader: Reader,
  { provider, currency }: Position,
  from: LocalDate,
): Promise<{ day: LocalDate; comparedAt: Date }[]> {
  return reader.statement(WITH_OPEN_BREAKS, [provider, currency, from]);
}

const START = `
  SELECT coalesce(max(posting_id), 0) AS after FROM reconciliations
  WHERE provider = $1 AND currency = $2 AND day < $3::date - 1`;

/** A posting before all of a day's. Transactions overlap for minutes at most, so a margin of a whole day is safe. */
export async function readStartOf(reader: Reader, { provider, currency }: Position, day: LocalDate): Promise<bigint> {
  const [row] = await reader.statement<{ after: bigint }>(START, [provider, currency, day]);
  return row?.after ?? 0n;
}

const SAVE = `
  INSERT INTO reconciliations (id, provider, currency, day, provider_credit_count, provider_credit_minor, provider_debit_count,
    provider_debit_minor, ledger_credit_count, ledger_credit_minor, ledger_debit_count, ledger_debit_minor, posting_id, source,
    created_at, compared_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, service_now(), service_now())
  ON CONFLICT (provider, currency, day) DO UPDATE SET provider_credit_count = excluded.provider_credit_count,
    provider_credit_minor = excluded.provider_credit_minor, provider_debit_count = excluded.provider_debit_count,
    provider_debit_minor = excluded.provider_debit_minor, ledger_credit_count = excluded.ledger_credit_count,
    ledger_credit_minor = excluded.ledger_credit_minor, ledger_debit_count = excluded.ledger_debit_count,
    ledger_debit_minor = excluded.ledger_debit_minor, posting_id = excluded.posting_id,
    source = excluded.source, compared_at = excluded.compared_at
  RETURNING id`;

/** Stores the sums of a day's comparison. A repeated comparison keeps the id. */
export async function saveReconciliation(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  {
    sums,
    postingId,
    source,
  }: { readonly sums: DaySums; readonly postingId: bigint; readonly source: StatementSourceKind },
): Promise<ReconciliationId> {
  const of = ({ creditCount, creditMinor, debitCount, debitMinor }: Totals) => [
    creditCount,
    creditMinor,
    debitCount,
    debitMinor,
  ];
  const [saved] = await reader.statement<{ id: ReconciliationId }>(SAVE, [
    newId(),
    provider,
    currency,
    day,
    ...of(sums.provider),
    ...of(sums.ours),
    postingId,
    source,
  ]);
  if (saved === undefined) throw new Error('a reconciliation was not stored');
  return saved.id;
}

/** The last compared day of each position. */
export interface ComparedDay {
  readonly provider: string;
  readonly currency: string;
  readonly day: LocalDate;
}

const LAST_DAYS = 'SELECT provider, currency, max(day) AS day FROM reconciliations GROUP BY 1, 2 ORDER BY 1, 2';

export function listLastDays(reader: Reader): Promise<ComparedDay[]> {
  return reader.statement<ComparedDay>(LAST_DAYS, []);
}

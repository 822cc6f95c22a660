import type { LocalDate } from '../../domain/common/time/dates.ts';
import { type DaySums, NOTHING, plus, totalsOf } from '../../domain/reconciliation/day-balance.ts';
import type { Movement } from '../../domain/reconciliation/movements.ts';
import type { CarriedOver } from '../../domain/reconciliation/one-sided.ts';
import type { PaymentKey } from '../../domain/reconciliation/reconciliation.ts';
import type { Reader } from '../query/database.ts';
import type { Position } from './schema.ts';

/** A movement with the id of its statement entry, which distinguishes it from its repetitions. */
export type StagedMovement = Movement & { readonly entryId: string };

const STAGE = `
  INSERT INTO reconciliation_movements
    (run_id, direction, reference, side, entry_id, movement, amount_minor, booked_at, of_day, accounts, resource_id)
  SELECT $1::uuid, direction, reference, 'provider', entry_id, movement, amount_minor, booked_at, of_day,
    ARRAY(SELECT jsonb_array_elements_text(accounts)), resource_id
  FROM jsonb_to_recordset($2::jsonb) AS sent (direction text, reference text, entry_id text, movement text, amount_minor bigint,
    booked_at timestamptz, of_day boolean, accounts jsonb, resource_id uuid)
  ON CONFLICT DO NOTHING`;

/** Stores a page of the provider's statement until the comparison has sorted it. An entry that a provider repeats counts once. */
export async function stageProviderMovements(
  reader: Reader,
  runId: string,
  movements: readonly StagedMovement[],
): Promise<void> {
  if (movements.length === 0) return;
  const rows = movements.map((one) => ({
    direction: one.direction,
    reference: one.reference,
    entry_id: one.entryId,
    movement: one.movement,
    amount_minor: one.amountMinor.toString(),
    booked_at: one.bookedAt,
    of_day: one.ofDay,
    accounts: one.accounts,
    resource_id: one.resourceId,
  }));
  await reader.statement(STAGE, [runId, JSON.stringify(rows)]);
}

export interface MovementRange {
  readonly after: bigint;
  /** The bounds of the compared day; `from` is inclusive, `to` exclusive. */
  readonly from: Date;
  readonly to: Date;
  /** How far beyond either end movements still count as neighbours. */
  readonly marginMs: number;
  readonly limit: number;
}

export interface StagedRange {
  readonly postings: number;
  readonly lastId: bigint | null;
  readonly lastPostedAt: Date | null;
  /** The last posting of the day itself. */
  readonly lastOfDay: bigint | null;
}

// Only movements of a provider's money: principals between settlement and a client or suspense, and opening balances. Ids and
// times have the same order, except for transactions that overlap.
export const STAGE_LEDGER_MOVEMENTS = `
  WITH settlement AS MATERIALIZED (
    SELECT id FROM system_accounts WHERE provider = $2 AND currency = $3 AND kind = 'settlement'
  ), page AS MATERIALIZED (
    SELECT * FROM (
      (SELECT id, posted_at, amount_minor, entry_type, outgoing_transfer_id, incoming_transfer_id, debit_transaction_type, 'debit' AS moved
        FROM postings WHERE credit_account_id = (SELECT id FROM settlement) AND credit_version IS NULL AND id > $4 ORDER BY id LIMIT $8)
      UNION ALL
      (SELECT id, posted_at, amount_minor, entry_type, outgoing_transfer_id, incoming_transfer_id, debit_transaction_type, 'credit'
        FROM postings WHERE debit_account_id = (SELECT id FROM settlement) AND debit_version IS NULL AND id > $4 ORDER BY id LIMIT $8)
    ) AS moved ORDER BY id LIMIT $8
  ), staged AS (
    INSERT INTO reconciliation_movements
      (run_id, direction, reference, side, entry_id, movement, amount_minor, booked_at, of_day, accounts, resource_id)
    SELECT $1::uuid, named.direction, named.reference, 'ours', page.id::text, named.movement, page.amount_minor, page.posted_at,
      page.posted_at >= $5 AND page.posted_at < $6,
      array_remove(ARRAY[account.id::text, account.main_account_id::text, account.iban, account.account_number], NULL), named.resource_id
    FROM page
      LEFT JOIN outgoing_transfers paid ON paid.id = page.outgoing_transfer_id
      LEFT JOIN incoming_transfers arrived ON arrived.id = page.incoming_transfer_id
      LEFT JOIN balance_adjustments opening ON opening.posting_id = page.id AND opening.workflow_type = 'opening-balance',
      LATERAL (SELECT
        CASE WHEN opening.account_id IS NOT NULL THEN 'opening' WHEN coalesce(paid.id, arrived.return_of) IS NOT NULL THEN 'out' ELSE 'in' END AS direction,
        coalesce(opening.account_id::text, paid.id::text, arrived.return_of::text, arrived.service_provider_id, arrived.id::text) AS reference,
        CASE WHEN opening.account_id IS NOT NULL THEN 'opening-balance'
          WHEN arrived.return_of IS NOT NULL OR (paid.id IS NOT NULL AND page.moved = 'credit') THEN 'payment-out-undone'
          WHEN paid.id IS NOT NULL THEN 'payment-out'
          WHEN page.moved = 'credit' THEN 'payment-in' ELSE 'payment-in-sent-back' END AS movement,
        coalesce(opening.account_id, paid.id, arrived.return_of, arrived.id) AS resource_id,
        coalesce(opening.account_id, paid.account_id, arrived.account_id) AS account_id) AS named
      LEFT JOIN accounts account ON account.id = named.account_id
    WHERE page.entry_type = 'principal' AND named.reference IS NOT NULL
      AND num_nonnulls(page.outgoing_transfer_id, page.incoming_transfer_id, opening.account_id) = 1
      AND page.posted_at >= $5::timestamptz - $7::double precision * interval '1 millisecond'
      AND page.posted_at < $6::timestamptz + $7::double precision * interval '1 millisecond'
    ON CONFLICT DO NOTHING
  )
  SELECT count(*)::integer AS postings, max(id) AS "lastId", max(posted_at) AS "lastPostedAt",
    max(id) FILTER (WHERE posted_at < $6) AS "lastOfDay" FROM page`;

/** Adds a page of our own movements, in order of posting. */
export async function stageLedgerMovements(
  reader: Reader,
  runId: string,
  { provider, currency }: Position,
  range: MovementRange,
): Promise<StagedRange> {
  const { after, from, to, marginMs, limit } = range;
  const [staged] = await reader.statement<StagedRange>(STAGE_LEDGER_MOVEMENTS, [
    runId,
    provider,
    currency,
    after,
    from,
    to,
    marginMs,
    limit,
  ]);
  if (staged === undefined) throw new Error('staging answered no row');
  return staged;
}

const MOVEMENT = `direction, reference, side, movement, amount_minor AS "amountMinor", booked_at AS "bookedAt",
  accounts, resource_id AS "resourceId"`;

const PAGE = `
  SELECT ${MOVEMENT}, of_day AS "ofDay", entry_id AS "entryId" FROM reconciliation_movements
  WHERE run_id = $1::uuid AND (direction, reference, side, entry_id) > ($2, $3, $4, $5)
  ORDER BY direction, reference, side, entry_id LIMIT $6`;

/** Both sides' movements, payment by payment. */
export async function* streamMovements(
  reader: Reader,
  runId: string,
  limit: number,
): AsyncGenerator<readonly StagedMovement[]> {
  let cursor = ['', '', '', ''];
  for (;;) {
    const page = await reader.statement<StagedMovement>(PAGE, [runId, ...cursor, limit]);
    const last = page.at(-1);
    if (last !== undefined) yield page;
    if (last === undefined || page.length < limit) return;
    cursor = [last.direction, last.reference, last.side, last.entryId];
  }
}

const SUMS = `
  SELECT side, movement NOT IN ('payment-out', 'payment-in-sent-back') AS "isCredit", count(*) AS count,
    sum(amount_minor)::bigint AS "amountMinor"
  FROM reconciliation_movements WHERE run_id = $1::uuid AND of_day GROUP BY 1, 2`;

interface Sum {
  readonly side: Movement['side'];
  readonly isCredit: boolean;
  readonly count: bigint;
  readonly amountMinor: bigint;
}

/** What each side moved on the day. */
export async function sumMovements(reader: Reader, runId: string): Promise<DaySums> {
  const sums = await reader.statement<Sum>(SUMS, [runId]);
  const of = (side: Movement['side']) =>
    sums
      .filter((sum) => sum.side === side)
      .reduce((all, { isCredit, count, amountMinor }) => plus(all, totalsOf(isCredit, count, amountMinor)), NOTHING);
  return { provider: of('provider'), ours: of('ours') };
}

const FORGET_PAGE = 20_000;

// Also deletes what a killed comparison left: no comparison lasts a day.
const FORGET = `
  DELETE FROM reconciliation_movements WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM reconciliation_movements WHERE run_id = $1::uuid OR run_id < uuidv7_floor(clock_timestamp() - interval '1 day')
    LIMIT $2))
  RETURNING 1 AS forgotten`;

export async function forgetMovements(reader: Reader, runId: string): Promise<void> {
  let forgotten = FORGET_PAGE;
  while (forgotten === FORGET_PAGE) forgotten = (await reader.statement(FORGET, [runId, FORGET_PAGE])).length;
}

const CARRY = `
  INSERT INTO reconciliation_carry_overs (provider, currency, direction, reference, movement, side, day, part, booked_at, amount_minor,
    accounts, resource_id, run_id, is_paired)
  SELECT $1, $2, direction, reference, movement, side, $3::date, part, booked_at, amount_minor,
    ARRAY(SELECT jsonb_array_elements_text(accounts)), resource_id, $4::uuid, is_paired
  FROM jsonb_to_recordset($5::jsonb) AS sent (direction text, reference text, movement text, side text, part integer,
    booked_at timestamptz, amount_minor bigint, accounts jsonb, resource_id uuid, is_paired boolean)
  ON CONFLICT (provider, currency, direction, reference, movement, side, day, part) DO UPDATE SET booked_at = excluded.booked_at,
    amount_minor = excluded.amount_minor, accounts = excluded.accounts, is_paired = excluded.is_paired,
    run_id = greatest(reconciliation_carry_overs.run_id, excluded.run_id)`;

/**
 * Keeps the day's movements that only one side has, for the day on which the other side has them; for `paired` ones that is just beyond
 * midnight. All parts of a payment are sent together.
 */
export async function carryOver(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  runId: string,
  movements: readonly Movement[],
  paired: readonly Movement[],
): Promise<void> {
  const parts = new Map<string, number>();
  const partOf = ({ direction, reference, movement, side }: Movement): number => {
    const key = `${direction} ${movement} ${side} ${reference}`;
    const part = (parts.get(key) ?? 0) + 1;
    parts.set(key, part);
    return part;
  };
  const all = [
    ...movements.map((one) => ({ one, is_paired: false })),
    ...paired.map((one) => ({ one, is_paired: true })),
  ].sort((first, second) => byTimeAndAmount(first.one, second.one));
  const rows = all.map(({ one, is_paired }) => ({
    is_paired,
    direction: one.direction,
    reference: one.reference,
    movement: one.movement,
    side: one.side,
    part: partOf(one),
    booked_at: one.bookedAt,
    amount_minor: one.amountMinor.toString(),
    accounts: one.accounts,
    resource_id: one.resourceId,
  }));
  // A file may have hundreds of thousands of one reference, more than one statement stores within its deadline.
  for (let start = 0; start < rows.length; start += CARRY_OVERS_PER_STATEMENT) {
    const some = JSON.stringify(rows.slice(start, start + CARRY_OVERS_PER_STATEMENT));
    await reader.statement(CARRY, [provider, currency, day, runId, some]);
  }
}

const CARRY_OVERS_PER_STATEMENT = 5_000;

function byTimeAndAmount(one: Movement, other: Movement): number {
  return one.bookedAt.getTime() - other.bookedAt.getTime() || Number(one.amountMinor - other.amountMinor);
}

const CARRIED = `
  SELECT ${MOVEMENT}, false AS "ofDay", is_paired AS "isPaired" FROM reconciliation_carry_overs
  WHERE provider = $1 AND currency = $2 AND day <> $3::date
    AND (direction, reference) IN (SELECT * FROM jsonb_to_recordset($4::jsonb) AS key (direction text, reference text))`;

/** The movements of these payments that only one side has on other days. */
export function listCarriedOver(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  keys: readonly PaymentKey[],
): Promise<CarriedOver[]> {
  const sent = uniqueOf(keys);
  return reader.statement<CarriedOver>(CARRIED, [provider, currency, day, sent]);
}

/** How long movements that only one side has on a day are kept, for the days on which the other side has them. */
export const CARRIED_DAYS_KEPT = 60;

function uniqueOf(keys: readonly PaymentKey[]): string {
  const unique = new Map(
    keys.map(({ direction, reference }) => [`${direction} ${reference}`, { direction, reference }]),
  );
  return JSON.stringify([...unique.values()]);
}

const FORGET_CARRIED = `
  DELETE FROM reconciliation_carry_overs WHERE provider = $1 AND currency = $2
    AND ((day = $3::date AND run_id < $4::uuid) OR day < $3::date - ${CARRIED_DAYS_KEPT})`;

/** Deletes what this comparison of the day no longer finds, unless a later one does, and what is too old to be matched. */
export async function forgetCarriedOver(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  runId: string,
): Promise<void> {
  await reader.statement(FORGET_CARRIED, [provider, currency, day, runId]);
}

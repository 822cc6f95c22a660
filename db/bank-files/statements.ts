import type { StatedDay } from '../../domain/bank-files/messages.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type StoredEntry, sameAccount } from './entries.ts';

export interface StatementLine extends StoredEntry {
  /** Of the payment that it is about. */
  readonly instructionId: string | null;
  /** The money in that it returns, by the bank's id. */
  readonly sentBackId: string | null;
}

export interface StatementQuery {
  readonly provider: string;
  readonly currency: string;
  readonly from: Date;
  readonly to: Date;
  /** The key after which the page begins. */
  readonly after: string | null;
  readonly limit: number;
}

// Sums of batches stand in it by their payments.
const PAGE = `
  SELECT entry.key, entry.direction, entry.amount_minor AS "amountMinor", entry.currency, entry.booked_on AS "bookedOn", entry.kind,
    entry.transfer_id AS "transferId", entry.code, entry.reference, entry.entry_reference AS "entryReference", entry.outcome, (
      SELECT instruction_id FROM bank_instructions instruction WHERE instruction.transfer_id = entry.transfer_id
      ORDER BY state = 'rejected', attempt DESC LIMIT 1) AS "instructionId",
    (SELECT service_provider_id FROM incoming_transfers WHERE id = entry.transfer_id) AS "sentBackId"
  FROM bank_entries entry
  WHERE entry.provider = $1 AND entry.currency = $2 AND entry.booked_on >= ($3::timestamptz AT TIME ZONE 'UTC')::date
    AND entry.booked_on < ($4::timestamptz AT TIME ZONE 'UTC')::date AND ($5::text IS NULL OR entry.key > $5)
    AND entry.stated_by IS NOT NULL AND NOT (entry.kind = 'batch' AND entry.outcome = 'applied')
  ORDER BY entry.key LIMIT $6`;

/** What the bank's statements say of whole days. */
export function listStatementEntries(reader: Reader, query: StatementQuery): Promise<StatementLine[]> {
  const { provider, currency, from, to, after, limit } = query;
  return reader.statement<StatementLine>(PAGE, [provider, currency, from, to, after, limit]);
}

const COVERED = `
  INSERT INTO bank_statement_days (provider, currency, account, day, opening_minor, closing_minor, file_id)
  SELECT DISTINCT ON (currency, account, day) $1, currency, account, day, opening, closing, $2::uuid
  FROM jsonb_to_recordset($3::jsonb) AS stated (currency text, account text, day date, opening bigint, closing bigint)
  ON CONFLICT (provider, currency, account, day) DO UPDATE
    SET opening_minor = excluded.opening_minor, closing_minor = excluded.closing_minor, file_id = excluded.file_id`;

export interface CoveredDays {
  readonly provider: string;
  readonly fileId: string;
  readonly days: readonly StatedDay[];
}

/** The days that a camt.053 covers. */
export async function storeStatedDays(tx: Transaction, { provider, fileId, days }: CoveredDays): Promise<void> {
  const rows = days.map(({ openingMinor, closingMinor, ...day }) => ({
    ...day,
    opening: openingMinor?.toString() ?? null,
    closing: closingMinor?.toString() ?? null,
  }));
  await tx.statement(COVERED, [provider, fileId, JSON.stringify(rows)]);
}

// A day without a statement had no movement if the next one begins with the balance with which the one before ended. Before the first
// statement there is nothing to tell.
const STATED = `
  SELECT known.account FROM (SELECT DISTINCT account FROM bank_statement_days WHERE provider = $1 AND currency = $2) AS known
  WHERE EXISTS (
    SELECT FROM bank_statement_days WHERE provider = $1 AND currency = $2 AND account = known.account AND day = $3::date
  ) OR (
    SELECT before.closing_minor IS NOT DISTINCT FROM following.opening_minor AND following.opening_minor IS NOT NULL OR before.day IS NULL
    FROM (SELECT opening_minor FROM bank_statement_days WHERE provider = $1 AND currency = $2 AND account = known.account AND day > $3::date
      ORDER BY day LIMIT 1) AS following
    LEFT JOIN (SELECT day, closing_minor FROM bank_statement_days WHERE provider = $1 AND currency = $2 AND account = known.account
      AND day < $3::date ORDER BY day DESC LIMIT 1) AS before ON true
  )`;

/** The accounts of whose movements on a day the bank's statements tell: by one of the day, or by those before and after it. */
export async function listStatedAccounts(
  reader: Reader,
  provider: string,
  currency: string,
  day: LocalDate,
): Promise<string[]> {
  const rows = await reader.statement<{ account: string }>(STATED, [provider, currency, day]);
  return rows.map(({ account }) => account);
}

const UNSTATED = `
  SELECT 1 FROM bank_entries entry WHERE provider = $1 AND currency = $2 AND booked_on <= $3::date AND stated_by IS NULL
    AND kind IN ('payment', 'return', 'received') AND NOT EXISTS (
      SELECT FROM bank_statement_days days
      WHERE provider = $1 AND currency = $2 AND day = entry.booked_on AND ${sameAccount('days.account', 'entry.account')})
  LIMIT 1`;

/** Whether the bank has told a movement of these days, and no statement of its day has come. One that is not on its statement is a break. */
export async function hasUnstated(
  reader: Reader,
  provider: string,
  currency: string,
  until: LocalDate,
): Promise<boolean> {
  return (await reader.statement(UNSTATED, [provider, currency, until])).length > 0;
}

const RECEIVED = `
  SELECT payload, EXISTS (SELECT FROM incoming_transfers received WHERE received.provider = $1 AND received.service_provider_id = $2 AND (
      EXISTS (SELECT FROM bank_instructions paid WHERE paid.transfer_id = received.id AND paid.state = 'completed')
      OR EXISTS (SELECT FROM bank_entries debit WHERE debit.transfer_id = received.id AND debit.kind = 'payment' AND debit.outcome = 'applied'))) AS returned
  FROM provider_callbacks WHERE provider = $1 AND provider_event_id = 'entry:' || $2 AND kind = 'payment-received'`;

interface ReceivedEvent {
  readonly payload: unknown;
  /** Its return has ended. */
  readonly returned: boolean;
}

/** The report of a payment in, as it was stored; null if there was none. */
export async function readReceivedEvent(reader: Reader, provider: string, key: string): Promise<ReceivedEvent | null> {
  const [found] = await reader.statement<ReceivedEvent>(RECEIVED, [provider, key]);
  return found ?? null;
}

import type { BatchDebit } from '../../domain/bank-files/exchange/batch-sums.ts';
import type { Reader, Transaction } from '../query/database.ts';

export const ENTRY_KINDS = ['payment', 'return', 'received', 'batch', 'unknown'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A movement of money as the bank's reports tell it, and what it turned out to be. */
export interface StoredEntry {
  readonly key: string;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly bookedOn: string;
  readonly kind: EntryKind;
  readonly transferId: string | null;
  readonly code: string | null;
  /** The bank's reference of the entry, and of the entry that holds this one of its details. */
  readonly reference: string | null;
  readonly entryReference: string | null;
  /** Of money that came in: the payer's own id of it. */
  readonly payerReference?: string | null;
  readonly outcome: 'applied' | 'no-effect' | 'waiting' | 'break';
}

/** A movement with where it was told. */
export interface NewEntry extends StoredEntry {
  /** As the bank writes it; null for what was told before it was stored. */
  readonly account: string | null;
  /** Of a batch of ours told as one sum: its id, and how many payments the bank says it has. */
  readonly batchId: string | null;
  readonly batchCount: number | null;
  /** The bank's charges in the amount. */
  readonly chargesMinor: bigint | null;
}

// A sum of a batch, or what was unknown, becomes known later; anything else is told once.
const STORE = `
  INSERT INTO bank_entries (provider, key, file_id, account, direction, amount_minor, currency, booked_on, kind, transfer_id, code, reference,
    entry_reference, batch_id, batch_count, charges_minor, outcome, payer_reference)
  VALUES ($1, $2, $3::uuid, $4, $5, $6, $7, $8::date, $9, $10::uuid, $11, $12, $13, $14, $15, $16, $17, $18)
  ON CONFLICT (provider, key) DO UPDATE SET kind = excluded.kind, transfer_id = excluded.transfer_id, code = excluded.code, outcome = excluded.outcome,
      account = excluded.account, batch_id = excluded.batch_id, batch_count = excluded.batch_count,
      charges_minor = excluded.charges_minor, payer_reference = excluded.payer_reference
    WHERE bank_entries.outcome = 'waiting' AND (excluded.outcome <> 'waiting' OR bank_entries.kind = 'unknown' OR bank_entries.account IS NULL)`;

export async function storeEntry(tx: Transaction, provider: string, fileId: string, entry: NewEntry): Promise<void> {
  const { key, account, direction, amountMinor, currency, bookedOn, kind, transferId, code, outcome } = entry;
  const said = [account, direction, amountMinor, currency, bookedOn, kind, transferId, code];
  const batch = [entry.batchId, entry.batchCount, entry.chargesMinor];
  const names = [entry.reference, entry.entryReference, ...batch, outcome, entry.payerReference ?? null];
  await tx.statement(STORE, [provider, key, fileId, ...said, ...names]);
}

/** As \`isSameAccount\` in SQL. Rows from before have no account: they are of any. */
export function sameAccount(one: string, other: string): string {
  const shorter = `least(length(${one}), length(${other}))`;
  return `coalesce(right(${one}, ${shorter}) = right(${other}, ${shorter}), true)`;
}

const STATED = `UPDATE bank_entries SET stated_by = $3::uuid WHERE provider = $1 AND key = $2 AND stated_by IS NULL`;
// A sum and its parts are the same money: what states one states the others, whichever is told first.
const SAME_MONEY = `part.provider = sum.provider AND part.booked_on = sum.booked_on AND part.direction = sum.direction
  AND part.currency = sum.currency AND ${sameAccount('part.account', 'sum.account')} AND (part.file_id = sum.file_id AND starts_with(part.key, sum.key || ':') OR part.entry_reference = sum.reference)`;
const PARTS_STATED = `
  UPDATE bank_entries part SET stated_by = sum.stated_by FROM bank_entries sum
  WHERE sum.provider = $1 AND sum.key = $2 AND sum.kind = 'batch' AND part.stated_by IS NULL AND ${SAME_MONEY}`;
const STATED_BY_SUM = `
  UPDATE bank_entries part SET stated_by = sum.stated_by FROM bank_entries sum
  WHERE part.provider = $1 AND part.key = $2 AND part.stated_by IS NULL AND sum.kind = 'batch' AND sum.stated_by IS NOT NULL
    AND sum.reference = part.entry_reference AND ${SAME_MONEY}`;

/** A camt.053 tells the movement, and with a sum its parts. */
export async function markStated(tx: Transaction, provider: string, key: string, fileId: string): Promise<void> {
  await tx.statement(STATED, [provider, key, fileId]);
  await markPartsStated(tx, provider, key);
}

/** The parts of a sum that is stated are. */
export async function markPartsStated(tx: Transaction, provider: string, key: string): Promise<void> {
  await tx.statement(PARTS_STATED, [provider, key]);
}

/** A detail is stated if its sum is. */
export async function markStatedBySum(tx: Transaction, provider: string, key: string): Promise<void> {
  await tx.statement(STATED_BY_SUM, [provider, key]);
}

const PLACE = `account, batch_id AS "batchId", batch_count AS "batchCount", charges_minor AS "chargesMinor", file_id AS "fileId", stated_by IS NOT NULL AS "isStated"`;
const COLUMNS = `key, direction, amount_minor AS "amountMinor", currency, booked_on AS "bookedOn", kind, transfer_id AS "transferId", code, reference,
  entry_reference AS "entryReference", outcome`;
// Ids of files follow their arrival: a day has no time.
const RETURNS = `SELECT ${COLUMNS} FROM bank_entries WHERE transfer_id = $1::uuid AND kind = 'return' ORDER BY booked_on, file_id, key`;

/** The returns of a payment, the oldest first. */
export function listReturns(reader: Reader, transferId: string): Promise<StoredEntry[]> {
  return reader.statement<StoredEntry>(RETURNS, [transferId]);
}

export interface ToldEntry extends NewEntry {
  /** The file that told it first. */
  readonly fileId: string;
  /** Whether a statement (camt.053) has told it. */
  readonly isStated: boolean;
}

const FIND = `SELECT ${COLUMNS}, ${PLACE} FROM bank_entries WHERE provider = $1 AND key = $2`;

export async function findEntry(reader: Reader, provider: string, key: string): Promise<ToldEntry | null> {
  const [found] = await reader.statement<ToldEntry>(FIND, [provider, key]);
  return found ?? null;
}

const SUMS = `
  SELECT ${COLUMNS}, ${PLACE} FROM bank_entries
  WHERE provider = $1 AND kind = 'batch' AND direction = 'debit' AND outcome = ANY ($3::text[]) AND batch_id = coalesce($2, batch_id)
  ORDER BY booked_on, key`;

/** The sums of our batches that are not known to be those of their payments. */
export function listWaitingSums(reader: Reader, provider: string): Promise<ToldEntry[]> {
  return reader.statement<ToldEntry>(SUMS, [provider, null, ['waiting']]);
}

/** Those of one batch, with those that cannot be. */
export function listUnexplainedSums(reader: Reader, provider: string, batchId: string): Promise<ToldEntry[]> {
  return reader.statement<ToldEntry>(SUMS, [provider, batchId, ['waiting', 'break']]);
}

const DEBITS = `
  SELECT entry.key, entry.transfer_id AS "transferId", entry.account, entry.booked_on AS "bookedOn", entry.entry_reference AS "entryReference"
  FROM bank_instructions instruction JOIN bank_entries entry ON entry.transfer_id = instruction.transfer_id
  WHERE instruction.provider = $1 AND instruction.batch_id = $2 AND entry.kind = 'payment' AND entry.outcome IN ('applied', 'no-effect')`;

/** The movements that have paid payments of a batch. */
export function listDebitsOfBatch(reader: Reader, provider: string, batchId: string): Promise<BatchDebit[]> {
  return reader.statement<BatchDebit>(DEBITS, [provider, batchId]);
}

const SETTLE_SUM = `
  UPDATE bank_entries SET outcome = $3 WHERE provider = $1 AND key = $2 AND kind = 'batch' AND outcome = 'waiting'`;

/** A sum has become known: it is that of its payments, or cannot be. */
export async function settleSum(
  tx: Transaction,
  provider: string,
  key: string,
  outcome: 'applied' | 'break',
): Promise<void> {
  await tx.statement(SETTLE_SUM, [provider, key, outcome]);
}

const SUM = `
  SELECT ${COLUMNS}, ${PLACE} FROM bank_entries WHERE provider = $1 AND reference = $2 AND entry_reference IS NULL AND direction = $3 AND currency = $4
    AND ${sameAccount('account', '$5::text')}
  ORDER BY outcome = 'waiting', key LIMIT 1`;
const DETAILS = `
  SELECT coalesce(sum(amount_minor), 0)::bigint AS "amountMinor", count(*)::integer AS count, coalesce(bool_and(booked_on = $6::date), false) AS "isSameDay"
  FROM bank_entries
  WHERE provider = $1 AND entry_reference = $2 AND direction = $3 AND currency = $4 AND ${sameAccount('account', '$5::text')}
    AND outcome IN ('applied', 'no-effect')`;

type Side = Pick<NewEntry, 'account' | 'direction' | 'currency' | 'bookedOn'>;

export interface Details {
  readonly amountMinor: bigint;
  readonly count: number;
  /** Banks use their references again on another day. */
  readonly isSameDay: boolean;
}

/** The entry of this reference, as one sum. */
export async function findSum(
  reader: Reader,
  provider: string,
  reference: string,
  { account, direction, currency }: Side,
): Promise<ToldEntry | null> {
  const [found] = await reader.statement<ToldEntry>(SUM, [provider, reference, direction, currency, account]);
  return found ?? null;
}

/** What is booked of an entry by its details. */
export async function sumOfDetails(
  reader: Reader,
  provider: string,
  reference: string,
  { account, direction, currency, bookedOn }: Side,
): Promise<Details> {
  const [found] = await reader.statement<Details>(DETAILS, [
    provider,
    reference,
    direction,
    currency,
    account,
    bookedOn,
  ]);
  if (found === undefined) throw new Error('a sum returned no row');
  return found;
}

/** As SQL: whether the bank has booked more of a transfer than has come back. */
export function hasStandingDebit(transferId: string): string {
  return `(SELECT coalesce(sum(CASE entry.kind WHEN 'payment' THEN entry.amount_minor ELSE -entry.amount_minor END), 0)
    FROM bank_entries entry WHERE entry.transfer_id = ${transferId} AND entry.kind IN ('payment', 'return')) > 0`;
}

const IS_DEBITED = `SELECT ${hasStandingDebit('$1::uuid')} AS "isDebited"`;

/** Whether the bank has told a debit of the transfer, booked or not, that has not come back. */
export async function isDebited(reader: Reader, transferId: string): Promise<boolean> {
  const [found] = await reader.statement<{ readonly isDebited: boolean }>(IS_DEBITED, [transferId]);
  return found?.isDebited ?? false;
}

/** No entry's key. */
const NO_ENTRY = '';
const OTHER_DEBIT = `
  SELECT 1 FROM bank_entries WHERE transfer_id = $1::uuid AND kind = 'payment' AND key <> $2 AND outcome IN ('applied', 'no-effect') LIMIT 1`;

/** Whether any movement of money has paid the transfer. */
export function isPaid(reader: Reader, transferId: string): Promise<boolean> {
  return isPaidByAnother(reader, transferId, NO_ENTRY);
}

/** Whether another movement of money has paid the transfer. */
export async function isPaidByAnother(reader: Reader, transferId: string, key: string): Promise<boolean> {
  return (await reader.statement(OTHER_DEBIT, [transferId, key])).length > 0;
}

const OUTCOME = 'SELECT outcome FROM provider_callbacks WHERE provider = $1 AND provider_event_id = $2';

/** What an event has led to; null if there was none. */
export async function readEventOutcome(
  reader: Reader,
  provider: string,
  eventId: string,
): Promise<StoredEntry['outcome'] | null> {
  const [found] = await reader.statement<Pick<StoredEntry, 'outcome'>>(OUTCOME, [provider, eventId]);
  return found?.outcome ?? null;
}

import type { IncomingTransferId } from '../../domain/common/ids.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { Reader, Transaction } from '../query/database.ts';

// Money in that goes back by file.

const LOCK_DUE = `SELECT 1 FROM incoming_transfers WHERE id = $1::uuid AND send_back_status = 'due' FOR UPDATE`;

/** Whether the money is still to go back: while this holds, nothing else ends its return. */
export async function lockDueReturn(tx: Transaction, id: IncomingTransferId): Promise<boolean> {
  return (await tx.statement(LOCK_DUE, [id])).length === 1;
}

const BY_FILE = 'SELECT 1 FROM bank_instructions WHERE transfer_id = $1::uuid LIMIT 1';

/** Whether the return is instructed by file: then only the bank's word, or that of two people, ends it. */
export async function isReturnedByFile(tx: Transaction, id: IncomingTransferId): Promise<boolean> {
  return (await tx.statement(BY_FILE, [id])).length > 0;
}

const END_QUEUED = `
  UPDATE bank_instructions SET state = 'completed', held_reason = NULL, bank_says = NULL, expected_by = NULL
  WHERE transfer_id = $1::uuid AND (state = 'queued' OR (state = 'received' AND file_id IS NULL AND heard_at IS NULL))`;
const IS_UNDER_WAY = `SELECT 1 FROM bank_instructions WHERE transfer_id = $1::uuid AND state NOT IN ('completed', 'rejected') LIMIT 1`;

/** No file carries it any more, as it has gone back in another way. False if a file carries it already. The caller has locked the transfer. */
export async function endQueuedReturn(tx: Transaction, id: IncomingTransferId): Promise<boolean> {
  await tx.statement(END_QUEUED, [id]);
  return (await tx.statement(IS_UNDER_WAY, [id])).length === 0;
}

interface Debit {
  readonly provider: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly bookedOn: string;
  /** All that the bank says by which it may name the money. */
  readonly references: readonly string[];
  /** The bank says that it is a return (RtrInf). */
  readonly isReturn: boolean;
}

// Payers repeat their ids: one names money only in a return, and if no other money of the amount came with it, wherever that is by now.
const OTHER =
  "SELECT FROM bank_entries other WHERE other.provider = $1 AND other.direction = 'credit' AND other.key <> credit.key";
const IS_NAMED = `(credit.reference = ANY ($5::text[])
    OR $6 AND credit.payer_reference = ANY ($5::text[])
      AND NOT EXISTS (${OTHER} AND other.amount_minor = $2 AND other.currency = $3 AND other.payer_reference = ANY ($5::text[])))
    AND NOT EXISTS (${OTHER} AND other.reference = ANY ($5::text[]))`;
// Of open rows an index knows; what people have said is little.
const NAMED = `
  WITH candidates AS (
    SELECT id FROM incoming_transfers WHERE next_check_at IS NOT NULL AND send_back_status = 'due' AND provider = $1
    UNION SELECT unnest(transfer_ids) FROM bank_file_requests WHERE provider = $1 AND status = 'signed' AND bank_says = 'paid')
  SELECT incoming.id, incoming.send_back_status = 'done' AS "isBooked"
  FROM candidates JOIN incoming_transfers incoming USING (id)
    JOIN bank_entries credit ON (credit.provider, credit.key) = (incoming.provider, incoming.service_provider_id)
  WHERE incoming.send_back_status <> 'none' AND incoming.amount_minor = $2 AND incoming.currency = $3 AND credit.booked_on <= $4::date
    AND ${IS_NAMED}
    AND NOT EXISTS (SELECT FROM bank_entries debit WHERE debit.transfer_id = incoming.id AND debit.kind = 'payment' AND debit.outcome <> 'break')
  LIMIT 2`;
const TAKEN_BEFORE = `
  SELECT our_reference AS id, false AS "isBooked" FROM provider_callbacks
  WHERE provider = $1 AND provider_event_id = $2 AND kind = 'payment-in-sent-back'`;

export interface TakenBack {
  readonly id: string;
  /** By the word of people: the bank only tells what is known. */
  readonly isBooked: boolean;
}

/** The money in that a debit takes back, if it names it and nothing else by the references that it came with, and it has no debit yet. */
export async function findTakenBack(reader: Reader, eventId: string, debit: Debit): Promise<TakenBack | null> {
  const { provider, amountMinor, currency, bookedOn, references, isReturn } = debit;
  // What a crash has kept from being stored.
  const [before] = await reader.statement<TakenBack>(TAKEN_BEFORE, [provider, eventId]);
  if (before !== undefined) return before;
  if (references.length === 0) return null;
  const found = await reader.statement<TakenBack>(NAMED, [
    provider,
    amountMinor,
    currency,
    bookedOn,
    references,
    isReturn,
  ]);
  const [first, ...others] = found;
  return first === undefined || others.length > 0 ? null : first;
}

// A debit that named the money while a file carried its return has waited. Names that other money has as well, whenever it was told, are not certain.
const PAID_BY_OWN_DEBIT = `
  WITH named AS (
    SELECT entry.provider, entry.key FROM provider_callbacks told
      JOIN bank_entries entry ON (entry.provider, entry.key) = (told.provider, substr(told.provider_event_id, length('entry:') + 1))
    WHERE told.our_reference = $1::uuid::text AND told.kind = 'payment-in-sent-back' AND told.outcome = 'waiting'
      AND entry.kind = 'unknown' AND entry.outcome = 'waiting'),
  paid AS (
    UPDATE bank_entries debit SET kind = 'payment', transfer_id = $1::uuid, outcome = 'no-effect' FROM named
    WHERE (debit.provider, debit.key) = (named.provider, named.key) AND (SELECT count(*) FROM named) = 1
      AND NOT EXISTS (SELECT FROM bank_entries WHERE transfer_id = $1::uuid AND kind = 'payment' AND outcome <> 'break')
      AND NOT EXISTS (SELECT FROM incoming_transfers incoming
          JOIN bank_entries credit ON (credit.provider, credit.key) = (incoming.provider, incoming.service_provider_id)
          JOIN bank_entries other ON other.provider = credit.provider AND other.direction = 'credit' AND other.key <> credit.key
        WHERE incoming.id = $1::uuid AND (other.reference = credit.reference
          OR (other.payer_reference, other.amount_minor, other.currency) = (credit.payer_reference, credit.amount_minor, credit.currency)))
    RETURNING debit.provider, 'entry:' || debit.key AS event)
  UPDATE provider_callbacks SET outcome = 'no-effect' FROM paid WHERE (provider_callbacks.provider, provider_event_id) = (paid.provider, event)`;

/** Two people have said that the money has gone back: the bank's own debit of it, if exactly one is told that waits, is the one that has paid. */
export async function takeOwnDebit(tx: Transaction, id: string): Promise<void> {
  await tx.statement(PAID_BY_OWN_DEBIT, [id]);
}

const PAYER = 'SELECT sender_name AS name, sender_account AS account FROM incoming_transfers WHERE id = $1::uuid';

interface Payer {
  readonly name: string | null;
  readonly account: PartyAccount | null;
}

export async function readPayer(reader: Reader, id: string): Promise<Payer> {
  const [found] = await reader.statement<Payer>(PAYER, [id]);
  return found ?? { name: null, account: null };
}

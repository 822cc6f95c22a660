import { RESTORED } from '../../domain/bank-files/exchange/holds.ts';
import { rejection } from '../../domain/common/errors.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import type { Reader, Transaction } from '../query/database.ts';

// After a restore our rows are older than what a bank has. All that may be there already is held until a person releases it.

// Once for each restore: a repetition holds nothing that a person has released.
const BEGIN = `
  INSERT INTO bank_restores (provider, since, began_at)
  SELECT named.provider, $2::timestamptz, service_now()
  FROM (SELECT unnest($1::text[]) UNION SELECT provider FROM bank_instructions UNION SELECT provider FROM bank_files) AS named (provider)
  ON CONFLICT (provider) DO UPDATE SET since = excluded.since, began_at = excluded.began_at, archive_read_at = NULL, closed_at = NULL
    WHERE bank_restores.since <> excluded.since
  RETURNING provider`;
const HOLD_INSTRUCTIONS = `
  UPDATE bank_instructions SET held_reason = '${RESTORED}' WHERE provider = ANY ($1::text[]) AND state = 'queued' AND held_reason IS NULL`;
// One whose listing does not prove it may have arrived, and been taken, since.
const HOLD_FILES = `
  UPDATE bank_files SET state = 'set-aside', reason = '${RESTORED}', let_go_at = clock_timestamp()
  WHERE provider = ANY ($1::text[]) AND direction = 'out' AND state IN ('built', 'delivering', 'handed-out')`;

// What was asked for before knows nothing of what was done since.
const END_REQUESTS = `
  UPDATE bank_file_requests SET expires_at = clock_timestamp() WHERE provider = ANY ($1::text[]) AND status = 'waiting'`;

/**
 * Holds what no bank is known to have, after the restore of the instant `since`: instructions that wait for their file, and files that are not
 * delivered. Payments of before the restore that are submitted later are held as well, and no one signs what was asked for before. The banks'
 * archives are read again.
 */
export async function holdForRestore(tx: Transaction, providers: readonly string[], since: Date): Promise<void> {
  const begun = await tx.statement<{ readonly provider: string }>(BEGIN, [providers, since]);
  const held = begun.map(({ provider }) => provider);
  await tx.statement(HOLD_INSTRUCTIONS, [held]);
  await tx.statement(HOLD_FILES, [held]);
  await tx.statement(END_REQUESTS, [held]);
}

/** As SQL, of a row of outgoing_transfers and a `restore`: no file of before can have carried it, as dates only move on. */
export const IS_LATER = `(outgoing_transfers.created_at > restore.began_at
  OR outgoing_transfers.original_transfer_date > (restore.began_at AT TIME ZONE 'UTC')::date + 1)`;
/** As SQL, of a row `file`: the bank has told something that is not known yet. */
const IS_FETCHED = `file.direction = 'in' AND file.state = 'fetched'`;
const IS_ASIDE = `file.direction = 'in' AND file.state = 'set-aside' AND file.taken_at IS NULL AND file.settled_at IS NULL`;
export const IS_UNREAD = `((${IS_FETCHED}) OR (${IS_ASIDE}))`;
const OF_BANK = 'FROM bank_files file WHERE file.provider = restore.provider AND';
// It speaks of what is lost, and may mean a payment that we know: a person finds out.
const IS_OF_LOST = `(file.direction = 'in' AND file.state = 'set-aside' AND file.settled_at IS NULL AND file.unknown_items > 0 AND file.taken_at >= restore.began_at)`;
const IS_CAUGHT_UP = `(archive_read_at IS NOT NULL AND NOT EXISTS (SELECT ${OF_BANK} (${IS_UNREAD} OR ${IS_OF_LOST})))`;
// A file sent just before may be answered with the statement of its day, or by a week later never. A bank that states no days answers at once.
const STATED =
  'FROM bank_statement_days stated WHERE stated.provider = restore.provider AND stated.currency = outgoing_transfers.currency';
const IS_STATED = `(archive_read_at < service_now() - interval '7 days' OR NOT EXISTS (SELECT ${STATED})
  OR EXISTS (SELECT ${STATED} AND stated.day >= (restore.began_at AT TIME ZONE 'UTC')::date))`;

// A process of the release before, which begins another restore, leaves the instant at which the one before was closed.
const IS_CLOSED = '(closed_at IS NOT NULL AND closed_at >= began_at)';

/**
 * As SQL: whether the bank may have a row of outgoing_transfers without our knowledge, as a restore is not caught up, or has it and it could not be
 * booked: a pending payment was never submitted.
 */
export const MAY_BE_AT_BANK = `(outgoing_transfers.scope = 'external' AND outgoing_transfers.method = 'built-in' AND (
  EXISTS (SELECT FROM bank_restores restore WHERE restore.provider = outgoing_transfers.provider
    AND NOT ${IS_CLOSED} AND NOT ${IS_LATER} AND NOT (${IS_CAUGHT_UP} AND ${IS_STATED}))
  OR (outgoing_transfers.status = 'pending' AND EXISTS (
    SELECT FROM bank_instructions told WHERE told.transfer_id = outgoing_transfers.id AND told.state <> 'rejected'))))`;

export interface BankRestore {
  readonly provider: string;
  readonly beganAt: Date;
  readonly archiveReadAt: Date | null;
  /** Two people have said that the bank tells no more. */
  readonly isClosed: boolean;
  /** Files of the bank that are stored and still to be taken. */
  readonly untakenFiles: number;
  /** Files of the bank that are set aside, and of which no one knows what they tell, or of what. */
  readonly unreadFiles: number;
  /** All that the bank has told is known. Before that it may have any payment that is held. */
  readonly isCaughtUp: boolean;
  readonly heldPayments: number;
  readonly heldFiles: number;
}

const RESTORES = `
  SELECT provider, began_at AS "beganAt", archive_read_at AS "archiveReadAt", ${IS_CLOSED} AS "isClosed",
    (SELECT count(*)::integer ${OF_BANK} ${IS_FETCHED}) AS "untakenFiles",
    (SELECT count(*)::integer ${OF_BANK} ((${IS_ASIDE}) OR ${IS_OF_LOST})) AS "unreadFiles", ${IS_CAUGHT_UP} AS "isCaughtUp",
    (SELECT count(*)::integer FROM bank_instructions held
      WHERE held.provider = restore.provider AND state = 'queued' AND held_reason = '${RESTORED}') AS "heldPayments",
    (SELECT count(*)::integer FROM bank_files file
      WHERE file.provider = restore.provider AND direction = 'out' AND state = 'set-aside' AND reason = '${RESTORED}'
        AND settled_at IS NULL) AS "heldFiles"
  FROM bank_restores restore WHERE $1::text IS NULL OR provider = $1 ORDER BY provider`;

/** The banks at which a restore still holds something, or whose archive is still to be read and of which people have not closed it. */
export async function listBankRestores(reader: Reader): Promise<BankRestore[]> {
  const all = await reader.statement<BankRestore>(RESTORES, [null]);
  return all.filter(
    ({ isClosed, isCaughtUp, heldPayments, heldFiles }) => heldPayments + heldFiles > 0 || !(isClosed || isCaughtUp),
  );
}

export async function findBankRestore(reader: Reader, provider: string): Promise<BankRestore | null> {
  const [found] = await reader.statement<BankRestore>(RESTORES, [provider]);
  return found ?? null;
}

const ARCHIVE_READ = `
  UPDATE bank_restores SET archive_read_at = service_now()
  WHERE provider = $1 AND date_trunc('milliseconds', began_at) = $2::timestamptz AND archive_read_at IS NULL`;

/** The bank's archive has been read since this restore. */
export async function noteArchiveRead(
  tx: Transaction,
  { provider, beganAt }: Pick<BankRestore, 'provider' | 'beganAt'>,
): Promise<void> {
  await tx.statement(ARCHIVE_READ, [provider, beganAt]);
}

const IS_EXCHANGED = 'SELECT FROM bank_file_leases WHERE provider = $1 AND held_until > clock_timestamp()';

/** The banks of this process's configuration that exchange files, by their codes. */
export type FileExchanges = ReadonlyMap<string, unknown>;

/** Of a bank with which no process exchanges files, nor will: what it has told would be read. */
export async function requireClosable(tx: Transaction, provider: string, exchanges: FileExchanges): Promise<void> {
  if (exchanges.has(provider)) {
    throw unfit(provider, `${provider} exchanges files in this configuration: its files end the restore.`);
  }
  const restore = await findBankRestore(tx, provider);
  if (restore === null || restore.isClosed) throw unfit(provider, `No restore is open at ${provider}.`);
  const exchanged = await tx.statement(IS_EXCHANGED, [provider]);
  if (exchanged.length === 0) return;
  throw unfit(provider, `A process exchanges files with ${provider}: its files end the restore.`);
}

/** What cannot be asked for, or signed, of this bank. */
export function unfit(provider: string, message: string) {
  return rejection('common.state.illegal_transition', ['bankFileRequest', 'provider', provider], message);
}

const CLOSE = `
  UPDATE bank_restores SET closed_at = service_now() WHERE provider = $1 AND NOT ${IS_CLOSED} RETURNING since`;

/** What it holds stays held, and what is submitted of before it is held as well. */
export async function closeRestore(
  tx: Transaction,
  provider: string,
  initiator: Initiator,
  exchanges: FileExchanges,
): Promise<void> {
  await requireClosable(tx, provider, exchanges);
  for (const { since } of await tx.statement<{ readonly since: Date }>(CLOSE, [provider])) {
    const resourceId = since.toISOString();
    appendAuditEntry(tx, { resource: 'restore', resourceId, action: 'closed', after: { provider }, initiator });
  }
}

// News of a payment may be read before the payment is submitted again. A minute: what is stored at the same time is seen.
const TAKE_AGAIN = `
  UPDATE bank_files SET state = 'fetched', tries = 0
  WHERE provider = $1 AND direction = 'in' AND state = 'set-aside' AND settled_at IS NULL AND unknown_items > 0
    AND EXISTS (SELECT FROM bank_restores restore WHERE restore.provider = $1 AND taken_at >= began_at)
    AND taken_at < (SELECT max(queued_at) + interval '1 minute' FROM bank_instructions WHERE provider = $1 AND held_reason = '${RESTORED}')`;

/** Files of the bank that were about nothing we knew are taken again after payments that a restore holds. */
export async function takeAgainForHeld(tx: Transaction, provider: string): Promise<void> {
  await tx.statement(TAKE_AGAIN, [provider]);
}

// Attempts before it may be lost as well, so the number is the one that the bank names, or the next. `received`: no file of ours carries it.
const RECOVER = `
  INSERT INTO bank_instructions (transfer_id, attempt, provider, instruction_id, payment_reference, account, scheme, currency, amount_minor,
    details, state, is_return, queued_at, expected_by)
  SELECT transfer.id, named.attempt, transfer.provider, $3 || named.attempt, $3, '{}', transfer.scheme, transfer.currency, transfer.amount_minor,
    '{}', 'received', transfer.is_return, service_now(), service_now() + $5 * interval '1 hour'
  FROM (SELECT id, provider, scheme, currency, amount_minor, created_at, false AS is_return FROM outgoing_transfers
      WHERE id = $1::uuid AND scope = 'external' AND method = 'built-in' AND status IN ('pending', 'processing')
    UNION ALL SELECT id, provider, scheme, currency, amount_minor, created_at, true FROM incoming_transfers
      WHERE id = $1::uuid AND scope = 'external' AND method = 'built-in' AND status <> 'completed' AND send_back_status <> 'done') AS transfer
    JOIN bank_restores restore ON restore.provider = transfer.provider,
    LATERAL (SELECT coalesce($4::integer, 1 + coalesce(max(attempt), 0)) AS attempt
      FROM bank_instructions WHERE transfer_id = transfer.id) AS named
  WHERE transfer.provider = $2 AND transfer.scheme IS NOT NULL AND transfer.created_at <= restore.began_at
    AND NOT EXISTS (SELECT FROM bank_instructions WHERE transfer_id = transfer.id AND (state <> 'rejected' OR attempt >= named.attempt))
  ON CONFLICT DO NOTHING RETURNING instruction_id AS "instructionId", amount_minor AS "amountMinor", currency, is_return AS "isReturn"`;

export interface LostSubmission {
  readonly provider: string;
  readonly transferId: string;
  readonly paymentReference: string;
  /** As the bank names it; null: it names the payment only. */
  readonly attempt: number | null;
}

interface Recovered {
  readonly instructionId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly isReturn: boolean;
}

/**
 * Stores a submission that a restore has lost, and that the bank says it has carried out. Null if the payment is none of before a restore, or
 * has a submission that may be meant.
 */
export async function recoverInstruction(
  tx: Transaction,
  { provider, transferId, paymentReference, attempt }: LostSubmission,
  silenceHours: number,
): Promise<Recovered | null> {
  const given = [transferId, provider, paymentReference, attempt, silenceHours];
  const [recovered] = await tx.statement<Recovered>(RECOVER, given);
  return recovered ?? null;
}

import type { BankFileState } from '../../domain/bank-files/by-hand/files.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { BankFileId } from '../../domain/common/ids.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';

export interface BankFile {
  readonly id: BankFileId;
  readonly provider: string;
  readonly message: string | null;
  readonly name: string;
  readonly messageId: string | null;
  readonly size: number;
  readonly state: BankFileState;
  readonly reason: string | null;
  /** The upload that gets the name, once its rename began. */
  readonly temporaryName: string | null;
  readonly createdAt: Date;
}

const COLUMNS = `id, provider, message, name, message_id AS "messageId", size, state, reason, temporary_name AS "temporaryName",
  created_at AS "createdAt"`;

export interface NewFile {
  readonly id: BankFileId;
  readonly provider: string;
  readonly message: 'pain.001' | 'camt.055';
  readonly messageId: string;
  readonly name: string;
  /** The bytes that lie at the bank. */
  readonly content: Uint8Array;
  /** The message in them; null if they are the message itself. */
  readonly plain: Uint8Array | null;
}

const BUILD = `
  INSERT INTO bank_files (id, provider, direction, message, name, message_id, digest, content, size, state, created_at, plain, plain_digest)
  SELECT $1::uuid, $2, 'out', $3, $4, $5, sha256(given.content), given.content, length(given.content), 'built', service_now(),
    given.plain, sha256(coalesce(given.plain, given.content))
  FROM (SELECT $6::bytea AS content, $7::bytea AS plain) AS given`;

/** Stores a file of ours, in the transaction that gives it its payments. */
export async function buildFile(tx: Transaction, file: NewFile): Promise<void> {
  const { id, provider, message, name, messageId, content, plain } = file;
  await tx.statement(BUILD, [id, provider, message, name, messageId, content, plain]);
}

const FETCH = `
  INSERT INTO bank_files (id, provider, direction, name, digest, content, size, state, created_at)
  SELECT $1::uuid, $2, 'in', $3, sha256(given.content), given.content, length(given.content), 'fetched', service_now()
  FROM (SELECT $4::bytea AS content) AS given
  ON CONFLICT (provider, digest) WHERE direction = 'in' DO UPDATE SET state = 'fetched', reason = NULL WHERE bank_files.state = 'carried' RETURNING id`;
const FETCHED_BEFORE = `
  SELECT id FROM bank_files WHERE provider = $1 AND direction = 'in' AND digest = sha256($2::bytea)`;

/** Stores a file that came in, once, whatever its name; returns its id. One that a person has brought before needs no signature any more. */
export async function storeFetchedFile(
  tx: Transaction,
  { provider, name, content }: Pick<NewFile, 'provider' | 'name' | 'content'>,
): Promise<BankFileId> {
  const [stored] = await tx.statement<{ id: BankFileId }>(FETCH, [newId<BankFileId>(), provider, name, content]);
  if (stored !== undefined) return stored.id;
  const [before] = await tx.statement<{ id: BankFileId }>(FETCHED_BEFORE, [provider, content]);
  if (before === undefined) throw new Error(`the file ${name} of ${provider} is neither new nor stored`);
  return before.id;
}

// Only the holder of the lease does this. Its name is that of a listing, which shows one file of it.
const UNREAD = `
  INSERT INTO bank_files (id, provider, direction, name, size, state, reason, modified_at, created_at)
  SELECT $1::uuid, $2, 'in', $3, $4, 'set-aside', $5, $6::timestamptz, service_now()
  WHERE NOT EXISTS (SELECT FROM bank_files WHERE name = $3 AND provider = $2 AND modified_at = $6::timestamptz AND size = $4) RETURNING id`;
const SIZE_MAX = 2_147_483_647;

export interface UnreadFile extends Pick<BankFile, 'provider' | 'name' | 'size'> {
  readonly reason: string;
  readonly modifiedAt: Date;
}

/** Sets a file of the bank aside without its bytes, once; false: it was before. */
export async function storeUnreadFile(tx: Transaction, file: UnreadFile): Promise<boolean> {
  const { provider, name, size, reason, modifiedAt } = file;
  const values = [newId<BankFileId>(), provider, name, Math.min(size, SIZE_MAX), reason, modifiedAt];
  return (await tx.statement(UNREAD, values)).length === 1;
}

const OPEN = `
  SELECT ${COLUMNS} FROM bank_files WHERE provider = $1 AND state IN ('built', 'delivering', 'fetched') AND direction = $2
  ORDER BY reason IS NOT NULL, id LIMIT 100`;

/** The files that are to be delivered, or taken, the oldest first; those that met trouble before hold up no other. */
export function listOpenFiles(reader: Reader, provider: string, direction: 'out' | 'in'): Promise<BankFile[]> {
  return reader.statement<BankFile>(OPEN, [provider, direction]);
}

const FIND = `SELECT ${COLUMNS} FROM bank_files WHERE id = $1::uuid`;

export async function findFile(reader: Reader, id: string): Promise<BankFile | null> {
  const [found] = await reader.statement<BankFile>(FIND, [id]);
  return found ?? null;
}

const BY_MESSAGE = `SELECT ${COLUMNS} FROM bank_files WHERE provider = $1 AND direction = 'out' AND message_id = $2`;

/** The file of ours that an answer names. */
export async function findFileByMessage(reader: Reader, provider: string, messageId: string): Promise<BankFile | null> {
  const [found] = await reader.statement<BankFile>(BY_MESSAGE, [provider, messageId]);
  return found ?? null;
}

const CONTENT = "SELECT encode(content, 'base64') AS bytes FROM bank_files WHERE id = $1::uuid";
const PLAIN = "SELECT encode(plain, 'base64') AS bytes FROM bank_files WHERE id = $1::uuid";

/** The bytes of a file, as they lie at the bank. */
export async function readContent(reader: Reader, id: string): Promise<Buffer> {
  const content = await readBytes(reader, CONTENT, id);
  if (content !== null) return content;
  const message = `The bytes of the file ${id} are not here: they are at the bank.`;
  throw rejection('common.state.illegal_transition', ['bankFile', 'content', id], message);
}

/** The message in a file that is not the message itself, once it has been opened. */
export function readPlain(reader: Reader, id: string): Promise<Buffer | null> {
  return readBytes(reader, PLAIN, id);
}

/** The message in a file, as far as it has been opened; otherwise the file's bytes. */
export async function readMessage(reader: Reader, id: string): Promise<Buffer> {
  return (await readPlain(reader, id)) ?? readContent(reader, id);
}

async function readBytes(reader: Reader, statement: string, id: string): Promise<Buffer | null> {
  const [found] = await reader.statement<{ bytes: string | null }>(statement, [id]);
  return found === undefined || found.bytes === null ? null : Buffer.from(found.bytes, 'base64');
}

const OPENED = `
  WITH given AS (
    SELECT id, provider, plain AS opened, coalesce(sha256(plain), digest) AS opened_digest
    FROM (SELECT id, provider, digest, $2::bytea AS plain FROM bank_files WHERE id = $1::uuid AND state = 'fetched') AS file
  )
  UPDATE bank_files SET plain = opened, plain_digest = opened_digest FROM given WHERE bank_files.id = given.id AND NOT EXISTS (
    SELECT FROM bank_files other WHERE other.provider = given.provider AND other.direction = 'in' AND other.plain_digest = opened_digest
      AND other.id <> given.id)
  RETURNING bank_files.id`;
const REPEATED = `
  UPDATE bank_files SET state = 'taken', reason = 'the same message as another file', taken_at = service_now()
  WHERE id = $1::uuid AND state = 'fetched'`;

/** Enough for trouble that passes within minutes. */
const TRIES_MAX = 20;

// Its first copy could not be applied then, and is taken once more in its place; not one that a person has set aside.
const TAKEN_UP = `
  UPDATE bank_files SET state = 'fetched', tries = 0, reason = NULL
  WHERE state = 'set-aside' AND taken_at IS NULL AND settled_at IS NULL AND direction = 'in' AND tries >= $3 AND (provider, plain_digest) = (
    SELECT provider, coalesce(sha256($2::bytea), digest) FROM bank_files WHERE id = $1::uuid)`;

/** Stores the decrypted message of an incoming file (null: the file is the message). False if another file has brought it: this one ends. */
export async function storeOpened(tx: Transaction, id: string, plain: Uint8Array | null): Promise<boolean> {
  if ((await tx.statement(OPENED, [id, plain])).length === 1) return true;
  await tx.statement(TAKEN_UP, [id, plain, TRIES_MAX]);
  await tx.statement(REPEATED, [id]);
  return false;
}

const BEGIN = `UPDATE bank_files SET state = 'delivering' WHERE id = $1::uuid AND state IN ('built', 'delivering') RETURNING id`;
const RENAMING = `
  UPDATE bank_files SET rename_began_at = service_now(), temporary_name = $2
  WHERE id = $1::uuid AND state = 'delivering' AND rename_began_at IS NULL RETURNING id`;
const WHY = `UPDATE bank_files SET reason = $2 WHERE id = $1::uuid AND state = 'delivering' AND reason IS DISTINCT FROM $2`;

/** An upload begins; false if a person has taken the file out of our hands. */
export async function beginDelivery(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.statement(BEGIN, [id])).length === 1;
}

/** From this commit on the file may have arrived, as this upload and no other; false if another process has come this far, or a person has decided. */
export async function beginRename(tx: Transaction, id: string, temporaryName: string): Promise<boolean> {
  return (await tx.statement(RENAMING, [id, temporaryName])).length === 1;
}

/** Why a delivery is not proven. */
export async function noteUnproven(tx: Transaction, id: string, reason: string): Promise<void> {
  await tx.statement(WHY, [id, reason]);
}

const DELIVERED = `
  WITH file AS (
    UPDATE bank_files SET state = 'delivered', delivered_at = service_now(), let_go_at = clock_timestamp(), reason = NULL
    WHERE id = $1::uuid AND direction = 'out' AND state IN ('built', 'delivering', 'handed-out', 'set-aside') RETURNING id, delivered_at
  ), told AS (
    UPDATE bank_instructions SET delivered_at = file.delivered_at, state = CASE state WHEN 'assigned' THEN 'delivered' ELSE state END,
      expected_by = CASE WHEN state IN ('completed', 'rejected', 'failed') THEN NULL ELSE file.delivered_at + $2 * interval '1 hour' END
    FROM file WHERE file_id = file.id AND bank_instructions.delivered_at IS NULL
  ) SELECT id FROM file`;

/** The file is at the bank, and its payments with it. Silence past `silenceHours` is an alarm. */
export async function markDelivered(tx: Transaction, id: string, silenceHours: number): Promise<void> {
  await tx.statement(DELIVERED, [id, silenceHours]);
}

const HEARD = 'UPDATE bank_files SET heard_at = service_now() WHERE id = $1::uuid AND heard_at IS NULL';

/** The bank has spoken of a file of ours, whatever it said: it has arrived. */
export async function noteHeardOf(tx: Transaction, id: string): Promise<void> {
  await tx.statement(HEARD, [id]);
}

const DATES = `
  SELECT DISTINCT scheme, currency, execution_date AS date FROM bank_instructions
  WHERE file_id = $1::uuid AND state = 'assigned' AND execution_date IS NOT NULL`;

export interface ExecutionDate {
  readonly scheme: string;
  readonly currency: string;
  readonly date: string;
}

/** On which dates a file of ours asks for its payments. */
export function listExecutionDates(reader: Reader, id: string): Promise<ExecutionDate[]> {
  return reader.statement<ExecutionDate>(DATES, [id]);
}

const DAY_IS_OVER = 'not sent: its day is over, and another file carries its payments';
const WITHDRAW = `
  WITH file AS (
    UPDATE bank_files SET state = 'set-aside', reason = '${DAY_IS_OVER}', settled_at = service_now()
    WHERE id = $1::uuid AND direction = 'out' AND state IN ('built', 'delivering') AND rename_began_at IS NULL RETURNING id
  ) UPDATE bank_instructions SET state = 'queued', file_id = NULL, batch_id = NULL, execution_date = NULL
    FROM file WHERE file_id = file.id AND bank_instructions.state = 'assigned'`;

/** A file that has no name at the bank cannot have arrived: its payments wait for another one, with another date. */
export async function withdrawFile(tx: Transaction, id: string): Promise<void> {
  await tx.statement(WITHDRAW, [id]);
}

const ARCHIVED = 'UPDATE bank_files SET archived_at = service_now() WHERE id = $1::uuid AND archived_at IS NULL';

/** The bank's own copy has been moved away. */
export async function markArchived(tx: Transaction, id: string): Promise<void> {
  await tx.statement(ARCHIVED, [id]);
}

export interface Taken {
  readonly message: string;
  readonly messageId: string;
  readonly items: number;
  readonly unknownItems: number;
}

const TAKEN = `
  UPDATE bank_files SET state = CASE WHEN $6::text IS NULL THEN 'taken' ELSE 'set-aside' END, message = $2, message_id = $3, items = $4,
    unknown_items = $5, reason = $6, taken_at = service_now() WHERE id = $1::uuid AND state = 'fetched'`;

/** All that a file told has been applied. With a reason it is set aside nevertheless: part of it is about nothing that we know. */
export async function markTaken(tx: Transaction, id: string, taken: Taken, reason: string | null): Promise<void> {
  await tx.statement(TAKEN, [id, taken.message, taken.messageId, taken.items, taken.unknownItems, reason]);
}

const SET_ASIDE = `
  UPDATE bank_files SET state = 'set-aside', reason = $2, let_go_at = clock_timestamp() WHERE id = $1::uuid AND state IN ('built', 'delivering', 'fetched')`;

/** Leaves an open file to a person. */
export async function setAside(tx: Transaction, id: string, reason: string): Promise<void> {
  await tx.statement(SET_ASIDE, [id, reason]);
}

const FAILED = `
  UPDATE bank_files SET tries = tries + 1, reason = $2, state = CASE WHEN tries + 1 >= $3 THEN 'set-aside' ELSE state END
  WHERE id = $1::uuid AND state = 'fetched' RETURNING state`;

/** A file could not be applied: it is taken again, some times, and then left to a person. True if it is now set aside. */
export async function noteFailedTry(tx: Transaction, id: string, reason: string): Promise<boolean> {
  const [file] = await tx.statement<Pick<BankFile, 'state'>>(FAILED, [id, reason, TRIES_MAX]);
  return file?.state === 'set-aside';
}

import { SIGNATURE_MS_MAX } from '../../../domain/approvals/remedy-lists.ts';
import {
  type FileStanding,
  requireCarried,
  requireSendable,
  requireSendableNow,
} from '../../../domain/bank-files/by-hand/files.ts';
import {
  type BankWord,
  mayPayAgain,
  type RequestKind,
  type RequestStanding,
  requireOpen,
  requireSignature,
} from '../../../domain/bank-files/by-hand/requests.ts';
import { recordNotFound, rejection } from '../../../domain/common/errors.ts';
import type { BankFileId, BankFileRequestId } from '../../../domain/common/ids.ts';
import { auditorOf, type Initiator } from '../../common/audit-entries.ts';
import { newId } from '../../common/ids.ts';
import type { Reader, Transaction } from '../../query/database.ts';
import { closeRestore, type FileExchanges, requireClosable } from '../restores.ts';
import { storeCarriedFile } from './carried.ts';
import { auditFile, lockStanding, moved } from './files.ts';
import { type HeldPayment, lockHeldPayments, releaseHeld } from './held.ts';
import { requireAllRead } from './unread-files.ts';

const audit = auditorOf('bank-file-request');

/** What one person has asked for and another signs. Instants are of real time. */
export interface BankFileRequest extends RequestStanding {
  readonly kind: RequestKind;
  readonly provider: string;
  readonly fileId: BankFileId | null;
  readonly bankSays: BankWord | null;
  readonly transferIds: readonly string[];
  readonly attempts: readonly number[];
  readonly heldReasons: readonly string[];
  readonly fileState: string | null;
  readonly fileLetGoAt: Date | null;
  /** In minor units as text, by currency. */
  readonly sums: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly askedAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly decisionReason: string | null;
}

const COLUMNS = `id, kind, provider, file_id AS "fileId", bank_says AS "bankSays", file_state AS "fileState",
  file_let_go_at AS "fileLetGoAt", transfer_ids AS "transferIds", attempts, held_reasons AS "heldReasons", sums, reason, status,
  asked_by AS "askedBy", asked_role AS "askedRole", asked_at AS "askedAt", expires_at AS "expiresAt", decided_by AS "decidedBy",
  decided_at AS "decidedAt", decision_reason AS "decisionReason"`;
const FIND = `SELECT ${COLUMNS} FROM bank_file_requests WHERE id = $1::uuid`;

export async function findRequest(reader: Reader, id: BankFileRequestId): Promise<BankFileRequest | null> {
  const [found] = await reader.statement<BankFileRequest>(FIND, [id]);
  return found ?? null;
}

const WAITING = `
  SELECT ${COLUMNS} FROM bank_file_requests WHERE status = 'waiting' AND expires_at > clock_timestamp() ORDER BY expires_at LIMIT $1`;

/** What waits for a signature that can still be given, the first to expire first. */
export function listWaitingRequests(reader: Reader, limit: number): Promise<BankFileRequest[]> {
  return reader.statement<BankFileRequest>(WAITING, [limit]);
}

const OF_FILE = `SELECT ${COLUMNS} FROM bank_file_requests WHERE file_id = $1::uuid ORDER BY id DESC LIMIT 20`;

/** What was asked for of a file, the newest first. */
export function listRequestsOf(reader: Reader, fileId: BankFileId): Promise<BankFileRequest[]> {
  return reader.statement<BankFileRequest>(OF_FILE, [fileId]);
}

const NEWEST = `
  SELECT ${COLUMNS} FROM bank_file_requests WHERE $1::uuid IS NULL OR id < $1::uuid ORDER BY id DESC LIMIT $2`;

/** Requests before `before` (an id; null: from the newest on), newest first. */
export function listNewestRequests(
  reader: Reader,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<BankFileRequest[]> {
  return reader.statement<BankFileRequest>(NEWEST, [before, size]);
}

export type Asking = Initiator & { readonly reason: string };

interface Subject {
  readonly kind: RequestKind;
  readonly provider: string;
  readonly file: FileStanding | null;
  readonly bankSays: BankWord | null;
  readonly payments: readonly HeldPayment[];
}

const SUMS = `
  SELECT coalesce(jsonb_object_agg(currency, sum), '{}') AS sums FROM (
    SELECT currency, sum(amount_minor)::text AS sum FROM bank_instructions
    WHERE file_id = $1::uuid OR (transfer_id, attempt) IN (SELECT * FROM unnest($2::uuid[], $3::integer[])) GROUP BY currency) AS summed`;
const ASK = `
  INSERT INTO bank_file_requests (id, kind, provider, file_id, file_state, file_let_go_at, bank_says, transfer_ids, attempts, held_reasons, sums, reason,
    asked_by, asked_role, expires_at)
  VALUES ($1::uuid, $2, $3, $4::uuid, $5, $6::timestamptz, $7, $8::uuid[], $9::integer[], $10::text[], $11::jsonb, $12, $13, $14,
    clock_timestamp() + $15::interval)`;

async function ask(tx: Transaction, subject: Subject, { reason, ...initiator }: Asking): Promise<BankFileRequestId> {
  const { kind, provider, file, bankSays, payments } = subject;
  const fileId = file?.id ?? null;
  const id = newId<BankFileRequestId>();
  const columns = [payments.map(({ transferId }) => transferId), payments.map(({ attempt }) => attempt)];
  const [summed] = await tx.statement<{ sums: Record<string, string> }>(SUMS, [fileId, ...columns]);
  const sums = summed?.sums ?? {};
  const { actor, role = null } = initiator;
  const expiry = `${SIGNATURE_MS_MAX} milliseconds`;
  const reasons = payments.map((payment) => payment.reason);
  const about = [fileId, file?.state ?? null, file?.letGoAt ?? null, bankSays, ...columns, reasons];
  await tx.statement(ASK, [id, kind, provider, ...about, sums, reason, actor, role, expiry]);
  const after = { kind, provider, fileId, bankSays, payments: payments.length, sums };
  audit(tx, id, { initiator: { ...initiator, reason }, action: 'asked', after });
  return id;
}

const OPEN_OF_FILE = `
  SELECT id FROM bank_file_requests WHERE file_id = $1::uuid AND status = 'waiting' AND expires_at > clock_timestamp() LIMIT 1`;

/** Under the file's lock: one request at a time. */
async function requireNoneOpen(tx: Transaction, fileId: BankFileId): Promise<void> {
  const [open] = await tx.statement<{ id: string }>(OPEN_OF_FILE, [fileId]);
  if (open === undefined) return;
  const message = `It is asked for already, and waits for its signature: request ${open.id}.`;
  throw rejection('common.state.illegal_transition', ['bankFileRequest', 'status', 'waiting'], message);
}

/** The bank says that it has none of a file: asks for it to be sent once more, with the same name and bytes. */
export async function askToSendAgain(tx: Transaction, id: BankFileId, initiator: Asking): Promise<BankFileRequestId> {
  const file = await lockStanding(tx, id);
  requireSendable(file);
  await requireNoneOpen(tx, id);
  return ask(tx, { kind: 'send-again', provider: file.provider, file, bankSays: null, payments: [] }, initiator);
}

interface Brought {
  readonly fileId: BankFileId;
  /** Null: it is stored already, and what it tells is or was read. */
  readonly requestId: BankFileRequestId | null;
}

/** Keeps a file of the bank that a person has brought, and asks for it to be read. */
export async function askToTakeCarried(
  tx: Transaction,
  file: { readonly provider: string; readonly name: string; readonly content: Uint8Array },
  initiator: Asking,
): Promise<Brought> {
  const { standing, isNew } = await storeCarriedFile(tx, file, initiator);
  const { id, state } = standing;
  if (!isNew && state !== 'carried') return { fileId: id, requestId: null };
  await requireNoneOpen(tx, id);
  const { provider } = file;
  const subject = { kind: 'take-carried', provider, file: standing, bankSays: null, payments: [] } as const;
  return { fileId: id, requestId: await ask(tx, subject, initiator) };
}

/** Asks for held payments of a bank to go on, or to end, as the bank says. */
export async function askToRelease(
  tx: Transaction,
  asked: { readonly provider: string; readonly transferIds: readonly string[] | null; readonly bankSays: BankWord },
  initiator: Asking,
): Promise<BankFileRequestId> {
  const { provider, bankSays } = asked;
  const payments = await lockHeldPayments(tx, asked);
  return ask(tx, { kind: 'release', provider, file: null, bankSays, payments }, initiator);
}

/** The bank tells no more, as it is no longer configured: asks for its restore to be closed. */
export async function askToCloseRestore(
  tx: Transaction,
  provider: string,
  initiator: Asking,
  exchanges: FileExchanges,
): Promise<BankFileRequestId> {
  await requireClosable(tx, provider, exchanges);
  return ask(tx, { kind: 'close-restore', provider, file: null, bankSays: null, payments: [] }, initiator);
}

const LOCK = `${FIND} FOR UPDATE`;
const DECIDE = `
  UPDATE bank_file_requests SET status = $2, decided_by = $3, decided_role = $4, decided_at = clock_timestamp(), decision_reason = $5
  WHERE id = $1::uuid AND status = 'waiting' RETURNING id`;

/** What a signature has done: of how many it was asked for, and how many stood as they did then. */
export interface Signed {
  readonly request: BankFileRequest;
  readonly asked: number;
  readonly done: number;
}

const REAL_NOW = 'SELECT clock_timestamp() AS now';

/** Signs a request, and does what was asked for in the same transaction. */
export async function signRequest(
  tx: Transaction,
  id: BankFileRequestId,
  initiator: Asking,
  exchanges: FileExchanges,
): Promise<Signed> {
  const request = await lockRequest(tx, id);
  const [clock] = await tx.statement<{ now: Date }>(REAL_NOW, []);
  if (clock === undefined) throw new Error('a clock returned no row');
  const { now } = clock;
  requireSignature(request, initiator, now);
  const counts =
    request.kind === 'close-restore'
      ? await closed(tx, request, initiator, exchanges)
      : await carryOut(tx, request, initiator, now);
  await decide(tx, request, 'signed', initiator);
  return { request, ...counts };
}

export async function rejectRequest(tx: Transaction, id: BankFileRequestId, initiator: Asking): Promise<void> {
  const request = await lockRequest(tx, id);
  requireOpen(request, 'rejected');
  await decide(tx, request, 'rejected', initiator);
}

async function lockRequest(tx: Transaction, id: BankFileRequestId): Promise<BankFileRequest> {
  const [found] = await tx.statement<BankFileRequest>(LOCK, [id]);
  if (found === undefined) throw recordNotFound('bankFileRequest', 'id', id);
  return found;
}

async function decide(
  tx: Transaction,
  { id }: BankFileRequest,
  status: 'signed' | 'rejected',
  initiator: Asking,
): Promise<void> {
  const { actor, role = null, reason } = initiator;
  const rows = await tx.statement(DECIDE, [id, status, actor, role, reason]);
  if (rows.length !== 1) throw new Error(`request ${id} was not decided`);
  audit(tx, id, { initiator, action: status, before: { status: 'waiting' }, after: { status } });
}

const SEND_AGAIN = `
  UPDATE bank_files SET state = 'built', reason = NULL, rename_began_at = NULL, temporary_name = NULL, delivered_at = NULL, settled_at = NULL,
    handed_out_by = NULL, handed_out_at = NULL, marked_by = NULL
  WHERE id = $1::uuid AND state IN ('handed-out', 'delivered', 'set-aside') RETURNING id`;
// Where delivery releases payments, those that it has released stay so.
const NOT_DELIVERED = `
  UPDATE bank_instructions SET state = CASE state WHEN 'delivered' THEN 'assigned' ELSE state END, delivered_at = NULL, expected_by = NULL
  WHERE file_id = $1::uuid AND state IN ('assigned', 'delivered', 'released') AND heard_at IS NULL`;
const TAKE = `UPDATE bank_files SET state = 'fetched' WHERE id = $1::uuid AND state = 'carried' RETURNING id`;

async function closed(
  tx: Transaction,
  { provider }: BankFileRequest,
  initiator: Asking,
  exchanges: FileExchanges,
): Promise<Pick<Signed, 'asked' | 'done'>> {
  await closeRestore(tx, provider, initiator, exchanges);
  return { asked: 1, done: 1 };
}

async function carryOut(
  tx: Transaction,
  request: BankFileRequest,
  initiator: Asking,
  now: Date,
): Promise<Pick<Signed, 'asked' | 'done'>> {
  const { fileId: id, kind, provider, bankSays } = request;
  if (kind === 'send-again' || (bankSays !== null && mayPayAgain(bankSays))) await requireAllRead(tx, provider);
  if (bankSays !== null) return releaseHeld(tx, request, bankSays, initiator);
  if (id === null) throw new Error(`request ${request.id} is about no file`);
  const file = await lockStanding(tx, id);
  const before = { state: file.state };
  if (kind === 'send-again') {
    requireSendableNow(file, { state: request.fileState ?? '', letGoAt: request.fileLetGoAt }, now);
    await moved(tx, id, SEND_AGAIN, [id]);
    await tx.statement(NOT_DELIVERED, [id]);
    auditFile(tx, id, { initiator, action: 'sent-again', before, after: { state: 'built' } });
  } else {
    requireCarried(file);
    await moved(tx, id, TAKE, [id]);
    auditFile(tx, id, { initiator, action: 'taken-in', before, after: { state: 'fetched' } });
  }
  return { asked: 1, done: 1 };
}

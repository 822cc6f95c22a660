import type { Reader, Transaction } from '../query/database.ts';
import { markDelivered, noteHeardOf } from './files.ts';
import type { PayingAccount } from './instructions.ts';

/** A request to cancel a payment that a file has carried. */
export interface Cancellation {
  readonly transferId: string;
  readonly number: number;
  readonly cancellationId: string;
  readonly state: 'queued' | 'assigned' | 'accepted' | 'rejected';
  /** The file that carries it; null: none yet. */
  readonly fileId: string | null;
}

const STORE = `
  INSERT INTO bank_cancellations (transfer_id, number, attempt, provider, cancellation_id, state, queued_at)
  VALUES ($1::uuid, $2, $3, $4, $5, 'queued', service_now()) ON CONFLICT (transfer_id, number) DO NOTHING`;
const COLUMNS = 'transfer_id AS "transferId", number, cancellation_id AS "cancellationId", state, file_id AS "fileId"';
const FIND = `SELECT ${COLUMNS} FROM bank_cancellations WHERE transfer_id = $1::uuid AND number = $2`;

interface NewCancellation extends Omit<Cancellation, 'state' | 'fileId'> {
  readonly attempt: number;
  readonly provider: string;
}

/** Stores a request, once; a repetition finds what the first led to. */
export async function storeCancellation(tx: Transaction, request: NewCancellation): Promise<Cancellation> {
  const { transferId, number, attempt, provider, cancellationId } = request;
  await tx.statement(STORE, [transferId, number, attempt, provider, cancellationId]);
  const [stored] = await tx.statement<Cancellation>(FIND, [transferId, number]);
  if (stored === undefined) throw new Error(`the cancellation ${cancellationId} was not stored`);
  return stored;
}

const LATEST = `SELECT ${COLUMNS} FROM bank_cancellations WHERE transfer_id = $1::uuid ORDER BY number DESC LIMIT 1`;

export async function readLatestCancellation(reader: Reader, transferId: string): Promise<Cancellation | null> {
  const [found] = await reader.statement<Cancellation>(LATEST, [transferId]);
  return found ?? null;
}

export interface DueCancellation {
  readonly transferId: string;
  readonly number: number;
  readonly cancellationId: string;
  readonly originalMessageId: string;
  readonly originalMessageCreatedAt: Date;
  readonly originalBatchId: string;
  readonly instructionId: string;
  readonly paymentReference: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly account: PayingAccount;
}

// Only a payment that is at the bank can be cancelled there.
const LOCK_QUEUED = `
  SELECT asked.transfer_id AS "transferId", asked.number, asked.cancellation_id AS "cancellationId", file.message_id AS "originalMessageId",
    file.created_at AS "originalMessageCreatedAt", instruction.batch_id AS "originalBatchId", instruction.instruction_id AS "instructionId",
    instruction.payment_reference AS "paymentReference", instruction.amount_minor AS "amountMinor", instruction.currency, instruction.account
  FROM bank_cancellations asked
    JOIN bank_instructions instruction ON instruction.transfer_id = asked.transfer_id AND instruction.attempt = asked.attempt
    JOIN bank_files file ON file.id = instruction.file_id AND file.state = 'delivered'
  WHERE asked.provider = $1 AND asked.state = 'queued' ORDER BY asked.queued_at, asked.transfer_id LIMIT $2 FOR UPDATE OF asked`;

export function lockQueuedCancellations(tx: Transaction, provider: string, limit: number): Promise<DueCancellation[]> {
  return tx.statement<DueCancellation>(LOCK_QUEUED, [provider, limit]);
}

const ASSIGN = `
  UPDATE bank_cancellations SET state = 'assigned', file_id = $1::uuid
  WHERE provider = $2 AND cancellation_id = ANY ($3::text[]) AND state = 'queued'`;

export async function assignCancellations(
  tx: Transaction,
  { fileId, provider, ids }: { readonly fileId: string; readonly provider: string; readonly ids: readonly string[] },
): Promise<void> {
  await tx.statement(ASSIGN, [fileId, provider, ids]);
}

// Some banks answer with an id of their own, and name the payment.
const NAMED = `
  SELECT ${COLUMNS} FROM bank_cancellations WHERE provider = $1 AND (cancellation_id = $2 OR transfer_id = $3::uuid OR transfer_id = (
    SELECT transfer_id FROM bank_instructions WHERE provider = $1 AND instruction_id = $4))
  ORDER BY (cancellation_id = $2) IS TRUE DESC, number DESC LIMIT 1`;

interface CancellationNames {
  readonly cancellationId: string | null;
  readonly transferId: string | null;
  readonly instructionId: string | null;
}

/** The request that a bank's answer names. */
export async function findNamedCancellation(
  reader: Reader,
  provider: string,
  { cancellationId, transferId, instructionId }: CancellationNames,
): Promise<Cancellation | null> {
  const [found] = await reader.statement<Cancellation>(NAMED, [provider, cancellationId, transferId, instructionId]);
  return found ?? null;
}

const OF_FILE = `SELECT ${COLUMNS} FROM bank_cancellations WHERE file_id = $1::uuid ORDER BY transfer_id`;

export function listCancellationsOf(reader: Reader, fileId: string): Promise<Cancellation[]> {
  return reader.statement<Cancellation>(OF_FILE, [fileId]);
}

const ANSWER = `
  UPDATE bank_cancellations SET state = $3, reasons = $4::text[] WHERE transfer_id = $1::uuid AND number = $2 AND state IN ('queued', 'assigned')`;

/** The bank's answer; the first one counts. */
export async function answerCancellation(
  tx: Transaction,
  { transferId, number }: Pick<Cancellation, 'transferId' | 'number'>,
  state: 'accepted' | 'rejected',
  reasons: readonly string[],
): Promise<void> {
  await tx.statement(ANSWER, [transferId, number, state, reasons]);
}

/** The bank has spoken of a request, so the file that carried it has arrived, whatever a listing showed. */
export async function noteHeardOfRequest(
  tx: Transaction,
  { fileId }: Pick<Cancellation, 'fileId'>,
  silenceHours: number,
): Promise<void> {
  if (fileId === null) return;
  await noteHeardOf(tx, fileId);
  await markDelivered(tx, fileId, silenceHours);
}

import { CONTRADICTED, RESTORED } from '../../domain/bank-files/exchange/holds.ts';
import type { InstructionState } from '../../domain/bank-files/exchange/progress.ts';
import type { PaymentInstruction } from '../../domain/bank-files/instructions.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { HELD, IS_REJECTED } from './hold-reasons.ts';

/** The numbers of the account that pays. */
export interface PayingAccount {
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

type Details = Pick<PaymentInstruction, 'ultimateDebtorName' | 'creditor' | 'remittanceText' | 'attributes'>;

/** A payment to be carried by a file, as its provider was instructed. */
export interface NewInstruction extends Details {
  readonly transferId: string;
  readonly attempt: number;
  readonly provider: string;
  readonly instructionId: string;
  readonly paymentReference: string;
  readonly account: PayingAccount;
  readonly scheme: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** It returns money in that is not credited: the transfer is an incoming one. */
  readonly isReturn: boolean;
}

export interface Instruction {
  readonly transferId: string;
  readonly attempt: number;
  readonly instructionId: string;
  readonly paymentReference: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly state: InstructionState;
  readonly fileId: string | null;
  readonly batchId: string | null;
  readonly statusCode: string | null;
  readonly reasons: readonly string[];
  readonly payeeCheck: string | null;
  readonly bankReference: string | null;
  readonly queuedAt: Date;
  readonly deliveredAt: Date | null;
  readonly heardAt: Date | null;
  readonly expectedBy: Date | null;
  /** Why no file takes it. */
  readonly heldReason: string | null;
  /** It returns money in: the transfer is an incoming one. */
  readonly isReturn: boolean;
}

const COLUMNS = `transfer_id AS "transferId", attempt, instruction_id AS "instructionId", payment_reference AS "paymentReference",
  amount_minor AS "amountMinor", currency, state, file_id AS "fileId", batch_id AS "batchId", status_code AS "statusCode", reasons,
  payee_check AS "payeeCheck", bank_reference AS "bankReference", queued_at AS "queuedAt", delivered_at AS "deliveredAt", heard_at AS "heardAt", expected_by AS "expectedBy",
  held_reason AS "heldReason", is_return AS "isReturn"`;

// A submission before one that stands, or after one that the bank has not rejected, is none: whatever runs at the same time.
const STORE = `
  INSERT INTO bank_instructions (transfer_id, attempt, provider, instruction_id, payment_reference, account, scheme, currency, amount_minor, details,
    state, reasons, is_return, held_reason, queued_at)
  SELECT $1::uuid, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10::jsonb, CASE WHEN ${IS_REJECTED} THEN 'rejected' ELSE 'queued' END,
    coalesce($11::text[], '{}'), $12, ${HELD}, service_now()
  WHERE NOT EXISTS (SELECT FROM bank_instructions WHERE transfer_id = $1::uuid AND (attempt >= $2 OR state <> 'rejected'))
  ON CONFLICT DO NOTHING`;
const STANDING = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE transfer_id = $1::uuid
  ORDER BY attempt = $2 DESC, state <> 'rejected' DESC, attempt DESC LIMIT 1`;

/** The submission that answers for this one: itself, the one that may pay, or the latest. */
export async function findStanding(reader: Reader, transferId: string, attempt: number): Promise<Instruction | null> {
  const [found] = await reader.statement<Instruction>(STANDING, [transferId, attempt]);
  return found ?? null;
}

/**
 * Stores an instruction, once, or finds the submission that answers for it. With reasons it is stored as rejected, so that it stays rejected
 * whatever the profile takes later; not one of before a restore, which the bank may have by an earlier profile. A return is held instead:
 * its money has no other way out. `hold`: why no file takes it.
 */
export async function storeInstruction(
  tx: Transaction,
  instruction: NewInstruction,
  { reasons, hold = null }: { readonly reasons: readonly string[] | null; readonly hold?: string | null },
): Promise<Instruction> {
  const { transferId, attempt, provider, instructionId, paymentReference, account, scheme, isReturn } = instruction;
  const { currency, amountMinor, ultimateDebtorName, creditor, remittanceText, attributes } = instruction;
  const details: Details = { ultimateDebtorName, creditor, remittanceText, attributes };
  const head = [transferId, attempt, provider, instructionId, paymentReference];
  await tx.statement(STORE, [...head, account, scheme, currency, amountMinor, details, reasons, isReturn, hold]);
  const stored = await findStanding(tx, transferId, attempt);
  if (stored === null) throw recordNotFound('bankInstruction', 'transferId', transferId);
  return stored;
}

const LATEST = `SELECT ${COLUMNS} FROM bank_instructions WHERE transfer_id = $1::uuid ORDER BY attempt DESC LIMIT 1`;

/** The latest submission of a payment; null if it was never instructed. */
export async function readLatestInstruction(reader: Reader, transferId: string): Promise<Instruction | null> {
  const [found] = await reader.statement<Instruction>(LATEST, [transferId]);
  return found ?? null;
}

/** An instruction with all that a file says of it. */
export interface DueInstruction extends Omit<NewInstruction, 'provider' | 'isReturn'> {
  readonly queuedAt: Date;
}

const END_UNWANTED = `
  UPDATE bank_instructions SET state = 'rejected'
  WHERE provider = $1 AND state = 'queued' AND held_reason IS NULL AND NOT CASE WHEN is_return
    THEN EXISTS (SELECT FROM incoming_transfers WHERE id = transfer_id AND send_back_status = 'due')
    ELSE EXISTS (SELECT FROM outgoing_transfers WHERE id = transfer_id AND status = 'processing') END
  RETURNING transfer_id AS "transferId"`;

/** What no transfer waits for any more, however it came to wait for a file, ends as rejected. Returns the transfers. */
export async function endUnwantedInstructions(tx: Transaction, provider: string): Promise<string[]> {
  const ended = await tx.statement<{ readonly transferId: string }>(END_UNWANTED, [provider]);
  return ended.map(({ transferId }) => transferId);
}

const LOCK_QUEUED = `
  SELECT transfer_id AS "transferId", attempt, instruction_id AS "instructionId", payment_reference AS "paymentReference", account, scheme,
    currency, amount_minor AS "amountMinor", details, queued_at AS "queuedAt"
  FROM bank_instructions WHERE provider = $1 AND state = 'queued' AND held_reason IS NULL
  ORDER BY queued_at, transfer_id LIMIT $2 FOR UPDATE`;

/** Locks the instructions that no file holds yet, the oldest first. */
export async function lockQueuedInstructions(
  tx: Transaction,
  provider: string,
  limit: number,
): Promise<DueInstruction[]> {
  const rows = await tx.statement<Omit<DueInstruction, keyof Details> & { readonly details: Details }>(LOCK_QUEUED, [
    provider,
    limit,
  ]);
  return rows.map(({ details, ...row }) => ({ ...row, ...details }));
}

const ASSIGN = `
  UPDATE bank_instructions instruction SET state = 'assigned', file_id = $1::uuid, batch_id = named.batch_id, execution_date = named.execution_date
  FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::date[]) AS named (transfer_id, attempt, batch_id, execution_date)
  WHERE instruction.transfer_id = named.transfer_id AND instruction.attempt = named.attempt AND instruction.state = 'queued'
  RETURNING 1 AS assigned`;

/** A payment's place in a file. */
export interface Assigned {
  readonly transferId: string;
  readonly attempt: number;
  readonly batchId: string;
  readonly executionDate: string;
}

/** Gives locked instructions to a file. */
export async function assignInstructions(
  tx: Transaction,
  fileId: string,
  assigned: readonly Assigned[],
): Promise<void> {
  const columns = [
    assigned.map(({ transferId }) => transferId),
    assigned.map(({ attempt }) => attempt),
    assigned.map(({ batchId }) => batchId),
    assigned.map(({ executionDate }) => executionDate),
  ];
  const rows = await tx.statement(ASSIGN, [fileId, ...columns]);
  if (rows.length !== assigned.length)
    throw new Error(`file ${fileId} took ${rows.length} of ${assigned.length} payments`);
}

const BY_INSTRUCTION_ID = `SELECT ${COLUMNS} FROM bank_instructions WHERE provider = $1 AND instruction_id = $2`;
// Of several attempts, the one that can have paid: the latest that the bank did not reject. One that waits for its file cannot, unless a
// restore has lost the file that carried it.
const BY_REFERENCE = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE provider = $1 AND transfer_id = $2::uuid AND (state <> 'queued' OR held_reason = '${RESTORED}')
  ORDER BY state = 'rejected', attempt DESC LIMIT 1`;

const OF_TRANSFER_IN_FILE = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE provider = $1 AND transfer_id = $2::uuid AND file_id = $3::uuid`;

/**
 * The instruction that an answer to a file names, of this file only: of the transfer's other submissions it says nothing. If the file is
 * unknown to us, only the id of the submission names one.
 */
export async function findInstructionOfFile(
  reader: Reader,
  provider: string,
  { instructionId, transferId }: Names,
  fileId: string | null,
): Promise<Instruction | null> {
  const named = await findById(reader, provider, instructionId);
  if (named !== null) return fileId === null || named.fileId === fileId ? named : null;
  if (transferId === null || fileId === null) return null;
  const [found] = await reader.statement<Instruction>(OF_TRANSFER_IN_FILE, [provider, transferId, fileId]);
  return found ?? null;
}

async function findById(reader: Reader, provider: string, instructionId: string | null): Promise<Instruction | null> {
  if (instructionId === null) return null;
  const [named] = await reader.statement<Instruction>(BY_INSTRUCTION_ID, [provider, instructionId]);
  return named ?? null;
}

interface Names {
  readonly instructionId: string | null;
  readonly transferId: string | null;
}

/** The instruction that a bank names by the id of the submission or, without one, of the transfer. */
export async function findNamedInstruction(
  reader: Reader,
  provider: string,
  { instructionId, transferId }: Names,
): Promise<Instruction | null> {
  const named = await findById(reader, provider, instructionId);
  if (named !== null || transferId === null) return named;
  const [found] = await reader.statement<Instruction>(BY_REFERENCE, [provider, transferId]);
  return found ?? null;
}

const OF_FILE = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE file_id = $1::uuid AND ($2::text IS NULL OR batch_id = $2)
    AND ($3::uuid IS NULL OR transfer_id > $3::uuid) ORDER BY transfer_id LIMIT $4`;
const AT_ONCE = 1_000;

/** The instructions of a file, or of one of its batches. */
export async function listInstructionsOf(
  reader: Reader,
  fileId: string,
  batchId: string | null,
): Promise<Instruction[]> {
  const all: Instruction[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Instruction[] = await reader.statement<Instruction>(OF_FILE, [fileId, batchId, after, AT_ONCE]);
    all.push(...page);
    if (page.length < AT_ONCE) return all;
    after = page.at(-1)?.transferId ?? null;
  }
}

const BY_BATCH = `SELECT ${COLUMNS} FROM bank_instructions WHERE provider = $1 AND batch_id = $2 AND file_id IS NOT NULL`;

/** The instructions of a batch, of which a bank's report names nothing else. The batch's id begins with that of its file. */
export function listInstructionsOfBatch(reader: Reader, provider: string, batchId: string): Promise<Instruction[]> {
  return reader.statement<Instruction>(BY_BATCH, [provider, batchId]);
}

/** What a bank has just told of an instruction. */
export interface Heard {
  readonly statusCode: string | null;
  readonly reasons: readonly string[];
  readonly payeeCheck: string | null;
  readonly matchedName: string | null;
  readonly bankReference: string | null;
}

const IS_STILL_HELD = `$4 = $3 OR held_reason = '${CONTRADICTED}' AND $4 NOT IN ('completed', 'rejected', 'failed')`;
const MOVE = `
  UPDATE bank_instructions SET state = $4, heard_at = CASE WHEN $5 THEN service_now() ELSE heard_at END,
    held_reason = CASE WHEN ${IS_STILL_HELD} THEN held_reason END, bank_says = CASE WHEN ${IS_STILL_HELD} THEN bank_says END,
    status_code = coalesce($6, status_code), reasons = CASE WHEN $6::text IS NULL THEN reasons ELSE $7::text[] END,
    payee_check = coalesce($8, payee_check), matched_name = coalesce($9, matched_name), bank_reference = coalesce(bank_reference, $10),
    expected_by = CASE WHEN $4 IN ('completed', 'rejected', 'failed') THEN NULL WHEN $5 THEN service_now() + $11 * interval '1 hour' ELSE expected_by END
  WHERE transfer_id = $1::uuid AND attempt = $2 AND state = $3 RETURNING 1 AS moved`;

/** Moves an instruction on and stores what was heard; false if its state has changed since it was read. `heard` is null without word of the bank. */
export async function moveInstruction(
  tx: Transaction,
  { transferId, attempt, state }: Pick<Instruction, 'transferId' | 'attempt' | 'state'>,
  to: InstructionState,
  heard: Heard | null,
  silenceHours: number,
): Promise<boolean> {
  const words = [
    heard?.statusCode ?? null,
    heard?.reasons ?? [],
    heard?.payeeCheck ?? null,
    heard?.matchedName ?? null,
  ];
  const moved = [transferId, attempt, state, to, heard !== null, ...words, heard?.bankReference ?? null, silenceHours];
  return (await tx.statement(MOVE, moved)).length === 1;
}

// A person's word that the bank has a file books nothing: of such payments the bank's own word does.
const DELIVERED = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE provider = $1 AND state = 'delivered'
    AND NOT EXISTS (SELECT FROM bank_files file WHERE file.id = file_id AND file.marked_by IS NOT NULL) LIMIT $2`;

/** Instructions whose files are at the bank, and which their delivery releases. */
export function listDeliveredInstructions(reader: Reader, provider: string, limit: number): Promise<Instruction[]> {
  return reader.statement<Instruction>(DELIVERED, [provider, limit]);
}

import { type BankWord, mayPayAgain, PAYMENTS_MAX } from '../../../domain/bank-files/by-hand/requests.ts';
import { CONTRADICTED, RESTORED } from '../../../domain/bank-files/exchange/holds.ts';
import { rejection } from '../../../domain/common/errors.ts';
import { appendAuditEntry, type Initiator } from '../../common/audit-entries.ts';
import type { Reader, Transaction } from '../../query/database.ts';
import { hasStandingDebit } from '../entries.ts';
import type { Instruction } from '../instructions.ts';
import { takeOwnDebit } from '../returns.ts';

// Payments that no file takes until the bank has been asked, and people have said what it says.

export interface HeldPayment {
  readonly transferId: string;
  readonly attempt: number;
  readonly provider: string;
  readonly instructionId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly reason: string;
  readonly queuedAt: Date;
  /** It returns money in: the transfer is an incoming one. */
  readonly isReturn: boolean;
  /** Null: no one has said anything yet. */
  readonly bankSays: 'rejected' | 'paid' | null;
}

const COLUMNS = `transfer_id AS "transferId", attempt, provider, instruction_id AS "instructionId", amount_minor AS "amountMinor", currency,
  held_reason AS reason, queued_at AS "queuedAt", is_return AS "isReturn", bank_says AS "bankSays"`;
const LIST = `
  SELECT ${COLUMNS} FROM bank_instructions WHERE held_reason IS NOT NULL AND ($1::text IS NULL OR provider = $1)
    AND ($2::uuid IS NULL OR transfer_id < $2::uuid) ORDER BY transfer_id DESC LIMIT $3`;

/** Held payments, of a bank if it is named, before `before` (an id; null: from the newest on). */
export function listHeldPayments(
  reader: Reader,
  provider: string | null,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<HeldPayment[]> {
  return reader.statement<HeldPayment>(LIST, [provider, before, size]);
}

// What the bank has booked of it, less what has come back. What is at the bank is not paid again by a word: its next attempt is held.
const DEBIT_STANDS = `(instruction.held_reason <> '${CONTRADICTED}' AND ${hasStandingDebit('instruction.transfer_id')})`;
const LOCK = `
  SELECT ${COLUMNS}, ${DEBIT_STANDS} AS "hasDebit" FROM bank_instructions instruction
  WHERE provider = $1 AND held_reason IS NOT NULL AND bank_says IS NULL
    AND ($2::uuid[] IS NULL OR transfer_id = ANY ($2::uuid[])) AND NOT ($2::uuid[] IS NULL AND ($4 AND ${DEBIT_STANDS} OR is_return AND held_reason <> '${RESTORED}'))
  ORDER BY transfer_id LIMIT $3 FOR UPDATE`;

interface Wanted {
  readonly provider: string;
  /** Null: all that are held and of which the word can be true. */
  readonly transferIds: readonly string[] | null;
  readonly bankSays: BankWord;
}

/** The held payments of a bank, or those that are named, all of which must be held. */
export async function lockHeldPayments(
  tx: Transaction,
  { provider, transferIds, bankSays }: Wanted,
): Promise<HeldPayment[]> {
  const wanted = transferIds === null ? null : [...new Set(transferIds)];
  const pays = mayPayAgain(bankSays);
  const values = [provider, wanted, PAYMENTS_MAX + 1, pays];
  const found = await tx.statement<HeldPayment & { readonly hasDebit: boolean }>(LOCK, values);
  if (found.length > PAYMENTS_MAX) {
    throw unfit(provider, `More than ${PAYMENTS_MAX} payments are held, the most of one request: name them.`);
  }
  const missing = wanted?.find((id) => !found.some(({ transferId }) => transferId === id));
  if (missing !== undefined) throw unfit(missing, `The payment ${missing} is not held at ${provider}.`);
  const contradicted =
    bankSays === 'paid' || bankSays === 'rejected' ? undefined : found.find(({ reason }) => reason === CONTRADICTED);
  if (contradicted !== undefined) {
    const id = contradicted.transferId;
    throw unfit(id, `The payment ${id} is at the bank, and a debit of it is a break: it is paid, or rejected.`);
  }
  const booked = pays ? found.find(({ hasDebit }) => hasDebit) : undefined;
  if (booked !== undefined) {
    const id = booked.transferId;
    throw unfit(id, `The bank’s reports have a debit of the payment ${id}, which has not come back: it is paid.`);
  }
  if (found.length === 0) throw unfit(provider, `No payment is held at ${provider} of which this can be said.`);
  return found;
}

function unfit(value: string, message: string) {
  return rejection('common.state.illegal_transition', ['bankFileRequest', 'transferIds', value], message);
}

// Those that are held as they were when it was asked for: a hold for another reason is another question.
const NAMED = `
  FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS named (transfer_id, attempt, held_reason)
  WHERE instruction.transfer_id = named.transfer_id AND instruction.attempt = named.attempt
    AND instruction.held_reason = named.held_reason AND instruction.bank_says IS NULL`;
const RETURNING = 'RETURNING instruction.transfer_id AS "transferId", instruction.is_return AS "isReturn"';
// No file can be written of what the bank's profile does not take: it fails.
const IS_NOT_TAKEN = "coalesce(instruction.reasons[1] = 'bank-file.invalid', false)";
const GO_ON = `
  UPDATE bank_instructions instruction SET held_reason = CASE WHEN ${IS_NOT_TAKEN} THEN instruction.held_reason END,
    bank_says = CASE WHEN ${IS_NOT_TAKEN} THEN 'rejected' END
  ${NAMED} AND NOT ${DEBIT_STANDS} ${RETURNING}`;
const AT_THE_BANK = `
  UPDATE bank_instructions instruction SET state = 'received', held_reason = NULL, expected_by = service_now() + $4 * interval '1 hour'
  ${NAMED} ${RETURNING}`;
const FAIL = `UPDATE bank_instructions instruction SET bank_says = 'rejected' ${NAMED} AND NOT ${DEBIT_STANDS} ${RETURNING}`;
const COMPLETE = `UPDATE bank_instructions instruction SET bank_says = 'paid' ${NAMED} ${RETURNING}`;
const STATEMENTS: Readonly<Record<BankWord, string>> = {
  'not-received': GO_ON,
  received: AT_THE_BANK,
  rejected: FAIL,
  withdrawn: FAIL,
  paid: COMPLETE,
};

type Audited = Pick<Instruction, 'transferId' | 'isReturn'>;

function auditedBy({ transferId, isReturn }: Audited, initiator: Initiator) {
  const resource = isReturn ? ('incoming-transfer' as const) : ('outgoing-transfer' as const);
  return { resource, resourceId: transferId, initiator };
}

/** How long the bank may then be silent of what it has; its profile says more of what it answers. */
const SILENCE_HOURS = 24;

interface Release {
  readonly transferIds: readonly string[];
  readonly attempts: readonly number[];
  readonly heldReasons: readonly string[];
}

/** Does what two people want: of those that are still held as they were. What goes on is in the next file; what ends, the exchange ends. */
export async function releaseHeld(
  tx: Transaction,
  { transferIds, attempts, heldReasons }: Release,
  bankSays: BankWord,
  initiator: Initiator,
): Promise<{ readonly asked: number; readonly done: number }> {
  const values = [transferIds, attempts, heldReasons, ...(bankSays === 'received' ? [SILENCE_HOURS] : [])];
  const rows = await tx.statement<Audited>(STATEMENTS[bankSays], values);
  for (const row of rows)
    appendAuditEntry(tx, { ...auditedBy(row, initiator), action: 'hold-ended', after: { bankSays } });
  return { asked: transferIds.length, done: rows.length };
}

/** A held payment of which the bank has said how it ended. */
export type ToEnd = Audited &
  Pick<Instruction, 'attempt' | 'instructionId' | 'amountMinor' | 'currency'> & {
    readonly bankSays: 'rejected' | 'paid';
  };

const TO_END = `
  SELECT transfer_id AS "transferId", attempt, instruction_id AS "instructionId", amount_minor AS "amountMinor", currency, bank_says AS "bankSays",
    is_return AS "isReturn"
  FROM bank_instructions WHERE provider = $1 AND held_reason IS NOT NULL AND bank_says = $2 ORDER BY transfer_id LIMIT $3`;

export function listPaymentsToEnd(
  reader: Reader,
  provider: string,
  bankSays: ToEnd['bankSays'],
  limit: number,
): Promise<ToEnd[]> {
  return reader.statement<ToEnd>(TO_END, [provider, bankSays, limit]);
}

const ENDED = `
  UPDATE bank_instructions SET state = CASE bank_says WHEN 'paid' THEN 'completed' ELSE 'rejected' END, reasons = $3::text[], held_reason = NULL,
    bank_says = NULL, expected_by = NULL
  WHERE transfer_id = $1::uuid AND attempt = $2 AND held_reason IS NOT NULL AND bank_says IS NOT NULL`;
const STILL_HELD = `
  UPDATE bank_instructions SET bank_says = NULL WHERE transfer_id = $1::uuid AND attempt = $2 AND held_reason IS NOT NULL AND bank_says = $3`;

// The movement that contradicted an earlier submission is the one that paid.
const PAID_BY = `
  UPDATE bank_entries SET outcome = 'applied' WHERE (provider, key) = (
    SELECT provider, key FROM bank_entries WHERE transfer_id = $1::uuid AND kind = 'payment' AND outcome = 'break' AND amount_minor = $2
      AND currency = $3 ORDER BY key LIMIT 1)`;

/** The payment has ended as the bank says: no file ever carries this submission. */
export async function endHeld(tx: Transaction, ended: ToEnd, reasons: readonly string[]): Promise<void> {
  const { transferId, attempt, amountMinor, currency, bankSays, isReturn } = ended;
  if (bankSays === 'paid') {
    await tx.statement(PAID_BY, [transferId, amountMinor, currency]);
    if (isReturn) await takeOwnDebit(tx, transferId);
  }
  await tx.statement(ENDED, [transferId, attempt, reasons]);
}

const EXCHANGE: Initiator = { actor: 'bank-files', requestId: null };

/** What people say of it is not booked: it stays as it is. */
export async function keepHeld(tx: Transaction, held: ToEnd): Promise<void> {
  await tx.statement(STILL_HELD, [held.transferId, held.attempt, held.bankSays]);
  auditKept(tx, held);
}

const REPORTED_OTHERWISE = `
  SELECT 1 FROM bank_instructions WHERE transfer_id = $1::uuid AND attempt = $2
    AND CASE WHEN held_reason IS NULL THEN state <> 'rejected' ELSE bank_says IS DISTINCT FROM 'rejected' END`;

/** Whether the bank has reported otherwise since people signed that it had rejected the payment; if so, an audit entry records it. */
export async function auditReportedOtherwise(tx: Transaction, held: ToEnd): Promise<boolean> {
  const isReported = (await tx.statement(REPORTED_OTHERWISE, [held.transferId, held.attempt])).length > 0;
  if (isReported) auditKept(tx, held);
  return isReported;
}

function auditKept(tx: Transaction, held: ToEnd): void {
  appendAuditEntry(tx, { ...auditedBy(held, EXCHANGE), action: 'hold-kept', after: { bankSays: held.bankSays } });
}

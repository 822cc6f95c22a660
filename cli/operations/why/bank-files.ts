import { readPartsOfSum } from '../../../activities/bank-files/exchange/entries/batch-sums.ts';
import { isPaid, listUnexplainedSums } from '../../../db/bank-files/entries.ts';
import { type BankFile, findFile } from '../../../db/bank-files/files.ts';
import { type Instruction, readLatestInstruction } from '../../../db/bank-files/instructions.ts';
import type { Reader } from '../../../db/query/database.ts';
import { asksForConfirmation, type InstructionState } from '../../../domain/bank-files/exchange/progress.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { operate } from './commands.ts';

const STATES: Readonly<Record<InstructionState, string>> = {
  queued: 'it waits for the next file',
  assigned: 'its file is not at the bank yet, or not provably',
  delivered: 'its file is at the bank, which has told nothing of it yet',
  received: 'the bank has it, and has not accepted it yet',
  confirmation: 'the bank asks for confirmation after its payee check: a person confirms or rejects it at the bank',
  released: 'it is released, and the bank has not told its end yet',
  completed: 'the bank has told its end',
  rejected: 'the bank has rejected it',
  failed: 'the bank has rejected it after its release',
};

const PAYEE_CHECKS: Readonly<Record<string, string>> = {
  RCVC: 'the payee’s name matches',
  RVMC: 'the payee’s name is close',
  RVNM: 'the payee’s name does not match',
  RVNA: 'the payee’s name could not be checked',
};

/** How a payment by file stands at its bank; nothing for a payment that goes by no file. */
export async function standingByFile(reader: Reader, transferId: string): Promise<string[]> {
  const instruction = await readLatestInstruction(reader, transferId);
  if (instruction === null) return [];
  const file = instruction.fileId === null ? null : await findFile(reader, instruction.fileId);
  const { state, statusCode, reasons, payeeCheck, heldReason } = instruction;
  const isAsked = asksForConfirmation(state, { status: statusCode, reasons }) && !(await isPaid(reader, transferId));
  return [
    `by file: ${STATES[isAsked ? 'confirmation' : state]}`,
    ...(heldReason === null ? [] : [`no file takes it: ${heldReason}`, askedOf(transferId)]),
    ...(file === null ? [] : [`file ${file.name}, message ${file.messageId}: ${file.state}${inBrackets(file.reason)}`]),
    ...(file === null ? [] : helpedBy(file)),
    ...(statusCode === null ? [] : [`the bank’s latest word: ${statusCode}${inBrackets(reasons.join(', '))}`]),
    ...(payeeCheck === null ? [] : [`the bank’s payee check: ${payeeCheck}, ${PAYEE_CHECKS[payeeCheck] ?? 'unknown'}`]),
    ...(await sumsOf(reader, instruction, file)),
    ...expectation(instruction),
  ];
}

/** The sums of its batch that are not, or not yet, those of its payments. */
async function sumsOf(reader: Reader, { batchId }: Instruction, file: BankFile | null): Promise<string[]> {
  if (batchId === null || file === null) return [];
  const lines: string[] = [];
  for (const sum of await listUnexplainedSums(reader, file.provider, batchId)) {
    const { payments = [], totalMinor = 0n } = (await readPartsOfSum(reader, file.provider, sum)) ?? {};
    const booked = `${formatAmount(sum.amountMinor, sum.currency)} ${sum.currency}`;
    const total = `${formatAmount(totalMinor, sum.currency)} ${sum.currency}`;
    lines.push(
      `the bank has booked ${booked} for its batch, and the ${payments.length} payments that this may be are ${total}`,
    );
  }
  return lines;
}

/** What a person does about a held payment, once the bank has been asked. */
function askedOf(transferId: string): string {
  return `ask the bank, then: ${operate(`bank-files release --bank BANK --says WORD --payment ${transferId} --reason TEXT`)}`;
}

/** The commands that help with a file that is not at the bank, or not provably. */
function helpedBy({ id, state, temporaryName }: BankFile): string[] {
  const isAtBank = `if the bank has it: ${operate(`bank-files mark-delivered ${id} --digest SHA256 --reason TEXT`)}`;
  const isNot = `if the bank has none of it: ${operate(`bank-files mark-undelivered ${id} --reason TEXT`)}`;
  switch (state) {
    case 'built':
    case 'delivering':
      if (temporaryName !== null) return [isAtBank, `${isNot}, after set-aside`];
      return [`while its server is away: ${operate(`bank-files deliver ${id} --to PATH --reason TEXT`)}`];
    case 'handed-out':
    case 'set-aside':
      return [isAtBank, isNot];
    default:
      return [];
  }
}

function inBrackets(text: string | null): string {
  return text === null || text === '' ? '' : ` (${text})`;
}

/** Silence is no outcome. */
function expectation({ expectedBy }: Instruction): string[] {
  return expectedBy === null ? [] : [`the bank is to tell more by ${minuteInUtc(expectedBy.toISOString())}`];
}

import { namesOf } from '../../../activities/bank-files/exchange/statuses.ts';
import { isSealed } from '../../../activities/bank-files/pgp/envelopes.ts';
import { readBankMessage } from '../../../activities/bank-files/read-bank-message.ts';
import type { FilePayment, ShownFile } from '../../../db/bank-files/by-hand/reads.ts';
import { findFileByMessage, readMessage } from '../../../db/bank-files/files.ts';
import { findNamedInstruction } from '../../../db/bank-files/instructions.ts';
import type { Reader } from '../../../db/query/database.ts';
import type { InstructionState } from '../../../domain/bank-files/exchange/progress.ts';
import {
  type BankMessage,
  type BookedEntry,
  type StatedStatus,
  UnreadableMessage,
} from '../../../domain/bank-files/messages.ts';
import { formatAmount } from '../../../domain/common/money.ts';

/** One statement of a bank's answer, and how the payment that it names stands now. */
export interface ReportedStatement {
  /** `file`, `batch`, `payment` or `cancellation`. */
  readonly about: string;
  /** Codes: `RJCT (AC04)`. */
  readonly says: string;
  /** Our file, for a statement about a whole one. */
  readonly fileId: string | null;
  readonly transferId: string | null;
  readonly isReturn: boolean;
  readonly state: InstructionState | null;
}

interface Told {
  readonly statements: readonly ReportedStatement[];
  readonly total: number;
}

const NOTHING: Told = { statements: [], total: 0 };

/** What a bank's answer (pain.002, camt.029) says, read from its bytes: the first `limit` statements. Reports of accounts are entries instead. */
export async function reportedStatements(reader: Reader, file: ShownFile, limit: number): Promise<Told> {
  if (file.direction === 'out' || file.state === 'carried' || file.digest === null) return NOTHING;
  let message: BankMessage;
  try {
    message = await readBankMessage(await readMessage(reader, file.id));
  } catch (error) {
    if (error instanceof UnreadableMessage) return NOTHING;
    throw error;
  }
  const stated = statementsOf(message);
  const ours = message.message === 'pain.002' ? message.originalMessageId : null;
  const original = ours === null ? null : await findFileByMessage(reader, file.provider, ours);
  const statements: ReportedStatement[] = [];
  for (const { about, status, names } of stated.slice(0, limit)) {
    const found = names === null ? null : await findNamedInstruction(reader, file.provider, namesOf(names));
    const { transferId = null, isReturn = false, state = null } = found ?? {};
    const named = { transferId, isReturn, state };
    statements.push({ about, says: inWords(status), fileId: names === null ? (original?.id ?? null) : null, ...named });
  }
  return { statements, total: stated.length };
}

interface Stated {
  readonly about: string;
  readonly status: StatedStatus;
  readonly names: { readonly instructionId: string | null; readonly paymentReference: string | null } | null;
}

function statementsOf(message: BankMessage): Stated[] {
  switch (message.message) {
    case 'pain.002': {
      const batches = message.batches.flatMap((batch): Stated[] => [
        ...(batch.status === null ? [] : [{ about: 'batch', status: batch, names: null }]),
        ...batch.payments.map((payment) => ({ about: 'payment', status: payment, names: payment })),
      ]);
      return [
        ...(message.file.status === null ? [] : [{ about: 'file', status: message.file, names: null }]),
        ...batches,
      ];
    }
    case 'camt.029':
      return message.answers.map((answer) => ({ about: 'cancellation', status: answer, names: answer }));
    default:
      return [];
  }
}

/** What a bank said last of a payment, as codes; null if nothing. */
export function bankWord({ statusCode, reasons }: Pick<FilePayment, 'statusCode' | 'reasons'>): string | null {
  return [statusCode, ...reasons].filter((code) => code !== null).join(' ') || null;
}

function inWords({ status, reasons }: StatedStatus): string {
  const codes = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return `${status ?? 'no status'}${codes}`;
}

/** What a file of the bank would tell, in a few lines: for the person who signs for one that was brought. */
export async function summaryOf(reader: Reader, file: Pick<ShownFile, 'id'>): Promise<readonly string[]> {
  const content = await readMessage(reader, file.id);
  if (isSealed(content)) return ['It is signed or encrypted: what it says is known once it is taken.'];
  let message: BankMessage;
  try {
    message = await readBankMessage(content);
  } catch (error) {
    if (error instanceof UnreadableMessage) return [`It cannot be read, and would be set aside: ${error.message}`];
    throw error;
  }
  const head = `It is a ${message.message}, message ${message.messageId}.`;
  if (message.message === 'camt.053' || message.message === 'camt.054') {
    return [head, ...sumsInWords(message.entries.filter(({ isPending }) => !isPending))];
  }
  const counts = new Map<string, number>();
  for (const { about, status } of statementsOf(message)) {
    const what = `${about} ${inWords(status)}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [head, ...[...counts].slice(0, KINDS_SHOWN).map(([what, count]) => `${what}: ${count}`)];
}

const KINDS_SHOWN = 20;

function sumsInWords(entries: readonly BookedEntry[]): string[] {
  const sums = new Map<string, { count: number; minor: bigint; currency: string }>();
  for (const { direction, currency, amountMinor } of entries) {
    const what = `${direction}s in ${currency}`;
    const sum = sums.get(what) ?? { count: 0, minor: 0n, currency };
    sums.set(what, { count: sum.count + 1, minor: sum.minor + amountMinor, currency });
  }
  return [...sums].map(
    ([what, { count, minor, currency }]) => `${count} ${what}, together ${formatAmount(minor, currency)} ${currency}`,
  );
}

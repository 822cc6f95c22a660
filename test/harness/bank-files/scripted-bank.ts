import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MOUNTED } from '../../../activities/bank-files/exchange/folder.ts';
import { newId } from '../../../db/common/ids.ts';
import type { PaymentInstruction } from '../../../domain/bank-files/instructions.ts';
import type { BankMessage, BookedEntry, ReportedPayment, StatedStatus } from '../../../domain/bank-files/messages.ts';
import { parseAmountMinor } from '../../../domain/common/money.ts';
import { readPaymentFile } from '../../../sandbox/file-bank/messages/payment-file.ts';
import { readMessage } from '../../../sandbox/file-bank/messages/xml.ts';
import { plain } from './plain-messages.ts';

/** A payment of a file of ours, as the bank reads it. */
interface Instructed
  extends Pick<PaymentInstruction, 'id' | 'paymentReference' | 'amountMinor' | 'currency' | 'executionDate'> {
  readonly batchId: string;
  readonly file: { readonly messageId: string; readonly debtorName: string; readonly account: string };
}

/** A bank whose folder is here: it reads our files, and says what a test has it say. */
export interface ScriptedBank {
  readonly folders: { readonly out: string; readonly in: string; readonly archive: string };
  /** The files that have arrived, by name. */
  arrived(): readonly { readonly name: string; readonly content: Buffer }[];
  /** Every payment that has arrived, as often as it has. */
  payments(): readonly Instructed[];
  payment(reference: string): Instructed;
  say(message: BankMessage | string, name?: string): void;
  archived(): readonly string[];
  /** The bank takes our files from its folder. */
  take(): void;
  /** Says what a process of before a restore has archived. */
  sayInArchive(message: BankMessage): void;
  remove(): void;
}

const NOTHING: StatedStatus = { status: null, reasons: [] };

export function scriptedBank(): ScriptedBank {
  const root = mkdtempSync(join(tmpdir(), 'bank-files-'));
  const folders = { out: join(root, 'out'), in: join(root, 'in'), archive: join(root, 'archive') };
  for (const folder of Object.values(folders)) {
    mkdirSync(folder);
    writeFileSync(join(folder, MOUNTED), '');
  }
  let said = 0;
  const arrived = () =>
    readdirSync(folders.out)
      .filter((name) => name.endsWith('.xml'))
      .sort()
      .map((name) => ({ name, content: readFileSync(join(folders.out, name)) }));
  const read = new Map<string, readonly Instructed[]>();
  const paymentsIn = (content: Buffer) => {
    const text = content.toString();
    const known = read.get(text) ?? paymentsOf(content);
    read.set(text, known);
    return known;
  };
  const payments = () =>
    arrived()
      .filter(({ name }) => name.startsWith('pain001'))
      .flatMap(({ content }) => paymentsIn(content));
  return {
    folders,
    arrived,
    payments,
    payment: (reference) => {
      const found = payments().find(({ paymentReference }) => paymentReference === reference);
      if (found === undefined) throw new Error(`no payment ${reference} has arrived`);
      return found;
    },
    say: (message, name) => {
      said += 1;
      const target = name ?? `said-${String(said).padStart(5, '0')}.xml`;
      writeFileSync(join(folders.in, `.${target}`), typeof message === 'string' ? message : plain(message));
      renameSync(join(folders.in, `.${target}`), join(folders.in, target));
    },
    archived: () => readdirSync(folders.archive).filter((name) => name !== MOUNTED),
    take: () => {
      for (const { name } of arrived()) rmSync(join(folders.out, name));
    },
    sayInArchive: (message) => {
      said += 1;
      writeFileSync(join(folders.archive, `${newId()}-said-${said}.xml`), plain(message));
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Throws if the file is not by ISO's schema. */
function paymentsOf(content: Buffer): Instructed[] {
  const { messageId, batches } = readPaymentFile(readMessage(content));
  return batches.flatMap(({ id: batchId, debtorName, account, executionDate, payments }) =>
    payments.map(({ instructionId, endToEndId, amount, currency }) => {
      const amountMinor = parseAmountMinor(amount ?? '', currency);
      if (instructionId === null || typeof amountMinor === 'string') throw new Error(`${endToEndId} cannot be read`);
      const file = { messageId, debtorName, account };
      return { id: instructionId, paymentReference: endToEndId, amountMinor, currency, executionDate, batchId, file };
    }),
  );
}

let messages = 0;
const nextId = () => {
  messages += 1;
  return `B${String(messages).padStart(6, '0')}`;
};

/** What a pain.002 says of a payment. */
export function reported(
  of: Pick<Instructed, 'id' | 'paymentReference'>,
  status: string,
  ...reasons: string[]
): ReportedPayment {
  const names = { instructionId: of.id, paymentReference: of.paymentReference };
  return { ...names, status, reasons, bankReference: null, matchedName: null };
}

export function statusOf(payment: Instructed, status: string, ...reasons: string[]): BankMessage {
  return statusReport(payment.file.messageId, NOTHING, [
    { ...NOTHING, originalBatchId: payment.batchId, payments: [reported(payment, status, ...reasons)] },
  ]);
}

export function statusReport(
  originalMessageId: string,
  file: StatedStatus,
  batches: Extract<BankMessage, { message: 'pain.002' }>['batches'] = [],
): BankMessage {
  const head = { message: 'pain.002', version: 'pain.002.001.10', messageId: nextId(), createdAt: null } as const;
  return { ...head, originalMessageId, file, batches };
}

export function accountReport(message: 'camt.053' | 'camt.054', ...entries: readonly BookedEntry[]): BankMessage {
  return { message, version: `${message}.001.08`, messageId: nextId(), createdAt: null, entries };
}

const ENTRY: Omit<BookedEntry, 'key' | 'direction' | 'amountMinor'> = {
  account: '31926819',
  currency: 'GBP',
  bookedOn: '2027-06-16',
  isPending: false,
  bankReference: null,
  instructionId: null,
  paymentReference: null,
  returnReason: null,
  isReversal: false,
  debtor: { name: null, iban: null, accountNumber: null, bic: null },
  creditorIban: null,
  remittanceText: null,
  batch: null,
};

/** The debit of a payment. */
export function debitOf(payment: Instructed, changed: Partial<BookedEntry> = {}): BookedEntry {
  const { id, paymentReference, amountMinor } = payment;
  const names = { instructionId: id, paymentReference };
  return { ...ENTRY, key: `debit ${id}`, direction: 'debit', amountMinor, ...names, ...changed };
}

/** The money of a payment that comes back. */
export function returnOf(payment: Instructed, returnReason: string, changed: Partial<BookedEntry> = {}): BookedEntry {
  const { id, paymentReference, amountMinor } = payment;
  return {
    ...ENTRY,
    key: `return ${id}`,
    direction: 'credit',
    amountMinor,
    paymentReference,
    returnReason,
    ...changed,
  };
}

/** Money that comes in. */
export function creditOf(key: string, amountMinor: bigint, remittanceText: string): BookedEntry {
  const debtor = { name: 'Grace Hopper', iban: null, accountNumber: '55779911', bic: null };
  return { ...ENTRY, key, direction: 'credit', amountMinor, remittanceText, debtor };
}

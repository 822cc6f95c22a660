import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XmlDocument, XmlElement } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import { textTable } from '../../cli/common/text-table.ts';
import { type AccountReport, type BankMessage, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { minorUnits } from '../../domain/common/money.ts';
import { readAtOnce } from '../../test/bank-files/messages/read-at-once.ts';

/** Files outside the repository, such as those of real banks: every `*.xml` below the folder. */
const { BANK_FILES: FOLDER } = process.env;
/** Hundreds of files take a minute. */
const TIMEOUT_MS = 600_000;
const FIXTURES = join(import.meta.dirname, '../../test/fixtures/bank-statements');

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.xml$/i.test(name))
    .sort();

/** What another program, libxml2, finds of an account report: signed sums of its entries by currency, booked and others. */
function sumsByXPath(text: string): Record<string, string> {
  const document = XmlDocument.fromString(text);
  const sums: Record<string, bigint> = {};
  const textOf = (node: { content: string } | null) => node?.content.trim() ?? '';
  try {
    for (const entry of document.find('//*[local-name()="Stmt" or local-name()="Ntfctn"]/*[local-name()="Ntry"]')) {
      const amount = entry.get('*[local-name()="Amt"]');
      const currency = amount instanceof XmlElement ? (amount.attr('Ccy')?.value ?? '') : '';
      const [whole = '', fraction = ''] = textOf(amount).replace('+', '').split('.');
      const minor = BigInt(whole + fraction.slice(0, minorUnits(currency)).padEnd(minorUnits(currency), '0'));
      const isCredit = textOf(entry.get('*[local-name()="CdtDbtInd"]')) === 'CRDT';
      const isBooked = textOf(entry.get('*[local-name()="Sts"]')) === 'BOOK';
      const name = `${currency} ${isBooked ? 'booked' : 'other'}`;
      sums[name] = (sums[name] ?? 0n) + (isCredit ? minor : -minor);
    }
  } finally {
    document.dispose();
  }
  return presented(sums);
}

function sumsOf({ entries }: AccountReport): Record<string, string> {
  const sums: Record<string, bigint> = {};
  for (const { currency, isPending, direction, amountMinor } of entries) {
    const name = `${currency} ${isPending ? 'other' : 'booked'}`;
    sums[name] = (sums[name] ?? 0n) + (direction === 'credit' ? amountMinor : -amountMinor);
  }
  return presented(sums);
}

const presented = (sums: Readonly<Record<string, bigint>>) =>
  Object.fromEntries(Object.entries(sums).flatMap(([name, sum]) => (sum === 0n ? [] : [[name, String(sum)]])));

function outcomeOf(file: string): { readonly message: BankMessage | null; readonly text: string } {
  try {
    const message = readAtOnce(readFileSync(file));
    return { message, text: `${message.version}: ${contentOf(message)}` };
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    return { message: null, text: `rejected: ${error.message}` };
  }
}

function contentOf(message: BankMessage): string {
  switch (message.message) {
    case 'pain.002': {
      const payments = message.batches.flatMap((batch) => batch.payments);
      return `${message.file.status ?? 'no status'}, ${message.batches.length} batches, ${payments.length} payments`;
    }
    case 'camt.029':
      return `${message.answers.length} answers`;
    default: {
      const batches = message.entries.filter(({ batch }) => batch !== null).length;
      return `${message.entries.length} movements${batches === 0 ? '' : `, ${batches} of batches without details`}`;
    }
  }
}

test.each([FIXTURES, ...(FOLDER === undefined ? [] : [FOLDER])])(
  'every file of %s is read with the sums that another program finds, or rejected with a reason',
  (folder) => {
    const files = filesIn(folder);
    const outcomes = files.map((name) => ({ name, ...outcomeOf(join(folder, name)) }));
    if (folder === FOLDER) {
      process.stdout.write(`${textTable([['file', 'outcome'], ...outcomes.map(({ name, text }) => [name, text])])}\n`);
    }
    for (const { name, message } of outcomes) {
      if (message?.message !== 'camt.053' && message?.message !== 'camt.054') continue;
      const text = readFileSync(join(folder, name), 'utf8');
      expect({ name, ...sumsOf(message) }).toEqual({ name, ...sumsByXPath(text) });
      expect(new Set(message.entries.map(({ key }) => key)).size, name).toBe(message.entries.length);
    }
    expect(outcomes.filter(({ message }) => message !== null).length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

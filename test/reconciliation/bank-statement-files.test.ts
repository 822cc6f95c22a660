import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readBankStatement } from '../../activities/reconciliation/camt-053.ts';
import { textTable } from '../../cli/common/text-table.ts';
import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { formatAmount } from '../../domain/common/money.ts';
import type { Money, StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { type CamtSums, sumCamt053 } from '../tools/camt053.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/bank-statements');
/** Files outside the repository, such as those of real banks and their customers, compared with the independent reader. */
const { BANK_STATEMENTS: OTHERS } = process.env;

const ONE_DAY = '1 3+1 3  EUR +225 -48.5  summary batches charges';
/** What comes of each file: statements, entries (booked and others), transactions, booked sums, the control figures it has; or its rejection. */
const OUTCOMES: Readonly<Record<string, string | RegExp>> = {
  'contradictions/balances-of-other-entries': '1 1 1  EUR +455.56',
  'contradictions/batch-of-another-number': '1 1 2  EUR +455.56  batches',
  'contradictions/details-short-of-their-entry': '1 1 2  EUR +455.56',
  'contradictions/summary-of-another-sum': '1 1 1  EUR +455.56  summary',
  'rejected/balance-on-no-side': /^Statement 1 of the file \(R-1\) .*: Bal\[1\]\/CdtDbtInd is missing/,
  'rejected/document-type': /document type/,
  'rejected/empty-amount': /^Entry 1 of the file \(reference R-1\) .*: Amt is empty/,
  'rejected/euro-with-five-decimals': /^Entry 1 of the file \(reference R-1\) .*: Amt has more decimals/,
  'rejected/latin-1': /ISO-8859-1/,
  'rejected/no-booking-date': /^Entry 1 of the file \(reference R-1\) .*: BookgDt is missing/,
  'rejected/no-status': /^Entry 1 of the file \(reference R-1\) .*: Sts is missing/,
  'rejected/second-page-of-two': /one of several pages/,
  'rejected/status-of-the-bank':
    /^Entry 1 of the file \(reference R-1\) .*: Sts must be one of BOOK, PDNG, INFO, FUTR \(is Booked\)/,
  'rejected/unknown-currency': /^Entry 1 of the file \(reference R-1\) .*: Amt has a currency that is not in ISO 4217/,
  'rejected/version-to-come': /camt\.053\.001\.15/,
  'styles/american-pending-and-own-statuses': '1 2+1 1  USD +123456.78 -0',
  'styles/austrian-details-one-by-one': '1 1 2  EUR -1501',
  'styles/belgian-several-accounts': '3 2 0  EUR +25.5 USD -6',
  'styles/british-times-and-extensions': '1 1+1 1  GBP -5',
  'styles/dutch-batches-without-details': '1 2 0  EUR +350 -2500  summary batches',
  'styles/dutch-foreign-payment-with-charges': '1 1 1  EUR -933.48  charges',
  'styles/french-returned-in-part': '1 1 1  EUR +76.5  charges',
  'styles/german-direct-debit-returned': '1 1 1  EUR -48.97  charges',
  'styles/german-texts-in-cdata': '1 1 1  EUR +120.4',
  'styles/nordic-foreign-amounts': '1 1 1  SEK +1087.25  charges',
  'styles/spanish-in-an-envelope': '1 1 0  EUR +2',
  'styles/swiss-entry-taken-back': '1 2 2  CHF +75.05 -75.05',
  'styles/swiss-quiet-day': '1 0 0',
  'styles/swiss-slips-in-batches': '1 1 3  CHF +895.2  batches',
  'styles/wallet-in-many-currencies': '3 2 1  JPY +15000 TND -1.234  summary charges',
  ...Object.fromEntries(
    Array.from({ length: 13 }, (_, at) => [`versions/camt.053.001.${String(at + 2).padStart(2, '0')}`, ONE_DAY]),
  ),
};

interface Outcome {
  readonly text: string;
  readonly items: readonly StatementItem[];
  readonly rejection: string | null;
}

async function outcomeOf(file: string): Promise<Outcome> {
  const items: StatementItem[] = [];
  try {
    for await (const page of readBankStatement(createReadStream(file, 'utf8'))) items.push(...page);
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    return { text: error.message, items, rejection: error.message };
  }
  const { statements, entries, transactions, booked } = sumsOf(items);
  const others = entries - items.filter((item) => item.item === 'entry' && item.status === 'BOOK').length;
  const sums = Object.entries(booked).map(([key, sum]) => key.replace(/ CRDT$/, ' +').replace(/ DBIT$/, ' -') + sum);
  const counts = `${statements} ${entries - others}${others === 0 ? '' : `+${others}`} ${transactions}`;
  const parts = [counts, sums.join(' ').replaceAll(/([A-Z]{3}) (\S+) \1 /g, '$1 $2 '), figuresOf(items).join(' ')];
  return { text: parts.filter((part) => part !== '').join('  '), items, rejection: null };
}

function figuresOf(items: readonly StatementItem[]): string[] {
  const has = (name: string, of: (item: StatementItem) => boolean) => (items.some(of) ? [name] : []);
  return [
    ...has('summary', (item) => item.item === 'statement' && item.summary.all.count !== null),
    ...has('batches', (item) => item.item === 'entry-end' && item.batches.length > 0),
    ...has('charges', (item) => (item.item === 'entry' || item.item === 'transaction') && item.charges.length > 0),
  ];
}

function sumsOf(items: readonly StatementItem[]): Omit<CamtSums, 'problems' | 'unread'> {
  const booked = new Map<string, Money>();
  const balances: string[] = [];
  const counts = { statements: 0, entries: 0, transactions: 0 };
  for (const item of items) {
    if (item.item === 'statement') {
      counts.statements += 1;
      for (const { code, currency, amountMinor, direction } of item.balances) {
        balances.push(
          `${code} ${currency} ${formatAmount(direction === 'debit' ? -amountMinor : amountMinor, currency)}`,
        );
      }
    } else if (item.item === 'entry') {
      counts.entries += 1;
      const key = `${item.currency} ${item.direction === 'credit' ? 'CRDT' : 'DBIT'}`;
      const amountMinor = item.amountMinor + (booked.get(key)?.amountMinor ?? 0n);
      if (item.status === 'BOOK') booked.set(key, { amountMinor, currency: item.currency });
    } else if (item.item === 'transaction') counts.transactions += 1;
  }
  const sums = [...booked].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...counts,
    booked: Object.fromEntries(
      sums.map(([key, { amountMinor, currency }]) => [key, formatAmount(amountMinor, currency)]),
    ),
    balances,
  };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.xml$/i.test(name))
    .sort()
    .map((name) => join(folder, name));

const files = filesIn(FIXTURES);
const nameOf = (file: string) => file.slice(FIXTURES.length + 1).replace(/\.xml$/, '');
const outcomes = new Map<string, Outcome>();
const others = new Map<string, CamtSums>();

beforeAll(async () => {
  const all = [...files, ...(OTHERS === undefined ? [] : filesIn(OTHERS))];
  for (const file of all) outcomes.set(file, await outcomeOf(file));
  const read = await sumCamt053(all);
  if (read === null && process.env.CI)
    throw new Error('no Python 3.10 or later with venv found to read statements with');
  read?.forEach((sums, at) => {
    others.set(all[at] ?? '', sums);
  });
  process.stdout.write(`${textTable([['file', 'version', 'outcome'], ...all.map(rowOf)])}\n`);
});

function rowOf(file: string): string[] {
  const [, version = ''] = /camt\.053\.001\.(\d\d)/.exec(readFileSync(file, 'utf8')) ?? [];
  return [file.startsWith(FIXTURES) ? nameOf(file) : basename(file), version, outcomes.get(file)?.text ?? ''];
}

test('every file of the folder has an expected outcome', () => {
  expect(files.map(nameOf)).toEqual(Object.keys(OUTCOMES).sort());
});

describe.each(Object.entries(OUTCOMES))('%s', (name, expected) => {
  const file = join(FIXTURES, `${name}.xml`);

  test('is read as expected, or rejected', () => {
    expect(outcomes.get(file)?.text).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });

  test.runIf(typeof expected === 'string')(
    'has the same content for our reader as for an independent one',
    ({ skip }) => {
      const sums = others.get(file);
      if (sums === undefined) return skip('no Python');
      expect({ ...sumsOf(outcomes.get(file)?.items ?? []), problems: [], unread: null }).toEqual(sums);
    },
  );
});

test.runIf(OTHERS !== undefined)(
  'files from outside the repository are read as by an independent reader, or rejected',
  () => {
    for (const [file, { items, rejection }] of outcomes) {
      const { problems: _, ...sums } = others.get(file) ?? { problems: [], unread: 'no Python' };
      if (rejection === null) expect({ file, ...sumsOf(items), unread: null }).toEqual({ file, ...sums });
    }
  },
);

test('a day reads the same in each version, except for what the version lacks', () => {
  const versions = files.filter((file) => nameOf(file).startsWith('versions/'));
  expect(versions).toHaveLength(13);
  const [first, ...further] = versions.map((file) => comparable(outcomes.get(file)?.items ?? []));
  expect(first).toMatchObject([
    { item: 'statement' },
    { item: 'entry' },
    ...Array(10).fill({}),
    { item: 'statement-end' },
  ]);
  for (const items of further) expect(items).toEqual(first);
});

/** Version 02 has no amount of a transaction but in its details, and no total of charges; UETRs came with 08. */
function comparable(items: readonly StatementItem[]) {
  return items.map((item) => {
    if (item.item !== 'transaction' && item.item !== 'entry') return item;
    const references = item.references.filter(({ place }) => place !== 'UETR');
    const charges = item.charges.map((charge) => ({ ...charge, included: null }));
    const amounts = item.amounts.map((amount) => ({ ...amount, role: 'any' }));
    return { ...item, references, charges, amounts, chargeTotals: [], direction: item.direction ?? 'credit' };
  });
}

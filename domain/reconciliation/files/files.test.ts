import { describe, expect, test } from 'vitest';
import type {
  Charge,
  PlacedReference,
  RoledAmount,
  StatementEntry,
  StatementHeader,
  StatementItem,
  StatementTransaction,
} from '../bank-statements.ts';
import { NOTHING, totalsOf } from '../day-balance.ts';
import { FileMovements, statedMovement } from './file-movements.ts';
import type { NamedPayment } from './named-payments.ts';
import { FileSurvey } from './survey.ts';

const DAY = '2026-11-10';
const MARKS = {
  reversalIndicator: null,
  returnInformation: false,
  returnReason: null,
  bankTransactionCode: null,
  proprietaryCode: null,
};
const gbp = (amountMinor: bigint) => ({ amountMinor, currency: 'GBP' });
const named = (value: string, place = 'EndToEndId'): PlacedReference => ({ place, value });

const HEADER: StatementHeader = {
  item: 'statement',
  number: 1,
  id: 'S',
  account: null,
  currency: 'GBP',
  period: { from: null, to: null },
  balances: [],
  summary: {
    all: { count: null, sum: null, net: null, direction: null },
    credits: { count: null, sum: null },
    debits: { count: null, sum: null },
  },
};

const entryOf = (amountMinor: bigint, more: Partial<StatementEntry> = {}): StatementEntry => ({
  item: 'entry',
  number: 1,
  statement: 1,
  ...gbp(amountMinor),
  direction: 'debit',
  status: 'BOOK',
  bookedAt: new Date(`${DAY}T12:00:00Z`),
  amounts: [],
  charges: [],
  chargeTotals: [],
  references: [],
  ...MARKS,
  ...more,
});

const transactionOf = (
  amounts: readonly RoledAmount[],
  references: readonly PlacedReference[],
  charges: readonly Charge[] = [],
): StatementTransaction => ({
  item: 'transaction',
  entry: 1,
  number: 1,
  batch: 1,
  direction: null,
  amounts,
  charges,
  chargeTotals: [],
  references,
  ...MARKS,
});

/** Movements and breaks of a file of one entry; `paid-…` are payments out of ours, `got-…` ones in. */
function read(entry: StatementEntry, transactions: readonly StatementTransaction[], payments: readonly NamedPayment[]) {
  const file = new FileMovements('GBP', { from: new Date(DAY), to: new Date('2026-11-11') });
  const items: readonly StatementItem[] = [
    HEADER,
    entry,
    ...transactions.map((one, at) => ({ ...one, number: at + 1 })),
    { item: 'entry-end', entry: 1, transactions: transactions.length, batches: [], references: [] },
    { item: 'statement-end', statement: 1, entries: 1 },
  ];
  for (const item of items) file.add(item);
  const { parts, breaks, totals } = file.take();
  const known = new Map(payments.map((payment) => [payment.name, [payment]]));
  const stated = parts.map((part) => statedMovement(part, known));
  const found = [...breaks, ...stated.flatMap((one) => one.breaks)].map(({ found: one }) => one);
  return {
    movements: stated.map(
      ({ movement: { movement, reference, amountMinor } }) => `${movement} ${reference} ${amountMinor}`,
    ),
    breaks: found.map(({ kind, reference, effect }) => [kind, reference, effect]),
    totals: totals.map((one) => one.totals),
  };
}

const paid = (reference: string, amountMinor: bigint): NamedPayment => ({
  name: reference,
  direction: 'out',
  reference,
  amountMinor,
});
const received = (reference: string, amountMinor: bigint): NamedPayment => ({
  ...paid(reference, amountMinor),
  direction: 'in',
});
const ENTRY_NAME = `entry-1-of-${DAY}`;

describe('charges', () => {
  const charge: Charge = { ...gbp(50n), direction: 'debit', included: true };
  const amount: RoledAmount = { role: 'transaction', ...gbp(1_000n) };

  test('that explain how an entry of one payment differs from it are named, and the payment agrees', () => {
    const transaction = transactionOf([amount], [named('paid-1')], [charge]);
    expect(read(entryOf(1_050n), [transaction], [paid('paid-1', 1_000n)])).toEqual({
      movements: ['payment-out paid-1 1000'],
      breaks: [['statement-charges', 'paid-1', totalsOf(false, 0n, 50n)]],
      totals: [totalsOf(false, 1n, 1_050n)],
    });
  });

  test('that our books have in the amount change nothing', () => {
    const transaction = transactionOf([amount], [named('paid-1')], [charge]);
    const { movements, breaks } = read(entryOf(1_050n), [transaction], [paid('paid-1', 1_050n)]);
    expect([movements, breaks]).toEqual([['payment-out paid-1 1050'], []]);
  });

  test('that the file says are booked apart explain nothing', () => {
    const transaction = transactionOf([amount], [named('paid-1')], [{ ...charge, included: false }]);
    const { movements, breaks } = read(entryOf(1_050n), [transaction], [paid('paid-1', 1_000n)]);
    expect([movements, breaks]).toEqual([
      ['payment-out paid-1 1050'],
      [['statement-entry-differs', ENTRY_NAME, NOTHING]],
    ]);
  });

  test('of several payments are the rest of the amount of their entry', () => {
    const transactions = ['paid-1', 'paid-2'].map((name) => transactionOf([amount], [named(name)]));
    expect(read(entryOf(2_050n, { charges: [charge] }), transactions, []).breaks).toEqual([
      ['statement-charges', ENTRY_NAME, totalsOf(false, 0n, 50n)],
    ]);
  });
});

describe('amounts', () => {
  const foreign: RoledAmount[] = [
    { role: 'instructed', amountMinor: 9_999n, currency: 'JPY' },
    { role: 'counter-value', amountMinor: 400n, currency: 'GBP' },
    { role: 'transaction', amountMinor: 9_999n, currency: 'JPY' },
  ];

  test('in another currency and counter amounts decide nothing', () => {
    const { movements, breaks } = read(
      entryOf(700n),
      [transactionOf(foreign, [named('paid-1')])],
      [paid('paid-1', 1n)],
    );
    expect([movements, breaks]).toEqual([['payment-out paid-1 700'], []]);
  });

  test('that are missing in every transaction leave the entry whole, without a guess whose it is', () => {
    const transactions = ['paid-1', 'paid-2'].map((name) => transactionOf(foreign, [named(name)]));
    expect(read(entryOf(700n), transactions, [paid('paid-1', 1n)])).toEqual({
      movements: [`payment-out ${ENTRY_NAME} 700`],
      breaks: [],
      totals: [totalsOf(false, 1n, 700n)],
    });
  });

  test('that are missing in one transaction are a break of the rest', () => {
    const known = transactionOf([{ role: 'amount', ...gbp(300n) }], [named('paid-1')]);
    expect(read(entryOf(700n), [known, transactionOf([], [named('paid-2')])], [paid('paid-1', 300n)])).toEqual({
      movements: ['payment-out paid-1 300'],
      breaks: [['statement-entry-differs', ENTRY_NAME, totalsOf(false, 0n, 400n)]],
      totals: [totalsOf(false, 1n, 700n)],
    });
  });
});

describe('references', () => {
  const whole = (references: readonly PlacedReference[], more: Partial<StatementEntry> = {}) =>
    read(
      entryOf(5n, more),
      [transactionOf([], references)],
      [paid('paid-1', 5n), paid('paid-2', 5n), received('got-1', 5n)],
    );

  test('outrank what a text names', () => {
    expect(whole([named('paid-2', 'RmtInf/Ustrd'), named('paid-1')]).movements).toEqual(['payment-out paid-1 5']);
  });

  test('of two payments are a break, and neither is guessed', () => {
    expect(whole([named('paid-1'), named('paid-2', 'InstrId')])).toMatchObject({
      movements: [`payment-out ${ENTRY_NAME} 5`],
      breaks: [['statement-reference-ambiguous', ENTRY_NAME, NOTHING]],
    });
  });

  test('of a payment between two clients are the one whose way the entry goes', () => {
    const both = [named('paid-1'), named('got-1', 'AcctSvcrRef')];
    expect(whole(both).movements).toEqual(['payment-out paid-1 5']);
    expect(whole(both, { direction: 'credit' }).movements).toEqual(['payment-in got-1 5']);
    const back = { direction: 'credit', reversalIndicator: true } as const;
    expect(whole(both, back).movements).toEqual(['payment-out-undone paid-1 5']);
  });
});

describe('a file', () => {
  const surveyed = (header: Partial<StatementHeader>) => {
    const survey = new FileSurvey(DAY);
    survey.add({ ...HEADER, ...header });
    return survey.currencies.get('GBP');
  };
  const balance = (code: string, date: string) => ({ code, ...gbp(0n), direction: 'credit' as const, date });
  const period = (from: string, to: string) => ({ period: { from: new Date(from), to: new Date(to) } });

  test.each<readonly [string, Partial<StatementHeader>, boolean]>([
    ['whose period has the day', period('2026-11-09T23:00:00Z', '2026-11-10T22:59:59Z'), true],
    ['whose period is another day’s', period('2026-11-10T23:00:00Z', '2026-11-11T22:59:59Z'), false],
    ['whose closing balance is of the day', { balances: [balance('CLBD', DAY)] }, true],
    [
      'whose opening balance is its only date of the day',
      { balances: [balance('OPBD', DAY), balance('CLBD', '2026-11-11')] },
      false,
    ],
    ['of the week', { balances: [balance('OPBD', '2026-11-07'), balance('CLBD', '2026-11-14')] }, true],
    ['that does not say', {}, false],
  ])('without entries %s', (_, header, isOfDay) => {
    expect(surveyed(header)).toMatchObject({ isOfDay, hasMoney: false });
  });
});

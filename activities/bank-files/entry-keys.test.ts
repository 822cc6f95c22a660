import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BookedEntry } from '../../domain/bank-files/messages.ts';
import { readAtOnce } from '../../test/bank-files/messages/read-at-once.ts';
import {
  type RenderedDetail,
  type RenderedEntry,
  type ReportVersion,
  renderReport,
} from '../../test/bank-files/messages/rendered-messages.ts';
import { shortOrLong } from '../../test/tools/run/length.ts';

const RUNS = shortOrLong(30, 60);
const ACCOUNT = 'DE89370400440532013000';

const some = <Value>(...values: Value[]) => fc.constantFrom(null, ...values);

/** Few values, so that many entries of a day are alike in some of what is told of them. */
const detail: fc.Arbitrary<RenderedDetail> = fc.record({
  reference: some('D-1', 'D-2', 'D-3', 'E-1'),
  instructionId: some('ref1-1', 'ref2-1'),
  paymentReference: some('ref1', 'ref2'),
  amountMinor: fc.constantFrom(100n, 200n),
  returnReason: fc.constant(null),
  debtorName: some('Anna'),
  debtorIban: some('FR1420041010050500013M02606'),
  debtorBic: fc.constant(null),
  creditorIban: fc.constant(null),
  remittanceText: some('Invoice 1', 'Invoice 2'),
});

function dayOf(reference: fc.Arbitrary<string | null>): fc.Arbitrary<RenderedEntry[]> {
  const entry = fc
    .record({
      reference,
      direction: fc.constantFrom('debit' as const, 'credit' as const),
      alone: fc.constantFrom(100n, 200n, 300n),
      isReversal: fc.boolean(),
      details: fc.array(detail, { maxLength: 3 }),
      status: fc.constantFrom('BOOK' as const, 'BOOK' as const, 'BOOK' as const, 'PDNG' as const),
    })
    .map(({ alone, details, ...rest }): RenderedEntry => {
      const amountMinor = details.length === 0 ? alone : details.reduce((sum, one) => sum + one.amountMinor, 0n);
      return { ...rest, details, amountMinor, currency: 'EUR', bookedOn: '2026-11-26', batch: null };
    });
  return fc.array(entry, { minLength: 1, maxLength: 12 });
}

function entriesOf(
  message: 'camt.053' | 'camt.054',
  entries: readonly RenderedEntry[],
  version: ReportVersion = '08',
): readonly BookedEntry[] {
  const bytes = renderReport({
    message,
    version,
    messageId: 'M',
    createdAt: new Date('2026-11-26T18:00:00Z'),
    account: ACCOUNT,
    entries,
  });
  const read = readAtOnce(bytes);
  return read.message === message ? read.entries : [];
}

const byKey = (entries: readonly BookedEntry[]) =>
  Object.fromEntries(
    entries.map((entry) => [entry.key, { ...entry, references: [...(entry.references ?? [])].sort() }]),
  );
const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
const shuffled = (entries: readonly RenderedEntry[], by: readonly number[]) =>
  entries
    .map((entry, at) => ({ entry, by: by[at] ?? 0 }))
    .sort((one, other) => one.by - other.by)
    .map(({ entry }) => entry);

/** NtryRef numbers entries by their place in a message, so it is no part of what is compared. */
const facts = ({ references: _, ...entry }: BookedEntry) => entry;

test('a day told by camt.054 in another order, and in another version, has the keys of its camt.053, with the same content', () => {
  const anyReference = fc.oneof(fc.constantFrom(null, 'E-1', 'E-2'), fc.uuid());
  fc.assert(
    fc.property(dayOf(anyReference), order, fc.constantFrom('02' as const, '08' as const), (day, by, version) => {
      const statement = entriesOf('camt.053', day);
      expect(new Set(statement.map(({ key }) => key)).size).toBe(statement.length);
      const notified = entriesOf('camt.054', shuffled(day, by), version);
      const told = (entries: readonly BookedEntry[]) =>
        Object.fromEntries(Object.entries(byKey(entries)).map(([key, entry]) => [key, facts(entry)]));
      expect(told(notified)).toEqual(told(statement));
    }),
    { numRuns: RUNS },
  );
});

test('a day told by several camt.054 and its camt.053, in any order and repeated, books every entry once', () => {
  const anyReference = fc.oneof(fc.constantFrom(null, 'E-1', 'E-2'), fc.uuid());
  fc.assert(
    fc.property(dayOf(anyReference), order, fc.integer({ min: 1, max: 4 }), fc.boolean(), (day, by, size, isLast) => {
      const statement = entriesOf('camt.053', day);
      const parts = shuffled(day, by).map((_, at, entries) =>
        at % size === 0 ? entriesOf('camt.054', entries.slice(at, at + size)) : [],
      );
      const taken = new Map<string, BookedEntry>();
      const all = isLast ? [...parts, ...parts, statement] : [statement, ...parts, statement];
      for (const entry of all.flat()) if (!taken.has(entry.key)) taken.set(entry.key, entry);
      expect([...taken.keys()].sort()).toEqual(statement.map(({ key }) => key).sort());
      expect(sums([...taken.values()])).toEqual(sums(statement));
      expect(sums(statement)).toEqual(sumsOfDay(day));
    }),
    { numRuns: RUNS },
  );
});

test('entries with references of their own keep their content, however the day is divided', () => {
  const unique = dayOf(fc.uuid());
  fc.assert(
    fc.property(unique, order, fc.integer({ min: 1, max: 4 }), (day, by, size) => {
      const statement = byKey(entriesOf('camt.053', day));
      for (const [at] of day.entries()) {
        if (at % size !== 0) continue;
        for (const entry of entriesOf('camt.054', shuffled(day, by).slice(at, at + size))) {
          // Details of different entries may share a reference of theirs.
          if (entry.entryReference !== undefined && entry.entryReference !== entry.bankReference) continue;
          const { references: _, ...same } = statement[entry.key] ?? { references: [] };
          expect(facts(entry)).toEqual(same);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

const sumOf = (
  movements: readonly { readonly direction: string; readonly isPending: boolean; readonly amountMinor: bigint }[],
) => {
  const found: Record<string, bigint> = {};
  for (const { direction, isPending, amountMinor } of movements) {
    const name = `${direction} ${isPending ? 'pending' : 'booked'}`;
    found[name] = (found[name] ?? 0n) + amountMinor;
  }
  return found;
};
const sums = (entries: readonly BookedEntry[]) => sumOf(entries);
const sumsOfDay = (day: readonly RenderedEntry[]) =>
  sumOf(day.map((entry) => ({ ...entry, isPending: entry.status !== 'BOOK' })));

const ENTRY = {
  reference: 'E-1',
  currency: 'EUR',
  bookedOn: '2026-11-26',
  status: 'BOOK',
  isReversal: false,
  batch: null,
  details: [],
} as const;

test('an entry that one message details and the other does not has one key, by the bank’s reference', () => {
  const entry: RenderedEntry = { ...ENTRY, direction: 'credit', amountMinor: 100n };
  const [sample] = fc.sample(detail, 1);
  if (sample === undefined) throw new Error('no detail drawn');
  const told = { ...sample, amountMinor: 100n };
  const keys = [
    entriesOf('camt.053', [entry]),
    entriesOf('camt.054', [{ ...entry, details: [told] }]),
    entriesOf('camt.054', [{ ...entry, reference: null, details: [{ ...told, reference: 'E-1' }] }]),
  ].map(([first]) => first?.key);
  expect(new Set(keys).size).toBe(1);
});

test('a payment and its charge under one reference are two entries, and so are a booking and its reversal', () => {
  const entry: RenderedEntry = { ...ENTRY, direction: 'debit', amountMinor: 10_000n };
  const charge = { ...entry, amountMinor: 150n };
  const reversal: RenderedEntry = { ...entry, direction: 'credit', isReversal: true };
  const entries = entriesOf('camt.053', [entry, charge, reversal, entry]);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(4);
});

test('a batch told as one sum and its details, told by another message, name one entry', () => {
  const batch: RenderedEntry = { ...ENTRY, direction: 'debit', amountMinor: 300n, batch: { id: 'B-1', count: 2 } };
  const details = fc.sample(detail, 2).map((one, at) => ({ ...one, amountMinor: 100n * BigInt(at + 1) }));
  const [sum] = entriesOf('camt.053', [batch]);
  expect(sum).toMatchObject({ bankReference: 'E-1', batch: { originalBatchId: 'B-1', count: 2 } });
  for (const one of entriesOf('camt.054', [{ ...batch, details }])) {
    expect(one).toMatchObject({ entryReference: sum?.bankReference, batch: null });
  }
});

test('a batch has one key, whether its message has no details or details without amounts', () => {
  const batch: RenderedEntry = { ...ENTRY, direction: 'debit', amountMinor: 300n, batch: { id: 'B-1', count: 2 } };
  const details = fc.sample(detail, 2).map((one) => ({ ...one, amountMinor: 777n }));
  const detailed = renderReport({
    message: 'camt.054',
    version: '08',
    messageId: 'M',
    createdAt: new Date(0),
    account: ACCOUNT,
    entries: [{ ...batch, details }],
  });
  const read = readAtOnce(Buffer.from(detailed.toString().replaceAll(/<Amt Ccy="EUR">7.77<\/Amt>/g, '')));
  const [sum] = entriesOf('camt.053', [batch]);
  expect(read).toMatchObject({
    entries: [{ key: sum?.key, amountMinor: 300n, batch: { originalBatchId: 'B-1', count: 2 } }],
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, dateInUtc } from '../common/time/dates.ts';
import { classifyLedgerOnly, classifyPayment, classifyProviderOnly, type DailyBreak } from './daily-reconciliation.ts';
import { NOTHING, totalsOf } from './day-balance.ts';
import { type FoundTraits, type KnownBreak, matchKnownBreaks } from './known-breaks.ts';
import { matchAcrossDays, type OneSided } from './movement-matching.ts';
import { daysToCompare, lastComparableDay, type Movement, windowOf } from './movements.ts';
import { OneSidedMovements } from './one-sided.ts';

const FIRST = '2026-11-20';
const HOUR_MS = 3_600_000;

const at = (text: string) => new Date(`${text}Z`);
const PAID: Movement = {
  side: 'ours',
  direction: 'out',
  reference: 'a',
  movement: 'payment-out',
  amountMinor: 500n,
  bookedAt: at('2026-11-21T12:00:00'),
  ofDay: true,
  accounts: ['account', 'main account'],
  resourceId: 'a',
};
const THEIRS: Movement = { ...PAID, side: 'provider', accounts: ['main account'], resourceId: null };
const moved = { amountMinor: 500n, moved: true, undoneMinor: null };
const undone = { amountMinor: 500n, moved: false, undoneMinor: 500n };

const only = { ours: null, repeats: null, ourStanding: moved, isBookedBefore: false, counter: null, answer: moved };
const shown = ({ movement: { side, amountMinor }, repeats }: OneSided) =>
  `${side} ${amountMinor}${repeats === null ? '' : ' again'}`;

describe('a payment', () => {
  test.each<readonly [string, readonly Movement[], readonly string[]]>([
    ['that both have is in order', [PAID, THEIRS], []],
    ['whose statement names no account is in order', [PAID, { ...THEIRS, accounts: [] }], []],
    ['in suspense has no account that could differ', [{ ...PAID, accounts: [] }, THEIRS], []],
    [
      'booked on both sides of midnight is explained by the other day',
      [
        { ...PAID, bookedAt: at('2026-11-21T23:59:00') },
        { ...THEIRS, bookedAt: at('2026-11-22T00:01:00'), ofDay: false },
      ],
      ['statement-day-differs'],
    ],
    ['of the neighbouring days is for those', [{ ...PAID, ofDay: false }], []],
    [
      'that failed has two movements on each side',
      [PAID, THEIRS, { ...PAID, movement: 'payment-out-undone' }, { ...THEIRS, movement: 'payment-out-undone' }],
      [],
    ],
    [
      'whose principal and return differ alike are two breaks',
      [
        PAID,
        { ...THEIRS, amountMinor: 1n },
        { ...PAID, movement: 'payment-out-undone' },
        { ...THEIRS, movement: 'payment-out-undone', amountMinor: 2n },
      ],
      ['statement-amount-differs', 'ours 500', 'provider 2'],
    ],
    [
      'can differ in several ways',
      [PAID, { ...THEIRS, amountMinor: 1n, accounts: ['other'] }, { ...THEIRS, amountMinor: 2n }],
      ['statement-amount-differs', 'statement-account-differs', 'provider 2 again'],
    ],
    [
      'that the statement has again with another amount is doubled',
      [PAID, { ...THEIRS, amountMinor: 1n, accounts: ['other'] }, THEIRS],
      ['provider 1 again'],
    ],
  ])('%s', (_, movements, kinds) => {
    const { breaks, oneSided } = classifyPayment(movements);
    expect([...breaks.map(({ kind }) => kind), ...oneSided.map(shown)]).toEqual(kinds);
  });

  test('of the last minutes of the day before is late if the statement has it after the first of this one', () => {
    const ours = { ...PAID, bookedAt: at('2026-11-20T23:57:00'), ofDay: false };
    const theirs = { ...THEIRS, bookedAt: at('2026-11-21T00:10:00') };
    expect(classifyPayment([ours, theirs])).toEqual({
      breaks: [],
      oneSided: [{ movement: theirs, repeats: null }],
      acrossMidnight: [],
    });
    const inTime = { ...THEIRS, bookedAt: at('2026-11-21T00:01:00') };
    const { breaks, oneSided, acrossMidnight } = classifyPayment([ours, inTime]);
    expect([breaks.map(({ kind }) => kind), oneSided, acrossMidnight]).toEqual([
      ['statement-day-differs'],
      [],
      [inTime],
    ]);
    expect(breaks[0]).toMatchObject({ expected: null, explanation: { day: '2026-11-20', side: 'ours' } });
  });

  test('shows what was expected and what is there', () => {
    const [found] = classifyPayment([PAID, { ...THEIRS, amountMinor: 501n }]).breaks;
    expect(found).toMatchObject({
      expected: { amountMinor: 500n, account: 'account', date: '2026-11-21' },
      actual: { amountMinor: 501n, account: 'main account', date: '2026-11-21' },
      resourceId: 'a',
    });
    const [again] = classifyPayment([PAID, THEIRS, THEIRS]).oneSided;
    const [doubled] = classifyProviderOnly(THEIRS, { ...only, repeats: again?.repeats ?? null });
    expect([doubled?.expected?.amountMinor, doubled?.actual?.amountMinor]).toEqual([500n, 1_000n]);
  });

  const kindsOf = (breaks: readonly DailyBreak[]) =>
    breaks.map(({ kind, explanation }) => (explanation === null ? kind : `${kind}, explained by ${explanation.day}`));

  const returned: Movement = { ...THEIRS, movement: 'payment-out-undone' };
  test.each<readonly [string, Movement, Parameters<typeof classifyProviderOnly>[1], string]>([
    ['that both sides say was paid, which our books have on no day', THEIRS, only, 'statement-not-booked'],
    ['that we know and have not booked', THEIRS, { ...only, ourStanding: undone }, 'statement-not-booked'],
    [
      'that failed on both sides, which the statement has half of',
      THEIRS,
      { ...only, ourStanding: undone, answer: undone },
      'statement-not-booked',
    ],
    [
      'that failed on both sides before we booked it',
      THEIRS,
      { ...only, ourStanding: undone, answer: undone, counter: returned },
      'statement-moved-nothing, explained by 2026-11-21',
    ],
    [
      'that no look-up confirms counts as the statement says',
      THEIRS,
      { ...only, ourStanding: undone, answer: undefined },
      'statement-not-booked',
    ],
    [
      'that was booked on an earlier day already',
      THEIRS,
      { ...only, isBookedBefore: true },
      'statement-payment-doubled',
    ],
    [
      'that was booked on an earlier day, and has been undone since',
      THEIRS,
      { ...only, ourStanding: undone, answer: undone, isBookedBefore: true, counter: returned },
      'statement-payment-doubled',
    ],
    [
      'booked by us on the day before',
      THEIRS,
      { ...only, ours: { ...PAID, bookedAt: at('2026-11-20T09:00:00') } },
      'statement-booked-late',
    ],
    [
      'booked by us a minute before midnight',
      { ...THEIRS, bookedAt: at('2026-11-21T00:01:00') },
      { ...only, ours: { ...PAID, bookedAt: at('2026-11-20T23:59:00') } },
      'statement-day-differs, explained by 2026-11-20',
    ],
    [
      'booked by us on the day after',
      THEIRS,
      { ...only, ours: { ...PAID, bookedAt: at('2026-11-22T09:00:00') } },
      'statement-day-differs, explained by 2026-11-22',
    ],
    ['undone there and not here', returned, { ...only, answer: undone }, 'statement-not-at-provider'],
    ['undone on the statement, and paid by its answer', returned, only, 'statement-not-booked'],
    [
      'undone there that we never had',
      returned,
      { ...only, ourStanding: null, answer: undone, counter: THEIRS },
      'statement-unknown-payment',
    ],
  ])('on the statement only, %s, is a break of its amount', (_, movement, context, kind) => {
    const found = classifyProviderOnly(movement, context);
    expect(kindsOf(found)).toEqual([kind]);
    const isCredit = movement === returned;
    expect(found[0]?.effect).toEqual(totalsOf(isCredit, 1n, 500n));
  });

  const kept = { theirs: null, counter: null, ourStanding: moved, answer: moved };
  const back: Movement = { ...PAID, movement: 'payment-out-undone' };
  test.each<readonly [string, Parameters<typeof classifyLedgerOnly>[1], string]>([
    ['which the provider confirms', kept, 'statement-payment-missing'],
    ['about which it does not answer', { ...kept, answer: undefined }, 'statement-payment-missing'],
    ['which it does not know', { ...kept, answer: null }, 'statement-not-at-provider'],
    ['which it has undone', { ...kept, answer: undone }, 'statement-not-at-provider'],
    ['which it has paid and we have undone', { ...kept, ourStanding: undone }, 'statement-not-booked'],
    [
      'which it does not know and we have undone',
      { ...kept, ourStanding: undone, answer: null, counter: back },
      'statement-moved-nothing, explained by 2026-11-21',
    ],
    [
      'which it does not know, and whose other half the statement has',
      { ...kept, ourStanding: undone, answer: null },
      'statement-payment-missing',
    ],
    [
      'which is on the statement of another day',
      { ...kept, theirs: { ...THEIRS, bookedAt: at('2026-11-22T09:00:00') }, answer: undefined },
      'statement-day-differs, explained by 2026-11-22',
    ],
  ])('in our ledger only, %s, is a break of its amount', (_, context, kind) => {
    const found = classifyLedgerOnly(PAID, context);
    expect(kindsOf(found)).toEqual([kind]);
    expect(found[0]?.effect).toEqual(totalsOf(false, -1n, -500n));
  });
});

describe('the days', () => {
  test('a day can be compared ten minutes after its end', () => {
    expect(lastComparableDay(at('2026-11-23T00:09:59'))).toBe('2026-11-21');
    expect(lastComparableDay(at('2026-11-23T00:10:00'))).toBe('2026-11-22');
  });

  test.each<readonly [string, string | null, string | null, readonly string[]]>([
    ['are none if the last one is compared', '2026-11-22', '2026-11-01', []],
    ['are all that were missed', '2026-11-19', '2026-11-01', ['2026-11-20', '2026-11-21', '2026-11-22']],
    ['begin at the first booking', null, '2026-11-21', ['2026-11-21', '2026-11-22']],
    [
      'begin a week ago at the earliest',
      null,
      '2026-01-01',
      Array.from({ length: 7 }, (_, index) => addDays('2026-11-16', index)),
    ],
    [
      'begin a week ago where nothing is booked',
      null,
      null,
      Array.from({ length: 7 }, (_, index) => addDays('2026-11-16', index)),
    ],
  ])('to compare %s', (_, last, first, days) => {
    expect(daysToCompare(last, first, at('2026-11-23T08:00:00'), 100)).toEqual(days);
    expect(daysToCompare(last, first, at('2026-11-23T08:00:00'), 1)).toEqual(days.slice(0, 1));
  });

  test('a window is the day in UTC', () => {
    const { from, to } = windowOf('2026-11-22');
    expect([dateInUtc(from), to.getTime() - from.getTime()]).toEqual(['2026-11-22', 24 * HOUR_MS]);
  });
});

describe('a payment that came back in parts', () => {
  const at = windowOf(FIRST).from.getTime();
  const part = (side: Movement['side'], amountMinor: bigint, hour: number): Movement => ({
    side,
    direction: 'out',
    reference: 'payment',
    movement: 'payment-out-undone',
    amountMinor,
    bookedAt: new Date(at + hour * HOUR_MS),
    ofDay: true,
    accounts: [],
    resourceId: null,
  });
  const classified = (theirs: readonly bigint[], ours: readonly bigint[]) => {
    const { breaks, oneSided } = classifyPayment([
      ...theirs.map((amountMinor, hour) => part('provider', amountMinor, hour)),
      ...ours.map((amountMinor, hour) => part('ours', amountMinor, hour)),
    ]);
    const known = new OneSidedMovements(FIRST, oneSided, [], []);
    const differing = oneSided
      .flatMap((one) => known.classify(one, moved, moved))
      .filter(({ kind }) => kind === 'statement-amount-differs')
      .map(({ expected, actual }) => `differ ${expected?.amountMinor} ${actual?.amountMinor}`);
    return [...breaks.map(({ kind }) => kind), ...oneSided.map(shown), ...differing];
  };

  test.each<[string, bigint[], bigint[], string[]]>([
    ['agrees in whatever order each side has booked them', [3n, 1n, 3n], [1n, 3n, 3n], []],
    ['agrees except for the part that our books lack', [1n, 3n], [3n], ['provider 1']],
    ['agrees except for the part that the statement lacks', [3n], [1n, 3n], ['ours 1']],
    ['differs where a part has another amount', [1n, 4n], [3n, 1n], ['ours 3', 'provider 4', 'differ 3 4']],
    ['is doubled where the statement has a part once too often', [3n, 1n, 3n], [1n, 3n], ['provider 3 again']],
    ['is doubled where its only part is', [3n, 3n], [3n], ['provider 3 again']],
    ['shows every part that the statement lacks', [], [1n, 3n, 1n], ['ours 1', 'ours 3', 'ours 1']],
    ['shows every part that our books lack', [3n, 1n, 4n], [3n], ['provider 1', 'provider 4']],
    [
      'shows every part that has another amount',
      [1n, 4n],
      [2n, 5n],
      ['ours 2', 'ours 5', 'provider 1', 'provider 4', 'differ 2 1', 'differ 5 4'],
    ],
    ['is doubled in each part that is', [3n, 1n, 3n, 1n], [1n, 3n], ['provider 3 again', 'provider 1 again']],
    ['is doubled in a part, and lacks another', [3n, 3n, 5n], [3n], ['provider 3 again', 'provider 5']],
  ])('%s', (_, theirs, ours, expected) => {
    expect(classified(theirs, ours)).toEqual(expected);
  });

  const alike = [part('ours', 3n, 0), part('ours', 3n, 1), part('provider', 3n, 30), part('ours', 4n, 2)];

  test('is explained by the other days, a part by a part of the same amount', () => {
    const elsewhere = (all: readonly Movement[]) => all.map((one) => matchAcrossDays(all).get(one) ?? null);
    expect(elsewhere(alike)).toEqual([alike[2], null, alike[0], null]);
    const further = part('provider', 3n, 54);
    expect(elsewhere([...alike, further]).at(-1)).toBe(alike[1]);
    expect(elsewhere([further])).toEqual([null]);
  });
});

describe('a break that is found', () => {
  const facts = (amountMinor: bigint, date: string) => ({ amountMinor, account: null, date });
  const missing = (amountMinor: bigint, date = FIRST): FoundTraits => ({
    kind: 'statement-payment-missing',
    reference: 'payment',
    movement: 'payment-out-undone',
    expected: facts(amountMinor, date),
    actual: null,
    effect: NOTHING,
  });
  const known = (id: string, change: Partial<KnownBreak>): KnownBreak => ({
    ...missing(1n),
    id,
    status: 'open',
    day: FIRST,
    part: 1,
    foundAt: new Date(`${FIRST}T08:00:00Z`),
    isTaken: false,
    ...change,
  });
  const NEXT = addDays(FIRST, 1);
  const frequent = { day: null, movement: null, expected: null };

  test.each<readonly [string, readonly FoundTraits[], readonly KnownBreak[], readonly string[]]>([
    ['first is new', [missing(1n)], [], ['new 1']],
    ['twice is two', [missing(1n), missing(1n)], [], ['new 1', 'new 2']],
    ['again is the known one', [missing(1n)], [known('a', {})], ['a 1']],
    ['next to a known one is new', [missing(1n), missing(2n)], [known('a', { part: 2 })], ['a 2', 'new 1']],
    [
      'again is the one of its own facts',
      [missing(2n), missing(1n)],
      [known('a', {}), known('b', { ...missing(2n), part: 2 })],
      ['b 2', 'a 1'],
    ],
    ['with other facts is the known one', [missing(2n)], [known('a', {})], ['a 1']],
    [
      'with other dates is the one of its amount',
      [missing(2n, NEXT)],
      [known('a', {}), known('b', { ...missing(2n), part: 2, status: 'resolved' })],
      ['b 2'],
    ],
    ['of another movement is new', [{ ...missing(1n), movement: 'payment-out' }], [known('a', {})], ['new 2']],
    ['on another day is new', [missing(2n, NEXT)], [known('a', { day: NEXT, ...missing(1n, NEXT) })], ['new 1']],
    ['with the facts of another day’s is that one', [missing(1n)], [known('a', { day: NEXT })], ['a 1']],
    ['by this comparison before is not that one', [missing(1n)], [known('a', { isTaken: true })], ['new 2']],
    ['by the frequent comparison since is that one', [missing(1n)], [known('a', frequent)], ['a 1']],
    [
      'by the frequent comparison before the day is not that one',
      [missing(1n)],
      [known('a', { ...frequent, foundAt: new Date(`${addDays(FIRST, -1)}T08:00:00Z`) })],
      ['new 1'],
    ],
    [
      'alike is the one that is open rather than the resolved one',
      [missing(1n)],
      [known('a', { status: 'resolved' }), known('b', { part: 2 })],
      ['b 2'],
    ],
  ])('%s', (_, found, others, expected) => {
    expect(matchKnownBreaks(found, others, FIRST).map(({ id, part }) => `${id ?? 'new'} ${part}`)).toEqual(expected);
  });

  test('takes no row of another, however many there are', () => {
    const traits = fc.record({ amountMinor: fc.bigInt({ min: 1n, max: 3n }), isLater: fc.boolean() });
    fc.assert(
      fc.property(fc.array(traits, { maxLength: 8 }), fc.array(traits, { maxLength: 8 }), (found, before) => {
        const of = ({ amountMinor, isLater }: { amountMinor: bigint; isLater: boolean }) =>
          missing(amountMinor, isLater ? NEXT : FIRST);
        const rows = before.map((one, index) =>
          known(`${index}`, { ...of(one), day: one.isLater ? NEXT : FIRST, part: index + 1 }),
        );
        const places = matchKnownBreaks(found.map(of), rows, FIRST);
        const ids = places.flatMap(({ id }) => id ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        const kept = rows.filter(({ id, day }) => day === FIRST && !ids.includes(id)).map(({ part }) => part);
        const taken = [...kept, ...places.map(({ part }) => part)];
        expect(new Set(taken).size).toBe(taken.length);
      }),
    );
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  asksForConfirmation,
  INSTRUCTION_STATES,
  type InstructionNews,
  type InstructionState,
  meaningOf,
  payeeCheckOf,
  progressAfter,
} from './progress.ts';

const byPain = { releasedBy: 'pain.002', endsBy: 'pain.002' } as const;
const by054 = { releasedBy: 'pain.002', endsBy: 'camt.054' } as const;
const by053 = { releasedBy: 'delivery', endsBy: 'camt.053' } as const;

const status = (meaning: Extract<InstructionNews, { kind: 'status' }>['meaning']): InstructionNews => ({
  kind: 'status',
  meaning,
});
const delivered: InstructionNews = { kind: 'delivered' };
const booked = (by: 'camt.054' | 'camt.053'): InstructionNews => ({ kind: 'booked', by });
const NEWS: readonly InstructionNews[] = [
  delivered,
  booked('camt.054'),
  booked('camt.053'),
  ...(['received', 'confirmation', 'accepted', 'settled', 'rejected'] as const).map(status),
];

function after(
  news: readonly InstructionNews[],
  rules: Parameters<typeof progressAfter>[2],
  from: InstructionState = 'assigned',
) {
  const told: string[] = [];
  let state = from;
  for (const one of news) {
    const progress = progressAfter(state, one, rules);
    if (progress.news !== null) told.push(progress.news);
    if (progress.isContradiction) told.push('contradiction');
    state = progress.state;
  }
  return { state, told };
}

test('the profile says which message releases a payment, and which ends it', () => {
  expect(after([delivered, status('received'), status('accepted'), status('settled')], byPain)).toEqual({
    state: 'completed',
    told: ['released', 'completed'],
  });
  expect(after([status('settled'), booked('camt.054')], by054)).toEqual({
    state: 'completed',
    told: ['released', 'completed'],
  });
  expect(after([delivered, booked('camt.054')], by053)).toEqual({ state: 'released', told: ['released'] });
  expect(after([delivered, booked('camt.054'), booked('camt.053')], by053)).toEqual({
    state: 'completed',
    told: ['released', 'completed'],
  });
  // A message that says more than is asked for ends it as well.
  expect(after([booked('camt.053')], byPain)).toEqual({ state: 'completed', told: ['completed'] });
});

test('a rejection before release is one, and after release a failure', () => {
  expect(after([status('received'), status('rejected')], by054).told).toEqual(['rejected']);
  expect(after([status('accepted'), status('rejected')], by054).told).toEqual(['released', 'failed']);
  expect(after([status('rejected'), status('accepted')], by054)).toEqual({ state: 'rejected', told: ['rejected'] });
});

test('money that moved after a rejection, or a rejection after the end, is a contradiction that changes nothing', () => {
  expect(after([status('rejected'), booked('camt.054')], by054)).toEqual({
    state: 'rejected',
    told: ['rejected', 'contradiction'],
  });
  expect(after([booked('camt.054'), status('rejected')], by054)).toEqual({
    state: 'completed',
    told: ['completed', 'contradiction'],
  });
});

test('what the bank says of an instruction that no file has carried settles it, unless it says that it was rejected', () => {
  for (const news of NEWS) {
    const isRejected = news.kind === 'status' && news.meaning === 'rejected';
    const isSettled = news.kind !== 'delivered' && !isRejected;
    const after = progressAfter('queued', news, by054);
    expect(after).toMatchObject({ isContradiction: !isSettled });
    expect(after.state === 'queued').toBe(!isSettled);
  }
});

test('after a restore, a rejection of what no file has carried is one', () => {
  expect(progressAfter('queued', status('rejected'), by054, true)).toEqual({
    state: 'rejected',
    news: 'rejected',
    isContradiction: false,
  });
});

test('in any order, and twice, the same words without a contradiction lead to the same end, and none is left', () => {
  const anyNews = fc.array(fc.constantFrom(...NEWS), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(anyNews, fc.constantFrom(byPain, by054, by053), fc.infiniteStream(fc.nat()), (news, rules, draws) => {
      const shuffled = [...news, ...news].map((one) => ({ one, at: draws.next().value })).sort((a, b) => a.at - b.at);
      const first = after(news, rules);
      const other = after(
        shuffled.map(({ one }) => one),
        rules,
      );
      const isSaidToBePaid = news.some(
        ({ kind }) => kind === 'booked' || news.some((one) => one.kind === 'status' && one.meaning === 'settled'),
      );
      const isRejected = news.some((one) => one.kind === 'status' && one.meaning === 'rejected');
      if (isRejected && isSaidToBePaid) return;
      const end = (state: InstructionState) => (state === 'failed' ? 'rejected' : state);
      expect(end(other.state)).toBe(end(first.state));
      // Each outcome is told once at most.
      for (const outcome of other.told) expect(other.told.filter((one) => one === outcome)).toHaveLength(1);
    }),
    { numRuns: 2_000 },
  );
});

test('no news leads back', () => {
  const order = INSTRUCTION_STATES;
  for (const state of order) {
    for (const news of NEWS) {
      const next = progressAfter(state, news, by054).state;
      if (state === 'completed' || state === 'rejected' || state === 'failed') expect(next).toBe(state);
      else expect(order.indexOf(next)).toBeGreaterThanOrEqual(order.indexOf(state));
    }
  }
});

test('a person is asked to confirm also what delivery has released, until the bank says more', () => {
  const unmatched = { status: 'RVNM', reasons: [] };
  expect(asksForConfirmation('confirmation', unmatched)).toBe(true);
  expect(asksForConfirmation('released', unmatched)).toBe(true);
  expect(asksForConfirmation('released', { status: 'RCVC', reasons: [] })).toBe(false);
  expect(asksForConfirmation('released', { status: 'ACSP', reasons: ['RVNM'] })).toBe(false);
  expect(asksForConfirmation('completed', unmatched)).toBe(false);
});

test('the answer of a payee check is read as a status or as a reason, and asks a person only where the bank waits for one', () => {
  const confirmed = { payeeCheck: 'confirmed' } as const;
  const close = { status: 'PDNG', reasons: ['RVMC'] };
  expect(payeeCheckOf(close)).toBe('RVMC');
  expect(payeeCheckOf({ status: 'RVNM', reasons: [] })).toBe('RVNM');
  expect(meaningOf(close, confirmed)).toBe('confirmation');
  expect(meaningOf({ status: 'RVNA', reasons: [] }, confirmed)).toBe('confirmation');
  expect(meaningOf({ status: 'RCVC', reasons: [] }, confirmed)).toBe('received');
  expect(meaningOf(close, { payeeCheck: 'opted-out' })).toBe('confirmation');
  expect(meaningOf(close, { payeeCheck: 'none' })).toBe('received');
  // What the bank has decided stands above the check that preceded it.
  expect(meaningOf({ status: 'ACSP', reasons: ['RVMC'] }, confirmed)).toBe('accepted');
  expect(meaningOf({ status: 'RJCT', reasons: ['RVNM'] }, confirmed)).toBe('rejected');
  expect(meaningOf({ status: 'PART', reasons: [] }, confirmed)).toBeNull();
  expect(meaningOf({ status: 'ZZZZ', reasons: [] }, confirmed)).toBeNull();
});

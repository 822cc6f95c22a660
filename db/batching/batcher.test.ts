import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { QUEUE_LENGTH_MAX } from '../postgres/deadlines.ts';
import { CallerGone, DatabaseUnavailable } from '../postgres/failures.ts';
import type { CallLimits } from '../query/database.ts';
import { Batcher, fallBackToSingle } from './batcher.ts';

// Fake timers: no batch times out before the test says so.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A little longer than a statement may hold up the calls behind it. */
const PATIENCE_MS = 25;
const HOUR_MS = 3_600_000;

/** A batcher whose statements end when the test ends them. */
function held(keysOf?: (item: string) => readonly string[], atOnce?: number) {
  const statements: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        statements.push({ items, end: () => resolve(items.map((item) => `${item}!`)), fail: reject });
      }),
    keysOf,
    atOnce,
  );
  const call = (item: string, limits: Partial<CallLimits> = {}) =>
    batcher.call(item, { endsAt: performance.now() + HOUR_MS, isGone: () => false, ...limits });
  return { call, statements };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('concurrent calls share a statement, in order, and each gets its own result', async () => {
  const { call, statements } = held();
  const calls = ['a', 'b', 'c'].map((item) => call(item));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a', 'b', 'c']]);
  statements[0]?.end();
  expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!']);
});

test('a call never joins a running statement: it goes into the next one', async () => {
  const { call, statements } = held();
  const first = call('a');
  await turns();
  const others = ['a', 'b'].map((item) => call(item));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a']]);
  statements[0]?.end();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a'], ['a', 'b']]);
  statements[1]?.end();
  expect(await Promise.all([first, ...others])).toEqual(['a!', 'a!', 'b!']);
});

test('the next statement starts before the callers of the last one get their answers', async () => {
  const { call, statements } = held();
  const first = call('a').then(() => statements.length);
  await turns();
  const second = call('b');
  statements[0]?.end();
  expect(await first).toBe(2);
  statements[1]?.end();
  expect(await second).toBe('b!');
});

test('if two may run at once, the second starts as soon as eight calls wait', async () => {
  const { call, statements } = held(undefined, 2);
  const calls = [call('first')];
  for (let index = 0; index < 20; index += 1) {
    await turns();
    calls.push(call(String(index)));
  }
  await turns();
  expect(statements.map(({ items }) => items.length)).toEqual([1, 8]);
  for (let round = 0; round < 3; round += 1) {
    for (const statement of statements) statement.end();
    await turns();
  }
  expect(await Promise.all(calls)).toHaveLength(21);
});

test('a statement takes eight waiting calls, or half of many, and 32 at most', async () => {
  const { call, statements } = held();
  const calls = Array.from({ length: 80 }, (_, index) => call(String(index)));
  for (let round = 0; round < 6; round += 1) {
    await turns();
    for (const statement of statements) statement.end();
  }
  await Promise.all(calls);
  expect(statements.map(({ items }) => items.length)).toEqual([32, 24, 12, 8, 4]);
});

test('calls that share a key run together or one after the other, in order, and none overtakes another', async () => {
  const { call, statements } = held((item) => [...item]);
  const calls = [call('ab')];
  await turns();
  // bc waits for ab, and cd waits behind bc although ab does not block it; ef does not wait.
  calls.push(...['bc', 'cd', 'ef'].map((item) => call(item)));
  vi.advanceTimersByTime(PATIENCE_MS);
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['ab'], ['ef']]);
  statements[0]?.end();
  await turns();
  vi.advanceTimersByTime(PATIENCE_MS);
  await turns();
  expect(statements.at(-1)?.items).toEqual(['bc', 'cd']);
  for (const statement of statements) statement.end();
  expect(await Promise.all(calls)).toEqual(['ab!', 'bc!', 'cd!', 'ef!']);
});

test('a failing statement fails only its own calls, and the next one runs', async () => {
  const { call, statements } = held((item) => [item]);
  const lost = [call('a'), call('b')];
  await turns();
  const next = call('a');
  statements[0]?.fail(new Error('gone'));
  expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turns();
  statements[1]?.end();
  expect(await next).toBe('a!');
});

test('a slow statement does not hold up later calls', async () => {
  const { call, statements } = held();
  void call('stuck').catch(() => {});
  await turns();
  const late = ['late', 'too'].map((item) => call(item));
  vi.advanceTimersByTime(PATIENCE_MS);
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['stuck'], ['late', 'too']]);
  statements[1]?.end();
  expect(await Promise.all(late)).toEqual(['late!', 'too!']);
});

test('a hanging statement does not hold up other calls that arrived with its own', async () => {
  const { call, statements } = held();
  const calls = Array.from({ length: 40 }, (_, index) => call(String(index)));
  for (let round = 0; round < 4; round += 1) {
    await turns();
    vi.advanceTimersByTime(PATIENCE_MS);
  }
  expect(statements.flatMap(({ items }) => items)).toHaveLength(40);
  for (const statement of statements) statement.end();
  expect(await Promise.all(calls)).toHaveLength(40);
});

test('statements that timed out do not raise the number that may run side by side when they end', async () => {
  const { call, statements } = held();
  const calls = [call('slow')];
  await turns();
  calls.push(call('a'));
  vi.advanceTimersByTime(PATIENCE_MS);
  await turns();
  expect(statements).toHaveLength(2);
  calls.push(...['b', 'c'].map((item) => call(item)));
  statements[0]?.end();
  await turns();
  expect(statements).toHaveLength(2);
  statements[1]?.end();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['slow'], ['a'], ['b', 'c']]);
  statements[2]?.end();
  expect(await Promise.all(calls)).toHaveLength(4);
});

test('calls that arrive in the turn in which a statement ends start one statement, not two', async () => {
  const { call, statements } = held(undefined, 2);
  const calls = [call('first')];
  await turns();
  for (let index = 0; index < 9; index += 1) calls.push(call(String(index)));
  statements[0]?.end();
  await turns();
  expect(statements.map(({ items }) => items.length)).toEqual([1, 8]);
  statements[1]?.end();
  await turns();
  statements[2]?.end();
  expect(await Promise.all(calls)).toHaveLength(10);
});

const settledOf = async (call: Promise<string>) => {
  let outcome: string | Error = 'waits';
  call.then(
    (result) => {
      outcome = result;
    },
    (error) => {
      outcome = error;
    },
  );
  await turns();
  return outcome;
};

test('a call that has waited for nine tenths of its time is rejected and never starts, whatever the statements do', async () => {
  const { call, statements } = held((item) => [item]);
  const first = call('a');
  await turns();
  const late = call('a', { endsAt: performance.now() + 1_000 });
  const patient = call('a');
  vi.advanceTimersByTime(899);
  expect(await settledOf(late)).toBe('waits');
  vi.advanceTimersByTime(60);
  const rejected = await settledOf(late);
  expect(rejected).toBeInstanceOf(DatabaseUnavailable);
  expect(rejected).toMatchObject({ outcome: 'nothing-done' });
  statements[0]?.end();
  await turns();
  statements[1]?.end();
  expect(await Promise.all([first, patient])).toEqual(['a!', 'a!']);
  expect(statements.map(({ items }) => items)).toEqual([['a'], ['a']]);
});

test('a call whose caller is gone never starts', async () => {
  const { call, statements } = held((item) => [item]);
  const first = call('a');
  await turns();
  let isGone = false;
  const left = call('a', { isGone: () => isGone });
  const stays = call('a');
  isGone = true;
  statements[0]?.end();
  expect(await settledOf(left)).toBeInstanceOf(CallerGone);
  expect(statements.map(({ items }) => items)).toEqual([['a'], ['a']]);
  statements[1]?.end();
  expect(await Promise.all([first, stays])).toEqual(['a!', 'a!']);
});

test('a full queue rejects new calls at once and keeps serving the waiting ones', async () => {
  const { call, statements } = held((item) => [item]);
  const first = call('a');
  await turns();
  const waiting = Array.from({ length: QUEUE_LENGTH_MAX }, () => call('a'));
  expect(await settledOf(call('b'))).toMatchObject({ outcome: 'nothing-done' });
  for (let round = 0; round <= QUEUE_LENGTH_MAX / 8; round += 1) {
    for (const statement of statements) statement.end();
    await turns();
  }
  expect(await Promise.all([first, ...waiting])).toHaveLength(QUEUE_LENGTH_MAX + 1);
});

test('a statement has the earliest deadline of its calls', async () => {
  const endsAts: number[] = [];
  const batcher = new Batcher<string, string>(async (items, { endsAt }) => {
    endsAts.push(endsAt);
    return [...items];
  });
  const now = performance.now();
  const isGone = () => false;
  await Promise.all([30_000, 10_000, 20_000].map((ms) => batcher.call('a', { endsAt: now + ms, isGone })));
  expect(endsAts).toEqual([now + 10_000]);
});

test('an unavailable database or departed callers do not count as a failure of the shared statement', async () => {
  const noted: unknown[] = [];
  const database = { noteSharedFailure: (_: string, error: unknown) => noted.push(error) };
  const failing = (error: Error) =>
    fallBackToSingle(database, 'pay', ['a', 'b'], () => Promise.reject(error), 'by itself');
  for (const error of [new DatabaseUnavailable('silent'), new CallerGone()]) {
    await expect(failing(error)).rejects.toBe(error);
  }
  expect(noted).toEqual([]);
  const fault = new Error('no such function');
  expect(await failing(fault)).toEqual(['by itself', 'by itself']);
  expect(noted).toEqual([fault]);
});

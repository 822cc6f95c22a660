import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Gathering } from './gathering.ts';

// Nobody loses patience before it is said.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A gathering whose statements end when told to. */
function held(keysOf?: (item: string) => readonly string[], atOnce?: number) {
  const statements: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const gathering = new Gathering<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        statements.push({ items, end: () => resolve(items.map((item) => `${item}!`)), fail: reject });
      }),
    keysOf,
    atOnce,
  );
  return { gathering, statements };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('calls of one moment go together, in their order, and each gets its own result', async () => {
  const { gathering, statements } = held();
  const calls = ['a', 'b', 'c'].map((item) => gathering.call(item));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a', 'b', 'c']]);
  statements[0]?.end();
  expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!']);
});

test('a call never joins a statement that has started: it goes with the next', async () => {
  const { gathering, statements } = held();
  const first = gathering.call('a');
  await turns();
  const others = ['a', 'b'].map((item) => gathering.call(item));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a']]);
  statements[0]?.end();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a'], ['a', 'b']]);
  statements[1]?.end();
  expect(await Promise.all([first, ...others])).toEqual(['a!', 'a!', 'b!']);
});

test('the next statement is on its way when the callers of the last are told', async () => {
  const { gathering, statements } = held();
  const first = gathering.call('a').then(() => statements.length);
  await turns();
  const second = gathering.call('b');
  statements[0]?.end();
  expect(await first).toBe(2);
  statements[1]?.end();
  expect(await second).toBe('b!');
});

test('where two may run at once, the second goes as soon as eight wait', async () => {
  const { gathering, statements } = held(undefined, 2);
  const calls = [gathering.call('first')];
  for (let index = 0; index < 20; index += 1) {
    await turns();
    calls.push(gathering.call(String(index)));
  }
  await turns();
  expect(statements.map(({ items }) => items.length)).toEqual([1, 8]);
  for (let round = 0; round < 3; round += 1) {
    for (const statement of statements) statement.end();
    await turns();
  }
  expect(await Promise.all(calls)).toHaveLength(21);
});

test('a statement takes eight of those who wait, or half of many, and 32 at most', async () => {
  const { gathering, statements } = held();
  const calls = Array.from({ length: 80 }, (_, index) => gathering.call(String(index)));
  for (let round = 0; round < 6; round += 1) {
    await turns();
    for (const statement of statements) statement.end();
  }
  await Promise.all(calls);
  expect(statements.map(({ items }) => items.length)).toEqual([32, 24, 12, 8, 4]);
});

test('calls with a key in common go together or one after the other, in their order, and nobody overtakes', async () => {
  const { gathering, statements } = held((item) => [...item]);
  const calls = [gathering.call('ab')];
  await turns();
  // bc waits for ab; cd would not, but waits behind bc; ef does not wait.
  calls.push(...['bc', 'cd', 'ef'].map((item) => gathering.call(item)));
  vi.runAllTimers();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['ab'], ['ef']]);
  statements[0]?.end();
  await turns();
  vi.runAllTimers();
  await turns();
  expect(statements.at(-1)?.items).toEqual(['bc', 'cd']);
  for (const statement of statements) statement.end();
  expect(await Promise.all(calls)).toEqual(['ab!', 'bc!', 'cd!', 'ef!']);
});

test('a statement that fails fails its own calls, and the next goes on', async () => {
  const { gathering, statements } = held((item) => [item]);
  const lost = [gathering.call('a'), gathering.call('b')];
  await turns();
  const next = gathering.call('a');
  statements[0]?.fail(new Error('gone'));
  expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turns();
  statements[1]?.end();
  expect(await next).toBe('a!');
});

test('a statement that is slow does not hold up those who come later', async () => {
  const { gathering, statements } = held();
  void gathering.call('stuck').catch(() => {});
  await turns();
  const late = ['late', 'too'].map((item) => gathering.call(item));
  vi.runAllTimers();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['stuck'], ['late', 'too']]);
  statements[1]?.end();
  expect(await Promise.all(late)).toEqual(['late!', 'too!']);
});

test('a statement that hangs holds up none of those who came with its calls', async () => {
  const { gathering, statements } = held();
  const calls = Array.from({ length: 40 }, (_, index) => gathering.call(String(index)));
  for (let round = 0; round < 4; round += 1) {
    await turns();
    vi.runAllTimers();
  }
  expect(statements.flatMap(({ items }) => items)).toHaveLength(40);
  for (const statement of statements) statement.end();
  expect(await Promise.all(calls)).toHaveLength(40);
});

test('statements that were given up on do not let more run side by side once they have ended', async () => {
  const { gathering, statements } = held();
  const calls = [gathering.call('slow')];
  await turns();
  calls.push(gathering.call('a'));
  vi.runAllTimers();
  await turns();
  expect(statements).toHaveLength(2);
  calls.push(...['b', 'c'].map((item) => gathering.call(item)));
  statements[0]?.end();
  await turns();
  expect(statements).toHaveLength(2);
  statements[1]?.end();
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['slow'], ['a'], ['b', 'c']]);
  statements[2]?.end();
  expect(await Promise.all(calls)).toHaveLength(4);
});

test('calls that come in the turn in which a statement ends begin one statement, not two', async () => {
  const { gathering, statements } = held(undefined, 2);
  const calls = [gathering.call('first')];
  await turns();
  for (let index = 0; index < 9; index += 1) calls.push(gathering.call(String(index)));
  statements[0]?.end();
  await turns();
  expect(statements.map(({ items }) => items.length)).toEqual([1, 8]);
  statements[1]?.end();
  await turns();
  statements[2]?.end();
  expect(await Promise.all(calls)).toHaveLength(10);
});

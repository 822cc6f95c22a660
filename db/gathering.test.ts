import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Gathering } from './gathering.ts';

/** A gathering whose statements end when told to. */
function held(keysOf?: (item: string) => readonly string[]) {
  const statements: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const gathering = new Gathering<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        statements.push({ items, end: () => resolve(items.map((item) => `${item}!`)), fail: reject });
      }),
    keysOf,
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

test('a call never joins a statement that has started', async () => {
  const { gathering, statements } = held();
  const first = gathering.call('a');
  await turns();
  const second = gathering.call('a');
  await turns();
  expect(statements).toHaveLength(2);
  for (const statement of statements) statement.end();
  expect(await Promise.all([first, second])).toEqual(['a!', 'a!']);
});

test('while two statements are under way the others gather for the next', async () => {
  const { gathering, statements } = held();
  const calls = [gathering.call('a')];
  await turns();
  calls.push(gathering.call('b'));
  await turns();
  calls.push(...['c', 'd', 'e'].map((item) => gathering.call(item)));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['a'], ['b']]);
  statements[0]?.end();
  statements[1]?.end();
  await turns();
  expect(statements.at(-1)?.items).toEqual(['c', 'd', 'e']);
  statements.at(-1)?.end();
  expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
});

test('a statement takes 32 at most', async () => {
  const { gathering, statements } = held();
  const calls = Array.from({ length: 70 }, (_, index) => gathering.call(String(index)));
  for (let round = 0; round < 3; round += 1) {
    await turns();
    for (const statement of statements) statement.end();
  }
  await Promise.all(calls);
  expect(statements.map(({ items }) => items.length)).toEqual([32, 32, 6]);
});

test('calls with a key in common go one after the other, in their order, and nobody overtakes', async () => {
  const { gathering, statements } = held((item) => [...item]);
  const calls = [gathering.call('ab')];
  await turns();
  // bc waits for ab; cd would not, but waits behind bc, and ef passes.
  calls.push(...['bc', 'cd', 'ef'].map((item) => gathering.call(item)));
  await turns();
  expect(statements.map(({ items }) => items)).toEqual([['ab'], ['ef']]);
  statements[0]?.end();
  statements[1]?.end();
  await turns();
  expect(statements.at(-1)?.items).toEqual(['bc', 'cd']);
  statements.at(-1)?.end();
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

test('statements that hang do not hold up those who come later', async () => {
  const { gathering, statements } = held();
  void gathering.call('stuck').catch(() => {});
  await turns();
  void gathering.call('stuck too').catch(() => {});
  await turns();
  const late = gathering.call('late');
  while (statements.length < 3) await sleep(5);
  statements[2]?.end();
  expect(await late).toBe('late!');
});

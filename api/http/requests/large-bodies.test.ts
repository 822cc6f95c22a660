import { expect, test } from 'vitest';
import { LargeBodies } from './large-bodies.ts';

/** Starts handling a body; `end` lets it finish. */
function handling(bodies: LargeBodies, bytes: number, begun: number[], name: number, callerId = 'one') {
  let end = () => {};
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = bodies.inTurn(callerId, bytes, () => {
    begun.push(name);
    return promise;
  });
  return { done, end };
}

test('large bodies are handled a few at a time, in the order of their arrival', async () => {
  const bodies = new LargeBodies({ bytesMax: 400, atOnce: 2 });
  const begun: number[] = [];
  const [first, second, third, fourth] = [1, 2, 3, 4].map((name) => handling(bodies, 10, begun, name));
  expect(begun).toEqual([1, 2]);
  second?.end();
  await second?.done;
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  for (const one of [first, third, fourth]) one?.end();
  await Promise.all([first?.done, third?.done, fourth?.done]);
  expect(begun).toEqual([1, 2, 3, 4]);
});

test('a body beyond the budget is rejected with 429, and a failed one releases its turn and its memory', async () => {
  const bodies = new LargeBodies({ bytesMax: 40, atOnce: 1 });
  const begun: number[] = [];
  const waiting = handling(bodies, 8, begun, 1);
  await expect(bodies.inTurn('one', 3, async () => {})).rejects.toMatchObject({ status: 429 });
  waiting.end();
  await waiting.done;
  await expect(bodies.inTurn('one', 10, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await bodies.inTurn('one', 10, async () => 'handled')).toBe('handled');
});

test('one caller gets a quarter of the budget, and all callers together no more than the whole', async () => {
  const bodies = new LargeBodies({ bytesMax: 40, atOnce: 1 });
  for (const caller of ['one', 'two', 'three', 'four']) {
    expect(bodies.budgetOf(caller).reserve(11)).toBe(false);
    expect(bodies.budgetOf(caller).reserve(10)).toBe(true);
    expect(bodies.budgetOf(caller).reserve(1)).toBe(false);
  }
  expect(bodies.budgetOf('five').reserve(1)).toBe(false);
  bodies.budgetOf('one').release(10);
  expect(bodies.budgetOf('five').reserve(10)).toBe(true);
});

test('a caller with many bodies delays only itself: the others get their turns in between', async () => {
  const bodies = new LargeBodies({ bytesMax: 400, atOnce: 1 });
  const begun: number[] = [];
  const first = [1, 2, 3, 4].map((name) => handling(bodies, 10, begun, name, 'one'));
  const other = [10, 11].map((name) => handling(bodies, 10, begun, name, 'two'));
  for (const { end } of [...first, ...other]) end();
  await Promise.all([...first, ...other].map(({ done }) => done));
  expect(begun).toEqual([1, 2, 10, 3, 11, 4]);
});

import { expect, test } from 'vitest';
import { once, oncePer } from './once.ts';

test('a page is made when it is first asked for, and only then, one for each key', () => {
  const made: string[] = [];
  const start = once(() => made.push('start'));
  const pageOf = oncePer((name: string) => made.push(name));
  expect(made).toEqual([]);
  expect([start(), start(), pageOf('one'), pageOf('other'), pageOf('one')]).toEqual([1, 1, 2, 3, 2]);
  expect(made).toEqual(['start', 'one', 'other']);
});

test('a page that could not be made is tried again', () => {
  let attempts = 0;
  const page = once(() => {
    attempts += 1;
    if (attempts === 1) throw new Error('unreadable');
    return attempts;
  });
  expect(page).toThrow('unreadable');
  expect([page(), page()]).toEqual([2, 2]);
});

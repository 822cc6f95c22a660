import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTimeLimit } from './time-limits.ts';

// What nothing refers to is collected: a time limit must not be among it.

let collecting: NodeJS.Timeout;

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collecting = setInterval(collect, 20);
});

afterAll(() => clearInterval(collecting));

/** As a call would wait. */
function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

test('the time ends also if garbage is collected meanwhile, and says that it was the time', async () => {
  const limit = startTimeLimit(200, new AbortController().signal);
  await ended(limit.signal);
  expect(limit.isOver()).toBe(true);
});

test('a caller who ends it, before or after it began, is not taken for the time', async () => {
  expect(startTimeLimit(60_000, AbortSignal.abort()).signal.aborted).toBe(true);
  const caller = new AbortController();
  const limit = startTimeLimit(60_000, caller.signal);
  const end = ended(limit.signal);
  caller.abort();
  await end;
  expect(limit.isOver()).toBe(false);
  limit.release();
});

test('what is released never ends', () => {
  const caller = new AbortController();
  const limit = startTimeLimit(60_000, caller.signal);
  limit.release();
  caller.abort();
  expect(limit.signal.aborted).toBe(false);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSteps } from './start-steps.ts';

function steps(isTTY: boolean) {
  let text = '';
  const output = { isTTY, write: (more: string) => (text += more) };
  return { written: () => text, shown: startSteps(output) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a start has a bar on a terminal, below what it says', async () => {
  const { written, shown } = steps(true);
  shown.begin(2);
  shown.say('Starting Postgres …');
  await shown.step(Promise.resolve());
  vi.advanceTimersByTime(1_000);
  shown.say('Starting Temporal …');
  vi.advanceTimersByTime(100);
  const half = '\r\u001b[KStarting [############------------] 1 of 2';
  expect(written()).toBe(`\r\u001b[KStarting Postgres …\n${half}\r\u001b[KStarting Temporal …\n${half}`);
  await shown.step(Promise.resolve());
  shown.end();
  shown.end();
  shown.say('Ready');
  expect(written()).toMatch(/\[#{24}\] 2 of 2\nReady\n$/);
});

test('a step that fails is not done', async () => {
  const { written, shown } = steps(true);
  shown.begin(2);
  await expect(shown.step(Promise.reject(new Error('no')))).rejects.toThrow('no');
  vi.advanceTimersByTime(1_000);
  shown.end();
  expect(written()).toContain('0 of 2');
});

test('elsewhere it has its lines, as they are', () => {
  const { written, shown } = steps(false);
  shown.begin(2);
  shown.say('Starting Postgres …');
  vi.advanceTimersByTime(60_000);
  shown.end();
  expect(written()).toBe('Starting Postgres …\n');
});

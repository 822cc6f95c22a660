import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, vi } from 'vitest';

/**
 * Files of tests follow one another in a process: each ends what it has started, and leaves the process as it was, or the next ones
 * would not show what they say.
 */
let before: ReturnType<typeof stateOfProcess>;

function stateOfProcess() {
  const listening = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length;
  return { environment: { ...process.env }, directory: process.cwd(), hasOwnClock: vi.isFakeTimers(), listening };
}

beforeAll(() => {
  before = stateOfProcess();
});

afterAll(async () => {
  // A server that was closed just now is gone a little later.
  for (let looks = 0; looks < 1_200 && stateOfProcess().listening > before.listening; looks += 1) await sleep(50);
  expect(stateOfProcess(), 'what this file leaves to the next').toEqual(before);
});

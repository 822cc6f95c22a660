import { expect, test } from 'vitest';
import { latestFeeSweepDay } from './fee-sweeps.ts';

test.each([
  ['2026-03-01T23:44:59.999Z', '23:45', '2026-02-28'],
  ['2026-03-01T23:45:00.000Z', '23:45', '2026-03-01'],
  ['2026-03-02T00:10:00.000Z', '23:45', '2026-03-01'],
  ['2026-03-02T00:00:00.000Z', '00:00', '2026-03-02'],
])('at %s, with sweeps at %s, it is the day %s', (now, time, day) => {
  expect(latestFeeSweepDay(new Date(now), time)).toBe(day);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loopMetrics } from './metrics.ts';
import { pollingLoop } from './polling.ts';

const WARNING_INTERVAL_MS = 100;

/** A loop that fails while it is set to, and what it logs. */
function failingLoop(name: string) {
  const lines: { level: number; failures: number; msg: string }[] = [];
  let fails = true;
  const loop = pollingLoop({
    name,
    intervalMs: 1,
    warningIntervalMs: WARNING_INTERVAL_MS,
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    poll: async () => {
      if (fails) throw new Error('no');
      return false;
    },
  });
  const recover = () => {
    fails = false;
  };
  return { loop, lines, recover };
}

async function lastSuccessMs(name: string): Promise<number> {
  const text = await loopMetrics.getSingleMetricAsString('loop_last_success_timestamp_seconds');
  return Number(new RegExp(`\\{loop="${name}"\\} (\\S+)`).exec(text)?.[1]) * 1_000;
}

async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

test('a loop that keeps failing warns again and again, but not at each failure, and then of its recovery', async () => {
  const { loop, lines, recover } = failingLoop('failing');
  loop.start();
  await eventually(() => lines.length >= 4);
  recover();
  await eventually(() => lines.at(-1)?.msg === 'background loop has recovered');
  await loop.stop();
  const failures = lines.slice(0, -1).map((line) => line.failures);
  expect(failures[0]).toBe(1);
  // One interval is long enough for several attempts.
  expect(failures[1]).toBeGreaterThan(1);
  expect(failures).toEqual([...new Set(failures)].sort((one, other) => one - other));
});

test('the last success of a loop does not change while it fails, from its start on, and moves once it has recovered', async () => {
  const startedMs = Date.now();
  const { loop, lines, recover } = failingLoop('measured');
  loop.start();
  const atStart = await lastSuccessMs('measured');
  expect(atStart).toBeGreaterThanOrEqual(startedMs);
  await eventually(() => lines.length >= 2);
  expect(await lastSuccessMs('measured')).toBe(atStart);
  recover();
  await eventually(() => lines.at(-1)?.msg === 'background loop has recovered');
  await loop.stop();
  expect(await lastSuccessMs('measured')).toBeGreaterThan(atStart + WARNING_INTERVAL_MS);
});

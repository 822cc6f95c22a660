import { expect, test } from 'vitest';
import { seedOr } from '../harness/random.ts';
import { rollingUpgrade } from '../harness/servers/releases/rolling-upgrade.ts';

const SEED = seedOr(20_261_126);

/** `npm run proof -- --upgrade` takes longer over it. */
test('a rolling upgrade to the next release and back under load fails no request and no payment, and loses and doubles nothing', async () => {
  const lines: string[] = [];
  const result = await rollingUpgrade({
    seed: SEED,
    callers: 3,
    thinkMs: 400,
    stayMs: 3_000,
    settleMs: 120_000,
    say: (line) => lines.push(line),
  }).finally(() => console.log(lines.join('\n')));
  console.log(JSON.stringify({ ...result, phases: undefined }));
  expect(result.problems).toEqual([]);
  expect(result.phases.map(({ name, failed }) => ({ name, failed })).filter(({ failed }) => failed > 0)).toEqual([]);
  expect(result).toMatchObject({ failedPayments: [], failedTasks: [], settledAfterSeconds: expect.any(Number) });
  // Each release went on with what the other began.
  const carriers = Object.keys(result.carriers).join('; ');
  expect(carriers).toMatch(/1\.0\.0, 1\.1\.0/);
  expect(carriers).toMatch(/1\.1\.0, 1\.0\.0/);
  expect(result.figures.acknowledged).toBeGreaterThan(50);
});

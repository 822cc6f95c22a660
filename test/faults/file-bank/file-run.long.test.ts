import { afterAll, expect, test } from 'vitest';
import { fileRun } from '../../harness/bank-files/run/run.ts';
import type { CrashRunResult } from '../../harness/faults/crash-run.ts';
import { seedOr } from '../../harness/random.ts';
import { KINDS_WITH_LOOPS } from '../../harness/servers/service-process.ts';

// `npm run proof -- --files 10000` shows the same at length.

const SEED = seedOr(20_261_126);
const lines: string[] = [];
let result: CrashRunResult | null = null;

test('payments by file lose and double nothing while each process, the SFTP connection and the bank fail, and both books are equal', async () => {
  console.log(`payments by file, seed ${SEED}`);
  result = await fileRun({
    seed: SEED,
    callers: 4,
    thinkMs: 200,
    everything: false,
    settleMs: 400_000,
    temporalAwayMs: 0,
    killsEach: 1,
    fileFaults: 4,
    betweenMs: { minimum: 300, maximum: 1_000 },
    say: (line) => lines.push(line),
  });
  const { problems, settledAfterMs, faults, figures, further } = result;
  expect(problems).toEqual([]);
  expect(settledAfterMs).not.toBeNull();
  for (const kind of KINDS_WITH_LOOPS) expect(faults.kills[kind]).toBe(1);
  expect(further.completed).toBeGreaterThan(20);
  expect(further.sent).toBeGreaterThan(1);
  expect(further.taken).toBeGreaterThan(5);
  expect(Object.keys(faults.done).filter((name) => name.startsWith('files: ')).length).toBeGreaterThan(0);
  expect(figures.hung).toBe(0);
});

afterAll(() => {
  if (result === null || result.problems.length > 0) console.log(lines.join('\n'));
  const { problems: _problems, ...figures } = result ?? { problems: [] };
  console.log(JSON.stringify(figures));
});

import { afterAll, describe, expect, test } from 'vitest';
import { type CrashRunResult, crashRun } from '../harness/faults/crash-run.ts';
import { seedOr } from '../harness/random.ts';
import { PROCESS_KINDS } from '../harness/servers/whole-service.ts';

/** `SEED=… npx vitest run test/faults/crash.test.ts` repeats a run, as far as the machine's own timing allows. */
const SEED = seedOr(20_261_121);
const KILLS_EACH = 5;
const TEST_TIMEOUT_MS = 1_200_000;

const lines: string[] = [];
let result: CrashRunResult | null = null;

function run(): CrashRunResult {
  if (result === null) throw new Error('the run did not end');
  return result;
}

describe('the whole service, killed part by part under load', () => {
  test(
    'comes to its end',
    async () => {
      console.log(`crash test, seed ${SEED}`);
      result = await crashRun({
        seed: SEED,
        callers: 5,
        thinkMs: 200,
        everything: false,
        settleMs: 400_000,
        temporalAwayMs: 20_000,
        say: (line) => lines.push(line),
        plan: {
          killsEach: KILLS_EACH,
          sessions: 4,
          pauses: 3,
          receiverOutages: 2,
          bankFaults: 3,
          links: 3,
          betweenMs: { minimum: 500, maximum: 2_000 },
        },
      });
      expect(result.settledAfterMs).not.toBeNull();
    },
    TEST_TIMEOUT_MS,
  );

  test('was killed as often as meant, while transfers ran', () => {
    const { faults, figures } = run();
    for (const kind of PROCESS_KINDS) expect(faults.kills[kind]).toBeGreaterThanOrEqual(KILLS_EACH);
    expect(figures.acknowledged).toBeGreaterThan(200);
    expect(figures.paymentsIn).toBeGreaterThan(20);
  });

  test('answered every request, or broke its connection', () => {
    expect(run().figures.hung).toBe(0);
  });

  test('loses nothing, does nothing twice, delivers every event, and agrees with the bank', () => {
    expect(run().problems).toEqual([]);
  });

  test('shows no wrong total to a reader at any time', () => {
    expect(run().snapshots).toBeGreaterThan(200);
  });

  test('takes every POST while Temporal is away', () => {
    const { temporalAway } = run();
    expect(temporalAway.acknowledged).toBeGreaterThan(10);
    expect(temporalAway.failed).toBe(0);
  });
});

afterAll(() => {
  if (result === null || result.problems.length > 0) console.log(lines.join('\n'));
  const { problems: _problems, ...figures } = result ?? { problems: [] };
  console.log(JSON.stringify(figures));
});

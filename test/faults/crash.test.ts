import { afterAll, describe, expect, test } from 'vitest';
import { type CrashRunResult, crashRun } from '../harness/faults/crash-run.ts';
import { seedOr } from '../harness/random.ts';
import { PROCESS_KINDS } from '../harness/servers/service-process.ts';
import { shortOrLong } from '../tools/run/length.ts';

/** `SEED=… npx vitest run test/faults/crash.test.ts` repeats a run, as far as the machine's own timing allows. */
const SEED = seedOr(20_261_121);
const SEEDS = shortOrLong([SEED], [SEED, SEED + 1, SEED + 2]);
const KILLS_EACH = shortOrLong(1, 5);
const OTHER_FAULTS = shortOrLong(
  { sessions: 1, pauses: 1, receiverOutages: 1, bankFaults: 1, links: 1 },
  { sessions: 4, pauses: 3, receiverOutages: 2, bankFaults: 3, links: 3 },
);
const TEMPORAL_AWAY_MS = shortOrLong(8_000, 20_000);
/** A load that has nothing to lose shows nothing. */
const LEAST = shortOrLong(
  { acknowledged: 50, paymentsIn: 5, snapshots: 50, whileTemporalIsAway: 3 },
  { acknowledged: 200, paymentsIn: 20, snapshots: 200, whileTemporalIsAway: 10 },
);
const TEST_TIMEOUT_MS = 1_200_000;

describe.each(SEEDS)('the whole service, killed part by part under load, seed %i', (seed) => {
  const lines: string[] = [];
  let result: CrashRunResult | null = null;

  function run(): CrashRunResult {
    if (result === null) throw new Error('the run did not end');
    return result;
  }

  test(
    'comes to its end',
    async () => {
      console.log(`crash test, seed ${seed}`);
      result = await crashRun({
        seed,
        callers: 5,
        thinkMs: 200,
        everything: false,
        settleMs: 400_000,
        temporalAwayMs: TEMPORAL_AWAY_MS,
        say: (line) => lines.push(line),
        plan: { killsEach: KILLS_EACH, ...OTHER_FAULTS, betweenMs: { minimum: 500, maximum: 2_000 } },
      });
      expect(result.settledAfterMs).not.toBeNull();
    },
    TEST_TIMEOUT_MS,
  );

  test('was killed as often as planned, while transfers ran', () => {
    const { faults, figures } = run();
    for (const kind of PROCESS_KINDS) expect(faults.kills[kind]).toBeGreaterThanOrEqual(KILLS_EACH);
    expect(figures.acknowledged).toBeGreaterThan(LEAST.acknowledged);
    expect(figures.paymentsIn).toBeGreaterThan(LEAST.paymentsIn);
  });

  test('answered every request, or broke its connection', () => {
    expect(run().figures.hung).toBe(0);
  });

  test('loses nothing, does nothing twice, delivers every event, and agrees with the bank', () => {
    expect(run().problems).toEqual([]);
  });

  test('shows no wrong total to a reader at any time', () => {
    expect(run().snapshots).toBeGreaterThan(LEAST.snapshots);
  });

  test('takes every POST while Temporal is away', () => {
    const { temporalAway } = run();
    expect(temporalAway.acknowledged).toBeGreaterThan(LEAST.whileTemporalIsAway);
    expect(temporalAway.failed).toBe(0);
  });

  afterAll(() => {
    if (result === null || result.problems.length > 0) console.log(lines.join('\n'));
    const { problems: _problems, ...figures } = result ?? { problems: [] };
    console.log(JSON.stringify(figures));
  });
});

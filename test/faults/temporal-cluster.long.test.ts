import { expect, test } from 'vitest';
import { seedOr } from '../harness/random.ts';
import { clusterRun, tableOf } from '../proof/cluster.ts';

const SEED = seedOr(20_261_126);
const TEST_TIMEOUT_MS = 600_000;

test(
  'payments through a Temporal cluster: a history and a matching process are killed under load, and nothing is lost, doubled or left waiting',
  async () => {
    const lines: string[] = [];
    const result = await clusterRun({
      seed: SEED,
      payments: 40,
      parts: ['one of two history processes killed', 'one of two matching processes killed'],
      say: (line) => lines.push(line),
    });
    console.log([...tableOf(result), ...(result.problems.length === 0 ? [] : lines)].join('\n'));
    expect(result.problems).toEqual([]);
    expect(result.settledAfterMs).not.toBeNull();
  },
  TEST_TIMEOUT_MS,
);

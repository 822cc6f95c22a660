import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOr } from '../../harness/random.ts';
import { type FailoverResult, failoverRun } from './failover-run.ts';
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts';

// One failover, promoted by hand. `npm run proof -- --failovers 10` lets Patroni do it, and brings the killed server back.

const SEED = seedOr(20_261_126);
let pair: PostgresPair;
let result: FailoverResult;

beforeAll(async () => {
  pair = await startPostgresPair();
  await pair.makeSynchronous();
});

afterAll(async () => {
  await pair?.close();
});

test('a primary killed under load loses and doubles nothing: the synchronous standby is promoted, and all books agree', async () => {
  console.log(`failover, seed ${SEED}`);
  result = await failoverRun({
    postgres: {
      url: pair.url,
      ownerUrl: pair.ownerUrl,
      killPrimary: async () => {
        await pair.killPrimary();
        await pair.promoteStandby();
      },
      // One failover needs no server after it.
      bringBack: async () => {},
    },
    ...{ seed: SEED, deaths: ['postgres'], processesEach: 1, callers: 4, transfersBefore: 30, settleMs: 240_000 },
  });
  console.log(JSON.stringify(result));
  expect(result.problems).toEqual([]);
  expect(result.rounds).toMatchObject([{ lost: 0, doubled: 0 }]);
  expect(result.acknowledged).toBeGreaterThan(60);
});

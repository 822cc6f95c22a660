import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOr } from '../harness/random.ts';
import { casesWithTwoFaults, expectedRefusal, stageIds } from '../harness/transfers/transfer-cases.ts';
import {
  countSettledByStatement,
  differencesIn,
  type ParityService,
  randomDifferences,
  startParityService,
} from '../harness/transfers/transfer-parity.ts';

/** `.ci/run` covers 100,000, `npm run proof` a million. */
const CASES = Number(process.env.PARITY_CASES ?? 3_000);
const TIMEOUT_MS = 60_000 + CASES * 60;

let service: ParityService;

beforeAll(async () => {
  service = await startParityService();
});

afterAll(() => service.stop());

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(
  `a request has one outcome by whichever way it goes: ${CASES} cases from seed ${seed}`,
  async () => {
    const differences = await randomDifferences(service, seed, CASES);
    expect(differences.slice(0, 20), `${differences.length} differences`).toEqual([]);
    expect(await countSettledByStatement(service)).toBeGreaterThan(CASES / 50);
  },
  TIMEOUT_MS,
);

test('of any two things that are wrong with a request the one that comes first in the order is answered, on every way and as a dry run', async () => {
  const pairs = (['internal', 'external'] as const).flatMap((scope) => casesWithTwoFaults(scope));
  expect(pairs.length).toBe(230);
  const cases = pairs.map(({ case: of }) => of);
  const differences = await differencesIn(service, cases, (index) => pairs[index]?.faults ?? '', 1);
  expect(differences.slice(0, 20), `${differences.length} differences`).toEqual([]);
  const refusals = new Set(cases.map((of) => expectedRefusal(stageIds(of))?.code ?? 'accepted'));
  expect([...refusals].sort()).toEqual(EVERY_REFUSAL);
});

const EVERY_REFUSAL = [
  'account.balance.insufficient',
  'account.client.mismatch',
  'account.currency.mismatch',
  'account.status.not_active',
  'beneficiary.bank_account.not_active',
  'client.status.not_active',
  'common.coding.internal.record_not_found',
  'common.validation.field_required',
  'transfer.amount.limit_exceeded',
  'transfer.attribute.invalid',
  'transfer.client.mismatch',
  'transfer.date.invalid',
  'transfer.scheme.unavailable',
];

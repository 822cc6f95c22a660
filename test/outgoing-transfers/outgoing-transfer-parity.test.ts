import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOr } from '../harness/random.ts';
import { casesWithTwoFaults, expectedRejection, stageIds } from '../harness/transfers/transfer-cases.ts';
import {
  countSettledByStatement,
  differencesIn,
  type ParityService,
  randomDifferences,
  startParityService,
} from '../harness/transfers/transfer-parity.ts';
import { shortOrLong } from '../tools/run/length.ts';

/** `npm run proof` covers a million. */
const CASES = Number(process.env.PARITY_CASES ?? shortOrLong(1_000, 100_000));
/** Against hanging only: on a quiet machine a case takes some ten milliseconds. */
const TIMEOUT_MS = 600_000 + CASES * 60;

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
    expect(await countSettledByStatement(service)).toBeGreaterThan(CASES / 200);
  },
  TIMEOUT_MS,
);

test('of any two faults of a request, the answer names the one that comes first in the order, on every path and as a dry run', async () => {
  const pairs = (['internal', 'external'] as const).flatMap((scope) => casesWithTwoFaults(scope));
  expect(pairs.length).toBe(230);
  const cases = pairs.map(({ case: of }) => of);
  const differences = await differencesIn(service, cases, (index) => pairs[index]?.faults ?? '', 1);
  expect(differences.slice(0, 20), `${differences.length} differences`).toEqual([]);
  const rejections = new Set(cases.map((of) => expectedRejection(stageIds(of))?.code ?? 'accepted'));
  expect([...rejections].sort()).toEqual(EVERY_REJECTION);
});

const EVERY_REJECTION = [
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

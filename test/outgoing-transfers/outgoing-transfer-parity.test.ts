import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLedger } from '../../db/ledger/check.ts';
import { type Called, startApi, type TestApi } from '../harness/api.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { type Outcome, observe, stageAll, withoutFastPaths } from '../harness/transfers/staged-transfers.ts';
import {
  casesWithTwoFaults,
  drawCase,
  expectedRefusal,
  NOON,
  requestOf,
  type Staged,
  stageIds,
  TODAY,
} from '../harness/transfers/transfer-cases.ts';

// One request has one outcome, whichever way it takes: settled by one statement in SQL or decided under locks in TypeScript, created
// without locks or under them, for now or with today's date, alone or with others of its moment, or as a dry run.

/** `PARITY_CASES=100000` covers more than a full test run has time for. */
const CASES = Number(process.env.PARITY_CASES ?? 1_500);
const BATCH = 60;

let database: TestDatabase;
let fast: TestApi;
let underLocks: TestApi;
let dropRole: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase('transfer-parity');
  const aheadMs = Date.parse(NOON) - Date.now();
  const options = {
    // Both clocks: where their days differ, every transfer is decided under locks.
    clockOffset: () => `${aheadMs} milliseconds`,
    now: () => new Date(Date.now() + aheadMs),
    configuration: (configuration: TestApi['services']['configuration']) => ({ ...configuration, prices: [] }),
  };
  fast = await startApi(database, options);
  const slow = await withoutFastPaths(fast, database.url);
  dropRole = slow.drop;
  underLocks = await startApi({ ...database, url: slow.url }, { ...options, users: fast.users });
});

afterAll(async () => {
  await underLocks.stop();
  await dropRole();
  await fast.stop();
  await database.drop();
});

type Way = 'together' | 'alone' | 'under locks' | "with today's date" | 'dry run';

async function send(way: Way, staged: readonly Staged[]): Promise<readonly Called[]> {
  const api = way === 'under locks' ? underLocks : fast;
  const change = way === "with today's date" ? { transferDate: TODAY } : {};
  const workflow = way === 'dry run' ? { dryRun: true } : {};
  const one = (of: Staged) => api.call('POST', '/outgoing-transfers', requestOf(of, change, workflow), { key: of.key });
  if (way !== 'alone') return Promise.all(staged.map(one));
  const answers: Called[] = [];
  for (const of of staged) answers.push(await one(of));
  return answers;
}

/** The ways that lead to the same place: today's date is the one that an internal transfer without a date gets. */
function waysOf({ case: of }: Staged): readonly Way[] {
  const dated = of.scope === 'internal' && of.transferDate === null;
  return ['together', 'alone', 'under locks', ...(dated ? (["with today's date"] as const) : []), 'dry run'];
}

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(`a request has one outcome by whichever way it goes: ${CASES} cases from seed ${seed}`, async () => {
  const random = randomFrom(seed);
  const seen = new Set<string>();
  const differences: string[] = [];
  for (let done = 0; done < CASES; done += BATCH) {
    const cases = Array.from({ length: Math.min(BATCH, CASES - done) }, () => drawCase(random));
    for (const [index, compared] of (await outcomesByWay(cases.map(stageIds))).entries()) {
      differences.push(...differencesOf(compared, `seed ${seed}, case ${done + index}`));
      seen.add(refusalOf(compared.first)?.code ?? 'accepted');
    }
  }
  expect(differences.slice(0, 20), `${differences.length} differences`).toEqual([]);
  expect(await checkLedger(fast.database.reader)).toEqual([]);
  expect(seen).toContain('accepted');
  expect(await countSettledByStatement()).toBeGreaterThan(CASES / 50);
});

/** Transfers that the one statement settled: its events are constant texts, without the fields that a decision in TypeScript repeats. */
async function countSettledByStatement(): Promise<number> {
  const [row] = await fast.database.statement<{ count: number }>(
    `SELECT count(*)::integer AS count FROM events
      WHERE module = 'outgoing-transfers' AND NOT (entries::jsonb -> 0 -> 'data') ? 'rollCount'`,
    [],
  );
  return row?.count ?? 0;
}

test('of any two things that are wrong with a request the one that comes first in the order is answered, on every way', async () => {
  const pairs = (['internal', 'external'] as const).flatMap((scope) => casesWithTwoFaults(scope));
  expect(pairs.length).toBeGreaterThan(120);
  const differences: string[] = [];
  const refusals = new Set<string>();
  for (let from = 0; from < pairs.length; from += BATCH) {
    const batch = pairs.slice(from, from + BATCH);
    for (const [index, compared] of (await outcomesByWay(batch.map(({ case: of }) => stageIds(of)))).entries()) {
      differences.push(...differencesOf(compared, batch[index]?.faults ?? ''));
      refusals.add(refusalOf(compared.first)?.code ?? 'accepted');
    }
  }
  expect(differences.slice(0, 20), `${differences.length} differences`).toEqual([]);
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
  'transfer.client.mismatch',
  'transfer.date.invalid',
  'transfer.scheme.unavailable',
];

/** Disagreements between the paths, or with the rules. */
function differencesOf({ staged, first, others }: Compared, where: string): string[] {
  const differences: string[] = [];
  const compare = (way: string, actual: unknown, expected: unknown) => {
    if (isDeepStrictEqual(actual, expected)) return;
    differences.push(`${way}: ${differenceOf(actual, expected)}; ${where}: ${JSON.stringify(staged.case)}`);
  };
  compare('by the rules', refusalOf(first), expectedRefusalNamed(staged));
  for (const [way, outcome] of others) {
    if (way === 'dry run') compare(way, planned(outcome), planned(first));
    else compare(way, outcome, first);
  }
  return differences;
}

interface Compared {
  readonly staged: Staged;
  readonly first: Outcome;
  readonly others: readonly (readonly [Way, Outcome])[];
}

async function outcomesByWay(firsts: readonly Staged[]): Promise<readonly Compared[]> {
  const compared = firsts.map((staged) => ({ staged, outcomes: new Map<Way, Outcome>() }));
  for (const way of ['together', 'alone', 'under locks', "with today's date", 'dry run'] as const) {
    const taking = compared.filter(({ staged }) => waysOf(staged).includes(way));
    // Each path has its own accounts, in the same situation.
    const staged = taking.map((one) => (way === 'together' ? one.staged : stageIds(one.staged.case)));
    await stageAll(fast, staged);
    const outcomes = await observe(fast, staged, await send(way, staged));
    for (const [index, outcome] of outcomes.entries()) taking[index]?.outcomes.set(way, outcome);
  }
  return compared.map(({ staged, outcomes }) => {
    const [first, ...others] = outcomes;
    if (first === undefined) throw new Error('every case goes some way');
    return { staged, first: first[1], others };
  });
}

/** Where two values begin to differ, as JSON. */
function differenceOf(actual: unknown, expected: unknown): string {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 80);
  return `${one.slice(from, at + 160)} instead of ${other.slice(from, at + 160)}`;
}

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly field: string;
  readonly value: string;
}

function refusalOf({ answer: [status, text] }: Outcome): Refused | null {
  if (status < 400) return null;
  const { code, messageParameters, errors } = JSON.parse(text);
  const [entity, field, value] = messageParameters;
  expect([entity, errors]).toEqual(['outgoingTransfer', undefined]);
  return { status, code, field, value };
}

function expectedRefusalNamed(staged: Staged): Refused | null {
  const expected = expectedRefusal(staged);
  if (expected === null) return null;
  const name = Object.entries(staged).find(([, value]) => value === expected.value)?.[0] ?? expected.value;
  return { ...expected, value: name };
}

const OF_EXISTING_ALONE = new Set([
  'id',
  'transactionNumber',
  'status',
  'statusReason',
  'returned',
  'incomingTransferId',
  'serviceProviderId',
  'serviceProviderReference',
  'requirementConfiguration',
]);

/**
 * A dry run gets the creation's refusal, or the transfer without fields that need an existing one, and leaves no
 * trace.
 */
function planned(outcome: Outcome): unknown {
  const refused = refusalOf(outcome);
  if (refused !== null) return outcome.answer;
  const transfer: Record<string, unknown> = JSON.parse(outcome.answer[1]).data.outgoingTransfer;
  return Object.fromEntries(Object.entries(transfer).filter(([name]) => !OF_EXISTING_ALONE.has(name)));
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Transaction, uniqueViolation } from '../../db/driver/client.ts';
import {
  insertRow,
  insertRowOnce,
  sendDeletion,
  sendInsertion,
  sendUpdate,
  updateRow,
} from '../../db/driver/queries/rows.ts';
import { newId } from '../../db/frame/ids.ts';
import {
  BY_NOTE,
  createSharedRows,
  FIND,
  LOCK,
  letOthers,
  lockRow,
  numbers,
  rows,
  SHARE,
  type SharedRows,
} from '../harness/frame/shared-rows.ts';
import { type Random, randomFrom, seedOr } from '../harness/random.ts';

// Random works at once against a model: the rows are what the works that succeeded say, each once, and nothing else.

const COUNTERS = 5;
const NOTES = 6;
const START = 20n;
const WORKS = 80;
const ROUNDS = 4;

const POINTS = ['at once', 'under locks', 'at the end'] as const;

/** What one work will do; all its runs do the same. */
interface Plan {
  readonly number: number;
  readonly shares: boolean;
  /** Distinct counters in one order, so that no two works wait for each other. */
  readonly counters: readonly {
    readonly index: number;
    readonly how: 'watch' | 'send' | 'await';
    readonly amount: bigint;
  }[];
  readonly note: { readonly how: 'insert' | 'insert once' | 'erase' | 'none'; readonly text: string };
  readonly pauses: number;
  /** Whether it writes only what it has decided by all of its locks and reads, as shared works do. */
  readonly readsFirst: boolean;
  readonly refusesAt: (typeof POINTS)[number] | null;
}

interface Effect {
  readonly isShared: boolean;
  readonly made: string | null;
  readonly erased: string | null;
}

class Refused extends Error {
  readonly number: number;

  constructor(number: number) {
    super(`work ${number} refuses`);
    this.number = number;
  }
}

let world: SharedRows;

beforeAll(async () => {
  world = await createSharedRows('shared-transactions-model');
});

afterAll(() => world?.close());

function planOf(random: Random, number: number): Plan {
  const counters = numbers(COUNTERS).flatMap((index) => {
    const how = random.weighted({ none: 6, watch: 1, send: 2, await: 1 });
    return how === 'none' ? [] : [{ index, how, amount: BigInt(random.whole(-6, 6)) }];
  });
  return {
    number,
    shares: random.chance(0.85),
    counters,
    note: {
      how: random.weighted({ none: 6, insert: 1, 'insert once': 2, erase: 2 }),
      text: `note ${random.whole(1, NOTES)}`,
    },
    pauses: random.whole(0, 2),
    readsFirst: random.chance(0.8),
    refusesAt: random.chance(0.2) ? random.pick(POINTS) : null,
  };
}

/** Refuses as planned, and whenever a counter would fall below zero. */
async function perform(tx: Transaction, plan: Plan, ids: readonly string[]): Promise<Effect> {
  const { number, counters, note, pauses, readsFirst, refusesAt } = plan;
  const reach = (point: (typeof POINTS)[number]) => {
    if (refusesAt === point) throw new Refused(number);
  };
  const decided: (() => Promise<unknown>)[] = [];
  reach('at once');
  for (const { index, how, amount } of counters) {
    const row = await lockRow(tx, ids[index] ?? '', how === 'watch' ? SHARE : LOCK);
    await letOthers(tx, pauses);
    expect(await tx.find(FIND, row.id)).toEqual(row);
    if (how === 'watch') continue;
    const value = row.value + amount;
    if (value < 0n) throw new Refused(number);
    const write = async () =>
      how === 'send' ? sendUpdate(tx, rows, row, { value }) : updateRow(tx, rows, row.id, { value });
    if (readsFirst) decided.push(write);
    else await write();
  }
  const found = note.how === 'erase' ? await tx.first(BY_NOTE, { note: note.text }) : null;
  const erased = found && (await tx.lock(LOCK, found.id));
  reach('under locks');
  for (const write of decided) await write();
  if (erased !== null) sendDeletion(tx, rows, erased.id);
  const made = await insertNote(tx, plan);
  // The work's mark: exactly one if it succeeds.
  sendInsertion(tx, rows, { id: newId(), value: BigInt(number) });
  reach('at the end');
  return { isShared: tx.isShared, made, erased: erased?.id ?? null };
}

async function insertNote(tx: Transaction, { number, note: { how, text } }: Plan): Promise<string | null> {
  const row = { id: newId(), value: BigInt(number), note: text };
  if (how === 'insert') return (await insertRow(tx, rows, row)).id;
  return how === 'insert once' ? ((await insertRowOnce(tx, rows, row))?.id ?? null) : null;
}

/** Null for a work that failed, and by its own fault. */
async function attempt(plan: Plan, ids: readonly string[]): Promise<Effect | null> {
  try {
    return await world.database.transaction((tx) => perform(tx, plan, ids), { shares: plan.shares });
  } catch (error) {
    if (error instanceof Refused) expect(error.number).toBe(plan.number);
    else expect([plan.note.how, uniqueViolation(error)], String(error)).toEqual(['insert', 'shared_rows_note']);
    return null;
  }
}

const seeds = new Set([20_270_101, seedOr(1 + Math.floor(Math.random() * 1e9))]);

test.each([...seeds])('the rows are what the works that succeeded did, each once (SEED=%i)', async (seed) => {
  const random = randomFrom(seed);
  await world.database.statement('delete from shared_rows', []);
  const ids = await Promise.all(numbers(COUNTERS).map((index) => world.insert(START, `counter ${index}`)));
  const done: { readonly plan: Plan; readonly effect: Effect | null }[] = [];
  for (const round of numbers(ROUNDS)) {
    const attempts: Promise<unknown>[] = [];
    for (const index of numbers(WORKS)) {
      const plan = planOf(random, round * WORKS + index);
      attempts.push(attempt(plan, ids).then((effect) => done.push({ plan, effect })));
      if (random.chance(0.2)) await nextTurn();
    }
    await Promise.all(attempts);
  }

  const successes = done.flatMap(({ plan, effect }) => (effect === null ? [] : [{ plan, effect }]));
  const added = numbers(COUNTERS).map((counter) =>
    successes
      .flatMap(({ plan }) => plan.counters)
      .filter(({ index, how }) => index === counter && how !== 'watch')
      .reduce((sum, { amount }) => sum + amount, START),
  );
  expect(await world.readAll(ids)).toEqual(added);
  const stored = await world.database.statement<{ id: string; value: bigint; note: string | null }>(
    `select id, value, note from shared_rows where note is null or note like 'note %' order by value`,
    [],
  );
  const marks = stored.filter(({ note }) => note === null).map(({ value }) => Number(value));
  expect(marks).toEqual(successes.map(({ plan }) => plan.number).sort((one, other) => one - other));
  const erased = new Set(successes.map(({ effect }) => effect.erased));
  const left = successes.flatMap(({ effect: { made } }) => (made === null || erased.has(made) ? [] : [made]));
  expect(stored.flatMap(({ id, note }) => (note === null ? [] : [id])).sort()).toEqual(left.sort());
  // Not all by one way, or the test would be about less than it says.
  const planned = done.filter(({ plan }) => plan.shares);
  for (const how of [true, false]) {
    expect(planned.filter(({ effect }) => effect?.isShared === how).length).toBeGreaterThan(10);
  }
  expect(done.length - successes.length).toBeGreaterThan(10);
  expect(erased.size).toBeGreaterThan(1);
});

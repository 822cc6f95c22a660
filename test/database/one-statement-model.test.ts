import { setTimeout as sleep } from 'node:timers/promises';
import { like } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/common/ids.ts';
import type { Transaction } from '../../db/query/database.ts';
import { type Given, prepared } from '../../db/query/queries.ts';
import { sendInsertion, sendUpdate } from '../../db/query/rows.ts';
import {
  createTestRows,
  LOCK,
  lockRow,
  numbers,
  rows,
  SHARE,
  type TestRows,
  write,
} from '../harness/http/test-rows.ts';
import { type Random, randomFrom, seedOr } from '../harness/random.ts';

// Random writes at once over a few rows. Those that are done must be explained by some order in which one ran after another,
// and leave exactly the rows of that order; those that are not done must leave nothing.

const ROUNDS = 12;
const SETS = 40;
const PARTS_MAX = 8;
/** A row's value is its version times this, and its amount, which a CHECK limits. */
const VERSION = 1_000n;
const AMOUNT_MAX = 300n;

/** What a set did: the versions that it found, and how many parts it found where it added one. */
interface Done {
  readonly id: string;
  readonly found: ReadonlyMap<string, { readonly version: bigint; readonly adds: bigint | null }>;
  readonly parts: { readonly of: string; readonly found: number } | null;
  readonly name: string | null;
}

interface Planned {
  readonly changes: ReadonlyMap<string, bigint>;
  readonly shares: string | null;
  readonly partOf: string | null;
  readonly name: string | null;
  /** Between what it reads and what it writes. */
  readonly pauseMs: number;
  readonly way: 'one statement' | 'a transaction' | 'as the routes';
}

const PARTS = prepared((db, given: Given<{ prefix: string }>) =>
  db.select({ id: rows.id }).from(rows).where(like(rows.note, given.prefix)),
);

let world: TestRows;

beforeAll(async () => {
  world = await createTestRows('one-statement-model');
  await world.testDatabase.asOwner(
    `alter table test_rows add constraint test_rows_amount check (value % ${VERSION} <= ${AMOUNT_MAX})`,
  );
});

afterAll(() => world?.close());

function planOf(random: Random, ids: readonly string[], names: readonly string[]): Planned {
  const kind = random.weighted({ one: 3, two: 3, part: 6, name: 2, shared: 8 });
  const [first, second] = random.pair(ids);
  const amount = () => BigInt(random.whole(0, 40));
  const changed = { one: [first], two: [first, second], part: [], name: [first], shared: [first] }[kind];
  return {
    changes: new Map(changed.map((id) => [id, amount()])),
    shares: kind === 'shared' ? second : null,
    partOf: kind === 'part' ? first : null,
    name: kind === 'name' ? random.pick(names) : null,
    pauseMs: random.chance(0.3) ? random.whole(1, 15) : 0,
    way: random.weighted({ 'one statement': 6, 'a transaction': 1, 'as the routes': 2 }),
  };
}

/** Each set also leaves a row of its own, so that a set of which only a part was written is found out. */
async function work(tx: Transaction, id: string, { changes, shares, partOf, name, pauseMs }: Planned): Promise<Done> {
  const found = new Map<string, { version: bigint; adds: bigint | null }>();
  // In one order, so that transactions wait for one another instead of deadlocking.
  const wanted = [...changes.keys(), partOf, shares].filter((one) => one !== null).sort();
  const locked = await Promise.all(wanted.map((one) => lockRow(tx, one, one === shares ? SHARE : LOCK)));
  const parts = partOf === null ? [] : await tx.run(PARTS, { prefix: `part of ${partOf} %` });
  if (pauseMs > 0) await sleep(pauseMs);
  for (const row of locked) {
    const adds = changes.get(row.id) ?? null;
    found.set(row.id, { version: row.value / VERSION, adds });
    // Sometimes too much, which the CHECK rejects.
    if (adds !== null) sendUpdate(tx, rows, row, { value: row.value + VERSION + adds });
  }
  if (partOf !== null && parts.length >= PARTS_MAX) throw new NotDone();
  if (partOf !== null) sendInsertion(tx, rows, { id: newId(), value: 0n, note: `part of ${partOf} ${id}` });
  if (name !== null) sendInsertion(tx, rows, { id: newId(), value: 0n, note: name });
  sendInsertion(tx, rows, { id, value: 0n, note: `done ${id}` });
  return { id, found, parts: partOf === null ? null : { of: partOf, found: parts.length }, name };
}

class NotDone extends Error {}

/** Null if it was not done. */
async function attempt(id: string, planned: Planned): Promise<Done | null> {
  const run = (tx: Transaction) => work(tx, id, planned);
  try {
    if (planned.way === 'a transaction') return await world.database.transaction(run);
    if (planned.way === 'as the routes') return await write(world.database, run);
    return (await world.database.inOneStatement(run))?.value ?? null;
  } catch (error) {
    // In a transaction, what one statement leaves out is rejected.
    const rejected = error instanceof NotDone || /test_rows_(note|amount)/.test(String(error));
    if (!rejected) throw error;
    return null;
  }
}

/** What the rows hold after sets that ran one after another. */
class Model {
  readonly versions = new Map<string, bigint>();
  readonly amounts = new Map<string, bigint>();
  readonly parts = new Map<string, number>();
  readonly names = new Set<string>();

  explains({ found, parts, name }: Done): boolean {
    return (
      [...found].every(([id, { version }]) => this.#version(id) === version) &&
      (parts === null || (this.parts.get(parts.of) ?? 0) === parts.found) &&
      (name === null || !this.names.has(name))
    );
  }

  apply({ found, parts, name }: Done): void {
    for (const [id, { version, adds }] of found) {
      if (adds === null) continue;
      this.versions.set(id, version + 1n);
      this.amounts.set(id, (this.amounts.get(id) ?? 0n) + adds);
    }
    if (parts !== null) this.parts.set(parts.of, parts.found + 1);
    if (name !== null) this.names.add(name);
  }

  valueOf(id: string): bigint {
    return this.#version(id) * VERSION + (this.amounts.get(id) ?? 0n);
  }

  #version(id: string): bigint {
    return this.versions.get(id) ?? 0n;
  }
}

/** Applies the sets in an order that explains them all; what is left has none. */
function explain(model: Model, done: readonly Done[]): readonly Done[] {
  let left = done;
  for (;;) {
    // One that only read a row goes before the one that changed it from there.
    const next = left.find(
      (set) =>
        model.explains(set) &&
        !left.some((other) => other !== set && [...other.found].some(([id, { adds }]) => reads(other, id, adds, set))),
    );
    if (next === undefined) return left;
    model.apply(next);
    left = left.filter((set) => set !== next);
  }

  function reads(other: Done, id: string, adds: bigint | null, set: Done): boolean {
    const [theirs, own] = [other.found.get(id), set.found.get(id)];
    return adds === null && own !== undefined && own.adds !== null && theirs?.version === own.version;
  }
}

/** Without any, this shows nothing about sets of one statement. */
let together = 0;

const FIRST_SEED = seedOr(20_261_126);
const SEEDS = [...new Set([FIRST_SEED, FIRST_SEED + 1, seedOr(1 + Math.floor(Math.random() * 1e9))])];

test.each(SEEDS)(
  'writes at once are done as in some order one by one, each whole or not at all: seed %i',
  async (seed) => {
    const random = randomFrom(seed);
    for (const round of numbers(ROUNDS)) {
      const ids = await Promise.all(numbers(random.whole(2, 12)).map(() => world.insert()));
      const names = numbers(3).map((number) => `name ${number} of ${ids[0]}`);
      const sets = numbers(SETS).map(() => ({ id: newId(), planned: planOf(random, ids, names) }));
      const waits = sets.map(() => random.whole(0, 1));
      const outcomes = await Promise.all(
        sets.map(async ({ id, planned }, index) => {
          for (let turn = waits[index] ?? 0; turn > 0; turn -= 1) await world.read(id);
          return attempt(id, planned);
        }),
      );
      const done = outcomes.flatMap((one) => one ?? []);
      const label = `seed ${seed}, round ${round}`;
      const model = new Model();
      expect(explain(model, done), label).toEqual([]);
      expect(await world.readAll(ids), label).toEqual(ids.map((id) => model.valueOf(id)));
      const notes = await world.database.reader.statement<{ note: string }>(
        `select note from test_rows where note = any ($1) or note like any ($2) or id = any ($3) order by note`,
        [names, ids.map((id) => `part of ${id} %`), sets.map(({ id }) => id)],
      );
      const expected = done.flatMap(({ id, parts, name }) => [
        `done ${id}`,
        ...(parts === null ? [] : [`part of ${parts.of} ${id}`]),
        ...(name === null ? [] : [name]),
      ]);
      expect(notes.map(({ note }) => note).sort(), label).toEqual(expected.sort());
      together += await sharedCommits(done);
    }
  },
);

test('of those writes some have shared their statement', () => {
  expect(together).toBeGreaterThan(0);
});

/** How many of the sets went with another one in one commit. */
async function sharedCommits(done: readonly Done[]): Promise<number> {
  const [row] = await world.database.statement<{ shared: number }>(
    `select coalesce(sum(sets) filter (where sets > 1), 0)::integer as shared
     from (select count(*) as sets from test_rows where id = any ($1) group by xmin::text) as commits`,
    [done.map(({ id }) => id)],
  );
  return row?.shared ?? 0;
}

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
  addOne,
  BY_IDS,
  BY_NOTE,
  counted,
  createSharedRows,
  FIND,
  LOCK,
  letOthers,
  lockRow,
  numbers,
  rows,
  SHARE,
  type SharedRows,
  share,
} from '../harness/frame/shared-rows.ts';
import { gate } from '../harness/servers/locks.ts';

// Writes of the same moment in one transaction: what each decides and stores is the same as in a transaction of its own.

let world: SharedRows;

beforeAll(async () => {
  world = await createSharedRows('shared-transactions');
});

afterAll(() => world?.close());

function together<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return share(world.database, work);
}

/** How many transactions wrote these rows last. */
async function commitsOf(ids: readonly string[]): Promise<number> {
  const found = await world.database.statement<{ xmin: string }>(
    'select xmin::text as xmin from shared_rows where id = any ($1::uuid[])',
    [ids],
  );
  expect(found).toHaveLength(ids.length);
  return new Set(found.map(({ xmin }) => xmin)).size;
}

test('works of one moment share each of their statements and one commit', async () => {
  const single = world.open({ applicationName: 'single', maxConnections: 1 });
  const ids = await Promise.all(numbers(8).map((number) => world.insert(BigInt(number))));
  const made = await Promise.all(
    ids.map((id) =>
      share(single, async (tx) => {
        const row = await lockRow(tx, id);
        expect(await updateRow(tx, rows, id, { value: row.value + 100n })).toMatchObject({ id, note: null });
        return (await insertRow(tx, rows, { id: newId(), value: row.value })).id;
      }),
    ),
  );
  expect(await commitsOf([...ids, ...made])).toBe(1);
  expect(await world.readAll(ids)).toEqual(numbers(8).map((number) => BigInt(100 + number)));
  const executed = await single.statement<{ count: number }>(
    `select (generic_plans + custom_plans)::integer as count from pg_prepared_statements where statement like $1`,
    ['%"shared_rows"%'],
  );
  expect(executed).toEqual([{ count: 1 }, { count: 1 }, { count: 1 }]);
});

test('works that change the same row at once lose no change', async () => {
  const id = await world.insert();
  const change = async (tx: Transaction) => {
    const { value } = await lockRow(tx, id);
    await updateRow(tx, rows, id, { value: value + 1n });
  };
  await Promise.all(numbers(60).map((number) => together((tx) => (number % 2 === 0 ? addOne(tx, id) : change(tx)))));
  expect(await world.read(id)).toBe(60n);
});

/** Locks the row for share; returns its value then, and after the others have had several turns. */
async function watch(tx: Transaction, id: string): Promise<(bigint | undefined)[]> {
  const { value } = await lockRow(tx, id, SHARE);
  await letOthers(tx, 4);
  return [value, (await tx.find(FIND, id))?.value];
}

test('a row that works have locked for share changes under none of them, and others change it in between', async () => {
  const id = await world.insert();
  const change = async (tx: Transaction) => {
    const { value } = await lockRow(tx, id);
    await updateRow(tx, rows, id, { value: value + 1n });
    return [];
  };
  const seen = await Promise.all(
    numbers(60).map((number) => together((tx) => (number % 3 === 0 ? change(tx) : watch(tx, id)))),
  );
  for (const [first, last] of seen) expect(last).toBe(first);
  expect(await world.read(id)).toBe(20n);
});

/** Closes the row, whose value is then 1, unless another stands under it. */
async function closeRow(tx: Transaction, id: string): Promise<void> {
  await lockRow(tx, id);
  if ((await tx.first(BY_NOTE, { note: `under ${id}` })) === null) await updateRow(tx, rows, id, { value: 1n });
}

/** Puts another under the row unless that is closed. */
async function openUnder(tx: Transaction, id: string): Promise<void> {
  const { value } = await lockRow(tx, id, SHARE);
  if (value === 0n) await insertRow(tx, rows, { id: newId(), value: 0n, note: `under ${id}` });
}

const SKEWED: Readonly<Record<string, readonly ((tx: Transaction, id: string) => Promise<void>)[]>> = {
  'an exclusive lock and then a shared one': [closeRow, openUnder],
  'a shared lock and then an exclusive one': [openUnder, closeRow],
  'a shared lock that its holder then wants for itself': [
    async (tx, id) => {
      await lockRow(tx, id, SHARE);
      await closeRow(tx, id);
    },
    openUnder,
  ],
};

test.each(Object.entries(SKEWED))('%s of one row: each work decides after the other or before', async (_, works) => {
  const id = await world.insert();
  await Promise.all(works.map((work) => together((tx) => work(tx, id))));
  const under = await world.database.reader.first(BY_NOTE, { note: `under ${id}` });
  expect(under === null).toBe((await world.read(id)) === 1n);
});

test('what a work has inserted is nobody else’s to change before it has ended', async () => {
  const note = `mine ${newId()}`;
  const making = together(async (tx) => {
    const made = await insertRow(tx, rows, { id: newId(), value: 1n, note });
    for (let turn = 0; turn < 5; turn += 1) await updateRow(tx, rows, made.id, { value: 1n });
    sendUpdate(tx, rows, made, { value: 2n });
    return made.id;
  });
  const hasAdded = await together(async (tx) => {
    await letOthers(tx, 1);
    const found = await tx.first(BY_NOTE, { note });
    if (found === null) return false;
    const { value } = await lockRow(tx, found.id);
    await updateRow(tx, rows, found.id, { value: value + 10n });
    return true;
  });
  expect(await world.read(await making)).toBe(hasAdded ? 12n : 2n);
});

test('no statement of a work sees half of what another writes', async () => {
  const ids = await Promise.all([world.insert(5n), world.insert(0n)]);
  const [from, to] = ids;
  const moving = together(async (tx) => {
    const [one, other] = [await lockRow(tx, from), await lockRow(tx, to)];
    await updateRow(tx, rows, from, { value: one.value - 5n });
    await updateRow(tx, rows, to, { value: other.value + 5n });
  });
  const sums = await together(async (tx) => {
    const seen: bigint[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const found = await tx.run(BY_IDS, { ids });
      seen.push(found.reduce((sum, { value }) => sum + value, 0n));
    }
    return seen;
  });
  await moving;
  expect(sums).toEqual(sums.map(() => 5n));
});

test('a work that reads back what it has written does so, in a transaction of its own', async () => {
  const [id, other] = [newId(), await world.insert()];
  const reading = counted(async (tx) => {
    const made = sendInsertion(tx, rows, { id, value: 1n });
    expect(await tx.find(FIND, id)).toEqual(made);
    expect(await tx.lock(LOCK, id)).toEqual(made);
    return made;
  });
  const [made] = await Promise.all([together(reading.run), together((tx) => addOne(tx, other))]);
  expect(reading.runs).toEqual([true, false]);
  expect([made.value, await world.read(id), await world.read(other)]).toEqual([1n, 1n, 1n]);
});

test('a work that refuses gets its own error, has no effect, and leaves the others alone', async () => {
  const ids = await Promise.all(numbers(8).map(() => world.insert()));
  const refusals = numbers(4).map((number) => new Error(`refusal ${number}`));
  const made = newId();
  const refusing = [
    () => Promise.reject(refusals[0]),
    async (tx: Transaction) => {
      await lockRow(tx, ids[1] ?? '');
      throw refusals[1];
    },
    async (tx: Transaction) => {
      await addOne(tx, ids[2] ?? '');
      throw refusals[2];
    },
    async (tx: Transaction) => {
      sendInsertion(tx, rows, { id: made, value: 0n });
      throw refusals[3];
    },
  ];
  const refused = refusing.map((work) => together(work).catch((error: unknown) => error));
  const others = ids.slice(4).map((id) => counted((tx) => addOne(tx, id)));
  await Promise.all(others.map(({ run }) => together(run)));
  expect(await Promise.all(refused)).toEqual(refusals);
  expect(others.map(({ runs }) => runs)).toEqual(others.map(() => [true]));
  expect(await commitsOf(ids.slice(4))).toBe(1);
  expect(await world.readAll([...ids, made])).toEqual([0n, 0n, 0n, 0n, 1n, 1n, 1n, 1n, undefined]);
});

test('a work that fails after it has written undoes nothing of the others: each is done once', async () => {
  const [own, ...theirs] = await Promise.all([world.insert(), ...numbers(6).map(() => world.insert())]);
  const made = newId();
  const refusal = new Error('too late');
  const others = theirs.map((id) => counted((tx) => addOne(tx, id)));
  const begun = others.slice(0, 3).map(({ run }) => together(run));
  const failing = together(async (tx) => {
    const { value } = await lockRow(tx, own);
    await insertRow(tx, rows, { id: made, value: 0n });
    await updateRow(tx, rows, own, { value: value + 1n });
    throw refusal;
  }).catch((error: unknown) => error);
  await Promise.all([...begun, ...others.slice(3).map(({ run }) => together(run))]);
  expect(await failing).toBe(refusal);
  // With the one that failed, and then together without it.
  expect(others.map(({ runs }) => runs)).toEqual(others.map(() => [true, true]));
  expect(await commitsOf(theirs)).toBe(1);
  expect(await world.readAll([own, made, ...theirs])).toEqual([0n, undefined, 1n, 1n, 1n, 1n, 1n, 1n]);
});

test('a violated unique rule is the error of the one that violates it, awaited or not', async () => {
  const note = `taken ${newId()}`;
  await world.insert(0n, note);
  const ids = await Promise.all(numbers(3).map(() => world.insert()));
  const taken = () => ({ id: newId(), value: 0n, note });
  const awaited = together((tx) => insertRow(tx, rows, taken())).catch(uniqueViolation);
  const sent = together(async (tx) => sendInsertion(tx, rows, taken())).catch(uniqueViolation);
  const once = together((tx) => insertRowOnce(tx, rows, taken()));
  await Promise.all(ids.map((id) => together((tx) => addOne(tx, id))));
  expect(await Promise.all([awaited, sent, once])).toEqual(['shared_rows_note', 'shared_rows_note', null]);
  expect(await world.readAll(ids)).toEqual([1n, 1n, 1n]);
});

test('of works that insert the same unique key at once, one does', async () => {
  const note = `new ${newId()}`;
  const insert = () => ({ id: newId(), value: 0n, note });
  const awaited = numbers(3).map(() =>
    together((tx) => insertRow(tx, rows, insert())).then(() => 'made', uniqueViolation),
  );
  expect((await Promise.all(awaited)).sort()).toEqual(['made', 'shared_rows_note', 'shared_rows_note']);
  const other = () => ({ ...insert(), note: `${note} once` });
  const once = await Promise.all(numbers(3).map(() => together((tx) => insertRowOnce(tx, rows, other()))));
  expect(once.filter((row) => row !== null)).toHaveLength(1);
});

/** Another transaction that has locked the row and taken the note, until it is let go and rolled back. */
async function hold(id: string, note: string): Promise<() => Promise<void>> {
  const [taken, over] = [gate(), gate()];
  const rolledBack = new Error('rolled back');
  const holding = world.database.transaction(async (tx) => {
    await lockRow(tx, id);
    await insertRow(tx, rows, { id: newId(), value: 0n, note });
    taken.open();
    await over.opened;
    throw rolledBack;
  });
  await taken.opened;
  return async () => {
    over.open();
    await expect(holding).rejects.toBe(rolledBack);
  };
}

const WAITING: Readonly<Record<string, (tx: Transaction, id: string, note: string) => Promise<unknown>>> = {
  'a row that another transaction has locked': addOne,
  'a unique key that another transaction may take': (tx, _, note) =>
    insertRow(tx, rows, { id: newId(), value: 0n, note }),
};

test.each(Object.entries(WAITING))('%s holds up only the work that needs it', async (_, work) => {
  const [held, ...ids] = await Promise.all([world.insert(), world.insert(), world.insert(), world.insert()]);
  const note = `held ${held}`;
  const letGo = await hold(held, note);
  let isDone = false;
  const waiting = together((tx) => work(tx, held, note)).then(() => {
    isDone = true;
  });
  await Promise.all(ids.map((id) => together((tx) => addOne(tx, id))));
  expect(await world.readAll(ids)).toEqual([1n, 1n, 1n]);
  expect(isDone).toBe(false);
  await letGo();
  await waiting;
  const found = await world.database.reader.first(BY_NOTE, { note });
  expect([await world.read(held), found === null]).toEqual(work === addOne ? [1n, true] : [0n, false]);
});

test('an absent row is null under a lock, and the works beside it go on together', async () => {
  const id = await world.insert();
  const [absent, present] = [counted((tx) => tx.lock(LOCK, newId())), counted((tx) => addOne(tx, id))];
  expect(await Promise.all([together(absent.run), together(present.run)])).toEqual([null, undefined]);
  expect([absent.runs, present.runs]).toEqual([[true, false], [true]]);
});

test('each work is counted once, as shared or as alone', async () => {
  const seen: string[] = [];
  const own = world.open({ applicationName: 'counting', onWrite: (transaction) => seen.push(transaction) });
  const id = await world.insert();
  await Promise.all([share(own, (tx) => addOne(tx, id)), share(own, (tx) => tx.lock(LOCK, newId()))]);
  expect(seen.sort()).toEqual(['alone', 'shared']);
});

test('what a work writes keeps its order', async () => {
  const works = numbers(6).map(() =>
    counted(async (tx) => {
      const [id, gone] = [newId(), newId()];
      const made = sendInsertion(tx, rows, { id, value: 1n });
      expect(await updateRow(tx, rows, id, { value: 2n })).toEqual({ ...made, value: 2n });
      sendUpdate(tx, rows, made, { value: 3n });
      const noted = sendUpdate(tx, rows, made, { value: 4n, note: `noted ${id}` });
      expect(await updateRow(tx, rows, id, { value: 4n })).toEqual(noted);
      // Nobody waits for these, which go with the commit.
      sendInsertion(tx, rows, { id: gone, value: 0n });
      sendDeletion(tx, rows, gone);
      sendUpdate(tx, rows, noted, { value: 5n });
      sendUpdate(tx, rows, noted, { value: 6n });
      return [id, gone];
    }),
  );
  const ids = await Promise.all(works.map(({ run }) => together(run)));
  expect(works.map(({ runs }) => runs)).toEqual(works.map(() => [true]));
  expect(await world.readAll(ids.flat())).toEqual(works.flatMap(() => [6n, undefined]));
});

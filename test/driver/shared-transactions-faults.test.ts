import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CallerGone, DatabaseUnavailable, sendWithCommit, type Transaction } from '../../db/driver/client.ts';
import type { ListStatement } from '../../db/driver/queries/list-statements.ts';
import { type Given, prepared } from '../../db/driver/queries/queries.ts';
import { insertionOf } from '../../db/driver/queries/row-statements.ts';
import { insertRow, sendUpdate, updateRow } from '../../db/driver/queries/rows.ts';
import { newId } from '../../db/frame/ids.ts';
import { startCrashPointProxy } from '../harness/faults/crash-point-proxy.ts';
import {
  addOne,
  BY_NOTE,
  counted,
  createSharedRows,
  FIND,
  LOCK,
  numbers,
  rows,
  type SharedRows,
  share,
} from '../harness/frame/shared-rows.ts';
import { gate } from '../harness/servers/locks.ts';
import { until } from '../harness/stage.ts';

// Works that share a transaction when something goes wrong: with one of them, with its caller, or with the connection.

let world: SharedRows;

beforeAll(async () => {
  world = await createSharedRows('shared-transactions-faults');
});

afterAll(() => world?.close());

/** A work that inserts a row. */
const inserting = (id: string) => async (tx: Transaction) => {
  await insertRow(tx, rows, { id, value: 1n });
};

const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => error,
  );

async function sessions(applicationName: string): Promise<number> {
  const [row] = await world.database.statement<{ count: number }>(
    'select count(*)::integer as count from pg_stat_activity where application_name = $1',
    [applicationName],
  );
  return row?.count ?? 0;
}

async function endSessions(applicationName: string): Promise<void> {
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1';
  await world.database.statement(end, [applicationName]);
  await until(
    () => sessions(applicationName),
    (count) => count === 0,
  );
}

/** Each would end a process of the service. */
function unhandledRejections(): readonly unknown[] {
  const noted: unknown[] = [];
  const note = (error: unknown) => noted.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return noted;
}

const LOCK_BY_NOTE = prepared((db, given: Given<{ note: string }>) =>
  db.select().from(rows).where(eq(rows.note, given.note)).for('update'),
);
const INSERTION = insertionOf(rows, ['id', 'value'], 'stored');
const UPDATE = 'update shared_rows set value = value + 1 where note = $1';

const UNSHAREABLE: Readonly<Record<string, (tx: Transaction, note: string) => Promise<unknown>>> = {
  'a template': (tx, note) => tx.execute(sql`update shared_rows set value = value + 1 where note = ${note}`),
  'a text': (tx, note) => tx.statement(UPDATE, [note]),
  'a query that locks': async (tx, note) => {
    const row = await tx.first(LOCK_BY_NOTE, { note });
    if (row !== null) sendUpdate(tx, rows, row, { value: row.value + 1n });
  },
  'a text that goes with the commit': async (tx, note) => sendWithCommit(tx.statement(UPDATE, [note])),
  'a text whose failure is ignored': (tx, note) => tx.statement(UPDATE, [note]).catch(() => {}),
};

test.each(Object.entries(UNSHAREABLE))(
  '%s takes effect once, alone, and the works beside it go on together',
  async (_, work) => {
    const note = `alone ${newId()}`;
    const ids = [await world.insert(0n, note), await world.insert()];
    const [alone, other] = [counted((tx) => work(tx, note)), counted((tx) => addOne(tx, ids[1] ?? ''))];
    await Promise.all([share(world.database, alone.run), share(world.database, other.run)]);
    expect(await world.readAll(ids)).toEqual([1n, 1n]);
    expect([alone.runs, other.runs]).toEqual([[true, false], [true]]);
  },
);

test.each(Object.entries(UNSHAREABLE))('%s is refused, and named, where tests look for it', async (_, work) => {
  const guarded = world.open({ applicationName: 'guarded', guardsTransactions: true });
  const note = `refused ${newId()}`;
  const id = await world.insert(0n, note);
  const refused = share(guarded, (tx) => work(tx, note));
  await expect(refused).rejects.toThrow(/is to share its transaction .*\(use writeAlone\)/);
  expect(await world.read(id)).toBe(0n);
});

test('a work that ignores that it did not get a lock is done again all the same', async () => {
  const id = await world.insert();
  const [taken, over] = [gate(), gate()];
  const holding = world.database.transaction(async (tx) => {
    await addOne(tx, id);
    taken.open();
    await over.opened;
  });
  await taken.opened;
  const value = share(world.database, async (tx) => {
    const row = await tx.lock(LOCK, id).catch(() => null);
    return row?.value ?? null;
  });
  await share(world.database, (tx) => tx.find(FIND, id));
  over.open();
  await holding;
  expect(await value).toBe(1n);
});

test('of works whose connection ends under them none takes effect, and each is then done once by itself', async () => {
  const fragile = world.open({ applicationName: 'fragile', maxConnections: 1 });
  const ids = numbers(6).map(() => newId());
  const ended = gate();
  let written = 0;
  const works = ids.map((id) =>
    counted(async (tx) => {
      await insertRow(tx, rows, { id, value: 1n });
      written += 1;
      await ended.opened;
      await updateRow(tx, rows, id, { value: 2n });
    }),
  );
  const outcomes = works.map(({ run }) => caught(share(fragile, run)));
  await until(
    async () => written,
    (count) => count === ids.length,
  );
  await endSessions('fragile');
  ended.open();
  expect(await Promise.all(outcomes)).toEqual(ids.map(() => 'done'));
  expect(await world.readAll(ids)).toEqual(ids.map(() => 2n));
  expect(works.map(({ runs }) => runs)).toEqual(works.map(() => [true, false]));
});

test('works whose commit is not answered have an unknown outcome, and are not done again', async () => {
  const target = new URL(world.testDatabase.url);
  const proxy = await startCrashPointProxy({ host: target.hostname, port: Number(target.port) });
  onTestFinished(() => proxy.close());
  const url = new URL(world.testDatabase.url);
  url.port = String(proxy.port);
  const far = world.open({ applicationName: 'far', url: url.href });
  const ids = numbers(6).map(() => newId());
  proxy.holdAfter(ids[0] ?? '', 'commit');
  const works = ids.map((id) => counted(inserting(id)));
  const outcomes = works.map(({ run }) => caught(share(far, run)));
  await until(
    async () => proxy.heldCount(),
    (count) => count === 1,
  );
  await endSessions('far');
  for (const outcome of await Promise.all(outcomes)) {
    expect(outcome).toBeInstanceOf(DatabaseUnavailable);
    expect(outcome).toMatchObject({ outcome: 'unknown' });
  }
  expect(works.map(({ runs }) => runs)).toEqual(works.map(() => [true]));
  expect(await world.readAll(ids)).toEqual(ids.map(() => 1n));
});

test('works that never end hold up nothing that comes later; they miss their deadline, and those beside them did nothing', async () => {
  const patient = world.open({ applicationName: 'stuck', maxConnections: 8, deadlineMs: 5_000 });
  const stuck: Promise<unknown>[] = [];
  let settled = 0;
  const getStuck = async () => {
    const begun = gate();
    const never = share(patient, async () => {
      begun.open();
      await new Promise(() => {});
    });
    const missed = caught(never).finally(() => (settled += 1));
    stuck.push(missed);
    await Promise.race([begun.opened, missed]);
  };
  for (let count = 0; count < 4; count += 1) await getStuck();
  const beside = newId();
  const last = getStuck();
  stuck.push(caught(share(patient, inserting(beside))));
  await last;
  const later = numbers(3).map(() => newId());
  for (const id of later) await share(patient, inserting(id));
  expect(settled).toBe(0);
  for (const outcome of await Promise.all(stuck)) {
    expect(outcome).toBeInstanceOf(DatabaseUnavailable);
    expect(outcome).toMatchObject({ outcome: 'nothing-done' });
  }
  const after = newId();
  await share(patient, inserting(after));
  expect(await world.readAll([beside, ...later, after])).toEqual([undefined, 1n, 1n, 1n, 1n]);
});

test.each([200, 1_500])(
  'a work with a deadline of its own, of %i ms, misses it without those beside it',
  async (deadlineMs) => {
    const patient = world.open({ applicationName: 'patient', deadlineMs: 30_000 });
    const stuck = patient.transaction(() => new Promise<never>(() => {}), { shares: true, deadlineMs });
    const id = newId();
    const beside = counted(inserting(id));
    const other = share(patient, beside.run);
    const missed = await Promise.race([caught(stuck), sleep(10_000, 'still waiting', { ref: false })]);
    expect(missed).toBeInstanceOf(DatabaseUnavailable);
    await other;
    expect(await world.read(id)).toBe(1n);
    // With little time it does not even begin beside others, whose deadline it would shorten.
    expect(beside.runs).toEqual(deadlineMs < 1_000 ? [true] : [true, false]);
  },
);

test('a work whose caller is gone before its turn is not begun, and those beside it are', async () => {
  const limits = world.database.limits();
  let isGone = false;
  const gone = counted(inserting(newId()));
  const ids = [newId(), newId()];
  const first = share(world.database, inserting(ids[0] ?? ''));
  const left = caught(share(world.database.forCaller({ ...limits, isGone: () => isGone }), gone.run));
  const stays = share(world.database.forCaller(limits), inserting(ids[1] ?? ''));
  isGone = true;
  expect(await left).toBeInstanceOf(CallerGone);
  await Promise.all([first, stays]);
  expect(gone.runs).toEqual([]);
  expect(await world.readAll(ids)).toEqual([1n, 1n]);
});

test('a work that must run alone is not done again for a caller who has gone meanwhile', async () => {
  let isGone = false;
  const alone = counted(async (tx: Transaction) => {
    isGone = true;
    await tx.statement('select 1', []);
  });
  const limits = { ...world.database.limits(), isGone: () => isGone };
  expect(await caught(share(world.database.forCaller(limits), alone.run))).toBeInstanceOf(CallerGone);
  expect(alone.runs).toEqual([true]);
});

test('a nudge of the relay follows the commit of what it is about, and no rollback', async () => {
  const seen: Promise<bigint | undefined>[] = [];
  const id = newId();
  const listener = world.database.onWakeup(() => seen.push(world.read(id)));
  onTestFinished(() => listener.close());
  const refused = new Error('refused');
  const wake = async (tx: Transaction, row: string) => {
    await insertRow(tx, rows, { id: row, value: 1n });
    tx.noteWakeup();
    // Another statement, so that a nudge which does not wait for the commit would come before it.
    await updateRow(tx, rows, row, { value: 2n });
    expect(seen).toEqual([]);
    return tx.isShared;
  };
  const rolledBack = share(world.database, async (tx) => {
    await wake(tx, newId());
    throw refused;
  });
  await expect(rolledBack).rejects.toBe(refused);
  expect(seen).toEqual([]);
  const waking = share(world.database, (tx) => wake(tx, id));
  await share(world.database, inserting(newId()));
  expect(await waking).toBe(true);
  expect(await Promise.all(seen)).toEqual([2n]);
});

test('a look-up serves as a query, too', async () => {
  const id = await world.insert(3n);
  const work = counted(async (tx: Transaction) => [await tx.find(FIND, id), await tx.first(FIND, { ids: [id] })]);
  const [found, first] = await share(world.database, work.run);
  expect([found?.value, first]).toEqual([3n, found]);
  expect(work.runs).toEqual([true]);
});

test('a query that lacks a value fails the works that send it, and no others', async () => {
  const unhandled = unhandledRejections();
  const own = world.open({ applicationName: 'lacking', deadlineMs: 5_000 });
  const lacking: object = {};
  // As code does that the compiler has not seen.
  const failing = numbers(2).map(() => caught(share(own, (tx) => tx.run(BY_NOTE, lacking as { note: string }))));
  const id = newId();
  const other = caught(share(own, inserting(id)));
  for (const outcome of await Promise.all(failing)) expect(String(outcome)).toContain('without its value note');
  expect(await other).toBe('done');
  expect(await world.read(id)).toBe(1n);
  expect(unhandled).toEqual([]);
});

test('where statements cannot be put together, each work is done by itself', async () => {
  const unhandled = unhandledRejections();
  const own = world.open({ applicationName: 'broken', deadlineMs: 5_000 });
  const broken: ListStatement<null, unknown> = {
    text: 'select 7',
    stage: 'reads',
    paramsOf: () => [],
    resultsOf: (answer, items) => items.map(() => answer[0]?.[0]),
    goesWith: () => {
      throw new Error('broken');
    },
  };
  const [id, works] = [newId(), numbers(2).map(() => counted((tx) => tx.each(broken, [null])))];
  const answers = works.map(({ run }) => share(own, run));
  await share(own, inserting(id));
  expect(await Promise.all(answers)).toEqual([[7], [7]]);
  expect(works.map(({ runs }) => runs)).toEqual(works.map(() => [true, false]));
  expect(await world.read(id)).toBe(1n);
  expect(unhandled).toEqual([]);
});

test('of statements that a work sends at once, the failure of several ends only that work', async () => {
  const unhandled = unhandledRejections();
  const [id, twice] = [newId(), { id: await world.insert(), value: 0n }];
  const awaitFirst = (send: (tx: Transaction) => readonly Promise<unknown>[]) =>
    share(world.database, async (tx) => {
      for (const statement of send(tx)) await statement;
    });
  const inserted = awaitFirst((tx) => [tx.each(INSERTION, [twice]), tx.each(INSERTION, [twice])]);
  const refused = awaitFirst((tx) => [tx.statement('select 1 / 0', []), tx.find(FIND, twice.id), tx.lock(LOCK, id)]);
  await Promise.all([
    expect(inserted).rejects.toMatchObject({ code: '23505' }),
    expect(refused).rejects.toMatchObject({ code: '22012' }),
    share(world.database, inserting(id)),
  ]);
  expect(await world.read(id)).toBe(1n);
  expect(unhandled).toEqual([]);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../db/common/ids.ts';
import { CallerGone, DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import { guardKind, guardText } from '../../db/query/guards.ts';
import { sendDeletion, sendInsertion, sendUpdate, updateRow } from '../../db/query/rows.ts';
import { startCrashPointProxy } from '../harness/faults/crash-point-proxy.ts';
import {
  addOne,
  BY_IDS,
  BY_NOTE,
  createTestRows,
  FIND,
  LOCK,
  lockRow,
  numbers,
  rows,
  SHARE,
  type TestRows,
  write,
} from '../harness/http/test-rows.ts';
import { gate } from '../harness/servers/locks.ts';
import { until } from '../harness/stage.ts';

// Writes that one statement does: each is done whole or not at all, and depends on no other.

let world: TestRows;

beforeAll(async () => {
  world = await createTestRows('one-statement');
});

afterAll(() => world?.close());

const inserting =
  (id: string, note: string | null = null) =>
  async (tx: Transaction) => {
    sendInsertion(tx, rows, { id, value: 1n, note });
  };

const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

/** How many transactions wrote these rows last. */
async function commitsOf(ids: readonly string[]): Promise<number> {
  const found = await world.database.statement<{ xmin: string }>(
    'select xmin::text as xmin from test_rows where id = any ($1::uuid[])',
    [ids],
  );
  expect(found).toHaveLength(ids.length);
  return new Set(found.map(({ xmin }) => xmin)).size;
}

async function sessions(applicationName: string): Promise<number> {
  const [row] = await world.database.statement<{ count: number }>(
    'select count(*)::integer as count from pg_stat_activity where application_name = $1',
    [applicationName],
  );
  return row?.count ?? 0;
}

test('writes of one moment share their reads, their statement and its commit', async () => {
  const single = world.open({ applicationName: 'single', maxConnections: 1 });
  const ids = await Promise.all(numbers(8).map((number) => world.insert(BigInt(number))));
  const made = await Promise.all(
    ids.map((id) =>
      single.inOneStatement(async (tx) => {
        const row = await lockRow(tx, id);
        sendUpdate(tx, rows, row, { value: row.value + 100n });
        return sendInsertion(tx, rows, { id: newId(), value: row.value }).id;
      }),
    ),
  );
  const inserted = made.map((one) => one?.value ?? '');
  expect(await commitsOf([...ids, ...inserted])).toBe(1);
  expect(await world.readAll(ids)).toEqual(numbers(8).map((number) => BigInt(100 + number)));
  const executed = await single.statement<{ count: number }>(
    `select (generic_plans + custom_plans)::integer as count from pg_prepared_statements where statement like $1`,
    ['%"test_rows"%'],
  );
  expect(executed).toEqual([{ count: 1 }, { count: 1 }]);
});

test('a write is not done if a row that it has locked has changed since it was read, and changes nothing then', async () => {
  const [id, made] = [await world.insert(), newId()];
  const written = await world.database.inOneStatement(async (tx) => {
    const row = await lockRow(tx, id);
    await world.database.transaction((other) => addOne(other, id));
    sendUpdate(tx, rows, row, { value: row.value + 10n });
    sendInsertion(tx, rows, { id: made, value: 1n });
  });
  expect(written).toBeNull();
  expect(await world.readAll([id, made])).toEqual([1n, undefined]);
});

test('a row that changes after the statement has begun and before it is locked is left out', async () => {
  const id = await world.insert();
  const kind = guardKind(rows, 'update', 'row and parts');
  const [row] = await world.database.statement<{ version: string }>(
    'select xmin::text as version from test_rows where id = $1',
    [id],
  );
  const text = `/* guarding */ with guarded as materialized (
    select 0 as "set", $1::uuid as id, $2::xid as version from pg_sleep(1)) ${guardText(kind, 'guarded')}`;
  const guarding = world.database.statement(text, [id, row?.version]);
  await until(
    () =>
      world.database.statement<{ count: number }>(
        "select count(*)::integer as count from pg_stat_activity where wait_event = 'PgSleep' and query like '/* guarding */%'",
        [],
      ),
    ([found]) => found?.count === 1,
  );
  await world.database.transaction((tx) => addOne(tx, id));
  expect(await guarding).toEqual([]);
  expect(await world.database.statement(text, [id, row?.version])).toEqual([]);
});

test('changes of one row at once, in one statement and in transactions, lose nothing', async () => {
  const id = await world.insert();
  const change = async (tx: Transaction) => {
    const { value } = await lockRow(tx, id);
    await updateRow(tx, rows, id, { value: value + 1n });
  };
  await Promise.all(
    numbers(60).map((number) => write(world.database, (tx) => (number % 2 === 0 ? addOne(tx, id) : change(tx)))),
  );
  expect(await world.read(id)).toBe(60n);
});

/** Puts another under the row unless one stands there: only the row's lock keeps two apart. */
async function openUnder(tx: Transaction, id: string): Promise<void> {
  await lockRow(tx, id);
  const note = `under ${id}`;
  const there = await tx.run(BY_NOTE, { note });
  if (there.length === 0) sendInsertion(tx, rows, { id: newId(), value: 7n, note: null });
}

test.each([
  ['one statement', 'one statement'],
  ['one statement', 'a transaction'],
  ['a transaction', 'one statement'],
])('a lock covers what belongs to its row: %s finds what %s has done under it', async (mine, theirs) => {
  const id = await world.insert();
  const by = (way: string, work: (tx: Transaction) => Promise<unknown>) =>
    way === 'a transaction' ? world.database.transaction(work) : world.database.inOneStatement(work);
  const [read, done] = [gate(), gate()];
  const first = by(mine, async (tx) => {
    await openUnder(tx, id);
    read.open();
    if (mine !== 'a transaction') await done.opened;
  });
  await read.opened;
  const second = by(theirs, (tx) => openUnder(tx, id));
  if (mine !== 'a transaction') await second;
  done.open();
  const outcomes = await Promise.all([first, second]);
  if (mine === 'a transaction') expect(outcomes[0]).toBeUndefined();
  else expect(outcomes[0]).toBeNull();
});

test('a row that a write has locked for share changes under it only if the write is then not done', async () => {
  const id = await world.insert();
  const made = newId();
  const written = await world.database.inOneStatement(async (tx) => {
    await lockRow(tx, id, SHARE);
    await world.database.transaction((other) => addOne(other, id));
    sendInsertion(tx, rows, { id: made, value: 1n });
  });
  expect([written, await world.read(made)]).toEqual([null, undefined]);
  const sharing = numbers(6).map(() => newId());
  const outcomes = await Promise.all(
    sharing.map((own) =>
      world.database.inOneStatement(async (tx) => {
        await lockRow(tx, id, SHARE);
        sendInsertion(tx, rows, { id: own, value: 1n });
      }),
    ),
  );
  expect(outcomes).toEqual(sharing.map(() => ({ value: undefined })));
});

test('later reads of a write never see an older state than earlier ones', async () => {
  const ids = await Promise.all([world.insert(0n), world.insert(0n)]);
  const [one, other] = ids;
  let isOver = false;
  const raising = (async () => {
    for (let value = 1n; !isOver; value += 1n) {
      await world.database.transaction(async (tx) => {
        for (const id of [one, other]) await updateRow(tx, rows, id, { value });
      });
    }
  })();
  for (const _ of numbers(50)) {
    await Promise.all(
      numbers(4).map(() =>
        world.database.inOneStatement(async (tx) => {
          const [first, second] = await Promise.all([tx.lock(SHARE, one), tx.find(FIND, other)]);
          expect(second?.value).toBeGreaterThanOrEqual(first?.value ?? 0n);
        }),
      ),
    );
  }
  isOver = true;
  await raising;
});

test('what a write does to one row is done in its order, and once', async () => {
  const kept = await world.insert();
  const gone = await world.insert();
  const id = newId();
  const written = await world.database.inOneStatement(async (tx) => {
    const [row, leaving] = await Promise.all([lockRow(tx, kept), lockRow(tx, gone)]);
    const changed = sendUpdate(tx, rows, row, { value: 2n });
    sendUpdate(tx, rows, changed, { value: 3n, note: `noted ${kept}` });
    const made = sendInsertion(tx, rows, { id, value: 1n });
    sendUpdate(tx, rows, made, { value: 5n });
    sendDeletion(tx, rows, leaving.id);
  });
  expect(written).not.toBeNull();
  expect(await world.readAll([kept, gone, id])).toEqual([3n, undefined, 5n]);
});

test('a change without a value for a column leaves what an earlier one has set', async () => {
  const [kept, made] = [await world.insert(), newId()];
  const note = `kept ${kept}`;
  await world.database.inOneStatement(async (tx) => {
    const row = await lockRow(tx, kept);
    sendUpdate(tx, rows, sendUpdate(tx, rows, row, { note }), { value: 3n, note: undefined });
    const inserted = sendInsertion(tx, rows, { id: made, value: 1n, note: `made ${made}` });
    sendUpdate(tx, rows, inserted, { value: 5n, note: undefined });
  });
  const found = await world.database.reader.run(BY_IDS, { ids: [kept, made] });
  expect(found.map(({ value, note: stored }) => [value, stored])).toEqual([
    [3n, note],
    [5n, `made ${made}`],
  ]);
});

test('a row that is locked for share is changed in a transaction only, whatever else is locked', async () => {
  const [shared, covering] = await Promise.all([world.insert(), world.insert()]);
  const outcome = await world.database.inOneStatement(async (tx) => {
    const [row] = await Promise.all([lockRow(tx, shared, SHARE), lockRow(tx, covering)]);
    sendUpdate(tx, rows, row, { value: 9n });
  });
  expect([outcome, await world.read(shared)]).toEqual([null, 0n]);
});

test('a row is the same to a write when it has been frozen since it was read', async () => {
  const id = await world.insert();
  const written = await world.database.inOneStatement(async (tx) => {
    const row = await lockRow(tx, id);
    await world.testDatabase.asOwner('vacuum (freeze) test_rows');
    sendUpdate(tx, rows, row, { value: 2n });
  });
  expect([written, await world.read(id)]).toEqual([{ value: undefined }, 2n]);
});

/** From now on Postgres does so before it inserts a row with such a note. */
async function onInsertion(name: string, does: string): Promise<string> {
  await world.testDatabase.asOwner(`
    create function ${name}() returns trigger language plpgsql as $$ begin ${does}; return new; end $$;
    create trigger ${name} before insert on test_rows for each row when (new.note like '${name} %') execute function ${name}()`);
  return `${name} ${newId()}`;
}

test('what was written before the database went away is reported as written, and the rest as not done', async () => {
  const leaving = await onInsertion('leaving', "raise exception 'shutting down' using errcode = '57P01'");
  const taken = `taken ${newId()}`;
  await world.insert(0n, taken);
  const ids = numbers(4).map(() => newId());
  const notes = [taken, null, null, leaving];
  const outcomes = await Promise.all(
    ids.map((id, index) => caught(world.database.inOneStatement(inserting(id, notes[index] ?? null)))),
  );
  const notDone = expect.objectContaining({ outcome: 'nothing-done' });
  expect(outcomes).toEqual([null, { value: undefined }, notDone, notDone]);
  expect(await world.readAll(ids)).toEqual([undefined, 1n, undefined, undefined]);
});

/** A caller with time enough, until `hurry`: from then on too little is left to be written with others. */
function hurriedCaller(on: Database) {
  let endsAt = performance.now() + 60_000;
  const limits = {
    get endsAt() {
      return endsAt;
    },
    isGone: () => false,
  };
  const hurry = () => {
    endsAt = performance.now() + 900;
  };
  return { database: on.forCaller(limits), hurry };
}

/** The end of this turn of the event loop, before what is sent at its end. */
const endOfTurn = () => new Promise<void>((resolve) => process.nextTick(resolve));

test('a write with little time left does not take it from those of the same moment', async () => {
  const slow = await onInsertion('slow', 'perform pg_sleep(1.5)');
  const { database, hurry } = hurriedCaller(world.database);
  const moment = gate();
  const [short, long] = [newId(), newId()];
  const written = (on: Database, id: string, note: string | null) =>
    caught(
      on.inOneStatement(async (tx) => {
        await moment.opened;
        await inserting(id, note)(tx);
      }),
    );
  const outcomes = [written(database, short, null), written(world.database, long, slow)];
  moment.open();
  await endOfTurn();
  hurry();
  expect(await Promise.all(outcomes)).toEqual([null, { value: undefined }]);
  expect(await world.readAll([short, long])).toEqual([undefined, 1n]);
});

test('nor does one that has waited for a statement until little time was left', async () => {
  await world.testDatabase.asOwner('create table busy_until (id int); insert into busy_until values (1)');
  await world.testDatabase.asOwner('grant select on busy_until to public');
  const busy = await onInsertion('busy', 'while exists (select from busy_until) loop perform pg_sleep(0.02); end loop');
  const slow = await onInsertion('slower', 'perform pg_sleep(1.5)');
  const own = world.open({ applicationName: 'busy', maxConnections: 7, deadlineMs: 60_000 });
  // As many statements as may run at once: what follows waits for the first of them.
  const running = numbers(6).map(() => newId());
  const outcomes: Promise<unknown>[] = [];
  for (const id of running) {
    outcomes.push(caught(own.inOneStatement(inserting(id, `${busy} ${id}`))));
    await until(
      () =>
        world.database.statement<{ count: number }>(
          `select count(*)::integer as count from pg_stat_activity
           where datname = current_database() and application_name = 'busy' and wait_event = 'PgSleep'`,
          [],
        ),
      ([found]) => found?.count === outcomes.length,
    );
  }
  const { database, hurry } = hurriedCaller(own);
  const [short, long] = [newId(), newId()];
  outcomes.push(caught(database.inOneStatement(inserting(short))), caught(own.inOneStatement(inserting(long, slow))));
  await endOfTurn();
  hurry();
  await world.testDatabase.asOwner('delete from busy_until');
  expect(await Promise.all(outcomes)).toEqual([
    ...running.map(() => ({ value: undefined })),
    null,
    { value: undefined },
  ]);
  expect(await world.readAll([short, long])).toEqual([undefined, 1n]);
});

test('a rejection is its own caller’s: it writes nothing, and the others are written together', async () => {
  const ids = await Promise.all(numbers(6).map(() => world.insert()));
  const made = newId();
  const rejection = new Error('no');
  const rejected = caught(
    write(world.database, async (tx) => {
      sendInsertion(tx, rows, { id: made, value: 0n });
      throw rejection;
    }),
  );
  const others = await Promise.all(ids.map((id) => world.database.inOneStatement((tx) => addOne(tx, id))));
  expect(await rejected).toBe(rejection);
  expect(others).toEqual(ids.map(() => ({ value: undefined })));
  expect(await commitsOf(ids)).toBe(1);
  expect(await world.read(made)).toBeUndefined();
});

test('a rejection under a lock is decided again under that lock', async () => {
  const id = await world.insert(1n);
  let runs = 0;
  const value = write(world.database, async (tx) => {
    const row = await lockRow(tx, id);
    runs += 1;
    if (runs === 1) throw new Error('as of another moment');
    return row.value;
  });
  expect([await value, runs]).toEqual([1n, 2]);
});

test('of writes with one unique value one is done, and so are all that went with them', async () => {
  const note = `taken ${newId()}`;
  const twins = numbers(3).map(() => newId());
  const others = numbers(9).map(() => newId());
  const outcomes = await Promise.all(
    [...twins, ...others].map((id, index) =>
      world.database.inOneStatement(inserting(id, index < twins.length ? note : `${note} ${id}`)),
    ),
  );
  expect(outcomes.slice(0, 3).filter((one) => one !== null)).toHaveLength(1);
  expect(outcomes.slice(3)).toEqual(others.map(() => ({ value: undefined })));
  expect(await world.readAll(others)).toEqual(others.map(() => 1n));
});

const HELD: Readonly<Record<string, (id: string, note: string) => (tx: Transaction) => Promise<void>>> = {
  'a row that another transaction has locked': (id) => (tx) => addOne(tx, id),
  'a unique value that another transaction may take': (_, note) => inserting(newId(), note),
};

test.each(Object.entries(HELD))('%s holds up only the write that needs it', async (_, work) => {
  const [held, ...ids] = await Promise.all([world.insert(), world.insert(), world.insert(), world.insert()]);
  const note = `held ${held}`;
  const [taken, over] = [gate(), gate()];
  const rolledBack = new Error('rolled back');
  const holding = world.database.transaction(async (tx) => {
    await lockRow(tx, held);
    sendInsertion(tx, rows, { id: newId(), value: 0n, note });
    await tx.find(FIND, held);
    taken.open();
    await over.opened;
    throw rolledBack;
  });
  await taken.opened;
  let isDone = false;
  const waiting = write(world.database, work(held, note)).then(() => {
    isDone = true;
  });
  await Promise.all(ids.map((id) => write(world.database, (tx) => addOne(tx, id))));
  expect([await world.readAll(ids), isDone]).toEqual([[1n, 1n, 1n], false]);
  over.open();
  await expect(holding).rejects.toBe(rolledBack);
  await waiting;
});

test('a write that waits for something else holds up no other; it misses its own deadline', async () => {
  const patient = world.open({ applicationName: 'stuck', deadlineMs: 8_000 });
  const stuck = caught(patient.inOneStatement(() => new Promise<never>(() => {})));
  const ids = numbers(4).map(() => newId());
  await Promise.all(ids.map((id) => patient.inOneStatement(inserting(id))));
  expect(await world.readAll(ids)).toEqual(ids.map(() => 1n));
  const missed = await Promise.race([stuck, sleep(60_000, 'still waiting', { ref: false })]);
  expect(missed).toMatchObject({ outcome: 'nothing-done' });
});

test('a write whose caller is gone is not begun, and those with it are', async () => {
  const [gone, stays] = [newId(), newId()];
  const left = world.database.forCaller({ ...world.database.limits(), isGone: () => true });
  const [outcome] = await Promise.all([
    caught(left.inOneStatement(inserting(gone))),
    world.database.inOneStatement(inserting(stays)),
  ]);
  expect([outcome, await world.readAll([gone, stays])]).toEqual([expect.any(CallerGone), [undefined, 1n]]);
});

test('writes whose commit is not answered have an unknown outcome, and are not done again', async () => {
  const target = new URL(world.testDatabase.url);
  const proxy = await startCrashPointProxy({ host: target.hostname, port: Number(target.port) });
  onTestFinished(() => proxy.close());
  const url = new URL(world.testDatabase.url);
  url.port = String(proxy.port);
  const far = world.open({ applicationName: 'far', url: url.href });
  const ids = numbers(6).map(() => newId());
  proxy.holdAfter(ids[0] ?? '', 'now');
  const outcomes = ids.map((id) => caught(far.inOneStatement(inserting(id))));
  await until(
    () => world.read(ids[0] ?? ''),
    (value) => value === 1n,
  );
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1';
  await world.database.statement(end, ['far']);
  await until(
    () => sessions('far'),
    (count) => count === 0,
  );
  for (const outcome of await Promise.all(outcomes)) {
    expect(outcome).toBeInstanceOf(DatabaseUnavailable);
    expect(outcome).toMatchObject({ outcome: 'unknown' });
  }
  expect(await world.readAll(ids)).toEqual(ids.map(() => 1n));
});

test('a write whose reads are not answered has done nothing, and says so', async () => {
  const near = world.open({ applicationName: 'reading' });
  const id = await world.insert();
  const [locked, over] = [gate(), gate()];
  const holding = world.database.transaction(async (tx) => {
    await tx.statement('lock table test_rows in access exclusive mode', []);
    locked.open();
    await over.opened;
  });
  await locked.opened;
  const reading = caught(near.inOneStatement((tx) => addOne(tx, id)));
  const waits =
    "select count(*)::integer as count from pg_stat_activity where application_name = 'reading' and wait_event_type = 'Lock'";
  await until(
    () => world.database.statement<{ count: number }>(waits, []),
    ([found]) => found?.count === 1,
  );
  await world.database.statement('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
    'reading',
  ]);
  expect(await reading).toMatchObject({ name: 'DatabaseUnavailable', outcome: 'nothing-done' });
  over.open();
  await holding;
});

test('a nudge of the relay follows the commit of what it is about, and nothing else', async () => {
  const seen: Promise<bigint | undefined>[] = [];
  const id = newId();
  const listener = world.database.onWakeup(() => seen.push(world.read(id)));
  onTestFinished(() => listener.close());
  const taken = await world.insert();
  const wake = (row: string) => async (tx: Transaction) => {
    tx.noteWakeup();
    await inserting(row)(tx);
  };
  expect(await world.database.inOneStatement(wake(taken))).toBeNull();
  expect(seen).toEqual([]);
  await world.database.inOneStatement(wake(id));
  expect(await Promise.all(seen)).toEqual([1n]);
});

test('each write is counted once, by how it went', async () => {
  const seen: string[] = [];
  const own = world.open({ applicationName: 'counting', onWrite: (way) => seen.push(way) });
  const id = await world.insert();
  await own.inOneStatement((tx) => addOne(tx, id));
  await own.inOneStatement(inserting(id));
  await own.inOneStatement((tx) => tx.statement('select 1', []));
  await own.inOneStatement((tx) => tx.lock(LOCK, newId()));
  expect(seen).toEqual(['one-statement', 'contended', 'transaction', 'one-statement']);
});

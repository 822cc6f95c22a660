import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { migrate } from '../../db/migrate.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Database } from '../../db/query/database.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';

const KILLS = 20;
const WRITERS = 8;
/** Acknowledged writes between two kills, so that the load is running and the client works again. */
const WRITES_BETWEEN_KILLS = 40;
const DEADLINE_MS = 3_000;
/** For tests that do not measure the deadline: a busy machine may take its time. */
const PATIENT_MS = 120_000;
/** A call that has not settled this long after its deadline hangs. */
const HUNG_AFTER_MS = DEADLINE_MS + 60_000;

const dataDirectory = mkdtempSync(join(tmpdir(), 'driver-kill-'));
let postgres: RunningPostgres;
let database: Database;

beforeAll(async () => {
  postgres = await startPostgres({ dataDirectory });
  // The commit of every transaction calls a function of the schema.
  await migrate(postgres.ownerUrl);
  database = createDatabase({
    url: postgres.ownerUrl,
    maxConnections: 6,
    applicationName: 'driver-kill',
    deadlineMs: DEADLINE_MS,
  });
  await database.statement('create table singles (id text primary key)', []);
  await database.statement('create table pairs (id text, side text, primary key (id, side))', []);
});

afterAll(async () => {
  await database?.close();
  await postgres?.kill();
  rmSync(dataDirectory, { recursive: true, force: true });
});

/** kill -9 of the postmaster and, every other time, of all its sessions in the same moment: they cannot say goodbye. */
async function killPostgres(sessionsToo: boolean): Promise<void> {
  const { pid } = postgres.process;
  if (sessionsToo) {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    process.kill(pid, 'SIGKILL');
    for (const child of children.split('\n').map(Number)) if (child > 0) killIfAlive(child);
  }
  await postgres.kill();
  // Until it is reaped, its number looks alive to the next postmaster, which then does not start.
  await postgres.process.ended;
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}

async function writePair(id: string, deadlineMs = DEADLINE_MS): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.execute(sql`insert into pairs (id, side) values (${id}, 'debit')`);
      await tx.execute(sql`select count(*) from pairs where id = ${id}`);
      await tx.execute(sql`insert into pairs (id, side) values (${id}, 'credit')`);
    },
    { deadlineMs },
  );
}

/** Both statements are on their way before either is answered. */
async function writePairAtOnce(id: string): Promise<void> {
  await database.transaction(async (tx) => {
    await Promise.all([
      tx.execute(sql`insert into pairs (id, side) values (${id}, 'debit')`),
      tx.execute(sql`insert into pairs (id, side) values (${id}, 'credit')`),
    ]);
  });
}

async function writeSingle(id: string): Promise<void> {
  await database.statement('insert into singles (id) values ($1)', [id]);
}

test('20 kills of Postgres under 8 writers: no call hangs, no acknowledged row is lost, no transaction is halved, everything works afterwards', async () => {
  const acknowledged = { pairs: new Set<string>(), singles: new Set<string>() };
  const unexpected: unknown[] = [];
  const underWay = new Set<string>();
  let unavailable = 0;
  let written = 0;
  let stop = false;

  const notified: string[] = [];
  const listener = await database.listen('kills', (payload) => notified.push(payload));

  const writer = async (number: number) => {
    for (let sequence = 0; !stop; sequence += 1) {
      const id = `${number}-${sequence}`;
      const [write, known] = (
        [
          [writePair, acknowledged.pairs],
          [writePairAtOnce, acknowledged.pairs],
          [writeSingle, acknowledged.singles],
        ] as const
      )[sequence % 3] ?? [writeSingle, acknowledged.singles];
      underWay.add(id);
      try {
        await write(id);
        known.add(id);
        written += 1;
      } catch (error) {
        if (error instanceof DatabaseUnavailable) unavailable += 1;
        else unexpected.push(error);
        await sleep(50);
      } finally {
        underWay.delete(id);
      }
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, number) => writer(number));

  for (let kill = 0; kill < KILLS; kill += 1) {
    const goal = written + WRITES_BETWEEN_KILLS;
    while (written < goal) await sleep(5);
    await killPostgres(kill % 2 === 1);
    postgres = await startPostgres({ dataDirectory, port: postgres.port });
  }
  const goal = written + WRITES_BETWEEN_KILLS;
  while (written < goal) await sleep(5);
  stop = true;
  const finished = await Promise.race([Promise.all(writers).then(() => true), sleep(HUNG_AFTER_MS, false)]);
  expect({ finished, hung: [...underWay] }).toEqual({ finished: true, hung: [] });
  expect(unexpected).toEqual([]);
  // The kills had an effect; otherwise this test has shown nothing.
  expect(unavailable).toBeGreaterThan(KILLS);

  const singles = new Set((await readPatiently<{ id: string }>(sql`select id from singles`)).map((row) => row.id));
  const pairs = await readPatiently<{ id: string; sides: bigint }>(
    sql`select id, count(*) as sides from pairs group by id`,
  );
  const whole = new Set(pairs.filter((row) => row.sides === 2n).map((row) => row.id));
  expect([...acknowledged.singles].filter((id) => !singles.has(id))).toEqual([]);
  expect([...acknowledged.pairs].filter((id) => !whole.has(id))).toEqual([]);
  expect(pairs.filter((row) => row.sides !== 2n)).toEqual([]);

  // Full function: as many callers as before, no failure, and no connection left behind.
  await Promise.all(Array.from({ length: 100 }, (_, number) => writePair(`after-${number}`, PATIENT_MS)));
  await waitFor(async () => {
    const [sessions] = await readPatiently<{ count: bigint }>(
      sql`select count(*) from pg_stat_activity where application_name = 'driver-kill'`,
    );
    return sessions !== undefined && sessions.count <= 7n;
  });

  // The listener reconnects, after some seconds if kills were frequent, and is notified.
  await waitFor(async () => {
    const before = notified.length;
    await database.notify('kills');
    await sleep(100);
    return notified.length > before;
  });
  expect(notified.filter((payload) => payload === '').length).toBeGreaterThan(1);
  await listener.close();
  console.log(
    `${KILLS} kills: ${written} acknowledged writes, ${unavailable} calls answered as unavailable, 0 hung, 0 lost`,
  );
});

function readPatiently<Row>(query: SQL): Promise<Row[]> {
  return database.transaction((tx) => tx.execute<Row>(query), { deadlineMs: PATIENT_MS });
}

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

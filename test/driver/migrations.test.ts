import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { MigrationRefused, migrate, unfitness } from '../../db/migrate.ts';
import { OWNER_RUNS } from '../../db/service-role.ts';
import { startApi } from '../harness/api.ts';
import { createEmptyDatabase } from '../harness/servers/postgres.ts';

const OWN_DIRECTORY = new URL('../../db/migrations/', import.meta.url);
const OWN_MIGRATIONS = readdirSync(OWN_DIRECTORY).filter((name) => name.endsWith('.sql'));

async function emptyDatabase(): Promise<{ url: string; client: postgres.Sql }> {
  const database = await createEmptyDatabase('migrations');
  const client = postgres(database.url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await client.end({ timeout: 1 });
    await database.drop();
  });
  return { url: database.url, client };
}

function migrationsDirectory(files: Readonly<Record<string, string>>): {
  url: URL;
  write(name: string, text: string): void;
} {
  const directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { url: pathToFileURL(`${directory}/`), write };
}

test('the migrations apply in order to an empty database, and a second time change nothing', async () => {
  const { url } = await emptyDatabase();
  expect(await migrate(url)).toEqual(OWN_MIGRATIONS.sort());
  expect(await migrate(url)).toEqual([]);
});

test('every index says which query needs it, or holds a constraint', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url);
  const silent = await client<{ name: string }[]>`
    SELECT relname AS name FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'public' AND obj_description(pg_class.oid, 'pg_class') IS NULL
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = pg_class.oid AND contype IN ('p', 'u'))`;
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test('processes that start at the same moment apply each migration once', async () => {
  const { url, client } = await emptyDatabase();
  const { url: directory } = migrationsDirectory({
    '0001_one.sql': 'create table one (id int); select pg_sleep(0.1);',
    '0002_two.sql': 'create table two (id int);',
  });
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, directory)));
  expect(applied.flat().sort()).toEqual(['0001_one.sql', '0002_two.sql']);
  expect(await client`select count(*)::int as count from schema_migrations`).toEqual([{ count: 2 }]);
});

test('a migration that fails changes nothing, names itself, and those before it stay', async () => {
  const { url, client } = await emptyDatabase();
  const { url: directory, write } = migrationsDirectory({
    '0001_one.sql': 'create table one (id int);',
    '0002_two.sql': 'create table two (id int);\ncreate table one (id int);',
  });
  await expect(migrate(url, directory)).rejects.toThrow('0002_two.sql failed and changed nothing');
  const tables = await client`select tablename from pg_tables where schemaname = 'public' order by 1`;
  expect(tables.map((row) => row.tablename)).toEqual(['one', 'schema_migrations']);
  write('0002_two.sql', 'create table two (id int);');
  expect(await migrate(url, directory)).toEqual(['0002_two.sql']);
});

test('a file that was changed after it was applied is refused in one line', async () => {
  const { url } = await emptyDatabase();
  const { url: directory, write } = migrationsDirectory({ '0001_one.sql': 'create table one (id int);' });
  await migrate(url, directory);
  write('0001_one.sql', 'create table one (id int, more int);');
  const error = await migrate(url, directory).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(MigrationRefused);
  expect(String(error)).toContain('0001_one.sql was changed after it had been applied');
  expect(String(error)).not.toContain('\n');
});

test('one release back starts on the newer schema, says so, and serves', async () => {
  const { url } = await emptyDatabase();
  const own = Object.fromEntries(
    OWN_MIGRATIONS.map((name) => [name, readFileSync(new URL(name, OWN_DIRECTORY), 'utf8')]),
  );
  const next = migrationsDirectory({ ...own, '9000_next_release.sql': 'alter table clients add column next text;' });
  await migrate(url, next.url);
  const lines: string[] = [];
  expect(await migrate(url, undefined, { onProgress: (line) => lines.push(line) })).toEqual([]);
  expect(lines).toEqual(['The database is of a newer release, which this one runs on: 9000_next_release.sql.']);
  const api = await startApi({ url });
  onTestFinished(() => api.stop());
  expect((await api.call('GET', '/clients')).status).toBe(200);
});

test('a migration that is unknown and not newer than all of ours is refused, whatever newer ones there are', async () => {
  const { url } = await emptyDatabase();
  const both = { '0001_one.sql': 'select 1;', '0003_three.sql': 'select 1;' };
  await migrate(url, migrationsDirectory({ ...both, '0002_two.sql': 'select 1;', '0004_four.sql': 'select 1;' }).url);
  await expect(migrate(url, migrationsDirectory(both).url)).rejects.toThrow(
    '0002_two.sql, which this version of the service does not know',
  );
  const otherOfTheNumber = migrationsDirectory({ '0001_one.sql': 'select 1;', '0002_other.sql': 'select 1;' });
  await expect(migrate(url, otherOfTheNumber.url)).rejects.toThrow(
    '0002_two.sql, which this version of the service does not know',
  );
});

test('a migration of ours that is missing below a newer one is refused, and not applied', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url, migrationsDirectory({ '0001_one.sql': 'select 1;', '0003_three.sql': 'select 1;' }).url);
  const older = migrationsDirectory({ '0001_one.sql': 'select 1;', '0002_two.sql': 'create table two (id int);' });
  await expect(migrate(url, older.url)).rejects.toThrow('lacks the migration 0002_two.sql, but has 0003_three.sql');
  expect(await client`select to_regclass('two') as found`).toEqual([{ found: null }]);
});

/** A session that reads the table `one` and does not end its transaction until asked to. */
async function longReader(url: string): Promise<{ end(): Promise<void> }> {
  const session = postgres(url, { max: 1, onnotice: () => {} });
  await session.unsafe('begin; select * from one');
  const end = async () => {
    await session.unsafe('commit');
    await session.end({ timeout: 1 });
  };
  return { end };
}

const ADDS_COLUMN = {
  '0001_one.sql': 'create table one (id int);',
  '0002_two.sql': 'alter table one add column two int;',
};

test('a migration gives way while another session holds what it needs, says so, and is applied when it is free', async () => {
  const { url, client } = await emptyDatabase();
  const { url: first } = migrationsDirectory({ '0001_one.sql': ADDS_COLUMN['0001_one.sql'] });
  await migrate(url, first);
  const reader = await longReader(url);
  let waits: (line: string) => void = () => {};
  const waiting = new Promise<string>((resolve) => {
    waits = resolve;
  });
  const patience = { timeoutMs: 50, attempts: 10_000, pauseMs: 50 };
  const migrating = migrate(url, migrationsDirectory(ADDS_COLUMN).url, { patience, onProgress: waits });
  expect(await waiting).toBe('The migration 0002_two.sql waits for a lock of another session (attempt 1 of 10000) …');
  // A lock request that waits would block every other session until the reader ends.
  expect(await client`select count(*)::int as count from one`).toEqual([{ count: 0 }]);
  await reader.end();
  expect(await migrating).toEqual(['0002_two.sql']);
});

test('a migration that never gets its lock changes nothing, and says what to do', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url, migrationsDirectory({ '0001_one.sql': ADDS_COLUMN['0001_one.sql'] }).url);
  const reader = await longReader(url);
  const patience = { timeoutMs: 20, attempts: 3, pauseMs: 1 };
  const refused = await migrate(url, migrationsDirectory(ADDS_COLUMN).url, { patience }).catch(
    (error: unknown) => error,
  );
  await reader.end();
  expect(refused).toBeInstanceOf(MigrationRefused);
  expect(String(refused)).toMatch(
    /0002_two\.sql changed nothing: another session held a lock that it needs, 3 times\./,
  );
  expect(await client`select name from schema_migrations`).toEqual([{ name: '0001_one.sql' }]);
});

test('a migration that waits for a session that waits for it gives way, and is applied after it', async () => {
  const { url, client } = await emptyDatabase();
  const both = {
    '0001_tables.sql': 'create table one (id int); create table two (id int);',
    '0002_both.sql': 'alter table one add column next text; alter table two add column next text;',
  };
  await migrate(url, migrationsDirectory({ '0001_tables.sql': both['0001_tables.sql'] }).url);
  const lines: string[] = [];
  const options = {
    patience: { timeoutMs: 20_000, attempts: 10, pauseMs: 50 },
    onProgress: (line: string) => lines.push(line),
  };
  let migrating: Promise<string[]> = Promise.resolve([]);
  await client.begin(async (session) => {
    // It is the migration that notices.
    await session`set local deadlock_timeout = '1h'`;
    await session`select from two`;
    migrating = migrate(url, migrationsDirectory(both).url, options);
    for (let waits = false; !waits; ) {
      const rows = await session`select from pg_locks where relation = 'two'::regclass and not granted`;
      waits = rows.length > 0;
    }
    await session`select from one`;
  });
  expect(await migrating).toEqual(['0002_both.sql']);
  expect(lines).toEqual(['The migration 0002_both.sql waits for a lock of another session (attempt 1 of 10) …']);
});

test('two files with one number, and a misnamed one, are refused before anything is applied', async () => {
  const { url, client } = await emptyDatabase();
  const twice = migrationsDirectory({ '0001_one.sql': 'select 1;', '0001_two.sql': 'select 1;' });
  await expect(migrate(url, twice.url)).rejects.toThrow('number 0001');
  const misnamed = migrationsDirectory({ 'later.sql': 'select 1;' });
  await expect(migrate(url, misnamed.url)).rejects.toThrow('later.sql');
  expect(await client`select to_regclass('schema_migrations') as found`).toEqual([{ found: null }]);
});

test('a Postgres without uuidv7() is refused in one line', () => {
  const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(unfitness({ ...durable, version: 170_006 })).toBe(
    'Postgres 17 is too old: this service needs Postgres 18 or newer.',
  );
  expect(unfitness({ ...durable, version: 180_000 })).toBeNull();
});

test('a Postgres that would lose acknowledged commits in a crash is refused before anything is changed', async () => {
  const { url, client } = await emptyDatabase();
  const database = new URL(url).pathname.slice(1);
  await client.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  await expect(migrate(url)).rejects.toThrow(
    'This Postgres can lose acknowledged payments in a crash, because synchronous_commit is off: set it to on.',
  );
  expect(await client`select to_regclass('schema_migrations') as found`).toEqual([{ found: null }]);
  await client.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = remote_apply`);
  await expect(migrate(url, migrationsDirectory({}).url)).resolves.toEqual([]);
  const facts = { version: 180_004, fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(unfitness({ ...facts, fsync: 'off' })).toContain('fsync is off');
  expect(unfitness({ ...facts, full_page_writes: 'off' })).toContain('full_page_writes is off');
});

test('the command applies the migrations and says so; without a reachable database it fails in one line', async () => {
  const { url } = await emptyDatabase();
  const script = fileURLToPath(new URL('../../db/migrate.ts', import.meta.url));
  const run = (databaseUrl: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', script], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(run(url)).toContain('Applied 0001_clock.sql');
  // One role for both is allowed, and said.
  expect(run(url)).toBe(`${OWNER_RUNS}\nThe database is up to date.\n`);
  let failure = '';
  try {
    run('postgres://nobody@127.0.0.1:1/none');
  } catch (error) {
    failure = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  }
  expect(failure.trim().split('\n')).toHaveLength(1);
});

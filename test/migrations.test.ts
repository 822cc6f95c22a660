import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { MigrationRefused, migrate, versionRefusal } from '../db/migrate.ts';
import { createEmptyDatabase } from './harness/postgres.ts';

const OWN_MIGRATIONS = readdirSync(new URL('../db/migrations/', import.meta.url)).filter((name) =>
  name.endsWith('.sql'),
);

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

test('a database that is ahead of the code is refused', async () => {
  const { url } = await emptyDatabase();
  await migrate(url, migrationsDirectory({ '0001_one.sql': 'select 1;', '0002_two.sql': 'select 1;' }).url);
  const older = migrationsDirectory({ '0001_one.sql': 'select 1;' });
  await expect(migrate(url, older.url)).rejects.toThrow(
    '0002_two.sql, which this version of the service does not know',
  );
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
  expect(versionRefusal(170_006)).toBe('Postgres 17 is too old: this service needs Postgres 18 or newer.');
  expect(versionRefusal(180_000)).toBeNull();
});

test('the command applies the migrations and says so; without a reachable database it fails in one line', async () => {
  const { url } = await emptyDatabase();
  const script = fileURLToPath(new URL('../db/migrate.ts', import.meta.url));
  const run = (databaseUrl: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', script], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(run(url)).toContain('Applied 0001_clock.sql');
  expect(run(url)).toBe('The database is up to date.\n');
  let failure = '';
  try {
    run('postgres://nobody@127.0.0.1:1/none');
  } catch (error) {
    failure = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  }
  expect(failure.trim().split('\n')).toHaveLength(1);
});

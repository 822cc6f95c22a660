import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { compareReleases } from '../../../db/function-files.ts';
import { migrate } from '../../../db/migrate.ts';
import { createEmptyDatabase } from '../../harness/servers/postgres.ts';
import { releaseOf } from '../../harness/servers/releases/schema-releases.ts';

async function emptyDatabase() {
  const database = await createEmptyDatabase('function-files');
  const client = postgres(database.url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await client.end({ timeout: 1 });
    await database.drop();
  });
  return { url: database.url, client };
}

const answering = (answer: number, name = 'answer') =>
  `create or replace function ${name}() returns integer language sql as $$ select ${answer} $$;`;
const TABLE = { '0001_one.sql': 'create table one (id int);' };
const ONE = { ...TABLE, 'functions/answers.sql': answering(1) };
const COUNTING = `-- Applied after every migration: it counts columns.
  do $do$ begin execute format('create or replace function columns() returns bigint language sql as $$ select %s::bigint $$',
    (select count(*) from pg_attribute where attrelid = 'one'::regclass and attnum > 0)); end $do$;`;

test('a function file is applied after the migrations, and again when its text has changed, but not otherwise', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({ ...ONE, 'functions/others.sql': answering(7, 'other') });
  expect(await migrate(url, release)).toEqual(['0001_one.sql', 'functions/answers.sql', 'functions/others.sql']);
  expect(await migrate(url, release)).toEqual([]);
  release.write('functions/answers.sql', answering(2));
  expect(await migrate(url, release)).toEqual(['functions/answers.sql']);
  expect(await client`select answer(), other()`).toEqual([{ answer: 2, other: 7 }]);
});

test('functions may call those of later files, and read tables and call trigger functions of the same release', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({
    ...TABLE,
    'functions/a.sql': 'create or replace function first() returns integer language sql return 1;',
    'functions/b.sql': 'create or replace function early() returns bigint language sql as $$ select later() $$;',
    'functions/c.sql': `create or replace function later() returns bigint language sql as $$ select count(*) from one $$;
      create or replace function reject() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create or replace trigger one_rejects before delete on one for each statement execute function reject();`,
  });
  await migrate(url, release);
  expect(await client`select early()`).toEqual([{ early: '0' }]);
  await expect(client`delete from one`).rejects.toThrow('no');
});

test('a file that fails, or whose function cannot run, changes no function, and a line says why', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf(ONE);
  await migrate(url, release);
  release.write('functions/answers.sql', answering(2));
  release.write(
    'functions/broken.sql',
    'create function broken() returns bigint language sql as $$ select count(*) from none $$;',
  );
  await expect(migrate(url, release)).rejects.toThrow(
    'The functions failed and changed nothing: relation "none" does not exist',
  );
  release.write('functions/broken.sql', 'select 1 / 0;');
  await expect(migrate(url, release)).rejects.toThrow('The functions failed and changed nothing: division by zero');
  expect(await client`select answer()`).toEqual([{ answer: 1 }]);
  expect(await client`select name from schema_functions`).toEqual([{ name: 'answers.sql' }]);
});

test('an older release leaves the functions of a newer one, with or without a migration of its own, and says so', async () => {
  const { url, client } = await emptyDatabase();
  const lines: string[] = [];
  const options = { onProgress: (line: string) => lines.push(line) };
  const older = releaseOf({ ...ONE, 'functions/answers.sql': answering(1) }, '1.9.0');
  await migrate(url, older);
  await migrate(url, releaseOf({ ...TABLE, 'functions/answers.sql': answering(2) }, '1.10.0'));
  expect(await migrate(url, older, options)).toEqual([]);
  expect(await client`select answer()`).toEqual([{ answer: 2 }]);
  await migrate(
    url,
    releaseOf({ ...TABLE, '0002_two.sql': 'select 1;', 'functions/answers.sql': answering(3) }, '1.11.0'),
  );
  expect(await migrate(url, older, options)).toEqual([]);
  expect(await client`select answer()`).toEqual([{ answer: 3 }]);
  expect(lines).toEqual([
    'The database has the functions of the newer release 1.10.0, which are kept.',
    'This release runs on the database of a newer release: 0002_two.sql.',
  ]);
  // The newer one again, after its rollback.
  const newest = { ...TABLE, '0002_two.sql': 'select 1;', 'functions/answers.sql': answering(4) };
  expect(await migrate(url, releaseOf(newest, '1.12.0'))).toEqual(['functions/answers.sql']);
});

test('what depends on the columns of tables is applied after every migration', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({ ...ONE, 'functions/columns.sql': COUNTING });
  await migrate(url, release);
  expect(await client`select columns()`).toEqual([{ columns: '1' }]);
  release.write('0002_more.sql', 'alter table one add column more int;');
  expect(await migrate(url, release)).toEqual(['0002_more.sql', 'functions/columns.sql']);
  expect(await client`select columns()`).toEqual([{ columns: '2' }]);
});

test('what depends on the columns of tables is applied although the run that migrated ended before it', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({ ...ONE, 'functions/columns.sql': COUNTING });
  await migrate(url, release);
  release.write('0002_more.sql', 'alter table one add column more int;');
  release.write('functions/answers.sql', 'select 1 / 0;');
  await expect(migrate(url, release)).rejects.toThrow('division by zero');
  release.write('functions/answers.sql', answering(1));
  expect(await migrate(url, release)).toEqual(['functions/columns.sql']);
  expect(await client`select columns()`).toEqual([{ columns: '2' }]);
});

test('a file that is gone leaves its functions to the release before, and is applied when it comes back', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url, releaseOf(ONE));
  await migrate(url, releaseOf(TABLE));
  expect(await client`select answer()`).toEqual([{ answer: 1 }]);
  await migrate(url, releaseOf({ ...TABLE, '0002_gone.sql': 'drop function answer();' }));
  await migrate(url, releaseOf({ ...ONE, '0002_gone.sql': 'drop function answer();' }));
  expect(await client`select answer()`).toEqual([{ answer: 1 }]);
});

test('functions wait for a lock as migrations do, and give up in one line', async () => {
  const { url, client } = await emptyDatabase();
  const trigger = `create or replace function reject() returns trigger language plpgsql as $$ begin return null; end $$;
    create or replace trigger one_watched before delete on one for each statement execute function reject();`;
  const release = releaseOf({ ...TABLE, 'functions/triggers.sql': trigger });
  await migrate(url, release);
  release.write('functions/triggers.sql', `${trigger}\n-- Changed.`);
  const lines: string[] = [];
  const lockWait = { timeoutMs: 20, attempts: 2, pauseMs: 1 };
  await client.begin(async (session) => {
    await session`insert into one values (1)`;
    await expect(migrate(url, release, { lockWait, onProgress: (line) => lines.push(line) })).rejects.toThrow(
      'The functions changed nothing: another session held a lock that is needed, 2 times.',
    );
  });
  expect(lines).toEqual(['The functions must wait for a lock of another session (attempt 1 of 2) …']);
  expect(await migrate(url, release)).toEqual(['functions/triggers.sql']);
});

test('releases are compared by their numbers', () => {
  expect(compareReleases('0.10.0', '0.9.9')).toBeGreaterThan(0);
  expect(compareReleases('1.0.0', '1.0.1')).toBeLessThan(0);
  expect(compareReleases('1.2.3', '1.2.3')).toBe(0);
  expect(() => compareReleases('latest', '1.0.0')).toThrow('not numbered');
});

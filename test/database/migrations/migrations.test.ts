import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { migrate, whyUnfit } from '../../../db/migrate.ts';
import { MigrationRejected } from '../../../db/migration-files.ts';
import { OWNER_RUNS } from '../../../db/service-role.ts';
import { startApi } from '../../harness/api.ts';
import { moneyWorld } from '../../harness/money.ts';
import { createEmptyDatabase } from '../../harness/servers/postgres.ts';
import { OWN_FUNCTIONS, OWN_MIGRATIONS, ownFiles, releaseOf } from '../../harness/servers/releases/schema-releases.ts';

async function emptyDatabase(): Promise<{ url: string; client: postgres.Sql }> {
  const database = await createEmptyDatabase('migrations');
  const client = postgres(database.url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await client.end({ timeout: 1 });
    await database.drop();
  });
  return { url: database.url, client };
}

test('migrations and functions apply in order to an empty database, and a second time change nothing', async () => {
  const { url } = await emptyDatabase();
  expect(await migrate(url)).toEqual([...OWN_MIGRATIONS, ...OWN_FUNCTIONS]);
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

test('no migration since the baseline builds an index or changes rows after a statement that holds up readers', () => {
  const late = /^(DROP INDEX|ALTER TABLE) [\s\S]*^(CREATE( UNIQUE)? INDEX|UPDATE) /m;
  const files = ownFiles();
  expect(OWN_MIGRATIONS.slice(1).filter((name) => late.test(files[name] ?? ''))).toEqual([]);
});

/** What takes away from the release before, which still runs: a table or column that it uses, or what it may write. */
const TAKES_AWAY: readonly RegExp[] = [
  /^DROP (TABLE|VIEW|TYPE|DOMAIN|FUNCTION|SEQUENCE)\b/i,
  /^ALTER (TABLE|VIEW|TYPE) [\s\S]*\b(DROP (COLUMN|ATTRIBUTE)|RENAME|ALTER COLUMN \S+ (SET DATA )?TYPE|SET NOT NULL)\b/i,
  /^ALTER TABLE (?![\s\S]*NOT VALID)[\s\S]*\bADD (CONSTRAINT|CHECK)\b/i,
  /^ALTER TABLE [\s\S]*\bADD COLUMN [^,]*\bNOT NULL\b(?![^,]*\bDEFAULT\b)/i,
];
/** Above a statement that takes away what the release before does not use either. */
const CONTRACT = /^-- Unused since release \d+\.\d+\.\d+/m;

function takesAway(migration: string): string[] {
  return migration.split(';').flatMap((part) => {
    const statement = part.replace(/^\s*--.*$/gm, '').trim();
    return !CONTRACT.test(part.trim()) && TAKES_AWAY.some((taking) => taking.test(statement)) ? [statement] : [];
  });
}

test('no migration since the baseline takes away what the release before uses: that comes a release later, and says so', () => {
  const files = ownFiles();
  expect(OWN_MIGRATIONS.slice(1).flatMap((name) => takesAway(files[name] ?? ''))).toEqual([]);
  for (const statement of [
    'DROP TABLE events',
    'ALTER TABLE clients DROP COLUMN title',
    'ALTER TABLE clients RENAME COLUMN title TO name',
    'ALTER TABLE clients ALTER COLUMN title TYPE integer',
    'ALTER TABLE clients ADD COLUMN one text, ALTER COLUMN title SET NOT NULL',
    'ALTER TABLE clients ADD COLUMN one text, ADD COLUMN two text NOT NULL',
    'ALTER TABLE clients ADD CONSTRAINT short CHECK (length(title) < 9)',
  ]) {
    expect(takesAway(`CREATE TABLE one (id int);\n${statement};\n`), statement).toEqual([statement]);
    expect(takesAway(`-- Unused since release 1.4.0.\n${statement};\n`)).toEqual([]);
  }
  for (const statement of [
    'ALTER TABLE clients ADD COLUMN one text, ADD COLUMN two text NOT NULL DEFAULT 1',
    'ALTER TABLE clients ADD CONSTRAINT short CHECK (length(title) < 9) NOT VALID',
    'CREATE TABLE one (id int NOT NULL)',
  ])
    expect(takesAway(statement)).toEqual([]);
});

test('processes that start at the same moment apply each migration once', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({
    '0001_one.sql': 'create table one (id int); select pg_sleep(0.1);',
    '0002_two.sql': 'create table two (id int);',
  });
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, release)));
  expect(applied.flat().sort()).toEqual(['0001_one.sql', '0002_two.sql']);
  expect(await client`select count(*)::int as count from schema_migrations`).toEqual([{ count: 2 }]);
});

test('a migration that fails changes nothing, names itself, and those before it stay', async () => {
  const { url, client } = await emptyDatabase();
  const release = releaseOf({
    '0001_one.sql': 'create table one (id int);',
    '0002_two.sql': 'create table two (id int);\ncreate table one (id int);',
  });
  await expect(migrate(url, release)).rejects.toThrow('0002_two.sql failed and changed nothing');
  const tables = await client`select tablename from pg_tables where schemaname = 'public' order by 1`;
  expect(tables.map((row) => row.tablename)).toEqual(['one', 'schema_migrations']);
  release.write('0002_two.sql', 'create table two (id int);');
  expect(await migrate(url, release)).toEqual(['0002_two.sql']);
});

test('a file that was changed after it was applied is rejected in one line', async () => {
  const { url } = await emptyDatabase();
  const release = releaseOf({ '0001_one.sql': 'create table one (id int);' });
  await migrate(url, release);
  release.write('0001_one.sql', 'create table one (id int, more int);');
  const error = await migrate(url, release).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(MigrationRejected);
  expect(String(error)).toContain('0001_one.sql was changed after it had been applied');
  expect(String(error)).not.toContain('\n');
});

test('one release back starts on the newer schema, leaves its functions as they are, says so, and serves', async () => {
  const { url, client } = await emptyDatabase();
  const own = ownFiles();
  const next = releaseOf(
    {
      ...own,
      '9000_next_release.sql': 'alter table clients add column next text;',
      'functions/clock.sql': `${own['functions/clock.sql']}\ncomment on function service_now() is 'of the next release';`,
    },
    '99.0.0',
  );
  await migrate(url, next);
  const lines: string[] = [];
  expect(await migrate(url, undefined, { onProgress: (line) => lines.push(line) })).toEqual([]);
  expect(lines).toEqual(['This release runs on the database of a newer release: 9000_next_release.sql.']);
  expect(await client`select obj_description('service_now()'::regprocedure) as text`).toEqual([
    { text: 'of the next release' },
  ]);
  const api = await startApi({ url });
  onTestFinished(() => api.stop());
  expect((await api.call('GET', '/clients')).status).toBe(200);
});

test('the next release migrates while this one runs, which then goes on serving', async () => {
  const { url } = await emptyDatabase();
  await migrate(url);
  const api = await startApi({ url });
  onTestFinished(() => api.stop());
  const world = moneyWorld(api);
  const payer = await world.client('Ada');
  const [from, to] = [await world.account(payer, { amount: 10 }), await world.account(payer)];
  const send = () =>
    api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: {
        outgoingTransfer: {
          clientId: payer,
          currency: 'GBP',
          amount: 1,
          scope: 'internal',
          source: { type: 'client-account', accountId: from },
          destination: { type: 'client-account', accountId: to },
        },
      },
    });
  expect((await send()).status).toBe(201);
  const own = ownFiles();
  const next = {
    ...own,
    '9000_next_release.sql': `alter table clients add column next text; alter table accounts add column next text;
      alter table outgoing_transfers add column next text;`,
    'functions/clock.sql': `${own['functions/clock.sql']}\n-- Changed.`,
  };
  expect(await migrate(url, releaseOf(next, '99.0.0'))).toEqual([
    '9000_next_release.sql',
    'functions/clock.sql',
    'functions/transfer-rows.sql',
  ]);
  const sent = await send();
  expect(sent.status, sent.text).toBe(201);
  expect(await world.account(await world.client('Grace'), { amount: 10 })).toBeDefined();
  await world.invariantsHold();
});

test('a migration that is unknown and not newer than all of ours is rejected, whatever newer ones there are', async () => {
  const { url } = await emptyDatabase();
  const both = { '0001_one.sql': 'select 1;', '0003_three.sql': 'select 1;' };
  await migrate(url, releaseOf({ ...both, '0002_two.sql': 'select 1;', '0004_four.sql': 'select 1;' }));
  await expect(migrate(url, releaseOf(both))).rejects.toThrow(
    '0002_two.sql, which this version of the service does not know',
  );
  const otherOfTheNumber = releaseOf({ '0001_one.sql': 'select 1;', '0002_other.sql': 'select 1;' });
  await expect(migrate(url, otherOfTheNumber)).rejects.toThrow(
    '0002_two.sql, which this version of the service does not know',
  );
});

test('a migration of ours that is missing below a newer one is rejected, and not applied', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url, releaseOf({ '0001_one.sql': 'select 1;', '0003_three.sql': 'select 1;' }));
  const older = releaseOf({ '0001_one.sql': 'select 1;', '0002_two.sql': 'create table two (id int);' });
  await expect(migrate(url, older)).rejects.toThrow('lacks the migration 0002_two.sql, but has 0003_three.sql');
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
  const first = releaseOf({ '0001_one.sql': ADDS_COLUMN['0001_one.sql'] });
  await migrate(url, first);
  const reader = await longReader(url);
  let waits: (line: string) => void = () => {};
  const waiting = new Promise<string>((resolve) => {
    waits = resolve;
  });
  const lockWait = { timeoutMs: 50, attempts: 10_000, pauseMs: 50 };
  const migrating = migrate(url, releaseOf(ADDS_COLUMN), { lockWait, onProgress: waits });
  expect(await waiting).toBe(
    'The migration 0002_two.sql must wait for a lock of another session (attempt 1 of 10000) …',
  );
  // A lock request that waits would block every other session until the reader ends.
  expect(await client`select count(*)::int as count from one`).toEqual([{ count: 0 }]);
  await reader.end();
  expect(await migrating).toEqual(['0002_two.sql']);
});

test('a migration that never gets its lock changes nothing, and says what to do', async () => {
  const { url, client } = await emptyDatabase();
  await migrate(url, releaseOf({ '0001_one.sql': ADDS_COLUMN['0001_one.sql'] }));
  const reader = await longReader(url);
  const lockWait = { timeoutMs: 20, attempts: 3, pauseMs: 1 };
  const rejected = await migrate(url, releaseOf(ADDS_COLUMN), { lockWait }).catch((error: unknown) => error);
  await reader.end();
  expect(rejected).toBeInstanceOf(MigrationRejected);
  expect(String(rejected)).toMatch(
    /0002_two\.sql changed nothing: another session held a lock that is needed, 3 times\./,
  );
  expect(await client`select name from schema_migrations`).toEqual([{ name: '0001_one.sql' }]);
});

test('a migration that waits for a session that waits for it gives way, and is applied after it', async () => {
  const { url, client } = await emptyDatabase();
  const both = {
    '0001_tables.sql': 'create table one (id int); create table two (id int);',
    '0002_both.sql': 'alter table one add column next text; alter table two add column next text;',
  };
  await migrate(url, releaseOf({ '0001_tables.sql': both['0001_tables.sql'] }));
  const lines: string[] = [];
  const options = {
    lockWait: { timeoutMs: 20_000, attempts: 10, pauseMs: 50 },
    onProgress: (line: string) => lines.push(line),
  };
  let migrating: Promise<string[]> = Promise.resolve([]);
  await client.begin(async (session) => {
    // It is the migration that notices.
    await session`set local deadlock_timeout = '1h'`;
    await session`select from two`;
    migrating = migrate(url, releaseOf(both), options);
    for (let waits = false; !waits; ) {
      const rows = await session`select from pg_locks where relation = 'two'::regclass and not granted`;
      waits = rows.length > 0;
    }
    await session`select from one`;
  });
  expect(await migrating).toEqual(['0002_both.sql']);
  expect(lines).toEqual(['The migration 0002_both.sql must wait for a lock of another session (attempt 1 of 10) …']);
});

test('two files with one number, and a misnamed one, are rejected before anything is applied', async () => {
  const { url, client } = await emptyDatabase();
  const twice = releaseOf({ '0001_one.sql': 'select 1;', '0001_two.sql': 'select 1;' });
  await expect(migrate(url, twice)).rejects.toThrow('number 0001');
  const misnamed = releaseOf({ 'later.sql': 'select 1;' });
  await expect(migrate(url, misnamed)).rejects.toThrow('later.sql');
  expect(await client`select to_regclass('schema_migrations') as found`).toEqual([{ found: null }]);
});

test('a Postgres without uuidv7() is rejected in one line', () => {
  const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(whyUnfit({ ...durable, version: 170_006 })).toBe(
    'Postgres 17 is too old: this service needs Postgres 18 or newer.',
  );
  expect(whyUnfit({ ...durable, version: 180_000 })).toBeNull();
});

test('a Postgres that would lose acknowledged commits in a crash is rejected before anything is changed', async () => {
  const { url, client } = await emptyDatabase();
  const database = new URL(url).pathname.slice(1);
  await client.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  await expect(migrate(url)).rejects.toThrow(
    'This Postgres can lose acknowledged payments in a crash, because synchronous_commit is off: set it to on.',
  );
  expect(await client`select to_regclass('schema_migrations') as found`).toEqual([{ found: null }]);
  await client.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = remote_apply`);
  await expect(migrate(url, releaseOf({}))).resolves.toEqual([]);
  const facts = { version: 180_004, fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(whyUnfit({ ...facts, fsync: 'off' })).toContain('fsync is off');
  expect(whyUnfit({ ...facts, full_page_writes: 'off' })).toContain('full_page_writes is off');
});

test('the command applies the migrations and says so; without a reachable database it fails in one line', async () => {
  const { url } = await emptyDatabase();
  const script = fileURLToPath(new URL('../../../db/migrate.ts', import.meta.url));
  const run = (databaseUrl: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', script], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(run(url)).toMatch(/Applied 0001_baseline\.sql, (\d{4}_\w+\.sql, )*functions\//);
  // One role for both is allowed, and said.
  expect(run(url)).toBe(`${OWNER_RUNS}\nThe database is up to date.\n`);
  let failure = '';
  try {
    run('postgres://service@127.0.0.1:1/none');
  } catch (error) {
    failure = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  }
  expect(failure.trim().split('\n')).toHaveLength(1);
});

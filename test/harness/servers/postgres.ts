import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { migrate } from '../../../db/migrate.ts';
import { testPostgresUrl } from './shared-postgres.ts';

export interface TestDatabase {
  /** The URL of a separate database with migrations and their seeds only, as the role that the service's processes run as. */
  url: string;
  /** The same as the owner of its tables, to migrate or to plant defects that the service cannot cause. */
  ownerUrl: string;
  /** Executes one statement as the owner, on a connection of its own. */
  asOwner<Row extends postgres.Row = postgres.Row>(statement: string): Promise<Row[]>;
  /** Ends its sessions and removes it. */
  drop(): Promise<void>;
}

const DB_DIRECTORY = fileURLToPath(new URL('../../../db', import.meta.url));
const TEMPLATE_LOCK = 7_423_001;
/** The limit of the whole server, which test runs share. */
const SERVICE_ROLE = 'test_service';

/**
 * A database for one test file: a copy of a template that is migrated once per state of the migrations. The name only helps a reader
 * of `pg_stat_activity`.
 */
export async function createTestDatabase(name: string): Promise<TestDatabase> {
  const serverUrl = await testPostgresUrl();
  const template = await migratedTemplate(serverUrl);
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 30);
  const database = `test_${readable}_${randomBytes(5).toString('hex')}`;
  await onServer(serverUrl, async (sql) => {
    await sql.unsafe(`create database ${database} template ${template}`);
    // A copy has the rights to tables, but not those to the database.
    await sql.unsafe(`revoke temporary on database ${database} from public`);
  });
  return testDatabase(serverUrl, database, asService);
}

/** An empty, unmigrated database with no role but its owner's, for tests of the migrations themselves. */
export async function createEmptyDatabase(name: string): Promise<TestDatabase> {
  const serverUrl = await testPostgresUrl();
  const database = `empty_${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 30)}_${randomBytes(5).toString('hex')}`;
  await onServer(serverUrl, async (sql) => {
    await sql.unsafe(`create database ${database}`);
  });
  return testDatabase(serverUrl, database, (url) => url);
}

function testDatabase(serverUrl: string, database: string, asRunning: (ownerUrl: string) => string): TestDatabase {
  const ownerUrl = databaseUrl(serverUrl, database);
  return {
    url: asRunning(ownerUrl),
    ownerUrl,
    asOwner: (statement) => executeOn(ownerUrl, statement),
    drop: () => onServer(serverUrl, (sql) => dropDatabase(sql, database)),
  };
}

/** Executes one statement on a connection of its own. */
export async function executeOn<Row extends postgres.Row = postgres.Row>(
  url: string,
  statement: string,
): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe<Row[]>(statement))];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The address of the same database for the service's role, whose password is the server's own. */
function asService(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = SERVICE_ROLE;
  return url.href;
}

async function migratedTemplate(serverUrl: string): Promise<string> {
  const template = `template_${migrationsHash()}`;
  await onServer(serverUrl, async (sql) => {
    // Test files run in several processes: one builds the template, the others wait.
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    const existing = await sql`select 1 from pg_database where datname = ${template}`;
    if (existing.length > 0) return;
    const roles = await sql`select 1 from pg_roles where rolname = ${SERVICE_ROLE}`;
    if (roles.length === 0)
      await sql.unsafe(
        `create role ${SERVICE_ROLE} login password '${decodeURIComponent(new URL(serverUrl).password)}'`,
      );
    const building = `${template}_building`;
    await dropDatabase(sql, building);
    await sql.unsafe(`create database ${building}`);
    await migrate(databaseUrl(serverUrl, building), undefined, { serviceRole: SERVICE_ROLE });
    await sql.unsafe(`alter database ${building} rename to ${template}`);
  });
  return template;
}

function migrationsHash(): string {
  const hash = createHash('sha256');
  for (const file of ['migrate.ts', 'migration-files.ts', 'function-files.ts', 'service-role.ts', 'service-role.sql'])
    hash.update(readFileSync(join(DB_DIRECTORY, file)));
  for (const directory of ['migrations', 'functions']) {
    for (const file of readdirSync(join(DB_DIRECTORY, directory)).sort()) {
      hash.update(`\0${file}\0`).update(readFileSync(join(DB_DIRECTORY, directory, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function dropDatabase(sql: postgres.Sql, database: string): Promise<void> {
  await sql.unsafe(`drop database if exists ${database} with (force)`);
}

/** One connection, so that a session's advisory lock ends with the work. */
async function onServer(serverUrl: string, work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const sql = postgres(databaseUrl(serverUrl, 'postgres'), { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

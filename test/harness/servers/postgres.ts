import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { migrate } from '../../../db/migrate.ts';
import { testPostgresUrl } from './shared-postgres.ts';

export interface TestDatabase {
  /** The URL of a separate database with migrations and their seeds only. */
  url: string;
  /** Ends its sessions and removes it. */
  drop(): Promise<void>;
}

const DB_DIRECTORY = fileURLToPath(new URL('../../../db', import.meta.url));
const TEMPLATE_LOCK = 7_423_001;

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
  });
  return {
    url: databaseUrl(serverUrl, database),
    drop: () => onServer(serverUrl, (sql) => dropDatabase(sql, database)),
  };
}

/** An empty, unmigrated database, for tests of the migrations themselves. */
export async function createEmptyDatabase(name: string): Promise<TestDatabase> {
  const serverUrl = await testPostgresUrl();
  const database = `empty_${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 30)}_${randomBytes(5).toString('hex')}`;
  await onServer(serverUrl, async (sql) => {
    await sql.unsafe(`create database ${database}`);
  });
  return {
    url: databaseUrl(serverUrl, database),
    drop: () => onServer(serverUrl, (sql) => dropDatabase(sql, database)),
  };
}

async function migratedTemplate(serverUrl: string): Promise<string> {
  const template = `template_${migrationsHash()}`;
  await onServer(serverUrl, async (sql) => {
    // Test files run in several processes: one builds the template, the others wait.
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    const existing = await sql`select 1 from pg_database where datname = ${template}`;
    if (existing.length > 0) return;
    const building = `${template}_building`;
    await dropDatabase(sql, building);
    await sql.unsafe(`create database ${building}`);
    await migrate(databaseUrl(serverUrl, building));
    await sql.unsafe(`alter database ${building} rename to ${template}`);
  });
  return template;
}

function migrationsHash(): string {
  const hash = createHash('sha256');
  hash.update(readFileSync(join(DB_DIRECTORY, 'migrate.ts')));
  const migrations = join(DB_DIRECTORY, 'migrations');
  for (const file of readdirSync(migrations).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(migrations, file)));
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

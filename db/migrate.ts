import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any number that nothing else in the database uses as an advisory lock. */
const MIGRATION_LOCK = 7_423_017;
/** uuidv7() came with 18. */
const POSTGRES_MIN = 180_000;

/** A reason to stop that the operator can act upon; its message is one line. */
export class MigrationRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationRefused';
  }
}

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/**
 * Applies the migrations that the database does not have yet, in order, each in a transaction, one process at a time.
 * An applied file that was changed since, or is gone, is refused.
 */
export async function migrate(databaseUrl: string, directory: URL = MIGRATIONS): Promise<string[]> {
  const migrations = readMigrations(directory);
  const client = postgres(databaseUrl, { max: 1, onnotice: () => {}, fetch_types: false, connect_timeout: 10 });
  try {
    await refuseOldPostgres(client);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await client`
      create table if not exists schema_migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default clock_timestamp()
      )`;
    const applied = await client<{ name: string; sha256: string }[]>`select name, sha256 from schema_migrations`;
    const hashes = new Map(applied.map((row) => [row.name, row.sha256]));
    refuseChangedHistory(migrations, hashes);
    const pending = migrations.filter((migration) => !hashes.has(migration.name));
    for (const migration of pending) await apply(client, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end({ timeout: 5 });
  }
}

function readMigrations(directory: URL): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const numbers = new Set<string>();
  return names.map((name) => {
    if (!MIGRATION_NAME.test(name)) throw new MigrationRefused(`The migration ${name} is not named NNNN_words.sql.`);
    const number = name.slice(0, 4);
    if (numbers.has(number)) throw new MigrationRefused(`Two migrations have the number ${number}.`);
    numbers.add(number);
    const text = readFileSync(new URL(name, directory), 'utf8');
    return { name, text, hash: createHash('sha256').update(text).digest('hex') };
  });
}

async function refuseOldPostgres(client: postgres.Sql): Promise<void> {
  const [row] = await client<{ version: string }[]>`select current_setting('server_version_num') as version`;
  const refusal = versionRefusal(Number(row?.version ?? 0));
  if (refusal !== null) throw new MigrationRefused(refusal);
}

/** Why a Postgres of this `server_version_num` cannot be used; null when it can. */
export function versionRefusal(version: number): string | null {
  if (version >= POSTGRES_MIN) return null;
  return `Postgres ${Math.floor(version / 10_000)} is too old: this service needs Postgres 18 or newer.`;
}

function refuseChangedHistory(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const known = new Set(migrations.map((migration) => migration.name));
  for (const name of applied.keys()) {
    if (!known.has(name)) {
      throw new MigrationRefused(
        `The database has the migration ${name}, which this version of the service does not know.`,
      );
    }
  }
  for (const { name, hash } of migrations) {
    const recorded = applied.get(name);
    if (recorded !== undefined && recorded !== hash) {
      throw new MigrationRefused(
        `The migration ${name} was changed after it had been applied: write a new one instead.`,
      );
    }
  }
}

async function apply(client: postgres.Sql, migration: Migration): Promise<void> {
  try {
    await client.begin(async (tx) => {
      await tx.unsafe(migration.text);
      await tx`insert into schema_migrations (name, sha256) values (${migration.name}, ${migration.hash})`;
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationRefused(`The migration ${migration.name} failed and changed nothing: ${reason}`, {
      cause: error,
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = process.env.DATABASE_URL;
  if (url === undefined || url === '') {
    console.error('DATABASE_URL is not set.');
    process.exit(1);
  }
  try {
    const names = await migrate(url);
    console.log(names.length === 0 ? 'The database is up to date.' : `Applied ${names.join(', ')}.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { grantToService, OWNER_RUNS, readRole } from './service-role.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Arbitrary, but unique among the advisory locks of this database. */
const MIGRATION_LOCK = 7_423_017;
/** The release that brought uuidv7(). */
const POSTGRES_MIN = 180_000;

/** A problem that the operator can fix; its message is one line. */
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

/** Without the right to make tables, this is the service's own role, or the database is another's. */
async function requireOwner(client: postgres.Sql): Promise<void> {
  const [right] = await client<{ role: string; may: boolean }[]>`
    select current_user::text as role, has_schema_privilege(current_schema(), 'CREATE') as may`;
  if (right?.may) return;
  throw new MigrationRefused(
    `The role ${right?.role} does not own this database: set MIGRATION_DATABASE_URL to the address of the owner, which migrates.`,
  );
}

/** The role to which rights are granted; null, and a warning, if it needs none because it can do all that the owner can. */
async function granteeOf(
  client: postgres.Sql,
  serviceRole: string,
  onProgress: (line: string) => void,
): Promise<string | null> {
  const role = await readRole(client, serviceRole);
  if (role === null)
    throw new MigrationRefused(
      `The role ${serviceRole} of DATABASE_URL does not exist: create it (README, "Real use").`,
    );
  if (role.actsAsMigrator || role.ownsTables) onProgress(OWNER_RUNS);
  return role.actsAsMigrator ? null : serviceRole;
}

/** How a migration waits for the locks of running processes. */
export interface LockPatience {
  /** When to give up on a lock: every later session queues behind a migration that waits. */
  readonly timeoutMs: number;
  readonly attempts: number;
  /** The pause between attempts, in which waiting sessions proceed. */
  readonly pauseMs: number;
}

const LOCK_PATIENCE: LockPatience = { timeoutMs: 2_000, attempts: 30, pauseMs: 2_000 };

export interface MigrateOptions {
  readonly patience?: LockPatience;
  readonly onProgress?: (line: string) => void;
  /** The role that the service's processes run as, which gets its rights with each migration. Default: none gets any. */
  readonly serviceRole?: string;
}

/**
 * Applies missing migrations in order, each in its own transaction, one process at a time. Rejects an applied file that has
 * changed or disappeared; accepts migrations of a newer release.
 */
export async function migrate(
  databaseUrl: string,
  directory: URL = MIGRATIONS,
  { patience = LOCK_PATIENCE, onProgress = () => {}, serviceRole }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = readMigrations(directory);
  const client = postgres(databaseUrl, { max: 1, onnotice: () => {}, fetch_types: false, connect_timeout: 10 });
  try {
    await refuseUnfitPostgres(client);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await requireOwner(client);
    const grantee = serviceRole === undefined ? null : await granteeOf(client, serviceRole, onProgress);
    await client`
      create table if not exists schema_migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default clock_timestamp()
      )`;
    const applied = await client<{ name: string; sha256: string }[]>`select name, sha256 from schema_migrations`;
    const hashes = new Map(applied.map((row) => [row.name, row.sha256]));
    refuseChangedHistory(migrations, hashes);
    const newer = ofNewerRelease(migrations, hashes);
    const pending = migrations.filter((migration) => !hashes.has(migration.name));
    refuseGap(pending, newer);
    if (newer.length > 0)
      onProgress(`The database is of a newer release, which this one runs on: ${newer.join(', ')}.`);
    for (const migration of pending) await applyPatiently(client, { migration, grantee, patience, onProgress });
    const vain = grantee === null ? [] : await client.begin((tx) => grantToService(tx, grantee));
    for (const statement of vain)
      onProgress(`This had no effect, so do it by the role that gave the right: ${statement}`);
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

/** What decides whether this service can trust a Postgres with money; the settings are those of the migration's session. */
export interface PostgresFacts {
  readonly version: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
}

async function refuseUnfitPostgres(client: postgres.Sql): Promise<void> {
  const [facts] = await client<PostgresFacts[]>`select current_setting('server_version_num')::integer as version,
    current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit`;
  const refusal = facts === undefined ? null : unfitness(facts);
  if (refusal !== null) throw new MigrationRefused(refusal);
}

/** Why this service must not run on such a Postgres: it is too old, or a crash loses commits that it has acknowledged. */
export function unfitness(facts: PostgresFacts): string | null {
  const { version } = facts;
  if (version < POSTGRES_MIN)
    return `Postgres ${Math.floor(version / 10_000)} is too old: this service needs Postgres 18 or newer.`;
  const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).find((name) => facts[name] === 'off');
  if (off === undefined) return null;
  return `This Postgres can lose acknowledged payments in a crash, because ${off} is off: set it to on.`;
}

/** Applied migrations that this release does not have. */
function unknownTo(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): string[] {
  const known = new Set(migrations.map((migration) => migration.name));
  return [...applied.keys()].filter((name) => !known.has(name)).sort();
}

/**
 * Migrations later than all of ours: a newer release ran here and was rolled back. This release can run, because every
 * migration keeps the previous release working. A migration that is not later belongs to another history.
 */
function ofNewerRelease(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): string[] {
  const newestNumber = migrations.at(-1)?.name.slice(0, 4) ?? '';
  const unknown = unknownTo(migrations, applied);
  const stranger = unknown.find((name) => name.slice(0, 4) <= newestNumber);
  if (stranger === undefined) return unknown;
  throw new MigrationRefused(
    `The database has the migration ${stranger}, which this version of the service does not know.`,
  );
}

/** Never applies one of our migrations below a newer one: that order was never tested. */
function refuseGap(pending: readonly Migration[], newer: readonly string[]): void {
  const [missing] = pending;
  if (missing === undefined || newer.length === 0) return;
  throw new MigrationRefused(
    `The database lacks the migration ${missing.name}, but has ${newer[0]} of a newer release: start that one.`,
  );
}

function refuseChangedHistory(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  for (const { name, hash } of migrations) {
    const recorded = applied.get(name);
    if (recorded !== undefined && recorded !== hash) {
      throw new MigrationRefused(
        `The migration ${name} was changed after it had been applied: write a new one instead.`,
      );
    }
  }
}

interface Application {
  readonly migration: Migration;
  /** The role that gets its rights to what the migration makes. */
  readonly grantee: string | null;
  readonly patience: LockPatience;
  readonly onProgress: (line: string) => void;
}

/** The lock timed out, or its holder waited for one of the migration's own locks. */
const LOCK_REFUSALS: ReadonlySet<string> = new Set(['55P03', '40P01']);

/** Yields to the session that holds a needed lock, logs it, and tries again. */
async function applyPatiently(client: postgres.Sql, application: Application): Promise<void> {
  const { migration, onProgress } = application;
  const { attempts, pauseMs } = application.patience;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(client, application);
    } catch (error) {
      if (!(error instanceof postgres.PostgresError && LOCK_REFUSALS.has(error.code))) throw failed(migration, error);
      if (attempt >= attempts) {
        throw new MigrationRefused(
          `The migration ${migration.name} changed nothing: another session held a lock that it needs, ${attempts} times. End that session (pg_stat_activity shows it), and run this again.`,
          { cause: error },
        );
      }
      onProgress(
        `The migration ${migration.name} waits for a lock of another session (attempt ${attempt} of ${attempts}) …`,
      );
      await client`select pg_sleep(${pauseMs / 1000})`;
    }
  }
}

async function apply(client: postgres.Sql, { migration, grantee, patience }: Application): Promise<void> {
  await client.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${`${patience.timeoutMs}ms`}, true)`;
    await tx.unsafe(migration.text);
    // In the same transaction: running processes call its functions and set off its triggers from the commit on.
    if (grantee !== null) await grantToService(tx, grantee);
    await tx`insert into schema_migrations (name, sha256) values (${migration.name}, ${migration.hash})`;
  });
}

function failed(migration: Migration, error: unknown): MigrationRefused {
  const reason = error instanceof Error ? error.message : String(error);
  return new MigrationRefused(`The migration ${migration.name} failed and changed nothing: ${reason}`, {
    cause: error,
  });
}

/** The role that an address of Postgres names: rights are granted by its name. */
export function roleOf(databaseUrl: string): string {
  const role = decodeURIComponent(new URL(databaseUrl).username);
  if (role !== '') return role;
  throw new MigrationRefused('DATABASE_URL must name a role: postgres://role:password@host:port/database.');
}

/** By the owner's address, or else by the service's: then the service owns its tables, and a line says so. */
export async function migrateByEnvironment(
  env: NodeJS.ProcessEnv,
  onProgress: (line: string) => void,
): Promise<string[]> {
  const serviceUrl = env.DATABASE_URL || null;
  if (serviceUrl === null) throw new MigrationRefused('DATABASE_URL is not set.');
  const ownerUrl = env.MIGRATION_DATABASE_URL || serviceUrl;
  return migrate(ownerUrl, MIGRATIONS, { onProgress, serviceRole: roleOf(serviceUrl) });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const names = await migrateByEnvironment(process.env, (line) => console.log(line));
    console.log(names.length === 0 ? 'The database is up to date.' : `Applied ${names.join(', ')}.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

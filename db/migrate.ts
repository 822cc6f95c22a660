import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import {
  applyFunctions,
  newerReleaseOf,
  type Origin,
  pendingFunctions,
  readAppliedFunctions,
  readFunctionFiles,
} from './function-files.ts';
import {
  MigrationRejected,
  ofNewerRelease,
  readMigrations,
  rejectChangedHistory,
  rejectGap,
  type SqlFile,
} from './migration-files.ts';
import { makeMonths, removeMonths } from './months.ts';
import { firstAddress, namesSeveral } from './postgres/addresses.ts';
import { addressThatTakesWrites } from './postgres/hosts.ts';
import { grantToService, OWNER_RUNS, readRole } from './service-role.ts';

/** What a release brings to a database. */
export interface SchemaFiles {
  readonly migrations: URL;
  readonly functions?: URL;
  /** Which release that is, like 1.2.3: an older one never overwrites the functions of a newer one. */
  readonly release: string;
}

export const OWN_FILES: SchemaFiles = {
  migrations: new URL('./migrations/', import.meta.url),
  functions: new URL('./functions/', import.meta.url),
  release: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
};

/** Arbitrary, but unique among the advisory locks of this database. */
export const MIGRATION_LOCK = 7_423_017;
/** The release that brought uuidv7(). */
const POSTGRES_MIN = 180_000;

/** Without the right to create tables, this is the service's own role, or the database belongs to another role. */
async function requireOwner(client: postgres.Sql): Promise<void> {
  const [right] = await client<{ role: string; may: boolean }[]>`
    select current_user::text as role, has_schema_privilege(current_schema(), 'CREATE') as may`;
  if (right?.may) return;
  throw new MigrationRejected(
    `The role ${right?.role} does not own this database: set MIGRATION_DATABASE_URL to the address of the owner, which migrates.`,
  );
}

/** The role to which rights are granted; null, with a warning, if it needs none because it has all of the owner's. */
async function granteeOf(
  client: postgres.Sql,
  serviceRole: string,
  onProgress: (line: string) => void,
): Promise<string | null> {
  const role = await readRole(client, serviceRole);
  if (role === null)
    throw new MigrationRejected(
      `The role ${serviceRole} of DATABASE_URL does not exist: create it (docs/installation.md).`,
    );
  if (role.actsAsMigrator || role.ownsTables) onProgress(OWNER_RUNS);
  return role.actsAsMigrator ? null : serviceRole;
}

/** How a migration waits for locks that running processes hold. */
export interface LockWait {
  /** When to give up on a lock: every later session queues behind a migration that waits. */
  readonly timeoutMs: number;
  readonly attempts: number;
  /** The pause between attempts, in which waiting sessions proceed. */
  readonly pauseMs: number;
}

const LOCK_WAIT: LockWait = { timeoutMs: 2_000, attempts: 30, pauseMs: 2_000 };

export interface MigrateOptions {
  readonly lockWait?: LockWait;
  readonly onProgress?: (line: string) => void;
  /** The role of the service's processes, which is granted its rights with each migration. Default: none. */
  readonly serviceRole?: string;
}

/**
 * Applies missing migrations in order, each in its own transaction, and then the functions that have changed, in one; makes the
 * months of tables ahead and removes those that are over; one process at a time. Rejects an applied migration that has changed or disappeared; accepts migrations and functions of a newer release.
 * Returns the names of what it applied.
 */
export async function migrate(
  databaseUrl: string,
  files: SchemaFiles = OWN_FILES,
  { lockWait = LOCK_WAIT, onProgress = () => {}, serviceRole }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = readMigrations(files.migrations);
  const functions = files.functions === undefined ? [] : readFunctionFiles(files.functions);
  const address = namesSeveral(databaseUrl) ? await addressThatTakesWrites(databaseUrl) : databaseUrl;
  const client = postgres(address, { max: 1, onnotice: () => {}, fetch_types: false, connect_timeout: 10 });
  try {
    await requireFitPostgres(client);
    // The lock below is a session's, which a pooler may not leave to us.
    await addressThatTakesWrites(address);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await requireOwner(client);
    const grantee = serviceRole === undefined ? null : await granteeOf(client, serviceRole, onProgress);
    const session: Session = { client, grantee, lockWait, onProgress };
    const { applied, isNewer } = await applyMigrations(session, migrations);
    const origin = { release: files.release, migration: migrations.at(-1)?.name ?? '' };
    const replaced = isNewer ? [] : await applyFunctionFiles(session, functions, origin);
    await applyWithRetries(session, {
      title: 'The making of months',
      apply: async (tx) => {
        const made = await makeMonths(tx);
        if (made.length > 0) onProgress(`Made ${made.length} months of tables, up to ${made.at(-1)}.`);
      },
    });
    const vain = grantee === null ? [] : await client.begin((tx) => grantToService(tx, grantee));
    for (const statement of vain)
      onProgress(`This had no effect, so do it by the role that gave the right: ${statement}`);
    await removeMonths(client, onProgress);
    return [...applied, ...replaced];
  } finally {
    await client.end({ timeout: 5 });
  }
}

/** The connection that holds the migration lock, and how it applies each step. */
interface Session {
  readonly client: postgres.Sql;
  /** The role that is granted its rights to what a step creates. */
  readonly grantee: string | null;
  readonly lockWait: LockWait;
  readonly onProgress: (line: string) => void;
}

async function applyMigrations(
  session: Session,
  migrations: readonly SqlFile[],
): Promise<{ applied: string[]; isNewer: boolean }> {
  const { client, onProgress } = session;
  await client`
    create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`;
  const applied = await client<{ name: string; sha256: string }[]>`select name, sha256 from schema_migrations`;
  const hashes = new Map(applied.map((row) => [row.name, row.sha256]));
  rejectChangedHistory(migrations, hashes);
  const newer = ofNewerRelease(migrations, hashes);
  const pending = migrations.filter((migration) => !hashes.has(migration.name));
  rejectGap(pending, newer);
  if (newer.length > 0) onProgress(`This release runs on the database of a newer release: ${newer.join(', ')}.`);
  for (const { name, text, hash } of pending) {
    await applyWithRetries(session, {
      title: `The migration ${name}`,
      apply: async (tx) => {
        await tx.unsafe(text);
        await tx`insert into schema_migrations (name, sha256) values (${name}, ${hash})`;
      },
    });
  }
  return { applied: pending.map(({ name }) => name), isNewer: newer.length > 0 };
}

async function applyFunctionFiles(session: Session, functions: readonly SqlFile[], origin: Origin): Promise<string[]> {
  const applied = await readAppliedFunctions(session.client);
  const pending = pendingFunctions(functions, applied, origin);
  if (pending.files.length === 0 && pending.gone.length === 0) return [];
  const newer = newerReleaseOf(applied, origin.release);
  if (newer !== null) {
    session.onProgress(`The database has the functions of the newer release ${newer}, which are kept.`);
    return [];
  }
  await applyWithRetries(session, { title: 'The functions', apply: (tx) => applyFunctions(tx, pending, origin) });
  return pending.files.map(({ name }) => `functions/${name}`);
}

/** What decides whether this service can trust a Postgres with money; the settings apply to the migration's session. */
export interface PostgresFacts {
  readonly version: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
}

async function requireFitPostgres(client: postgres.Sql): Promise<void> {
  const [facts] = await client<PostgresFacts[]>`select current_setting('server_version_num')::integer as version,
    current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit`;
  const rejection = facts === undefined ? null : whyUnfit(facts);
  if (rejection !== null) throw new MigrationRejected(rejection);
}

/** Why this service must not run on such a Postgres: it is too old, or a crash loses commits that it has acknowledged. */
export function whyUnfit(facts: PostgresFacts): string | null {
  const { version } = facts;
  if (version < POSTGRES_MIN)
    return `Postgres ${Math.floor(version / 10_000)} is too old: this service needs Postgres 18 or newer.`;
  const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).find((name) => facts[name] === 'off');
  if (off === undefined) return null;
  return `This Postgres can lose acknowledged payments in a crash, because ${off} is off: set it to on.`;
}

/** A part of the schema that is applied as a whole, in a transaction. */
interface Step {
  /** Begins the sentences about it. */
  readonly title: string;
  apply(tx: postgres.TransactionSql): Promise<void>;
}

/** The lock timed out, or its holder was waiting for one of the step's own locks. */
const LOCK_REJECTIONS: ReadonlySet<string> = new Set(['55P03', '40P01']);

/** Yields to the session that holds a needed lock, logs it, and tries again. */
async function applyWithRetries(session: Session, step: Step): Promise<void> {
  const { client, onProgress } = session;
  const { attempts, pauseMs } = session.lockWait;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(session, step);
    } catch (error) {
      if (!(error instanceof postgres.PostgresError && LOCK_REJECTIONS.has(error.code))) throw failed(step, error);
      if (attempt >= attempts) {
        throw new MigrationRejected(
          `${step.title} changed nothing: another session held a lock that is needed, ${attempts} times. End that session (pg_stat_activity shows it), and run this again.`,
          { cause: error },
        );
      }
      onProgress(`${step.title} must wait for a lock of another session (attempt ${attempt} of ${attempts}) …`);
      await client`select pg_sleep(${pauseMs / 1000})`;
    }
  }
}

async function apply({ client, grantee, lockWait }: Session, step: Step): Promise<void> {
  await client.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${`${lockWait.timeoutMs}ms`}, true)`;
    await step.apply(tx);
    // In the same transaction: running processes call its functions and fire its triggers from the commit on.
    if (grantee !== null) await grantToService(tx, grantee);
  });
}

function failed({ title }: Step, error: unknown): MigrationRejected {
  const reason = error instanceof Error ? error.message : String(error);
  return new MigrationRejected(`${title} failed and changed nothing: ${reason}`, { cause: error });
}

/** The role in a Postgres address: rights are granted by its name. */
export function roleOf(databaseUrl: string): string {
  const role = decodeURIComponent(firstAddress(databaseUrl).username);
  if (role !== '') return role;
  throw new MigrationRejected('DATABASE_URL must name a role: postgres://role:password@host:port/database.');
}

/** Uses the owner's address, or else the service's: then the service owns its tables, and a warning says so. */
export async function migrateByEnvironment(
  env: NodeJS.ProcessEnv,
  onProgress: (line: string) => void,
): Promise<string[]> {
  const serviceUrl = env.DATABASE_URL || null;
  if (serviceUrl === null) throw new MigrationRejected('DATABASE_URL is not set.');
  const ownerUrl = env.MIGRATION_DATABASE_URL || serviceUrl;
  return migrate(ownerUrl, OWN_FILES, { onProgress, serviceRole: roleOf(serviceUrl) });
}

/** Migrates as the environment says, prints what was done, and ends the process with 1 if that failed. */
export async function migrateAsCommand(): Promise<void> {
  try {
    const names = await migrateByEnvironment(process.env, (line) => console.log(line));
    console.log(names.length === 0 ? 'The database is up to date.' : `Applied ${names.join(', ')}.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await migrateAsCommand();

import { newerReleaseOf } from './function-files.ts';
import { OWN_FILES, type PostgresFacts, whyUnfit } from './migrate.ts';
import { ofNewerRelease, readMigrations, readSqlFiles, rejectChangedHistory } from './migration-files.ts';
import type { Reader } from './query/database.ts';

/** What a database has of this release's schema. */
export interface SchemaState {
  /** Migrations that are not applied. */
  readonly pending: readonly string[];
  /** Files of functions whose text is another than this release's. */
  readonly otherFunctions: readonly string[];
  /** Migrations or functions of a newer release, which this one keeps. */
  readonly isNewer: boolean;
}

/** Throws MigrationRejected if an applied migration has changed, or belongs to another history. */
export async function readSchemaState(reader: Reader): Promise<SchemaState> {
  const migrations = readMigrations(OWN_FILES.migrations);
  const applied = new Map(
    (await rowsOf<{ name: string; hash: string }>(reader, 'schema_migrations', 'name, sha256 AS hash')).map(
      ({ name, hash }) => [name, hash],
    ),
  );
  rejectChangedHistory(migrations, applied);
  const functions = await rowsOf<Applied>(reader, 'schema_functions', 'name, sha256 AS hash, release, migration');
  const files = OWN_FILES.functions === undefined ? [] : readSqlFiles(OWN_FILES.functions);
  const isPresent = (name: string, hash: string) => functions.some((file) => file.name === name && file.hash === hash);
  const isNewer =
    ofNewerRelease(migrations, applied).length > 0 || newerReleaseOf(functions, OWN_FILES.release) !== null;
  return {
    pending: migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    otherFunctions: files.filter(({ name, hash }) => !isPresent(name, hash)).map(({ name }) => name),
    isNewer,
  };
}

interface Applied {
  readonly name: string;
  readonly hash: string;
  readonly release: string;
  readonly migration: string;
}

/** None without the table, as in a database that was never migrated. */
async function rowsOf<Row>(reader: Reader, table: 'schema_migrations' | 'schema_functions', columns: string) {
  const [found] = await reader.statement<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  return found?.exists ? reader.statement<Row>(`SELECT ${columns} FROM ${table}`, []) : [];
}

/** Why the service must not run on this Postgres; null if it may. */
export async function whyPostgresIsUnfit(reader: Reader): Promise<string | null> {
  const [facts] = await reader.statement<PostgresFacts>(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit`,
    [],
  );
  return facts === undefined ? null : whyUnfit(facts);
}

/** The database's own clock, without the sandbox's offset. */
export async function readDatabaseClock(reader: Reader): Promise<Date> {
  const [row] = await reader.statement<{ now: Date }>('SELECT clock_timestamp() AS now', []);
  if (row === undefined) throw new Error('Postgres returned no time');
  return row.now;
}

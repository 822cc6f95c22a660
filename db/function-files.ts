import type postgres from 'postgres';
import { MigrationRejected, readSqlFiles, type SqlFile } from './migration-files.ts';

/**
 * The functions of the database, and the triggers and views that call them: `functions/*.sql`, each file once, applied again when its
 * text changes. The rules that keep running processes working are in functions/README.md.
 */

const FILE_NAME = /^[a-z0-9-]+\.sql$/;
/** The beginning of a file that depends on the tables' columns. */
const AFTER_EVERY_MIGRATION = '-- Applied after every migration';

export function readFunctionFiles(directory: URL): SqlFile[] {
  const files = readSqlFiles(directory);
  const misnamed = files.find(({ name }) => !FILE_NAME.test(name));
  if (misnamed !== undefined)
    throw new MigrationRejected(`The function file ${misnamed.name} is not named words-with-hyphens.sql.`);
  return files;
}

/** A file as a database has it. */
interface AppliedFile {
  readonly name: string;
  readonly hash: string;
  /** The release that applied it. */
  readonly release: string;
  /** The newest migration at that time. */
  readonly migration: string;
}

/** The release that applies functions, and its newest migration. */
export interface Origin {
  readonly release: string;
  readonly migration: string;
}

export async function readAppliedFunctions(client: postgres.Sql): Promise<readonly AppliedFile[]> {
  await client`
    create table if not exists schema_functions (
      name text primary key,
      sha256 text not null,
      release text not null,
      migration text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`;
  return client<AppliedFile[]>`select name, sha256 as hash, release, migration from schema_functions`;
}

/** The release that applied the database's functions, if it is newer than `release`: its functions stay. */
export function newerReleaseOf(applied: readonly AppliedFile[], release: string): string | null {
  return applied.find((file) => compareReleases(file.release, release) > 0)?.release ?? null;
}

export function compareReleases(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  const differing = left.findIndex((number, index) => number !== right[index]);
  return differing === -1 ? 0 : (left[differing] ?? 0) - (right[differing] ?? 0);
}

function numbersOf(release: string): number[] {
  const found = /^(\d+)\.(\d+)\.(\d+)/.exec(release);
  if (found === null) throw new Error(`The release ${release} is not numbered like 1.2.3.`);
  return found.slice(1).map(Number);
}

export interface PendingFunctions {
  /** Files that have changed and, after a migration, those that depend on the tables' columns. */
  readonly files: readonly SqlFile[];
  /** Names of files that no longer exist. What they defined stays until a migration drops it. */
  readonly gone: readonly string[];
}

export function pendingFunctions(
  files: readonly SqlFile[],
  applied: readonly AppliedFile[],
  { migration }: Origin,
): PendingFunctions {
  const isPresent = ({ name, text, hash }: SqlFile) =>
    applied.some(
      (file) =>
        file.name === name &&
        file.hash === hash &&
        (file.migration === migration || !text.startsWith(AFTER_EVERY_MIGRATION)),
    );
  const names = new Set(files.map(({ name }) => name));
  return {
    files: files.filter((file) => !isPresent(file)),
    gone: applied.map(({ name }) => name).filter((name) => !names.has(name)),
  };
}

/**
 * In one transaction, so that no call mixes functions of two releases. Functions of one file may call those of a later one: their
 * bodies are checked at the end.
 */
export async function applyFunctions(
  tx: postgres.TransactionSql,
  { files, gone }: PendingFunctions,
  { release, migration }: Origin,
): Promise<void> {
  await tx`set local check_function_bodies = off`;
  for (const { name, text, hash } of files) {
    await tx.unsafe(text);
    await tx`insert into schema_functions (name, sha256, release, migration) values (${name}, ${hash}, ${release}, ${migration})
      on conflict (name) do update set sha256 = excluded.sha256, release = excluded.release, migration = excluded.migration,
        applied_at = excluded.applied_at`;
  }
  for (const name of gone) await tx`delete from schema_functions where name = ${name}`;
  await tx`set local check_function_bodies = on`;
  await tx`select case lanname when 'sql' then fmgr_sql_validator(written.oid) else plpgsql_validator(written.oid) end
    from pg_proc written join pg_language on pg_language.oid = prolang
    where pronamespace = current_schema()::regnamespace and lanname in ('sql', 'plpgsql')
      and written.xmin = pg_current_xact_id()::xid`;
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** The files of migrations, and which of them a database may have. */

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

/** A problem that the operator can fix; its message is one line. */
export class MigrationRejected extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationRejected';
  }
}

/** A migration, or a file of functions. */
export interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/** The SQL files of a directory in the order of their names. */
export function readSqlFiles(directory: URL): SqlFile[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name) => {
    const text = readFileSync(new URL(name, directory), 'utf8');
    return { name, text, hash: createHash('sha256').update(text).digest('hex') };
  });
}

export function readMigrations(directory: URL): SqlFile[] {
  const migrations = readSqlFiles(directory);
  const numbers = new Set<string>();
  for (const { name } of migrations) {
    if (!MIGRATION_NAME.test(name)) throw new MigrationRejected(`The migration ${name} is not named NNNN_words.sql.`);
    const number = name.slice(0, 4);
    if (numbers.has(number)) throw new MigrationRejected(`Two migrations have the number ${number}.`);
    numbers.add(number);
  }
  return migrations;
}

/** Applied migrations that this release does not know. */
function unknownTo(migrations: readonly SqlFile[], applied: ReadonlyMap<string, string>): string[] {
  const known = new Set(migrations.map((migration) => migration.name));
  return [...applied.keys()].filter((name) => !known.has(name)).sort();
}

/**
 * Migrations later than all of this release's: a newer release ran here and was rolled back. This release can run, because every
 * migration keeps the previous release working. An unknown migration that is not later belongs to another history.
 */
export function ofNewerRelease(migrations: readonly SqlFile[], applied: ReadonlyMap<string, string>): string[] {
  const newestNumber = migrations.at(-1)?.name.slice(0, 4) ?? '';
  const unknown = unknownTo(migrations, applied);
  const stranger = unknown.find((name) => name.slice(0, 4) <= newestNumber);
  if (stranger === undefined) return unknown;
  throw new MigrationRejected(
    `The database has the migration ${stranger}, which this version of the service does not know.`,
  );
}

/** Never applies a migration of this release below a newer one: that order was never tested. */
export function rejectGap(pending: readonly SqlFile[], newer: readonly string[]): void {
  const [missing] = pending;
  if (missing === undefined || newer.length === 0) return;
  throw new MigrationRejected(
    `The database lacks the migration ${missing.name}, but has ${newer[0]} of a newer release: start that one.`,
  );
}

export function rejectChangedHistory(migrations: readonly SqlFile[], applied: ReadonlyMap<string, string>): void {
  for (const { name, hash } of migrations) {
    const recorded = applied.get(name);
    if (recorded !== undefined && recorded !== hash) {
      throw new MigrationRejected(
        `The migration ${name} was changed after it had been applied: write a new one instead.`,
      );
    }
  }
}

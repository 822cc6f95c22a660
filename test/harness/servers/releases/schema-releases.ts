import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { SchemaFiles } from '../../../../db/migrate.ts';

/** Releases that a test makes: the same files as ours, or others, with another number. */

const DB_DIRECTORY = new URL('../../../../db/', import.meta.url);
const sqlIn = (folder: string) =>
  readdirSync(new URL(folder, DB_DIRECTORY))
    .filter((name) => name.endsWith('.sql'))
    .sort();

export const OWN_MIGRATIONS = sqlIn('migrations');
/** Each as `functions/…`. */
export const OWN_FUNCTIONS = sqlIn('functions').map((name) => `functions/${name}`);

export interface Release extends SchemaFiles {
  /** Changes one of its files: of migrations, or of functions as `functions/…`. */
  write(name: string, text: string): void;
}

/** A release with these files, `functions/…` among them, and number. */
export function releaseOf(files: Readonly<Record<string, string>>, release = '1.0.0'): Release {
  const directory = mkdtempSync(join(tmpdir(), 'release-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const folder of ['migrations', 'functions']) mkdirSync(join(directory, folder));
  const write = (name: string, text: string) =>
    writeFileSync(join(directory, name.startsWith('functions/') ? name : `migrations/${name}`), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const folder = (name: string) => pathToFileURL(`${join(directory, name)}/`);
  return { migrations: folder('migrations'), functions: folder('functions'), release, write };
}

/** The files of this release. */
export function ownFiles(): Record<string, string> {
  const files = [
    ...OWN_MIGRATIONS.map((name) => [name, `migrations/${name}`]),
    ...OWN_FUNCTIONS.map((name) => [name, name]),
  ];
  return Object.fromEntries(
    files.map(([name = '', path = '']) => [name, readFileSync(new URL(path, DB_DIRECTORY), 'utf8')]),
  );
}

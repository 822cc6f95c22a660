import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningProcess, spawnRecorded } from '../../../../cli/common/processes.ts';
import { bundleName } from '../../../../dev/start/start-children.ts';
import { PROJECT_DIRECTORY } from '../../../tools/run/commands.ts';
import { bundleEntries, type Entry, type EntryOptions, SOURCES } from '../../../tools/run/entries.ts';

/** What makes another release of this one: texts that are replaced, by file, and files that are added. */
export interface ReleaseChange {
  /** Its number, which is also its workers' build id. */
  readonly version: string;
  readonly replaced?: Readonly<Record<string, readonly (readonly [text: string, by: string])[]>>;
  readonly added?: Readonly<Record<string, string>>;
}

/** A release of the whole service that a test makes, in a folder of its own. */
export interface ServiceRelease {
  readonly version: string;
  /** Starts one of its processes. */
  start(options: EntryOptions): Promise<RunningProcess>;
  /** Migrates as its operator would, and returns what that prints. */
  migrate(addresses: { readonly ownerUrl: string; readonly databaseUrl: string }): Promise<string>;
  remove(): void;
}

const ENTRIES: readonly Entry[] = ['activities/main.ts', 'api/main.ts', 'loops/main.ts', 'sandbox/main.ts'];

export async function makeServiceRelease({
  version,
  replaced = {},
  added = {},
}: ReleaseChange): Promise<ServiceRelease> {
  const directory = mkdtempSync(join(tmpdir(), `release-${version}-`));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    copySources(directory);
    const { version: own } = JSON.parse(readFileSync(join(PROJECT_DIRECTORY, 'package.json'), 'utf8'));
    replaceIn(join(directory, 'package.json'), [[`"version": "${own}"`, `"version": "${version}"`]]);
    for (const [path, texts] of Object.entries(replaced)) replaceIn(join(directory, path), texts);
    for (const [path, text] of Object.entries(added)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    await bundleEntries(directory, ENTRIES, join(directory, 'entries'));
  } catch (error) {
    remove();
    throw error;
  }
  return {
    version,
    start: ({ entry, environment, logFile, pidFile }) =>
      spawnRecorded({
        command: process.execPath,
        arguments: [join(directory, 'entries', bundleName(entry))],
        environment,
        cwd: directory,
        logFile,
        pidFile,
      }),
    migrate: async ({ ownerUrl, databaseUrl }) => {
      const environment = { ...process.env, MIGRATION_DATABASE_URL: ownerUrl, DATABASE_URL: databaseUrl };
      const command = ['--import', 'tsx', join(directory, 'db/migrate.ts')];
      const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: directory, env: environment });
      return stdout;
    },
    remove,
  };
}

function copySources(directory: string): void {
  for (const folder of SOURCES) {
    cpSync(join(PROJECT_DIRECTORY, folder), join(directory, folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts'),
    });
  }
  for (const file of ['package.json', 'tsconfig.json']) cpSync(join(PROJECT_DIRECTORY, file), join(directory, file));
  for (const folder of ['docs', 'node_modules']) symlinkSync(join(PROJECT_DIRECTORY, folder), join(directory, folder));
}

function replaceIn(path: string, texts: readonly (readonly [string, string])[]): void {
  let content = readFileSync(path, 'utf8');
  for (const [text, by] of texts) {
    if (content.split(text).length !== 2) throw new Error(`${path} does not have this once: ${text}`);
    content = content.replace(text, () => by);
  }
  writeFileSync(path, content);
}

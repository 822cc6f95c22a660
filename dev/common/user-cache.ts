import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A cache for slow downloads and builds, shared by checkouts. */
export function userCacheDirectory(...parts: string[]): string {
  const base = process.env.XDG_CACHE_HOME;
  const root = base !== undefined && base !== '' ? base : join(homedir(), '.cache');
  const directory = join(root, 'financial-accounts-service', ...parts);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Full path of a command, or undefined if it is not on PATH. */
export function findOnPath(command: string): string | undefined {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    if (directory === '') continue;
    const candidate = join(directory, command);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** Go's usual place is not on every PATH. */
const GO_PATH_DEFAULT = '/usr/local/go/bin/go';

export function findGo(): string | undefined {
  return findOnPath('go') ?? (existsSync(GO_PATH_DEFAULT) ? GO_PATH_DEFAULT : undefined);
}

/** The command's output, or undefined if it fails. */
export function outputOf(command: string, commandArguments: readonly string[]): string | undefined {
  try {
    return execFileSync(command, [...commandArguments], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
    });
  } catch {
    return undefined;
  }
}

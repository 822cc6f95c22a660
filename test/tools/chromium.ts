import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/** The path of Debian's package. */
const DEBIAN_PATH = '/usr/bin/chromium';
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/**
 * Finds Chromium for page tests: CHROMIUM_PATH, or Debian's, which root installs if missing. Null, after a line that
 * says so, if there is none: the tests are skipped.
 */
export function chromiumPath(say: (line: string) => void): string | null {
  const given = process.env.CHROMIUM_PATH?.trim() || undefined;
  const path = given ?? DEBIAN_PATH;
  if (isExecutable(path)) return path;
  if (given === undefined && process.getuid?.() === 0 && isExecutable('/usr/bin/apt-get')) {
    say('Installing Chromium (Debian package), for the tests of pages …');
    for (const step of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
      spawnSync('apt-get', ['-qq', ...step], {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        stdio: ['ignore', 'ignore', 'ignore'],
        timeout: INSTALL_TIMEOUT_MS,
      });
    }
    if (isExecutable(path)) return path;
  }
  say(`No Chromium at ${path}: the tests of pages in a browser are skipped. Install it, or set CHROMIUM_PATH.`);
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

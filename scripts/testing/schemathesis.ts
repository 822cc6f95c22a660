import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runLongCommand } from '../frame/long-command.ts';
import { underFileLock } from '../frame/processes.ts';
import { errorMessage, RemedyError } from '../frame/remedy.ts';
import { findOnPath, outputOf, userCacheDirectory } from '../frame/user-cache.ts';

const VERSION = '4.32.0';

export const PYTHON_MISSING =
  'No Python 3.10 or later with venv found, so the contract test is skipped. Install python3 and python3-venv to run it.';

/** Path of Schemathesis, installed with pip into the user's cache on first use; null without a suitable Python. */
export async function schemathesis(onProgress: (line: string) => void): Promise<string | null> {
  const directory = join(userCacheDirectory(), `schemathesis-${VERSION}`);
  const command = join(directory, 'bin', 'schemathesis');
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return command;
  const python = findOnPath('python3');
  if (python === undefined || !isUsable(python)) return null;
  await underFileLock(
    join(userCacheDirectory(), 'schemathesis.lock'),
    async () => {
      if (existsSync(complete)) return;
      await install(python, directory, onProgress);
      writeFileSync(complete, `${VERSION}\n`);
    },
    () => onProgress('Another process is installing Schemathesis; waiting for it …'),
  );
  return command;
}

function isUsable(python: string): boolean {
  return outputOf(python, ['-c', 'import sys, venv, ensurepip; print(sys.version_info >= (3, 10))'])?.trim() === 'True';
}

// A virtual environment cannot be moved, so an unfinished one is rebuilt in place.
async function install(python: string, directory: string, onProgress: (line: string) => void): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  try {
    await runLongCommand({
      command: python,
      arguments: ['-m', 'venv', directory],
      title: 'Making a Python environment for Schemathesis',
      onProgress,
    });
    await runLongCommand({
      command: join(directory, 'bin', 'pip'),
      arguments: ['install', '--disable-pip-version-check', `schemathesis==${VERSION}`],
      title: 'Installing Schemathesis with pip (once)',
      onProgress,
    });
  } catch (error) {
    throw new RemedyError(`Schemathesis ${VERSION} cannot be installed with pip: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

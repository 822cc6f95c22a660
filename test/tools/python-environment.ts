import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../../dev/common/long-command.ts';
import { findOnPath, outputOf, userCacheDirectory } from '../../dev/common/user-cache.ts';

export interface PythonTool {
  readonly name: string;
  readonly version: string;
  /** Arguments of `pip install`. */
  readonly packages: readonly string[];
}

/**
 * The directory of the commands of a Python environment with a tool, installed with pip into the user's cache on first use;
 * null without a suitable Python.
 */
export async function pythonEnvironment(tool: PythonTool, onProgress: (line: string) => void): Promise<string | null> {
  const { name, version } = tool;
  const directory = join(userCacheDirectory(), `${name.toLowerCase()}-${version}`);
  const commands = join(directory, 'bin');
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return commands;
  const python = findOnPath('python3');
  if (python === undefined || !isUsable(python)) return null;
  await underFileLock(
    join(userCacheDirectory(), `${name.toLowerCase()}.lock`),
    async () => {
      if (existsSync(complete)) return;
      await install(python, directory, tool, onProgress);
      writeFileSync(complete, `${version}\n`);
    },
    () => onProgress(`Another process is installing ${name}; waiting for it …`),
  );
  return commands;
}

function isUsable(python: string): boolean {
  return outputOf(python, ['-c', 'import sys, venv, ensurepip; print(sys.version_info >= (3, 10))'])?.trim() === 'True';
}

// A virtual environment cannot be moved, so an unfinished one is rebuilt in place.
async function install(
  python: string,
  directory: string,
  { name, version, packages }: PythonTool,
  onProgress: (line: string) => void,
): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  try {
    await runLongCommand({
      command: python,
      arguments: ['-m', 'venv', directory],
      title: `Making a Python environment for ${name}`,
      onProgress,
    });
    await runLongCommand({
      command: join(directory, 'bin', 'pip'),
      arguments: ['install', '--disable-pip-version-check', ...packages],
      title: `Installing ${name} with pip (once)`,
      onProgress,
    });
  } catch (error) {
    throw new ActionableError(`${name} ${version} cannot be installed with pip: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

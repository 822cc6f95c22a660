import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../../dev/common/long-command.ts';
import { outputOf, userCacheDirectory } from '../../dev/common/user-cache.ts';

/** The current LTS release, which the image runs. */
export const LTS_VERSION = '24.21.0';
const [LTS_MAJOR = ''] = LTS_VERSION.split('.');

/** Whether this process already runs on it. */
export function runsOnLts(): boolean {
  return process.versions.node.split('.')[0] === LTS_MAJOR;
}

/** Path of its `node`: from the user's cache, or from npm's package for this platform. */
export async function ltsNode(onProgress: (line: string) => void = () => {}): Promise<string> {
  const directory = join(userCacheDirectory(), `node-${LTS_VERSION}`);
  const binary = join(directory, 'node_modules', packageName(), 'bin', 'node');
  if (existsSync(binary)) return binary;
  return underFileLock(
    join(userCacheDirectory(), 'node.lock'),
    async () => {
      // The previous lock holder may have fetched it.
      if (!existsSync(binary)) await fetchInto(directory, onProgress);
      return binary;
    },
    () => onProgress(`Another process is getting Node ${LTS_VERSION}; waiting for it …`),
  );
}

function packageName(): string {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform}-${process.arch}`;
}

async function fetchInto(directory: string, onProgress: (line: string) => void): Promise<void> {
  onProgress(`Getting Node ${LTS_VERSION} by npm (about 40 MB, once) …`);
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  try {
    // Its own folder: otherwise npm would use a project further up.
    mkdirSync(join(staging, 'node_modules'));
    await runLongCommand({
      command: 'npm',
      arguments: ['install', '--prefix', staging, '--no-save', '--ignore-scripts', `${packageName()}@${LTS_VERSION}`],
      title: `Getting Node ${LTS_VERSION}`,
      onProgress,
      cwd: staging,
    });
    const version = outputOf(join(staging, 'node_modules', packageName(), 'bin', 'node'), ['--version'])?.trim();
    if (version !== `v${LTS_VERSION}`) throw new Error('the result does not run on this machine');
    rmSync(directory, { recursive: true, force: true });
    renameSync(staging, directory);
  } catch (error) {
    throw new ActionableError(`Node ${LTS_VERSION} cannot be fetched by npm: ${errorMessage(error)}`, { cause: error });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

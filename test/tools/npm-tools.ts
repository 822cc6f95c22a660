import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../../dev/common/long-command.ts';
import { userCacheDirectory } from '../../dev/common/user-cache.ts';

/** The folder of the commands of some packages (`name@version`), installed with npm into the user’s cache on first use. */
export async function npmTools(packages: readonly string[], onProgress: (line: string) => void): Promise<string> {
  const name = packages.map((one) => one.replaceAll('/', '-')).join('+');
  const directory = join(userCacheDirectory('npm'), name);
  const install = async () => {
    if (existsSync(directory)) return;
    const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
    // Its own folder: otherwise npm would use a project further up.
    mkdirSync(join(staging, 'node_modules'));
    await runLongCommand({
      command: 'npm',
      arguments: ['install', '--prefix', staging, '--no-save', ...packages],
      title: `Installing ${name} with npm`,
      onProgress,
      cwd: staging,
    });
    renameSync(staging, directory);
  };
  await underFileLock(join(userCacheDirectory(), 'npm.lock'), install, () =>
    onProgress(`Another process is installing ${name}; waiting for it …`),
  );
  return join(directory, 'node_modules', '.bin');
}

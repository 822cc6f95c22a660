import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { underFileLock } from '../../../cli/common/processes.ts';
import { runLongCommand } from '../../../dev/common/long-command.ts';
import { findOnPath, userCacheDirectory } from '../../../dev/common/user-cache.ts';

/**
 * The folder of Debian packages, unpacked into the user's cache on first use, as `/` would have them; null on a machine without apt.
 * Nothing is installed.
 */
export async function debianPackages(
  name: string,
  packages: readonly string[],
  onProgress: (line: string) => void,
): Promise<string | null> {
  const directory = join(userCacheDirectory(), `debian-${name}`);
  if (existsSync(directory)) return directory;
  const apt = findOnPath('apt-get');
  if (apt === undefined || findOnPath('dpkg-deb') === undefined) return null;
  await underFileLock(
    join(userCacheDirectory(), `debian-${name}.lock`),
    async () => {
      if (!existsSync(directory)) await unpack(apt, directory, packages, onProgress);
    },
    () => onProgress(`Another process is fetching ${name}; waiting for it …`),
  );
  return directory;
}

async function unpack(
  apt: string,
  directory: string,
  packages: readonly string[],
  onProgress: (line: string) => void,
): Promise<void> {
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  const title = `Fetching ${packages.join(', ')} of Debian`;
  try {
    // Lists of our own: a fresh machine has none, and only root may write the machine's.
    const own = ['lists', 'cache'].map((folder) => join(staging, folder));
    for (const folder of own) mkdirSync(join(folder, 'partial'), { recursive: true });
    const options = [`Dir::State::lists=${own[0]}`, `Dir::Cache=${own[1]}`, 'APT::Sandbox::User=root'].flatMap(
      (option) => ['-o', option],
    );
    for (const words of [['update'], ['download', ...packages]])
      await runLongCommand({ command: apt, arguments: [...options, ...words], title, onProgress, cwd: staging });
    const files = readdirSync(staging).filter((file) => file.endsWith('.deb'));
    for (const file of files) {
      const unpacking = ['-x', join(staging, file), join(staging, 'root')];
      await runLongCommand({ command: 'dpkg-deb', arguments: unpacking, title, onProgress });
    }
    renameSync(join(staging, 'root'), directory);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

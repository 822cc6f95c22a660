import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runLongCommand } from '../frame/long-command.ts';
import { underFileLock } from '../frame/processes.ts';
import { errorMessage, RemedyError } from '../frame/remedy.ts';
import { findGo, outputOf, userCacheDirectory } from '../frame/user-cache.ts';

/** Programs that are built with Go, of one release of one module. */
export interface GoPrograms<Name extends string> {
  /** What it is, after an article: `Temporal server`. */
  readonly title: string;
  readonly neededFor: string;
  /** The packages' paths, by the file name under which the cache keeps the program. */
  readonly packages: Readonly<Record<Name, string>>;
  readonly version: string;
}

/** Paths of the programs: cached, or built now. */
export async function goPrograms<Name extends string>(
  wanted: GoPrograms<Name>,
  onProgress: (line: string) => void,
): Promise<(name: Name) => string> {
  const directory = userCacheDirectory('bin');
  const pathOf = (name: string) => join(directory, `${name}-${wanted.version}`);
  const isThere = () => Object.keys(wanted.packages).every((name) => existsSync(pathOf(name)));
  if (isThere()) return pathOf;
  const lock = `${wanted.title.toLowerCase().replaceAll(' ', '-')}.lock`;
  await underFileLock(
    join(userCacheDirectory(), lock),
    async () => {
      // The previous lock holder may have built it.
      if (!isThere()) await build(wanted, pathOf, onProgress);
    },
    () => onProgress(`Another process is building the ${wanted.title}; waiting for it …`),
  );
  return pathOf;
}

async function build(
  { title, neededFor, packages, version }: GoPrograms<string>,
  pathOf: (name: string) => string,
  onProgress: (line: string) => void,
): Promise<void> {
  const go = findGo();
  if (go === undefined) {
    throw new RemedyError(`No Go found. Install Go 1.26 or later: ${neededFor} builds the ${title} with it.`);
  }
  onProgress(`Building the ${title} with Go; this takes some minutes, and only the first time …`);
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  try {
    await runLongCommand({
      command: go,
      arguments: [
        'install',
        '-v',
        '-ldflags',
        '-s -w',
        ...Object.values(packages).map((path) => `${path}@v${version}`),
      ],
      title: `Building the ${title}`,
      onProgress,
      environment: { ...process.env, GOBIN: staging },
    });
    const built = Object.entries(packages).map(
      ([name, path]) => [join(staging, basename(path)), pathOf(name)] as const,
    );
    for (const [path] of built) {
      if (outputOf(path, ['--version']) === undefined) throw new Error(`${path} does not run on this machine`);
    }
    for (const [path, cached] of built) renameSync(path, cached);
  } catch (error) {
    throw new RemedyError(`The ${title} cannot be built: ${errorMessage(error)}`, { cause: error });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

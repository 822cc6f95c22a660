import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../common/long-command.ts';
import { findGo, outputOf, userCacheDirectory } from '../common/user-cache.ts';

/** Programs that are built with Go: of one release of one module, or of a module in this repository. */
export interface GoPrograms<Name extends string> {
  /** What they are, without an article: `Temporal server`. */
  readonly title: string;
  readonly neededFor: string;
  /** The packages' paths, by the file name under which the cache keeps the program. */
  readonly packages: Readonly<Record<Name, string>>;
  readonly version: string;
  /** Of a module of ours, whose packages' paths begin with a dot. */
  readonly folder?: string;
  /** What it is run with to see whether it runs. */
  readonly probe?: string;
  /** Of the build: without parts that are not needed it takes less time. */
  readonly tags?: readonly string[];
  /** What the linker puts into variables, each as PACKAGE.NAME=TEXT. */
  readonly variables?: readonly string[];
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
  { title, neededFor, packages, version, folder, probe = '--version', tags = [], variables = [] }: GoPrograms<string>,
  pathOf: (name: string) => string,
  onProgress: (line: string) => void,
): Promise<void> {
  const go = findGo();
  if (go === undefined) {
    throw new ActionableError(`No Go found. Install Go 1.26 or later: ${neededFor} builds the ${title} with it.`);
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
        ['-s -w', ...variables.map((variable) => `-X ${variable}`)].join(' '),
        '-tags',
        tags.join(','),
        ...Object.values(packages).map((path) => (folder === undefined ? `${path}@v${version}` : path)),
      ],
      title: `Building the ${title}`,
      onProgress,
      environment: { ...process.env, GOBIN: staging },
      ...(folder === undefined ? {} : { cwd: folder }),
    });
    const built = Object.entries(packages).map(
      ([name, path]) => [join(staging, basename(join(folder ?? '', path))), pathOf(name)] as const,
    );
    for (const [path] of built) {
      if (outputOf(path, [probe]) === undefined) throw new Error(`${path} does not run on this machine`);
    }
    for (const [path, cached] of built) renameSync(path, cached);
  } catch (error) {
    throw new ActionableError(`The ${title} cannot be built: ${errorMessage(error)}`, { cause: error });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { layOutPrograms } from '../../../dev/image/image.ts';

/** One line of a .dockerignore, in the order of the file: the last that fits decides. */
interface IgnoreRule {
  readonly pattern: RegExp;
  readonly keeps: boolean;
}

/** By the documented rules: Go's filepath.Match with `**`, and `!` for exceptions. */
export function ignoreRules(dockerignore: string): readonly IgnoreRule[] {
  const lines = dockerignore.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const keeps = line.startsWith('!');
      const pattern = (keeps ? line.slice(1).trim() : line).replace(/^(\.?\/)+|\/+$/g, '');
      return { pattern: patternOf(pattern), keeps };
    });
}

function patternOf(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/?|[*?.$^+(){}|]|\\./g, (sign) => {
    if (sign === '**/') return '(?:.*/)?';
    if (sign === '**') return '.*';
    if (sign === '*') return '[^/]*';
    if (sign === '?') return '[^/]';
    return sign.length > 1 ? sign : `\\${sign}`;
  });
  return new RegExp(`^${source}$`);
}

/** Whether a file is kept from the build. A rule for a folder holds for what is below it. */
export function isIgnored(rules: readonly IgnoreRule[], path: string): boolean {
  const parts = path.split('/');
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return rules.reduce(
    (ignored, { pattern, keeps }) => (paths.some((one) => pattern.test(one)) ? !keeps : ignored),
    false,
  );
}

/** The files of a project that reach Docker; none is below a name that `skipped` has. */
export function buildContext(root: string, rules: readonly IgnoreRule[], skipped: readonly string[]): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return skipped.includes(path) ? [] : below(path);
      return isIgnored(rules, path) ? [] : [path];
    });
  return below('');
}

/** Lays out in `folder` what the image's working folder holds, with links to the packages that are installed here, and returns the files of ours of which that is made. */
export async function layOutImage(root: string, folder: string): Promise<readonly string[]> {
  const read = await layOutPrograms(folder);
  linkPackages(root, folder);
  return read;
}

/** As `npm ci --omit=dev` would install them. */
function linkPackages(root: string, folder: string): void {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const isOfProduction = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true;
    if (!isOfProduction || !existsSync(join(root, path)) || !statSync(join(root, path)).isDirectory()) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}

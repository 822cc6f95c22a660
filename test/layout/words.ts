import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Words that GLOSSARY.md replaces by others, in the form in which the rule compares them: small letters, an identifier's parts
 * as words of their own (`letGoOn` is `let go on`). No name, comment or text of the code has one.
 */
export const WORDS_NOT_IN_CODE: readonly string[] = [
  'anew',
  'beside',
  'circumstances',
  'courses',
  'disagreement',
  'forgive',
  'judge',
  'judged',
  'let go on',
  'looked at again',
  'nobody',
  'parentage',
  'refusal',
  'refuse',
  'somebody',
  'surroundings',
  'whoever',
  'worth another attempt',
];

/** What the documents do not say either; code in them (between backticks) is not searched. */
export const WORDS_NOT_IN_DOCUMENTS: readonly string[] = [
  ...WORDS_NOT_IN_CODE,
  'alone',
  'judgement',
  'judges',
  'night s page',
  'refusals',
  'refuses',
  'who goes first',
];

/** Where words are kept as others wrote them, or listed. */
const NOT_SEARCHED = /^(test\/(histories|fixtures)\/|test\/layout\/words(\.test)?\.ts$)/;

/** The banned words that a text has. */
export function wordsIn(text: string, banned: readonly string[]): string[] {
  const words = ` ${text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')} `;
  return banned.filter((word) => words.includes(` ${word} `));
}

export function wordBreaches(root: string, paths: readonly string[]): string[] {
  return paths
    .filter((path) => /\.(ts|sql)$/.test(path) && !NOT_SEARCHED.test(path))
    .flatMap((path) =>
      wordsIn(`${path} ${readFileSync(join(root, path), 'utf8')}`, WORDS_NOT_IN_CODE).map(
        (word) => `${path} says "${word}"`,
      ),
    );
}

/** The first column of the glossary's table of words that we do not use. */
export function wordsOfGlossary(glossary: string): string {
  const table = /^## Words we do not use\n(.*)/ms.exec(glossary)?.[1] ?? '';
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, words]) => words).join('\n');
}

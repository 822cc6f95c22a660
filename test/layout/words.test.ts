import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesBelow } from './files.ts';
import { FOLDERS } from './rules.ts';
import { WORDS_NOT_IN_CODE, WORDS_NOT_IN_DOCUMENTS, wordBreaches, wordsIn, wordsOfGlossary } from './words.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('no name, comment or text of the code has a word that the glossary replaces', () => {
  expect(
    wordBreaches(
      root,
      FOLDERS.flatMap((folder) => filesBelow(root, folder)),
    ),
  ).toEqual([]);
});

test('the glossary says what to write for each word that the tests reject', () => {
  const explained = wordsOfGlossary(readFileSync(join(root, 'GLOSSARY.md'), 'utf8'));
  // One entry covers the forms of a word: "judge" for "judges" and "judged".
  const isExplained = (word: string) => wordsIn(explained, [word, word.replace(/(s|d)$/, '')]).length > 0;
  expect([...new Set([...WORDS_NOT_IN_CODE, ...WORDS_NOT_IN_DOCUMENTS])].filter((word) => !isExplained(word))).toEqual(
    [],
  );
});

test.each([
  ['export function letGoOn() {}', ['let go on']],
  ['// The surroundings of a decision.', ['surroundings']],
  ['const SURROUNDINGS_MAX = 1;', ['surroundings']],
  ['// It is looked at\n// again later.', ['looked at again']],
  ['// Besides, a surrounding block lets go.', []],
])('the rule reads names, comments and line ends: %s', (text, found) => {
  expect(wordsIn(text, WORDS_NOT_IN_CODE)).toEqual(found);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { DIRECTORIES, type DirectoryCode } from '../../domain/beneficiaries/verifications.ts';
import { type HolderType, matchNames, type NamedParty, nameMatchCode, payeeMatchCode } from './name-matching.ts';
import { editDistance } from './name-words.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/reference/sandbox/name-matching.md', import.meta.url));
const RESULTS = ['full', 'close', 'none'] as const;
type Result = (typeof RESULTS)[number];

/** Groups that request several holders, all of whom must match; in the other groups one match is enough. */
const NAMING_SEVERAL = new Set([
  'joint accounts',
  'joint accounts with possibly incomplete names, or with the money of others',
  'trading names',
]);

const result = v.picklist(RESULTS);
const GROUPS = v.parse(
  v.array(
    v.object({
      rule: v.string(),
      languages: v.optional(v.array(v.string()), []),
      type: v.picklist(['individual', 'corporate']),
      pairs: v.array(v.tuple([v.string(), v.string(), result])),
    }),
  ),
  JSON.parse(readFileSync(new URL('name-pairs.json', import.meta.url), 'utf8')),
);

interface MatchedPair {
  readonly rule: string;
  readonly asked: string;
  readonly held: string;
  readonly expected: Result;
  readonly given: Result;
}

const PAIRS: readonly MatchedPair[] = GROUPS.flatMap(({ rule, type, pairs }) =>
  pairs.map(([asked, held, expected]) => {
    const given = matchNames({ name: asked, type }, { name: held, type });
    return { rule, asked, held, expected, given };
  }),
);

function count(filter: Partial<MatchedPair>): number {
  return PAIRS.filter(
    (pair) =>
      (filter.rule ?? pair.rule) === pair.rule &&
      (filter.expected ?? pair.expected) === pair.expected &&
      (filter.given ?? pair.given) === pair.given,
  ).length;
}

function document(): string {
  const wrong = PAIRS.filter(({ expected, given }) => expected !== given);
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [
    '# Name matching of the sandbox directories',
    '',
    'Printed by `sandbox/directory/name-matching.test.ts` from `sandbox/directory/name-pairs.json`, with `UPDATE_DOCUMENTS=1`. It fails at any false full match.',
    '',
    'Pairs are labelled by the guidance of banks, Confirmation of Payee and Verification of Payee to customers, in doubt by the stricter. Letter case, titles, accents,',
    'punctuation and variants of a legal form do not count. A different order of names, initials, missing names, short forms and typing errors are a close match, for a person to decide. A different name does not match.',
    '',
    `Names in ${[...new Set(GROUPS.flatMap(({ languages }) => languages))].join(', ')}, and in English. Every directory compares by the same rules.`,
    '',
    `## ${PAIRS.length} pairs`,
    '',
    row(['label', ...RESULTS.map((given) => `found ${given}`), 'pairs']),
    row(['---', '---', '---', '---', '---']),
    ...RESULTS.map((expected) =>
      row([expected, ...RESULTS.map((given) => count({ expected, given })), count({ expected })]),
    ),
    '',
    `False full matches: ${falseFull().length}. Right: ${PAIRS.length - wrong.length} of ${PAIRS.length}.`,
    '',
    '## Wrong',
    '',
    row(['asked', 'held', 'label', 'found']),
    row(['---', '---', '---', '---']),
    ...wrong.map(({ asked, held, expected, given }) => row([asked, held, expected, given])),
    '',
  ].join('\n');
}

function falseFull(): readonly MatchedPair[] {
  return PAIRS.filter(({ expected, given }) => given === 'full' && expected !== 'full');
}

test('no name of the labelled set is taken for another', () => {
  expect(PAIRS.length).toBeGreaterThanOrEqual(200);
  expect(falseFull()).toEqual([]);
});

/** The code of each result in a directory; a new directory does not compile without its own. */
const CODES: Readonly<Record<DirectoryCode, Readonly<Record<Result, string>>>> = {
  'pay-uk': { full: 'MATC', close: 'MBAM', none: 'ANNM' },
  'eu-vop': { full: 'MTCH', close: 'CMTC', none: 'NMTC' },
};
const CODE_OF: Readonly<Record<DirectoryCode, (asked: string, holder: NamedParty) => string>> = {
  'pay-uk': (name, holder) => nameMatchCode({ name, type: holder.type }, holder),
  'eu-vop': payeeMatchCode,
};

test.each(DIRECTORIES)('%s answers for every name of the labelled set by the same rules', (directory) => {
  const differing = GROUPS.flatMap(({ type, pairs }) =>
    pairs.filter(([asked, held]) => {
      const given = matchNames({ name: asked, type }, { name: held, type });
      return CODE_OF[directory](asked, { name: held, type }) !== CODES[directory][given];
    }),
  );
  expect(differing).toEqual([]);
});

test('the labelled set has names in more than ten languages, each with every label', () => {
  const labels = new Map<string, Set<string>>();
  for (const { languages, pairs } of GROUPS) {
    for (const language of languages) {
      const known = labels.get(language) ?? new Set();
      labels.set(language, new Set([...known, ...pairs.map(([, , label]) => label)]));
    }
  }
  expect(labels.size).toBeGreaterThan(10);
  for (const [language, known] of labels) expect(known, language).toEqual(new Set(RESULTS));
});

test('every full match of the labelled set is found, and fewer than one pair in twenty is matched wrongly', () => {
  expect(count({ expected: 'full', given: 'full' })).toBe(count({ expected: 'full' }));
  const missed = PAIRS.filter(({ expected, given }) => expected !== given).length;
  expect(missed / PAIRS.length).toBeLessThan(0.05);
});

test('docs/reference/sandbox/name-matching.md shows the labelled set with its results', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(DOCUMENT, document());
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(document());
});

test('the requested and the held name are interchangeable', () => {
  const types: Record<string, HolderType> = Object.fromEntries(GROUPS.map(({ rule, type }) => [rule, type]));
  const turned = PAIRS.filter(({ rule, asked, held, given }) => {
    const type = types[rule] ?? 'individual';
    return !NAMING_SEVERAL.has(rule) && matchNames({ name: held, type }, { name: asked, type }) !== given;
  });
  expect(turned.map(({ asked, held }) => [asked, held])).toEqual([]);
});

describe('the kind of account', () => {
  test.each([
    ['individual', 'John Smith', 'corporate', 'John Smith', 'BANM'],
    ['individual', 'John Smith', 'corporate', 'John Smith Ltd', 'BAMM'],
    ['corporate', 'John Smith', 'individual', 'Mr John Smith', 'PANM'],
    ['corporate', 'J Smith', 'individual', 'Mr John Smith', 'PAMM'],
    ['corporate', 'Acme Ltd', 'individual', 'John Smith', 'ANNM'],
    ['individual', 'John Smith', 'corporate', 'Acme Ltd', 'ANNM'],
    ['individual', 'John Smith', 'individual', 'John Smith', 'MATC'],
    ['individual', 'J Smith', 'individual', 'John Smith', 'MBAM'],
    ['corporate', 'Acme', 'corporate', 'Acme Ltd', 'MBAM'],
  ] as const)('%s %s at the account of %s %s is %s', (askedType, asked, holderType, holder, code) => {
    expect(nameMatchCode({ name: asked, type: askedType }, { name: holder, type: holderType })).toBe(code);
  });
});

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['smith', 'smiht', 1],
  ['smith', 'smyth', 1],
  ['thompson', 'thomson', 1],
  ['kitten', 'sitting', 3],
])('from %j to %j are %i steps', (one, other, steps) => {
  expect(editDistance(one, other)).toBe(steps);
});

test('a name of many words is one name with a word more or less', () => {
  const long = 'Maximilian '.repeat(27).trim();
  expect(matchNames({ name: long, type: 'individual' }, { name: `${long} Weber`, type: 'individual' })).toBe('close');
  expect(matchNames({ name: long, type: 'corporate' }, { name: `${long} Weber`, type: 'corporate' })).toBe('none');
});

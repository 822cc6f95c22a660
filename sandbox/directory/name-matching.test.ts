import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { type HolderType, matchNames, nameMatchCode } from './name-matching.ts';
import { editDistance } from './name-words.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/name-matching.md', import.meta.url));
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
    '# Name matching of the sandbox directory',
    '',
    'Printed by `sandbox/directory/name-matching.test.ts` from `sandbox/directory/name-pairs.json`; run it with `UPDATE_DOCUMENTS=1` to print again. It fails when the two differ, and at any false full match.',
    '',
    'The pairs were written and labelled before the matching code, by the guidance of banks, Confirmation of Payee and Verification of Payee to customers. Letter case, titles, accents,',
    'punctuation and variants of a legal form do not count. A different order of names, initials, missing names, short forms and typing errors are a close match, for a person to decide. A different name does not match.',
    'Where the guidance leaves a choice, the label is the stricter one. The groups from “titles that distinguish two people” on were written later, to break the matching; many of their pairs did.',
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
    '## By rule',
    '',
    row(['rule', 'pairs', 'right']),
    row(['---', '---', '---']),
    ...GROUPS.map(({ rule, pairs }) =>
      row([rule, pairs.length, pairs.length - wrong.filter((pair) => pair.rule === rule).length]),
    ),
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

test('every full match of the labelled set is found, and fewer than one pair in twenty is matched wrongly', () => {
  expect(count({ expected: 'full', given: 'full' })).toBe(count({ expected: 'full' }));
  const missed = PAIRS.filter(({ expected, given }) => expected !== given).length;
  expect(missed / PAIRS.length).toBeLessThan(0.05);
});

test('docs/name-matching.md shows the labelled set with its results', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(DOCUMENT, document());
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(document());
});

test('what is asked and what is held can change places', () => {
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

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { checkText, cleanText } from '../../../domain/common/parties/names.ts';
import {
  attributes,
  maybeNumber,
  maybeProviderId,
  maybeShown,
  ourReference,
  providerId,
  routingCodes,
  shown,
  unchecked,
} from './texts.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const THIS = 'ports/texts.ts';

test('no adapter reads a text but by these: a new one, and a new field, is cleaned and cut like every other', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const adapters = files.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== THIS);
  expect(adapters.length).toBeGreaterThan(10);
  const own = adapters.filter((path) =>
    /\bv\.(string|any|custom)\(|v\.record\(/.test(readFileSync(FOLDER + path, 'utf8')),
  );
  expect(own).toEqual([]);
});

const NASTY = `\u202EJane\u0000\u009B\u200B Doe\u{E0041}\ud800\uFEFF`;
const PIECES = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\u202e',
    '\u0000',
    '\u009b',
    '\u200b',
    '\ud83d',
    '\udc00',
    'e\u0301',
    '\u0301'.repeat(9),
    '\n',
    '\u{E0041}',
    'Zoë',
  ),
);
const text = fc.array(PIECES, { maxLength: 60 }).map((pieces) => pieces.join(''));

test('whatever comes, what is kept would pass as a caller’s own text', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 50 }), (given, lengthMax) => {
      const kept = cleanText(given, lengthMax);
      if (kept !== '') expect(checkText(kept, lengthMax)).toEqual({ value: kept });
      expect(cleanText(kept, lengthMax)).toBe(kept);
    }),
  );
});

test.each([
  ['a name', shown(300), NASTY, 'Jane Doe'],
  ['lines', shown(300), 'one\r\ntwo\tthree', 'one two three'],
  ['a name in another writing', shown(300), 'Zoe\u0308', 'Zoë'],
  ['a name of 30,000 characters', shown(300), 'x'.repeat(30_000), `${'x'.repeat(299)}…`],
  ['a name of the longest length', shown(300), '😀'.repeat(300), '😀'.repeat(300)],
  ['nothing to see', shown(300), '\u200B\u202E', '…'],
  ['nothing to see, where there may be nothing', maybeShown(300), '\u200B\u202E', null],
  ['an absent text', maybeShown(300), undefined, null],
  ['a number', maybeNumber(), 'GB33 BUKB\u200B 2020 1555 5555 55', 'GB33BUKB20201555555555'],
  ['a number that is too long', maybeNumber(), '1'.repeat(40), `${'1'.repeat(33)}…`],
  ['our reference', ourReference(), '\u200B0190D3C45B6A7F8E9ABCDEF012345678', '0190d3c4-5b6a-7f8e-9abc-def012345678'],
  [
    'a step of ours',
    ourReference(),
    '0190D3C45B6A7F8E9ABCDEF012345678:CLOSE:2',
    '0190d3c4-5b6a-7f8e-9abc-def012345678:close:2',
  ],
  ['a good id', providerId(), 'pay-1', 'pay-1'],
  ['no id', maybeProviderId(), '', null],
  [
    'routing codes',
    routingCodes(),
    { 'sort-code': '20\u200B0000', 'BAD\n': 'x', bic: '\u202E' },
    { 'sort-code': '200000' },
  ],
  ['attributes', attributes(), { 'field\u0000': NASTY }, { field: 'Jane Doe' }],
  ['a record to migrate', unchecked(), { names: [NASTY, 7, null] }, { names: ['Jane Doe', 7, null] }],
] as const)('%s', (_, schema, given, kept) => {
  expect(v.parse(schema as v.GenericSchema, given)).toEqual(kept);
});

test('two ids never become one, however they are cleaned or cut', () => {
  const long = 'p'.repeat(200);
  const given = [`${long}1`, `${long}2`, 'p-1', 'p-1\u200B', '\u202Ep-1', '\u0000'];
  const kept = given.map((id) => v.parse(providerId(), id));
  expect(new Set(kept).size).toBe(given.length);
  for (const id of kept) expect(checkText(id, 140)).toEqual({ value: id });
  expect(given.map((id) => v.parse(providerId(), id))).toEqual(kept);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkText, fullNameOf, NAME_LENGTH_MAX } from './names.ts';

test.each([
  'John Smith',
  "Seán O'Brien-Müller",
  'Nguyễn Thị Ánh',
  'José'.normalize('NFD'),
  'علی‌رضا',
  'क्‍ष',
  'שָׁלוֹם',
  '王小明',
  'ทองดี',
  'བོད་ཡིག',
  'Αλέξανδρος',
  '𠮷野家',
  'Müller & Söhne GmbH (Berlin) – №1',
  '7',
])('%s is kept, in NFC', (name) => {
  expect(checkText(name, NAME_LENGTH_MAX)).toEqual({ value: name.normalize('NFC') });
});

test.each([
  ['a\u0000b', 'control-character'],
  ['a\nb', 'control-character'],
  ['a\u2028b', 'control-character'],
  ['a\u0085b', 'control-character'],
  ['a\ud800', 'lone-surrogate'],
  ['\udc00a', 'lone-surrogate'],
  ['a\u202eb', 'bidirectional-character'],
  ['a\u2066b', 'bidirectional-character'],
  ['a\u200fb', 'bidirectional-character'],
  ['a\ufeffb', 'invisible-character'],
  ['a\u200bb', 'invisible-character'],
  ['a\u{E0041}b', 'invisible-character'],
  ['a\ufffeb', 'invisible-character'],
  [`Z${'\u0336\u0321\u0489\u0301\u0302'}algo`, 'too-many-combining-marks'],
  ['', 'empty'],
  ['   ', 'empty'],
  ['\u00a0\u3000', 'empty'],
  ['a'.repeat(NAME_LENGTH_MAX + 1), 'too-long'],
  ['a'.repeat(1_000_000), 'too-long'],
])('case %#: rejected as %s', (name, problem) => {
  expect(checkText(name, NAME_LENGTH_MAX)).toBe(problem);
});

test('length counts characters, not UTF-16 units', () => {
  expect(checkText('𠮷'.repeat(NAME_LENGTH_MAX), NAME_LENGTH_MAX)).toHaveProperty('value');
  expect(checkText('𠮷'.repeat(NAME_LENGTH_MAX + 1), NAME_LENGTH_MAX)).toBe('too-long');
});

test('whatever passes is NFC, passes again unchanged, and survives UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
      const checked = checkText(text, NAME_LENGTH_MAX);
      if (typeof checked === 'string') return;
      expect(checkText(checked.value, NAME_LENGTH_MAX)).toEqual(checked);
      expect(new TextDecoder().decode(new TextEncoder().encode(checked.value))).toBe(checked.value);
      expect(checked.value).not.toContain('\u0000');
    }),
  );
});

test('the full name is given and family name, or the legal name', () => {
  expect(fullNameOf({ type: 'individual', givenName: 'Ada', familyName: 'Lovelace' })).toBe('Ada Lovelace');
  expect(fullNameOf({ type: 'corporate', legalName: 'Engines Ltd' })).toBe('Engines Ltd');
});

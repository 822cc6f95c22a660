import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWritableReference, writableText } from './texts.ts';

const LATIN = /^[A-Za-z0-9/\-?:().,'+ ]+$/;

test.each([
  ['Jürgen Groß & Söhne', 'Jurgen Gross + Sohne'],
  ['Ærø Færgerne A/S', 'Aero Faergerne A/S'],
  ['Łódź', 'Lodz'],
  ['O’Brien “Ltd”', "O'Brien 'Ltd'"],
  ['Αθήνα', 'Athina'],
  ['Борис', 'Boris'],
  ['a_b [c] {d} e;f <g>', 'a-b (c) (d) e,f (g)'],
  ['100 % @ 5 €', '100 . . 5 EUR'],
  ['Façade№3', 'FacadeNo3'],
])('%s is written as %s', (text, written) => {
  expect(writableText(text, 'sepa')).toBe(written);
  expect(writableText(text, 'swift-x')).toBe(written);
  expect(writableText(text, 'utf-8')).toBe(text);
});

test.each(['李小龍', 'محمد', 'דוד', 'Anna 🙂', '!!!', '', '   ', 'a\nb', 'a\u0000b', '\ud800'])(
  '%j has no agreed spelling in the banks’ letters',
  (text) => {
    expect(writableText(text, 'sepa')).toBeNull();
  },
);

test('whatever is written is in the set, and is not changed again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })), (text) => {
      const written = writableText(text, 'sepa');
      if (written === null) return;
      expect(written).toMatch(LATIN);
      expect(writableText(written, 'sepa')).toBe(written);
    }),
  );
});

test('references are written as they are, or not at all', () => {
  for (const good of ['0123456789abcdef0123456789abcdef-1', 'A/B', "x'(+)"])
    expect(isWritableReference(good)).toBe(true);
  for (const bad of ['', '/A', 'A/', 'A//B', 'Ä', 'a_b', ' a', 'a\n']) expect(isWritableReference(bad)).toBe(false);
});

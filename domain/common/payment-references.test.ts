import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isUuid } from './ids.ts';
import { idsNamedIn, paymentReferenceOf } from './payment-references.ts';

const ID = '0190d3c4-5b6a-7f8e-9abc-def012345678';
const BARE = '0190d3c45b6a7f8e9abcdef012345678';
const OTHER = 'ffffffff-0000-4000-8000-000000000001';

test('a payment reference is letters and digits, fits 35 characters and names its id again in any case', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const reference = paymentReferenceOf(id);
      expect(reference).toMatch(/^[0-9a-f]{32}$/);
      for (const written of [reference, reference.toUpperCase(), id, id.toUpperCase()]) {
        expect(idsNamedIn(written)).toEqual([id]);
      }
    }),
  );
});

test.each([
  ['nothing else', BARE],
  ['words around it', `return of ${BARE}, account closed`],
  ['the marks of remittance codes', `/ROC/${BARE.toUpperCase()}//EREF+${ID}`],
  ['a prefix with a dash', `PMT-${ID}`],
  ['underscores', `ref_${BARE}_1`],
  ['lines and tabs', `\t${ID}\r\n`],
  ['the same id twice', `${ID} ${BARE.toUpperCase()}`],
  ['other scripts’ punctuation', `「${BARE}」`],
])('an id is found between %s', (_, text) => {
  expect(idsNamedIn(text)).toEqual([ID]);
});

test.each([
  ['an empty text', ''],
  ['a digit more', `${BARE}0`],
  ['a letter before', `x${ID}`],
  ['a letter of another script', `é${BARE}`],
  ['a digit less', BARE.slice(1)],
  ['two ids run together', `${BARE}${BARE}`],
  ['some dashes only', '0190d3c4-5b6a7f8e9abcdef012345678'],
  ['digits of another script', BARE.replace('0190', '٠190')],
  ['no hexadecimal digit', BARE.replace('d3', 'g3')],
])('no id is found in %s', (_, text) => {
  expect(idsNamedIn(text)).toEqual([]);
});

test('several ids come in the order of their first mention, each once', () => {
  expect(idsNamedIn(`${OTHER.toUpperCase()};${BARE};${OTHER}`)).toEqual([OTHER, ID]);
});

test('whatever the text, only ids as we write them come out', () => {
  const pieces = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom(ID, BARE, ' ', '-', '\n'));
  fc.assert(fc.property(fc.array(pieces), (parts) => idsNamedIn(parts.join('')).every(isUuid)));
});

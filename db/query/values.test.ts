import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseArray, toWire } from './values.ts';

test('an array of any texts is read as it was written', () => {
  const texts = fc.array(
    fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('NULL', 'null', '', '{}', '"', '\\', ',', ' a ')),
    ),
  );
  fc.assert(
    fc.property(texts, (list) => {
      expect(parseArray(toWire(list) ?? '')).toEqual(list);
    }),
  );
});

test('arrays are read in the form that Postgres writes', () => {
  expect(parseArray('{}')).toEqual([]);
  expect(parseArray('{a,NULL,"NULL","b c","d\\"e","f\\\\g",""}')).toEqual([
    'a',
    null,
    'NULL',
    'b c',
    'd"e',
    'f\\g',
    '',
  ]);
});

test('values go out as the text that Postgres reads', () => {
  expect(toWire(9_007_199_254_740_993n)).toBe('9007199254740993');
  expect(toWire(new Date('2026-02-28T23:59:59.999Z'))).toBe('2026-02-28T23:59:59.999Z');
  expect(toWire(true)).toBe('t');
  expect(toWire({ a: 1 })).toBe('{"a":1}');
  expect(toWire(new Uint8Array([0, 171]))).toBe('\\x00ab');
  expect(toWire(undefined)).toBeNull();
});

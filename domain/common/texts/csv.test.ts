import { expect, test } from 'vitest';
import { csvLine, withoutFormulas } from './csv.ts';

test('fields with separators, quotes or line breaks are quoted, others are not', () => {
  expect(csvLine(['a', 'b,c', 'say "no"', 'two\nlines', null, ' d '])).toBe(
    'a,"b,c","say ""no""","two\nlines",, d \r\n',
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-2+3', "'-2+3"],
  ['+44 20 7946 0000', "'+44 20 7946 0000"],
  ['＝1', "'＝1"],
  ['\t=1', "'\t'=1"],
  ["a;=cmd|' /C calc'!A0;b", "a;'=cmd|' /C calc'!A0;b"],
  ['a;"=1+1;b', `a;"'=1+1;b`],
  ['first\n=1', "first\n'=1"],
])('%j cannot be a formula in any cell of a spreadsheet', (text, safe) => {
  expect(withoutFormulas(text)).toBe(safe);
});

test.each(['Invoice 17 = paid', 'a-b', 'me@example.com', '', 'x, -1'])('%j is unchanged', (text) => {
  expect(withoutFormulas(text)).toBe(text);
});

import * as v from 'valibot';
import { expect, test } from 'vitest';
import { check } from '../requests/problems.ts';
import { fieldConflict, rejectConflicts } from './cross-checks.ts';
import { fields, integer, optional, text } from './schemas.ts';

const range = v.pipe(
  fields({ from: integer(0, 10), to: integer(0, 10), note: optional(text(5)) }),
  rejectConflicts(({ from, to }) =>
    typeof from === 'number' && typeof to === 'number' && from > to
      ? [{ path: ['to'], value: to, message: 'must not be before from' }]
      : [],
  ),
  v.transform(({ from, to }) => to - from),
);

function problemsOf(value: unknown): string[] {
  return check(range, value, ['data', 'range']).problems.map(
    ({ code, messageParameters }) =>
      `${code.replace('common.validation.', '')} ${messageParameters.slice(1).join(' ')}`,
  );
}

test('a valid object passes, in parsed form', () => {
  expect(check(range, { from: 1, to: 3 }, []).value).toBe(2);
});

test('contradictions are reported along with the problems of single fields', () => {
  expect(problemsOf({ from: 3, to: 1 })).toEqual(['field_invalid to 1']);
  expect(problemsOf({ from: 3, to: 1, note: 'longer than five', color: 1 })).toEqual([
    'field_invalid note longer than five',
    'field_unexpected color 1',
    'field_invalid to 1',
  ]);
});

test('an invalid field is reported once, and a value that is not an object is not checked', () => {
  expect(problemsOf({ from: 11, to: 20 })).toEqual(['field_invalid from 11', 'field_invalid to 20']);
  expect(problemsOf('a range')).toHaveLength(1);
});

test('a problem of the domain keeps its code, and its message continues the path', () => {
  const problem = {
    code: 'common.validation.field_required',
    message: 'An address in US needs its region.',
    messageParameters: ['', '', ''],
  } as const;
  expect(fieldConflict(problem, ['region'], undefined)).toEqual({
    path: ['region'],
    value: undefined,
    message: 'common.validation.field_required: is required: an address in US needs its region',
  });
});

import { expect, test } from 'vitest';
import { implausibleDates } from './plausible-dates.ts';

const now = new Date('2026-11-26T09:00:00Z');
const fieldsOf = (fields: Readonly<Record<string, unknown>>, at = now) =>
  implausibleDates(fields, at).map(({ field }) => field);

test.each([
  [{ birthDate: '1990-12-10', issueDate: '2020-01-01', expirationDate: '2030-01-01' }],
  [{ birthDate: '2026-11-26', incorporationDate: '2026-11-26', issueDate: '2026-11-26' }],
  [{ birthDate: '1896-11-26' }],
  [{ incorporationDate: '1472-03-04', issueDate: '1850-01-01' }],
  [{ expirationDate: '2001-01-01' }],
  [{ issueDate: null, expirationDate: '2001-01-01' }],
  [{ birthDate: null }],
  [{ birthDate: 'tomorrow', incorporationDate: 3, issueDate: { year: 2027 } }],
  [{}],
])('%j can be right', (fields) => {
  expect(fieldsOf(fields)).toEqual([]);
});

test.each([
  [{ birthDate: '2026-11-27' }, ['birthDate']],
  [{ incorporationDate: '2026-11-27', issueDate: '2099-01-01' }, ['incorporationDate', 'issueDate']],
  [{ birthDate: '1896-11-25' }, ['birthDate']],
  [{ birthDate: '1066-10-14' }, ['birthDate']],
  [{ issueDate: '2020-01-01', expirationDate: '2020-01-01' }, ['expirationDate']],
  [{ issueDate: '2020-01-02', expirationDate: '2020-01-01' }, ['expirationDate']],
])('%j cannot: %j', (fields, expected) => {
  expect(fieldsOf(fields)).toEqual(expected);
});

test('what is today in Kiribati is not in the future', () => {
  const evening = new Date('2026-11-26T10:00:00Z');
  expect(fieldsOf({ issueDate: '2026-11-27' }, new Date(evening.getTime() - 1))).toEqual(['issueDate']);
  expect(fieldsOf({ issueDate: '2026-11-27' }, evening)).toEqual([]);
});

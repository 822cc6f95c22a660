import { expect, test } from 'vitest';
import { emailKey, isEmail } from './emails.ts';

test.each(['a@b.co', 'Jane.Doe+tag@example.com', "o'brien@sub.example.co.uk", `${'a'.repeat(64)}@example.com`])(
  '%s is an e-mail address',
  (email) => {
    expect(isEmail(email)).toBe(true);
  },
);

test.each([
  '',
  'a',
  'a@b',
  '@b.co',
  'a@b..co',
  '.a@b.co',
  'a b@c.de',
  'a@b.co\n',
  'a@b.co,c@d.ef',
  'a@-b.co',
  '<a@b.co>',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b.'.repeat(130)}co`,
])('%j is not', (email) => {
  expect(isEmail(email)).toBe(false);
});

test('addresses that differ only in case have one key', () => {
  expect(emailKey('Jane@Example.com')).toBe(emailKey('jane@example.COM'));
});

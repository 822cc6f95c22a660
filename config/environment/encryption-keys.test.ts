import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readEncryptionKeys } from './encryption-keys.ts';

test('one key or several, with blanks around them', () => {
  const [newest, older] = [randomBytes(32), randomBytes(32)];
  const given = [newest, older].map((key) => key.toString('base64'));
  expect(readEncryptionKeys({ ENCRYPTION_KEY: given[0] })).toEqual([newest]);
  expect(readEncryptionKeys({ ENCRYPTION_KEY: ` ${given.join(' , ')} ` })).toEqual([newest, older]);
});

test('a missing key is rejected by one line that says what to do', () => {
  for (const ENCRYPTION_KEY of [undefined, '', ' '])
    expect(() => readEncryptionKeys({ ENCRYPTION_KEY })).toThrow(
      /^ENCRYPTION_KEY is not set\. .*openssl rand -base64 32/,
    );
});

test.each([
  'secret-word',
  randomBytes(31).toString('base64'),
  randomBytes(33).toString('base64'),
  `${randomBytes(32).toString('base64')},`,
  `${randomBytes(32).toString('base64')},secret-word`,
  randomBytes(32).toString('hex'),
])('a bad key is rejected, and not repeated: %s', (value) => {
  expect(() => readEncryptionKeys({ ENCRYPTION_KEY: value })).toThrow(
    /^ENCRYPTION_KEY must be 32 bytes in base64[^=]*$/,
  );
  expect(() => readEncryptionKeys({ ENCRYPTION_KEY: value })).not.toThrow('secret-word');
});

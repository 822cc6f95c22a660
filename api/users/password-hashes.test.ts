import { expect, test } from 'vitest';
import { DUMMY_HASH, hashPassword, isPassword } from './password-hashes.ts';

test('a password matches its hash in either Unicode form', async () => {
  const stored = await hashPassword('caf\u00e9 on the corner');
  expect(await isPassword('cafe\u0301 on the corner', stored)).toBe(true);
  expect(await isPassword('cafe on the corner', stored)).toBe(false);
  expect(await isPassword('caf\u00e9 on the corner', null)).toBe(false);
});

test('without a hash the same work is done: the dummy hash has the parameters and lengths of a new hash', async () => {
  const shape = (hash: string) => hash.split('$').map((part, at) => (at < 4 ? part : part.length));
  expect(shape(DUMMY_HASH)).toEqual(shape(await hashPassword('wandering otters sing')));
});

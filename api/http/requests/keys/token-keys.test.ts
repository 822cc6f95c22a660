import { expect, test } from 'vitest';
import { asId } from '../../../../domain/common/ids.ts';
import { HttpRejection } from '../../errors.ts';
import { createTokenKeys, type RegisteredKey } from './token-keys.ts';

const KEY: RegisteredKey = {
  machineUserId: asId('0197b2a4-7b00-7f11-9d3e-2f4a6c8e0b13'),
  roles: ['viewer'],
  algorithm: 'EdDSA',
  publicKey: {},
  active: true,
};

test('a thousand unknown kids are looked up at a time and further ones are rejected with a retry; known kids never are', async () => {
  const reads: number[] = [];
  let answer = () => {};
  const findKey = createTokenKeys(async (kids) => {
    reads.push(kids.length);
    if (kids.length > 1) await new Promise<void>((resolve) => (answer = resolve));
    return new Map(kids.includes('known') ? [['known', KEY]] : []);
  });
  expect(await findKey('known', 0).reading).toBe(KEY);
  // The first is looked up on its own, and those that arrive meanwhile together.
  const strangers = Array.from({ length: 1_500 }, (_, index) => findKey(`stranger-${index}`, 0).reading);
  const settled = Promise.allSettled(strangers);
  // Old enough to be reloaded: on its own, not queued behind the unknown kids.
  expect(await findKey('known', 10_000).reading).toBe(KEY);
  while (reads.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  answer();
  const outcomes = await settled;
  const rejected = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(rejected.length).toBe(500);
  expect(rejected.every((reason) => reason instanceof HttpRejection && reason.status === 429)).toBe(true);
  expect(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))).toEqual(
    Array.from({ length: 1_000 }, () => null),
  );
  expect(Math.max(...reads)).toBeLessThanOrEqual(1_000);
});

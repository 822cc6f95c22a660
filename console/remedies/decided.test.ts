import { expect, test } from 'vitest';
import { rejection } from '../../domain/common/errors.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import { decided } from './decided.ts';

const MOVES = { active: ['closed'], closed: [] } as const;

test('a decision that would be rejected, or whose transition is in no table, is a sentence; a defect is none', () => {
  expect(decided(() => 7)).toEqual({ change: 7 });
  expect(decided(() => requireTransition('account', MOVES, 'closed', 'active'))).toEqual({
    rejected: 'It is closed, and cannot become active.',
  });
  const message = 'The consent is over.';
  const rejected = () => {
    throw rejection('consent.status.invalid', ['consent', 'status', 'expired'], message);
  };
  expect(decided(rejected)).toEqual({ rejected: message });
  expect(() =>
    decided(() => {
      throw new TypeError('a defect');
    }),
  ).toThrow(TypeError);
});

import { expect, test } from 'vitest';
import { rejection } from '../../../domain/common/errors.ts';
import { answerError } from '../errors.ts';

test('a rejected value is truncated and shown without control characters, whichever check rejected it', () => {
  const value = `\u202e\u0007${'x'.repeat(10_000)}`;
  const error = rejection('common.validation.field_invalid', ['client', 'fullName', value], 'It is not allowed.');
  const { body } = answerError(error, new Date(0));
  expect(JSON.parse(body).messageParameters).toEqual(['client', 'fullName', `\ufffd\ufffd${'x'.repeat(98)}`]);
});

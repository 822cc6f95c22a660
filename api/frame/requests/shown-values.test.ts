import { expect, test } from 'vitest';
import { refusal } from '../../../domain/frame/errors.ts';
import { answerError } from '../errors.ts';

test('a refused value is shown in part and without control characters, whatever found it', () => {
  const value = `\u202e\u0007${'x'.repeat(10_000)}`;
  const error = refusal('common.validation.field_invalid', ['client', 'fullName', value], 'It is not allowed.');
  const { body } = answerError(error, new Date(0));
  expect(JSON.parse(body).messageParameters).toEqual(['client', 'fullName', `\ufffd\ufffd${'x'.repeat(98)}`]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkDigits97, remainder97 } from './check-digits.ts';

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 2, maxLength: 30 });

test('mod 97-10 agrees with whole-number arithmetic, however long the number', () => {
  fc.assert(fc.property(digits, (text) => remainder97(text) === Number(BigInt(text) % 97n)));
});

test('every single changed digit and every swap of neighbours is detected', () => {
  fc.assert(
    fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (text, position, shift) => {
      const whole = text + checkDigits97(text);
      expect(remainder97(whole)).toBe(1);
      const at = position % whole.length;
      const changed = whole.slice(0, at) + ((Number(whole[at]) + shift) % 10) + whole.slice(at + 1);
      expect(remainder97(changed)).not.toBe(1);
      const [one = '', two = ''] = [whole[at], whole[at + 1]];
      if (two === '' || one === two) return;
      expect(remainder97(whole.slice(0, at) + two + one + whole.slice(at + 2))).not.toBe(1);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  IDENTIFICATION_TYPES,
  type Identification,
  identificationNumbersOf,
  identificationsChangedByNumbers,
  identificationsOf,
  isIdentificationType,
} from './identifications.ts';

const passport: Identification = {
  type: 'passport',
  identificationNumber: 'P1',
  issuingCountry: 'GB',
  issueDate: '2020-01-01',
  expirationDate: '2030-01-01',
};

test('the types are the closed list of the interface', () => {
  expect(IDENTIFICATION_TYPES).toHaveLength(10);
  expect(isIdentificationType('driving-licence')).toBe(true);
  expect(isIdentificationType('library-card')).toBe(false);
});

test('map and list are two views: what the map says is in the list, and back', () => {
  const numbers = fc.dictionary(fc.constantFrom(...IDENTIFICATION_TYPES), fc.string({ minLength: 1 }));
  fc.assert(
    fc.property(numbers, (map) => {
      expect(identificationNumbersOf(identificationsOf([], map))).toEqual({ ...map });
    }),
  );
});

test('an identification given in both views is one', () => {
  expect(identificationsOf([passport], { passport: 'P1' })).toEqual([passport]);
  expect(identificationsOf([passport], { 'vat-number': 'V' })).toHaveLength(2);
});

test('a change through the map keeps what the map cannot say and removes what it leaves out', () => {
  const before = identificationsOf([passport], { lei: 'L1' });
  expect(identificationsChangedByNumbers(before, { passport: 'P1' })).toEqual([passport]);
  expect(identificationsChangedByNumbers(before, { passport: 'P2' })).toEqual([
    { type: 'passport', identificationNumber: 'P2', issuingCountry: null, issueDate: null, expirationDate: null },
  ]);
});

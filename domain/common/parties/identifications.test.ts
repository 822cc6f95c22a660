import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changedIdentifications,
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

const licence: Identification = { ...passport, type: 'driving-licence', identificationNumber: 'D1' };
const second: Identification = { ...passport, identificationNumber: 'P2', issuingCountry: 'FR' };
const bare = (type: Identification['type'], identificationNumber: string): Identification => ({
  type,
  identificationNumber,
  issuingCountry: null,
  issueDate: null,
  expirationDate: null,
});

test.each<[string, Identification[], Parameters<typeof identificationsChangedByNumbers>[1], Identification[]]>([
  ['a number that stays keeps what the map cannot say', [passport], { passport: 'P1' }, [passport]],
  ['another number is another document', [passport, licence], { passport: 'P9' }, [bare('passport', 'P9'), licence]],
  ['a type left out stays', [passport, licence], { lei: 'L1' }, [passport, licence, bare('lei', 'L1')]],
  ['null takes all of a type away', [passport, licence, second], { passport: null }, [licence]],
  ['the first of a type is set', [passport, second], { passport: 'P9' }, [bare('passport', 'P9'), second]],
  [
    'a number that another of the type has makes that one the first',
    [passport, licence, second],
    { passport: 'P2' },
    [second, licence],
  ],
])('a change through the map: %s', (_, before, numbers, after) => {
  expect(identificationsChangedByNumbers(before, numbers)).toEqual(after);
});

test.each<[string, Parameters<typeof changedIdentifications>[1], Identification[]]>([
  ['nothing sent changes nothing', {}, [passport, licence]],
  ['a list replaces', { identifications: [second] }, [second]],
  ['null empties, in either view', { identifications: null }, []],
  ['null empties, in either view', { identificationNumbers: null }, []],
  ['both null empty', { identifications: null, identificationNumbers: null }, []],
  [
    'null empties where the other view comes back as it was read',
    { identifications: [passport, licence], identificationNumbers: null },
    [],
  ],
  [
    'null empties where the other view comes back as it was read',
    { identifications: null, identificationNumbers: { passport: 'P1', 'driving-licence': 'D1' } },
    [],
  ],
  [
    'null for one view yields to what is new in the other',
    { identifications: [second], identificationNumbers: null },
    [second],
  ],
  [
    'null for one view yields to what is new in the other',
    { identifications: null, identificationNumbers: { passport: 'P1', 'driving-licence': 'D1', lei: 'L1' } },
    [bare('lei', 'L1')],
  ],
  [
    'a list with the map sent back as it was read replaces',
    { identifications: [second], identificationNumbers: { passport: 'P1', 'driving-licence': 'D1' } },
    [second],
  ],
  [
    'a map with the list sent back as it was read is merged',
    { identifications: [passport, licence], identificationNumbers: { passport: 'P9', 'driving-licence': 'D1' } },
    [bare('passport', 'P9'), licence],
  ],
  [
    'what is new in both is kept from both',
    { identifications: [second], identificationNumbers: { lei: 'L1', 'driving-licence': null } },
    [second, bare('lei', 'L1')],
  ],
])('a change: %s', (_, change, after) => {
  expect(changedIdentifications([passport, licence], change)).toEqual(after);
});

test('after a change through the map, the map shows what it said', () => {
  const numbers = fc.dictionary(fc.constantFrom(...IDENTIFICATION_TYPES), fc.string({ minLength: 1 }));
  const lists = fc.array(
    fc.record({ type: fc.constantFrom(...IDENTIFICATION_TYPES), number: fc.string({ minLength: 1 }) }),
  );
  fc.assert(
    fc.property(lists, numbers, (list, map) => {
      const before = list.map(({ type, number }) => bare(type, number));
      const after = identificationsChangedByNumbers(before, map);
      expect(identificationNumbersOf(after)).toEqual({ ...identificationNumbersOf(before), ...map });
    }),
  );
});

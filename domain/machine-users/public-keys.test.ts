import { checkPrimeSync, generateKeyPairSync, generatePrimeSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type PublicKeyParts, publicKeyProblem } from './public-keys.ts';

function problemOf(key: PublicKeyParts): string | null {
  return publicKeyProblem(key, (number) => checkPrimeSync(number));
}

const P25519 = 2n ** 255n - 19n;
const SIGN = 2n ** 255n;
/** The y of the points of order 8, and their negatives. */
const ORDER_8 = [
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
];

describe('an Ed25519 key', () => {
  test.each(
    [0n, 1n, P25519 - 1n, ...ORDER_8].flatMap((y) => [y, y + SIGN].map((encoded) => [encoded.toString(16), encoded])),
  )('is rejected as a point of small order: %s', (_, encoded) => {
    expect(problemOf({ kind: 'ed25519', encoded: BigInt(encoded) })).toContain('of small order');
  });

  test.each([P25519, P25519 + 1n, P25519 + SIGN, 2n ** 255n - 1n, 2n ** 256n - 1n])(
    'is rejected if it is not encoded in its canonical form: %s',
    (encoded) => {
      expect(problemOf({ kind: 'ed25519', encoded })).toContain('canonical form');
    },
  );

  test('is rejected off the curve', () => {
    expect(problemOf({ kind: 'ed25519', encoded: 2n })).toBe('is not a point of its curve');
  });

  test('is taken as a library makes it', () => {
    for (let count = 0; count < 20; count += 1) {
      const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
      const encoded = BigInt(`0x${Buffer.from(x, 'base64url').reverse().toString('hex')}`);
      expect(problemOf({ kind: 'ed25519', encoded })).toBeNull();
    }
  });
});

describe('an RSA key', () => {
  const prime = (bits: number) => generatePrimeSync(bits, { bigint: true });
  const half = prime(1_024);
  const honest = half * prime(1_024);
  const cases: readonly (readonly [string, bigint, bigint, string])[] = [
    ['a power of two', 2n ** 2_047n, 65_537n, 'even modulus'],
    ['an even modulus', honest * 2n, 65_537n, 'even modulus'],
    ['a factor of 3', honest * 3n, 65_537n, 'small factor'],
    ['a factor of 9,973', honest * 9_973n, 65_537n, 'small factor'],
    ['a prime', prime(2_048), 65_537n, 'prime modulus'],
    ['the square of a prime', half ** 2n, 65_537n, 'close to each other'],
    ['the cube of a prime', prime(700) ** 3n, 65_537n, 'a power'],
    ['the 31st power of a prime', prime(70) ** 31n, 65_537n, 'a power'],
    ['factors that agree in their first half', half * next(half + 2n ** 500n), 65_537n, 'close to each other'],
    ['2,040 bits', prime(1_020) * prime(1_020), 65_537n, 'must have 2048 to 8192 bits'],
    ['8,200 bits', 2n ** 8_199n + 1n, 65_537n, 'must have 2048 to 8192 bits'],
    ['an exponent of 1', honest, 1n, 'exponent from 3'],
    ['an exponent of 0', honest, 0n, 'even exponent'],
    ['an even exponent', honest, 65_536n, 'even exponent'],
    ['a huge exponent', honest, 2n ** 64n + 1n, 'exponent from 3'],
  ];

  test.each(cases)('is rejected for %s', (_, modulus, exponent, problem) => {
    expect(problemOf({ kind: 'rsa', modulus, exponent })).toContain(problem);
  });

  test.each([2_048, 3_072])('of %i bits is taken as a library makes it', (modulusLength) => {
    const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
    expect(problemOf({ kind: 'rsa', modulus: numberOf(n), exponent: numberOf(e) })).toBeNull();
  });

  function next(value: bigint): bigint {
    return checkPrimeSync(value) ? value : next(value + 2n);
  }
});

describe('a P-256 key', () => {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });

  test('is accepted on the curve, and rejected next to it', () => {
    expect(problemOf({ kind: 'p-256', x: numberOf(x), y: numberOf(y) })).toBeNull();
    expect(problemOf({ kind: 'p-256', x: numberOf(y), y: numberOf(x) })).toBe('is not a point of its curve');
    expect(problemOf({ kind: 'p-256', x: 0n, y: 0n })).toBe('is not a point of its curve');
  });
});

function numberOf(base64: string): bigint {
  return BigInt(`0x${Buffer.from(base64, 'base64url').toString('hex')}`);
}

import { createPublicKey, generatePrimeSync, type JsonWebKey } from 'node:crypto';

const base64 = (number: bigint): string => {
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
};
const ed25519 = (hex: string): JsonWebKey => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: Buffer.from(hex.padEnd(64, '0'), 'hex').toString('base64url'),
});
const rsa = (modulus: bigint, exponent = 65_537n): JsonWebKey => ({
  kty: 'RSA',
  n: base64(modulus),
  e: base64(exponent),
});

const prime = (bits: number) => generatePrimeSync(bits, { bigint: true });
const half = prime(1_024);
const other = prime(1_024);

/** The neutral point: its encoding and a zero are a valid signature of any message. */
export const NEUTRAL_POINT = ed25519('01');

/** Keys that libraries read, and for which any caller can forge signatures: what they are, the key, and the rule that rejects it. */
export const WEAK_RSA_KEYS: readonly (readonly [what: string, jwk: JsonWebKey, rule: string])[] = [
  ['an RSA modulus that is a power of two', rsa(2n ** 2_047n), 'has an even modulus'],
  ['an RSA modulus with a small factor', rsa(half * other * 101n), 'has a modulus with a small factor'],
  ['an RSA modulus that is a prime', rsa(prime(2_048)), 'has a prime modulus'],
  ['an RSA modulus that is a square', rsa(half ** 2n), 'has a modulus whose factors are close to each other'],
  ['an RSA modulus that is a cube', rsa(prime(700) ** 3n), 'has a modulus that is a power'],
  ['an even RSA exponent', rsa(half * other, 65_536n), 'has an even exponent'],
  ['a huge RSA exponent', rsa(half * other, 2n ** 63n + 1n), 'must have an exponent from 3 to 4294967295'],
];

const SMALL_ORDER = 'is a point of small order, for which anyone can sign';

export const WEAK_ED25519_KEYS: typeof WEAK_RSA_KEYS = [
  ['the neutral point of Ed25519', NEUTRAL_POINT, SMALL_ORDER],
  ['an Ed25519 point of order 2', ed25519(`ec${'ff'.repeat(30)}7f`), SMALL_ORDER],
  ['an Ed25519 point of order 4', ed25519('00'), SMALL_ORDER],
  [
    'an Ed25519 point of order 8',
    ed25519('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
    SMALL_ORDER,
  ],
  [
    'an Ed25519 point in another form',
    ed25519(`ee${'ff'.repeat(30)}7f`),
    'is a point that is not encoded in its canonical form',
  ],
];

export function pemOf(jwk: JsonWebKey): string {
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' }).toString();
}

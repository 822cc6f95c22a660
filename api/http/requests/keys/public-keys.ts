import { checkPrimeSync, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { TokenAlgorithm } from '../../../../domain/machine-users/machine-users.ts';
import { type PublicKeyParts, publicKeyProblem } from '../../../../domain/machine-users/public-keys.ts';

/** The public parts; other members of a JWK are ignored. */
export type JwkParts = Readonly<Partial<Record<'kty' | 'crv' | 'n' | 'e' | 'x' | 'y', string | undefined>>>;

/** The public key of these parts, or why it cannot verify tokens of this algorithm safely. */
export function readJwk(jwk: JwkParts, algorithm: TokenAlgorithm): { publicKey: JsonWebKey } | { problem: string } {
  const key = importKey({ jwk });
  const problem = key === null ? 'is not a public key' : problemOf(key, algorithm);
  if (key === null || problem !== null) return { problem: problem ?? 'is not a public key' };
  return { publicKey: key.export({ format: 'jwk' }) };
}

interface KeySent {
  readonly jwk?: JwkParts | undefined;
  readonly pem?: string | undefined;
}

/** Null if it is not a public key. */
export function importKey(sent: KeySent): KeyObject | null {
  try {
    if (sent.pem !== undefined) return createPublicKey(sent.pem);
    const { kty, crv, n, e, x, y } = sent.jwk ?? {};
    const parts = Object.fromEntries(Object.entries({ kty, crv, n, e, x, y }).filter(([, part]) => part !== undefined));
    return createPublicKey({ key: parts, format: 'jwk' });
  } catch {
    return null;
  }
}

/** Why the key cannot verify tokens of this algorithm safely, completing "the key …", or null. */
export function problemOf(key: KeyObject, algorithm: TokenAlgorithm): string | null {
  const parts = partsOf(key);
  switch (algorithm) {
    case 'RS256':
    case 'PS256':
      return parts?.kind === 'rsa' ? publicKeyProblem(parts, isPrime) : `is not an RSA key, which ${algorithm} needs`;
    case 'ES256':
      return parts?.kind === 'p-256' ? publicKeyProblem(parts, isPrime) : 'is not a P-256 key, which ES256 needs';
    case 'EdDSA':
      return parts?.kind === 'ed25519' ? publicKeyProblem(parts, isPrime) : 'is not an Ed25519 key, which EdDSA needs';
  }
}

/** One round rejects nearly every composite number, and accepts every prime. */
function isPrime(number: bigint): boolean {
  return checkPrimeSync(number, { checks: 1 });
}

function partsOf(key: KeyObject): PublicKeyParts | null {
  const { asymmetricKeyType } = key;
  if (asymmetricKeyType !== 'rsa' && asymmetricKeyType !== 'ec' && asymmetricKeyType !== 'ed25519') return null;
  const { crv, n = '', e = '', x = '', y = '' } = key.export({ format: 'jwk' });
  if (asymmetricKeyType === 'rsa') return { kind: 'rsa', modulus: numberOf(n), exponent: numberOf(e) };
  if (asymmetricKeyType === 'ed25519') {
    const littleEndian = Buffer.from(x, 'base64url').reverse().toString('base64url');
    return { kind: 'ed25519', encoded: numberOf(littleEndian) };
  }
  return crv === 'P-256' ? { kind: 'p-256', x: numberOf(x), y: numberOf(y) } : null;
}

function numberOf(base64: string): bigint {
  return BigInt(`0x${Buffer.from(base64, 'base64url').toString('hex') || '0'}`);
}

import { checkPrimeSync, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { refusal } from '../../domain/frame/errors.ts';
import { TOKEN_ALGORITHMS, type TokenAlgorithm } from '../../domain/machine-users/machine-users.ts';
import { type PublicKeyParts, publicKeyProblem } from '../../domain/machine-users/public-keys.ts';
import { named } from '../frame/schemas/named.ts';
import { boolean, fields, list, optional, pattern, picklist, text } from '../frame/schemas/schemas.ts';
import { secret } from '../frame/schemas/secrets.ts';

/** A public key as its owner sends it: a JWK, or PEM with `algorithm` beside it. */
export const keySent = named(
  'MachineUserKey',
  fields({
    kid: pattern(/^[A-Za-z0-9_-]{1,128}$/, '1 to 128 of letters, digits, _ and -'),
    algorithm: named('TokenAlgorithm', picklist(TOKEN_ALGORITHMS)),
    jwk: optional(
      named(
        'Jwk',
        fields({
          kty: picklist(['RSA', 'EC', 'OKP']),
          crv: optional(picklist(['P-256', 'Ed25519'])),
          n: optional(base64Url(1_400)),
          e: optional(base64Url(16)),
          x: optional(base64Url(64)),
          y: optional(base64Url(64)),
          kid: optional(text(128)),
          alg: optional(named('TokenAlgorithm', picklist(TOKEN_ALGORITHMS))),
          use: optional(picklist(['sig'])),
          key_ops: optional(list(picklist(['verify']), 0, 1)),
          ext: optional(boolean()),
        }),
      ),
    ),
    pem: optional(
      secret(
        pattern(/^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{1,4000}-----END PUBLIC KEY-----\s*$/, 'a PEM public key'),
      ),
    ),
  }),
);

/** In place of a public part the private one may be sent. */
export function base64Url(lengthMax: number) {
  return secret(pattern(new RegExp(`^[A-Za-z0-9_-]{1,${lengthMax}}$`), 'base64url text'));
}

/** The public parts; other members of a JWK are ignored. */
export type JwkParts = Readonly<Partial<Record<'kty' | 'crv' | 'n' | 'e' | 'x' | 'y', string | undefined>>>;

interface KeySent {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly jwk?: JwkParts | undefined;
  readonly pem?: string | undefined;
}

/** Reads the key and refuses those that cannot verify tokens safely. `entity` is the body's key, for the refusal. */
export function readPublicKey(
  sent: KeySent,
  entity: string,
): { kid: string; algorithm: TokenAlgorithm; publicKey: object } {
  const field = sent.jwk === undefined ? 'pem' : 'jwk';
  if ((sent.jwk === undefined) === (sent.pem === undefined)) {
    throw refusal('common.validation.mutually_exclusive', [entity, 'jwk', ''], 'Send the key as either jwk or pem.');
  }
  const key = importKey(sent);
  const problem = key === null ? 'is not a public key' : problemOf(key, sent.algorithm);
  if (key === null || problem !== null) {
    throw refusal(
      'common.validation.field_invalid',
      [entity, field, ''],
      `${entity}.${field} ${problem ?? 'is not a public key'}.`,
    );
  }
  return { kid: sent.kid, algorithm: sent.algorithm, publicKey: key.export({ format: 'jwk' }) };
}

/** The public key of these parts, or why it cannot verify tokens of this algorithm safely. */
export function readJwk(jwk: JwkParts, algorithm: TokenAlgorithm): { publicKey: JsonWebKey } | { problem: string } {
  const key = importKey({ jwk });
  const problem = key === null ? 'is not a public key' : problemOf(key, algorithm);
  if (key === null || problem !== null) return { problem: problem ?? 'is not a public key' };
  return { publicKey: key.export({ format: 'jwk' }) };
}

function importKey(sent: Pick<KeySent, 'jwk' | 'pem'>): KeyObject | null {
  try {
    if (sent.pem !== undefined) return createPublicKey(sent.pem);
    const { kty, crv, n, e, x, y } = sent.jwk ?? {};
    const parts = Object.fromEntries(Object.entries({ kty, crv, n, e, x, y }).filter(([, part]) => part !== undefined));
    return createPublicKey({ key: parts, format: 'jwk' });
  } catch {
    return null;
  }
}

function problemOf(key: KeyObject, algorithm: TokenAlgorithm): string | null {
  const parts = partsOf(key);
  switch (algorithm) {
    case 'RS256':
    case 'PS256':
      return parts?.kind === 'rsa' ? publicKeyProblem(parts, isPrime) : `is no RSA key, which ${algorithm} needs`;
    case 'ES256':
      return parts?.kind === 'p-256' ? publicKeyProblem(parts, isPrime) : 'is no P-256 key, which ES256 needs';
    case 'EdDSA':
      return parts?.kind === 'ed25519' ? publicKeyProblem(parts, isPrime) : 'is no Ed25519 key, which EdDSA needs';
  }
}

/** One round finds nearly every number that is no prime, and every prime passes it. */
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

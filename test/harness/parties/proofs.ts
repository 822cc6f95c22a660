import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, SignJWT } from 'jose';
import type { ProofAlgorithm } from '../../../domain/open-banking/proofs.ts';
import type { Json } from '../api.ts';

/** A key of a third party to which access tokens are bound. */
export interface ProofKey {
  readonly algorithm: ProofAlgorithm;
  readonly privateKey: KeyObject;
  readonly jwk: Json;
}

export function newProofKey(algorithm: ProofAlgorithm = 'ES256'): ProofKey {
  const { privateKey, publicKey } = newPair(algorithm);
  return { algorithm, privateKey, jwk: publicKey.export({ format: 'jwk' }) };
}

function newPair(algorithm: ProofAlgorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'PS256' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }) : generateKeyPairSync('ed25519');
}

/** The request that a proof is for; at the token endpoint there is no access token. */
export interface Proven {
  readonly method: string;
  readonly address: string;
  readonly accessToken?: string;
}

/** A valid proof, except for what `claims` and `header` override; undefined omits a member. */
export async function proofOf(
  { algorithm, privateKey, jwk }: ProofKey,
  { method, address, accessToken }: Proven,
  claims: Json = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1_000);
  const ath = accessToken === undefined ? {} : { ath: hashOf(accessToken) };
  const all = { jti: randomUUID(), htm: method, htu: address, iat, ...ath, ...claims };
  const named = { alg: algorithm, typ: 'dpop+jwt', jwk, ...header };
  return new SignJWT(given(all)).setProtectedHeader({ ...given(named), alg: named.alg }).sign(privateKey);
}

function given(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose';
import {
  PROOF_ALGORITHMS,
  PROOF_CLOCK_TOLERANCE_SECONDS,
  type ProofAlgorithm,
  type ProvenRequest,
  proofExpiresAt,
  proofProblem,
} from '../../../../domain/open-banking/proofs.ts';
import { readJwk } from '../keys/public-keys.ts';

/** A proof by the largest RSA key, for a long address. */
const PROOF_LENGTH_MAX = 8_192;
const PROOF = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The private members of RSA, elliptic curve and symmetric keys (RFC 7518, 6). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;
const PUBLIC_MEMBERS = ['kty', 'crv', 'n', 'e', 'x', 'y'] as const;

/** A valid proof for its request. Whether it was used before is not checked yet. */
export interface Proof {
  /** RFC 7638, SHA-256, in base64url. */
  readonly keyThumbprint: string;
  /** Identifies the proof, which can be used once. */
  readonly jtiHash: Buffer;
  readonly expiresAt: Date;
}

/** Why a proof is rejected, for the answer; it repeats nothing of the proof. */
export interface ProofRejection {
  readonly error: 'invalid_dpop_proof' | 'invalid_token';
  readonly description: string;
}

/**
 * Checks a proof by RFC 9449, 4.3; the caller checks whether it was used before. `boundTo`: the thumbprint of the access token's
 * key; null when a token is about to be bound. Several proof headers arrive as one text with commas, which is not a valid proof.
 * There are no nonces: clocks are good to half a minute, and a proof lives for one. Codes are not bound (`dpop_jkt`): their exchange needs
 * the third party's own signature anyway.
 */
export async function readProof(
  proof: string,
  request: ProvenRequest,
  { boundTo, now }: { readonly boundTo: string | null; readonly now: Date },
): Promise<Proof | ProofRejection> {
  const signer = readSigner(proof);
  if ('problem' in signer) return rejected(signer.problem);
  const { jwk, algorithm } = signer;
  const keyThumbprint = await thumbprintOf(jwk);
  if (keyThumbprint === null) return rejected('jwk is not a public key');
  if (boundTo !== null && keyThumbprint !== boundTo)
    return { error: 'invalid_token', description: 'The access token is bound to a different key than the proof.' };
  // The key of a token was checked when the token was bound to it.
  const problem = boundTo === null ? keyProblem(jwk, algorithm) : null;
  if (problem !== null) return rejected(`jwk ${problem}`);
  const claims = await verifiedClaims(proof, signer, now);
  if (claims === null) return rejected('its signature, typ, exp or nbf is wrong');
  const mistake = proofProblem(claims, request, now);
  if (mistake !== null) return rejected(mistake);
  const { jti, iat = 0 } = claims;
  // Stored in the table for the jti of assertions, which can be used only once too.
  const jtiHash = createHash('sha256').update(`${keyThumbprint}.${jti}`).digest();
  return { keyThumbprint, jtiHash, expiresAt: proofExpiresAt(iat) };
}

export function rejected(rule: string): ProofRejection {
  return { error: 'invalid_dpop_proof', description: `The proof in the DPoP header is rejected: ${rule}.` };
}

interface Signer {
  readonly jwk: JWK;
  readonly algorithm: ProofAlgorithm;
}

function readSigner(proof: string): Signer | { readonly problem: string } {
  if (proof.length > PROOF_LENGTH_MAX || !PROOF.test(proof))
    return { problem: 'there must be exactly one, and it must be a JWT' };
  const header = readHeader(proof);
  const algorithm = PROOF_ALGORITHMS.find((one) => one === header.alg);
  if (algorithm === undefined) return { problem: `alg must be one of ${PROOF_ALGORITHMS.join(', ')}` };
  const { jwk } = header;
  if (typeof jwk !== 'object' || jwk === null) return { problem: 'jwk must be the public key' };
  if (PRIVATE_MEMBERS.some((name) => name in jwk)) return { problem: 'jwk must have no private member' };
  const members = Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.some((one) => one === name));
  if (members.some(([, value]) => typeof value !== 'string')) return { problem: 'jwk is not a public key' };
  return { jwk: { kty: '', ...Object.fromEntries(members) }, algorithm };
}

function readHeader(proof: string): { readonly alg?: unknown; readonly jwk?: unknown } {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return {};
  }
}

async function thumbprintOf(jwk: JWK): Promise<string | null> {
  try {
    return await calculateJwkThumbprint(jwk, 'sha256');
  } catch {
    return null;
  }
}

function keyProblem(jwk: JWK, algorithm: ProofAlgorithm): string | null {
  const read = readJwk(jwk, algorithm === 'Ed25519' ? 'EdDSA' : algorithm);
  return 'problem' in read ? read.problem : null;
}

async function verifiedClaims(proof: string, { jwk, algorithm }: Signer, now: Date) {
  try {
    const { payload } = await jwtVerify(proof, await importJWK(jwk, algorithm), {
      algorithms: [algorithm],
      typ: 'dpop+jwt',
      clockTolerance: PROOF_CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    });
    return payload;
  } catch {
    return null;
  }
}

/** Proofs of the sender's key, to which an access token can be bound (DPoP, RFC 9449). */

/** RFC 9864 gives EdDSA with Ed25519 a second name. */
export const PROOF_ALGORITHMS = ['PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
export type ProofAlgorithm = (typeof PROOF_ALGORITHMS)[number];

/** How long after its `iat` a proof is valid. */
export const PROOF_LIFETIME_SECONDS = 60;
export const PROOF_CLOCK_TOLERANCE_SECONDS = 30;

const JTI_LENGTH_MAX = 255;

/** The request that a proof must be for. */
export interface ProvenRequest {
  readonly method: string;
  /** Every address of this resource. */
  readonly addresses: readonly string[];
  /** The base64url of its SHA-256; null at the token endpoint. */
  readonly accessTokenHash: string | null;
}

/** Null if the claims fit the request. */
export function proofProblem(
  claims: Readonly<Record<string, unknown>>,
  { method, addresses, accessTokenHash }: ProvenRequest,
  now: Date,
): string | null {
  const { jti, htm, htu, iat, ath } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_LENGTH_MAX)
    return `jti must be a text of 1 to ${JTI_LENGTH_MAX} characters`;
  if (htm !== method) return 'htm must be the method of the request';
  if (typeof htu !== 'string' || !addresses.some((address) => isSameAddress(htu, address)))
    return 'htu must be the address of the request';
  if (typeof iat !== 'number' || !isCurrent(iat, now)) return 'iat must be the current time';
  return accessTokenHash === null || ath === accessTokenHash ? null : 'ath must be the hash of the access token';
}

/** Until when a proof of this `iat` can be accepted. */
export function proofExpiresAt(iat: number): Date {
  return new Date((iat + PROOF_LIFETIME_SECONDS + PROOF_CLOCK_TOLERANCE_SECONDS) * 1_000);
}

function isCurrent(iat: number, now: Date): boolean {
  const isAhead = iat > now.getTime() / 1_000 + PROOF_CLOCK_TOLERANCE_SECONDS;
  return !isAhead && now.getTime() <= proofExpiresAt(iat).getTime();
}

/** Compares normalized addresses (RFC 3986, 6.2.2 and 6.2.3), without query and fragment. */
export function isSameAddress(sent: string, expected: string): boolean {
  return URL.canParse(sent) && normalized(sent) === normalized(expected);
}

const UNRESERVED = /[A-Za-z0-9._~-]/;

function normalized(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return UNRESERVED.test(character) ? character : escaped.toUpperCase();
  });
}

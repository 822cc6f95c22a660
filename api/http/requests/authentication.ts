import { decodeProtectedHeader, errors, importJWK, type JWK, jwtVerify } from 'jose';
import { DomainError, rejection } from '../../../domain/common/errors.ts';
import { TOKEN_ALGORITHMS } from '../../../domain/machine-users/machine-users.ts';
import { isRole, type Role } from '../../../domain/machine-users/roles.ts';
import type { Caller } from '../route.ts';
import { createTokenKeys, type FindKeys, type RegisteredKey, remember } from './keys/token-keys.ts';

export interface AuthenticatorOptions {
  readonly audience: string;
  readonly now: () => Date;
  readonly findKeys: FindKeys;
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>;

const CLOCK_TOLERANCE_SECONDS = 30;
const TOKEN_LIFE_MAX_SECONDS = 3_600;

/** The largest regular token (RS256 with a 4096-bit key) has about 1,100 characters. */
const TOKEN_LENGTH_MAX = 4_096;

/** Header parameters that name an external key or an unknown critical extension. */
const HEADER_ALLOWED: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);
const KID = /^[A-Za-z0-9_-]{1,128}$/;

interface VerifiedToken {
  readonly kid: string;
  /** As of the last verification of the signature. */
  readonly key: RegisteredKey;
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/**
 * Verifies bearer tokens. Signature and claims are verified again whenever the key is reloaded, every few seconds:
 * most requests cost two look-ups, and revocation takes effect in time.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const loadKey = createTokenKeys(options.findKeys);
  const tokens = new Map<string, VerifiedToken>();

  return async (authorization = '') => {
    const nowMs = options.now().getTime();
    const known = tokens.get(authorization);
    const kid = known?.kid ?? readKid(bearerToken(authorization));
    const loaded = loadKey(kid, nowMs);
    const key = loaded.key === undefined ? await loaded.reading : loaded.key;
    if (key?.active !== true) throw unauthenticated();
    if (known !== undefined && known.key === key && nowMs < known.expiresAtMs) return known.caller;
    tokens.delete(authorization);
    const expiresAtMs = await verify(bearerToken(authorization), key, options);
    const caller = { id: key.machineUserId, roles: key.roles.filter(isRole) };
    remember(tokens, authorization, { kid, key, caller, expiresAtMs });
    return caller;
  };
}

function bearerToken(authorization: string): string {
  const match = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(
    authorization.length <= TOKEN_LENGTH_MAX ? authorization : '',
  );
  if (match?.[1] === undefined) throw unauthenticated();
  return match[1];
}

function readKid(token: string): string {
  try {
    const header = decodeProtectedHeader(token);
    const known = Object.keys(header).every((name) => HEADER_ALLOWED.has(name));
    const algorithm = TOKEN_ALGORITHMS.find((candidate) => candidate === header.alg);
    if (known && algorithm !== undefined && header.kid !== undefined && KID.test(header.kid)) return header.kid;
  } catch {
    // Not a JWT: rejected below like any invalid token.
  }
  throw unauthenticated();
}

// Returns the token's expiry, tolerance included.
async function verify(token: string, key: RegisteredKey, options: AuthenticatorOptions): Promise<number> {
  const now = options.now();
  try {
    const publicKey = await importJWK(key.publicKey as JWK, key.algorithm);
    // The signature is verified before the claims.
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [key.algorithm],
      issuer: key.machineUserId,
      subject: key.machineUserId,
      requiredClaims: ['iss', 'sub', 'aud', 'iat', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    });
    const { aud, iat = 0, exp = 0 } = payload;
    if (aud !== options.audience) throw wrongClaim('aud', 'check_failed', now);
    if (iat > now.getTime() / 1000 + CLOCK_TOLERANCE_SECONDS) throw wrongClaim('iat', 'check_failed', now);
    if (exp <= iat || exp - iat > TOKEN_LIFE_MAX_SECONDS) throw unauthenticated(RULES.exp);
    return (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired;
    throw isClaim ? wrongClaim(error.claim, error.reason, now) : unauthenticated();
  }
}

const OWN_ID = 'iss and sub must be the id of the machine user whose key signed the token.';
const RULES: Readonly<Record<string, string>> = {
  iss: OWN_ID,
  sub: OWN_ID,
  aud: 'The token is for another audience: GET / shows the service’s audience.',
  exp: `A token’s exp is at most ${TOKEN_LIFE_MAX_SECONDS} seconds after iat, and not before it.`,
};

/** Only who holds the key hears what is wrong: the signature is right. */
function wrongClaim(claim: string, reason: string, now: Date): DomainError {
  if (reason === 'missing') return unauthenticated(`The token’s ${claim} is missing.`);
  if (reason === 'invalid') return unauthenticated(`The token’s ${claim} must be a number of seconds since 1970.`);
  const rule = ['iat', 'nbf', 'exp'].includes(claim)
    ? `By the service’s clock, which says ${now.toISOString()}, the token ${claim === 'exp' ? 'has expired' : 'is not valid yet'}.`
    : RULES[claim];
  return unauthenticated(rule);
}

function unauthenticated(message = 'A bearer token signed by a registered key of an active machine user is required.') {
  return rejection('common.security.unauthenticated', ['header', 'Authorization', ''], message);
}

/** Rejects a caller with none of the roles. */
export function requireRole(caller: Caller, roles: readonly Role[]): void {
  if (roles.some((role) => caller.roles.includes(role))) return;
  throw rejection(
    'common.security.access_denied',
    ['machineUser', 'roles', caller.roles.join(',')],
    `This needs ${roles.length === 1 ? 'the role' : 'one of the roles'} ${roles.join(', ')}.`,
  );
}

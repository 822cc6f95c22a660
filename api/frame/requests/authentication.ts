import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose';
import { refusal } from '../../../domain/frame/errors.ts';
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
    // Not a JWT: refused below like any invalid token.
  }
  throw unauthenticated();
}

// Returns the token's expiry, tolerance included.
async function verify(token: string, key: RegisteredKey, options: AuthenticatorOptions): Promise<number> {
  const now = options.now();
  try {
    const publicKey = await importJWK(key.publicKey as JWK, key.algorithm);
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [key.algorithm],
      issuer: key.machineUserId,
      subject: key.machineUserId,
      requiredClaims: ['iss', 'sub', 'aud', 'iat', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    });
    const { aud, iat, exp } = payload;
    const nowSeconds = now.getTime() / 1000;
    if (aud !== options.audience || iat === undefined || exp === undefined) throw unauthenticated();
    if (iat > nowSeconds + CLOCK_TOLERANCE_SECONDS || exp <= iat || exp - iat > TOKEN_LIFE_MAX_SECONDS)
      throw unauthenticated();
    return (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  } catch {
    throw unauthenticated();
  }
}

function unauthenticated() {
  return refusal(
    'common.security.unauthenticated',
    ['header', 'Authorization', ''],
    'A valid bearer token of an active machine user is required.',
  );
}

/** Refuses a caller with none of the roles. */
export function requireRole(caller: Caller, roles: readonly Role[]): void {
  if (roles.some((role) => caller.roles.includes(role))) return;
  throw refusal(
    'common.security.access_denied',
    ['machineUser', 'roles', caller.roles.join(',')],
    `This needs one of the roles ${roles.join(', ')}.`,
  );
}

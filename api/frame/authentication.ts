import { createHash } from 'node:crypto';
import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose';
import { refusal } from '../../domain/errors.ts';
import type { MachineUserId } from '../../domain/ids.ts';
import { TOKEN_ALGORITHMS } from '../../domain/machine-users.ts';
import { isRole, type Role } from '../../domain/roles.ts';
import type { Caller } from './route.ts';

/** A registered key with what decides whether its tokens count. */
export interface RegisteredKey {
  readonly machineUserId: MachineUserId;
  readonly roles: readonly string[];
  readonly algorithm: string;
  readonly publicKey: unknown;
  /** False as soon as the key or its user is revoked. */
  readonly active: boolean;
}

export interface AuthenticatorOptions {
  readonly audience: string;
  readonly now: () => Date;
  /** One read of the database; null for an unknown kid. */
  readonly findKey: (kid: string) => Promise<RegisteredKey | null>;
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>;

/** A revoked key or user stops within 5 s on every process; 1 s is left for the reading itself. */
const KEY_AGE_LIMIT_MS = 4_000;

const CLOCK_TOLERANCE_SECONDS = 30;
const TOKEN_LIFE_MAX_SECONDS = 3_600;

/** The largest honest token (RS256 with a 4096-bit key) has about 1,100 characters. */
const TOKEN_LENGTH_MAX = 4_096;

/** Remembered keys and tokens; beyond it the oldest go. Bounds the memory that strangers can fill. */
const CACHE_SIZE_MAX = 10_000;

/** Header parameters that would name a key from outside, or demand what we do not know. */
const HEADER_ALLOWED: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);
const KID = /^[A-Za-z0-9_-]{1,128}$/;

interface LoadedKey {
  readonly loadedAtMs: number;
  readonly key: Promise<RegisteredKey | null>;
}

interface VerifiedToken {
  readonly kid: string;
  readonly publicKeyText: string;
  readonly machineUserId: MachineUserId;
  readonly expiresAtMs: number;
}

/**
 * Makes the check of bearer tokens. A token's signature and claims are verified once; whether its key and user still
 * count is read again every few seconds, so that the common request costs one hash and two look-ups.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const keys = new Map<string, LoadedKey>();
  const tokens = new Map<string, VerifiedToken>();

  function loadKey(kid: string): Promise<RegisteredKey | null> {
    const nowMs = options.now().getTime();
    const known = keys.get(kid);
    if (known !== undefined && nowMs - known.loadedAtMs < KEY_AGE_LIMIT_MS && nowMs >= known.loadedAtMs)
      return known.key;
    const key = options.findKey(kid);
    remember(keys, kid, { loadedAtMs: nowMs, key });
    key.catch(() => keys.delete(kid));
    return key;
  }

  return async (authorization) => {
    const token = bearerToken(authorization);
    const hash = createHash('sha256').update(token).digest('base64');
    const known = tokens.get(hash);
    const kid = known?.kid ?? readKid(token);
    const key = await loadKey(kid);
    if (key?.active !== true) throw unauthenticated();
    const publicKeyText = JSON.stringify(key.publicKey);
    if (known === undefined || known.publicKeyText !== publicKeyText) {
      const expiresAtMs = await verify(token, key, options);
      remember(tokens, hash, { kid, publicKeyText, machineUserId: key.machineUserId, expiresAtMs });
    } else if (options.now().getTime() >= known.expiresAtMs) {
      tokens.delete(hash);
      throw unauthenticated();
    }
    return { id: key.machineUserId, roles: key.roles.filter(isRole) };
  };
}

function remember<Value>(cache: Map<string, Value>, name: string, value: Value): void {
  cache.delete(name);
  if (cache.size >= CACHE_SIZE_MAX) {
    const oldest = cache.keys().next();
    if (!oldest.done) cache.delete(oldest.value);
  }
  cache.set(name, value);
}

function bearerToken(authorization: string | undefined): string {
  const match = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(
    authorization !== undefined && authorization.length <= TOKEN_LENGTH_MAX ? authorization : '',
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
    // Not a JWT: refused below like every other.
  }
  throw unauthenticated();
}

// Returns when the token ends, tolerance included.
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

/** Refuses a caller that has none of the roles. */
export function requireRole(caller: Caller, roles: readonly Role[]): void {
  if (roles.some((role) => caller.roles.includes(role))) return;
  throw refusal(
    'common.security.access_denied',
    ['machineUser', 'roles', caller.roles.join(',')],
    `This needs one of the roles ${roles.join(', ')}.`,
  );
}

import { createHash, randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import { requiredAudience } from '../../../../config/configuration.ts';
import { useAssertion } from '../../../../db/third-party-providers/assertions.ts';
import {
  findThirdPartyProvider,
  type ThirdPartyProviderRow,
} from '../../../../db/third-party-providers/third-party-providers.ts';
import { rejection } from '../../../../domain/common/errors.ts';
import { asId, isUuid, type ThirdPartyProviderId } from '../../../../domain/common/ids.ts';
import {
  ASSERTION_LIFETIME_MAX_SECONDS,
  THIRD_PARTY_ALGORITHMS,
} from '../../../../domain/third-party-providers/third-party-providers.ts';
import type { Services } from '../../services.ts';

const CLOCK_TOLERANCE_SECONDS = 30;

/** A PS256 token with a 4096-bit key has about 1,100 characters. */
const TOKEN_LENGTH_MAX = 4_096;
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const JTI_LENGTH_MAX = 255;

/** No header may name its own key or an extension. */
const HEADER_ALLOWED: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);

type Needed = Pick<Services, 'database' | 'now'>;

/** The active third party that signed the bearer token, for this service's audience. */
export async function thirdPartyOf(
  services: Needed & Pick<Services, 'configuration'>,
  authorization = '',
): Promise<ThirdPartyProviderRow> {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? [];
  const thirdParty = await verifyAssertion(services, token, [requiredAudience(services.configuration)]);
  if (thirdParty === null) throw unauthenticated('A valid bearer token that an active third-party provider has signed');
  return thirdParty;
}

/**
 * The active third party that signed the token; null for any other token. Records the `jti`, so that a replay is rejected. Every
 * use reads the third party's row, so that revoking a key or deactivating a third party takes effect at once.
 */
export async function verifyAssertion(
  { database, now }: Needed,
  token: string,
  audiences: readonly string[],
): Promise<ThirdPartyProviderRow | null> {
  const claimed = readUnverified(token);
  if (claimed === null) return null;
  const thirdParty = await findThirdPartyProvider(database.reader, claimed.id);
  if (thirdParty?.status !== 'active') return null;
  const verified = await verify(token, claimed, thirdParty, { audiences, now: now() });
  if (verified === null) return null;
  const used = { thirdPartyProviderId: thirdParty.id, ...verified };
  return (await database.transaction((tx) => useAssertion(tx, used))) ? thirdParty : null;
}

interface Claimed {
  readonly id: ThirdPartyProviderId;
  readonly kid: string;
  readonly algorithm: string;
}

function readUnverified(token: string): Claimed | null {
  if (token.length > TOKEN_LENGTH_MAX || !TOKEN.test(token)) return null;
  try {
    const header = decodeProtectedHeader(token);
    const { iss = '' } = decodeJwt(token);
    const algorithm = THIRD_PARTY_ALGORITHMS.find((one) => one === header.alg);
    const isKnown = Object.keys(header).every((name) => HEADER_ALLOWED.has(name));
    if (!isKnown || algorithm === undefined || header.kid === undefined || !isUuid(iss)) return null;
    return { id: asId<ThirdPartyProviderId>(iss), kid: header.kid, algorithm };
  } catch {
    return null;
  }
}

/** The data to record for its use, if signature and claims are valid. */
async function verify(
  token: string,
  { id, kid, algorithm }: Claimed,
  { jwks }: ThirdPartyProviderRow,
  { audiences, now }: { readonly audiences: readonly string[]; readonly now: Date },
): Promise<{ readonly jtiHash: Buffer; readonly expiresAt: Date } | null> {
  const key = jwks.keys.find((one) => one.kid === kid);
  if (key?.alg !== algorithm) return null;
  try {
    const { payload } = await jwtVerify(token, await importJWK({ ...key }, key.alg), {
      algorithms: [key.alg],
      issuer: id,
      subject: id,
      requiredClaims: ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    });
    const { aud, iat = 0, exp = 0, jti = '' } = payload;
    if (typeof aud !== 'string' || !audiences.includes(aud)) return null;
    if (iat > now.getTime() / 1000 + CLOCK_TOLERANCE_SECONDS) return null;
    if (exp <= iat || exp - iat > ASSERTION_LIFETIME_MAX_SECONDS) return null;
    if (jti.length === 0 || jti.length > JTI_LENGTH_MAX) return null;
    return { jtiHash: hashOf(jti), expiresAt: new Date((exp + CLOCK_TOLERANCE_SECONDS) * 1000) };
  } catch {
    return null;
  }
}

/** A new code or access token: 32 random bytes in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Codes, access tokens and `jti` are stored as this hash only. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function unauthenticated(what: string) {
  return rejection('common.security.unauthenticated', ['header', 'Authorization', ''], `${what} is required.`);
}

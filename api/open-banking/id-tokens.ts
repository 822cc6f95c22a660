import { createHash } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import type { ConsentRow } from '../../db/open-banking/consents.ts';
import { readSigningKey, type SigningKey } from '../../db/open-banking/signing-keys.ts';
import { ID_TOKEN_LIFETIME_SECONDS } from '../../domain/open-banking/signing-keys.ts';
import type { Services } from '../http/services.ts';

const ALGORITHM = 'PS256';

/** The values sent with the token. It contains their hashes, which prove that they were not replaced on the way. */
export interface Hashed {
  readonly code?: string;
  readonly state?: string;
  readonly accessToken?: string;
}

type Signed = Pick<ConsentRow, 'id' | 'thirdPartyProviderId' | 'nonce'>;

/** The signer for one answer. It reads the key, so call it outside of transactions. */
export async function idTokenSigner(services: Services): Promise<(consent: Signed, hashed: Hashed) => Promise<string>> {
  const key = await readSigningKey(services.database, services.keyring);
  return (consent, hashed) => signIdToken(services, key, consent, hashed);
}

async function signIdToken(
  { environment, now }: Services,
  { kid, privateKey }: SigningKey,
  { id, thirdPartyProviderId, nonce }: Signed,
  hashed: Hashed,
): Promise<string> {
  // The wall clock: third parties check `iat` and `exp` by their own clocks, which the sandbox's test clock does not move.
  const issuedAt = Math.floor(now().getTime() / 1_000);
  const claims = { nonce, openbanking_intent_id: id, ...hashesOf(hashed) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
    .setIssuer(environment.publicUrl)
    .setSubject(id)
    .setAudience(thirdPartyProviderId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ID_TOKEN_LIFETIME_SECONDS)
    .sign(await importPKCS8(privateKey, ALGORITHM));
}

function hashesOf({ code, state, accessToken }: Hashed): Record<string, string> {
  return {
    ...(code === undefined ? {} : { c_hash: leftHalf(code) }),
    ...(state === undefined ? {} : { s_hash: leftHalf(state) }),
    ...(accessToken === undefined ? {} : { at_hash: leftHalf(accessToken) }),
  };
}

/** The left half of the SHA-256 (OpenID Connect Core 3.3.2.11). */
function leftHalf(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

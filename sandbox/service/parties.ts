import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { importJWK, SignJWT } from 'jose';
import * as v from 'valibot';

const Party = v.object({
  id: v.pipe(v.string(), v.uuid()),
  keyId: v.string(),
  algorithm: v.picklist(['EdDSA', 'ES256']),
  privateKey: v.looseObject({ kty: v.string() }),
});

/** A party that the service knows by a public key, with the private one. */
export type Party = v.InferOutput<typeof Party>;

export const Parties = v.object({ frontOffice: Party, thirdParty: Party });

/** The two companies that the sandbox plays towards the service. */
export type Parties = v.InferOutput<typeof Parties>;

export function readParties(file: string): Parties {
  return v.parse(Parties, JSON.parse(readFileSync(file, 'utf8')));
}

const LIFETIME_SECONDS = 60;

/** A token for one request. By the wall clock, by which the service checks tokens. */
export async function signedToken({ id, keyId, algorithm, privateKey }: Party, audience: string): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1_000);
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, kid: keyId })
    .setIssuer(id)
    .setSubject(id)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .sign(await importJWK(privateKey, algorithm));
}

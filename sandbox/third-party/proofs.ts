import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Call, ServiceAddress } from '../service/service.ts';

type Proven = Pick<Call, 'method' | 'path'>;

/**
 * The key to which the service binds the application's access tokens (RFC 9449). It is as short-lived as they are: sessions end
 * with the process, and so does the key.
 */
export class ProofKey {
  readonly #privateKey: KeyObject;
  readonly #jwk: JsonWebKey;
  readonly #publicUrl: string;

  constructor({ publicUrl }: Pick<ServiceAddress, 'publicUrl'>) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.#jwk = publicKey.export({ format: 'jwk' });
    this.#publicUrl = publicUrl;
  }

  /** A proof for one request; without an access token for the request that asks for one. */
  async proofOf({ method, path }: Proven, accessToken?: string): Promise<NonNullable<Call['proof']>> {
    const address = `${this.#publicUrl}${path.split('?')[0]}`;
    const claims = { htm: method, htu: address, ...(accessToken === undefined ? {} : { ath: hashOf(accessToken) }) };
    const jwt = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: this.#jwk })
      .setJti(randomUUID())
      .setIssuedAt()
      .sign(this.#privateKey);
    return { jwt, ...(accessToken === undefined ? {} : { accessToken }) };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

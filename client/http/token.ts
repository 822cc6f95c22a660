import { createPrivateKey, type JsonWebKey, KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';

/** A machine user's private key, and the id under which its public key is registered. */
export interface SigningKey {
  readonly kid: string;
  /** PEM (PKCS #8), a JSON Web Key (also as text), or Node's object. Ed25519, P-256 or RSA. */
  readonly privateKey: string | JsonWebKey | KeyObject;
  /** As registered. By default EdDSA, ES256 or RS256, as the key is. */
  readonly algorithm?: 'EdDSA' | 'ES256' | 'RS256' | 'PS256';
}

export interface Credentials {
  /** The machine user's id. */
  readonly machineUser: string;
  readonly key: SigningKey;
  /** The service's `AUDIENCE`. */
  readonly audience: string;
}

/** A leaked token is worth little; the service accepts up to an hour. */
const LIFE_SECONDS = 10 * 60;
/** More than a request may take. */
const RENEWED_BEFORE_SECONDS = 2 * 60;

/** Signs bearer tokens, and keeps each until shortly before its end. */
export class TokenSigner {
  readonly #credentials: Credentials;
  readonly #privateKey: KeyObject;
  readonly #algorithm: string;
  #current: { readonly token: Promise<string>; readonly renewedAtMs: number } | null = null;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
    requireAll(credentials);
    this.#privateKey = keyObjectOf(credentials.key.privateKey);
    this.#algorithm = algorithmFor(this.#privateKey, credentials.key);
  }

  token(): Promise<string> {
    const nowMs = Date.now();
    if (this.#current === null || nowMs >= this.#current.renewedAtMs) {
      const renewedAtMs = nowMs + (LIFE_SECONDS - RENEWED_BEFORE_SECONDS) * 1_000;
      this.#current = { token: this.#sign(Math.floor(nowMs / 1_000)), renewedAtMs };
    }
    return this.#current.token;
  }

  /** The service has rejected the token: the next one is signed again. */
  forget(): void {
    this.#current = null;
  }

  #sign(issuedAt: number): Promise<string> {
    const { machineUser, key, audience } = this.#credentials;
    return new SignJWT()
      .setProtectedHeader({ alg: this.#algorithm, kid: key.kid })
      .setIssuer(machineUser)
      .setSubject(machineUser)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFE_SECONDS)
      .sign(this.#privateKey);
  }
}

/** What a program in JavaScript, or one that reads its settings from elsewhere, may lack. */
function requireAll({ machineUser, key, audience }: Credentials): void {
  const needed = { machineUser, audience, key, 'key.kid': key?.kid, 'key.privateKey': key?.privateKey };
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined || value === null || (value === '' && name !== 'key.privateKey'))
      throw new TypeError(`${name} is missing`);
  }
}

function algorithmFor({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, { algorithm }: SigningKey): string {
  if (asymmetricKeyType === 'ed25519') return algorithm ?? 'EdDSA';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return algorithm ?? 'ES256';
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048) return algorithm ?? 'RS256';
  throw new TypeError('key.privateKey must be an Ed25519, P-256 or RSA key, RSA of at least 2048 bits');
}

function keyObjectOf(key: SigningKey['privateKey']): KeyObject {
  let read: KeyObject;
  try {
    if (key instanceof KeyObject) read = key;
    else if (typeof key !== 'string') read = createPrivateKey({ key, format: 'jwk' });
    else if (key.trimStart().startsWith('{')) read = createPrivateKey({ key: JSON.parse(key), format: 'jwk' });
    else read = createPrivateKey(key);
  } catch {
    // Without the cause: a parser's message may repeat a part of the key.
    throw new TypeError(`key.privateKey cannot be read: ${faultOf(key)}`);
  }
  if (read.type !== 'private') throw new TypeError(`key.privateKey cannot be read: it is the ${read.type} key`);
  return read;
}

function faultOf(key: unknown): string {
  if (typeof key !== 'string') return 'it must be PEM as text, a JSON Web Key with its private part, or a KeyObject';
  if (key.trimStart().startsWith('{')) return 'it is not a JSON Web Key with its private part';
  if (!key.includes('-----BEGIN ')) return 'it is no PEM; give the content of the file, not its path';
  if (key.includes(' PUBLIC KEY-----')) return 'it is the public key';
  if (key.includes('ENCRYPTED')) return 'it is encrypted; decrypt it with createPrivateKey of node:crypto';
  if (key.includes('\\n')) return 'its line breaks are written as \\n';
  return 'it is not a whole private key as PEM';
}

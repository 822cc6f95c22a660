import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { type ServiceAddress, ServiceUnavailable } from '../service/service.ts';

/** What the browser brings back in the address's fragment. */
export interface FrontChannelAnswer {
  readonly state: string;
  readonly idToken: string;
  /** Null if the account holder has rejected. */
  readonly code: string | null;
}

/** Reads a whole address, or only its fragment; null if neither holds an answer. */
export function readFrontChannelAnswer(text: string): FrontChannelAnswer | null {
  const fragment = new URLSearchParams(text.trim().replace(/^[^#]*#/, ''));
  const [state, idToken, code] = ['state', 'id_token', 'code'].map((name) => fragment.get(name));
  if (!state || !idToken) return null;
  if (code) return { state, idToken, code };
  return fragment.has('error') ? { state, idToken, code: null } : null;
}

/** The expected claims of an ID token. */
export interface Expected {
  readonly consentId: string;
  readonly nonce: string;
}

/** Checks ID tokens: OpenID Connect Core 3.3.2, and the consent that they name. */
export class IdTokens {
  readonly #service: ServiceAddress;
  readonly #audience: string;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(service: ServiceAddress, thirdPartyId: string) {
    this.#service = service;
    this.#audience = thirdPartyId;
    this.#keys = createRemoteJWKSet(new URL(`${service.apiUrl}/.well-known/jwks.json`));
  }

  /** Whether the front channel's token vouches for the code, if there is one, and for the state. */
  async vouchFor({ idToken, code, state }: FrontChannelAnswer, expected: Expected): Promise<boolean> {
    const claims = await this.#claims(idToken, expected);
    return claims !== null && claims.s_hash === leftHalf(state) && (code === null || claims.c_hash === leftHalf(code));
  }

  /** Whether the token endpoint's token vouches for the access token. */
  async vouchForAccess(idToken: string, accessToken: string, expected: Expected): Promise<boolean> {
    const claims = await this.#claims(idToken, expected);
    return claims !== null && claims.at_hash === leftHalf(accessToken);
  }

  /** Null unless the service has signed the token, for us, now, and for this consent. */
  async #claims(idToken: string, { consentId, nonce }: Expected): Promise<JWTPayload | null> {
    try {
      const { payload } = await jwtVerify(idToken, this.#keys, {
        algorithms: ['PS256'],
        issuer: this.#service.publicUrl,
        audience: this.#audience,
        subject: consentId,
        requiredClaims: ['iat', 'exp', 'nonce'],
        clockTolerance: 30,
      });
      return payload.nonce === nonce && payload.openbanking_intent_id === consentId ? payload : null;
    } catch (error) {
      if (isTokenAtFault(error)) return null;
      throw new ServiceUnavailable({ cause: error });
    }
  }
}

/** Whether the token is at fault, and not the access to the keys. */
function isTokenAtFault(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'
  );
}

function leftHalf(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

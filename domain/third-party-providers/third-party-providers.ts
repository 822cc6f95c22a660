/** Companies that request consents from account holders, through open banking (specification 2.12). */
export const THIRD_PARTY_PROVIDER_STATUSES = ['active', 'inactive'] as const;
export type ThirdPartyProviderStatus = (typeof THIRD_PARTY_PROVIDER_STATUSES)[number];

/** The signature algorithms of third parties (decisions, Consents). A key is for one: RSA for PS256, P-256 for ES256. */
export const THIRD_PARTY_ALGORITHMS = ['PS256', 'ES256'] as const;
export type ThirdPartyAlgorithm = (typeof THIRD_PARTY_ALGORITHMS)[number];

/** A registered public key, as it is stored and shown. */
export type ThirdPartyKey = { readonly kid: string } & (
  | { readonly alg: 'PS256'; readonly kty: 'RSA'; readonly n: string; readonly e: string }
  | { readonly alg: 'ES256'; readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
);

export interface ThirdPartyJwks {
  readonly keys: readonly ThirdPartyKey[];
}

/** A registration; all of its fields are shown again. */
export interface ThirdPartyRegistration {
  readonly name: string;
  readonly website: string;
  readonly applicationName: string;
  readonly applicationDescription: string;
  readonly applicationWebsite: string;
  readonly redirectUris: readonly string[];
  readonly jwks: ThirdPartyJwks;
  /** Whether its access tokens must be bound to a key (RFC 9449, 5.2). */
  readonly dpopBoundAccessTokens: boolean;
}

/** The longest lifetime of a token that a third party signs: `exp` after `iat`. */
export const ASSERTION_LIFETIME_MAX_SECONDS = 300;

/**
 * How long the use of a token stays recorded after its expiry. The process that deletes the record and those that check tokens have
 * separate clocks, and an `exp` with a fraction is valid until the second is over: without the delay a token could be used twice.
 */
export const ASSERTION_KEPT_MS = 5 * 60_000;

export const WEB_ADDRESS_LENGTH_MAX = 2_048;

/** Printable ASCII without characters that URL parsers interpret differently. */
const PLAIN = /^https?:\/\/[^\s"<>\\^`{|}@*#/?]+([/?][^\s"<>\\^`{|}*#]*)?$/i;
const ASCII = /^[\x21-\x7e]+$/;

/**
 * Why a redirect address is rejected, or null. Requests must repeat it character by character, so it is stored as sent.
 * Because it carries codes, it must be https, or loopback if the configuration allows that.
 */
export function redirectUriProblem(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): string | null {
  if (text.length > WEB_ADDRESS_LENGTH_MAX) return `must have at most ${WEB_ADDRESS_LENGTH_MAX} characters`;
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('*')) return 'must not have a wildcard';
  if (/^[a-z]+:\/\/[^/?]*@/i.test(text)) return 'must not contain credentials';
  if (!ASCII.test(text) || !PLAIN.test(text) || !URL.canParse(text)) return 'must be an https address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.protocol === 'https:') return null;
  return allowLoopback && isLoopback(url.hostname) ? null : 'must be an https address';
}

/** An address of a page that account holders are shown. */
export function isWebAddress(text: string): boolean {
  return text.length <= WEB_ADDRESS_LENGTH_MAX && ASCII.test(text) && PLAIN.test(text) && URL.canParse(text);
}

/** URLs have normalized unusual forms of IPv4 addresses. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

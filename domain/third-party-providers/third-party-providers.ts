/** Companies that ask account holders for consents, through open banking (specification 2.12). */
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

/** What a registration says, all of it shown again. */
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

/** How long a token that a third party signs lives at most: `exp` after `iat`. */
export const ASSERTION_LIFETIME_MAX_SECONDS = 300;

/**
 * How long its use stays recorded after it has expired. The process that deletes the record and those that check tokens have clocks of
 * their own, and an `exp` with a fraction is good until the second is over: without this, a token could be used twice.
 */
export const ASSERTION_KEPT_MS = 5 * 60_000;

export const WEB_ADDRESS_LENGTH_MAX = 2_048;

/** Printable ASCII without what URL parsers read in several ways. */
const PLAIN = /^https?:\/\/[^\s"<>\\^`{|}@*#/?]+([/?][^\s"<>\\^`{|}*#]*)?$/i;
const ASCII = /^[\x21-\x7e]+$/;

/**
 * Why a redirect address is refused, or null. Requests must repeat it character by character, so it is stored as it is sent.
 * Codes travel by it: it is https, or loopback where the configuration allows that.
 */
export function redirectUriProblem(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): string | null {
  if (text.length > WEB_ADDRESS_LENGTH_MAX) return `must have at most ${WEB_ADDRESS_LENGTH_MAX} characters`;
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('*')) return 'must not have a wildcard';
  if (/^[a-z]+:\/\/[^/?]*@/i.test(text)) return 'must not hold credentials';
  if (!ASCII.test(text) || !PLAIN.test(text) || !URL.canParse(text)) return 'must be an https address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
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

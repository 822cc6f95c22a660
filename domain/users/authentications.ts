import ipaddr from 'ipaddr.js';

/** Failures count for this long (decisions, Passwords). Addresses without a user have the same limits. */
export const FAILURES_WINDOW_MS = 15 * 60_000;
/** Of one address from one source, from one known device, or from a caller that names no source. */
export const FAILURES_MAX = 10;
/** From one source over all addresses: an office behind one address mistypes less; who tries one password on many meets it soon. */
export const FAILURES_OF_SOURCE_MAX = 50;
/** Of one address over all sources. Known devices have only their own limit, so that strangers do not shut the owner out. */
export const FAILURES_OF_ADDRESS_MAX = 100;

/** How long a device stays known after its last sign-in. */
export const KNOWN_DEVICE_LIFETIME_MS = 90 * 24 * 60 * 60_000;
/** The devices of a user; the one that signed in least lately goes first. */
export const KNOWN_DEVICES_MAX = 20;

/** What is limited, by a name that is unique among all, and how many failures it may have. */
export interface Limited {
  readonly name: string;
  /** Whether it is for one address, whose owner's new password forgets its failures. */
  readonly isOfAddress: boolean;
  readonly failuresMax: number;
}

/** Whom an attempt counts against. `address` is the key of an e-mail address, `source` an IP address, `device` the name of a known one. */
export function limitsOf(address: string, source: string | null, device: string | null): readonly Limited[] {
  if (device !== null) return [ofAddress(`${address} device ${device}`, FAILURES_MAX)];
  if (source === null) return [ofAddress(address, FAILURES_MAX)];
  const network = networkOf(source);
  return [
    ofAddress(`${address} source ${network}`, FAILURES_MAX),
    ofAddress(`${address} every source`, FAILURES_OF_ADDRESS_MAX),
    { name: `source ${network}`, isOfAddress: false, failuresMax: FAILURES_OF_SOURCE_MAX },
  ];
}

function ofAddress(name: string, failuresMax: number): Limited {
  return { name, isOfAddress: true, failuresMax };
}

export function isIpAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** One subscriber: an IPv4 address, or the first 64 bits of an IPv6 address, in which a subscriber chooses the rest freely. */
function networkOf(source: string): string {
  const address = ipaddr.process(source);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toByteArray().slice(0, 8).join('.');
}

export type AuthenticationAttempt =
  | { readonly allowed: true; readonly failedAt: readonly Date[] }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/**
 * Counts an attempt as failed before its password is checked, so that many at once cannot exceed the limit; a correct
 * password takes its own attempt back.
 */
export function decideAuthenticationAttempt(
  failedAt: readonly Date[],
  now: Date,
  failuresMax: number,
): AuthenticationAttempt {
  const recent = failedAt.filter((at) => at.getTime() > now.getTime() - FAILURES_WINDOW_MS);
  const oldestThatCounts = recent.at(-failuresMax);
  if (oldestThatCounts === undefined || recent.length < failuresMax) {
    return { allowed: true, failedAt: [...recent, now] };
  }
  const untilMs = oldestThatCounts.getTime() + FAILURES_WINDOW_MS - now.getTime();
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(untilMs / 1000)) };
}

/** The failures without one attempt whose password was correct. */
export function withoutAttempt(failedAt: readonly Date[], attemptedAt: Date): readonly Date[] {
  const at = failedAt.findIndex((failed) => failed.getTime() === attemptedAt.getTime());
  return failedAt.filter((_, index) => index !== at);
}

/** From when on none of the failures counts. They are in order. */
export function forgetAt(failedAt: readonly Date[]): Date {
  return new Date((failedAt.at(-1)?.getTime() ?? 0) + FAILURES_WINDOW_MS);
}

import ipaddr from 'ipaddr.js';

/** Failures count for this long (decisions, Passwords). Addresses without a user have the same limits. */
export const FAILURES_WINDOW_MS = 15 * 60_000;
/** Failures for one address from one source, from one known device, or from a caller that names no source. */
export const FAILURES_MAX = 10;
/** Failures from one source for all addresses: more than the typing errors of an office behind one IP address, but soon reached by an attacker who tries one password on many addresses. */
export const FAILURES_OF_SOURCE_MAX = 50;
/** Failures for one address from all sources. Known devices have only their own limit, so that attackers cannot lock the owner out. */
export const FAILURES_OF_ADDRESS_MAX = 100;

/** How long a device stays known after its last sign-in. */
export const KNOWN_DEVICE_LIFETIME_MS = 90 * 24 * 60 * 60_000;
/** The known devices of a user; the least recently used is forgotten first. */
export const KNOWN_DEVICES_MAX = 20;

/** A limit, by its unique name, and the number of failures that it allows. */
export interface FailureLimit {
  readonly name: string;
  /** Whether the limit is for one address: a new password of its owner clears its failures. */
  readonly isOfAddress: boolean;
  readonly failuresMax: number;
}

/** The limits that an attempt counts against. `address` is the key of an e-mail address, `source` an IP address, `device` the name of a known device. */
export function limitsOf(address: string, source: string | null, device: string | null): readonly FailureLimit[] {
  if (device !== null) return [ofAddress(`${address} device ${device}`, FAILURES_MAX)];
  if (source === null) return [ofAddress(address, FAILURES_MAX)];
  const network = networkOf(source);
  return [
    ofAddress(`${address} source ${network}`, FAILURES_MAX),
    ofAddress(`${address} every source`, FAILURES_OF_ADDRESS_MAX),
    { name: `source ${network}`, isOfAddress: false, failuresMax: FAILURES_OF_SOURCE_MAX },
  ];
}

function ofAddress(name: string, failuresMax: number): FailureLimit {
  return { name, isOfAddress: true, failuresMax };
}

export function isIpAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** One internet subscriber: an IPv4 address, or the first 64 bits of an IPv6 address, of which subscribers choose the rest freely. */
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
 * password removes its own attempt.
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

/** When the last of the failures, which are in order, stops counting. */
export function forgetAt(failedAt: readonly Date[]): Date {
  return new Date((failedAt.at(-1)?.getTime() ?? 0) + FAILURES_WINDOW_MS);
}

import type { Role } from '../machine-users/roles.ts';

/** Sign-ins and sessions of people go by real time, never by the sandbox's clock, as tokens do. */

/** How long a person may take at the identity provider. */
export const SIGN_IN_MS_MAX = 10 * 60_000;

/** A session that no request has used for this long has ended. */
export const IDLE_MS_MAX = 30 * 60_000;

/** How exactly a session knows when it was last used: not every page writes. */
export const SEEN_EVERY_MS = 60_000;

/** By how much the clocks of the console and of the identity provider may differ. */
export const CLOCK_TOLERANCE_SECONDS = 30;

export interface SessionTimes {
  readonly lastSeenAt: Date;
  readonly endsAt: Date;
  readonly revokedAt: Date | null;
}

export function isSessionOpen({ lastSeenAt, endsAt, revokedAt }: SessionTimes, now: Date): boolean {
  return revokedAt === null && now < endsAt && now.getTime() - lastSeenAt.getTime() < IDLE_MS_MAX;
}

export function isSignInOpen({ createdAt }: { readonly createdAt: Date }, now: Date): boolean {
  return now.getTime() - createdAt.getTime() < SIGN_IN_MS_MAX;
}

/** Whether the identity provider says that the person proved who they are after the console asked for it. */
export function provedAfter(asked: Date, provedAt: Date): boolean {
  return provedAt.getTime() >= asked.getTime() - CLOCK_TOLERANCE_SECONDS * 1_000;
}

/**
 * The roles of a person whose groups the identity provider names: a list, or text with spaces between. Null if the claim is
 * missing, or is neither.
 */
export function rolesOfClaim(claim: unknown, rolesByValue: ReadonlyMap<string, Role>): readonly Role[] | null {
  const values = typeof claim === 'string' ? claim.split(' ') : claim;
  if (!Array.isArray(values)) return null;
  const roles = values.flatMap((value: unknown) => {
    const role = typeof value === 'string' ? rolesByValue.get(value) : undefined;
    return role === undefined ? [] : [role];
  });
  return [...new Set(roles)].sort();
}

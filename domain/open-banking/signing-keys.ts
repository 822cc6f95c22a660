import type { SigningKeyId } from '../common/ids.ts';

/** How long a key signs before its successor does. */
const SIGNING_MS = 90 * 86_400_000;
/** How long a successor is published before it signs, so that clients with a cached key set know it. */
const AHEAD_MS = 86_400_000;
/** How long a key stays published once its successor signs: far longer than the lifetime of any token. */
const BEHIND_MS = 86_400_000;

/** An ID token serves one redirect (decisions: five minutes). */
export const ID_TOKEN_LIFETIME_SECONDS = 300;

export interface SigningKeyTimes {
  readonly id: SigningKeyId;
  readonly signsFrom: Date;
}

export interface KeyPlan {
  /** Signs now; null before the first key. */
  readonly signing: SigningKeyId | null;
  /** The keys in the key set, including the newest. */
  readonly published: readonly SigningKeyId[];
  /** When a key that does not exist yet begins to sign; null if none is due. */
  readonly next: Date | null;
  /** Keys to delete: no token that they signed is still valid. */
  readonly over: readonly SigningKeyId[];
}

/** What to do with the keys at this moment. */
export function planKeys(keys: readonly SigningKeyTimes[], now: Date): KeyPlan {
  const inOrder = keys.toSorted((one, other) => one.signsFrom.getTime() - other.signsFrom.getTime());
  const isOver = (index: number) => {
    const successor = inOrder[index + 1];
    return successor !== undefined && successor.signsFrom.getTime() + BEHIND_MS <= now.getTime();
  };
  const signing = inOrder.findLast(({ signsFrom }) => signsFrom.getTime() <= now.getTime())?.id ?? null;
  const newest = inOrder.at(-1);
  return {
    signing,
    published: inOrder.filter((_, index) => !isOver(index)).map(({ id }) => id),
    next: signing === null || newest === undefined ? now : nextAfter(newest, now),
    over: inOrder.filter((_, index) => isOver(index)).map(({ id }) => id),
  };
}

/** Even a late successor is published for the full time before it signs. */
function nextAfter(newest: SigningKeyTimes, now: Date): Date | null {
  const endsAt = newest.signsFrom.getTime() + SIGNING_MS;
  if (endsAt - AHEAD_MS > now.getTime()) return null;
  return new Date(Math.max(endsAt, now.getTime() + AHEAD_MS));
}

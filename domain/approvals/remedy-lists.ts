import { rejection } from '../common/errors.ts';
import type { PersonId, RemedyListId } from '../common/ids.ts';

/** Remedies for many resources at once: what is frozen, who signs, and for how long. */

/** The most items of one list. */
export const REMEDY_LIST_ITEMS_MAX = 10_000;

/** How long a list waits for its second signature. */
export const SIGNATURE_MS_MAX = 24 * 3_600_000;

/** How long after its signature a list is done: a remedy that is turned on again weeks later must not find it. */
export const SIGNED_MS_MAX = 24 * 3_600_000;

export const REMEDY_LIST_STATUSES = ['waiting', 'rejected', 'running', 'done', 'expired', 'stopped'] as const;
export type RemedyListStatus = (typeof REMEDY_LIST_STATUSES)[number];

/** Why a transfer is where it is. */
export interface Standing {
  /** Null: nothing is under way for it. */
  readonly waitingFor: string | null;
  /** Null: it has no owner yet. */
  readonly accountId: string | null;
}

/** A resource as it was when its list was frozen. */
export interface FrozenItem extends Standing {
  readonly id: string;
  readonly transactionNumber: string;
  readonly amountMinor: bigint;
  readonly currency: string;
}

/** The sums of a list in minor units, by currency. */
export function sumsOf(items: readonly FrozenItem[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { currency, amountMinor } of items) sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
  return sums;
}

/** What has become of an item since its list was frozen, in a sentence; null: it stands as the two people who wanted the list saw it. */
export function movedOn(frozen: Standing, present: Standing): string | null {
  const changes = [
    ...(present.waitingFor === frozen.waitingFor
      ? []
      : [`it waited for ${frozen.waitingFor ?? 'nothing'}, and now for ${present.waitingFor ?? 'nothing'}`]),
    ...(present.accountId === frozen.accountId ? [] : [`it belongs to ${ownerInWords(present)} now`]),
  ];
  return changes.length === 0 ? null : `It has moved on since the list was frozen: ${changes.join('; ')}.`;
}

function ownerInWords({ accountId }: Standing): string {
  return accountId === null ? 'no account' : `the account ${accountId}`;
}

interface SignedList {
  readonly id: RemedyListId;
  readonly status: RemedyListStatus;
  readonly createdBy: PersonId;
  readonly expiresAt: Date;
}

/** Rejects a signature by the list's maker, or one that comes too late. `now`: real time. */
export function requireSignable(list: SignedList, actor: string, now: Date): void {
  requireWaiting(list, 'signed');
  if (list.createdBy === actor) {
    const message = 'You made this list: another person must sign it.';
    throw rejection('common.security.access_denied', ['remedyList', 'status', 'running'], message);
  }
  if (list.expiresAt.getTime() > now.getTime()) return;
  const message = `Its time for a signature ended ${list.expiresAt.toISOString()}: freeze the list again.`;
  throw rejection('common.state.illegal_transition', ['remedyList', 'status', 'running'], message);
}

/** Who may sign a list may reject it, and so may its maker. */
export function requireRejectable(list: SignedList): void {
  requireWaiting(list, 'rejected');
}

/** Only what is being done can be stopped. */
export function requireStoppable({ id, status }: Pick<SignedList, 'id' | 'status'>): void {
  if (status !== 'running') throw unfit(id, status, 'stopped');
}

const STANDS: Readonly<Record<RemedyListStatus, string>> = {
  waiting: 'it waits for its signature',
  rejected: 'it was rejected',
  running: 'it is signed',
  done: 'it is signed and done',
  expired: 'it was signed, and its time to be done is over',
  stopped: 'it was stopped',
};

function requireWaiting({ id, status }: SignedList, wanted: string): void {
  if (status !== 'waiting') throw unfit(id, status, wanted);
}

function unfit(id: RemedyListId, status: RemedyListStatus, wanted: string) {
  const message = `The list ${id} cannot be ${wanted}: ${STANDS[status]}.`;
  return rejection('common.state.illegal_transition', ['remedyList', 'status', wanted], message);
}

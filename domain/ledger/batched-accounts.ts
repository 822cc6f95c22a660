import type { AccountId } from '../common/ids.ts';
import type { LedgerChange } from './changes.ts';
import { availableMinor, type LockedAccount } from './ledger.ts';

/** Transfers of a batch that are decided before the process serves other requests. */
export const CHANGES_PER_LIST = 25;

/**
 * The locked accounts of a batch, as each decided change leaves them for the next decision. Returns the changes in order, in
 * lists for the writer, which makes all reservations of a list before its postings: a list reserves only money that was
 * available before it.
 */
export class BatchedAccounts<Change extends LedgerChange> {
  readonly #accounts: Map<AccountId, LockedAccount>;
  #list: Change[] = [];
  /** The amount that each account may still reserve in the list. */
  readonly #reservable = new Map<AccountId, bigint>();

  constructor(accounts: ReadonlyMap<AccountId, LockedAccount>) {
    this.#accounts = new Map(accounts);
  }

  get accounts(): ReadonlyMap<AccountId, LockedAccount> {
    return this.#accounts;
  }

  /** The changes that are in no returned list. */
  get rest(): readonly Change[] {
    return this.#list;
  }

  /** Returns the list before this change, if the change cannot be in it. */
  add(change: Change): readonly Change[] {
    const reservations = change.accounts.map(
      ({ accountId, reservedMinor = 0n }) => [accountId, reservedMinor] as const,
    );
    const finished = this.#finishedBefore(reservations);
    for (const [accountId, reserved] of reservations) {
      this.#reservable.set(accountId, this.#reservableOf(accountId) - reserved);
      this.#move(accountId, 0n, reserved);
    }
    for (const { debit, credit, amountMinor, releaseMinor = 0n } of change.postings) {
      if (typeof debit === 'string') this.#move(debit, -amountMinor, -releaseMinor);
      if (typeof credit === 'string') this.#move(credit, amountMinor, 0n);
    }
    // The locks that this transaction holds are the guards.
    this.#list.push({ ...change, guards: [] });
    return finished;
  }

  #finishedBefore(reservations: readonly (readonly [AccountId, bigint])[]): readonly Change[] {
    const fits = reservations.every(([accountId, reserved]) => reserved <= this.#reservableOf(accountId));
    if (fits && this.#list.length < CHANGES_PER_LIST) return [];
    const finished = this.#list;
    this.#list = [];
    this.#reservable.clear();
    return finished;
  }

  #reservableOf(accountId: AccountId): bigint {
    const account = this.#accounts.get(accountId);
    return this.#reservable.get(accountId) ?? (account === undefined ? 0n : availableMinor(account));
  }

  /** Keeps the amount that the account could reserve before the money moved. */
  #move(accountId: AccountId, postedMinor: bigint, reservedMinor: bigint): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined) throw new Error(`a batch moves money of account ${accountId}, which it has not locked`);
    this.#reservable.set(accountId, this.#reservableOf(accountId));
    this.#accounts.set(accountId, {
      ...account,
      postedMinor: account.postedMinor + postedMinor,
      reservedMinor: account.reservedMinor + reservedMinor,
    });
  }
}

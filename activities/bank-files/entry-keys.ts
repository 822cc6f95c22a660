import { createHash } from 'node:crypto';
import { type BookedEntry, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { PlacedReference } from '../../domain/reconciliation/bank-statements.ts';

/** A movement before its key is known. */
export type Unkeyed = Omit<BookedEntry, 'key' | 'bookedOn'> & {
  readonly bookedOn: LocalDate | null;
  readonly place: {
    /** The bank's reference of the entry. */
    readonly entryReference: string | null;
    /** The bank's reference of this movement and no other of the entry. */
    readonly ownReference: string | null;
    /** The other references and texts of the details. */
    readonly told: readonly PlacedReference[];
  };
};

/**
 * Keys by which camt.054 and camt.053 tell the same entry, in whatever order and number of messages: the bank's reference, else all that
 * both messages say. So nothing but the entry itself decides. An amount and a direction belong to each key, as some banks give a payment
 * and its charge one reference. Movements that agree in all of this are numbered, by what else is told of them.
 */
export class EntryKeys {
  readonly #digests = new Map<Unkeyed, string>();
  readonly #alike = new Map<string, Unkeyed[]>();

  get size(): number {
    return this.#digests.size;
  }

  add(movement: Unkeyed): void {
    const digest = digestOf(movement);
    this.#digests.set(movement, digest);
    const others = this.#alike.get(digest);
    if (others === undefined) this.#alike.set(digest, [movement]);
    else others.push(movement);
  }

  /** The movements in the order in which they were added. */
  keyed(createdOn: LocalDate | null): BookedEntry[] {
    const numbers = new Map([...this.#alike.values()].flatMap(numbered));
    return [...this.#digests].map(([movement, digest]) => {
      const { place: _, bookedOn, ...entry } = movement;
      const date = bookedOn ?? createdOn;
      if (date === null) throw new UnreadableMessage('An entry of the file cannot be read: BookgDt is missing.');
      return { key: `${digest}-${numbers.get(movement)}`, bookedOn: date, ...entry };
    });
  }
}

function numbered(alike: readonly Unkeyed[]): (readonly [Unkeyed, number])[] {
  if (alike.length === 1) return alike.map((movement) => [movement, 1] as const);
  const sorted = alike
    .map((movement) => [movement, sortKeyOf(movement)] as const)
    .sort(([, one], [, other]) => compare(one, other));
  return sorted.map(([movement], at) => [movement, at + 1] as const);
}

/**
 * Movements with the same digest are numbered in the order of all their fields, so that both messages number them alike. Some of these fields
 * are in no digest, as a bank may write a payer's name in one message only.
 */
function sortKeyOf(movement: Unkeyed): string {
  // The amount is in the digest; NtryRef (`references`) numbers entries by their position in a message.
  const { place: _place, references: _references, amountMinor: _amount, ...fields } = movement;
  return JSON.stringify([toldOf(movement), fields]);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** All that a message tells of the movement and a key has no use for where the bank gives a reference. */
function toldOf({ bookedOn, debtor, creditorIban, place }: Unkeyed): string {
  const told = place.told.map((reference) => `${reference.place} ${reference.value}`).sort();
  return JSON.stringify([bookedOn, told, debtor.iban, debtor.accountNumber, creditorIban]);
}

/** Hexadecimal digits: more than enough to tell the entries of a bank apart. */
const DIGEST_LENGTH = 40;

function digestOf(movement: Unkeyed): string {
  const { account, isPending, direction, amountMinor, currency, isReversal } = movement;
  // What is pending is told again when it is booked, and is then another entry.
  const moved = [account, isPending, direction, String(amountMinor), currency, isReversal];
  const text = JSON.stringify([...moved, ...namesOf(movement)]);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

function namesOf(movement: Unkeyed): readonly (string | null)[] {
  const { entryReference, ownReference } = movement.place;
  if (ownReference !== null) return ['reference', ownReference];
  return ['told', entryReference, toldOf(movement)];
}

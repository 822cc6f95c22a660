import { dateInUtc } from '../../common/time/dates.ts';
import type {
  Charge,
  EntryDirection,
  PlacedReference,
  RoledAmount,
  StatedBatch,
  StatementEntry,
  StatementEntryEnd,
  StatementTransaction,
} from '../bank-statements.ts';
import { NOTHING, plus, type Totals, totalsOf } from '../day-balance.ts';
import type { FigureMismatch } from './control-figures.ts';

/** One movement of a bank's file: a whole entry, or one transaction of an entry that books several. */
export interface StatedPart {
  /** From 1 in the entry; 0 is the entry as a whole. */
  readonly number: number;
  readonly direction: EntryDirection;
  readonly amountMinor: bigint;
  /** The charges in the amount, in addition to the payment, as stated in the file: signed like the entry, 0n without any. */
  readonly chargesMinor: bigint;
  readonly isReversal: boolean;
  /** The transaction's before the entry's. */
  readonly references: readonly PlacedReference[];
}

/** The result of an entry, once its last transaction is known. */
export interface EndedEntry {
  readonly parts: readonly StatedPart[];
  readonly mismatches: readonly FigureMismatch[];
  /** The totals that the entry moved: its parts, and the rest of its amount. */
  readonly stated: Totals;
}

/** Only booked entries move money. An entry of zero may still have transactions, which must then sum to zero. */
export function movesMoney({ status }: StatementEntry): boolean {
  return status === 'BOOK';
}

interface BatchSoFar {
  readonly count: number;
  readonly signedMinor: bigint;
  readonly isKnown: boolean;
}

/**
 * Splits one entry as its transactions arrive: each with a known amount in the entry's currency is a movement. An entry with one
 * transaction or none is one movement of the entry's amount. Keeps one transaction at most.
 */
export class EntrySplitter {
  readonly #entry: StatementEntry;
  readonly #batches = new Map<number, BatchSoFar>();
  #first: StatementTransaction | null = null;
  #transactions = 0;
  #parts = 0;
  #signedMinor = 0n;
  #chargesMinor = 0n;
  #stated: Totals = NOTHING;

  constructor(entry: StatementEntry) {
    this.#entry = entry;
  }

  add(transaction: StatementTransaction): readonly StatedPart[] {
    this.#transactions += 1;
    this.#count(transaction);
    if (this.#transactions === 1) {
      this.#first = transaction;
      return [];
    }
    const first = this.#first;
    this.#first = null;
    return [...(first === null ? [] : this.#partOf(first)), ...this.#partOf(transaction)];
  }

  end({ batches, references }: StatementEntryEnd): EndedEntry {
    const entry = { ...this.#entry, references: [...this.#entry.references, ...references] };
    const ofBatches = this.#batchMismatches(batches);
    if (this.#parts === 0) {
      const single = this.#transactions === 1 ? this.#first : null;
      const mismatches = [...ofBatches, ...(single === null ? [] : singleMismatch(entry, single))];
      // Banks send entries of zero for information, of a price for example.
      if (entry.amountMinor === 0n) return { parts: [], mismatches, stated: NOTHING };
      const stated = totalsOf(entry.direction === 'credit', 1n, entry.amountMinor);
      return { parts: [wholeOf(entry, single, batches)], mismatches, stated };
    }
    const restMinor = signed(entry.direction, entry.amountMinor) - this.#signedMinor;
    const mismatches = [...ofBatches, ...restMismatch(entry, restMinor, this.#chargesMinor)];
    const rest = totalsOf(entry.direction === 'credit', 0n, signed(entry.direction, restMinor));
    return { parts: [], mismatches, stated: plus(this.#stated, rest) };
  }

  #partOf(transaction: StatementTransaction): StatedPart[] {
    const amountMinor = amountIn(transaction.amounts, this.#entry.currency);
    if (amountMinor === null || amountMinor === 0n) return [];
    const direction = transaction.direction ?? this.#entry.direction;
    this.#parts += 1;
    this.#signedMinor += signed(direction, amountMinor);
    this.#chargesMinor += signedCharges(transaction.charges, this.#entry.currency);
    this.#stated = plus(this.#stated, totalsOf(direction === 'credit', 1n, amountMinor));
    const isReversal = isMarkedReversal(this.#entry) || isMarkedReversal(transaction);
    const { references, number } = transaction;
    return [{ number, direction, amountMinor, chargesMinor: 0n, isReversal, references }];
  }

  #count(transaction: StatementTransaction): void {
    const amountMinor = amountIn(transaction.amounts, this.#entry.currency);
    const so = this.#batches.get(transaction.batch) ?? { count: 0, signedMinor: 0n, isKnown: true };
    this.#batches.set(transaction.batch, {
      count: so.count + 1,
      signedMinor: so.signedMinor + signed(transaction.direction ?? this.#entry.direction, amountMinor ?? 0n),
      isKnown: so.isKnown && amountMinor !== null,
    });
  }

  /** A batch whose transactions the bank omits cannot be checked. */
  #batchMismatches(batches: readonly StatedBatch[]): FigureMismatch[] {
    return batches.flatMap((stated): FigureMismatch[] => {
      const found = this.#batches.get(stated.batch);
      if (found === undefined) return [];
      const direction = stated.direction ?? this.#entry.direction;
      const actualMinor = signed(direction, found.signedMinor);
      const total = stated.total?.currency === this.#entry.currency ? stated.total.amountMinor : null;
      const countDiffers = stated.count !== null && stated.count !== found.count;
      const totalDiffers = total !== null && found.isKnown && total !== actualMinor;
      if (!countDiffers && !totalDiffers) return [];
      return [
        {
          kind: 'statement-batch-differs',
          reference: `${entryName(this.#entry)}-batch-${stated.batch}`,
          expected: { amountMinor: total ?? actualMinor, count: stated.count },
          actual: { amountMinor: actualMinor, count: found.count },
          effect: NOTHING,
        },
      ];
    });
  }
}

/** The name of an entry without a reference. */
export function entryName({ number, bookedAt }: StatementEntry): string {
  return bookedAt === null ? `entry-${number}` : `entry-${number}-of-${dateInUtc(bookedAt)}`;
}

function wholeOf(
  entry: StatementEntry,
  single: StatementTransaction | null,
  batches: readonly StatedBatch[],
): StatedPart {
  const { direction, amountMinor } = entry;
  // The reference of a batch of one payment names that payment.
  const ofBatch = single === null ? [] : batches.flatMap(({ references }) => references);
  return {
    number: single?.number ?? 0,
    direction,
    amountMinor,
    chargesMinor: chargesOf(entry, single),
    isReversal: isMarkedReversal(entry) || (single !== null && isMarkedReversal(single)),
    references: [...(single?.references ?? []), ...entry.references, ...ofBatch],
  };
}

/** Charges that explain the difference of the only transaction, or that the file states for the entry. */
function chargesOf(entry: StatementEntry, single: StatementTransaction | null): bigint {
  const restMinor = single === null ? 0n : restOf(entry, single);
  const ofTransaction = single === null ? 0n : signedCharges(single.charges, entry.currency);
  const ofEntry = signedCharges(entry.charges, entry.currency);
  const charges = restMinor === 0n ? ofTransaction || ofEntry : restMinor;
  const isNamed = charges !== 0n && (charges === ofTransaction || charges === ofEntry);
  return isNamed ? signed(entry.direction, charges) : 0n;
}

/** The rest of the entry's amount beyond its only transaction, as a credit. */
function restOf(entry: StatementEntry, { amounts, direction }: StatementTransaction): bigint {
  const amountMinor = amountIn(amounts, entry.currency);
  if (amountMinor === null) return 0n;
  return signed(entry.direction, entry.amountMinor) - signed(direction ?? entry.direction, amountMinor);
}

/** The entry counts as a whole, so its only transaction changes no sum. */
function singleMismatch(entry: StatementEntry, single: StatementTransaction): FigureMismatch[] {
  const restMinor = restOf(entry, single);
  if (restMinor === 0n || chargesOf(entry, single) !== 0n) return [];
  return [{ ...entryMismatch(entry, signed(entry.direction, restMinor)), effect: NOTHING }];
}

function restMismatch(entry: StatementEntry, restMinor: bigint, ofTransactions: bigint): FigureMismatch[] {
  if (restMinor === 0n) return [];
  const isCharged = restMinor === signedCharges(entry.charges, entry.currency) || restMinor === ofTransactions;
  const mismatch = entryMismatch(entry, signed(entry.direction, restMinor));
  return [isCharged ? { ...mismatch, kind: 'statement-charges' } : mismatch];
}

/** `restMinor` is the part of the entry's amount that its parts do not cover. */
function entryMismatch(entry: StatementEntry, restMinor: bigint): FigureMismatch {
  return {
    kind: 'statement-entry-differs',
    reference: entryName(entry),
    expected: { amountMinor: entry.amountMinor, count: null },
    actual: { amountMinor: entry.amountMinor - restMinor, count: null },
    effect: totalsOf(entry.direction === 'credit', 0n, restMinor),
  };
}

/** As a credit: debits are negative. Charges are debits unless the file says otherwise. */
function signed(direction: EntryDirection, amountMinor: bigint): bigint {
  return direction === 'credit' ? amountMinor : -amountMinor;
}

function signedCharges(charges: readonly Charge[], currency: string): bigint {
  return charges
    .filter((charge) => charge.currency === currency && charge.included !== false)
    .reduce((sum, { direction, amountMinor }) => sum + signed(direction ?? 'debit', amountMinor), 0n);
}

/** A transaction's amount in the currency of its entry. Instructed and counter-value amounts concern other accounts. */
function amountIn(amounts: readonly RoledAmount[], currency: string): bigint | null {
  for (const wanted of ['amount', 'transaction'] as const) {
    const found = amounts.find((one) => one.role === wanted && one.currency === currency);
    if (found !== undefined) return found.amountMinor;
  }
  return null;
}

/** ISO 20022's sub-families of payments that are returned, cancelled or reversed. */
const REVERSAL_SUBFAMILIES = ['RRTN', 'RPCR', 'RCDD', 'PRDD', 'UPDD'];

function isMarkedReversal(one: StatementEntry | StatementTransaction): boolean {
  return (
    one.reversalIndicator === true ||
    one.returnInformation ||
    one.returnReason !== null ||
    REVERSAL_SUBFAMILIES.includes(one.bankTransactionCode?.split('/').at(-1) ?? '')
  );
}

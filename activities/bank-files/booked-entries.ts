import type { BookedEntry } from '../../domain/bank-files/messages.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type {
  PlacedReference,
  StatementEntry,
  StatementEntryEnd,
  StatementTransaction,
} from '../../domain/reconciliation/bank-statements.ts';
import type { FigureMismatch } from '../../domain/reconciliation/files/control-figures.ts';
import { EntrySplitter, movesMoney, type StatedPart } from '../../domain/reconciliation/files/statement-movements.ts';
import type { MessageLocation } from '../common/iso20022/elements.ts';
import type { Unkeyed } from './entry-keys.ts';
import { NO_PARTIES, type Parties } from './parties.ts';

export type ReadTransaction = StatementTransaction & { readonly parties: Parties };

/** An entry with all that belongs to it. */
export interface ReadEntry {
  readonly location: MessageLocation;
  readonly account: string;
  /** As the bank writes them, whatever their zone. */
  readonly dates: { readonly booked: LocalDate | null; readonly value: LocalDate | null };
  readonly item: StatementEntry;
  readonly transactions: readonly ReadTransaction[];
  readonly end: StatementEntryEnd;
}

/**
 * The movements of an entry: each of its details with an amount, else the entry as a whole. They sum to the entry's amount: charges that
 * the file states are a movement of their own where several details share them; any other difference is rejected.
 */
export function* movementsOf(entry: ReadEntry): Generator<Unkeyed> {
  const splitter = new EntrySplitter(entry.item);
  const parts = entry.transactions.flatMap((transaction) => splitter.add(transaction));
  const ended = splitter.end(entry.end);
  const charges = ended.mismatches.filter(({ kind }) => kind === 'statement-charges');
  const contradiction = ended.mismatches.find((one) => one.kind !== 'statement-charges' && !isOtherSide(one, entry));
  if (contradiction !== undefined) rejectContradiction(contradiction, entry);
  const details = new Details(entry);
  for (const part of [...parts, ...ended.parts]) yield movementOf(part, entry, details);
  for (const mismatch of charges) yield chargeOf(mismatch, entry);
}

/** Swiss banks write the side of the payment that an entry takes back: the entry's own side counts, and the amounts agree. */
function isOtherSide({ kind, expected, actual }: FigureMismatch, { transactions }: ReadEntry): boolean {
  return (
    kind === 'statement-entry-differs' && transactions.length === 1 && actual.amountMinor === -expected.amountMinor
  );
}

function rejectContradiction({ kind }: FigureMismatch, { location }: ReadEntry): never {
  if (kind === 'statement-batch-differs') location.in('NtryDtls/Btch').reject('contradicts its transactions');
  return location.in('Amt').reject('differs from the sum of its transactions, and no charges explain it');
}

function movementOf(part: StatedPart, entry: ReadEntry, details: Details): Unkeyed {
  const transaction = details.transaction(part.number);
  // Of the whole entry: it has no other movement, as its details, if it has any, state no amounts.
  const isOnly = entry.transactions.length <= 1 || part.number === 0;
  const ofEntry = referenceIn(entry.item.references, 'AcctSvcrRef');
  const ofTransaction = transaction === null ? null : referenceIn(transaction.references, 'AcctSvcrRef');
  const reference = (place: string) => (transaction === null ? null : referenceIn(transaction.references, place));
  return {
    ...sharedBy(entry),
    direction: part.direction,
    amountMinor: part.amountMinor,
    bankReference: isOnly ? (ofEntry ?? ofTransaction) : (ofTransaction ?? ofEntry),
    instructionId: reference('InstrId'),
    paymentReference: reference('EndToEndId'),
    returnReason: transaction?.returnReason ?? entry.item.returnReason,
    isReversal: part.isReversal,
    ...(transaction?.parties ?? NO_PARTIES),
    ...(part.chargesMinor === 0n ? {} : { chargesMinor: part.chargesMinor }),
    ...(part.references.length === 0 ? {} : { references: part.references.map(({ value }) => value) }),
    ...(isOnly || ofEntry === null ? {} : { entryReference: ofEntry }),
    batch: batchOf(part, entry),
    place: {
      entryReference: ofEntry,
      ownReference: isOnly ? (ofEntry ?? ofTransaction) : details.own(ofTransaction),
      told: transaction?.references.filter(({ place }) => !OF_THE_MESSAGE.includes(place)) ?? [],
    },
  };
}

/** The transactions of an entry, and which of their references name one of them and not the entry. */
class Details {
  readonly #transactions: ReadonlyMap<number, ReadTransaction>;
  readonly #timesUsed = new Map<string, number>();

  constructor({ item, transactions }: ReadEntry) {
    this.#transactions = new Map(transactions.map((one) => [one.number, one]));
    for (const reference of [item, ...transactions].map(({ references }) => referenceIn(references, 'AcctSvcrRef'))) {
      if (reference !== null) this.#timesUsed.set(reference, (this.#timesUsed.get(reference) ?? 0) + 1);
    }
  }

  transaction(number: number): ReadTransaction | null {
    return this.#transactions.get(number) ?? null;
  }

  own(reference: string | null): string | null {
    return reference !== null && this.#timesUsed.get(reference) === 1 ? reference : null;
  }
}

/** References that a bank gives its message or its list, not the movement. */
const OF_THE_MESSAGE = ['MsgId', 'AcctSvcrRef', 'AddtlTxInf'];

function sharedBy({ account, dates, item }: ReadEntry) {
  return {
    account,
    currency: item.currency,
    bookedOn: dates.booked ?? dates.value,
    isPending: !movesMoney(item),
  };
}

/** The charges that several details share: what they leave of the entry's amount. */
function chargeOf({ expected, actual }: FigureMismatch, entry: ReadEntry): Unkeyed {
  const restMinor = expected.amountMinor - actual.amountMinor;
  const amountMinor = restMinor < 0n ? -restMinor : restMinor;
  const other = entry.item.direction === 'credit' ? ('debit' as const) : ('credit' as const);
  const ofEntry = referenceIn(entry.item.references, 'AcctSvcrRef');
  return {
    ...sharedBy(entry),
    direction: restMinor < 0n ? other : entry.item.direction,
    amountMinor,
    bankReference: ofEntry,
    instructionId: null,
    paymentReference: null,
    returnReason: null,
    isReversal: false,
    ...NO_PARTIES,
    chargesMinor: amountMinor,
    batch: null,
    place: { entryReference: ofEntry, ownReference: null, told: [{ place: 'Chrgs', value: 'shared' }] },
  };
}

/** A batch of which the file has no details, or details without amounts. */
function batchOf(part: StatedPart, { transactions, end }: ReadEntry): BookedEntry['batch'] {
  const isWhole = part.number === 0;
  if (!isWhole || (transactions.length === 0 && end.batches.length === 0)) return null;
  const ids = end.batches.flatMap(({ references }) => referenceIn(references, 'PmtInfId') ?? []);
  const counts = end.batches.map(({ count }) => count);
  const stated = counts.every((count) => count !== null) ? counts.reduce((sum, count) => sum + count, 0) : null;
  return {
    originalBatchId: new Set(ids).size === 1 ? (ids[0] ?? null) : null,
    count: transactions.length > 0 ? transactions.length : stated,
  };
}

function referenceIn(references: readonly PlacedReference[], place: string): string | null {
  return references.find((reference) => reference.place === place)?.value ?? null;
}

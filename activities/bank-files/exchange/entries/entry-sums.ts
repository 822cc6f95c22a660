import { findSum, settleSum, sumOfDetails } from '../../../../db/bank-files/entries.ts';
import { findNamedInstruction } from '../../../../db/bank-files/instructions.ts';
import { partKey } from '../../../../domain/bank-files/exchange/batch-sums.ts';
import type { BookedEntry } from '../../../../domain/bank-files/messages.ts';
import type { BankServices } from '../bank.ts';
import { namesOf } from '../statuses.ts';
import { type Found, type Report, UNKNOWN } from './found.ts';

// A bank may tell a batch as one sum in one message and by its details in another, in any order: it is the same money.

/** The details of a sum that has ended its payments are the parts of it that are known. */
export async function asPartOfItsSum({ database, bank }: BankServices, entry: BookedEntry): Promise<BookedEntry> {
  const { entryReference, direction } = entry;
  if (entryReference === undefined || direction !== 'debit') return entry;
  const sum = await findSum(database.reader, bank.provider, entryReference, entry);
  if (sum === null || sum.kind !== 'batch' || sum.outcome !== 'applied') return entry;
  if (sum.bookedOn !== entry.bookedOn) return entry;
  const own = await findNamedInstruction(database.reader, bank.provider, namesOf(entry));
  return own === null ? entry : { ...entry, key: partKey(sum.key, own.instructionId) };
}

/** A statement that has told the sum has told its details. */
export async function asTellsItsSum({ database, bank }: BankServices, entry: BookedEntry, of: Report): Promise<Report> {
  if (entry.entryReference === undefined) return of;
  const sum = await findSum(database.reader, bank.provider, entry.entryReference, entry);
  if (sum === null || sum.kind !== 'batch' || !sum.isStated || sum.bookedOn !== entry.bookedOn) return of;
  return { ...of, message: 'camt.053' };
}

/** Charges that several details share: they stand under the reference of the entry, and are not its sum. */
export function isSharedCharge({ amountMinor, chargesMinor }: BookedEntry): boolean {
  return chargesMinor === amountMinor;
}

/** What a sum is whose details have come before it; null if none have. */
export async function toldByDetails({ database, bank }: BankServices, entry: BookedEntry): Promise<Found | null> {
  const { bankReference, entryReference } = entry;
  if (bankReference === null || entryReference !== undefined || isSharedCharge(entry)) return null;
  const known = await findSum(database.reader, bank.provider, bankReference, entry);
  // It has become known by itself, and its parts stand for it.
  if (known !== null && known.key === entry.key && known.outcome !== 'waiting') return null;
  const details = await sumOfDetails(database.reader, bank.provider, bankReference, entry);
  if (details.count === 0) return null;
  // Other money under a reference that the bank has used again, or the same: a person decides.
  if (!details.isSameDay) return UNKNOWN;
  const isWhole = details.amountMinor === entry.amountMinor;
  // A batch of ours of which a crash has left a part is ended again.
  if (!isWhole && (entry.batch?.originalBatchId ?? null) !== null) return null;
  return { kind: 'batch', transferId: null, code: null, outcome: isWhole ? 'applied' : 'waiting' };
}

/** Whether the sum of a detail was booked as one payment, before anything told that it was a sum. */
export async function isOfReceivedSum({ database, bank }: BankServices, entry: BookedEntry): Promise<boolean> {
  if (entry.entryReference === undefined) return false;
  const sum = await findSum(database.reader, bank.provider, entry.entryReference, entry);
  return sum !== null && sum.kind === 'received' && sum.outcome !== 'waiting';
}

/** A sum that waits has ended once its details are all of it. */
export async function endSum({ database, bank }: BankServices, entry: BookedEntry): Promise<void> {
  if (entry.entryReference === undefined) return;
  const { provider } = bank;
  const sum = await findSum(database.reader, provider, entry.entryReference, entry);
  if (sum === null || sum.kind !== 'batch' || sum.outcome !== 'waiting') return;
  const details = await sumOfDetails(database.reader, provider, entry.entryReference, entry);
  if (!details.isSameDay || details.amountMinor !== sum.amountMinor) return;
  await database.transaction((tx) => settleSum(tx, provider, sum.key, 'applied'));
}

import type { StatementEntry } from '../../domain/accounts/statements.ts';
import { formatAmountInFull } from '../../domain/frame/money.ts';
import { formatDateTimeMs } from '../../domain/frame/time/dates.ts';
import { csvLine, withoutFormulas } from '../frame/files/csv.ts';

const HEADER = csvLine([
  'accountId',
  'transactionNumber',
  'entryDateTime',
  'direction',
  'amount',
  'transactionType',
  'entryType',
  'balance',
  'currency',
  'narrative',
]);

/** A statement as CSV: the fields of specification 2.5 under their names. */
export async function* csvStatement(pages: AsyncIterable<readonly StatementEntry[]>): AsyncGenerator<string> {
  yield HEADER;
  for await (const entries of pages) yield entries.map(csvEntry).join('');
}

function csvEntry(entry: StatementEntry): string {
  const { currency, narrative } = entry;
  return csvLine([
    entry.accountId,
    entry.transactionNumber,
    formatDateTimeMs(entry.postedAt),
    entry.direction,
    formatAmountInFull(entry.amountMinor, currency),
    entry.transactionType,
    entry.entryType,
    formatAmountInFull(entry.balanceMinor, currency),
    currency,
    narrative === null ? null : withoutFormulas(narrative),
  ]);
}

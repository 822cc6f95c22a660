import type { StatementEntry } from '../../domain/accounts/statements.ts';
import { formatAmountInFull } from '../../domain/common/money.ts';
import { csvLine, withoutFormulas } from '../../domain/common/texts/csv.ts';
import { formatDateTimeMs } from '../../domain/common/time/dates.ts';

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

/** A statement as CSV, with the field names of specification 2.5 as header. */
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

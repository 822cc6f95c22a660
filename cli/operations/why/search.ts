import { parseArgs } from 'node:util';
import { type FoundKind, type FoundRow, search } from '../../../db/search/search.ts';
import { formatAmountInFull } from '../../../domain/common/money.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { searchTermsOf } from '../../../domain/search/search-terms.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { textTable } from '../../common/text-table.ts';
import type { Operation } from '../operation.ts';

/** `search TEXT`: whatever a customer, a bank or a log has named. It reads only. */
export const searchOperation: Operation = {
  async run({ database: { reader }, arguments: given, print }) {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const terms = searchTermsOf(positionals.join(' '));
    if (terms.length === 0) throw new ActionableError(SEARCHABLE);
    const { rows, unsearched } = await search(reader, terms);
    if (values.json) print(JSON.stringify({ found: rows.map(foundInJson), unsearched }));
    else {
      print(rows.length === 0 ? 'Nothing is found.' : tableOfFound(rows));
      if (unsearched.length > 0) print(unsearchedInWords(unsearched));
    }
    if (rows.length > 0) return 0;
    return unsearched.length === 0 ? 1 : 2;
  },
};

const SEARCHABLE =
  'Give TEXT as an id, a number, a reference, an IBAN, an e-mail address, a name of two letters or more, or an amount with a date as YYYY-MM-DD.';

function unsearchedInWords(kinds: readonly FoundKind[]): string {
  return `Not searched in time: ${kinds.join(', ')}. Of these only exact hits are shown; search by an id, a number or an e-mail address.`;
}

export function foundInJson({ amountMinor, currency, createdAt, ...row }: FoundRow): object {
  const amount = amountMinor === null || currency === null ? null : formatAmountInFull(amountMinor, currency);
  return { ...row, amount, currency, createdDateTime: createdAt.toISOString() };
}

export function tableOfFound(found: readonly FoundRow[]): string {
  const rows = found.map((row) => [row.kind, row.id, row.name, row.status ?? '', amountOf(row), minute(row)]);
  return textTable([['WHAT', 'ID', 'NAME', 'STATUS', 'AMOUNT', 'SINCE'], ...rows]);
}

export function amountOf({ amountMinor, currency }: FoundRow): string {
  if (currency === null) return '';
  return amountMinor === null ? currency : `${formatAmountInFull(amountMinor, currency)} ${currency}`;
}

function minute({ createdAt }: FoundRow): string {
  return minuteInUtc(createdAt.toISOString());
}

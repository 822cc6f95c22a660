import { findAccount } from '../../db/accounts/reads.ts';
import { findBookedUpTo, readEntries } from '../../db/accounts/statements.ts';
import type { StatementEntry } from '../../domain/accounts/statements.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import type { Slice } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { Amount, amountText, Instant } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** An account's ledger entries, newest first. Versions have no gaps, so a page is read by its versions whatever their number. */
export const statementPage = listPage<StatementEntry>({
  path: '/accounts/:id/statement',
  title: 'Statement',
  question: 'Every entry of the account, newest first, with the balance after it.',
  section: '/accounts',
  filters: [],
  empty: 'Nothing has been booked on this account.',
  read: readStatement,
  columns: [
    {
      header: 'Booked',
      cell: ({ postedAt }) => <Instant at={postedAt} />,
      text: ({ postedAt }) => postedAt.toISOString(),
    },
    { header: 'Number', cell: numberOf, text: ({ transactionNumber }) => transactionNumber },
    { header: 'What', cell: whatOf, text: whatOf },
    {
      header: 'Amount',
      isNumber: true,
      cell: (entry) => <Amount minor={signed(entry)} currency={entry.currency} />,
      text: (entry) => amountText(signed(entry), entry.currency),
    },
    {
      header: 'Balance',
      isNumber: true,
      cell: ({ balanceMinor, currency }) => <Amount minor={balanceMinor} currency={currency} />,
      text: ({ balanceMinor, currency }) => amountText(balanceMinor, currency),
    },
    {
      header: 'Text',
      cell: ({ narrative }, { privacy }) => privacy.text(narrative),
      text: ({ narrative }, { privacy }) => privacy.text(narrative),
    },
  ],
});

async function readStatement(
  { services, params, now }: PageContext,
  _: Readonly<Record<string, string>>,
  { after, size }: { readonly after: string | null; readonly size: number },
): Promise<Slice<StatementEntry>> {
  const { database } = services;
  const id = asId<AccountId>(params.id ?? '');
  if ((await findAccount(database.reader, id)) === null) return { rows: [], next: null };
  const newest = (await findBookedUpTo(database, id, now)).version;
  const last = after !== null && /^\d{1,18}$/.test(after) && BigInt(after) < newest ? BigInt(after) : newest;
  const first = last > BigInt(size) ? last - BigInt(size) : 0n;
  const rows: StatementEntry[] = [];
  for await (const entries of readEntries(database.reader, id, { after: first, last })) rows.push(...entries);
  return { rows: rows.reverse(), next: first === 0n ? null : String(first) };
}

function signed({ direction, amountMinor }: StatementEntry): bigint {
  return direction === 'debit' ? -amountMinor : amountMinor;
}

function whatOf({ transactionType, entryType }: StatementEntry): string {
  return entryType === 'principal' ? transactionType : `${transactionType}, ${entryType}`;
}

function numberOf({ transactionNumber, transactionType, transferId }: StatementEntry) {
  const folder = transactionType === 'outgoing-transfer' ? 'outgoing-transfers' : 'incoming-transfers';
  return transferId === null ? transactionNumber : <a href={`/${folder}/${transferId}`}>{transactionNumber}</a>;
}

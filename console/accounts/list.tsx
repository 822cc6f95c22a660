import { type AccountFilter, countAccounts, listNewestAccounts } from '../../db/accounts/reads.ts';
import { ACCOUNT_STATUSES } from '../../domain/accounts/accounts.ts';
import { isUuid } from '../../domain/common/ids.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFound } from '../lists/newest-first.ts';
import { Amount, amountText, Id, Status } from '../look/values.tsx';

function filterOf(given: Readonly<Record<string, string>>): AccountFilter {
  const { status, currency, provider, client, holder, iban, ledger, main } = given;
  return {
    status: ACCOUNT_STATUSES.find((known) => known === status),
    currency,
    serviceProvider: provider,
    clientId: client?.toLowerCase(),
    accountHolderName: holder,
    iban: iban?.replaceAll(' ', '').toUpperCase(),
    ledgerNumber: ledger,
    mainAccountId: main?.toLowerCase(),
  };
}

const uuid = (label: string) => (value: string) =>
  isUuid(value.toLowerCase()) ? null : `${label} is no id: it is a UUID.`;

export const accountList = listPage({
  path: '/accounts',
  title: 'Accounts',
  question: 'Whose money is held, where, and how much of it.',
  section: '/accounts',
  filters: [
    { name: 'status', label: 'Status', kind: 'choice', choices: ACCOUNT_STATUSES },
    { name: 'currency', label: 'Currency', kind: 'text' },
    { name: 'provider', label: 'Provider', kind: 'text' },
    { name: 'client', label: 'Client id', kind: 'text', problem: uuid('Client id') },
    { name: 'main', label: 'Main account id', kind: 'text', problem: uuid('Main account id') },
    { name: 'holder', label: 'Holder’s name', kind: 'text', findsHidden: true },
    { name: 'iban', label: 'IBAN', kind: 'text', findsHidden: true },
    { name: 'ledger', label: 'Ledger number', kind: 'text', findsHidden: true },
  ],
  empty: 'No account is like this.',
  read: ({ services }, given, slice) =>
    newestFound(slice, (page) => listNewestAccounts(services.database.reader, filterOf(given), page)),
  count: ({ services }, given) => countAccounts(services.database.reader, filterOf(given), COUNTED_MAX),
  columns: [
    {
      header: 'Ledger number',
      cell: ({ id, ledgerNumber }, { privacy }) => <Id of={privacy.number(ledgerNumber)} to={`/accounts/${id}`} />,
      text: ({ ledgerNumber }, { privacy }) => privacy.number(ledgerNumber),
    },
    {
      header: 'Holder',
      cell: ({ accountHolderName }, { privacy }) => privacy.name(accountHolderName),
      text: ({ accountHolderName }, { privacy }) => privacy.name(accountHolderName),
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    { header: 'Provider', cell: ({ provider }) => provider, text: ({ provider }) => provider },
    {
      header: 'Balance',
      isNumber: true,
      cell: ({ postedMinor, currency }) => <Amount minor={postedMinor} currency={currency} />,
      text: ({ postedMinor, currency }) => amountText(postedMinor, currency),
    },
    {
      header: 'Available',
      isNumber: true,
      cell: ({ postedMinor, reservedMinor, currency }) => (
        <Amount minor={postedMinor - reservedMinor} currency={currency} />
      ),
      text: ({ postedMinor, reservedMinor, currency }) => amountText(postedMinor - reservedMinor, currency),
    },
  ],
});

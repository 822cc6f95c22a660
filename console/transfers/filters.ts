import { isUuid } from '../../domain/common/ids.ts';
import { isCurrency } from '../../domain/common/money.ts';
import type { Filter } from '../lists/list.ts';

const uuidProblem = (name: string) => (value: string) =>
  isUuid(value.toLowerCase()) ? null : `${name} is no id: it is a UUID.`;

export const ACCOUNT_FILTER: Filter = {
  name: 'account',
  label: 'Account id',
  kind: 'text',
  problem: uuidProblem('Account id'),
};

export const CLIENT_FILTER: Filter = {
  name: 'client',
  label: 'Client id',
  kind: 'text',
  problem: uuidProblem('Client id'),
};

export const CURRENCY_FILTER: Filter = {
  name: 'currency',
  label: 'Currency',
  kind: 'text',
  problem: (value) => (isCurrency(value) ? null : 'Currency is no currency code, such as GBP.'),
};

/** The filters of both lists of transfers, after their own. */
export const TRANSFER_FILTERS: readonly Filter[] = [
  CURRENCY_FILTER,
  { name: 'provider', label: 'Provider', kind: 'text' },
  ACCOUNT_FILTER,
  CLIENT_FILTER,
  { name: 'from', label: 'Date from', kind: 'date' },
  { name: 'to', label: 'Date to', kind: 'date' },
];

/** What these filters mean in db/. */
export function transferFilterOf(given: Readonly<Record<string, string>>) {
  const { currency, provider, account, client, from, to } = given;
  return {
    currency,
    serviceProvider: provider,
    accountId: account?.toLowerCase(),
    clientId: client?.toLowerCase(),
    transferDateFrom: from,
    transferDateTo: to,
  };
}

import { findBookedUpTo } from '../../db/accounts/statements.ts';
import { requirePast } from '../../domain/accounts/statements.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { formatDateTimeMs } from '../../domain/common/time/dates.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { amount, currency, dateTime, fields, uuid } from '../http/schemas/schemas.ts';
import { dateTimeMsShown } from './schemas.ts';

const balanceShown = named(
  'Balance',
  fields({
    accountId: uuid<AccountId>(),
    currency: currency(),
    at: dateTimeMsShown(),
    balance: amount(),
  }),
);

const getBalance = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}/balances',
    operationId: 'getAccountBalance',
    summary: "Get an account's balance at an instant",
    description:
      'The balance booked at that instant, including all entries of that millisecond; 0 before the first entry. Payments that were being booked at that instant appear once they are committed, at most seconds later. An instant in the future is rejected.',
    tag: 'Accounts',
    params: { accountId: uuid<AccountId>() },
    query: { 'data.balance.at': dateTime() },
    response: fields({ balance: balanceShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      response: {
        balance: {
          accountId: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20',
          currency: 'GBP',
          at: '2026-11-21T09:30:12.417',
          balance: 250.5,
        },
      },
    },
  },
  async ({ params, query, services }) => {
    const at = query['data.balance.at'];
    const { account, now, balanceMinor } = await findBookedUpTo(services.database, params.accountId, at);
    if (account === null) throw recordNotFound('account', 'id', params.accountId);
    requirePast(at, now);
    const { id: accountId, currency } = account;
    const balance = amountNumber(balanceMinor, currency);
    return { data: { balance: { accountId, currency, at: formatDateTimeMs(at), balance } } };
  },
);

export const accountBalanceRoutes = [getBalance] as const;

import { findAccount, findAccountWithTime } from '../../db/accounts/reads.ts';
import { listStatementEntries } from '../../db/accounts/statements.ts';
import { readClock } from '../../db/common/clock.ts';
import { type Account, presentAccount } from '../../domain/accounts/accounts.ts';
import { statementRange } from '../../domain/accounts/statements.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { ACCOUNT_EXAMPLE, accountShown } from '../accounts/schemas.ts';
import { presentStatementEntry, STATEMENT_ENTRY_EXAMPLE, statementEntryShown } from '../accounts/statements.ts';
import { named } from '../http/schemas/named.ts';
import { amount, country, currency, dateTime, fields, list, optional, uuid } from '../http/schemas/schemas.ts';
import type { Services } from '../http/services.ts';
import { type GrantContext, grantRoute } from '../http/third-party-route.ts';
import { requireOpenBankingCountry } from './consents.ts';
import { CONSENT_ACCOUNTS_MAX } from './schemas.ts';

const TAG = 'Open banking access';

const { id, status, alias, routingCodes, iban, accountNumber, accountHolderName } = accountShown.entries;

/** What a third party needs to show an account and to pay into it, without its client and connection. */
const accessedAccountShown = named(
  'AccessedAccount',
  fields({
    id,
    status,
    country: country(),
    currency: currency(),
    alias,
    routingCodes,
    iban,
    accountNumber,
    accountHolderName,
  }),
);

function presentAccessedAccount(account: Account) {
  const shown = presentAccount(account);
  return {
    id: account.id,
    status: shown.status,
    country: shown.country,
    currency: shown.currency,
    alias: shown.alias,
    routingCodes: shown.routingCodes,
    iban: shown.iban,
    accountNumber: shown.accountNumber,
    accountHolderName: shown.accountHolderName,
  };
}

const ACCESSED_ACCOUNT_EXAMPLE = {
  id: ACCOUNT_EXAMPLE.id,
  status: 'active',
  country: 'GB',
  currency: 'GBP',
  alias: ACCOUNT_EXAMPLE.alias,
  routingCodes: ACCOUNT_EXAMPLE.routingCodes,
  iban: ACCOUNT_EXAMPLE.iban,
  accountNumber: ACCOUNT_EXAMPLE.accountNumber,
  accountHolderName: ACCOUNT_EXAMPLE.accountHolderName,
};

const getAccounts = grantRoute(
  'accounts',
  {
    method: 'GET',
    path: '/open-banking/{countryCode}/accounts',
    operationId: 'listAccessedAccounts',
    summary: 'List the accounts of the consent',
    tag: TAG,
    params: { countryCode: country() },
    response: fields({ accounts: list(accessedAccountShown, 0, CONSENT_ACCOUNTS_MAX) }),
    errors: ['consent.country.not_supported'],
    examples: { response: { accounts: [ACCESSED_ACCOUNT_EXAMPLE] } },
  },
  async ({ params, grant, services }) => {
    requireOpenBankingCountry(params.countryCode);
    const { reader } = services.database;
    const found = await Promise.all((grant.accountIds ?? []).map((accountId) => findAccount(reader, accountId)));
    return {
      data: { accounts: found.flatMap((account) => (account === null ? [] : [presentAccessedAccount(account)])) },
    };
  },
);

const one = { countryCode: country(), id: uuid<AccountId>() };

const balanceShown = named(
  'AccessedBalance',
  fields({
    accountId: uuid<AccountId>(),
    currency: currency(),
    availableBalance: amount(),
    bookedBalance: amount(),
    at: dateTime(),
  }),
);

const getBalances = grantRoute(
  'accounts',
  {
    method: 'GET',
    path: '/open-banking/{countryCode}/accounts/{id}/balances',
    operationId: 'listAccessedBalances',
    summary: 'Get the balance of an account of the consent',
    description: 'The booked balance, and the part of it that is not reserved for payments in progress.',
    tag: TAG,
    params: one,
    response: fields({ balances: list(balanceShown, 1, 1) }),
    errors: ['common.coding.internal.record_not_found', 'consent.country.not_supported'],
    examples: {
      response: {
        balances: [
          {
            accountId: ACCESSED_ACCOUNT_EXAMPLE.id,
            currency: 'GBP',
            availableBalance: 250.5,
            bookedBalance: 300,
            at: '2026-03-02T09:30:00',
          },
        ],
      },
    },
  },
  async ({ params, grant, services }) => {
    requireOpenBankingCountry(params.countryCode);
    const account = await accessedAccount(services, grant, params.id);
    const { postedMinor, reservedMinor, currency: of } = account;
    const now = await readClock(services.database.reader);
    const balance = {
      accountId: account.id,
      currency: of,
      availableBalance: amountNumber(postedMinor - reservedMinor, of),
      bookedBalance: amountNumber(postedMinor, of),
      at: formatDateTime(now),
    };
    return { data: { balances: [balance] } };
  },
);

const transactionShown = named('AccessedTransaction', fields(statementEntryShown.entries));

const getTransactions = grantRoute(
  'accounts',
  {
    method: 'GET',
    path: '/open-banking/{countryCode}/accounts/{id}/transactions',
    operationId: 'listAccessedTransactions',
    summary: 'Get the statement of an account of the consent',
    description:
      'Entries in chronological order. The default range is the current month in UTC. If only one bound is given, the other is the first or last day of the same month.',
    tag: TAG,
    params: one,
    paged: true,
    query: {
      'data.transaction.entryDateTimeFrom': optional(dateTime()),
      'data.transaction.entryDateTimeTo': optional(dateTime()),
    },
    response: fields({ transactions: list(transactionShown, 0, 100) }),
    errors: ['common.coding.internal.record_not_found', 'consent.country.not_supported'],
    examples: { response: { transactions: [STATEMENT_ENTRY_EXAMPLE] } },
  },
  async ({ params, query, page, grant, services }) => {
    requireOpenBankingCountry(params.countryCode);
    const { id: accountId } = await accessedAccount(services, grant, params.id);
    const { reader } = services.database;
    const account = await findAccountWithTime(reader, accountId);
    if (account === null) throw recordNotFound('account', 'id', accountId);
    const range = statementRange(
      { from: query['data.transaction.entryDateTimeFrom'], to: query['data.transaction.entryDateTimeTo'] },
      account.now,
    );
    const asked = { accountId, range, transactionNumber: undefined };
    const { rows, totalElements } = await listStatementEntries(reader, asked, page);
    return { data: { transactions: rows.map(presentStatementEntry) }, totalElements };
  },
);

/** An account outside the grant is reported as if it did not exist. */
async function accessedAccount(
  { database }: Services,
  { accountIds }: GrantContext['grant'],
  accountId: AccountId,
): Promise<Account> {
  const account = accountIds?.includes(accountId) === true ? await findAccount(database.reader, accountId) : null;
  if (account === null) throw recordNotFound('account', 'id', accountId);
  return account;
}

export const accountAccessRoutes = [getAccounts, getBalances, getTransactions];

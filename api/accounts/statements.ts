import { findAccountWithTime } from '../../db/accounts/reads.ts';
import { listStatementEntries } from '../../db/accounts/statements.ts';
import {
  STATEMENT_ENTRY_TYPES,
  STATEMENT_TRANSACTION_TYPES,
  type StatementEntry,
  statementRange,
} from '../../domain/accounts/statements.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { SENDER_INFORMATION_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { formatDateTimeMs } from '../../domain/common/time/dates.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import {
  amount,
  currency,
  dateTime,
  fields,
  list,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { dateTimeMsShown } from './schemas.ts';

const TRANSACTION_NUMBER = /^\d{8}-[0-9A-Z]{6}$/;

export const statementEntryShown = named(
  'AccountStatement',
  fields({
    accountId: uuid<AccountId>(),
    transactionNumber: pattern(TRANSACTION_NUMBER, 'a transaction number'),
    entryDateTime: dateTimeMsShown(),
    direction: picklist(['debit', 'credit']),
    amount: amount(),
    transactionType: named('StatementTransactionType', picklist(STATEMENT_TRANSACTION_TYPES)),
    entryType: named('StatementEntryType', picklist(STATEMENT_ENTRY_TYPES)),
    balance: amount(),
    currency: currency(),
    narrative: nullable(text(SENDER_INFORMATION_LENGTH_MAX)),
  }),
);

/** `data.accountStatements` of specification 2.5. */
export function presentStatementEntry(entry: StatementEntry) {
  const { currency } = entry;
  return {
    accountId: entry.accountId,
    transactionNumber: entry.transactionNumber,
    direction: entry.direction,
    transactionType: entry.transactionType,
    entryType: entry.entryType,
    currency,
    narrative: entry.narrative,
    entryDateTime: formatDateTimeMs(entry.postedAt),
    amount: amountNumber(entry.amountMinor, currency),
    balance: amountNumber(entry.balanceMinor, currency),
  };
}

export const STATEMENT_ENTRY_EXAMPLE = {
  accountId: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20',
  transactionNumber: '20261121-M4K7QZ',
  entryDateTime: '2026-11-21T09:30:12.417',
  direction: 'credit',
  amount: 250.5,
  transactionType: 'incoming-transfer',
  entryType: 'principal',
  balance: 250.5,
  currency: 'GBP',
  narrative: 'Invoice 17',
};

const getAccountStatements = route(
  {
    method: 'GET',
    path: '/accounts/{accountId}/account-statements',
    operationId: 'listAccountStatements',
    summary: "Get an account's statement",
    description:
      'Entries in chronological order. The default range is the current month in UTC. If only one bound is given, the other is the first or last day of the same month.',
    tag: 'Accounts',
    params: { accountId: uuid<AccountId>() },
    paged: true,
    query: {
      'data.accountStatement.transactionNumber': optional(pattern(TRANSACTION_NUMBER, 'a transaction number')),
      'data.accountStatement.entryDateTimeFrom': optional(dateTime()),
      'data.accountStatement.entryDateTimeTo': optional(dateTime()),
    },
    response: fields({ accountStatements: list(statementEntryShown, 0, 100) }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      response: {
        accountStatements: [STATEMENT_ENTRY_EXAMPLE],
      },
    },
  },
  async ({ params, query, page, services }) => {
    const { reader } = services.database;
    const account = await findAccountWithTime(reader, params.accountId);
    if (account === null) throw recordNotFound('account', 'id', params.accountId);
    const range = statementRange(
      { from: query['data.accountStatement.entryDateTimeFrom'], to: query['data.accountStatement.entryDateTimeTo'] },
      account.now,
    );
    const transactionNumber = query['data.accountStatement.transactionNumber'];
    const asked = { accountId: account.id, range, transactionNumber };
    const { rows, totalElements } = await listStatementEntries(reader, asked, page);
    return { data: { accountStatements: rows.map(presentStatementEntry) }, totalElements };
  },
);

export const accountStatementRoutes = [getAccountStatements] as const;

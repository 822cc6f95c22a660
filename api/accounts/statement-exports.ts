import { createHash } from 'node:crypto';
import { findBookedUpTo, readEntries, settleStatement } from '../../db/accounts/statements.ts';
import { newId } from '../../db/frame/ids.ts';
import { exportRange, type StatementRange } from '../../domain/accounts/statements.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import { fileRoute } from '../frame/files/files.ts';
import { dateTime, optional, picklist, uuid } from '../frame/schemas/schemas.ts';
import { camt053Statement } from './statement-camt053.ts';
import { csvStatement } from './statement-csv.ts';

const CSV_EXAMPLE = [
  'accountId,transactionNumber,entryDateTime,direction,amount,transactionType,entryType,balance,currency,narrative',
  '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20,20261121-M4K7QZ,2026-11-21T09:30:12.417,credit,250.50,incoming-transfer,principal,250.50,GBP,Invoice 17',
  '',
].join('\r\n');

const CAMT_EXAMPLE = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>…</BkToCstmrStmt></Document>
`;

const exportAccountStatements = fileRoute(
  {
    path: '/accounts/{accountId}/account-statements/export',
    operationId: 'exportAccountStatements',
    summary: "An account's statement as a file",
    description:
      'Every entry of the range, as CSV (UTF-8, under the names of the fields) or camt.053.001.08 (ISO 20022). The range is that of the statement, but ends at the present: what the file covers never changes, so the next one can begin a millisecond later. In CSV an apostrophe stands before what a spreadsheet would take for a formula in a narrative. A connection that is cut before the last chunk means that the file is not whole.',
    tag: 'Accounts',
    params: { accountId: uuid<AccountId>() },
    query: {
      format: picklist(['csv', 'camt.053']),
      'data.accountStatement.entryDateTimeFrom': optional(dateTime()),
      'data.accountStatement.entryDateTimeTo': optional(dateTime()),
    },
    files: { 'text/csv': CSV_EXAMPLE, 'application/xml': CAMT_EXAMPLE },
    errors: ['common.coding.internal.record_not_found'],
  },
  async ({ params, query, services }) => {
    const { database } = services;
    const account = await settleStatement(database, params.accountId);
    if (account === null) throw recordNotFound('account', 'id', params.accountId);
    const { settledAt: createdAt, id } = account;
    const range = exportRange(
      { from: query['data.accountStatement.entryDateTimeFrom'], to: query['data.accountStatement.entryDateTimeTo'] },
      createdAt,
    );
    const beforeFrom = new Date(range.from.getTime() - 1);
    const [opening, closing] = await Promise.all([
      findBookedUpTo(database, id, beforeFrom),
      findBookedUpTo(database, id, range.to),
    ]);
    const pages = readEntries(database.reader, id, { after: opening.version, last: closing.version });
    const name = `${account.ledgerNumber}_${dateInUtc(range.from)}_${dateInUtc(range.to)}`;
    if (query.format === 'csv') {
      return { mediaType: 'text/csv; charset=utf-8', name: `${name}.csv`, chunks: csvStatement(pages) };
    }
    const summary = {
      messageId: withoutHyphens(newId()),
      statementId: statementIdOf(id, range),
      createdAt,
      range,
      account,
      openingMinor: opening.balanceMinor,
      closingMinor: closing.balanceMinor,
      entryCount: closing.version - opening.version,
    };
    return { mediaType: 'application/xml', name: `${name}.xml`, chunks: camt053Statement(summary, pages) };
  },
);

/** The same for the same account and range, as the entries are then the same: readers recognise a repeated statement by it. */
function statementIdOf(accountId: AccountId, { from, to }: StatementRange): string {
  const statement = [accountId, from.toISOString(), to.toISOString()].join(' ');
  return createHash('sha256').update(statement).digest('hex').slice(0, 32);
}

function withoutHyphens(id: string): string {
  return id.replaceAll('-', '');
}

export const accountStatementExportRoutes = [exportAccountStatements] as const;

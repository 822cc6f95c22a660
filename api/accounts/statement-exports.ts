import { createHash } from 'node:crypto';
import { findBookedUpTo, readEntries, settleStatement } from '../../db/accounts/statements.ts';
import { newId } from '../../db/common/ids.ts';
import { exportRange, type StatementRange } from '../../domain/accounts/statements.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { fileRoute } from '../http/files/file-route.ts';
import { dateTime, optional, picklist, uuid } from '../http/schemas/schemas.ts';
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
    summary: "Export an account's statement as a file",
    description:
      'All entries of the range, as CSV (UTF-8, with the field names as header) or camt.053.001.08 (ISO 20022). The range is the same as for the statement, but ends now at the latest: the entries of the period that a file covers never change, so the next file can begin one millisecond later. In CSV, an apostrophe precedes any part of a narrative that a spreadsheet would read as a formula. If the connection closes before the last chunk, the file is incomplete.',
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

/** Depends only on account and range, as the entries do, so that readers recognise a repeated statement. */
function statementIdOf(accountId: AccountId, { from, to }: StatementRange): string {
  const statement = [accountId, from.toISOString(), to.toISOString()].join(' ');
  return createHash('sha256').update(statement).digest('hex').slice(0, 32);
}

function withoutHyphens(id: string): string {
  return id.replaceAll('-', '');
}

export const accountStatementExportRoutes = [exportAccountStatements] as const;

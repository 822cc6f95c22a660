import { formatAmountInFull } from '../../../domain/common/money.ts';
import type { Booking, CustomerSettings } from '../records.ts';
import { documentOf, instantText, tag, textTag } from './xml.ts';

/** Booked together under one reference: one payment, or a batch. */
export interface ReportedEntry {
  readonly bookings: readonly [Booking, ...Booking[]];
  /** Whether a batch's payments are told with its sum. */
  readonly hasDetails: boolean;
}

export interface AccountReport {
  readonly messageId: string;
  readonly createdAt: Date;
  readonly camtVersion: CustomerSettings['camtVersion'];
  readonly account: string;
  readonly currency: string;
  readonly entries: readonly ReportedEntry[];
  /** Of a statement; null: a notification. */
  readonly statement: StatementPart | null;
}

export interface StatementPart {
  readonly number: number;
  readonly date: string;
  readonly openingMinor: bigint;
  readonly closingMinor: bigint;
}

export function accountReportVersion({
  camtVersion,
  statement,
}: Pick<AccountReport, 'camtVersion' | 'statement'>): string {
  return `camt.${statement === null ? '054' : '053'}.001.${camtVersion}`;
}

/** A camt.054 or, with balances, a camt.053. */
export function writeAccountReport(report: AccountReport): string {
  const { messageId, statement, account, currency } = report;
  const created = tag('CreDtTm', instantText(report.createdAt));
  const number = statement === null ? null : String(statement.number);
  const content =
    textTag('Id', messageId) +
    tag('ElctrncSeqNb', number) +
    tag('LglSeqNb', number) +
    created +
    (statement === null ? '' : period(statement.date)) +
    tag('Acct', accountId(account) + tag('Ccy', currency)) +
    (statement === null ? '' : balances(statement, currency)) +
    report.entries.map((entry) => entryOf(entry, report)).join('');
  const head = tag('GrpHdr', textTag('MsgId', messageId) + created);
  const [root, part] = statement === null ? ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'] : ['BkToCstmrStmt', 'Stmt'];
  return documentOf(accountReportVersion(report), tag(root, head + tag(part, content)));
}

function period(date: string): string {
  return tag('FrToDt', tag('FrDtTm', `${date}T00:00:00Z`) + tag('ToDtTm', `${date}T23:59:59Z`));
}

function balances({ openingMinor, closingMinor, date }: StatementPart, currency: string): string {
  const balance = (code: string, minor: bigint) =>
    tag(
      'Bal',
      tag('Tp', tag('CdOrPrtry', tag('Cd', code))) +
        amount('Amt', minor < 0n ? -minor : minor, currency) +
        tag('CdtDbtInd', minor < 0n ? 'DBIT' : 'CRDT') +
        tag('Dt', tag('Dt', date)),
    );
  return balance('OPBD', openingMinor) + balance('CLBD', closingMinor);
}

function amount(name: string, minor: bigint, currency: string): string {
  return tag(name, formatAmountInFull(minor, currency), ` Ccy="${currency}"`);
}

function accountId(account: string): string {
  return tag('Id', isIban(account) ? textTag('IBAN', account) : tag('Othr', textTag('Id', account)));
}

function isIban(account: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Za-z0-9]{10,30}$/.test(account);
}

function entryOf({ bookings, hasDetails }: ReportedEntry, report: AccountReport): string {
  const [first] = bookings;
  const totalMinor = bookings.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const date = tag('Dt', first.bookedAt.slice(0, 10));
  const status = report.camtVersion === '02' ? 'BOOK' : tag('Cd', 'BOOK');
  const details = hasDetails ? bookings.map((booking) => detailsOf(booking, report)).join('') : '';
  return tag(
    'Ntry',
    amount('Amt', totalMinor, first.currency) +
      tag('CdtDbtInd', first.direction === 'debit' ? 'DBIT' : 'CRDT') +
      tag('Sts', status) +
      tag('BookgDt', date) +
      tag('ValDt', date) +
      textTag('AcctSvcrRef', first.entryReference) +
      bankTransactionCode(first) +
      tag('NtryDtls', (first.isOfBatch ? batchOf(bookings, totalMinor) : '') + details),
  );
}

function batchOf([{ place, currency }, ...others]: ReportedEntry['bookings'], totalMinor: bigint): string {
  return tag(
    'Btch',
    textTag('MsgId', place?.messageId ?? null) +
      textTag('PmtInfId', place?.batchId ?? null) +
      tag('NbOfTxs', String(others.length + 1)) +
      amount('TtlAmt', totalMinor, currency) +
      tag('CdtDbtInd', 'DBIT'),
  );
}

/** The family and subfamily of ISO's bank transaction codes. */
function bankTransactionCode({ kind, returnCode, currency }: Booking): string {
  const isReturn = returnCode !== null;
  const isIn = kind === 'payment-in' || kind === 'payment-in-sent-back';
  const family = isIn ? 'RCDT' : 'ICDT';
  const subfamily = isReturn ? 'RRTN' : currency === 'EUR' ? 'ESCT' : 'DMCT';
  return tag('BkTxCd', tag('Domn', tag('Cd', 'PMNT') + tag('Fmly', tag('Cd', family) + tag('SubFmlyCd', subfamily))));
}

function detailsOf(booking: Booking, { camtVersion }: AccountReport): string {
  const { place, currency, amountMinor, direction, returnCode, party } = booking;
  const references =
    textTag('MsgId', place?.messageId ?? null) +
    textTag('AcctSvcrRef', booking.bankReference) +
    textTag('PmtInfId', place?.batchId ?? null) +
    textTag('InstrId', place?.instructionId ?? null) +
    textTag('EndToEndId', place?.endToEndId ?? 'NOTPROVIDED') +
    textTag('TxId', booking.originalReference ?? null);
  const ofVersion02 = camtVersion === '02';
  const stated = ofVersion02
    ? tag('AmtDtls', tag('TxAmt', amount('Amt', amountMinor, currency)))
    : amount('Amt', amountMinor, currency) + tag('CdtDbtInd', direction === 'debit' ? 'DBIT' : 'CRDT');
  // A payment that comes back still names its payee as the creditor.
  const role = direction === 'debit' || returnCode !== null ? 'Cdtr' : 'Dbtr';
  const name = ofVersion02 ? textTag('Nm', party.name) : tag('Pty', textTag('Nm', party.name));
  const parties = tag(role, name) + tag(`${role}Acct`, party.account === null ? null : accountId(party.account));
  const bic = textTag(ofVersion02 ? 'BIC' : 'BICFI', party.bic);
  return tag(
    'TxDtls',
    tag('Refs', references) +
      stated +
      tag('RltdPties', parties) +
      tag('RltdAgts', tag(`${role}Agt`, tag('FinInstnId', bic))) +
      tag('RmtInf', textTag('Ustrd', booking.remittanceText)) +
      tag('RtrInf', tag('Rsn', tag('Cd', returnCode))),
  );
}

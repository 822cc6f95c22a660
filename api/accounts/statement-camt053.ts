import type { StatementEntry, StatementRange } from '../../domain/accounts/statements.ts';
import { formatAmountInFull } from '../../domain/common/money.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import { element, textElement, xmlText } from '../http/files/xml.ts';

/** The header of a statement file. */
export interface StatementSummary {
  /** At most 35 characters, like all ISO 20022 identifications. */
  readonly messageId: string;
  readonly statementId: string;
  readonly createdAt: Date;
  readonly range: StatementRange;
  readonly account: {
    readonly iban: string | null;
    readonly ledgerNumber: string;
    readonly currency: string;
    readonly alias: string;
    readonly accountHolderName: string;
  };
  readonly openingMinor: bigint;
  readonly closingMinor: bigint;
  readonly entryCount: bigint;
}

const NAME_LENGTH_MAX = 140;
const ALIAS_LENGTH_MAX = 70;
const REMITTANCE_LENGTH_MAX = 140;

/** A statement as camt.053.001.08 of ISO 20022. */
export async function* camt053Statement(
  summary: StatementSummary,
  pages: AsyncIterable<readonly StatementEntry[]>,
): AsyncGenerator<string> {
  yield openingOf(summary);
  for await (const entries of pages) yield entries.map(entryElement).join('');
  yield '</Stmt></BkToCstmrStmt></Document>\n';
}

function openingOf({ messageId, statementId, createdAt, range, account, ...sums }: StatementSummary): string {
  const created = textElement('CreDtTm', instant(createdAt));
  const period = element(
    'FrToDt',
    textElement('FrDtTm', instant(range.from)),
    textElement('ToDtTm', instant(range.to)),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>',
    element('GrpHdr', textElement('MsgId', messageId), created),
    '<Stmt>',
    textElement('Id', statementId),
    created,
    period,
    accountElement(account),
    balanceElement('OPBD', sums.openingMinor, account.currency, range.from),
    balanceElement('CLBD', sums.closingMinor, account.currency, range.to),
    summaryElement(sums, account.currency),
  ].join('');
}

function accountElement(account: StatementSummary['account']): string {
  const { iban, ledgerNumber } = account;
  return element(
    'Acct',
    element('Id', iban === null ? element('Othr', textElement('Id', ledgerNumber)) : textElement('IBAN', iban)),
    textElement('Ccy', account.currency),
    textElement('Nm', cut(account.alias, ALIAS_LENGTH_MAX)),
    element('Ownr', textElement('Nm', cut(account.accountHolderName, NAME_LENGTH_MAX))),
  );
}

function balanceElement(code: 'OPBD' | 'CLBD', amountMinor: bigint, currency: string, at: Date): string {
  return element(
    'Bal',
    element('Tp', element('CdOrPrtry', textElement('Cd', code))),
    amountElement(amountMinor, currency),
    element('Dt', textElement('DtTm', instant(at))),
  );
}

/** Separate totals of debits and credits would mean reading every entry before the first is sent. */
function summaryElement(
  { openingMinor, closingMinor, entryCount }: Pick<StatementSummary, 'openingMinor' | 'closingMinor' | 'entryCount'>,
  currency: string,
): string {
  const net = closingMinor - openingMinor;
  return element(
    'TxsSummry',
    element(
      'TtlNtries',
      textElement('NbOfNtries', String(entryCount)),
      element(
        'TtlNetNtry',
        textElement('Amt', formatAmountInFull(net < 0n ? -net : net, currency)),
        textElement('CdtDbtInd', net < 0n ? 'DBIT' : 'CRDT'),
      ),
    ),
  );
}

function entryElement(entry: StatementEntry): string {
  const { transactionNumber, transferId, narrative } = entry;
  const amountMinor = entry.direction === 'debit' ? -entry.amountMinor : entry.amountMinor;
  const details = element(
    'NtryDtls',
    element(
      'TxDtls',
      element(
        'Refs',
        textElement('AcctSvcrRef', transactionNumber),
        ...(transferId === null ? [] : [textElement('EndToEndId', paymentReferenceOf(transferId))]),
      ),
      ...(narrative === null ? [] : [element('RmtInf', ...remittance(narrative))]),
    ),
  );
  return element(
    'Ntry',
    textElement('NtryRef', String(entry.version)),
    amountElement(amountMinor, entry.currency),
    element('Sts', textElement('Cd', 'BOOK')),
    element('BookgDt', textElement('DtTm', instant(entry.postedAt))),
    textElement('AcctSvcrRef', transactionNumber),
    transactionCode(entry),
    ...(narrative === null && transferId === null ? [] : [details]),
    textElement('AddtlNtryInf', entry.entryType),
  );
}

/** Codes of ISO's external list: domain, family and sub-family. */
const TRANSFER_CODES = { 'incoming-transfer': 'RCDT', 'outgoing-transfer': 'ICDT' } as const;

function transactionCode({ transactionType, entryType, direction }: StatementEntry): string {
  const isFee = entryType === 'fee' || entryType === 'cancellation-fee';
  const [domain, family, subFamily] = ((): readonly [string, string, string] => {
    switch (transactionType) {
      case 'incoming-transfer':
      case 'outgoing-transfer':
        return ['PMNT', TRANSFER_CODES[transactionType], isFee ? 'FEES' : 'OTHR'];
      case 'exchange-transaction':
        return ['FORX', 'SPOT', isFee ? 'FEES' : 'OTHR'];
      case 'balance-adjustment':
        return ['ACMT', direction === 'debit' ? 'MDOP' : 'MCOP', 'ADJT'];
    }
  })();
  return element(
    'BkTxCd',
    element(
      'Domn',
      textElement('Cd', domain),
      element('Fmly', textElement('Cd', family), textElement('SubFmlyCd', subFamily)),
    ),
    element('Prtry', textElement('Cd', transactionType)),
  );
}

/** A negative amount is a debit; ISO 20022 has no signs. */
function amountElement(amountMinor: bigint, currency: string): string {
  const isDebit = amountMinor < 0n;
  const amount = formatAmountInFull(isDebit ? -amountMinor : amountMinor, currency);
  return `<Amt Ccy="${xmlText(currency)}">${amount}</Amt>${textElement('CdtDbtInd', isDebit ? 'DBIT' : 'CRDT')}`;
}

function remittance(narrative: string): string[] {
  const characters = [...narrative];
  const parts = Math.ceil(characters.length / REMITTANCE_LENGTH_MAX);
  return Array.from({ length: parts }, (_, part) => {
    const start = part * REMITTANCE_LENGTH_MAX;
    return textElement('Ustrd', characters.slice(start, start + REMITTANCE_LENGTH_MAX).join(''));
  });
}

function cut(text: string, lengthMax: number): string {
  return [...text].slice(0, lengthMax).join('');
}

function instant(at: Date): string {
  return at.toISOString();
}

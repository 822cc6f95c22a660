import { element, nested, writeDocument, type XmlChildren, type XmlElement } from '../../../domain/bank-files/xml.ts';
import { formatAmountInFull } from '../../../domain/common/money.ts';

/** Messages as a bank writes them, for tests of the reader: of the oldest version that is read and of the present one. */
export type ReportVersion = '02' | '08';

export interface RenderedDetail {
  readonly reference: string | null;
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
  readonly amountMinor: bigint;
  readonly returnReason: string | null;
  readonly debtorName: string | null;
  readonly debtorIban: string | null;
  readonly debtorBic: string | null;
  readonly creditorIban: string | null;
  readonly remittanceText: string | null;
}

/** A detail that says nothing. */
export const NO_DETAIL: RenderedDetail = {
  reference: null,
  instructionId: null,
  paymentReference: null,
  amountMinor: 0n,
  returnReason: null,
  debtorName: null,
  debtorIban: null,
  debtorBic: null,
  creditorIban: null,
  remittanceText: null,
};

export interface RenderedEntry {
  readonly reference: string | null;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly bookedOn: string;
  readonly status: 'BOOK' | 'PDNG';
  readonly isReversal: boolean;
  readonly batch: { readonly id: string; readonly count: number } | null;
  readonly details: readonly RenderedDetail[];
}

export interface RenderedReport {
  readonly message: 'camt.053' | 'camt.054';
  readonly version: ReportVersion;
  readonly messageId: string;
  readonly createdAt: Date;
  readonly account: string;
  readonly entries: readonly RenderedEntry[];
}

const dateTime = (instant: Date) => instant.toISOString();
const money = (name: string, amountMinor: bigint, currency: string) =>
  element(name, formatAmountInFull(amountMinor, currency), { Ccy: currency });
const indicator = (direction: 'debit' | 'credit') => nested('CdtDbtInd', direction === 'credit' ? 'CRDT' : 'DBIT');

export function renderReport(report: RenderedReport): Buffer {
  const { message, version, messageId, createdAt, account, entries } = report;
  const [root, part] =
    message === 'camt.053' ? ['BkToCstmrStmt', 'Stmt'] : (['BkToCstmrDbtCdtNtfctn', 'Ntfctn'] as const);
  const content = element(root, [
    element('GrpHdr', [nested('MsgId', messageId), nested('CreDtTm', dateTime(createdAt))]),
    element(part, [
      nested('Id', `${messageId}-1`),
      nested('CreDtTm', dateTime(createdAt)),
      element('Acct', [nested('Id/IBAN', account)]),
      ...(message === 'camt.053' ? balances(entries) : []),
      summary(entries),
      ...entries.map((entry, at) => entryElement(entry, at + 1, version)),
    ]),
  ]);
  return writeDocument(`urn:iso:std:iso:20022:tech:xsd:${message}.001.${version}`, content);
}

function balances(entries: readonly RenderedEntry[]): XmlChildren {
  const currency = entries[0]?.currency ?? 'EUR';
  const moved = entries
    .filter(({ status }) => status === 'BOOK')
    .reduce((sum, { direction, amountMinor }) => sum + (direction === 'credit' ? amountMinor : -amountMinor), 0n);
  const balance = (code: string, minor: bigint) =>
    element('Bal', [
      nested('Tp/CdOrPrtry/Cd', code),
      money('Amt', minor < 0n ? -minor : minor, currency),
      indicator(minor < 0n ? 'debit' : 'credit'),
      nested('Dt/Dt', '2026-11-26'),
    ]);
  return [balance('OPBD', 100_000n), balance('CLBD', 100_000n + moved)];
}

function summary(entries: readonly RenderedEntry[]): XmlElement | null {
  const currency = entries[0]?.currency ?? 'EUR';
  const sum = entries.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  return element('TxsSummry', [
    element('TtlNtries', [
      nested('NbOfNtries', String(entries.length)),
      nested('Sum', formatAmountInFull(sum, currency)),
    ]),
  ]);
}

function entryElement(entry: RenderedEntry, number: number, version: ReportVersion): XmlElement | null {
  const { amountMinor, currency, direction, isReversal, status, bookedOn, reference, batch, details } = entry;
  return element('Ntry', [
    // Numbered by place, as banks do: it says nothing of the entry.
    nested('NtryRef', String(number)),
    money('Amt', amountMinor, currency),
    indicator(direction),
    isReversal ? nested('RvslInd', 'true') : null,
    nested(version === '02' ? 'Sts' : 'Sts/Cd', status),
    nested('BookgDt/Dt', bookedOn),
    nested('ValDt/Dt', bookedOn),
    nested('AcctSvcrRef', reference),
    nested('BkTxCd/Prtry/Cd', 'NTRF'),
    element('NtryDtls', [
      batch === null ? null : element('Btch', [nested('PmtInfId', batch.id), nested('NbOfTxs', String(batch.count))]),
      ...details.map((detail) => detailElement(detail, entry, version)),
    ]),
  ]);
}

function detailElement(detail: RenderedDetail, entry: RenderedEntry, version: ReportVersion): XmlElement | null {
  const { currency, direction } = entry;
  const party = (name: string, text: string | null) => nested(version === '02' ? `${name}/Nm` : `${name}/Pty/Nm`, text);
  return element('TxDtls', [
    element('Refs', [
      nested('AcctSvcrRef', detail.reference),
      nested('InstrId', detail.instructionId),
      nested('EndToEndId', detail.paymentReference ?? 'NOTPROVIDED'),
    ]),
    ...(version === '02'
      ? [element('AmtDtls', [element('TxAmt', [money('Amt', detail.amountMinor, currency)])])]
      : [money('Amt', detail.amountMinor, currency), indicator(direction)]),
    element('RltdPties', [
      party('Dbtr', detail.debtorName),
      nested('DbtrAcct/Id/IBAN', detail.debtorIban),
      nested('CdtrAcct/Id/IBAN', detail.creditorIban),
    ]),
    nested(`RltdAgts/DbtrAgt/FinInstnId/${version === '02' ? 'BIC' : 'BICFI'}`, detail.debtorBic),
    nested('RmtInf/Ustrd', detail.remittanceText),
    nested('RtrInf/Rsn/Cd', detail.returnReason),
  ]);
}

export interface RenderedStatus {
  readonly status: string | null;
  readonly reasons: readonly string[];
  readonly additional?: readonly string[];
}

export interface RenderedPaymentStatus extends RenderedStatus {
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
  readonly bankReference: string | null;
}

export interface RenderedStatusReport {
  readonly version: '03' | '10';
  readonly messageId: string;
  readonly createdAt: Date;
  readonly originalMessageId: string;
  readonly file: RenderedStatus;
  readonly batches: readonly (RenderedStatus & {
    readonly originalBatchId: string;
    readonly payments: readonly RenderedPaymentStatus[];
  })[];
}

const reasonElements = (name: string, { reasons, additional = [] }: RenderedStatus): XmlChildren =>
  reasons.map((reason, at) =>
    element(name, [nested('Rsn/Cd', reason), ...(at === 0 ? additional.map((text) => nested('AddtlInf', text)) : [])]),
  );

export function renderStatusReport(report: RenderedStatusReport): Buffer {
  const { version, messageId, createdAt, originalMessageId, file, batches } = report;
  const message = element('CstmrPmtStsRpt', [
    element('GrpHdr', [nested('MsgId', messageId), nested('CreDtTm', dateTime(createdAt))]),
    element('OrgnlGrpInfAndSts', [
      nested('OrgnlMsgId', originalMessageId),
      nested('OrgnlMsgNmId', 'pain.001'),
      nested('GrpSts', file.status),
      ...reasonElements('StsRsnInf', file),
    ]),
    ...batches.map((batch) =>
      element('OrgnlPmtInfAndSts', [
        nested('OrgnlPmtInfId', batch.originalBatchId),
        nested('PmtInfSts', batch.status),
        ...reasonElements('StsRsnInf', batch),
        ...batch.payments.map((payment, at) =>
          element('TxInfAndSts', [
            nested('StsId', `${messageId}-${at}`),
            nested('OrgnlInstrId', payment.instructionId),
            nested('OrgnlEndToEndId', payment.paymentReference),
            nested('TxSts', payment.status),
            ...reasonElements('StsRsnInf', payment),
            nested('AcctSvcrRef', payment.bankReference),
          ]),
        ),
      ]),
    ),
  ]);
  return writeDocument(`urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}`, message);
}

export interface RenderedCancellationAnswer {
  readonly messageId: string;
  readonly createdAt: Date;
  readonly caseId: string | null;
  readonly status: string;
  readonly answers: readonly (RenderedStatus & {
    readonly caseId: string | null;
    readonly instructionId: string | null;
    readonly paymentReference: string | null;
  })[];
}

const caseElement = (id: string | null) =>
  element('RslvdCase', id === null ? null : [nested('Id', id), nested('Cretr/Pty/Nm', 'Payer')]);

export function renderCancellationAnswer(answer: RenderedCancellationAnswer): Buffer {
  const { messageId, createdAt, caseId, status, answers } = answer;
  const party = (name: string) => nested(`${name}/Pty/Nm`, name);
  const message = element('RsltnOfInvstgtn', [
    element('Assgnmt', [
      nested('Id', messageId),
      party('Assgnr'),
      party('Assgne'),
      nested('CreDtTm', dateTime(createdAt)),
    ]),
    caseElement(caseId),
    nested('Sts/Conf', status),
    element('CxlDtls', [
      element('OrgnlPmtInfAndSts', [
        nested('OrgnlPmtInfId', answers.length === 0 ? null : 'B-1'),
        ...answers.map((one) =>
          element('TxInfAndSts', [
            caseElement(one.caseId),
            nested('OrgnlInstrId', one.instructionId),
            nested('OrgnlEndToEndId', one.paymentReference),
            nested('TxCxlSts', one.status),
            ...reasonElements('CxlStsRsnInf', one),
          ]),
        ),
      ]),
    ]),
  ]);
  return writeDocument('urn:iso:std:iso:20022:tech:xsd:camt.029.001.09', message);
}

import type { StatusNotice } from '../records.ts';
import { documentOf, instantText, tag, textTag } from './xml.ts';

/** A pain.002 about one file of the customer. */
export interface StatusReport {
  readonly messageId: string;
  readonly createdAt: Date;
  readonly file: {
    readonly messageId: string;
    readonly version: string;
    readonly count: string | null;
    readonly controlSum: string | null;
  };
  /** Of a file that was rejected as a whole. */
  readonly rejection: { readonly code: string; readonly problem: string } | null;
  /** Whether it tells of every payment of the file: else it says nothing of batches. */
  readonly isWhole: boolean;
  readonly payments: readonly StatusNotice[];
}

/** The version that goes with the customer's. */
export function statusReportVersion(paymentVersion: string): string {
  return paymentVersion === 'pain.001.001.03' ? 'pain.002.001.03' : 'pain.002.001.10';
}

const LINE_LENGTH_MAX = 105;

export function writeStatusReport(report: StatusReport): string {
  const { file, rejection } = report;
  const version = statusReportVersion(file.version);
  const head = textTag('MsgId', report.messageId) + tag('CreDtTm', instantText(report.createdAt));
  const original =
    textTag('OrgnlMsgId', file.messageId) +
    textTag('OrgnlMsgNmId', file.version) +
    textTag('OrgnlNbOfTxs', file.count) +
    textTag('OrgnlCtrlSum', file.controlSum) +
    tag('GrpSts', rejection === null ? fileStatus(report, version) : 'RJCT') +
    (rejection === null ? '' : reason(rejection.code, rejection.problem));
  const batches = [...new Set(report.payments.map(({ place }) => place.batchId))];
  const content = batches.map((id) => batch(id, report, version)).join('');
  const message = tag('GrpHdr', head) + tag('OrgnlGrpInfAndSts', original) + content;
  return documentOf(version, tag('CstmrPmtStsRpt', message));
}

/** A message that tells of some payments only says of the file no more than that it is not accepted whole. */
function fileStatus({ payments, isWhole }: StatusReport, version: string): string | null {
  const statuses = payments.map(({ status }) => status);
  if (isWhole) return statusOfAll(statuses, version);
  return statuses.includes('RJCT') ? 'PART' : null;
}

function batch(id: string, report: StatusReport, version: string): string {
  const payments = report.payments.filter(({ place }) => place.batchId === id);
  const status = report.isWhole
    ? statusOfAll(
        payments.map((payment) => payment.status),
        version,
      )
    : null;
  return tag(
    'OrgnlPmtInfAndSts',
    textTag('OrgnlPmtInfId', id) + tag('PmtInfSts', status) + payments.map((one) => payment(one, version)).join(''),
  );
}

/** Version 03 has a closed list of statuses, without the payee check's, which then stand as reasons. */
const PAYEE_CHECK = /^RV?/;

function isOfPayeeCheck(status: string): boolean {
  return PAYEE_CHECK.test(status) && status !== 'RJCT';
}

function payment(notice: StatusNotice, version: string): string {
  const { place, status, reasons, additional } = notice;
  const isOpen = version === 'pain.002.001.10';
  const moved = !isOpen && isOfPayeeCheck(status);
  const told = moved ? [status] : reasons;
  return tag(
    'TxInfAndSts',
    textTag('OrgnlInstrId', place.instructionId) +
      textTag('OrgnlEndToEndId', place.endToEndId) +
      tag('TxSts', moved ? 'PDNG' : status) +
      (told.length === 0 && additional !== null ? reason(null, additional) : '') +
      told.map((code) => reason(code, additional)).join('') +
      textTag('AcctSvcrRef', notice.bankReference),
  );
}

function reason(code: string | null, additional: string | null): string {
  const lines = (additional ?? '').match(new RegExp(`.{1,${LINE_LENGTH_MAX}}`, 'gsu')) ?? [];
  return tag('StsRsnInf', tag('Rsn', tag('Cd', code)) + lines.map((line) => textTag('AddtlInf', line.trim())).join(''));
}

/** The status of what contains these: theirs if it is one, else PART, or RVCM where the payee check decides. */
export function statusOfAll(statuses: readonly string[], version = 'pain.002.001.10'): string | null {
  const [first] = statuses;
  if (first === undefined) return null;
  const isOpen = version === 'pain.002.001.10';
  if (statuses.every((status) => status === first) && (isOpen || !isOfPayeeCheck(first))) {
    // Only a payment has the other answers of the payee check.
    return isOfPayeeCheck(first) && first !== 'RCVC' ? 'RVCM' : first;
  }
  if (statuses.some((status) => status === 'RJCT')) return 'PART';
  if (statuses.some(isOfPayeeCheck)) return isOpen ? 'RVCM' : 'PDNG';
  return statuses.includes('ACSP') || statuses.includes('ACSC') ? 'ACSP' : 'ACCP';
}

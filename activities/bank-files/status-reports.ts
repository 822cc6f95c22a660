import type {
  PaymentStatusReport,
  ReportedBatch,
  ReportedPayment,
  StatedStatus,
} from '../../domain/bank-files/messages.ts';
import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import type { HeldElement, PartReader } from '../common/iso20022/document-reader.ts';
import { elementsAt, hintAt, type MessageElement, MessageLocation } from '../common/iso20022/elements.ts';
import {
  headOf,
  reasonsOf,
  repeatedReference,
  requiredText,
  requireHead,
  type StatedHead,
  statusAt,
} from './message-parts.ts';

/** Since version 03 the batches have the payments. */
export const STATUS_REPORTS = { name: 'pain.002', versions: [3, 15] } as const;

const ROOT = 'CstmrPmtStsRpt';
const [HEAD, FILE, BATCH] = [`${ROOT}/GrpHdr`, `${ROOT}/OrgnlGrpInfAndSts`, `${ROOT}/OrgnlPmtInfAndSts`];
const PAYMENT = `${BATCH}/TxInfAndSts`;
/** The payee check's close match: the name follows. */
const CLOSE_MATCH = 'RVMC';

/** Reads a pain.002. */
export class StatusReportReader implements PartReader {
  readonly #version: string;
  readonly #batches: ReportedBatch[] = [];
  #head: StatedHead | null = null;
  #file: (StatedStatus & { readonly originalMessageId: string }) | null = null;
  #payments: ReportedPayment[] = [];

  constructor(version: string) {
    this.#version = version;
  }

  begin(path: string): boolean {
    if (path === BATCH) this.#payments = [];
    return path === HEAD || path === FILE || path === BATCH || path === PAYMENT;
  }

  end(path: string, element: HeldElement): void {
    if (path === HEAD) this.#head = headOf(element, 'MsgId');
    else if (path === FILE) this.#endFile(element);
    else if (path === BATCH) this.#endBatch(element);
    else this.#endPayment(element);
  }

  finish(): PaymentStatusReport {
    const head = requireHead(this.#head, 'GrpHdr');
    if (this.#file === null) throw new UnreadableMessage('The message cannot be read: OrgnlGrpInfAndSts is missing.');
    const { originalMessageId, ...file } = this.#file;
    return {
      message: 'pain.002',
      version: this.#version,
      ...head,
      originalMessageId,
      file,
      batches: this.#batches,
    };
  }

  #endFile(element: MessageElement): void {
    const location = new MessageLocation('The message’s OrgnlGrpInfAndSts');
    if (this.#file !== null) location.reject('is there more than once');
    this.#file = {
      originalMessageId: requiredText(element, 'OrgnlMsgId', location),
      ...statedStatus(element, 'GrpSts', location),
    };
  }

  #endBatch(element: MessageElement): void {
    const location = new MessageLocation(`Batch ${this.#batches.length + 1} of the message`);
    this.#batches.push({
      originalBatchId: requiredText(element, 'OrgnlPmtInfId', location),
      ...statedStatus(element, 'PmtInfSts', location),
      payments: uncontradicted(this.#payments, location),
    });
  }

  #endPayment(element: MessageElement): void {
    const number = this.#payments.length + 1;
    const location = new MessageLocation(`TxInfAndSts ${number} of batch ${this.#batches.length + 1}`);
    const stated = statedStatus(element, 'TxSts', location);
    const instructionId = repeatedReference(element, 'OrgnlInstrId', location);
    const paymentReference = repeatedReference(element, 'OrgnlEndToEndId', location);
    if (instructionId === null && paymentReference === null) {
      location.reject('has neither OrgnlInstrId nor OrgnlEndToEndId');
    }
    this.#payments.push({
      ...stated,
      instructionId,
      paymentReference,
      bankReference: hintAt(element, ['AcctSvcrRef'], location),
      matchedName: isCloseMatch(stated) ? nameIn(element) : null,
    });
  }
}

function statedStatus(element: MessageElement, path: string, location: MessageLocation): StatedStatus {
  return { status: statusAt(element, path, location), reasons: reasonsOf(element, 'StsRsnInf', location) };
}

function isCloseMatch({ status, reasons }: StatedStatus): boolean {
  return status === CLOSE_MATCH || reasons.includes(CLOSE_MATCH);
}

/** Banks write the name that the payee's bank holds as additional information, which lines of 105 characters may divide. */
function nameIn(element: MessageElement): string | null {
  const name = elementsAt(element, 'StsRsnInf/AddtlInf')
    .map(({ text }) => text)
    .join(' ')
    .trim();
  return name === '' ? null : name;
}

/** Two statuses of one payment in one batch leave open which holds. */
function uncontradicted(payments: readonly ReportedPayment[], location: MessageLocation): readonly ReportedPayment[] {
  const statuses = new Map<string, string | null>();
  for (const { instructionId, status } of payments) {
    if (instructionId === null) continue;
    if (statuses.has(instructionId) && statuses.get(instructionId) !== status) {
      location.in('TxInfAndSts').reject('names one payment twice, with different statuses');
    }
    statuses.set(instructionId, status);
  }
  return payments;
}

import { formatAmountInFull } from '../common/money.ts';
import type { CancellationFile, RequestedCancellation } from './instructions.ts';
import { controlFigures, dateTime, requireReference, senderElement } from './payment-file.ts';
import type { BankProfile } from './profiles.ts';
import { element, nested, writeDocument, type XmlElement } from './xml.ts';

/** The version that banks take for both versions of pain.001; its answer is a camt.029. */
export const CANCELLATION_MESSAGE = 'camt.055.001.08';

/** A camt.055: payments, each by the file and batch that carried it. The same file is always the same bytes. */
export function writeCancellationFile(file: CancellationFile, profile: BankProfile): Buffer {
  const { party, cancellations } = file;
  for (const id of [file.messageId, ...cancellations.map((cancellation) => cancellation.id)]) requireReference(id);
  const bic = party.routingCodes.bic ?? null;
  // Mandatory in the schema: the bank that gets the request.
  const assignee = bic === null ? nested('Agt/FinInstnId/Othr/Id', 'NOTPROVIDED') : nested('Agt/FinInstnId/BICFI', bic);
  const message = element('CstmrPmtCxlReq', [
    element('Assgnmt', [
      nested('Id', file.messageId),
      element('Assgnr', [senderElement('Pty', party, profile)]),
      element('Assgne', [assignee]),
      nested('CreDtTm', dateTime(file.createdAt)),
    ]),
    element('CtrlData', controlFigures(cancellations.map(({ originalInstruction }) => originalInstruction))),
    element(
      'Undrlyg',
      byBatch(cancellations).map((batch) => batchElement(batch, profile)),
    ),
  ]);
  return writeDocument(`urn:iso:std:iso:20022:tech:xsd:${CANCELLATION_MESSAGE}`, message);
}

type Batch = readonly [RequestedCancellation, ...RequestedCancellation[]];

/** In the order in which the batches are first named. */
function byBatch(cancellations: readonly RequestedCancellation[]): readonly Batch[] {
  const batches = new Map<string, Batch>();
  for (const one of cancellations) {
    const key = JSON.stringify([one.originalMessageId, one.originalBatchId]);
    const [first, ...others] = batches.get(key) ?? [one];
    batches.set(key, first === one ? [one] : [first, ...others, one]);
  }
  return [...batches.values()];
}

function batchElement(batch: Batch, { paymentMessage }: BankProfile): XmlElement | null {
  const [{ originalBatchId, originalMessageId, originalMessageCreatedAt }] = batch;
  return element('OrgnlPmtInfAndCxl', [
    nested('OrgnlPmtInfId', originalBatchId),
    element('OrgnlGrpInf', [
      nested('OrgnlMsgId', originalMessageId),
      nested('OrgnlMsgNmId', paymentMessage),
      nested('OrgnlCreDtTm', dateTime(originalMessageCreatedAt)),
    ]),
    ...batch.map(paymentElement),
  ]);
}

function paymentElement({ id, originalInstruction, reason }: RequestedCancellation): XmlElement | null {
  const { amountMinor, currency, paymentReference } = originalInstruction;
  return element('TxInf', [
    nested('CxlId', id),
    nested('OrgnlInstrId', originalInstruction.id),
    nested('OrgnlEndToEndId', paymentReference),
    element('OrgnlInstdAmt', formatAmountInFull(amountMinor, currency), { Ccy: currency }),
    nested('CxlRsnInf/Rsn/Cd', reason),
  ]);
}

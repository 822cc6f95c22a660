import type { CancellationNotice } from '../records.ts';
import { documentOf, instantText, tag, textTag } from './xml.ts';

export const CANCELLATION_ANSWER = 'camt.029.001.09';

/** A camt.029 that answers requests to cancel. */
export function writeCancellationAnswer(answer: {
  readonly messageId: string;
  readonly createdAt: Date;
  readonly bic: string;
  readonly customer: string;
  readonly answers: readonly CancellationNotice[];
}): string {
  const { answers } = answer;
  const assignment =
    textTag('Id', answer.messageId) +
    tag('Assgnr', tag('Agt', tag('FinInstnId', textTag('BICFI', answer.bic)))) +
    tag('Assgne', tag('Pty', textTag('Nm', answer.customer))) +
    tag('CreDtTm', instantText(answer.createdAt));
  const accepted = answers.filter(({ isAccepted }) => isAccepted).length;
  const confirmation = accepted === answers.length ? 'CNCL' : accepted === 0 ? 'RJCR' : 'PECR';
  const message =
    tag('Assgnmt', assignment) + tag('Sts', tag('Conf', confirmation)) + tag('CxlDtls', answers.map(payment).join(''));
  return documentOf(CANCELLATION_ANSWER, tag('RsltnOfInvstgtn', message));
}

function payment({ place, cancellationId, isAccepted, reason }: CancellationNotice): string {
  const status =
    textTag('CxlStsId', cancellationId) +
    textTag('OrgnlInstrId', place.instructionId) +
    textTag('OrgnlEndToEndId', place.endToEndId) +
    tag('TxCxlSts', isAccepted ? 'ACCR' : 'RJCR') +
    tag('CxlStsRsnInf', tag('Rsn', tag('Cd', reason)));
  const group = textTag('OrgnlMsgId', place.messageId) + textTag('OrgnlMsgNmId', place.version);
  return tag(
    'OrgnlPmtInfAndSts',
    textTag('OrgnlPmtInfId', place.batchId) + tag('OrgnlGrpInf', group) + tag('TxInfAndSts', status),
  );
}

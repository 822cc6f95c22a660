import { all, type Element, type ReadMessage, textAt } from './xml.ts';

/** What a camt.055 asks for. */
export interface CancellationFile {
  readonly version: string;
  readonly messageId: string;
  readonly requests: readonly CancellationRequest[];
}

export interface CancellationRequest {
  readonly cancellationId: string | null;
  readonly messageId: string;
  readonly version: string;
  readonly batchId: string;
  readonly instructionId: string | null;
  readonly endToEndId: string | null;
}

export const CANCELLATION_VERSIONS: readonly string[] = ['camt.055.001.08'];

export function readCancellationFile({ version, root }: ReadMessage): CancellationFile {
  return {
    version,
    messageId: textAt(root, 'Assgnmt/Id') ?? '',
    requests: all(root, 'Undrlyg').flatMap((underlying) =>
      all(underlying, 'OrgnlPmtInfAndCxl').flatMap((batch) => requestsOf(batch, underlying)),
    ),
  };
}

function requestsOf(batch: Element, underlying: Element): CancellationRequest[] {
  const group = (name: string) =>
    textAt(batch, `OrgnlGrpInf/${name}`) ?? textAt(underlying, `OrgnlGrpInfAndCxl/${name}`) ?? '';
  return all(batch, 'TxInf').map((payment) => ({
    cancellationId: textAt(payment, 'CxlId') ?? textAt(payment, 'Case/Id'),
    messageId: group('OrgnlMsgId'),
    version: group('OrgnlMsgNmId'),
    batchId: textAt(batch, 'OrgnlPmtInfId') ?? '',
    instructionId: textAt(payment, 'OrgnlInstrId'),
    endToEndId: textAt(payment, 'OrgnlEndToEndId'),
  }));
}

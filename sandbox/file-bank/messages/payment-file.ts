import { all, type Element, type ReadMessage, textAt } from './xml.ts';

/** What a pain.001 asks for, as it stands there: valid by ISO's schema, and not yet checked by the bank's own rules. */
export interface PaymentFile {
  readonly version: string;
  readonly messageId: string;
  readonly count: string;
  readonly controlSum: string | null;
  readonly batches: readonly FileBatch[];
}

export interface FileBatch {
  readonly id: string;
  readonly count: string | null;
  readonly controlSum: string | null;
  readonly executionDate: string;
  readonly debtorName: string;
  readonly account: string;
  readonly payments: readonly FilePayment[];
}

export interface FilePayment {
  readonly instructionId: string | null;
  readonly endToEndId: string;
  readonly amount: string | null;
  readonly currency: string;
  readonly serviceLevel: string | null;
  readonly localInstrument: string | null;
  readonly creditorName: string | null;
  readonly country: string | null;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly bic: string | null;
  /** The bank's number in a clearing system, such as a sort code. */
  readonly member: { readonly system: string | null; readonly id: string } | null;
  readonly address: { readonly town: string | null; readonly country: string | null } | null;
  readonly remittanceText: string;
}

export const PAYMENT_VERSIONS: readonly string[] = ['pain.001.001.03', 'pain.001.001.09'];

export function readPaymentFile({ version, root }: ReadMessage): PaymentFile {
  return {
    version,
    messageId: textAt(root, 'GrpHdr/MsgId') ?? '',
    count: textAt(root, 'GrpHdr/NbOfTxs') ?? '',
    controlSum: textAt(root, 'GrpHdr/CtrlSum'),
    batches: all(root, 'PmtInf').map(batchOf),
  };
}

function batchOf(batch: Element): FileBatch {
  const levels = { serviceLevel: levelOf(batch), localInstrument: instrumentOf(batch) };
  return {
    id: textAt(batch, 'PmtInfId') ?? '',
    count: textAt(batch, 'NbOfTxs'),
    controlSum: textAt(batch, 'CtrlSum'),
    // A choice of its own in version 09.
    executionDate: (
      textAt(batch, 'ReqdExctnDt/Dt') ??
      textAt(batch, 'ReqdExctnDt/DtTm') ??
      textAt(batch, 'ReqdExctnDt') ??
      ''
    ).slice(0, 10),
    debtorName: textAt(batch, 'Dbtr/Nm') ?? '',
    account: accountOf(batch, 'DbtrAcct') ?? '',
    payments: all(batch, 'CdtTrfTxInf').map((payment) => paymentOf(payment, levels)),
  };
}

type Levels = Pick<FilePayment, 'serviceLevel' | 'localInstrument'>;

/** What a payment does not state of itself holds from its batch. */
function paymentOf(payment: Element, levels: Levels): FilePayment {
  const amount = all(payment, 'Amt/InstdAmt')[0];
  const member = textAt(payment, 'CdtrAgt/FinInstnId/ClrSysMmbId/MmbId');
  const address = all(payment, 'Cdtr/PstlAdr')[0];
  return {
    instructionId: textAt(payment, 'PmtId/InstrId'),
    endToEndId: textAt(payment, 'PmtId/EndToEndId') ?? '',
    amount: amount?.text ?? null,
    currency: amount?.attributes.Ccy ?? '',
    serviceLevel: levelOf(payment) ?? levels.serviceLevel,
    localInstrument: instrumentOf(payment) ?? levels.localInstrument,
    creditorName: textAt(payment, 'Cdtr/Nm'),
    country: textAt(payment, 'Cdtr/CtryOfRes') ?? textAt(payment, 'Cdtr/PstlAdr/Ctry'),
    iban: textAt(payment, 'CdtrAcct/Id/IBAN'),
    accountNumber: textAt(payment, 'CdtrAcct/Id/Othr/Id'),
    bic: textAt(payment, 'CdtrAgt/FinInstnId/BICFI') ?? textAt(payment, 'CdtrAgt/FinInstnId/BIC'),
    member:
      member === null ? null : { system: textAt(payment, 'CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd'), id: member },
    address: address === undefined ? null : { town: textAt(address, 'TwnNm'), country: textAt(address, 'Ctry') },
    remittanceText: all(payment, 'RmtInf/Ustrd')
      .map(({ text }) => text)
      .join(' '),
  };
}

function levelOf(element: Element): string | null {
  return textAt(element, 'PmtTpInf/SvcLvl/Cd');
}

function instrumentOf(element: Element): string | null {
  return textAt(element, 'PmtTpInf/LclInstrm/Cd') ?? textAt(element, 'PmtTpInf/LclInstrm/Prtry');
}

function accountOf(element: Element, name: string): string | null {
  return textAt(element, `${name}/Id/IBAN`) ?? textAt(element, `${name}/Id/Othr/Id`);
}

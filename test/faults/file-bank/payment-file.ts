/** A pain.001 or camt.055 as a customer of a bank writes it: by hand, so that no code of the service stands behind it. */
export interface HandWrittenPayment {
  readonly endToEndId: string;
  readonly instructionId?: string;
  readonly amount: string;
  readonly currency?: string;
  readonly payee?: string;
  /** Null: none is named. */
  readonly iban?: string | null;
}

export interface HandWrittenFile {
  readonly messageId: string;
  /** A batch for each list. */
  readonly batches: readonly (readonly HandWrittenPayment[])[];
  readonly version?: '03' | '09';
  readonly account?: string;
  readonly executionDate?: string;
  readonly count?: number;
  readonly controlSum?: string;
}

export const PAYER_IBAN = 'DE89370400440532013000';
export const PAYEE_IBAN = 'FR1420041010050500013M02606';

export function paymentFile(file: HandWrittenFile): string {
  const { messageId, batches, version = '09' } = file;
  const count = file.count ?? batches.flat().length;
  const sum = file.controlSum === undefined ? '' : `<CtrlSum>${file.controlSum}</CtrlSum>`;
  const parts = batches.map((payments, index) => batchOf(payments, `${messageId}-${index + 1}`, file));
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.${version}"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>${messageId}</MsgId><CreDtTm>2026-11-26T10:00:00Z</CreDtTm><NbOfTxs>${count}</NbOfTxs>${sum}<InitgPty><Nm>Acme Payments</Nm></InitgPty></GrpHdr>
${parts.join('\n')}
</CstmrCdtTrfInitn></Document>
`;
}

function batchOf(payments: readonly HandWrittenPayment[], id: string, file: HandWrittenFile): string {
  const { version = '09', account = PAYER_IBAN, executionDate = '2026-01-05' } = file;
  const date = version === '03' ? executionDate : `<Dt>${executionDate}</Dt>`;
  const bic = version === '03' ? 'BIC' : 'BICFI';
  return `<PmtInf><PmtInfId>${id}</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
<ReqdExctnDt>${date}</ReqdExctnDt><Dbtr><Nm>Acme Payments</Nm></Dbtr><DbtrAcct><Id><IBAN>${account}</IBAN></Id></DbtrAcct>
<DbtrAgt><FinInstnId><${bic}>SBNKDE2LXXX</${bic}></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
${payments.map(paymentOf).join('\n')}</PmtInf>`;
}

function paymentOf({ endToEndId, amount, ...payment }: HandWrittenPayment): string {
  const { instructionId = `${endToEndId}-1`, currency = 'EUR', payee = 'Zoe Payee', iban = PAYEE_IBAN } = payment;
  const account = iban === null ? '' : `<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>`;
  return `<CdtTrfTxInf><PmtId><InstrId>${instructionId}</InstrId><EndToEndId>${endToEndId}</EndToEndId></PmtId><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt>
<Cdtr><Nm>${payee}</Nm></Cdtr>${account}<RmtInf><Ustrd>invoice ${endToEndId}</Ustrd></RmtInf></CdtTrfTxInf>`;
}

export function cancellationFile(file: {
  readonly messageId: string;
  readonly originalMessageId: string;
  readonly endToEndIds: readonly string[];
}): string {
  const payments = file.endToEndIds.map(
    (id) =>
      `<TxInf><CxlId>${file.messageId}-${id}</CxlId><OrgnlInstrId>${id}-1</OrgnlInstrId><OrgnlEndToEndId>${id}</OrgnlEndToEndId><CxlRsnInf><Rsn><Cd>CUST</Cd></Rsn></CxlRsnInf></TxInf>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.055.001.08"><CstmrPmtCxlReq>
<Assgnmt><Id>${file.messageId}</Id><Assgnr><Pty><Nm>Acme Payments</Nm></Pty></Assgnr><Assgne><Agt><FinInstnId><BICFI>SBNKDE2LXXX</BICFI></FinInstnId></Agt></Assgne><CreDtTm>2026-11-26T10:00:00Z</CreDtTm></Assgnmt>
<Undrlyg><OrgnlPmtInfAndCxl><OrgnlPmtInfId>${file.originalMessageId}-1</OrgnlPmtInfId><OrgnlGrpInf><OrgnlMsgId>${file.originalMessageId}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInf>
${payments.join('\n')}</OrgnlPmtInfAndCxl></Undrlyg></CstmrPmtCxlReq></Document>
`;
}

import { all, type Element, readMessage, textAt } from '../../../sandbox/file-bank/messages/xml.ts';

/** What a message of the file bank says, for tests: read by ISO's schema first, so that an invalid message fails them. */
export interface ToldMessage {
  readonly version: string;
  readonly messageId: string;
  /** pain.002: of the file. */
  readonly originalMessageId: string | null;
  readonly fileStatus: string | null;
  readonly reasons: readonly string[];
  /** `E7 RJCT AC03` for each payment of a pain.002 or camt.029. */
  readonly statuses: readonly string[];
  readonly entries: readonly ToldEntry[];
  /** camt.053: opening and closing. */
  readonly balances: readonly string[];
}

export interface ToldEntry {
  readonly reference: string;
  readonly direction: 'DBIT' | 'CRDT';
  readonly amount: string;
  /** `PmtInfId count` of a batch. */
  readonly batch: string | null;
  /** `E7 10.01`, followed by the reason of a return. */
  readonly details: readonly string[];
}

export function told(content: string | Uint8Array): ToldMessage {
  const { version, root } = readMessage(typeof content === 'string' ? Buffer.from(content) : content);
  const payments = [
    ...all(root, 'OrgnlPmtInfAndSts/TxInfAndSts'),
    ...all(root, 'CxlDtls/OrgnlPmtInfAndSts/TxInfAndSts'),
  ];
  const accounts = [...all(root, 'Ntfctn'), ...all(root, 'Stmt')];
  return {
    version,
    messageId: textAt(root, 'GrpHdr/MsgId') ?? textAt(root, 'Assgnmt/Id') ?? '',
    originalMessageId: textAt(root, 'OrgnlGrpInfAndSts/OrgnlMsgId'),
    fileStatus: textAt(root, 'OrgnlGrpInfAndSts/GrpSts'),
    reasons: all(root, 'OrgnlGrpInfAndSts/StsRsnInf/Rsn/Cd').map(({ text }) => text),
    statuses: payments.map(statusOf),
    entries: accounts.flatMap((account) => all(account, 'Ntry').map(entryOf)),
    balances: accounts.flatMap((account) => all(account, 'Bal').map(balanceOf)),
  };
}

function statusOf(payment: Element): string {
  const status = textAt(payment, 'TxSts') ?? textAt(payment, 'TxCxlSts');
  const codes = [...all(payment, 'StsRsnInf/Rsn/Cd'), ...all(payment, 'CxlStsRsnInf/Rsn/Cd')].map(({ text }) => text);
  return [textAt(payment, 'OrgnlEndToEndId'), status, ...codes].join(' ');
}

function entryOf(entry: Element): ToldEntry {
  const batch = all(entry, 'NtryDtls/Btch')[0];
  return {
    reference: textAt(entry, 'AcctSvcrRef') ?? '',
    direction: textAt(entry, 'CdtDbtInd') === 'DBIT' ? 'DBIT' : 'CRDT',
    amount: textAt(entry, 'Amt') ?? '',
    batch: batch === undefined ? null : `${textAt(batch, 'PmtInfId')} ${textAt(batch, 'NbOfTxs')}`,
    details: all(entry, 'NtryDtls/TxDtls').map((details) =>
      [
        textAt(details, 'Refs/EndToEndId'),
        textAt(details, 'Amt') ?? textAt(details, 'AmtDtls/TxAmt/Amt'),
        ...all(details, 'RtrInf/Rsn/Cd').map(({ text }) => text),
      ].join(' '),
    ),
  };
}

function balanceOf(balance: Element): string {
  const sign = textAt(balance, 'CdtDbtInd') === 'DBIT' ? '-' : '';
  return `${textAt(balance, 'Tp/CdOrPrtry/Cd')} ${sign}${textAt(balance, 'Amt')}`;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry of a bank's file as text; amounts are decimals, `debit` or `credit` of our account at the bank. */
export interface FileEntry {
  readonly amount: string;
  readonly direction: 'debit' | 'credit';
  readonly date: string;
  readonly currency?: string;
  /** XML within `Ntry`, after the booking date: references, marks. */
  readonly more?: string;
  /** XML of `NtryDtls`. */
  readonly details?: string;
}

export interface FileFigures {
  /** In order of the schema, before the entries: balances and summary. */
  readonly head?: string;
  readonly account?: string;
}

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';
const INDICATOR = { debit: 'DBIT', credit: 'CRDT' } as const;

export function entryXml({ amount, direction, date, currency = 'GBP', more = '', details = '' }: FileEntry): string {
  const reversal = /<RvslInd>.*<\/RvslInd>/.exec(more)?.[0] ?? '';
  const rest = more.replace(reversal, '');
  return `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${INDICATOR[direction]}</CdtDbtInd>${reversal}
    <Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${date}</Dt></BookgDt>${rest}
    ${details === '' ? '' : `<NtryDtls>${details}</NtryDtls>`}</Ntry>`;
}

export function balanceXml(code: string, amount: string, currency: string, date: string): string {
  const direction = amount.startsWith('-') ? 'DBIT' : 'CRDT';
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${amount.replace('-', '')}</Amt>
    <CdtDbtInd>${direction}</CdtDbtInd><Dt><Dt>${date}</Dt></Dt></Bal>`;
}

/** A statement of an account of the bank that is none of our clients'. */
export function statementXml(entries: readonly FileEntry[], { head = '', account }: FileFigures = {}): string {
  const id = account ?? 'GB33BUKB20201555555555';
  return `<Stmt><Id>S-1</Id><CreDtTm>2026-11-11T02:14:07Z</CreDtTm><Acct><Id><IBAN>${id}</IBAN></Id></Acct>${head}
    ${entries.map(entryXml).join('\n')}</Stmt>`;
}

/** Writes a camt.053 file of statements; its path. */
export function writeBankFile(directory: string, ...statements: readonly string[]): string {
  const path = join(directory, `bank-${Math.random().toString(36).slice(2)}.xml`);
  const head = '<GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-11T02:14:07Z</CreDtTm></GrpHdr>';
  writeFileSync(
    path,
    `<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>${head}${statements.join('')}</BkToCstmrStmt></Document>`,
  );
  return path;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAmountInFull } from '../../../domain/common/money.ts';
import type {
  Money,
  PlacedReference,
  StatementEntry,
  StatementHeader,
  StatementItem,
  StatementTransaction,
} from '../../../domain/reconciliation/bank-statements.ts';

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

const amountXml = ({ amountMinor, currency }: Money) =>
  `<Amt Ccy="${currency}">${formatAmountInFull(amountMinor, currency)}</Amt>`;

/** A statement as text, from its items. */
export function xmlOf(items: readonly StatementItem[]): string {
  return items.map((item, at) => itemXml(item, items[at + 1])).join('');
}

function itemXml(item: StatementItem, next: StatementItem | undefined): string {
  switch (item.item) {
    case 'statement':
      return headerXml(item);
    case 'entry':
      return `${itemEntryXml(item)}${next?.item === 'transaction' ? batchXml(item) : singleXml(item.references)}`;
    case 'transaction':
      return `<TxDtls>${referencesXml(item.references, 'Refs')}${amountsXml(item)}${marksXml(item)}${referencesXml(item.references, 'after')}</TxDtls>`;
    case 'entry-end':
      return `${item.transactions > 0 ? '</NtryDtls>' : ''}</Ntry>`;
    case 'statement-end':
      return '</Stmt>';
  }
}

function headerXml({ id, account, currency, balances, summary }: StatementHeader): string {
  const total = (name: string, { count, sum }: { count: number | null; sum: string | null }) =>
    `<${name}>${count === null ? '' : `<NbOfNtries>${count}</NbOfNtries>`}${sum === null ? '' : `<Sum>${sum}</Sum>`}</${name}>`;
  const { net, direction } = summary.all;
  const indicator = direction === null ? '' : `<CdtDbtInd>${INDICATOR[direction]}</CdtDbtInd>`;
  const all = `<TtlNtries><TtlNetNtry><Amt>${net}</Amt>${indicator}</TtlNetNtry></TtlNtries>`;
  const stated = balances.map(
    (balance) => `<Bal><Tp><CdOrPrtry><Cd>${balance.code}</Cd></CdOrPrtry></Tp>${amountXml(balance)}
      <CdtDbtInd>${INDICATOR[balance.direction]}</CdtDbtInd><Dt><Dt>${balance.date}</Dt></Dt></Bal>`,
  );
  return `<Stmt><Id>${id}</Id><Acct><Id><IBAN>${account}</IBAN></Id><Ccy>${currency}</Ccy></Acct>${stated.join('')}
    <TxsSummry>${all}${total('TtlCdtNtries', summary.credits)}${total('TtlDbtNtries', summary.debits)}</TxsSummry>`;
}

function itemEntryXml(entry: StatementEntry): string {
  const reversal = entry.reversalIndicator === true ? '<RvslInd>true</RvslInd>' : '';
  return `<Ntry>${amountXml(entry)}<CdtDbtInd>${INDICATOR[entry.direction]}</CdtDbtInd>${reversal}<Sts><Cd>BOOK</Cd></Sts>
    <BookgDt><DtTm>${entry.bookedAt?.toISOString()}</DtTm></BookgDt>${codeXml(entry)}`;
}

/** The model gives the references of an entry without details to the entry; banks write them into details. */
const singleXml = (references: readonly PlacedReference[]) =>
  `<NtryDtls><TxDtls>${referencesXml(references, 'Refs')}${referencesXml(references, 'after')}</TxDtls></NtryDtls>`;

/** `xmlOf` omits the counts and sums of the model's batches. */
const batchXml = (_: StatementEntry) => '<NtryDtls>';

function amountsXml({ amounts }: StatementTransaction): string {
  const of = (role: string) => amounts.filter((amount) => amount.role === role).map(amountXml);
  const details = [
    ...of('instructed').map((xml) => `<InstdAmt>${xml}</InstdAmt>`),
    ...of('transaction').map((xml) => `<TxAmt>${xml}</TxAmt>`),
  ];
  return `${of('amount').join('')}<AmtDtls>${details.join('')}</AmtDtls>`;
}

const marksXml = ({ returnInformation, ...marks }: StatementTransaction) =>
  `${codeXml(marks)}${returnInformation ? '<RtrInf><Rsn><Cd>AC06</Cd></Rsn></RtrInf>' : ''}`;

function codeXml({ bankTransactionCode }: Pick<StatementEntry, 'bankTransactionCode'>): string {
  const [domain, family, subFamily] = bankTransactionCode?.split('/') ?? [];
  if (domain === undefined) return '';
  return `<BkTxCd><Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${subFamily}</SubFmlyCd></Fmly></Domn></BkTxCd>`;
}

const AFTER = /^(RmtInf|AddtlTxInf)/;

function referencesXml(references: readonly PlacedReference[], where: 'Refs' | 'after'): string {
  const some = references.filter(({ place }) => AFTER.test(place) === (where === 'after'));
  const xml = some.map(({ place, value }) =>
    place.split('/').reduceRight((inner, name) => `<${name}>${inner}</${name}>`, value),
  );
  return where === 'Refs' ? `<Refs>${xml.join('')}</Refs>` : xml.join('');
}

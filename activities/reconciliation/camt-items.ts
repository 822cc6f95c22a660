import type {
  AmountRole,
  Charge,
  Money,
  PlacedReference,
  ReversalMarks,
  RoledAmount,
  StatedBalance,
  StatedBatch,
  StatedTotal,
  StatementEntry,
  StatementHeader,
  StatementTransaction,
} from '../../domain/reconciliation/bank-statements.ts';
import {
  type CamtElement,
  CamtPlace,
  cleanText,
  countAt,
  dateAt,
  decimalAt,
  directionAt,
  elementAt,
  elementsAt,
  hintAt,
  indicatorAt,
  instantOf,
  moneyOf,
  textAt,
} from './camt-elements.ts';

/** What ISO 20022, and SWIFT's MT940 before it, write where a reference is asked for and there is none. */
const NO_REFERENCES = ['NOTPROVIDED', 'NONREF'];
/** In a message, which says what is wrong after it. */
const NAME_LENGTH_MAX = 100;
const PARTS_OF_AMOUNT: ReadonlyArray<readonly [path: string, role: AmountRole]> = [
  ['InstdAmt', 'instructed'],
  ['TxAmt', 'transaction'],
  ['CntrValAmt', 'counter-value'],
  ['AnncdPstngAmt', 'announced-posting'],
  ['PrtryAmt', 'proprietary'],
];
/** ISO 20022's external code set of entries' statuses. */
const STATUSES = ['BOOK', 'PDNG', 'INFO', 'FUTR'];
const ENTRY_REFERENCES = ['NtryRef', 'AcctSvcrRef', 'AddtlInfInd/MsgId'];
const BATCH_REFERENCES = ['MsgId', 'PmtInfId'];
/** Where banks put a payment's reference: `Refs` in any version, then the texts for the receiver. */
const TRANSACTION_REFERENCES = [
  'RmtInf/Ustrd',
  'RmtInf/Strd/CdtrRefInf/Ref',
  'RmtInf/Strd/RfrdDocInf/Nb',
  'RmtInf/Strd/RfrdDocInf/LineDtls/Id/Nb',
  'RmtInf/Strd/AddtlRmtInf',
  'RltdRmtInf/RmtId',
  'RtrInf/AddtlInf',
  'AddtlTxInf',
];

export function headerOf(statement: CamtElement, number: number): StatementHeader {
  const id = hintAt(statement, ['Id'], new CamtPlace(`Statement ${number} of the file`));
  const name = id === null ? '' : ` (${cleanText(id, NAME_LENGTH_MAX)})`;
  const place = new CamtPlace(`Statement ${number} of the file${name}`);
  const account = hintAt(statement, ['Acct/Id/IBAN', 'Acct/Id/Othr/Id'], place);
  return {
    item: 'statement',
    number,
    id,
    account: account?.replaceAll(/\s/g, '') ?? null,
    currency: hintAt(statement, ['Acct/Ccy'], place),
    period: { from: instantAt(statement, 'FrToDt/FrDtTm', place), to: instantAt(statement, 'FrToDt/ToDtTm', place) },
    balances: elementsAt(statement, 'Bal').map((balance, at) => balanceOf(balance, place.in(`Bal[${at + 1}]`))),
    summary: summaryOf(statement, place),
  };
}

function instantAt(parent: CamtElement, path: string, place: CamtPlace): Date | null {
  const text = textAt(parent, [path], place);
  return text === null ? null : instantOf(text, place.in(path));
}

function balanceOf(balance: CamtElement, place: CamtPlace): StatedBalance {
  const code = textAt(balance, ['Tp/CdOrPrtry/Cd', 'Tp/CdOrPrtry/Prtry'], place);
  return {
    code: code ?? place.in('Tp').refuse('is missing'),
    ...moneyOf(elementAt(balance, 'Amt', place) ?? place.in('Amt').refuse('is missing'), place.in('Amt')),
    direction: directionAt(balance, 'CdtDbtInd', place) ?? place.in('CdtDbtInd').refuse('is missing'),
    date: dateAt(balance, 'Dt', place),
  };
}

function summaryOf(statement: CamtElement, place: CamtPlace): StatementHeader['summary'] {
  const total = (name: string): StatedTotal => ({
    count: countAt(statement, `TxsSummry/${name}/NbOfNtries`, place),
    sum: decimalAt(statement, `TxsSummry/${name}/Sum`, place),
  });
  // Next to the sum until version 03, then in an element of its own.
  const [flat, own] = ['TxsSummry/TtlNtries', 'TxsSummry/TtlNtries/TtlNetNtry'];
  const net = decimalAt(statement, `${flat}/TtlNetNtryAmt`, place) ?? decimalAt(statement, `${own}/Amt`, place);
  const direction =
    directionAt(statement, `${flat}/CdtDbtInd`, place) ?? directionAt(statement, `${own}/CdtDbtInd`, place);
  return {
    all: { ...total('TtlNtries'), net, direction },
    credits: total('TtlCdtNtries'),
    debits: total('TtlDbtNtries'),
  };
}

/** How messages name an entry. */
export function placeOfEntry(entry: CamtElement, number: number): CamtPlace {
  const reference = ENTRY_REFERENCES.flatMap((path) => elementsAt(entry, path)).find(({ text }) => text !== '');
  const name = reference === undefined ? '' : ` (reference ${cleanText(reference.text, NAME_LENGTH_MAX)})`;
  return new CamtPlace(`Entry ${number} of the file${name}`);
}

export function entryOf(
  entry: CamtElement,
  at: Pick<StatementEntry, 'number' | 'statement'>,
  place: CamtPlace,
): StatementEntry {
  const missing = (path: string) => place.in(path).refuse('is missing');
  const amount = moneyOf(elementAt(entry, 'Amt', place) ?? missing('Amt'), place.in('Amt'));
  // Text until version 06, then a choice of code and word.
  const status = textAt(entry, ['Sts/Cd', 'Sts/Prtry', 'Sts'], place) ?? missing('Sts');
  // It says whether money has moved: one that we do not know must not be taken for a no.
  if (!STATUSES.includes(status)) place.in('Sts').refuse(`is none of ${STATUSES.join(', ')}: ${status}`);
  const booked = textAt(entry, ['BookgDt/Dt', 'BookgDt/DtTm'], place);
  if (booked === null && (status === 'BOOK' || elementAt(entry, 'BookgDt', place) !== null)) missing('BookgDt');
  dateAt(entry, 'ValDt', place);
  return {
    item: 'entry',
    ...at,
    ...amount,
    direction: directionAt(entry, 'CdtDbtInd', place) ?? missing('CdtDbtInd'),
    status,
    bookedAt: booked === null ? null : instantOf(booked, place.in('BookgDt')),
    amounts: [{ role: 'amount', ...amount }, ...amountDetailsOf(entry, place)],
    ...chargesOf(entry, place),
    ...marksOf(entry, place),
    reversalIndicator: indicatorAt(entry, 'RvslInd', place),
    references: referencesIn(entry, ENTRY_REFERENCES),
  };
}

export function transactionOf(
  transaction: CamtElement,
  at: Pick<StatementTransaction, 'entry' | 'number' | 'batch'>,
  placeInEntry: CamtPlace,
): StatementTransaction {
  const place = placeInEntry.in(`TxDtls[${at.number}]`);
  const amount = elementAt(transaction, 'Amt', place);
  return {
    item: 'transaction',
    ...at,
    direction: directionAt(transaction, 'CdtDbtInd', place),
    amounts: [
      ...(amount === null ? [] : [{ role: 'amount' as const, ...moneyOf(amount, place.in('Amt')) }]),
      ...amountDetailsOf(transaction, place),
    ],
    ...chargesOf(transaction, place),
    ...marksOf(transaction, place),
    references: [...refsOf(transaction), ...referencesIn(transaction, TRANSACTION_REFERENCES)],
  };
}

export function batchOf(batch: CamtElement, number: number, placeInEntry: CamtPlace): StatedBatch {
  const place = placeInEntry.in(`NtryDtls[${number}]/Btch`);
  const total = elementAt(batch, 'TtlAmt', place);
  return {
    batch: number,
    count: countAt(batch, 'NbOfTxs', place),
    total: total === null ? null : moneyOf(total, place.in('TtlAmt')),
    direction: directionAt(batch, 'CdtDbtInd', place),
    references: referencesIn(batch, BATCH_REFERENCES),
  };
}

function amountDetailsOf(part: CamtElement, place: CamtPlace): readonly RoledAmount[] {
  return PARTS_OF_AMOUNT.flatMap(([name, role]) =>
    elementsAt(part, `AmtDtls/${name}`).map((detail): RoledAmount => {
      const amountPlace = place.in(`AmtDtls/${name}/Amt`);
      const amount = elementAt(detail, 'Amt', amountPlace) ?? amountPlace.refuse('is missing');
      return { role, ...moneyOf(amount, amountPlace) };
    }),
  );
}

/**
 * The records of charges: each `Chrgs` itself in version 02, then each `Chrgs/Rcrd`. A total without records is a charge too.
 */
function chargesOf(part: CamtElement, placeOfPart: CamtPlace): Pick<StatementEntry, 'charges' | 'chargeTotals'> {
  const place = placeOfPart.in('Chrgs');
  const charges: Charge[] = [];
  const chargeTotals: Money[] = [];
  for (const of of elementsAt(part, 'Chrgs')) {
    const records = [...elementsAt(of, 'Rcrd'), ...(elementAt(of, 'Amt', place) === null ? [] : [of])];
    for (const record of records) charges.push(chargeOf(record, 'Amt', place));
    if (elementAt(of, 'TtlChrgsAndTaxAmt', place) === null) continue;
    const total = chargeOf(of, 'TtlChrgsAndTaxAmt', place);
    chargeTotals.push({ amountMinor: total.amountMinor, currency: total.currency });
    if (records.length === 0) charges.push(total);
  }
  return { charges, chargeTotals };
}

function chargeOf(record: CamtElement, amount: string, place: CamtPlace): Charge {
  return {
    ...moneyOf(elementAt(record, amount, place) ?? place.in(amount).refuse('is missing'), place.in(amount)),
    direction: directionAt(record, 'CdtDbtInd', place),
    included: indicatorAt(record, 'ChrgInclInd', place),
  };
}

function marksOf(part: CamtElement, place: CamtPlace): ReversalMarks {
  const domain = ['Cd', 'Fmly/Cd', 'Fmly/SubFmlyCd'].flatMap(
    (path) => hintAt(part, [`BkTxCd/Domn/${path}`], place) ?? [],
  );
  return {
    reversalIndicator: null,
    returnInformation: elementAt(part, 'RtrInf', place) !== null,
    returnReason: hintAt(part, ['RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry'], place),
    bankTransactionCode: domain.length === 0 ? null : domain.join('/'),
    proprietaryCode: hintAt(part, ['BkTxCd/Prtry/Cd'], place),
  };
}

/** Of `Refs`, every element, as each version has some more, by its name alone; of the bank's own, `Prtry/Ref`. */
function refsOf(part: CamtElement): readonly PlacedReference[] {
  return elementsAt(part, 'Refs').flatMap(({ children }) =>
    children.flatMap((child) =>
      child.name === 'Prtry'
        ? referencesIn({ ...child, children: [child] }, ['Prtry/Ref'])
        : placed(child.name, child.text),
    ),
  );
}

export function referencesIn(parent: CamtElement, paths: readonly string[]): readonly PlacedReference[] {
  return paths.flatMap((path) => elementsAt(parent, path).flatMap(({ text }) => placed(path, text)));
}

function placed(place: string, value: string): readonly PlacedReference[] {
  return value === '' || NO_REFERENCES.includes(value.toUpperCase()) ? [] : [{ place, value }];
}

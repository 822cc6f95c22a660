import { plainLine } from '../../../domain/common/texts/plain-line.ts';
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
} from '../../../domain/reconciliation/bank-statements.ts';
import {
  countAt,
  dateAt,
  decimalAt,
  directionAt,
  elementAt,
  elementsAt,
  hintAt,
  indicatorAt,
  instantOf,
  type MessageElement,
  MessageLocation,
  moneyOf,
  textAt,
} from './elements.ts';

/** The messages that tell an account's entries, and where they have a statement or notification: its entries are the same in both. */
export const ACCOUNT_REPORTS = {
  'camt.053': { message: { name: 'camt.053', versions: [2, 14] }, path: 'BkToCstmrStmt/Stmt' },
  'camt.054': { message: { name: 'camt.054', versions: [2, 14] }, path: 'BkToCstmrDbtCdtNtfctn/Ntfctn' },
} as const;

/** The values of ISO 20022 and SWIFT's MT940 for a mandatory reference that does not exist. */
const NO_REFERENCES = ['NOTPROVIDED', 'NONREF', 'NOTAVAILABLE'];
/** Leaves space in a message for the problem. */
const NAME_LENGTH_MAX = 100;
const PARTS_OF_AMOUNT: ReadonlyArray<readonly [path: string, role: AmountRole]> = [
  ['InstdAmt', 'instructed'],
  ['TxAmt', 'transaction'],
  ['CntrValAmt', 'counter-value'],
  ['AnncdPstngAmt', 'announced-posting'],
  ['PrtryAmt', 'proprietary'],
];
/** ISO 20022's external code set of entry statuses. */
const STATUSES = ['BOOK', 'PDNG', 'INFO', 'FUTR'];
const ENTRY_REFERENCES = ['NtryRef', 'AcctSvcrRef', 'AddtlInfInd/MsgId'];
const BATCH_REFERENCES = ['MsgId', 'PmtInfId'];
/** Where banks put a payment's reference, apart from `Refs`: the texts for the receiver. */
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

export function headerOf(statement: MessageElement, number: number): StatementHeader {
  const id = hintAt(statement, ['Id'], new MessageLocation(`Statement ${number} of the file`));
  const name = id === null ? '' : ` (${plainLine(id, NAME_LENGTH_MAX)})`;
  const location = new MessageLocation(`Statement ${number} of the file${name}`);
  const account = hintAt(statement, ['Acct/Id/IBAN', 'Acct/Id/Othr/Id'], location);
  return {
    item: 'statement',
    number,
    id,
    account: account?.replaceAll(/\s/g, '') ?? null,
    currency: hintAt(statement, ['Acct/Ccy'], location),
    period: {
      from: instantAt(statement, 'FrToDt/FrDtTm', location),
      to: instantAt(statement, 'FrToDt/ToDtTm', location),
    },
    balances: elementsAt(statement, 'Bal').map((balance, at) => balanceOf(balance, location.in(`Bal[${at + 1}]`))),
    summary: summaryOf(statement, location),
  };
}

function instantAt(parent: MessageElement, path: string, location: MessageLocation): Date | null {
  const text = textAt(parent, [path], location);
  return text === null ? null : instantOf(text, location.in(path));
}

function balanceOf(balance: MessageElement, location: MessageLocation): StatedBalance {
  const code = textAt(balance, ['Tp/CdOrPrtry/Cd', 'Tp/CdOrPrtry/Prtry'], location);
  return {
    code: code ?? location.in('Tp').reject('is missing'),
    ...moneyOf(elementAt(balance, 'Amt', location) ?? location.in('Amt').reject('is missing'), location.in('Amt')),
    direction: directionAt(balance, 'CdtDbtInd', location) ?? location.in('CdtDbtInd').reject('is missing'),
    date: dateAt(balance, 'Dt', location),
  };
}

function summaryOf(statement: MessageElement, location: MessageLocation): StatementHeader['summary'] {
  const total = (name: string): StatedTotal => ({
    count: countAt(statement, `TxsSummry/${name}/NbOfNtries`, location),
    sum: decimalAt(statement, `TxsSummry/${name}/Sum`, location),
  });
  // Next to the sum up to version 03, then in an element of its own.
  const [flat, own] = ['TxsSummry/TtlNtries', 'TxsSummry/TtlNtries/TtlNetNtry'];
  const net = decimalAt(statement, `${flat}/TtlNetNtryAmt`, location) ?? decimalAt(statement, `${own}/Amt`, location);
  const direction =
    directionAt(statement, `${flat}/CdtDbtInd`, location) ?? directionAt(statement, `${own}/CdtDbtInd`, location);
  return {
    all: { ...total('TtlNtries'), net, direction },
    credits: total('TtlCdtNtries'),
    debits: total('TtlDbtNtries'),
  };
}

/** The location by which messages name an entry. */
export function locationOfEntry(entry: MessageElement, number: number): MessageLocation {
  const reference = ENTRY_REFERENCES.flatMap((path) => elementsAt(entry, path)).find(({ text }) => text !== '');
  const name = reference === undefined ? '' : ` (reference ${plainLine(reference.text, NAME_LENGTH_MAX)})`;
  return new MessageLocation(`Entry ${number} of the file${name}`);
}

export function entryOf(
  entry: MessageElement,
  at: Pick<StatementEntry, 'number' | 'statement'>,
  location: MessageLocation,
): StatementEntry {
  const missing = (path: string) => location.in(path).reject('is missing');
  const amount = moneyOf(elementAt(entry, 'Amt', location) ?? missing('Amt'), location.in('Amt'));
  // Text up to version 06, then a choice of `Cd` and `Prtry`.
  const status = textAt(entry, ['Sts/Cd', 'Sts/Prtry', 'Sts'], location) ?? missing('Sts');
  // The status says whether money has moved: an unknown one must not be read as a no.
  if (!STATUSES.includes(status)) location.in('Sts').reject(`must be one of ${STATUSES.join(', ')} (is ${status})`);
  const booked = textAt(entry, ['BookgDt/Dt', 'BookgDt/DtTm'], location);
  if (booked === null && (status === 'BOOK' || elementAt(entry, 'BookgDt', location) !== null)) missing('BookgDt');
  dateAt(entry, 'ValDt', location);
  return {
    item: 'entry',
    ...at,
    ...amount,
    direction: directionAt(entry, 'CdtDbtInd', location) ?? missing('CdtDbtInd'),
    status,
    bookedAt: booked === null ? null : instantOf(booked, location.in('BookgDt')),
    amounts: [{ role: 'amount', ...amount }, ...amountDetailsOf(entry, location)],
    ...chargesOf(entry, location),
    ...marksOf(entry, location),
    reversalIndicator: indicatorAt(entry, 'RvslInd', location),
    references: referencesIn(entry, ENTRY_REFERENCES),
  };
}

export function transactionOf(
  transaction: MessageElement,
  at: Pick<StatementTransaction, 'entry' | 'number' | 'batch'>,
  entryLocation: MessageLocation,
): StatementTransaction {
  const location = entryLocation.in(`TxDtls[${at.number}]`);
  const amount = elementAt(transaction, 'Amt', location);
  return {
    item: 'transaction',
    ...at,
    direction: directionAt(transaction, 'CdtDbtInd', location),
    amounts: [
      ...(amount === null ? [] : [{ role: 'amount' as const, ...moneyOf(amount, location.in('Amt')) }]),
      ...amountDetailsOf(transaction, location),
    ],
    ...chargesOf(transaction, location),
    ...marksOf(transaction, location),
    references: [...refsOf(transaction), ...referencesIn(transaction, TRANSACTION_REFERENCES)],
  };
}

export function batchOf(batch: MessageElement, number: number, entryLocation: MessageLocation): StatedBatch {
  const location = entryLocation.in(`NtryDtls[${number}]/Btch`);
  const total = elementAt(batch, 'TtlAmt', location);
  return {
    batch: number,
    count: countAt(batch, 'NbOfTxs', location),
    total: total === null ? null : moneyOf(total, location.in('TtlAmt')),
    direction: directionAt(batch, 'CdtDbtInd', location),
    references: referencesIn(batch, BATCH_REFERENCES),
  };
}

function amountDetailsOf(part: MessageElement, location: MessageLocation): readonly RoledAmount[] {
  return PARTS_OF_AMOUNT.flatMap(([name, role]) =>
    elementsAt(part, `AmtDtls/${name}`).map((detail): RoledAmount => {
      const amountLocation = location.in(`AmtDtls/${name}/Amt`);
      const amount = elementAt(detail, 'Amt', amountLocation) ?? amountLocation.reject('is missing');
      return { role, ...moneyOf(amount, amountLocation) };
    }),
  );
}

/**
 * The records of charges: `Chrgs` itself in version 02, `Chrgs/Rcrd` since. A total without records counts as a charge.
 */
function chargesOf(
  part: MessageElement,
  partLocation: MessageLocation,
): Pick<StatementEntry, 'charges' | 'chargeTotals'> {
  const location = partLocation.in('Chrgs');
  const charges: Charge[] = [];
  const chargeTotals: Money[] = [];
  for (const of of elementsAt(part, 'Chrgs')) {
    const records = [...elementsAt(of, 'Rcrd'), ...(elementAt(of, 'Amt', location) === null ? [] : [of])];
    for (const record of records) charges.push(chargeOf(record, 'Amt', location));
    if (elementAt(of, 'TtlChrgsAndTaxAmt', location) === null) continue;
    const total = chargeOf(of, 'TtlChrgsAndTaxAmt', location);
    chargeTotals.push({ amountMinor: total.amountMinor, currency: total.currency });
    if (records.length === 0) charges.push(total);
  }
  return { charges, chargeTotals };
}

function chargeOf(record: MessageElement, amount: string, location: MessageLocation): Charge {
  return {
    ...moneyOf(elementAt(record, amount, location) ?? location.in(amount).reject('is missing'), location.in(amount)),
    direction: directionAt(record, 'CdtDbtInd', location),
    included: indicatorAt(record, 'ChrgInclInd', location),
  };
}

function marksOf(part: MessageElement, location: MessageLocation): ReversalMarks {
  const domain = ['Cd', 'Fmly/Cd', 'Fmly/SubFmlyCd'].flatMap(
    (path) => hintAt(part, [`BkTxCd/Domn/${path}`], location) ?? [],
  );
  return {
    reversalIndicator: null,
    returnInformation: elementAt(part, 'RtrInf', location) !== null,
    returnReason: hintAt(part, ['RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry'], location),
    bankTransactionCode: domain.length === 0 ? null : domain.join('/'),
    proprietaryCode: hintAt(part, ['BkTxCd/Prtry/Cd'], location),
  };
}

/** Every element of `Refs`, named by its own name, since each version adds some; of a bank's own references, `Prtry/Ref`. */
function refsOf(part: MessageElement): readonly PlacedReference[] {
  return elementsAt(part, 'Refs').flatMap(({ children }) =>
    children.flatMap((child) =>
      child.name === 'Prtry'
        ? referencesIn({ ...child, children: [child] }, ['Prtry/Ref'])
        : placed(child.name, child.text),
    ),
  );
}

export function referencesIn(parent: MessageElement, paths: readonly string[]): readonly PlacedReference[] {
  return paths.flatMap((path) => elementsAt(parent, path).flatMap(({ text }) => placed(path, text)));
}

function placed(place: string, value: string): readonly PlacedReference[] {
  return value === '' || NO_REFERENCES.includes(value.toUpperCase()) ? [] : [{ place, value }];
}

import type {
  ReversalMarks,
  RoledAmount,
  StatementEntry,
  StatementTransaction,
} from '../../domain/reconciliation/bank-statements.ts';
import { CamtProblem, readBankStatement } from './camt-053.ts';

/** An entry, or one transaction of an entry that books several, of a bank's camt.053 file. */
export interface CamtEntry {
  /** Its place in the file: no bank numbers entries in the same way. */
  readonly number: number;
  /** Whose statement it is on: an IBAN or the bank's own number, without spaces; null if the file does not say. */
  readonly account: string | null;
  /** The transaction's place in an entry that books several. */
  readonly transaction: number;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  /** In UTC; a date alone is its midnight. */
  readonly bookedAt: Date;
  /** Booked back, or a return of an earlier payment. */
  readonly isReversal: boolean;
  /** Every reference that may be known to us, the most telling first. */
  readonly references: readonly string[];
  readonly bankReference: string | null;
}

/** In the order in which they tell most: ours first, then the bank's. */
const REFERENCES = ['EndToEndId', 'InstrId', 'TxId', 'UETR', 'AcctSvcrRef', 'NtryRef'];

/** The booked entries of a file that move money, taken apart by their transactions. */
export async function* readCamt053(chunks: AsyncIterable<string>): AsyncGenerator<readonly CamtEntry[]> {
  let account: string | null = null;
  let entry: StatementEntry | null = null;
  let transactions: StatementTransaction[] = [];
  for await (const page of readBankStatement(chunks)) {
    const entries: CamtEntry[] = [];
    for (const item of page) {
      if (item.item === 'statement') account = item.account;
      else if (item.item === 'entry') [entry, transactions] = [item, []];
      else if (item.item === 'transaction') transactions.push(item);
      else if (item.item === 'entry-end' && entry !== null) {
        for (const booked of entriesOf(entry, transactions, account)) entries.push(booked);
      }
    }
    if (entries.length > 0) yield entries;
  }
}

function entriesOf(
  entry: StatementEntry,
  transactions: readonly StatementTransaction[],
  account: string | null,
): readonly CamtEntry[] {
  const { number, status, bookedAt } = entry;
  if (status !== 'BOOK' || bookedAt === null) return [];
  const several = transactions.length > 1;
  const parts = several ? transactions : [entry];
  return parts.flatMap((part, transaction): readonly CamtEntry[] => {
    const amount = amountOf(part.amounts);
    if (amount === null) {
      throw new CamtProblem(`Entry ${number} of the file cannot be read: a transaction of it has no amount.`);
    }
    if (amount.amountMinor === 0n) return [];
    const own = several ? part : (transactions[0] ?? entry);
    const references = [...own.references, ...(own === entry ? [] : entry.references)];
    const of = (place: string) => references.filter((reference) => reference.place === place).map(({ value }) => value);
    return [
      {
        number,
        account,
        transaction,
        direction: part.direction ?? entry.direction,
        amountMinor: amount.amountMinor,
        currency: amount.currency,
        bookedAt,
        isReversal: isReversal(entry) || isReversal(own),
        references: [...new Set(REFERENCES.flatMap(of))],
        bankReference: of('AcctSvcrRef')[0] ?? null,
      },
    ];
  });
}

function amountOf(amounts: readonly RoledAmount[]): RoledAmount | null {
  const of = (role: string) => amounts.find((amount) => amount.role === role);
  return of('amount') ?? of('transaction') ?? null;
}

function isReversal({ reversalIndicator, returnInformation }: ReversalMarks): boolean {
  return reversalIndicator === true || returnInformation;
}

import { SaxesParser, type SaxesTagNS } from 'saxes';
import { isCurrency, parseAmountMinor } from '../../domain/frame/money.ts';
import { isDate } from '../../domain/frame/time/dates.ts';

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

/** A file that is no camt.053, or not one that we can read. */
export class CamtProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CamtProblem';
  }
}

const NAMESPACES = ['urn:iso:std:iso:20022:tech:xsd:camt.053.001.02', 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'];
const STATEMENT = '/Document/BkToCstmrStmt/Stmt';
const ENTRY = `${STATEMENT}/Ntry`;
const PAGINATIONS = ['/Document/BkToCstmrStmt/GrpHdr/MsgPgntn', `${STATEMENT}/StmtPgntn`];
const DETAILS = `${ENTRY}/NtryDtls/TxDtls`;
/** Banks write far shorter ones; a longer text is no reference. */
const TEXT_LENGTH_MAX = 500;
const DEPTH_MAX = 40;

/** Amount, references and reversal, of an entry as a whole or of one of its transactions. */
interface Part {
  amount: { readonly currency: string; readonly digits: string } | null;
  direction: string | null;
  isReturn: boolean;
  readonly references: Map<string, string>;
}

interface Entry extends Part {
  status: string | null;
  reversal: string | null;
  bookedAt: string | null;
  readonly details: Part[];
}

/** In the order in which they tell most: ours first, then the bank's. */
const REFERENCES = ['EndToEndId', 'InstrId', 'TxId', 'UETR', 'AcctSvcrRef', 'NtryRef'] as const;
const NO_REFERENCE = 'NOTPROVIDED';

/**
 * Reads the booked entries of a file as a stream: memory holds one entry. The parser expands no entity of a document type
 * and fetches nothing. Throws `CamtProblem`.
 */
export async function* readCamt053(chunks: AsyncIterable<string>): AsyncGenerator<readonly CamtEntry[]> {
  const reader = new CamtReader();
  for await (const chunk of chunks) {
    reader.write(chunk);
    const entries = reader.take();
    if (entries.length > 0) yield entries;
  }
  reader.close();
  const entries = reader.take();
  if (entries.length > 0) yield entries;
}

class CamtReader {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #path: string[] = [];
  #text = '';
  #entry: Entry | null = null;
  #part: Part | null = null;
  #number = 0;
  #account: string | null = null;
  #entries: CamtEntry[] = [];

  constructor() {
    this.#parser.on('error', ({ message }) => {
      throw new CamtProblem(`The file is not well-formed XML: ${message}`);
    });
    this.#parser.on('doctype', () => {
      throw new CamtProblem('The file has a document type, which no camt.053 has.');
    });
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('text', (text) => {
      if (this.#text.length <= TEXT_LENGTH_MAX) this.#text += text;
    });
    this.#parser.on('closetag', () => this.#close());
  }

  write(chunk: string): void {
    this.#parser.write(chunk);
  }

  close(): void {
    this.#parser.close();
  }

  take(): readonly CamtEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  get #place(): string {
    return `/${this.#path.join('/')}`;
  }

  #open({ local, uri, attributes }: SaxesTagNS): void {
    if (this.#path.length === 0 && !NAMESPACES.includes(uri)) {
      throw new CamtProblem(`The file is no camt.053.001.02 or camt.053.001.08, but ${uri === '' ? local : uri}.`);
    }
    if (this.#path.length === DEPTH_MAX) throw new CamtProblem('The file is nested deeper than any camt.053.');
    this.#path.push(local);
    this.#text = '';
    const place = this.#place;
    if (place === STATEMENT) this.#account = null;
    if (place === ENTRY) {
      this.#number += 1;
      this.#entry = { ...emptyPart(), status: null, reversal: null, bookedAt: null, details: [] };
      this.#part = this.#entry;
    } else if (place === DETAILS && this.#entry !== null) {
      this.#part = emptyPart();
      this.#entry.details.push(this.#part);
    } else if (this.#part !== null) {
      if (local === 'RtrInf') this.#part.isReturn = true;
      const isAmount =
        place === `${ENTRY}/Amt` || place === `${DETAILS}/Amt` || place === `${DETAILS}/AmtDtls/TxAmt/Amt`;
      if (isAmount) this.#part.amount = { currency: attributes.Ccy?.value ?? '', digits: '' };
    }
  }

  #close(): void {
    const place = this.#place;
    const text = this.#text.trim();
    this.#path.pop();
    this.#text = '';
    if (PAGINATIONS.some((pages) => place === `${pages}/LastPgInd` || place === `${pages}/PgNb`)) requireOnlyPage(text);
    const isAccount = place === `${STATEMENT}/Acct/Id/IBAN` || place === `${STATEMENT}/Acct/Id/Othr/Id`;
    if (isAccount && text !== '') this.#account = text.replaceAll(/\s/g, '');
    if (this.#entry === null || this.#part === null) return;
    if (place === ENTRY) {
      this.#entries.push(...entriesOf(this.#entry, { number: this.#number, account: this.#account }));
      this.#entry = null;
      this.#part = null;
    } else if (place === DETAILS) this.#part = this.#entry;
    else if (text !== '') read(this.#entry, this.#part, place, text);
  }
}

/** `text` is the number of the page, or whether it is the last. What the other pages have would seem to be missing. */
function requireOnlyPage(text: string): void {
  if (text === 'true' || /^0*1$/.test(text)) return;
  throw new CamtProblem('The file is one page of several: join them into one file.');
}

function emptyPart(): Part {
  return { amount: null, direction: null, isReturn: false, references: new Map() };
}

function read(entry: Entry, part: Part, place: string, text: string): void {
  const name = place.slice(place.lastIndexOf('/') + 1);
  switch (place) {
    case `${ENTRY}/Amt`:
    case `${DETAILS}/Amt`:
    case `${DETAILS}/AmtDtls/TxAmt/Amt`:
      if (part.amount !== null) part.amount = { ...part.amount, digits: text };
      return;
    case `${ENTRY}/CdtDbtInd`:
    case `${DETAILS}/CdtDbtInd`:
      part.direction = text;
      return;
    // Text in version 02, a code in version 08.
    case `${ENTRY}/Sts`:
    case `${ENTRY}/Sts/Cd`:
      entry.status = text;
      return;
    case `${ENTRY}/RvslInd`:
      entry.reversal = text;
      return;
    case `${ENTRY}/BookgDt/Dt`:
    case `${ENTRY}/BookgDt/DtTm`:
      entry.bookedAt = text;
      return;
    case `${ENTRY}/NtryRef`:
    case `${ENTRY}/AcctSvcrRef`:
    case `${DETAILS}/Refs/${name}`:
      if (text !== NO_REFERENCE && text.length <= TEXT_LENGTH_MAX) part.references.set(name, text);
      return;
  }
}

/** One for each transaction that has its own amount, else one for the whole entry. Only what is booked and moves money counts. */
function entriesOf(entry: Entry, place: Pick<CamtEntry, 'number' | 'account'>): CamtEntry[] {
  const { number } = place;
  if (entry.status !== 'BOOK') return [];
  const bookedAt = instantOf(entry.bookedAt, number);
  const several = entry.details.length > 1;
  const parts: readonly Part[] = several ? entry.details : [entry];
  return parts.flatMap((part, transaction): CamtEntry[] => {
    const { currency, digits } =
      part.amount ?? problem(number, several ? 'a transaction of it has no amount' : 'it has no amount');
    if (!isCurrency(currency)) problem(number, 'its currency is none of ISO 4217');
    const amountMinor = parseAmountMinor(decimalOf(digits), currency, { positive: false });
    if (typeof amountMinor !== 'bigint') return problem(number, `its amount is not usable: ${amountMinor}`);
    if (amountMinor < 0n) return problem(number, 'its amount is below zero');
    // Banks inform by such entries, of a price of nothing for example.
    if (amountMinor === 0n) return [];
    const direction = part.direction ?? entry.direction;
    if (direction !== 'CRDT' && direction !== 'DBIT') return problem(number, 'it is neither CRDT nor DBIT');
    const own = several ? part : (entry.details[0] ?? entry);
    const booked: CamtEntry = {
      ...place,
      transaction,
      direction: direction === 'CRDT' ? 'credit' : 'debit',
      amountMinor,
      currency,
      bookedAt,
      isReversal: entry.reversal === 'true' || entry.reversal === '1' || own.isReturn || entry.isReturn,
      references: referencesOf([own, entry]),
      bankReference: own.references.get('AcctSvcrRef') ?? entry.references.get('AcctSvcrRef') ?? null,
    };
    return [booked];
  });
}

/** XML's decimals may begin with zeros, a point or a plus, which JSON's may not. */
function decimalOf(digits: string): string {
  const [whole = '', fraction] = digits.replace(/^\+/, '').split('.');
  const significant = whole.replace(/^0+(?=\d)/, '') || '0';
  return fraction === undefined || fraction === '' ? significant : `${significant}.${fraction}`;
}

function referencesOf(parts: readonly Part[]): string[] {
  const found = REFERENCES.flatMap((name) => parts.flatMap(({ references }) => references.get(name) ?? []));
  return [...new Set(found)];
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/** A time without a zone is taken for UTC. */
function instantOf(text: string | null, number: number): Date {
  const value = text ?? problem(number, 'it has no booking date');
  if (isDate(value.slice(0, 10)) && /^\d{4}-\d{2}-\d{2}(Z|[+-]\d{2}:\d{2})?$/.test(value)) {
    return new Date(`${value.slice(0, 10)}T00:00:00.000Z`);
  }
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(value) ? value : `${value}Z`;
  const instant = new Date(DATE_TIME.test(value) ? zoned : Number.NaN);
  return Number.isNaN(instant.getTime()) ? problem(number, 'its booking date is no date') : instant;
}

function problem(number: number, what: string): never {
  throw new CamtProblem(`Entry ${number} of the file cannot be read: ${what}.`);
}

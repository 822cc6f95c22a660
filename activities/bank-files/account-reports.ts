import { type AccountReport, type StatedDay, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { dateInUtc, type LocalDate } from '../../domain/common/time/dates.ts';
import type { StatementEntry, StatementHeader, StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { StatementFigures } from '../../domain/reconciliation/files/control-figures.ts';
import { coveredDays } from '../../domain/reconciliation/files/survey.ts';
import type { HeldElement, PartReader } from '../common/iso20022/document-reader.ts';
import { dateAt, type MessageElement, MessageLocation } from '../common/iso20022/elements.ts';
import { StatementItemBuilder } from '../common/iso20022/entry-item-builder.ts';
import { ACCOUNT_REPORTS, locationOfEntry } from '../common/iso20022/entry-items.ts';
import { movementsOf, type ReadEntry, type ReadTransaction } from './booked-entries.ts';
import { EntryKeys } from './entry-keys.ts';
import { headOf, requireHead, type StatedHead } from './message-parts.ts';
import { partiesOf } from './parties.ts';

/** Each takes some hashing. */
const MOVEMENTS_PER_PIECE = 500;

/** An entry while its transactions are read. */
interface OpenEntry {
  readonly location: MessageLocation;
  readonly dates: { readonly booked: LocalDate | null; readonly value: LocalDate | null };
  item: StatementEntry | null;
  readonly transactions: ReadTransaction[];
}

/** Reads a camt.053 or camt.054, by the items that the reconciliation compares. */
export class AccountReportReader implements PartReader {
  readonly #message: 'camt.053' | 'camt.054';
  readonly #version: string;
  readonly #items: StatementItemBuilder;
  readonly #paths: { readonly head: string; readonly entry: string; readonly batch: string };
  readonly #figures = new StatementFigures();
  readonly #entries = new EntryKeys();
  /** Entries that have ended, until `settle`. */
  #ended: ReadEntry[] = [];
  readonly #covered: StatedDay[] = [];
  #head: StatedHead | null = null;
  #statement: StatementHeader | null = null;
  #entry: OpenEntry | null = null;
  /** Of the entry that is read, from 1 in the file. */
  #number = 0;

  constructor(message: 'camt.053' | 'camt.054', version: string) {
    const { path } = ACCOUNT_REPORTS[message];
    this.#message = message;
    this.#version = version;
    this.#items = new StatementItemBuilder(path);
    const root = path.slice(0, path.indexOf('/'));
    this.#paths = { head: `${root}/GrpHdr`, entry: `${path}/Ntry`, batch: `${path}/Ntry/NtryDtls` };
  }

  begin(path: string, parent: HeldElement): boolean {
    if (path === this.#paths.head) return true;
    if (path === this.#paths.entry) this.#number += 1;
    // The builder empties the entry when its transactions begin.
    if (path === this.#paths.batch) this.#beginEntry(parent);
    const isPart = this.#items.begin(path, parent);
    this.#take(null);
    return isPart;
  }

  end(path: string, element: HeldElement): void {
    if (path === this.#paths.head) {
      this.#head = headOf(element, 'MsgId');
      return;
    }
    if (path === this.#paths.entry) this.#beginEntry(element);
    this.#items.end(path, element);
    this.#take(element);
  }

  *settle(): Generator<void> {
    const ended = this.#ended;
    this.#ended = [];
    for (const entry of ended) {
      for (const movement of movementsOf(entry)) {
        this.#entries.add(movement);
        if (this.#entries.size % MOVEMENTS_PER_PIECE === 0) yield;
      }
    }
  }

  finish(): AccountReport {
    const head = requireHead(this.#head, 'GrpHdr');
    if (this.#items.statements === 0) {
      throw new UnreadableMessage(
        `The message cannot be read: it has no ${this.#message === 'camt.053' ? 'Stmt' : 'Ntfctn'}.`,
      );
    }
    // An entry that is not booked may have no date of its own.
    const createdOn = head.createdAt === null ? null : dateInUtc(head.createdAt);
    const entries = this.#entries.keyed(createdOn);
    const report = { message: this.#message, version: this.#version, ...head, entries };
    return this.#message === 'camt.053' ? { ...report, covered: this.#covered } : report;
  }

  #beginEntry(element: MessageElement): void {
    if (this.#entry !== null) return;
    const location = locationOfEntry(element, this.#number);
    const dates = { booked: dateAt(element, 'BookgDt', location), value: dateAt(element, 'ValDt', location) };
    this.#entry = { location, dates, item: null, transactions: [] };
  }

  /** Takes what the builder has made; `element` is the one that has just ended. */
  #take(element: MessageElement | null): void {
    if (!this.#items.hasItems) return;
    for (const item of this.#items.take()) this.#add(item, element);
  }

  #add(item: StatementItem, element: MessageElement | null): void {
    switch (item.item) {
      case 'statement':
        this.#statement = item;
        this.#figures.begin(item);
        break;
      case 'entry':
        this.#figures.add(item);
        if (this.#entry !== null) this.#entry.item = item;
        break;
      case 'transaction':
        if (element === null) throw new Error('a transaction without its element');
        this.#entry?.transactions.push({ ...item, parties: partiesOf(element) });
        break;
      case 'entry-end': {
        const entry = this.#entry;
        this.#entry = null;
        if (entry?.item == null) throw new Error('the end of an entry that did not begin');
        this.#ended.push({ ...entry, item: entry.item, end: item, account: this.#account() });
        break;
      }
      case 'statement-end':
        this.#endStatement();
    }
  }

  /** Without the account, it is open whose money has moved. */
  #account(): string {
    const { account = null, number = 1 } = this.#statement ?? {};
    return account ?? new MessageLocation(`Statement ${number} of the file`).in('Acct/Id').reject('is missing');
  }

  #endStatement(): void {
    const { currency, mismatches, opening: openingMinor, closing: closingMinor } = this.#figures.end();
    const [mismatch] = mismatches;
    if (currency !== null && this.#statement?.account != null) {
      const { account } = this.#statement;
      this.#covered.push(
        ...coveredDays(this.#statement).map((day) => ({ account, currency, day, openingMinor, closingMinor })),
      );
    }
    if (mismatch === undefined) return;
    // An entry that is wrong by itself says more.
    for (const _piece of this.settle());
    const location = new MessageLocation(`Statement ${this.#items.statements} of the file`);
    const element = mismatch.kind === 'statement-summary-differs' ? 'TxsSummry' : 'Bal';
    location.in(element).reject(`contradicts the entries (${mismatch.reference})`);
  }
}

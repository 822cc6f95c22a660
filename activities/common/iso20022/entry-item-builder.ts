import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import type { StatedBatch, StatementItem } from '../../../domain/reconciliation/bank-statements.ts';
import type { HeldElement, PartReader } from './document-reader.ts';
import { elementAt, type MessageLocation } from './elements.ts';
import { batchOf, entryOf, headerOf, locationOfEntry, referencesIn, transactionOf } from './entry-items.ts';

const BATCHES_MAX = 100_000;
/** What follows the entries of a statement, or of a notification. */
const LAST_OF_STATEMENT = ['AddtlStmtInf', 'AddtlNtfctnInf'];

interface OpenStatement {
  readonly number: number;
  entries: number;
  isEmitted: boolean;
}

interface OpenEntry {
  readonly number: number;
  /** Null until the item is emitted: only then has everything been read that may name it. */
  location: MessageLocation | null;
  batch: number;
  transactions: number;
  readonly batches: StatedBatch[];
}

/** Builds items from the elements of a document as they begin and end, so that no element is kept after its item. */
export class StatementItemBuilder implements PartReader {
  /** Where the message has its statements (or notifications), entries, batches and transactions. */
  readonly #paths: {
    readonly statement: string;
    readonly entry: string;
    readonly batch: string;
    readonly transaction: string;
  };
  #statement: OpenStatement = { number: 0, entries: 0, isEmitted: false };
  #entry: OpenEntry = { number: 0, location: null, batch: 0, transactions: 0, batches: [] };
  #items: StatementItem[] = [];

  constructor(statement: string) {
    const entry = `${statement}/Ntry`;
    const batch = `${entry}/NtryDtls`;
    this.#paths = { statement, entry, batch, transaction: `${batch}/TxDtls` };
  }

  get hasItems(): boolean {
    return this.#items.length > 0;
  }

  get statements(): number {
    return this.#statement.number;
  }

  take(): readonly StatementItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** Whether the element becomes an item of its own, and is therefore not kept in its parent. */
  begin(path: string, parent: HeldElement): boolean {
    switch (path) {
      case this.#paths.statement:
        this.#statement = { number: this.#statement.number + 1, entries: 0, isEmitted: false };
        return true;
      case this.#paths.entry:
        this.#emitStatement(parent);
        this.#statement.entries += 1;
        this.#entry = { number: this.#entry.number + 1, location: null, batch: 0, transactions: 0, batches: [] };
        return true;
      case this.#paths.batch:
        this.#emitEntry(parent);
        this.#entry.batch += 1;
        return true;
      case this.#paths.transaction:
        return true;
    }
    this.#requireOrder(path);
    return false;
  }

  /** An emitted item is final: by the schema, everything that belongs to it comes before. */
  #requireOrder(path: string): void {
    const [of, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    if (of === this.#paths.statement && this.#statement.isEmitted && !LAST_OF_STATEMENT.includes(name)) {
      throw new UnreadableMessage(
        `Statement ${this.#statement.number} of the file cannot be read: ${name} follows the entries.`,
      );
    }
    if (of === this.#paths.entry && name !== 'AddtlNtryInf')
      this.#entry.location?.in(name).reject('follows the transactions');
  }

  end(path: string, element: HeldElement): void {
    if (path === this.#paths.statement) {
      this.#emitStatement(element);
      const { number, entries } = this.#statement;
      this.#items.push({ item: 'statement-end', statement: number, entries });
    } else if (path === this.#paths.entry) {
      const location = this.#emitEntry(element);
      elementAt(element, 'AddtlNtryInf', location);
      const { number, transactions, batches } = this.#entry;
      const references = referencesIn(element, ['AddtlNtryInf']);
      this.#items.push({ item: 'entry-end', entry: number, transactions, batches, references });
    } else if (path === this.#paths.batch) this.#endBatch(element);
    else if (path === this.#paths.transaction) this.#emitTransaction(element);
  }

  #emitStatement(element: HeldElement): void {
    if (this.#statement.isEmitted) return;
    this.#statement.isEmitted = true;
    this.#items.push(headerOf(element, this.#statement.number));
    element.children.length = 0;
  }

  /** Keeps the additional information, which follows the transactions, in the element. */
  #emitEntry(element: HeldElement): MessageLocation {
    if (this.#entry.location !== null) return this.#entry.location;
    const { number } = this.#entry;
    const location = locationOfEntry(element, number);
    this.#entry.location = location;
    this.#items.push(entryOf(element, { number, statement: this.#statement.number }, location));
    const after = element.children.filter(({ name }) => name === 'AddtlNtryInf');
    element.children.splice(0, Number.POSITIVE_INFINITY, ...after);
    return location;
  }

  #endBatch(element: HeldElement): void {
    const { batch, batches, location } = this.#entry;
    if (location === null) throw new Error('a batch outside of an entry');
    const stated = elementAt(element, 'Btch', location.in(`NtryDtls[${batch}]`));
    if (stated === null) return;
    if (batches.length === BATCHES_MAX) location.reject('has more batches than any bank’s message');
    batches.push(batchOf(stated, batch, location));
  }

  #emitTransaction(element: HeldElement): void {
    const { number: entry, batch, location } = this.#entry;
    if (location === null) throw new Error('a transaction outside of an entry');
    this.#entry.transactions += 1;
    const at = { entry, number: this.#entry.transactions, batch };
    this.#items.push(transactionOf(element, at, location));
  }
}

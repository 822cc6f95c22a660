import type { StatedBatch, StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { type CamtElement, type CamtPlace, CamtProblem, elementAt } from './camt-elements.ts';
import { batchOf, entryOf, headerOf, placeOfEntry, referencesIn, transactionOf } from './camt-items.ts';

export const STATEMENT = 'BkToCstmrStmt/Stmt';
const ENTRY = `${STATEMENT}/Ntry`;
const BATCH = `${ENTRY}/NtryDtls`;
const TRANSACTION = `${BATCH}/TxDtls`;
const BATCHES_MAX = 100_000;

/** An element with what it holds so far. */
type Held = CamtElement & { readonly children: CamtElement[] };

interface OpenStatement {
  readonly number: number;
  entries: number;
  isTold: boolean;
}

interface OpenEntry {
  readonly number: number;
  /** Null until the item is given out: only then has everything been read that may name it. */
  place: CamtPlace | null;
  batch: number;
  transactions: number;
  readonly batches: StatedBatch[];
}

/** Makes items of the elements of a document as they begin and end, so that no element is needed after its own item. */
export class ItemsInTurn {
  #statement: OpenStatement = { number: 0, entries: 0, isTold: false };
  #entry: OpenEntry = { number: 0, place: null, batch: 0, transactions: 0, batches: [] };
  #items: StatementItem[] = [];

  get statements(): number {
    return this.#statement.number;
  }

  take(): readonly StatementItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** Whether the element becomes an item of its own, and so is not to be kept in its parent. */
  begin(path: string, parent: Held): boolean {
    switch (path) {
      case STATEMENT:
        this.#statement = { number: this.#statement.number + 1, entries: 0, isTold: false };
        return true;
      case ENTRY:
        this.#tellStatement(parent);
        this.#statement.entries += 1;
        this.#entry = { number: this.#entry.number + 1, place: null, batch: 0, transactions: 0, batches: [] };
        return true;
      case BATCH:
        this.#tellEntry(parent);
        this.#entry.batch += 1;
        return true;
      case TRANSACTION:
        return true;
    }
    this.#requireOrder(path);
    return false;
  }

  /** An item that was given out is final: by the schema, what belongs to it comes before. */
  #requireOrder(path: string): void {
    const [of, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    if (of === STATEMENT && this.#statement.isTold && name !== 'AddtlStmtInf') {
      throw new CamtProblem(
        `Statement ${this.#statement.number} of the file cannot be read: ${name} follows the entries.`,
      );
    }
    if (of === ENTRY && name !== 'AddtlNtryInf') this.#entry.place?.in(name).refuse('follows the transactions');
  }

  end(path: string, element: Held): void {
    if (path === STATEMENT) {
      this.#tellStatement(element);
      const { number, entries } = this.#statement;
      this.#items.push({ item: 'statement-end', statement: number, entries });
    } else if (path === ENTRY) {
      const place = this.#tellEntry(element);
      elementAt(element, 'AddtlNtryInf', place);
      const { number, transactions, batches } = this.#entry;
      const references = referencesIn(element, ['AddtlNtryInf']);
      this.#items.push({ item: 'entry-end', entry: number, transactions, batches, references });
    } else if (path === BATCH) this.#endBatch(element);
    else if (path === TRANSACTION) this.#tellTransaction(element);
  }

  #tellStatement(element: Held): void {
    if (this.#statement.isTold) return;
    this.#statement.isTold = true;
    this.#items.push(headerOf(element, this.#statement.number));
    element.children.length = 0;
  }

  /** What stands after its transactions is left in the element. */
  #tellEntry(element: Held): CamtPlace {
    if (this.#entry.place !== null) return this.#entry.place;
    const { number } = this.#entry;
    const place = placeOfEntry(element, number);
    this.#entry.place = place;
    this.#items.push(entryOf(element, { number, statement: this.#statement.number }, place));
    const after = element.children.filter(({ name }) => name === 'AddtlNtryInf');
    element.children.splice(0, Number.POSITIVE_INFINITY, ...after);
    return place;
  }

  #endBatch(element: Held): void {
    const { batch, batches, place } = this.#entry;
    if (place === null) throw new Error('a batch outside of an entry');
    const stated = elementAt(element, 'Btch', place.in(`NtryDtls[${batch}]`));
    if (stated === null) return;
    if (batches.length === BATCHES_MAX) place.refuse('has more batches than any camt.053');
    batches.push(batchOf(stated, batch, place));
  }

  #tellTransaction(element: Held): void {
    const { number: entry, batch, place } = this.#entry;
    if (place === null) throw new Error('a transaction outside of an entry');
    this.#entry.transactions += 1;
    const at = { entry, number: this.#entry.transactions, batch };
    this.#items.push(transactionOf(element, at, place));
  }
}

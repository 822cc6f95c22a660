import { isUuid } from '../../domain/common/ids.ts';
import { silenced } from '../postgres/readers.ts';
import type { Transaction } from '../query/database.ts';
import {
  changesRows,
  childrenStatement,
  type ListStatement,
  lookUpStatement,
  type RowLock,
  readStatement,
} from '../query/list-statements.ts';
import type { Children, LookUp, Query } from '../query/queries.ts';
import { NeedsTransaction, RowSet } from '../query/row-set.ts';

type Ask = <Item, Result>(statement: ListStatement<Item, Result>, item: Item) => Promise<Result>;

/**
 * The `tx` of a write that one statement is to do: it reads without locks and keeps what is sent. A lock becomes a guard: the
 * row must be the same when the set is written.
 */
export class OptimisticTransaction implements Transaction {
  readonly inTransaction = true;
  readonly traceparent: string | undefined;
  readonly rows = new RowSet();
  readonly #ask: Ask;
  #hasWoken = false;
  #writes = false;
  #hasEnded = false;
  #reason: NeedsTransaction | null = null;

  constructor(ask: Ask, traceparent: string | undefined) {
    this.#ask = ask;
    this.traceparent = traceparent;
  }

  get hasWoken(): boolean {
    return this.#hasWoken;
  }

  /** Why only a transaction can do it; null if it has done nothing of the kind. */
  get needsTransaction(): NeedsTransaction | null {
    return this.#reason;
  }

  end(): void {
    this.#hasEnded = true;
  }

  noteWakeup(): void {
    this.#hasWoken = true;
  }

  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]> {
    if (changesRows(statement)) return this.#rejected(`waits for what it writes: ${statement.text}`);
    return silenced(Promise.all(items.map((item) => this.#read(statement, item))));
  }

  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void {
    const { handOver } = statement;
    if (handOver === undefined) {
      this.#note(`sends what is no part of a set of rows: ${statement.text}`);
      return;
    }
    if (this.#hasEnded) throw new Error('a row was handed over after its write had ended');
    this.#writes = true;
    try {
      for (const item of items) handOver(item, this.rows);
    } catch (error) {
      if (!(error instanceof NeedsTransaction)) throw error;
      this.#reason ??= error;
    }
  }

  lock<Row extends object>(lock: RowLock<Row>, id: string): Promise<Row | null> {
    return silenced(this.lockEach(lock, [id]).then(([row]) => row ?? null));
  }

  lockEach<Row extends object>(
    { optimistic, waiting }: RowLock<Row>,
    ids: readonly string[],
  ): Promise<readonly (Row | null)[]> {
    if (optimistic === undefined) return this.#rejected(`locks what has no version: ${waiting.text}`);
    const locked = this.each(optimistic.reading, ids).then((found) =>
      found.map((read, index) => {
        const id = ids[index];
        if (read === null || id === undefined) return null;
        const { row, version } = read;
        this.rows.guard({ id, kind: optimistic.kind, version, row });
        return row;
      }),
    );
    return silenced(locked);
  }

  find<Row extends { readonly id: string }>(lookUp: LookUp<Row>, id: string): Promise<Row | null> {
    return isUuid(id) ? this.#read(lookUpStatement(lookUp), id) : Promise.resolve(null);
  }

  findChildren<Row>(children: Children<Row>, parentId: string): Promise<readonly Row[]> {
    return isUuid(parentId) ? this.#read(childrenStatement(children), parentId) : Promise.resolve([]);
  }

  run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]> {
    if (query.does === 'change') return this.#rejected(`sends what may lock rows or changes them: ${query.text}`);
    let params: readonly unknown[];
    try {
      params = query.paramsOf(values);
    } catch (error) {
      return silenced(Promise.reject(error));
    }
    return silenced(this.#read(readStatement(query), params).then((rows) => [...rows]));
  }

  first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null> {
    return silenced(this.run(query, values).then(([row]) => row ?? null));
  }

  execute(): Promise<never> {
    return this.#rejected('sends a template');
  }

  statement(text: string): Promise<never> {
    return this.#rejected(`sends a text: ${text}`);
  }

  #read<Item, Result>(statement: ListStatement<Item, Result>, item: Item): Promise<Result> {
    if (this.#writes) return this.#rejected(`reads after it has handed over rows: ${statement.text}`);
    return silenced(this.#ask(statement, item));
  }

  #note(reason: string): NeedsTransaction {
    this.#reason ??= new NeedsTransaction(reason);
    return this.#reason;
  }

  #rejected(reason: string): Promise<never> {
    return silenced(Promise.reject(this.#note(reason)));
  }
}

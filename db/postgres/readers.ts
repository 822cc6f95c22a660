import { getTableName, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Reader, Transaction } from '../query/database.ts';
import { coversParts } from '../query/guards.ts';
import { changesRows, type ListStatement, type RowLock, rowKey, type TableWithId } from '../query/list-statements.ts';
import type { Children, LookUp, Query } from '../query/queries.ts';
import { updateOf } from '../query/row-statements.ts';
import type { Connection } from './connection.ts';
import { sqlState } from './failures.ts';

/** The answer of Postgres to every statement after a failed one. */
const TRANSACTION_FAILED_BEFORE = '25P02';

export type Run = <Row>(text: string, params: readonly unknown[]) => Promise<Row[]>;
export type Params = () => readonly unknown[];
type RunArrays = (text: string, params: Params) => Promise<unknown[][]>;

const dialect = new PgDialect();

/** Prepared queries, drizzle's `sql` templates and plain text, over any function that executes a statement. */
export class StatementReader implements Reader {
  readonly #run: Run;
  readonly #runArrays: RunArrays;

  constructor(run: Run, runArrays: RunArrays) {
    this.#run = run;
    this.#runArrays = runArrays;
  }

  async run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]> {
    return query.rowsOf(await this.#runArrays(query.text, () => query.paramsOf(values)));
  }

  async first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null> {
    const [row] = await this.run(query, values);
    return row ?? null;
  }

  find<Row extends { readonly id: string }>(lookUp: LookUp<Row>, id: string): Promise<Row | null> {
    return this.first(lookUp, { ids: [id] });
  }

  findChildren<Row>({ query }: Children<Row>, parentId: string): Promise<readonly Row[]> {
    return this.run(query, { ids: [parentId] });
  }

  execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]> {
    const { sql: text, params } = dialect.sqlToQuery(query);
    return this.#run<Row>(text, params);
  }

  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]> {
    return this.#run<Row>(text, params);
  }
}

/** Code that sends several statements at once may await only the first failure; the others must not end the process. */
export function silenced<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Values that cannot be sent are a failure of the statement. */
function attempt<Value>(start: () => Promise<Value>): Promise<Value> {
  try {
    return start();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The `tx` of a transaction: statements on its connection, rejected once it has ended. */
export class TransactionReader extends StatementReader implements Transaction {
  readonly inTransaction = true;
  readonly traceparent: string | undefined;
  readonly #runList: RunArrays;
  readonly #state: { ended: boolean; firstFailure: unknown };
  /** Rows that it has locked with their parts, and not changed yet. */
  readonly #locked = new Map<string, { readonly table: TableWithId; readonly id: string }>();
  #mayHaveWritten = false;
  #hasWoken = false;

  constructor(connection: Connection, traceparent: string | undefined) {
    const state = { ended: false, firstFailure: undefined as unknown };
    const send = <Value>(start: () => Promise<Value>): Promise<Value> => {
      if (state.ended) return Promise.reject(new Error('a statement was sent after its transaction had ended'));
      const answer = attempt(start).catch((error: unknown) => {
        state.firstFailure ??= error;
        throw sqlState(error) === TRANSACTION_FAILED_BEFORE ? state.firstFailure : error;
      });
      return silenced(answer);
    };
    const runList: RunArrays = (text, params) => send(() => connection.runArrays(text, params()));
    super((text, params) => send(() => connection.run(text, params)), runList);
    this.traceparent = traceparent;
    this.#state = state;
    this.#runList = runList;
  }

  override run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]> {
    this.#mayHaveWritten ||= query.does === 'change';
    return silenced(super.run(query, values));
  }

  override execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]> {
    this.#mayHaveWritten = true;
    return super.execute<Row>(query);
  }

  override statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]> {
    this.#mayHaveWritten = true;
    return super.statement<Row>(text, params);
  }

  override first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null> {
    return silenced(super.first(query, values));
  }

  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]> {
    if (items.length === 0) return Promise.resolve([]);
    if (changesRows(statement)) {
      this.#mayHaveWritten = true;
      for (const item of items) this.#locked.delete(statement.changes?.(item) ?? '');
    }
    const answer = this.#runList(statement.text, () => statement.paramsOf(items));
    return silenced(answer.then((rows) => statement.resultsOf(rows, items)));
  }

  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void {
    this.each(statement, items);
  }

  lock<Row>(lock: RowLock<Row>, id: string): Promise<Row | null> {
    return silenced(this.lockEach(lock, [id]).then(([row]) => row ?? null));
  }

  lockEach<Row>({ waiting, optimistic }: RowLock<Row>, ids: readonly string[]): Promise<readonly (Row | null)[]> {
    const kind = optimistic?.kind;
    if (kind !== undefined && coversParts(kind)) {
      for (const id of ids) this.#locked.set(rowKey(getTableName(kind.table), id), { table: kind.table, id });
    }
    return this.each(waiting, ids);
  }

  /** Before the commit: writes the rows that it has locked with their parts, so that they have another version (`lockIn`). */
  leaveVersions(): void {
    if (!this.#mayHaveWritten) return;
    for (const { table, id } of this.#locked.values()) this.sendEach(updateOf(table, [], 'silently'), [{ id }]);
  }

  /** The error of the first failed statement; undefined if none failed. */
  get firstFailure(): unknown {
    return this.#state.firstFailure;
  }

  get hasEnded(): boolean {
    return this.#state.ended;
  }

  get hasWoken(): boolean {
    return this.#hasWoken;
  }

  noteWakeup(): void {
    this.#hasWoken = true;
  }

  end(): void {
    this.#state.ended = true;
  }
}

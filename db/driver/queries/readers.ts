import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { isUuid } from '../../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../client.ts';
import type { Connection } from '../connection.ts';
import { type CallLimits, limitsOf } from '../deadlines.ts';
import { sqlState } from '../failures.ts';
import { Batcher } from '../sharing/batcher.ts';
import { childrenStatement, type ListStatement, lookUpStatement, type RowLock } from './list-statements.ts';
import type { Children, LookUp, Query } from './queries.ts';

/** The answer of Postgres to every statement after a failed one. */
const TRANSACTION_FAILED_BEFORE = '25P02';

type Run = <Row>(text: string, params: readonly unknown[]) => Promise<Row[]>;
type Params = () => readonly unknown[];
type RunArrays = (text: string, params: Params) => Promise<unknown[][]>;
type RunArraysWithin = (text: string, params: Params, limits: CallLimits) => Promise<unknown[][]>;

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

const LOOK_UPS_AT_ONCE = 2;

/** For use outside of transactions: concurrent look-ups share a statement. */
export class BatchingReader extends StatementReader {
  readonly #lookUps = new Map<unknown, unknown>();
  readonly #runWithin: RunArraysWithin;
  readonly #deadlineMs: number;

  constructor(run: Run, runWithin: RunArraysWithin, deadlineMs: number) {
    super(run, (text, params) => runWithin(text, params, limitsOf(deadlineMs)));
    this.#runWithin = runWithin;
    this.#deadlineMs = deadlineMs;
  }

  override async find<Row extends { readonly id: string }>(lookUp: LookUp<Row>, id: string): Promise<Row | null> {
    // It matches no row, and its bad syntax would fail the other look-ups of the statement.
    return isUuid(id) ? this.#batcherOf(lookUpStatement(lookUp)).call(id, limitsOf(this.#deadlineMs)) : null;
  }

  override async findChildren<Row>(children: Children<Row>, parentId: string): Promise<readonly Row[]> {
    if (!isUuid(parentId)) return [];
    return this.#batcherOf(childrenStatement(children)).call(parentId, limitsOf(this.#deadlineMs));
  }

  #batcherOf<Result>(statement: ListStatement<string, Result>): Batcher<string, Result> {
    const known = this.#lookUps.get(statement);
    // Each statement has the batcher made for it below.
    if (known !== undefined) return known as Batcher<string, Result>;
    const lookUpAll = async (ids: readonly string[], limits: CallLimits): Promise<readonly Result[]> =>
      statement.resultsOf(await this.#runWithin(statement.text, () => statement.paramsOf(ids), limits), ids);
    const batcher = new Batcher(lookUpAll, undefined, LOOK_UPS_AT_ONCE);
    this.#lookUps.set(statement, batcher);
    return batcher;
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

/** The `tx` of a transaction: statements on its connection, refused once it has ended. */
export class TransactionReader extends StatementReader implements Transaction {
  readonly inTransaction = true;
  readonly isShared = false;
  readonly #runList: RunArrays;
  readonly #state: { ended: boolean; firstFailure: unknown };
  #hasWoken = false;

  constructor(connection: Connection) {
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
    this.#state = state;
    this.#runList = runList;
  }

  override run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]> {
    return silenced(super.run(query, values));
  }

  override first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null> {
    return silenced(super.first(query, values));
  }

  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]> {
    if (items.length === 0) return Promise.resolve([]);
    const answer = this.#runList(statement.text, () => statement.paramsOf(items));
    return silenced(answer.then((rows) => statement.resultsOf(rows, items)));
  }

  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void {
    this.each(statement, items);
  }

  lock<Row>(lock: RowLock<Row>, id: string): Promise<Row | null> {
    return silenced(this.lockEach(lock, [id]).then(([row]) => row ?? null));
  }

  lockEach<Row>({ waiting }: RowLock<Row>, ids: readonly string[]): Promise<readonly (Row | null)[]> {
    return this.each(waiting, ids);
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

import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { isUuid } from '../../../domain/frame/ids.ts';
import { Batcher } from '../batcher.ts';
import type { Reader, Transaction } from '../client.ts';
import type { Connection } from '../connection.ts';
import { type CallLimits, limitsOf } from '../deadlines.ts';
import { sqlState } from '../failures.ts';
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
    const [row] = await this.#lookUp(lookUp, ({ id: own }) => own, id);
    return row ?? null;
  }

  override findChildren<Row>({ query, parentOf }: Children<Row>, parentId: string): Promise<readonly Row[]> {
    return this.#lookUp(query, parentOf, parentId);
  }

  async #lookUp<Row>(
    query: Query<{ readonly ids: readonly string[] }, Row>,
    keyOf: (row: Row) => string,
    id: string,
  ): Promise<readonly Row[]> {
    // It matches no row, and its bad syntax would fail the other look-ups of the statement.
    if (!isUuid(id)) return [];
    return this.#batcherOf(query, keyOf).call(id, limitsOf(this.#deadlineMs));
  }

  #batcherOf<Row>(
    query: Query<{ readonly ids: readonly string[] }, Row>,
    keyOf: (row: Row) => string,
  ): Batcher<string, readonly Row[]> {
    const known = this.#lookUps.get(query);
    // Each query has the batcher made for it below.
    if (known !== undefined) return known as Batcher<string, readonly Row[]>;
    const lookUpAll = async (ids: readonly string[], limits: CallLimits): Promise<(readonly Row[])[]> => {
      const params = () => query.paramsOf({ ids: [...new Set(ids)] });
      const found = new Map<string, Row[]>();
      for (const row of query.rowsOf(await this.#runWithin(query.text, params, limits))) {
        const key = keyOf(row);
        const rows = found.get(key);
        if (rows === undefined) found.set(key, [row]);
        else rows.push(row);
      }
      return ids.map((wanted) => found.get(wanted) ?? []);
    };
    const batcher = new Batcher(lookUpAll, undefined, LOOK_UPS_AT_ONCE);
    this.#lookUps.set(query, batcher);
    return batcher;
  }
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
      // Code that sends several at once may await only the first failure; the others must not end the process.
      answer.catch(() => {});
      return answer;
    };
    super(
      (text, params) => send(() => connection.run(text, params)),
      (text, params) => send(() => connection.runArrays(text, params())),
    );
    this.#state = state;
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

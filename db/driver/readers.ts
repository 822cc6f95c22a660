import { DrizzleQueryError, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import { isUuid } from '../../domain/frame/ids.ts';
import { Batcher } from './batcher.ts';
import type { Reader, Transaction } from './client.ts';
import type { Connection } from './connection.ts';
import { type CallLimits, limitsOf } from './deadlines.ts';
import { sqlState } from './failures.ts';

/** The answer of Postgres to every statement after a failed one. */
const TRANSACTION_FAILED_BEFORE = '25P02';

type Run = <Row>(text: string, params: readonly unknown[]) => Promise<Row[]>;
type RunWithin = <Row>(text: string, params: readonly unknown[], limits: CallLimits) => Promise<Row[]>;
type RunArrays = (text: string, params: readonly unknown[]) => Promise<unknown[][]>;

const dialect = new PgDialect();

/** Drizzle's two query interfaces and plain text, over any function that executes a statement. */
export class StatementReader implements Reader {
  readonly #run: Run;
  readonly #runArrays: RunArrays;
  #drizzle: PgRemoteDatabase | null = null;

  constructor(run: Run, runArrays: RunArrays) {
    this.#run = run;
    this.#runArrays = runArrays;
  }

  execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]> {
    const { sql: text, params } = dialect.sqlToQuery(query);
    return this.#run<Row>(text, params);
  }

  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]> {
    return this.#run<Row>(text, params);
  }

  async find<Row extends { readonly id: string }>(text: string, id: string): Promise<Row | null> {
    const [row] = await this.#run<Row>(text, [[id]]);
    return row ?? null;
  }

  get drizzle(): PgRemoteDatabase {
    this.#drizzle ??= withPlainErrors(
      drizzle(async (text, params, method) => ({
        rows: method === 'all' ? await this.#runArrays(text, params) : await this.#run(text, params),
      })),
    );
    return this.#drizzle;
  }
}

/**
 * Unwraps drizzle's errors. Its wrapper puts every parameter, perhaps a person's name, into the message, and hides deadlocks
 * and key violations from the code that handles them.
 */
function withPlainErrors(database: PgRemoteDatabase): PgRemoteDatabase {
  const { session } = database._;
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...query) => {
    const prepared = prepare(...query);
    const execute = prepared.execute.bind(prepared);
    prepared.execute = async (values) => {
      try {
        return await execute(values);
      } catch (error) {
        throw error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
      }
    };
    return prepared;
  };
  return database;
}

const LOOK_UPS_AT_ONCE = 2;

/** For use outside of transactions: concurrent look-ups share a statement. */
export class BatchingReader extends StatementReader {
  readonly #lookUps = new Map<string, Batcher<string, { readonly id: string } | null>>();
  readonly #runWithin: RunWithin;
  readonly #deadlineMs: number;

  constructor(runWithin: RunWithin, runArrays: RunArrays, deadlineMs: number) {
    super((text, params) => runWithin(text, params, limitsOf(deadlineMs)), runArrays);
    this.#runWithin = runWithin;
    this.#deadlineMs = deadlineMs;
  }

  override async find<Row extends { readonly id: string }>(text: string, id: string): Promise<Row | null> {
    // It matches no row, and its bad syntax would fail the other look-ups of the statement.
    if (!isUuid(id)) return null;
    let lookUp = this.#lookUps.get(text);
    if (lookUp === undefined) {
      const lookUpAll = async (ids: readonly string[], limits: CallLimits) => {
        const rows = await this.#runWithin<{ id: string }>(text, [[...new Set(ids)]], limits);
        const byId = new Map(rows.map((row) => [row.id, row]));
        return ids.map((wanted) => byId.get(wanted) ?? null);
      };
      lookUp = new Batcher(lookUpAll, undefined, LOOK_UPS_AT_ONCE);
      this.#lookUps.set(text, lookUp);
    }
    // The query text determines the type of its rows.
    return (await lookUp.call(id, limitsOf(this.#deadlineMs))) as Row | null;
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
      const answer = start().catch((error: unknown) => {
        state.firstFailure ??= error;
        throw sqlState(error) === TRANSACTION_FAILED_BEFORE ? state.firstFailure : error;
      });
      // Code that sends several at once may await only the first failure; the others must not end the process.
      answer.catch(() => {});
      return answer;
    };
    super(
      (text, params) => send(() => connection.run(text, params)),
      (text, params) => send(() => connection.runArrays(text, params)),
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

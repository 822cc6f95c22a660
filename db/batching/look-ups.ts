import { isUuid } from '../../domain/common/ids.ts';
import { limitsOf } from '../postgres/deadlines.ts';
import { type Params, type Run, StatementReader } from '../postgres/readers.ts';
import type { CallLimits } from '../query/database.ts';
import { childrenStatement, type ListStatement, lookUpStatement } from '../query/list-statements.ts';
import type { Children, LookUp } from '../query/queries.ts';
import { Batcher } from './batcher.ts';

type RunArraysWithin = (text: string, params: Params, limits: CallLimits) => Promise<unknown[][]>;

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

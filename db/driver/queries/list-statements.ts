import { toWire } from '../values.ts';
import type { Children, LookUp, Query } from './queries.ts';

/** The order in which transactions that share a connection send their statements, where they leave a choice. */
const STAGES = ['keys', 'locks', 'reads', 'rows', 'events', 'audit', 'wake-ups', 'answers'] as const;
type Stage = (typeof STAGES)[number];

export function stageNumber(stage: Stage): number {
  return STAGES.indexOf(stage);
}

/**
 * A statement that does the same for each item of a list. Transactions that share a connection send their items in one
 * (`db/driver/sharing/shared-transactions.ts`).
 */
export interface ListStatement<Item, Result> {
  readonly text: string;
  readonly stage: Stage;
  paramsOf(items: readonly Item[]): readonly unknown[];
  /** One result for each item, in their order; null if nothing was found or done. */
  resultsOf(answer: readonly (readonly unknown[])[], items: readonly Item[]): readonly Result[];
  /** Whether an item may go in one statement with those before it. */
  goesWith?(item: Item, before: readonly Item[]): boolean;
  /** What an item makes its transaction hold until the end, so that no other may on the same connection. */
  holds?(item: Item): Hold;
}

export interface Hold {
  readonly what: string;
  readonly isExclusive: boolean;
}

/** A row of a table, which a lock makes its transaction hold. */
export function rowHold(table: string, id: string, isExclusive: boolean): Hold {
  return { what: `${table} ${id}`, isExclusive };
}

/** Whether the statement changes rows. */
export function changesRows({ stage }: { readonly stage: Stage }): boolean {
  return stageNumber(stage) >= stageNumber('rows');
}

/** A lock of a row by its id, which also reads the row whole; null if there is none. */
export interface RowLock<Row> {
  /** Waits until the transaction that has locked the row ends. */
  readonly waiting: ListStatement<string, Row | null>;
  /** Passes over rows that another transaction has locked. */
  readonly passing: ListStatement<string, Row | null>;
}

type ByIds<Row> = Query<{ readonly ids: readonly string[] }, Row>;

/** One row for each id. */
export function byId<Row extends { readonly id: string }>(
  query: ByIds<Row>,
  stage: Stage,
): ListStatement<string, Row | null> {
  return {
    text: query.text,
    stage,
    paramsOf: (ids) => query.paramsOf({ ids: distinct(ids) }),
    resultsOf: (answer, ids) => {
      const rows = new Map(query.rowsOf(answer).map((row) => [row.id as string, row]));
      return ids.map((id) => rows.get(id) ?? null);
    },
  };
}

/** The `resultsOf` of a statement that answers nothing. */
export function noResults(_: unknown, items: readonly unknown[]): readonly undefined[] {
  return items.map(() => undefined);
}

const built = new WeakMap<object, Map<string, unknown>>();

/** What follows from a table or a query and the key is built at its first use. */
export function builtOnce<Statement>(source: object, key: string, build: () => Statement): Statement {
  let statements = built.get(source);
  if (statements === undefined) {
    statements = new Map();
    built.set(source, statements);
  }
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = build();
    statements.set(key, statement);
  }
  // The key names what was built.
  return statement as Statement;
}

export function lookUpStatement<Row extends { readonly id: string }>(
  lookUp: LookUp<Row>,
): ListStatement<string, Row | null> {
  return builtOnce(lookUp, 'look up', () => byId(lookUp, 'reads'));
}

/** All rows of each parent. */
export function childrenStatement<Row>(children: Children<Row>): ListStatement<string, readonly Row[]> {
  const { query, parentOf } = children;
  return builtOnce(children, 'children', () => ({
    text: query.text,
    stage: 'reads',
    paramsOf: (ids) => query.paramsOf({ ids: distinct(ids) }),
    resultsOf: (answer, ids) => {
      const found = new Map<string, Row[]>();
      for (const row of query.rowsOf(answer)) {
        const rows = found.get(parentOf(row));
        if (rows === undefined) found.set(parentOf(row), [row]);
        else rows.push(row);
      }
      return ids.map((id) => found.get(id) ?? []);
    },
  }));
}

/** Any query that only reads; each item has all its parameters. Those with the same go together. */
export function readStatement<Values extends object, Row>(
  query: Query<Values, Row>,
): ListStatement<readonly unknown[], readonly Row[]> {
  return builtOnce(query, 'read', () => ({
    text: query.text,
    stage: 'reads',
    paramsOf: ([params = []]) => params,
    resultsOf: (answer, items) => {
      const rows = query.rowsOf(answer);
      return items.map(() => rows);
    },
    goesWith: (params, [first]) => first === undefined || areSame(params, first),
  }));
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((value, index) => toWire(value) === toWire(other[index]));
}

function distinct(ids: readonly string[]): readonly string[] {
  return ids.length === 1 ? ids : [...new Set(ids)];
}

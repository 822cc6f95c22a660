import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Children, LookUp, Query } from './queries.ts';
import { toWire } from './values.ts';

/** The order of statements, where a write leaves a choice. */
const STAGES = ['locks', 'reads', 'rows', 'events', 'audit', 'wake-ups', 'answers'] as const;
export type Stage = (typeof STAGES)[number];

export function stageNumber(stage: Stage): number {
  return STAGES.indexOf(stage);
}

/** A statement that does the same for each item of a list. Callers of the same moment send their items in one. */
export interface ListStatement<Item, Result> {
  readonly text: string;
  readonly stage: Stage;
  paramsOf(items: readonly Item[]): readonly unknown[];
  /** One result for each item, in their order; null if nothing was found or done. */
  resultsOf(answer: readonly (readonly unknown[])[], items: readonly Item[]): readonly Result[];
  /** Whether an item may go in one statement with those before it. */
  goesWith?(item: Item, before: readonly Item[]): boolean;
  /** The row that an item changes, as `rowKey` names it. */
  changes?(item: Item): string;
  /** Adds what the item writes to a set of rows, which one statement writes. Absent: only a transaction can send it. */
  handOver?(item: Item, rows: HandedRows): void;
}

/** A table whose rows are found by their id. */
export type TableWithId = PgTable & { readonly id: PgColumn; readonly $inferSelect: { readonly id: string } };

/** Writes rows from a list of records, by a statement of its own or as a part of one with others. */
export interface RowWriter<Item> {
  /** Tells it apart from all others: a statement of several parts is built once for their names. */
  readonly name: string;
  readonly stage: Stage;
  /** The columns of a record as Postgres declares them: `id uuid, note text`. */
  readonly columns: string;
  /** The record of an item as a JSON object. */
  recordOf(item: Item): string;
  /** The text over the records, whose source has the name `rows`. It answers nothing. */
  textOf(rows: string): string;
}

/** A row that must be inserted, or nothing of its set is written. */
export interface Claim<Item> {
  readonly writer: RowWriter<Item>;
  /** The columns of its unique key, by which the statement finds whose row was inserted. */
  readonly key: readonly string[];
  /** Tells it apart from other claims, which may not go in one statement with it. */
  nameOf(item: Item): string;
}

/** Where a write without locks hands over its rows (`row-set.ts`). */
export interface HandedRows {
  insert(table: PgTable, values: Record<string, unknown>): void;
  update(table: TableWithId, id: string, values: Record<string, unknown>): void;
  remove(table: TableWithId, id: string): void;
  append<Item>(writer: RowWriter<Item>, item: Item): void;
  claim<Item>(claim: Claim<Item>, item: Item): void;
  /** Adds to a number in a row that the set inserts or has locked; returns it as it was before. */
  add(tableName: string, id: string, column: string, count: number): bigint;
}

export function rowKey(table: string, id: string): string {
  return `${table} ${id}`;
}

/** Whether the statement changes rows. */
export function changesRows({ stage }: { readonly stage: Stage }): boolean {
  return stageNumber(stage) >= stageNumber('rows');
}

/** What a lock of a row protects: its own columns, or also the rows that belong to it, which have no lock of their own. */
export type Covered = 'row' | 'row and parts';

/** How a row is guarded. One of each kind exists, so kinds are compared by identity. */
export interface GuardKind {
  readonly name: string;
  readonly table: TableWithId;
  readonly strength: LockStrength;
  readonly isExclusive: boolean;
  readonly covers: Covered;
}

/** A lock of a row by its id, which also reads the row whole; null if there is none. */
export interface RowLock<Row> {
  /** Waits until the transaction that has locked the row ends. */
  readonly waiting: ListStatement<string, Row | null>;
  /** For writes in one statement, which read first and check later that nothing has changed. Absent: only a transaction can lock. */
  readonly optimistic?: OptimisticLock<Row>;
}

export interface OptimisticLock<Row> {
  readonly reading: ListStatement<string, RowVersion<Row> | null>;
  readonly kind: GuardKind;
}

/** A row, and what tells this version of it from any other. */
export interface RowVersion<Row> {
  readonly row: Row;
  readonly version: string;
}

type ByIds<Row> = Query<{ readonly ids: readonly string[] }, Row>;

/** One row for each id. */
export function byId<Row extends { readonly id: string }>(
  query: ByIds<Row>,
  stage: Stage,
): ListStatement<string, Row | null> {
  return byKey(query, stage, ({ id }) => id);
}

export function byKey<Row>(
  query: ByIds<Row>,
  stage: Stage,
  idOf: (row: Row) => string,
): ListStatement<string, Row | null> {
  return {
    text: query.text,
    stage,
    paramsOf: (ids) => query.paramsOf({ ids: distinct(ids) }),
    resultsOf: (answer, ids) => {
      const rows = new Map(query.rowsOf(answer).map((row) => [idOf(row), row]));
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

import {
  type Query as BuiltQuery,
  Column,
  getTableColumns,
  getTableName,
  is,
  Param,
  Placeholder,
  type SQL,
  Subquery,
  sql,
} from 'drizzle-orm';
import {
  type PgColumn,
  PgDatabase,
  PgDialect,
  PgPreparedQuery,
  type PgQueryResultHKT,
  PgSelectBase,
  PgSession,
  type PgTable,
  type PreparedQueryConfig,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core';

/**
 * A query that Drizzle has built from the schema: constant text, where the values go, and the shape of its rows. Building
 * one takes longer than executing it, so it is built once, by `prepared` in a module; a Reader executes it.
 */
export class Query<Values extends object, Row> {
  readonly text: string;
  /** A query that changes rows, or locks them, runs in a transaction. */
  readonly does: 'read' | 'change';
  readonly #params: readonly Value[];
  readonly #fields: readonly Field[];
  readonly #isNested: boolean;

  constructor(text: string, params: readonly Value[], fields: readonly Field[], does: 'read' | 'change' = 'read') {
    this.text = text;
    this.does = does;
    this.#params = params;
    this.#fields = fields;
    this.#isNested = fields.some(({ group }) => group !== null);
  }

  paramsOf(values: Values): unknown[] {
    return this.#params.map((param) => param(values));
  }

  /** The rows of an answer whose columns are in the order of the selection. */
  rowsOf(answer: readonly (readonly unknown[])[]): Row[] {
    const rows = answer.map((columns) => (this.#isNested ? this.#nestedRow(columns) : this.#row(columns)));
    // The text and the row's type come from the same selection.
    return rows as Row[];
  }

  #row(columns: readonly unknown[]): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    for (const [at, { name }] of this.#fields.entries()) row[name] = columns[at];
    return row;
  }

  /** A table that an outer join has not found is null. */
  #nestedRow(columns: readonly unknown[]): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    const found = new Map<string, Record<string, unknown>>();
    for (const [at, { group, name }] of this.#fields.entries()) {
      const value = columns[at];
      if (group === null) {
        row[name] = value;
        continue;
      }
      let table = found.get(group);
      if (table === undefined) {
        table = {};
        found.set(group, table);
        row[group] = null;
      }
      table[name] = value;
      if (value !== null) row[group] = table;
    }
    return row;
  }
}

/** A query for the rows with the given ids (`isListed`). */
export type LookUp<Row extends { readonly id: string }> = Query<{ readonly ids: readonly string[] }, Row>;

/** A query for the rows that belong to the parents with the given ids, in the order of each parent's rows. */
export interface Children<Row> {
  readonly query: Query<{ readonly ids: readonly string[] }, Row>;
  readonly parentOf: (row: Row) => string;
}

/** A left join: the rows of another table for which `on` holds, in their order. */
export interface LeftJoin<Row> {
  readonly table: PgTable;
  readonly columns: { readonly [Name in keyof Row]: PgColumn & Holding<Row[Name]> };
  readonly on: SQL;
  readonly order: readonly PgColumn[];
}

/** What to join laterally: looked up for each row of a page, as a table with months is read whole for a hash. */
export function forEachRow<Row>({ table, on }: LeftJoin<Row>): [Subquery, SQL] {
  return [new Subquery(sql`SELECT * FROM ${table} WHERE ${on} OFFSET 0`, {}, getTableName(table)), sql`true`];
}

interface Holding<Value> {
  readonly _: { readonly data: NonNullable<Value> };
}

/** One row of an outer join: `joined` is null if there is none. */
export interface Joined<Row, Other> {
  readonly row: Row;
  readonly joined: Other | null;
}

/** A row with all rows joined to it. */
export interface Grouped<Row, Other> {
  readonly row: Row;
  readonly joined: readonly Other[];
}

/** Each row once; those of one row follow each other. */
export function groupRows<Row extends { readonly id: string }, Other>(
  rows: readonly Joined<Row, Other>[],
): Grouped<Row, Other>[] {
  const groups: { row: Row; joined: Other[] }[] = [];
  for (const { row, joined } of rows) {
    let last = groups.at(-1);
    if (last?.row.id !== row.id) {
      last = { row, joined: [] };
      groups.push(last);
    }
    if (joined !== null) last.joined.push(joined);
  }
  return groups;
}

/** The rows of a query. */
export type RowOf<Prepared> = Prepared extends Query<infer _, infer Row> ? Row : never;

/** Where a column of the answer goes in the row: `group` is the table's name in a selection of several tables. */
interface Field {
  readonly group: string | null;
  readonly name: string;
}

type Value = (given: object) => unknown;

/** The places of a query's values, named as the values. */
export type Given<Values> = { readonly [Name in keyof Values]-?: Placeholder<string, Values[Name]> };

/** What `prepare` of Drizzle's builders takes and says about the rows. */
interface Preparable<Row> {
  prepare(name: string): { execute(values?: Record<string, unknown>): Promise<Row[]> };
}

/**
 * Builds a query that only reads, without locks, at the top of a module: `prepared((db, given: Given<{ id: ClientId }>) => db.select()…)`. The layout test
 * rejects it inside a function.
 */
export function prepared<Values extends object, Row>(
  build: (db: QueryBuilder, given: Given<Values>) => Preparable<Row>,
): Query<Values, Row> {
  const query = build(BUILDER, places<Values>());
  if (!is(query, PgSelectBase)) throw new Error('what changes rows is declared by preparedChange');
  return queryOf(query, 'read');
}

/** The same for a query that changes rows, or locks them. */
export function preparedChange<Values extends object, Row>(
  build: (db: QueryBuilder, given: Given<Values>) => Preparable<Row>,
): Query<Values, Row> {
  return queryOf(build(BUILDER, places<Values>()), 'change');
}

function queryOf<Values extends object, Row>(query: Preparable<Row>, does: 'read' | 'change'): Query<Values, Row> {
  const built: unknown = query.prepare('');
  if (!(built instanceof Prepared)) throw new Error('only what the given builder builds can be prepared');
  const { sql: text, params } = built.getQuery();
  return new Query(text, params.map(paramOf), (built.fields ?? []).map(fieldOf), does);
}

/** The text of a selection without values, built once, to embed in a `sql` template. */
export function embedded(build: (db: QueryBuilder) => { getSQL(): SQL }): SQL {
  return sql.raw(dialect.sqlToQuery(build(BUILDER).getSQL().inlineParams()).sql);
}

/** Columns under the names of the schema, for text that reads the rows of an embedded selection by name. */
export function named<Table extends PgTable, Name extends keyof Table['$inferSelect'] & string>(
  table: Table,
  names: readonly Name[],
): { readonly [Of in Name]: SQL.Aliased<Table['$inferSelect'][Of]> } {
  const columns = getTableColumns<PgTable>(table);
  const aliased = names.map((name) => [name, sql`${columns[name]}`.as(name)] as const);
  // Each alias has the type of its column.
  return Object.fromEntries(aliased) as { [Of in Name]: SQL.Aliased<Table['$inferSelect'][Of]> };
}

function places<Values>(): Given<Values> {
  // Each name that the query uses becomes a place; the type allows no other.
  return new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Given<Values>;
}

/** The names of the values that are there. */
export function namesIn(values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function paramOf(param: unknown): Value {
  if (is(param, Placeholder)) return valueNamed(param.name);
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder } = param;
    const read = valueNamed(param.value.name);
    return (given) => {
      const value = read(given);
      return value === null ? null : encoder.mapToDriverValue(value);
    };
  }
  return () => param;
}

function valueNamed(name: string): Value {
  return (given) => {
    const value: unknown = Reflect.get(given, name);
    if (value === undefined) throw new Error(`a query was executed without its value ${name}`);
    return value;
  };
}

/** Column types whose values the driver's parsers return as the schema's type says. */
const PARSED_BY_DRIVER = new Set([
  'PgArray',
  'PgBigInt64',
  'PgBoolean',
  'PgCustomColumn',
  'PgDateString',
  'PgInteger',
  'PgJson',
  'PgJsonb',
  'PgSmallInt',
  'PgText',
  'PgTimestamp',
  'PgUUID',
]);

function fieldOf({ path, field }: SelectedFieldsOrdered[number]): Field {
  if (is(field, Column) && !PARSED_BY_DRIVER.has(field.columnType)) {
    throw new Error(`the driver does not parse ${field.name}, a ${field.columnType}, as the schema says`);
  }
  const [first = '', second] = path;
  return second === undefined ? { group: null, name: first } : { group: first, name: second };
}

/** Statements without `returning` have no rows. */
interface Answers extends PgQueryResultHKT {
  readonly type: never[];
}

export type QueryBuilder = PgDatabase<Answers>;

class Prepared<Config extends PreparedQueryConfig> extends PgPreparedQuery<Config> {
  readonly fields: SelectedFieldsOrdered | undefined;

  constructor(built: BuiltQuery, fields: SelectedFieldsOrdered | undefined) {
    super(built, undefined, undefined);
    this.fields = fields;
  }

  override execute(): Promise<Config['execute']> {
    throw new Error('a Reader executes queries');
  }
}

/** Builds, and executes nothing. */
class BuildingSession extends PgSession<Answers> {
  override prepareQuery<Config extends PreparedQueryConfig>(
    built: BuiltQuery,
    fields: SelectedFieldsOrdered | undefined,
  ): Prepared<Config> {
    return new Prepared(built, fields);
  }

  override transaction(): Promise<never> {
    throw new Error('a Database opens transactions');
  }
}

const dialect = new PgDialect();
const BUILDER: QueryBuilder = new PgDatabase(dialect, new BuildingSession(dialect), undefined);

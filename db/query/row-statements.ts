import { getTableColumns, getTableName } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import {
  builtOnce,
  type ListStatement,
  noResults,
  type RowWriter,
  rowKey,
  type TableWithId,
} from './list-statements.ts';
import { recordsOf, standaloneText, writing } from './row-writers.ts';
import { toWire } from './values.ts';

// The statements that insert, change and delete lists of rows: the text follows from the table and the columns.

/** What a statement answers: nothing, the stored row, or that row unless a unique key is taken. */
type How = 'silently' | 'stored' | 'once';

type RowList<Table extends PgTable> = ListStatement<object, Table['$inferSelect'] | null | undefined>;

export function insertionOf<Table extends PgTable>(table: Table, names: readonly string[], how: How): RowList<Table> {
  return builtOnce(table, `insert ${how} ${names}`, () => {
    // The id finds an item's row in the answer; an item without one was not inserted.
    if (how !== 'silently' && !names.includes('id')) throw new Error('a row is inserted and read without its id');
    const conflict = how === 'once' ? ' on conflict do nothing' : '';
    const statement = listOfRows(table, insertionWriter(table, names), { how, conflict });
    if (how !== 'silently') return statement;
    return { ...statement, handOver: (item, rows) => rows.insert(table, { ...item }) };
  });
}

export function insertionWriter(table: PgTable, names: readonly string[]): RowWriter<object> {
  return builtOnce(table, `insertion writer ${names}`, () => {
    const columns = columnsOf(table, names);
    const places = columns.map(({ name }) => quoted(name)).join(', ');
    return {
      name: `insert ${getTableName(table)} ${names}`,
      stage: 'rows',
      columns: columns.map(declared).join(', '),
      recordOf: (item) => recordOf(columns, names, item),
      textOf: (rows) =>
        `insert into ${quoted(getTableName(table))} (${places}) select ${columns.map(sentValue).join(', ')} from ${rows} as item`,
    };
  });
}

export function updateOf<Table extends TableWithId>(table: Table, names: readonly string[], how: How): RowList<Table> {
  return builtOnce(table, `update ${how} ${names}`, () => {
    const changes = (item: object) => rowKey(getTableName(table), String(idOf(item)));
    const statement = { ...listOfRows(table, updateWriter(table, names), { how, conflict: '' }), changes };
    if (how !== 'silently') return statement;
    return {
      ...statement,
      handOver: (item, rows) => {
        const { id, ...changes } = { id: '', ...item };
        rows.update(table, id, changes);
      },
    };
  });
}

// The list of ids finds the rows by the primary key, whatever Postgres takes a list of records to hold.
export function updateWriter(table: TableWithId, names: readonly string[]): RowWriter<object> {
  return builtOnce(table, `update writer ${names}`, () => {
    const columns = columnsOf(table, names);
    const [own, id] = [quoted(getTableName(table)), quoted(table.id.name)];
    const everyColumn = [table.id, ...columns];
    const everyName = ['id', ...names];
    // A row without changes is written as it is, so that others see that its transaction has had it.
    const set =
      columns.length === 0
        ? [`${id} = ${own}.${id}`]
        : columns.map((column) => `${quoted(column.name)} = ${sentValue(column)}`);
    return {
      name: `update ${getTableName(table)} ${names}`,
      stage: 'rows',
      columns: everyColumn.map(declared).join(', '),
      recordOf: (item) => recordOf(everyColumn, everyName, item),
      textOf: (rows) => `update ${own} set ${set.join(', ')} from ${rows} as item
        where ${own}.${id} = item.${id} and ${own}.${id} = any (array(select ${id} from ${rows}))`,
    };
  });
}

export function deletionOf(table: TableWithId): ListStatement<string, undefined> {
  return builtOnce(table, 'delete', () => ({
    ...writing(deletionWriter(table)),
    changes: (id) => rowKey(getTableName(table), id),
    handOver: (id, rows) => rows.remove(table, id),
  }));
}

export function deletionWriter(table: TableWithId): RowWriter<string> {
  return builtOnce(table, 'deletion writer', () => {
    const [own, id] = [quoted(getTableName(table)), quoted(table.id.name)];
    return {
      name: `delete ${getTableName(table)}`,
      stage: 'rows',
      columns: `${id} uuid`,
      recordOf: (value) => JSON.stringify({ [table.id.name]: value }),
      textOf: (rows) => `delete from ${own} where ${id} = any (array(select ${id} from ${rows}))`,
    };
  });
}

function listOfRows<Table extends PgTable>(
  table: Table,
  writer: RowWriter<object>,
  { how, conflict }: { readonly how: How; readonly conflict: string },
): RowList<Table> {
  const names = Object.keys(getTableColumns<PgTable>(table));
  const rowOf = (values: readonly unknown[]) => Object.fromEntries(names.map((name, index) => [name, values[index]]));
  return {
    text: standaloneText(writer, `${conflict}${returning(table, how)}`),
    stage: 'rows',
    paramsOf: (items) => [recordsOf(writer, items)],
    resultsOf: (answer, items) => {
      if (how === 'silently') return noResults(answer, items);
      const rows = new Map(answer.map(rowOf).map((row) => [row.id, row]));
      // `returning` answers the whole row of this table.
      return items.map((item) => (rows.get(idOf(item)) as Table['$inferSelect'] | undefined) ?? null);
    },
  };
}

function idOf(item: object): unknown {
  return Reflect.get(item, 'id');
}

function columnsOf(table: PgTable, names: readonly string[]): PgColumn[] {
  const columns = getTableColumns(table);
  return names.map((name) => {
    const column = columns[name];
    if (column === undefined) throw new Error(`${getTableName(table)} has no column ${name}`);
    return column;
  });
}

/** The item as a JSON record of text, each value named as its column. */
function recordOf(columns: readonly PgColumn[], names: readonly string[], item: object): string {
  const record: Record<string, string | null> = {};
  for (const [index, column] of columns.entries()) {
    const value: unknown = Reflect.get(item, names[index] ?? '');
    record[column.name] = value === null ? null : toWire(column.mapToDriverValue(value));
  }
  return JSON.stringify(record);
}

function returning(table: PgTable, how: How): string {
  if (how === 'silently') return '';
  const columns = Object.values(getTableColumns(table)).map(
    ({ name }) => `${quoted(getTableName(table))}.${quoted(name)}`,
  );
  return ` returning ${columns.join(', ')}`;
}

/** JSON and arrays go as text within the record, which Postgres then reads as it reads a parameter. */
function isNested({ columnType }: PgColumn): boolean {
  return columnType === 'PgJsonb' || columnType === 'PgJson' || columnType === 'PgArray';
}

function declared(column: PgColumn): string {
  return `${quoted(column.name)} ${isNested(column) ? 'text' : column.getSQLType()}`;
}

function sentValue(column: PgColumn): string {
  return `item.${quoted(column.name)}${isNested(column) ? `::${column.getSQLType()}` : ''}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

import { getTableColumns, getTableName } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { toWire } from '../values.ts';
import { builtOnce, type ListStatement, noResults } from './list-statements.ts';

// The statements that insert, change and delete lists of rows: the text follows from the table and the columns.

/** A table whose rows are found by their id. */
export type TableWithId = PgTable & { readonly id: PgColumn; readonly $inferSelect: { readonly id: string } };

/** What a statement answers: nothing, the stored row, or that row unless a unique key is taken. */
type How = 'silently' | 'stored' | 'once';

type RowList<Table extends PgTable> = ListStatement<object, Table['$inferSelect'] | null | undefined>;

export function insertionOf<Table extends PgTable>(table: Table, names: readonly string[], how: How): RowList<Table> {
  return builtOnce(table, `insert ${how} ${names}`, () => {
    // The id finds an item's row in the answer; an item without one was not inserted.
    if (how !== 'silently' && !names.includes('id')) throw new Error('a row is inserted and read without its id');
    const columns = columnsOf(table, names);
    const places = columns.map(({ name }) => quoted(name)).join(', ');
    const conflict = how === 'once' ? ' on conflict do nothing' : '';
    return listOfRows(table, {
      text: `insert into ${quoted(getTableName(table))} (${places}) select ${columns.map(sentValue).join(', ')}
        from json_to_recordset($1::json) as item (${columns.map(declared).join(', ')})${conflict}${returning(table, how)}`,
      paramsOf: (items) => [recordsOf(columns, names, items)],
      how,
    });
  });
}

// The list of ids finds the rows by the primary key, whatever Postgres takes a list of records to hold.
export function updateOf<Table extends TableWithId>(table: Table, names: readonly string[], how: How): RowList<Table> {
  return builtOnce(table, `update ${how} ${names}`, () => {
    const columns = columnsOf(table, names);
    const [own, id] = [quoted(getTableName(table)), quoted(table.id.name)];
    const [everyColumn, everyName] = [
      [table.id, ...columns],
      ['id', ...names],
    ];
    return listOfRows(table, {
      text: `update ${own} set ${columns.map((column) => `${quoted(column.name)} = ${sentValue(column)}`).join(', ')}
        from json_to_recordset($1::json) as item (${everyColumn.map(declared).join(', ')})
        where ${own}.${id} = item.${id} and ${own}.${id} = any ((select $2::uuid[])::uuid[])${returning(table, how)}`,
      paramsOf: (items) => [recordsOf(everyColumn, everyName, items), items.map(idOf)],
      how,
    });
  });
}

export function deletionOf(table: TableWithId): ListStatement<string, undefined> {
  return builtOnce(table, 'delete', () => ({
    text: `delete from ${quoted(getTableName(table))} where ${quoted(table.id.name)} = any ((select $1::uuid[])::uuid[])`,
    stage: 'rows',
    paramsOf: (ids) => [ids],
    resultsOf: noResults,
  }));
}

/** A row is changed once in a statement, so that its changes keep their order. */
function listOfRows<Table extends PgTable>(
  table: Table,
  { how, ...statement }: Pick<RowList<Table>, 'text' | 'paramsOf'> & { readonly how: How },
): RowList<Table> {
  const names = Object.keys(getTableColumns<PgTable>(table));
  const rowOf = (values: readonly unknown[]) => Object.fromEntries(names.map((name, index) => [name, values[index]]));
  return {
    ...statement,
    stage: 'rows',
    resultsOf: (answer, items) => {
      if (how === 'silently') return noResults(answer, items);
      const rows = new Map(answer.map(rowOf).map((row) => [row.id, row]));
      // `returning` answers the whole row of this table.
      return items.map((item) => (rows.get(idOf(item)) as Table['$inferSelect'] | undefined) ?? null);
    },
    goesWith: (item, before) => !before.some((one) => idOf(one) === idOf(item)),
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

/** The items as JSON records of text, each named as its column. */
function recordsOf(columns: readonly PgColumn[], names: readonly string[], items: readonly object[]): string {
  const records = items.map((item) => {
    const record: Record<string, string | null> = {};
    for (const [index, column] of columns.entries()) {
      const value: unknown = Reflect.get(item, names[index] ?? '');
      record[column.name] = value === null ? null : toWire(column.mapToDriverValue(value));
    }
    return record;
  });
  return JSON.stringify(records);
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

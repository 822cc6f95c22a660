import { type ListStatement, noResults, type RowWriter } from './list-statements.ts';

export function recordsOf<Item>({ recordOf }: Pick<RowWriter<Item>, 'recordOf'>, items: readonly Item[]): string {
  return `[${items.map(recordOf).join(',')}]`;
}

/** The text of a writer by itself; `returning` follows it. */
export function standaloneText<Item>({ columns, textOf }: RowWriter<Item>, returning = ''): string {
  return `WITH item_rows AS (SELECT * FROM json_to_recordset($1::json) AS item (${columns})) ${textOf('item_rows')}${returning}`;
}

/** A statement for items that are written as they are. */
export function writing<Item>(writer: RowWriter<Item>): ListStatement<Item, undefined> {
  return {
    text: standaloneText(writer),
    stage: writer.stage,
    paramsOf: (items) => [recordsOf(writer, items)],
    resultsOf: noResults,
    handOver: (item, rows) => rows.append(writer, item),
  };
}

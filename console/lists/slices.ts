import type { Slice } from './list.ts';

/** A slice of rows in the order of their cursors: one more is read than is shown, to know whether there is a next page. */
export async function sliceOf<Row>(
  size: number,
  cursorOf: (row: Row) => string,
  read: (size: number) => Promise<readonly Row[]>,
): Promise<Slice<Row>> {
  const rows = await read(size + 1);
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > size && last !== undefined ? cursorOf(last) : null };
}

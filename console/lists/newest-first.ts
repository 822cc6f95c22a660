import { LOOKED_AT_MAX, type Newest, type NewestPage } from '../../db/query/newest-lists.ts';
import { isUuid } from '../../domain/common/ids.ts';
import type { Slice } from './list.ts';
import { sliceOf } from './slices.ts';

interface Asked {
  readonly after: string | null;
  readonly size: number;
}

/** What is no cursor of ours begins at the newest. */
const beforeOf = ({ after }: Asked) => (after !== null && isUuid(after) ? after : null);

/** A slice of rows that are newest first by id. */
export async function newestFirst<Row>(
  asked: Asked,
  read: (page: NewestPage) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): Promise<Slice<Row>> {
  return sliceOf(asked.size, idOf, (size) => read({ before: beforeOf(asked), size }));
}

/** The same of a list that looks through a bounded part of its rows: it may find few or none, and yet there may be more. */
export async function newestFound<Row extends { readonly id: string }>(
  asked: Asked,
  read: (page: NewestPage) => Promise<Newest<Row>>,
): Promise<Slice<Row>> {
  let lookedTo: string | null = null;
  const slice = await newestFirst(
    asked,
    async (page) => {
      const found = await read(page);
      lookedTo = found.lookedTo;
      return found.rows;
    },
    ({ id }) => id,
  );
  return lookedTo === null ? slice : { ...slice, next: slice.next ?? lookedTo, lookedThrough: LOOKED_AT_MAX };
}

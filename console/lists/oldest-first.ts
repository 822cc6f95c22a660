import type { WaitPlace } from '../../db/transfers/oldest-waits.ts';
import { isUuid } from '../../domain/common/ids.ts';
import { isDate } from '../../domain/common/time/dates.ts';
import type { Slice } from './list.ts';
import { sliceOf } from './slices.ts';

/** A slice of rows that wait, oldest first. */
export async function oldestFirst<Row extends WaitPlace>(
  { after, size }: { readonly after: string | null; readonly size: number },
  read: (page: { readonly after: WaitPlace | null; readonly size: number }) => Promise<readonly Row[]>,
): Promise<Slice<Row>> {
  const cursorOf = ({ since, id }: Row) => `${since}~${id}`;
  return sliceOf(size, cursorOf, (rows) => read({ after: placeOf(after), size: rows }));
}

const INSTANT = /^20\d{2}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}\+00$/;

/** A cursor that is none begins the list. */
function placeOf(cursor: string | null): WaitPlace | null {
  const [since = '', id = ''] = cursor?.split('~') ?? [];
  const isInstant =
    INSTANT.test(since) && isDate(since.slice(0, 10)) && !Number.isNaN(Date.parse(`${since.replace(' ', 'T')}:00`));
  return isInstant && isUuid(id) ? { since, id } : null;
}

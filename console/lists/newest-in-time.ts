import type { Cursor } from '../../db/query/lists.ts';
import { isUuid } from '../../domain/common/ids.ts';

/** The time as Postgres writes it, and the id. */
const CURSOR = /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?[+-]\d{2}(?::\d{2})?)\/([0-9a-f-]{36})$/;

/** A place among rows that are newest first by time, as it stands in the address. What is no cursor of ours begins at the newest. */
export function timeCursorOf(after: string | null): Cursor | null {
  const [, time, id] = CURSOR.exec(after ?? '') ?? [];
  if (time === undefined || id === undefined || !isUuid(id)) return null;
  return Number.isNaN(Date.parse(time.replace(/[+-]\d{2}$/, '$&:00'))) ? null : { time, id };
}

export function timeCursorText({ time, id }: Cursor): string {
  return `${time}/${id}`;
}

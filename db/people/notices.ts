import type { ConsoleSessionId } from '../../domain/common/ids.ts';
import type { Reader } from '../query/database.ts';

/** What an act of a session did, for the page to which it leads. */
export interface StoredNotice {
  readonly state: 'done' | 'unchanged' | 'unknown' | 'problem';
  readonly text: string;
}

/** Leaves it for the page of this path: a person may act in several tabs at once, and each must show its own. */
export async function leaveNotice(
  reader: Reader,
  id: ConsoleSessionId,
  path: string,
  notice: StoredNotice,
): Promise<void> {
  await reader.statement(
    `UPDATE console_sessions SET notice = coalesce(notice, '{}') || jsonb_build_object($2::text, $3::text::jsonb)
     WHERE id = $1::uuid`,
    [id, path, JSON.stringify(notice)],
  );
}

/** The notice for the page of this path, which is then gone: it is shown once. */
export async function takeNotice(reader: Reader, id: ConsoleSessionId, path: string): Promise<StoredNotice | null> {
  const [row] = await reader.statement<{ notice: StoredNotice }>(
    `WITH before AS (SELECT notice -> $2::text AS notice FROM console_sessions WHERE id = $1::uuid AND notice ? $2::text FOR UPDATE)
     UPDATE console_sessions session SET notice = session.notice - $2::text FROM before WHERE session.id = $1::uuid
     RETURNING before.notice`,
    [id, path],
  );
  return row?.notice ?? null;
}

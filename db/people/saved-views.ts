import { rejection } from '../../domain/common/errors.ts';
import type { ConsoleViewId, PersonId } from '../../domain/common/ids.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';

/** A filter of a list that a person keeps under a name: the query of the list's address. */
export interface SavedView {
  readonly id: ConsoleViewId;
  readonly path: string;
  readonly name: string;
  readonly query: string;
}

/** A person's views of one list are few: a menu, not a list of their own. */
export const SAVED_VIEWS_MAX = 50;
/** Whatever paths a person's browser names. */
const SAVED_VIEWS_OF_ALL_MAX = 1_000;

export function listSavedViews(reader: Reader, personId: PersonId, path: string): Promise<SavedView[]> {
  return reader.statement<SavedView>(
    'SELECT id, path, name, query FROM console_views WHERE person_id = $1::uuid AND path = $2 ORDER BY name LIMIT $3',
    [personId, path, SAVED_VIEWS_MAX],
  );
}

/** Keeps the view, or gives the name its new filter. */
export async function saveView(tx: Transaction, personId: PersonId, view: Omit<SavedView, 'id'>): Promise<void> {
  const { path, name, query } = view;
  await tx.statement('SELECT FROM people WHERE id = $1::uuid FOR NO KEY UPDATE', [personId]);
  const others = await tx.statement<{ path: string }>(
    'SELECT path FROM console_views WHERE person_id = $1::uuid AND (path, name) <> ($2, $3) LIMIT $4',
    [personId, path, name, SAVED_VIEWS_OF_ALL_MAX],
  );
  const isFull = others.filter((other) => other.path === path).length >= SAVED_VIEWS_MAX;
  if (isFull || others.length >= SAVED_VIEWS_OF_ALL_MAX) {
    const message = `A list has at most ${SAVED_VIEWS_MAX} saved views, and all lists together ${SAVED_VIEWS_OF_ALL_MAX}: delete one first.`;
    throw rejection('common.validation.limit_exceeded', ['view', 'name', name], message);
  }
  await tx.statement(
    `INSERT INTO console_views (id, person_id, path, name, query, created_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, clock_timestamp())
     ON CONFLICT (person_id, path, name) DO UPDATE SET query = excluded.query`,
    [newId(), personId, path, name, query],
  );
}

/** Returns the path of the list; null if the person has no such view. */
export async function deleteSavedView(reader: Reader, personId: PersonId, id: ConsoleViewId): Promise<string | null> {
  const [deleted] = await reader.statement<{ path: string }>(
    'DELETE FROM console_views WHERE id = $1::uuid AND person_id = $2::uuid RETURNING path',
    [id, personId],
  );
  return deleted?.path ?? null;
}

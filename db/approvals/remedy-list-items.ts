import { type FrozenItem, SIGNED_MS_MAX, type Standing } from '../../domain/approvals/remedy-lists.ts';
import type { RemedyListId } from '../../domain/common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';

export const ITEM_RESULTS = ['done', 'unchanged', 'rejected', 'unknown'] as const;
export type ItemResult = (typeof ITEM_RESULTS)[number];

export interface RemedyListItem extends FrozenItem {
  readonly position: number;
  /** Null: not done yet. */
  readonly result: ItemResult | null;
  readonly message: string | null;
  readonly doneAt: Date | null;
}

const COLUMNS = `position, resource_id AS id, transaction_number AS "transactionNumber", amount_minor AS "amountMinor", currency,
  waiting_for AS "waitingFor", account_id AS "accountId", result, message, done_at AS "doneAt"`;

const LIST = `SELECT ${COLUMNS} FROM remedy_list_items
  WHERE list_id = $1::uuid AND position > $2::integer AND ($3::text IS NULL OR coalesce(result, 'open') = $3)
  ORDER BY position LIMIT $4`;

/** A list's items after a position, in order; with `result`, those with this result (`open`: with none yet). */
export function listRemedyListItems(
  reader: Reader,
  listId: RemedyListId,
  { after, size, result }: { readonly after: number; readonly size: number; readonly result: string | null },
): Promise<RemedyListItem[]> {
  return reader.statement<RemedyListItem>(LIST, [listId, after, result, size]);
}

const COUNT = `SELECT coalesce(result, 'open') AS result, count(*)::integer AS count FROM remedy_list_items
  WHERE list_id = $1::uuid GROUP BY 1 ORDER BY 1`;

/** How many items have which result; `open`: none yet. */
export function countItemResults(
  reader: Reader,
  listId: RemedyListId,
): Promise<{ readonly result: ItemResult | 'open'; readonly count: number }[]> {
  return reader.statement(COUNT, [listId]);
}

// An item that another console has locked is under way there. If that console dies, its transaction ends with it.
const TAKE = `SELECT position, resource_id AS "resourceId", waiting_for AS "waitingFor", account_id AS "accountId" FROM remedy_list_items
  WHERE list_id = $1::uuid AND position > $2::integer AND result IS NULL
    AND EXISTS (SELECT FROM remedy_lists WHERE id = $1::uuid AND status = 'running' AND decided_at > clock_timestamp() - $3::interval)
  ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED`;

export interface TakenItem extends Standing {
  readonly position: number;
  readonly resourceId: string;
}

/**
 * Locks the next item that is not done, after a position; null if none is left, or others have them all. The act, its result and this
 * lock are one transaction: whatever happens, an item is done once, or not at all.
 */
export async function takeItem(tx: Transaction, listId: RemedyListId, after: number): Promise<TakenItem | null> {
  const [item] = await tx.statement<TakenItem>(TAKE, [listId, after, `${SIGNED_MS_MAX} milliseconds`]);
  return item ?? null;
}

const RECORD = `UPDATE remedy_list_items SET result = $3, message = $4, done_at = clock_timestamp()
  WHERE list_id = $1::uuid AND position = $2::integer AND result IS NULL`;

interface Recorded {
  readonly listId: RemedyListId;
  readonly position: number;
  readonly result: ItemResult;
  readonly message: string;
}

/** Records an item's result, once. */
export async function recordItem(reader: Reader, { listId, position, result, message }: Recorded): Promise<void> {
  await reader.statement(RECORD, [listId, position, result, message]);
}

import {
  type FrozenItem,
  type RemedyListStatus,
  requireRejectable,
  requireSignable,
  requireStoppable,
  SIGNATURE_MS_MAX,
  SIGNED_MS_MAX,
  sumsOf,
} from '../../domain/approvals/remedy-lists.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { PersonId, RemedyListId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type AuditedResource, auditorOf, type Initiator } from '../common/audit-entries.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';

const audit = auditorOf('remedy-list');

/** A remedy for many resources: frozen, and done once another person has signed it. Instants are of real time. */
export interface RemedyList {
  readonly id: RemedyListId;
  readonly remedy: string;
  readonly resource: AuditedResource;
  readonly filter: string;
  readonly reason: string;
  readonly itemCount: number;
  /** In minor units as text, by currency. */
  readonly sums: Readonly<Record<string, string>>;
  readonly status: RemedyListStatus;
  readonly createdBy: PersonId;
  readonly createdRole: Role;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: PersonId | null;
  readonly decidedRole: Role | null;
  readonly decidedAt: Date | null;
  readonly decisionReason: string | null;
  readonly stoppedBy: PersonId | null;
  readonly stoppedRole: Role | null;
  readonly stopReason: string | null;
  readonly doneAt: Date | null;
}

const COLUMNS = `id, remedy, resource, filter, reason, item_count AS "itemCount", sums, status, created_by AS "createdBy",
  created_role AS "createdRole", created_at AS "createdAt", expires_at AS "expiresAt", decided_by AS "decidedBy",
  decided_role AS "decidedRole", decided_at AS "decidedAt", decision_reason AS "decisionReason",
  stopped_by AS "stoppedBy", stopped_role AS "stoppedRole", stop_reason AS "stopReason", done_at AS "doneAt"`;

const INSERT = `
  INSERT INTO remedy_lists (id, remedy, resource, filter, reason, item_count, sums, status, created_by, created_role, created_at, expires_at)
  VALUES ($1::uuid, $2, $3, $4, $5, $6::integer, $7::jsonb, 'waiting', $8::uuid, $9, clock_timestamp(),
    clock_timestamp() + $10::interval)`;

const INSERT_ITEMS = `
  INSERT INTO remedy_list_items (list_id, position, resource_id, transaction_number, amount_minor, currency, waiting_for, account_id)
  SELECT $1::uuid, number, id, transaction_number, amount_minor, currency, waiting_for, account_id
  FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::uuid[])
    WITH ORDINALITY AS item (id, transaction_number, amount_minor, currency, waiting_for, account_id, number)`;

interface Frozen {
  readonly remedy: string;
  readonly resource: AuditedResource;
  readonly filter: string;
  readonly items: readonly FrozenItem[];
}

/** Freezes a list, which waits for its signature. The initiator is a person, whose reason is that of each act. */
export async function createRemedyList(
  tx: Transaction,
  { remedy, resource, filter, items }: Frozen,
  initiator: Initiator & { readonly role: Role; readonly reason: string },
): Promise<RemedyListId> {
  const id = newId<RemedyListId>();
  const sums = Object.fromEntries([...sumsOf(items)].map(([currency, sum]) => [currency, String(sum)]));
  const { actor, role, reason } = initiator;
  await tx.statement(INSERT, [
    id,
    remedy,
    resource,
    filter,
    reason,
    items.length,
    sums,
    actor,
    role,
    `${SIGNATURE_MS_MAX} milliseconds`,
  ]);
  await tx.statement(INSERT_ITEMS, [
    id,
    items.map((item) => item.id),
    items.map(({ transactionNumber }) => transactionNumber),
    items.map(({ amountMinor }) => amountMinor),
    items.map(({ currency }) => currency),
    items.map(({ waitingFor }) => waitingFor),
    items.map(({ accountId }) => accountId),
  ]);
  audit(tx, id, { initiator, action: 'created', after: { remedy, filter, itemCount: items.length, sums } });
  return id;
}

const FIND = `SELECT ${COLUMNS} FROM remedy_lists WHERE id = $1::uuid`;

export async function findRemedyList(reader: Reader, id: RemedyListId): Promise<RemedyList | null> {
  const [list] = await reader.statement<RemedyList>(FIND, [id]);
  return list ?? null;
}

// A list that no one has signed in time keeps its status.
const OPEN = `SELECT ${COLUMNS} FROM remedy_lists WHERE status = 'waiting' AND expires_at > $1::timestamptz ORDER BY expires_at LIMIT $2`;

/** The lists that wait for a signature which can still be given, the first to expire first. `now`: real time. */
export function listWaitingRemedyLists(reader: Reader, now: Date, limit: number): Promise<RemedyList[]> {
  return reader.statement<RemedyList>(OPEN, [now, limit]);
}

const RUNNING = `SELECT ${COLUMNS} FROM remedy_lists WHERE status = 'running' AND remedy = ANY ($1::text[])
  ORDER BY expires_at LIMIT $2`;

/** The lists that are being done, of these remedies: those that rest take no other's place. */
export function listRunningRemedyLists(
  reader: Reader,
  remedies: readonly string[],
  limit: number,
): Promise<RemedyList[]> {
  return reader.statement<RemedyList>(RUNNING, [remedies, limit]);
}

// By the database's clock, which set `decided_at`.
const OVERDUE = `SELECT id FROM remedy_lists WHERE status = 'running' AND decided_at <= clock_timestamp() - $1::interval
  ORDER BY decided_at LIMIT $2`;

/** Signed lists whose time to be done is over, whatever their remedy. */
export async function listOverdueRemedyLists(reader: Reader, limit: number): Promise<RemedyListId[]> {
  const rows = await reader.statement<{ id: RemedyListId }>(OVERDUE, [`${SIGNED_MS_MAX} milliseconds`, limit]);
  return rows.map(({ id }) => id);
}

const NEWEST = `SELECT ${COLUMNS} FROM remedy_lists WHERE $1::uuid IS NULL OR id < $1::uuid ORDER BY id DESC LIMIT $2`;

/** Lists before `before` (an id; null: from the newest on), newest first. */
export function listNewestRemedyLists(
  reader: Reader,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<RemedyList[]> {
  return reader.statement<RemedyList>(NEWEST, [before, size]);
}

const LOCK = `${FIND} FOR UPDATE`;
const DECIDE = `UPDATE remedy_lists SET status = $2, decided_by = $3::uuid, decided_role = $4, decided_at = clock_timestamp(),
  decision_reason = $5 WHERE id = $1::uuid`;

type Signer = Initiator & { readonly role: Role; readonly reason: string };

/** Signs a list, which a console then carries out. `now`: real time. */
export async function signRemedyList(tx: Transaction, id: RemedyListId, initiator: Signer, now: Date): Promise<void> {
  requireSignable(await lockList(tx, id), initiator.actor, now);
  await decide(tx, id, 'running', initiator);
  audit(tx, id, { initiator, action: 'signed', before: { status: 'waiting' }, after: { status: 'running' } });
}

export async function rejectRemedyList(tx: Transaction, id: RemedyListId, initiator: Signer): Promise<void> {
  requireRejectable(await lockList(tx, id));
  await decide(tx, id, 'rejected', initiator);
  audit(tx, id, { initiator, action: 'rejected', before: { status: 'waiting' }, after: { status: 'rejected' } });
}

const STOP = `UPDATE remedy_lists SET status = 'stopped', stopped_by = $2::uuid, stopped_role = $3, stop_reason = $4,
  done_at = clock_timestamp() WHERE id = $1::uuid`;

/** Ends a list that is being done: no item of it is begun any more. What is done stays done. */
export async function stopRemedyList(tx: Transaction, id: RemedyListId, initiator: Signer): Promise<void> {
  requireStoppable(await lockList(tx, id));
  const { actor, role, reason } = initiator;
  await tx.statement(STOP, [id, actor, role, reason]);
  await auditEnd(tx, id, 'stopped', initiator);
}

async function lockList(tx: Transaction, id: RemedyListId): Promise<RemedyList> {
  const [list] = await tx.statement<RemedyList>(LOCK, [id]);
  if (list === undefined) throw recordNotFound('remedyList', 'id', id);
  return list;
}

async function decide(
  tx: Transaction,
  id: RemedyListId,
  status: RemedyListStatus,
  { actor, role, reason }: Signer,
): Promise<void> {
  await tx.statement(DECIDE, [id, status, actor, role, reason]);
}

const END = `UPDATE remedy_lists SET status = 'done', done_at = clock_timestamp()
  WHERE id = $1::uuid AND status = 'running'
    AND NOT EXISTS (SELECT FROM remedy_list_items WHERE list_id = $1::uuid AND result IS NULL)
  RETURNING id`;
const EXPIRE = `UPDATE remedy_lists SET status = 'expired', done_at = clock_timestamp() WHERE id = $1::uuid AND status = 'running'
  RETURNING id`;
const RESULTS = `SELECT result, count(*)::integer AS count FROM remedy_list_items
  WHERE list_id = $1::uuid AND result IS NOT NULL GROUP BY result ORDER BY result`;

/** Ends a list whose last item has its result; of several consoles one does. */
export async function endRemedyList(tx: Transaction, id: RemedyListId): Promise<boolean> {
  const [ended] = await tx.statement(END, [id]);
  if (ended === undefined) return false;
  await auditEnd(tx, id, 'done', BY_CONSOLE);
  return true;
}

/** Ends a list whose time is over. What is left of it stays undone. */
export async function expireRemedyList(tx: Transaction, id: RemedyListId): Promise<void> {
  if (await endRemedyList(tx, id)) return;
  const [expired] = await tx.statement(EXPIRE, [id]);
  if (expired !== undefined) await auditEnd(tx, id, 'expired', BY_CONSOLE);
}

const BY_CONSOLE: Initiator = { actor: 'console', requestId: null };

async function auditEnd(
  tx: Transaction,
  id: RemedyListId,
  status: 'done' | 'expired' | 'stopped',
  initiator: Initiator,
): Promise<void> {
  const results = await tx.statement<{ result: string; count: number }>(RESULTS, [id]);
  const after = { status, ...Object.fromEntries(results.map(({ result, count }) => [result, count])) };
  audit(tx, id, { initiator, action: status, before: { status: 'running' }, after });
}

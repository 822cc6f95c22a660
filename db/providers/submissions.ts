import { refusal } from '../../domain/frame/errors.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { auditorOf, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';

// Whether anything is submitted to providers. The one row is closed by a restore until it has caught up with the providers, and by
// an operator as an emergency stop. Either keeps it closed.

export const SUBMISSIONS_CLOSED = '(SELECT closed_at IS NOT NULL FROM provider_submissions)';

/** Why nothing is submitted to providers; at least one of the two is not null. */
export interface Closure {
  /** When `after-restore` closed them. */
  readonly restoreBeganAt: Date | null;
  readonly operator: { readonly closedAt: Date; readonly reason: string } | null;
}

interface Row {
  readonly closedAt: Date | null;
  readonly restoreBeganAt: Date | null;
  readonly operatorClosedAt: Date | null;
  readonly operatorReason: string | null;
}

const ROW = `
  SELECT closed_at AS "closedAt", restore_began_at AS "restoreBeganAt", operator_closed_at AS "operatorClosedAt",
    operator_reason AS "operatorReason" FROM provider_submissions`;

/** Null while submissions are open. */
export async function readClosure(reader: Reader): Promise<Closure | null> {
  const [row] = await reader.statement<Row>(ROW, []);
  return row === undefined ? null : closureOf(row);
}

/** The release before knows `closedAt` alone, and only a restore sets it there. */
function closureOf({ closedAt, restoreBeganAt, operatorClosedAt, operatorReason }: Row): Closure | null {
  if (closedAt === null) return null;
  if (operatorClosedAt === null || operatorReason === null) {
    return { restoreBeganAt: restoreBeganAt ?? closedAt, operator: null };
  }
  return { restoreBeganAt, operator: { closedAt: operatorClosedAt, reason: operatorReason } };
}

/** One sentence for people. */
export function closureInWords({ restoreBeganAt, operator }: Closure): string {
  const by = [
    ...(operator === null
      ? []
      : [`an operator closed submissions at ${operator.closedAt.toISOString()} (${operator.reason})`]),
    ...(restoreBeganAt === null ? [] : [`after-restore closed submissions at ${restoreBeganAt.toISOString()}`]),
  ];
  return `nothing is submitted to providers: ${by.join(', and ')}`;
}

async function lockClosure(tx: Transaction): Promise<Closure | null> {
  const [row] = await tx.statement<Row>(`${ROW} FOR UPDATE`, []);
  if (row === undefined) throw new Error('provider_submissions has no row');
  return closureOf(row);
}

const WRITE = `
  UPDATE provider_submissions SET (closed_at, restore_began_at, operator_closed_at, operator_reason) =
    ROW (least($1::timestamptz, $2::timestamptz), $1::timestamptz, $2::timestamptz, $3::text)`;

async function write(tx: Transaction, closure: Closure | null): Promise<void> {
  const { restoreBeganAt = null, operator = null } = closure ?? {};
  await tx.statement(WRITE, [restoreBeganAt, operator?.closedAt ?? null, operator?.reason ?? null]);
}

const audit = auditorOf('submission');

/** The one row has no id. */
const ALL = 'all';

/** What an operator's command did, and how submissions stand after it. */
export interface Commanded {
  readonly changed: boolean;
  readonly closure: Closure | null;
}

/**
 * An operator's emergency stop: from the commit on, no worker begins a payment or a return. Closed by an operator already, they keep that
 * time and reason.
 */
export async function closeSubmissions(tx: Transaction, reason: string, initiator: Initiator): Promise<Commanded> {
  const before = await lockClosure(tx);
  if (before !== null && before.operator !== null) return { changed: false, closure: before };
  const closedAt = await readClock(tx);
  const closure = { restoreBeganAt: before?.restoreBeganAt ?? null, operator: { closedAt, reason } };
  audit(tx, ALL, { action: 'closed', initiator, after: { reason } });
  await write(tx, closure);
  return { changed: true, closure };
}

/** Ends an operator's stop. Refuses what a restore has closed: until it has caught up, providers may know more than the ledger. */
export async function openSubmissions(tx: Transaction, reason: string, initiator: Initiator): Promise<Commanded> {
  const before = await lockClosure(tx);
  if (before === null) return { changed: false, closure: null };
  if (before.restoreBeganAt !== null) {
    const message = `Submissions cannot be opened: ${closureInWords(before)}. It opens them once it has caught up with the providers: complete it first.`;
    throw refusal('common.state.illegal_transition', ['submissions', 'status', 'open'], message);
  }
  audit(tx, ALL, { action: 'opened', initiator, after: { reason } });
  await write(tx, null);
  return { changed: true, closure: null };
}

/** The restore's part of the closure; an operator's stays as it is. Again, it keeps the first time. */
export async function closeForRestore(tx: Transaction): Promise<void> {
  const before = await lockClosure(tx);
  const restoreBeganAt = before?.restoreBeganAt ?? (await readClock(tx));
  await write(tx, { restoreBeganAt, operator: before?.operator ?? null });
}

/** Ends the restore's part. Returns what an operator still keeps closed, or null. */
export async function openAfterRestore(tx: Transaction): Promise<Closure | null> {
  const before = await lockClosure(tx);
  const closure = before?.operator == null ? null : { restoreBeganAt: null, operator: before.operator };
  await write(tx, closure);
  return closure;
}

import { rejection } from '../../domain/common/errors.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import type { Reader, Transaction } from '../query/database.ts';

// Whether anything is submitted to providers. A restore closes the one row until it has caught up with the providers, and an operator
// closes it as an emergency stop. Either keeps it closed.

export const SUBMISSIONS_CLOSED = '(SELECT closed_at IS NOT NULL FROM provider_submissions)';

/** Why nothing is submitted to providers; at least one of the two is not null. */
export interface Closure {
  /** When `after-restore` closed them. */
  readonly restoreBeganAt: Date | null;
  readonly operator: { readonly closedAt: Date; readonly reason: string } | null;
}

interface Row {
  readonly restoreBeganAt: Date | null;
  readonly operatorClosedAt: Date | null;
  readonly operatorReason: string | null;
}

const ROW = `
  SELECT restore_began_at AS "restoreBeganAt", operator_closed_at AS "operatorClosedAt",
    operator_reason AS "operatorReason" FROM provider_submissions`;

/** Null while submissions are open. */
export async function readClosure(reader: Reader): Promise<Closure | null> {
  const [row] = await reader.statement<Row>(ROW, []);
  return row === undefined ? null : closureOf(row);
}

function closureOf({ restoreBeganAt, operatorClosedAt, operatorReason }: Row): Closure | null {
  const isByOperator = operatorClosedAt !== null && operatorReason !== null;
  if (restoreBeganAt === null && !isByOperator) return null;
  return { restoreBeganAt, operator: isByOperator ? { closedAt: operatorClosedAt, reason: operatorReason } : null };
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
  UPDATE provider_submissions SET (restore_began_at, operator_closed_at, operator_reason) =
    ROW ($1::timestamptz, $2::timestamptz, $3::text)`;

async function write(tx: Transaction, closure: Closure | null): Promise<void> {
  const { restoreBeganAt = null, operator = null } = closure ?? {};
  await tx.statement(WRITE, [restoreBeganAt, operator?.closedAt ?? null, operator?.reason ?? null]);
}

const audit = auditorOf('submission');

/** The one row has no id. */
const ALL = 'all';

/** What an operator's command did, and the state of submissions after it. */
export interface CommandResult {
  readonly changed: boolean;
  readonly closure: Closure | null;
}

/**
 * An operator's emergency stop: from the commit on, no worker begins a payment or a return. If an operator has closed them already,
 * they keep that time and reason.
 */
export async function closeSubmissions(tx: Transaction, reason: string, initiator: Initiator): Promise<CommandResult> {
  const before = await lockClosure(tx);
  if (before !== null && before.operator !== null) return { changed: false, closure: before };
  const closedAt = await readClock(tx);
  const closure = { restoreBeganAt: before?.restoreBeganAt ?? null, operator: { closedAt, reason } };
  audit(tx, ALL, { action: 'closed', initiator, after: { reason } });
  await write(tx, closure);
  return { changed: true, closure };
}

/** Ends an operator's stop. Rejected while a restore keeps them closed: until it has caught up, providers may know more than the ledger. */
export async function openSubmissions(tx: Transaction, reason: string, initiator: Initiator): Promise<CommandResult> {
  const before = await lockClosure(tx);
  if (before === null) return { changed: false, closure: null };
  if (before.restoreBeganAt !== null) {
    const message = `Submissions cannot be opened: ${closureInWords(before)}. Complete it first: it opens them once it has caught up with the providers.`;
    throw rejection('common.state.illegal_transition', ['submissions', 'status', 'open'], message);
  }
  audit(tx, ALL, { action: 'opened', initiator, after: { reason } });
  await write(tx, null);
  return { changed: true, closure: null };
}

/** The restore's part of the closure; an operator's closure is kept. A repeated call keeps the first time. */
export async function closeForRestore(tx: Transaction): Promise<void> {
  const before = await lockClosure(tx);
  const restoreBeganAt = before?.restoreBeganAt ?? (await readClock(tx));
  await write(tx, { restoreBeganAt, operator: before?.operator ?? null });
}

/** Ends the restore's part. Returns an operator's closure, or null. */
export async function openAfterRestore(tx: Transaction): Promise<Closure | null> {
  const before = await lockClosure(tx);
  const closure = before?.operator == null ? null : { restoreBeganAt: null, operator: before.operator };
  await write(tx, closure);
  return closure;
}

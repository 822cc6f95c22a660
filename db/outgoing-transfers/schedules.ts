import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { formatDateTime, type LocalDate } from '../../domain/common/time/dates.ts';
import { decideReschedule } from '../../domain/outgoing-transfers/changes.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { type AuditedFields, appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';
import { lockSituation } from './situations.ts';

/** A date and a cut-off that external transfers wait for. */
export interface AwaitedSchedule {
  readonly scheme: string;
  readonly currency: string;
  readonly transferDate: LocalDate;
  /** Null if the scheme did not close. */
  readonly cutOffAt: Date | null;
}

// Pending transfers, and rejected payments that wait for a retry. Spelled as in the index, which therefore holds them all.
const WAITING = `scheme IS NOT NULL AND (status = 'pending' OR (status = 'processing' AND submission_status = 'rejected'))`;

// Steps from one schedule to the next by index, so that a million transfers that wait for one date cost one step.
const AWAITED_SCHEDULES = `
  WITH RECURSIVE schedule AS (
    (SELECT scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity') AS cut_off
     FROM outgoing_transfers WHERE ${WAITING} ORDER BY 1, 2, 3, 4 LIMIT 1)
    UNION ALL
    SELECT following.* FROM schedule CROSS JOIN LATERAL (
      SELECT scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity') AS cut_off
      FROM outgoing_transfers WHERE ${WAITING}
        AND (scheme, currency, transfer_date, coalesce(cut_off_at, '-infinity'))
          > (schedule.scheme, schedule.currency, schedule.transfer_date, schedule.cut_off)
      ORDER BY 1, 2, 3, 4 LIMIT 1) AS following
  )
  SELECT scheme, currency, transfer_date::text AS "transferDate", nullif(cut_off, '-infinity') AS "cutOffAt" FROM schedule`;

/** Every date and cut-off for which external transfers wait, each once. */
export function listAwaitedSchedules(reader: Reader): Promise<AwaitedSchedule[]> {
  return reader.statement<AwaitedSchedule>(AWAITED_SCHEDULES, []);
}

// Even a generic plan must find its page by index: with "$5 IS NULL OR id > $5" it would read past all ids before it.
const WAITING_FOR_SCHEDULE = `
  SELECT id FROM outgoing_transfers
  WHERE ${WAITING} AND scheme = $1 AND currency = $2 AND transfer_date = $3::date
    AND coalesce(cut_off_at, '-infinity') = coalesce($4::timestamptz, '-infinity')
    AND id > coalesce($5::uuid, '00000000-0000-0000-0000-000000000000')
  ORDER BY id LIMIT $6`;

/** The transfers that wait for a schedule by id, from after `after`. */
export async function listWaitingForSchedule(
  reader: Reader,
  { scheme, currency, transferDate, cutOffAt }: AwaitedSchedule,
  limit: number,
  after: OutgoingTransferId | null = null,
): Promise<OutgoingTransferId[]> {
  const values = [scheme, currency, transferDate, cutOffAt, after, limit];
  const rows = await reader.statement<{ id: OutgoingTransferId }>(WAITING_FOR_SCHEDULE, values);
  return rows.map(({ id }) => id);
}

/**
 * Transitions a waiting transfer whose date or cut-off no longer matches the calendars, wakes its workflow, and records it in the
 * audit log. Does nothing to any other transfer, so it can be repeated. Returns whether the transfer changed.
 */
export async function rescheduleOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  initiator: Initiator,
): Promise<boolean> {
  const change = decideReschedule(await lockSituation(tx, id, rules));
  if (change === null || change.outgoing === null || change.outgoing.before === null) return false;
  const { before, after } = change.outgoing;
  const entry = { resource: 'outgoing-transfer', resourceId: id, action: 'rescheduled', initiator } as const;
  appendAuditEntry(tx, { ...entry, before: auditedSchedule(before), after: auditedSchedule(after) });
  applyUnderLocks(tx, [change]);
  return true;
}

function auditedSchedule({ status, transferDate, cutOffAt }: OutgoingTransfer): AuditedFields {
  return { status, transferDate, cutOffDateTime: cutOffAt === null ? null : formatDateTime(cutOffAt) };
}

import { type SQL, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import { type OpenWork, PRIORITIES } from '../../domain/common/waits.ts';
import { CODE_LIFETIME_MS } from '../../domain/open-banking/consents.ts';
import type { Database, Reader, Transaction } from '../query/database.ts';
import { appendAuditEntry, type Initiator } from './audit-entries.ts';
import { wakeEach } from './workflow-wakeups.ts';

/** Rows with a workflow. A row is open as long as it has a `next_check_at`. */
export const OPEN_WORK_TYPES = [
  'account-connection',
  'incoming-transfer',
  'outgoing-transfer',
  'user-invitation',
  'consent',
] as const;
export type OpenWorkType = (typeof OPEN_WORK_TYPES)[number];

const TABLES: Readonly<Record<OpenWorkType, SQL>> = {
  'account-connection': sql`accounts`,
  'incoming-transfer': sql`incoming_transfers`,
  'outgoing-transfer': sql`outgoing_transfers`,
  'user-invitation': sql`user_sign_ups`,
  consent: sql`open_banking_consents`,
};

/** What an operator sees of each type; accounts only ever wait for their provider. */
const DESCRIPTIONS: Readonly<Record<OpenWorkType, SQL>> = {
  'account-connection': sql`
    SELECT client_id AS "clientId", id AS "accountId", status, NULL AS scheme, currency, provider,
      'provider' AS "waitingFor", NULL::timestamptz AS "cutOffAt", NULL::timestamptz AS since, NULL AS rule FROM accounts`,
  'incoming-transfer': sql`
    SELECT client_id AS "clientId", account_id AS "accountId", status, scheme, currency, provider,
      coalesce(waiting_for, 'provider') AS "waitingFor", NULL::timestamptz AS "cutOffAt", waiting_since AS since,
      compliance_rule->>'name' AS rule FROM incoming_transfers`,
  'outgoing-transfer': sql`
    SELECT client_id AS "clientId", account_id AS "accountId", status, scheme, currency, provider,
      coalesce(waiting_for, 'provider') AS "waitingFor", cut_off_at AS "cutOffAt", waiting_since AS since,
      compliance_rule->>'name' AS rule FROM outgoing_transfers`,
  'user-invitation': sql`
    SELECT NULL AS "clientId", NULL AS "accountId", status, NULL AS scheme, NULL AS currency, NULL AS provider,
      CASE WHEN mailed_at IS NULL THEN 'mail' ELSE 'answer' END AS "waitingFor", NULL::timestamptz AS "cutOffAt",
      NULL::timestamptz AS since, NULL AS rule FROM user_sign_ups`,
  consent: sql`
    SELECT NULL AS "clientId", NULL AS "accountId", status, NULL AS scheme, NULL AS currency, NULL AS provider,
      CASE status WHEN 'awaiting-authorisation' THEN 'account-holder' WHEN 'awaiting-exchange' THEN 'exchange'
        ELSE 'grant-expiry' END AS "waitingFor", NULL::timestamptz AS "cutOffAt",
      coalesce(granted_at, code_expires_at - ${`${CODE_LIFETIME_MS} milliseconds`}::interval, created_at) AS since, NULL AS rule FROM open_banking_consents`,
};

interface WaitRow {
  readonly rule: string | null;
  readonly since: Date | null;
  readonly cutOffAt: Date | null;
  readonly now: Date;
}

/** What a row's workflow waits for, in the terms of an operator's filter, and the clock that its deadlines refer to. */
export async function describeOpenWork(
  reader: Reader,
  type: OpenWorkType,
  id: string,
): Promise<{ readonly work: OpenWork } & WaitRow> {
  const [row] = await reader.execute<OpenWork & WaitRow>(
    sql`SELECT described.*, service_now() AS now FROM (${DESCRIPTIONS[type]} WHERE id = ${id}::uuid) AS described`,
  );
  if (row === undefined) throw recordNotFound(type, 'id', id);
  const { rule, since, cutOffAt, now, ...work } = row;
  return { work, rule, since, cutOffAt, now };
}

const RESTARTS = `SELECT id FROM audit_entries
  WHERE resource_id = $1 AND resource = 'workflow' AND action = 'restarted' AND after->>'endedRunId' = $2`;

/**
 * Wakes the workflow of a row whose run an operator's command has ended. False if the log has that already: of several commands
 * for one run only one has an entry. The wake-up's lock lets them check one at a time.
 */
export async function wakeRestarted(
  tx: Transaction,
  { type, id }: { readonly type: OpenWorkType; readonly id: string },
  { endedRunId, initiator }: { readonly endedRunId: string | null; readonly initiator: Initiator },
): Promise<boolean> {
  await wakeAll(tx, type, [id]);
  const resourceId = `${type}/${id}`;
  const restarts = await tx.statement(RESTARTS, [resourceId, endedRunId]);
  if (restarts.length > 0) return false;
  appendAuditEntry(tx, { resource: 'workflow', resourceId, action: 'restarted', initiator, after: { endedRunId } });
  return true;
}

/** How often to wake a workflow again while its row's check remains overdue. */
const CHECK_AGAIN = sql`interval '5 minutes'`;

/**
 * Wakes the workflows of overdue rows, oldest first, and postpones their next check. Concurrent sweeps skip each other's
 * rows. Returns how many rows it woke.
 */
export async function wakeOverdue(tx: Transaction, type: OpenWorkType, limit: number): Promise<number> {
  const rows = await tx.execute<{ id: string }>(sql`
    WITH overdue AS (
      SELECT id FROM ${TABLES[type]} WHERE next_check_at < (SELECT service_now())
      ORDER BY next_check_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE ${TABLES[type]} AS checked SET next_check_at = service_now() + ${CHECK_AGAIN}
    FROM overdue WHERE checked.id = overdue.id RETURNING checked.id`);
  await wakeAll(
    tx,
    type,
    rows.map((row) => row.id),
  );
  return rows.length;
}

const WOKEN_AT_ONCE = 500;

/** For how long the oldest overdue row has waited for the sweep; 0 if none is overdue. */
export async function readOverdueSeconds(reader: Reader, type: OpenWorkType): Promise<number> {
  const [row] = await reader.execute<{ seconds: number }>(sql`
    SELECT greatest(coalesce(extract(epoch FROM service_now() - min(next_check_at)), 0), 0)::float8 AS seconds
    FROM ${TABLES[type]} WHERE next_check_at IS NOT NULL`);
  return row?.seconds ?? 0;
}

/** Wakes the workflows of all open rows; returns how many. */
export async function wakeAllOpen(database: Database, type: OpenWorkType): Promise<number> {
  let woken = 0;
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const ids: string[] = await database.transaction(async (tx) => {
      const page = await listOpen(tx, type, from, WOKEN_AT_ONCE);
      await wakeAll(tx, type, page);
      return page;
    });
    woken += ids.length;
    after = ids.at(-1) ?? null;
    if (ids.length < WOKEN_AT_ONCE) return woken;
  }
}

/** The ids of open rows in order, from after `after`. */
export async function listOpen(
  reader: Reader,
  type: OpenWorkType,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await reader.execute<{ id: string }>(sql`
    SELECT id FROM ${TABLES[type]}
    WHERE next_check_at IS NOT NULL AND (${after}::uuid IS NULL OR id > ${after}::uuid) ORDER BY id LIMIT ${limit}`);
  return rows.map((row) => row.id);
}

/** The ids of open rows, the earliest check first. */
export async function listOpenByCheck(reader: Reader, type: OpenWorkType, limit: number): Promise<string[]> {
  const rows = await reader.execute<{ id: string }>(sql`
    SELECT id FROM ${TABLES[type]} WHERE next_check_at IS NOT NULL ORDER BY next_check_at LIMIT ${limit}`);
  return rows.map((row) => row.id);
}

export async function whichAreOpen(reader: Reader, type: OpenWorkType, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await reader.execute<{ id: string }>(sql`
    SELECT id FROM ${TABLES[type]} WHERE next_check_at IS NOT NULL AND id = ANY (${arrayOf(ids)}::uuid[])`);
  return new Set(rows.map((row) => row.id));
}

// As for a new transfer (priorityOf).
const LATER_BY_DATE = sql`
  CASE WHEN waiting_for IN ('date', 'next-window') OR transfer_date > (service_now() AT TIME ZONE 'UTC')::date THEN ${PRIORITIES.later}::integer ELSE ${PRIORITIES.usual} END`;

/** Wakes the workflows of these rows; transfers with a later date get a lower priority. */
export async function wakeAll(tx: Transaction, type: OpenWorkType, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const list = sql`${arrayOf(ids)}::uuid[]`;
  if (type !== 'outgoing-transfer') return wakeEach(tx, sql`SELECT ${type}::text AS type, unnest(${list}) AS id`);
  const rows = sql`SELECT ${type}::text AS type, id, waiting_for, transfer_date FROM outgoing_transfers WHERE id = ANY (${list})`;
  await wakeEach(tx, rows, LATER_BY_DATE);
}

/** Ids as one array parameter; they contain no character that an array literal must quote. */
function arrayOf(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}

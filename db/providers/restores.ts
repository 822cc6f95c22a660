import { and, eq, inArray, sql } from 'drizzle-orm';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import type { PaymentInKey } from './callbacks.ts';
import { closeForRestore } from './submissions.ts';

/** What a database needs after a restore from a backup before it serves again (docs/runbook/postgres.md). */

/** Payers may know client and ledger numbers that were issued after the backup, so these must not be issued again. */
const NUMBER_GAP = 100_000;

/**
 * Closes submissions to providers, and skips the event positions and the client and ledger numbers that may have been used
 * after the backup. Each call skips further, which does no harm.
 */
export async function beginAfterRestore(tx: Transaction, positionGap: number): Promise<void> {
  await closeForRestore(tx);
  await tx.execute(sql`UPDATE event_sequencer SET last_position = last_position + ${positionGap}::bigint`);
  for (const numbers of ['client_numbers', 'ledger_numbers']) {
    // In a loop: setval() could also go back, so the service's role has no right to it.
    await tx.execute(sql`SELECT count(nextval(${numbers}::regclass)) FROM generate_series(1, ${NUMBER_GAP}::integer)`);
  }
}

/** Connected processes of the service, by application name. */
export async function listServiceProcesses(reader: Reader): Promise<string[]> {
  const rows = await reader.execute<{ name: string }>(sql`
    SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name IN ('api', 'loops', 'worker', 'console') ORDER BY name`);
  return rows.map(({ name }) => name);
}

interface UnsettledValues {
  readonly provider: string;
  readonly after: OutgoingTransferId | null;
  readonly limit: number;
}

const UNSETTLED = prepared((db, given: Given<UnsettledValues>) => {
  const { id, status, provider, scope, method } = outgoingTransfers;
  return db
    .select({ id })
    .from(outgoingTransfers)
    .where(
      and(
        inArray(status, ['pending', 'processing', 'released']),
        eq(provider, given.provider),
        eq(scope, 'external'),
        eq(method, 'built-in'),
        sql`(${given.after}::uuid IS NULL OR ${id} > ${given.after}::uuid)`,
      ),
    )
    .orderBy(id)
    .limit(given.limit);
});

/** Transfers that a provider may have carried out without our knowledge, in order of id. */
export async function listUnsettledPayments(
  reader: Reader,
  provider: string,
  after: OutgoingTransferId | null,
  limit: number,
): Promise<OutgoingTransferId[]> {
  const rows = await reader.run(UNSETTLED, { provider, after, limit });
  return rows.map(({ id }) => id);
}

export interface UnpaidTransfer {
  readonly id: OutgoingTransferId;
  readonly status: string;
  readonly transferDate: string;
  /** The provider that pays it; null if it is internal or paid by its caller. */
  readonly paidBy: string | null;
  /** An operator has decided after this restore that it continues. */
  readonly isResumed: boolean;
}

const RESUME_CONFIRMED = 'resumed-after-restore';

const UNPAID = `
  SELECT id, status, transfer_date::text AS "transferDate",
    CASE WHEN scope = 'external' AND method = 'built-in' THEN provider END AS "paidBy",
    EXISTS (SELECT FROM audit_entries WHERE resource_id = outgoing_transfers.id::text AND action = '${RESUME_CONFIRMED}'
      AND (after ->> 'since')::timestamptz = $2) AS "isResumed"
  FROM outgoing_transfers WHERE id = ANY ($1::uuid[]) AND status IN ('pending', 'processing') ORDER BY id`;

/** Those of these transfers that have not been paid, after the restore of that instant. */
export async function listUnpaid(reader: Reader, ids: readonly string[], since: Date): Promise<UnpaidTransfer[]> {
  return reader.statement<UnpaidTransfer>(UNPAID, [ids, since.toISOString()]);
}

/** Records the decision that this transfer continues after the restore of that instant. */
export function confirmResume(tx: Transaction, id: OutgoingTransferId, since: Date, initiator: Initiator): void {
  const after = { since: since.toISOString() };
  appendAuditEntry(tx, { resource: 'outgoing-transfer', resourceId: id, action: RESUME_CONFIRMED, after, initiator });
}

const HELD = prepared((db, given: Given<{ provider: string }>) => {
  const { id, status, holdReason, provider, serviceProviderId } = incomingTransfers;
  return db
    .select({ serviceProviderId })
    .from(incomingTransfers)
    .where(and(eq(status, 'on-hold'), eq(holdReason, 'held-by-provider'), eq(provider, given.provider)))
    .orderBy(id);
});

/** The provider's ids of payments that it held at the time of the backup, oldest first; a provider holds few. */
export async function listHeldByProvider(reader: Reader, provider: string): Promise<string[]> {
  const rows = await reader.run(HELD, { provider });
  return rows.flatMap(({ serviceProviderId }) => serviceProviderId ?? []);
}

const ARRIVAL = prepared((db, given: Given<PaymentInKey>) => {
  const { id, provider, serviceProviderId } = incomingTransfers;
  return db
    .select({ id })
    .from(incomingTransfers)
    .where(and(eq(provider, given.provider), eq(serviceProviderId, given.serviceProviderId)));
});

/** The incoming transfer of a payment in. */
export function findArrival(reader: Reader, provider: string, serviceProviderId: string) {
  return reader.first(ARRIVAL, { provider, serviceProviderId });
}

import { sql } from 'drizzle-orm';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../driver/client.ts';

/** What a database needs before it serves again after a restore from a backup (docs/operations.md). */

/** Payers may know client and ledger numbers that were issued after the backup, so none may be issued again. */
const NUMBER_GAP = 100_000;

/**
 * Closes submissions to providers, and skips the event positions and the client and ledger numbers that may have been used
 * after the backup. Each call skips further, which does no harm.
 */
export async function beginAfterRestore(tx: Transaction, positionGap: number): Promise<void> {
  await tx.execute(sql`UPDATE provider_submissions SET closed_at = coalesce(closed_at, service_now())`);
  await tx.execute(sql`UPDATE event_sequencer SET last_position = last_position + ${positionGap}::bigint`);
  for (const numbers of ['client_numbers', 'ledger_numbers']) {
    await tx.execute(sql`SELECT setval(${numbers}::regclass, nextval(${numbers}::regclass) + ${NUMBER_GAP}::bigint)`);
  }
}

/** Connected processes of the service, by application name. */
export async function listServiceProcesses(reader: Reader): Promise<string[]> {
  const rows = await reader.execute<{ name: string }>(sql`
    SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name IN ('api', 'loops', 'worker') ORDER BY name`);
  return rows.map(({ name }) => name);
}

export async function openSubmissions(tx: Transaction): Promise<void> {
  await tx.execute(sql`UPDATE provider_submissions SET closed_at = NULL`);
}

export const SUBMISSIONS_CLOSED = '(SELECT closed_at IS NOT NULL FROM provider_submissions)';

export async function areSubmissionsClosed(reader: Reader): Promise<boolean> {
  const [row] = await reader.statement<{ closed: boolean }>(`SELECT ${SUBMISSIONS_CLOSED} AS closed`, []);
  return row?.closed ?? false;
}

/** Transfers that a provider may have carried out without our knowledge, in order of id. */
export async function listUnsettledPayments(
  reader: Reader,
  provider: string,
  after: OutgoingTransferId | null,
  limit: number,
): Promise<OutgoingTransferId[]> {
  const rows = await reader.execute<{ id: OutgoingTransferId }>(sql`
    SELECT id FROM outgoing_transfers
    WHERE status IN ('pending', 'processing', 'released') AND provider = ${provider} AND scope = 'external' AND method = 'built-in'
      AND (${after}::uuid IS NULL OR id > ${after}::uuid)
    ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** The provider's ids of payments that it held at the time of the backup, oldest first; a provider holds few. */
export async function listHeldByProvider(reader: Reader, provider: string): Promise<string[]> {
  const rows = await reader.execute<{ serviceProviderId: string }>(sql`
    SELECT service_provider_id AS "serviceProviderId" FROM incoming_transfers
    WHERE status = 'on-hold' AND hold_reason = 'held-by-provider' AND provider = ${provider} ORDER BY id`);
  return rows.map(({ serviceProviderId }) => serviceProviderId);
}

/** The incoming transfer of a payment in, and whether its money is still in suspense. */
export async function findArrival(reader: Reader, provider: string, serviceProviderId: string) {
  const [row] = await reader.execute<{ id: string; status: string; sendBackStatus: string }>(sql`
    SELECT id, status, send_back_status AS "sendBackStatus" FROM incoming_transfers
    WHERE provider = ${provider} AND service_provider_id = ${serviceProviderId}`);
  return row ?? null;
}

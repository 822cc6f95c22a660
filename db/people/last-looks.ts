import type { PersonId } from '../../domain/common/ids.ts';
import type { Reader } from '../query/database.ts';

/** What happened since an instant of the service's clock; each count is bounded. */
export interface ChangesSince {
  readonly failedPayments: number;
  readonly heldTransfers: number;
  readonly foundBreaks: number;
  readonly acts: readonly Act[];
}

/** What a person or an operator's command did. */
export interface Act {
  readonly id: string;
  readonly occurredAt: Date;
  readonly actor: string;
  /** The person's name, if it was one. */
  readonly name: string | null;
  readonly action: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly reason: string | null;
}

/** Where the counts end. */
export const COUNTED_MAX = 1_000;
const ACTS_MAX = 20;

// Acts of people carry a role; commands carry no request.
const ACTS = `SELECT entry.id, occurred_at AS "occurredAt", actor, person.name, action, resource, resource_id AS "resourceId", reason
  FROM audit_entries entry LEFT JOIN people person ON person.id::text = entry.actor
  WHERE occurred_at > $1 AND (role IS NOT NULL OR request_id IS NULL) AND actor <> $2
  ORDER BY occurred_at DESC LIMIT ${ACTS_MAX}`;

/** Failed payments are kept for years, and no index has them by the time of their failure: it is looked for among the newest. */
const LOOKED_AT_MAX = 5_000;

function countOf(table: string, status: string): string {
  return `(SELECT count(*) FROM (
    SELECT FROM (SELECT updated_at FROM ${table} WHERE status = '${status}' ORDER BY id DESC LIMIT ${LOOKED_AT_MAX}) AS newest
    WHERE updated_at > $1 LIMIT ${COUNTED_MAX}) AS few)::integer`;
}

const COUNTS = `SELECT
  ${countOf('outgoing_transfers', 'failed')} AS "failedPayments",
  ${countOf('incoming_transfers', 'on-hold')} AS "heldTransfers",
  (SELECT count(*) FROM (SELECT FROM reconciliation_breaks WHERE found_at > $1 AND status = 'open' LIMIT ${COUNTED_MAX}) AS few)::integer
    AS "foundBreaks"`;

export async function readChangesSince(reader: Reader, since: Date, personId: PersonId): Promise<ChangesSince> {
  const [acts, [counts]] = await Promise.all([
    reader.statement<Act>(ACTS, [since, personId]),
    reader.statement<Omit<ChangesSince, 'acts'>>(COUNTS, [since]),
  ]);
  if (counts === undefined) throw new Error('counts returned no row');
  return { ...counts, acts };
}

/** Until when the person has seen what changed, by the service's clock; null: never. */
export async function readLastLook(reader: Reader, personId: PersonId): Promise<Date | null> {
  const [row] = await reader.statement<{ at: Date | null }>(
    'SELECT last_looked_at AS at FROM people WHERE id = $1::uuid',
    [personId],
  );
  return row?.at ?? null;
}

export async function noteLook(reader: Reader, personId: PersonId, at: Date): Promise<void> {
  await reader.statement('UPDATE people SET last_looked_at = greatest(last_looked_at, $2) WHERE id = $1::uuid', [
    personId,
    at,
  ]);
}

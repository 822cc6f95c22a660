import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Reader } from '../../db/query/database.ts';

/** The requester of changes that a test makes without HTTP. */
export const TESTER: Initiator = { actor: 'tester', requestId: null };

export interface AuditedChange {
  readonly resource: string;
  readonly action: string;
  readonly actor: string;
  readonly requestId: string | null;
  readonly before: ReturnType<typeof JSON.parse>;
  readonly after: ReturnType<typeof JSON.parse>;
}

/** The audit of one resource, oldest first. */
export function auditOf(reader: Reader, resourceId: string): Promise<AuditedChange[]> {
  return reader.statement<AuditedChange>(
    `SELECT resource, action, actor, request_id AS "requestId", before, after
     FROM audit_entries WHERE resource_id = $1 ORDER BY id`,
    [resourceId],
  );
}

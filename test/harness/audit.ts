import type { Reader } from '../../db/driver/client.ts';
import type { Initiator } from '../../db/frame/audit-entries.ts';
import type { Json } from './api.ts';

/** The requester of changes that a test makes without HTTP. */
export const TESTER: Initiator = { actor: 'tester', requestId: null };

/** The audit of one resource, oldest first. */
export function auditOf(reader: Reader, resourceId: string): Promise<Json[]> {
  return reader.statement<Json>(
    `SELECT resource, action, actor, request_id AS "requestId", before, after
     FROM audit_entries WHERE resource_id = $1 ORDER BY id`,
    [resourceId],
  );
}

import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'lossless-json';
import { sendWithCommit, type Transaction } from '../driver/client.ts';
import { newId } from './ids.ts';

/** Who asked for a change. */
export interface Initiator {
  /** A machine user's id, or the operating system's user for a command. */
  readonly actor: string;
  /** The `Request-Id`; null for a command. */
  readonly requestId: string | null;
}

/** The audited resources, in the singular. */
export type AuditedResource =
  | 'account'
  | 'balance-adjustment'
  | 'client'
  | 'fee-sweep'
  | 'incoming-transfer'
  | 'machine-user'
  | 'outgoing-transfer'
  | 'provisioned-account-credit';

/** Fields named and formatted as the interface shows them. No secrets, no personal data. */
export type AuditedFields = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  readonly initiator: Initiator;
  readonly resource: AuditedResource;
  readonly resourceId: string;
  /** A participle: `created`, `authorized`. */
  readonly action: string;
  /** Absent from a creation. */
  readonly before?: AuditedFields;
  /** Absent from a removal. */
  readonly after?: AuditedFields;
}

// The previous release requires `subject`: it holds the resource's id, and its index finds an entry by that.
const APPEND = `
  INSERT INTO audit_entries (id, occurred_at, actor, action, subject, resource, resource_id, request_id, before, after)
  VALUES ($1, service_now(), $2, $3, $4, $5, $4, $6, $7, $8)`;

/**
 * Appends to the audit log in the transaction of the change, so a change that cannot be audited does not happen. The entry
 * keeps the fields that differ between `before` and `after`; if none differ, there is no entry.
 */
export function appendAuditEntry(tx: Transaction, entry: AuditEntry): void {
  const { initiator, resource, resourceId, action } = entry;
  const { before, after } = changedFields(entry);
  if (before !== null && after !== null && Object.keys(after).length === 0) return;
  const values = [
    newId(),
    initiator.actor,
    action,
    resourceId,
    resource,
    initiator.requestId,
    json(before),
    json(after),
  ];
  sendWithCommit(tx.statement(APPEND, values));
}

/** Amounts keep every digit. */
function json(fields: AuditedFields | null): string | null {
  return fields === null ? null : (stringify(fields) ?? null);
}

function changedFields({ before, after }: AuditEntry): { before: AuditedFields | null; after: AuditedFields | null } {
  if (before === undefined || after === undefined) return { before: before ?? null, after: after ?? null };
  const changed = Object.keys(after).filter((field) => !isDeepStrictEqual(before[field], after[field]));
  const only = (fields: AuditedFields) => Object.fromEntries(changed.map((field) => [field, fields[field] ?? null]));
  return { before: only(before), after: only(after) };
}

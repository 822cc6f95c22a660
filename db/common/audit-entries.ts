import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'lossless-json';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { Transaction } from '../query/database.ts';
import { writing } from '../query/row-writers.ts';
import { newId } from './ids.ts';

/** Who asked for a change. */
export interface Initiator {
  /**
   * The id of a machine user or, in the console, of a person; the operating system's user for a command, the actor of a signalled decision, for an invited person the
   * id of the sign-up, a third-party provider's id, or `calendars`.
   */
  readonly actor: string;
  /** The `Request-Id`, or the id of a decision that Temporal signalled; null for a command. */
  readonly requestId: string | null;
  /** The role that let a person do it. */
  readonly role?: Role;
  /** Why, in the person's words. */
  readonly reason?: string;
}

/**
 * The audited resources, in the singular. A `restore` has the instant of the restored state as its id, a `workflow`
 * that of Temporal, or `all`, a `submission` always `all`.
 */
export const AUDITED_RESOURCES = [
  'account',
  'balance-adjustment',
  'bank-file',
  'bank-file-request',
  'beneficiary',
  'beneficiary-bank-account',
  'beneficiary-verification',
  'calendar',
  'client',
  'client-relation',
  'consent',
  'fee-sweep',
  'incoming-transfer',
  'machine-user',
  'outgoing-transfer',
  'person',
  'provisioned-account-credit',
  'reconciliation',
  'reconciliation-break',
  'remedy-list',
  'restore',
  'submission',
  'third-party-provider',
  'user',
  'user-client-relation',
  'user-invitation',
  'webhook-delivery',
  'webhook-subscription',
  'workflow',
] as const;

export type AuditedResource = (typeof AUDITED_RESOURCES)[number];

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
  /** Fields whose values the log must not hold: the entry lists only the names of those that changed, as `changedFields`. */
  readonly concealed?: { readonly before: object; readonly after: object };
}

interface AuditRow {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly resource: AuditedResource;
  readonly resource_id: string;
  readonly request_id: string | null;
  readonly before: AuditedFields | null;
  readonly after: AuditedFields | null;
  readonly role: Role | null;
  readonly reason: string | null;
}

const APPEND = writing<AuditRow>({
  name: 'audit entries',
  stage: 'audit',
  columns: `id uuid, actor text, action text, resource text, resource_id text, request_id text, before jsonb, after jsonb, role text, reason text`,
  recordOf: (entry) => stringify(entry) ?? '{}',
  textOf: (
    rows,
  ) => `INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id, request_id, before, after, role, reason)
    SELECT id, service_now(), actor, action, resource, resource_id, request_id, before, after, role, reason FROM ${rows}`,
});

/**
 * Appends to the audit log in the transaction of the change, so a change that cannot be audited does not happen. The entry
 * keeps the fields that differ between `before` and `after`; if none differ, there is no entry.
 */
export function appendAuditEntry(tx: Transaction, entry: AuditEntry): void {
  const row = auditRow(entry);
  if (row !== null) tx.sendEach(APPEND, [row]);
}

/** The columns of an entry, for a statement that writes it together with the change; `service_now()` is its time. Null: there is no entry. */
export function auditRow(entry: AuditEntry): AuditRow | null {
  const { initiator, resource, resourceId, action } = entry;
  const { before, after } = changedFields(entry);
  if (before !== null && after !== null && Object.keys(after).length === 0) return null;
  const { actor, requestId, role = null, reason = null } = initiator;
  return {
    id: newId(),
    actor,
    action,
    resource,
    resource_id: resourceId,
    request_id: requestId,
    before,
    after,
    role,
    reason,
  };
}

/** `appendAuditEntry` for one kind of resource. */
export function auditorOf(resource: AuditedResource) {
  return (tx: Transaction, resourceId: string, entry: Omit<AuditEntry, 'resource' | 'resourceId'>): void =>
    appendAuditEntry(tx, { resource, resourceId, ...entry });
}

function changedFields({ before, after, concealed }: AuditEntry): {
  before: AuditedFields | null;
  after: AuditedFields | null;
} {
  if (before === undefined || after === undefined) return { before: before ?? null, after: after ?? null };
  const changed = Object.keys(after).filter((field) => !isDeepStrictEqual(before[field], after[field]));
  const only = (fields: AuditedFields) => Object.fromEntries(changed.map((field) => [field, fields[field] ?? null]));
  const names = concealed === undefined ? [] : namesOfChanges(concealed.before, concealed.after);
  return { before: only(before), after: { ...only(after), ...(names.length === 0 ? {} : { changedFields: names }) } };
}

/** The dotted names of the fields that differ: `profile.email`. Arrays differ as a whole. */
function namesOfChanges(before: object, after: object): string[] {
  const one = new Map<string, unknown>(Object.entries(before));
  const other = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) => {
    const [from, to] = [one.get(name) ?? null, other.get(name) ?? null];
    if (isDeepStrictEqual(from, to)) return [];
    return isGroup(from) && isGroup(to) ? namesOfChanges(from, to).map((inner) => `${name}.${inner}`) : [name];
  });
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

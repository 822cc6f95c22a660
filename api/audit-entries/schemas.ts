import * as v from 'valibot';
import type { AuditFilter, LoggedEntry } from '../../db/audit-entries/reads.ts';
import { AUDITED_RESOURCES } from '../../db/common/audit-entries.ts';
import { REASON_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { formatDateTimeMs } from '../../domain/common/time/dates.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, hint, nullable, optional, pattern, picklist, text, uuid } from '../http/schemas/schemas.ts';

/** Far longer than any operating system's user name, request id or resource's id. */
const NAME_LENGTH_MAX = 100;
const ACTION = /^[a-z]+([-.][a-z]+)*$/;

/** Fields of the resource, under their interface names. */
const auditedFields = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null,
    'must be an object',
  ),
  hint<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
);

export const auditEntryShown = named(
  'AuditEntry',
  fields({
    id: uuid(),
    occurredAt: dateTime(),
    actor: text(NAME_LENGTH_MAX),
    action: text(NAME_LENGTH_MAX),
    // Text, as later releases audit more resources.
    resource: text(NAME_LENGTH_MAX),
    resourceId: text(NAME_LENGTH_MAX),
    requestId: nullable(text(NAME_LENGTH_MAX)),
    before: nullable(auditedFields),
    after: nullable(auditedFields),
    role: nullable(named('Role', picklist(ROLES))),
    reason: nullable(text(REASON_LENGTH_MAX)),
  }),
);

export const AUDIT_ENTRY_EXAMPLE = {
  id: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f20',
  occurredAt: '2026-11-21T09:30:12.417',
  actor: '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11',
  action: 'status-changed',
  resource: 'client',
  resourceId: '0197b2a4-7b00-7f11-9d3e-2f4a6c8e0b13',
  requestId: 'case-2026-117',
  before: { status: 'active' },
  after: { status: 'suspended' },
  role: null,
  reason: null,
};

/** The filters that the list and the export share. */
export const auditFilters = {
  'data.auditEntry.resource': optional(named('AuditedResource', picklist(AUDITED_RESOURCES))),
  'data.auditEntry.resourceId': optional(text(NAME_LENGTH_MAX)),
  'data.auditEntry.actor': optional(text(NAME_LENGTH_MAX)),
  'data.auditEntry.action': optional(pattern(ACTION, 'an action')),
  'data.auditEntry.occurredFrom': optional(dateTime()),
  'data.auditEntry.occurredTo': optional(dateTime()),
};

type Query = { readonly [Name in keyof typeof auditFilters]: v.InferOutput<(typeof auditFilters)[Name]> };

export function auditFilterOf(query: Query): AuditFilter {
  return {
    resource: query['data.auditEntry.resource'],
    resourceId: query['data.auditEntry.resourceId'],
    actor: query['data.auditEntry.actor'],
    action: query['data.auditEntry.action'],
    occurredFrom: query['data.auditEntry.occurredFrom'],
    occurredTo: query['data.auditEntry.occurredTo'],
  };
}

export function presentAuditEntry({ occurredAt, ...entry }: LoggedEntry) {
  return { ...entry, occurredAt: formatDateTimeMs(occurredAt) };
}

import { type LoggedEntry, listAuditEntries, streamAuditEntries } from '../../db/audit-entries/reads.ts';
import { csvLine, withoutFormulas } from '../../domain/common/texts/csv.ts';
import { fileRoute } from '../http/files/file-route.ts';
import { stringify } from '../http/requests/json.ts';
import { type Route, route } from '../http/route.ts';
import { fields, list } from '../http/schemas/schemas.ts';
import { AUDIT_ENTRY_EXAMPLE, auditEntryShown, auditFilterOf, auditFilters, presentAuditEntry } from './schemas.ts';

const getAuditEntries = route(
  {
    method: 'GET',
    path: '/audit-entries',
    operationId: 'listAuditEntries',
    summary: 'List audit entries in chronological order',
    description:
      'Every change made on request. `before` and `after` contain only the fields that changed, without secrets or personal data; `changedFields` names the fields whose values are omitted. `requestId` is null if the change was not requested over HTTP, and for the creation of an internal transfer that was settled by its request. `role` and `reason` belong to acts of people in the console. Both ends of the period are included.',
    tag: 'Audit',
    roles: ['admin'],
    paged: true,
    query: auditFilters,
    response: fields({ auditEntries: list(auditEntryShown, 0, 100) }),
    examples: { response: { auditEntries: [AUDIT_ENTRY_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const { rows, totalElements } = await listAuditEntries(services.database.reader, auditFilterOf(query), page);
    return { data: { auditEntries: rows.map(presentAuditEntry) }, totalElements };
  },
);

const COLUMNS = [
  'id',
  'occurredAt',
  'actor',
  'action',
  'resource',
  'resourceId',
  'requestId',
  'before',
  'after',
  'role',
  'reason',
];

const exportAuditEntries = fileRoute(
  {
    path: '/audit-entries/export',
    operationId: 'exportAuditEntries',
    summary: 'Export audit entries as a file',
    description:
      'All entries that the list returns with the same filters, up to now, as CSV (UTF-8, with the field names as header; `before` and `after` as JSON). A period that ended at least a minute ago is complete. An apostrophe precedes any text that a spreadsheet would read as a formula. If the connection closes before the last chunk, the file is incomplete.',
    tag: 'Audit',
    roles: ['admin'],
    query: auditFilters,
    files: { 'text/csv': `${csvLine(COLUMNS)}${auditEntryLine(AUDIT_ENTRY_EXAMPLE)}` },
  },
  async ({ query, services }) => {
    const pages = streamAuditEntries(services.database.reader, auditFilterOf(query));
    // Read before the answer begins, so that an unreachable database is a 503.
    const first = await pages.next();
    return { mediaType: 'text/csv; charset=utf-8', name: 'audit-entries.csv', chunks: linesOf(first, pages) };
  },
);

export const auditEntryRoutes: readonly Route[] = [getAuditEntries, exportAuditEntries];

async function* linesOf(
  first: IteratorResult<readonly LoggedEntry[], void>,
  others: AsyncIterable<readonly LoggedEntry[]>,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  if (first.done === true) return;
  yield textOf(first.value);
  for await (const entries of others) yield textOf(entries);
}

function textOf(entries: readonly LoggedEntry[]): string {
  return entries.map((entry) => auditEntryLine(presentAuditEntry(entry))).join('');
}

function auditEntryLine(entry: ReturnType<typeof presentAuditEntry>): string {
  const { id, occurredAt, actor, action, resource, resourceId, requestId, before, after, role, reason } = entry;
  const names = [id, occurredAt, actor, action, resource, resourceId, requestId];
  return csvLine([
    ...names.map((name) => name && withoutFormulas(name)),
    jsonField(before),
    jsonField(after),
    role,
    reason && withoutFormulas(reason),
  ]);
}

/** Escapes semicolons, so that no spreadsheet splits cells there; JSON already escapes all other separators. */
function jsonField(fields: Readonly<Record<string, unknown>> | null): string | null {
  return fields === null ? null : stringify(fields).replaceAll(';', '\\u003b');
}

import { type LoggedEntry, listAuditEntries, walkAuditEntries } from '../../db/audit-entries/reads.ts';
import { csvLine, withoutFormulas } from '../frame/files/csv.ts';
import { fileRoute } from '../frame/files/files.ts';
import { stringify } from '../frame/requests/json.ts';
import { type Route, route } from '../frame/route.ts';
import { fields, list } from '../frame/schemas/schemas.ts';
import { AUDIT_ENTRY_EXAMPLE, auditEntryShown, auditFilterOf, auditFilters, presentAuditEntry } from './schemas.ts';

const getAuditEntries = route(
  {
    method: 'GET',
    path: '/audit-entries',
    operationId: 'listAuditEntries',
    summary: 'Who changed what, by time',
    description:
      'Every change that somebody asked for. before and after hold only the fields that changed, without secrets or personal data: changedFields names fields whose values are left out. requestId is null for the creation of a transfer that was settled at once by the one statement of its request, and for what no request over HTTP asked for. The period includes both of its ends.',
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

const COLUMNS = ['id', 'occurredAt', 'actor', 'action', 'resource', 'resourceId', 'requestId', 'before', 'after'];

const exportAuditEntries = fileRoute(
  {
    path: '/audit-entries/export',
    operationId: 'exportAuditEntries',
    summary: 'Who changed what, as a file',
    description:
      'Every entry that the list has with the same filters, up to the present, as CSV (UTF-8, under the names of the fields; before and after as JSON). A period that ended a minute ago is complete. An apostrophe stands before what a spreadsheet would take for a formula. A connection that is cut before the last chunk means that the file is not whole.',
    tag: 'Audit',
    roles: ['admin'],
    query: auditFilters,
    files: { 'text/csv': `${csvLine(COLUMNS)}${auditEntryLine(AUDIT_ENTRY_EXAMPLE)}` },
  },
  async ({ query, services }) => {
    const pages = walkAuditEntries(services.database.reader, auditFilterOf(query));
    // Read before the answer begins, so that a database out of reach is a 503.
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
  const { id, occurredAt, actor, action, resource, resourceId, requestId, before, after } = entry;
  const names = [id, occurredAt, actor, action, resource, resourceId, requestId];
  return csvLine([...names.map((name) => name && withoutFormulas(name)), jsonField(before), jsonField(after)]);
}

/** Escaped, a semicolon separates no cells, and the JSON stays what it is; all other separators are escaped in it anyway. */
function jsonField(fields: Readonly<Record<string, unknown>> | null): string | null {
  return fields === null ? null : stringify(fields).replaceAll(';', '\\u003b');
}

import { type AuditFilter, type LoggedEntry, listNewestAuditEntries } from '../../db/audit-entries/reads.ts';
import { AUDITED_RESOURCES } from '../../db/common/audit-entries.ts';
import { listPage } from '../lists/list-page.tsx';
import { timeCursorOf, timeCursorText } from '../lists/newest-in-time.ts';
import { sliceOf } from '../lists/slices.ts';
import { pageOf } from '../look/links.ts';
import { Id, Instant } from '../look/values.tsx';

function filterOf(given: Readonly<Record<string, string>>): AuditFilter {
  return {
    resource: AUDITED_RESOURCES.find((known) => known === given.resource),
    resourceId: given.id,
    actor: given.actor,
    action: given.action,
    occurredFrom: given.from === undefined ? undefined : new Date(`${given.from}T00:00:00Z`),
    occurredTo: given.to === undefined ? undefined : new Date(`${given.to}T23:59:59.999Z`),
  };
}

const changeOf = ({ before, after }: LoggedEntry): string =>
  [before === null ? '' : JSON.stringify(before), after === null ? '' : JSON.stringify(after)]
    .filter((part) => part !== '')
    .join(' → ');

type Entry = Awaited<ReturnType<typeof listNewestAuditEntries>>[number];

export const auditList = listPage<Entry>({
  path: '/audit-entries',
  title: 'Audit log',
  question: 'Who changed what, when, and why. Newest first.',
  section: '/access',
  roles: ['admin'],
  filters: [
    { name: 'resource', label: 'Resource', kind: 'choice', choices: AUDITED_RESOURCES },
    { name: 'id', label: 'Id', kind: 'text' },
    { name: 'actor', label: 'Actor', kind: 'text' },
    { name: 'action', label: 'Action', kind: 'text' },
    { name: 'from', label: 'From', kind: 'date' },
    { name: 'to', label: 'To', kind: 'date' },
  ],
  empty: 'Nothing like this was done.',
  read: ({ services }, given, { after, size }) =>
    sliceOf(
      size,
      ({ cursor }) => timeCursorText(cursor),
      (rows) =>
        listNewestAuditEntries(services.database.reader, filterOf(given), { before: timeCursorOf(after), size: rows }),
    ),
  columns: [
    {
      header: 'When',
      cell: ({ occurredAt }) => <Instant at={occurredAt} />,
      text: ({ occurredAt }) => occurredAt.toISOString(),
    },
    { header: 'Actor', cell: actorOf, text: ({ actor }) => actor },
    { header: 'Role', cell: ({ role }) => role ?? '–', text: ({ role }) => role ?? '' },
    {
      header: 'Did',
      cell: ({ resource, action }) => `${resource} ${action}`,
      text: ({ resource, action }) => `${resource} ${action}`,
    },
    { header: 'To', cell: resourceOf, text: ({ resourceId }) => resourceId },
    { header: 'Reason', cell: ({ reason }) => reason ?? '–', text: ({ reason }) => reason ?? '' },
    { header: 'Change', cell: (entry) => <code>{changeOf(entry)}</code>, text: changeOf },
  ],
});

function actorOf({ actor, role }: LoggedEntry) {
  return role === null ? actor : <Id of={actor} to={`/people/${actor}`} />;
}

function resourceOf({ resource, resourceId }: LoggedEntry) {
  const page = pageOf(resource, resourceId);
  return page === null ? <Id of={resourceId} /> : <Id of={resourceId} to={page} />;
}

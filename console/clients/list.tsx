import { type ClientFilter, countClients, listNewestClients } from '../../db/clients/clients.ts';
import { CLIENT_STATUSES } from '../../domain/clients/clients.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFound } from '../lists/newest-first.ts';
import { Id, Status } from '../look/values.tsx';

const IDENTITY_TYPES = ['individual', 'corporate'] as const;

function filterOf(given: Readonly<Record<string, string>>): ClientFilter {
  return {
    status: CLIENT_STATUSES.find((known) => known === given.status),
    identityType: IDENTITY_TYPES.find((known) => known === given.type),
    country: given.country?.toUpperCase(),
    fullName: given.name,
    email: given.email,
    clientNumber: given.number,
  };
}

export const clientList = listPage({
  path: '/clients',
  title: 'Clients',
  question: 'For whom money is held.',
  section: '/clients',
  filters: [
    { name: 'status', label: 'Status', kind: 'choice', choices: CLIENT_STATUSES },
    { name: 'type', label: 'Kind', kind: 'choice', choices: IDENTITY_TYPES },
    { name: 'country', label: 'Country', kind: 'text' },
    { name: 'name', label: 'Name', kind: 'text', findsHidden: true },
    { name: 'email', label: 'E-mail address', kind: 'text', findsHidden: true },
    { name: 'number', label: 'Client number', kind: 'text' },
  ],
  empty: 'No client is like this.',
  read: ({ services }, given, slice) =>
    newestFound(slice, (page) => listNewestClients(services.database.reader, filterOf(given), page)),
  count: ({ services }, given) => countClients(services.database.reader, filterOf(given), COUNTED_MAX),
  columns: [
    {
      header: 'Number',
      cell: ({ id, clientNumber }) => <Id of={clientNumber} to={`/clients/${id}`} />,
      text: ({ clientNumber }) => clientNumber,
    },
    {
      header: 'Name',
      cell: ({ fullName }, { privacy }) => privacy.name(fullName),
      text: ({ fullName }, { privacy }) => privacy.name(fullName),
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    { header: 'Kind', cell: ({ identity }) => identity.type, text: ({ identity }) => identity.type },
    {
      header: 'Country',
      cell: ({ identity }) => identity.country ?? '–',
      text: ({ identity }) => identity.country ?? '',
    },
    {
      header: 'E-mail address',
      cell: ({ profile }, { privacy }) => privacy.email(profile.email),
      text: ({ profile }, { privacy }) => privacy.email(profile.email),
    },
  ],
});

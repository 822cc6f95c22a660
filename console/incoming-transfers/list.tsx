import { type IncomingTransferFilter, listNewestIncomingTransfers } from '../../db/incoming-transfers/reads.ts';
import {
  INCOMING_TRANSFER_STATUSES,
  INCOMING_TRANSFER_WAITS,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { amountOf, Id, Status } from '../look/values.tsx';
import { TRANSFER_FILTERS, transferFilterOf } from '../transfers/filters.ts';

function filterOf(given: Readonly<Record<string, string>>): IncomingTransferFilter {
  const { status, 'waiting-for': waitingFor } = given;
  return {
    status: INCOMING_TRANSFER_STATUSES.find((known) => known === status),
    waitingFor: INCOMING_TRANSFER_WAITS.find((known) => known === waitingFor),
    ...transferFilterOf(given),
  };
}

export const incomingTransferList = listPage({
  path: '/incoming-transfers',
  title: 'Incoming transfers',
  question: 'What has come in, newest first.',
  section: '/incoming-transfers',
  filters: [
    { name: 'status', label: 'Status', kind: 'choice', choices: INCOMING_TRANSFER_STATUSES },
    { name: 'waiting-for', label: 'Waits for', kind: 'choice', choices: INCOMING_TRANSFER_WAITS },
    ...TRANSFER_FILTERS,
  ],
  empty: 'No incoming transfer is like this.',
  isLive: true,
  read: ({ services }, given, { after, size }) =>
    newestFirst(
      { after, size },
      (page) => listNewestIncomingTransfers(services.database.reader, filterOf(given), page),
      ({ id }) => id,
    ),
  columns: [
    {
      header: 'Number',
      cell: ({ id, transactionNumber }) => <Id of={transactionNumber} to={`/incoming-transfers/${id}`} />,
      text: ({ transactionNumber }) => transactionNumber,
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    { header: 'Waits for', cell: ({ waitingFor }) => waitingFor ?? '–', text: ({ waitingFor }) => waitingFor ?? '' },
    { header: 'Amount', isNumber: true, cell: (row) => amountOf(row), text: (row) => amountOf(row) },
    {
      header: 'Scheme',
      cell: ({ scheme, scope }) => scheme ?? scope,
      text: ({ scheme, scope }) => scheme ?? scope,
    },
    {
      header: 'From',
      cell: ({ senderName }, { privacy }) => privacy.name(senderName),
      text: ({ senderName }, { privacy }) => privacy.name(senderName),
    },
    {
      header: 'Reference',
      cell: ({ senderInformation }, { privacy }) => privacy.text(senderInformation),
      text: ({ senderInformation }, { privacy }) => privacy.text(senderInformation),
    },
    { header: 'Date', cell: ({ transferDate }) => transferDate ?? '–', text: ({ transferDate }) => transferDate ?? '' },
  ],
});

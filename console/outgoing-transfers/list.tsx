import { listNewestOutgoingTransfers, type OutgoingTransferFilter } from '../../db/outgoing-transfers/reads.ts';
import { OUTGOING_TRANSFER_STATUSES, OUTGOING_TRANSFER_WAITS } from '../../domain/outgoing-transfers/statuses.ts';
import type { Filter } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { amountOf, Id, Status } from '../look/values.tsx';
import { ForAllForm } from '../remedies/for-all-form.tsx';
import { TRANSFER_FILTERS, transferFilterOf } from '../transfers/filters.ts';
import { OUTGOING_TRANSFER_REMEDIES } from './remedies.ts';

/** The remedy that freezes what this list shows. */
export const FOR_ALL_OUTGOING_TRANSFERS = 'for-all-outgoing-transfers';

export const OUTGOING_FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choice', choices: OUTGOING_TRANSFER_STATUSES },
  { name: 'waiting-for', label: 'Waits for', kind: 'choice', choices: OUTGOING_TRANSFER_WAITS },
  ...TRANSFER_FILTERS,
];

export function outgoingFilterOf(given: Readonly<Record<string, string>>): OutgoingTransferFilter {
  const { status, 'waiting-for': waitingFor } = given;
  return {
    status: OUTGOING_TRANSFER_STATUSES.find((known) => known === status),
    waitingFor: OUTGOING_TRANSFER_WAITS.find((known) => known === waitingFor),
    ...transferFilterOf(given),
  };
}

export const outgoingTransferList = listPage({
  path: '/outgoing-transfers',
  title: 'Outgoing transfers',
  question: 'What was asked to be paid, newest first.',
  section: '/outgoing-transfers',
  filters: OUTGOING_FILTERS,
  empty: 'No outgoing transfer is like this.',
  isLive: true,
  read: ({ services }, given, { after, size }) =>
    newestFirst(
      { after, size },
      (page) => listNewestOutgoingTransfers(services.database.reader, outgoingFilterOf(given), page),
      ({ id }) => id,
    ),
  above: async (context, given) => (
    <ForAllForm
      context={context}
      remedies={OUTGOING_TRANSFER_REMEDIES}
      action={`/outgoing-transfers/${FOR_ALL_OUTGOING_TRANSFERS}`}
      filter={given}
    />
  ),
  columns: [
    {
      header: 'Number',
      cell: ({ id, transactionNumber }) => <Id of={transactionNumber} to={`/outgoing-transfers/${id}`} />,
      text: ({ transactionNumber }) => transactionNumber,
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    { header: 'Waits for', cell: ({ waitingFor }) => waitingFor ?? '–', text: ({ waitingFor }) => waitingFor ?? '' },
    {
      header: 'Amount',
      isNumber: true,
      cell: (row) => amountOf(row),
      text: (row) => amountOf(row),
    },
    { header: 'Scheme', cell: ({ scheme }) => scheme ?? 'internal', text: ({ scheme }) => scheme ?? 'internal' },
    {
      header: 'To',
      cell: ({ beneficiary }, { privacy }) => privacy.name(beneficiary?.fullName ?? null),
      text: ({ beneficiary }, { privacy }) => privacy.name(beneficiary?.fullName ?? null),
    },
    { header: 'Date', cell: ({ transferDate }) => transferDate, text: ({ transferDate }) => transferDate },
  ],
});

import { listNewestFiles, type ShownFile } from '../../db/bank-files/by-hand/reads.ts';
import { BANK_FILE_STATES } from '../../domain/bank-files/by-hand/files.ts';
import type { Column } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { Instant, Status } from '../look/values.tsx';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { BRING_REMEDIES } from './remedies.ts';

const DIRECTIONS = ['out', 'in'] as const;

export function directionInWords(direction: 'out' | 'in'): string {
  return direction === 'out' ? 'ours' : 'the bank’s';
}

const COLUMNS: readonly Column<ShownFile>[] = [
  // A bank's name may be long, and is broken where an id is not.
  { header: 'File', cell: ({ id, name }) => <a href={`/bank-files/${id}`}>{name}</a>, text: ({ name }) => name },
  { header: 'Bank', cell: ({ provider }) => provider, text: ({ provider }) => provider },
  {
    header: 'Whose',
    cell: ({ direction }) => directionInWords(direction),
    text: ({ direction }) => direction,
  },
  { header: 'State', cell: ({ state }) => <Status of={state} />, text: ({ state }) => state },
  { header: 'Why', cell: ({ reason }) => reason ?? '–', text: ({ reason }) => reason ?? '' },
  { header: 'Message', cell: ({ message }) => message ?? 'not read', text: ({ message }) => message ?? '' },
  {
    header: 'Since',
    cell: ({ createdAt }) => <Instant at={createdAt} />,
    text: ({ createdAt }) => createdAt.toISOString(),
  },
];

export const bankFileList = listPage<ShownFile>({
  path: '/bank-files',
  title: 'Bank files',
  question: 'Which files went to banks and came from them? The newest first.',
  section: '/bank-files',
  filters: [
    { name: 'provider', label: 'Bank', kind: 'text' },
    { name: 'direction', label: 'Out (ours) or in (the bank’s)', kind: 'choice', choices: DIRECTIONS },
    { name: 'state', label: 'State', kind: 'choice', choices: BANK_FILE_STATES },
  ],
  empty: 'No file is like this.',
  isLive: true,
  read({ services }, { provider, ...given }, slice) {
    const direction = DIRECTIONS.find((known) => known === given.direction);
    const state = BANK_FILE_STATES.find((known) => known === given.state);
    return newestFirst(
      slice,
      (page) => listNewestFiles(services.database.reader, { provider, direction, state }, page),
      ({ id }) => id,
    );
  },
  columns: COLUMNS,
  above: async (context) => (
    <section class="card">
      <ul class="plain">
        <li>
          <a href="/bank-files?state=set-aside">Set aside</a>
        </li>
        <li>
          <a href="/held-payments">Held payments</a>
        </li>
        <li>
          <a href="/bank-file-requests">What was asked for, and signed</a>
        </li>
      </ul>
      {await actionsOf(context, BRING_REMEDIES)}
    </section>
  ),
});

import {
  countItemResults,
  ITEM_RESULTS,
  listRemedyListItems,
  type RemedyListItem,
} from '../../db/approvals/remedy-list-items.ts';
import { findRemedyList, listNewestRemedyLists, type RemedyList } from '../../db/approvals/remedy-lists.ts';
import { type Actor, readActors } from '../../db/people/actors.ts';
import { asId, type RemedyListId } from '../../domain/common/ids.ts';
import { AMOUNT } from '../lists/columns.ts';
import type { Column } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { pageOf } from '../look/links.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf, isOff } from '../remedies/remedy-pages.tsx';
import { LIST_PAGE, REMEDY_LIST_REMEDIES, sumsInWords, titleOf } from './list-remedies.ts';

const RESULTS = ['open', ...ITEM_RESULTS] as const;

/** The status of a list as people see it: one whose time is over can no longer be signed. */
function shownStatus({ status, expiresAt }: RemedyList, now: Date): string {
  return status === 'waiting' && expiresAt.getTime() <= now.getTime() ? 'expired' : status;
}

function idOf({ params }: PageContext): RemedyListId {
  return asId<RemedyListId>(params.id ?? '');
}

/** An item with the kind of its list's resources, which says where its page is. */
type Row = RemedyListItem & { readonly resource: string };

const COLUMNS: readonly Column<Row>[] = [
  { header: 'No.', isNumber: true, cell: ({ position }) => position, text: ({ position }) => String(position) },
  {
    header: 'Transfer',
    cell: ({ resource, id, transactionNumber }) => <Id of={transactionNumber} to={pageOf(resource, id) ?? '/'} />,
    text: ({ transactionNumber }) => transactionNumber,
  },
  AMOUNT,
  {
    header: 'Result',
    cell: ({ result }) => <Status of={result ?? 'open'} />,
    text: ({ result }) => result ?? 'open',
  },
  { header: 'What came of it', cell: ({ message }) => message ?? '–', text: ({ message }) => message ?? '' },
  {
    header: 'Done',
    cell: ({ doneAt }) => <Instant at={doneAt} />,
    text: ({ doneAt }) => doneAt?.toISOString() ?? '',
  },
];

const items = listPage<Row>({
  path: LIST_PAGE,
  title: 'A list of remedies',
  question: 'What was frozen, who signed it, and what came of each.',
  section: '/approvals',
  filters: [{ name: 'result', label: 'Result', kind: 'choice', choices: RESULTS }],
  empty: 'No item has this result.',
  isLive: true,
  columns: COLUMNS,
  async read(context, { result }, { after, size }) {
    const { reader } = context.services.database;
    const id = idOf(context);
    const list = await findRemedyList(reader, id);
    const position = after !== null && /^\d{1,5}$/.test(after) ? Number(after) : 0;
    const found = await listRemedyListItems(reader, id, { after: position, size: size + 1, result: result ?? null });
    const rows = found.slice(0, size).map((item) => ({ ...item, resource: list?.resource ?? '' }));
    return { rows, next: found.length > size ? String(rows.at(-1)?.position ?? 0) : null };
  },
  above: async (context) => {
    const list = await findRemedyList(context.services.database.reader, idOf(context));
    return list === null ? null : <Facts context={context} list={list} />;
  },
});

/** A remedy for many: what, why, who, how far it is, and the result of each. */
export const remedyListPage: Page = {
  ...items,
  async view(context) {
    const list = await findRemedyList(context.services.database.reader, idOf(context));
    if (list === null) return null;
    const view = await items.view(context);
    return view === null || view instanceof Response ? view : { ...view, title: titleOf(list) };
  },
};

async function Facts({ context, list }: { readonly context: PageContext; readonly list: RemedyList }) {
  const { services } = context;
  const { reader } = services.database;
  const [actors, results, actions] = await Promise.all([
    readActors(reader, [list.createdBy, list.decidedBy, list.stoppedBy]),
    countItemResults(reader, list.id),
    actionsOf(context, REMEDY_LIST_REMEDIES),
  ]);
  const rests = list.status === 'running' && isOff(list.remedy, services.settings);
  return (
    <section class="card">
      <h2>
        <Status of={shownStatus(list, services.now())} /> {sumsInWords(list)}
      </h2>
      {rests ? (
        <p class="notice problem">
          It rests: this remedy is turned off in this installation. A day after its signature it expires.
        </p>
      ) : null}
      {list.status === 'expired' ? (
        <p class="notice problem">A day has passed since it was signed: what is still open here stays undone.</p>
      ) : null}
      {list.status === 'stopped' ? (
        <p class="notice problem">It was stopped: what is still open here stays undone.</p>
      ) : null}
      <dl>
        <dt>Made by</dt>
        <dd>
          <Person actors={actors} id={list.createdBy} role={list.createdRole} />, <Instant at={list.createdAt} />
        </dd>
        <dt>Reason</dt>
        <dd>{list.reason}</dd>
        <dt>Found by</dt>
        <dd>
          <a href={list.filter}>{list.filter}</a>
        </dd>
        {list.decidedBy === null ? (
          <>
            <dt>To be signed until</dt>
            <dd>
              <Instant at={list.expiresAt} />
            </dd>
          </>
        ) : (
          <>
            <dt>{list.status === 'rejected' ? 'Rejected by' : 'Signed by'}</dt>
            <dd>
              <Person actors={actors} id={list.decidedBy} role={list.decidedRole} />, <Instant at={list.decidedAt} />,
              because “{list.decisionReason}”
            </dd>
          </>
        )}
        <dt>Results</dt>
        <dd>{results.map(({ result, count }) => `${count.toLocaleString('en-GB')} ${result}`).join(', ')}</dd>
        <End list={list} actors={actors} />
      </dl>
      {actions}
    </section>
  );
}

const ENDS: Readonly<Partial<Record<RemedyList['status'], string>>> = { expired: 'Expired', stopped: 'Stopped' };

function End({ list, actors }: { readonly list: RemedyList; readonly actors: ReadonlyMap<string, Actor> }) {
  const { status, doneAt, stoppedBy, stoppedRole, stopReason } = list;
  if (doneAt === null) return null;
  return (
    <>
      <dt>{ENDS[status] ?? 'Done'}</dt>
      <dd>
        <Instant at={doneAt} />
        {stoppedBy === null ? null : (
          <>
            , by <Person actors={actors} id={stoppedBy} role={stoppedRole} />, because “{stopReason}”
          </>
        )}
      </dd>
    </>
  );
}

function Person({
  actors,
  id,
  role,
}: {
  readonly actors: ReadonlyMap<string, Actor>;
  readonly id: string;
  readonly role: string | null;
}) {
  return (
    <>
      <a href={`/people/${id}`}>{actors.get(id)?.name ?? id}</a> ({role})
    </>
  );
}

/** All lists, also those that are over. */
export const remedyListList = listPage<RemedyList>({
  path: '/remedy-lists',
  title: 'Lists of remedies',
  question: 'What was asked for many at once, newest first.',
  section: '/approvals',
  filters: [],
  empty: 'No list has been frozen yet.',
  read: ({ services }, _, slice) =>
    newestFirst(
      slice,
      (page) => listNewestRemedyLists(services.database.reader, page),
      ({ id }) => id,
    ),
  columns: [
    {
      header: 'What',
      cell: (list) => <a href={`/remedy-lists/${list.id}`}>{titleOf(list)}</a>,
      text: (list) => titleOf(list),
    },
    {
      header: 'Status',
      cell: (list, { services }) => <Status of={shownStatus(list, services.now())} />,
      text: (list, { services }) => shownStatus(list, services.now()),
    },
    { header: 'Together', isNumber: true, cell: sumsInWords, text: sumsInWords },
    { header: 'Reason', cell: ({ reason }) => reason, text: ({ reason }) => reason },
    {
      header: 'Made',
      cell: ({ createdAt }) => <Instant at={createdAt} />,
      text: ({ createdAt }) => createdAt.toISOString(),
    },
  ],
});

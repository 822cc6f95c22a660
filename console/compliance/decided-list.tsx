import {
  DECISIONS_LOOKED_AT_MAX,
  type DecidedReview,
  listDecidedReviews,
} from '../../db/compliance/decided-reviews.ts';
import { type Actor, readActors } from '../../db/people/actors.ts';
import { AMOUNT } from '../lists/columns.ts';
import type { Slice } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { timeCursorOf, timeCursorText } from '../lists/newest-in-time.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { DIRECTIONS, OTHER_PARTY, REVIEW_FILTERS, reviewFilterOf } from './list.tsx';
import { FOLDERS } from './review.ts';

type Row = DecidedReview & { readonly by: Actor | null };

async function read(
  { services: { database } }: PageContext,
  given: Readonly<Record<string, string>>,
  { after, size }: { readonly after: string | null; readonly size: number },
): Promise<Slice<Row>> {
  const asked = { before: timeCursorOf(after), size: size + 1 };
  const found = await listDecidedReviews(database.reader, reviewFilterOf(given), asked);
  const shown = found.rows.slice(0, size);
  const actors = await readActors(
    database.reader,
    shown.map(({ actor }) => actor),
  );
  const rows = shown.map((row) => ({ ...row, by: actors.get(row.actor) ?? null }));
  const last = shown.at(-1);
  if (found.rows.length > size && last !== undefined)
    return { rows, next: timeCursorText({ time: last.time, id: last.entryId }) };
  return found.lookedTo === null
    ? { rows, next: null }
    : { rows, next: timeCursorText(found.lookedTo), lookedThrough: DECISIONS_LOOKED_AT_MAX };
}

function byText({ by, actor, role }: Row): string {
  return `${by?.name ?? actor}${role === null ? '' : ` (${role})`}`;
}

/** What compliance has decided: who, what, why, and by which rule it had been stopped. */
export const decidedReviewList = listPage<Row>({
  path: '/reviews/decided',
  title: 'Decided reviews',
  question:
    'What was decided lately, by whom and why? The newest decision first; not what the built-in rules pass or stop.',
  section: '/reviews',
  filters: REVIEW_FILTERS,
  empty: 'Nothing like this was decided.',
  read,
  columns: [
    {
      header: 'Number',
      cell: ({ type, id, transactionNumber }) => <Id of={transactionNumber} to={`/reviews/${FOLDERS[type]}/${id}`} />,
      text: ({ transactionNumber }) => transactionNumber,
    },
    { header: 'Direction', cell: ({ type }) => DIRECTIONS[type], text: ({ type }) => DIRECTIONS[type] },
    {
      header: 'Decision',
      cell: ({ result, checkStatus }) => (
        <>
          {result} <Status of={checkStatus} />
        </>
      ),
      text: ({ result, checkStatus }) => `${result} ${checkStatus}`,
    },
    {
      header: 'By',
      cell: (row) => (row.by?.kind === 'person' ? <a href={`/people/${row.actor}`}>{byText(row)}</a> : byText(row)),
      text: byText,
    },
    {
      header: 'Why',
      cell: ({ reason }, { privacy }) => privacy.text(reason),
      text: ({ reason }, { privacy }) => privacy.text(reason),
    },
    { header: 'Stopped by the rule', cell: ({ rule }) => rule ?? '–', text: ({ rule }) => rule ?? '' },
    AMOUNT,
    OTHER_PARTY,
    {
      header: 'Decided',
      cell: (row, { services }) => <Instant at={row.decidedAt} zone={services.configuration.schemes.zone(row)} />,
      text: ({ decidedAt }) => decidedAt.toISOString(),
    },
  ],
});

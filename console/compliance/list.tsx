import { CHECKED_TYPES } from '../../db/compliance/checks.ts';
import { countOpenReviews, listOpenReviews, type OpenReview, type ReviewFilter } from '../../db/compliance/reviews.ts';
import { isCurrency } from '../../domain/common/money.ts';
import { AMOUNT } from '../lists/columns.ts';
import { COUNTED_MAX, type Column, type Filter } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { oldestFirst } from '../lists/oldest-first.ts';
import { age, Id, Instant } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { FOLDERS } from './review.ts';

type WithOtherParty = Pick<OpenReview, 'counterparty'>;

const otherParty = ({ counterparty }: WithOtherParty, { privacy }: PageContext) => privacy.name(counterparty);

/** Of both lists of reviews. */
export const OTHER_PARTY: Column<WithOtherParty> = { header: 'Other party', cell: otherParty, text: otherParty };

export const REVIEW_FILTERS: readonly Filter[] = [
  { name: 'direction', label: 'Direction', kind: 'choice', choices: CHECKED_TYPES },
  {
    name: 'currency',
    label: 'Currency',
    kind: 'text',
    problem: (value) => (isCurrency(value) ? null : 'Currency is no currency code, such as GBP.'),
  },
  { name: 'rule', label: 'Rule that stopped it', kind: 'text' },
];

export function reviewFilterOf({ direction, currency, rule }: Readonly<Record<string, string>>): ReviewFilter {
  const type = CHECKED_TYPES.find((known) => known === direction) ?? null;
  return { type, currency: currency ?? null, rule: rule ?? null };
}

function stopText({ complianceRule, complianceResult }: OpenReview): string {
  if (complianceRule !== null) return `${complianceRule.name} (${complianceRule.kind})`;
  return complianceResult === null ? 'every transfer is reviewed' : `a person: ${complianceResult}`;
}

export const reviewList = listPage<OpenReview>({
  path: '/reviews',
  title: 'Reviews',
  question: 'What must compliance decide? Transfers that wait for a decision, the longest wait first.',
  section: '/reviews',
  filters: REVIEW_FILTERS,
  empty: 'Nothing waits for a decision of compliance.',
  isLive: true,
  above: async () => (
    <p>
      <a href="/reviews/decided">What was decided lately</a>, by whom and why.
    </p>
  ),
  read: ({ services }, given, slice) =>
    oldestFirst(slice, (page) => listOpenReviews(services.database.reader, reviewFilterOf(given), page)),
  count: async ({ services }, given) => {
    const count = await countOpenReviews(services.database.reader, reviewFilterOf(given), COUNTED_MAX + 1);
    return { count: Math.min(count, COUNTED_MAX), isMore: count > COUNTED_MAX };
  },
  columns: [
    {
      header: 'Number',
      cell: ({ type, id, transactionNumber }) => <Id of={transactionNumber} to={`/reviews/${FOLDERS[type]}/${id}`} />,
      text: ({ transactionNumber }) => transactionNumber,
    },
    { header: 'Direction', cell: ({ type }) => DIRECTIONS[type], text: ({ type }) => DIRECTIONS[type] },
    { header: 'Stopped by', cell: stopText, text: stopText },
    AMOUNT,
    OTHER_PARTY,
    { header: 'Scheme', cell: ({ scheme }) => scheme ?? 'internal', text: ({ scheme }) => scheme ?? 'internal' },
    {
      header: 'Waits',
      cell: ({ waitingSince }, { now }) => age(waitingSince, now),
      text: ({ waitingSince }, { now }) => age(waitingSince, now),
    },
    {
      header: 'Since',
      cell: (row, { services }) => <Instant at={row.waitingSince} zone={services.configuration.schemes.zone(row)} />,
      text: ({ waitingSince }) => waitingSince.toISOString(),
    },
  ],
});

export const DIRECTIONS: Readonly<Record<OpenReview['type'], string>> = {
  'outgoing-transfer': 'out',
  'incoming-transfer': 'in',
};

import { listBreaksOfDay, listNewestBreaks, listOpenBreaks } from '../../db/reconciliation/break-reads.ts';
import type { ReconciliationBreak } from '../../db/reconciliation/breaks.ts';
import { listPositions } from '../../db/reconciliation/calendar.ts';
import type { StoredFacts } from '../../db/reconciliation/schema.ts';
import type { Column, Filter } from '../lists/list.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { amountText, Id, Instant, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

const STATUSES = ['open', 'all'] as const;

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status (open if not chosen)', kind: 'choice', choices: STATUSES },
  { name: 'day', label: 'Day', kind: 'date' },
  { name: 'provider', label: 'Provider, of a day or of open ones', kind: 'text' },
  { name: 'currency', label: 'Currency, of a day', kind: 'text' },
];

/** An amount of one side; `nothing` if the side has none. */
export function sideText(facts: StoredFacts | null): string {
  return facts === null ? 'nothing' : amountText(BigInt(facts.amountMinor), facts.currency);
}

export const BREAK_COLUMNS: readonly Column<ReconciliationBreak>[] = [
  {
    header: 'Break',
    cell: ({ id, kind }) => <Id of={kind} to={`/reconciliation-breaks/${id}`} />,
    text: ({ kind }) => kind,
  },
  { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
  { header: 'Provider', cell: ({ provider }) => provider, text: ({ provider }) => provider },
  { header: 'Day', cell: ({ day }) => day ?? '–', text: ({ day }) => day ?? '' },
  {
    header: 'Ours',
    isNumber: true,
    cell: ({ expected }) => sideText(expected),
    text: ({ expected }) => sideText(expected),
  },
  {
    header: 'The bank’s',
    isNumber: true,
    cell: ({ actual }) => sideText(actual),
    text: ({ actual }) => sideText(actual),
  },
  {
    header: 'Reference',
    cell: ({ ourReference }, { privacy }) => privacy.number(ourReference),
    text: ({ ourReference }, { privacy }) => privacy.number(ourReference),
  },
  {
    header: 'Found',
    cell: ({ foundAt }) => <Instant at={foundAt} />,
    text: ({ foundAt }) => foundAt.toISOString(),
  },
];

async function read(
  { services }: PageContext,
  { status, day, provider, currency }: Readonly<Record<string, string>>,
  page: { readonly before: string | null; readonly size: number },
): Promise<readonly ReconciliationBreak[]> {
  const { reader } = services.database;
  const onlyOpen = status !== 'all';
  if (day === undefined && !onlyOpen) return listNewestBreaks(reader, page);
  const positions = (await listPositions(reader)).filter(
    (one) =>
      (provider === undefined || one.provider === provider) && (currency === undefined || one.currency === currency),
  );
  if (day !== undefined) return listBreaksOfDay(reader, positions, { day, onlyOpen }, page);
  // A provider without money may have contradicted itself too.
  const codes = new Set([...positions.map((one) => one.provider), ...services.providers.keys()]);
  const asked = [...codes].filter((code) => provider === undefined || code === provider);
  return listOpenBreaks(reader, asked, page);
}

export const breakList = listPage<ReconciliationBreak>({
  path: '/reconciliation-breaks',
  title: 'Breaks',
  question: 'Where do a bank’s statement and our books differ? The newest first.',
  section: '/reconciliation',
  filters: FILTERS,
  empty: 'No such break.',
  read: (context, given, slice) =>
    newestFirst(
      slice,
      (page) => read(context, given, page),
      ({ id }) => id,
    ),
  columns: BREAK_COLUMNS,
});

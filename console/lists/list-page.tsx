import type { Child } from 'hono/jsx';
import type { BoundedCount } from '../../db/query/newest-lists.ts';
import { isDate } from '../../domain/common/time/dates.ts';
import { NOT_SEARCHED, type Privacy } from '../look/privacy.ts';
import { Scroll } from '../look/scroll.tsx';
import { Live } from '../page/live.tsx';
import { addressAt, type Page, type PageContext, type View } from '../page/page.ts';
import { exportCsv } from './export.ts';
import type { Column, Filter, List, Slice } from './list.ts';
import { SavedViews } from './saved-views.tsx';

/** Rows of one page; an export has its own limit. */
export const ROWS_PER_PAGE = 50;

/** The page of a list. It also answers `format=csv`, the export. */
export function listPage<Row>(list: List<Row>): Page {
  return {
    path: list.path,
    section: list.section,
    ...(list.roles === undefined ? {} : { roles: list.roles }),
    async view(context) {
      const filter = readFilter(list.filters, context.query);
      const problems = problemsOf(list.filters, filter, context.privacy);
      if (problems.length > 0) return viewOf(list, context, { filter, problems, slice: null, counted: null });
      if (context.query.get('format') === 'csv') return exportCsv(list, context, filter);
      const size = ROWS_PER_PAGE;
      const [slice, counted] = await Promise.all([
        list.read(context, filter, { after: context.query.get('after'), size }),
        list.count?.(context, filter) ?? null,
      ]);
      return viewOf(list, context, { filter, problems, slice, counted });
    },
  };
}

interface Shown<Row> {
  readonly filter: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  readonly slice: Slice<Row> | null;
  readonly counted: BoundedCount | null;
}

async function viewOf<Row>(list: List<Row>, context: PageContext, shown: Shown<Row>): Promise<View> {
  const { filter, problems, slice, counted } = shown;
  const above = slice === null ? null : await list.above?.(context, filter);
  const query = queryOf(filter);
  const path = addressAt(list.path, context.params);
  return {
    title: list.title,
    body: (
      <>
        <p class="quiet">{list.question}</p>
        <FilterForm path={path} filters={list.filters} filter={filter} privacy={context.privacy} />
        {problems.map((problem) => (
          <p class="notice problem" role="alert">
            {problem}
          </p>
        ))}
        <SavedViews context={context} path={path} query={query} />
        {above}
        {slice === null ? null : (
          <section class="card">
            <p class="quiet">
              {counted === null ? '' : `${countText(counted)} found. `}
              <a href={`${path}?${query}${query === '' ? '' : '&'}format=csv`}>Export as CSV</a>
            </p>
            {list.isLive === true ? (
              <Live context={context} path={list.path} id="rows">
                <Rows list={list} context={context} slice={slice} />
              </Live>
            ) : (
              <Rows list={list} context={context} slice={slice} />
            )}
            <Pager path={path} query={query} next={slice.next} isFirst={context.query.get('after') === null} />
          </section>
        )}
      </>
    ),
  };
}

export function countText({ count, isMore }: BoundedCount): string {
  return `${count.toLocaleString('en-GB')}${isMore ? '+' : ''}`;
}

function Rows<Row>({
  list,
  context,
  slice,
}: {
  readonly list: List<Row>;
  readonly context: PageContext;
  readonly slice: Slice<Row>;
}) {
  const { rows, lookedThrough } = slice;
  const more =
    lookedThrough === undefined ? null : (
      <p class="quiet">
        No more among the {lookedThrough.toLocaleString('en-GB')} rows that one page looks through: the next page looks
        on from there.
      </p>
    );
  if (rows.length === 0) return more ?? <p>{list.empty}</p>;
  return (
    <>
      <Table
        caption={list.title}
        columns={list.columns}
        rows={rows}
        cell={(column, row) => column.cell(row, context)}
      />
      {more}
    </>
  );
}

/** A table that scrolls by itself where the screen is narrow. */
export function Table<Row>({
  caption,
  columns,
  rows,
  cell,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly cell: (column: Column<Row>, row: Row) => Child;
}) {
  return (
    <Scroll label={caption}>
      <table>
        <thead>
          <tr>
            {columns.map(({ header, isNumber }) => (
              <th scope="col" class={isNumber === true ? 'number' : ''}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td class={column.isNumber === true ? 'number' : ''}>{cell(column, row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function FilterForm({
  path,
  filters,
  filter,
  privacy: { isHiding },
}: {
  readonly path: string;
  readonly filters: readonly Filter[];
  readonly filter: Readonly<Record<string, string>>;
  readonly privacy: Privacy;
}) {
  const offered = filters.filter(({ findsHidden }) => !(isHiding && findsHidden === true));
  if (offered.length === 0) return null;
  return (
    <form class="filters" method="get" action={path}>
      {offered.map((one) => (
        <label>
          <span>{one.label}</span>
          <FilterInput filter={one} value={filter[one.name] ?? ''} />
        </label>
      ))}
      <button type="submit" class="main">
        Filter
      </button>
      <a href={path}>All</a>
    </form>
  );
}

function FilterInput({ filter, value }: { readonly filter: Filter; readonly value: string }) {
  if (filter.kind !== 'choice') {
    return <input type={filter.kind === 'date' ? 'date' : 'text'} name={filter.name} value={value} />;
  }
  return (
    <select name={filter.name}>
      <option value="">any</option>
      {(filter.choices ?? []).map((choice) => (
        <option value={choice} selected={choice === value}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function Pager({
  path,
  query,
  next,
  isFirst,
}: {
  readonly path: string;
  readonly query: string;
  readonly next: string | null;
  readonly isFirst: boolean;
}) {
  const joined = query === '' ? '' : `${query}&`;
  return (
    <nav class="pager" aria-label="Pages">
      {isFirst ? null : <a href={query === '' ? path : `${path}?${query}`}>First page</a>}
      {next === null ? null : <a href={`${path}?${joined}after=${encodeURIComponent(next)}`}>Next page</a>}
    </nav>
  );
}

/** The filters that are given, by their names; what the list does not know is left out. */
export function readFilter(filters: readonly Filter[], query: URLSearchParams): Record<string, string> {
  const given: Record<string, string> = {};
  for (const { name } of filters) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') given[name] = value;
  }
  return given;
}

const FILTER_LENGTH_MAX = 200;
const CONTROL = /\p{Cc}/u;

export function problemsOf(
  filters: readonly Filter[],
  given: Readonly<Record<string, string>>,
  { isHiding }: Pick<Privacy, 'isHiding'>,
): string[] {
  return filters.flatMap(({ name, label, kind, choices = [], problem, findsHidden }) => {
    const value = given[name];
    if (value === undefined) return [];
    if (isHiding && findsHidden === true) return [NOT_SEARCHED];
    if (value.length > FILTER_LENGTH_MAX) return [`${label} is longer than ${FILTER_LENGTH_MAX} characters.`];
    if (CONTROL.test(value)) return [`${label} holds a character that no text of the service has.`];
    if (kind === 'date' && !isDate(value)) {
      return [`${label} is no date: write it as 2026-11-26.`];
    }
    if (kind === 'choice' && !choices.includes(value)) return [`${label} is not one of ${choices.join(', ')}.`];
    const found = problem?.(value) ?? null;
    return found === null ? [] : [found];
  });
}

export function queryOf(filter: Readonly<Record<string, string>>): string {
  return new URLSearchParams(filter).toString();
}

import {
  type CalendarDay,
  listPositions,
  OPEN_BREAKS_COUNTED_MAX,
  type PositionDays,
  readCalendar,
} from '../../db/reconciliation/calendar.ts';
import { csvLine, withoutFormulas } from '../../domain/common/texts/csv.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import { lastComparableDay } from '../../domain/reconciliation/movements.ts';
import { Scroll } from '../look/scroll.tsx';
import type { Page, PageContext, View } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import {
  DAY_STATE_TEXTS,
  DAY_STATES,
  type DayState,
  daysOfMonth,
  isMonth,
  monthAfter,
  monthBefore,
  monthOf,
  stateOf,
} from './days.ts';
import { CALENDAR_REMEDIES } from './remedies.ts';

interface Cell {
  readonly day: LocalDate;
  readonly state: DayState;
  readonly compared: CalendarDay | undefined;
}

interface Row {
  readonly position: PositionDays;
  readonly cells: readonly Cell[];
}

/** Does each day agree? A month of days, for each provider and currency. */
export const calendarPage: Page = {
  path: '/reconciliation',
  section: '/reconciliation',
  async view(context) {
    const { query, now } = context;
    const asked = query.get('month') ?? '';
    const month = isMonth(asked) ? asked : monthOf(lastComparableDay(now));
    const rows = await readRows(context, month);
    if (query.get('format') === 'csv') return exported(rows, month);
    return viewOf(context, { month, rows, problem: asked === '' || isMonth(asked) ? null : MONTH_PROBLEM });
  },
};

const MONTH_PROBLEM = 'Month is none: write it as 2026-11.';

async function readRows({ services, query, now }: PageContext, month: string): Promise<readonly Row[]> {
  const { reader } = services.database;
  const [provider, currency] = [query.get('provider') ?? '', query.get('currency') ?? ''];
  const positions = (await listPositions(reader)).filter(
    (one) =>
      services.providers.has(one.provider) &&
      (provider === '' || one.provider === provider) &&
      (currency === '' || one.currency === currency),
  );
  const days = daysOfMonth(month);
  const compared = await readCalendar(reader, positions, { from: days[0] ?? '', to: days.at(-1) ?? '' });
  const byKey = new Map(compared.map((day) => [keyOf(day, day.day), day]));
  return positions.map((position) => ({
    position,
    cells: days.map((day) => {
      const found = byKey.get(keyOf(position, day));
      return { day, compared: found, state: stateOf(found, day, { firstDay: position.firstDay, now }) };
    }),
  }));
}

function keyOf({ provider, currency }: Pick<PositionDays, 'provider' | 'currency'>, day: LocalDate): string {
  return `${provider} ${currency} ${day}`;
}

interface Shown {
  readonly month: string;
  readonly rows: readonly Row[];
  readonly problem: string | null;
}

async function viewOf(context: PageContext, { month, rows, problem }: Shown): Promise<View> {
  const { query } = context;
  const filter = new URLSearchParams();
  for (const name of ['provider', 'currency']) {
    const value = query.get(name) ?? '';
    if (value !== '') filter.set(name, value);
  }
  const at = (of: string, more = '') => `/reconciliation?${new URLSearchParams([['month', of], ...filter])}${more}`;
  return {
    title: 'Reconciliation',
    body: (
      <>
        <p class="quiet">
          Does each day agree? Every day (UTC) of each provider and currency, the bank’s statement against our books.
        </p>
        <Filters month={month} filter={filter} />
        {problem === null ? null : (
          <p class="notice problem" role="alert">
            {problem}
          </p>
        )}
        <section class="card">
          <h2>{month}</h2>
          <p>{summaryOf(rows)}</p>
          <nav class="pager" aria-label="Months">
            <a href={at(monthBefore(month))}>{monthBefore(month)}</a>
            <a href={at(monthAfter(month))}>{monthAfter(month)}</a>
            <a href={at(month, '&format=csv')}>Export as CSV</a>
            <a href="/reconciliation-breaks">All open breaks</a>
          </nav>
          {rows.length === 0 ? null : <Days rows={rows} />}
          <Legend />
        </section>
        <section class="card">
          <h2>What can be done</h2>
          {await actionsOf(context, CALENDAR_REMEDIES)}
        </section>
      </>
    ),
  };
}

function summaryOf(rows: readonly Row[]): string {
  if (rows.length === 0) {
    return 'No money is, or was, at a provider whose statements the service compares. Accounts of other providers are compared by who holds them.';
  }
  const states = rows.flatMap(({ cells }) => cells.map(({ state }) => state));
  const count = (state: DayState) => states.filter((one) => one === state).length;
  const texts = (['differs', 'no-statement', 'not-compared'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => (count(state) === 1 ? `1 day ${ONE[state]}` : `${count(state)} days ${SHORT[state]}`));
  if (texts.length > 0) return `${texts.join(', ')}.`;
  return count('agreed') === 0 ? 'No day of this month is due.' : 'Every day agrees.';
}

const SHORT: Readonly<Record<DayState, string>> = {
  agreed: 'agreed',
  differs: 'differ',
  'no-statement': 'without a statement',
  'not-compared': 'not compared',
  'not-due': 'not over yet',
  nothing: 'without money',
};

const ONE = { differs: 'differs', 'no-statement': 'without a statement', 'not-compared': 'not compared' } as const;

const SIGNS: Readonly<Record<DayState, string>> = {
  agreed: '✓',
  differs: '≠',
  'no-statement': '∅',
  'not-compared': '?',
  'not-due': '·',
  nothing: '–',
};

const TONES: Readonly<Record<DayState, string>> = {
  agreed: 'good',
  differs: 'bad',
  'no-statement': 'bad',
  'not-compared': 'warn',
  'not-due': 'quiet',
  nothing: 'quiet',
};

function Filters({ month, filter }: { readonly month: string; readonly filter: URLSearchParams }) {
  return (
    <form class="filters" method="get" action="/reconciliation">
      <label>
        Month
        <input type="text" name="month" value={month} />
      </label>
      <label>
        Provider
        <input type="text" name="provider" value={filter.get('provider') ?? ''} />
      </label>
      <label>
        Currency
        <input type="text" name="currency" value={filter.get('currency') ?? ''} />
      </label>
      <button type="submit" class="main">
        Filter
      </button>
      <a href="/reconciliation">All</a>
    </form>
  );
}

function Days({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <Scroll label="Days by provider and currency">
      <table>
        <thead>
          <tr>
            <th scope="col">Position</th>
            {rows[0]?.cells.map(({ day }) => (
              <th scope="col">{day.slice(8)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ position: { provider, currency }, cells }) => (
            <tr>
              <th scope="row">
                {provider} {currency}
              </th>
              {cells.map((cell) => (
                <td class={TONES[cell.state]}>
                  <DayCell cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function DayCell({ cell: { day, state, compared } }: { readonly cell: Cell }) {
  const breaks = compared?.openBreaks ?? 0;
  const count = breaks > OPEN_BREAKS_COUNTED_MAX ? `${OPEN_BREAKS_COUNTED_MAX.toLocaleString('en-GB')}+` : `${breaks}`;
  const sign = breaks === 0 ? SIGNS[state] : `${SIGNS[state]} ${count}`;
  if (compared === undefined) return <span title={DAY_STATE_TEXTS[state]}>{sign}</span>;
  const label = `${day}: ${SHORT[state]}${breaks === 0 ? '' : `, ${count} open breaks`}`;
  return (
    <a href={`/reconciliation/${compared.id}`} aria-label={label} title={label}>
      {sign}
    </a>
  );
}

function Legend() {
  return (
    <ul class="plain">
      {DAY_STATES.map((state) => (
        <li class="quiet">
          <strong>{SIGNS[state]}</strong> {DAY_STATE_TEXTS[state]}
        </li>
      ))}
    </ul>
  );
}

function exported(rows: readonly Row[], month: string): Response {
  const lines = rows.flatMap(({ position: { provider, currency }, cells }) =>
    cells.map(({ day, state, compared }) => {
      const openBreaks = compared === undefined ? '' : String(compared.openBreaks);
      return csvLine([withoutFormulas(provider), currency, day, state, openBreaks, compared?.source ?? '']);
    }),
  );
  const header = csvLine(['provider', 'currency', 'day', 'state', 'openBreaks', 'comparedWith']);
  return new Response(header + lines.join(''), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="reconciliation-${month}.csv"`,
    },
  });
}

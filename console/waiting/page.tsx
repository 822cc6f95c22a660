import type { Child } from 'hono/jsx';
import { listWaiting, sumWaits, WAITING_KINDS, type Waiting, type WaitSum } from '../../db/timelines/waiting.ts';
import { findWaitsToFreeze, type WaitFilter } from '../../db/transfers/waits.ts';
import { GROUP_OF_WAIT, WAIT_GROUPS, waitsIn } from '../../domain/timelines/wait-groups.ts';
import { forAll } from '../approvals/for-all.ts';
import { REMEDIES_FOR_MANY } from '../approvals/many.ts';
import type { Column, Filter } from '../lists/list.ts';
import { listPage, queryOf, Table } from '../lists/list-page.tsx';
import type { Privacy } from '../look/privacy.ts';
import { age, amountText, Id, Instant, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { ForAllForm } from '../remedies/for-all-form.tsx';
import { ACCOUNT_FILTER, CLIENT_FILTER, CURRENCY_FILTER } from '../transfers/filters.ts';

const PATH = '/waiting';
const DIRECTIONS = ['outgoing', 'incoming'] as const;
const AGES: Readonly<Record<string, number>> = { '10 minutes': 10, '1 hour': 60, '1 day': 1_440, '1 week': 10_080 };

const FILTERS: readonly Filter[] = [
  { name: 'on', label: 'Waits on', kind: 'choice', choices: WAIT_GROUPS },
  { name: 'waiting-for', label: 'Waits for', kind: 'choice', choices: Object.keys(GROUP_OF_WAIT) },
  { name: 'what', label: 'What', kind: 'choice', choices: WAITING_KINDS },
  { name: 'older', label: 'Longer than', kind: 'choice', choices: Object.keys(AGES) },
  CURRENCY_FILTER,
  { name: 'provider', label: 'Provider', kind: 'text' },
  { name: 'scheme', label: 'Scheme', kind: 'text' },
  ACCOUNT_FILTER,
  CLIENT_FILTER,
];

const MINUTE_MS = 60_000;

/** What the filters mean in db/. */
function filterOf(given: Readonly<Record<string, string>>, now: Date) {
  const { on, 'waiting-for': wait, what, older, currency, provider, scheme, account, client } = given;
  const minutes = older === undefined ? undefined : AGES[older];
  const ofGroup = WAIT_GROUPS.flatMap((group) => (group === on ? waitsIn(group) : []));
  const waits = wait === undefined ? (on === undefined ? null : ofGroup) : [wait];
  const filter: WaitFilter = {
    waits: on === undefined || waits === null ? waits : waits.filter((one) => ofGroup.some((known) => known === one)),
    provider,
    scheme,
    currency,
    accountId: account?.toLowerCase(),
    clientId: client?.toLowerCase(),
    olderThan: minutes === undefined ? undefined : new Date(now.getTime() - minutes * MINUTE_MS),
  };
  return { ...filter, kinds: WAITING_KINDS.filter((one) => what === undefined || one === what) };
}

export const forAllThatWait = forAll({
  page: PATH,
  kind: 'for-all-that-wait',
  filters: FILTERS,
  resources: DIRECTIONS.map((direction) => `${direction}-transfer` as const),
  find: ({ services, now }, given, { resource, limit }) => {
    const { kinds, ...filter } = filterOf(given, now);
    const direction = DIRECTIONS.find((one) => resource === `${one}-transfer` && kinds.includes(one));
    if (direction === undefined) return Promise.resolve([]);
    return findWaitsToFreeze(services.database.reader, direction, filter, limit);
  },
});

/** What waits for a person, a date, a bank, money? */
export const waitingPage = listPage({
  path: PATH,
  title: 'Waiting',
  question: 'Transfers, accounts and consents that wait for a person, a date, a bank or money, the longest wait first.',
  section: '/waiting',
  filters: FILTERS,
  empty: 'Nothing waits like this.',
  isLive: true,
  async read({ services, now }, given, { after, size }) {
    const found = await listWaiting(services.database.reader, filterOf(given, now), { after, size: size + 1 });
    const rows = found.slice(0, size);
    return { rows, next: found.length > size ? (rows.at(-1)?.cursor ?? null) : null };
  },
  above: async (context, given) => {
    const sums = await sumWaits(context.services.database.reader, filterOf(given, context.now));
    return (
      <>
        <Sums context={context} sums={sums} given={given} />
        <ForAllForm
          context={context}
          remedies={REMEDIES_FOR_MANY}
          action={`${PATH}/${forAllThatWait.kind}`}
          filter={given}
        />
      </>
    );
  },
  columns: [
    {
      header: 'Number',
      cell: (row, { privacy }) => <Id of={nameOf(row, privacy)} to={`/${FOLDERS[row.what]}/${row.id}`} />,
      text: (row, { privacy }) => nameOf(row, privacy),
    },
    {
      header: 'Status',
      cell: ({ what, status }) => (
        <>
          {what} <Status of={status} />
        </>
      ),
      text: ({ what, status }) => `${what} ${status}`,
    },
    { header: 'Waits for', cell: ({ waitingFor }) => waitingFor, text: ({ waitingFor }) => waitingFor },
    {
      header: 'Since',
      cell: ({ since }, { now }) => (
        <>
          <Instant at={since} />, {age(since, now)}
        </>
      ),
      text: ({ since }) => since.toISOString(),
    },
    {
      header: 'Until',
      cell: ({ until, scheme, currency }, { services }) => (
        <Instant
          at={until}
          zone={currency === null ? undefined : services.configuration.schemes.zone({ scheme, currency })}
        />
      ),
      text: ({ until }) => until?.toISOString() ?? '',
    },
    {
      header: 'Amount',
      isNumber: true,
      cell: moneyOf,
      text: moneyOf,
    },
    { header: 'Scheme', cell: schemeOf, text: schemeOf },
    { header: 'Provider', cell: ({ provider }) => provider ?? '–', text: ({ provider }) => provider ?? '' },
  ],
});

const FOLDERS: Readonly<Record<Waiting['what'], string>> = {
  outgoing: 'outgoing-transfers',
  incoming: 'incoming-transfers',
  account: 'accounts',
  consent: 'consents',
};

function nameOf({ what, name }: Waiting, privacy: Privacy): string {
  return what === 'account' ? privacy.number(name) : name;
}

function moneyOf({ amountMinor, currency }: Waiting): string {
  if (amountMinor === null || currency === null) return currency ?? '–';
  return amountText(amountMinor, currency);
}

function schemeOf({ what, scheme }: Waiting): string {
  return what === 'outgoing' || what === 'incoming' ? (scheme ?? 'internal') : '–';
}

const more = (isMore: boolean) => (isMore ? '+' : '');

function sumColumn(header: string, cell: (sum: WaitSum, now: Date) => Child, isNumber = false): Column<WaitSum> {
  return { header, isNumber, cell: (sum, { now }) => cell(sum, now), text: () => '' };
}

/** By kind and age; each kind leads to its rows. */
function Sums({
  context,
  sums,
  given,
}: {
  readonly context: PageContext;
  readonly sums: readonly WaitSum[];
  readonly given: Readonly<Record<string, string>>;
}) {
  if (sums.length === 0) return null;
  const columns = [
    sumColumn('Waits for', ({ what, waitingFor, currency }) => (
      <a
        href={`${PATH}?${queryOf({ ...given, what, 'waiting-for': waitingFor, ...(currency === null ? {} : { currency }) })}`}
      >
        {what}, {waitingFor}
      </a>
    )),
    sumColumn('On', ({ waitingFor }) => groupOf(waitingFor)),
    sumColumn('How many', ({ count, isMore }) => `${count.toLocaleString('en-GB')}${more(isMore)}`, true),
    sumColumn(
      'Together',
      ({ sumMinor, currency, isMore }) =>
        sumMinor === null || currency === null ? '–' : `${amountText(sumMinor, currency)}${more(isMore)}`,
      true,
    ),
    sumColumn('Over an hour', ({ overAnHour }) => overAnHour.toLocaleString('en-GB'), true),
    sumColumn('Over a day', ({ overADay }) => overADay.toLocaleString('en-GB'), true),
    sumColumn('The oldest', ({ oldest }, now) => age(oldest, now)),
  ];
  return (
    <section class="card">
      <h2>By kind and age</h2>
      <Table caption="By kind and age" columns={columns} rows={sums} cell={(shown, sum) => shown.cell(sum, context)} />
      {sums.some(({ isMore }) => isMore) ? (
        <p class="quiet">A “+” means that the oldest were counted, and that there are more.</p>
      ) : null}
    </section>
  );
}

function groupOf(wait: string): string {
  return Object.entries(GROUP_OF_WAIT).find(([known]) => known === wait)?.[1] ?? '';
}

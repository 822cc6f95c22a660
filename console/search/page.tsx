import { type FoundRow, search } from '../../db/search/search.ts';
import { type SearchBy, searchTermsOf } from '../../domain/search/search-terms.ts';
import { Table } from '../lists/list-page.tsx';
import { pageOf } from '../look/links.ts';
import { NOT_SEARCHED } from '../look/privacy.ts';
import { Amount, Id, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { hostOf } from '../webhooks/list.tsx';

const SEARCHABLE =
  'Search by an id, a transaction, account, ledger or client number, a bank’s reference, an IBAN, an e-mail address, a name of two letters or more, or an amount with a date: 1250.00 GBP 2026-11-26.';

/** Whose names are people's, and are hidden from viewers. */
const PERSONAL: ReadonlySet<string> = new Set([
  'account',
  'client',
  'client-relation',
  'beneficiary',
  'beneficiary-bank-account',
  'user',
  'user-invitation',
]);

/** Whether a kind of text finds by what is hidden from viewers. */
const FINDS_HIDDEN: Readonly<Record<SearchBy, boolean>> = {
  id: false,
  'transaction-number': false,
  'client-number': false,
  reference: false,
  amount: false,
  'ledger-number': true,
  iban: true,
  'account-number': true,
  email: true,
  name: true,
};

/** One box for whatever a customer, a bank or a log has named. */
export const searchPage: Page = {
  path: '/search',
  section: '/',
  async view(context) {
    const text = (context.query.get('q') ?? '')
      .slice(0, 200)
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim();
    const meant = searchTermsOf(text);
    const terms = meant.filter(({ by }) => !(context.privacy.isHiding && FINDS_HIDDEN[by]));
    if (meant.length === 0) return { title: 'Search', body: <p>{SEARCHABLE}</p> };
    const { rows, unsearched } = await search(context.services.database.reader, terms);
    return {
      title: `Search for ${text}`,
      body: (
        <>
          {terms.length === meant.length ? null : (
            <p class="notice unknown" role="status">
              {NOT_SEARCHED}
            </p>
          )}
          {unsearched.length === 0 ? null : (
            <p class="notice unknown" role="status">
              Not searched in time: {unsearched.join(', ')}. Search by an exact number or id for these.
            </p>
          )}
          {rows.length === 0 ? <p>Nothing is found. {SEARCHABLE}</p> : <FoundRows context={context} rows={rows} />}
        </>
      ),
    };
  },
};

function FoundRows({ context, rows }: { readonly context: PageContext; readonly rows: readonly FoundRow[] }) {
  const columns = [
    { header: 'What', cell: ({ kind }: FoundRow) => kind, text: () => '' },
    {
      header: 'Name',
      cell: ({ kind, name, id }: FoundRow) => {
        const shown = nameOf(kind, name, context);
        const page = pageOf(kind, id);
        return page === null ? shown : <a href={page}>{shown}</a>;
      },
      text: () => '',
    },
    {
      header: 'Status',
      cell: ({ status }: FoundRow) => (status === null ? '–' : <Status of={status} />),
      text: () => '',
    },
    { header: 'Amount', isNumber: true, cell: amountOf, text: () => '' },
    { header: 'Since', cell: ({ createdAt }: FoundRow) => <Instant at={createdAt} />, text: () => '' },
    { header: 'Id', cell: ({ id }: FoundRow) => <Id of={id} />, text: () => '' },
  ];
  return (
    <section class="card">
      <Table caption="Found" columns={columns} rows={rows} cell={(column, row) => column.cell(row, context)} />
    </section>
  );
}

function nameOf(kind: FoundRow['kind'], name: string, { privacy }: PageContext): string {
  if (kind === 'webhook-subscription') return hostOf({ url: name });
  return PERSONAL.has(kind) ? privacy.name(name) : name;
}

function amountOf({ amountMinor, currency }: FoundRow) {
  if (currency === null) return '–';
  return amountMinor === null ? currency : <Amount minor={amountMinor} currency={currency} />;
}

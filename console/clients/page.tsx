import { countAccounts, listNewestAccounts } from '../../db/accounts/reads.ts';
import { findClient, readClientConnections } from '../../db/clients/clients.ts';
import { readClientRelations } from '../../db/clients/relations.ts';
import { type Client, type ClientRelation, primaryAddress } from '../../domain/clients/clients.ts';
import { asId, type ClientId } from '../../domain/common/ids.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { countText, Table } from '../lists/list-page.tsx';
import { Amount, Id, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { CLIENT_REMEDIES } from './remedies.ts';

const ACCOUNTS_SHOWN = 20;

/** A client: who it is, what it holds, to whom it gave consent. */
export const clientPage: Page = {
  path: '/clients/:id',
  section: '/clients',
  shows: 'client',
  async view(context) {
    const { reader } = context.services.database;
    const id = asId<ClientId>(context.params.id ?? '');
    const client = await findClient(reader, id);
    if (client === null) return null;
    const [accounts, counted, connections, relations, actions] = await Promise.all([
      listNewestAccounts(reader, { clientId: id }, { before: null, size: ACCOUNTS_SHOWN }),
      countAccounts(reader, { clientId: id }, COUNTED_MAX),
      readClientConnections(reader, id),
      readClientRelations(reader, id),
      actionsOf(context, CLIENT_REMEDIES),
    ]);
    return {
      title: `Client ${client.clientNumber}`,
      body: (
        <>
          <div class="cards">
            <Facts context={context} client={client} />
            <section class="card">
              <h2>Connections</h2>
              {connections.length === 0 ? <p>It is known at no provider yet.</p> : null}
              <ul class="plain">
                {connections.map(({ serviceProvider, reference, state }) => (
                  <li>
                    {serviceProvider}: <Status of={state} /> <span class="id">{reference ?? ''}</span>
                  </li>
                ))}
              </ul>
            </section>
          </div>
          <section class="card">
            <h2>What can be done</h2>
            {actions}
          </section>
          <section class="card">
            <h2>Accounts</h2>
            <Accounts context={context} rows={accounts.rows} />
            <p>
              <a href={`/accounts?client=${id}`}>All {countText(counted)} accounts</a>,{' '}
              <a href={`/outgoing-transfers?client=${id}`}>outgoing transfers</a>,{' '}
              <a href={`/incoming-transfers?client=${id}`}>incoming transfers</a>
            </p>
          </section>
          <Relations context={context} relations={relations} />
        </>
      ),
    };
  },
};

function Facts({ context: { privacy }, client }: { readonly context: PageContext; readonly client: Client }) {
  const { status, fullName, identity, profile } = client;
  const address = primaryAddress(profile);
  const written =
    address === null
      ? null
      : Object.values(address)
          .filter((part) => typeof part === 'string')
          .join(', ');
  return (
    <section class="card">
      <h2>
        <Status of={status} />
      </h2>
      <dl>
        <dt>Name</dt>
        <dd>{privacy.name(fullName)}</dd>
        <dt>Kind</dt>
        <dd>{identity.type}</dd>
        <dt>Country</dt>
        <dd>{identity.country ?? '–'}</dd>
        <dt>E-mail address</dt>
        <dd>{privacy.email(profile.email)}</dd>
        <dt>Phone</dt>
        <dd>{privacy.number(profile.phone)}</dd>
        <dt>Address</dt>
        <dd>{privacy.text(written)}</dd>
        <dt>Id</dt>
        <dd>
          <Id of={client.id} />
        </dd>
      </dl>
    </section>
  );
}

type AccountRow = Awaited<ReturnType<typeof listNewestAccounts>>['rows'][number];

function Accounts({ context, rows }: { readonly context: PageContext; readonly rows: readonly AccountRow[] }) {
  if (rows.length === 0) return <p>The client has no account.</p>;
  const columns = [
    {
      header: 'Ledger number',
      cell: ({ id, ledgerNumber }: AccountRow) => (
        <Id of={context.privacy.number(ledgerNumber)} to={`/accounts/${id}`} />
      ),
      text: () => '',
    },
    { header: 'Status', cell: ({ status }: AccountRow) => <Status of={status} />, text: () => '' },
    { header: 'Provider', cell: ({ provider }: AccountRow) => provider, text: () => '' },
    {
      header: 'Balance',
      isNumber: true,
      cell: ({ postedMinor, currency }: AccountRow) => <Amount minor={postedMinor} currency={currency} />,
      text: () => '',
    },
  ];
  return <Table caption="Accounts" columns={columns} rows={rows} cell={(column, row) => column.cell(row, context)} />;
}

function Relations({
  context: { privacy },
  relations,
}: {
  readonly context: PageContext;
  readonly relations: readonly ClientRelation[];
}) {
  if (relations.length === 0) return null;
  return (
    <section class="card">
      <h2>People of the client</h2>
      <ul class="plain">
        {relations.map(({ fullName, relation, profile }) => (
          <li>
            {privacy.name(fullName)}, {relation}, {privacy.email(profile.email)}
          </li>
        ))}
      </ul>
    </section>
  );
}

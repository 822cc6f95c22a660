import { countAccounts, findAccount } from '../../db/accounts/reads.ts';
import { findClient } from '../../db/clients/clients.ts';
import type { Account } from '../../domain/accounts/accounts.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { countText } from '../lists/list-page.tsx';
import { workflowLink } from '../look/links.ts';
import { Amount, Id, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { BalanceChart } from './balance-chart.tsx';
import { ACCOUNT_REMEDIES } from './remedies.ts';

/** An account: what it holds, whose it is, how it is connected, and what can be done about it. */
export const accountPage: Page = {
  path: '/accounts/:id',
  section: '/accounts',
  shows: 'account',
  async view(context) {
    const { services, params, privacy } = context;
    const { reader } = services.database;
    const account = await findAccount(reader, asId<AccountId>(params.id ?? ''));
    if (account === null) return null;
    const [client, subAccounts, actions] = await Promise.all([
      findClient(reader, account.clientId),
      countAccounts(reader, { mainAccountId: account.id }, COUNTED_MAX),
      actionsOf(context, ACCOUNT_REMEDIES),
    ]);
    return {
      title: `Account ${privacy.number(account.ledgerNumber)}`,
      body: (
        <>
          <div class="cards">
            <Facts context={context} account={account} clientName={client?.fullName ?? null} />
            <Balances account={account} />
          </div>
          <section class="card">
            <h2>What can be done</h2>
            {actions}
          </section>
          <BalanceChart context={context} account={account} />
          <section class="card">
            <h2>More</h2>
            <ul class="plain">
              <li>
                <a href={`/accounts/${account.id}/statement`}>Statement</a>, also as CSV
              </li>
              <li>
                <a href={`/outgoing-transfers?account=${account.id}`}>Outgoing transfers</a>
              </li>
              <li>
                <a href={`/incoming-transfers?account=${account.id}`}>Incoming transfers</a>
              </li>
              <li>
                <a href={`/accounts?main=${account.id}`}>{countText(subAccounts)} sub-accounts</a>
              </li>
            </ul>
          </section>
          <Connection context={context} account={account} />
        </>
      ),
    };
  },
};

function Facts({
  context: { privacy },
  account,
  clientName,
}: {
  readonly context: PageContext;
  readonly account: Account;
  readonly clientName: string | null;
}) {
  return (
    <section class="card">
      <h2>
        <Status of={account.status} />
      </h2>
      <dl>
        <dt>Holder</dt>
        <dd>{privacy.name(account.accountHolderName)}</dd>
        <dt>Client</dt>
        <dd>
          <a href={`/clients/${account.clientId}`}>{privacy.name(clientName)}</a>
        </dd>
        <dt>Alias</dt>
        <dd>{privacy.text(account.alias)}</dd>
        <dt>IBAN</dt>
        <dd>{privacy.number(account.iban)}</dd>
        <dt>Account number</dt>
        <dd>{privacy.number(account.accountNumber)}</dd>
        <dt>Ledger number</dt>
        <dd>{privacy.number(account.ledgerNumber)}</dd>
        <dt>Provider</dt>
        <dd>
          {account.provider} ({account.method}), {account.country}
        </dd>
        {account.mainAccountId === null ? null : (
          <>
            <dt>Main account</dt>
            <dd>
              <Id of={account.mainAccountId} to={`/accounts/${account.mainAccountId}`} />
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <Id of={account.id} />
        </dd>
      </dl>
    </section>
  );
}

function Balances({
  account: { currency, postedMinor, reservedMinor, receivableMinor },
}: {
  readonly account: Account;
}) {
  return (
    <section class="card">
      <h2>Balance</h2>
      <dl>
        <dt>Booked</dt>
        <dd>
          <Amount minor={postedMinor} currency={currency} />
        </dd>
        <dt>Reserved for payments</dt>
        <dd>
          <Amount minor={reservedMinor} currency={currency} />
        </dd>
        <dt>Available</dt>
        <dd>
          <strong>
            <Amount minor={postedMinor - reservedMinor} currency={currency} />
          </strong>
        </dd>
        <dt>On its way in</dt>
        <dd>
          <Amount minor={receivableMinor} currency={currency} />
        </dd>
      </dl>
    </section>
  );
}

function Connection({ context: { services }, account }: { readonly context: PageContext; readonly account: Account }) {
  const { connection } = account;
  const workflowId = `account-connection/${account.id}`;
  const link = workflowLink(services.settings, workflowId);
  return (
    <section class="card">
      <h2>Connection to {account.provider}</h2>
      {connection === null ? (
        <p>It has no connection of its own.</p>
      ) : (
        <dl>
          <dt>State</dt>
          <dd>
            <Status of={connection.state} />
          </dd>
          <dt>At the provider</dt>
          <dd>{connection.status ?? 'not known'}</dd>
          <dt>Reference</dt>
          <dd class="id">{connection.reference ?? '–'}</dd>
          {connection.error === null ? null : (
            <>
              <dt>Error</dt>
              <dd class="bad">
                {connection.error.code}: {connection.error.message} ({connection.error.category}, by the{' '}
                {connection.error.origin})
              </dd>
            </>
          )}
        </dl>
      )}
      <p class="quiet">
        Workflow, while it is opened or closed: {link === null ? workflowId : <a href={link}>{workflowId}</a>}
      </p>
    </section>
  );
}

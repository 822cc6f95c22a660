import type { Child } from 'hono/jsx';
import { findAccount } from '../../db/accounts/reads.ts';
import { findClient } from '../../db/clients/clients.ts';
import { findOutgoingTransfer, type OutgoingTransferShown } from '../../db/outgoing-transfers/reads.ts';
import { listReturnedMoney, type ReturnedMoney, readWaitFacts } from '../../db/outgoing-transfers/wait-facts.ts';
import { DIRECTORY_RULES, directoryFor } from '../../domain/beneficiaries/directories.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { type OutgoingTransfer, totalMinor } from '../../domain/outgoing-transfers/rows.ts';
import { OUTGOING_TRANSFER_TRANSITIONS } from '../../domain/outgoing-transfers/statuses.ts';
import { waitOfOutgoingTransfer } from '../../domain/timelines/waits.ts';
import { ReviewLink } from '../compliance/review-link.tsx';
import { Amount, Id, Instant, Status } from '../look/values.tsx';
import { Live } from '../page/live.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { entriesOf, Timeline, timelineOf } from '../timelines/timeline.tsx';
import { LedgerEntries, Webhooks } from '../transfers/records.tsx';
import { reachedIn, Steps } from '../transfers/steps.tsx';
import { Attempts, explained, Waits } from '../transfers/wait.tsx';
import { OUTGOING_TRANSFER_REMEDIES } from './remedies.ts';

const RETURNS_MAX = 20;

/** An outgoing transfer: where is this money? */
export const outgoingTransferPage: Page = {
  path: '/outgoing-transfers/:id',
  section: '/outgoing-transfers',
  shows: 'outgoing-transfer',
  async view(context) {
    const { services, params } = context;
    const { database, configuration } = services;
    const { reader } = database;
    const id = asId<OutgoingTransferId>(params.id ?? '');
    const asked = { resource: 'outgoing-transfer', id } as const;
    const [shown, found, timeline] = await Promise.all([
      findOutgoingTransfer(reader, id),
      readWaitFacts(reader, id),
      timelineOf(context, asked),
    ]);
    if (shown === null || found === null || timeline === null) return null;
    const { transfer, facts } = found;
    const entries = await entriesOf(context, asked, timeline);
    const zone = configuration.schemes.zone(transfer);
    const { transactionNumber: name, status, amountMinor, currency, createdAt } = transfer;
    const row = { kind: 'outgoing-transfer', id, name, status, amountMinor, currency, createdAt } as const;
    const [why, returns, actions] = await Promise.all([
      explained(context, row),
      transfer.returned ? listReturnedMoney(reader, id, RETURNS_MAX) : [],
      actionsOf(context, OUTGOING_TRANSFER_REMEDIES),
    ]);
    const wait = waitOfOutgoingTransfer(transfer, { ...facts, compliance: configuration.compliance });
    return {
      title: `Outgoing transfer ${name}`,
      body: (
        <>
          <Live context={context} path={outgoingTransferPage.path}>
            <Steps moves={OUTGOING_TRANSFER_TRANSITIONS} events={reachedIn(entries)} present={status} zone={zone} />
            <div class="cards">
              <Waits
                context={context}
                explained={why}
                wait={wait}
                zone={zone}
                requirements={requirementsOf(transfer)}
              />
              <Facts context={context} transfer={transfer} shown={shown} zone={zone} />
            </div>
            <section class="card">
              <h2>What can be done</h2>
              {actions}
              <ReviewLink type="outgoing-transfer" transfer={transfer} />
            </section>
          </Live>
          <div class="cards">
            <Source context={context} transfer={transfer} availableMinor={facts.availableMinor} />
            <Destination context={context} transfer={transfer} shown={shown} returns={returns} />
            <Attempts explained={why} />
          </div>
          <LedgerEntries context={context} entries={entries} />
          <Webhooks context={context} resourceId={id} />
          <Timeline context={context} timeline={timeline} zone={zone} />
        </>
      ),
    };
  },
};

function requirementsOf(transfer: OutgoingTransfer): readonly (readonly [string, string])[] {
  return [
    ['authorization', transfer.authorizationStatus],
    ['compliance', transfer.complianceCheckStatus],
    ['date', transfer.transferDateStatus],
    ['balance', transfer.balanceCheckStatus],
  ];
}

interface Parts {
  readonly context: PageContext;
  readonly transfer: OutgoingTransfer;
  readonly shown: OutgoingTransferShown;
}

function Facts({ context: { privacy }, transfer, shown, zone }: Parts & { readonly zone: string }) {
  const { currency, amountMinor, feeMinor, rollCount, originalTransferDate } = transfer;
  const { statusReason } = shown;
  const dates = rollCount === 0 ? '' : `, moved ${rollCount} times from ${originalTransferDate}`;
  return (
    <section class="card">
      <h2>
        <Status of={transfer.status} /> <Amount minor={amountMinor} currency={currency} />
      </h2>
      <dl>
        {statusReason === null ? null : (
          <>
            <dt>Reason</dt>
            <dd>
              {statusReason.code}: {statusReason.message}
            </dd>
          </>
        )}
        <dt>With the fee</dt>
        <dd>
          <Amount minor={totalMinor(transfer)} currency={currency} /> (fee{' '}
          <Amount minor={feeMinor} currency={currency} />)
        </dd>
        <dt>Scheme</dt>
        <dd>
          {transfer.scheme ?? 'internal'}, by {transfer.provider}
        </dd>
        <dt>Date</dt>
        <dd>
          {transfer.transferDate}
          {dates}
        </dd>
        <dt>Cut-off</dt>
        <dd>
          <Instant at={transfer.cutOffAt} zone={zone} />
        </dd>
        <dt>Description</dt>
        <dd>{privacy.text(transfer.description)}</dd>
        <dt>Payment reference</dt>
        <dd class="id">{shown.paymentReference}</dd>
        <dt>At the bank</dt>
        <dd class="id">
          {transfer.serviceProviderId ?? '–'} {transfer.serviceProviderReference ?? ''}
        </dd>
        <dt>Created</dt>
        <dd>
          <Instant at={transfer.createdAt} zone={zone} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Id of={transfer.id} />
        </dd>
      </dl>
    </section>
  );
}

async function Source({
  context: { services, privacy },
  transfer: { accountId, clientId, currency, reservedMinor },
  availableMinor,
}: Omit<Parts, 'shown'> & { readonly availableMinor: bigint }) {
  const { reader } = services.database;
  const [account, client] = await Promise.all([findAccount(reader, accountId), findClient(reader, clientId)]);
  return (
    <section class="card">
      <h2>From</h2>
      <dl>
        <dt>Client</dt>
        <dd>
          <a href={`/clients/${clientId}`}>{privacy.name(client?.fullName ?? null)}</a> {client?.status}
        </dd>
        <dt>Account</dt>
        <dd>
          <a href={`/accounts/${accountId}`}>{privacy.number(account?.ledgerNumber ?? null)}</a> {account?.status}
        </dd>
        <dt>Available there</dt>
        <dd>
          <Amount minor={availableMinor} currency={currency} />
        </dd>
        <dt>Reserved for this</dt>
        <dd>
          <Amount minor={reservedMinor} currency={currency} />
        </dd>
      </dl>
    </section>
  );
}

function Destination({
  context: { privacy, services },
  transfer: { destinationAccountId, incomingTransferId, beneficiaryId, currency, returnOf, returnCode },
  shown: { beneficiary },
  returns,
}: Parts & { readonly returns: readonly ReturnedMoney[] }) {
  const { country, currency: accountCurrency } = beneficiary?.account ?? {};
  const place = country == null || accountCurrency == null ? null : { country, currency: accountCurrency };
  const directory = place === null ? null : directoryFor(services.configuration.directories, place);
  return (
    <section class="card">
      <h2>To</h2>
      <dl>
        <dt>Name</dt>
        <dd>{privacy.name(beneficiary?.fullName ?? null)}</dd>
        <dt>Account number</dt>
        <dd>{privacy.number(beneficiary?.account?.iban ?? beneficiary?.account?.accountNumber ?? null)}</dd>
        {directory === null ? null : (
          <>
            <dt>Names compared by</dt>
            <dd>
              {directory}: {DIRECTORY_RULES[directory].scheme}
            </dd>
          </>
        )}
        {link('Account', destinationAccountId, 'accounts')}
        {link('Its other side', incomingTransferId, 'incoming-transfers')}
        {link(`The payer of what it returns (${returnCode})`, returnOf, 'incoming-transfers')}
        {beneficiaryId === null ? null : (
          <>
            <dt>Beneficiary</dt>
            <dd>
              <Id of={beneficiaryId} />
            </dd>
          </>
        )}
      </dl>
      <ul class="plain">
        {returns.map(({ id, amountMinor, status, waitingFor, sendBackStatus }) => (
          <li>
            <Amount minor={amountMinor} currency={currency} /> came back:{' '}
            <a href={`/incoming-transfers/${id}`}>incoming transfer</a>, {status}
            {waitingFor === null ? '' : `, waits for ${waitingFor}`}
            {sendBackStatus === 'none' ? '' : `, sent back: ${sendBackStatus}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

function link(name: string, id: string | null, folder: string): Child {
  if (id === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Id of={id} to={`/${folder}/${id}`} />
      </dd>
    </>
  );
}

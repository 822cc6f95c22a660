import { findAccount } from '../../db/accounts/reads.ts';
import { findClient } from '../../db/clients/clients.ts';
import { incomingTransfers } from '../../db/common/schema.ts';
import { findIncomingTransfer, type IncomingTransferShown } from '../../db/incoming-transfers/reads.ts';
import { lookUpIn } from '../../db/query/rows.ts';
import { asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import {
  INCOMING_TRANSFER_TRANSITIONS,
  type IncomingTransfer,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { waitOfIncomingTransfer } from '../../domain/timelines/waits.ts';
import { ReviewLink } from '../compliance/review-link.tsx';
import { Amount, Id, Instant, Status } from '../look/values.tsx';
import { Live } from '../page/live.tsx';
import type { Page, PageContext } from '../page/page.ts';
import type { Remedy } from '../remedies/remedy.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { entriesOf, Timeline, timelineOf } from '../timelines/timeline.tsx';
import { LedgerEntries, Webhooks } from '../transfers/records.tsx';
import { resendWebhooks, restartWorkflow } from '../transfers/remedies.ts';
import { reachedIn, Steps } from '../transfers/steps.tsx';
import { Attempts, explained, Waits } from '../transfers/wait.tsx';

import { NearAccounts } from './near-accounts.tsx';
import { INCOMING_TRANSFER_REMEDIES } from './remedies.ts';
import { Returns } from './returns.tsx';

const PATH = '/incoming-transfers/:id';
const TRANSFER = lookUpIn(incomingTransfers);

export const INCOMING_WORK_REMEDIES: readonly Remedy[] = [
  resendWebhooks('incoming-transfer', PATH),
  restartWorkflow('incoming-transfer', PATH),
];

/** An incoming transfer: where is this money, and whose is it? */
export const incomingTransferPage: Page = {
  path: PATH,
  section: '/incoming-transfers',
  shows: 'incoming-transfer',
  async view(context) {
    const { services, params } = context;
    const { database, configuration } = services;
    const { reader } = database;
    const id = asId<IncomingTransferId>(params.id ?? '');
    const asked = { resource: 'incoming-transfer', id } as const;
    const [shown, transfer, timeline] = await Promise.all([
      findIncomingTransfer(reader, id),
      reader.find(TRANSFER, id),
      timelineOf(context, asked),
    ]);
    if (shown === null || transfer === null || timeline === null) return null;
    const entries = await entriesOf(context, asked, timeline);
    const zone = configuration.schemes.zone(transfer);
    const { transactionNumber: name, status, amountMinor, currency, createdAt } = transfer;
    const row = { kind: 'incoming-transfer', id, name, status, amountMinor, currency, createdAt } as const;
    const [why, actions] = await Promise.all([
      explained(context, row),
      actionsOf(context, [...INCOMING_TRANSFER_REMEDIES, ...INCOMING_WORK_REMEDIES]),
    ]);
    const wait = waitOfIncomingTransfer(transfer, configuration);
    return {
      title: `Incoming transfer ${name}`,
      body: (
        <>
          <Live context={context} path={PATH}>
            <Steps moves={INCOMING_TRANSFER_TRANSITIONS} events={reachedIn(entries)} present={status} zone={zone} />
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
              <ReviewLink type="incoming-transfer" transfer={transfer} />
            </section>
          </Live>
          <NearAccounts context={context} />
          <div class="cards">
            <Sender context={context} transfer={transfer} shown={shown} />
            <Receiver context={context} transfer={transfer} shown={shown} />
            <Returns shown={shown} />
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

function requirementsOf({ complianceCheckStatus }: IncomingTransfer): readonly (readonly [string, string])[] {
  return [['compliance', complianceCheckStatus]];
}

interface Parts {
  readonly context: PageContext;
  readonly transfer: IncomingTransfer;
  readonly shown: IncomingTransferShown;
}

function Facts({ context: { privacy }, transfer, shown, zone }: Parts & { readonly zone: string }) {
  const { statusReason } = shown;
  return (
    <section class="card">
      <h2>
        <Status of={transfer.status} /> <Amount minor={transfer.amountMinor} currency={transfer.currency} />
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
        <dt>Fee</dt>
        <dd>
          <Amount minor={transfer.feeMinor} currency={transfer.currency} />
        </dd>
        <dt>Scheme</dt>
        <dd>
          {transfer.scheme ?? transfer.scope}, by {transfer.provider}
        </dd>
        <dt>Date</dt>
        <dd>{transfer.transferDate ?? '–'}</dd>
        <dt>Reference of the payer</dt>
        <dd>{privacy.text(transfer.senderInformation)}</dd>
        <dt>At the bank</dt>
        <dd class="id">
          {transfer.serviceProviderId ?? '–'} {transfer.serviceProviderReference ?? ''}
        </dd>
        <dt>Return to the payer</dt>
        <dd>{transfer.sendBackStatus}</dd>
        <dt>Arrived</dt>
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

function Sender({ context: { privacy }, transfer: { outgoingTransferId, returnOf, senderAccountId }, shown }: Parts) {
  const { senderName, senderAccount } = shown;
  return (
    <section class="card">
      <h2>From</h2>
      <dl>
        <dt>Name</dt>
        <dd>{privacy.name(senderName)}</dd>
        <dt>Account number</dt>
        <dd>{privacy.number(senderAccount?.iban ?? senderAccount?.accountNumber ?? null)}</dd>
        {senderAccountId === null ? null : (
          <>
            <dt>Account</dt>
            <dd>
              <Id of={senderAccountId} to={`/accounts/${senderAccountId}`} />
            </dd>
          </>
        )}
        {outgoingTransferId === null ? null : (
          <>
            <dt>Its other side</dt>
            <dd>
              <Id of={outgoingTransferId} to={`/outgoing-transfers/${outgoingTransferId}`} />
            </dd>
          </>
        )}
        {returnOf === null ? null : (
          <>
            <dt>Money returned from</dt>
            <dd>
              <Id of={returnOf} to={`/outgoing-transfers/${returnOf}`} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

async function Receiver({ context: { services, privacy }, transfer: { accountId, clientId }, shown }: Parts) {
  const { reader } = services.database;
  const { receiverAccount } = shown;
  const [account, client] = await Promise.all([
    accountId === null ? null : findAccount(reader, accountId),
    clientId === null ? null : findClient(reader, clientId),
  ]);
  return (
    <section class="card">
      <h2>To</h2>
      <dl>
        <dt>Named</dt>
        <dd>
          {privacy.name(receiverAccount?.accountHolderName ?? null)}{' '}
          {privacy.number(receiverAccount?.iban ?? receiverAccount?.accountNumber ?? null)}
        </dd>
        <dt>Account</dt>
        <dd>
          {account === null ? (
            <a href="/money-without-owner">None yet: money without an owner</a>
          ) : (
            <>
              <a href={`/accounts/${account.id}`}>{privacy.number(account.ledgerNumber)}</a> {account.status}
            </>
          )}
        </dd>
        {client === null ? null : (
          <>
            <dt>Client</dt>
            <dd>
              <a href={`/clients/${client.id}`}>{privacy.name(client.fullName)}</a> {client.status}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

import { type HeldPayment, listHeldPayments } from '../../db/bank-files/by-hand/held.ts';
import { type BankFileRequest, findRequest, listNewestRequests } from '../../db/bank-files/by-hand/requests.ts';
import { type Actor, readActors } from '../../db/people/actors.ts';
import { asId, type BankFileRequestId } from '../../domain/common/ids.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { carriedPage } from '../look/links.ts';
import { Amount, amountText, Id, Instant, Status } from '../look/values.tsx';
import type { Page } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { HELD_REMEDIES, REQUEST_PAGE, REQUEST_REMEDIES, requestTitle, sumsOf } from './requests.ts';

const PAYMENTS_SHOWN = 50;

/** The status as people see it: what no one signed in time can no longer be signed. */
function shownStatus({ status, expiresAt }: BankFileRequest, now: Date): string {
  return status === 'waiting' && expiresAt.getTime() <= now.getTime() ? 'expired' : status;
}

export const requestList = listPage<BankFileRequest>({
  path: '/bank-file-requests',
  title: 'Requests about bank files',
  question: 'What did one person ask for, and another sign? The newest first.',
  section: '/bank-files',
  filters: [],
  empty: 'Nothing was asked for.',
  read: ({ services }, _, slice) =>
    newestFirst(
      slice,
      (page) => listNewestRequests(services.database.reader, page),
      ({ id }) => id,
    ),
  columns: [
    {
      header: 'What',
      cell: (request) => <Id of={requestTitle(request)} to={`/bank-file-requests/${request.id}`} />,
      text: requestTitle,
    },
    {
      header: 'Status',
      cell: (request, { services }) => <Status of={shownStatus(request, services.now())} />,
      text: (request, { services }) => shownStatus(request, services.now()),
    },
    { header: 'Payments of', isNumber: true, cell: sumsOf, text: sumsOf },
    {
      header: 'Asked',
      cell: ({ askedAt }) => <Instant at={askedAt} />,
      text: ({ askedAt }) => askedAt.toISOString(),
    },
    { header: 'Reason', cell: ({ reason }) => reason, text: ({ reason }) => reason },
  ],
});

/** What was asked for, why, by whom, and who decided. */
export const requestPage: Page = {
  path: REQUEST_PAGE,
  section: '/bank-files',
  async view(context) {
    const { services, params } = context;
    const { reader } = services.database;
    const request = await findRequest(reader, asId<BankFileRequestId>(params.id ?? ''));
    if (request === null) return null;
    const people = [request.askedBy, request.decidedBy];
    const [actors, actions] = await Promise.all([readActors(reader, people), actionsOf(context, REQUEST_REMEDIES)]);
    return {
      title: requestTitle(request),
      body: (
        <div class="cards">
          <Facts request={request} actors={actors} status={shownStatus(request, services.now())} />
          <section class="card">
            <h2>What can be done</h2>
            {actions}
          </section>
        </div>
      ),
    };
  },
};

interface FactsProps {
  readonly request: BankFileRequest;
  readonly actors: ReadonlyMap<string, Actor>;
  readonly status: string;
}

function Facts({ request, actors, status }: FactsProps) {
  const { fileId, bankSays, transferIds, reason, askedBy, askedRole, askedAt, expiresAt } = request;
  const { decidedBy, decidedAt, decisionReason } = request;
  const nameOf = (id: string) => actors.get(id)?.name ?? id;
  return (
    <section class="card">
      <h2>
        <Status of={status} /> {sumsOf(request)}
      </h2>
      <dl>
        {fileId === null ? null : (
          <>
            <dt>File</dt>
            <dd>
              <Id of={fileId} to={`/bank-files/${fileId}`} />
            </dd>
          </>
        )}
        {bankSays === null ? null : (
          <>
            <dt>The bank says</dt>
            <dd>{bankSays}</dd>
            <dt>Payments</dt>
            <dd>
              <Payments ids={transferIds} />
            </dd>
          </>
        )}
        <dt>Reason</dt>
        <dd>{reason}</dd>
        <dt>Asked by</dt>
        <dd>
          {nameOf(askedBy)} ({askedRole ?? 'by a command'}), <Instant at={askedAt} />
        </dd>
        <dt>{decidedBy === null ? 'Can be signed until' : 'Decided by'}</dt>
        <dd>
          {decidedBy === null ? null : `${nameOf(decidedBy)}: ${decisionReason}, `}
          <Instant at={decidedAt ?? expiresAt} />
        </dd>
      </dl>
    </section>
  );
}

function Payments({ ids }: { readonly ids: readonly string[] }) {
  return (
    <ul class="plain">
      {ids.slice(0, PAYMENTS_SHOWN).map((id) => (
        <li>
          <Id of={id} to={`/outgoing-transfers/${id}`} />
        </li>
      ))}
      {ids.length > PAYMENTS_SHOWN ? <li>and {(ids.length - PAYMENTS_SHOWN).toLocaleString('en-GB')} more</li> : null}
    </ul>
  );
}

/** Payments that no file takes until the bank has been asked. */
export const heldPaymentList = listPage<HeldPayment>({
  path: '/held-payments',
  title: 'Held payments',
  question: 'Which payments does no file take until the bank has been asked? The newest first.',
  section: '/bank-files',
  filters: [{ name: 'provider', label: 'Bank', kind: 'text' }],
  empty: 'No payment is held.',
  isLive: true,
  read: ({ services }, { provider }, slice) =>
    newestFirst(
      slice,
      (page) => listHeldPayments(services.database.reader, provider ?? null, page),
      ({ transferId }) => transferId,
    ),
  columns: [
    {
      header: 'Payment',
      cell: (held) => <Id of={held.transferId} to={carriedPage(held)} />,
      text: ({ transferId }) => transferId,
    },
    { header: 'Bank', cell: ({ provider }) => provider, text: ({ provider }) => provider },
    {
      header: 'Amount',
      isNumber: true,
      cell: ({ amountMinor, currency }) => <Amount minor={amountMinor} currency={currency} />,
      text: ({ amountMinor, currency }) => amountText(amountMinor, currency),
    },
    { header: 'Why', cell: ({ reason }) => reason, text: ({ reason }) => reason },
    {
      header: 'Queued',
      cell: ({ queuedAt }) => <Instant at={queuedAt} />,
      text: ({ queuedAt }) => queuedAt.toISOString(),
    },
    { header: 'The bank says', cell: ({ bankSays }) => bankSays ?? '–', text: ({ bankSays }) => bankSays ?? '' },
  ],
  above: (context) => actionsOf(context, HELD_REMEDIES),
});

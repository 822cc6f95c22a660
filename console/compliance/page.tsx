import type { CheckedType } from '../../db/compliance/checks.ts';
import { isInReview, presentComplianceCheck } from '../../domain/compliance/checks.ts';
import { Amount, age, Id, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { History } from './history.tsx';
import { REVIEW_REMEDIES } from './remedies.ts';
import { FOLDERS, type Review, readReview } from './review.ts';
import { Stop } from './stop.tsx';

/** A review: what stopped the transfer, who its parties are and what they did before, and the decision. */
function reviewPage(type: CheckedType): Page {
  return {
    path: `/reviews/${FOLDERS[type]}/:id`,
    section: '/reviews',
    shows: type,
    async view(context) {
      const review = await readReview(context, type);
      if (review === null) return null;
      const actions = await actionsOf(context, [REVIEW_REMEDIES[type]]);
      return {
        title: `Review of ${review.transfer.transactionNumber}`,
        body: (
          <>
            <div class="cards">
              <Facts context={context} review={review} />
              <section class="card">
                <h2>What can be done</h2>
                {actions}
                <p class="quiet">Who made, authorized or assigned a payment does not decide about it.</p>
              </section>
            </div>
            <Stop context={context} review={review} />
            <History context={context} review={review} />
          </>
        ),
      };
    },
  };
}

export const outgoingReviewPage = reviewPage('outgoing-transfer');
export const incomingReviewPage = reviewPage('incoming-transfer');

function Facts({
  context: { privacy, now, services },
  review,
}: {
  readonly context: PageContext;
  readonly review: Review;
}) {
  const { type, id, transfer, direction, counterparty, message } = review;
  const { status, decidedBy } = presentComplianceCheck(transfer);
  return (
    <section class="card">
      <h2>
        <Status of={status} /> <Amount minor={transfer.amountMinor} currency={transfer.currency} />{' '}
        {direction === 'outgoing' ? 'out' : 'in'}
      </h2>
      <dl>
        <dt>Transfer</dt>
        <dd>
          <Id of={transfer.transactionNumber} to={`/${FOLDERS[type]}/${id}`} />, <Status of={transfer.status} />
        </dd>
        <dt>Client</dt>
        <dd>
          {transfer.clientId === null ? 'none yet' : <Id of={transfer.clientId} to={`/clients/${transfer.clientId}`} />}
        </dd>
        <dt>Account</dt>
        <dd>
          {transfer.accountId === null ? (
            'none yet'
          ) : (
            <Id of={transfer.accountId} to={`/accounts/${transfer.accountId}`} />
          )}
        </dd>
        <dt>Other party</dt>
        <dd>{privacy.name(counterparty)}</dd>
        <dt>Message</dt>
        <dd>{privacy.text(message)}</dd>
        <dt>Scheme</dt>
        <dd>{transfer.scheme ?? 'internal'}</dd>
        <dt>Made</dt>
        <dd>
          <Instant at={transfer.createdAt} zone={services.configuration.schemes.zone(transfer)} />
        </dd>
        {isInReview(transfer) ? (
          <>
            <dt>Waits</dt>
            <dd>
              for {transfer.waitingFor ?? 'nothing else'}
              {transfer.waitingSince === null ? '' : `, ${age(transfer.waitingSince, now)}`}
            </dd>
          </>
        ) : (
          <>
            <dt>Decided by</dt>
            <dd>{decidedBy ?? 'no one'}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

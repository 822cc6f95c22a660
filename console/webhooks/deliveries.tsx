import { findWebhookDelivery, type WebhookDelivery } from '../../db/webhooks/deliveries.ts';
import { loadEventBodies } from '../../db/webhooks/event-documents.ts';
import { listNewestDeliveries } from '../../db/webhooks/receivers.ts';
import { asId, type WebhookDeliveryId, type WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { explainAttempt } from '../../domain/webhooks/explanations.ts';
import { WEBHOOK_DELIVERY_STATUSES } from '../../domain/webhooks/subscriptions.ts';
import { listPage } from '../lists/list-page.tsx';
import { newestFirst } from '../lists/newest-first.ts';
import { pageOf } from '../look/links.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import { Live } from '../page/live.tsx';
import type { Page } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { DELIVERY_REMEDIES } from './remedies.ts';

export const deliveryList = listPage({
  path: '/webhooks/:id/deliveries',
  title: 'Webhook deliveries',
  question: 'What was sent to this receiver, newest first.',
  section: '/webhooks',
  filters: [{ name: 'status', label: 'Status', kind: 'choice', choices: WEBHOOK_DELIVERY_STATUSES }],
  empty: 'Nothing was sent to it, or what was sent is no longer kept.',
  isLive: true,
  read: ({ services, params }, given, slice) => {
    const status = WEBHOOK_DELIVERY_STATUSES.find((known) => known === given.status) ?? null;
    const asked = { subscriptionId: asId<WebhookSubscriptionId>(params.id ?? ''), status };
    return newestFirst(
      slice,
      (page) => listNewestDeliveries(services.database.reader, asked, page),
      ({ eventId }) => eventId,
    );
  },
  columns: [
    {
      header: 'Event',
      cell: ({ id, type }) => <Id of={type} to={`/webhook-deliveries/${id}`} />,
      text: ({ type }) => type,
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    {
      header: 'Attempts',
      isNumber: true,
      cell: ({ attemptCount }) => attemptCount,
      text: ({ attemptCount }) => String(attemptCount),
    },
    {
      header: 'Since',
      cell: ({ createdAt }) => <Instant at={createdAt} />,
      text: ({ createdAt }) => createdAt.toISOString(),
    },
    {
      header: 'Next attempt',
      cell: ({ status, nextAttemptAt }) => (status === 'pending' ? <Instant at={nextAttemptAt} /> : '–'),
      text: ({ status, nextAttemptAt }) => (status === 'pending' ? nextAttemptAt.toISOString() : ''),
    },
  ],
});

/** A delivery: what was sent, and what the receiver answered. */
export const deliveryPage: Page = {
  path: '/webhook-deliveries/:id',
  section: '/webhooks',
  shows: 'webhook-delivery',
  async view(context) {
    const { services, params, privacy } = context;
    const { reader } = services.database;
    const delivery = await findWebhookDelivery(reader, asId<WebhookDeliveryId>(params.id ?? ''));
    if (delivery === null) return null;
    const [bodies, actions] = await Promise.all([
      delivery.body === null ? loadEventBodies(reader, [delivery.eventId]) : null,
      actionsOf(context, DELIVERY_REMEDIES),
    ]);
    const sent = delivery.body ?? bodies?.get(delivery.eventId) ?? null;
    return {
      title: `Webhook ${delivery.type}`,
      body: (
        <>
          <Live context={context} path={deliveryPage.path}>
            <Facts delivery={delivery} />
            <section class="card">
              <h2>What can be done</h2>
              {actions}
            </section>
            <Attempts delivery={delivery} answer={(text) => privacy.text(text)} />
          </Live>
          <section class="card">
            <h2>What is sent</h2>
            {privacy.isHiding ? <p>Hidden from viewers: it holds names and account numbers.</p> : <Sent text={sent} />}
          </section>
        </>
      ),
    };
  },
};

function Sent({ text }: { readonly text: string | null }) {
  return text === null ? <p>The event is no longer kept.</p> : <pre tabindex={0}>{text}</pre>;
}

function Facts({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { module, resourceId, status, subscriptionId, createdAt, nextAttemptAt, completedAt } = delivery;
  const page = pageOf(module.replace(/s$/, ''), resourceId);
  return (
    <section class="card">
      <dl>
        <dt>Status</dt>
        <dd>
          <Status of={status} />
        </dd>
        <dt>About</dt>
        <dd>
          {module} {page === null ? <Id of={resourceId} /> : <Id of={resourceId} to={page} />}
        </dd>
        <dt>Receiver</dt>
        <dd>
          <Id of={subscriptionId} to={`/webhooks/${subscriptionId}`} />
        </dd>
        <dt>Since</dt>
        <dd>
          <Instant at={createdAt} />
        </dd>
        <dt>{status === 'pending' ? 'Next attempt' : 'Ended'}</dt>
        <dd>
          <Instant at={status === 'pending' ? nextAttemptAt : completedAt} />
        </dd>
      </dl>
    </section>
  );
}

function Attempts({
  delivery: { attempts },
  answer,
}: {
  readonly delivery: WebhookDelivery;
  readonly answer: (text: string | null) => string;
}) {
  return (
    <section class="card">
      <h2>Attempts</h2>
      {attempts.length === 0 ? <p>It has not been sent yet.</p> : null}
      <ol class="timeline">
        {attempts.slice(-50).map(({ number, attemptedAt, durationMs, responseCode, responseBody, error }) => (
          <li>
            <strong>{number}.</strong> <Instant at={attemptedAt} />, {durationMs} ms:{' '}
            {responseCode === null ? error : `status ${responseCode}`}
            <div class="quiet">{explainAttempt({ responseCode, error }) ?? 'It was taken.'}</div>
            {responseBody === null || responseBody === '' ? null : <pre tabindex={0}>{answer(responseBody)}</pre>}
          </li>
        ))}
      </ol>
    </section>
  );
}

import { type DeliveryCounts, readDeliveryCounts } from '../../db/webhooks/receivers.ts';
import { findWebhookSubscription, type WebhookSubscription } from '../../db/webhooks/subscriptions.ts';
import { asId, type WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { workflowLink } from '../look/links.ts';
import { Id, Instant, Status } from '../look/values.tsx';
import { Live } from '../page/live.tsx';
import type { Page } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { hostOf } from './list.tsx';
import { SUBSCRIPTION_REMEDIES } from './remedies.ts';

/** A receiver: whether it hears us, how fast, and what to do if it does not. */
export const subscriptionPage: Page = {
  path: '/webhooks/:id',
  section: '/webhooks',
  async view(context) {
    const { services, params } = context;
    const { reader } = services.database;
    const id = asId<WebhookSubscriptionId>(params.id ?? '');
    const subscription = await findWebhookSubscription(reader, id);
    if (subscription === null) return null;
    const [counts, actions] = await Promise.all([
      readDeliveryCounts(reader, id),
      actionsOf(context, SUBSCRIPTION_REMEDIES),
    ]);
    const workflowId = `webhook-delivery/${subscription.shard}`;
    const link = workflowLink(services.settings, workflowId);
    return {
      title: `Webhooks to ${hostOf(subscription)}`,
      body: (
        <>
          <Live context={context} path={subscriptionPage.path}>
            <div class="cards">
              <Facts subscription={subscription} />
              <Health counts={counts} />
            </div>
            <section class="card">
              <h2>What can be done</h2>
              {actions}
            </section>
          </Live>
          <section class="card">
            <h2>Deliveries</h2>
            <ul class="plain">
              <li>
                <a href={`/webhooks/${id}/deliveries`}>All, newest first</a>
              </li>
              <li>
                <a href={`/webhooks/${id}/deliveries?status=failed`}>Those that failed for good</a>
              </li>
              <li>
                <a href={`/webhooks/${id}/deliveries?status=pending`}>Those that are not delivered yet</a>
              </li>
            </ul>
            <p class="quiet">Workflow: {link === null ? workflowId : <a href={link}>{workflowId}</a>}</p>
          </section>
        </>
      ),
    };
  },
};

function Facts({ subscription }: { readonly subscription: WebhookSubscription }) {
  const { status, statusReason, failingSince, modules, types, description, id, createdAt } = subscription;
  return (
    <section class="card">
      <h2>
        <Status of={status} />
      </h2>
      <dl>
        <dt>Why it is off</dt>
        <dd>{statusReason === null ? '–' : statusReason}</dd>
        <dt>Fails since</dt>
        <dd>
          <Instant at={failingSince} />
        </dd>
        <dt>Events</dt>
        <dd>{(types ?? modules ?? ['all of the specification']).join(', ')}</dd>
        <dt>Description</dt>
        <dd>{description ?? '–'}</dd>
        <dt>Since</dt>
        <dd>
          <Instant at={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Id of={id} />
        </dd>
      </dl>
    </section>
  );
}

function Health({ counts: { pending, ended, failed, medianMs, slowestMs } }: { readonly counts: DeliveryCounts }) {
  return (
    <section class="card">
      <h2>How it hears us</h2>
      <dl>
        <dt>Not delivered yet</dt>
        <dd>{pending.toLocaleString('en-GB')}</dd>
        <dt>Failed for good</dt>
        <dd class={failed > 0 ? 'bad' : ''}>
          {failed.toLocaleString('en-GB')} of the last {ended.toLocaleString('en-GB')}
        </dd>
        <dt>Its answer takes</dt>
        <dd>{medianMs === null ? 'not known yet' : `${medianMs} ms in the middle, ${slowestMs} ms at most`}</dd>
      </dl>
    </section>
  );
}

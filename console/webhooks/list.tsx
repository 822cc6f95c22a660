import {
  listWebhookSubscriptions,
  SUBSCRIPTIONS_MAX,
  type WebhookSubscription,
} from '../../db/webhooks/subscriptions.ts';
import { WEBHOOK_SUBSCRIPTION_STATUSES } from '../../domain/webhooks/subscriptions.ts';
import { listPage } from '../lists/list-page.tsx';
import { age, Id, Status } from '../look/values.tsx';

/** Where it leads, without what may be a password or token in it. */
export function hostOf({ url }: Pick<WebhookSubscription, 'url'>): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';
}

export const subscriptionList = listPage({
  path: '/webhooks',
  title: 'Webhooks',
  question: 'Who does not hear us?',
  section: '/webhooks',
  filters: [{ name: 'status', label: 'Status', kind: 'choice', choices: WEBHOOK_SUBSCRIPTION_STATUSES }],
  empty: 'No webhook subscription is like this.',
  isLive: true,
  async read({ services }, given) {
    const status = WEBHOOK_SUBSCRIPTION_STATUSES.find((known) => known === given.status);
    // There are never more, so they are one page.
    const all = { size: SUBSCRIPTIONS_MAX, offset: 0 };
    const { rows } = await listWebhookSubscriptions(services.database.reader, { status }, all);
    return { rows, next: null };
  },
  columns: [
    {
      header: 'Receiver',
      cell: (subscription) => <Id of={hostOf(subscription)} to={`/webhooks/${subscription.id}`} />,
      text: hostOf,
    },
    { header: 'Status', cell: ({ status }) => <Status of={status} />, text: ({ status }) => status },
    {
      header: 'Fails for',
      cell: ({ failingSince }, { now }) =>
        failingSince === null ? '–' : <span class="bad">{age(failingSince, now)}</span>,
      text: ({ failingSince }) => failingSince?.toISOString() ?? '',
    },
    {
      header: 'Why it is off',
      cell: ({ statusReason }) => statusReason ?? '–',
      text: ({ statusReason }) => statusReason ?? '',
    },
    { header: 'Events', cell: eventsOf, text: eventsOf },
    {
      header: 'Description',
      cell: ({ description }) => description ?? '–',
      text: ({ description }) => description ?? '',
    },
  ],
});

function eventsOf({ modules, types }: WebhookSubscription): string {
  return (types ?? modules ?? ['all']).join(', ');
}

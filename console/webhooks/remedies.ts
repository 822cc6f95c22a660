import { readClock } from '../../db/common/clock.ts';
import { findWebhookDelivery, retryWebhookDelivery } from '../../db/webhooks/deliveries.ts';
import { readDeliveryCounts } from '../../db/webhooks/receivers.ts';
import { replayWebhooks } from '../../db/webhooks/replays.ts';
import {
  changeWebhookSubscription,
  findWebhookSubscription,
  lockActiveSubscription,
} from '../../db/webhooks/subscriptions.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type WebhookDeliveryId, type WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { parseDateTime } from '../../domain/common/time/dates.ts';
import type { Remedy } from '../remedies/remedy.ts';
import { hostOf } from './list.tsx';

const ofSubscription = {
  resource: 'webhook-subscription',
  page: '/webhooks/:id',
  roles: ['admin'],
  movesMoney: false,
} as const;

const subscriptionIdOf = ({ id }: Readonly<Record<string, string>>) => asId<WebhookSubscriptionId>(id ?? '');

const enable: Remedy = {
  ...ofSubscription,
  kind: 'enable-webhooks',
  label: 'Make active',
  async preview({ services: { database }, params }) {
    const id = subscriptionIdOf(params);
    const subscription = await findWebhookSubscription(database.reader, id);
    if (subscription === null) return null;
    const { pending } = await readDeliveryCounts(database.reader, id);
    return {
      title: `Make the webhooks to ${hostOf(subscription)} active`,
      consequences: [
        `${pending.toLocaleString('en-GB')} webhooks that were kept back are sent, oldest first, and new ones as they come.`,
        'If the receiver still takes nothing, the service turns it off again after its usual time.',
      ],
      ...(subscription.status === 'active' ? { unavailable: 'They are active.' } : {}),
    };
  },
  async act({ services: { database }, params }, _, initiator) {
    const { before } = await database.transaction((tx) =>
      changeWebhookSubscription(tx, subscriptionIdOf(params), { status: 'active' }, initiator),
    );
    return before.status === 'active'
      ? { state: 'unchanged', text: 'They were active already.' }
      : { state: 'done', text: 'They are active, and what was kept back is being sent.' };
  },
};

const pause: Remedy = {
  ...ofSubscription,
  kind: 'pause-webhooks',
  label: 'Pause',
  async preview({ services: { database }, params }) {
    const subscription = await findWebhookSubscription(database.reader, subscriptionIdOf(params));
    if (subscription === null) return null;
    return {
      title: `Pause the webhooks to ${hostOf(subscription)}`,
      consequences: ['Nothing is sent to it until it is active again; what happens meanwhile is kept for it.'],
      ...(subscription.status === 'active' ? {} : { unavailable: `They are ${subscription.status}.` }),
    };
  },
  async act({ services: { database }, params }, _, initiator) {
    const { before } = await database.transaction((tx) =>
      changeWebhookSubscription(tx, subscriptionIdOf(params), { status: 'paused' }, initiator),
    );
    return before.status === 'paused'
      ? { state: 'unchanged', text: 'They were paused already.' }
      : { state: 'done', text: 'They are paused.' };
  },
};

const replay: Remedy = {
  ...ofSubscription,
  kind: 'replay-webhooks',
  label: 'Replay a range',
  fields: [
    { name: 'from', label: 'From, in UTC', kind: 'date-time' },
    { name: 'to', label: 'To, in UTC; empty for now', kind: 'date-time', isOptional: true },
  ],
  async preview({ services: { database }, params }) {
    const subscription = await findWebhookSubscription(database.reader, subscriptionIdOf(params));
    if (subscription === null) return null;
    return {
      title: `Replay webhooks to ${hostOf(subscription)}`,
      consequences: [
        'Every event of the range that this receiver subscribes to is sent again, under its own id: a receiver that keeps ids acts on none of them twice.',
        'At most 100,000 events; a longer range takes several replays.',
      ],
      ...(subscription.status === 'active'
        ? {}
        : { unavailable: `They are ${subscription.status}: make them active first.` }),
    };
  },
  async act({ services: { database }, params }, { fields }, initiator) {
    const count = await database.transaction(async (tx) => {
      const subscription = await lockActiveSubscription(tx, subscriptionIdOf(params));
      const from = instantOf('from', fields.from ?? '');
      const to = (fields.to ?? '') === '' ? await readClock(tx) : instantOf('to', fields.to ?? '');
      return replayWebhooks(tx, subscription, { from, to, types: null }, initiator);
    });
    return count === 0
      ? { state: 'unchanged', text: 'No event of this range is for this receiver.' }
      : { state: 'done', text: `${count.toLocaleString('en-GB')} webhooks are being sent again.` };
  },
};

/** Browsers leave out seconds that are zero. */
function instantOf(name: string, text: string): Date {
  const instant = parseDateTime(/T\d\d:\d\d$/.test(text) ? `${text}:00` : text);
  if (instant !== null) return instant;
  throw rejection(
    'common.validation.field_invalid',
    ['webhookSubscription', name, text],
    `“${name}” is no date and time: write it as 2026-11-26T09:30.`,
  );
}

const retry: Remedy = {
  kind: 'retry-delivery',
  label: 'Send it again now',
  resource: 'webhook-delivery',
  page: '/webhook-deliveries/:id',
  roles: ['admin'],
  movesMoney: false,
  async preview({ services: { database }, params }) {
    const delivery = await findWebhookDelivery(database.reader, asId<WebhookDeliveryId>(params.id ?? ''));
    if (delivery === null) return null;
    return {
      title: `Send ${delivery.type} again`,
      consequences: [
        `It is sent at once, as attempt ${delivery.attemptCount + 1}, under its own id.`,
        delivery.status === 'pending'
          ? 'If it fails, its schedule goes on.'
          : 'If it fails, its schedule begins from the start.',
      ],
    };
  },
  async act({ services: { database }, params }, _, initiator) {
    await database.transaction((tx) => retryWebhookDelivery(tx, asId<WebhookDeliveryId>(params.id ?? ''), initiator));
    return { state: 'unknown', text: 'It is being sent. The receiver’s answer appears here.' };
  },
};

export const SUBSCRIPTION_REMEDIES: readonly Remedy[] = [enable, pause, replay];
export const DELIVERY_REMEDIES: readonly Remedy[] = [retry];

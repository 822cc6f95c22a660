import * as v from 'valibot';
import { readClock } from '../../db/common/clock.ts';
import { newId } from '../../db/common/ids.ts';
import type { Transaction } from '../../db/query/database.ts';
import { replayWebhooks } from '../../db/webhooks/replays.ts';
import {
  lockActiveSubscription,
  pingWebhookSubscription,
  rotateWebhookSecret,
  type WebhookSubscription,
} from '../../db/webhooks/subscriptions.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { stringify } from '../http/requests/json.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, integer, optional, uuid } from '../http/schemas/schemas.ts';
import { DELIVERY_EXAMPLE, deliveryShown, showDelivery } from './deliveries.ts';
import {
  EXAMPLE,
  newSecret,
  SECRET_EXAMPLE,
  show,
  subscriptionShown,
  subscriptionWithSecret,
  TAG,
  types,
} from './subscription-schemas.ts';

const rotateSecret = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/rotate-secret',
    operationId: 'rotateWebhookSubscriptionSecret',
    summary: 'Rotate the secret of a subscription',
    description: 'For 24 hours deliveries are signed with both the new secret and the previous one.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: { direct: { data: fields({}) } },
    status: 200,
    confidential: true,
    response: fields({ webhookSubscription: subscriptionWithSecret }),
    examples: { requests: { direct: { data: {} } }, response: { webhookSubscription: SECRET_EXAMPLE } },
  },
  async ({ params, initiator, services, write }) =>
    write(async (tx) => {
      const secret = newSecret();
      const rotation = { secret, initiator };
      const subscription = await rotateWebhookSecret(tx, services.keyring, params.webhookSubscriptionId, rotation);
      return { data: { webhookSubscription: { ...show(subscription), secret } } };
    }),
);

const ping = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/ping',
    operationId: 'pingWebhookSubscription',
    summary: 'Send a test webhook',
    description:
      'Delivers a webhook of module webhook-subscriptions and type ping. It is not an event and has sequence 0.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: { direct: { data: fields({}) } },
    response: fields({ webhookDelivery: deliveryShown }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: {} } },
      response: { webhookDelivery: { ...DELIVERY_EXAMPLE, module: 'webhook-subscriptions', type: 'ping' } },
    },
  },
  async ({ params, initiator, write }) => {
    return write(async (tx) => {
      const subscription = await lockActiveSubscription(tx, params.webhookSubscriptionId);
      const delivery = await pingWebhookSubscription(tx, subscription, await pingOf(tx, subscription), initiator);
      return { data: { webhookDelivery: showDelivery({ ...delivery, attempts: [] }) } };
    });
  },
);

async function pingOf(tx: Transaction, subscription: WebhookSubscription) {
  const eventId = newId();
  const at = await readClock(tx);
  const body = stringify({
    webhook: { module: 'webhook-subscriptions', type: 'ping' },
    data: { webhookSubscription: show(subscription) },
    connect: {},
    metadata: { sequence: 0, eventId, eventDateTime: formatDateTime(at) },
  });
  return { eventId, body, at };
}

const replay = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/replay',
    operationId: 'replayWebhookSubscription',
    summary: 'Replay the events of a period',
    description:
      'Both ends are included. `to` defaults to now, `types` to all types that the subscription receives. Replayed webhooks keep their ids.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: v.pipe(
            named('WebhookReplay', fields({ from: dateTime(), to: optional(dateTime()), types: optional(types) })),
            v.check(({ from, to }) => to === undefined || from <= to, 'must not end before it begins'),
          ),
        }),
      },
    },
    status: 200,
    response: fields({ webhookSubscription: subscriptionShown, deliveryCount: integer(0, 100_000) }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: {
        direct: { data: { webhookSubscription: { from: '2026-03-02T00:00:00', to: '2026-03-02T12:00:00' } } },
      },
      response: { webhookSubscription: EXAMPLE, deliveryCount: 12 },
    },
  },
  async ({ params, body, initiator, transaction }) => {
    return transaction(async (tx) => {
      const subscription = await lockActiveSubscription(tx, params.webhookSubscriptionId);
      const { from, to = await readClock(tx), types: only = null } = body.data.webhookSubscription;
      if (from > to) throw fromInTheFuture(from);
      const deliveryCount = await replayWebhooks(tx, subscription, { from, to, types: only }, initiator);
      return { data: { webhookSubscription: show(subscription), deliveryCount } };
    });
  },
);

function fromInTheFuture(from: Date) {
  return rejection(
    'common.validation.field_invalid',
    ['webhookSubscription', 'from', formatDateTime(from)],
    'data.webhookSubscription.from must not be in the future.',
  );
}

export const webhookSubscriptionActionRoutes: readonly Route[] = [rotateSecret, ping, replay];

import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { Transaction } from '../db/client.ts';
import { readClock } from '../db/clock.ts';
import { newId } from '../db/ids.ts';
import { findWebhookDelivery } from '../db/webhook-deliveries.ts';
import {
  changeWebhookSubscription,
  createWebhookSubscription,
  deleteWebhookSubscription,
  findWebhookSubscription,
  listWebhookSubscriptions,
  lockActiveSubscription,
  pingWebhookSubscription,
  replayWebhooks,
  rotateWebhookSecret,
  type WebhookSubscription,
} from '../db/webhook-subscriptions.ts';
import { formatDateTime } from '../domain/dates.ts';
import { recordNotFound, refusal } from '../domain/errors.ts';
import type { WebhookSubscriptionId } from '../domain/ids.ts';
import {
  WEBHOOK_MODULES,
  WEBHOOK_STATUS_REASONS,
  WEBHOOK_SUBSCRIPTION_STATUSES,
  WEBHOOK_TYPES,
} from '../domain/webhook-subscriptions.ts';
import { WEBHOOK_SHARDS } from '../workflows/messages.ts';
import { stringify } from './frame/json.ts';
import { type Route, route } from './frame/route.ts';
import {
  clearable,
  dateTime,
  fields,
  integer,
  list,
  nullable,
  optional,
  picklist,
  text,
  uuid,
} from './frame/schemas.ts';
import { requireWebhookUrl } from './webhook-addresses.ts';
import { DELIVERY_EXAMPLE, deliveryShown, showDelivery } from './webhook-deliveries.ts';

const TAG = 'Webhooks';
const DESCRIPTION_LENGTH_MAX = 200;
const URL_LENGTH_MAX = 2_048;
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

const url = text(URL_LENGTH_MAX);
const modules = list(picklist(WEBHOOK_MODULES), 1, WEBHOOK_MODULES.length);
const types = list(picklist(WEBHOOK_TYPES), 1, WEBHOOK_TYPES.length);
const status = picklist(WEBHOOK_SUBSCRIPTION_STATUSES);
const description = text(DESCRIPTION_LENGTH_MAX);

const shown = {
  id: uuid<WebhookSubscriptionId>(),
  url,
  modules: nullable(modules),
  types: nullable(types),
  status,
  statusReason: nullable(picklist(WEBHOOK_STATUS_REASONS)),
  description: nullable(description),
  createdDateTime: dateTime(),
};
const subscriptionShown = fields(shown);
const subscriptionWithSecret = fields({ ...shown, secret: text(128) });

const EXAMPLE = {
  id: '0197b2a4-7c1e-7d10-9b1f-6d0a5f1c2b31',
  url: 'https://receiver.example.org/webhooks',
  modules: ['outgoing-transfers', 'incoming-transfers'],
  types: null,
  status: 'active',
  statusReason: null,
  description: 'Ledger of the caller',
  createdDateTime: '2026-03-02T09:30:00',
};
const SECRET_EXAMPLE = { ...EXAMPLE, secret: `whsec_${Buffer.alloc(SECRET_BYTES, 'example').toString('base64')}` };

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

const createSubscription = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions',
    summary: 'Subscribe to events',
    description:
      'Without modules and types every event of the interface is delivered. The secret verifies signatures (Standard Webhooks 1.0) and is never shown again.',
    tag: TAG,
    roles: ['admin'],
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: fields({
            url,
            modules: optional(modules),
            types: optional(types),
            status: optional(status),
            description: optional(description),
          }),
        }),
      },
    },
    response: fields({ webhookSubscription: subscriptionWithSecret }),
    examples: {
      requests: {
        direct: { data: { webhookSubscription: { url: EXAMPLE.url, modules: EXAMPLE.modules } } },
      },
      response: { webhookSubscription: SECRET_EXAMPLE },
    },
  },
  async ({ body, services, storedAnswer, write }) => {
    const earlier = await storedAnswer();
    if (earlier !== null) return earlier;
    const given = body.data.webhookSubscription;
    await requireWebhookUrl(services, given.url);
    return write(async (tx) => {
      const secret = newSecret();
      const subscription = {
        url: given.url,
        modules: given.modules ?? null,
        types: given.types ?? null,
        status: given.status ?? 'active',
        description: given.description ?? null,
      };
      const created = await createWebhookSubscription(tx, subscription, secret, WEBHOOK_SHARDS);
      return { data: { webhookSubscription: { ...show(created), secret } } };
    });
  },
);

const getSubscription = route(
  {
    method: 'GET',
    path: '/webhook-subscriptions/{webhookSubscriptionId}',
    summary: 'A webhook subscription',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    response: fields({ webhookSubscription: subscriptionShown }),
    examples: { response: { webhookSubscription: EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findWebhookSubscription(services.database.reader, params.webhookSubscriptionId);
    if (found === null) throw recordNotFound('webhookSubscription', 'id', params.webhookSubscriptionId);
    return { data: { webhookSubscription: show(found) } };
  },
);

const getSubscriptions = route(
  {
    method: 'GET',
    path: '/webhook-subscriptions',
    summary: 'Webhook subscriptions',
    tag: TAG,
    roles: ['admin'],
    paged: true,
    query: { 'data.webhookSubscription.status': optional(status) },
    response: fields({ webhookSubscriptions: list(subscriptionShown, 0, 100) }),
    examples: { response: { webhookSubscriptions: [EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = { status: query['data.webhookSubscription.status'] };
    const { rows, totalElements } = await listWebhookSubscriptions(services.database.reader, filter, page);
    return { data: { webhookSubscriptions: rows.map(show) }, totalElements };
  },
);

const patchSubscription = route(
  {
    method: 'PATCH',
    path: '/webhook-subscriptions/{webhookSubscriptionId}',
    summary: 'Change a webhook subscription',
    description:
      'What happens while it is paused is delivered when it is active again; while it is disabled nothing is kept (see replay).',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: fields({
            url: optional(url),
            modules: clearable(modules),
            types: clearable(types),
            status: optional(status),
            description: clearable(description),
          }),
        }),
      },
    },
    response: fields({ webhookSubscription: subscriptionShown }),
    examples: {
      requests: { direct: { data: { webhookSubscription: { status: 'paused' } } } },
      response: { webhookSubscription: { ...EXAMPLE, status: 'paused' } },
    },
  },
  async ({ params, body, services, write }) => {
    const given = body.data.webhookSubscription;
    if (given.url !== undefined) await requireWebhookUrl(services, given.url);
    const answer = await write(async (tx) => {
      const changed = await changeWebhookSubscription(tx, params.webhookSubscriptionId, {
        ...(given.url === undefined ? {} : { url: given.url }),
        ...(given.modules === undefined ? {} : { modules: given.modules }),
        ...(given.types === undefined ? {} : { types: given.types }),
        ...(given.status === undefined ? {} : { status: given.status }),
        ...(given.description === undefined ? {} : { description: given.description }),
      });
      return { data: { webhookSubscription: show(changed) } };
    });
    services.hurryRelay();
    return answer;
  },
);

const deleteSubscription = route(
  {
    method: 'DELETE',
    path: '/webhook-subscriptions/{webhookSubscriptionId}',
    summary: 'End a webhook subscription',
    description: 'Nothing more is sent to it. Its deliveries stay readable.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    response: fields({}),
    examples: { response: {} },
  },
  async ({ params, write }) =>
    write(async (tx) => {
      await deleteWebhookSubscription(tx, params.webhookSubscriptionId);
      return { data: {} };
    }),
);

const rotateSecret = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/rotate-secret',
    summary: 'Give a subscription a new secret',
    description: 'For 24 hours deliveries are signed with the new secret and the one before it.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: { direct: { data: fields({}) } },
    status: 200,
    response: fields({ webhookSubscription: subscriptionWithSecret }),
    examples: { requests: { direct: { data: {} } }, response: { webhookSubscription: SECRET_EXAMPLE } },
  },
  async ({ params, write }) =>
    write(async (tx) => {
      const secret = newSecret();
      const subscription = await rotateWebhookSecret(tx, params.webhookSubscriptionId, secret);
      return { data: { webhookSubscription: { ...show(subscription), secret } } };
    }),
);

const ping = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/ping',
    summary: 'Try a receiver',
    description:
      'Delivers a webhook of module webhook-subscriptions and type ping, which is no event and has sequence 0.',
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
  async ({ params, services, write }) => {
    const answer = await write(async (tx) => {
      const subscription = await lockActiveSubscription(tx, params.webhookSubscriptionId);
      const id = await pingWebhookSubscription(tx, subscription, await pingOf(tx, subscription));
      const delivery = await findWebhookDelivery(tx, id);
      if (delivery === null) throw new Error('a delivery went away in its own transaction');
      return { data: { webhookDelivery: showDelivery(delivery) } };
    });
    services.hurryRelay();
    return answer;
  },
);

async function pingOf(tx: Transaction, subscription: WebhookSubscription): Promise<{ eventId: string; body: string }> {
  const eventId = newId();
  const body = stringify({
    webhook: { module: 'webhook-subscriptions', type: 'ping' },
    data: { webhookSubscription: show(subscription) },
    connect: {},
    metadata: { sequence: 0, eventId, eventDateTime: formatDateTime(await readClock(tx)) },
  });
  return { eventId, body };
}

const replay = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions/{webhookSubscriptionId}/replay',
    summary: 'Deliver once more what happened in a time',
    description:
      'Both ends are included; `to` is now by default, `types` all that the subscription is told. Ids are those of the first delivery.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: v.pipe(
            fields({ from: dateTime(), to: optional(dateTime()), types: optional(types) }),
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
  async ({ params, body, services, write }) => {
    const answer = await write(async (tx) => {
      const subscription = await lockActiveSubscription(tx, params.webhookSubscriptionId);
      const { from, to = await readClock(tx), types: only = null } = body.data.webhookSubscription;
      if (from > to) throw fromInTheFuture(from);
      const deliveryCount = await replayWebhooks(tx, subscription, { from, to, types: only });
      return { data: { webhookSubscription: show(subscription), deliveryCount } };
    });
    services.hurryRelay();
    return answer;
  },
);

function fromInTheFuture(from: Date) {
  return refusal(
    'common.validation.field_invalid',
    ['webhookSubscription', 'from', formatDateTime(from)],
    'data.webhookSubscription.from must not be in the future.',
  );
}

export const webhookSubscriptionRoutes: readonly Route[] = [
  createSubscription,
  getSubscription,
  getSubscriptions,
  patchSubscription,
  deleteSubscription,
  rotateSecret,
  ping,
  replay,
];

function show(subscription: WebhookSubscription) {
  const { id, description: given, createdAt } = subscription;
  return {
    id,
    url: subscription.url,
    modules: subscription.modules,
    types: subscription.types,
    status: subscription.status,
    statusReason: subscription.statusReason,
    description: given,
    createdDateTime: formatDateTime(createdAt),
  };
}

import {
  changeWebhookSubscription,
  createWebhookSubscription,
  deleteWebhookSubscription,
  findWebhookSubscription,
  listWebhookSubscriptions,
} from '../../db/webhooks/subscriptions.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { WEBHOOK_SHARDS } from '../../workflows/common/messages.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { clearable, fields, list, optional, uuid } from '../http/schemas/schemas.ts';
import { requireWebhookUrl } from './addresses.ts';
import { webhookSubscriptionActionRoutes } from './subscription-actions.ts';
import {
  description,
  EXAMPLE,
  modules,
  newSecret,
  SECRET_EXAMPLE,
  show,
  status,
  subscriptionShown,
  subscriptionWithSecret,
  TAG,
  types,
  url,
} from './subscription-schemas.ts';

const createSubscription = route(
  {
    method: 'POST',
    path: '/webhook-subscriptions',
    operationId: 'createWebhookSubscription',
    summary: 'Subscribe to events',
    description:
      'Without modules and types every event of the interface is delivered. The secret verifies signatures (Standard Webhooks 1.0) and is never shown again.',
    tag: TAG,
    roles: ['admin'],
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: named(
            'WebhookSubscription',
            fields({
              url,
              modules: optional(modules),
              types: optional(types),
              status: optional(status),
              description: optional(description),
            }),
          ),
        }),
      },
    },
    confidential: true,
    response: fields({ webhookSubscription: subscriptionWithSecret }),
    examples: {
      requests: {
        direct: { data: { webhookSubscription: { url: EXAMPLE.url, modules: EXAMPLE.modules } } },
      },
      response: { webhookSubscription: SECRET_EXAMPLE },
    },
  },
  async ({ body, initiator, services, storedAnswer, transaction }) => {
    const earlier = await storedAnswer();
    if (earlier !== null) return earlier;
    const given = body.data.webhookSubscription;
    await requireWebhookUrl(services, given.url);
    return transaction(async (tx) => {
      const secret = newSecret();
      const subscription = {
        url: given.url,
        modules: given.modules ?? null,
        types: given.types ?? null,
        status: given.status ?? 'active',
        description: given.description ?? null,
      };
      const creation = { secret, shards: WEBHOOK_SHARDS, initiator };
      const created = await createWebhookSubscription(tx, services.keyring, subscription, creation);
      return { data: { webhookSubscription: { ...show(created), secret } } };
    });
  },
);

const getSubscription = route(
  {
    method: 'GET',
    path: '/webhook-subscriptions/{webhookSubscriptionId}',
    operationId: 'getWebhookSubscription',
    summary: 'Get a webhook subscription',
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
    operationId: 'listWebhookSubscriptions',
    summary: 'List webhook subscriptions',
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
    operationId: 'updateWebhookSubscription',
    summary: 'Change a webhook subscription',
    description:
      'Events that occur while a subscription is paused are delivered once it is active again; events that occur while it is disabled are not (see replay).',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    workflows: {
      direct: {
        data: fields({
          webhookSubscription: named(
            'WebhookSubscription',
            fields({
              url: optional(url),
              modules: clearable(modules),
              types: clearable(types),
              status: optional(status),
              description: clearable(description),
            }),
          ),
        }),
      },
    },
    response: fields({ webhookSubscription: subscriptionShown }),
    examples: {
      requests: { direct: { data: { webhookSubscription: { status: 'paused' } } } },
      response: { webhookSubscription: { ...EXAMPLE, status: 'paused' } },
    },
  },
  async ({ params, body, initiator, services, write }) => {
    const given = body.data.webhookSubscription;
    if (given.url !== undefined) await requireWebhookUrl(services, given.url);
    return write(async (tx) => {
      const change = {
        ...(given.url === undefined ? {} : { url: given.url }),
        ...(given.modules === undefined ? {} : { modules: given.modules }),
        ...(given.types === undefined ? {} : { types: given.types }),
        ...(given.status === undefined ? {} : { status: given.status }),
        ...(given.description === undefined ? {} : { description: given.description }),
      };
      const { after: changed } = await changeWebhookSubscription(tx, params.webhookSubscriptionId, change, initiator);
      return { data: { webhookSubscription: show(changed) } };
    });
  },
);

const deleteSubscription = route(
  {
    method: 'DELETE',
    path: '/webhook-subscriptions/{webhookSubscriptionId}',
    operationId: 'deleteWebhookSubscription',
    summary: 'Delete a webhook subscription',
    description: 'It receives no further webhooks. Its deliveries remain readable.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookSubscriptionId: uuid<WebhookSubscriptionId>() },
    response: fields({}),
    examples: { response: {} },
  },
  async ({ params, initiator, write }) =>
    write(async (tx) => {
      await deleteWebhookSubscription(tx, params.webhookSubscriptionId, initiator);
      return { data: {} };
    }),
);

export const webhookSubscriptionRoutes: readonly Route[] = [
  createSubscription,
  getSubscription,
  getSubscriptions,
  patchSubscription,
  deleteSubscription,
  ...webhookSubscriptionActionRoutes,
];

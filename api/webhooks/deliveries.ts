import {
  findWebhookDelivery,
  listWebhookDeliveries,
  retryWebhookDelivery,
  type WebhookDelivery,
} from '../../db/webhooks/deliveries.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { EventId, WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { formatDateTime, formatDateTimeMs } from '../../domain/common/time/dates.ts';
import { explainAttempt } from '../../domain/webhooks/explanations.ts';
import { WEBHOOK_DELIVERY_STATUSES } from '../../domain/webhooks/subscriptions.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import {
  dateTime,
  fields,
  integer,
  list,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

const TAG = 'Webhooks';
/** Ten by schedule, and ten more for each requested retry. */
const ATTEMPTS_SHOWN_MAX = 10_000;
const EXPLANATION_LENGTH_MAX = 500;
/** The whole list is in docs/reference/webhook-attempts.md. */
const EXPLAINED =
  'Each attempt shows the `responseCode` that was received, or an `error` code if there was no complete response. `explanation` says what happened and what to do about it; it is null for a success.';

const NAME = /^[a-z]+(-[a-z]+)*$/;
const module = pattern(NAME, 'a module');
const type = pattern(NAME, 'an event type');

export const deliveryShown = named(
  'WebhookDelivery',
  fields({
    id: uuid<WebhookDeliveryId>(),
    webhookSubscriptionId: uuid<WebhookSubscriptionId>(),
    eventId: uuid<EventId>(),
    resourceId: uuid(),
    module,
    type,
    status: named('WebhookDeliveryStatus', picklist(WEBHOOK_DELIVERY_STATUSES)),
    attemptCount: integer(0, ATTEMPTS_SHOWN_MAX),
    nextAttemptDateTime: nullable(dateTime()),
    createdDateTime: dateTime(),
    completedDateTime: nullable(dateTime()),
    attempts: list(
      named(
        'WebhookDeliveryAttempt',
        fields({
          number: integer(1, ATTEMPTS_SHOWN_MAX),
          attemptedDateTime: dateTime(),
          durationMs: integer(0, 1e9),
          responseCode: nullable(integer(100, 999)),
          responseBody: nullable(pattern(/^/, 'text')),
          error: nullable(text(100)),
          explanation: nullable(text(EXPLANATION_LENGTH_MAX)),
        }),
      ),
      0,
      ATTEMPTS_SHOWN_MAX,
    ),
  }),
);

export const DELIVERY_EXAMPLE = {
  id: '0197b2a4-7c1f-7a08-8a53-0c53b3c3f0a1',
  webhookSubscriptionId: '0197b2a4-7c1e-7d10-9b1f-6d0a5f1c2b31',
  eventId: '0197b2a4-7b01-7c3d-8e21-4d6b0a9c7e11',
  resourceId: '0197b2a4-7b00-7f11-9d3e-2f4a6c8e0b13',
  module: 'outgoing-transfers',
  type: 'outgoing-transfer-completed',
  status: 'succeeded',
  attemptCount: 1,
  nextAttemptDateTime: null,
  createdDateTime: '2026-03-02T09:30:00',
  completedDateTime: '2026-03-02T09:30:01',
  attempts: [
    {
      number: 1,
      attemptedDateTime: '2026-03-02T09:30:00.812',
      durationMs: 41,
      responseCode: 200,
      responseBody: 'ok',
      error: null,
      explanation: null,
    },
  ],
};

const FAILING_EXAMPLE = {
  ...DELIVERY_EXAMPLE,
  status: 'pending',
  nextAttemptDateTime: '2026-03-02T09:30:06',
  completedDateTime: null,
  attempts: [
    {
      number: 1,
      attemptedDateTime: '2026-03-02T09:30:00.812',
      durationMs: 63,
      responseCode: null,
      responseBody: null,
      error: 'certificate_expired',
      explanation: explainAttempt({ responseCode: null, error: 'certificate_expired' }),
    },
  ],
};

const getDelivery = route(
  {
    method: 'GET',
    path: '/webhook-deliveries/{webhookDeliveryId}',
    operationId: 'getWebhookDelivery',
    summary: 'Get a delivery with its attempts',
    description: EXPLAINED,
    tag: TAG,
    params: { webhookDeliveryId: uuid<WebhookDeliveryId>() },
    response: fields({ webhookDelivery: deliveryShown }),
    examples: { response: { webhookDelivery: DELIVERY_EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findWebhookDelivery(services.database.reader, params.webhookDeliveryId);
    if (found === null) throw recordNotFound('webhookDelivery', 'id', params.webhookDeliveryId);
    return { data: { webhookDelivery: showDelivery(found) } };
  },
);

const getDeliveries = route(
  {
    method: 'GET',
    path: '/webhook-deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries with their attempts',
    description: `One per event and subscription, in order of creation. ${EXPLAINED}`,
    tag: TAG,
    paged: true,
    query: {
      'data.webhookDelivery.webhookSubscriptionId': optional(uuid<WebhookSubscriptionId>()),
      'data.webhookDelivery.status': optional(named('WebhookDeliveryStatus', picklist(WEBHOOK_DELIVERY_STATUSES))),
      'data.webhookDelivery.eventId': optional(uuid<EventId>()),
      'data.webhookDelivery.resourceId': optional(uuid()),
      'data.webhookDelivery.type': optional(type),
    },
    response: fields({ webhookDeliveries: list(deliveryShown, 0, 100) }),
    examples: { response: { webhookDeliveries: [FAILING_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = {
      subscriptionId: query['data.webhookDelivery.webhookSubscriptionId'],
      status: query['data.webhookDelivery.status'],
      eventId: query['data.webhookDelivery.eventId'],
      resourceId: query['data.webhookDelivery.resourceId'],
      type: query['data.webhookDelivery.type'],
    };
    const { rows, totalElements } = await listWebhookDeliveries(services.database.reader, filter, page);
    return { data: { webhookDeliveries: rows.map(showDelivery) }, totalElements };
  },
);

const retryDelivery = route(
  {
    method: 'POST',
    path: '/webhook-deliveries/{webhookDeliveryId}/retry',
    operationId: 'retryWebhookDelivery',
    summary: 'Retry a delivery immediately',
    description: 'A pending delivery continues its schedule afterwards; a finished delivery restarts it.',
    tag: TAG,
    roles: ['admin'],
    params: { webhookDeliveryId: uuid<WebhookDeliveryId>() },
    workflows: { direct: { data: fields({}) } },
    status: 200,
    response: fields({ webhookDelivery: deliveryShown }),
    errors: ['common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: {} } },
      response: {
        webhookDelivery: {
          ...DELIVERY_EXAMPLE,
          status: 'pending',
          nextAttemptDateTime: '2026-03-02T09:31:00',
          completedDateTime: null,
        },
      },
    },
  },
  async ({ params, initiator, write }) => {
    return write(async (tx) => {
      const delivery = await retryWebhookDelivery(tx, params.webhookDeliveryId, initiator);
      return { data: { webhookDelivery: showDelivery(delivery) } };
    });
  },
);

export const webhookDeliveryRoutes: readonly Route[] = [getDeliveries, getDelivery, retryDelivery];

export function showDelivery(delivery: WebhookDelivery) {
  const { nextAttemptAt, completedAt } = delivery;
  return {
    id: delivery.id,
    webhookSubscriptionId: delivery.subscriptionId,
    eventId: delivery.eventId,
    resourceId: delivery.resourceId,
    module: delivery.module,
    type: delivery.type,
    status: delivery.status,
    attemptCount: delivery.attemptCount,
    nextAttemptDateTime: delivery.status === 'pending' ? formatDateTime(nextAttemptAt) : null,
    createdDateTime: formatDateTime(delivery.createdAt),
    completedDateTime: completedAt === null ? null : formatDateTime(completedAt),
    attempts: delivery.attempts.map(({ number, attemptedAt, durationMs, responseCode, responseBody, error }) => ({
      number,
      attemptedDateTime: formatDateTimeMs(attemptedAt),
      durationMs,
      responseCode,
      responseBody,
      error,
      explanation: explainAttempt({ responseCode, error }),
    })),
  };
}

import { randomBytes } from 'node:crypto';
import type { WebhookSubscription } from '../../db/webhooks/subscriptions.ts';
import type { WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import {
  WEBHOOK_MODULES,
  WEBHOOK_STATUS_REASONS,
  WEBHOOK_SUBSCRIPTION_STATUSES,
  WEBHOOK_TYPES,
} from '../../domain/webhooks/subscriptions.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, list, nullable, picklist, text, uuid } from '../http/schemas/schemas.ts';

export const TAG = 'Webhooks';
const DESCRIPTION_LENGTH_MAX = 200;
const URL_LENGTH_MAX = 2_048;
/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

export const url = text(URL_LENGTH_MAX);
export const modules = list(named('WebhookModule', picklist(WEBHOOK_MODULES)), 1, WEBHOOK_MODULES.length);
export const types = list(named('WebhookType', picklist(WEBHOOK_TYPES)), 1, WEBHOOK_TYPES.length);
export const status = named('WebhookSubscriptionStatus', picklist(WEBHOOK_SUBSCRIPTION_STATUSES));
export const description = text(DESCRIPTION_LENGTH_MAX);

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
export const subscriptionShown = named('WebhookSubscription', fields(shown));
export const subscriptionWithSecret = named('WebhookSubscriptionWithSecret', fields({ ...shown, secret: text(128) }));

export const EXAMPLE = {
  id: '0197b2a4-7c1e-7d10-9b1f-6d0a5f1c2b31',
  url: 'https://receiver.example.org/webhooks',
  modules: ['outgoing-transfers', 'incoming-transfers'],
  types: null,
  status: 'active',
  statusReason: null,
  description: 'Ledger of the caller',
  createdDateTime: '2026-03-02T09:30:00',
};
export const SECRET_EXAMPLE = {
  ...EXAMPLE,
  secret: `whsec_${Buffer.alloc(SECRET_BYTES, 'example').toString('base64')}`,
};

export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

export function show(subscription: WebhookSubscription) {
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

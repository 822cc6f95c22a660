import { bigint, integer, pgTable, primaryKey, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { EventId, WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/common/ids.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

export const webhookSubscriptions = pgTable('webhook_subscriptions', {
  id: uuid('id').$type<WebhookSubscriptionId>().primaryKey(),
  url: text('url').notNull(),
  modules: text('modules').array(),
  types: text('types').array(),
  status: text('status', { enum: ['active', 'paused', 'disabled'] }).notNull(),
  statusReason: text('status_reason', { enum: ['gone', 'failing'] }),
  description: text('description'),
  shard: smallint('shard').notNull(),
  failingSince: instant('failing_since'),
  revision: bigint('revision', { mode: 'bigint' }).notNull().default(1n),
  createdAt: instant('created_at').notNull(),
  deletedAt: instant('deleted_at'),
});

export const webhookSecrets = pgTable('webhook_secrets', {
  id: uuid('id').primaryKey(),
  subscriptionId: uuid('subscription_id').$type<WebhookSubscriptionId>().notNull(),
  secret: text('secret').notNull(),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at'),
});

/** The keyring's row name for an encrypted secret. */
export function webhookSecretRow(id: string): string {
  return `webhook_secrets.secret ${id}`;
}

export const webhookDeliveries = pgTable('webhook_deliveries', {
  id: uuid('id').$type<WebhookDeliveryId>().primaryKey(),
  subscriptionId: uuid('subscription_id').$type<WebhookSubscriptionId>().notNull(),
  eventId: uuid('event_id').$type<EventId>().notNull(),
  position: bigint('position', { mode: 'bigint' }).notNull(),
  resourceId: uuid('resource_id').notNull(),
  module: text('module').notNull(),
  type: text('type').notNull(),
  body: text('body'),
  status: text('status', { enum: ['pending', 'succeeded', 'failed'] })
    .notNull()
    .default('pending'),
  attemptCount: integer('attempt_count').notNull().default(0),
  roundStart: integer('round_start').notNull().default(0),
  nextAttemptAt: instant('next_attempt_at').notNull(),
  claimToken: uuid('claim_token'),
  claimedUntil: instant('claimed_until'),
  createdAt: instant('created_at').notNull(),
  completedAt: instant('completed_at'),
});

export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    deliveryId: uuid('delivery_id').$type<WebhookDeliveryId>().notNull(),
    number: integer('number').notNull(),
    attemptedAt: instant('attempted_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    responseCode: smallint('response_code'),
    responseBody: text('response_body'),
    error: text('error'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);

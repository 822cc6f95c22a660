import { and, isNull, sql } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import { asId, type EventId, type WebhookDeliveryId, type WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { WEBHOOK_DELIVERY_WORKFLOW } from '../../domain/webhooks/deliveries.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import type { Keyring } from '../common/keyring.ts';
import { wakeupsOf } from '../common/workflow-wakeups.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { prepared } from '../query/queries.ts';
import { writing } from '../query/row-writers.ts';
import { childrenIn, lockIn, lookUpIn, sendDeletion, sendInsertion, sendUpdate } from '../query/rows.ts';
import { webhookDeliveries, webhookSecretRow, webhookSecrets, webhookSubscriptions } from './schema.ts';

const audit = auditorOf('webhook-subscription');

export type WebhookSubscription = typeof webhookSubscriptions.$inferSelect;

/** A limit, because the sequencer matches every event against every subscription in one transaction. */
export const SUBSCRIPTIONS_MAX = 100;
/** Arbitrary, but unique among the advisory locks of this database. */
const SUBSCRIPTIONS_LOCK = 7_423_020;

/** How long a replaced secret keeps signing alongside its successor. */
const ROTATION_MS = 24 * 3_600_000;

export interface NewWebhookSubscription {
  readonly url: string;
  /** Null: all events of the specification's four modules. */
  readonly modules: readonly string[] | null;
  readonly types: readonly string[] | null;
  readonly status: WebhookSubscription['status'];
  readonly description: string | null;
}

/** Creates a subscription to events numbered from now on. */
export async function createWebhookSubscription(
  tx: Transaction,
  keyring: Keyring,
  subscription: NewWebhookSubscription,
  { secret, shards, initiator }: { readonly secret: string; readonly shards: number; readonly initiator: Initiator },
): Promise<WebhookSubscription> {
  const [, createdAt] = await Promise.all([requireFewerThanMaximumSubscriptions(tx), readClock(tx)]);
  const id = newId<WebhookSubscriptionId>();
  const shard = Number(`0x${id.slice(-8)}`) % shards;
  const created = sendInsertion(tx, webhookSubscriptions, { id, ...columns(subscription), shard, createdAt });
  insertSecret(tx, keyring, { subscriptionId: id, secret, createdAt });
  audit(tx, id, { initiator, action: 'created', after: openFields(created) });
  return created;
}

function openFields({ modules, types, status }: WebhookSubscription) {
  return { modules, types, status };
}

/** An address may hold a receiver's password or token. */
function concealedFields({ url, description }: WebhookSubscription) {
  return { url, description };
}

function insertSecret(
  tx: Transaction,
  keyring: Keyring,
  given: { readonly subscriptionId: WebhookSubscriptionId; readonly secret: string; readonly createdAt: Date },
): void {
  const id = newId();
  const secret = keyring.encrypt(given.secret, webhookSecretRow(id));
  sendInsertion(tx, webhookSecrets, { ...given, id, secret });
}

const COUNT = prepared((db) =>
  db
    .select({ present: sql<number>`count(*)::integer` })
    .from(webhookSubscriptions)
    .where(isNull(webhookSubscriptions.deletedAt)),
);

/** Takes a lock, so that two concurrent requests cannot both take the last place. */
async function requireFewerThanMaximumSubscriptions(tx: Transaction): Promise<void> {
  const [, row] = await Promise.all([
    tx.statement('SELECT pg_advisory_xact_lock($1)', [SUBSCRIPTIONS_LOCK]),
    tx.first(COUNT, {}),
  ]);
  if ((row?.present ?? 0) < SUBSCRIPTIONS_MAX) return;
  throw rejection(
    'common.validation.limit_exceeded',
    ['webhookSubscription', 'url', String(SUBSCRIPTIONS_MAX)],
    `There are ${SUBSCRIPTIONS_MAX} webhook subscriptions already: delete one first.`,
  );
}

function columns<Given extends Partial<NewWebhookSubscription>>({ modules, types, ...rest }: Given) {
  return {
    ...rest,
    ...(modules === undefined ? {} : { modules: modules === null ? null : [...modules] }),
    ...(types === undefined ? {} : { types: types === null ? null : [...types] }),
  };
}

const SUBSCRIPTION = lookUpIn(webhookSubscriptions);

export async function findWebhookSubscription(
  reader: Reader,
  id: WebhookSubscriptionId,
): Promise<WebhookSubscription | null> {
  const found = await reader.find(SUBSCRIPTION, id);
  return found?.deletedAt === null ? found : null;
}

interface Filter {
  readonly status?: WebhookSubscription['status'] | undefined;
}

const LIST = listOf<Filter, typeof webhookSubscriptions>(
  webhookSubscriptions,
  (given) => and(isNull(webhookSubscriptions.deletedAt), ...equalTo([[webhookSubscriptions.status, given.status]])),
  ['createdAt', 'id'],
);

export function listWebhookSubscriptions(
  reader: Reader,
  filter: Filter,
  page: PageRequest,
): Promise<PageOf<WebhookSubscription>> {
  return readPage(reader, LIST(filter), filter, page);
}

const LOCK = lockIn(webhookSubscriptions, 'update', 'row and parts');

async function lockSubscription(tx: Transaction, id: WebhookSubscriptionId): Promise<WebhookSubscription> {
  const found = await tx.lock(LOCK, id);
  if (found?.deletedAt !== null) throw recordNotFound('webhookSubscription', 'id', id);
  return found;
}

/** Applies a partial change. Reactivation clears the reason for disabling and delivers what was held while paused. */
export async function changeWebhookSubscription(
  tx: Transaction,
  id: WebhookSubscriptionId,
  change: Partial<NewWebhookSubscription>,
  initiator: Initiator,
): Promise<{ readonly before: WebhookSubscription; readonly after: WebhookSubscription }> {
  const before = await lockSubscription(tx, id);
  const status = change.status ?? before.status;
  const restarted = status === 'active' && before.status !== 'active';
  const after = sendUpdate(tx, webhookSubscriptions, before, {
    ...columns(change),
    statusReason: status === before.status ? before.statusReason : null,
    failingSince: restarted ? null : before.failingSince,
    revision: before.revision + 1n,
  });
  if (restarted) wakeShard(tx, after.shard);
  audit(tx, id, {
    initiator,
    action: 'changed',
    before: openFields(before),
    after: openFields(after),
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  return { before, after };
}

const SECRETS = childrenIn(webhookSecrets, webhookSecrets.subscriptionId, ({ subscriptionId }) => subscriptionId);

/** Ends deliveries and deletes the secrets; past deliveries stay readable. */
export async function deleteWebhookSubscription(
  tx: Transaction,
  id: WebhookSubscriptionId,
  initiator: Initiator,
): Promise<void> {
  const [before, secrets, now] = await Promise.all([
    lockSubscription(tx, id),
    tx.findChildren(SECRETS, id),
    readClock(tx),
  ]);
  sendUpdate(tx, webhookSubscriptions, before, { deletedAt: now });
  for (const secret of secrets) sendDeletion(tx, webhookSecrets, secret.id);
  audit(tx, id, { initiator, action: 'deleted', before: openFields(before) });
}

/** Signs with the new secret and its predecessor for a day; older secrets end at once. */
export async function rotateWebhookSecret(
  tx: Transaction,
  keyring: Keyring,
  id: WebhookSubscriptionId,
  { secret, initiator }: { readonly secret: string; readonly initiator: Initiator },
): Promise<WebhookSubscription> {
  const [subscription, secrets, createdAt] = await Promise.all([
    lockSubscription(tx, id),
    tx.findChildren(SECRETS, id),
    readClock(tx),
  ]);
  const expiresAt = new Date(createdAt.getTime() + ROTATION_MS);
  for (const known of secrets) {
    if (known.expiresAt === null) sendUpdate(tx, webhookSecrets, known, { expiresAt });
    else sendDeletion(tx, webhookSecrets, known.id);
  }
  insertSecret(tx, keyring, { subscriptionId: id, secret, createdAt });
  audit(tx, id, { initiator, action: 'secret-rotated' });
  return subscription;
}

/** Queues a test delivery of `body`, without an event. */
export async function pingWebhookSubscription(
  tx: Transaction,
  subscription: WebhookSubscription,
  ping: { readonly eventId: string; readonly body: string; readonly at: Date },
  initiator: Initiator,
): Promise<typeof webhookDeliveries.$inferSelect> {
  const { eventId, body, at } = ping;
  const delivery = sendInsertion(tx, webhookDeliveries, {
    id: newId<WebhookDeliveryId>(),
    subscriptionId: subscription.id,
    eventId: asId<EventId>(eventId),
    position: 0n,
    resourceId: eventId,
    module: 'webhook-subscriptions',
    type: 'ping',
    body,
    nextAttemptAt: at,
    createdAt: at,
  });
  wakeShard(tx, subscription.shard);
  audit(tx, subscription.id, { initiator, action: 'pinged', after: { webhookDeliveryId: delivery.id } });
  return delivery;
}

/** Locks an active subscription. Rejects an inactive one, whose deliveries would wait unseen. */
export async function lockActiveSubscription(tx: Transaction, id: WebhookSubscriptionId): Promise<WebhookSubscription> {
  const subscription = await lockSubscription(tx, id);
  if (subscription.status === 'active') return subscription;
  throw rejection(
    'common.state.illegal_transition',
    ['webhookSubscription', 'status', subscription.status],
    `The subscription is ${subscription.status}; nothing is sent to it until it is active.`,
  );
}

// Of several who ask for one shard, the first wakes it.
const WAKE_IDLE = writing<number>({
  name: 'wake-ups of idle shards',
  stage: 'wake-ups',
  columns: 'shard integer',
  recordOf: (shard) => JSON.stringify({ shard }),
  textOf: (rows) =>
    `${wakeupsOf(`SELECT '${WEBHOOK_DELIVERY_WORKFLOW}/' || shard AS id, '${WEBHOOK_DELIVERY_WORKFLOW}' AS type, NULL AS traceparent
    FROM unnest(claim_idle_webhook_shards(ARRAY(SELECT DISTINCT shard FROM ${rows}))) AS idle (shard)`)}`,
});

/** Wakes the shard's workflow unless it is already draining. */
export function wakeShard(tx: Transaction, shard: number): void {
  tx.noteWakeup();
  tx.sendEach(WAKE_IDLE, [shard]);
}

import { and, eq, notInArray, sql } from 'drizzle-orm';
import { applyClientChange, type ClientChange, changedStatus } from '../../domain/clients/changes.ts';
import { CLIENT_TRANSITIONS, type Client, type ClientRelation, presentClient } from '../../domain/clients/clients.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendEvents } from '../common/events.ts';
import { accounts, clients } from '../common/schema.ts';
import { lockAccountsOfClient } from '../ledger/ledger.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { sendUpdate } from '../query/rows.ts';
import { wakeTransfersOf } from '../transfers/waiting-transfers.ts';
import { LOCK_CLIENT } from './locks.ts';
import { readClientRelations } from './relations.ts';

/**
 * Applies a partial change under the client's lock, so that concurrent changes of different fields both survive and no
 * account opens while the client closes. Only a change of status has an event (specification 6).
 */
export async function changeClient(
  tx: Transaction,
  id: ClientId,
  change: ClientChange,
  initiator: Initiator,
): Promise<{ readonly before: Client; readonly client: Client; readonly relations: readonly ClientRelation[] }> {
  const locking = change.status === undefined ? tx.lock(LOCK_CLIENT, id) : lockWithAccounts(tx, id);
  if (change.status !== undefined) await locking;
  const [before, relations] = await Promise.all([locking, readClientRelations(tx, id)]);
  if (before === null) throw recordNotFound('client', 'id', id);
  const { identity, profile, fullName } = applyClientChange(before, change);
  const openAccounts = change.status === 'closed' ? await countOpenAccounts(tx, id) : 0;
  const status =
    change.status === undefined ? before.status : changedStatus(before.status, change.status, openAccounts);
  requireTransition('client', CLIENT_TRANSITIONS, before.status, status);
  const after = sendUpdate(tx, clients, before, {
    identity,
    profile,
    fullName,
    status,
    email: profile.email,
    country: identity.country,
    revision: before.revision + 1n,
  });
  appendAuditEntry(tx, {
    initiator,
    resource: 'client',
    resourceId: id,
    action: 'changed',
    before: {},
    after: {},
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  if (after.status !== before.status) await recordStatus(tx, before, after, initiator);
  return { before, client: after, relations };
}

/**
 * Payments lock their accounts and then read the client's status without locking it. So a status changes under the locks of all
 * accounts: a payment is complete before the change, or sees it, and what the change leaves waiting is found and woken. Accounts are
 * locked before their client, as when a sub-account opens, and once more after it, because another may have opened in between. The
 * holder of that one may be waiting for the client: Postgres ends such a deadlock, and one of the two transactions runs again.
 */
async function lockWithAccounts(tx: Transaction, id: ClientId) {
  await lockAccountsOfClient(tx, id);
  const client = await tx.lock(LOCK_CLIENT, id);
  await lockAccountsOfClient(tx, id);
  return client;
}

function concealedFields({ identity, profile }: Client) {
  return { identity, profile };
}

const COUNT_OPEN_ACCOUNTS = prepared((db, given: Given<{ id: ClientId }>) =>
  db
    .select({ open: sql<number>`count(*)::integer` })
    .from(accounts)
    .where(and(eq(accounts.clientId, given.id), notInArray(accounts.status, ['closed', 'declined']))),
);

/** Accounts that keep the client from closing. A decision by them is made under their locks. */
export async function countOpenAccounts(reader: Reader, id: ClientId): Promise<number> {
  const row = await reader.first(COUNT_OPEN_ACCOUNTS, { id });
  return row?.open ?? 0;
}

/**
 * The event omits relations: a change of status does not touch them, and there may be a thousand. Waiting transfers wake,
 * because the client's status decides whether they are held.
 */
async function recordStatus(
  tx: Transaction,
  before: Client,
  after: Client & { readonly id: ClientId },
  initiator: Initiator,
): Promise<void> {
  appendEvents(tx, {
    module: 'clients',
    resourceId: after.id,
    occurredAt: await readClock(tx),
    entries: [{ type: 'status-changed', data: presentClient(after) }],
  });
  appendAuditEntry(tx, {
    initiator,
    resource: 'client',
    resourceId: after.id,
    action: 'status-changed',
    before: { status: before.status },
    after: { status: after.status },
  });
  await wakeTransfersOf(tx, sql`SELECT id FROM accounts WHERE client_id = ${after.id}`);
}

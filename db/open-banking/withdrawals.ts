import { and, asc, eq, exists, inArray, sql } from 'drizzle-orm';
import type { AccountId, ClientId, ConsentId, UserId } from '../../domain/frame/ids.ts';
import { isOpenGrant } from '../../domain/open-banking/consents.ts';
import type { Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { updateRow } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { accounts } from '../frame/schema.ts';
import { type ConsentRow, lockConsent, moveConsent } from './consents.ts';
import { openBankingConsents } from './open-banking-schema.ts';

// What happens to consents when a change elsewhere takes away what they rest on, in the transaction of that change. Each caller has
// locked what it changes, and approvals share that lock, so no consent slips through. Several consents are locked in order of id.

const { id: consentId, userId: givenBy, status, accountIds } = openBankingConsents;
const IS_OPEN = inArray(status, ['awaiting-exchange', 'authorised']);

const OF_USER = prepared((db, given: Given<{ userId: UserId }>) =>
  db
    .select({ id: consentId })
    .from(openBankingConsents)
    .where(and(eq(givenBy, given.userId), IS_OPEN))
    .orderBy(asc(consentId)),
);

/** Revokes what a user that is no longer active has consented to. */
export async function revokeConsentsOfUser(tx: Transaction, userId: UserId, initiator: Initiator): Promise<void> {
  await revokeEach(tx, await tx.run(OF_USER, { userId }), initiator);
}

const OF_RELATION = prepared((db, given: Given<{ userId: UserId; clientId: ClientId }>) => {
  const isForClient = and(sql`${accounts.id} = ANY (${accountIds})`, eq(accounts.clientId, given.clientId));
  return db
    .select({ id: consentId })
    .from(openBankingConsents)
    .where(
      and(eq(givenBy, given.userId), IS_OPEN, exists(db.select({ id: accounts.id }).from(accounts).where(isForClient))),
    )
    .orderBy(asc(consentId));
});

/** Revokes what a user has consented to for a client that it may no longer act for. */
export async function revokeConsentsOfRelation(
  tx: Transaction,
  { userId, clientId }: { readonly userId: UserId; readonly clientId: ClientId },
  initiator: Initiator,
): Promise<void> {
  await revokeEach(tx, await tx.run(OF_RELATION, { userId, clientId }), initiator);
}

async function revokeEach(tx: Transaction, found: readonly { id: ConsentId }[], initiator: Initiator): Promise<void> {
  for (const { id } of found) {
    const locked = await lockConsent(tx, id);
    if (isOpenGrant(locked.consent, locked.now)) await moveConsent(tx, locked, 'revoked', initiator);
  }
}

const OF_ACCOUNT = prepared((db, given: Given<{ accountId: AccountId }>) =>
  db
    .select({ id: consentId })
    .from(openBankingConsents)
    .where(and(sql`${accountIds} @> ARRAY[${given.accountId}::uuid]`, IS_OPEN))
    .orderBy(asc(consentId)),
);

/** Takes a closed account out of its consents; one that has no other account is revoked. Null: the provider closed it. */
export async function withdrawAccount(
  tx: Transaction,
  accountId: AccountId,
  initiator: Initiator | null,
): Promise<void> {
  for (const { id } of await tx.run(OF_ACCOUNT, { accountId })) {
    const locked = await lockConsent(tx, id);
    const { row, consent, now } = locked;
    if (!isOpenGrant(consent, now)) continue;
    const others = (row.accountIds ?? []).filter((other) => other !== accountId);
    if (others.length === 0) await moveConsent(tx, locked, 'revoked', initiator);
    else await keepAccounts(tx, row, others, initiator);
  }
}

async function keepAccounts(
  tx: Transaction,
  { id, revision, accountIds: accounts }: ConsentRow,
  others: AccountId[],
  initiator: Initiator | null,
): Promise<void> {
  await updateRow(tx, openBankingConsents, id, { accountIds: others, revision: revision + 1n });
  if (initiator === null) return;
  const change = { initiator, action: 'account-closed', before: { accounts }, after: { accounts: others } };
  appendAuditEntry(tx, { resource: 'consent', resourceId: id, ...change });
}

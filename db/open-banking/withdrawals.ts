import { and, asc, eq, exists, inArray, sql } from 'drizzle-orm';
import type { AccountId, ClientId, ConsentId, UserId } from '../../domain/common/ids.ts';
import { isOpenGrant } from '../../domain/open-banking/consents.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { accounts } from '../common/schema.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { updateRow } from '../query/rows.ts';
import { type ConsentRow, lockConsent, transitionConsent } from './consents.ts';
import { openBankingConsents } from './schema.ts';

// Revokes or narrows consents when a change elsewhere removes what they depend on, in the transaction of that change. Each caller
// has locked what it changes, and approvals share that lock, so no consent is missed. Several consents are locked in order of id.

const { id: consentId, userId: givenBy, status, accountIds } = openBankingConsents;
const IS_OPEN = inArray(status, ['awaiting-exchange', 'authorised']);

const OF_USER = prepared((db, given: Given<{ userId: UserId }>) =>
  db
    .select({ id: consentId })
    .from(openBankingConsents)
    .where(and(eq(givenBy, given.userId), IS_OPEN))
    .orderBy(asc(consentId)),
);

/** Revokes the consents of a user that is no longer active. */
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

/** Revokes a user's consents for a client that it may no longer act for. */
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
    if (isOpenGrant(locked.consent, locked.now)) await transitionConsent(tx, locked, 'revoked', initiator);
  }
}

const OF_ACCOUNT = prepared((db, given: Given<{ accountId: AccountId }>) =>
  db
    .select({ id: consentId })
    .from(openBankingConsents)
    .where(and(sql`${accountIds} @> ARRAY[${given.accountId}::uuid]`, IS_OPEN))
    .orderBy(asc(consentId)),
);

/** Removes a closed account from its consents; revokes one that has no other account. A null initiator: the provider closed it. */
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
    if (others.length === 0) await transitionConsent(tx, locked, 'revoked', initiator);
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

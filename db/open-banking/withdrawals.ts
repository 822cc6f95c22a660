import type { AccountId, ClientId, ConsentId, UserId } from '../../domain/frame/ids.ts';
import { isOpenGrant } from '../../domain/open-banking/consents.ts';
import type { Transaction } from '../driver/client.ts';
import { updateRow } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { type ConsentRow, lockConsent, moveConsent } from './consents.ts';
import { openBankingConsents } from './open-banking-schema.ts';

// What happens to consents when a change elsewhere takes away what they rest on, in the transaction of that change. Each caller has
// locked what it changes, and approvals share that lock, so no consent slips through. Several consents are locked in order of id.

const OF_USER = `
  SELECT id FROM open_banking_consents
  WHERE user_id = $1 AND status IN ('awaiting-exchange', 'authorised') ORDER BY id`;

/** Revokes what a user that is no longer active has consented to. */
export async function revokeConsentsOfUser(tx: Transaction, userId: UserId, initiator: Initiator): Promise<void> {
  const found = await tx.statement<{ id: ConsentId }>(OF_USER, [userId]);
  await revokeEach(tx, found, initiator);
}

const OF_RELATION = `
  SELECT consent.id FROM open_banking_consents AS consent
  WHERE user_id = $1 AND status IN ('awaiting-exchange', 'authorised')
    AND EXISTS (SELECT FROM accounts WHERE accounts.id = ANY (consent.account_ids) AND accounts.client_id = $2) ORDER BY id`;

/** Revokes what a user has consented to for a client that it may no longer act for. */
export async function revokeConsentsOfRelation(
  tx: Transaction,
  { userId, clientId }: { readonly userId: UserId; readonly clientId: ClientId },
  initiator: Initiator,
): Promise<void> {
  const found = await tx.statement<{ id: ConsentId }>(OF_RELATION, [userId, clientId]);
  await revokeEach(tx, found, initiator);
}

async function revokeEach(tx: Transaction, found: readonly { id: ConsentId }[], initiator: Initiator): Promise<void> {
  for (const { id } of found) {
    const locked = await lockConsent(tx, id);
    if (isOpenGrant(locked.consent, locked.now)) await moveConsent(tx, locked, 'revoked', initiator);
  }
}

const OF_ACCOUNT = `
  SELECT id FROM open_banking_consents
  WHERE account_ids @> ARRAY[$1::uuid] AND status IN ('awaiting-exchange', 'authorised') ORDER BY id`;

/** Takes a closed account out of its consents; one that has no other account is revoked. Null: the provider closed it. */
export async function withdrawAccount(
  tx: Transaction,
  accountId: AccountId,
  initiator: Initiator | null,
): Promise<void> {
  const found = await tx.statement<{ id: ConsentId }>(OF_ACCOUNT, [accountId]);
  for (const { id } of found) {
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

import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, ClientId, ConsentId } from '../../domain/common/ids.ts';
import {
  type Approval,
  type ApprovalFacts,
  type ApprovedAccount,
  requireApprovable,
  requireExisting,
  requireRedirectAllowed,
} from '../../domain/open-banking/approvals.ts';
import { CODE_LIFETIME_MS, requireConsentTransition } from '../../domain/open-banking/consents.ts';
import type { UserStatus } from '../../domain/users/users.ts';
import type { Initiator } from '../common/audit-entries.ts';
import type { Transaction } from '../query/database.ts';
import { sendInsertion } from '../query/rows.ts';
import { type ConsentRow, findConsent, lockConsent, readThirdParty, transitionConsent } from './consents.ts';
import { openBankingCodes } from './schema.ts';

/**
 * The account holder approves: the consent waits for the third party to exchange the code with this SHA-256. The facts that the
 * approval depends on cannot change before the transaction ends, so that a later change finds the consent and revokes it.
 */
export async function approveConsent(
  tx: Transaction,
  id: ConsentId,
  { codeHash, ...approval }: Approval & { readonly codeHash: Uint8Array },
  initiator: Initiator,
): Promise<ConsentRow> {
  if ((await findConsent(tx, id)) === null) throw recordNotFound('consent', 'id', id);
  const facts = await lockFacts(tx, approval);
  requireExisting(approval, facts);
  const locked = await lockConsent(tx, id);
  const { row, consent, now } = locked;
  requireConsentTransition(consent, 'awaiting-exchange', now);
  requireApprovable(approval, consent.content, facts);
  requireRedirectAllowed(await readThirdParty(tx, row), row.redirectUri, 'approve');
  sendInsertion(tx, openBankingCodes, { codeHash, consentId: id, createdAt: now });
  return transitionConsent(tx, locked, 'awaiting-exchange', initiator, {
    userId: approval.userId,
    accountIds: [...approval.accountIds],
    approvedBy: initiator.actor,
    codeExpiresAt: new Date(now.getTime() + CODE_LIFETIME_MS),
  });
}

const USER = 'SELECT status FROM users WHERE id = $1 FOR SHARE';

// The client of an account never changes.
const ALLOWED = `
  SELECT client_id AS "clientId", status FROM user_client_relations
  WHERE user_id = $1 AND client_id = ANY (ARRAY(SELECT client_id FROM accounts WHERE id = ANY ($2::uuid[])))
  ORDER BY id FOR SHARE`;

const ACCOUNTS = `
  SELECT account.id, account.client_id AS "clientId", client.status AS "clientStatus", account.status, account.currency
  FROM accounts AS account JOIN clients AS client ON client.id = account.client_id
  WHERE account.id = ANY ($1::uuid[]) ORDER BY account.id FOR SHARE OF account`;

/** Locks the user, its relations, then the accounts, and reads them under the locks. */
async function lockFacts(tx: Transaction, { userId, accountIds }: Approval): Promise<ApprovalFacts> {
  const [users, relations, accounts] = await Promise.all([
    tx.statement<{ status: UserStatus }>(USER, [userId]),
    tx.statement<{ clientId: ClientId; status: string }>(ALLOWED, [userId, accountIds]),
    tx.statement<ApprovedAccount>(ACCOUNTS, [accountIds]),
  ]);
  return {
    user: users[0] ?? null,
    allowedClientIds: new Set(relations.flatMap(({ clientId, status }) => (status === 'allowed' ? [clientId] : []))),
    accounts: new Map<AccountId, ApprovedAccount>(accounts.map((account) => [account.id, account])),
  };
}

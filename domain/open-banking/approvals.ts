import type { AccountStatus } from '../accounts/accounts.ts';
import type { ClientStatus } from '../clients/clients.ts';
import { recordNotFound, rejection } from '../common/errors.ts';
import type { AccountId, ClientId, UserId } from '../common/ids.ts';
import type { UserStatus } from '../users/users.ts';
import type { ConsentContent } from './consents.ts';

/** An account holder's approval. */
export interface Approval {
  readonly userId: UserId;
  /** At least one, without duplicates. */
  readonly accountIds: readonly AccountId[];
}

export interface ApprovedAccount {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly clientStatus: ClientStatus;
  readonly status: AccountStatus;
  readonly currency: string;
}

/** The facts for deciding on an approval; unknown users and accounts are absent. */
export interface ApprovalFacts {
  readonly user: { readonly status: UserStatus } | null;
  /** The clients of these accounts for whom the user may act. */
  readonly allowedClientIds: ReadonlySet<ClientId>;
  readonly accounts: ReadonlyMap<AccountId, ApprovedAccount>;
}

/** The third party to which a decision redirects. */
export interface ThirdPartyForRedirect {
  readonly id: string;
  readonly status: 'active' | 'inactive';
  readonly redirectUris: readonly string[];
}

/** Every id in the body must exist. */
export function requireExisting({ userId, accountIds }: Approval, { user, accounts }: ApprovalFacts): void {
  if (user === null) throw recordNotFound('user', 'id', userId);
  const unknown = accountIds.find((id) => !accounts.has(id));
  if (unknown !== undefined) throw recordNotFound('account', 'id', unknown);
}

/** The rules of an approval, in the fixed order: ownership, number, currency, states. */
export function requireApprovable(approval: Approval, content: ConsentContent, facts: ApprovalFacts): void {
  const { userId, accountIds } = approval;
  const accounts = accountIds.flatMap((id) => facts.accounts.get(id) ?? []);
  const foreign = accounts.find(({ clientId }) => !facts.allowedClientIds.has(clientId));
  if (foreign !== undefined) {
    const message = 'The user may not act for the client of this account.';
    throw rejection('user.client_relation.not_allowed', ['account', 'id', foreign.id], message);
  }
  if (content.scope === 'payments') requirePayingAccount(accounts, content.instructedCurrency);
  if (facts.user?.status !== 'active') {
    throw rejection('user.status.not_active', ['user', 'id', userId], 'The user is not active.');
  }
  const idle = accounts.find(({ status }) => status !== 'active');
  if (idle !== undefined) {
    throw rejection('account.status.not_active', ['account', 'id', idle.id], 'The account is not active.');
  }
  const held = accounts.find(({ clientStatus }) => clientStatus !== 'active');
  if (held !== undefined) {
    throw rejection('client.status.not_active', ['client', 'id', held.clientId], 'The client is not active.');
  }
}

function requirePayingAccount(accounts: readonly ApprovedAccount[], currency: string): void {
  if (accounts.length !== 1) {
    const message = 'A payment consent requires exactly one account.';
    throw rejection('consent.accounts.limit_exceeded', ['consent', 'accounts', String(accounts.length)], message);
  }
  const other = accounts.find((account) => account.currency !== currency);
  if (other === undefined) return;
  const message = `The account holds ${other.currency}, but the payment is in ${currency}.`;
  throw rejection('account.currency.mismatch', ['account', 'id', other.id], message);
}

/** No browser is redirected to an unregistered address, and an inactive third party gets no code. */
export function requireRedirectAllowed(
  thirdParty: ThirdPartyForRedirect,
  redirectUri: string,
  to: 'approve' | 'reject',
): void {
  if (to === 'approve' && thirdParty.status !== 'active') {
    const message = 'The third-party provider is not active.';
    throw rejection('third_party_provider.status.not_active', ['thirdPartyProvider', 'id', thirdParty.id], message);
  }
  if (thirdParty.redirectUris.includes(redirectUri)) return;
  const message = 'The redirect address of the request is not registered for the third-party provider.';
  throw rejection(
    'third_party_provider.redirect_uri.not_registered',
    ['thirdPartyProvider', 'id', thirdParty.id],
    message,
  );
}

import type { AccountStatus } from '../accounts/accounts.ts';
import type { ClientStatus } from '../clients/clients.ts';
import { recordNotFound, refusal } from '../frame/errors.ts';
import type { AccountId, ClientId, UserId } from '../frame/ids.ts';
import type { UserStatus } from '../users/users.ts';
import type { ConsentContent } from './consents.ts';

/** What an account holder's approval names. */
export interface Approval {
  readonly userId: UserId;
  /** At least one, none twice. */
  readonly accountIds: readonly AccountId[];
}

export interface ApprovedAccount {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly clientStatus: ClientStatus;
  readonly status: AccountStatus;
  readonly currency: string;
}

/** What decides about an approval; what does not exist is absent. */
export interface ApprovalFacts {
  readonly user: { readonly status: UserStatus } | null;
  /** The clients of these accounts for whom the user may act. */
  readonly allowedClientIds: ReadonlySet<ClientId>;
  readonly accounts: ReadonlyMap<AccountId, ApprovedAccount>;
}

/** Whether a third party may be told of a decision. */
export interface ThirdPartyStanding {
  readonly id: string;
  readonly status: 'active' | 'inactive';
  readonly redirectUris: readonly string[];
}

/** Every id of the body must exist. */
export function requireNamed({ userId, accountIds }: Approval, { user, accounts }: ApprovalFacts): void {
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
    const message = 'The user has no allowed relation to the client of this account.';
    throw refusal('user.client_relation.not_allowed', ['account', 'id', foreign.id], message);
  }
  if (content.scope === 'payments') requirePayingAccount(accounts, content.instructedCurrency);
  if (facts.user?.status !== 'active') {
    throw refusal('user.status.not_active', ['user', 'id', userId], 'The user is not active.');
  }
  const idle = accounts.find(({ status }) => status !== 'active');
  if (idle !== undefined) {
    throw refusal('account.status.not_active', ['account', 'id', idle.id], 'The account is not active.');
  }
  const held = accounts.find(({ clientStatus }) => clientStatus !== 'active');
  if (held !== undefined) {
    throw refusal('client.status.not_active', ['client', 'id', held.clientId], 'The client is not active.');
  }
}

function requirePayingAccount(accounts: readonly ApprovedAccount[], currency: string): void {
  if (accounts.length !== 1) {
    const message = 'A payment is made from exactly one account.';
    throw refusal('consent.accounts.limit_exceeded', ['consent', 'accounts', String(accounts.length)], message);
  }
  const other = accounts.find((account) => account.currency !== currency);
  if (other === undefined) return;
  const message = `The account's currency is ${other.currency}, the payment's ${currency}.`;
  throw refusal('account.currency.mismatch', ['account', 'id', other.id], message);
}

/** Nobody is sent to an address that is not, or no longer, registered; an inactive third party gets no code. */
export function requireReachable(thirdParty: ThirdPartyStanding, redirectUri: string, to: 'approve' | 'reject'): void {
  if (to === 'approve' && thirdParty.status !== 'active') {
    const message = 'The third-party provider is not active.';
    throw refusal('third_party_provider.status.not_active', ['thirdPartyProvider', 'id', thirdParty.id], message);
  }
  if (thirdParty.redirectUris.includes(redirectUri)) return;
  const message = 'The redirect address of the request is no longer one that the third-party provider has registered.';
  throw refusal(
    'third_party_provider.redirect_uri.not_registered',
    ['thirdPartyProvider', 'id', thirdParty.id],
    message,
  );
}

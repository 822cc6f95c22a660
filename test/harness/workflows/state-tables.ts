import { ACCOUNT_MOVES, CONNECTION_MOVES } from '../../../domain/accounts/accounts.ts';
import { CLIENT_MOVES } from '../../../domain/clients/clients.ts';
import { INCOMING_TRANSFER_MOVES } from '../../../domain/incoming-transfers/incoming-transfers.ts';
import { CONSENT_MOVES } from '../../../domain/open-banking/consents.ts';
import { OUTGOING_TRANSFER_MOVES } from '../../../domain/outgoing-transfers/outgoing-transfers.ts';
import { USER_CLIENT_RELATION_MOVES } from '../../../domain/users/client-relations.ts';
import { USER_INVITATION_MOVES } from '../../../domain/users/invitations.ts';
import { USER_MOVES } from '../../../domain/users/users.ts';

/** A resource with statuses that move. A status without moves is final. */
export interface StateTable {
  readonly title: string;
  readonly begins: string;
  readonly moves: Readonly<Record<string, readonly string[]>>;
  readonly notes: string;
}

/** Every such resource: docs/states.md prints them, and every transition consults them. */
export const STATE_TABLES = {
  accounts: {
    title: 'Accounts',
    begins: 'pending',
    moves: ACCOUNT_MOVES,
    notes:
      'Only callers of plug-in accounts and of sub-accounts may move `pending` to `closed`. The provider opens or declines a built-in account, and may suspend, inactivate, activate or close it later; the API can only close it, through its provider. A migrated account is `active`, and its connection `completed-up-to-date`, from the first event on that shows them; both are stored in one transaction. A sub-account is activated or declined with its main account; while that is not active, it neither sends nor receives.',
  },
  connections: {
    title: 'Connections of accounts',
    begins: 'creation-in-progress',
    moves: CONNECTION_MOVES,
    notes:
      "`dependency-failed`: the client's own connection failed, so the account was never requested. An account becomes `active` only with a connection that was created, and `declined` only with one whose creation failed.",
  },
  clients: {
    title: 'Clients',
    begins: 'active',
    moves: CLIENT_MOVES,
    notes:
      'The same transitions as for accounts, by callers with the role compliance or admin. `closed` requires that every account is closed or declined. A client that is not active can neither open accounts nor pay, and payments to it are held.',
  },
  'outgoing-transfers': {
    title: 'Outgoing transfers',
    begins: 'pending',
    moves: OUTGOING_TRANSFER_MOVES,
    notes:
      '`processing`: the money is reserved. `released`: the provider has accepted the payment, and it is posted. `completed`: it is settled. A completed transfer can still be returned: it stays `completed` and shows `returned`. In review it is `pending` and can be decided, authorized and cancelled in any order; a rejection fails it. While the receiver’s side of an internal transfer is in review it is `processing`, so that it cannot be cancelled; the rejection of either side fails both. If a transfer ends without a decision, its check stays `in-review`.',
  },
  'incoming-transfers': {
    title: 'Incoming transfers',
    begins: 'pending',
    moves: INCOMING_TRANSFER_MOVES,
    notes:
      '`on-hold`: no account or several match, the account or its client is not active, or the provider holds the money; only subscriptions that name its event receive it. `on-hold` becomes `pending` when the provider releases the money. A transfer in review is `pending`, whatever its account allows; approved, it is completed, held or failed as its account then says (a payment without an account is matched again), and rejected it is `failed`. Only money that its provider holds is `on-hold` in review: it can be decided meanwhile, and once released is `pending` until it is. `assign` and `return` are for money on hold, not in review. The receiver’s side of an internal transfer can be decided from its creation; approved for an account that is not active, both sides wait for the account. Money for a closed account, and our own payments that came back, are not reviewed.',
  },
  users: { title: 'Users', begins: 'active', moves: USER_MOVES, notes: 'Callers set either status by PATCH.' },
  'user-invitations': {
    title: 'User invitations',
    begins: 'pending',
    moves: USER_INVITATION_MOVES,
    notes:
      'The invited person accepts or rejects through the link in the e-mail; callers can cancel; after seven days the workflow cancels.',
  },
  'user-client-relations': {
    title: 'User client relations',
    begins: 'allowed',
    moves: USER_CLIENT_RELATION_MOVES,
    notes: 'Callers set either status by PATCH.',
  },
  'open-banking-consents': {
    title: 'Open banking consents',
    begins: 'awaiting-authorisation',
    moves: CONSENT_MOVES,
    notes:
      'Callers approve, reject and revoke for the account holder; the third party exchanges its code, and a payment consumes the consent to it (a consent to accounts is never `consumed`). Each open status has a deadline, after which a loop or its workflow makes it `expired`: the request ten minutes, the code one, the grant ninety days. A user that becomes inactive, a relation that is revoked and the closing of the last account revoke what was approved, in their own transaction.',
  },
} as const satisfies Record<string, StateTable>;

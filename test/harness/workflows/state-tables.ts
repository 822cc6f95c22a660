import { ACCOUNT_TRANSITIONS, CONNECTION_TRANSITIONS } from '../../../domain/accounts/accounts.ts';
import { CLIENT_TRANSITIONS } from '../../../domain/clients/clients.ts';
import { INCOMING_TRANSFER_TRANSITIONS } from '../../../domain/incoming-transfers/incoming-transfers.ts';
import { CONSENT_TRANSITIONS } from '../../../domain/open-banking/consents.ts';
import { OUTGOING_TRANSFER_TRANSITIONS } from '../../../domain/outgoing-transfers/statuses.ts';
import { USER_CLIENT_RELATION_TRANSITIONS } from '../../../domain/users/client-relations.ts';
import { USER_INVITATION_TRANSITIONS } from '../../../domain/users/invitations.ts';
import { USER_TRANSITIONS } from '../../../domain/users/users.ts';

/** A resource with statuses that move. A status without moves is final. */
export interface StateTable {
  readonly title: string;
  readonly begins: string;
  readonly moves: Readonly<Record<string, readonly string[]>>;
  readonly notes: string;
}

/** Every such resource: docs/behaviour/states.md prints them, and every transition consults them. */
export const STATE_TABLES = {
  accounts: {
    title: 'Accounts',
    begins: 'pending',
    moves: ACCOUNT_TRANSITIONS,
    notes:
      'Only callers of plug-in accounts and of sub-accounts may move `pending` to `closed`. The provider opens or declines a built-in account, and may suspend, inactivate, activate or close it later; the API can only close it, through its provider. A migrated account is `active`, with the connection `completed-up-to-date`, from its first event on. A sub-account is activated or declined with its main account.',
  },
  connections: {
    title: 'Connections of accounts',
    begins: 'creation-in-progress',
    moves: CONNECTION_TRANSITIONS,
    notes:
      "`dependency-failed`: the client's own connection failed, so the account was never requested. An account becomes `active` only with a connection that was created, and `declined` only with one whose creation failed.",
  },
  clients: {
    title: 'Clients',
    begins: 'active',
    moves: CLIENT_TRANSITIONS,
    notes:
      'The same transitions as for accounts, by callers with the role compliance or admin. `closed` requires that every account is closed or declined.',
  },
  'outgoing-transfers': {
    title: 'Outgoing transfers',
    begins: 'pending',
    moves: OUTGOING_TRANSFER_TRANSITIONS,
    notes:
      '`processing`: the money is reserved. `released`: the provider has accepted the payment, and it is posted. `completed`: it is settled. A completed transfer can still be returned: it stays `completed` and shows `returned`. In review it is `pending` and can be decided, authorized and cancelled in any order; a rejection fails it. While the receiver’s side of an internal transfer is in review it is `processing`, so that it cannot be cancelled; the rejection of either side fails both.',
  },
  'incoming-transfers': {
    title: 'Incoming transfers',
    begins: 'pending',
    moves: INCOMING_TRANSFER_TRANSITIONS,
    notes:
      '`on-hold`: no account or several match, the account or its client is not active, or the provider holds the money. It becomes `pending` when the provider releases it. A transfer in review is `pending`, whatever its account allows; approved, it is completed, held or failed as its account then says (a payment without an account is matched again), and rejected it is `failed`. Only money that its provider holds is `on-hold` in review. `assign` and `return` are for money on hold, not in review. Money for a closed account, and our own payments that came back, are not reviewed.',
  },
  users: { title: 'Users', begins: 'active', moves: USER_TRANSITIONS, notes: 'Callers set either status by PATCH.' },
  'user-invitations': {
    title: 'User invitations',
    begins: 'pending',
    moves: USER_INVITATION_TRANSITIONS,
    notes:
      'The invited person accepts or rejects through the link in the e-mail; callers can cancel; after seven days the workflow cancels.',
  },
  'user-client-relations': {
    title: 'User client relations',
    begins: 'allowed',
    moves: USER_CLIENT_RELATION_TRANSITIONS,
    notes: 'Callers set either status by PATCH.',
  },
  'open-banking-consents': {
    title: 'Open banking consents',
    begins: 'awaiting-authorisation',
    moves: CONSENT_TRANSITIONS,
    notes:
      'Callers approve, reject and revoke for the account holder; the third party exchanges its code, and a payment consumes the consent to it (a consent to accounts is never `consumed`). Each open status has a deadline, after which a loop or its workflow makes it `expired`: the request ten minutes, the code one, the grant ninety days.',
  },
} as const satisfies Record<string, StateTable>;

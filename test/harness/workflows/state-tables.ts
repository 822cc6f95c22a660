import { ACCOUNT_MOVES, CONNECTION_MOVES } from '../../../domain/accounts/accounts.ts';
import { CLIENT_MOVES } from '../../../domain/clients/clients.ts';
import { INCOMING_TRANSFER_MOVES } from '../../../domain/incoming-transfers/incoming-transfers.ts';
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
      '`pending` to `closed` is for callers of plug-in accounts alone. Built-in accounts are opened and declined by their provider; by the API they only close, through the provider.',
  },
  connections: {
    title: 'Connections of accounts',
    begins: 'creation-in-progress',
    moves: CONNECTION_MOVES,
    notes: "`dependency-failed`: the client's own connection failed, so the account was never asked for.",
  },
  clients: {
    title: 'Clients',
    begins: 'active',
    moves: CLIENT_MOVES,
    notes:
      'As accounts move, by callers of the roles compliance and admin. `closed` needs every account closed or declined. A client that is not active opens nothing and sends nothing, and its money in is held.',
  },
  'outgoing-transfers': {
    title: 'Outgoing transfers',
    begins: 'pending',
    moves: OUTGOING_TRANSFER_MOVES,
    notes:
      '`processing` has the money reserved, `released` was accepted by the provider and posted, `completed` is settled. A completed transfer can still come back: it stays `completed` and shows `returned`.',
  },
  'incoming-transfers': {
    title: 'Incoming transfers',
    begins: 'pending',
    moves: INCOMING_TRANSFER_MOVES,
    notes:
      '`on-hold`: no account or several match, the account or its client is not active, or the provider holds the money; its event is for those who name it. `on-hold` to `pending` is the provider letting go.',
  },
  users: { title: 'Users', begins: 'active', moves: USER_MOVES, notes: 'Callers set both by PATCH.' },
  'user-invitations': {
    title: 'User invitations',
    begins: 'pending',
    moves: USER_INVITATION_MOVES,
    notes:
      'The invited person accepts or rejects, behind the link of the e-mail; callers cancel; after seven days the workflow does.',
  },
  'user-client-relations': {
    title: 'User client relations',
    begins: 'allowed',
    moves: USER_CLIENT_RELATION_MOVES,
    notes: 'Callers set both by PATCH.',
  },
} as const satisfies Record<string, StateTable>;

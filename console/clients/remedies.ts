import { countAccounts } from '../../db/accounts/reads.ts';
import { changeClient, countOpenAccounts } from '../../db/clients/changes.ts';
import { findClient } from '../../db/clients/clients.ts';
import { changedStatus } from '../../domain/clients/changes.ts';
import type { ClientStatus } from '../../domain/clients/clients.ts';
import { asId, type ClientId } from '../../domain/common/ids.ts';
import { COUNTED_MAX } from '../lists/list.ts';
import { countText } from '../lists/list-page.tsx';
import { decided } from '../remedies/decided.ts';
import type { Remedy } from '../remedies/remedy.ts';

interface Kind {
  readonly kind: string;
  readonly label: string;
  readonly status: ClientStatus;
  readonly isDangerous: boolean;
  readonly done: string;
  consequences(accounts: string): readonly string[];
}

const SUSPEND: Kind = {
  kind: 'suspend-client',
  label: 'Suspend',
  status: 'suspended',
  isDangerous: true,
  done: 'The client is suspended: nothing is paid out of any of its accounts.',
  consequences: (accounts) => [
    `No payment leaves any of the client’s ${accounts} accounts, and no account can be opened.`,
    'Open payments wait. Money that comes in is put on hold.',
  ],
};

const ACTIVATE: Kind = {
  kind: 'activate-client',
  label: 'Make active',
  status: 'active',
  isDangerous: false,
  done: 'The client is active, and what waited goes on.',
  consequences: (accounts) => [`Payments may leave the client’s ${accounts} accounts again; what waited goes on.`],
};

const CLOSE: Kind = {
  kind: 'close-client',
  label: 'Close',
  status: 'closed',
  isDangerous: true,
  done: 'The client is closed.',
  consequences: (accounts) => [
    `The client is closed for good. Each of its ${accounts} accounts must be closed or declined before.`,
  ],
};

function remedyOf({ kind, label, status, isDangerous, done, consequences }: Kind): Remedy {
  return {
    kind,
    label,
    isDangerous,
    resource: 'client',
    page: '/clients/:id',
    // As PATCH /clients/{clientId} has it for a change of status.
    roles: ['compliance', 'admin'],
    movesMoney: true,
    async preview({ services: { database }, params }) {
      const id = asId<ClientId>(params.id ?? '');
      const [client, accounts] = await Promise.all([
        findClient(database.reader, id),
        countAccounts(database.reader, { clientId: id }, COUNTED_MAX),
      ]);
      if (client === null) return null;
      const openAccounts = status === 'closed' ? await countOpenAccounts(database.reader, id) : 0;
      const decision = decided(() => changedStatus(client.status, status, openAccounts));
      const isThere = client.status === status;
      const unavailable = isThere ? `The client is ${status}.` : 'rejected' in decision ? decision.rejected : null;
      return {
        title: `${label} client ${client.clientNumber}`,
        consequences: consequences(countText(accounts)),
        ...(unavailable === null ? {} : { unavailable }),
      };
    },
    async act({ services: { database }, params }, _, initiator) {
      const id = asId<ClientId>(params.id ?? '');
      const { before } = await database.transaction((tx) => changeClient(tx, id, { status }, initiator));
      return before.status === status
        ? { state: 'unchanged', text: `The client was ${status} already.` }
        : { state: 'done', text: done };
    },
  };
}

export const CLIENT_REMEDIES: readonly Remedy[] = [ACTIVATE, SUSPEND, CLOSE].map(remedyOf);

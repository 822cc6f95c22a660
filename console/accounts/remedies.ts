import { patchAccount, readOpenItems } from '../../db/accounts/accounts.ts';
import { findAccount } from '../../db/accounts/reads.ts';
import type { Account, AccountStatus } from '../../domain/accounts/accounts.ts';
import { updateAccount } from '../../domain/accounts/updates.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { amountText } from '../look/values.tsx';
import { decided } from '../remedies/decided.ts';
import type { Remedy } from '../remedies/remedy.ts';

interface Kind {
  readonly kind: string;
  readonly label: string;
  readonly status: AccountStatus;
  readonly isDangerous?: boolean;
  readonly done: string;
  consequences(account: Account, openTransfers: number): readonly string[];
}

const available = ({ postedMinor, reservedMinor, currency }: Account) =>
  amountText(postedMinor - reservedMinor, currency);

const SUSPEND: Kind = {
  kind: 'suspend-account',
  label: 'Suspend',
  status: 'suspended',
  isDangerous: true,
  done: 'It is suspended: nothing is paid out of it until it is active again.',
  consequences: (account, openTransfers) => [
    `No payment leaves this account any more; ${available(account)} stays in it.`,
    `${openTransfers} open transfers wait until it is active again. Money that comes in is put on hold.`,
  ],
};

const ACTIVATE: Kind = {
  kind: 'activate-account',
  label: 'Make active',
  status: 'active',
  done: 'It is active, and what waited for it goes on.',
  consequences: (_, openTransfers) => [
    `Payments may leave this account again, and ${openTransfers} open transfers go on.`,
  ],
};

const CLOSE: Kind = {
  kind: 'close-account',
  label: 'Close',
  status: 'closed',
  isDangerous: true,
  done: 'It is closed, for good.',
  consequences: (account, openTransfers) => [
    'The account is closed for good, at its provider too. It leaves every consent that names it.',
    `It holds ${amountText(account.postedMinor, account.currency)} and has ${openTransfers} open transfers; only an empty one can be closed.`,
  ],
};

function remedyOf({ kind, label, status, isDangerous = false, done, consequences }: Kind): Remedy {
  return {
    kind,
    label,
    isDangerous,
    resource: 'account',
    page: '/accounts/:id',
    roles: ['operator'],
    movesMoney: true,
    async preview({ services, params }) {
      const id = asId<AccountId>(params.id ?? '');
      const { reader } = services.database;
      const [account, openItems] = await Promise.all([findAccount(reader, id), readOpenItems(reader, id)]);
      if (account === null) return null;
      const decision = decided(() => updateAccount(account, { status }, openItems));
      const isThere = account.status === status;
      const unavailable = isThere ? `It is ${status}.` : 'rejected' in decision ? decision.rejected : null;
      return {
        title: `${label} account ${account.ledgerNumber}`,
        consequences: consequences(account, openItems.openTransfers),
        ...(unavailable === null ? {} : { unavailable }),
      };
    },
    async act({ services, params }, _, initiator) {
      const id = asId<AccountId>(params.id ?? '');
      const { before, account } = await services.database.transaction((tx) =>
        patchAccount(tx, id, { status }, initiator),
      );
      if (before.status === status) return { state: 'unchanged', text: `It was ${status} already.` };
      return account.status === status
        ? { state: 'done', text: done }
        : { state: 'unknown', text: 'The provider is asked first. The new status appears here when it has answered.' };
    },
  };
}

export const ACCOUNT_REMEDIES: readonly Remedy[] = [ACTIVATE, SUSPEND, CLOSE].map(remedyOf);

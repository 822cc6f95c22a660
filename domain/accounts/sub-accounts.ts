import { rejection } from '../common/errors.ts';
import type { AccountId, ClientId } from '../common/ids.ts';
import { ACCOUNT_STATUS_EVENTS, type Account, type ChangedAccount, emit } from './accounts.ts';

/** `POST /accounts` with `client.sub-account`. Absent fields default to those of the main account. */
export interface SubAccountRequest {
  readonly mainAccountId: AccountId;
  readonly clientId?: ClientId | undefined;
  readonly currency?: string | undefined;
  readonly alias?: string | undefined;
}

export interface MainAccount {
  readonly account: Account;
  readonly clientStatus: string;
  /** The provider is closing it. */
  readonly closing: boolean;
}

const ENTITY = 'account';

/** Throws the first problem, in the order of all rejections: client, currency, depth, then states. */
export function checkSubAccount(request: SubAccountRequest, { account, clientStatus, closing }: MainAccount): void {
  const { mainAccountId, clientId = account.clientId, currency = account.currency } = request;
  if (clientId !== account.clientId) {
    const message = 'The main account belongs to another client.';
    throw rejection('account.client.mismatch', [ENTITY, 'clientId', clientId], message);
  }
  if (currency !== account.currency) {
    const message = `The main account holds ${account.currency}.`;
    throw rejection('account.currency.mismatch', [ENTITY, 'currency', currency], message);
  }
  if (account.mainAccountId !== null) {
    const message = 'A sub-account cannot have sub-accounts.';
    throw rejection('account.sub_account.nested', [ENTITY, 'mainAccountId', mainAccountId], message);
  }
  if (clientStatus !== 'active') {
    const message = `The client is ${clientStatus} and cannot open accounts.`;
    throw rejection('client.status.not_active', [ENTITY, 'clientId', account.clientId], message);
  }
  if (closing || (account.status !== 'active' && account.status !== 'pending')) {
    const message = `The main account is ${closing ? 'being closed' : account.status}.`;
    throw rejection('account.status.not_active', [ENTITY, 'mainAccountId', mainAccountId], message);
  }
}

/** A pending sub-account is activated or declined with its main account; null: it stays as it is. */
export function followMainAccount(account: Account, main: Account): ChangedAccount | null {
  if (account.status !== 'pending') return null;
  if (main.status !== 'active' && main.status !== 'declined') return null;
  const { status, country } = main;
  return emit({ account, events: [] }, ACCOUNT_STATUS_EVENTS[status], { status, country });
}

import type { LosslessNumber } from 'lossless-json';
import type { AccountId, ClientId } from '../common/ids.ts';
import { amountNumber } from '../common/money.ts';
import type { ConnectMethod } from '../providers/providers.ts';
import { presentRoutingCodes } from './identifiers/routing-codes.ts';

/** Accounts: the transition table, and how answers and events show an account (specification 2.5, 3, 6). */
export const ACCOUNT_STATUSES = ['pending', 'active', 'inactive', 'suspended', 'closed', 'declined'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** `pending` → `closed` is for plug-in callers only: the provider's answer opens or declines a built-in account. */
export const ACCOUNT_TRANSITIONS: Readonly<Record<AccountStatus, readonly AccountStatus[]>> = {
  pending: ['active', 'declined', 'closed'],
  active: ['inactive', 'suspended', 'closed'],
  inactive: ['active', 'suspended', 'closed'],
  suspended: ['active', 'inactive', 'closed'],
  closed: [],
  declined: [],
};

export function isFinalAccountStatus(status: AccountStatus): boolean {
  return ACCOUNT_TRANSITIONS[status].length === 0;
}

export const CONNECTION_STATES = [
  'creation-in-progress',
  'creation-failed',
  'dependency-failed',
  'completed-up-to-date',
  'update-in-progress',
  'completed-outdated',
] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** `dependency-failed`: the client's own connection to the provider failed, so no account was requested. */
export const CONNECTION_TRANSITIONS: Readonly<Record<ConnectionState, readonly ConnectionState[]>> = {
  'creation-in-progress': ['completed-up-to-date', 'creation-failed', 'dependency-failed'],
  'creation-failed': [],
  'dependency-failed': [],
  'completed-up-to-date': ['update-in-progress', 'completed-outdated'],
  'update-in-progress': ['completed-up-to-date', 'completed-outdated'],
  'completed-outdated': ['update-in-progress', 'completed-up-to-date'],
};

/**
 * The result of the creation for each state of the connection: an account is active once it is opened at its provider,
 * declined if it never was, and neither before the provider has answered.
 */
export const CREATION_RESULTS: Readonly<Record<ConnectionState, 'active' | 'declined' | null>> = {
  'creation-in-progress': null,
  'creation-failed': 'declined',
  'dependency-failed': 'declined',
  'completed-up-to-date': 'active',
  'update-in-progress': 'active',
  'completed-outdated': 'active',
};

export const CONNECTION_STATUSES = ['active', 'inactive', 'closed'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

export const CONNECT_METHODS = ['built-in', 'plug-in'] as const satisfies readonly ConnectMethod[];

export const CONNECTION_ERROR_CATEGORIES = ['functional', 'technical'] as const;
export const CONNECTION_ERROR_ORIGINS = ['customer', 'platform', 'provider'] as const;

export interface ConnectionError {
  readonly category: (typeof CONNECTION_ERROR_CATEGORIES)[number];
  readonly origin: (typeof CONNECTION_ERROR_ORIGINS)[number];
  readonly code: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The account's state at its provider. */
export interface Connection {
  readonly id: string;
  readonly reference: string | null;
  readonly state: ConnectionState;
  readonly status: ConnectionStatus | null;
  readonly error: ConnectionError | null;
}

/** The default name of an account (specification 2.5). */
export function defaultAlias(currency: string): string {
  return `${currency} Account`;
}

/** The fields of an account for decisions and presentation. Amounts in minor units of its currency. */
export interface Account {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly mainAccountId: AccountId | null;
  readonly status: AccountStatus;
  readonly method: ConnectMethod;
  readonly provider: string;
  readonly country: string;
  readonly currency: string;
  readonly alias: string;
  readonly routingCodes: Readonly<Record<string, string>> | null;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly ledgerNumber: string;
  readonly accountHolderName: string;
  readonly accountHolderIdentityType: 'individual' | 'corporate';
  readonly connection: Connection | null;
  readonly postedMinor: bigint;
  readonly reservedMinor: bigint;
  readonly receivableMinor: bigint;
}

/** `data.account.connection` of specification 2.5. */
export interface ConnectionView {
  readonly id: string;
  readonly method: ConnectMethod;
  readonly serviceProvider: string;
  readonly reference: string | null;
  readonly state: ConnectionState;
  readonly status: ConnectionStatus | null;
  readonly error: ConnectionError | null;
}

/** `data.account` of specification 2.5. */
export interface AccountView {
  readonly id: AccountId;
  readonly clientId: ClientId;
  readonly mainAccountId: AccountId | null;
  readonly status: AccountStatus;
  readonly country: string;
  readonly currency: string;
  readonly alias: string;
  readonly routingCodes: Readonly<Record<string, string>> | null;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly ledgerNumber: string;
  readonly availableBalance: LosslessNumber;
  readonly receivableBalance: LosslessNumber;
  readonly serviceProvider: string;
  readonly accountHolderName: string;
  readonly accountHolderIdentityType: 'individual' | 'corporate';
  readonly connection: ConnectionView | null;
}

export function presentConnection(account: Account): ConnectionView | null {
  const { connection, method, provider } = account;
  if (connection === null) return null;
  const { id, reference, state, status, error } = connection;
  return { id, method, serviceProvider: provider, reference, state, status, error };
}

/** The account as answers show it. `availableBalance` is the posted balance less reservations. */
export function presentAccount(account: Account): AccountView {
  return {
    id: account.id,
    clientId: account.clientId,
    mainAccountId: account.mainAccountId,
    status: account.status,
    country: account.country,
    currency: account.currency,
    alias: account.alias,
    routingCodes: presentRoutingCodes(account.routingCodes),
    iban: account.iban,
    accountNumber: account.accountNumber,
    ledgerNumber: account.ledgerNumber,
    availableBalance: amountNumber(account.postedMinor - account.reservedMinor, account.currency),
    receivableBalance: amountNumber(account.receivableMinor, account.currency),
    serviceProvider: account.provider,
    accountHolderName: account.accountHolderName,
    accountHolderIdentityType: account.accountHolderIdentityType,
    connection: presentConnection(account),
  };
}

export const ACCOUNT_STATUS_EVENTS = {
  active: 'account-activated',
  inactive: 'account-inactivated',
  suspended: 'account-suspended',
  closed: 'account-closed',
  declined: 'account-declined',
} as const satisfies Record<Exclude<AccountStatus, 'pending'>, string>;

export type AccountEventType =
  | (typeof ACCOUNT_STATUS_EVENTS)[keyof typeof ACCOUNT_STATUS_EVENTS]
  | 'account-information-updated'
  | 'connection-creation-instructed'
  | 'connection-created'
  | 'connection-creation-failed'
  | 'connection-update-instructed'
  | 'connection-updated'
  | 'connection-update-failed';

/**
 * The account as an event shows it. Events about the account include its connection only if it was opened at a provider
 * (specification 6); events about the connection always do.
 */
export function presentAccountInEvent(type: AccountEventType, account: Account): AccountView {
  const view = presentAccount(account);
  const made = account.connection !== null && CREATION_RESULTS[account.connection.state] === 'active';
  return type.startsWith('connection-') || made ? view : { ...view, connection: null };
}

/** A changed account and the events of its change, in order. */
export interface ChangedAccount {
  readonly account: Account;
  readonly events: readonly AccountEvent[];
}

export interface AccountEvent {
  readonly type: AccountEventType;
  /** The account at the time of the event. */
  readonly account: Account;
}

/** Applies `change` to the account and adds an event of this `type`. */
export function emit(before: ChangedAccount, type: AccountEventType, change: Partial<Account>): ChangedAccount {
  const account = { ...before.account, ...change };
  return { account, events: [...before.events, { type, account }] };
}

/** The next step of the connection's workflow. `until` is an ISO instant; null waits for a signal only. */
export type AccountConnectionStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: AccountConnectionWait; readonly until: string | null }
  | { readonly do: 'connect-client'; readonly clientId: ClientId }
  | { readonly do: 'open-account'; readonly attempt: number }
  | { readonly do: 'close-account'; readonly attempt: number }
  | { readonly do: 'look-up'; readonly count: number };

export type AccountConnectionWait = 'provider';

import { rejection } from '../common/errors.ts';
import {
  ACCOUNT_STATUS_EVENTS,
  type Account,
  type AccountEventType,
  type ChangedAccount,
  CONNECTION_TRANSITIONS,
  type Connection,
  type ConnectionError,
  type ConnectionState,
  type ConnectionStatus,
  emit,
  isFinalAccountStatus,
} from './accounts.ts';

/** A provider's report on opening or closing an account, from an answer, a look-up or a callback. */
export type AccountOutcome =
  | { readonly outcome: 'opened'; readonly reference: string; readonly details: AccountDetails }
  | { readonly outcome: 'closed' }
  | { readonly outcome: 'rejected'; readonly error: ConnectionError }
  /** The provider has accepted the request and reports the result later. */
  | { readonly outcome: 'accepted'; readonly reference: string | null }
  /** The provider does not know the request, or its outcome is unknown: the workflow repeats the same request. */
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'unknown' };

/** The identifiers that a provider issues for an account. */
export interface AccountDetails {
  readonly country: string;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
}

/**
 * A provider's answer on connecting a client. An unknown outcome is not an answer: the workflow repeats the same
 * request.
 */
export type ClientConnectionOutcome =
  | { readonly outcome: 'connected'; readonly reference: string }
  | { readonly outcome: 'rejected'; readonly error: ConnectionError };

export const PROVIDER_ACCOUNT_STATUSES = ['active', 'inactive', 'suspended', 'closed'] as const;
/** A status that a provider gives an account on its own initiative. */
export type ProviderAccountStatus = (typeof PROVIDER_ACCOUNT_STATUSES)[number];

/** A provider's report of such a change. `number` increases with each report on an account. */
export interface ProviderStatusChange<Id> {
  readonly accountId: Id;
  readonly status: ProviderAccountStatus;
  readonly number: bigint;
}

/** The reported part of a connection; absent fields stay as they are. */
export interface ConnectionReport {
  readonly id?: string | undefined;
  readonly reference?: string | null | undefined;
  readonly state?: ConnectionState | undefined;
  readonly status?: ConnectionStatus | null | undefined;
  readonly error?: ConnectionError | null | undefined;
}

export const CLIENT_CONNECTION_FAILED: ConnectionError = {
  category: 'functional',
  origin: 'provider',
  code: 'client-connection-failed',
  message: "The account's client could not be created at the provider.",
  attributes: {},
};

/** Applies a report to the connection and adds its event. Rejects illegal transitions (409). */
export function reportConnection(before: ChangedAccount, report: ConnectionReport): ChangedAccount {
  const { connection } = before.account;
  if (connection === null) return before;
  const state = report.state ?? connection.state;
  if (state !== connection.state && !CONNECTION_TRANSITIONS[connection.state].includes(state)) {
    throw rejection(
      'common.state.illegal_transition',
      ['account', 'connection.state', state],
      `The connection is ${connection.state} and cannot become ${state}.`,
    );
  }
  const next: Connection = {
    id: connection.id,
    reference: report.reference === undefined ? connection.reference : report.reference,
    state,
    status: report.status === undefined ? impliedStatus(connection, state) : report.status,
    error: isFailed(state) ? (report.error ?? (state === connection.state ? connection.error : null)) : null,
  };
  const type = connectionEvent(connection, next);
  return type === null
    ? { ...before, account: { ...before.account, connection: next } }
    : emit(before, type, { connection: next });
}

export function isFailed(state: ConnectionState): boolean {
  return state === 'creation-failed' || state === 'dependency-failed' || state === 'completed-outdated';
}

function impliedStatus(before: Connection, state: ConnectionState): ConnectionStatus | null {
  const created = before.state === 'creation-in-progress' && state === 'completed-up-to-date';
  return created ? (before.status ?? 'active') : before.status;
}

/** The event of a connection's change; null if it has none. */
function connectionEvent(before: Connection, after: Connection): AccountEventType | null {
  const moved = before.state !== after.state;
  const differs = before.status !== after.status || before.reference !== after.reference;
  switch (after.state) {
    case 'creation-in-progress':
      return null;
    case 'creation-failed':
    case 'dependency-failed':
      return moved ? 'connection-creation-failed' : null;
    case 'completed-up-to-date':
      if (before.state === 'creation-in-progress') return 'connection-created';
      return moved || differs ? 'connection-updated' : null;
    case 'update-in-progress':
      return moved ? 'connection-update-instructed' : null;
    case 'completed-outdated':
      return moved || JSON.stringify(before.error) !== JSON.stringify(after.error) ? 'connection-update-failed' : null;
  }
}

/** The provider has opened the account. Its identifiers show only from activation on. */
export function openAtProvider(account: Account, reference: string, details: AccountDetails): ChangedAccount {
  const connected = reportConnection(
    { account, events: [] },
    { state: 'completed-up-to-date', status: 'active', reference },
  );
  return emit(connected, ACCOUNT_STATUS_EVENTS.active, { ...details, status: 'active' });
}

/** The provider has rejected the account for good, or the client's own connection has failed. */
export function rejectAtProvider(
  account: Account,
  state: 'creation-failed' | 'dependency-failed',
  error: ConnectionError,
): ChangedAccount {
  const failed = reportConnection({ account, events: [] }, { state, error });
  return emit(failed, ACCOUNT_STATUS_EVENTS.declined, { status: 'declined' });
}

/**
 * The provider has closed its account. An account that has received money meanwhile cannot close. It is suspended, so
 * that no more money arrives, and closes once a caller has emptied it and requests closing again.
 */
export function closeAtProvider(before: ChangedAccount, empty: boolean): ChangedAccount {
  const updated = reportConnection(before, { state: 'completed-up-to-date', status: 'closed' });
  if (empty) return emit(updated, ACCOUNT_STATUS_EVENTS.closed, { status: 'closed' });
  return before.account.status === 'suspended'
    ? updated
    : emit(updated, ACCOUNT_STATUS_EVENTS.suspended, { status: 'suspended' });
}

/**
 * The provider has changed the status of an account that it opened. A connection cannot be suspended, only inactive. `empty` says
 * whether the account may close (`closeAtProvider`).
 */
export function applyProviderStatus(
  before: ChangedAccount,
  status: ProviderAccountStatus,
  empty: boolean,
): ChangedAccount {
  if (status === 'closed') return closeAtProvider(before, empty);
  const updated = reportConnection(before, { status: status === 'active' ? 'active' : 'inactive' });
  return status === before.account.status ? updated : emit(updated, ACCOUNT_STATUS_EVENTS[status], { status });
}

/** Whether a status of the provider applies: an account that ended on either side stays ended, and a sub-account has no provider. */
export function canApplyProviderStatus({ status, connection }: Account, reported: ProviderAccountStatus): boolean {
  if (connection === null || isFinalAccountStatus(status)) return false;
  return reported === 'closed' || connection.status !== 'closed';
}

/** The provider rejects the closing: the account stays as it is, and a caller may request closing again. */
export function rejectClosing(account: Account, error: ConnectionError): ChangedAccount {
  return reportConnection({ account, events: [] }, { state: 'completed-outdated', error });
}

// Seconds after submission at which to look up a request without a callback; after the last, hourly.
const LOOK_UP_OFFSETS_S = [10, 20, 40, 80, 160, 320, 640, 1280, 2560] as const;
const LOOK_UP_INTERVAL_S = 3600;

/** When to look up a request submitted at `submittedAt` next, and how many look-ups are due before that. */
export function nextLookUp(submittedAt: Date, now: Date): { readonly at: Date; readonly count: number } {
  const elapsedS = (now.getTime() - submittedAt.getTime()) / 1000;
  const index = LOOK_UP_OFFSETS_S.findIndex((offset) => offset > elapsedS);
  const offset = LOOK_UP_OFFSETS_S[index];
  if (offset !== undefined) return { at: new Date(submittedAt.getTime() + offset * 1000), count: index };
  const last = LOOK_UP_OFFSETS_S[LOOK_UP_OFFSETS_S.length - 1] ?? 0;
  const hours = Math.floor((elapsedS - last) / LOOK_UP_INTERVAL_S) + 1;
  const atMs = submittedAt.getTime() + (last + hours * LOOK_UP_INTERVAL_S) * 1000;
  return { at: new Date(atMs), count: LOOK_UP_OFFSETS_S.length + hours - 1 };
}

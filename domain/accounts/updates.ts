import { DomainError, type ErrorCode, type Problem, refusal } from '../frame/errors.ts';
import {
  ACCOUNT_MOVES,
  ACCOUNT_STATUS_EVENTS,
  type Account,
  type AccountStatus,
  type ChangedAccount,
  type ConnectionError,
  defaultAlias,
  emit,
  isFinalAccountStatus,
} from './accounts.ts';
import { checkAccountFormats } from './bank-accounts.ts';
import { type ConnectionReport, isFailed, reportConnection } from './connections.ts';
import { presentRoutingCodes } from './routing-codes.ts';

/** `PATCH /accounts/{accountId}`: absent fields stay, null clears. Formats have been checked. */
export interface AccountPatch {
  /** Null: the default. */
  readonly alias?: string | null | undefined;
  readonly status?: AccountStatus | undefined;
  readonly iban?: string | null | undefined;
  readonly accountNumber?: string | null | undefined;
  readonly routingCodes?: Readonly<Record<string, string>> | null | undefined;
  readonly connection?: ConnectionReport | undefined;
}

/** What a patch makes of an account. `close`: the provider has to close it first. */
export interface UpdatedAccount extends ChangedAccount {
  readonly request: 'close' | null;
}

/** What keeps an account from closing, beside its own balances. */
export interface OpenItems {
  readonly openTransfers: number;
  readonly openSubAccounts: number;
}

// A caller that declines an account without saying why still has its connection fail with a reason.
const DECLINED_BY_CALLER: ConnectionError = {
  category: 'functional',
  origin: 'customer',
  code: 'declined-by-caller',
  message: 'The account was declined by the caller.',
  attributes: {},
};

/** Decides what a patch makes of an account; closing is checked against the account's ties where it is asked for. */
export function updateAccount(account: Account, asked: AccountPatch, openItems: OpenItems): UpdatedAccount {
  const patch = checkShape(account, asked);
  const status = patch.status ?? account.status;
  refuseMove(account, patch);
  if (status === 'closed') refuseUnlessEmpty(account, openItems);
  return account.method === 'built-in' ? updateBuiltIn(account, patch) : updatePlugIn(account, patch);
}

/** An account closes only when nothing is left in it, on its way to it, or under it (422). */
export function refuseUnlessEmpty(account: Account, openItems: OpenItems): void {
  if (isEmpty(account, openItems)) return;
  throw refusal(
    'account.close.not_empty',
    ['account', 'status', 'closed'],
    'The account has a balance, money reserved or receivable, an open transfer or an open sub-account.',
  );
}

export function isEmpty(account: Account, openItems: OpenItems): boolean {
  const noMoney = account.postedMinor === 0n && account.reservedMinor === 0n && account.receivableMinor === 0n;
  return noMoney && openItems.openTransfers === 0 && openItems.openSubAccounts === 0;
}

/**
 * The patch with its bank details as they are stored, or a refusal of all that is wrong with it whatever status the
 * account moves to.
 */
function checkShape(account: Account, asked: AccountPatch): AccountPatch {
  const { patch, problems } = account.method === 'built-in' ? checkBuiltIn(asked) : checkPlugIn(account, asked);
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
  return patch;
}

interface CheckedPatch {
  readonly patch: AccountPatch;
  readonly problems: readonly Problem[];
}

function checkBuiltIn(patch: AccountPatch): CheckedPatch {
  const fields = (['iban', 'accountNumber', 'routingCodes', 'connection'] as const).filter(
    (field) => patch[field] !== undefined,
  );
  const problems = fields.map((field) =>
    problem('common.validation.field_unexpected', field, '', `${field} of a built-in account is set by its provider.`),
  );
  return { patch, problems };
}

function checkPlugIn(account: Account, asked: AccountPatch): CheckedPatch {
  const { country, currency } = account;
  const formats = checkAccountFormats({ country, currency, ...given(asked) }, { entity: 'account', prefix: '' });
  const patch: AccountPatch = { ...asked, ...onlyGiven(asked, formats.details) };
  const problems = [...formats.problems];
  const { id, state, error } = patch.connection ?? {};
  if (id !== undefined && id !== account.connection?.id) {
    problems.push(
      problem('common.validation.field_invalid', 'connection.id', id, 'This is not the connection of the account.'),
    );
  }
  if (state !== undefined && isFailed(state) && state !== account.connection?.state && !error) {
    const message = `A connection that is ${state} has an error.`;
    problems.push(problem('common.validation.field_required', 'connection.error', '', message));
  }
  if (identifiersChange(account, patch) && patch.status === undefined && account.status !== 'active') {
    const message = 'Bank details of an account that is not active need its status.';
    problems.push(problem('common.validation.field_required', 'status', '', message));
  }
  return { patch, problems };
}

function problem(code: ErrorCode, field: string, value: string, message: string): Problem {
  return { code, message, messageParameters: ['account', field, value] };
}

function given({ iban, accountNumber, routingCodes }: AccountPatch) {
  return { iban, accountNumber, routingCodes };
}

function onlyGiven(asked: AccountPatch, checked: Required<Pick<Account, 'iban' | 'accountNumber' | 'routingCodes'>>) {
  return {
    ...(asked.iban === undefined ? {} : { iban: checked.iban }),
    ...(asked.accountNumber === undefined ? {} : { accountNumber: checked.accountNumber }),
    ...(asked.routingCodes ? { routingCodes: checked.routingCodes } : {}),
  };
}

function refuseMove(account: Account, patch: AccountPatch): void {
  const to = patch.status;
  if (to === undefined) return;
  const stays = to === account.status && !isFinalAccountStatus(to);
  const byCaller = account.method === 'plug-in' || (to === 'closed' && account.status !== 'pending');
  if (stays || (ACCOUNT_MOVES[account.status].includes(to) && byCaller)) return;
  throw refusal(
    'common.state.illegal_transition',
    ['account', 'status', to],
    `The account is ${account.status} and cannot become ${to}.`,
  );
}

function updateBuiltIn(account: Account, patch: AccountPatch): UpdatedAccount {
  const labelled = informed({ account, events: [] }, patch);
  if (patch.status !== 'closed') return { ...labelled, request: null };
  // Nothing is left to close outside: a sub-account, or an account that its provider has closed already.
  if (account.connection === null || account.connection.status === 'closed') {
    return { ...emit(labelled, ACCOUNT_STATUS_EVENTS.closed, { status: 'closed' }), request: null };
  }
  if (account.connection.state === 'update-in-progress') {
    const message = 'The account is being closed already.';
    throw refusal('common.state.illegal_transition', ['account', 'status', 'closed'], message);
  }
  return { ...reportConnection(labelled, { state: 'update-in-progress' }), request: 'close' };
}

function updatePlugIn(account: Account, patch: AccountPatch): UpdatedAccount {
  const connected = reportConnection({ account, events: [] }, impliedReport(account, patch));
  const status = patch.status ?? account.status;
  if (status === account.status) return { ...informed(connected, patch), request: null };
  if (status === 'active') refuseFailedConnection(connected.account);
  // Bank details change only in events of activation and of information (specification 6).
  const apart = status !== 'active' && identifiersChange(account, patch);
  const before = apart ? informed(connected, patch) : connected;
  const type = status === 'pending' ? null : ACCOUNT_STATUS_EVENTS[status];
  if (type === null) return { ...before, request: null };
  return { ...emit(before, type, { ...information(before.account, patch), status }), request: null };
}

/** A status that says how the creation went reports the connection too, where the caller has not. */
function impliedReport(account: Account, patch: AccountPatch): ConnectionReport {
  const report = patch.connection ?? {};
  if (account.connection?.state !== 'creation-in-progress' || report.state !== undefined) return report;
  if (patch.status === 'active') return { ...report, state: 'completed-up-to-date' };
  if (patch.status === 'declined') {
    return { ...report, state: 'creation-failed', error: report.error ?? DECLINED_BY_CALLER };
  }
  return report;
}

function refuseFailedConnection(account: Account): void {
  const state = account.connection?.state;
  if (state !== 'creation-failed' && state !== 'dependency-failed') return;
  throw refusal(
    'common.state.illegal_transition',
    ['account', 'status', 'active'],
    `An account whose connection is ${state} cannot become active.`,
  );
}

/** Applies the fields that say what the account is called, and tells of them where one differs. */
function informed(before: ChangedAccount, patch: AccountPatch): ChangedAccount {
  const { account } = before;
  if (information(account, patch).alias === account.alias && !identifiersChange(account, patch)) return before;
  return emit(before, 'account-information-updated', information(account, patch));
}

function information(account: Account, patch: AccountPatch): Partial<Account> {
  return {
    alias: patch.alias === null ? defaultAlias(account.currency) : (patch.alias ?? account.alias),
    iban: patch.iban === undefined ? account.iban : patch.iban,
    accountNumber: patch.accountNumber === undefined ? account.accountNumber : patch.accountNumber,
    routingCodes: patch.routingCodes === undefined ? account.routingCodes : presentRoutingCodes(patch.routingCodes),
  };
}

function identifiersChange(account: Account, patch: AccountPatch): boolean {
  const { iban, accountNumber, routingCodes } = information(account, patch);
  return (
    iban !== account.iban ||
    accountNumber !== account.accountNumber ||
    sorted(routingCodes ?? null) !== sorted(account.routingCodes)
  );
}

function sorted(codes: Readonly<Record<string, string>> | null): string {
  return JSON.stringify(Object.entries(codes ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)));
}

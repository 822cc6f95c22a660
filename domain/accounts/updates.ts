import { DomainError, type ErrorCode, type Problem, rejection } from '../common/errors.ts';
import {
  ACCOUNT_STATUS_EVENTS,
  ACCOUNT_TRANSITIONS,
  type Account,
  type AccountStatus,
  type ChangedAccount,
  type ConnectionError,
  CREATION_RESULTS,
  defaultAlias,
  emit,
  isFinalAccountStatus,
} from './accounts.ts';
import { checkAccountFormats } from './bank-accounts.ts';
import { type ConnectionReport, isFailed, reportConnection } from './connections.ts';
import { presentRoutingCodes } from './identifiers/routing-codes.ts';

/** `PATCH /accounts/{accountId}`: absent fields stay, null clears. Formats are already checked. */
export interface AccountPatch {
  /** Null restores the default. */
  readonly alias?: string | null | undefined;
  readonly status?: AccountStatus | undefined;
  readonly iban?: string | null | undefined;
  readonly accountNumber?: string | null | undefined;
  readonly routingCodes?: Readonly<Record<string, string>> | null | undefined;
  readonly connection?: ConnectionReport | undefined;
}

/** The result of a patch. `close`: the provider must close the account first. */
export interface UpdatedAccount extends ChangedAccount {
  readonly request: 'close' | null;
}

/** What keeps an account from closing, apart from its own balances. */
export interface OpenItems {
  readonly openTransfers: number;
  readonly openSubAccounts: number;
}

// The connection of a declined account needs a reason, even if the caller gives none.
const DECLINED_BY_CALLER: ConnectionError = {
  category: 'functional',
  origin: 'customer',
  code: 'declined-by-caller',
  message: 'The account was declined by the caller.',
  attributes: {},
};

/** Decides the result of a patch. An account closes only without open items. */
export function updateAccount(account: Account, asked: AccountPatch, openItems: OpenItems): UpdatedAccount {
  const patch = checkShape(account, asked);
  const status = patch.status ?? account.status;
  requireStatusTransition(account, patch);
  if (status === 'closed') rejectUnlessEmpty(account, openItems);
  return account.method === 'built-in' ? updateBuiltIn(account, patch) : updatePlugIn(account, patch);
}

/** Rejects closing (422) while the account holds or expects money, or has an open transfer or sub-account. */
export function rejectUnlessEmpty(account: Account, openItems: OpenItems): void {
  if (isEmpty(account, openItems)) return;
  throw rejection(
    'account.close.not_empty',
    ['account', 'status', 'closed'],
    'The account has a balance, reserved or receivable money, an open transfer or an open sub-account.',
  );
}

export function isEmpty(account: Account, openItems: OpenItems): boolean {
  const noMoney = account.postedMinor === 0n && account.reservedMinor === 0n && account.receivableMinor === 0n;
  return noMoney && openItems.openTransfers === 0 && openItems.openSubAccounts === 0;
}

/** Normalizes the patch's bank details. Rejects every problem with them that does not depend on the new status. */
function checkShape(account: Account, asked: AccountPatch): AccountPatch {
  const { patch, problems } = areDetailsReadOnly(account) ? checkReadOnly(account, asked) : checkPlugIn(account, asked);
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
  return patch;
}

interface CheckedPatch {
  readonly patch: AccountPatch;
  readonly problems: readonly Problem[];
}

/** The provider sets the bank details of a built-in account; a sub-account has none of its own. */
function areDetailsReadOnly({ method, mainAccountId }: Account): boolean {
  return method === 'built-in' || mainAccountId !== null;
}

function checkReadOnly({ mainAccountId }: Account, patch: AccountPatch): CheckedPatch {
  const by =
    mainAccountId === null ? 'a built-in account is set by its provider' : 'a sub-account is set on its main account';
  const fields = (['iban', 'accountNumber', 'routingCodes', 'connection'] as const).filter(
    (field) => patch[field] !== undefined,
  );
  const problems = fields.map((field) =>
    problem('common.validation.field_unexpected', field, '', `${field} of ${by}.`),
  );
  return { patch, problems };
}

function checkPlugIn(account: Account, asked: AccountPatch): CheckedPatch {
  const { country, currency } = account;
  const formats = checkAccountFormats({ country, currency, ...given(asked) }, { entity: 'account', prefix: '' });
  const patch: AccountPatch = { ...asked, ...onlyGiven(asked, formats.details) };
  const problems = [...formats.problems, ...connectionProblems(account, patch)];
  if (identifiersChange(account, patch) && patch.status === undefined && account.status !== 'active') {
    const message = 'A change of bank details requires the status, unless the account is active.';
    problems.push(problem('common.validation.field_required', 'status', '', message));
  }
  return { patch, problems };
}

/** A report must name the account's own connection, and have an error exactly if the connection has failed. */
function connectionProblems(account: Account, patch: AccountPatch): Problem[] {
  if (patch.connection === undefined) return [];
  const before = account.connection?.state;
  const { id, state = before, error } = impliedReport(account, patch);
  const problems: Problem[] = [];
  if (id !== undefined && id !== account.connection?.id) {
    problems.push(
      problem('common.validation.field_invalid', 'connection.id', id, 'This is not the connection of the account.'),
    );
  }
  const failed = state !== undefined && isFailed(state);
  if (failed && (error === null || (error === undefined && state !== before))) {
    const message = `A connection that is ${state} must have an error.`;
    problems.push(problem('common.validation.field_required', 'connection.error', '', message));
  }
  if (!failed && error) {
    const message = `A connection that is ${state} must not have an error.`;
    problems.push(problem('common.validation.field_unexpected', 'connection.error', '', message));
  }
  return problems;
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

function requireStatusTransition(account: Account, patch: AccountPatch): void {
  const to = patch.status;
  if (to === undefined) return;
  const stays = to === account.status && !isFinalAccountStatus(to);
  if (stays || (ACCOUNT_TRANSITIONS[account.status].includes(to) && mayCallerTransition(account, to))) return;
  throw rejection(
    'common.state.illegal_transition',
    ['account', 'status', to],
    `The account is ${account.status} and cannot become ${to}.`,
  );
}

/** A pending sub-account waits for its main account to be activated or declined. No provider knows it, so it can close. */
function mayCallerTransition({ method, status, mainAccountId }: Account, to: AccountStatus): boolean {
  if (status === 'pending' && mainAccountId !== null) return to === 'closed';
  return method === 'plug-in' || (to === 'closed' && status !== 'pending');
}

function updateBuiltIn(account: Account, patch: AccountPatch): UpdatedAccount {
  const labelled = withInformation({ account, events: [] }, patch);
  if (patch.status !== 'closed') return { ...labelled, request: null };
  // Nothing to close at a provider: a sub-account, or an account that its provider has already closed.
  if (account.connection === null || account.connection.status === 'closed') {
    return { ...emit(labelled, ACCOUNT_STATUS_EVENTS.closed, { status: 'closed' }), request: null };
  }
  if (account.connection.state === 'update-in-progress') {
    const message = 'The account is already being closed.';
    throw rejection('common.state.illegal_transition', ['account', 'status', 'closed'], message);
  }
  return { ...reportConnection(labelled, { state: 'update-in-progress' }), request: 'close' };
}

function updatePlugIn(account: Account, patch: AccountPatch): UpdatedAccount {
  const connected = reportConnection({ account, events: [] }, impliedReport(account, patch));
  const status = patch.status ?? account.status;
  if (status === account.status) return { ...withInformation(connected, patch), request: null };
  if (status === 'active' || status === 'declined') rejectOtherResult(connected.account, status);
  // Only activation and information events change bank details (specification 6).
  const apart = status !== 'active' && identifiersChange(account, patch);
  const before = apart ? withInformation(connected, patch) : connected;
  const type = status === 'pending' ? null : ACCOUNT_STATUS_EVENTS[status];
  if (type === null) return { ...before, request: null };
  return { ...emit(before, type, { ...information(before.account, patch), status }), request: null };
}

/** A status that implies the result of the creation also reports the connection, unless the caller reports it. */
function impliedReport(account: Account, patch: AccountPatch): ConnectionReport {
  const report = patch.connection ?? {};
  if (account.connection?.state !== 'creation-in-progress' || report.state !== undefined) return report;
  if (patch.status === 'active') return { ...report, state: 'completed-up-to-date' };
  if (patch.status === 'declined') {
    return { ...report, state: 'creation-failed', error: report.error ?? DECLINED_BY_CALLER };
  }
  return report;
}

/** The account and its connection must agree on the result of the creation: an account opened at a provider is closed, not declined. */
function rejectOtherResult({ connection }: Account, status: 'active' | 'declined'): void {
  if (connection === null || CREATION_RESULTS[connection.state] === status) return;
  throw rejection(
    'common.state.illegal_transition',
    ['account', 'status', status],
    `An account whose connection is ${connection.state} cannot become ${status}.`,
  );
}

/** Applies the fields that describe the account and adds an event if one differs. */
function withInformation(before: ChangedAccount, patch: AccountPatch): ChangedAccount {
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

import { randomInt, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { PROVIDER_ACCOUNT_STATUSES } from '../../domain/accounts/connections.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { type Bank, callbackOf, type TimedAction, timerAfter } from './bank.ts';
import {
  type Account,
  type AccountChange,
  type Change,
  type Client,
  changeKey,
  type Identifiers,
  type Rejection,
} from './books.ts';
import { existingAccounts } from './existing-clients/existing-accounts.ts';
import { isClientReference } from './existing-clients/existing-clients.ts';
import { drawIdentifiers } from './identifiers.ts';
import { BankError, country, currency, invalid, maybe, reference, text } from './wire.ts';

const OPENING_MS_MIN = 50;
const OPENING_MS_MAX = 200;
const SLOW_OPENING_MS = 10_000;

export const CLIENT_REQUEST = v.object({
  ourReference: reference(),
  identityType: v.picklist(['individual', 'corporate'], 'must be individual or corporate'),
  fullName: text(),
  country: maybe(country()),
});

export const ACCOUNT_REQUEST = v.object({
  ourReference: reference(),
  clientReference: reference(),
  accountHolderName: text(),
  alias: text(),
  currency: currency(),
  country: country(),
});

export const CHANGE_REQUEST = v.object({
  changeReference: reference(),
  kind: v.picklist(['close', 'alias'], 'must be close or alias'),
  alias: maybe(text()),
});

export const MOVE_REQUEST = v.strictObject(
  { status: v.picklist(PROVIDER_ACCOUNT_STATUSES, `must be one of ${PROVIDER_ACCOUNT_STATUSES.join(', ')}`) },
  'is not a field of this lever',
);

/** Final rejections by category, chosen by the prefix of a client's name, an account's alias or a source id. */
export function rejectionOf(label: string, prefix: string): Rejection | null {
  if (label.startsWith(`${prefix}-functional`)) {
    return {
      category: 'functional',
      origin: 'customer',
      code: 'not-accepted',
      message: 'The bank does not accept it.',
      attributes: {},
    };
  }
  if (label.startsWith(`${prefix}-technical`)) {
    return {
      category: 'technical',
      origin: 'provider',
      code: 'not-possible',
      message: 'The bank could not carry it out.',
      attributes: {},
    };
  }
  return null;
}

/** A known client gets the first result, whatever its present name. */
export async function connectClient(
  bank: Bank,
  request: v.InferOutput<typeof CLIENT_REQUEST>,
): Promise<Client | Rejection> {
  const earlier = bank.books.clients.get(request.ourReference);
  if (earlier !== undefined) {
    await bank.settled();
    return earlier;
  }
  const rejection = rejectionOf(request.fullName, 'fail');
  if (rejection !== null) return rejection;
  const { ourReference, fullName, identityType } = request;
  const client: Client = { ourReference, fullName, identityType, reference: `SBC-${randomUUID()}` };
  await bank.commit({ put: { clients: [client] } });
  return client;
}

/** Accepts the opening of an account; a callback reports the result. */
export async function openAccount(bank: Bank, request: v.InferOutput<typeof ACCOUNT_REQUEST>): Promise<Account> {
  const earlier = bank.books.accounts.get(request.ourReference);
  if (earlier !== undefined) {
    const { clientReference, currency: code, country: place } = earlier;
    if (clientReference !== request.clientReference || code !== request.currency || place !== request.country) {
      throw new BankError(409, 'reference-reused', 'Another account has this reference.');
    }
    await bank.settled();
    return earlier;
  }
  if (!isClientReference(bank, request.clientReference))
    throw invalid('clientReference', 'does not belong to a client of this bank');
  const account: Account = {
    ...request,
    reference: `SBA-${randomUUID()}`,
    status: 'opening',
    identifiers: null,
    error: null,
  };
  const delayMs = request.alias.startsWith('slow') ? SLOW_OPENING_MS : randomInt(OPENING_MS_MIN, OPENING_MS_MAX);
  const timer = timerAfter(bank, 'open-account', account.ourReference, delayMs);
  await bank.commit({ put: { accounts: [account], timers: [timer] } });
  return account;
}

const finishOpening: TimedAction = (bank, key) => {
  const account = bank.books.accounts.get(key);
  if (account === undefined || account.status !== 'opening') return null;
  const error = rejectionOf(account.alias, 'fail');
  if (error !== null) {
    const data = { ourReference: account.ourReference, error };
    return {
      put: {
        accounts: [{ ...account, status: 'rejected', error }],
        callbacks: [callbackOf(bank, { type: 'account-opening-rejected', line: account.ourReference, data })],
      },
    };
  }
  const opened: Account = { ...account, status: 'open', identifiers: freeIdentifiers(bank, account) };
  const silent = account.alias.startsWith('silent');
  const callback = { type: 'account-opened', line: account.ourReference, data: accountData(opened) };
  return { put: { accounts: [opened], callbacks: silent ? [] : [callbackOf(bank, callback)] } };
};

function freeIdentifiers(bank: Bank, place: { currency: string; country: string }): Identifiers {
  for (;;) {
    const drawn = drawIdentifiers(place);
    const taken = [...bank.books.accounts.values(), ...existingAccounts(bank)].some(
      ({ identifiers }) => identifiers !== null && identifiers.accountNumber === drawn.accountNumber,
    );
    if (!taken) return drawn;
  }
}

/** Closes or renames an account. Renaming is immediate; a callback reports the closing. */
export async function changeAccount(
  bank: Bank,
  ourReference: string,
  request: v.InferOutput<typeof CHANGE_REQUEST>,
): Promise<AccountChange> {
  const account = bank.books.accounts.get(ourReference);
  if (account === undefined) throw new BankError(404, 'not-found', 'No account has this reference.');
  const { changeReference, kind, alias } = request;
  const earlier = bank.books.accountChanges.get(changeKey({ ourReference, changeReference }));
  if (earlier !== undefined) {
    if (earlier.kind !== kind) throw new BankError(409, 'reference-reused', 'Another change has this reference.');
    await bank.settled();
    return earlier;
  }
  if (kind === 'alias' && alias === null) throw invalid('alias', 'is required to change it');
  if (account.status !== 'open') {
    throw new BankError(409, 'illegal-state', `An account that is ${account.status} cannot be changed.`);
  }
  const accepted: AccountChange = { ourReference, changeReference, kind, alias, status: 'accepted', error: null };
  if (kind === 'alias') {
    const changed: AccountChange = { ...accepted, status: 'changed' };
    await bank.commit({
      put: { accounts: [{ ...account, alias: alias ?? account.alias }], accountChanges: [changed] },
    });
    return changed;
  }
  const timer = timerAfter(bank, 'finish-change', changeKey(accepted), randomInt(OPENING_MS_MIN, OPENING_MS_MAX));
  await bank.commit({ put: { accountChanges: [accepted], timers: [timer] } });
  return accepted;
}

/** The bank changes an account's status on its own and calls back each time. A closed account stays closed. */
export async function moveAccount(
  bank: Bank,
  ourReference: string,
  { status }: v.InferOutput<typeof MOVE_REQUEST>,
): Promise<Account> {
  const account = bank.books.accounts.get(ourReference);
  if (account === undefined) throw new BankError(404, 'not-found', 'No account has this reference.');
  if (account.status !== 'open') {
    throw new BankError(409, 'illegal-state', `An account that is ${account.status} cannot change its status.`);
  }
  const number = (account.moves ?? 0) + 1;
  const moved: Account = { ...account, status: status === 'closed' ? 'closed' : 'open', moves: number };
  const data = { ourReference, status, number };
  const callback = callbackOf(bank, { type: 'account-status-changed', line: ourReference, data });
  await bank.commit({ put: { accounts: [moved], callbacks: [callback] } });
  return moved;
}

const finishChange: TimedAction = (bank, key): Change | null => {
  const change = bank.books.accountChanges.get(key);
  const account = change === undefined ? undefined : bank.books.accounts.get(change.ourReference);
  if (change === undefined || account === undefined || change.status !== 'accepted') return null;
  const { ourReference, changeReference } = change;
  const error = rejectionOf(account.alias, 'close-fail');
  const callback = (type: string, data: Record<string, unknown>) =>
    callbackOf(bank, { type, line: ourReference, data: { ourReference, changeReference, ...data } });
  if (error !== null) {
    return {
      put: {
        accountChanges: [{ ...change, status: 'rejected', error }],
        callbacks: [callback('account-change-rejected', { error })],
      },
    };
  }
  return {
    put: {
      accounts: [{ ...account, status: 'closed' }],
      accountChanges: [{ ...change, status: 'changed' }],
      callbacks: [callback('account-changed', {})],
    },
  };
};

export const ACCOUNT_ACTIONS = { 'open-account': finishOpening, 'finish-change': finishChange };

function accountData(account: Account) {
  const { ourReference, reference: own, currency: code, country: place, identifiers } = account;
  const { iban, accountNumber, routingCodes } = identifiers ?? { iban: null, accountNumber: null, routingCodes: {} };
  return { ourReference, reference: own, currency: code, country: place, iban, accountNumber, routingCodes };
}

export function showAccount(account: Account) {
  const { status, alias, error, clientReference, accountHolderName, currency: code, openingMinor } = account;
  const opening = openingMinor === undefined ? {} : { openingBalance: amountNumber(openingMinor, code) };
  return { ...accountData(account), status, alias, clientReference, accountHolderName, ...opening, error };
}

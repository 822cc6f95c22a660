import * as v from 'valibot';
import { amountNumber, isCurrency, parseAmountMinor } from '../../../domain/common/money.ts';
import type { Bank } from '../bank.ts';
import type { ExistingAccount, Identifiers, Rejection } from '../books.ts';
import { amountDigits, BankError, IDENTIFIERS, invalid, maybe, reference, routingCodes, text } from '../wire.ts';
import { findClientByReference, findExistingClient } from './existing-clients.ts';
import { READY_MADE_ACCOUNTS } from './ready-made-accounts.ts';

/**
 * Accounts that the bank had before the service existed. Until one is handed over, its money and its payments concern only the
 * bank: no callback, no entry of the pooled position. As with clients, the bank's operator may enter what the service rejects.
 */
export const EXISTING_ACCOUNT_REQUEST = v.strictObject({
  sourceId: reference(),
  /** The owner: the source id of an existing client, or the bank's reference of any client. */
  clientSourceId: maybe(reference()),
  clientReference: maybe(reference()),
  status: v.nullish(v.picklist(['open', 'closed'], 'must be open or closed'), 'open'),
  currency: v.pipe(v.string('must be a text'), v.check(isCurrency, 'must be an ISO 4217 code')),
  country: text(),
  balance: v.nullish(amountDigits(), '0'),
  iban: maybe(text()),
  accountNumber: IDENTIFIERS.accountNumber,
  routingCodes: routingCodes(),
});

export const HAND_OVER_REQUEST = v.object({ ourReference: reference(), alias: text() });

export async function storeExistingAccount(
  bank: Bank,
  request: v.InferOutput<typeof EXISTING_ACCOUNT_REQUEST>,
): Promise<ExistingAccount> {
  const {
    clientSourceId,
    clientReference: named,
    balance,
    iban,
    accountNumber,
    routingCodes: codes,
    ...kept
  } = request;
  if ((clientSourceId === null) === (named === null)) {
    throw invalid('clientSourceId', 'or clientReference must be sent, and not both');
  }
  const owner = clientSourceId === null ? named : findExistingClient(bank, clientSourceId)?.reference;
  if (!owner || findClientByReference(bank, owner) === null) {
    throw invalid(named === null ? 'clientSourceId' : 'clientReference', 'does not belong to a client of this bank');
  }
  const balanceMinor = parseAmountMinor(balance, kept.currency, { positive: false });
  if (typeof balanceMinor !== 'bigint') throw invalid('balance', 'must be an amount of the currency');
  if (findExistingAccount(bank, kept.sourceId) !== null) {
    throw new BankError(409, 'reference-reused', 'Another account has this sourceId.');
  }
  const account: ExistingAccount = {
    ...kept,
    reference: `SBA-${kept.sourceId}`,
    clientReference: owner,
    balanceMinor,
    identifiers: { iban, accountNumber, routingCodes: codes },
    ourReference: null,
  };
  await bank.commit({ put: { existingAccounts: [account] } });
  return account;
}

export function findExistingAccount(bank: Bank, sourceId: string): ExistingAccount | null {
  return bank.books.existingAccounts.get(sourceId) ?? READY_MADE_ACCOUNTS.get(sourceId) ?? null;
}

/** The ready-made ones, then the operator's. */
export function existingAccounts(bank: Bank): readonly ExistingAccount[] {
  return [...new Map([...READY_MADE_ACCOUNTS, ...bank.books.existingAccounts]).values()];
}

/** The existing account that a payer names, unless the service already has it. */
export function findUnmigrated(bank: Bank, receiver: Identifiers, currency: string): ExistingAccount | null {
  const names = ({ iban, accountNumber, routingCodes: codes }: Identifiers) =>
    receiver.iban === null
      ? receiver.accountNumber !== null &&
        receiver.accountNumber === accountNumber &&
        Object.entries(receiver.routingCodes).some(([kind, code]) => compact(codes[kind]) === compact(code))
      : receiver.iban === compact(iban ?? '');
  const found = existingAccounts(bank).find(
    (account) =>
      account.ourReference === null &&
      account.status === 'open' &&
      account.currency === currency &&
      names(account.identifiers),
  );
  return found ?? null;
}

function compact(code: string | undefined): string | undefined {
  return code?.replaceAll(/[ -]/g, '');
}

/**
 * Hands the account over to the service, once: from now on it belongs to the customer, and its balance at this instant is on
 * the pooled position. A repetition gets the first answer, whatever reference it names.
 */
export async function handOverAccount(
  bank: Bank,
  sourceId: string,
  { ourReference, alias }: v.InferOutput<typeof HAND_OVER_REQUEST>,
): Promise<ExistingAccount | null> {
  const account = findExistingAccount(bank, sourceId);
  if (account === null || account.status === 'closed' || account.balanceMinor < 0n) return account;
  if (account.ourReference !== null) {
    await bank.settled();
    return account;
  }
  if (bank.books.accounts.has(ourReference)) {
    throw new BankError(409, 'reference-reused', 'Another account has this reference.');
  }
  const { reference: own, clientReference, currency, country, identifiers, balanceMinor } = account;
  const handedOver: ExistingAccount = { ...account, ourReference };
  const { iban, accountNumber } = identifiers;
  const entry = bank.positions.entry(
    {
      kind: 'opening-balance',
      amountMinor: balanceMinor,
      currency,
      paymentId: own,
      ourReference,
      account: [ourReference, iban, accountNumber].filter((key) => key !== null),
    },
    bank.now(),
  );
  await bank.commit({
    put: {
      existingAccounts: [handedOver],
      accounts: [
        {
          ourReference,
          reference: own,
          clientReference,
          accountHolderName: findClientByReference(bank, clientReference)?.fullName ?? '',
          alias,
          currency,
          country,
          status: 'open',
          identifiers,
          error: null,
          openingMinor: balanceMinor,
        },
      ],
      entries: balanceMinor === 0n ? [] : [entry],
    },
  });
  return handedOver;
}

function notReleased(code: string, message: string): Rejection {
  return { category: 'functional', origin: 'provider', code, message, attributes: {} };
}

export const ACCOUNT_CLOSED = notReleased('account-closed', 'The bank has closed the account.');
export const ACCOUNT_OVERDRAWN = notReleased('account-overdrawn', 'The account is overdrawn.');

export function showExistingAccount(account: ExistingAccount) {
  const { balanceMinor, identifiers, ...shown } = account;
  return { ...shown, ...identifiers, balance: amountNumber(balanceMinor, account.currency) };
}

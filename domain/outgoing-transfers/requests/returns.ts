import { type Order, problemOfOrder, SOURCE_FIELD } from '../../bank-files/exchange/orders.ts';
import type { BankProfile } from '../../bank-files/profiles.ts';
import { rejection } from '../../common/errors.ts';
import type { OutgoingTransferId } from '../../common/ids.ts';
import { formatAmount, parseAmountMinor } from '../../common/money.ts';
import type { IncomingTransfer } from '../../incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../ledger/ledger.ts';
import { offerOf, type Provider } from '../../providers/providers.ts';
import type { BeneficiaryShown } from '../outgoing-transfers.ts';
import { type RequirementRules, startingRequirements } from '../requirement-rules.ts';
import type { NewOutgoingTransfer } from '../rows.ts';
import type { TransferRules } from '../transfer-changes.ts';
import { RETURNS_MAX, type ReturnCode } from './return-terms.ts';

const ENTITY = 'incomingTransfer';

/** `amount`: decimal text; null for all that is left. */
export interface AskedReturn {
  readonly amount: string | null;
  readonly code: ReturnCode;
  /** What was left when a person saw it: a form that is sent twice returns once. Callers have keys for that. */
  readonly seenLeftMinor?: bigint;
}

/** What the caller of the decision has drawn, and whose request it is. */
export interface NameOfReturn {
  readonly id: OutgoingTransferId;
  readonly transactionNumber: string;
  readonly createdBy: string | null;
  readonly requestId: string | null;
}

export type ReturnRules = TransferRules &
  RequirementRules & {
    readonly providers: readonly Provider[];
    /** How banks that take files take payments. */
    readonly bankProfiles: ReadonlyMap<string, BankProfile>;
    readonly fileExchanges: ReadonlyMap<string, { readonly profile: string }>;
  };

/** What its payer reads. Without the reason, which the payer and the client need not learn: it may be a suspicion. */
export function textOfReturn({ transactionNumber }: Pick<IncomingTransfer, 'transactionNumber'>): string {
  return `Return of ${transactionNumber}`;
}

/** What no return has taken yet, in minor units. */
export function leftToReturnMinor({ amountMinor, returningMinor }: IncomingTransfer): bigint {
  return amountMinor - returningMinor;
}

/**
 * Decides a request to return completed money, and throws its rejection. It goes back to its payer by an outgoing transfer that names the
 * incoming one: it is the client's money by now, so it is reserved, authorized, reviewed, submitted and reported like any payment. No fee is
 * charged, and none comes back.
 */
export function decideReturnOfCompleted(
  asked: AskedReturn,
  read: { readonly transfer: IncomingTransfer; readonly account: LockedAccount | null; readonly now: Date },
  name: NameOfReturn,
  rules: ReturnRules,
): NewOutgoingTransfer {
  const { transfer, account, now } = read;
  requireReturnable(transfer);
  const source = requireUsable(transfer, account);
  const { currency, scheme } = transfer;
  const of = { scheme: requireScheme(transfer, source, rules), currency };
  const amountMinor = amountOf(asked, transfer);
  requireWithinLimit(of, amountMinor, rules);
  const originalTransferDate = rules.schemes.nextAvailableDate(of, now);
  const schedule = rules.schemes.roll(of, originalTransferDate, now);
  const description = textOfReturn(transfer);
  requireTakenByFile(transfer, { ...of, source, amountMinor, description, ...schedule }, rules);
  return {
    ...name,
    clientId: source.clientId,
    accountId: source.id,
    status: 'pending',
    scope: 'external',
    scheme,
    currency,
    amountMinor,
    transferDate: schedule.transferDate,
    originalTransferDate,
    rollCount: schedule.rolls,
    cutOffAt: schedule.cutOff,
    description,
    beneficiary: payerOf(transfer),
    returnOf: transfer.id,
    returnCode: asked.code,
    ...startingRequirements(rules, { currency, amountMinor }),
    method: source.method,
    provider: source.provider,
    createdAt: now,
    updatedAt: now,
  };
}

function requireReturnable(transfer: IncomingTransfer): void {
  const { status, scope, returnOf, method, serviceProviderId, returnIds } = transfer;
  if (status !== 'completed') throw illegal(transfer, `The incoming transfer is ${status}.`);
  if (scope === 'internal') {
    throw illegal(transfer, 'Its payer is an account of the service: make an internal transfer to that account.');
  }
  if (returnOf !== null || (method === 'built-in' && serviceProviderId === null)) {
    throw illegal(transfer, 'This is a payment of ours that came back: it has no payer to go back to.');
  }
  if (returnIds.length >= RETURNS_MAX) throw illegal(transfer, `It has ${RETURNS_MAX} returns already.`);
}

/** As for any payment out: from an account that may become active again, a return waits. */
function requireUsable(transfer: IncomingTransfer, account: LockedAccount | null): LockedAccount {
  if (account === null) throw new Error(`incoming transfer ${transfer.id} is completed without an account`);
  const { clientId, clientStatus, status, closing } = account;
  if (clientStatus !== 'active') {
    throw rejection('client.status.not_active', [ENTITY, 'clientId', clientId], `The client is ${clientStatus}.`);
  }
  if (closing || (status !== 'active' && status !== 'inactive' && status !== 'suspended')) {
    const message = `The account is ${closing ? 'being closed' : status}.`;
    throw rejection('account.status.not_active', [ENTITY, 'accountId', account.id], message);
  }
  return account;
}

/** Back by the scheme in which it came. */
function requireScheme(
  { scheme, currency }: IncomingTransfer,
  source: LockedAccount,
  { schemes, providers }: ReturnRules,
): string {
  const isOffered = scheme !== null && (offerOf(source, providers)?.schemes.includes(scheme) ?? false);
  if (isOffered && schemes.knows(scheme) && schemes.carries({ scheme, currency })) return scheme;
  const message = `The service makes no payments in ${currency} by ${scheme ?? 'an unknown scheme'} from this account: pay it back to a beneficiary’s bank account.`;
  throw rejection('transfer.scheme.unavailable', [ENTITY, 'scheme', scheme ?? ''], message);
}

function requireWithinLimit(
  of: { readonly scheme: string; readonly currency: string },
  amountMinor: bigint,
  { schemes }: ReturnRules,
): void {
  const limitMinor = schemes.amountLimitMinor(of);
  if (limitMinor === null || amountMinor <= limitMinor) return;
  const message = `${of.scheme} supports amounts up to ${formatAmount(limitMinor, of.currency)} ${of.currency}: return it in parts.`;
  const asked = formatAmount(amountMinor, of.currency);
  throw rejection('transfer.amount.limit_exceeded', [ENTITY, 'amount', asked], message);
}

type Ordered = Pick<Order, 'amountMinor' | 'currency' | 'description' | 'transferDate' | 'scheme'> & {
  readonly source: LockedAccount;
};

/** A bank that takes files is told the payer's account: what it would not take is rejected now. */
function requireTakenByFile(
  { senderName, senderAccount }: IncomingTransfer,
  ordered: Ordered,
  { bankProfiles, fileExchanges }: ReturnRules,
): void {
  const profile = bankProfiles.get(fileExchanges.get(ordered.source.provider)?.profile ?? '');
  if (profile === undefined) return;
  const creditor = {
    name: senderAccount?.accountHolderName ?? senderName ?? '',
    country: senderAccount?.country ?? null,
    iban: senderAccount?.iban ?? null,
    accountNumber: senderAccount?.accountNumber ?? null,
    routingCodes: senderAccount?.routingCodes ?? null,
  };
  const problem = problemOfOrder({ ...ordered, schemeAttributes: null, bankAccountId: '', creditor }, profile);
  if (problem === null) return;
  const [, field] = problem.messageParameters;
  if (field === SOURCE_FIELD) throw rejection(problem.code, [ENTITY, 'accountId', ordered.source.id], problem.message);
  const message = `It cannot go back by file to its payer: ${problem.message}`;
  throw rejection(problem.code, [ENTITY, 'senderAccount', ''], message);
}

function amountOf({ amount, seenLeftMinor }: AskedReturn, transfer: IncomingTransfer): bigint {
  const { currency } = transfer;
  const leftMinor = leftToReturnMinor(transfer);
  if (seenLeftMinor !== undefined && seenLeftMinor !== leftMinor) {
    throw illegal(transfer, `Something else was returned meanwhile: ${formatAmount(leftMinor, currency)} is left.`);
  }
  const amountMinor = amount === null ? leftMinor : parseAmountMinor(amount, currency);
  if (typeof amountMinor !== 'bigint') {
    const message = `The amount is not one of ${currency}: ${amountMinor}.`;
    throw rejection('common.validation.field_invalid', [ENTITY, 'amount', amount ?? ''], message);
  }
  if (leftMinor === 0n) throw illegal(transfer, 'All of it has been returned, or is being returned.');
  if (amountMinor <= leftMinor) return amountMinor;
  const message = `At most ${formatAmount(leftMinor, currency)} ${currency} is left to return.`;
  throw rejection('transfer.amount.limit_exceeded', [ENTITY, 'amount', formatAmount(amountMinor, currency)], message);
}

function illegal({ status }: IncomingTransfer, message: string): Error {
  return rejection('common.state.illegal_transition', [ENTITY, 'status', status], message);
}

/** Null for a payer without a name: reviews compare no invented one. Its provider finds the payer by the payment. */
function payerOf({ senderName, senderAccount }: IncomingTransfer): BeneficiaryShown | null {
  const fullName = senderName ?? senderAccount?.accountHolderName ?? null;
  return fullName === null ? null : { fullName, identity: null, address: null, account: senderAccount, title: null };
}

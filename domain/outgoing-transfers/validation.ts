/**
 * Validates a request for an outgoing transfer against the accounts, the beneficiary and the rules, in one fixed order, and
 * determines how the transfer starts. Nothing is written before every check has passed.
 */

import { DomainError, type ErrorCode, type Problem, recordNotFound, rejection } from '../common/errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from '../common/ids.ts';
import { formatAmount } from '../common/money.ts';
import { type LocalDate, yearsLater } from '../common/time/dates.ts';
import type { Schemes } from '../providers/schemes.ts';
import { checkSchemeAttributes } from './requests/scheme-attributes.ts';
import { findTransferReason, type TransferReason } from './requests/transfer-reasons.ts';

/** The caller's request; amounts in minor units of `currency`. */
export interface TransferRequest {
  readonly clientId: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly transferDate: LocalDate | null;
  readonly transferReasonId: string | null;
  readonly transferCustomReason: string | null;
  readonly schemeAttributes: Readonly<Record<string, string>> | null;
  readonly sourceAccountId: string;
  /** The id of the receiving account, or of the beneficiary's bank account. */
  readonly destinationId: string;
}

export interface PlanAccount {
  readonly clientId: string;
  readonly clientStatus: string;
  readonly status: string;
  /** The provider is closing it. */
  readonly closing: boolean;
  readonly currency: string;
  readonly postedMinor: bigint;
  readonly reservedMinor: bigint;
}

export interface PlanBankAccount {
  readonly id: BeneficiaryBankAccountId;
  readonly beneficiaryId: BeneficiaryId;
  readonly clientId: string;
  readonly status: string;
  readonly country: string;
  readonly currency: string;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
}

export interface PlanFacts {
  /** Whether the request's client exists; even then the source may belong to another client. */
  readonly clientExists: boolean;
  readonly source: PlanAccount | null;
  /** The receiving account of an internal transfer. */
  readonly destination: PlanAccount | null;
  /** The destination of an external transfer. */
  readonly bankAccount: PlanBankAccount | null;
  /** The schemes that the source's provider offers for its currency. */
  readonly offeredSchemes: readonly string[];
  /** The transfer reasons of the destination country; empty if it requires none. */
  readonly reasons: readonly TransferReason[];
  readonly tradeNames: readonly string[];
  readonly schemes: Schemes;
  readonly feeMinor: bigint;
  /** How many years ahead a transfer may be dated. */
  readonly transferDateYearsMax: number;
  readonly now: Date;
}

export interface TransferPlan {
  readonly transferDate: LocalDate;
  readonly originalTransferDate: LocalDate;
  readonly rollCount: number;
  readonly cutOffAt: Date | null;
  /** Whether the money would move now if authorization and compliance passed. */
  readonly immediate: boolean;
}

const ENTITY = 'outgoingTransfer';

/** The source and the destination, once both are known to exist. */
interface Parties {
  readonly source: PlanAccount;
  readonly destination: PlanAccount | null;
  readonly bankAccount: PlanBankAccount | null;
}

/**
 * Throws a DomainError with the first problem, else returns the transfer's initial dates. The order is part of the interface:
 * every named resource exists, belongs to the client, has the currency and a usable state; then scheme, bank data and amount;
 * then dates; the balance last.
 */
export function planOutgoingTransfer(request: TransferRequest, facts: PlanFacts): TransferPlan {
  const parties = findParties(request, facts);
  checkOwnership(request, parties);
  checkCurrencies(request, parties);
  checkStates(request, parties);
  if (parties.bankAccount !== null) checkScheme(request, parties.bankAccount, facts);
  const plan = planDates(request, facts);
  if (request.scope === 'internal' && plan.immediate) checkBalance(request, parties.source, facts.feeMinor);
  return plan;
}

function findParties(request: TransferRequest, facts: PlanFacts): Parties {
  const { source, destination, bankAccount } = facts;
  if (!facts.clientExists) throw recordNotFound(ENTITY, 'clientId', request.clientId);
  if (source === null) throw recordNotFound(ENTITY, 'source.accountId', request.sourceAccountId);
  if ((request.scope === 'internal' ? destination : bankAccount) === null) {
    throw recordNotFound(ENTITY, destinationField(request), request.destinationId);
  }
  const { transferReasonId } = request;
  if (transferReasonId !== null && !isReasonOf(request, facts.reasons)) {
    throw recordNotFound(ENTITY, 'transferReasonId', transferReasonId);
  }
  return { source, destination, bankAccount };
}

/** Internal transfers need no reason, but a reason that is named must exist. */
function isReasonOf({ scope, transferReasonId }: TransferRequest, reasons: readonly TransferReason[]): boolean {
  if (transferReasonId === null) return false;
  if (scope === 'internal') return findTransferReason(transferReasonId) !== null;
  return reasons.some(({ id }) => id === transferReasonId);
}

function destinationField({ scope }: TransferRequest): string {
  return scope === 'internal' ? 'destination.accountId' : 'destination.beneficiaryBankAccountId';
}

function checkOwnership(request: TransferRequest, { source, bankAccount }: Parties): void {
  if (source.clientId !== request.clientId) {
    const message = 'The source account belongs to another client.';
    throw rejection('account.client.mismatch', [ENTITY, 'clientId', request.clientId], message);
  }
  if (bankAccount !== null && bankAccount.clientId !== request.clientId) {
    throw destinationRejected(request, 'transfer.client.mismatch', 'The beneficiary belongs to another client.');
  }
}

function checkCurrencies(request: TransferRequest, { source, destination, bankAccount }: Parties): void {
  const { currency } = request;
  if (source.currency !== currency) {
    const message = `The source account holds ${source.currency}.`;
    throw rejection('account.currency.mismatch', [ENTITY, 'currency', currency], message);
  }
  const receiving = destination ?? bankAccount;
  if (receiving !== null && receiving.currency !== currency) {
    const message = `The ${destination === null ? 'bank' : 'receiving'} account is in ${receiving.currency}.`;
    throw destinationRejected(request, 'account.currency.mismatch', message);
  }
}

function checkStates(request: TransferRequest, { source, destination, bankAccount }: Parties): void {
  if (source.clientStatus !== 'active') {
    const message = `The client is ${source.clientStatus}.`;
    throw rejection('client.status.not_active', [ENTITY, 'clientId', request.clientId], message);
  }
  // If the account may become active again, an external transfer waits; an internal one is rejected.
  const waits = request.scope === 'external' && (source.status === 'inactive' || source.status === 'suspended');
  if (source.closing || (source.status !== 'active' && !waits)) {
    const message = `The source account is ${source.closing ? 'being closed' : source.status}.`;
    throw rejection('account.status.not_active', [ENTITY, 'source.accountId', request.sourceAccountId], message);
  }
  // Does not reveal to the payer which of the two is inactive, or who the client is.
  if (destination !== null && !isUsable(destination)) {
    const message = 'The receiving account, or its client, is not active.';
    throw destinationRejected(request, 'account.status.not_active', message);
  }
  if (bankAccount !== null && bankAccount.status !== 'active') {
    const message = `The bank account is ${bankAccount.status}.`;
    throw destinationRejected(request, 'beneficiary.bank_account.not_active', message);
  }
}

function isUsable({ status, closing, clientStatus }: PlanAccount): boolean {
  return status === 'active' && !closing && clientStatus === 'active';
}

function destinationRejected(request: TransferRequest, code: ErrorCode, message: string): Error {
  return rejection(code, [ENTITY, destinationField(request), request.destinationId], message);
}

/** Throws unless the scheme can carry the payment to the bank account. */
function checkScheme(request: TransferRequest, bankAccount: PlanBankAccount, facts: PlanFacts): void {
  const scheme = request.scheme ?? '';
  const { schemes, offeredSchemes } = facts;
  const carries = (one: string) => schemes.knows(one) && schemes.carries({ ...request, scheme: one });
  if (!offeredSchemes.includes(scheme) || !carries(scheme)) {
    const others = offeredSchemes.filter(carries).join(', ');
    const message = `The scheme does not support ${request.currency} from this account; these do: ${others || 'none'}.`;
    throw unavailable('scheme', scheme, message);
  }
  checkBankData(request, bankAccount, facts);
  const limitMinor = schemes.amountLimitMinor(request);
  if (limitMinor !== null && request.amountMinor > limitMinor) {
    const { currency, amountMinor } = request;
    const message = `${scheme} supports amounts up to ${formatAmount(limitMinor, currency)} ${currency}.`;
    throw rejection('transfer.amount.limit_exceeded', [ENTITY, 'amount', formatAmount(amountMinor, currency)], message);
  }
  const [first, ...rest] = reasonProblems(request, facts);
  if (first !== undefined) throw new DomainError([first, ...rest]);
}

/** A scheme that identifies accounts by IBAN pays to the country of the IBAN, whatever country the record has. */
function checkBankData(request: TransferRequest, bankAccount: PlanBankAccount, { schemes }: PlanFacts): void {
  const { id, iban, accountNumber, routingCodes, country } = bankAccount;
  const scheme = request.scheme ?? '';
  const needed = schemes.accountsAreNamedBy(request);
  const field = 'destination.beneficiaryBankAccountId';
  if (needed === 'iban') {
    if (iban === null)
      throw unavailable(field, id, `${scheme} requires an IBAN, which the bank account does not have.`);
    const ibanCountry = iban.slice(0, 2);
    if (schemes.reaches(request, ibanCountry)) return;
    throw unavailable(field, id, `${scheme} does not reach an IBAN of ${ibanCountry}.`);
  }
  if (!schemes.reaches(request, country)) {
    throw unavailable('scheme', scheme, `The scheme does not support ${request.currency} to ${country}.`);
  }
  if (needed === 'bic' && routingCodes?.bic === undefined) {
    throw unavailable(field, id, `${scheme} requires a BIC, which the bank account does not have.`);
  }
  const hasSortCode = routingCodes?.['sort-code'] !== undefined && accountNumber !== null;
  if (needed === 'sort-code' && !hasSortCode && !iban?.startsWith('GB')) {
    const message = `${scheme} requires a sort code and account number, or a British IBAN, which the bank account does not have.`;
    throw unavailable(field, id, message);
  }
}

function unavailable(field: string, value: string, message: string): Error {
  return rejection('transfer.scheme.unavailable', [ENTITY, field, value], message);
}

function reasonProblems(request: TransferRequest, { reasons, tradeNames }: PlanFacts): Problem[] {
  const { transferReasonId, transferCustomReason } = request;
  if (reasons.length > 0 && transferReasonId === null && transferCustomReason === null) {
    const message = 'Transfers to this country require transferReasonId or transferCustomReason.';
    return [{ code: 'common.validation.field_required', message, messageParameters: [ENTITY, 'transferReasonId', ''] }];
  }
  return checkSchemeAttributes(request.schemeAttributes ?? {}, {
    currency: request.currency,
    reasonCode: reasons.find(({ id }) => id === transferReasonId)?.code ?? null,
    tradeNames,
  });
}

function planDates(request: TransferRequest, { schemes, now, transferDateYearsMax }: PlanFacts): TransferPlan {
  const today = schemes.today(request, now);
  const asked = request.transferDate ?? schemes.nextAvailableDate(request, now);
  if (asked < today) throw dateRejected(asked, 'The transfer date is in the past.');
  if (asked > yearsLater(today, transferDateYearsMax)) {
    throw dateRejected(asked, `The transfer date is more than ${transferDateYearsMax} years ahead.`);
  }
  const schedule = schemes.roll(request, asked, now);
  return {
    transferDate: schedule.transferDate,
    originalTransferDate: asked,
    rollCount: schedule.rolls,
    cutOffAt: schedule.cutOff,
    immediate: schemes.opensAt(request, schedule.transferDate).getTime() <= now.getTime(),
  };
}

function dateRejected(asked: LocalDate, message: string): Error {
  return rejection('transfer.date.invalid', [ENTITY, 'transferDate', asked], message);
}

function checkBalance(request: TransferRequest, source: PlanAccount, feeMinor: bigint): void {
  if (source.postedMinor - source.reservedMinor >= request.amountMinor + feeMinor) return;
  const message = 'The available balance does not cover the amount and its fee.';
  throw rejection('account.balance.insufficient', [ENTITY, 'source.accountId', request.sourceAccountId], message);
}

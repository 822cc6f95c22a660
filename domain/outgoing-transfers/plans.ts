/**
 * Validates a request for an outgoing transfer against the accounts, the beneficiary and the rules, in one fixed order, and
 * determines how the transfer starts. Nothing is written before every check has passed.
 */

import { type ErrorCode, recordNotFound, refusal } from '../frame/errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from '../frame/ids.ts';
import { type LocalDate, yearsLater } from '../frame/time/dates.ts';
import type { Schemes } from '../providers/schemes.ts';
import { findTransferReason, type TransferReason } from './requests/transfer-reasons.ts';
import { checkScheme } from './schemes.ts';

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
 * everything named exists, belongs to the client, has the currency and a usable state; then scheme, bank data and amount;
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
    throw refusal('account.client.mismatch', [ENTITY, 'clientId', request.clientId], message);
  }
  if (bankAccount !== null && bankAccount.clientId !== request.clientId) {
    throw destinationRefused(request, 'transfer.client.mismatch', 'The beneficiary belongs to another client.');
  }
}

function checkCurrencies(request: TransferRequest, { source, destination, bankAccount }: Parties): void {
  const { currency } = request;
  if (source.currency !== currency) {
    const message = `The source account holds ${source.currency}.`;
    throw refusal('account.currency.mismatch', [ENTITY, 'currency', currency], message);
  }
  const receiving = destination ?? bankAccount;
  if (receiving !== null && receiving.currency !== currency) {
    const message = `The ${destination === null ? 'bank' : 'receiving'} account is in ${receiving.currency}.`;
    throw destinationRefused(request, 'account.currency.mismatch', message);
  }
}

function checkStates(request: TransferRequest, { source, destination, bankAccount }: Parties): void {
  if (source.clientStatus !== 'active') {
    const message = `The client is ${source.clientStatus}.`;
    throw refusal('client.status.not_active', [ENTITY, 'clientId', request.clientId], message);
  }
  // If the account may become active again, an external transfer waits; an internal one is rejected.
  const waits = request.scope === 'external' && (source.status === 'inactive' || source.status === 'suspended');
  if (source.closing || (source.status !== 'active' && !waits)) {
    const message = `The source account is ${source.closing ? 'being closed' : source.status}.`;
    throw refusal('account.status.not_active', [ENTITY, 'source.accountId', request.sourceAccountId], message);
  }
  // Does not reveal to the payer which of the two is inactive, or who the client is.
  if (destination !== null && !isUsable(destination)) {
    const message = 'The receiving account, or its client, is not active.';
    throw destinationRefused(request, 'account.status.not_active', message);
  }
  if (bankAccount !== null && bankAccount.status !== 'active') {
    const message = `The bank account is ${bankAccount.status}.`;
    throw destinationRefused(request, 'beneficiary.bank_account.not_active', message);
  }
}

function isUsable({ status, closing, clientStatus }: PlanAccount): boolean {
  return status === 'active' && !closing && clientStatus === 'active';
}

function destinationRefused(request: TransferRequest, code: ErrorCode, message: string): Error {
  return refusal(code, [ENTITY, destinationField(request), request.destinationId], message);
}

function planDates(request: TransferRequest, { schemes, now, transferDateYearsMax }: PlanFacts): TransferPlan {
  const today = schemes.today(request, now);
  const asked = request.transferDate ?? schemes.nextAvailableDate(request, now);
  if (asked < today) throw dateRefused(asked, 'The transfer date is in the past.');
  if (asked > yearsLater(today, transferDateYearsMax)) {
    throw dateRefused(asked, `The transfer date is more than ${transferDateYearsMax} years ahead.`);
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

function dateRefused(asked: LocalDate, message: string): Error {
  return refusal('transfer.date.invalid', [ENTITY, 'transferDate', asked], message);
}

function checkBalance(request: TransferRequest, source: PlanAccount, feeMinor: bigint): void {
  if (source.postedMinor - source.reservedMinor >= request.amountMinor + feeMinor) return;
  const message = 'The available balance does not cover the amount and its fee.';
  throw refusal('account.balance.insufficient', [ENTITY, 'source.accountId', request.sourceAccountId], message);
}

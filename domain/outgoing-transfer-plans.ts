/**
 * Judges a request for an outgoing transfer against the accounts, the beneficiary and the rules, in a fixed order
 * (references, ownership, currency, states, scheme, amounts, dates), and says how the transfer begins. Nothing is
 * written before all of it has passed.
 */
import type { LocalDate } from './dates.ts';
import { DomainError, type Problem, recordNotFound, refusal } from './errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from './ids.ts';
import { checkSchemeAttributes } from './scheme-attributes.ts';
import type { Schemes } from './schemes.ts';
import type { TransferReason } from './transfer-reasons.ts';

/** What the caller asks for; amounts in minor units of `currency`. */
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
  /** The receiving account, or the beneficiary's bank account. */
  readonly destinationId: string;
}

export interface PlanAccount {
  readonly clientId: string;
  readonly clientStatus: string;
  readonly status: string;
  /** Its provider is closing it. */
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
}

export interface PlanFacts {
  readonly source: PlanAccount | null;
  /** Internal transfers: the receiving account. */
  readonly destination: PlanAccount | null;
  /** External transfers: where the money goes. */
  readonly bankAccount: PlanBankAccount | null;
  /** Schemes that the source's provider offers for its currency. */
  readonly offeredSchemes: readonly string[];
  /** Reasons of the destination country; empty where none are needed. */
  readonly reasons: readonly TransferReason[];
  readonly tradeNames: readonly string[];
  readonly schemes: Schemes;
  readonly feeMinor: bigint;
  readonly now: Date;
}

export interface TransferPlan {
  readonly transferDate: LocalDate;
  readonly originalTransferDate: LocalDate;
  readonly rollCount: number;
  readonly cutOffAt: Date | null;
  /** Whether the money would be moved now, were authorization and compliance to hold. */
  readonly immediate: boolean;
}

const ENTITY = 'outgoingTransfer';

/** Throws a DomainError with what is wrong; else the dates with which the transfer begins. */
export function planOutgoingTransfer(request: TransferRequest, facts: PlanFacts): TransferPlan {
  const source = checkSource(request, facts.source);
  if (request.scope === 'internal') checkDestination(request, facts.destination);
  else checkBeneficiary(request, facts);
  const plan = planDates(request, facts);
  const total = request.amountMinor + facts.feeMinor;
  if (request.scope === 'internal' && plan.immediate && source.postedMinor - source.reservedMinor < total) {
    const message = 'The available balance does not cover the amount and its fee.';
    throw refusal('account.balance.insufficient', [ENTITY, 'source.accountId', request.sourceAccountId], message);
  }
  return plan;
}

function checkSource(request: TransferRequest, source: PlanAccount | null): PlanAccount {
  const parameters = [ENTITY, 'source.accountId', request.sourceAccountId] as const;
  if (source === null) throw recordNotFound(...parameters);
  if (source.clientId !== request.clientId) {
    const message = 'The source account belongs to another client.';
    throw refusal('account.client.mismatch', [ENTITY, 'clientId', request.clientId], message);
  }
  if (source.currency !== request.currency) {
    const message = `The source account holds ${source.currency}.`;
    throw refusal('account.currency.mismatch', [ENTITY, 'currency', request.currency], message);
  }
  if (source.clientStatus !== 'active') {
    throw refusal('account.status.not_active', [ENTITY, 'clientId', request.clientId], 'The client is not active.');
  }
  // From an account that may become active again an external transfer waits; an internal one is refused.
  const waits = request.scope === 'external' && (source.status === 'inactive' || source.status === 'suspended');
  if (source.closing || (source.status !== 'active' && !waits)) {
    const status = source.closing ? 'being closed' : source.status;
    throw refusal('account.status.not_active', parameters, `The source account is ${status}.`);
  }
  return source;
}

function checkDestination(request: TransferRequest, destination: PlanAccount | null): void {
  const parameters = [ENTITY, 'destination.accountId', request.destinationId] as const;
  if (destination === null) throw recordNotFound(...parameters);
  if (destination.currency !== request.currency) {
    throw refusal('account.currency.mismatch', parameters, `The receiving account holds ${destination.currency}.`);
  }
  if (destination.status !== 'active' || destination.closing || destination.clientStatus !== 'active') {
    throw refusal('account.status.not_active', parameters, 'The receiving account, or its client, is not active.');
  }
}

function checkBeneficiary(request: TransferRequest, facts: PlanFacts): void {
  const parameters = [ENTITY, 'destination.beneficiaryBankAccountId', request.destinationId] as const;
  const { bankAccount } = facts;
  if (bankAccount === null) throw recordNotFound(...parameters);
  if (bankAccount.clientId !== request.clientId) {
    throw refusal('transfer.client.mismatch', parameters, 'The beneficiary belongs to another client.');
  }
  if (bankAccount.status !== 'active') {
    throw refusal('account.status.not_active', parameters, `The bank account is ${bankAccount.status}.`);
  }
  if (bankAccount.currency !== request.currency) {
    throw refusal('account.currency.mismatch', parameters, `The bank account is in ${bankAccount.currency}.`);
  }
  const scheme = request.scheme ?? '';
  const offered = facts.schemes.knows(scheme) && facts.offeredSchemes.includes(scheme);
  if (!offered || !facts.schemes.reaches(request, bankAccount.country)) {
    const message = `The scheme does not carry ${request.currency} from this account to ${bankAccount.country}.`;
    throw refusal('transfer.scheme.unavailable', [ENTITY, 'scheme', scheme], message);
  }
  const limitMinor = facts.schemes.amountLimitMinor(request);
  if (limitMinor !== null && request.amountMinor > limitMinor) {
    const message = 'The amount is above the limit of the scheme.';
    throw refusal('transfer.amount.limit_exceeded', [ENTITY, 'amount', scheme], message);
  }
  const problems = reasonProblems(request, facts);
  const [first, ...rest] = problems;
  if (first !== undefined) throw new DomainError([first, ...rest]);
}

function reasonProblems(request: TransferRequest, { reasons, tradeNames }: PlanFacts): Problem[] {
  const { transferReasonId, transferCustomReason } = request;
  if (reasons.length > 0 && transferReasonId === null && transferCustomReason === null) {
    const message = 'Transfers to this country need transferReasonId or transferCustomReason.';
    return [{ code: 'common.validation.field_required', message, messageParameters: [ENTITY, 'transferReasonId', ''] }];
  }
  const reason = reasons.find(({ id }) => id === transferReasonId) ?? null;
  if (transferReasonId !== null && reason === null) {
    throw recordNotFound(ENTITY, 'transferReasonId', transferReasonId);
  }
  return checkSchemeAttributes(request.schemeAttributes ?? {}, {
    currency: request.currency,
    reasonCode: reason?.code ?? null,
    tradeNames,
  });
}

function planDates(request: TransferRequest, { schemes, now }: PlanFacts): TransferPlan {
  const today = schemes.today(request, now);
  const asked = request.transferDate ?? schemes.nextAvailableDate(request, now);
  if (asked < today) {
    throw refusal('transfer.date.invalid', [ENTITY, 'transferDate', asked], 'The transfer date is in the past.');
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

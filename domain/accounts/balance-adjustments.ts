import { type ErrorCode, rejection } from '../common/errors.ts';
import type { AccountId, BalanceAdjustmentId } from '../common/ids.ts';
import { amountNumber } from '../common/money.ts';
import { availableMinor, type LockedAccount, type Posting, type SystemAccountKind } from '../ledger/ledger.ts';
import type { AccountStatus } from './accounts.ts';

export const BALANCE_ADJUSTMENT_DIRECTIONS = ['debit', 'credit'] as const;
export const UNCONNECTED_SERVICE_PROVIDER = 'unconnected-service-provider';
export const CORRECTION_TYPES = ['fee', 'unknown'] as const;
export const CORRECTION_TRANSACTION_TYPES = ['incoming-transfer', UNCONNECTED_SERVICE_PROVIDER] as const;

/** The workflow of an adjustment (specification 4.5). */
export type BalanceAdjustmentWorkflow =
  | {
      readonly code: 'correction';
      readonly type: (typeof CORRECTION_TYPES)[number];
      readonly transactionType: (typeof CORRECTION_TRANSACTION_TYPES)[number];
    }
  | {
      readonly code: 'synchronization';
      /** The service itself records the opening balance, with the migration of an account; no request can. */
      readonly type: typeof UNCONNECTED_SERVICE_PROVIDER | 'opening-balance';
    };

/** A requested adjustment; the amount is in minor units. */
export interface BalanceAdjustmentRequest {
  readonly workflow: BalanceAdjustmentWorkflow;
  /** The account according to the body. */
  readonly accountId: AccountId;
  readonly direction: (typeof BALANCE_ADJUSTMENT_DIRECTIONS)[number];
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly description: string | null;
  readonly unconnectedServiceProvider: string | null;
}

export interface BalanceAdjustment extends BalanceAdjustmentRequest {
  readonly id: BalanceAdjustmentId;
  readonly transactionNumber: string;
}

const ENTITY = 'balanceAdjustment';

/** A correction names an unconnected provider exactly if it concerns one. Returns the broken rule, or null. Both values are as sent. */
export function brokenNamingRule(
  transactionType: unknown,
  name: unknown,
): { readonly code: ErrorCode; readonly rule: string } | null {
  if (transactionType === UNCONNECTED_SERVICE_PROVIDER && name === undefined) {
    return { code: 'common.validation.field_required', rule: `is required for ${UNCONNECTED_SERVICE_PROVIDER}` };
  }
  if (transactionType === 'incoming-transfer' && typeof name === 'string') {
    return { code: 'common.validation.field_unexpected', rule: `belongs to ${UNCONNECTED_SERVICE_PROVIDER} only` };
  }
  return null;
}

/** The balance of an inactive or suspended account may still need a correction. */
const ADJUSTABLE: readonly string[] = ['active', 'inactive', 'suspended'] satisfies readonly AccountStatus[];

/** Checks a request against the locked account of its path and throws the first problem, in the order of all rejections. */
export function checkBalanceAdjustment(request: BalanceAdjustmentRequest, account: LockedAccount): void {
  const { accountId, currency, direction, amountMinor } = request;
  if (accountId !== account.id) {
    const message = 'data.balanceAdjustment.accountId must be the account in the path.';
    throw rejection('common.validation.field_invalid', [ENTITY, 'accountId', accountId], message);
  }
  if (account.currency !== currency) {
    const message = `The account holds ${account.currency}.`;
    throw rejection('account.currency.mismatch', [ENTITY, 'currency', currency], message);
  }
  if (account.closing || !ADJUSTABLE.includes(account.status)) {
    const message = `The account is ${account.closing ? 'being closed' : account.status}.`;
    throw rejection('account.status.not_active', [ENTITY, 'accountId', accountId], message);
  }
  if (direction === 'debit' && availableMinor(account) < amountMinor) {
    const message = 'The available balance does not cover the amount. Record the missing credit first.';
    throw rejection('account.balance.insufficient', [ENTITY, 'accountId', accountId], message);
  }
}

/** The system account on the other side: fee corrections are revenue, and synchronizations move the bank's position. */
function otherSideOf({ code, type }: BalanceAdjustmentWorkflow): SystemAccountKind {
  if (code === 'synchronization') return 'settlement';
  return type === 'fee' ? 'fee-revenue' : 'correction';
}

/** The opening balance of a migrated account, as its provider states it. */
export function openingBalance(
  account: { readonly id: AccountId; readonly currency: string },
  amountMinor: bigint,
): BalanceAdjustmentRequest {
  return {
    workflow: { code: 'synchronization', type: 'opening-balance' },
    accountId: account.id,
    direction: 'credit',
    amountMinor,
    currency: account.currency,
    description: 'opening balance',
    unconnectedServiceProvider: null,
  };
}

/** The one posting of an adjustment, its entry on the account's statement. */
export function balanceAdjustmentPosting(adjustment: BalanceAdjustment, account: LockedAccount, now: Date): Posting {
  const other = { provider: account.provider, kind: otherSideOf(adjustment.workflow) };
  const isDebit = adjustment.direction === 'debit';
  return {
    now,
    debit: isDebit ? account.id : other,
    credit: isDebit ? other : account.id,
    amountMinor: adjustment.amountMinor,
    currency: adjustment.currency,
    debitNumber: adjustment.transactionNumber,
    debitType: 'balance-adjustment',
    entryType: 'principal',
    narrative: adjustment.description,
  };
}

/** `data.balanceAdjustment` of specification 2.5. */
export function presentBalanceAdjustment(adjustment: BalanceAdjustment) {
  return {
    id: adjustment.id,
    accountId: adjustment.accountId,
    direction: adjustment.direction,
    transactionNumber: adjustment.transactionNumber,
    amount: amountNumber(adjustment.amountMinor, adjustment.currency),
    currency: adjustment.currency,
    description: adjustment.description,
    unconnectedServiceProvider: adjustment.unconnectedServiceProvider,
  };
}

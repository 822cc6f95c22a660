import type { Json } from '../../api.ts';
import type { SingleRequest } from './calls.ts';

// Requests that several kinds of load send.

export interface Money {
  readonly clientId: string;
  readonly currency: string;
  readonly amount: number;
  readonly from: string;
}

export function internalTransfer({ clientId, currency, amount, from }: Money, to: string): Json {
  return {
    clientId,
    currency,
    amount,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
}

export function externalTransfer(money: Money, scheme: string, beneficiaryBankAccountId: string): Json {
  return {
    ...internalTransfer(money, money.from),
    scope: 'external',
    scheme,
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
  };
}

export function transferOf(outgoingTransfer: Json): SingleRequest {
  return {
    purpose: 'transfer',
    path: '/outgoing-transfers',
    body: { workflow: { code: 'client.direct' }, data: { outgoingTransfer } },
    idOf: (data) => data.outgoingTransfer.id,
  };
}

const BUILT_IN = { type: 'implicit' };

export function issuing(clientId: string, currency: string, connect: Json = BUILT_IN): SingleRequest {
  return accountOf({ code: 'client.issuing' }, { account: { clientId, currency } }, connect);
}

export function accountOf(workflow: Json, data: Json, connect?: Json): SingleRequest {
  return {
    purpose: 'account',
    path: '/accounts',
    body: { workflow, data, connect },
    idOf: ({ account }) => account.id,
  };
}

export interface Adjustment {
  readonly accountId: string;
  readonly direction: 'credit' | 'debit';
  readonly amount: number;
  readonly currency: string;
}

/** A correction that concerns no provider. */
export function adjustment(balanceAdjustment: Adjustment): SingleRequest {
  const workflow = { code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' };
  return {
    purpose: 'adjustment',
    path: `/accounts/${balanceAdjustment.accountId}/balance-adjustments`,
    body: { workflow, data: { balanceAdjustment } },
    idOf: (data) => data.balanceAdjustment.id,
  };
}

/** The magic last digits of amounts at the bank: most are plain, some fail, return, cut the connection or call back twice. */
export const SCENARIOS = {
  '.50': 12,
  '.01': 1,
  '.02': 1,
  '.03': 1,
  '.04': 0.4,
  '.05': 1,
  '.06': 1,
  '.08': 1,
  '.09': 1,
};

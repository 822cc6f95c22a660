import { expect } from 'vitest';
import { applyAccountCallback } from '../../db/accounts/connections.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import type { AccountOutcome } from '../../domain/accounts/connections.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import type { Json, TestApi } from './api.ts';

/** A provider's report of a payment in that names no receiver. */
export const PAYMENT_IN = {
  provider: 'sandbox-bank',
  amountMinor: 1_000n,
  currency: 'GBP',
  scheme: 'faster-payments',
  senderName: null,
  senderAccount: null,
  receiver: { iban: null, accountNumber: null, routingCodes: {} },
  remittanceText: null,
  serviceProviderReference: null,
  held: false,
} as const;

/** Accounts at a fictitious provider: tests write its reports to the database. */
export interface BuiltInAccounts {
  /** An account that its provider has not opened yet. */
  issued(clientId: string): Promise<Json>;
  opened(clientId: string): Promise<Json>;
  report(
    id: string,
    change: 'open' | 'close',
    attempt: number,
    outcome: AccountOutcome,
    provider?: string,
  ): ReturnType<typeof applyAccountCallback>;
  /** Credits a payment in pounds from outside. */
  payIn(account: Json, serviceProviderId: string, amountMinor: bigint): Promise<unknown>;
}

export const OPENED: AccountOutcome = {
  outcome: 'opened',
  reference: 'SBA-1',
  details: { country: 'GB', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
};

export function builtInAccounts(api: TestApi): BuiltInAccounts {
  const issued = async (clientId: string): Promise<Json> => {
    const { body, text } = await api.call('POST', '/accounts', {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP' } },
    });
    expect(body.data?.account, text).toBeDefined();
    return body.data.account;
  };
  const report: BuiltInAccounts['report'] = (id, change, attempt, outcome, provider = 'sandbox-bank') => {
    const callback = { accountId: asId<AccountId>(id), change, attempt, outcome };
    return api.database.transaction((tx) => applyAccountCallback(tx, callback, provider));
  };
  return {
    issued,
    report,
    opened: async (clientId) => {
      const { id } = await issued(clientId);
      expect(await report(id, 'open', 1, OPENED)).toBe('applied');
      return (await api.call('GET', `/accounts/${id}`)).body.data.account;
    },
    payIn: ({ ledgerNumber }, serviceProviderId, amountMinor) => {
      const payment = { ...PAYMENT_IN, amountMinor, remittanceText: ledgerNumber, serviceProviderId };
      // Without a fee, whatever a test charges for payments out.
      const rules = { ...api.services.configuration, prices: [] };
      return api.database.transaction((tx) => receivePayment(tx, payment, rules));
    },
  };
}

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { CheckedType } from '../../../db/compliance/checks.ts';
import { receivePayment } from '../../../db/incoming-transfers/provisioned-account-credits.ts';
import type { ReceivedPayment } from '../../../domain/incoming-transfers/arrivals.ts';
import type { ComplianceMode } from '../../../domain/outgoing-transfers/requirement-rules.ts';
import type { ApiResponse, CallOptions, Json, TestApi, TestApiOptions } from '../api.ts';
import { PAYMENT_IN } from '../built-in-accounts.ts';

type Configured = NonNullable<TestApiOptions['configuration']>;

/** The configuration with these modes, for every currency. */
export function modes(incoming: ComplianceMode, outgoing: ComplianceMode, more: Json = {}): Configured {
  const rule = (mode: ComplianceMode) => ({ rule: mode, byCurrency: {} });
  return (configuration) => ({
    ...configuration,
    compliance: { incoming: rule(incoming), outgoing: rule(outgoing) },
    ...more,
  });
}

export const STOPS = ['soft-stop', 'hard-stop'] as const;
export const APPROVALS = ['all-passed', 'hard-stop-accepted'] as const;

/** Transfers in review, and their decisions. */
export function reviews(api: TestApi) {
  const path = (type: CheckedType, id: string) => `/${type}s/${id}/compliance-check`;
  const find = async (type: CheckedType, id: string): Promise<Json> => {
    const { body, text } = await api.call('GET', `/${type}s/${id}`);
    expect(body.data, text).toBeDefined();
    return type === 'incoming-transfer' ? body.data.incomingTransfer : body.data.outgoingTransfer;
  };
  return {
    find,
    check: async (type: CheckedType, id: string): Promise<Json> =>
      (await api.call('GET', path(type, id))).body.data.complianceCheck,
    decide: (type: CheckedType, id: string, result: Json, options: CallOptions = {}): Promise<ApiResponse> => {
      const procedureResult = { procedure: 'transaction-monitoring', result };
      const body = { workflow: { code: 'direct' }, data: { complianceCheck: { procedureResult } } };
      return api.call('PATCH', path(type, id), body, { as: 'compliance', ...options });
    },
    /** An internal transfer of 10 GBP; `by` is the API that creates it. */
    internal: async (from: Json, to: string, change: Json = {}, by = api): Promise<Json> => {
      const outgoingTransfer = {
        clientId: from.clientId,
        currency: 'GBP',
        amount: 10,
        scope: 'internal',
        source: { type: 'client-account', accountId: from.id },
        destination: { type: 'client-account', accountId: to },
        ...change,
      };
      return created(by, outgoingTransfer);
    },
    external: async (from: Json, beneficiaryBankAccountId: string, change: Json = {}, by = api): Promise<Json> => {
      const outgoingTransfer = {
        clientId: from.clientId,
        currency: 'GBP',
        amount: 10,
        scope: 'external',
        scheme: 'faster-payments',
        source: { type: 'client-account', accountId: from.id },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
        ...change,
      };
      return created(by, outgoingTransfer);
    },
    /** A payment in of 10 GBP from a bank. */
    payIn: async (payment: Partial<ReceivedPayment> = {}, by = api): Promise<Json> => {
      const serviceProviderId = randomUUID();
      const given = { ...PAYMENT_IN, serviceProviderId, ...payment };
      await by.database.transaction((tx) => receivePayment(tx, given, by.services.configuration));
      const query = `data.incomingTransfer.serviceProviderId=${serviceProviderId}`;
      return (await by.call('GET', `/incoming-transfers?${query}`)).body.data.incomingTransfers[0];
    },
  };
}

async function created(by: TestApi, outgoingTransfer: Json): Promise<Json> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await by.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

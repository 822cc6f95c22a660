import { expect } from 'vitest';
import type { ApiResponse, Json, TestApi } from '../api.ts';

export const BAKERY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };
export const PERSON = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
export const STERLING = {
  country: 'GB',
  currency: 'GBP',
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '601613' },
};
export const EURO = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
export const DOLLAR = { country: 'US', currency: 'USD', accountNumber: '1234567', routingCodes: { bic: 'CHASUS33' } };

/** The body of a write request for beneficiaries. */
export function direct(data: Json): Json {
  return { workflow: { code: 'direct' }, data };
}

/** Code and field of every problem of a request rejected with 400, sorted. */
export function problems(answer: ApiResponse): string[] {
  expect(answer.status, answer.text).toBe(400);
  return [answer.body, ...(answer.body.errors ?? [])]
    .map(
      ({ code, messageParameters: [entity, field] }: Json) =>
        `${code.replace('common.validation.', '')} ${entity}.${field}`,
    )
    .sort();
}

export interface Beneficiaries {
  /** A beneficiary as callers send it: a bakery with a sterling account, with `change` applied. */
  body(change?: Json): Json;
  post(beneficiary: Json): Promise<ApiResponse>;
  created(beneficiary?: Json): Promise<Json>;
  patch(id: string, data: Json): Promise<ApiResponse>;
  /** The `data` of a GET. */
  read(path: string): Promise<Json>;
}

export function beneficiariesOf(api: TestApi, clientId: string): Beneficiaries {
  const post = (beneficiary: Json) => api.call('POST', '/beneficiaries', direct({ beneficiary }));
  const body = (change: Json = {}): Json => ({ clientId, identity: BAKERY, bankAccounts: [STERLING], ...change });
  return {
    body,
    post,
    created: async (beneficiary = body()) => {
      const answer = await post(beneficiary);
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.beneficiary;
    },
    patch: (id, data) => api.call('PATCH', `/beneficiaries/${id}`, direct(data)),
    read: async (path) => {
      const answer = await api.call('GET', path);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data;
    },
  };
}

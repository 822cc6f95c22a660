import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Called, Json, TestApi } from '../api.ts';
import { eventually } from '../servers/sandbox.ts';

export const PERSON = { type: 'individual', givenName: 'Grace', familyName: 'Hopperson' };
export const COMPANY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };

export interface Asking {
  readonly identity?: Json;
  readonly accountNumber?: string;
  readonly sortCode?: string;
  /** Overrides fields of `data.beneficiary`. */
  readonly beneficiary?: Json;
  readonly connect?: Json;
  readonly key?: string;
  /** An API other than the default. */
  readonly at?: TestApi;
}

export interface Verifications {
  verify(asking?: Asking): Promise<Called>;
  verified(asking?: Asking): Promise<Json>;
  /** The stored verifications, in the order of the requests. */
  stored(): Promise<Json[]>;
}

/** Verifies an account that matches every name, unless the test says otherwise. */
export function verificationsOf(api: TestApi, clientId: () => string): Verifications {
  const verify = (asking: Asking = {}): Promise<Called> => {
    const { identity = PERSON, accountNumber = '00000001', sortCode = '123456', at = api, key, connect } = asking;
    const bankAccount = { accountNumber, routingCodes: { 'sort-code': sortCode } };
    const body = {
      workflow: { code: 'client.pay-uk.cop' },
      data: { beneficiary: { clientId: clientId(), identity, bankAccount, ...asking.beneficiary } },
      ...(connect === undefined ? {} : { connect }),
    };
    return at.call('POST', '/beneficiary-verifications', body, key === undefined ? {} : { key });
  };
  return {
    verify,
    verified: async (asking) => {
      const answer = await verify(asking);
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.beneficiaryVerification;
    },
    stored: () => api.database.statement('select * from beneficiary_verifications order by created_at, id', []),
  };
}

/** An account that the sandbox bank opens for a client of its own, as its books hold it. */
export async function openAtBank(sandboxUrl: string, identityType: string, name: string): Promise<Json> {
  const send = async (path: string, body: Json): Promise<Json> =>
    (await fetch(`${sandboxUrl}/bank${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const client = await send('/clients', { ourReference: randomUUID(), identityType, fullName: name, country: 'GB' });
  const ourReference = randomUUID();
  await send('/accounts', {
    ourReference,
    clientReference: client.reference,
    accountHolderName: name,
    alias: 'GBP Account',
    currency: 'GBP',
    country: 'GB',
  });
  return eventually('the opening', async () => {
    const account: Json = await (await fetch(`${sandboxUrl}/bank/accounts/${ourReference}`)).json();
    return account.status === 'open' ? account : undefined;
  });
}

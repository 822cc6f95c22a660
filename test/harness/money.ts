import { expect } from 'vitest';
import { checkLedger } from '../../db/ledger/check.ts';
import type { Json, TestApi } from './api.ts';
import { illegalTransitions } from './workflows/state-history.ts';
import { wrongWaits } from './workflows/wrong-waits.ts';

/** Creates clients, accounts and money through the API; starting point of transfer tests. */
export interface MoneyWorld {
  client(givenName?: string): Promise<string>;
  /** An active plug-in account of the client, with this much money reported as arrived. */
  account(clientId: string, options?: { currency?: string; amount?: number }): Promise<string>;
  credit(accountId: string, amount: number, currency?: string): Promise<Json>;
  /** A company with one bank account; returns the bank account's id. */
  beneficiary(clientId: string, bankAccount?: Json): Promise<string>;
  balance(accountId: string): Promise<{ available: number; receivable: number }>;
  statement(accountId: string): Promise<Json[]>;
  /** Types of the resource's events, in order. */
  events(resourceId: string): Promise<string[]>;
  invariantsHold(): Promise<void>;
}

const STERLING = { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };

export function moneyWorld(api: TestApi): MoneyWorld {
  const created = async (path: string, body: Json): Promise<Json> => {
    const answer = await api.call('POST', path, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data;
  };
  const world: MoneyWorld = {
    client: async (givenName = 'Ada') => {
      const identity = { type: 'individual', givenName, familyName: 'Lovelace', country: 'GB' };
      const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
      const { client } = await created('/clients', {
        workflow: { code: 'direct' },
        data: { client: { identity, profile } },
      });
      return client.id;
    },
    account: async (clientId, { currency = 'GBP', amount = 0 } = {}) => {
      const { account } = await created('/accounts', {
        workflow: { code: 'client.issuing' },
        data: { account: { clientId, currency } },
        connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
      });
      const connection = { state: 'completed-up-to-date', status: 'active' };
      const patched = await api.call('PATCH', `/accounts/${account.id}`, {
        workflow: { code: 'client.direct' },
        data: { account: { status: 'active', connection } },
      });
      expect(patched.status, patched.text).toBe(200);
      if (amount > 0) await world.credit(account.id, amount, currency);
      return account.id;
    },
    credit: async (accountId, amount, currency = 'GBP') =>
      (
        await created('/provisioned-account-credits', {
          workflow: { code: 'client.direct' },
          data: { provisionedAccountCredit: { accountId, amount, currency, scope: 'external', scheme: 'swift' } },
        })
      ).provisionedAccountCredit,
    beneficiary: async (clientId, bankAccount = STERLING) => {
      const identity = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };
      const { beneficiary } = await created('/beneficiaries', {
        workflow: { code: 'direct' },
        data: { beneficiary: { clientId, identity, bankAccounts: [bankAccount] } },
      });
      return beneficiary.bankAccounts[0].id;
    },
    balance: async (accountId) => {
      const { body } = await api.call('GET', `/accounts/${accountId}`);
      const { availableBalance, receivableBalance } = body.data.account;
      return { available: availableBalance, receivable: receivableBalance };
    },
    statement: async (accountId) => {
      const { body, text } = await api.call('GET', `/accounts/${accountId}/account-statements?metadata.page.size=100`);
      expect(body.data?.accountStatements, text).toBeDefined();
      return body.data.accountStatements;
    },
    events: async (resourceId) => {
      const rows = await api.database.reader.statement<{ entries: { type: string }[] }>(
        'SELECT entries FROM events WHERE resource_id = $1 ORDER BY first_sequence',
        [resourceId],
      );
      return rows.flatMap(({ entries }) => entries.map(({ type }) => type));
    },
    invariantsHold: async () => {
      expect(await checkLedger(api.database.reader)).toEqual([]);
      expect(await illegalTransitions(api.database.reader)).toEqual([]);
      expect(await wrongWaits(api.database.reader)).toEqual([]);
    },
  };
  return world;
}

import { randomInt } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, FRESH_COUNT, inTurns, LIST_LENGTH, PARENT_COUNT, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

/** Most active bank accounts of one beneficiary. */
const BANK_ACCOUNTS_MAX = 3;
const IDENTITY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };

function newBankAccount() {
  const accountNumber = String(randomInt(10_000_000, 100_000_000));
  return { country: 'GB', currency: 'GBP', accountNumber, routingCodes: { 'sort-code': '601613' } };
}

function newBeneficiary(clientId: string, bankAccountCount: number): PreparedRequest {
  const bankAccounts = times(bankAccountCount, newBankAccount);
  return write('/beneficiaries', 'direct', { beneficiary: { clientId, identity: IDENTITY, bankAccounts } });
}

export interface BankAccount {
  readonly clientId: string;
  readonly beneficiaryId: string;
  readonly id: string;
  readonly status: 'active' | 'inactive';
}

/** Bank accounts of twenty clients' beneficiaries, a full list each. Only one is active, because at most three may be. */
async function bankAccounts(fixtures: Fixtures): Promise<readonly BankAccount[]> {
  const owners = fixtures.accounts.slice(0, PARENT_COUNT);
  await fixtures.made('beneficiaries', async () => {
    await fixtures.send(
      'POST',
      owners.map(({ clientId }) => newBeneficiary(clientId, 1)),
    );
    const first = await find(fixtures);
    const keptIds = first.map(({ id }) => id);
    for (let length = 1; length < LIST_LENGTH; length += 1) {
      await fixtures.send(
        'POST',
        first.map(({ beneficiaryId }) => addition(beneficiaryId)),
      );
      await inactivate(fixtures, { ofIds: first.map(({ beneficiaryId }) => beneficiaryId), keptIds });
    }
  });
  return find(fixtures);
}

/** Active bank accounts, one for each of twenty clients. */
export async function activeBankAccounts(fixtures: Fixtures): Promise<readonly BankAccount[]> {
  return (await bankAccounts(fixtures)).filter(({ status }) => status === 'active');
}

/** Deactivates bank accounts, so that their beneficiaries can have further ones. */
async function inactivate(
  { sql }: Fixtures,
  { ofIds, keptIds }: { readonly ofIds: readonly string[]; readonly keptIds: readonly string[] },
): Promise<void> {
  await sql`
    UPDATE beneficiary_bank_accounts SET status = 'inactive'
    WHERE beneficiary_id = ANY (${[...ofIds]}::uuid[]) AND NOT id = ANY (${[...keptIds]}::uuid[])`;
}

function addition(beneficiaryId: string): PreparedRequest {
  return write(`/beneficiaries/${beneficiaryId}/bank-accounts`, 'direct', { beneficiaryBankAccount: newBankAccount() });
}

async function find({ sql, accounts }: Fixtures): Promise<readonly BankAccount[]> {
  const clientIds = accounts.slice(0, PARENT_COUNT).map(({ clientId }) => clientId);
  return sql<BankAccount[]>`
    SELECT client_id AS "clientId", beneficiary_id AS "beneficiaryId", bank_account.id, bank_account.status
    FROM beneficiaries beneficiary JOIN beneficiary_bank_accounts bank_account ON bank_account.beneficiary_id = beneficiary.id
    WHERE client_id = ANY (${clientIds}::uuid[]) ORDER BY bank_account.id`;
}

export const beneficiaryRows: readonly RouteRow[] = [
  {
    route: 'POST /beneficiaries',
    requests: async ({ accounts }) => accounts.slice(PARENT_COUNT).map(({ clientId }) => newBeneficiary(clientId, 1)),
  },
  {
    route: 'GET /beneficiaries/{beneficiaryId}',
    requests: async (fixtures) =>
      (await bankAccounts(fixtures)).map(({ beneficiaryId }) => ({ path: `/beneficiaries/${beneficiaryId}` })),
  },
  {
    route: 'GET /beneficiaries',
    requests: async (fixtures) => {
      await bankAccounts(fixtures);
      return [{ path: '/beneficiaries' }];
    },
  },
  {
    route: 'PATCH /beneficiaries/{beneficiaryId}',
    requests: async (fixtures) => {
      const found = await bankAccounts(fixtures);
      return times(FRESH_COUNT, (number) => {
        const beneficiary = { contact: { email: `${randomInt(1e9)}@example.com` } };
        return write(`/beneficiaries/${inTurns(found, number).beneficiaryId}`, 'direct', { beneficiary });
      });
    },
    once: true,
  },
  {
    route: 'POST /beneficiaries/{beneficiaryId}/bank-accounts',
    requests: async (fixtures) => {
      // Uses a client whose lists are not measured.
      const { clientId } = inTurns(fixtures.accounts, PARENT_COUNT);
      await fixtures.made('beneficiaries to add to', () =>
        fixtures.send(
          'POST',
          times(STOCK_COUNT, () => newBeneficiary(clientId, 1)),
        ),
      );
      const rows = await fixtures.sql<{ id: string }[]>`SELECT id FROM beneficiaries WHERE client_id = ${clientId}`;
      const ids = rows.map(({ id }) => id);
      await inactivate(fixtures, { ofIds: ids, keptIds: [] });
      return times(BANK_ACCOUNTS_MAX * ids.length, (number) => addition(inTurns(ids, number)));
    },
    once: true,
  },
  {
    route: 'PATCH /beneficiaries/{beneficiaryId}/bank-accounts/{id}',
    requests: async (fixtures) => {
      const found = await bankAccounts(fixtures);
      return times(FRESH_COUNT, (number) => {
        const { beneficiaryId, id } = inTurns(found, number);
        const beneficiaryBankAccount = { alias: `Wages ${randomInt(1e9)}` };
        return write(`/beneficiaries/${beneficiaryId}/bank-accounts/${id}`, 'direct', { beneficiaryBankAccount });
      });
    },
    once: true,
  },
  {
    route: 'GET /beneficiaries/{beneficiaryId}/bank-accounts/{id}',
    requests: async (fixtures) =>
      (await bankAccounts(fixtures)).map(({ beneficiaryId, id }) => ({
        path: `/beneficiaries/${beneficiaryId}/bank-accounts/${id}`,
      })),
  },
  {
    route: 'GET /beneficiaries/{beneficiaryId}/bank-accounts',
    requests: async (fixtures) =>
      (await bankAccounts(fixtures)).map(({ beneficiaryId }) => ({
        path: `/beneficiaries/${beneficiaryId}/bank-accounts`,
      })),
  },
  {
    route: 'GET /beneficiary-bank-account-requirements',
    requests: async () => {
      const prefix = 'data.beneficiaryBankAccountRequirement';
      return [{ path: `/beneficiary-bank-account-requirements?${prefix}.currency=GBP&${prefix}.country=GB` }];
    },
  },
  {
    route: 'POST /beneficiary-verifications',
    aim: null,
    remark: 'asks the directory, on the same machine',
    requests: async ({ accounts }) =>
      accounts.map(({ clientId }) => {
        const bankAccount = { accountNumber: '00934892', routingCodes: { 'sort-code': '123456' } };
        const identity = { type: 'individual', givenName: 'Jon', familyName: 'Smith' };
        const connect = { type: 'explicit', serviceProvider: 'sandbox-bank' };
        const beneficiary = { clientId, identity, bankAccount };
        return write('/beneficiary-verifications', 'client.pay-uk.cop', { beneficiary }, connect);
      }),
  },
];

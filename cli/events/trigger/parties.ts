import { randomUUID } from 'node:crypto';
import { ActionableError } from '../../common/actionable-error.ts';
import { type Json, list, object, text } from '../../common/answers.ts';
import { givenAs, type Stage, until } from './world.ts';

/** Clients, accounts, beneficiaries and users: those that were given, otherwise new ones. */

const INDIVIDUAL = { type: 'individual', givenName: 'Ada', familyName: 'Trigger', country: 'GB' };

export async function newClient({ world }: Stage): Promise<string> {
  const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
  const body = { workflow: { code: 'direct' }, data: { client: { identity: INDIVIDUAL, profile } } };
  return text(await world.call('POST', '/clients', body), 'data', 'client', 'id');
}

/** The given client, that of the given account, or a new one. */
export async function clientOf(stage: Stage): Promise<string> {
  const client = givenAs(stage, 'client');
  if (client !== null) return text(client, 'id');
  const account = givenAs(stage, 'account');
  return account === null ? newClient(stage) : text(account, 'clientId');
}

/** A new account at the sandbox bank, which has not opened it yet. */
export async function issuedAccount(stage: Stage, account: { alias?: string; currency?: string } = {}): Promise<Json> {
  const clientId = await clientOf(stage);
  const body = {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency: 'GBP', ...account } },
    connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
  };
  return object(object(await stage.world.call('POST', '/accounts', body), 'data'), 'account');
}

export async function openedAccount(stage: Stage, account: { alias?: string; currency?: string } = {}): Promise<Json> {
  const id = text(await issuedAccount(stage, account), 'id');
  return until('The opening of an account', async () => {
    const found = await readAccount(stage, id);
    return found.status === 'active' ? found : null;
  });
}

/** The given account, or a new one of the given client. */
export async function accountOf(stage: Stage): Promise<Json> {
  return givenAs(stage, 'account') ?? openedAccount(stage);
}

export async function readAccount({ world }: Stage, id: string): Promise<Json> {
  return object(object(await world.call('GET', `/accounts/${id}`), 'data'), 'account');
}

export async function changeAccount({ world }: Stage, id: string, account: object): Promise<string> {
  await world.call('PATCH', `/accounts/${id}`, { workflow: { code: 'client.direct' }, data: { account } });
  return id;
}

const PAYEES: Readonly<Record<string, object>> = {
  GBP: { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
  EUR: { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' },
};

/** A bank account of the currency, outside. */
function payee(currency: string): object {
  const elsewhere = { country: 'SE', currency, iban: 'SE4550000000058398257466', routingCodes: { bic: 'ESSESESS' } };
  return PAYEES[currency] ?? elsewhere;
}

export async function newBeneficiary({ world }: Stage, clientId: string, currency = 'GBP'): Promise<Json> {
  const identity = { type: 'corporate', legalName: 'Trigger Bakery Ltd' };
  const data = { beneficiary: { clientId, identity, bankAccounts: [payee(currency)] } };
  const body = { workflow: { code: 'direct' }, data };
  return object(object(await world.call('POST', '/beneficiaries', body), 'data'), 'beneficiary');
}

/** The given beneficiary, or a new one of the given client. */
export async function beneficiaryOf(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'beneficiary');
  return text(given ?? (await newBeneficiary(stage, await clientOf(stage))), 'id');
}

export async function addBankAccount({ world }: Stage, beneficiaryId: string): Promise<string> {
  const body = { workflow: { code: 'direct' }, data: { beneficiaryBankAccount: payee('EUR') } };
  const added = await world.call('POST', `/beneficiaries/${beneficiaryId}/bank-accounts`, body);
  return text(added, 'data', 'beneficiaryBankAccount', 'id');
}

export function bankAccountOf(beneficiary: Json): string {
  const [first] = list(beneficiary, 'bankAccounts');
  if (first === undefined) throw new ActionableError('The beneficiary has no bank account.');
  return text(first, 'id');
}

export async function newUser(stage: Stage, clientId: string): Promise<string> {
  const email = `trigger-${randomUUID()}@example.com`;
  const data = {
    user: { email, identity: { type: 'individual', givenName: 'Ada', familyName: 'Trigger' } },
    userClientRelations: [{ clientId }],
  };
  const body = { workflow: { code: 'human.external.direct' }, data };
  return text(await stage.world.call('POST', '/users', body), 'data', 'user', 'id');
}

import type { Method } from '../../../../api/frame/route.ts';
import type { Role } from '../../../../domain/machine-users/roles.ts';
import type { Json } from '../../api.ts';
import { BAKERY, EURO, PERSON, STERLING } from '../../parties/beneficiaries.ts';
import { openedAccountId } from './accounts.ts';
import { newBreakId, newKey } from './administration.ts';
import { corporate, DIRECTOR, newClientId } from './parties.ts';
import type { Teller } from './storyteller.ts';

/** Requests that contend for one row or one name. */
export interface Contest {
  /** Makes what they are about; returns the request with each number. */
  readonly begin: (teller: Teller) => Promise<(number: number) => Contender>;
  /** How many get which status, whoever they are. */
  readonly outcome: (count: number) => Readonly<Record<number, number>>;
  /** The table whose row each changes upon the others' changes. */
  readonly changes?: string;
}

export interface Contender {
  readonly method: Method;
  readonly path: string;
  readonly data?: Json;
  readonly code?: string;
  readonly as?: Role;
}

/** Their numbers. */
export const CONTENDERS = Array.from({ length: 24 }, (_, number) => number);

const DIRECT = { code: 'human.external.direct' };

const all = (status: number) => (count: number) => ({ [status]: count });
const oneOf = (status: number, refused: number) => (count: number) => ({ [status]: 1, [refused]: count - 1 });

async function newBeneficiaryPath(teller: Teller): Promise<string> {
  const beneficiary = { clientId: await newClientId(teller), identity: BAKERY, bankAccounts: [STERLING] };
  return `/beneficiaries/${(await teller.post('/beneficiaries', { beneficiary })).beneficiary.id}`;
}

async function newUserPath({ post }: Teller, email: string): Promise<string> {
  return `/users/${(await post('/users', { user: { email, identity: PERSON } }, DIRECT)).user.id}`;
}

const parties: Readonly<Record<string, Contest>> = {
  'of deletions of one relation of a client one succeeds': {
    begin: async ({ post }) => {
      const { client } = await post('/clients', { client: corporate([DIRECTOR]) });
      return () => ({ method: 'DELETE', path: `/clients/${client.id}/relations/${client.relations[0].id}` });
    },
    outcome: oneOf(200, 404),
  },
  'of creations of users with one address one succeeds': {
    begin: async ({ name }) => {
      const user = { email: `grace@${name}.example.com`, identity: PERSON };
      return () => ({ method: 'POST', path: '/users', data: { user }, ...DIRECT });
    },
    outcome: oneOf(201, 409),
  },
  'of the users that change to one address one gets it': {
    begin: async (teller) => {
      const email = (number: number | string) => `${number}@${teller.name}.example.com`;
      const paths: string[] = [];
      for (const number of CONTENDERS) paths.push(await newUserPath(teller, email(number)));
      const data = { user: { email: email('same') } };
      return (number) => ({ method: 'PATCH', path: paths[number] ?? '', data, ...DIRECT });
    },
    outcome: oneOf(200, 409),
  },
  'of relations of a user to one client one is created': {
    begin: async (teller) => {
      const data = { userClientRelations: [{ clientId: await newClientId(teller) }] };
      const path = `${await newUserPath(teller, `grace@${teller.name}.example.com`)}/client-relations`;
      return () => ({ method: 'POST', path, data });
    },
    outcome: oneOf(201, 409),
  },
  'of invitations of one person by one client one is sent': {
    begin: async (teller) => {
      const invitations = [{ clientId: await newClientId(teller), userClientRelation: 'director' }];
      const data = { user: { email: `grace@${teller.name}.example.com`, identity: PERSON }, invitations };
      return () => ({ method: 'POST', path: '/users', data, code: 'human.external.invitation' });
    },
    outcome: oneOf(201, 409),
  },
};

const accounts: Readonly<Record<string, Contest>> = {
  'of bank accounts added to a beneficiary with one account two have room': {
    begin: async (teller) => {
      const path = `${await newBeneficiaryPath(teller)}/bank-accounts`;
      return () => ({ method: 'POST', path, data: { beneficiaryBankAccount: EURO } });
    },
    outcome: (count) => ({ 201: 2, 400: count - 2 }),
  },
  'all changes of one beneficiary succeed, one upon the other': {
    begin: async (teller) => {
      const path = await newBeneficiaryPath(teller);
      return (number) => ({ method: 'PATCH', path, data: { beneficiary: { title: `Title ${number}` } } });
    },
    outcome: all(200),
    changes: 'beneficiaries',
  },
  'all sub-accounts of one account open': {
    begin: async (teller) => {
      const mainAccountId = await openedAccountId(teller, await newClientId(teller));
      const data = { account: { mainAccountId } };
      return () => ({ method: 'POST', path: '/accounts', data, code: 'client.sub-account' });
    },
    outcome: all(201),
  },
  'all accounts of one client open': {
    begin: async (teller) => {
      const data = { account: { clientId: await newClientId(teller), currency: 'GBP' } };
      return () => ({ method: 'POST', path: '/accounts', data, code: 'client.issuing' });
    },
    outcome: all(201),
  },
};

const administration: Readonly<Record<string, Contest>> = {
  'of machine users with keys of one kid one is registered': {
    begin: async ({ name }) => {
      const machineUser = () => ({ name, roles: ['viewer'], key: newKey(name) });
      return () => ({ method: 'POST', path: '/machine-users', data: { machineUser: machineUser() }, as: 'admin' });
    },
    outcome: oneOf(201, 409),
  },
  'of resolutions of one break one succeeds': {
    begin: async (teller) => {
      const path = `/reconciliation-breaks/${await newBreakId(teller)}`;
      return () => ({
        method: 'PATCH',
        path,
        data: { reconciliationBreak: { status: 'resolved', note: 'Paid back' } },
      });
    },
    outcome: oneOf(200, 409),
  },
  'all rotations of one secret succeed': {
    begin: async ({ post }) => {
      const webhookSubscription = { url: 'http://127.0.0.1:43210/hook' };
      const made = await post('/webhook-subscriptions', { webhookSubscription }, { as: 'admin' });
      const path = `/webhook-subscriptions/${made.webhookSubscription.id}/rotate-secret`;
      return () => ({ method: 'POST', path, data: {}, as: 'admin' });
    },
    outcome: all(200),
  },
};

export const CONTESTS = { ...parties, ...accounts, ...administration };

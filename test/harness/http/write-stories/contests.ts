import type { Method } from '../../../../api/http/route.ts';
import type { Role } from '../../../../domain/machine-users/roles.ts';
import type { Json } from '../../api.ts';
import { BAKERY, EURO, PERSON, STERLING } from '../../parties/beneficiaries.ts';
import { openedAccountId } from './accounts.ts';
import { newBreakId, newKey } from './administration.ts';
import { corporate, DIRECTOR, newClientId } from './parties.ts';
import type { StoryCaller } from './story.ts';

/** Requests that contend for one row or one name. */
export interface Contest {
  /** Creates the contested resource; returns the request of each contender. */
  readonly begin: (caller: StoryCaller) => Promise<(number: number) => Contender>;
  /** How many callers get which status. */
  readonly outcome: (count: number) => Readonly<Record<number, number>>;
  /** The table with the row that each changes after the others' changes. */
  readonly changes?: string;
}

export interface Contender {
  readonly method: Method;
  readonly path: string;
  readonly data?: Json;
  readonly code?: string;
  readonly as?: Role;
}

/** The numbers of the contenders. */
export const CONTENDERS = Array.from({ length: 24 }, (_, number) => number);

const DIRECT = { code: 'human.external.direct' };

const all = (status: number) => (count: number) => ({ [status]: count });
const oneOf = (status: number, rejected: number) => (count: number) => ({ [status]: 1, [rejected]: count - 1 });

async function newBeneficiaryPath(caller: StoryCaller): Promise<string> {
  const beneficiary = { clientId: await newClientId(caller), identity: BAKERY, bankAccounts: [STERLING] };
  return `/beneficiaries/${(await caller.post('/beneficiaries', { beneficiary })).beneficiary.id}`;
}

async function newUserPath({ post }: StoryCaller, email: string): Promise<string> {
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
    begin: async (caller) => {
      const email = (number: number | string) => `${number}@${caller.name}.example.com`;
      const paths: string[] = [];
      for (const number of CONTENDERS) paths.push(await newUserPath(caller, email(number)));
      const data = { user: { email: email('same') } };
      return (number) => ({ method: 'PATCH', path: paths[number] ?? '', data, ...DIRECT });
    },
    outcome: oneOf(200, 409),
  },
  'of relations of a user to one client one is created': {
    begin: async (caller) => {
      const data = { userClientRelations: [{ clientId: await newClientId(caller) }] };
      const path = `${await newUserPath(caller, `grace@${caller.name}.example.com`)}/client-relations`;
      return () => ({ method: 'POST', path, data });
    },
    outcome: oneOf(201, 409),
  },
  'of invitations of one person by one client one is sent': {
    begin: async (caller) => {
      const invitations = [{ clientId: await newClientId(caller), userClientRelation: 'director' }];
      const data = { user: { email: `grace@${caller.name}.example.com`, identity: PERSON }, invitations };
      return () => ({ method: 'POST', path: '/users', data, code: 'human.external.invitation' });
    },
    outcome: oneOf(201, 409),
  },
};

const accounts: Readonly<Record<string, Contest>> = {
  'of bank accounts added to a beneficiary with one account, two fit': {
    begin: async (caller) => {
      const path = `${await newBeneficiaryPath(caller)}/bank-accounts`;
      return () => ({ method: 'POST', path, data: { beneficiaryBankAccount: EURO } });
    },
    outcome: (count) => ({ 201: 2, 400: count - 2 }),
  },
  'all changes of one beneficiary succeed, one upon the other': {
    begin: async (caller) => {
      const path = await newBeneficiaryPath(caller);
      return (number) => ({ method: 'PATCH', path, data: { beneficiary: { title: `Title ${number}` } } });
    },
    outcome: all(200),
    changes: 'beneficiaries',
  },
  'all sub-accounts of one account open': {
    begin: async (caller) => {
      const mainAccountId = await openedAccountId(caller, await newClientId(caller));
      const data = { account: { mainAccountId } };
      return () => ({ method: 'POST', path: '/accounts', data, code: 'client.sub-account' });
    },
    outcome: all(201),
  },
  'all accounts of one client open': {
    begin: async (caller) => {
      const data = { account: { clientId: await newClientId(caller), currency: 'GBP' } };
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
    begin: async (caller) => {
      const path = `/reconciliation-breaks/${await newBreakId(caller)}`;
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

import { expect } from 'vitest';
import { receivePayment } from '../../../../db/incoming-transfers/provisioned-account-credits.ts';
import { applyPaymentReport } from '../../../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type OutgoingTransferId } from '../../../../domain/common/ids.ts';
import type { PaymentOutcome } from '../../../../domain/outgoing-transfers/reports.ts';
import type { ApiResponse, Json, TestApi } from '../../api.ts';
import { builtInAccounts, PAYMENT_IN } from '../../built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../../money.ts';
import type { TestDatabase } from '../../servers/postgres.ts';

/** Situations of a transfer, what is requested of it, and what may happen between the moment that a request reads and that it writes. */

const AMOUNT = 40;
const BALANCE = 100;

/** A service with its database, and one that asks for authorizations. */
export interface ChangeWorld {
  readonly api: TestApi;
  readonly authorizing: TestApi;
  readonly database: TestDatabase;
}

/** The same transfer before a request, staged for each way in which the request may go. */
export interface StagedTransfer {
  readonly clientId: string;
  readonly receiverId: string;
  /** The payer's account; of money that is held, the one to which it is assigned. */
  readonly source: string;
  readonly destination: string;
  readonly bankAccount: string;
  readonly id: string;
}

type Staging = (world: ChangeWorld, staged: Omit<StagedTransfer, 'id'>) => Promise<string>;

const order =
  (change: Json, isAuthorized = false): Staging =>
  async ({ api, authorizing }, { clientId, source, destination, bankAccount }) => {
    const isInternal = change.scope === 'internal';
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      amount: AMOUNT,
      scope: 'external',
      source: { type: 'client-account', accountId: source },
      ...(isInternal
        ? { destination: { type: 'client-account', accountId: destination } }
        : {
            scheme: 'faster-payments',
            destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
          }),
      ...change,
    };
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const answer = await (isAuthorized ? authorizing : api).call('POST', '/outgoing-transfers', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.outgoingTransfer.id;
  };

const reported =
  (...reports: readonly Json[]): Staging =>
  async (world, staged) => {
    const id = await order({})(world, staged);
    for (const report of reports) expect((await patch(world.api, id, report)).status).toBe(200);
    return id;
  };

const atItsBank =
  (outcome: PaymentOutcome): Staging =>
  async (world, staged) => {
    const id = await order({})(world, staged);
    const report = { outcome, serviceProviderId: `p-${id}`, serviceProviderReference: null, code: null };
    const notice = { id: asId<OutgoingTransferId>(id), provider: 'sandbox-bank' };
    const { configuration } = world.api.services;
    await world.api.database.transaction((tx) => applyPaymentReport(tx, notice, report, configuration));
    return id;
  };

const LATER = new Date(Date.now() + 4 * 86_400_000).toISOString().slice(0, 10);

const arrived =
  (fields: {
    readonly held?: boolean;
    readonly isNamed?: boolean;
    readonly isActive?: boolean;
    readonly provider?: string;
  }): Staging =>
  async ({ api, database }, { source }) => {
    const { held = false, isNamed = false, isActive = false, provider = 'custom-bank' } = fields;
    const number = isNamed ? (await api.call('GET', `/accounts/${source}`)).body.data.account.ledgerNumber : null;
    const serviceProviderId = `arrived-${source}`;
    if (isNamed && !isActive) await database.asOwner(`UPDATE accounts SET status = 'inactive' WHERE id = '${source}'`);
    const payment = { ...PAYMENT_IN, provider, held, remittanceText: number, serviceProviderId, senderName: 'Ada' };
    await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
    const [found] = await database.asOwner<{ id: string }>(
      `SELECT id FROM incoming_transfers WHERE service_provider_id = '${serviceProviderId}'`,
    );
    return found?.id ?? '';
  };

interface SituationKind {
  readonly stage: Staging;
  readonly account?: 'built-in';
}

export const SITUATIONS = {
  'waits for its authorization': { stage: order({}, true) },
  'waits for its authorization and date': { stage: order({ transferDate: LATER }, true) },
  'waits for its authorization without the money': { stage: order({ amount: 500 }, true) },
  'internal, waits for its authorization': { stage: order({ scope: 'internal' }, true) },
  'internal, waits for its authorization and date': { stage: order({ scope: 'internal', transferDate: LATER }, true) },
  'internal, waits for its date': { stage: order({ scope: 'internal', transferDate: LATER }) },
  'waits for its date': { stage: order({ transferDate: LATER }) },
  'waits for its money': { stage: order({ amount: 500 }) },
  'is to be paid by its caller': { stage: order({}) },
  'is released': { stage: reported({ status: 'released', serviceProviderId: 'p-1' }) },
  'is completed': { stage: reported({ status: 'completed' }) },
  'is returned': { stage: reported({ status: 'completed' }, { returned: true }) },
  'has failed': { stage: reported({ status: 'failed' }) },
  'is cancelled': {
    stage: async (world: ChangeWorld, staged: Omit<StagedTransfer, 'id'>) => {
      const id = await order({ transferDate: LATER })(world, staged);
      await patch(world.api, id, { status: 'cancelled' });
      return id;
    },
  },
  'waits for its authorization, built-in': { stage: order({}, true), account: 'built-in' },
  'is at its bank': { stage: order({}), account: 'built-in' },
  'is completed by its bank': { stage: atItsBank('completed'), account: 'built-in' },
  'money that matches nothing': { stage: arrived({}) },
  'money that matches nothing, at a bank': { stage: arrived({ provider: 'sandbox-bank' }), account: 'built-in' },
  'money that its provider holds': { stage: arrived({ held: true }) },
  'money for an account that is not active': { stage: arrived({ isNamed: true }) },
  'money that is completed': { stage: arrived({ isNamed: true, isActive: true }) },
  'money that is completed, at a bank': {
    stage: arrived({ isNamed: true, isActive: true, provider: 'sandbox-bank' }),
    account: 'built-in',
  },
} as const satisfies Readonly<Record<string, SituationKind>>;

export type Situation = keyof typeof SITUATIONS;

/** Parties that many transfers share. */
export type Parties = Pick<StagedTransfer, 'clientId' | 'receiverId' | 'bankAccount'>;

export async function newParties({ api }: ChangeWorld): Promise<Parties> {
  const money = moneyWorld(api);
  const clientId = await money.client('Ada');
  return { clientId, receiverId: await money.client('Grace'), bankAccount: await money.beneficiary(clientId) };
}

export async function stageTransfer(
  world: ChangeWorld,
  situation: Situation,
  parties: Parties,
): Promise<StagedTransfer> {
  const { stage, account }: SituationKind = SITUATIONS[situation];
  const money = moneyWorld(world.api);
  const amount = isIncoming(situation) ? 0 : BALANCE;
  const { clientId, receiverId } = parties;
  const accounts = {
    ...parties,
    source: account === undefined ? await money.account(clientId, { amount }) : await builtIn(world, clientId),
    destination: await money.account(receiverId),
  };
  return { ...accounts, id: await stage(world, accounts) };
}

async function builtIn({ api }: ChangeWorld, clientId: string): Promise<string> {
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, `opening-${account.id}`, BigInt(BALANCE) * 100n);
  return account.id;
}

function patch(api: TestApi, id: string, outgoingTransfer: Json, as: 'operator' | 'approver' = 'operator') {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return api.call('PATCH', `/outgoing-transfers/${id}`, body, { as, headers: { 'request-id': `request-${id}` } });
}

function post(api: TestApi, id: string, path: string, data: Json) {
  const body = { workflow: { code: 'direct' }, data };
  return api.call('POST', path, body, { key: `key-${id}`, headers: { 'request-id': `request-${id}` } });
}

const AUTHORIZED = { requirementConfiguration: { authorizationStatus: 'fulfilled' } };
const assign = (api: TestApi, id: string, accountId: string) =>
  post(api, id, `/incoming-transfers/${id}/assign`, { incomingTransfer: { accountId } });

/** More than half of what arrived, so that two are too much. */
const PART = { incomingTransfer: { amount: 6, statusReason: { code: 'CUST' } } };

type RequestOf = (api: TestApi, staged: StagedTransfer) => Promise<ApiResponse>;

/** Every change that a caller may request of a transfer, by the direction of the transfer. */
export const REQUESTS = {
  cancel: (api, { id }) => patch(api, id, { status: 'cancelled' }),
  'report its release': (api, { id }) => patch(api, id, { status: 'released', serviceProviderId: 'p-1' }),
  'report its completion': (api, { id }) => patch(api, id, { status: 'completed', serviceProviderReference: 'r-1' }),
  'report its failure': (api, { id }) => patch(api, id, { status: 'failed', statusReason: { code: 'AC03' } }),
  'report its return': (api, { id }) => patch(api, id, { returned: true, statusReason: { code: 'AC06' } }),
  authorize: (api, { id }) => patch(api, id, AUTHORIZED, 'approver'),
  recall: (api, { id }) => post(api, id, `/outgoing-transfers/${id}/recall`, {}),
  assign: (api, { id, source }) => assign(api, id, source),
  'return to its payer': (api, { id }) => post(api, id, `/incoming-transfers/${id}/return`, {}),
  'return a part': (api, { id }) => post(api, id, `/incoming-transfers/${id}/return`, PART),
} as const satisfies Readonly<Record<string, RequestOf>>;

export type RequestName = keyof typeof REQUESTS;

/** Where each is usual: there it needs no locks. */
export const USUAL: Readonly<Record<RequestName, readonly Situation[]>> = {
  cancel: ['waits for its date', 'waits for its money', 'internal, waits for its date'],
  'report its release': ['is to be paid by its caller'],
  'report its completion': ['is to be paid by its caller', 'is released'],
  'report its failure': ['is to be paid by its caller', 'is released'],
  'report its return': ['is completed'],
  authorize: [
    'waits for its authorization',
    'waits for its authorization and date',
    'waits for its authorization, built-in',
    'internal, waits for its authorization',
    'internal, waits for its authorization and date',
  ],
  recall: ['is completed by its bank'],
  assign: ['money that matches nothing', 'money that matches nothing, at a bank', 'money that its provider holds'],
  'return to its payer': [
    'money that matches nothing',
    'money that matches nothing, at a bank',
    'money for an account that is not active',
  ],
  'return a part': ['money that is completed', 'money that is completed, at a bank'],
};

export function isIncoming(situation: Situation): boolean {
  return situation.startsWith('money');
}

export function isCompleted(situation: Situation): boolean {
  return situation.startsWith('money that is completed');
}

export function isOfMoneyIn(request: RequestName): boolean {
  return request === 'assign' || request === 'return to its payer' || request === 'return a part';
}

type Happening = (world: ChangeWorld, staged: StagedTransfer) => Promise<unknown>;

const ofAccount =
  (change: string, which: 'source' | 'destination' = 'source'): Happening =>
  ({ database }, staged) =>
    database.asOwner(`UPDATE accounts SET ${change} WHERE id = '${staged[which]}'`);

const ofClient =
  (which: 'clientId' | 'receiverId'): Happening =>
  ({ database }, staged) =>
    database.asOwner(`UPDATE clients SET status = 'suspended' WHERE id = '${staged[which]}'`);

const reviewedBy =
  (role: 'approver' | 'operator', table: string, column: string): Happening =>
  ({ api, database }, { id }) =>
    database.asOwner(`UPDATE ${table} SET compliance_decided_by = '${api.users[role].id}', revision = revision + 1
      WHERE ${column} = '${id}'`);

const world = ({ api }: ChangeWorld): MoneyWorld => moneyWorld(api);

/** Each commits before the request is decided. */
export const HAPPENINGS: Readonly<Record<string, Happening>> = {
  nothing: async () => {},
  'a credit of its account': (of, { source }) => creditOf(of, source),
  'another payment of half the balance': payment(50),
  'another payment of all that is left': payment(null),
  'the suspension of its account': ofAccount("status = 'suspended'"),
  'the closing of its account': ofAccount("requested_change = 'close'"),
  'the activation of its account': ofAccount("status = 'active'"),
  'the suspension of the receiving account': ofAccount("status = 'suspended'", 'destination'),
  'the suspension of its client': ofClient('clientId'),
  'the suspension of the receiving client': ofClient('receiverId'),
  'its cancellation': ({ api }, { id }) => patch(api, id, { status: 'cancelled' }),
  'the report of its completion': ({ api }, { id }) => patch(api, id, { status: 'completed' }),
  'the report of its failure': ({ api }, { id }) => patch(api, id, { status: 'failed' }),
  'the report of its return': ({ api }, { id }) => patch(api, id, { returned: true }),
  'its authorization': ({ api }, { id }) => patch(api, id, AUTHORIZED, 'approver'),
  'its review by the approver': reviewedBy('approver', 'outgoing_transfers', 'id'),
  'the review of the receiver’s side by the approver': reviewedBy(
    'approver',
    'incoming_transfers',
    'outgoing_transfer_id',
  ),
  'its review by the operator': reviewedBy('operator', 'incoming_transfers', 'id'),
  'its assignment to another account': async ({ api }, { id, destination }) =>
    api.call('POST', `/incoming-transfers/${id}/assign`, {
      workflow: { code: 'direct' },
      data: { incomingTransfer: { accountId: destination } },
    }),
  'its return to its payer': ({ api }, { id }) =>
    api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' }, data: {} }),
  'the return of another part': ({ api }, { id }) =>
    api.call('POST', `/incoming-transfers/${id}/return`, {
      workflow: { code: 'direct' },
      data: { incomingTransfer: { amount: 5, statusReason: { code: 'AM05' } } },
    }),
};

function creditOf(of: ChangeWorld, accountId: string): Promise<unknown> {
  const provisionedAccountCredit = { accountId, amount: 5, currency: 'GBP', scope: 'external', scheme: 'swift' };
  const body = { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit } };
  return of.api.call('POST', '/provisioned-account-credits', body);
}

/** Of a fixed amount, or of all that the account has. */
function payment(amount: number | null): Happening {
  return async (of, { clientId, source, bankAccount }) => {
    const { available } = await world(of).balance(source);
    if (available <= 0) return;
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      amount: amount ?? available,
      scope: 'external',
      scheme: 'faster-payments',
      source: { type: 'client-account', accountId: source },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    };
    await of.api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
  };
}

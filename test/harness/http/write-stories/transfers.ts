import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { receivePayment } from '../../../../db/incoming-transfers/provisioned-account-credits.ts';
import { applyPaymentReport } from '../../../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type OutgoingTransferId } from '../../../../domain/common/ids.ts';
import type { Json } from '../../api.ts';
import { builtInAccounts } from '../../built-in-accounts.ts';
import { BAKERY, STERLING } from '../../parties/beneficiaries.ts';
import { openedAccountId } from './accounts.ts';
import { newClientId } from './parties.ts';
import type { Story, StoryCaller } from './story.ts';

const DIRECT = { code: 'client.direct' };

/** The answer to a change shows what GET shows right after it. */
async function expectShown({ api }: StoryCaller, path: string, answer: Json): Promise<void> {
  expect(answer).toEqual((await api.call('GET', path)).body.data);
}

/** A plug-in account with a hundred pounds, and a beneficiary's bank account. */
async function payer(caller: StoryCaller) {
  const { post } = caller;
  const clientId = await newClientId(caller);
  const accountId = await openedAccountId(caller, clientId);
  const provisionedAccountCredit = { accountId, amount: 100, currency: 'GBP', scope: 'external', scheme: 'swift' };
  await post('/provisioned-account-credits', { provisionedAccountCredit }, DIRECT);
  const beneficiary = { clientId, identity: BAKERY, bankAccounts: [STERLING] };
  const made = await post('/beneficiaries', { beneficiary });
  const { body } = await caller.api.call('GET', `/beneficiaries/${made.beneficiary.id}/bank-accounts`);
  return { clientId, accountId, bankAccountId: body.data.beneficiaryBankAccounts[0].id };
}

/** Transfers that their caller carries out and reports, and that are cancelled. */
export const transferStory: Story = async (caller) => {
  const { post, patch } = caller;
  const { clientId, accountId, bankAccountId } = await payer(caller);
  const order = async (amount: number, more: Json = {}): Promise<string> => {
    const outgoingTransfer = {
      ...{ clientId, currency: 'GBP', amount, scope: 'external', scheme: 'faster-payments' },
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccountId },
      ...more,
    };
    return (await post('/outgoing-transfers', { outgoingTransfer }, DIRECT)).outgoingTransfer.id;
  };
  const report = async (id: string, outgoingTransfer: Json, rejected?: number): Promise<void> => {
    const path = `/outgoing-transfers/${id}`;
    const answer = await patch(path, { outgoingTransfer }, rejected === undefined ? DIRECT : { ...DIRECT, rejected });
    if (rejected === undefined) await expectShown(caller, path, answer);
  };
  const [completed, failed, later, unpaid] = [
    await order(10),
    await order(20),
    await order(1, laterDate()),
    await order(500),
  ];
  await report(completed, { status: 'released', serviceProviderId: `${caller.name}-1` });
  await report(completed, { status: 'completed' });
  await report(completed, { status: 'completed' });
  await report(completed, { status: 'cancelled' }, 409);
  await report(completed, { returned: true, statusReason: { code: 'AC06' } });
  await report(failed, { status: 'failed', statusReason: { code: 'AC03', message: 'No such account' } });
  await report(failed, { status: 'completed' }, 409);
  // One waits for its date, the other for its money.
  for (const waiting of [later, unpaid]) {
    await report(waiting, { status: 'cancelled' });
    await report(waiting, { status: 'cancelled' }, 409);
  }
  await report(randomUUID(), { status: 'cancelled' }, 404);
};

/** A payment by a bank, which its caller recalls. */
export const recallStory: Story = async (caller) => {
  const { api, post, name } = caller;
  const clientId = await newClientId(caller);
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, `${name}-pay-in`, 10_000n);
  const { beneficiary } = await post('/beneficiaries', {
    beneficiary: { clientId, identity: BAKERY, bankAccounts: [STERLING] },
  });
  const { body } = await api.call('GET', `/beneficiaries/${beneficiary.id}/bank-accounts`);
  const destination = {
    type: 'beneficiary-bank-account',
    beneficiaryBankAccountId: body.data.beneficiaryBankAccounts[0].id,
  };
  const outgoingTransfer = {
    ...{ clientId, currency: 'GBP', amount: 10, scope: 'external', scheme: 'faster-payments', destination },
    source: { type: 'client-account', accountId: account.id },
  };
  const { id } = (await post('/outgoing-transfers', { outgoingTransfer }, DIRECT)).outgoingTransfer;
  const path = `/outgoing-transfers/${id}`;
  await post(`${path}/recall`, {}, { rejected: 409 });
  const report = {
    outcome: 'completed',
    serviceProviderId: `${name}-1`,
    serviceProviderReference: null,
    code: null,
  } as const;
  const notice = { id: asId<OutgoingTransferId>(id), provider: 'sandbox-bank' };
  await api.database.transaction((tx) => applyPaymentReport(tx, notice, report, api.services.configuration));
  await expectShown(caller, path, await post(`${path}/recall`, {}));
  await post(`${path}/recall`, {}, { rejected: 409 });
};

/** In two days, which is an open day of a scheme that never closes. */
function laterDate(): Json {
  return { transferDate: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10) };
}

/** Money that matches no account, assigned or returned by an operator. */
export const heldMoneyStory: Story = async (caller) => {
  const { api, post, follow, name } = caller;
  const clientId = await newClientId(caller);
  const accountId = await openedAccountId(caller, clientId);
  const arrive = async (number: number, held = false): Promise<string> => {
    const serviceProviderId = `${name}-${number}`;
    const payment = {
      ...{
        provider: 'custom-bank',
        currency: 'GBP',
        amountMinor: 1_000n,
        scheme: 'faster-payments',
        senderName: 'Ada',
      },
      ...{ receiver: { iban: null, accountNumber: null, routingCodes: {} }, senderAccount: null, remittanceText: null },
      ...{ serviceProviderId, serviceProviderReference: null, held },
    };
    await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
    const found = await api.call(
      'GET',
      `/incoming-transfers?data.incomingTransfer.serviceProviderId=${serviceProviderId}`,
    );
    return follow(found.body.data.incomingTransfers[0].id);
  };
  const assign = (id: string, to: string, rejected?: number) =>
    post(
      `/incoming-transfers/${id}/assign`,
      { incomingTransfer: { accountId: to } },
      rejected === undefined ? {} : { rejected },
    );
  const [assigned, stillHeld, returned] = [await arrive(1), await arrive(2, true), await arrive(3)];
  await assign(assigned, randomUUID(), 404);
  for (const id of [assigned, stillHeld]) {
    const answer = await assign(id, accountId);
    await expectShown(caller, `/incoming-transfers/${id}`, answer);
  }
  await assign(assigned, accountId, 409);
  const answer = await post(`/incoming-transfers/${returned}/return`, {});
  await expectShown(caller, `/incoming-transfers/${returned}`, answer);
  await post(`/incoming-transfers/${returned}/return`, {}, { rejected: 409 });
  await post(`/incoming-transfers/${randomUUID()}/return`, {}, { rejected: 404 });
};

/** Completed money, of which parts go back to its payer. */
export const returnStory: Story = async (caller) => {
  const { api, post, patch } = caller;
  const clientId = await newClientId(caller);
  const accountId = await openedAccountId(caller, clientId);
  const provisionedAccountCredit = {
    accountId,
    amount: 100,
    currency: 'GBP',
    scope: 'external',
    scheme: 'faster-payments',
  };
  await post('/provisioned-account-credits', { provisionedAccountCredit }, DIRECT);
  const found = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  const [arrived] = found.body.data.incomingTransfers;
  caller.conceal(arrived.transactionNumber, 'the number of the payment in');
  const path = `/incoming-transfers/${caller.follow(arrived.id)}`;
  const part = (amount?: number) => ({
    incomingTransfer: { ...(amount === undefined ? {} : { amount }), statusReason: { code: 'CUST' } },
  });
  const answer = await post(`${path}/return`, part(30));
  await expectShown(caller, path, answer);
  await post(`${path}/return`, part(70.01), { rejected: 422 });
  await post(`${path}/return`, {}, { rejected: 409 });
  const { outgoingTransferId } = answer.incomingTransfer.returns[0];
  await patch(`/outgoing-transfers/${outgoingTransferId}`, { outgoingTransfer: { status: 'completed' } }, DIRECT);
  await expectShown(caller, path, await post(`${path}/return`, part()));
  await post(`${path}/return`, part(), { rejected: 409 });
};

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { receivePayment } from '../../../../db/incoming-transfers/provisioned-account-credits.ts';
import type { Json } from '../../api.ts';
import { BAKERY, STERLING } from '../../parties/beneficiaries.ts';
import { openedAccountId } from './accounts.ts';
import { newClientId } from './parties.ts';
import type { Story, Teller } from './storyteller.ts';

const DIRECT = { code: 'client.direct' };

/** The answer to a change shows what GET shows right after it. */
async function expectShown({ api }: Teller, path: string, answer: Json): Promise<void> {
  expect(answer).toEqual((await api.call('GET', path)).body.data);
}

/** A plug-in account with a hundred pounds, and a beneficiary's bank account. */
async function payer(teller: Teller) {
  const { post } = teller;
  const clientId = await newClientId(teller);
  const accountId = await openedAccountId(teller, clientId);
  const provisionedAccountCredit = { accountId, amount: 100, currency: 'GBP', scope: 'external', scheme: 'swift' };
  await post('/provisioned-account-credits', { provisionedAccountCredit }, DIRECT);
  const beneficiary = { clientId, identity: BAKERY, bankAccounts: [STERLING] };
  const made = await post('/beneficiaries', { beneficiary });
  const { body } = await teller.api.call('GET', `/beneficiaries/${made.beneficiary.id}/bank-accounts`);
  return { clientId, accountId, bankAccountId: body.data.beneficiaryBankAccounts[0].id };
}

/** Transfers that their caller carries out and reports, and that are cancelled. */
export const transferStory: Story = async (teller) => {
  const { post, patch } = teller;
  const { clientId, accountId, bankAccountId } = await payer(teller);
  const order = async (amount: number, more: Json = {}): Promise<string> => {
    const outgoingTransfer = {
      ...{ clientId, currency: 'GBP', amount, scope: 'external', scheme: 'faster-payments' },
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccountId },
      ...more,
    };
    return (await post('/outgoing-transfers', { outgoingTransfer }, DIRECT)).outgoingTransfer.id;
  };
  const report = async (id: string, outgoingTransfer: Json, refused?: number): Promise<void> => {
    const path = `/outgoing-transfers/${id}`;
    const answer = await patch(path, { outgoingTransfer }, refused === undefined ? DIRECT : { ...DIRECT, refused });
    if (refused === undefined) await expectShown(teller, path, answer);
  };
  const [completed, failed, later, unpaid] = [
    await order(10),
    await order(20),
    await order(1, laterDate()),
    await order(500),
  ];
  await report(completed, { status: 'released', serviceProviderId: `${teller.name}-1` });
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

/** In two days, which is an open day of a scheme that never closes. */
function laterDate(): Json {
  return { transferDate: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10) };
}

/** Money that matches no account, assigned or returned by a person. */
export const heldMoneyStory: Story = async (teller) => {
  const { api, post, follow, name } = teller;
  const clientId = await newClientId(teller);
  const accountId = await openedAccountId(teller, clientId);
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
  const assign = (id: string, to: string, refused?: number) =>
    post(
      `/incoming-transfers/${id}/assign`,
      { incomingTransfer: { accountId: to } },
      refused === undefined ? {} : { refused },
    );
  const [assigned, stillHeld, returned] = [await arrive(1), await arrive(2, true), await arrive(3)];
  await assign(assigned, randomUUID(), 404);
  for (const id of [assigned, stillHeld]) {
    const answer = await assign(id, accountId);
    await expectShown(teller, `/incoming-transfers/${id}`, answer);
  }
  await assign(assigned, accountId, 409);
  const answer = await post(`/incoming-transfers/${returned}/return`, {});
  await expectShown(teller, `/incoming-transfers/${returned}`, answer);
  await post(`/incoming-transfers/${returned}/return`, {}, { refused: 409 });
  await post(`/incoming-transfers/${randomUUID()}/return`, {}, { refused: 404 });
};

import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Json } from '../harness/api.ts';

// A payment by a plug-in provider: its caller is the bank, so that a service without any other can pay.

/** Sends a request that must succeed, and answers its data. */
export type Send = (method: string, path: string, body?: Json) => Promise<Json>;

/** As a machine user, by its private key. */
export async function senderOf(
  url: string,
  caller: { readonly id: string; readonly kid: string; readonly key: string; readonly audience: string },
  log: () => string,
): Promise<Send> {
  const { id, kid, key, audience } = caller;
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ iss: id, sub: id, aud: audience, iat: now, exp: now + 3_600 })
    .setProtectedHeader({ alg: 'EdDSA', kid })
    .sign(createPrivateKey(key));
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}\n${log()}`);
    return JSON.parse(text).data;
  };
}

/** The provider's reports that a payment was sent, and has arrived. */
export async function reportPaid(send: Send, transferId: string): Promise<void> {
  for (const status of ['released', 'completed']) {
    const report = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status } } };
    await send('PATCH', `/outgoing-transfers/${transferId}`, report);
    const seen = await statusOf(send, transferId);
    if (seen !== status) throw new Error(`the payment is ${seen}, and not ${status}`);
  }
}

export async function statusOf(send: Send, transferId: string): Promise<string> {
  return (await send('GET', `/outgoing-transfers/${transferId}`)).outgoingTransfer.status;
}

/** A client's plug-in account with money, and a payment of it to a bakery at another bank. */
export async function orderPayment(send: Send): Promise<string> {
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' };
  const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
  const { client } = await send('POST', '/clients', {
    workflow: { code: 'direct' },
    data: { client: { identity, profile } },
  });
  const { account } = await send('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId: client.id, currency: 'GBP' } },
    connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
  });
  const connection = { state: 'completed-up-to-date', status: 'active' };
  await send('PATCH', `/accounts/${account.id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { status: 'active', connection } },
  });
  const credit = { accountId: account.id, amount: 250, currency: 'GBP', scope: 'external', scheme: 'faster-payments' };
  await send('POST', '/provisioned-account-credits', {
    workflow: { code: 'client.direct' },
    data: { provisionedAccountCredit: credit },
  });
  const bankAccount = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };
  const bakery = { clientId: client.id, identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' } };
  const { beneficiary } = await send('POST', '/beneficiaries', {
    workflow: { code: 'direct' },
    data: { beneficiary: { ...bakery, bankAccounts: [bankAccount] } },
  });
  const { outgoingTransfer } = await send('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: client.id,
        currency: 'GBP',
        amount: 19.99,
        scope: 'external',
        scheme: 'faster-payments',
        source: { type: 'client-account', accountId: account.id },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiary.bankAccounts[0].id },
      },
    },
  });
  return outgoingTransfer.id;
}

// The demo's main job, by a client generated from the OpenAPI document (generated-client.long.test.ts compiles and runs it against
// the generated client): clients, accounts at the sandbox bank, money in, a payment to another bank.
import { setTimeout as sleep } from 'node:timers/promises';
import * as api from '#client';

const [apiUrl = '', sandboxUrl = '', token = ''] = process.argv.slice(2);
api.defaults.baseUrl = apiUrl;
api.defaults.headers = { authorization: `Bearer ${token}` };

const POLLS_MAX = 600;
const POLL_MS = 100;

async function createClient(identity: api.ClientIdentityInput): Promise<api.Client> {
  const residence = { country: 'GB', city: 'London' } as const;
  const answer = await api.createClient({
    workflow: { code: 'direct' },
    data: { client: { identity, profile: { identityType: 'individual', residentialAddress: residence } } },
  });
  if (answer.status !== 201) throw rejected(answer);
  return answer.data.data.client;
}

async function openAccount(clientId: string): Promise<api.Account> {
  const opened = await api.createAccount({
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency: 'GBP' } },
  });
  if (opened.status !== 201) throw rejected(opened);
  return until(opened.data.data.account.id, ({ status }) => status === 'active');
}

async function until(accountId: string, holds: (account: api.Account) => boolean): Promise<api.Account> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const shown = await api.getAccount(accountId);
    if (shown.status !== 200) throw rejected(shown);
    const { account } = shown.data.data;
    if (holds(account)) return account;
    await sleep(POLL_MS);
  }
  throw new Error('The account did not get there');
}

async function pay(outgoingTransfer: api.OutgoingTransferInput, idempotencyKey: string): Promise<string> {
  const body: api.CreateOutgoingTransferRequest = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const paid = await api.createOutgoingTransfer(body, { idempotencyKey });
  if (paid.status !== 201) throw rejected(paid);
  const again = await api.createOutgoingTransfer(body, { idempotencyKey });
  const { id } = paid.data.data.outgoingTransfer;
  if (again.status !== 201 || id === undefined || again.data.data.outgoingTransfer.id !== id) throw rejected(again);
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const shown = await api.getOutgoingTransfer(id);
    if (shown.status !== 200) throw rejected(shown);
    const { status, statusReason } = shown.data.data.outgoingTransfer;
    if (status === 'completed') return status;
    if (status === 'failed' || status === 'cancelled') throw new Error(`It is ${status}: ${statusReason?.code}`);
    await sleep(POLL_MS);
  }
  throw new Error('The transfer did not get there');
}

function rejected(answer: { status: number; data?: unknown }): Error {
  return new Error(`${answer.status}: ${JSON.stringify(answer.data)}`);
}

const ada = await createClient({ type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' });
const grace = await createClient({ type: 'individual', givenName: 'Grace', familyName: 'Hopper', country: 'GB' });
if (ada.identity.type !== 'individual' || ada.identity.givenName !== 'Ada') throw new Error('this is not Ada');
// @ts-expect-error: the type of an identity says which fields it has.
ada.identity satisfies api.CorporateClientIdentity;
// @ts-expect-error: a country is one of the list.
const nowhere: api.Country = 'XX';
// @ts-expect-error: a transfer needs an amount.
const nothing: api.OutgoingTransferInput = { clientId: ada.id, currency: 'GBP', scope: 'internal' };
if (nowhere === undefined || nothing === undefined) throw new Error('Only the compiler looks at these');

const source = await openAccount(ada.id);
const destination = await openAccount(grace.id);
const payment = { amount: 250, currency: 'GBP', scheme: 'faster-payments', senderName: 'Charles Babbage' };
await fetch(`${sandboxUrl}/bank/payments-in`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ ...payment, reference: 'Analytical Engine', iban: source.iban }),
});
await until(source.id, ({ availableBalance }) => availableBalance === 250);

const common = {
  clientId: ada.id,
  currency: 'GBP',
  source: { type: 'client-account', accountId: source.id },
} as const;
const internal = await pay(
  {
    ...common,
    amount: 40.5,
    scope: 'internal',
    destination: { type: 'client-account', accountId: destination.id },
  },
  'internal',
);

const bakery = await api.createBeneficiary({
  workflow: { code: 'direct' },
  data: {
    beneficiary: {
      clientId: ada.id,
      identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
      bankAccounts: [
        { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
      ],
    },
  },
});
if (bakery.status !== 201) throw rejected(bakery);
const beneficiaryBankAccountId = bakery.data.data.beneficiary.bankAccounts?.[0]?.id ?? '';
const external = await pay(
  {
    ...common,
    amount: 19.99,
    scope: 'external',
    scheme: 'faster-payments',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
  },
  'external',
);

const rejection = await api.getClient('0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01');
if (rejection.status !== 404 || rejection.data.code !== 'common.coding.internal.record_not_found')
  throw rejected(rejection);
const entries = await api.listAccountStatements(source.id);
if (entries.status !== 200) throw rejected(entries);
const balances = entries.data.data.accountStatements.map(({ balance }) => balance);
console.log(JSON.stringify({ internal, external, balances }));

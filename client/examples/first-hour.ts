// The first hour with the service: a client, an account, funds, a payment, its webhook, a rejection handled, a list walked.
// Needs API_URL, SANDBOX_URL, AUDIENCE, MACHINE_USER, KEY_ID and PRIVATE_KEY (PEM, or a JSON Web Key in one line).
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { createClient, isRejection } from '@financial-accounts/client';
import { createSandbox } from '@financial-accounts/client/sandbox';
import { webhookListener } from '@financial-accounts/client/webhooks';

const { API_URL = '', SANDBOX_URL = '', AUDIENCE = '', MACHINE_USER = '', KEY_ID = '', PRIVATE_KEY = '' } = process.env;
const key = { kid: KEY_ID, privateKey: PRIVATE_KEY };
const service = createClient({ baseUrl: API_URL, machineUser: MACHINE_USER, key, audience: AUDIENCE });
const sandbox = createSandbox({ baseUrl: SANDBOX_URL });

// A receiver of webhooks. What is handled is not sent again: a real one stores it first.
const webhooks = new EventEmitter();
const listener = webhookListener({
  secrets: () => subscription.secret,
  handle: ({ name, event }) => webhooks.emit(name, event),
  failed: console.error,
});
const receiver = createServer(listener);
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const address = receiver.address();
const port = typeof address === 'object' ? address?.port : undefined;
const subscription = await service.webhookSubscriptions.create({ url: `http://127.0.0.1:${port}/webhooks` });
const announced = once(webhooks, 'outgoing-transfers.outgoing-transfer-completed');

// A client with an account, and money that arrives from outside.
const ada = await service.clients.create({
  identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' },
  profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
});
const opened = await service.accounts.create({ clientId: ada.id, currency: 'GBP' });
const account = await service.accounts.waitFor(opened, 'active');
await sandbox.payIn({ amount: 250, currency: 'GBP', scheme: 'faster-payments', iban: account.iban ?? '' });

// A payment to another bank. Under the same key it is made once, however often it is sent.
const routingCodes = { 'sort-code': '601613' };
const bakery = await service.beneficiaries.create({
  clientId: ada.id,
  identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
  bankAccounts: [{ country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes }],
});
const payment = {
  clientId: ada.id,
  currency: 'GBP',
  amount: 19.99,
  scope: 'external',
  scheme: 'faster-payments',
  source: { type: 'client-account', accountId: account.id },
  destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bakery.bankAccounts[0]?.id ?? '' },
} as const;
const paid = await service.outgoingTransfers.create(payment, { idempotencyKey: `invoice-${ada.id}` });
const completed = await service.outgoingTransfers.waitFor(paid, 'completed');
console.log(`Paid ${completed.amount} ${completed.currency} at ${completed.transferDate}`);

// A rejection says which rule was broken; the compiler knows the codes of each operation.
try {
  await service.outgoingTransfers.create({ ...payment, amount: 5_000_000 });
} catch (error) {
  if (!isRejection(error, 'createOutgoingTransfer') || error.code !== 'transfer.amount.limit_exceeded') throw error;
  console.log(`Rejected: ${error.problems[0]?.message}`);
}

// The account's statement, page by page.
for await (const entry of service.accounts.accountStatements.list(account.id)) {
  console.log(`${entry.entryDateTime.toISOString().slice(0, 10)} ${entry.balance}`);
}

await announced;
await service.webhookSubscriptions.delete(subscription.id);
receiver.close();
receiver.closeAllConnections();

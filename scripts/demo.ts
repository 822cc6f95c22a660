import { randomUUID } from 'node:crypto';
import { type Json, list, object, text } from './demo/demo-answers.ts';
import { type Receiver, startReceiver } from './demo/demo-receiver.ts';
import { Service } from './demo/demo-service.ts';
import { aligned } from './frame/aligned.ts';
import { type Endpoints, readEndpoints } from './frame/endpoints.ts';
import { describeFailure, RemedyError } from './frame/remedy.ts';
import { developmentToken } from './start/development-users.ts';
import { dataDirectory } from './start/start-environment.ts';

/**
 * `npm run demo`: the main use case against the running service, with its own webhook receiver. Every step goes over
 * HTTP like a caller's; amounts stay the service's text.
 */
async function main(): Promise<void> {
  const directory = dataDirectory(process.env);
  const endpoints = readEndpoints(directory);
  const token = await developmentToken(directory, endpoints, { now: new Date() });
  const service = new Service(endpoints, token);
  const receiver = await startReceiver();
  try {
    await runMainJob(service, receiver, endpoints);
  } finally {
    await service.forget(receiver);
    receiver.server.close();
    receiver.server.closeAllConnections();
  }
}

async function runMainJob(service: Service, receiver: Receiver, endpoints: Endpoints): Promise<void> {
  step('A webhook receiver subscribes to every event');
  const subscription = await service.post('/webhook-subscriptions', 'direct', {
    webhookSubscription: { url: receiver.url, description: 'demo' },
  });
  receiver.trust(text(subscription, 'webhookSubscription', 'secret'));
  receiver.subscriptionId = text(subscription, 'webhookSubscription', 'id');

  step('Two clients open an account each at the sandbox bank');
  const ada = await service.client('Ada', 'Lovelace');
  const grace = await service.client('Grace', 'Hopper');
  show('Ada Lovelace', `client ${ada}`);
  show('Grace Hopper', `client ${grace}`);
  const [source, destination] = [await service.openAccount(ada), await service.openAccount(grace)];
  show('Ada', `account ${text(source, 'id')}, IBAN ${text(source, 'iban')}`);
  show('Grace', `account ${text(destination, 'id')}, IBAN ${text(destination, 'iban')}`);

  step("Ada asks whose Grace's account is: Confirmation of Payee, by the bank's name directory");
  for (const name of ['Grace Hopper', 'HOPPER, Grace', 'G Hopper', 'Charles Babbage']) {
    show(name, await service.comparedName(ada, destination, name));
  }

  step('250 GBP arrive from outside, paid to Ada by a payer at another bank');
  await service.payIn(source);
  await service.until(`/accounts/${text(source, 'id')}`, 'account', ({ availableBalance }) => availableBalance === 250);
  show('Ada', 'has 250 GBP');

  step('Ada pays Grace 40.50 GBP: settled at once, in one transaction');
  const internal = await service.pay(ada, source, '40.50', {
    scope: 'internal',
    destination: { type: 'client-account', accountId: text(destination, 'id') },
  });
  const settled = await service.get(`/outgoing-transfers/${text(internal, 'id')}`);
  show(text(internal, 'transactionNumber'), text(settled, 'outgoingTransfer', 'status'));

  step('Ada pays a bakery 19.99 GBP by Faster Payments: through a workflow and the bank');
  const beneficiary = await service.post('/beneficiaries', 'direct', {
    beneficiary: {
      clientId: ada,
      identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
      bankAccounts: [
        { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
      ],
    },
  });
  const [bankAccount] = list(object(beneficiary, 'beneficiary'), 'bankAccounts');
  if (bankAccount === undefined) throw new RemedyError('The beneficiary came back without its bank account.');
  const external = await service.pay(ada, source, '19.99', {
    scope: 'external',
    scheme: 'faster-payments',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: text(bankAccount, 'id') },
  });
  const path = `/outgoing-transfers/${text(external, 'id')}`;
  const paid = await service.until(path, 'outgoingTransfer', ({ status }) => status === 'completed');
  show(text(paid, 'transactionNumber'), text(paid, 'status'));
  if (endpoints.uiUrl !== null) {
    const workflow = encodeURIComponent(`outgoing-transfer/${text(external, 'id')}`);
    show('Workflow', `${endpoints.uiUrl}/namespaces/${endpoints.temporalNamespace}/workflows/${workflow}`);
  }

  await showMoreAccounts(service, ada, source);

  step('What the webhook receiver got, each with a good signature');
  await receiver.waitFor('outgoing-transfer-completed', text(external, 'id'));
  await receiver.waitFor('outgoing-transfer-completed', text(internal, 'id'));
  for (const { sequence, type, resourceId } of receiver.received) {
    console.log(`  ${String(sequence).padStart(2)}  ${type.padEnd(34)} ${resourceId}`);
  }
  await showBatch(service, ada, source, destination);
}

/** Two payments in one request, of which one is too much. */
async function showBatch(service: Service, ada: string, source: Json, destination: Json): Promise<void> {
  step('Ada pays Grace 1 and 1,000 GBP in one batch: each item is created or refused by itself');
  const items = [1, 1_000].map((amount) => ({
    reference: randomUUID(),
    outgoingTransfer: {
      clientId: ada,
      currency: 'GBP',
      amount,
      scope: 'internal',
      source: { type: 'client-account', accountId: text(source, 'id') },
      destination: { type: 'client-account', accountId: text(destination, 'id') },
    },
  }));
  const batch = await service.post('/outgoing-transfers/batch', 'client.direct', { items });
  for (const result of list(batch, 'results')) {
    const why = result.result === 'refused' ? `, ${text(result, 'error', 'code')}` : '';
    show(text(result, 'reference'), `${text(result, 'result')}${why}`);
  }
}

/** A sub-account, an account taken over from its bank, the statement, the audit log. */
async function showMoreAccounts(service: Service, ada: string, source: Json): Promise<void> {
  step('Ada saves 60 GBP in a sub-account, which others pay by its ledger number');
  const savings = await service.subAccount(source, 'Savings');
  await service.pay(ada, source, '60.00', {
    scope: 'internal',
    destination: { type: 'client-account', accountId: text(savings, 'id') },
  });
  show('Savings', `60 GBP, paid in to ${text(source, 'iban')} with the reference ${text(savings, 'ledgerNumber')}`);

  step('A company moves over from the bank, with its account and balance');
  const migrated = await service.migratedAccount('Lakeside Mills Ltd', 84_000);
  show('Lakeside Mills Ltd', `account ${text(migrated, 'id')} with ${migrated.availableBalance} GBP`);

  await showStatement(service, text(source, 'id'));

  step('Who did what to the sub-account');
  const audit = await service.get(`/audit-entries?data.auditEntry.resourceId=${text(savings, 'id')}`);
  for (const entry of list(audit, 'auditEntries')) {
    show(
      text(entry, 'occurredAt'),
      `machine user ${text(entry, 'actor')}: ${text(entry, 'resource')} ${text(entry, 'action')}`,
    );
  }
}

/** As a page, as a file for other programs, and the balance at an instant. */
async function showStatement(service: Service, accountId: string): Promise<void> {
  step("Ada's statement");
  const entries = list(await service.get(`/accounts/${accountId}/account-statements`), 'accountStatements');
  printStatement(entries);
  const [first] = entries;
  if (first !== undefined) {
    const at = text(first, 'entryDateTime');
    const balance = await service.get(`/accounts/${accountId}/balances?data.balance.at=${at}`);
    show(`Balance at ${at}`, `${object(balance, 'balance').balance} GBP`);
  }
  const file = await service.file(`/accounts/${accountId}/account-statements/export?format=camt.053`);
  show('The same as camt.053', `${file.length} characters, ${file.split('<Ntry>').length - 1} entries`);
}

function printStatement(entries: readonly Json[]): void {
  const columns = [
    'entryDateTime',
    'transactionNumber',
    'transactionType',
    'entryType',
    'direction',
    'amount',
    'balance',
  ];
  const rows = [columns, ...entries.map((entry) => columns.map((column) => String(entry[column])))];
  console.log(aligned(rows).replaceAll(/^/gm, '  '));
}

function step(title: string): void {
  console.log(`\n${title}`);
}

function show(what: string, how: string): void {
  console.log(`  ${what}: ${how}`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});

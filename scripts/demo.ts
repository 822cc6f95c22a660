import { setTimeout as sleep } from 'node:timers/promises';
import { isJson, type Json, list, object, text } from './demo/demo-answers.ts';
import { type Receiver, startReceiver } from './demo/demo-receiver.ts';
import { type Endpoints, readEndpoints } from './frame/endpoints.ts';
import { describeFailure, RemedyError } from './frame/remedy.ts';
import { developmentToken } from './start/development-users.ts';
import { dataDirectory } from './start/start-environment.ts';

/**
 * `npm run demo`: the main use case against the running service, with its own webhook receiver. Every step goes over
 * HTTP like a caller's; amounts stay the service's text.
 */
const WAIT_LIMIT_MS = 60_000;
const POLL_MS = 100;

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

  step("Ada's statement");
  const statement = await service.get(`/accounts/${text(source, 'id')}/account-statements`);
  printStatement(list(statement, 'accountStatements'));

  step('What the webhook receiver got, each with a good signature');
  await receiver.waitFor('outgoing-transfer-completed', text(external, 'id'));
  await receiver.waitFor('outgoing-transfer-completed', text(internal, 'id'));
  for (const { sequence, type, resourceId } of receiver.received) {
    console.log(`  ${String(sequence).padStart(2)}  ${type.padEnd(34)} ${resourceId}`);
  }
}

class Service {
  readonly #endpoints: Endpoints;
  readonly #token: string;

  constructor(endpoints: Endpoints, token: string) {
    this.#endpoints = endpoints;
    this.#token = token;
  }

  async post(path: string, code: string, data: unknown): Promise<Json> {
    return this.#call('POST', path, JSON.stringify({ workflow: { code }, data }));
  }

  get(path: string): Promise<Json> {
    return this.#call('GET', path);
  }

  async client(givenName: string, familyName: string): Promise<string> {
    const identity = { type: 'individual', givenName, familyName, country: 'GB' };
    const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
    const created = await this.post('/clients', 'direct', { client: { identity, profile } });
    show(`${givenName} ${familyName}`, `client ${text(created, 'client', 'id')}`);
    return text(created, 'client', 'id');
  }

  /** Opens an account and waits until the bank has opened it, through the workflow account-connection. */
  async openAccount(clientId: string): Promise<Json> {
    const created = await this.post('/accounts', 'client.issuing', { account: { clientId, currency: 'GBP' } });
    const id = text(created, 'account', 'id');
    return this.until(`/accounts/${id}`, 'account', ({ status }) => status === 'active');
  }

  /** The directory's result for a name and an account, in a word or two. */
  async comparedName(clientId: string, account: Json, name: string): Promise<string> {
    const [givenName = '', familyName = ''] = name.split(' ');
    const bankAccount = {
      accountNumber: text(account, 'accountNumber'),
      routingCodes: object(account, 'routingCodes'),
    };
    const identity = { type: 'individual', givenName, familyName };
    const answer = await this.post('/beneficiary-verifications', 'client.pay-uk.cop', {
      beneficiary: { clientId, identity, bankAccount },
    });
    const { matched, reason, accountHolderName } = object(object(answer, 'beneficiaryVerification'), 'result');
    if (matched === true) return 'matched';
    return accountHolderName === null ? `${reason}` : `${reason}, the holder is ${accountHolderName}`;
  }

  /** Writes the amount as digits: money is never a float, not even here. */
  async pay(clientId: string, from: Json, amount: string, to: Json): Promise<Json> {
    const source = { type: 'client-account', accountId: text(from, 'id') };
    const transfer = JSON.stringify({ clientId, currency: 'GBP', description: 'Demo', source, ...to });
    const withAmount = transfer.replace(/^\{/, `{"amount":${amount},`);
    const body = `{"workflow":{"code":"client.direct"},"data":{"outgoingTransfer":${withAmount}}}`;
    return object(await this.#call('POST', '/outgoing-transfers', body), 'outgoingTransfer');
  }

  /** Pays like an outside payer: at the bank, which notifies the service by a signed callback. */
  async payIn(account: Json): Promise<void> {
    const body = {
      amount: 250,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'Charles Babbage',
      reference: 'Analytical Engine',
      iban: text(account, 'iban'),
    };
    const answer = await fetch(`${this.#endpoints.sandboxUrl}/bank/payments-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new RemedyError(`The sandbox bank refused the payment: ${await answer.text()}`);
  }

  async until(path: string, name: string, holds: (resource: Json) => boolean): Promise<Json> {
    const deadline = Date.now() + WAIT_LIMIT_MS;
    for (;;) {
      const resource = object(await this.get(path), name);
      if (holds(resource)) return resource;
      if (Date.now() > deadline) throw new RemedyError(`${path} did not get there: ${JSON.stringify(resource)}`);
      await sleep(POLL_MS);
    }
  }

  async forget(receiver: Receiver): Promise<void> {
    if (receiver.subscriptionId !== null)
      await this.#call('DELETE', `/webhook-subscriptions/${receiver.subscriptionId}`);
  }

  async #call(method: string, path: string, body?: string): Promise<Json> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.#endpoints.apiUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }).catch((error: unknown) => {
      throw new RemedyError(`No service answers at ${this.#endpoints.apiUrl}. Run "npm start" in another terminal.`, {
        cause: error,
      });
    });
    const content = await answer.text();
    if (!answer.ok) throw new RemedyError(`${method} ${path} answered ${answer.status}: ${content}`);
    const parsed: unknown = JSON.parse(content);
    return isJson(parsed) ? object(parsed, 'data') : {};
  }
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
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  for (const row of rows) console.log(`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`);
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

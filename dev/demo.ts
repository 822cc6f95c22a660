import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ActionableError, describeFailure } from '../cli/common/actionable-error.ts';
import { dataDirectory } from '../cli/common/data-directory.ts';
import { type Endpoints, readEndpoints } from '../cli/common/endpoints.ts';
import { textTable } from '../cli/common/text-table.ts';
import { type Account, createClient, type FinancialAccountsClient } from '../client/index.ts';
import { createSandbox, type Sandbox } from '../client/sandbox.ts';
import { runFilesDemo } from './demo/demo-files.ts';
import { type Receiver, startReceiver } from './demo/demo-receiver.ts';
import { comparedName, migratedAccount, openAccount, pay, payBakery, payIn, show, step } from './demo/demo-steps.ts';
import { developmentToken } from './start/development-users.ts';

/** What the demo talks to: the running service, and its sandbox. */
interface World {
  readonly service: FinancialAccountsClient;
  readonly sandbox: Sandbox;
  readonly endpoints: Endpoints;
}

/**
 * `npm run demo`: the main use case against the running service, with its own webhook receiver. Every step goes through the
 * client, as a caller's would. `-- --bank files`: its main job through the bank that takes files.
 */
async function main(): Promise<void> {
  const isByFiles = wantsFiles();
  const directory = dataDirectory(process.env);
  const endpoints = readEndpoints(directory);
  const token = () => developmentToken(directory, endpoints, { now: new Date() });
  const service = createClient({ baseUrl: endpoints.apiUrl, token });
  const world = { service, sandbox: createSandbox({ baseUrl: endpoints.sandboxUrl }), endpoints };
  const receiver = await startReceiver();
  try {
    await subscribe(service, receiver);
    if (isByFiles) await runFilesDemo(service, endpoints.sandboxUrl, receiver);
    else await runDemo(world, receiver);
  } catch (error) {
    throw isAway(error)
      ? new ActionableError(`No service answers at ${endpoints.apiUrl}. Run "npm start" in another terminal.`, {
          cause: error,
        })
      : error;
  } finally {
    if (receiver.subscriptionId !== null) await service.webhookSubscriptions.delete(receiver.subscriptionId);
    receiver.server.close();
    receiver.server.closeAllConnections();
  }
}

/** `--bank files`: through the bank that takes files. */
function wantsFiles(): boolean {
  const usage = 'Usage: npm run demo [-- --bank files]';
  try {
    const { bank } = parseArgs({ options: { bank: { type: 'string' } } }).values;
    if (bank === undefined || bank === 'files') return bank === 'files';
  } catch (error) {
    throw new ActionableError(usage, { cause: error });
  }
  throw new ActionableError(usage);
}

function isAway(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'client.connection.failed';
}

async function subscribe(service: FinancialAccountsClient, receiver: Receiver): Promise<void> {
  step('A webhook receiver subscribes to every event');
  const subscription = await service.webhookSubscriptions.create({ url: receiver.url, description: 'demo' });
  receiver.trust(subscription.secret);
  receiver.subscriptionId = subscription.id;
}

async function runDemo(world: World, receiver: Receiver): Promise<void> {
  const { service, sandbox, endpoints } = world;
  step('Two clients open an account each at the sandbox bank');
  const source = await openAccount(service, 'Ada', 'Lovelace');
  const destination = await openAccount(service, 'Grace', 'Hopper');
  for (const [name, account] of [['Ada Lovelace', source] as const, ['Grace Hopper', destination] as const]) {
    show(name, `client ${account.clientId}`);
    show(name, `account ${account.id}, IBAN ${account.iban}`);
  }

  step("Ada checks who holds Grace's account: Confirmation of Payee, by the bank's name directory");
  for (const name of ['Grace Hopper', 'HOPPER, Grace', 'G Hopper', 'Charles Babbage']) {
    show(name, await comparedName(service, source.clientId, destination, name));
  }

  step('250 GBP arrive from outside, paid to Ada by a payer at another bank');
  await payIn(service, sandbox, source, 250);
  show('Ada', `has ${(await service.accounts.get(source.id)).availableBalance} GBP`);

  step('Ada pays Grace 40.50 GBP: settled at once, in one transaction');
  const internal = await pay(service, source, 40.5, {
    scope: 'internal',
    destination: { type: 'client-account', accountId: destination.id },
  });
  show(internal.transactionNumber, (await service.outgoingTransfers.get(internal.id)).status);

  step('Ada pays a bakery 19.99 GBP by Faster Payments: through a workflow and the bank');
  const external = await payBakery(service, source);
  show(external.transactionNumber, external.status);
  if (endpoints.uiUrl !== null) {
    const workflow = encodeURIComponent(`outgoing-transfer/${external.id}`);
    show('Workflow', `${endpoints.uiUrl}/namespaces/${endpoints.temporalNamespace}/workflows/${workflow}`);
  }

  await showMoreAccounts(world, source);

  step('What the webhook receiver received, each with a valid signature');
  await receiver.waitFor('outgoing-transfer-completed', external.id);
  await receiver.waitFor('outgoing-transfer-completed', internal.id);
  receiver.showReceived();
  await showBatch(service, source, destination);
}

/** Two payments in one request, one of which exceeds the balance. */
async function showBatch(service: FinancialAccountsClient, source: Account, destination: Account): Promise<void> {
  step('Ada pays Grace 1 and 1,000 GBP in one batch: each item is created or rejected by itself');
  const results = await service.outgoingTransfers.batch.create(
    [1, 1_000].map((amount) => ({
      reference: randomUUID(),
      outgoingTransfer: {
        clientId: source.clientId,
        currency: 'GBP',
        amount,
        scope: 'internal',
        source: { type: 'client-account', accountId: source.id },
        destination: { type: 'client-account', accountId: destination.id },
      },
    })),
  );
  for (const result of results) {
    show(result.reference, result.result === 'rejected' ? `rejected, ${result.error.code}` : result.result);
  }
}

/** A sub-account, an account taken over from its bank, the statement, the audit log. */
async function showMoreAccounts({ service, sandbox }: World, source: Account): Promise<void> {
  step('Ada saves 60 GBP in a sub-account, which others pay by its ledger number');
  const savings = await service.accounts.createSubAccount({ mainAccountId: source.id, alias: 'Savings' });
  await pay(service, source, 60, {
    scope: 'internal',
    destination: { type: 'client-account', accountId: savings.id },
  });
  show('Savings', `60 GBP, paid in to ${source.iban} with the reference ${savings.ledgerNumber}`);

  step('A company moves over from the bank, with its account and balance');
  const migrated = await migratedAccount(service, sandbox, 'Lakeside Mills Ltd', 84_000);
  show('Lakeside Mills Ltd', `account ${migrated.id} with ${migrated.availableBalance} GBP`);

  await showStatement(service, source.id);

  step('Who did what to the sub-account');
  for await (const entry of service.auditEntries.list({ resourceId: savings.id })) {
    show(entry.occurredAt.toISOString(), `machine user ${entry.actor}: ${entry.resource} ${entry.action}`);
  }
}

const STATEMENT_COLUMNS = [
  'entryDateTime',
  'transactionNumber',
  'transactionType',
  'entryType',
  'direction',
  'amount',
  'balance',
] as const;

/** As a page, as a file for other programs, and the balance at an instant. */
async function showStatement(service: FinancialAccountsClient, accountId: string): Promise<void> {
  step("Ada's statement");
  const { resources: entries } = await service.accounts.accountStatements.list(accountId).page();
  const shown = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
  const rows = entries.map((entry) => STATEMENT_COLUMNS.map((column) => shown(entry[column])));
  console.log(textTable([[...STATEMENT_COLUMNS], ...rows]).replaceAll(/^/gm, '  '));
  const [first] = entries;
  if (first !== undefined) {
    const at = first.entryDateTime;
    const { balance } = await service.accounts.balances.get(accountId, { at });
    show(`Balance at ${at.toISOString()}`, `${balance} GBP`);
  }
  const file = await service.accounts.accountStatements.export(accountId, { format: 'camt.053' });
  show('The same as camt.053', `${file.length} characters, ${file.split('<Ntry>').length - 1} entries`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});

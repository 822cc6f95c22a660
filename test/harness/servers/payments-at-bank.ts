import { expect } from 'vitest';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import type { Provider } from '../../../activities/providers/port.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { OPERATIONS } from '../../../cli/operations/operations.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { lazyTemporalClient } from '../../../loops/temporal.ts';
import { type Json, startApi, type TestApi } from '../api.ts';
import { TESTER } from '../audit.ts';
import { builtInAccounts } from '../built-in-accounts.ts';
import { type FaultyServer, startFaultyServer } from '../faults/faulty-server.ts';
import { type MoneyWorld, moneyWorld } from '../money.ts';
import { type PaymentSteps, paymentSteps } from '../transfers/payment-steps.ts';
import { createTestDatabase } from './postgres.ts';
import { eventually, SANDBOX_SECRET, startSandbox, temporaryDirectory } from './sandbox.ts';
import '../workflows/temporal-runtime.ts';

/** The API and the sandbox bank, whose payments a test takes step by step, without Temporal. */
export interface PaymentsAtBank {
  readonly api: TestApi;
  readonly world: MoneyWorld;
  readonly dependencies: ActivityDependencies;
  readonly steps: PaymentSteps;
  /** Between the service and the bank: distorts answers, and remembers requests. */
  readonly server: FaultyServer;
  readonly client: string;
  bank(method: string, path: string, body?: Json): Promise<Json>;
  /** Waits until the bank has no callback left to deliver. */
  callbacksDelivered(): Promise<void>;
  /** A new account in pounds with this much money. */
  account(amount: number): Promise<Json>;
  /** An external transfer from the account; returns its id. */
  pay(accountId: string, amount: number, change?: Json): Promise<string>;
  transfer(id: string): Promise<Json>;
  /** A command of `npm run operate`, without Temporal: its exit status and what it prints. */
  operate(command: string, ...given: string[]): Promise<{ readonly exit: number; readonly printed: string[] }>;
  stop(): Promise<void>;
}

export async function startPaymentsAtBank(
  name: string,
  options: {
    readonly clockOffset: () => string;
    readonly prices?: Configuration['prices'];
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<PaymentsAtBank> {
  const directory = temporaryDirectory();
  const database = await createTestDatabase(name);
  const providers = new Map<string, Provider>();
  const { clockOffset, prices = [], env = {} } = options;
  const api = await startApi(database, {
    providers,
    clockOffset,
    env,
    configuration: (configuration) => ({ ...configuration, prices }),
  });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  const sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  const server = await startFaultyServer(sandbox.url);
  providers.set('sandbox-bank', createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }));
  const { configuration, environment, keyring, logger } = api.services;
  const { mail } = environment;
  const dependencies = { database: api.database, providers, configuration, logger, publicUrl: api.url, mail, keyring };
  const world = moneyWorld(api);
  const builtIn = builtInAccounts(api);
  const client = await world.client('Ada');
  const bankAccount = await world.beneficiary(client);

  async function bank(method: string, path: string, body?: Json): Promise<Json> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`${sandbox.url}/bank${path}`, init);
    const answer = await response.json();
    expect(response.ok, JSON.stringify(answer)).toBe(true);
    return answer;
  }

  return {
    api,
    world,
    dependencies,
    server,
    client,
    bank,
    steps: paymentSteps(dependencies),
    callbacksDelivered: async () => {
      await eventually('no callback', async () => ((await bank('GET', '/callbacks')).pending === 0 ? true : undefined));
    },
    account: async (amount) => {
      const account = await builtIn.opened(client);
      const money = { amount, currency: 'GBP', scheme: 'faster-payments', reference: account.ledgerNumber };
      await bank('POST', '/payments-in', money);
      const isThere = async () => ((await world.balance(account.id)).available === amount ? true : undefined);
      await eventually('the money', isThere);
      return account;
    },
    pay: async (accountId, amount, change = {}) => {
      const outgoingTransfer = {
        clientId: client,
        currency: 'GBP',
        amount,
        scope: 'external',
        scheme: 'faster-payments',
        source: { type: 'client-account', accountId },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
        ...change,
      };
      const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
      const answer = await api.call('POST', '/outgoing-transfers', body);
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.outgoingTransfer.id;
    },
    transfer: async (id) => (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer,
    operate: async (command, ...given) => {
      const temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
      const printed: string[] = [];
      const context = { ...dependencies, temporal, initiator: TESTER, answerTimeoutMs: 0, arguments: given };
      const exit = await OPERATIONS[command]?.run({ ...context, print: (line) => printed.push(line) });
      await temporal.close();
      return { exit: exit ?? -1, printed };
    },
    stop: async () => {
      await server.close();
      await sandbox.stop();
      await api.stop();
      await database.drop();
      directory.remove();
    },
  };
}

import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import {
  outgoingTransferProviderCalls,
  outgoingTransferTransitions,
} from '../../../activities/outgoing-transfers/activities.ts';
import type { Provider } from '../../../activities/providers/port.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { reconciliationActivities } from '../../../activities/reconciliation/activities.ts';
import { OPERATIONS } from '../../../cli/operations/operations.ts';
import { createDatabase } from '../../../db/client.ts';
import type { Database } from '../../../db/query/database.ts';
import { asId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { PaymentReport } from '../../../domain/outgoing-transfers/reports.ts';
import { type Json, startApi, type TestApi } from '../api.ts';
import { TESTER } from '../audit.ts';
import { type MoneyWorld, moneyWorld } from '../money.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import { eventually, SANDBOX_SECRET, startSandbox, temporaryDirectory } from '../servers/sandbox.ts';
import '../workflows/temporal-runtime.ts';

type FetchStatement = Provider['fetchStatement'];

/** The service and the sandbox bank, whose statement a test may change, and the service's days at the test's choice. */
export interface ReconciliationWorld {
  readonly api: TestApi;
  readonly world: MoneyWorld;
  /** The database, and as its owner. */
  readonly url: string;
  readonly ownerUrl: string;
  /** How far the service's time is moved: a Postgres interval. */
  readonly clockOffset: () => string;
  /** The service as it is at another time. */
  readonly moved: Database;
  readonly directory: string;
  readonly dependencies: ActivityDependencies;
  moveTo(instant: string): void;
  /** The run of the schedule in the morning of a day. */
  reconcileOn(day: string): Promise<string>;
  /** `operate reconcile`, at the time moved to; its exit status. */
  operate(given: readonly string[], print?: (line: string) => void): Promise<number>;
  bank(method: string, path: string, body?: Json): Promise<Json>;
  /** A payment in to the account, in pounds; the bank's id. */
  paidIn(account: Json, amount: number): Promise<string>;
  /** A payment out of the account, in pounds, sent as its transfer's workflow does. */
  paidOut(account: Json, amount: number): Promise<OutgoingTransferId>;
  becomes(id: string, isDone: (transfer: Json) => boolean): Promise<void>;
  /** Up to a hundred rows of a list. */
  listed(path: string, query?: string): Promise<Json[]>;
  dayOf(date: string, currency?: string): Promise<Json>;
  stop(): Promise<void>;
}

/** `statement` changes the sandbox bank's statement into the one that its provider returns. */
export async function startReconciliationWorld(
  name: string,
  statement: (fetch: FetchStatement) => FetchStatement,
): Promise<ReconciliationWorld> {
  const directory = temporaryDirectory();
  const providers = new Map<string, Provider>();
  const database = await createTestDatabase(name);
  const api = await startApi(database, { providers });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  const sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  const adapter = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
  const fetchStatement = statement((request, call) => adapter.fetchStatement(request, call));
  providers.set('sandbox-bank', { ...adapter, fetchStatement });
  let offset = '0 seconds';
  const clockOffset = () => offset;
  const moved = createDatabase({
    url: database.url,
    maxConnections: 3,
    applicationName: 'moved',
    clockOffset,
    deadlineMs: 60_000,
  });
  const { configuration, keyring, environment } = api.services;
  const logger = pino({ level: 'silent' });
  const { mail } = environment;
  const dependencies = { database: api.database, providers, configuration, keyring, logger, publicUrl: api.url, mail };
  const world = moneyWorld(api);
  const moveTo = (instant: string) => {
    offset = `${Math.round(Date.parse(instant) - Date.now())} milliseconds`;
  };
  return {
    api,
    world,
    url: database.url,
    ownerUrl: database.ownerUrl,
    clockOffset,
    moved,
    directory: directory.path,
    dependencies,
    moveTo,
    reconcileOn: (day) => {
      moveTo(`${day}T06:00:00Z`);
      const { reconcileProvider } = reconciliationActivities({ ...dependencies, database: moved });
      return new MockActivityEnvironment().run(reconcileProvider, 'sandbox-bank');
    },
    operate: (given, print = () => {}) => {
      const operation = OPERATIONS.reconcile;
      if (operation === undefined) throw new Error('no command');
      const temporal = { client: null, connection: null } as never;
      return operation.run({ database: moved, temporal, initiator: TESTER, providers, print, arguments: [...given] });
    },
    ...payments(api, world, dependencies, (path) => `${sandbox.url}/bank${path}`),
    ...lists(api),
    stop: async () => {
      await sandbox.stop();
      await moved.close();
      await api.stop();
      await database.drop();
      directory.remove();
    },
  };
}

function payments(
  api: TestApi,
  world: MoneyWorld,
  dependencies: ActivityDependencies,
  bankUrl: (path: string) => string,
): Pick<ReconciliationWorld, 'bank' | 'paidIn' | 'paidOut' | 'becomes'> {
  const bank = async (method: string, path: string, body?: Json): Promise<Json> => {
    const response = await fetch(bankUrl(path), {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    expect(response.ok, JSON.stringify(answer)).toBe(true);
    return answer;
  };
  return {
    bank,
    paidIn: async ({ ledgerNumber }, amount) => {
      const payment = { amount, currency: 'GBP', scheme: 'faster-payments', reference: ledgerNumber };
      const { paymentId } = await bank('POST', '/payments-in', payment);
      await eventually('the payment in', async () => {
        const query = `data.incomingTransfer.serviceProviderId=${paymentId}`;
        return (await api.call('GET', `/incoming-transfers?${query}`)).body.data.incomingTransfers[0];
      });
      return paymentId;
    },
    paidOut: async ({ id: accountId, clientId }, amount) => {
      const outgoingTransfer = {
        clientId,
        currency: 'GBP',
        amount,
        scope: 'external',
        scheme: 'faster-payments',
        source: { type: 'client-account', accountId },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: await world.beneficiary(clientId) },
      };
      const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
      const { id } = (await api.call('POST', '/outgoing-transfers', body)).body.data.outgoingTransfer;
      const { submitOutgoingTransfer } = outgoingTransferProviderCalls(dependencies);
      const report = await new MockActivityEnvironment().run<
        [string, number],
        PaymentReport | null,
        typeof submitOutgoingTransfer
      >(submitOutgoingTransfer, id, 1);
      await outgoingTransferTransitions(dependencies).recordOutgoingTransferSubmission(id, 1, report);
      return asId<OutgoingTransferId>(id);
    },
    becomes: async (id, isDone) => {
      await eventually('the transfer', async () => {
        const { body } = await api.call('GET', `/outgoing-transfers/${id}`);
        return isDone(body.data.outgoingTransfer) || undefined;
      });
    },
  };
}

function lists(api: TestApi): Pick<ReconciliationWorld, 'listed' | 'dayOf'> {
  const listed = async (path: string, query = ''): Promise<Json[]> => {
    const { status, body, text } = await api.call('GET', `/${path}?metadata.page.size=100${query}`);
    expect(status, text).toBe(200);
    return Object.values<Json[]>(body.data)[0] ?? [];
  };
  return {
    listed,
    dayOf: async (date, currency = 'GBP') => {
      const query = `&data.reconciliation.date=${date}&data.reconciliation.currency=${currency}`;
      return (await listed('reconciliations', query))[0];
    },
  };
}

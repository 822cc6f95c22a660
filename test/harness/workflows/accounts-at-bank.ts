import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import type { Provider } from '../../../activities/providers/port.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { type RunningWorkers, startWorkers } from '../../../activities/worker.ts';
import type { PollingLoop } from '../../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../../loops/workflow-wakeups.ts';
import { Store } from '../../../sandbox/bank/store/store.ts';
import { type Json, startApi, type TestApi } from '../api.ts';
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from '../servers/sandbox.ts';
import { startTemporalDevServer } from '../servers/temporal.ts';
import './temporal-runtime.ts';

/**
 * API, relay and workers in this process, with the real Postgres, Temporal and bank; the connections to the last two can be
 * silenced.
 */
export interface AccountsAtBank {
  readonly api: TestApi;
  readonly temporalClient: TemporalClient;
  readonly temporalLink: TcpProxy;
  readonly clientId: string;
  bankLink(): TcpProxy;
  /** Calls the bank from outside: as a payer, or as a test that steers the bank. */
  outside(path: string, body: Json): Promise<Response>;
  /** What the bank shows to its operator. */
  look(path: string): Promise<Json>;
  /** The bank's books as they are on its disk. */
  bankBooks(): Promise<BankBooks>;
  /** `kill -9`. */
  killBank(): Promise<void>;
  startBank(): Promise<void>;
  /** The relay of wake-ups. */
  stopRelay(): Promise<void>;
  startRelay(): void;
  stopWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  createClient(givenName: string): Promise<string>;
  issue(fields: Json): Promise<Json>;
  close(id: string): ReturnType<TestApi['call']>;
  read(id: string): Promise<Json>;
  reaches(id: string, statuses: readonly string[]): Promise<Json>;
  eventTypes(id: string): Promise<string[]>;
  stop(): Promise<void>;
}

type BankBooks = Store['tables'];

/** From a copy, because opening a journal cuts off the line that is being written. */
async function readBooks(directory: string): Promise<BankBooks> {
  const copy = join(directory, `bank-${randomUUID()}.journal`);
  await copyFile(join(directory, 'sandbox', 'bank.journal'), copy);
  const store = await Store.open(copy, (error) => {
    throw error;
  });
  await store.close();
  return store.tables;
}

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

export async function startAccountsAtBank(name: string): Promise<AccountsAtBank> {
  const directory = temporaryDirectory();
  const [testDatabase, temporal] = await Promise.all([createTestDatabase(name), startTemporalDevServer()]);
  const [host, port] = temporal.address.split(':');
  const temporalLink = await startTcpProxy({ host: host ?? '', port: Number(port) });
  const address = { address: `127.0.0.1:${temporalLink.port}`, namespace: temporal.namespace };
  const providers = new Map<string, Provider>();
  const api = await startApi(testDatabase, { providers });
  const { database, services } = api;
  let bank: { readonly sandbox: RunningSandbox; readonly link: TcpProxy };
  const startBank = async () => {
    const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
    const sandbox = await startSandbox({ directory: directory.path, callbackUrl });
    const link = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(sandbox.url).port) });
    bank = { sandbox, link };
    const url = `http://127.0.0.1:${link.port}`;
    providers.set('sandbox-bank', createSandboxBank({ url, secret: SANDBOX_SECRET }));
  };
  await startBank();
  const temporalClient = lazyTemporalClient(address);
  let relay: PollingLoop;
  const startRelay = () => {
    relay = workflowWakeupRelay({ database, client: temporalClient.client, logger });
    relay.start();
  };
  startRelay();
  let workers: RunningWorkers;
  const start = async () => {
    const { configuration, keyring } = services;
    const { mail } = services.environment;
    const dependencies = { database, providers, configuration, keyring, logger, publicUrl: api.url, mail };
    workers = startWorkers({ temporal: address, dependencies, pools: configuration.pools });
    await workers.ready;
  };
  await start();
  const calls = callsOf(api);
  return {
    ...calls,
    api,
    temporalClient,
    temporalLink,
    clientId: await calls.createClient('Ada'),
    bankLink: () => bank.link,
    outside: (path, body) => fetch(`${bank.sandbox.url}/bank${path}`, { method: 'POST', body: JSON.stringify(body) }),
    look: async (path) => (await fetch(`${bank.sandbox.url}/bank${path}`)).json(),
    bankBooks: () => readBooks(directory.path),
    killBank: async () => {
      await bank.sandbox.kill();
      await bank.link.close();
    },
    startBank,
    stopRelay: () => relay.stop(),
    startRelay,
    stopWorkers: () => workers.stop(),
    startWorkers: start,
    stop: async () => {
      await relay.stop();
      await workers.stop();
      await temporalClient.close();
      await bank.sandbox.stop();
      await bank.link.close();
      await temporalLink.close();
      await temporal.close();
      await api.stop();
      await testDatabase.drop();
      directory.remove();
    },
  };
}

function callsOf(api: TestApi) {
  /** Asks again, with the same key, until the service can answer. */
  const answered = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: Json) => {
    const key = randomUUID();
    return eventually(`${method} ${path} is answered`, async () => {
      const called = await api.call(method, path, body, method === 'POST' ? { key } : {});
      return called.status === 503 ? undefined : called;
    });
  };
  const read = async (id: string): Promise<Json> => (await answered('GET', `/accounts/${id}`)).body.data.account;
  const created = async (path: string, body: Json): Promise<Json> => {
    const { status, body: answer, text } = await answered('POST', path, body);
    if (status !== 201) throw new Error(`POST ${path}: ${text}`);
    return answer.data;
  };
  let owner: string | undefined;
  const createClient = async (givenName: string): Promise<string> => {
    const identity = { type: 'individual', givenName, familyName: 'Lovelace', country: 'GB' };
    const profile = { identityType: 'individual', residentialAddress: { country: 'GB' } };
    const { client } = await created('/clients', {
      workflow: { code: 'direct' },
      data: { client: { identity, profile } },
    });
    owner ??= client.id;
    return client.id;
  };
  return {
    read,
    createClient,
    issue: async (fields: Json): Promise<Json> => {
      const account = { clientId: owner, currency: 'GBP', ...fields };
      return (await created('/accounts', { workflow: { code: 'client.issuing' }, data: { account } })).account;
    },
    close: (id: string) =>
      answered('PATCH', `/accounts/${id}`, {
        workflow: { code: 'client.direct' },
        data: { account: { status: 'closed' } },
      }),
    reaches: (id: string, statuses: readonly string[]): Promise<Json> =>
      eventually(`account ${id} is ${statuses.join(' or ')}`, async () => {
        const account = await read(id);
        return statuses.includes(account.status) ? account : undefined;
      }),
    eventTypes: async (id: string): Promise<string[]> => {
      const rows = await api.database.reader.execute<{ entries: Json[] }>(
        sql`SELECT entries FROM events WHERE resource_id = ${id} ORDER BY first_sequence`,
      );
      return rows.flatMap(({ entries }) => entries.map(({ type }) => type));
    },
  };
}

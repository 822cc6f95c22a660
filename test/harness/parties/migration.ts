import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Provider } from '../../../activities/providers/port.ts';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { type ApiResponse, type CallOptions, type Json, startApi, type TestApi } from '../api.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import { type RunningSandbox, SANDBOX_SECRET, startSandbox, temporaryDirectory } from '../servers/sandbox.ts';

/** The API with the sandbox bank as its provider, as a real process. */
export interface MigrationStage {
  readonly api: TestApi;
  /** The same service with other settings. */
  configured(change: (configuration: Configuration) => Configuration): Promise<TestApi>;
  /** Counts the service's look-ups at the bank, and says what happens after one for an account. */
  readonly lookUps: { count: number; after: () => Promise<void> };
  /** What happens between the bank's answer to a hand-over and the service's transaction. */
  readonly handOvers: { after: () => Promise<void> };
  /** Everything that the API has logged. */
  readonly logged: string[];
  sandbox: RunningSandbox;
  /** `kill -9`, then the same bank at another address, with the data that it had written. */
  restartSandbox(): Promise<void>;
  bank(method: string, path: string, body?: Json): Promise<Json>;
  close(): Promise<void>;
}

/** The service's time limit; shorter than the bank's `slow`. */
const TIMEOUT_MS = 5_000;

export async function startMigrationStage(name: string): Promise<MigrationStage> {
  const directory = temporaryDirectory();
  const database = await createTestDatabase(name);
  const lookUps = { count: 0, after: async () => {} };
  const handOvers = { after: async () => {} };
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(chunk.toString());
      done();
    },
  });
  const providers = new Map<string, Provider>();
  const logger = pino({ level: 'debug' }, sink);
  const impatient = (configuration: Configuration) => ({ ...configuration, migrations: { timeoutMs: TIMEOUT_MS } });
  const api = await startApi(database, { providers, logger, configuration: impatient });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  const start = async () => {
    const sandbox = await startSandbox({ directory: directory.path, callbackUrl });
    providers.set('sandbox-bank', observed(sandbox.url, { lookUps, handOvers }));
    return sandbox;
  };
  const stage: MigrationStage = {
    api,
    handOvers,
    configured: (change) =>
      startApi(database, {
        providers,
        logger,
        users: api.users,
        configuration: (configuration) => change(impatient(configuration)),
      }),
    lookUps,
    logged,
    sandbox: await start(),
    restartSandbox: async () => {
      await stage.sandbox.kill();
      stage.sandbox = await start();
    },
    bank: async (method, path, body) => {
      const response = await fetch(`${stage.sandbox.url}/bank${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    close: async () => {
      await api.stop();
      await stage.sandbox.stop();
      await database.drop();
      directory.remove();
    },
  };
  return stage;
}

function observed(url: string, { lookUps, handOvers }: Pick<MigrationStage, 'lookUps' | 'handOvers'>): Provider {
  const bank = createSandboxBank({ url, secret: SANDBOX_SECRET });
  const counted =
    <Rest extends readonly unknown[], Answer>(call: (...rest: Rest) => Promise<Answer>) =>
    (...rest: Rest): Promise<Answer> => {
      lookUps.count += 1;
      return call(...rest);
    };
  return {
    ...bank,
    lookUpClient: counted(bank.lookUpClient),
    lookUpBeneficiary: counted(bank.lookUpBeneficiary),
    lookUpExistingAccount: async (sourceId, call) => {
      lookUps.count += 1;
      const answer = await bank.lookUpExistingAccount(sourceId, call);
      await lookUps.after();
      return answer;
    },
    handOverAccount: async (request, call) => {
      const answer = await bank.handOverAccount(request, call);
      await handOvers.after();
      return answer;
    },
  };
}

const FROM_BANK = { type: 'explicit', serviceProvider: 'sandbox-bank' };

export function migrateClient(api: TestApi, sourceId: string, options: CallOptions & { connect?: Json } = {}) {
  const { connect = FROM_BANK, ...rest } = options;
  return api.call('POST', '/clients', { workflow: { code: 'migration' }, data: { sourceId }, connect }, rest);
}

export function migrateBeneficiary(
  api: TestApi,
  asked: { readonly sourceId: string; readonly clientId: string },
  options: CallOptions & { connect?: Json } = {},
) {
  const { connect = FROM_BANK, ...rest } = options;
  const data = { sourceId: asked.sourceId, beneficiary: { clientId: asked.clientId } };
  return api.call('POST', '/beneficiaries', { workflow: { code: 'migration' }, data, connect }, rest);
}

export interface AccountAsked {
  readonly sourceId: string;
  readonly clientId: string;
  readonly currency?: string;
  readonly alias?: string;
}

export function migrateAccount(
  api: TestApi,
  { sourceId, ...asked }: AccountAsked,
  options: CallOptions & { connect?: Json } = {},
) {
  const { connect = FROM_BANK, ...rest } = options;
  const data = { sourceId, account: { currency: 'GBP', ...asked } };
  return api.call('POST', '/accounts', { workflow: { code: 'client.migration' }, data, connect }, rest);
}

/** Status, code, entity and field of every problem of a rejection, and the first problem's message. */
export function rejectionIn({ status, body }: ApiResponse): Json {
  const all = [body, ...(body.errors ?? [])];
  return {
    status,
    problems: all.map(({ code, messageParameters: [entity, field] }: Json) => `${code} ${entity}.${field}`),
  };
}

/** Row counts of the tables that migrations and payments write. */
export async function rowCounts({ database }: TestApi): Promise<Json> {
  const tables = [
    'clients',
    'client_relations',
    'client_connections',
    'beneficiaries',
    'beneficiary_bank_accounts',
    'beneficiary_connections',
    'accounts',
    'account_migrations',
    'balance_adjustments',
    'outgoing_transfers',
    'incoming_transfers',
    'postings',
    'audit_entries',
    'events',
    'idempotency_keys',
  ];
  const counts = tables.map((table) => `(SELECT count(*)::integer FROM ${table}) AS ${table}`);
  const [row] = await database.reader.statement(`SELECT ${counts.join(', ')}`, []);
  return row;
}

/** A resource's events: types in order, and the last entry's data. */
export async function eventsOf({ database }: TestApi, resourceId: string): Promise<Json[]> {
  const rows = await database.reader.statement<{ module: string; entries: Json[] }>(
    'SELECT module, entries FROM events WHERE resource_id = $1 ORDER BY first_sequence',
    [resourceId],
  );
  return rows.flatMap(({ module, entries }) => entries.map((entry) => ({ module, ...entry })));
}

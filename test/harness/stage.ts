import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { sql } from 'drizzle-orm';
import { type Logger, pino } from 'pino';
import { type RunningWorkers, startWorkers } from '../../activities/worker.ts';
import { WORKER_DEFAULTS, type WorkerSettings } from '../../activities/worker-settings.ts';
import { type Configuration, loadConfiguration, localConfigurationFiles } from '../../config/configuration.ts';
import type { WorkerVersion } from '../../config/temporal.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { outgoingTransfers } from '../../db/common/schema.ts';
import { lockAccounts, post } from '../../db/ledger/ledger.ts';
import { createOutgoingTransfer } from '../../db/outgoing-transfers/creation.ts';
import type { Database } from '../../db/query/database.ts';
import { lookUpIn } from '../../db/query/rows.ts';
import type {
  AccountId,
  BeneficiaryBankAccountId,
  BeneficiaryId,
  ClientId,
  OutgoingTransferId,
} from '../../domain/common/ids.ts';
import type { NewOutgoingTransfer, OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { admissions } from '../../loops/admissions.ts';
import { openWorkSweep } from '../../loops/open-work.ts';
import type { PollingLoop } from '../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../loops/workflow-wakeups.ts';
import { WaitedTooLong } from '../tools/run/waited-too-long.ts';
import { TEST_KEYRING } from './keyring.ts';
import { createTestDatabase, type TestDatabase } from './servers/postgres.ts';
import { type ScriptedProvider, scriptedProvider } from './workflows/scripted-provider.ts';
import './workflows/temporal-runtime.ts';

const TRANSFER = lookUpIn(outgoingTransfers);

/** The service's work around Temporal in this process: its own database, and loops and workers to start and stop. */
export interface Stage {
  readonly database: Database;
  readonly testDatabase: TestDatabase;
  readonly configuration: Configuration;
  readonly provider: ScriptedProvider;
  readonly client: Client;
  readonly temporal: TemporalClient;
  readonly relay: PollingLoop;
  readonly sweep: PollingLoop;
  readonly admissions: PollingLoop;
  /** Another loop of admissions, to be started and stopped by the test. */
  createAdmissions(): PollingLoop;
  /** `bundle`: the workflows of another release; `more`: what Temporal knows that release as, and its workers' settings. */
  startWorkers(
    databaseUrl?: string,
    bundle?: WorkflowBundleOption,
    more?: { readonly version?: WorkerVersion; readonly settings?: WorkerSettings },
  ): RunningWorkers;
  /** An active account with this much money in minor units. */
  account(postedMinor: bigint): Promise<{ id: AccountId; clientId: ClientId }>;
  /** An external transfer from the account, as the API would accept it. */
  transfer(
    account: { id: AccountId; clientId: ClientId },
    change?: Partial<NewOutgoingTransfer>,
  ): Promise<OutgoingTransferId>;
  find(id: OutgoingTransferId): Promise<OutgoingTransfer>;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly name: string;
  readonly address: string;
  readonly namespace?: string;
  readonly clockOffset?: () => string;
  /** Awaited before each transaction: if another clock sets the offset, reads it no later than the decision. */
  readonly readClock?: () => Promise<void>;
  readonly relayListens?: boolean;
  readonly pools?: Partial<Configuration['pools']>;
  /** Where e-mails go; nowhere unless given. */
  readonly smtpUrl?: string;
  /** The API's address, for links in e-mails. */
  readonly publicUrl?: string;
  readonly logger?: Logger;
  /** A configuration file over the defaults. */
  readonly configFile?: string;
}

const silent = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

export async function setStage(options: StageOptions): Promise<Stage> {
  const { logger = silent } = options;
  const testDatabase = await createTestDatabase(options.name);
  const clock = options.clockOffset === undefined ? {} : { clockOffset: options.clockOffset };
  const open = (url: string, limits: { readonly deadlineMs?: number } = {}) =>
    afterReading(
      options.readClock,
      createDatabase({ url, maxConnections: 8, applicationName: 'test', ...clock, ...limits }),
    );
  // Only keeps a test from hanging.
  const database = open(testDatabase.url, { deadlineMs: 60_000 });
  const configuration = loadConfiguration({
    CONFIG_FILE: localConfigurationFiles({ CONFIG_FILE: options.configFile ?? '' }),
  });
  const provider = scriptedProvider();
  const temporal = { address: options.address, namespace: options.namespace ?? 'default' };
  const lazy: TemporalClient = lazyTemporalClient(temporal);
  const relay = workflowWakeupRelay({ database, client: lazy.client, logger, listen: options.relayListens ?? false });
  const sweep = openWorkSweep({ database, logger, intervalMs: 200 });
  const createAdmissions = () => admissions({ database, rules: configuration, logger });
  const admission = createAdmissions();
  const workers: RunningWorkers[] = [];
  const opened: Database[] = [];
  return {
    database,
    testDatabase,
    configuration,
    provider,
    client: lazy.client,
    temporal: lazy,
    relay,
    sweep,
    admissions: admission,
    createAdmissions,
    startWorkers(databaseUrl, bundle, { version, settings = WORKER_DEFAULTS } = {}) {
      const own = databaseUrl === undefined ? database : open(databaseUrl);
      if (own !== database) opened.push(own);
      const started = startWorkers({
        temporal,
        dependencies: {
          database: own,
          providers: new Map([['sandbox-bank', provider]]),
          configuration,
          logger,
          keyring: TEST_KEYRING,
          publicUrl: options.publicUrl ?? 'http://127.0.0.1:3000',
          mail: { smtpUrl: options.smtpUrl ?? null, from: 'no-reply@example.com' },
        },
        pools: { ...configuration.pools, ...options.pools },
        settings,
        bundle,
        version,
      });
      workers.push(started);
      return started;
    },
    account: (postedMinor) => insertAccount(database, postedMinor),
    transfer: (account, change) => insertTransfer(database, configuration, account, change),
    find: async (id) => {
      const row = await database.reader.find(TRANSFER, id);
      if (row === null) throw new Error(`no transfer ${id}`);
      return row;
    },
    close: async () => {
      for (const loop of [relay, sweep, admission]) await loop.stop();
      for (const started of workers) await started.stop();
      await lazy.close();
      for (const other of opened) await other.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

function afterReading(readClock: StageOptions['readClock'], database: Database): Database {
  if (readClock === undefined) return database;
  return {
    ...database,
    transaction: async (work, given) => {
      await readClock();
      return database.transaction(work, given);
    },
  };
}

const IDENTITY = {
  type: 'individual',
  givenName: 'Ann',
  familyName: 'Example',
  birthDate: null,
  country: 'GB',
  identifications: [],
};
const PROFILE = {
  identityType: 'individual',
  residentialAddress: null,
  registrationAddress: null,
  phone: null,
  email: null,
};

let numbers = 0;

async function insertAccount(database: Database, postedMinor: bigint): Promise<{ id: AccountId; clientId: ClientId }> {
  const clientId = newId<ClientId>();
  const id = newId<AccountId>();
  numbers += 1;
  const number = `${process.pid}${String(numbers).padStart(6, '0')}`;
  await database.transaction(async (tx) => {
    await tx.execute(sql`
      INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
      VALUES (${clientId}, ${number}, 'active', 'individual', ${JSON.stringify(IDENTITY)}::jsonb,
        ${JSON.stringify(PROFILE)}::jsonb, 'Ann Example', service_now())`);
    await tx.execute(sql`
      INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number,
        account_holder_name, account_holder_identity_type, created_at)
      VALUES (${id}, ${clientId}, 'active', 'built-in', 'sandbox-bank', 'GB', 'GBP', 'GBP Account', ${number},
        'Ann Example', 'individual', service_now())`);
  });
  if (postedMinor > 0n) await credit(database, id, postedMinor);
  return { id, clientId };
}

/** Books money from outside in the ledger. */
export async function credit(database: Database, accountId: AccountId, amountMinor: bigint): Promise<void> {
  numbers += 1;
  const debitNumber = `20260101-T${String(numbers).padStart(5, '0')}`;
  await database.transaction(async (tx) => {
    const [clock] = await tx.execute<{ now: Date }>(sql`SELECT service_now() AS now`);
    await tx.execute(sql`SELECT id FROM accounts WHERE id = ${accountId} FOR UPDATE`);
    await post(tx, {
      now: clock?.now ?? new Date(),
      debit: { provider: 'sandbox-bank', kind: 'settlement' },
      credit: accountId,
      amountMinor,
      currency: 'GBP',
      debitNumber,
      debitType: 'incoming-transfer',
      entryType: 'principal',
    });
  });
}

async function insertTransfer(
  database: Database,
  configuration: Configuration,
  account: { id: AccountId; clientId: ClientId },
  change: Partial<NewOutgoingTransfer> = {},
): Promise<OutgoingTransferId> {
  const id = newId<OutgoingTransferId>();
  numbers += 1;
  const transactionNumber = `20260102-${process.pid % 10}${String(numbers).padStart(5, '0')}`;
  await database.transaction(async (tx) => {
    const [clock] = await tx.execute<{ now: Date }>(sql`SELECT service_now() AS now`);
    const now = clock?.now ?? new Date();
    const of = { scheme: change.scheme ?? 'faster-payments', currency: 'GBP' };
    const transferDate = change.transferDate ?? configuration.schemes.nextAvailableDate(of, now);
    const transfer: NewOutgoingTransfer = {
      id,
      transactionNumber,
      clientId: account.clientId,
      accountId: account.id,
      status: 'pending',
      scope: 'external',
      scheme: of.scheme,
      currency: 'GBP',
      amountMinor: 1_000n,
      transferDate,
      originalTransferDate: transferDate,
      cutOffAt: configuration.schemes.cutOff(of, transferDate),
      description: 'Invoice 12',
      beneficiaryId: newId<BeneficiaryId>(),
      beneficiaryBankAccountId: newId<BeneficiaryBankAccountId>(),
      beneficiary: {
        fullName: 'Bob Receiver',
        identity: null,
        address: null,
        title: null,
        account: {
          accountHolderName: 'Bob Receiver',
          alias: null,
          ledgerNumber: null,
          accountNumber: '12345678',
          iban: null,
          country: 'GB',
          currency: 'GBP',
          routingCodes: { 'sort-code': '040004' },
        },
      },
      authorizationStatus: 'not-required',
      complianceCheckStatus: 'not-required',
      transferDateStatus: 'not-checked',
      balanceCheckStatus: 'not-checked',
      method: 'built-in',
      provider: 'sandbox-bank',
      createdAt: now,
      updatedAt: now,
      ...change,
    };
    createOutgoingTransfer(tx, transfer, null, await lockAccounts(tx, [account.id]), configuration);
  });
  return id;
}

/**
 * Polls until the condition holds; fails with its last observation after a generous limit, which does not measure
 * speed.
 */
export async function until<Value>(
  look: () => Promise<Value>,
  good: (value: Value) => boolean,
  limitMs = 180_000,
): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await look();
    if (good(value)) return value;
    if (performance.now() > deadline) throw new WaitedTooLong(`it never came to be; last seen: ${describe(value)}`);
    await sleep(50);
  }
}

function describe(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? 'undefined';
}

export async function connectClient(address: string, namespace = 'default'): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address }), namespace });
}

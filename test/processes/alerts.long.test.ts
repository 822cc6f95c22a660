import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MOUNTED } from '../../activities/bank-files/exchange/folder.ts';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import { providerCalls, taskQueueLagSeconds, workerMetricsText } from '../../activities/common/metrics.ts';
import { NameLists } from '../../activities/compliance/name-lists.ts';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import {
  outgoingTransferProviderCalls,
  outgoingTransferTransitions,
} from '../../activities/outgoing-transfers/activities.ts';
import { createProviders } from '../../activities/providers/providers.ts';
import { showCertificateEnd } from '../../api/beneficiaries/directory-certificate.ts';
import { registry as apiRegistry, replicaReads } from '../../api/http/metrics.ts';
import { CalendarFiles } from '../../config/calendars/calendar-files.ts';
import { type CalendarWatch, watchCalendars } from '../../config/calendars/calendar-watch.ts';
import { connectionWaits } from '../../config/metrics/connection-waits.ts';
import { type MetricsServer, startMetricsServer } from '../../config/metrics/metrics-server.ts';
import type { FileExchange } from '../../config/schema/file-exchange.ts';
import { createDatabase } from '../../db/client.ts';
import { makeClockMovable } from '../../db/common/sandbox-clock.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import type { ReplicaOutcome } from '../../db/postgres/replica.ts';
import type { Database } from '../../db/query/database.ts';
import type { NameRule } from '../../domain/compliance/rules.ts';
import { backgroundLoops } from '../../loops/loops.ts';
import type { BackgroundLoop } from '../../loops/polling.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { FILES_OFFER } from '../harness/bank-files/offer.ts';
import { keyFiles, PGP_TEST_PASSPHRASE, testKey } from '../harness/bank-files/pgp-keys.ts';
import { builtInAccounts, PAYMENT_IN } from '../harness/built-in-accounts.ts';
import { evaluate, parseMetrics, type Scrape } from '../harness/faults/alert-expressions.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually, type RunningSandbox, SANDBOX_SECRET, startSandbox } from '../harness/servers/sandbox.ts';
import { ownCalendar } from '../harness/transfers/calendar-world.ts';
import {
  createDrains,
  insertClient,
  recordEvents,
  SCHEDULE,
  startReceiver,
  subscribe,
} from '../harness/webhooks/webhooks.ts';

// Every alert of deploy/prometheus/alerts.yml, evaluated over scrapes of a running API, its loops and a worker's metrics: quiet until its fault is
// there, and firing then. The service's clock is moved on where an alert is about an age. test/documents/runbook.test.ts asks for a page
// for each.

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

const RULES: readonly Rule[] = parse(
  readFileSync(new URL('../../deploy/prometheus/alerts.yml', import.meta.url), 'utf8'),
).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
/** No Temporal answers there: as if it were stopped. */
const temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
const DAY = 86_400;

let testDatabase: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let sandbox: RunningSandbox;
let dependencies: ActivityDependencies;
let loopsDatabase: Database;
let loops: readonly BackgroundLoop[] = [];
let workerMetrics: MetricsServer;
let calendar: ReturnType<typeof ownCalendar>;
let calendarWatch: CalendarWatch;
let nameLists: NameLists;
const nameList = join(folder, 'names.csv');
/** How far the service's clock, and the calendars', is ahead. */
let aheadSeconds = 0;
let calendarAheadSeconds = 0;
let sealedExchange: FileExchange;
let source: Json;
let bankAccount: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase('alerts');
  const preparing = createDatabase({ url: testDatabase.ownerUrl, maxConnections: 1, applicationName: 'preparing' });
  await makeClockMovable(preparing);
  await preparing.close();
  api = await startApi(testDatabase);
  const { configuration, keyring, environment } = api.services;
  sandbox = await startSandbox({ directory: folder, callbackUrl: `${api.url}/provider-callbacks/sandbox-bank` });
  const settings = { sandboxUrl: sandbox.url, sandboxBankSecret: SANDBOX_SECRET };
  const providers = createProviders(configuration, settings, providerCalls);
  const { database, url: publicUrl } = api;
  dependencies = { database, providers, configuration, keyring, logger, publicUrl, mail: environment.mail };
  loopsDatabase = createDatabase({ url: testDatabase.url, maxConnections: 10, applicationName: 'loops' });
  workerMetrics = await startMetricsServer({ host: '127.0.0.1', port: 0 }, workerMetricsText);
  calendar = ownCalendar();
  calendarWatch = watchCalendars({
    calendars: new CalendarFiles({ gb: join(calendar.configFile, '..', 'gb.json') }),
    logger,
    registry: apiRegistry,
    now: () => new Date(Date.now() + calendarAheadSeconds * 1_000),
  });
  listNames(20);
  const rule: NameRule = {
    name: 'sanctions',
    kind: 'name',
    directions: ['incoming'],
    stop: 'hard-stop',
    file: nameList,
    threshold: 0.9,
  };
  nameLists = new NameLists([rule], logger);
  await nameLists.refreshAll();
  sealedExchange = await sealedFolders();
  world = moneyWorld(api);
  const clientId = await world.client('Ada');
  const { id } = await builtInAccounts(api).opened(clientId);
  source = await world.account(clientId, { amount: 100 }).then((plugIn) => ({ clientId, id, plugIn }));
  await builtInAccounts(api).payIn((await api.call('GET', `/accounts/${id}`)).body.data.account, 'funds', 1_000_000n);
  bankAccount = await world.beneficiary(clientId);
  await lookAfresh();
});

afterAll(async () => {
  for (const loop of loops) await loop.stop();
  calendarWatch?.stop();
  calendar?.remove();
  await workerMetrics?.close();
  await temporal.close();
  await sandbox?.kill();
  await loopsDatabase?.close();
  await api?.stop();
  await testDatabase?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A bank with signed and encrypted files, whose keys do not expire. */
async function sealedFolders(): Promise<FileExchange> {
  const [out, in_, archive] = ['out', 'in', 'archive'].map((name) => join(folder, name)) as [string, string, string];
  for (const one of [out, in_, archive]) {
    mkdirSync(one);
    writeFileSync(join(one, MOUNTED), '');
  }
  const [ours, bank] = await Promise.all([testKey('Ours'), testKey('Bank')]);
  const { own = '', theirs = '' } = keyFiles(folder, { own: ours.privateKey, theirs: bank.publicKey });
  return {
    profile: 'uk',
    party: { name: 'Clients Ltd', id: null, country: 'GB' },
    files: 'at-once',
    windowSeconds: 0,
    paymentsPerFileMax: 1_000,
    pollSeconds: 1,
    transport: { kind: 'folder', out, in: in_, archive },
    pgp: { privateKeyFiles: [own], bankKeyFiles: [theirs], outgoing: 'signed-and-encrypted', incoming: 'signed' },
  };
}

async function bankKeyEnds(inDays: number | null): Promise<void> {
  const { publicKey } = await testKey('Bank', inDays === null ? {} : { endsInDays: inDays });
  keyFiles(folder, { theirs: publicKey });
  await lookAfresh();
  await eventually('the keys have been looked at', async () => {
    const { series } = await scrape();
    const end = series.find(({ labels }) => labels.__name__ === 'bank_pgp_key_ends_timestamp_seconds')?.value;
    if (end === undefined || inDays === null) return (end === undefined && inDays === null) || undefined;
    return Math.round((end - Date.now() / 1_000) / DAY) === inDays || undefined;
  });
}

/** An API has started with a certificate that ends then. */
async function certificateEnds(inDays: number): Promise<void> {
  const now = new Date();
  showCertificateEnd(new Date(now.getTime() + inDays * DAY * 1_000), logger, now);
}

function listNames(count: number): void {
  const lines = Array.from({ length: count }, (_, index) => `${index},Person ${index},`);
  writeFileSync(nameList, ['id,name,aliases', ...lines, ''].join('\n'));
}

/** Restarts the loops, so that each runs at once instead of at its next interval. */
async function lookAfresh(): Promise<void> {
  for (const loop of loops) await loop.stop();
  const { configuration, keyring } = api.services;
  loops = await backgroundLoops({
    database: loopsDatabase,
    client: temporal.client,
    configuration: {
      ...configuration,
      providers: [...configuration.providers, { code: 'sealed-bank', method: 'built-in', offers: [FILES_OFFER] }],
      fileExchanges: new Map([['sealed-bank', sealedExchange]]),
    },
    keyring,
    logger,
    environment: { consoleUrl: null, sftpPassphrase: null, pgpPassphrase: PGP_TEST_PASSPHRASE },
  });
  for (const loop of loops) loop.start();
}

/** Reads the metrics of every process over HTTP, as Prometheus does. */
async function scrape(): Promise<Scrape> {
  const targets = { api: api.metricsUrl, worker: `http://127.0.0.1:${workerMetrics.port}/metrics` };
  const read = Object.entries(targets).map(async ([instance, url]) => {
    const text = await fetch(url).then(
      (answer) => answer.text(),
      () => null,
    );
    const up = { labels: { __name__: 'up', instance }, value: text === null ? 0 : 1 };
    return [up, ...(text === null ? [] : parseMetrics(text, instance))];
  });
  return { at: time(), series: (await Promise.all(read)).flat() };
}

function time(): number {
  return Date.now() / 1_000 + aheadSeconds;
}

function ruleOf(alert: string): Rule {
  const rule = RULES.find((one) => one.alert === alert);
  if (rule === undefined) throw new Error(`no alert ${alert}`);
  return rule;
}

/** The series for which the alert fires. */
function firing(alert: string, scrapes: readonly Scrape[], at = time()) {
  // The service's clock may have jumped between them, Prometheus' never does.
  return evaluate(
    ruleOf(alert).expr,
    scrapes.map((one) => ({ ...one, at })),
    at,
  );
}

/** A file as the exchange leaves it. */
async function bankFile(direction: 'out' | 'in', state: string, createdAt: string): Promise<void> {
  await direct(`INSERT INTO bank_files (id, provider, direction, name, digest, content, size, state, reason, created_at, delivered_at)
    VALUES ('${FILE_ID}', 'files-bank', '${direction}', 'one.xml', sha256(''), '', 0, '${state}', 'a reason', ${createdAt}, now())`);
}

const FILE_ID = '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31';

async function bankPayment(state: string, expectedBy: string): Promise<void> {
  await bankFile('out', 'delivered', 'service_now()');
  await direct(`INSERT INTO bank_instructions (transfer_id, attempt, provider, instruction_id, payment_reference, account, scheme, currency,
      amount_minor, details, state, file_id, batch_id, queued_at, expected_by)
    VALUES ('${FILE_ID}', 1, 'files-bank', 'one', 'one', '{}', 'sepa', 'EUR', 1, '{}', '${state}', '${FILE_ID}', 'one', now(), ${expectedBy})`);
}

function fires(alert: string, scrapes: readonly Scrape[], at = time()): boolean {
  return firing(alert, scrapes, at).length > 0;
}

async function external(): Promise<string> {
  const outgoingTransfer = {
    clientId: source.clientId,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: source.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  };
  const answer = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

function internal(change: Json = {}) {
  const to = { type: 'client-account', accountId: source.id };
  const from = { type: 'client-account', accountId: source.plugIn };
  const outgoingTransfer = {
    clientId: source.clientId,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: from,
    destination: to,
    ...change,
  };
  return api.call('POST', '/outgoing-transfers', { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
}

const inActivity = <Answer>(activity: () => Promise<Answer>): Promise<Answer> =>
  new MockActivityEnvironment().run(activity);
const submit = (id: string) =>
  inActivity(() => outgoingTransferProviderCalls(dependencies).submitOutgoingTransfer(id, 1));
const checkLedger = () => inActivity(housekeepingActivities(dependencies).checkLedger);
const direct = (statement: string) => testDatabase.asOwner(statement);
const later = async (seconds: number) => {
  aheadSeconds += seconds;
  await direct(`UPDATE sandbox_clock SET ahead_ms = ${aheadSeconds * 1_000}`);
};

/** Calls while another session holds a lock, for a second and a half. */
async function whileHeld(lock: string, call: () => Promise<unknown>): Promise<void> {
  let calling: Promise<unknown> = Promise.resolve();
  const holding = loopsDatabase.transaction(async (tx) => {
    await tx.statement(lock, []);
    calling = call();
    await tx.statement('SELECT pg_sleep(1.5)', []);
  });
  await holding;
  await calling;
}

async function insertBreak(reference: string): Promise<string> {
  const [row] = await api.database.reader.statement<{ id: string }>(
    `INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at)
     VALUES (uuidv7(), 'sandbox-bank', 'callback-contradicts', $1, '{}', service_now()) RETURNING id`,
    [reference],
  );
  return row?.id ?? '';
}

/** Without the triggers that reject it. */
async function asSuperuser(statement: string): Promise<void> {
  await testDatabase.asOwner(`SET session_replication_role = replica; ${statement}`);
}

/** Another API process on the same database, with a defect, and what it answers. */
async function statusOf(fault: (database: Database) => Database): Promise<number> {
  const other = await startApi(testDatabase, { users: api.users });
  Object.assign(other.services, { database: fault(other.database) });
  const { status } = await other.call('GET', '/clients');
  await other.stop();
  return status;
}

interface Fault {
  /** What a healthy service does in between, so that the alert has something to be quiet about. */
  readonly usual?: () => Promise<unknown>;
  readonly happens: () => Promise<unknown> | unknown;
  readonly mend?: () => Promise<unknown> | unknown;
}

const receiverOf = async (status: number, attemptDelaysSeconds: readonly number[]) => {
  const receiver = await startReceiver();
  receiver.answer((_message, response) => response.writeHead(status).end());
  const subscription = await subscribe(api.database, receiver.url, { modules: ['clients'] });
  await recordEvents(api.database, await insertClient(api.database));
  await lookAfresh();
  const pending = () => direct(`SELECT FROM webhook_deliveries WHERE subscription_id = '${subscription.id}'`);
  await eventually('a delivery', async () => ((await pending()).length > 0 ? true : undefined));
  const drains = createDrains(api.database, {
    schedule: { ...SCHEDULE, attemptDelaysSeconds: [...attemptDelaysSeconds] },
  });
  await drains.drain();
  await drains.close();
  await receiver.close();
  return subscription;
};

/** Subscriptions of earlier faults must not speak in later ones. */
const withoutReceivers = async () => {
  await direct('UPDATE webhook_subscriptions SET deleted_at = service_now()');
  await lookAfresh();
  const alerts = ['WebhooksDue', 'WebhooksUndelivered', 'ReceiverFails'];
  await eventually('no receiver that fails', async () => {
    const last = [await scrape()];
    return alerts.every((alert) => !fires(alert, last)) || undefined;
  });
};
const listClients = () => api.call('GET', '/clients');
let release: () => void = () => {};

const webhookAttempts = 'webhook_attempts';

/** One month of so many days in place of a table's months, as if no one had migrated for long. */
async function monthsLeft(table: string, days: number): Promise<void> {
  const months = await direct(`SELECT month FROM table_months() WHERE name = '${table}'`);
  for (const { month } of months) await direct(`DROP TABLE ${month}`);
  await direct(
    `SELECT make_month('${table}', '${table}_2000_01', 'MINVALUE', uuidv7_floor(clock_timestamp() + interval '${days} days'))`,
  );
}

const LOOPS_DIE: Fault = {
  happens: async () => {
    // As when Postgres is away: every look of a loop fails.
    await loopsDatabase.close();
    const stood = await scrape();
    const stamp = ({ series }: Scrape) => series.find(({ labels }) => labels.loop === 'event-sequencer')?.value;
    await eventually('a loop that has stopped', async () => {
      const again = await scrape();
      return stamp(again) === stamp(stood) || undefined;
    });
    await later(25_201);
  },
  mend: async () => {
    await later(-25_201);
    loopsDatabase = createDatabase({ url: testDatabase.url, maxConnections: 10, applicationName: 'loops' });
    await lookAfresh();
    await eventually('every loop runs', async () => {
      const scraped = await scrape();
      return LOOP_ALERTS.some((alert) => fires(alert, [scraped])) ? undefined : true;
    });
  },
};

const RECEIVER_DIES: Fault = {
  happens: async () => {
    await receiverOf(503, [0, 7 * DAY]);
    await later(3_601);
    await lookAfresh();
    // What the alert on due deliveries cannot see: everything waits for its next attempt.
    await eventually('the backlog', async () => (fires('WebhooksUndelivered', [await scrape()]) ? true : undefined));
    expect((await scrape()).series.find(({ labels }) => labels.__name__ === 'webhook_backlog')?.value).toBe(0);
  },
  mend: withoutReceivers,
};

const LOOP_ALERTS = RULES.map(({ alert }) => alert).filter((alert) => alert.endsWith('LoopStandsStill'));

/** In order: the service's clock only advances, and cases that read the machine's clock come first. */
const FAULTS: Readonly<Record<string, Fault>> = {
  LoopStandsStill: LOOPS_DIE,
  SlowLoopStandsStill: LOOPS_DIE,
  SigningKeysLoopStandsStill: LOOPS_DIE,
  ReEncryptionLoopStandsStill: LOOPS_DIE,
  BankFilesLoopStandsStill: LOOPS_DIE,
  TableEnds: {
    happens: () => monthsLeft(webhookAttempts, 40),
    mend: () => monthsLeft(webhookAttempts, 400),
  },
  TableEndsThisWeek: {
    happens: () => monthsLeft(webhookAttempts, 3),
    mend: () => monthsLeft(webhookAttempts, 400),
  },
  MonthsNotRemoved: {
    happens: () =>
      direct(`INSERT INTO months_over (month, from_id, to_id, found_at) SELECT month, from_id, to_id, now() - interval '8 days'
        FROM table_months() WHERE name = 'events' LIMIT 1`),
    mend: () => direct('DELETE FROM months_over'),
  },
  CalendarEnds: {
    happens: () => {
      calendarAheadSeconds = Date.parse('2028-12-01T00:00:00Z') / 1_000 - Date.now() / 1_000;
    },
    mend: () => {
      calendarAheadSeconds = 0;
    },
  },
  CalendarFileRejected: {
    happens: () => {
      calendar.write('{}');
      calendarWatch.look();
    },
  },
  NameListShrinks: {
    happens: async () => {
      listNames(15);
      await nameLists.refreshAll();
    },
  },
  NameListOld: {
    happens: async () => {
      const longAgo = new Date(Date.now() - 3 * DAY * 1_000);
      utimesSync(nameList, longAgo, longAgo);
      await nameLists.refreshAll();
    },
  },
  NameListRejected: {
    happens: async () => {
      writeFileSync(nameList, 'cut off');
      await nameLists.refreshAll();
    },
  },
  RequestsNotServed: {
    usual: listClients,
    happens: async () => {
      const closed = createDatabase({ url: testDatabase.url, maxConnections: 1, applicationName: 'closed' });
      await closed.close();
      expect(await statusOf(() => closed)).toBe(503);
      // It continues: an increase is seen from the second sample of a series on.
      scrapes.push(await scrape());
      expect(await statusOf(() => closed)).toBe(503);
    },
  },
  RequestsFail: {
    usual: listClients,
    happens: async () => {
      const defect = (database: Database) =>
        new Proxy(database, {
          get: () => {
            throw new TypeError('a defect');
          },
        });
      expect(await statusOf(defect)).toBe(500);
      scrapes.push(await scrape());
      expect(await statusOf(defect)).toBe(500);
    },
  },
  RequestsSlow: {
    usual: async () => {
      // A busy machine needs some until one takes less than a second.
      await eventually('a usual request', async () => {
        const before = await scrape();
        await listClients();
        const after = await scrape();
        scrapes = [before];
        return fires('RequestsSlow', [before, after]) ? undefined : true;
      });
    },
    happens: async () => {
      await whileHeld('LOCK TABLE clients IN ACCESS EXCLUSIVE MODE', listClients);
    },
  },
  CallersWaitForConnections: {
    happens: async () => {
      const onConnectionWait = connectionWaits(apiRegistry, ['few']);
      const few = createDatabase({
        url: testDatabase.url,
        maxConnections: 1,
        applicationName: 'few',
        onConnectionWait,
      });
      scrapes.push(await scrape());
      const calls = Array.from({ length: 12 }, () => few.statement('SELECT pg_sleep(0.5)', []));
      await Promise.all([few.statement('SELECT pg_sleep(1.5)', []), ...calls]);
      await few.close();
    },
  },
  ReplicaNotUsed: {
    usual: listClients,
    happens: async () => {
      // Nothing listens there.
      const replica = {
        url: 'postgres://127.0.0.1:1/away',
        onRead: (outcome: ReplicaOutcome) => replicaReads.inc({ outcome }),
      };
      const other = await startApi(testDatabase, { users: api.users, lists: { maxConnections: 1, replica } });
      expect((await other.call('GET', '/clients')).status).toBe(200);
      await other.stop();
    },
  },
  SharedStatementsFail: {
    happens: async () => {
      // Only a shared statement waits for locks as briefly as that.
      await direct(
        `CREATE FUNCTION fail_shared() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'P0001'; END $$`,
      );
      await direct(`CREATE TRIGGER shared BEFORE INSERT ON outgoing_transfers FOR EACH ROW
        WHEN (current_setting('lock_timeout') = '100ms') EXECUTE FUNCTION fail_shared()`);
      await internal();
      // An increase is seen from the second on: the series has just begun.
      scrapes.push(await scrape());
      await internal();
    },
    mend: () => direct('DROP TRIGGER shared ON outgoing_transfers'),
  },
  NothingMoves: {
    usual: async () => {
      await world.client();
      const before = (await scrape()).series.length;
      expect(before).toBeGreaterThan(0);
      await lookAfresh();
      await eventually('the event of a change', async () =>
        fires('NothingMoves', [...scrapes, await scrape()]) ? undefined : true,
      );
    },
    happens: async () => {
      scrapes = [await scrape()];
    },
  },
  LedgerDoesNotHold: {
    usual: checkLedger,
    happens: async () => {
      await internal();
      await asSuperuser(
        'UPDATE postings SET debit_balance_after_minor = debit_balance_after_minor + 1 WHERE id = (SELECT max(id) FROM postings)',
      );
      expect(await checkLedger()).toBe('ledger-violated');
    },
    mend: async () => {
      await asSuperuser(
        'UPDATE postings SET debit_balance_after_minor = debit_balance_after_minor - 1 WHERE id = (SELECT max(id) FROM postings)',
      );
    },
  },
  LedgerNotChecked: { usual: checkLedger, happens: () => later(1_801) },
  BreaksOpen: {
    happens: () => insertBreak('an-alert'),
    mend: () => direct('DELETE FROM reconciliation_breaks'),
  },
  DayNotCompared: {
    usual: () =>
      direct(`INSERT INTO reconciliations (id, provider, currency, day, provider_credit_count, provider_credit_minor, provider_debit_count,
          provider_debit_minor, ledger_credit_count, ledger_credit_minor, ledger_debit_count, ledger_debit_minor, posting_id, created_at, compared_at)
        VALUES (uuidv7(), 'sandbox-bank', 'GBP', (service_now() AT TIME ZONE 'UTC')::date - 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, service_now(), service_now())`),
    happens: () => later(DAY + 1),
  },
  MoneyInUnmatched: {
    happens: async () => {
      const payment = { ...PAYMENT_IN, serviceProviderId: 'for-no-account', remittanceText: 'unknown' };
      await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
      expect(fires('MoneyInUnmatched', [await scrape()])).toBe(false);
      await later(DAY + 1);
    },
  },
  AccountsNotConnected: {
    happens: async () => {
      await builtInAccounts(api).issued(source.clientId);
      expect(fires('AccountsNotConnected', [await scrape()])).toBe(false);
      await later(DAY + 1);
    },
  },
  PaymentsUnsettled: {
    happens: async () => {
      const id = await external();
      const report = {
        outcome: 'released',
        code: null,
        serviceProviderId: `p-${id}`,
        serviceProviderReference: null,
      } as const;
      await outgoingTransferTransitions(dependencies).recordOutgoingTransferSubmission(id, 1, report);
      await later(2 * DAY + 1);
    },
  },
  WakeupsNotDelivered: {
    usual: async () => {
      await direct('DELETE FROM workflow_wakeups');
      await lookAfresh();
      await eventually('no lag', async () => (fires('WakeupsNotDelivered', [await scrape()]) ? undefined : true));
    },
    happens: async () => {
      await external();
      await later(61);
      await lookAfresh();
    },
  },
  TasksWait: {
    // No Temporal is here that could be asked.
    happens: () => taskQueueLagSeconds.set({ task_queue: 'providers' }, 61),
    mend: () => taskQueueLagSeconds.reset(),
  },
  WakeupsParked: {
    happens: async () => {
      await direct('UPDATE workflow_wakeups SET parked_at = service_now()');
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM workflow_wakeups'),
  },
  BankFilesSetAside: {
    happens: async () => {
      await bankFile('in', 'set-aside', 'now()');
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM bank_files'),
  },
  BankFileNotDelivered: {
    happens: async () => {
      await bankFile('out', 'delivering', "service_now() - interval '1 hour'");
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM bank_files'),
  },
  BankSilent: {
    happens: async () => {
      await bankPayment('delivered', "service_now() - interval '1 second'");
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM bank_instructions; DELETE FROM bank_files'),
  },
  BankSumWithoutDetails: {
    happens: async () => {
      await bankFile('in', 'taken', 'now()');
      await direct(`INSERT INTO bank_entries (provider, key, file_id, direction, amount_minor, currency, booked_on, kind, outcome)
        VALUES ('files-bank', 'sum', '${FILE_ID}', 'debit', 700, 'GBP', (service_now() - interval '5 days')::date, 'batch', 'waiting')`);
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM bank_entries; DELETE FROM bank_files'),
  },
  BankAsksForConfirmation: {
    happens: async () => {
      await bankPayment('confirmation', 'NULL');
      await lookAfresh();
    },
    mend: () => direct('DELETE FROM bank_instructions; DELETE FROM bank_files'),
  },
  BankStatementMissing: {
    happens: async () => {
      // A camt.054 has told it, and no camt.053.
      await bankFile('in', 'taken', 'service_now()');
      await direct(`INSERT INTO bank_entries (provider, key, file_id, direction, amount_minor, currency, booked_on, kind, outcome)
        VALUES ('sealed-bank', 'one', '${FILE_ID}', 'credit', 1, 'GBP', (service_now() - interval '3 days')::date, 'received', 'applied')`);
      await direct(`INSERT INTO system_accounts (id, kind, provider, currency)
        VALUES (uuidv7(), 'settlement', 'sealed-bank', 'GBP')`);
      await lookAfresh();
      await eventually('the statements have been looked at', async () =>
        fires('BankStatementMissing', [await scrape()]) ? true : undefined,
      );
    },
    mend: async () => {
      await direct('DELETE FROM bank_entries; DELETE FROM bank_files');
      await lookAfresh();
      await eventually('the statements have been looked at afresh', async () =>
        fires('BankStatementMissing', [await scrape()]) ? undefined : true,
      );
    },
  },
  BankKeyEnds: {
    usual: () => bankKeyEnds(60),
    happens: () => bankKeyEnds(10),
    mend: () => bankKeyEnds(null),
  },
  DirectoryCertificateEnds: {
    usual: () => certificateEnds(60),
    happens: () => certificateEnds(10),
    mend: () => certificateEnds(60),
  },
  EventsNotNumbered: {
    happens: async () => {
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      // Another process that numbers, and hangs.
      await new Promise<void>((locked, failed) => {
        api.database
          .transaction(async (tx) => {
            await tx.statement('SELECT pg_advisory_xact_lock(7423002)', []);
            locked();
            await held;
          })
          .catch(failed);
      });
      await recordEvents(api.database, await insertClient(api.database));
      await later(61);
      await lookAfresh();
    },
    mend: () => release(),
  },
  WebhooksDue: {
    happens: async () => {
      await subscribe(api.database, 'http://127.0.0.1:19999/hook', { modules: ['clients'] });
      for (let row = 0; row <= 100; row += 1) await recordEvents(api.database, await insertClient(api.database), 10);
      await eventually('the deliveries', async () =>
        (await direct('SELECT FROM webhook_deliveries LIMIT 1001')).length > 1_000 ? true : undefined,
      );
      await lookAfresh();
    },
    mend: withoutReceivers,
  },
  WebhooksUndelivered: RECEIVER_DIES,
  ReceiverFails: RECEIVER_DIES,
  SubscriptionDisabled: {
    happens: async () => {
      await receiverOf(410, [0, DAY]);
      await lookAfresh();
    },
  },
  BankDoesNotAnswer: {
    usual: async () => {
      const bank = dependencies.providers.get('sandbox-bank');
      expect(await bank?.lookUpPayment('unknown', {})).toEqual({ outcome: 'not-found' });
    },
    happens: async () => {
      await sandbox.kill();
      for (const id of [await external(), await external()]) await expect(submit(id)).rejects.toThrow();
    },
  },
  PaymentsUnanswered: {
    usual: async () => {
      await direct(`UPDATE outgoing_transfers SET waiting_since = service_now() WHERE status = 'processing'`);
    },
    happens: async () => {
      await expect(submit(await external())).rejects.toThrow();
      await later(601);
    },
  },
  ProcessAway: { happens: () => workerMetrics.close() },
};

/** The scrapes of the present test. */
let scrapes: Scrape[] = [];

test('every alert has exactly one fault here, which makes it fire', () => {
  expect(Object.keys(FAULTS).sort()).toEqual(RULES.map(({ alert }) => alert).sort());
  expect(RULES.filter(({ labels }) => !['page', 'ticket'].includes(labels.severity))).toEqual([]);
});

test.each(Object.entries(FAULTS))(
  '%s is quiet without its fault, and fires with it',
  async (alert, { usual, happens, mend }) => {
    scrapes = [await scrape()];
    await usual?.();
    scrapes.push(await scrape());
    expect(firing(alert, scrapes)).toEqual([]);
    await happens();
    await eventually(`${alert} with its fault`, async () => {
      scrapes.push(await scrape());
      return fires(alert, scrapes) || undefined;
    });
    await mend?.();
  },
);

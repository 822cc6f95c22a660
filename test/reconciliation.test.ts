import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { housekeepingActivities } from '../activities/housekeeping.ts';
import type { Provider } from '../activities/providers/port.ts';
import { createSandboxBank } from '../activities/providers/sandbox-bank.ts';
import { createDatabase, type Database } from '../db/client.ts';
import { newId } from '../db/ids.ts';
import { checkLedger } from '../db/ledger-check.ts';
import { receivePayment } from '../db/provisioned-account-credits.ts';
import { type Json, startApi, type TestApi } from './harness/api.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from './harness/sandbox.ts';

// The real bank. Housekeeping's task leaves the last five minutes out, so it looks from five minutes ahead.
const directory = temporaryDirectory();
const lines: string[] = [];
let testDatabase: TestDatabase;
let api: TestApi;
let sandbox: RunningSandbox;
let later: Database;
let compare: () => Promise<string>;

beforeAll(async () => {
  testDatabase = await createTestDatabase('reconciliation');
  const providers = new Map<string, Provider>();
  api = await startApi(testDatabase, { providers });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  providers.set('sandbox-bank', createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET }));
  later = createDatabase({
    url: testDatabase.url,
    maxConnections: 3,
    applicationName: 'later',
    clockOffset: () => '5 minutes',
  });
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const { configuration, environment } = api.services;
  const tasks = housekeepingActivities({
    database: later,
    providers,
    configuration,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
  });
  compare = () => new MockActivityEnvironment().run(tasks.compareStatements);
});

afterAll(async () => {
  await sandbox?.stop();
  await later?.close();
  await api?.stop();
  await testDatabase?.drop();
  directory.remove();
});

async function bank(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(`${sandbox.url}/bank${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

const payIn = (amount: number) =>
  bank('POST', '/payments-in', {
    amount,
    currency: 'GBP',
    scheme: 'faster-payments',
    reference: 'nobody in particular',
  });

function arrived(paymentId: string): Promise<unknown> {
  return eventually('the payment in', async () => {
    const rows = await api.database.reader.execute(
      sql`SELECT 1 FROM incoming_transfers WHERE service_provider_id = ${paymentId}`,
    );
    return rows[0];
  });
}

interface Break {
  readonly kind: string;
  readonly reference: string;
  readonly status: string;
}

function breaks(): Promise<Break[]> {
  return api.database.reader.execute<Break>(
    sql`SELECT kind, our_reference AS reference, status FROM reconciliation_breaks ORDER BY kind`,
  );
}

async function openInMetrics(): Promise<string | undefined> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return /^reconciliation_breaks_open (\d+)$/m.exec(text)?.[1];
}

const errors = () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);

test('books that agree have no break', async () => {
  await arrived((await payIn(10)).paymentId);
  expect(await compare()).toBe('ok');
  expect(await breaks()).toEqual([]);
  expect(await openInMetrics()).toBe('0');
  expect(lines.join('')).toContain('"payments":1');
});

test('each difference is recorded once, logged, counted, and resolved when it is gone', async () => {
  // Booked by the bank, and not told yet.
  await bank('POST', '/faults', { callbacks: 'held' });
  const late = await payIn(20);
  // Paid by the bank under a reference that nobody here knows.
  const foreign = newId();
  const party = { name: 'Somebody', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
  await bank('POST', '/payments', {
    ourReference: foreign,
    amount: 30.5,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: { ...party, accountId: newId() },
    creditor: party,
  });
  // Booked here, and unknown to the bank.
  const invented = `invented-${newId()}`;
  const receiver = { iban: null, accountNumber: null, routingCodes: {} };
  await api.database.transaction((tx) =>
    receivePayment(
      tx,
      {
        provider: 'sandbox-bank',
        amountMinor: 4_000n,
        currency: 'GBP',
        scheme: 'faster-payments',
        senderName: null,
        senderAccount: null,
        receiver,
        remittanceText: 'invented',
        serviceProviderId: invented,
        serviceProviderReference: null,
      },
      [],
    ),
  );
  expect(await compare()).toBe('reconciliation-breaks-open');
  const found = [
    { kind: 'statement-not-at-provider', reference: invented, status: 'open' },
    { kind: 'statement-unknown-payment', reference: foreign, status: 'open' },
    { kind: 'statement-unknown-payment', reference: late.paymentId, status: 'open' },
  ];
  expect(await breaks()).toHaveLength(3);
  expect(await breaks()).toEqual(expect.arrayContaining(found));
  expect(await openInMetrics()).toBe('3');
  const logged = errors();
  expect(logged.map(({ difference, reference }) => `${difference} ${reference}`).sort()).toEqual(
    found.map(({ kind, reference }) => `${kind} ${reference}`).sort(),
  );

  // Seen again, from the beginning: nothing new.
  await api.database.reader.execute(sql`DELETE FROM statement_comparisons`);
  expect(await compare()).toBe('reconciliation-breaks-open');
  expect(await breaks()).toHaveLength(3);
  expect(errors()).toHaveLength(3);

  await bank('DELETE', '/faults');
  await arrived(late.paymentId);
  await compare();
  expect((await breaks()).filter(({ status }) => status === 'resolved')).toEqual([
    { kind: 'statement-unknown-payment', reference: late.paymentId, status: 'resolved' },
  ]);
  expect(await openInMetrics()).toBe('2');
  expect(await checkLedger(api.database.reader)).toEqual([]);
});

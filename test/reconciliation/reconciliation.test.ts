import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import {
  outgoingTransferProviderCalls,
  outgoingTransferTransitions,
} from '../../activities/outgoing-transfers/activities.ts';
import type { Provider } from '../../activities/providers/port.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { compareStatements } from '../../activities/reconciliation/reconciliation.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import type { Database } from '../../db/query/database.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { changed, type FaultyServer, startFaultyServer } from '../harness/faults/faulty-server.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';

// The real bank. Housekeeping's task leaves the last five minutes out, so it looks from five minutes ahead.
const directory = temporaryDirectory();
const lines: string[] = [];
let testDatabase: TestDatabase;
let api: TestApi;
let sandbox: RunningSandbox;
let server: FaultyServer;
let later: Database;
let compare: () => Promise<string>;
let activityDependencies: ActivityDependencies;

beforeAll(async () => {
  testDatabase = await createTestDatabase('reconciliation');
  const providers = new Map<string, Provider>();
  api = await startApi(testDatabase, { providers });
  const callbackUrl = `${api.url}/provider-callbacks/sandbox-bank`;
  sandbox = await startSandbox({ directory: directory.path, callbackUrl });
  server = await startFaultyServer(sandbox.url);
  // First in the order: it is away, and those after it are compared all the same.
  providers.set('absent-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: SANDBOX_SECRET }));
  providers.set('sandbox-bank', createSandboxBank({ url: server.url, secret: SANDBOX_SECRET }));
  later = createDatabase({
    url: testDatabase.url,
    maxConnections: 3,
    applicationName: 'later',
    deadlineMs: 60_000,
    clockOffset: () => '5 minutes',
  });
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const { configuration, environment } = api.services;
  activityDependencies = {
    database: api.database,
    providers,
    configuration,
    keyring: api.services.keyring,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
  };
  const tasks = housekeepingActivities({ ...activityDependencies, database: later });
  compare = () => new MockActivityEnvironment().run(tasks.compareStatements);
});

afterEach(async () => {
  await bank('DELETE', '/faults');
});

afterAll(async () => {
  await server?.close();
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
    reference: 'no account of ours',
  });

function arrived(paymentId: string): Promise<unknown> {
  return eventually('the payment in', async () => {
    const rows = await api.database.reader.execute(
      sql`SELECT 1 FROM incoming_transfers WHERE service_provider_id = ${paymentId}`,
    );
    return rows[0];
  });
}

/** Books a payment in that the bank does not know. */
function receiveInvented(database: Database, serviceProviderId: string, currency = 'GBP'): Promise<unknown> {
  const payment = {
    provider: 'sandbox-bank',
    amountMinor: 4_000n,
    currency,
    scheme: 'faster-payments',
    senderName: null,
    senderAccount: null,
    receiver: { iban: null, accountNumber: null, routingCodes: {} },
    remittanceText: 'invented',
    serviceProviderId,
    serviceProviderReference: null,
    held: false,
  };
  return database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
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
  const text = await (await fetch(api.metricsUrl)).text();
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

test('balance adjustments are no payments: no statement has them, and their books agree', async () => {
  const { id } = await builtInAccounts(api).opened(await moneyWorld(api).client());
  const outside = 'unconnected-service-provider';
  const workflows = [
    { code: 'synchronization', type: outside },
    { code: 'correction', type: 'unknown', transactionType: outside },
    { code: 'correction', type: 'fee', transactionType: outside },
  ];
  for (const workflow of workflows) {
    for (const direction of ['credit', 'debit']) {
      const adjusted = {
        accountId: id,
        direction,
        amount: 17,
        currency: 'GBP',
        unconnectedServiceProvider: 'Other Bank',
      };
      const body = { workflow, data: { balanceAdjustment: adjusted } };
      const answer = await api.call('POST', `/accounts/${id}/balance-adjustments`, body, { as: 'admin' });
      expect(answer.status, answer.text).toBe(201);
    }
  }
  await api.database.reader.execute(sql`DELETE FROM statement_comparisons`);
  expect(await compare()).toBe('ok');
  expect(await breaks()).toEqual([]);
  expect(await checkLedger(api.database.reader)).toEqual([]);
});

test('each difference is recorded once, logged, counted, and resolved when it is gone', async () => {
  // Booked by the bank, but not reported yet.
  await bank('POST', '/faults', { callbacks: 'held' });
  const late = await payIn(20);
  // Paid by the bank under an unknown reference.
  const foreign = newId();
  const party = { name: 'Sam Taylor', iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
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
  await receiveInvented(api.database, invented);
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

/** A payment out that the bank has taken on or completed, as its transfer's workflow has it carried out. */
async function paidOut(amount: number): Promise<OutgoingTransferId> {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const account = await builtInAccounts(api).opened(clientId);
  const money = { amount: 100, currency: 'GBP', scheme: 'faster-payments', reference: account.ledgerNumber };
  await arrived((await bank('POST', '/payments-in', money)).paymentId);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: account.id },
    destination: {
      type: 'beneficiary-bank-account',
      beneficiaryBankAccountId: await world.beneficiary(clientId),
    },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const { id } = (await api.call('POST', '/outgoing-transfers', body)).body.data.outgoingTransfer;
  const { submitOutgoingTransfer } = outgoingTransferProviderCalls(activityDependencies);
  const { recordOutgoingTransferSubmission } = outgoingTransferTransitions(activityDependencies);
  const report = await new MockActivityEnvironment().run<
    [string, number],
    PaymentReport | null,
    typeof submitOutgoingTransfer
  >(submitOutgoingTransfer, id, 1);
  await recordOutgoingTransferSubmission(id, 1, report);
  return asId<OutgoingTransferId>(id);
}

function booked(id: OutgoingTransferId, report: PaymentReport): Promise<unknown> {
  const { configuration } = api.services;
  return api.database.transaction((tx) =>
    applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, report, configuration),
  );
}

const WHOLE = { serviceProviderId: null, serviceProviderReference: null, code: null };

async function breaksOf(reference: string): Promise<Break[]> {
  return (await breaks()).filter((found) => found.reference === reference);
}

test('a payment that came back in part is no difference where the part is booked, and one where the whole is', async () => {
  const right = await paidOut(20);
  await bank('POST', `/payments/${right}/return`, { amount: 5, code: 'AC06' });
  await eventually('the return', async () => {
    const { body } = await api.call('GET', `/outgoing-transfers/${right}`);
    return body.data.outgoingTransfer.returned || undefined;
  });
  const wrong = await paidOut(21);
  await bank('POST', '/faults', { callbacks: 'held' });
  await bank('POST', `/payments/${wrong}/return`, { amount: 5, code: 'AC06' });
  expect(await booked(wrong, { ...WHOLE, outcome: 'returned' })).toBe('applied');
  await compare();
  expect(await breaksOf(right)).toEqual([]);
  expect(await breaksOf(wrong)).toEqual([{ kind: 'statement-amount-differs', reference: wrong, status: 'open' }]);
  // It stays open for an operator.
  await compare();
  expect(await breaksOf(wrong)).toMatchObject([{ status: 'open' }]);
  await bank('DELETE', '/faults');
});

test('the amount of a payment that failed is compared as well', async () => {
  const id = await paidOut(22.1);
  await bank('POST', `/payments/${id}/reject`, { code: 'AC07' });
  await eventually('the failure', async () => {
    const { body } = await api.call('GET', `/outgoing-transfers/${id}`);
    return body.data.outgoingTransfer.status === 'failed' || undefined;
  });
  await server.during(
    changed((text) => {
      const answer = JSON.parse(text);
      for (const entry of answer.entries ?? []) {
        if (entry.ourReference === id && entry.kind === 'payment-out-failed') entry.amount = 22.09;
      }
      return JSON.stringify(answer);
    }),
    compare,
  );
  expect(await breaksOf(id)).toEqual([{ kind: 'statement-amount-differs', reference: id, status: 'open' }]);
});

test('an entry that cannot be read is a break, and the position is compared without it', async () => {
  const garbled = await payIn(23);
  await arrived(garbled.paymentId);
  const missing = await payIn(24);
  await arrived(missing.paymentId);
  await api.database.reader.execute(
    sql`UPDATE incoming_transfers SET service_provider_id = ${`lost-${newId()}`} WHERE service_provider_id = ${missing.paymentId}`,
  );
  let entryId = '';
  const garble = changed((text) => {
    const answer = JSON.parse(text);
    for (const entry of answer.entries ?? []) {
      if (entry.paymentId !== garbled.paymentId) continue;
      entryId = entry.entryId;
      entry.amount = 'Zoë Payee';
    }
    return JSON.stringify(answer);
  });
  await server.during(garble, compare);
  const unreadable = [{ kind: 'statement-entry-unreadable', reference: entryId, status: 'open' }];
  expect(entryId).not.toBe('');
  expect(await breaksOf(entryId)).toEqual(unreadable);
  expect(await breaksOf(missing.paymentId)).toMatchObject([{ kind: 'statement-unknown-payment', status: 'open' }]);
  expect(await breaksOf(garbled.paymentId)).toEqual([]);
  expect(lines.join('')).not.toContain('Zoë');
  // The comparison continues after it, and the entry stays open for an operator.
  const next = await payIn(25);
  await bank('POST', '/faults', { callbacks: 'held' });
  const late = await payIn(26);
  await arrived(next.paymentId);
  await compare();
  expect(await breaksOf(late.paymentId)).toMatchObject([{ status: 'open' }]);
  expect(await breaksOf(entryId)).toEqual(unreadable);
  await bank('DELETE', '/faults');
  await arrived(late.paymentId);
});

test('a payment that cannot be looked up stays as the statement says until it can, and blocks no other', async () => {
  const silent = await paidOut(27.13);
  await bank('POST', '/faults', { callbacks: 'held' });
  await bank('POST', `/payments/${silent}/reject`, {});
  const late = await payIn(28);
  await compare();
  expect(await breaksOf(silent)).toMatchObject([{ kind: 'statement-not-at-provider', status: 'open' }]);
  expect(await breaksOf(late.paymentId)).toMatchObject([{ status: 'open' }]);
  await bank('DELETE', '/faults');
  await arrived(late.paymentId);
  await compare();
  expect(await breaksOf(silent)).toMatchObject([{ status: 'open' }]);
  expect(await breaksOf(late.paymentId)).toMatchObject([{ status: 'resolved' }]);
});

test('a difference that was resolved automatically is open again when it recurs', async () => {
  await bank('POST', '/faults', { callbacks: 'held' });
  const late = await payIn(29);
  await compare();
  await bank('DELETE', '/faults');
  await arrived(late.paymentId);
  await compare();
  expect(await breaksOf(late.paymentId)).toMatchObject([{ status: 'resolved' }]);
  await api.database.reader.execute(
    sql`UPDATE incoming_transfers SET service_provider_id = ${`lost-${newId()}`} WHERE service_provider_id = ${late.paymentId}`,
  );
  await api.database.reader.execute(sql`DELETE FROM statement_comparisons`);
  await compare();
  expect(await breaksOf(late.paymentId)).toMatchObject([{ kind: 'statement-unknown-payment', status: 'open' }]);
});

test('a provider that does not answer is reported, and stops none of those after it', async () => {
  await bank('POST', '/faults', { callbacks: 'held' });
  const late = await payIn(30);
  await api.database.reader.execute(sql`
    INSERT INTO system_accounts (id, provider, currency, kind) VALUES (${newId()}, 'absent-bank', 'GBP', 'settlement')`);
  expect(await compare()).toBe('statements-not-compared');
  expect(await breaksOf(late.paymentId)).toMatchObject([{ status: 'open' }]);
  expect(errors().at(-1)).toMatchObject({ provider: 'sandbox-bank' });
  expect(errors()).toContainEqual(
    expect.objectContaining({ provider: 'absent-bank', currency: 'GBP', reason: 'ProviderUnavailable' }),
  );
  await bank('DELETE', '/faults');
  await arrived(late.paymentId);
});

test('a payment that was posted after the end of a comparison, before one that it has compared, is compared by the next one', async () => {
  const [ahead, behind] = [`ahead-${newId()}`, `behind-${newId()}`];
  // Of two concurrent postings, the one with the lower number may be the later one.
  await receiveInvented(later, ahead, 'EUR');
  await receiveInvented(api.database, behind, 'EUR');
  const found = async () => {
    const references = (await breaks()).map(({ reference }) => reference);
    return [ahead, behind].map((reference) => references.includes(reference));
  };
  const compareUntil = (minutesAhead: number) => compareStatements(activityDependencies, {}, -minutesAhead * 60_000);
  await compareUntil(2);
  expect(await found()).toEqual([false, true]);
  await compareUntil(10);
  expect(await found()).toEqual([true, true]);
});

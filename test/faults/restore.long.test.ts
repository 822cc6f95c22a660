import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporalSettings } from '../../config/temporal.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import type { Json } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { stuckWorkOf } from '../harness/faults/settled.ts';
import { SANDBOX_SECRET } from '../harness/servers/sandbox.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';
import { until } from '../harness/stage.ts';
import { entryArguments } from '../tools/run/entries.ts';

// The service and the bank continue after a backup; after its restore the bank knows more than we do.
let service: WholeService;
let temporal: TemporalClient;
let clientId: string;
let bankAccountId: string;

beforeAll(async () => {
  service = await startWholeService({ processesEach: 1 });
  temporal = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: service.temporalAddress }));
});

afterAll(async () => {
  await temporal?.close();
  await service?.close();
});

async function request(method: string, path: string, body?: Json): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${service.apiUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function create(path: string, code: string, data: Json, connect: Json = {}): Promise<Json> {
  const answer = await request('POST', path, { workflow: { code }, data, connect });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data;
}

async function bank(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(`${service.sandboxUrl}/bank${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

async function account(id: string): Promise<Json> {
  return (await request('GET', `/accounts/${id}`)).body.data.account;
}

async function openAccount(): Promise<Json> {
  const connect = { type: 'implicit' };
  const { account: made } = await create(
    '/accounts',
    'client.issuing',
    { account: { clientId, currency: 'GBP' } },
    connect,
  );
  return until(
    () => account(made.id),
    ({ status }) => status === 'active',
  );
}

function payIn(receiver: Json, amount: number): Promise<Json> {
  return bank('POST', '/payments-in', { amount, currency: 'GBP', scheme: 'faster-payments', ...receiver });
}

const receiverOf = ({ iban, accountNumber, routingCodes }: Json) => (iban ? { iban } : { accountNumber, routingCodes });

async function fund(into: Json, amount: number): Promise<void> {
  const before = (await account(into.id)).availableBalance;
  await payIn(receiverOf(into), amount);
  await until(
    () => account(into.id),
    ({ availableBalance }) => availableBalance > before,
  );
}

async function send(from: Json, amount: number, change: Json = {}): Promise<string> {
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: from.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccountId },
    ...change,
  };
  return (await create('/outgoing-transfers', 'client.direct', { outgoingTransfer })).outgoingTransfer.id;
}

async function cancel(id: string): Promise<void> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  const answer = await request('PATCH', `/outgoing-transfers/${id}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  // Temporal lists it as ended a little later.
  await until(
    async () =>
      (await temporal.client.workflow.count(`WorkflowId = 'outgoing-transfer/${id}' AND ExecutionStatus = 'Completed'`))
        .count,
    (ended) => ended === 1,
  );
}

async function areSubmissionsClosed(): Promise<boolean | undefined> {
  const [gate] = await service.database.reader.statement<{ closed: boolean }>(
    'SELECT closed_at IS NOT NULL AS closed FROM provider_submissions',
    [],
  );
  return gate?.closed;
}

async function transfer(id: string): Promise<Json> {
  return (await request('GET', `/outgoing-transfers/${id}`)).body.data?.outgoingTransfer;
}

function reaches(id: string, status: string): Promise<Json> {
  return until(
    () => transfer(id),
    (shown) => shown?.status === status,
  );
}

async function arrival(paymentId: string) {
  const [row] = await service.database.reader.statement<{ status: string; account: string; sendBack: string }>(
    `SELECT status, account_id AS account, send_back_status AS "sendBack" FROM incoming_transfers WHERE service_provider_id = $1`,
    [paymentId],
  );
  return row;
}

interface PositionedEvent {
  readonly id: string;
  readonly position: bigint;
}

function numberedEvents(): Promise<PositionedEvent[]> {
  return service.database.reader.statement<PositionedEvent>(
    'SELECT id, first_position AS position FROM events WHERE first_position IS NOT NULL',
    [],
  );
}

async function untilAllNumbered(): Promise<void> {
  await until(
    () =>
      service.database.reader.statement<{ open: boolean }>(
        'SELECT EXISTS (SELECT FROM events WHERE first_position IS NULL) AS open',
        [],
      ),
    ([row]) => row?.open === false,
  );
}

const cluster = () => join(service.directory, 'postgres', 'cluster');

/** A copy of a killed server's files, like a snapshot of its disk. */
async function copyPostgres(): Promise<void> {
  await service.process('postgres').kill();
  // With the owner of each file, which may be Postgres's own user.
  execFileSync('cp', ['-a', cluster(), `${cluster()}-copy`]);
  rmSync(`${cluster()}-copy/postmaster.pid`);
  await service.process('postgres').start();
}

async function restorePostgres(): Promise<void> {
  for (const kind of ['api', 'worker', 'postgres'] as const) await service.process(kind).kill();
  rmSync(cluster(), { recursive: true });
  renameSync(`${cluster()}-copy`, cluster());
  await service.process('postgres').start();
}

function operate(...given: string[]): Promise<{ status: number; output: string }> {
  const environment = {
    ...process.env,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: service.temporalAddress,
    SANDBOX_URL: service.sandboxUrl,
    SANDBOX_BANK_SECRET: SANDBOX_SECRET,
    CONFIG_FILE: join(service.directory, 'configuration.json'),
  };
  return new Promise((resolve) => {
    const command = [...entryArguments('cli/operate.ts'), ...given];
    execFile(process.execPath, command, { env: environment }, (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

interface BankEntry {
  readonly kind: string;
  readonly direction: string;
  readonly amount: number;
  readonly ourReference: string | null;
}

async function statement(): Promise<BankEntry[]> {
  const { entries, next } = await bank('GET', '/statement?currency=GBP&limit=5000');
  expect(next).toBeNull();
  return entries;
}

const pence = (amount: number) => Math.round(amount * 100);

async function settlementPence(): Promise<number> {
  const [row] = await service.database.reader.statement<{ pence: string }>(
    `SELECT sum(CASE WHEN credit_account_id = account.id THEN -amount_minor ELSE amount_minor END)::text AS pence
     FROM system_accounts account JOIN postings ON account.id IN (debit_account_id, credit_account_id)
     WHERE account.provider = 'sandbox-bank' AND account.kind = 'settlement' AND account.currency = 'GBP'
       AND debit_transaction_type <> 'fee-sweep'`,
    [],
  );
  return Number(row?.pence);
}

test('an older Postgres comes back, catches up with the bank, and pays nothing twice', async () => {
  ({
    client: { id: clientId },
  } = await create('/clients', 'direct', {
    client: {
      identity: { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' },
      profile: { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } },
    },
  }));
  const sterling = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };
  const { beneficiary } = await create('/beneficiaries', 'direct', {
    beneficiary: { clientId, fullName: 'Brook Lane Bakery', bankAccounts: [sterling] },
  });
  bankAccountId = beneficiary.bankAccounts[0].id;
  await create('/webhook-subscriptions', 'direct', { webhookSubscription: { url: service.receiver.url } });
  const rich = await openAccount();
  const poor = await openAccount();
  const closed = await openAccount();
  await fund(rich, 1_000);
  const closing = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
  expect((await request('PATCH', `/accounts/${closed.id}`, closing)).status).toBe(200);
  await until(
    () => account(closed.id),
    ({ status }) => status === 'closed',
  );

  // The state that will come back: one waits for money, one is on its way, one released, one settled.
  const waiting = await send(poor, 50.5);
  const released = await send(rich, 20.1);
  const completed = await send(rich, 30.5);
  await reaches(released, 'released');
  await reaches(completed, 'completed');
  await bank('POST', '/faults', { errorRate: 1 });
  const processing = await send(rich, 40.5);
  await reaches(processing, 'processing');
  await reaches(waiting, 'pending');
  const dated = { transferDate: new Date(Date.now() + 30 * 24 * 3_600_000).toISOString().slice(0, 10) };
  const cancelled = await send(rich, 70.5, dated);
  const revived = await send(rich, 80.5, dated);
  await untilAllNumbered();
  const since = new Date();
  await copyPostgres();

  // The window that will be lost.
  await bank('DELETE', '/faults');
  await fund(poor, 75);
  const unmatched = await payIn({ reference: 'for whom it may concern' }, 12.34);
  const tooLate = await payIn(receiverOf(closed), 9.99);
  await until(
    () => arrival(tooLate.paymentId),
    (row) => row?.sendBack === 'done',
  );
  await reaches(waiting, 'completed');
  await reaches(processing, 'completed');
  await bank('POST', `/payments/${released}/settle`, {});
  await bank('POST', `/payments/${completed}/return`, {});
  await reaches(released, 'completed');
  await until(
    () => transfer(completed),
    (shown) => shown.returned,
  );
  for (const id of [cancelled, revived]) await cancel(id);
  const lost = await send(rich, 60.5);
  await reaches(lost, 'completed');
  await untilAllNumbered();
  const numberedBefore = await numberedEvents();
  const paidBefore = await statement();

  const whileRunning = await operate('after-restore', '--since', since.toISOString());
  expect(whileRunning.output).toMatch(/Stop every process of the service first/);
  expect(whileRunning.status).toBe(2);

  await restorePostgres();
  // The bank is away at first: the command fails, and submissions stay closed until it is run again.
  await service.process('sandbox').kill();
  const early = await operate('after-restore', '--since', since.toISOString());
  expect(early.status, early.output).toBe(2);
  expect(await areSubmissionsClosed()).toBe(true);
  await service.process('sandbox').start();
  const undecided = await operate('after-restore', '--since', since.toISOString());
  expect(undecided.output).toMatch(/3 payments in, 4 payments out/);
  for (const id of [cancelled, revived])
    expect(undecided.output).toMatch(new RegExp(`open again: outgoing-transfer/${id}  pending  \\S+  not-found`));
  expect(undecided.output).toContain(`to look at: statement-unknown-payment  sandbox-bank  ${lost}`);
  expect(undecided.output).toContain('2 to decide: submissions stay closed.');
  expect(undecided.status, undecided.output).toBe(1);
  expect(await areSubmissionsClosed()).toBe(true);
  const decisions = ['--end', cancelled, '--resume', revived];
  const caughtUp = await operate('after-restore', '--since', since.toISOString(), ...decisions);
  expect(caughtUp.output).toContain(`ended again: outgoing-transfer/${cancelled}  cancelled`);
  expect(caughtUp.output).toContain(`continues: outgoing-transfer/${revived}  pending`);
  expect(caughtUp.output).toContain(`to look at: statement-unknown-payment  sandbox-bank  ${lost}`);
  expect(caughtUp.output).toContain('1 differences are open.');
  expect(caughtUp.status, caughtUp.output).toBe(1);
  const audited = await auditOf(service.database.reader, since.toISOString());
  expect(audited.map(({ resource, action }) => `${resource} ${action}`)).toEqual([
    'restore begun',
    'restore begun',
    'restore begun',
    'restore caught-up',
  ]);
  for (const kind of ['worker', 'api'] as const) await service.process(kind).start();

  for (const id of [waiting, processing, released, completed]) await reaches(id, 'completed');
  expect((await transfer(completed)).returned).toBe(true);
  expect(await transfer(lost)).toBeUndefined();
  expect(await transfer(cancelled)).toMatchObject({ status: 'cancelled' });
  expect(await transfer(revived)).toMatchObject({ status: 'pending' });
  expect(await arrival(unmatched.paymentId)).toMatchObject({ status: 'on-hold', account: null });
  expect(await arrival(tooLate.paymentId)).toMatchObject({ status: 'failed', sendBack: 'done' });
  // 75 less the fee of its arrival, less 50.50 and the fee of a payment out.
  expect((await account(poor.id)).availableBalance).toBeCloseTo(75 - 0.05 - 50.5 - 0.25, 10);

  // The restored service works: one more payment in each direction, and every open row has its workflow.
  const next = await send(rich, 5.5);
  await reaches(next, 'completed');
  await until(
    () => stuckWorkOf(service),
    (stuck) => stuck.length === 0,
  );
  await untilAllNumbered();

  const paidAfter = await statement();
  const outs = paidAfter.filter(({ kind }) => kind === 'payment-out').map(({ ourReference }) => ourReference);
  expect(new Set(outs).size).toBe(outs.length);
  expect(paidAfter.length).toBe(paidBefore.length + 1);
  const position = paidAfter.reduce(
    (sum, { direction, amount }) => sum + (direction === 'credit' ? 1 : -1) * pence(amount),
    0,
  );
  // The only difference of the two books is the payment that was recorded for an operator.
  expect((await settlementPence()) - position).toBe(pence(60.5));
  expect(await checkLedger(service.database.reader)).toEqual([]);

  const positions = new Map(numberedBefore.map(({ id, position: at }) => [id, at]));
  let highest = 0n;
  for (const { position: at } of numberedBefore) {
    if (at > highest) highest = at;
  }
  for (const { id, position: at } of await numberedEvents()) {
    if (positions.get(id) !== at) expect(at).toBeGreaterThan(highest);
  }
});

test('while submissions are closed nothing reaches the bank, and afterwards each payment goes out once', async () => {
  const [rich] = (await request('GET', '/accounts?data.account.status=active')).body.data.accounts;
  expect((await operate('submissions', 'close', '--reason', 'the bank pays twice')).status).toBe(0);
  const id = await send(rich, 3.5);
  const log = service.process('worker').logFile;
  await until(
    async () => readFileSync(log, 'utf8'),
    (text) => text.includes('SubmissionsClosed'),
  );
  expect((await statement()).some(({ ourReference }) => ourReference === id)).toBe(false);
  expect(readFileSync(log, 'utf8')).toContain('(the bank pays twice)');
  expect((await operate('submissions', 'open', '--reason', 'the bank is sound')).status).toBe(0);
  await reaches(id, 'completed');
  expect((await statement()).filter(({ ourReference }) => ourReference === id)).toHaveLength(1);
});

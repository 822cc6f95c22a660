import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../db/ledger/check.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { type CrashPointProxy, type HoldFrom, startCrashPointProxy } from '../harness/faults/crash-point-proxy.ts';
import { startTcpProxy, type TcpProxy } from '../harness/faults/tcp-proxy.ts';
import { PAYMENT, thirdPartyWorld } from '../harness/parties/third-parties.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';
import { until } from '../harness/stage.ts';

/**
 * Kills a process right after each step that moves money: proxies pass requests and hold answers, so that the effect
 * exists and no process knows of it; and anywhere in a step that must be whole or not at all. The work must then finish, once.
 */
let service: WholeService;
let apiToPostgres: CrashPointProxy;
let apiToTemporal: TcpProxy;
let workerToPostgres: CrashPointProxy;
let workerToBank: CrashPointProxy;
let clientId: string;
let bankAccountId: string;
let source: Json;
let destination: Json;
let poor: Json;
let plugIn: string;

beforeAll(async () => {
  service = await startWholeService({
    processesEach: 1,
    detours: {
      api: {
        databaseUrl: async (url) => {
          apiToPostgres = await startCrashPointProxy(endpoint(url));
          return withPort(url, apiToPostgres.port);
        },
        temporalAddress: async (address) => {
          apiToTemporal = await startTcpProxy(endpoint(`tcp://${address}`));
          return `127.0.0.1:${apiToTemporal.port}`;
        },
      },
      worker: {
        databaseUrl: async (url) => {
          workerToPostgres = await startCrashPointProxy(endpoint(url));
          return withPort(url, workerToPostgres.port);
        },
        sandboxUrl: async (url) => {
          workerToBank = await startCrashPointProxy(endpoint(url));
          return withPort(url, workerToBank.port).replace(/\/$/, '');
        },
      },
    },
  });
  await openAccounts();
});

afterAll(async () => {
  await service?.close();
  for (const proxy of [apiToPostgres, apiToTemporal, workerToPostgres, workerToBank]) await proxy?.close();
});

function endpoint(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly text: string;
  readonly idempotencyStatus: string | null;
}

async function call(method: string, path: string, body?: Json, key?: string): Promise<Answer> {
  const response = await fetch(`${service.apiUrls[0]}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const idempotencyStatus = response.headers.get('x-idempotency-status');
  return { status: response.status, body: JSON.parse(text), text, idempotencyStatus };
}

async function made(path: string, code: string, data: Json, connect: Json = {}): Promise<Json> {
  const answer = await call('POST', path, { workflow: { code }, data, connect });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

async function openAccounts(): Promise<void> {
  const identity = { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' };
  const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } };
  clientId = (await made('/clients', 'direct', { client: { identity, profile } })).client.id;
  const sterling = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };
  const beneficiary = { clientId, fullName: 'Brook Lane Bakery', bankAccounts: [sterling] };
  bankAccountId = (await made('/beneficiaries', 'direct', { beneficiary })).beneficiary.bankAccounts[0].id;
  [source, destination, poor] = await Promise.all([0, 1, 2].map(() => openBuiltIn()));
  const connect = { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' };
  plugIn = (await made('/accounts', 'client.issuing', { account: { clientId, currency: 'GBP' } }, connect)).account.id;
  const patch = { workflow: { code: 'client.direct' }, data: { account: { status: 'active' } } };
  expect((await call('PATCH', `/accounts/${plugIn}`, patch)).status).toBe(200);
  await payIn(source, 1_000, 'the first money');
  await until(
    () => account(source.id),
    ({ availableBalance }) => availableBalance > 0,
  );
}

async function openBuiltIn(): Promise<Json> {
  const opened = await made(
    '/accounts',
    'client.issuing',
    { account: { clientId, currency: 'GBP' } },
    { type: 'implicit' },
  );
  return until(
    () => account(opened.account.id),
    ({ status }) => status === 'active',
  );
}

async function account(id: string): Promise<Json> {
  return (await call('GET', `/accounts/${id}`)).body.data.account;
}

async function payIn({ iban, accountNumber, routingCodes }: Json, amount: number, reference: string): Promise<string> {
  const receiver = iban === null ? { accountNumber, routingCodes } : { iban };
  const response = await fetch(`${service.sandboxUrl}/bank/payments-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount, currency: 'GBP', scheme: 'faster-payments', reference, ...receiver }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as Json).paymentId;
}

function transfer(amount: number, change: Json = {}): Json {
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'internal',
    source: { type: 'client-account', accountId: source.id },
    destination: { type: 'client-account', accountId: destination.id },
    ...change,
  };
  return { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
}

function external(amount: number, from: Json = source): Json {
  return transfer(amount, {
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: from.id },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccountId },
  });
}

async function accepted(body: Json): Promise<string> {
  const answer = await call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

async function rows<Row>(text: string, ...params: unknown[]): Promise<Row[]> {
  return service.database.reader.statement<Row>(text, params);
}

async function statusOf(id: string): Promise<string> {
  const [row] = await rows<{ status: string }>('SELECT status FROM outgoing_transfers WHERE id = $1::uuid', id);
  return row?.status ?? 'missing';
}

async function ends(id: string, status: string): Promise<void> {
  await until(
    () => statusOf(id),
    (now) => now === status,
  );
}

/** Types of a resource's events: each happened once. */
async function eventsOf(id: string): Promise<string[]> {
  const found = await rows<{ entries: { type: string }[] }>(
    'SELECT entries FROM events WHERE resource_id = $1::uuid ORDER BY first_sequence',
    id,
  );
  return found.flatMap(({ entries }) => entries.map(({ type }) => type.replace(/^(outgoing|incoming)-transfer-/, '')));
}

/** What the bank booked for a payment out. */
async function bankBooked(id: string): Promise<string[]> {
  const response = await fetch(`${service.sandboxUrl}/bank/statement?currency=GBP&limit=5000`);
  const { entries }: Json = await response.json();
  return entries.flatMap((entry: Json) => (entry.ourReference === id ? [entry.kind] : []));
}

/** Waits for an effect. If the request ends first, `ended` says why the effect will not come. */
async function committed(look: () => Promise<boolean>, ended: readonly string[] = []): Promise<void> {
  await until(look, (found) => {
    if (!found && ended.length > 0) throw new Error(`a request was over before its answer was held: ${ended}`);
    return found;
  });
}

/** Waits until each text given to the proxy has an answer that is held; more than those may be, a retry's for example. */
async function allHeld(proxy: CrashPointProxy): Promise<void> {
  await until(
    async () => proxy.notHeld(),
    (texts) => texts.length === 0,
  );
}

/** What the API answers if a busy machine kills it later than ten seconds after the answer was held: it knows no more than its caller. */
const UNKNOWN = 503;

/** The request's answer, or `lost` when the connection broke before one came; `ended` gets more words. */
function outcome(request: Promise<Pick<Answer, 'status' | 'text'>>, ended: string[] = []): Promise<string> {
  return request.then(
    ({ status, text }) => {
      if (status !== UNKNOWN) ended.push(text);
      return `answered ${status}`;
    },
    (error: Error) => {
      ended.push(String(error.cause ?? error));
      return 'lost';
    },
  );
}

async function exists(text: string, ...params: unknown[]): Promise<boolean> {
  return (await rows(text, ...params)).length > 0;
}

describe('the API, killed between a commit and its answer', () => {
  const TRANSFER_STATUS = 'SELECT FROM outgoing_transfers WHERE id = $1::uuid AND status = $2';
  const KEY_STORED = 'SELECT FROM idempotency_keys WHERE key = $1 AND response_status IS NOT NULL';
  let lost: string[];
  let cancelled: string;
  let settling: string;
  let paymentIn: string;
  let straight: Json;
  let outside: Json;
  let credit: Json;
  let adjustment: Json;

  beforeAll(async () => {
    straight = transfer(10);
    const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
    outside = external(20.5);
    // Of accounts of its own: changes of one account go one after the other.
    const other = await openBuiltIn();
    const [from, to] = [poor, other].map(({ id }) => ({ type: 'client-account', accountId: id }));
    cancelled = await accepted(transfer(5, { transferDate: inAYear, source: from, destination: to }));
    settling = await accepted(external(30.1));
    await ends(settling, 'released');
    const reported = { accountId: plugIn, amount: 77, currency: 'GBP', scope: 'external', scheme: 'swift' };
    credit = { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit: reported } };
    const unknown = { code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' };
    const adjusted = { accountId: plugIn, direction: 'credit', amount: 3, currency: 'GBP' };
    adjustment = { workflow: unknown, data: { balanceAdjustment: adjusted } };

    const ended: string[] = [];
    const requests: Promise<string>[] = [];
    // One after the other: two that meet at one account may take another way than the one that is held.
    const holds = async (words: string, from: HoldFrom, start: () => Promise<Answer>, seen: () => Promise<boolean>) => {
      apiToPostgres.holdAfter(words, from);
      requests.push(outcome(start(), ended));
      await committed(seen, ended);
    };
    const keyStored = (key: string) => () => exists(KEY_STORED, key);
    // Four of them are one statement each, which is committed when it is over; the others are transactions.
    const key = 'key-straight-through';
    await holds(key, 'now', () => call('POST', '/outgoing-transfers', straight, key), keyStored(key));
    const create = () => call('POST', '/outgoing-transfers', outside, 'key-outside');
    await holds('"key":"key-outside"', 'now', create, keyStored('key-outside'));
    const report = () => call('POST', '/provisioned-account-credits', credit, 'key-credit');
    await holds('"key":"key-credit"', 'now', report, keyStored('key-credit'));
    const adjust = () => call('POST', `/accounts/${plugIn}/balance-adjustments`, adjustment, 'key-adjustment');
    await holds('key-adjustment', 'commit', adjust, keyStored('key-adjustment'));
    const patch = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    const cancel = () => call('PATCH', `/outgoing-transfers/${cancelled}`, patch);
    await holds(`"outgoing_id":"${cancelled}"`, 'now', cancel, () => exists(TRANSFER_STATUS, cancelled, 'cancelled'));

    apiToPostgres.holdAfter(settling, 'commit');
    const settled = await fetch(`${service.sandboxUrl}/bank/payments/${settling}/settle`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(settled.status).toBe(200);
    await committed(() => exists(TRANSFER_STATUS, settling, 'completed'));
    apiToPostgres.holdAfter('paid in and killed', 'now');
    paymentIn = await payIn(destination, 12.34, 'paid in and killed');
    await committed(() => exists('SELECT FROM incoming_transfers WHERE service_provider_id = $1', paymentIn));
    await allHeld(apiToPostgres);

    await service.process('api').kill();
    apiToPostgres.pass();
    lost = await Promise.all(requests);
    await service.process('api').start();
  });

  test('loses every answer, and nothing else', () => {
    expect(lost).toHaveLength(5);
    for (const answer of lost) expect(['lost', `answered ${UNKNOWN}`]).toContain(answer);
    // Otherwise the kill has shown nothing.
    expect(lost).toContain('lost');
  });

  test.each([
    ['a straight-through transfer', '/outgoing-transfers', () => straight, 'key-straight-through'],
    ['an outside transfer', '/outgoing-transfers', () => outside, 'key-outside'],
    ['a reported credit', '/provisioned-account-credits', () => credit, 'key-credit'],
    ['a balance adjustment', '/accounts/{id}/balance-adjustments', () => adjustment, 'key-adjustment'],
  ] as const)('%s requested again is the first one', async (_what, pathOfAny, body, key) => {
    const path = pathOfAny.replace('{id}', plugIn);
    const again = await call('POST', path, body(), key);
    expect(again.status, again.text).toBe(201);
    expect(again.idempotencyStatus).toBe('replayed');
    expect((await call('POST', path, body(), key)).text).toBe(again.text);
    const [stored] = await rows<{ body: string }>(
      'SELECT response_body AS body FROM idempotency_keys WHERE key = $1',
      key,
    );
    expect(again.text).toBe(stored?.body);
  });

  test('each was done once', async () => {
    const counts = await rows<{ minor: bigint; count: number }>(
      `SELECT amount_minor AS minor, count(*)::integer AS count FROM outgoing_transfers
       WHERE amount_minor IN (1000, 2050) GROUP BY 1 ORDER BY 1`,
    );
    expect(counts).toEqual([
      { minor: 1000n, count: 1 },
      { minor: 2050n, count: 1 },
    ]);
    expect((await account(plugIn)).availableBalance).toBe(80);
  });

  test('the external transfer continues to its end', async () => {
    const again = await call('POST', '/outgoing-transfers', outside, 'key-outside');
    const { id } = again.body.data.outgoingTransfer;
    await ends(id, 'completed');
    expect(await bankBooked(id)).toEqual(['payment-out']);
  });

  test('a cancelled transfer stays cancelled, with one event', async () => {
    const patch = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    expect((await call('PATCH', `/outgoing-transfers/${cancelled}`, patch)).status).toBe(409);
    expect(await eventsOf(cancelled)).toEqual(['created', 'cancelled']);
  });

  test("the bank's word is repeated, and counts once", async () => {
    const pending = async () => ((await (await fetch(`${service.sandboxUrl}/bank/callbacks`)).json()) as Json).pending;
    await until(pending, (count) => count === 0);
    expect(await statusOf(settling)).toBe('completed');
    expect(await eventsOf(settling)).toEqual(['created', 'processing', 'released', 'completed']);
    expect(await bankBooked(settling)).toEqual(['payment-out']);
  });

  test('a payment in is credited once', async () => {
    const arrivals = await rows<{ id: string; status: string }>(
      'SELECT id, status FROM incoming_transfers WHERE service_provider_id = $1',
      paymentIn,
    );
    expect(arrivals).toEqual([{ id: expect.any(String), status: 'completed' }]);
    expect(await eventsOf(arrivals[0]?.id ?? '')).toEqual(['pending', 'completed']);
  });
});

describe('the API, killed between a commit and its relay to Temporal', () => {
  let fresh: string;
  let admitted: string;

  beforeAll(async () => {
    admitted = await accepted(external(40.5, poor));
    expect(await statusOf(admitted)).toBe('pending');
    apiToTemporal.hold();
    fresh = await accepted(external(21.5));
    await payIn(poor, 100, 'money that a transfer waits for');
    await ends(admitted, 'processing');
    await service.process('api').kill();
    apiToTemporal.release();
    const waking = await rows('SELECT FROM workflow_wakeups WHERE workflow_id = $1', `outgoing-transfer/${fresh}`);
    expect(waking).toHaveLength(1);
    await service.process('api').start();
  });

  test('an accepted transfer is carried out', async () => {
    await ends(fresh, 'completed');
    expect(await bankBooked(fresh)).toEqual(['payment-out']);
  });

  test('a transfer that got its money is carried out', async () => {
    await ends(admitted, 'completed');
    expect(await bankBooked(admitted)).toEqual(['payment-out']);
  });
});

describe('the worker, killed in the middle of its work', () => {
  /** The bank takes these payments and never calls back: only the worker learns of them. */
  const SILENT = 0.04;
  const REJECTED = 0.01;
  let unrecorded: string;
  let unreported: string;
  let rejected: string;
  let deliveredEvent: Json;
  let subscriptionId: string;

  beforeAll(async () => {
    const subscription = { url: service.receiver.url, types: ['incoming-transfer-completed'] };
    const subscribed = await made('/webhook-subscriptions', 'direct', { webhookSubscription: subscription });
    subscriptionId = subscribed.webhookSubscription.id;

    // The bank has booked it; its answer does not arrive.
    workerToBank.holdAll();
    unrecorded = await accepted(external(50 + SILENT));
    await until(
      () => bankBooked(unrecorded),
      (booked) => booked.length === 1,
    );
    // The receiver has an event, and its answer does not arrive.
    service.receiver.answer(() => {});
    await payIn(destination, 1.23, 'reported, then killed');
    deliveredEvent = await until(
      async () => service.receiver.received[0]?.body,
      (body) => body !== undefined,
    );
    await service.process('worker').kill();
    workerToBank.pass();
    service.receiver.answer((_message, response) => response.writeHead(200).end());
    await service.process('worker').start();

    // The submission's outcome is recorded; the worker does not learn that it is.
    workerToBank.holdAll();
    unreported = await accepted(external(51 + SILENT));
    await until(
      () => bankBooked(unreported),
      (booked) => booked.length === 1,
    );
    rejected = await accepted(external(52 + REJECTED));
    // One is recorded by a single statement, which commits at its end; the other in a transaction.
    workerToPostgres.holdAfter(`"outgoing_id":"${unreported}","outgoing_from"`, 'now');
    workerToPostgres.holdAfter(rejected, 'commit');
    workerToBank.letGo();
    const resolved = `SELECT FROM outgoing_transfers WHERE id = ANY ($1::uuid[]) AND submission_status = 'resolved'`;
    await committed(async () => (await rows(resolved, [unreported, rejected])).length === 2);
    await allHeld(workerToPostgres);
    await service.process('worker').kill();
    workerToPostgres.pass();
    await service.process('worker').start();
  });

  test('a payment whose answer was lost is paid once, and its outcome is found', async () => {
    await ends(unrecorded, 'completed');
    expect(await bankBooked(unrecorded)).toEqual(['payment-out']);
    expect(await eventsOf(unrecorded)).toEqual(['created', 'processing', 'released', 'completed']);
  });

  test('a record that the worker did not learn of is not made twice', async () => {
    await ends(unreported, 'completed');
    expect(await bankBooked(unreported)).toEqual(['payment-out']);
    expect(await eventsOf(unreported)).toEqual(['created', 'processing', 'released', 'completed']);
  });

  test('a rejection whose record the worker did not learn of gives the money back once', async () => {
    await ends(rejected, 'failed');
    expect(await bankBooked(rejected)).toEqual([]);
    expect(await eventsOf(rejected)).toEqual(['created', 'processing', 'failed']);
  });

  test('a webhook whose answer was lost comes again under its id', async () => {
    const { eventId } = deliveredEvent.metadata;
    const arrivals = () => service.receiver.received.filter(({ body }) => body.metadata.eventId === eventId);
    await until(
      async () => arrivals().length,
      (count) => count >= 2,
    );
    expect(new Set(arrivals().map(({ id }) => id)).size).toBe(1);
    const path = `/webhook-deliveries?data.webhookDelivery.webhookSubscriptionId=${subscriptionId}`;
    await until(
      async () => (await call('GET', path)).body.data.webhookDeliveries.map(({ status }: Json) => status),
      (statuses) => statuses.every((status: string) => status === 'succeeded'),
    );
  });
});

describe('the payments of consents, API and worker killed at random instants', () => {
  const ROUNDS = 8;
  const PAYMENTS_EACH = 8;
  const ACCOUNTS = 4;
  /** With these a payment takes some tenths of a second until its commit, and then waits for its answer. */
  const DELAYS = { sentMs: 5, commitMs: 1_000 };
  const KILLED_AFTER_MS_MAX = 800;
  const random = randomFrom(seedOr(20_261_123));

  interface ConsentedPayment {
    readonly consentId: string;
    readonly accessToken: string;
    readonly amount: number;
    readonly key: string;
    answer: string;
  }
  const payments: ConsentedPayment[] = [];
  /** After each kill: consents without exactly the transfer that they should have. */
  const torn: unknown[] = [];
  let parties: ReturnType<typeof thirdPartyWorld>;
  let lostConsumed = 0;
  let lostUntouched = 0;

  const viaApi: TestApi['call'] = async (method, path, body, { as, key, headers } = {}) => {
    const response = await fetch(`${service.apiUrls[0]}${path}`, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${service.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), text, headers: response.headers };
  };
  const pay = ({ accessToken, amount, key }: ConsentedPayment, otherKey?: string) =>
    parties.pay(accessToken, { instructedAmount: amount }, otherKey ?? key);

  const STATES = `
    SELECT consent.id, consent.status, array_agg(transfer.id) FILTER (WHERE transfer.id IS NOT NULL) AS transfers
    FROM open_banking_consents consent
      LEFT JOIN outgoing_transfers transfer
        ON transfer.account_id = consent.account_ids[1] AND transfer.amount_minor = consent.instructed_amount_minor
    WHERE consent.id = ANY ($1::uuid[]) GROUP BY consent.id`;
  /** In one snapshot, which no commit can fall between. */
  const states = async (of: readonly ConsentedPayment[]) =>
    rows<{ id: string; status: string; transfers: string[] | null }>(
      STATES,
      of.map(({ consentId }) => consentId),
    );
  const isWhole = ({ status, transfers }: { status: string; transfers: string[] | null }) =>
    (status === 'consumed' && transfers?.length === 1) || (status === 'authorised' && transfers === null);

  async function grantAll(): Promise<void> {
    const url = service.apiUrls[0] ?? '';
    parties = thirdPartyWorld({ url, call: viaApi }, url);
    const party = await parties.thirdParty();
    const userId = await parties.user([clientId]);
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, openBuiltIn));
    for (const one of accounts) await payIn(one, 1_000, 'money for consented payments');
    for (const { id } of accounts) {
      await until(
        () => account(id),
        ({ availableBalance }) => availableBalance > 0,
      );
    }
    for (let index = 0; index < ROUNDS * PAYMENTS_EACH; index += 1) {
      // The bank reads orders into pence, and each amount is another.
      const amount = 10 + index;
      const from = accounts[index % ACCOUNTS].id;
      const grant = await parties.granted(party, { ...PAYMENT, instructedAmount: amount }, userId, [from]);
      payments.push({ ...grant, amount, key: `key-consented-${index}`, answer: '' });
    }
  }

  async function round(batch: readonly ConsentedPayment[], isLate: boolean): Promise<void> {
    apiToPostgres.prolong(DELAYS);
    const requests = batch.map(async (payment) => {
      await sleep(random.whole(0, 100));
      payment.answer = await outcome(pay(payment));
    });
    const killed = isLate ? [service.process('api'), service.process('worker')] : [service.process('api')];
    // In every other round so long after the first commit, before its answer has been sent.
    if (isLate) {
      await until(
        () => states(batch),
        (found) => found.some(({ status }) => status === 'consumed'),
      );
      await sleep(random.whole(0, 100));
    } else await sleep(random.whole(20, KILLED_AFTER_MS_MAX));
    await Promise.all(killed.map((process) => process.kill()));
    await Promise.all(requests);
    const found = await states(batch);
    torn.push(...found.filter((state) => !isWhole(state)));
    const consumed = new Set(found.filter(({ status }) => status === 'consumed').map(({ id }) => id));
    for (const { consentId } of batch.filter(({ answer }) => answer === 'lost')) {
      if (consumed.has(consentId)) lostConsumed += 1;
      else lostUntouched += 1;
    }
    apiToPostgres.pass();
    await Promise.all(killed.map((process) => process.start()));
  }

  beforeAll(async () => {
    await grantAll();
    for (let number = 0; number < ROUNDS; number += 1) {
      const batch = payments.slice(number * PAYMENTS_EACH, (number + 1) * PAYMENTS_EACH);
      await round(batch, number % 2 === 1);
    }
    console.log(`of ${payments.length} payments lost: ${lostConsumed} after their commit, ${lostUntouched} before`);
  });

  test('each is consumed with exactly one transfer, or neither', () => {
    expect(torn).toEqual([]);
    for (const { answer } of payments) expect(['lost', 'answered 201', `answered ${UNKNOWN}`]).toContain(answer);
    // Otherwise the kills have shown nothing.
    expect([lostConsumed > 0, lostUntouched > 0]).toEqual([true, true]);
  });

  test('repeated by its key each ends in one transfer, and in none by another key', async () => {
    for (const payment of payments) {
      const again = await pay(payment);
      expect(again.status, again.text).toBe(201);
      expect((await pay(payment)).text).toBe(again.text);
      expect((await pay(payment, `other-${payment.key}`)).status).toBe(409);
      expect(await states([payment])).toEqual([
        { id: payment.consentId, status: 'consumed', transfers: [again.body.data.payment.outgoingTransferId] },
      ]);
      expect(await eventsOf(payment.consentId)).toEqual(
        ['requested', 'approved', 'authorised', 'consumed'].map((type) => `consent-${type}`),
      );
    }
  });

  test('each is paid by the bank once', async () => {
    for (const { transfers } of await states(payments)) {
      const [id = ''] = transfers ?? [];
      await ends(id, 'completed');
      expect(await bankBooked(id)).toEqual(['payment-out']);
      expect(await eventsOf(id)).toEqual(['created', 'processing', 'released', 'completed']);
    }
  });
});

test('after all of it every invariant of the books holds', async () => {
  await until(
    () =>
      rows<{ count: number }>(
        `SELECT count(*)::integer AS count FROM outgoing_transfers WHERE status NOT IN ('completed', 'cancelled', 'failed')`,
      ),
    ([row]) => row?.count === 0,
  );
  expect(await checkLedger(service.database.reader)).toEqual([]);
});

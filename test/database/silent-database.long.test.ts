import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Method } from '../../api/http/route.ts';
import { migrate, roleOf } from '../../db/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type LateProxy, startLateProxy } from '../harness/faults/late-proxy.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { until } from '../harness/stage.ts';

// A frozen, not killed, database accepts statements and executes them when it resumes. By then the callers have their
// 503.

const CALLERS = 1_000;
const DEADLINE_MS = 5_000;
/** Callers, their sockets and the API share this process; each of the calls alone costs some ten kilobytes. */
const MEMORY_MAX_BYTES = 300 * 1024 ** 2;

const dataDirectory = mkdtempSync(join(tmpdir(), 'silent-database-'));
// It does not advance, so the key of the callers' tokens is read only once, and their payments reach the database.
const now = new Date();
let server: RunningPostgres;
let patient: TestApi;
let api: TestApi;
let world: MoneyWorld;
let hand: postgres.Sql;
let payer: string;
let bankAccount: string;
let accounts: string[] = [];

const usualCaller = getGlobalDispatcher();

beforeAll(async () => {
  // The callers are in this process too, and on a busy machine they may connect after many seconds. They leave a connection long before
  // the API does, which would lose what one of them sends just then.
  setGlobalDispatcher(new Agent({ connect: { timeout: 60_000 }, keepAliveMaxTimeout: 5_000 }));
  server = await startPostgres({ dataDirectory });
  await migrate(server.ownerUrl, undefined, { serviceRole: roleOf(server.url) });
  hand = postgres(server.ownerUrl, { max: 2, onnotice: () => {}, connection: { application_name: 'hand' } });
  // What a test needs before the database falls silent has as much time as a busy machine takes.
  patient = await startApi(server, { now: () => now, applicationName: 'patient' });
  api = await startApi(server, {
    deadlineMs: DEADLINE_MS,
    now: () => now,
    maxConnections: 4,
    users: patient.users,
    // However long this process takes to send and read what the callers say to each other.
    limits: { headersMs: 600_000, requestMs: 600_000, stallMs: 600_000, answerMs: 600_000 },
  });
  world = moneyWorld(patient);
  payer = await world.client();
  bankAccount = await world.beneficiary(payer);
  accounts = await Promise.all(Array.from({ length: 20 }, () => world.account(payer, { amount: 100_000 })));
});

afterAll(async () => {
  await hand?.end();
  await api?.stop();
  await patient?.stop();
  await server?.stop();
  await getGlobalDispatcher().close();
  setGlobalDispatcher(usualCaller);
  rmSync(dataDirectory, { recursive: true, force: true });
});

/** Freezes the postmaster and all its sessions, without notice. */
function stopDatabase(): () => void {
  const { pid } = server.process;
  process.kill(pid, 'SIGSTOP');
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  const stopped = [pid, ...children.split('\n').map(Number)].filter((one) => one > 0);
  for (const one of stopped) process.kill(one, 'SIGSTOP');
  return () => {
    for (const one of stopped) process.kill(one, 'SIGCONT');
  };
}

const FAR_DATE = '2027-03-01';

/** The ways of a payment: one shared statement, two shared statements, and a transaction of several round trips. */
const PAYMENTS: Readonly<Record<string, (index: number) => Json>> = {
  'straight through': (index) => internal(index),
  'to the outside': (index) => ({
    ...internal(index),
    scope: 'external',
    scheme: 'faster-payments',
    transferCustomReason: 'rent',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  }),
  'for a later date': (index) => ({ ...internal(index), transferDate: FAR_DATE }),
};

function internal(index: number): Json {
  const account = (at: number) => ({ type: 'client-account', accountId: accounts[at % accounts.length] });
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: account(index),
    destination: account(index + 1),
  };
}

function paymentBody(outgoingTransfer: Json): Json {
  return { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
}

/** On a busy machine a call may take longer than the deadline: then its caller asks once more. */
async function done(call: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 503) return answer;
  }
}

function pay(outgoingTransfer: Json, key: string): Promise<ApiResponse> {
  return api.call('POST', '/outgoing-transfers', paymentBody(outgoingTransfer), { key });
}

/** In parts that the API's backlog holds: who is dropped there tries again seconds later. All wait for their answers together. */
async function payTogether(asked: readonly Payment[]): Promise<ApiResponse[]> {
  const calls: Promise<ApiResponse>[] = [];
  for (let from = 0; from < asked.length; from += 100) {
    calls.push(...asked.slice(from, from + 100).map(({ outgoingTransfer, key }) => pay(outgoingTransfer, key)));
    await sleep(10);
  }
  return Promise.all(calls);
}

function newCanary(): string {
  return `C${randomBytes(8).toString('hex')}`;
}

interface Payment {
  readonly key: string;
  readonly outgoingTransfer: Json;
}

function payments(count: number): Payment[] {
  const ways = Object.values(PAYMENTS);
  return Array.from({ length: count }, (_, index) => {
    const way = ways[index % ways.length];
    return { key: randomUUID(), outgoingTransfer: way?.(index) };
  });
}

async function transferCount(): Promise<number> {
  const [row] = await hand<{ count: number }[]>`SELECT count(*)::integer AS count FROM outgoing_transfers`;
  return row?.count ?? -1;
}

async function sessions(name: string): Promise<number[]> {
  const rows = await hand<{ pid: number }[]>`SELECT pid FROM pg_stat_activity WHERE application_name = ${name}`;
  return rows.map(({ pid }) => pid);
}

/** Until these sessions have executed all that was on its way to them, and ended. */
async function sessionsEnd(name: string, pids: readonly number[]): Promise<void> {
  await until(
    () => sessions(name),
    (present) => !present.some((pid) => pids.includes(pid)),
  );
}

function expectAway(answers: readonly ApiResponse[]): void {
  const expected = answers.map(() => [503, 'common.dependency.unavailable', '2']);
  expect(answers.map(({ status, body, headers }) => [status, body.code, headers.get('retry-after')])).toEqual(expected);
}

test(`${CALLERS} callers of a silent database are answered while it is silent, and none of their payments is executed when it goes on`, async () => {
  // So that every connection has prepared its statements: then a payment is sent whole, without a question before.
  for (let round = 0; round < 20; round += 1) {
    const warming = payments(30).map(({ outgoingTransfer, key }) => done(() => pay(outgoingTransfer, key)));
    const answers = await Promise.all(warming);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  }
  const before = await transferCount();
  const busy = await sessions('test-api');
  const memoryBefore = process.memoryUsage().rss;
  const goOn = stopDatabase();
  const asked = payments(CALLERS);
  let answers: ApiResponse[];
  try {
    // Those straight through are sent whole to the database; the others ask it something first, and get no further.
    const sent = payTogether(asked.filter((_, index) => index % 3 === 0));
    await sleep(200);
    const others = payTogether(asked.filter((_, index) => index % 3 !== 0));
    answers = (await Promise.all([sent, others])).flat();
  } finally {
    goOn();
  }
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(MEMORY_MAX_BYTES);
  expectAway(answers);
  await sessionsEnd('test-api', busy);
  expect(await transferCount()).toBe(before);

  const key = randomUUID();
  expect((await done(() => pay(internal(0), key))).status).toBe(201);
  // Through one whose deadline a busy machine keeps: where an answer is late, what it was about may have been done.
  while (asked.length > 0) {
    const again = asked
      .splice(0, 20)
      .map((payment) =>
        patient.call('POST', '/outgoing-transfers', paymentBody(payment.outgoingTransfer), { key: payment.key }),
      );
    for (const answer of await Promise.all(again))
      expect([answer.status, answer.headers.get('x-idempotency-status')], answer.text).toEqual([201, 'processed']);
  }
  expect(await transferCount()).toBe(before + 1 + CALLERS);
  await world.invariantsHold();
});

/** Everything that a caller can ask to be written, by one way each of reaching the database. */
const WRITES: Readonly<Record<string, (canary: string) => readonly [Method, string, Json]>> = {
  ...Object.fromEntries(
    Object.entries(PAYMENTS).map(([name, way]) => [
      `a payment ${name}`,
      (canary: string) => ['POST', '/outgoing-transfers', paymentBody({ ...way(0), description: canary })] as const,
    ]),
  ),
  'a client': (canary) => [
    'POST',
    '/clients',
    {
      workflow: { code: 'direct' },
      data: {
        client: {
          identity: { type: 'individual', givenName: canary, familyName: 'Lovelace', country: 'GB' },
          profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
        },
      },
    },
  ],
  'a credit': (canary) => [
    'POST',
    '/provisioned-account-credits',
    {
      workflow: { code: 'client.direct' },
      data: {
        provisionedAccountCredit: {
          accountId: accounts[0],
          amount: 1,
          currency: 'GBP',
          scope: 'external',
          scheme: 'swift',
          senderToReceiverInformation: canary,
        },
      },
    },
  ],
  'a change of an account': (canary) => [
    'PATCH',
    `/accounts/${accounts[0]}`,
    { workflow: { code: 'client.direct' }, data: { account: { alias: canary } } },
  ],
};

/** Where the words stand in any table. */
async function tablesWith(words: string): Promise<string[]> {
  const tables = await hand<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`;
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await hand`SELECT FROM ${hand(name)} AS whole WHERE whole::text LIKE ${`%${words}%`} LIMIT 1`;
      return rows.length > 0 ? [name] : [];
    }),
  );
  return found.flat();
}

describe('behind a network that delivers late', () => {
  let proxy: LateProxy;
  let far: TestApi;

  beforeAll(async () => {
    const target = new URL(server.url);
    proxy = await startLateProxy({ host: target.hostname, port: Number(target.port) });
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const options = {
      deadlineMs: DEADLINE_MS,
      users: patient.users,
      maxConnections: 2,
      now: () => now,
      applicationName: 'far',
    };
    far = await startApi({ url: url.href }, options);
  });

  afterAll(async () => {
    await far?.stop();
    await proxy?.close();
  });

  test.each(Object.entries(WRITES))('%s that reaches the database after its 503 is not written', async (_, write) => {
    const warm = async (canary: string) => {
      const answer = await done(() => far.call(...write(canary), { key: canary }));
      expect([200, 201], answer.text).toContain(answer.status);
    };
    // On each connection, because a statement that is already prepared there needs no round trip before it.
    for (let round = 0; round < 3; round += 1) await Promise.all([warm(newCanary()), warm(newCanary())]);
    let canary: string;
    let answer: ApiResponse;
    // Another one if a busy machine has not even sent it when its time is over.
    do {
      canary = newCanary();
      proxy.hold(canary);
      answer = await far.call(...write(canary));
      expectAway([answer]);
    } while (!proxy.holds(canary));
    const busy = await sessions('far');
    proxy.deliver();
    await sessionsEnd('far', busy);
    expect(await tablesWith(canary)).toEqual([]);
    const again = await done(() => far.call(...write(canary)));
    expect([200, 201], again.text).toContain(again.status);
    expect(await tablesWith(canary)).not.toEqual([]);
    await world.invariantsHold();
  });

  test('a payment that the database is executing when it falls silent is not written after its 503', async () => {
    const canary = newCanary();
    const source = accounts[0] ?? '';
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let locked: Promise<unknown> = released;
    await new Promise<void>((lockTaken, notTaken) => {
      locked = hand.begin(async (sql) => {
        await sql`SELECT FROM accounts WHERE id = ${source} FOR UPDATE`;
        lockTaken();
        await released;
      });
      locked.catch(notTaken);
    });
    const answering = far.call('POST', '/outgoing-transfers', paymentBody({ ...internal(0), description: canary }));
    const waiting = async () => {
      const rows = await hand<{ pid: number }[]>`
        SELECT pid FROM pg_stat_activity WHERE application_name = 'far' AND wait_event_type = 'Lock'`;
      return rows.map(({ pid }) => pid);
    };
    let busy: number[];
    let answer: ApiResponse;
    try {
      busy = await until(waiting, (pids) => pids.length > 0);
      proxy.hold();
      answer = await answering;
    } finally {
      release();
    }
    await locked;
    await until(waiting, (pids) => pids.length === 0);
    proxy.deliver();
    expectAway([answer]);
    await sessionsEnd('far', busy);
    expect(await tablesWith(canary)).toEqual([]);
    await world.invariantsHold();
  });
});

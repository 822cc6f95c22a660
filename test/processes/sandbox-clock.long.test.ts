import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEndpoints } from '../../cli/common/endpoints.ts';
import { createDatabase } from '../../db/client.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import type { Database } from '../../db/query/database.ts';
import type { Json } from '../harness/api.ts';
import { TEST_ENCRYPTION_KEY } from '../harness/keyring.ts';
import { ClockedService } from '../harness/servers/clocked-service.ts';
import { createTestDatabase } from '../harness/servers/postgres.ts';
import { startSandbox, temporaryDirectory } from '../harness/servers/sandbox.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
} from '../harness/servers/started-service.ts';
import { until } from '../harness/stage.ts';
import { startReceiver } from '../harness/webhooks/webhooks.ts';
import { type Entry, entryArguments } from '../tools/run/entries.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let installation: ServiceInstallation;
let service: ClockedService;
let database: Database;

beforeAll(async () => {
  installation = await newServiceInstallation();
  service = await ClockedService.start(installation);
  const { databaseUrl } = readEndpoints(installation.dataDirectory);
  database = createDatabase({ url: databaseUrl, maxConnections: 2, applicationName: 'checks', deadlineMs: 60_000 });
});

afterAll(async () => {
  await database?.close();
  await removeServiceInstallation(installation);
});

describe('the sandbox’s clock', () => {
  test('shows the real time until it is moved', async () => {
    const { status, body } = await service.clock();
    expect(status).toBe(200);
    expect(body).toEqual({ now: expect.stringMatching(/^\d{4}-.*Z$/), offsetSeconds: 0 });
    expect(Math.abs(Date.parse(body.now) - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    ['nothing', {}, 'body'],
    ['two of them', { advanceBy: 'P1D', advanceToNext: 'deadline' }, 'body'],
    ['an unknown field', { offset: 1 }, 'offset'],
    ['an instant of the past', { advanceTo: '2020-01-01T00:00:00Z' }, 'advanceTo'],
    ['a date without a time', { advanceTo: '2090-01-01' }, 'advanceTo'],
    ['an instant without a zone', { advanceTo: '2090-01-01T00:00:00' }, 'advanceTo'],
    ['a number', { advanceTo: 1_900_000_000 }, 'advanceTo'],
    ['an instant more than ten years ahead', { advanceTo: '2999-01-01T00:00:00Z' }, 'advanceTo'],
    ['no time at all', { advanceBy: 'PT0S' }, 'advanceBy'],
    ['a negative duration', { advanceBy: '-P1D' }, 'advanceBy'],
    ['no duration', { advanceBy: '2 days' }, 'advanceBy'],
    ['a duration more than ten years long', { advanceBy: 'P11Y' }, 'advanceBy'],
    ['a duration beyond all dates', { advanceBy: 'P999999Y' }, 'advanceBy'],
    ['an unknown event', { advanceToNext: 'holiday' }, 'advanceToNext'],
  ])('rejects %s, names the field, and does not move', async (_, move, field) => {
    const { status, body } = await service.moveClock(move);
    expect(status).toBe(400);
    expect(JSON.stringify(body.error)).toContain(field);
    expect((await service.clock()).body.offsetSeconds).toBe(0);
  });

  test.each(['cut-off', 'deadline'])('does not move to the next %s while nothing waits for one', async (next) => {
    const { status, body } = await service.moveClock({ advanceToNext: next });
    expect([status, body.error.code]).toEqual([409, 'nothing-waits']);
    expect((await service.clock()).body.offsetSeconds).toBe(0);
  });
});

describe('with the clock moved, callers see in seconds', () => {
  test('a transfer roll at each cut-off, and fail at the limit: without money, and without its authorization', async () => {
    const [poor, unapproved] = [await service.account('GBP'), await service.account('EUR')];
    await service.payIn(unapproved, 100);
    const made = [await service.pay(poor, 5, 'chaps'), await service.pay(unapproved, 5, 'sepa')];
    for (const { id } of made) await service.transferUntil(id, ({ status }) => status === 'pending');
    const rolls: number[] = [];
    for (let cutOffs = 0; cutOffs < 6; cutOffs += 1) {
      const before = await service.now();
      const { status, body } = await service.moveClock({ advanceToNext: 'cut-off' });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(Date.parse(body.now)).toBeGreaterThan(before.getTime());
      const moved = await until(
        async () => Promise.all(made.map(({ id }) => service.transfer(id))),
        (transfers) => transfers.reduce((sum, one) => sum + missed(one), 0) > cutOffs,
      );
      rolls.push(moved.reduce((sum, one) => sum + missed(one), 0));
    }
    expect(rolls).toEqual([1, 2, 3, 4, 5, 6]);
    for (const { id, transferDate } of made) {
      const ended = await service.transfer(id);
      expect(ended).toMatchObject({ status: 'failed', rollCount: 2, originalTransferDate: transferDate });
      expect(ended.statusReason.code).toBe('transfer.roll.limit_exceeded');
      expect(ended.transferDate > transferDate).toBe(true);
    }
  });

  test('a payment rejected for a passing reason goes out again, and a recall brings it back', async () => {
    const account = await service.account('GBP');
    await service.payIn(account, 100);
    const { id } = await service.pay(account, 20.11, 'faster-payments');
    const paid = await until(
      async () => {
        await service.moveClock({ advanceBy: 'PT2M' });
        return service.transfer(id);
      },
      ({ status }) => status === 'completed' || status === 'failed',
    );
    expect(paid).toMatchObject({ status: 'completed', statusReason: null, rollCount: 0, returned: false });
    const recall = { workflow: { code: 'direct' }, data: {} };
    expect((await service.call('POST', `/outgoing-transfers/${id}/recall`, recall)).status).toBe(200);
    const returned = await service.transferUntil(id, (transfer) => transfer.returned === true);
    expect(returned).toMatchObject({ status: 'completed', statusReason: { code: 'FOCR' } });
    expect((await service.get(`/accounts/${account.id}`, 'account')).availableBalance).toBe(100);
  });

  test('a payment returned three days after it was made', async () => {
    const account = await service.account('GBP');
    await service.payIn(account, 100);
    const { id } = await service.pay(account, 20.16, 'faster-payments');
    await service.transferUntil(id, ({ status }) => status === 'completed');
    const before = await service.now();
    // What the tests before have left may wait for something earlier.
    const returnsAt = before.getTime() + 3 * DAY_MS - HOUR_MS;
    while ((await service.now()).getTime() < returnsAt) {
      const { status, body } = await service.moveClock({ advanceToNext: 'deadline' });
      expect(status, JSON.stringify(body)).toBe(200);
    }
    const returned = await service.transferUntil(id, (transfer) => transfer.returned === true);
    expect(returned.statusReason.code).toBe('AC06');
    const { availableBalance } = await service.get(`/accounts/${account.id}`, 'account');
    expect(availableBalance).toBe(100);
    expect((await service.now()).getTime()).toBeLessThan(before.getTime() + 3 * DAY_MS + HOUR_MS);
  });

  test('a statement of another day, and the balance at the end of the day before', async () => {
    const account = await service.account('GBP');
    await service.payIn(account, 10);
    const first = await service.now();
    await service.moveClock({ advanceBy: 'P40D' });
    const second = await service.now();
    await service.payIn(account, 5);
    // Without bounds a statement is the present month's.
    const path = `/accounts/${account.id}/account-statements`;
    const entries: Json[] = await service.get(path, 'accountStatements');
    expect(entries.map(({ amount, balance }) => [amount, balance])).toEqual([[5, 15]]);
    expect(Date.parse(`${entries[0].entryDateTime}Z`)).toBeGreaterThanOrEqual(second.getTime() - 1_000);
    expect(entries[0].transactionNumber.slice(0, 8)).toBe(second.toISOString().slice(0, 10).replaceAll('-', ''));
    const at = new Date(first.getTime() + DAY_MS).toISOString().slice(0, 19);
    const { balance } = await service.get(`/accounts/${account.id}/balances?data.balance.at=${at}`, 'balance');
    expect(balance).toBe(10);
  });

  test('a webhook tried again after hours, signed by the real clock', async () => {
    const receiver = await startReceiver();
    try {
      receiver.answer((_message, response) => response.writeHead(503).end());
      const { id } = await service.post('/webhook-subscriptions', 'webhookSubscription', {
        url: receiver.url,
        description: 'away for a day',
      });
      const account = await service.account('GBP');
      const ofClient = () => receiver.received.filter(({ body }) => body.data.client?.id === account.clientId);
      /** All attempts at the client's first event. */
      const ofEvent = () => ofClient().filter((message) => message.id === ofClient()[0]?.id);
      const recorded = async (): Promise<Json> => {
        const path = `/webhook-deliveries?data.webhookDelivery.webhookSubscriptionId=${id}&metadata.page.size=100`;
        const deliveries = await service.get(path, 'webhookDeliveries');
        return deliveries.find((one: Json) => [one.id, one.eventId].includes(ofEvent()[0]?.id))?.attempts ?? [];
      };
      // Recorded, not only received: the next one is planned by the clock at that moment.
      const attempts = async (count: number) => {
        await until(recorded, (seen) => seen.length >= count);
        return ofEvent();
      };
      await attempts(1);
      for (let count = 2; count <= 5; count += 1) {
        // Longer than the longest of these waits, five hours with its jitter.
        await service.moveClock({ advanceBy: 'PT6H' });
        await attempts(count);
      }
      for (const { headers } of await attempts(5)) {
        expect(Math.abs(Number(headers['webhook-timestamp']) * 1_000 - Date.now())).toBeLessThan(HOUR_MS);
      }
      await service.call('DELETE', `/webhook-subscriptions/${id}`);
    } finally {
      await receiver.close();
    }
  });

  test('a scheduled payment of two years ahead made on its day, with a token of today', async () => {
    const account = await service.account('GBP');
    await service.payIn(account, 100);
    const day = new Date((await service.now()).getTime() + 730 * DAY_MS).toISOString().slice(0, 10);
    const { id } = await service.pay(account, 12, 'faster-payments', { transferDate: day });
    await service.transferUntil(id, ({ status }) => status === 'pending');
    await service.moveClock({ advanceTo: `${day}T12:00:00Z` });
    const paid = await service.transferUntil(id, ({ status }) => status === 'completed');
    expect([paid.transferDate, paid.rollCount]).toEqual([day, 0]);
    const entries: Json[] = await service.get(`/accounts/${account.id}/account-statements`, 'accountStatements');
    expect(entries.map(({ amount, entryDateTime }) => [amount, entryDateTime.slice(0, 10)])).toEqual([[12, day]]);
  });
});

test('a move makes housekeeping sweep the fees of the day that it ends', async () => {
  const before = (await service.now()).toISOString().slice(0, 10);
  const { status } = await service.moveClock({ advanceBy: 'P1D' });
  expect(status).toBe(200);
  await until(
    () => database.statement('SELECT FROM fee_sweep_days WHERE day >= $1', [before]),
    (days) => days.length > 0,
  );
});

test('moves under load change no answer and double nothing', async () => {
  const [source, destination] = [await service.account('GBP'), await service.account('GBP')];
  await service.payIn(source, 1_000);
  const end = { moves: false };
  const accepted: string[] = [];
  const callers = Array.from({ length: 6 }, async (_, caller) => {
    for (let count = 0; !end.moves || count < 10; count += 1) {
      const transfer = {
        clientId: source.clientId,
        currency: 'GBP',
        amount: 1,
        scope: 'internal',
        description: 'load',
        source: { type: 'client-account', accountId: source.id },
        destination: { type: 'client-account', accountId: destination.id },
      };
      const request = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: transfer } };
      const headers = { 'idempotency-key': `load-${caller}-${count}` };
      const { status, body } = await service.call('POST', '/outgoing-transfers', request, headers);
      if (status === 201) accepted.push(body.data.outgoingTransfer.id);
      else expect([status, body.errors[0].code]).toEqual([422, expect.stringMatching(/insufficient/)]);
      // Repeated at once: the move must not forget the key.
      const repeated = await service.call('POST', '/outgoing-transfers', request, headers);
      if (status === 201) expect(repeated.body).toEqual(body);
      if (accepted.length % 10 === 0) await service.pay(source, 0.5, 'faster-payments');
    }
  });
  for (let moves = 0; moves < 5; moves += 1) {
    const { status, body } = await service.moveClock({ advanceBy: 'PT1H' });
    expect(status, JSON.stringify(body)).toBe(200);
  }
  end.moves = true;
  await Promise.all(callers);
  expect(accepted.length).toBeGreaterThan(0);
  expect(new Set(accepted).size).toBe(accepted.length);
  const { availableBalance } = await service.get(`/accounts/${destination.id}`, 'account');
  expect(availableBalance).toBe(accepted.length);
  const open = () =>
    database.statement(`SELECT FROM outgoing_transfers WHERE account_id = $1 AND status <> 'completed'`, [source.id]);
  await until(open, (rows) => rows.length === 0);
  expect(await checkLedger(database.reader)).toEqual([]);
  // By a clock that jumps an hour, a payment that the bank made a moment ago is late; by now all are booked.
  const breaks = await database.statement(
    `SELECT * FROM reconciliation_breaks WHERE resolved_at IS NULL AND NOT (kind = 'statement-not-booked'
       AND EXISTS (SELECT FROM outgoing_transfers WHERE id = resource_id AND status = 'completed'))`,
    [],
  );
  expect(breaks).toEqual([]);
});

test('a restart keeps the clock', async () => {
  const { offsetSeconds } = (await service.clock()).body;
  await service.restart();
  expect((await service.clock()).body.offsetSeconds).toBe(offsetSeconds);
  const before = await service.now();
  const account = await service.account('GBP');
  await service.payIn(account, 5);
  const [entry] = await service.get(`/accounts/${account.id}/account-statements`, 'accountStatements');
  expect(Date.parse(`${entry.entryDateTime}Z`)).toBeGreaterThanOrEqual(before.getTime());
});

describe('outside the sandbox', () => {
  test.each([
    ['api/main.ts', 'The API'],
    ['loops/main.ts', 'The loops'],
    ['activities/main.ts', 'The worker'],
  ] as const)('%s rejects a database whose clock has been moved', async (entry, name) => {
    const { databaseUrl, temporalAddress } = readEndpoints(installation.dataDirectory);
    const { exitCode, output } = await run(entry, {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      SANDBOX_BANK_SECRET: 'a-secret-of-this-test-that-is-long-enough',
      AUDIENCE: 'test',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      METRICS_PORT: '0',
      PORT: '0',
    });
    expect(exitCode, output).toBe(1);
    expect(output).toContain(`${name} cannot start: This database is a sandbox’s`);
  });

  test('a sandbox moves the clock of no database but the one that npm start has created', async () => {
    const other = await createTestDatabase('no-sandbox');
    try {
      const { exitCode, output } = await run('sandbox/main.ts', {
        DATABASE_URL: other.url,
        SANDBOX_CLOCK: 'on',
        SANDBOX_BANK_SECRET: 'a-secret-of-this-test-that-is-long-enough',
        SANDBOX_PORT: '0',
      });
      expect(exitCode, output).toBe(1);
      expect(output).toContain('may not be moved');
    } finally {
      await other.drop();
    }
  });

  test('no path leads to the clock: neither the API nor a sandbox without the database has one', async () => {
    expect((await service.call('GET', '/clock')).status).toBe(404);
    expect((await service.call('POST', '/clock', { advanceBy: 'P1D' })).status).toBe(404);
    const directory = temporaryDirectory();
    const sandbox = await startSandbox({ directory: directory.path, callbackUrl: 'http://127.0.0.1:1/callbacks' });
    try {
      for (const method of ['GET', 'POST']) expect((await fetch(`${sandbox.url}/clock`, { method })).status).toBe(404);
    } finally {
      await sandbox.stop();
      directory.remove();
    }
  });
});

/** How many cut-offs the transfer has missed: the last one makes it fail. */
function missed({ rollCount, status }: Json): number {
  return rollCount + (status === 'failed' ? 1 : 0);
}

async function run(entry: Entry, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, entryArguments(entry), {
    cwd: PROJECT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, output };
}

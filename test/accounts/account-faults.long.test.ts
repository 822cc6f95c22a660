import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { findWakeup } from '../../db/common/workflow-wakeups.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { moneyWorld } from '../harness/money.ts';
import { eventually } from '../harness/servers/sandbox.ts';
import { reviews } from '../harness/transfers/reviews.ts';
import { type AccountsAtBank, startAccountsAtBank } from '../harness/workflows/accounts-at-bank.ts';

// Each fault begins before an account is asked for, another is closed and a payment comes in, and ends while they are under way.
let service: AccountsAtBank;

beforeAll(async () => {
  service = await startAccountsAtBank('account-faults');
});

afterAll(() => service.stop());

const UNDER_WAY_MS = 700;
/** The first look-up comes ten seconds after a request. */
const UNTIL_LOOK_UP_MS = 11_000;

type Fault = () => Promise<() => Promise<unknown> | unknown>;

const atBank =
  (faults: Json): Fault =>
  async () => {
    await service.outside('/faults', faults);
    return () =>
      service.outside('/faults', {
        latencyMs: 0,
        errorRate: 0,
        cutRate: 0,
        callbacks: 'normal',
        callbackDelayMs: 0,
        lookUps: 'normal',
      });
  };

const FAULTS: Readonly<Record<string, Fault>> = {
  'a bank that answers after the deadline': atBank({ latencyMs: 6_000 }),
  'a bank that is unavailable': atBank({ errorRate: 1 }),
  'a bank that cuts connections after the effect': atBank({ cutRate: 1 }),
  'callbacks that are held back': atBank({ callbacks: 'held' }),
  'callbacks that overtake each other': atBank({ callbacks: 'shuffled' }),
  'callbacks that come late': atBank({ callbackDelayMs: 1_500 }),
  'look-ups that are rejected while callbacks are held back': atBank({ lookUps: 'rejected', callbacks: 'held' }),
  'look-ups that a gateway answers while callbacks are held back': atBank({ lookUps: 'gateway', callbacks: 'held' }),
  'a silent connection to the bank': async () => {
    service.bankLink().hold();
    return () => service.bankLink().release();
  },
  'a bank that is killed and started again': async () => {
    await service.killBank();
    return service.startBank;
  },
  'workers that stop and start again': async () => {
    await service.stopWorkers();
    return service.startWorkers;
  },
  'a silent connection to Temporal': async () => {
    service.temporalLink.hold();
    return () => service.temporalLink.release();
  },
  'a relay that stops and starts again': async () => {
    await service.stopRelay();
    return service.startRelay;
  },
  'database sessions that end': async () => {
    const end = () =>
      service.api.database.reader
        .execute(
          sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        )
        .catch(() => {});
    await end();
    return end;
  },
};

async function payIn(ledgerNumber: string): Promise<string> {
  const payment = {
    amount: 12.5,
    currency: 'GBP',
    scheme: 'faster-payments',
    reference: ledgerNumber,
    senderName: 'Ann',
  };
  const answer = await eventually('the bank takes the payment', async () =>
    service.outside('/payments-in', payment).catch(() => undefined),
  );
  const { paymentId }: Json = await answer.json();
  return paymentId;
}

describe('one account opens, another closes, a payment comes in, each once, in spite of', () => {
  test.each(Object.keys(FAULTS))('%s', async (name) => {
    const [closing, paid] = await Promise.all(
      [await service.issue({}), await service.issue({})].map(({ id }) => service.reaches(id, ['active'])),
    );
    const owner = await service.createClient('Grace');
    const heal = await FAULTS[name]?.();
    if (heal === undefined) throw new Error(`no fault ${name}`);
    const asked = Promise.all([
      service.issue({ clientId: owner }),
      service.close(closing.id),
      payIn(paid.ledgerNumber),
    ]);
    await sleep(name.startsWith('look-ups') ? UNTIL_LOOK_UP_MS : UNDER_WAY_MS);
    await heal();
    const [opening, closed, paymentId] = await asked;
    expect(closed.status, closed.text).toBe(200);

    expect(await service.reaches(opening.id, ['active', 'declined'])).toMatchObject({
      status: 'active',
      connection: { state: 'completed-up-to-date', error: null },
    });
    expect(await service.eventTypes(opening.id)).toEqual([
      'connection-creation-instructed',
      'connection-created',
      'account-activated',
    ]);
    expect(await service.eventTypes(owner)).toEqual(['created', 'connection-created']);
    expect(await service.reaches(closing.id, ['closed'])).toMatchObject({
      connection: { state: 'completed-up-to-date', status: 'closed', error: null },
    });
    expect((await service.eventTypes(closing.id)).slice(3)).toEqual([
      'connection-update-instructed',
      'connection-updated',
      'account-closed',
    ]);
    const path = `/incoming-transfers?data.incomingTransfer.serviceProviderId=${paymentId}`;
    const found = await eventually('the payment is completed', async () => {
      // Without data while the database is away.
      const incomingTransfers = (await service.api.call('GET', path)).body.data?.incomingTransfers;
      return incomingTransfers?.[0]?.status === 'completed' ? incomingTransfers : undefined;
    });
    expect(found).toHaveLength(1);
    expect((await service.read(paid.id)).availableBalance).toBe(12.5);
  });
});

describe('an operator restarts the workflow', () => {
  const handleOf = (workflowId: string) => service.temporalClient.client.workflow.getHandle(workflowId);
  const submits = (workflowId: string, other?: string) =>
    eventually(`${workflowId} submits`, async () => {
      const present = await handleOf(workflowId)
        .describe()
        .catch(() => undefined);
      const isSubmitting = present?.runId !== other && (present?.raw.pendingActivities?.length ?? 0) > 0;
      return isSubmitting ? present?.runId : undefined;
    });

  async function operate(name: string, ...given: string[]): Promise<string[]> {
    const lines: string[] = [];
    await OPERATIONS[name]?.run({
      database: service.api.database,
      temporal: service.temporalClient,
      initiator: TESTER,
      arguments: given,
      ...(name === 'stuck' ? { answerTimeoutMs: 0 } : {}),
      print: (line) => lines.push(line),
    });
    return lines;
  }

  test('of an account whose opening no worker has begun: it is listed, and opened once', async () => {
    await service.stopRelay();
    const { id } = await service.issue({});
    const workflowId = `account-connection/${id}`;
    await service.temporalClient.client.workflow.start('account-connection', {
      workflowId,
      taskQueue: 'queue-without-workers',
    });
    service.startRelay();
    await eventually('its wake-up is handed over, in vain', async () =>
      (await findWakeup(service.api.database.reader, workflowId)) === null ? true : undefined,
    );
    const listed = expect.stringMatching(
      new RegExp(`^workflow whose task no worker has begun since .*Z: ${workflowId}$`),
    );
    expect(await operate('stuck')).toContainEqual(listed);
    expect((await service.read(id)).status).toBe('pending');
    await operate('restart-workflow', workflowId);
    await service.reaches(id, ['active']);
    expect(
      [...(await service.bankBooks()).accounts.values()].filter(({ ourReference }) => ourReference === id),
    ).toHaveLength(1);
    expect(await operate('stuck')).not.toContainEqual(listed);
  });

  test.each([
    ['has not reached the bank yet', { latencyMs: 4_000 }, false],
    ['has its effect at the bank, whose answer is lost', { cutRate: 1, callbacks: 'held' }, true],
  ])('of a payment whose submission %s: it is paid once', async (_, faults, isKnown) => {
    const source = await service.reaches((await service.issue({})).id, ['active']);
    await payIn(source.ledgerNumber);
    await eventually('the money is there', async () =>
      (await service.read(source.id)).availableBalance > 0 ? true : undefined,
    );
    const beneficiaryBankAccountId = await moneyWorld(service.api).beneficiary(source.clientId);
    const heal = await atBank(faults)();
    const { id } = await reviews(service.api).external(source, beneficiaryBankAccountId);
    const workflowId = `outgoing-transfer/${id}`;
    const first = await submits(workflowId);
    const isAtBank = async () => (await service.bankBooks()).payments.has(id);
    if (isKnown) await eventually('the bank has it', async () => ((await isAtBank()) ? true : undefined));
    else expect(await isAtBank()).toBe(false);
    await operate('restart-workflow', workflowId);
    await submits(workflowId, first);
    // The bank answers it after the submission of the ended run, however slow it is.
    const later = service.look(`/payments/${id}`).catch(() => null);
    await heal();
    await eventually('the transfer is completed', async () =>
      (await reviews(service.api).find('outgoing-transfer', id)).status === 'completed' ? true : undefined,
    );
    await later;
    const { payments, entries } = await service.bankBooks();
    expect(payments.get(id)).toMatchObject({ status: 'completed', amountMinor: 1_000n });
    expect([...entries.values()].filter(({ ourReference }) => ourReference === id)).toHaveLength(1);
    expect((await service.read(source.id)).availableBalance).toBe(2.5);
  });
});

/** More by `ACCOUNTS_AT_ONCE`. */
const AT_ONCE = Number(process.env.ACCOUNTS_AT_ONCE ?? 100);

test(`${AT_ONCE} accounts at once, half of them of new clients, one in ten asked for twice, are each opened once`, async () => {
  const booksBefore = await service.bankBooks();
  const owners = await Promise.all(Array.from({ length: AT_ONCE / 2 }, () => service.createClient('Grace')));
  const asked = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      // Each of the last few clients gets ten, one after the other: whichever comes first connects him.
      const clientId = owners[index % 2 === 0 ? index / 2 : owners.length - 1 - Math.floor(index / 20)];
      const body = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
      const key = randomUUID();
      const times = index % 10 === 0 ? 2 : 1;
      const answers = await Promise.all(
        Array.from({ length: times }, () => service.api.call('POST', '/accounts', body, { key })),
      );
      for (const { status, text } of answers) expect([201, 409], text).toContain(status);
      return answers.flatMap(({ status, body: { data } }) => (status === 201 ? [data.account.id as string] : []));
    }),
  );
  const ids = new Set(asked.flat());
  expect(ids.size).toBe(AT_ONCE);
  const opened = await eventually('all are active', async () => {
    const rows = await service.api.database.reader.statement<Json>(
      `SELECT id, status, iban, connection_reference AS reference FROM accounts WHERE id = ANY ($1::uuid[])`,
      [[...ids]],
    );
    return rows.every(({ status }) => status === 'active') ? rows : undefined;
  });

  const { accounts, clients } = await service.bankBooks();
  const added = [...accounts.values()].filter(({ ourReference }) => !booksBefore.accounts.has(ourReference));
  const named = (all: readonly Json[]) => all.map(({ id, iban, reference }) => `${id} ${iban} ${reference}`).sort();
  expect(
    named(added.map(({ ourReference: id, reference, identifiers }) => ({ id, reference, iban: identifiers?.iban }))),
  ).toEqual(named(opened));
  expect(new Set(opened.map(({ iban }) => iban)).size).toBe(AT_ONCE);
  expect(clients.size - booksBefore.clients.size).toBe(owners.length);
  for (const id of ids) {
    expect(await service.eventTypes(id)).toEqual([
      'connection-creation-instructed',
      'connection-created',
      'account-activated',
    ]);
  }
  for (const owner of owners) expect(await service.eventTypes(owner)).toEqual(['created', 'connection-created']);
});

test('after all this every invariant of the books holds', async () => {
  expect(await checkLedger(service.api.database.reader)).toEqual([]);
});

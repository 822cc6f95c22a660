import { EventEmitter, once } from 'node:events';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import { createDatabase } from '../../db/client.ts';
import {
  checkLedger,
  checkLedgerSince,
  checkWholeLedger,
  findViolationsSince,
  readLastLedgerCheck,
  type Violation,
} from '../../db/ledger/check.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// Both ledger checks: the full one for operators, and the incremental one for housekeeping.

let database: TestDatabase;
let api: TestApi;
let owner: Database;
let world: MoneyWorld;
let payer: string;
let source: string;
let destination: string;
let bankAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('ledger-check');
  api = await startApi(database);
  owner = createDatabase({ url: database.ownerUrl, maxConnections: 2, applicationName: 'owner', deadlineMs: 60_000 });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  source = await world.account(payer, { amount: 1_000 });
  destination = await world.account(await world.client('Grace'));
  bankAccount = await world.beneficiary(payer);
});

afterAll(async () => {
  expect(await checkLedger(api.database.reader)).toEqual([]);
  await owner.close();
  await api.stop();
  await database.drop();
});

async function sent(change: Json = {}): Promise<string> {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

function sentOutside(): Promise<string> {
  const to = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount };
  return sent({ scope: 'external', scheme: 'faster-payments', destination: to });
}

async function report(id: string, status: string): Promise<void> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status } } };
  expect((await api.call('PATCH', `/outgoing-transfers/${id}`, body)).status).toBe(200);
}

class RollBack extends Error {}

/** The rules that each check finds broken after the statements, which are undone; with triggers off, as only a superuser can have them. */
async function brokenRulesAfter(...statements: readonly string[]): Promise<{ whole: string[]; since: string[] }> {
  const rulesOf = (violations: readonly Violation[]) => [...new Set(violations.map(({ rule }) => rule))];
  const found = { whole: [''], since: [''] };
  const work = async (tx: Transaction) => {
    await tx.statement('SET LOCAL session_replication_role = replica', []);
    for (const statement of statements) await tx.statement(statement, []);
    found.whole = rulesOf(await checkLedger(tx));
    found.since = rulesOf(await findViolationsSince(tx));
    throw new RollBack();
  };
  await expect(owner.transaction(work)).rejects.toThrow(RollBack);
  return found;
}

/** What a test holds open on purpose outlasts a machine that stalls. */
const PATIENT_MS = 300_000;
const POSTED = 'an outgoing transfer is posted exactly as its status says';
const CHAINED = 'an entry follows from the one before it';
const ANNOUNCED = 'a resource has recorded every event once';

describe('after a check that found nothing', () => {
  test('a defect in old entries is seen by the full check only, one in new entries by both', async () => {
    const old = await sent();
    expect(await checkLedgerSince(api.database)).toEqual([]);
    const fresh = await sent();
    const falsify = (id: string) =>
      `UPDATE postings SET debit_balance_after_minor = debit_balance_after_minor + 1 WHERE outgoing_transfer_id = '${id}'`;
    expect(await brokenRulesAfter(falsify(old))).toEqual({ whole: [CHAINED], since: [] });
    expect(await brokenRulesAfter(falsify(fresh))).toEqual({ whole: [CHAINED], since: [CHAINED] });
    const silence = (id: string) => `DELETE FROM events WHERE resource_id = '${id}'`;
    expect(await brokenRulesAfter(silence(old))).toEqual({ whole: [ANNOUNCED], since: [] });
    expect(await brokenRulesAfter(silence(fresh))).toEqual({ whole: [ANNOUNCED], since: [ANNOUNCED] });
  });

  test('a transfer that was open then is known with what had been posted for it', async () => {
    const open = await sentOutside();
    const released = await sentOutside();
    await report(released, 'released');
    const reversed = await sentOutside();
    await report(reversed, 'released');
    expect(await checkLedgerSince(api.database)).toEqual([]);
    await report(open, 'completed');
    await report(released, 'completed');
    await report(reversed, 'failed');
    expect(await findViolationsSince(api.database.reader)).toEqual([]);

    // The same posting once more, as a mistake would make it: balances, versions and both sides agree with each other.
    const again = (id: string) => [
      `INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor,
          outgoing_transfer_id, currency, debit_transaction_number, credit_transaction_number, debit_transaction_type,
          credit_transaction_type, entry_type)
        SELECT account.last_entry_at, account.id, credit_account_id, amount_minor, account.version + 1, account.posted_minor - amount_minor,
          outgoing_transfer_id, posting.currency, debit_transaction_number, credit_transaction_number, debit_transaction_type,
          credit_transaction_type, entry_type
        FROM postings posting JOIN accounts account ON account.id = debit_account_id WHERE outgoing_transfer_id = '${id}' AND debit_version IS NOT NULL`,
      `UPDATE accounts SET posted_minor = posted_minor - 1000, version = version + 1 WHERE id = '${source}'`,
    ];
    for (const id of [open, released]) {
      expect(await brokenRulesAfter(...again(id))).toEqual({ whole: [POSTED], since: [POSTED] });
    }
    const unpaid = `UPDATE outgoing_transfers SET status = 'completed' WHERE id = '${reversed}'`;
    expect(await brokenRulesAfter(unpaid)).toEqual({ whole: [POSTED], since: [POSTED] });
  });

  test('what came back of a payment is the sum of its returns', async () => {
    const paid = await sentOutside();
    for (const status of ['released', 'completed']) await report(paid, status);
    const back = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { returned: true } } };
    expect((await api.call('PATCH', `/outgoing-transfers/${paid}`, back)).status).toBe(200);
    const less = `UPDATE outgoing_transfers SET returned_minor = returned_minor - 1 WHERE id = '${paid}'`;
    const none = `UPDATE incoming_transfers SET return_of = NULL WHERE return_of = '${paid}'`;
    const RETURNED = 'a payment has come back by the sum of its returns';
    for (const statement of [less, none]) {
      expect(await brokenRulesAfter(statement)).toEqual({ whole: [RETURNED], since: [RETURNED] });
    }
    expect(await checkLedgerSince(api.database)).toEqual([]);
  });

  test('a clock that was set back by days makes no false alarm', async () => {
    const open = await sentOutside();
    await report(open, 'released');
    const ahead = `UPDATE outgoing_transfers SET created_at = created_at + interval '3 days' WHERE id = $1`;
    await api.database.statement(ahead, [open]);
    expect(await checkLedgerSince(api.database)).toEqual([]);
    await report(open, 'completed');
    expect(await checkLedgerSince(api.database)).toEqual([]);
  });

  test('a balance that moved without an entry is seen, however old the account is', async () => {
    expect(await checkLedgerSince(api.database)).toEqual([]);
    const moved = `UPDATE accounts SET posted_minor = posted_minor + 1 WHERE id = '${destination}'`;
    const { whole, since } = await brokenRulesAfter(moved);
    expect(since).toEqual(expect.arrayContaining(['a balance is the sum of its entries', 'a currency sums to zero']));
    expect(whole).toEqual(expect.arrayContaining(since));
  });

  test('with a violation nothing is noted: it is found again', async () => {
    await sent();
    const spoil = `UPDATE accounts SET version = version + $1 WHERE id = $2`;
    await api.database.statement(spoil, [1, destination]);
    try {
      for (let run = 0; run < 2; run += 1) {
        expect((await checkLedgerSince(api.database))?.map(({ rule }) => rule)).toEqual(['versions have no gaps']);
      }
    } finally {
      await api.database.statement(spoil, [-1, destination]);
    }
    expect(await checkLedgerSince(api.database)).toEqual([]);
  });

  test('continues while others pay, and never reports a false defect', async () => {
    let paying = true;
    const payers = Array.from({ length: 4 }, async () => {
      while (paying) await sent({ amount: 0.01 });
    });
    const checks: unknown[] = [];
    for (let run = 0; run < 12; run += 1) {
      checks.push(await checkLedgerSince(api.database), await checkWholeLedger(api.database));
    }
    paying = false;
    await Promise.all(payers);
    expect(checks).toEqual(Array.from({ length: 24 }, () => []));
    expect(await checkLedgerSince(api.database)).toEqual([]);
  });
});

test('the check of large books, whose statements are shared by two connections, finds all that the one of small books finds', async () => {
  const id = await sent();
  const spoilt = (by: number) =>
    `WITH moved AS (UPDATE accounts SET version = version + ${by}, receivable_minor = receivable_minor + ${by},
        event_sequence = event_sequence + ${by} WHERE id = '${destination}'),
      client AS (UPDATE clients SET event_sequence = event_sequence + ${by} WHERE id = '${payer}'),
      sent AS (UPDATE outgoing_transfers SET event_sequence = event_sequence + ${by} WHERE id = '${id}')
    UPDATE incoming_transfers SET event_sequence = event_sequence + ${by} WHERE outgoing_transfer_id = '${id}'`;
  const found = (violations: readonly Violation[]) =>
    violations.map((violation) => Object.values(violation).join('; '));
  await api.database.statement(spoilt(1), []);
  try {
    const all = found(await checkLedger(api.database.reader));
    expect(all).toHaveLength(6);
    expect(found(await checkWholeLedger(api.database)).sort()).toEqual(all.sort());
  } finally {
    await api.database.statement(spoilt(-1), []);
  }
});

/** Makes the balance after a transfer's posting wrong by so much; with triggers off, as only a superuser can have them. */
function move(id: string, minor: number): Promise<void> {
  return owner.transaction(async (tx) => {
    await tx.statement('SET LOCAL session_replication_role = replica', []);
    await tx.statement(
      `UPDATE postings SET debit_balance_after_minor = debit_balance_after_minor + ${minor} WHERE outgoing_transfer_id = $1`,
      [id],
    );
  });
}

test('what is posted while a check is under way is left to the next one', async () => {
  await sent();
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = api.database.transaction(async (tx) => {
    // The check reads what it has noted before, and cannot note anything yet.
    await tx.statement('LOCK TABLE ledger_checked_accounts IN SHARE MODE', []);
    steps.emit('locked');
    await once(steps, 'posted');
  });
  await locked;
  const checking = checkLedgerSince(api.database);
  let fresh = '';
  try {
    await until(
      () => lockWaiters(api.database.reader),
      (sessions) => sessions > 0,
    );
    fresh = await sent();
    await move(fresh, 1);
  } finally {
    steps.emit('posted');
    await holding;
  }
  expect(await checking).toEqual([]);
  expect((await checkLedgerSince(api.database))?.map(({ rule }) => rule)).toEqual([CHAINED]);
  await move(fresh, -1);
});

/** Housekeeping's task, as the worker runs it. */
function housekeepingCheck(): Promise<string> {
  const { configuration, environment, keyring, logger } = api.services;
  const { database: books, url: publicUrl } = api;
  const others = { configuration, keyring, logger, publicUrl, mail: environment.mail, providers: new Map() };
  return new MockActivityEnvironment().run(housekeepingActivities({ ...others, database: books }).checkLedger);
}

test('housekeeping checks what came since its last check, and not all books each time', async () => {
  const old = await sent();
  expect(await housekeepingCheck()).toBe('ok');
  const fresh = await sent();
  await move(fresh, 1);
  // Nothing is noted then, so each check finds it until an operator has mended it.
  for (const _ of ['once', 'again']) expect(await housekeepingCheck()).toBe('ledger-violated');
  await move(fresh, -1);
  await move(old, 1);
  expect(await housekeepingCheck()).toBe('ok');
  await move(old, -1);
});

test('the metrics show when housekeeping last checked, and how many breaches it found until they are mended', async () => {
  const shown = async () => {
    const text = await (await fetch(api.metricsUrl)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return { at: value('ledger_check_timestamp_seconds'), violations: value('ledger_check_violations') };
  };
  expect(await housekeepingCheck()).toBe('ok');
  const clean = await shown();
  expect(clean.violations).toBe(0);
  expect(Math.abs(Date.now() / 1_000 - clean.at)).toBeLessThan(60);
  const fresh = await sent();
  await move(fresh, 1);
  expect(await housekeepingCheck()).toBe('ledger-violated');
  const violated = await shown();
  expect(violated.violations).toBeGreaterThan(0);
  expect(violated.at).toBeGreaterThan(clean.at);
  await move(fresh, -1);
  expect(await housekeepingCheck()).toBe('ok');
  const mended = await shown();
  expect(mended.violations).toBe(0);
  expect(mended.at).toBeGreaterThan(violated.at);
});

test('a ledger that no check has seen shows the year 1970, so that an alert on the age fires', async () => {
  const own = await createTestDatabase('ledger-unchecked');
  const unchecked = createDatabase({
    url: own.url,
    maxConnections: 1,
    applicationName: 'unchecked',
    deadlineMs: 60_000,
  });
  try {
    expect(await readLastLedgerCheck(unchecked.reader)).toEqual({ endedAt: new Date(0), violationCount: 0 });
  } finally {
    await unchecked.close();
    await own.drop();
  }
});

test.each([
  ['the whole check', checkWholeLedger],
  ['the check of what is new', checkLedgerSince],
])('%s that misses its deadline is unavailable, and renews no pool of the service', async (_name, check) => {
  const service = createDatabase({
    url: database.url,
    maxConnections: 1,
    applicationName: 'service',
    deadlineMs: 60_000,
  });
  const session = async () => (await service.statement<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]?.pid;
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = owner.transaction(async (tx) => {
    await tx.statement('LOCK TABLE postings IN ACCESS EXCLUSIVE MODE', []);
    steps.emit('locked');
    await once(steps, 'missed');
  });
  try {
    await locked;
    const before = await session();
    await expect(check(service, 300)).rejects.toThrow(DatabaseUnavailable);
    expect(await session()).toBe(before);
  } finally {
    steps.emit('missed');
    await holding;
    await service.close();
  }
});

test('two checks of what is new at once: one checks, the other says that it did not', async () => {
  await sent();
  const held = () =>
    api.database.reader.statement(
      `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE locktype = 'advisory' AND granted AND objid = 7423019 AND datname = current_database()`,
      [],
    );
  // The check before, which missed its deadline, may still be on its way out.
  await until(held, (locks) => locks.length === 0);
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const apart = api.database.apart({ deadlineMs: PATIENT_MS });
  const first = apart.transaction(async (tx) => {
    await tx.statement('LOCK TABLE ledger_checks IN ACCESS EXCLUSIVE MODE', []);
    steps.emit('locked');
    await once(steps, 'tried');
  });
  await locked;
  const checking = checkLedgerSince(api.database);
  try {
    await until(held, (locks) => locks.length > 0);
    expect(await checkLedgerSince(api.database)).toBeNull();
  } finally {
    steps.emit('tried');
    await first;
    await apart.close();
  }
  expect(await checking).toEqual([]);
});

import { EventEmitter, once } from 'node:events';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { outgoingTransferTransitions } from '../../activities/outgoing-transfers/activities.ts';
import { lockAccounts } from '../../db/ledger/ledger.ts';
import { failOutgoingTransfer, requestLookUp, retrySubmission } from '../../db/outgoing-transfers/operator-commands.ts';
import {
  adoptPayment,
  advanceOutgoingTransfer,
  applyPaymentReport,
  recordAcceptedSubmission,
  recordLookUp,
  recordSubmission,
} from '../../db/outgoing-transfers/outgoing-transfers.ts';
import type { CallLimits, Database, Transaction } from '../../db/query/database.ts';
import { type AccountId, asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { LookUpAnswer } from '../../domain/outgoing-transfers/look-ups.ts';
import type { LookedUpPayment, PaymentOutcome, PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type BuiltInAccounts, builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { inTime } from '../harness/transfers/payment-steps.ts';

// A bank's answers are decided without locks and recorded in batches, if the transfer is unchanged. Whatever happens
// in between, each ends as if it had been recorded on its own under locks.

const ALL_EVENTS = ['created', 'processing', 'released', 'completed'].map((status) => `outgoing-transfer-${status}`);
const FEE = 5n;
/** A business day of every scheme. */
const WEDNESDAY_NOON = '2027-06-16T12:00:00Z';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let builtIn: BuiltInAccounts;
let hand: postgres.Sql;
let payer: string;
let bankAccount: string;
let payments = 0;

beforeAll(async () => {
  database = await createTestDatabase('submission-records');
  const fee = { direction: null, scheme: null, currency: 'GBP', fixedMinor: FEE, pricing: null } as const;
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(WEDNESDAY_NOON) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, prices: [fee] }),
  });
  world = moneyWorld(api);
  builtIn = builtInAccounts(api);
  payer = await world.client('Ada');
  bankAccount = await world.beneficiary(payer);
  hand = postgres(database.ownerUrl, { max: 2, onnotice: () => {} });
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await hand?.end();
  await api.stop();
  await database.drop();
});

async function account(): Promise<string> {
  const opened = await builtIn.opened(payer);
  payments += 1;
  await builtIn.payIn(opened, `pay-in-${payments}`, 100_000n);
  return opened.id;
}

/** A transfer whose submission is under way. */
async function submitted(source: string, change: Json = {}): Promise<OutgoingTransferId> {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data.outgoingTransfer;
  expect(await rowOf(id)).toMatchObject({
    status: 'processing',
    submission_status: 'unresolved',
    submission_attempt: 1,
  });
  return id;
}

function report(outcome: PaymentOutcome): PaymentReport {
  return { outcome, serviceProviderId: 'pay-1', serviceProviderReference: 'SBO1', code: null };
}

function recordTogether(id: OutgoingTransferId, outcome: PaymentOutcome, attempt = 1) {
  return recordAcceptedSubmission(api.database, id, attempt, report(outcome), api.services.configuration);
}

function recordSingly(id: OutgoingTransferId, outcome: PaymentOutcome) {
  return api.database.transaction((tx) => recordSubmission(tx, id, 1, report(outcome), api.services.configuration));
}

function callback(id: OutgoingTransferId, outcome: PaymentOutcome) {
  const transfer = { id, provider: 'sandbox-bank' };
  return api.database.transaction((tx) =>
    applyPaymentReport(tx, transfer, report(outcome), api.services.configuration),
  );
}

/** The activity of the transfer's workflow, which takes one way or the other. */
function record(id: OutgoingTransferId, outcome: PaymentOutcome) {
  const { services } = api;
  const { recordOutgoingTransferSubmission } = outgoingTransferTransitions({
    database: api.database,
    configuration: services.configuration,
    logger: services.logger,
  });
  return inTime(() => recordOutgoingTransferSubmission(id, 1, report(outcome)));
}

async function rowOf(id: OutgoingTransferId): Promise<Json> {
  const [row] = await hand<Json[]>`SELECT *, xmin::text AS committed_by FROM outgoing_transfers WHERE id = ${id}`;
  return row;
}

async function postingsOf(id: OutgoingTransferId): Promise<Json[]> {
  return hand<Json[]>`
    SELECT entry_type, amount_minor::text AS minor, debit_account_id, credit_account_id, narrative, debit_transaction_type
    FROM postings WHERE outgoing_transfer_id = ${id} ORDER BY debit_version`;
}

/** Without what differs between any two transfers. */
function comparable({ id, transaction_number, account_id, committed_by, request_id, ...row }: Json): Json {
  const instants = ['created_at', 'updated_at', 'next_check_at', 'next_look_up_at', 'waiting_since', 'waiting_until'];
  return { ...row, ...Object.fromEntries(instants.map((name) => [name, row[name] === null])) };
}

test.each(['released', 'completed'] as const)(
  '%s: recorded together is the same as recorded singly',
  async (outcome) => {
    const [one, other] = [await account(), await account()];
    const together = await submitted(one, { description: 'the same' });
    const single = await submitted(other, { description: 'the same' });
    const steps = [await recordTogether(together, outcome), await recordSingly(single, outcome)];
    expect(steps.map((step) => step?.do)).toEqual(Array(2).fill(outcome === 'completed' ? 'end' : 'wait'));
    expect(comparable(await rowOf(together))).toEqual(comparable(await rowOf(single)));
    const [postings, wanted] = [await postingsOf(together), await postingsOf(single)];
    expect(postings).toEqual(wanted.map((posting) => ({ ...posting, debit_account_id: one })));
    expect(postings.map(({ entry_type, minor }) => [entry_type, minor])).toEqual([
      ['principal', '1000'],
      ['fee', String(FEE)],
    ]);
    expect(await world.events(together)).toEqual(await world.events(single));
    expect(await world.balance(one)).toEqual(await world.balance(other));
    expect((await world.statement(one)).map(({ balance }) => balance)).toEqual(
      (await world.statement(other)).map(({ balance }) => balance),
    );
  },
);

test('at one moment they share statements, also those of one account, and each is recorded once', async () => {
  const accounts = await Promise.all(Array.from({ length: 3 }, account));
  const ids: OutgoingTransferId[] = [];
  for (let number = 0; number < 36; number += 1) ids.push(await submitted(accounts[number % 3] ?? ''));
  // A shared statement waits for no lock: what another one holds is recorded singly.
  const steps = await Promise.all(ids.map((id) => record(id, 'completed')));
  expect(steps).toEqual(ids.map(() => ({ do: 'end' })));
  const rows = await Promise.all(ids.map(rowOf));
  // Timing decides how many share a commit; unshared, each would have its own.
  expect(new Set(rows.map(({ committed_by }) => committed_by)).size).toBeLessThan(ids.length);
  for (const id of ids) {
    expect(await world.events(id)).toEqual(ALL_EVENTS);
    expect(await postingsOf(id)).toHaveLength(2);
  }
  for (const id of accounts) expect((await world.balance(id)).available).toBe(1_000 - 12 * 10.05);
});

test('the callback, the record and its repetition at the same instant: the payment is posted once', async () => {
  const source = await account();
  const ids: OutgoingTransferId[] = [];
  for (let number = 0; number < 16; number += 1) ids.push(await submitted(source));
  await Promise.all(ids.flatMap((id) => [callback(id, 'completed'), record(id, 'released'), record(id, 'released')]));
  for (const id of ids) {
    expect(await world.events(id)).toEqual(ALL_EVENTS);
    expect(await postingsOf(id)).toHaveLength(2);
    expect(await rowOf(id)).toMatchObject({ status: 'completed', reserved_minor: '0', event_sequence: '4' });
  }
  expect((await world.balance(source)).available).toBe(1_000 - 16 * 10.05);
});

test.each([
  ['completed', 'completed'],
  ['released', 'completed'],
] as const)('one transfer recorded as %s and as %s in one statement is recorded once', async (first, second) => {
  const source = await account();
  // The others' reservations would cover a second posting.
  const [busy, id] = [await submitted(source), await submitted(source)];
  for (let number = 0; number < 3; number += 1) await submitted(source);
  const before = await world.balance(source);
  // While one of the account's transfers is being recorded, later ones wait for the next statement.
  const [, ...steps] = await Promise.all([
    recordTogether(busy, 'completed'),
    ...[first, second, second].map((outcome) => recordTogether(id, outcome)),
  ]);
  const done = steps.filter((step) => step !== null);
  expect(done).toHaveLength(1);
  const { status } = await rowOf(id);
  expect(status).toBe(done[0]?.do === 'end' ? 'completed' : 'released');
  expect(await world.events(id)).toEqual(ALL_EVENTS.slice(0, status === 'completed' ? 4 : 3));
  expect(await postingsOf(id)).toHaveLength(2);
  expect((await world.balance(source)).available).toBe(before.available);
  expect(await record(id, 'completed')).toMatchObject({ do: status === 'completed' ? 'end' : 'wait' });
});

test('a decision from an older row is not recorded', async () => {
  const id = await submitted(await account());
  const { write } = api.database;
  const database: Database = {
    ...api.database,
    shared: () => database,
    write: async <Row>(text: string, parameters: readonly unknown[], limits?: CallLimits) => {
      await hand`UPDATE outgoing_transfers SET revision = revision + 1 WHERE id = ${id}`;
      return write<Row>(text, parameters, limits);
    },
  };
  const { revision, ...before } = await rowOf(id);
  expect(await recordAcceptedSubmission(database, id, 1, report('completed'), api.services.configuration)).toBeNull();
  const after = await rowOf(id);
  expect(after).toMatchObject({ status: before.status, revision: String(BigInt(revision) + 1n), event_sequence: '2' });
  expect(await postingsOf(id)).toEqual([]);
  expect(await record(id, 'completed')).toEqual({ do: 'end' });
  expect(await world.events(id)).toEqual(ALL_EVENTS);
});

test('a locked transfer is skipped without waiting', async () => {
  const id = await submitted(await account());
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = api.database.transaction(async (tx) => {
    await tx.statement('SELECT FROM outgoing_transfers WHERE id = $1 FOR UPDATE', [id]);
    steps.emit('locked');
    await once(steps, 'rejected');
  });
  await locked;
  expect(await recordTogether(id, 'completed')).toBeNull();
  expect((await rowOf(id)).status).toBe('processing');
  steps.emit('rejected');
  await holding;
  expect(await recordTogether(id, 'completed')).toEqual({ do: 'end' });
});

test('one whose account is locked is recorded on its own, after the others', async () => {
  const [held, free] = [await account(), await account()];
  const [waits, goes] = [await submitted(held), await submitted(free)];
  const steps = new EventEmitter();
  const locked = once(steps, 'locked');
  const holding = api.database.transaction(async (tx) => {
    await lockAccounts(tx, [asId<AccountId>(held)]);
    steps.emit('locked');
    await once(steps, 'recorded');
  });
  await locked;
  const waiting = record(waits, 'completed');
  expect(await record(goes, 'completed')).toEqual({ do: 'end' });
  expect((await rowOf(waits)).status).toBe('processing');
  steps.emit('recorded');
  await holding;
  expect(await waiting).toEqual({ do: 'end' });
  expect(await world.events(waits)).toEqual(ALL_EVENTS);
});

test('rejections, returns, other attempts and ended transfers are left to a transaction of their own, and nothing is done', async () => {
  const source = await account();
  const id = await submitted(source);
  const before = await rowOf(id);
  expect(await recordTogether(id, 'failed')).toBeNull();
  expect(await recordTogether(id, 'returned')).toBeNull();
  expect(await recordTogether(id, 'completed', 2)).toBeNull();
  expect(await rowOf(id)).toEqual(before);
  expect(await record(id, 'failed')).toEqual({ do: 'end' });
  expect(await recordTogether(id, 'completed')).toBeNull();
  expect((await rowOf(id)).status).toBe('failed');
  expect((await world.balance(source)).available).toBe(1_000);
  expect(await recordTogether(asId('0196f4c2-0000-7000-8000-000000000000'), 'completed')).toBeNull();
});

test('one that the database rejects fails on its own', async () => {
  const source = await account();
  const others = [await submitted(await account()), await submitted(await account())];
  const poisoned = await submitted(source, { description: 'poison' });
  await hand.unsafe(`
    CREATE FUNCTION reject_poison() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.narrative = 'poison' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER reject_poison BEFORE INSERT ON postings FOR EACH ROW EXECUTE FUNCTION reject_poison()`);
  const outcomes = await Promise.allSettled([poisoned, ...others].map((id) => record(id, 'completed')));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(await rowOf(poisoned)).toMatchObject({ status: 'processing', submission_status: 'unresolved' });
  expect(await world.events(poisoned)).toEqual(ALL_EVENTS.slice(0, 2));
  await hand.unsafe('DROP TRIGGER reject_poison ON postings');
  expect(await record(poisoned, 'completed')).toEqual({ do: 'end' });
  expect(await world.events(poisoned)).toEqual(ALL_EVENTS);
});

test('one whose last posting ends after its deadline leaves nothing', async () => {
  const id = await submitted(await account());
  await hand.unsafe(`
    CREATE FUNCTION slow_posting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.2); RETURN NEW; END $$;
    CREATE TRIGGER slow BEFORE INSERT ON postings FOR EACH ROW WHEN (NEW.entry_type = 'fee') EXECUTE FUNCTION slow_posting()`);
  const limits = { endsAt: performance.now() + 1_000, isGone: () => false };
  const late = recordAcceptedSubmission(
    api.database.forCaller(limits),
    id,
    1,
    report('completed'),
    api.services.configuration,
  );
  await expect(late).rejects.toMatchObject({ name: 'DatabaseUnavailable' });
  for (let running = true; running; ) {
    const rows = await hand`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
        AND query LIKE '%apply_transfer_changes%'`;
    running = rows.length > 0;
  }
  await hand.unsafe('DROP TRIGGER slow ON postings');
  expect(await rowOf(id)).toMatchObject({ status: 'processing', submission_status: 'unresolved' });
  expect(await postingsOf(id)).toEqual([]);
  expect(await recordTogether(id, 'completed')).toEqual({ do: 'end' });
});

describe('a payment that its provider has taken and not decided on', () => {
  const claim = { amountMinor: '1000', currency: 'GBP', returned: null };
  const unnamed = { serviceProviderId: null, serviceProviderReference: null, claim };
  const queued = (queuedAttempt: number): LookedUpPayment => ({
    ...unnamed,
    outcome: 'queued',
    code: null,
    queuedAttempt,
  });
  const rejected = (rejectedAttempt: number, code: string): LookedUpPayment => ({
    ...unnamed,
    outcome: 'failed',
    code,
    rejectedAttempt,
  });
  const rules = () => api.services.configuration;
  const within = <Result>(step: (tx: Transaction) => Promise<Result>) => api.database.transaction(step);
  const answer = (id: OutgoingTransferId, attempt: number, found: LookedUpPayment) =>
    within((tx) => recordSubmission(tx, id, attempt, found, rules()));
  const callBack = (id: OutgoingTransferId, found: LookedUpPayment) =>
    within((tx) => applyPaymentReport(tx, { id, provider: 'sandbox-bank' }, found, rules()));
  const lookUp = async (id: OutgoingTransferId, found: LookUpAnswer) => {
    const { look_up_count: count } = await rowOf(id);
    return within((tx) => recordLookUp(tx, id, count, found, rules()));
  };
  const retry = (id: OutgoingTransferId) => within((tx) => retrySubmission(tx, id, rules(), TESTER));
  const stands = async (id: OutgoingTransferId, submission: string, attempt: number) => {
    const { submission_status, submission_attempt, status } = await rowOf(id);
    expect({ submission_status, submission_attempt, status }).toEqual({
      submission_status: submission,
      submission_attempt: attempt,
      status: 'processing',
    });
  };

  test('waits for its decision, and a look-up that does not find it changes nothing', async () => {
    const id = await submitted(await account());
    const step = await answer(id, 1, queued(1));
    expect(step).toMatchObject({ do: 'wait', for: 'provider-decision' });
    await lookUp(id, 'not-found');
    await stands(id, 'queued', 1);
    await lookUp(id, queued(1));
    await stands(id, 'queued', 1);
  });

  test('is not queued by an answer that its rejection has overtaken', async () => {
    const id = await submitted(await account());
    expect(await callBack(id, rejected(1, 'BE08'))).toBe('applied');
    expect(await callBack(id, queued(1))).toBe('no-effect');
    await stands(id, 'rejected', 1);
    await retry(id);
    await within((tx) => advanceOutgoingTransfer(tx, id, rules()));
    await lookUp(id, queued(1));
    await stands(id, 'unresolved', 2);
  });

  test('may be an earlier attempt than the one it answers, whose rejection is then heard', async () => {
    const id = await submitted(await account());
    await within((tx) => requestLookUp(tx, id, rules(), TESTER));
    await lookUp(id, 'not-found');
    await retry(id);
    await within((tx) => advanceOutgoingTransfer(tx, id, rules()));
    await stands(id, 'unresolved', 2);
    await answer(id, 2, queued(1));
    await stands(id, 'queued', 1);
    expect(await callBack(id, rejected(1, 'AC04'))).toBe('applied');
    expect(await rowOf(id)).toMatchObject({ status: 'failed', reserved_minor: '0' });
  });

  test('is known to be queued after a restore that lost its attempt, and cannot be failed', async () => {
    const id = await submitted(await account());
    await callBack(id, rejected(1, 'BE08'));
    const adopted = within((tx) => adoptPayment(tx, { id, provider: 'sandbox-bank' }, queued(2), rules()));
    expect(await adopted).toBe('applied');
    await stands(id, 'queued', 2);
    const failure = within((tx) => failOutgoingTransfer(tx, { id, reason: 'It was rejected.' }, rules(), TESTER));
    await expect(failure).rejects.toThrow(/the provider has taken it/);
  });
});

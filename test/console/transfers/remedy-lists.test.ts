import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remedyListItems, remedyListMetrics } from '../../../console/approvals/metrics.ts';
import { remedyListRunner } from '../../../console/approvals/runner.ts';
import { createDatabase } from '../../../db/client.ts';
import type { Database } from '../../../db/query/database.ts';
import { addDays } from '../../../domain/common/time/dates.ts';
import { type Json, startApi } from '../../harness/api.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { until } from '../../harness/stage.ts';
import { modes, reviews } from '../../harness/transfers/reviews.ts';
import type { BrowserAnswer } from '../browser.ts';
import type { ConsoleCaller } from '../console-under-test.ts';
import { LATER, type TransferWorld, transferWorld } from './transfer-world.ts';

let stage: TransferWorld;
let operator: ConsoleCaller;
let secondOperator: ConsoleCaller;
let approver: ConsoleCaller;
let viewer: ConsoleCaller;
/** Real time, as the console sees it. */
const now: () => Date = () => new Date();
let remediesOff: readonly string[] = [];
let dates = 0;

beforeAll(async () => {
  stage = await transferWorld('remedy-lists', {
    now: () => now(),
    settings: (settings) => Object.defineProperty({ ...settings }, 'remediesOff', { get: () => remediesOff }),
  });
  operator = await stage.underTest.signIn('operator');
  secondOperator = await stage.underTest.signIn('second-operator');
  approver = await stage.underTest.signIn('approver');
  viewer = await stage.underTest.signIn('viewer');
});

afterAll(async () => {
  await stage?.stop();
});

function wordsOf({ text }: BrowserAnswer): string {
  return text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}

const because = { reason: 'the bank is closed that day' };

/** Transfers of a date of their own, by which a filter finds them and no other. */
async function transfersOfADate(
  count: number,
): Promise<{ readonly query: string; readonly transfers: readonly Json[] }> {
  dates += 1;
  const date = addDays(LATER, dates);
  const transfers = [];
  for (let number = 0; number < count; number += 1) transfers.push(await stage.pay({ amount: 10, transferDate: date }));
  return { query: `from=${date}&to=${date}`, transfers };
}

/** The path of a list that this person has frozen. */
async function freeze(
  caller: ConsoleCaller,
  query: string,
  { remedy = 'cancel', page = '/outgoing-transfers/for-all-outgoing-transfers' } = {},
): Promise<string> {
  const answer = await caller.post(`${page}?${query}&remedy=${remedy}`, because);
  expect(answer.status, answer.text).toBe(303);
  return answer.headers.get('location') ?? '';
}

async function frozenList(count = 3) {
  const { query, transfers } = await transfersOfADate(count);
  return { list: await freeze(operator, query), transfers };
}

const idIn = (list: string) => list.split('/').at(-1) ?? '';

/** A console's runner with connections of its own. */
function runnerOn(database: Database) {
  return remedyListRunner({ ...stage.underTest.services, database }, 50);
}

function connect(applicationName: string): Database {
  return createDatabase({ url: stage.testDatabase.url, maxConnections: 2, applicationName, deadlineMs: 60_000 });
}

async function statusOf(list: string): Promise<string | undefined> {
  const [row] = await stage.api.database.reader.statement<{ status: string }>(
    'SELECT status FROM remedy_lists WHERE id = $1',
    [idIn(list)],
  );
  return row?.status;
}

const isDone = async (list: string) => (await statusOf(list)) === 'done';

async function runToTheEnd(list: string, end = 'done'): Promise<void> {
  const database = connect('runner');
  const runner = runnerOn(database);
  runner.start();
  try {
    await until(
      () => statusOf(list),
      (status) => status === end,
    );
  } finally {
    await runner.stop();
    await database.close();
  }
}

async function results(list: string): Promise<Record<string, number>> {
  const rows = await stage.api.database.reader.statement<{ result: string; count: number }>(
    `SELECT coalesce(result, 'open') AS result, count(*)::integer AS count FROM remedy_list_items WHERE list_id = $1 GROUP BY 1`,
    [idIn(list)],
  );
  return Object.fromEntries(rows.map(({ result, count }) => [result, count]));
}

describe('a list of remedies', () => {
  test('is frozen with its count and sum; what the filter finds later is not in it', async () => {
    const { query, transfers } = await transfersOfADate(3);
    const shown = wordsOf(await operator.get(`/outgoing-transfers/for-all-outgoing-transfers?${query}&remedy=cancel`));
    expect(shown).toContain('3 transfers are found, together £30.00 GBP.');
    expect(shown).toContain('another person, with the role approver or operator, has to sign the list within 24 hours');
    const list = await freeze(operator, query);
    await stage.pay({ amount: 10, transferDate: transfers[0]?.transferDate });
    const page = wordsOf(await operator.get(list));
    expect(page).toContain('Cancel for 3');
    expect(page).toContain('waiting £30.00 GBP');
    expect(page).toContain('Made by Olga Ladyzhenskaya (operator)');
    expect(page).toContain('Sign is off: You made this list: another person must sign it.');
    for (const { transactionNumber } of transfers) expect(page).toContain(transactionNumber);
    const exported = (await operator.get(`${list}?format=csv`)).text.trim().split('\n');
    expect(exported).toHaveLength(4);
    expect(await stage.audit(idIn(list))).toMatchObject([{ action: 'created', actor: operator.personId, ...because }]);
  });

  test('of what waits is the same, by the filters of that page', async () => {
    const { transfers } = await transfersOfADate(2);
    const list = await freeze(operator, 'waiting-for=date&currency=GBP', {
      page: '/waiting/for-all-that-wait',
      remedy: 'next-window',
    });
    const page = wordsOf(await operator.get(list));
    for (const { transactionNumber } of transfers) expect(page).toContain(transactionNumber);
    expect((await approver.post(`${list}/reject-list`, because)).status).toBe(303);
  });

  test('of money that came in returns each to its payer, and takes no outgoing transfer', async () => {
    const arrived = [await reviews(stage.api).payIn(), await reviews(stage.api).payIn()];
    const list = await freeze(operator, 'waiting-for=match', {
      page: '/waiting/for-all-that-wait',
      remedy: 'return-incoming',
    });
    const page = await operator.get(list);
    for (const { id } of arrived) expect(page.text).toContain(`href="/incoming-transfers/${id}"`);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    await runToTheEnd(list);
    expect(await results(list)).toEqual({ unknown: 2 });
    for (const { id } of arrived) {
      expect((await stage.audit(id)).at(-1)).toMatchObject({ actor: operator.personId, requestId: idIn(list) });
      const { body } = await stage.api.call('GET', `/incoming-transfers/${id}`);
      expect(body.data.incomingTransfer.status).toBe('failed');
    }
    const wrong = '/outgoing-transfers/for-all-outgoing-transfers?remedy=return-incoming';
    expect((await operator.post(wrong, because)).status).toBe(404);
  });

  test('has 10,000 items at most: more is not cut, but rejected', async () => {
    await insertWaiting('SEK', 10_001);
    const path = '/outgoing-transfers/for-all-outgoing-transfers?currency=SEK&remedy=fail';
    expect(wordsOf(await operator.get(path))).toContain('More than 10,000 are found, the most of one list');
    expect((await operator.post(path, because)).status).toBe(409);
    expect((await operator.post('/waiting/for-all-that-wait?currency=SEK&remedy=fail', because)).status).toBe(409);
    await stage.testDatabase.asOwner(`SET session_replication_role = replica; DELETE FROM outgoing_transfers
      WHERE id = (SELECT id FROM outgoing_transfers WHERE currency = 'SEK' LIMIT 1)`);
    const list = await freeze(operator, 'currency=SEK', { remedy: 'fail' });
    expect(await results(list)).toEqual({ open: 10_000 });
    expect(wordsOf(await operator.get(list))).toMatch(/waiting .*100,000\.00 SEK/);
    expect((await operator.get(`${list}?format=csv`)).text.trim().split('\n')).toHaveLength(10_001);
    expect((await operator.post(`${list}/reject-list`, because)).status).toBe(303);
  });

  test('is not made of nothing, or by a role that may not do each', async () => {
    const path = '/outgoing-transfers/for-all-outgoing-transfers?currency=EUR&remedy=cancel';
    expect(wordsOf(await operator.get(path))).toContain('The filter finds nothing that this could be done for.');
    expect((await operator.post(path, because)).status).toBe(409);
    expect((await viewer.post(path, because)).status).toBe(403);
    expect((await operator.post('/outgoing-transfers/for-all-outgoing-transfers?remedy=recall', because)).status).toBe(
      404,
    );
  });

  test('does nothing before another person has signed it, and then each with a result', async () => {
    const { list, transfers } = await frozenList();
    const [cancelled] = transfers;
    await stage.api.call('PATCH', `/outgoing-transfers/${cancelled?.id}`, {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer: { status: 'cancelled' } },
    });
    expect((await operator.post(`${list}/sign-list`, because)).status).toBe(409);
    expect((await viewer.post(`${list}/sign-list`, because)).status).toBe(403);
    expect(await results(list)).toEqual({ open: 3 });
    expect(wordsOf(await operator.get('/approvals'))).toMatch(
      /Cancel for 3 £30\.00 GBP .* Yours: another person must sign\./,
    );
    expect((await approver.get('/approvals')).text).toContain(`href="${list}/sign-list"`);
    expect((await approver.post(`${list}/sign-list`, { reason: 'seen and agreed' })).status).toBe(303);
    await runToTheEnd(list);
    expect(await results(list)).toEqual({ done: 2, unchanged: 1 });
    expect((await approver.get('/approvals')).text).not.toContain(list);
    for (const { id } of transfers.slice(1)) {
      expect((await stage.find(id)).status).toBe('cancelled');
      expect(await stage.audit(id)).toEqual([
        expect.objectContaining({
          action: 'cancelled',
          actor: operator.personId,
          role: 'operator',
          requestId: idIn(list),
          ...because,
        }),
      ]);
    }
    expect(wordsOf(await operator.get(`${list}?result=unchanged`))).toContain(cancelled?.transactionNumber);
    expect(await stage.audit(idIn(list))).toMatchObject([
      { action: 'created', actor: operator.personId },
      { action: 'signed', actor: approver.personId, role: 'approver', reason: 'seen and agreed' },
      { action: 'done', actor: 'console' },
    ]);
  });

  test('is signed once, however many sign it, and not after it was rejected', async () => {
    const { list } = await frozenList(1);
    const answers = await Promise.all(
      [approver, secondOperator].map((caller) => caller.post(`${list}/sign-list`, because)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect((await approver.post(`${list}/reject-list`, because)).status).toBe(409);
    const other = (await frozenList(1)).list;
    expect((await operator.post(`${other}/reject-list`, because)).status).toBe(303);
    expect((await approver.post(`${other}/sign-list`, because)).status).toBe(409);
    expect(await results(other)).toEqual({ open: 1 });
  });

  test('cannot be signed after its day, by real time', async () => {
    const { list } = await frozenList(1);
    const late = new Date(Date.now() + 25 * 3_600_000);
    await stage.api.database.reader.statement(
      `UPDATE remedy_lists SET created_at = created_at - interval '25 hours', expires_at = expires_at - interval '25 hours' WHERE id = $1`,
      [idIn(list)],
    );
    expect(late.getTime()).toBeGreaterThan(now().getTime());
    const answer = await approver.post(`${list}/sign-list`, because);
    expect([answer.status, wordsOf(answer)]).toEqual([409, expect.stringContaining('Its time for a signature ended')]);
    expect(wordsOf(await operator.get(list))).toContain('expired £10.00 GBP');
    expect((await approver.get('/approvals')).text).not.toContain(list);
  });

  test('the database itself lets none be signed by its maker', async () => {
    const { list } = await frozenList(1);
    const sign = stage.api.database.reader.statement(
      `UPDATE remedy_lists SET status = 'running', decided_by = created_by, decided_at = now() WHERE id = $1`,
      [idIn(list)],
    );
    await expect(sign).rejects.toThrow(/remedy_lists_two_people/);
  });

  test('rests while its remedy is turned off, and cannot be signed then', async () => {
    const { list } = await frozenList(1);
    remediesOff = ['cancel'];
    try {
      expect((await approver.post(`${list}/sign-list`, because)).status).toBe(409);
      remediesOff = [];
      expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
      remediesOff = ['cancel'];
      const other = (await frozenListOf('fail')).list;
      await runToTheEnd(other);
      expect(await results(list)).toEqual({ open: 1 });
      expect(wordsOf(await operator.get(list))).toContain('It rests: this remedy is turned off in this installation.');
    } finally {
      remediesOff = [];
    }
    await runToTheEnd(list);
    expect(await results(list)).toEqual({ done: 1 });
  });

  test('expires a day after its signature, by real time: what is left of it stays undone, also once its remedy is on again', async () => {
    const { list, transfers } = await frozenList(2);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    await stage.api.database.reader.statement(
      `UPDATE remedy_lists SET decided_at = decided_at - interval '25 hours' WHERE id = $1`,
      [idIn(list)],
    );
    remediesOff = ['cancel'];
    try {
      await runToTheEnd(list, 'expired');
    } finally {
      remediesOff = [];
    }
    await runToTheEnd((await frozenListOf('cancel')).list);
    expect(await results(list)).toEqual({ open: 2 });
    for (const { id } of transfers) expect((await stage.find(id)).status).toBe('pending');
    const page = wordsOf(await operator.get(list));
    expect(page).toContain('expired £20.00 GBP');
    expect(page).toContain('A day has passed since it was signed: what is still open here stays undone.');
    expect((await approver.post(`${list}/reject-list`, because)).status).toBe(409);
    expect((await stage.audit(idIn(list))).at(-1)).toMatchObject({ action: 'expired', actor: 'console' });
  });

  test('is stopped by a person with a reason, once: what is done stays done, and what is left is left', async () => {
    const { list, transfers } = await frozenList(3);
    expect((await operator.post(`${list}/stop-list`, because)).status).toBe(409);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    await doOne(list);
    expect(await results(list)).toEqual({ done: 1, open: 2 });
    expect((await viewer.post(`${list}/stop-list`, because)).status).toBe(403);
    const preview = wordsOf(await secondOperator.get(`${list}/stop-list`));
    expect(preview).toContain('2 that are left stay undone, for good.');
    expect(preview).toContain('The 1 that have their result keep it.');
    const reason = { reason: 'the bank has opened again' };
    expect((await secondOperator.post(`${list}/stop-list`, reason)).status).toBe(303);
    await runToTheEnd((await frozenListOf('cancel')).list);
    expect(await results(list)).toEqual({ done: 1, open: 2 });
    const statuses = await Promise.all(transfers.map(async ({ id }) => (await stage.find(id)).status));
    expect(statuses.sort()).toEqual(['cancelled', 'pending', 'pending']);
    const page = wordsOf(await operator.get(list));
    expect(page).toContain('It was stopped: what is still open here stays undone.');
    expect(page).toContain('because “the bank has opened again”');
    expect((await operator.post(`${list}/stop-list`, because)).status).toBe(409);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(409);
    expect((await stage.audit(idIn(list))).at(-1)).toMatchObject({
      action: 'stopped',
      actor: secondOperator.personId,
      role: 'operator',
      ...reason,
    });
  });

  /** One item of a running list, as its runner does it, and no more. */
  async function doOne(list: string): Promise<void> {
    const database = connect('one-item');
    let taken = 0;
    const once: Database = {
      ...database,
      transaction: (work, options) => {
        taken += 1;
        if (taken > 1) throw new Error('enough');
        return database.transaction(work, options);
      },
    };
    const runner = runnerOn(once);
    runner.start();
    try {
      await until(
        () => results(list),
        ({ done }) => done === 1,
      );
    } finally {
      await runner.stop();
      await database.close();
    }
  }

  test('is counted by what came of its items, in the metrics of the console', async () => {
    const countOf = async () =>
      (await remedyListItems.get()).values.find(({ labels }) => labels.result === 'done')?.value ?? 0;
    const before = await countOf();
    await runToTheEnd((await frozenListOf('cancel')).list);
    expect(await countOf()).toBe(before + 1);
    expect(await remedyListMetrics.metrics()).toMatch(/loop_last_success_timestamp_seconds\{loop="remedy-lists"\} \d+/);
  });

  test('has its turn however many others rest', async () => {
    const resting: string[] = [];
    for (let count = 0; count < 20; count += 1) resting.push((await frozenListOf('next-window')).list);
    remediesOff = ['next-window'];
    try {
      const { list } = await frozenListOf('cancel');
      await runToTheEnd(list);
      for (const rests of resting) expect(await results(rests)).toEqual({ open: 1 });
    } finally {
      remediesOff = [];
    }
    for (const list of resting) await runToTheEnd(list);
  });

  /** Signed. */
  async function frozenListOf(remedy: string) {
    const { query } = await transfersOfADate(1);
    const list = await freeze(operator, query, { remedy });
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    return { list };
  }
});

/** Payments out of 10 that wait for a date, without what they belong to. */
async function insertWaiting(currency: string, count: number): Promise<void> {
  await stage.testDatabase.asOwner(`SET session_replication_role = replica; INSERT INTO outgoing_transfers (id, transaction_number,
      client_id, account_id, status, scope, scheme, currency, amount_minor, transfer_date, original_transfer_date,
      beneficiary_bank_account_id, authorization_status, compliance_check_status, transfer_date_status, balance_check_status, method,
      provider, waiting_for, waiting_since, created_at, updated_at)
    SELECT uuidv7(), '${currency} ' || n, '${stage.client}', '${stage.account}', 'pending', 'external', 'swift', '${currency}', 1000,
      current_date, current_date, '${stage.client}', 'not-required', 'not-required', 'not-checked', 'not-checked', 'built-in',
      'sandbox-bank', 'date', now(), now(), now() FROM generate_series(1, ${count}) AS n`);
}

describe('an item that has moved on since its list was frozen', () => {
  test('by a decision of compliance is left as it is, with what it waits for now', async () => {
    const reviewing = await startApi(stage.testDatabase, {
      configuration: modes('none', 'external'),
      users: stage.api.users,
      maxConnections: 3,
    });
    try {
      const { client: clientId, account: id, receiver } = stage;
      const inReview = () => reviews(reviewing).internal({ clientId, id }, receiver, { transferDate: LATER });
      const [approved, waiting] = [await inReview(), await inReview()];
      const list = await freeze(operator, 'waiting-for=compliance', { page: '/waiting/for-all-that-wait' });
      expect((await reviews(reviewing).decide('outgoing-transfer', approved.id, 'all-passed')).status).toBe(200);
      expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
      await runToTheEnd(list);
      expect(await results(list)).toEqual({ unchanged: 1, done: 1 });
      expect([(await stage.find(approved.id)).status, (await stage.find(waiting.id)).status]).toEqual([
        'pending',
        'cancelled',
      ]);
      const shown = wordsOf(await operator.get(`${list}?result=unchanged`));
      expect(shown).toContain(approved.transactionNumber);
      expect(shown).toContain('It has moved on since the list was frozen: it waited for compliance, and now for date.');
      expect(await actionsOn(approved.id)).not.toContain('cancelled');
    } finally {
      await reviewing.stop();
    }
  });

  test('by an assignment to an account stays with its owner, though it waits for the same', async () => {
    const owner = await builtInAccounts(stage.api).opened(await stage.world.client('Ada'));
    const [assigned, held] = [
      await reviews(stage.api).payIn({ held: true }),
      await reviews(stage.api).payIn({ held: true }),
    ];
    const list = await freeze(operator, 'waiting-for=provider&what=incoming', {
      page: '/waiting/for-all-that-wait',
      remedy: 'return-incoming',
    });
    const assignment = { ...because, other: owner.id };
    const path = `/incoming-transfers/${assigned?.id}/assign-incoming`;
    expect((await secondOperator.post(path, assignment)).status).toBe(303);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    await runToTheEnd(list);
    // Also frozen: money of other tests that is on its way back.
    expect(await results(list)).toMatchObject({ unchanged: 1, unknown: 1 });
    expect(await actionsOn(assigned?.id)).toEqual(['assigned']);
    expect(await actionsOn(held?.id)).toEqual(['returned']);
    expect(wordsOf(await operator.get(`${list}?result=unchanged`))).toContain(
      `It has moved on since the list was frozen: it belongs to the account ${owner.id} now.`,
    );
  });

  const actionsOn = async (id: string) => (await stage.audit(id)).map(({ action }) => action);
});

describe('an item whose transaction Postgres ended, as a deadlock does,', () => {
  test.each(['40P01', '40001'])('is tried again later (%s)', async (state) => {
    const { list, transfers } = await frozenList(1);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    await stage.testDatabase.asOwner(`
      CREATE FUNCTION end_transaction() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'ended' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER end_transaction BEFORE UPDATE ON outgoing_transfers FOR EACH ROW
        WHEN (OLD.id = '${transfers[0]?.id}') EXECUTE FUNCTION end_transaction()`);
    const connected = connect('ended-runner');
    let ended = 0;
    const counting: Database = {
      ...connected,
      transaction: (work, options) =>
        connected.transaction(work, options).catch((error: unknown) => {
          ended += 1;
          throw error;
        }),
    };
    const runner = runnerOn(counting);
    runner.start();
    try {
      await until(async () => ended >= 1, Boolean);
    } finally {
      await runner.stop();
      await connected.close();
      await stage.testDatabase.asOwner(
        'DROP TRIGGER end_transaction ON outgoing_transfers; DROP FUNCTION end_transaction()',
      );
    }
    expect(await results(list)).toEqual({ open: 1 });
    await runToTheEnd(list);
    expect(await results(list)).toEqual({ done: 1 });
  });
});

describe('a console that dies while it carries a list out', () => {
  test('leaves each item done once with its result, or not at all; others go on', async () => {
    const { list, transfers } = await frozenList(12);
    expect((await approver.post(`${list}/sign-list`, because)).status).toBe(303);
    const dying = connect('dying-runner');
    let acts = 0;
    // The fifth item is done, but its connection is cut before the commit, and no other connection works again.
    const cut: Database = {
      ...dying,
      transaction: (work, options) =>
        dying.transaction(async (tx) => {
          const value = await work(tx);
          acts += 1;
          if (acts >= 5) await terminate('dying-runner');
          return value;
        }, options),
    };
    const dead = runnerOn(cut);
    dead.start();
    await until(async () => acts >= 5, Boolean);
    await dead.stop();
    await dying.close();
    expect(await results(list)).toEqual({ done: 4, open: 8 });
    const databases = [connect('second-runner'), connect('third-runner')];
    const runners = databases.map(runnerOn);
    for (const runner of runners) runner.start();
    await until(() => isDone(list), Boolean);
    for (const runner of runners) await runner.stop();
    for (const database of databases) await database.close();
    expect(await results(list)).toEqual({ done: 12 });
    for (const { id } of transfers) {
      expect((await stage.audit(id)).map(({ action }) => action)).toEqual(['cancelled']);
      expect((await stage.find(id)).status).toBe('cancelled');
    }
    expect((await stage.audit(idIn(list))).map(({ action }) => action)).toEqual(['created', 'signed', 'done']);
  });
});

async function terminate(applicationName: string): Promise<void> {
  await stage.api.database.reader.statement(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [applicationName],
  );
}

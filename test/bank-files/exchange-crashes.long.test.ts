import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { BankServices } from '../../activities/bank-files/exchange/bank.ts';
import type { Transport } from '../../activities/bank-files/exchange/transport.ts';
import type { Database } from '../../db/query/database.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import {
  accountReport,
  creditOf,
  debitOf,
  reported,
  returnOf,
  statusOf,
  statusReport,
} from '../harness/bank-files/scripted-bank.ts';
import { incomingSteps } from '../harness/transfers/payment-steps.ts';

// The process of the exchange ends before or after any of its calls: of the database, or of the bank's folder. Another goes on, and in the
// end each payment has arrived once, and each of the bank's words has had its effect once.

let files: FilesWorld;

beforeAll(async () => {
  files = await filesWorld('exchange-crashes');
});

afterEach(() => files.world.invariantsHold());

afterAll(async () => {
  await files?.close();
});

class Killed extends Error {}

type When = 'before' | 'after';
type Dying = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** The calls of a process that ends at the n-th of them, before its effect or after it. */
function endingAt(at: number, when: When): Dying {
  let calls = 0;
  let isDead = false;
  return async (call) => {
    if (isDead) throw new Killed();
    calls += 1;
    const isLast = calls === at;
    if (isLast) isDead = true;
    if (isLast && when === 'before') throw new Killed();
    const result = await call();
    if (isLast) throw new Killed();
    return result;
  };
}

/** A view of the same database: what is not of transactions reads only. */
function dyingBy(database: Database, dying: Dying): Database {
  const transaction: Database['transaction'] = (work, options) => dying(() => database.transaction(work, options));
  return new Proxy(database, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  });
}

function dyingAt(services: BankServices, at: number, when: When): BankServices {
  const dying = endingAt(at, when);
  const openTransport = async (): Promise<Transport> => {
    const real = await services.openTransport();
    return {
      list: (place) => dying(() => real.list(place)),
      upload: (name, content) => dying(() => real.upload(name, content)),
      discard: (name) => dying(() => real.discard(name)),
      rename: (name, to) => dying(() => real.rename(name, to)),
      download: (name) => dying(() => real.download(name)),
      downloadArchived: (name) => dying(() => real.downloadArchived(name)),
      archive: (name, as) => dying(() => real.archive(name, as)),
      close: () => real.close(),
    };
  };
  return { ...services, database: dyingBy(services.database, dying), openTransport };
}

/** A process for each of the calls, which it ends at, until one comes to its end; the number of that one. */
async function everyEnd(process: (at: number) => Promise<unknown>): Promise<number> {
  for (let at = 1; ; at += 1) {
    try {
      await process(at);
      return at;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** Two rounds by each process; then its lease runs out. */
function everyCall(when: When): Promise<number> {
  return everyEnd((at) =>
    files.rounds(files.exchangeOf(dyingAt(files.services, at, when))).finally(() => files.loseLease()),
  );
}

/** Two rounds by one process that comes to its end. */
async function bothRounds(): Promise<void> {
  await files.rounds(files.exchangeOf(files.services));
  await files.loseLease();
}

/** The steps of money in whose workflows were woken. */
function everyCallOfMoneyIn(when: When): Promise<number> {
  return everyEnd(async (at) => {
    const { dependencies } = files;
    const database = dyingBy(dependencies.database, endingAt(at, when));
    const providers = new Map([...dependencies.providers, [FILES_BANK, files.adapterOf(database)]]);
    const woken = await files.rows(
      "SELECT substr(workflow_id, 19) AS id FROM workflow_wakeups WHERE workflow_type = 'incoming-transfer'",
    );
    for (const { id } of woken) await incomingSteps({ ...dependencies, database, providers }).go(id);
  });
}

test.each(['before', 'after'] as const)(
  'ended %s each of its calls, the exchange sends each payment once and applies each word once',
  async (when) => {
    const account = await files.account(1_000);
    const before = files.bank.arrived().length;
    const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20), await files.pay(account.id, 30)];
    const references = ids.map(paymentReferenceOf);
    // A fresh process at each attempt, which ends at its first, second … call, counted from its start.
    expect(await everyCall(when)).toBeGreaterThan(8);
    const arrived = files.bank.payments().map(({ paymentReference }) => paymentReference);
    for (const reference of references) expect(arrived.filter((one) => one === reference)).toHaveLength(1);
    expect(files.bank.arrived()).toHaveLength(before + 1);

    const [paid, rejected, returned] = references.map((reference) => files.bank.payment(reference));
    if (!paid || !rejected || !returned) throw new Error('three payments have arrived');
    const payments = [reported(paid, 'ACSP'), reported(rejected, 'RJCT', 'AC01'), reported(returned, 'ACSP')];
    const batch = { originalBatchId: paid.batchId, status: 'PART', reasons: [], payments };
    files.bank.say(statusReport(paid.file.messageId, { status: 'PART', reasons: [] }, [batch]));
    files.bank.say(accountReport('camt.054', debitOf(paid), debitOf(returned), returnOf(returned, 'AC04')));
    files.bank.say(accountReport('camt.053', debitOf(paid), creditOf(`in ${when}`, 700n, account.ledgerNumber)));
    expect(await everyCall(when)).toBeGreaterThan(15);
    const statuses = await Promise.all(ids.map(async (id) => (await files.transfer(id)).status));
    expect(statuses).toEqual(['completed', 'failed', 'completed']);
    expect((await files.world.balance(account.id)).available).toBe(1_000 - 10 + 7);
    const open = await files.rows("SELECT name FROM bank_files WHERE state NOT IN ('delivered', 'taken')");
    expect(open).toEqual([]);
    expect(await files.rows('SELECT our_reference FROM reconciliation_breaks')).toEqual([]);
  },
);

test.each(['before', 'after'] as const)(
  'ended %s each of its calls, the sum of a batch books each of its payments once, when its last one is rejected',
  async (when) => {
    const account = await files.account(1_000);
    const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20), await files.pay(account.id, 30)];
    await bothRounds();
    const [one, two, rejected] = ids.map((id) => files.bank.payment(paymentReferenceOf(id)));
    if (!one || !two || !rejected) throw new Error('three payments have arrived');
    const batch = { originalBatchId: one.batchId, count: 2 };
    const sum = { key: `sum ${one.batchId}`, instructionId: null, paymentReference: null, amountMinor: 3_000n, batch };
    files.bank.say(accountReport('camt.054', debitOf(one, sum)));
    await bothRounds();
    files.bank.say(statusOf(rejected, 'RJCT', 'AC04'));
    expect(await everyCall(when)).toBeGreaterThan(8);
    const statuses = await Promise.all(ids.map(async (id) => (await files.transfer(id)).status));
    expect(statuses).toEqual(['completed', 'completed', 'failed']);
    const told = await files.rows(
      `SELECT kind, outcome <> 'waiting' AS is_known FROM bank_entries WHERE transfer_id IN ('${ids.join("','")}') OR key = '${sum.key}' ORDER BY kind`,
    );
    // A payment that was booked just before the end is booked without effect afterwards.
    expect(told).toEqual(['batch', 'payment', 'payment'].map((kind) => ({ kind, is_known: true })));
    expect((await files.world.balance(account.id)).available).toBe(1_000 - 30);
    expect(await files.rows('SELECT our_reference FROM reconciliation_breaks')).toEqual([]);
  },
);

test.each(['before', 'after'] as const)(
  'ended %s each of its calls, the service returns money in once, or has people hear why not',
  async (when) => {
    const iban = 'GB33BUKB20201555555555';
    const payer = { name: 'Grace Hopper', iban, accountNumber: null, bic: null };
    const keys = ['back', 'rejected', 'by hand'].map((name) => `${name} ${when}`);
    // Of the last the bank tells no account.
    const credits = [payer, payer, { ...payer, iban: null }].map((debtor, index) => {
      const key = keys[index] ?? '';
      return { ...creditOf(key, 700n, 'unknown'), paymentReference: key, debtor };
    });
    files.bank.say(accountReport('camt.054', ...credits));
    await everyCall(when);
    const idOf = async (key: string): Promise<string> => {
      const [row] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
      return row.id;
    };
    const ids = await Promise.all(keys.map(idOf));
    await files.rows('DELETE FROM workflow_wakeups');
    for (const id of ids) {
      const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
      expect(answer.status, answer.text).toBe(200);
    }
    expect(await everyCallOfMoneyIn(when)).toBeGreaterThan(6);
    const [back = '', rejected = '', byHand = ''] = ids;
    // A person returns it at the bank.
    const debit = {
      ...creditOf(`debit ${when}`, 700n, ''),
      direction: 'debit',
      paymentReference: keys[2] ?? '',
      returnReason: 'MS03',
    } as const;
    files.bank.say(accountReport('camt.054', debit));
    await everyCall(when);
    const arrived = files.bank.payments().map(({ paymentReference }) => paymentReference);
    const timesOf = (id: string) => arrived.filter((one) => one === paymentReferenceOf(id)).length;
    expect(ids.map(timesOf)).toEqual([1, 1, 0]);

    const [first, second] = [back, rejected].map((id) => files.bank.payment(paymentReferenceOf(id)));
    if (!first || !second) throw new Error('two returns have arrived');
    const payments = [reported(first, 'ACSP'), reported(second, 'RJCT', 'AC04')];
    const batch = { originalBatchId: first.batchId, status: 'PART', reasons: [], payments };
    files.bank.say(statusReport(first.file.messageId, { status: 'PART', reasons: [] }, [batch]));
    files.bank.say(accountReport('camt.054', debitOf(first)));
    files.bank.say(accountReport('camt.053', debitOf(first)));
    expect(await everyCall(when)).toBeGreaterThan(8);
    await everyCallOfMoneyIn(when);
    const standing = await files.rows(
      `SELECT i.id, send_back_status AS status, (SELECT count(*)::integer FROM postings WHERE incoming_transfer_id = i.id) AS postings,
        (SELECT string_agg(state || coalesce(': ' || held_reason, ''), ', ' ORDER BY attempt) FROM bank_instructions WHERE transfer_id = i.id) AS instructed
       FROM incoming_transfers i WHERE id IN ('${back}', '${rejected}', '${byHand}')`,
    );
    const of = new Map(standing.map(({ id, ...row }) => [id, row]));
    for (const id of [back, byHand])
      expect(of.get(id)).toEqual({ status: 'done', postings: 2, instructed: 'completed' });
    expect(ids.map(timesOf)).toEqual([1, 1, 0]);
    const instructed = 'rejected, queued: the bank has rejected its return: AC04';
    expect(of.get(rejected)).toEqual({ status: 'due', postings: 1, instructed });
  },
);

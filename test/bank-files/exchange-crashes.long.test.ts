import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { BankServices } from '../../activities/bank-files/exchange/bank.ts';
import type { Transport } from '../../activities/bank-files/exchange/transport.ts';
import type { Database } from '../../db/query/database.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import { type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import {
  accountReport,
  creditOf,
  debitOf,
  reported,
  returnOf,
  statusOf,
  statusReport,
} from '../harness/bank-files/scripted-bank.ts';

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

/** Ends the process at its n-th call, before the call's effect or after it. */
function dyingAt(services: BankServices, at: number, when: 'before' | 'after'): BankServices & { calls(): number } {
  let calls = 0;
  let isDead = false;
  const dying = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (isDead) throw new Killed();
    calls += 1;
    const isLast = calls === at;
    if (isLast) isDead = true;
    if (isLast && when === 'before') throw new Killed();
    const result = await call();
    if (isLast) throw new Killed();
    return result;
  };
  const { database } = services;
  const transaction: Database['transaction'] = (work, options) => dying(() => database.transaction(work, options));
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
  // A view of the same database: what is not of transactions reads only.
  const dyingDatabase: Database = new Proxy(database, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  });
  return { ...services, database: dyingDatabase, openTransport, calls: () => calls };
}

/** Two rounds by a process that may end in them; then its lease runs out. Whether it ended early. */
async function roundsOf(services: BankServices): Promise<boolean> {
  const isKilled = await files.rounds(files.exchangeOf(services)).then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      return true;
    },
  );
  await files.loseLease();
  return isKilled;
}

/** Rounds, each ended at the next call, until one is whole; then all is done. */
async function everyCall(when: 'before' | 'after'): Promise<number> {
  let at = 1;
  for (;;) {
    const dying = dyingAt(files.services, at, when);
    if (!(await roundsOf(dying))) return at;
    at += 1;
  }
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
    await roundsOf(dyingAt(files.services, 0, when));
    const [one, two, rejected] = ids.map((id) => files.bank.payment(paymentReferenceOf(id)));
    if (!one || !two || !rejected) throw new Error('three payments have arrived');
    const batch = { originalBatchId: one.batchId, count: 2 };
    const sum = { key: `sum ${one.batchId}`, instructionId: null, paymentReference: null, amountMinor: 3_000n, batch };
    files.bank.say(accountReport('camt.054', debitOf(one, sum)));
    await roundsOf(dyingAt(files.services, 0, when));
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

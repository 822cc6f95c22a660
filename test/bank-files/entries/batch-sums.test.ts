import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { standingByFile } from '../../../cli/operations/why/bank-files.ts';
import { storeInstruction } from '../../../db/bank-files/instructions.ts';
import { PAID_BEFORE } from '../../../domain/bank-files/exchange/holds.ts';
import type { BookedEntry } from '../../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { accountReport, debitOf, returnOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';

// A bank that books a batch of ours as one sum, and tells none of its payments.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;

beforeAll(async () => {
  files = await filesWorld('batch-sums');
});

beforeEach(async () => {
  account = await files.account(1_000);
  exchange = files.exchange();
});

afterEach(async () => {
  await exchange?.end();
  await files.world.invariantsHold();
});

afterAll(async () => {
  await files?.close();
});

type Sent = ReturnType<FilesWorld['bank']['payment']>;

/** A batch of payments of 10, 20 and 30 pounds that the bank has. */
async function batchOfThree() {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20), await files.pay(account.id, 30)];
  await exchange.round();
  const [ten, twenty, thirty] = ids.map((id) => files.bank.payment(paymentReferenceOf(id)));
  if (!ten || !twenty || !thirty) throw new Error('three payments have arrived');
  expect(new Set([ten, twenty, thirty].map(({ batchId }) => batchId)).size).toBe(1);
  return { ids, ten, twenty, thirty };
}

const sumOf = ({ batchId, ...payment }: Sent, amountMinor: bigint, changed: Partial<BookedEntry> = {}) =>
  debitOf(
    { batchId, ...payment },
    {
      key: `sum ${batchId}`,
      instructionId: null,
      paymentReference: null,
      amountMinor,
      batch: { originalBatchId: batchId, count: null },
      ...changed,
    },
  );

const statusesOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await files.transfer(id)).status));
const entriesOf = (ids: readonly string[]) =>
  files.rows(
    `SELECT kind, outcome FROM bank_entries WHERE transfer_id IN ('${ids.join("','")}') AND kind = 'payment' ORDER BY amount_minor`,
  );
const breaksOf = (ids: readonly string[]) =>
  files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference IN ('${ids.join("','")}')`);
const outcomeOfSum = async ({ batchId }: Sent) => {
  const [row] = await files.rows(`SELECT kind, outcome FROM bank_entries WHERE key = 'sum ${batchId}'`);
  return row;
};

type Batch = Awaited<ReturnType<typeof batchOfThree>>;

/** What the bank tells of a batch whose second payment is no part of its sum, in any order. */
const ENDS: readonly {
  readonly what: string;
  readonly end: string;
  readonly other: (batch: Batch) => Parameters<FilesWorld['bank']['say']>[0];
}[] = [
  { what: 'rejected', end: 'failed', other: ({ twenty }) => statusOf(twenty, 'RJCT', 'AC04') },
  { what: 'booked by itself', end: 'completed', other: ({ twenty }) => accountReport('camt.054', debitOf(twenty)) },
];

for (const { what, end, other } of ENDS) {
  test.each(['first', 'last'])(
    `a sum that comes %s books the payments of its batch but one that is ${what}`,
    async (turn) => {
      const batch = await batchOfThree();
      const sum = accountReport('camt.054', sumOf(batch.ten, 4_000n));
      for (const said of turn === 'first' ? [sum, other(batch)] : [other(batch), sum]) {
        files.bank.say(said);
        await files.rounds(exchange);
      }
      expect(await statusesOf(batch.ids)).toEqual(['completed', end, 'completed']);
      expect(await outcomeOfSum(batch.ten)).toEqual({ kind: 'batch', outcome: 'applied' });
      expect(await breaksOf(batch.ids)).toEqual([]);
      expect((await files.world.balance(account.id)).available).toBe(end === 'failed' ? 960 : 940);
    },
  );
}

test('what a sum has booked is ended by the statement, also if the bank has rejected one of it since', async () => {
  await exchange.end();
  exchange = files.exchange({ profile: { endsBy: 'camt.053' } });
  const { ids, ten, twenty } = await batchOfThree();
  const sum = sumOf(ten, 4_000n);
  for (const said of [
    accountReport('camt.054', sum),
    statusOf(twenty, 'RJCT', 'AC04'),
    accountReport('camt.053', sum),
  ]) {
    files.bank.say(said);
    await files.rounds(exchange);
  }
  expect(await statusesOf(ids)).toEqual(['completed', 'failed', 'completed']);
  const stated = await files.rows(
    `SELECT amount_minor::int AS minor FROM bank_entries WHERE stated_by IS NOT NULL AND transfer_id IN ('${ids.join("','")}') ORDER BY 1`,
  );
  expect(stated).toEqual([{ minor: 1_000 }, { minor: 3_000 }]);
});

test('a payment that came back before its sum could be told was paid by it', async () => {
  const { ids, ten, twenty, thirty } = await batchOfThree();
  const messages = [
    accountReport('camt.054', sumOf(ten, 4_000n)),
    accountReport('camt.054', returnOf(thirty, 'AC06')),
    statusOf(twenty, 'RJCT', 'AC04'),
  ];
  for (const said of messages) {
    files.bank.say(said);
    await files.rounds(exchange);
  }
  expect(await statusesOf(ids)).toEqual(['completed', 'failed', 'completed']);
  expect(await outcomeOfSum(ten)).toEqual({ kind: 'batch', outcome: 'applied' });
  expect(await breaksOf(ids)).toEqual([]);
  expect((await files.world.balance(account.id)).available).toBe(990);
});

test('details of a sum are part of it: those that are still missing are not guessed', async () => {
  const { ids, ten, twenty, thirty } = await batchOfThree();
  const bankReference = `R ${ten.batchId}`;
  const detail = (payment: Sent) => debitOf(payment, { entryReference: bankReference });
  files.bank.say(accountReport('camt.054', detail(ten)));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.054', sumOf(ten, 4_000n, { bankReference })));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['completed', 'processing', 'processing']);
  files.bank.say(statusOf(twenty, 'RJCT', 'AC04'));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['completed', 'failed', 'completed']);
  files.bank.say(accountReport('camt.053', detail(ten), detail(thirty)));
  await files.rounds(exchange);
  expect(await entriesOf(ids)).toEqual([
    { kind: 'payment', outcome: 'applied' },
    { kind: 'payment', outcome: 'applied' },
  ]);
  expect(await breaksOf(ids)).toEqual([]);
});

test('a sum that is not that of its payments waits, and `why` says so; nothing of it is booked', async () => {
  const { ids, ten } = await batchOfThree();
  files.bank.say(accountReport('camt.054', sumOf(ten, 4_100n)));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.053', sumOf(ten, 4_100n)));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['processing', 'processing', 'processing']);
  expect(await outcomeOfSum(ten)).toEqual({ kind: 'batch', outcome: 'waiting' });
  const told = (await standingByFile(files.api.database.reader, ids[0] ?? '')).join('\n');
  expect(told).toContain('the bank has booked 41 GBP for its batch, and the 3 payments that this may be are 60 GBP');
});

test('a second sum of a batch that is booked is a break, and pays nothing again', async () => {
  const { ids, ten } = await batchOfThree();
  files.bank.say(accountReport('camt.054', sumOf(ten, 6_000n)));
  files.bank.say(accountReport('camt.054', sumOf(ten, 6_000n, { key: `again ${ten.batchId}` })));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['completed', 'completed', 'completed']);
  expect(await entriesOf(ids)).toHaveLength(3);
  expect(await breaksOf(ids)).toHaveLength(3);
  expect((await files.world.balance(account.id)).available).toBe(940);
});

test('a sum with a payment that was rejected is a break, and nothing of it is booked', async () => {
  const { ids, ten, twenty } = await batchOfThree();
  files.bank.say(statusOf(twenty, 'RJCT', 'AC04'));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.054', sumOf(ten, 6_000n)));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['processing', 'failed', 'processing']);
  expect(await breaksOf(ids)).toEqual([{ kind: 'callback-contradicts' }]);
  expect(await outcomeOfSum(ten)).toEqual({ kind: 'batch', outcome: 'break' });
  const told = (await standingByFile(files.api.database.reader, ids[0] ?? '')).join('\n');
  expect(told).toContain('the bank has booked 60 GBP for its batch, and the 2 payments that this may be are 40 GBP');
});

test('a rejected payment whose batch was booked with too much is held when it is submitted again', async () => {
  const { ids, ten, twenty } = await batchOfThree();
  files.bank.say(statusOf(twenty, 'RJCT', 'AC04'));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.054', sumOf(ten, 6_000n)));
  await files.rounds(exchange);
  const id = ids[1] ?? '';
  const [{ details, ...first }] =
    await files.rows(`SELECT transfer_id AS "transferId", provider, payment_reference AS "paymentReference",
      account, scheme, currency, amount_minor AS "amountMinor", details FROM bank_instructions WHERE transfer_id = '${id}'`);
  const again = { ...details, ...first, amountMinor: BigInt(first.amountMinor), attempt: 2, isReturn: false };
  const instructionId = `${first.paymentReference}2`;
  await files.api.database.transaction((tx) => storeInstruction(tx, { ...again, instructionId }, { reasons: null }));
  expect(
    await files.rows(`SELECT held_reason FROM bank_instructions WHERE transfer_id = '${id}' AND attempt = 2`),
  ).toEqual([{ held_reason: PAID_BEFORE }]);
});

test('a sum with the bank’s charges in it is compared without them', async () => {
  const { ids, ten, twenty } = await batchOfThree();
  files.bank.say(accountReport('camt.054', sumOf(ten, 4_050n, { chargesMinor: 50n })));
  files.bank.say(statusOf(twenty, 'RJCT', 'AC04'));
  await files.rounds(exchange);
  expect(await statusesOf(ids)).toEqual(['completed', 'failed', 'completed']);
  expect(await breaksOf(ids)).toEqual([]);
});

test.each(['first', 'last'])('details that come %s are ended by the statement of their sum', async (turn) => {
  await exchange.end();
  exchange = files.exchange({ profile: { endsBy: 'camt.053' } });
  const { ids, ten, twenty, thirty } = await batchOfThree();
  const bankReference = `T ${ten.batchId}`;
  const details = [ten, twenty, thirty].map((payment) => debitOf(payment, { entryReference: bankReference }));
  // Its number is not ours, so that only the details end its payments.
  const batch = { originalBatchId: ten.batchId, count: 4 };
  const said = [
    accountReport('camt.054', ...details),
    accountReport('camt.053', sumOf(ten, 6_000n, { bankReference, batch })),
  ];
  for (const message of turn === 'first' ? said : said.reverse()) {
    files.bank.say(message);
    await files.rounds(exchange);
  }
  expect(await statusesOf(ids)).toEqual(['completed', 'completed', 'completed']);
  const states = await files.rows(`SELECT state FROM bank_instructions WHERE transfer_id IN ('${ids.join("','")}')`);
  expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['completed']));
  expect(await breaksOf(ids)).toEqual([]);
});

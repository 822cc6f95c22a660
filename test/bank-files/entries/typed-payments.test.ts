import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { readBankFilesAttention } from '../../../db/bank-files/attention.ts';
import { RESTORED, TOLD_BEFORE } from '../../../domain/bank-files/exchange/holds.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { accountReport, debitOf, returnOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';

// A person has typed a payment at the bank under our id of it, and ours waits for its file: sent as well, it is paid twice.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;

beforeAll(async () => {
  files = await filesWorld('typed-payments');
  account = await files.account(1_000);
});

beforeEach(() => {
  exchange = files.exchange({ settings: { files: 'per-window', windowSeconds: 3_600 } });
});

afterEach(async () => {
  await exchange?.end();
});

afterAll(async () => {
  await files?.world.invariantsHold();
  await files?.close();
});

type Sent = ReturnType<FilesWorld['bank']['payment']>;

/** Ours, which no file has carried, as the bank tells of the other one. */
async function queued(pounds: number) {
  const id = await files.pay(account.id, pounds);
  const paymentReference = paymentReferenceOf(id);
  const amountMinor = BigInt(pounds) * 100n;
  const typed = { id: null, paymentReference, amountMinor, batchId: 'OTHER1', file: { messageId: 'OTHER' } };
  return { id, typed: typed as unknown as Sent };
}

const instructionOf = async (id: string): Promise<Json> =>
  (await files.rows(`SELECT state, held_reason FROM bank_instructions WHERE transfer_id = '${id}'`))[0];

test.each<[string, number, (typed: Sent) => BankMessage]>([
  ['a debit under its reference', 10, (typed) => accountReport('camt.054', debitOf(typed, { key: 'typed' }))],
  [
    'a debit that has it in a text',
    11,
    (typed) => {
      const named = { paymentReference: null, references: [`Payment ${typed.paymentReference}`] };
      return accountReport('camt.053', debitOf(typed, { key: 'typed, in a text', ...named }));
    },
  ],
  ['money that comes back', 12, (typed) => accountReport('camt.054', returnOf(typed, 'AC04', { key: 'typed, back' }))],
  ['an acceptance', 13, (typed) => statusOf(typed, 'ACSP')],
])('%s holds ours for people, with the alarm of silent payments', async (_, pounds, said) => {
  const { id, typed } = await queued(pounds);
  const { silent } = await readBankFilesAttention(files.api.database.reader);
  files.bank.say(said(typed));
  await files.rounds(exchange);
  expect(await instructionOf(id)).toEqual({ state: 'queued', held_reason: TOLD_BEFORE });
  expect((await readBankFilesAttention(files.api.database.reader)).silent).toBe(silent + 1);
  // Its window has ended.
  await exchange.end();
  exchange = files.exchange();
  await files.rounds(exchange);
  expect(files.bank.payments().map(({ paymentReference }) => paymentReference)).not.toContain(typed.paymentReference);
  expect(await files.transfer(id)).toMatchObject({ status: 'processing' });
});

test('what is about another payment holds none', async () => {
  const { id } = await queued(14);
  const { typed } = await queued(15);
  files.bank.say(accountReport('camt.054', debitOf(typed, { key: 'typed, of another' })));
  files.bank.say(statusOf({ ...typed, paymentReference: 'NOTPROVIDED' }, 'ACSP'));
  await files.rounds(exchange);
  expect(await instructionOf(id)).toEqual({ state: 'queued', held_reason: null });
});

test('what a restore holds stays held for that reason after an acceptance, and its debit ends it', async () => {
  const { id, typed } = await queued(16);
  await files.rows(`UPDATE bank_instructions SET held_reason = '${RESTORED}' WHERE transfer_id = '${id}'`);
  files.bank.say(statusOf(typed, 'ACSP'));
  await files.rounds(exchange);
  expect(await instructionOf(id)).toEqual({ state: 'queued', held_reason: RESTORED });
  files.bank.say(accountReport('camt.054', debitOf(typed, { key: 'of before the restore' })));
  await files.rounds(exchange);
  expect(await files.transfer(id)).toMatchObject({ status: 'completed' });
});

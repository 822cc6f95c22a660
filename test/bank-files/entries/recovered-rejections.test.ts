import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { holdForRestore } from '../../../db/bank-files/restores.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { accountReport, debitOf, returnOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';

// After a restore: the bank rejects a payment that it has debited, whose submission is lost.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;

beforeAll(async () => {
  files = await filesWorld('recovered-rejections');
  account = await files.account(1_000);
  exchange = files.exchange({ profile: { endsBy: 'camt.053' } });
});

afterEach(() => files.world.invariantsHold());

afterAll(async () => {
  await exchange?.end();
  await files?.close();
});

type Sent = ReturnType<FilesWorld['bank']['payment']>;

/** A payment that waited for its date at the backup, and which the bank has. */
async function lost(pounds: number) {
  const outgoingTransfer = files.order(account.id, pounds, { transferDate: '2027-06-17' });
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const created = await files.api.call('POST', '/outgoing-transfers', body);
  expect(created.status, created.text).toBe(201);
  const { id } = created.body.data.outgoingTransfer;
  const reference = paymentReferenceOf(id);
  const amountMinor = BigInt(pounds) * 100n;
  const sent = (attempt: number) =>
    ({
      id: `${reference}${attempt}`,
      paymentReference: reference,
      amountMinor,
      batchId: 'LOST1',
      file: { messageId: 'LOST' },
    }) as Sent;
  return { id, sent };
}

async function told(...said: readonly BankMessage[]): Promise<void> {
  for (const each of said) {
    files.bank.say(each);
    await files.rounds(exchange);
  }
}

const available = async () => (await files.world.balance(account.id)).available;

test('a rejection, which may be of an earlier submission, gives no money back while a debit stands: people find out', async () => {
  const { id, sent } = await lost(100);
  await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], new Date(Date.UTC(2027, 5, 16, 11))));
  await files.rounds(exchange);
  // The bank names the payment only.
  const debit = debitOf(sent(2), { instructionId: null });
  await told(accountReport('camt.054', debit));
  expect(await files.transfer(id)).toMatchObject({ status: 'released' });
  const before = await available();
  await told(statusOf(sent(1), 'RJCT', 'MS03'));
  expect(await files.transfer(id)).toMatchObject({ status: 'released' });
  expect(await available()).toBe(before);
  expect(await files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${id}'`)).not.toEqual([]);
  // Its statement ends it.
  await told(accountReport('camt.053', debit));
  expect(await files.transfer(id)).toMatchObject({ status: 'completed' });
  await told(accountReport('camt.053', returnOf(sent(2), 'AC04', { key: 'came back' })));
  expect(await available()).toBe(1_000);
});

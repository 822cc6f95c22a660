import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { readBankFilesAttention } from '../../../db/bank-files/attention.ts';
import { findBankRestore, holdForRestore } from '../../../db/bank-files/restores.ts';
import { admitWaitingTransfers } from '../../../db/outgoing-transfers/admissions.ts';
import { RESTORED } from '../../../domain/bank-files/exchange/holds.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';
import { type AccountId, asId } from '../../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { accountReport, creditOf, debitOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';

// After a restore: the bank rejects a payment that it has accepted, whose submission is lost.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;
let restores = 0;

beforeAll(async () => {
  files = await filesWorld('recovered-rejections');
});

beforeEach(async () => {
  account = await files.account(1_000);
  exchange = files.exchange();
});

afterEach(async () => {
  await exchange?.end();
  await files.rows('UPDATE bank_instructions SET held_reason = NULL WHERE held_reason IS NOT NULL');
  await files.rows('DELETE FROM bank_restores');
  await files.world.invariantsHold();
});

afterAll(async () => {
  await files?.close();
});

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

type Sent = ReturnType<FilesWorld['bank']['payment']>;

/** What the bank's archive tells, in its order. */
async function restoredWith(...said: readonly BankMessage[]): Promise<void> {
  for (const each of said) files.bank.sayInArchive(each);
  restores += 1;
  const since = new Date(Date.UTC(2027, 5, 16, 11, restores));
  await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], since));
  await files.rounds(exchange);
  await exchange.round();
}

const told = async (...said: readonly BankMessage[]) => {
  for (const each of said) {
    files.bank.say(each);
    await files.rounds(exchange);
  }
};
const available = async () => (await files.world.balance(account.id)).available;
const instructionsOf = (id: string) =>
  files.rows(`SELECT attempt, state, held_reason FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt`);
const breaksOf = (id: string) => files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${id}'`);
const timesSent = (id: string) =>
  files.bank.payments().filter(({ paymentReference }) => paymentReference === paymentReferenceOf(id)).length;
const cancelled = (id: string) => {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  return files.api.call('PATCH', `/outgoing-transfers/${id}`, body);
};

test.each(['first', 'last'])(
  'what was booked as accepted fails, with its money back once, if the rejection is read %s',
  async (turn) => {
    const { id, sent } = await lost(100);
    const [accepted, rejected] = [statusOf(sent(1), 'ACSP'), statusOf(sent(1), 'RJCT', 'AC04')];
    await restoredWith(...(turn === 'first' ? [accepted, rejected] : [rejected, accepted]));
    expect(await files.transfer(id)).toMatchObject({ status: 'failed', statusReason: { code: 'AC04' } });
    expect(await available()).toBe(1_000);
    await told(statusOf(sent(1), 'RJCT', 'AC04'));
    expect(await available()).toBe(1_000);
    expect(await instructionsOf(id)).toEqual([{ attempt: 1, state: 'failed', held_reason: null }]);
    expect(await findBankRestore(files.api.database.reader, FILES_BANK)).toMatchObject({ isCaughtUp: true });
    expect(timesSent(id)).toBe(0);
  },
);

test.each(['first', 'last'])(
  'what could not be booked, as its money is gone, fails as well if the rejection is read %s',
  async (turn) => {
    const { id, sent } = await lost(4_000);
    const [accepted, rejected] = [statusOf(sent(1), 'RCVD'), statusOf(sent(1), 'RJCT', 'AC04')];
    await restoredWith(statusOf(sent(1), 'ACSP'), ...(turn === 'first' ? [accepted, rejected] : [rejected, accepted]));
    expect(await files.transfer(id)).toMatchObject({ status: 'failed', statusReason: { code: 'AC04' } });
    expect(await instructionsOf(id)).toEqual([{ attempt: 1, state: 'rejected', held_reason: null }]);
    expect((await readBankFilesAttention(files.api.database.reader)).silent).toBe(0);
    await told(accountReport('camt.054', creditOf(`more for ${id}`, 500_000n, account.ledgerNumber)));
    await files.api.database.transaction((tx) =>
      admitWaitingTransfers(tx, asId<AccountId>(account.id), files.api.services.configuration),
    );
    await files.go(id);
    await exchange.round();
    expect(await available()).toBe(6_000);
    expect(timesSent(id)).toBe(0);
  },
);

test('one that would have been tried again goes on waiting for its money, and what the bank has of it comes first', async () => {
  const { id, sent } = await lost(4_000);
  await restoredWith();
  await told(statusOf(sent(1), 'ACSP'), statusOf(sent(1), 'RJCT', 'MS03'));
  expect(await files.transfer(id)).toMatchObject({ status: 'pending' });
  expect(await instructionsOf(id)).toEqual([{ attempt: 1, state: 'rejected', held_reason: null }]);
  await told(accountReport('camt.054', creditOf(`more for ${id}`, 500_000n, account.ledgerNumber)));
  // Its next attempt is the one that was lost.
  await told(accountReport('camt.054', debitOf(sent(2))));
  expect(await files.transfer(id)).toMatchObject({ status: 'completed' });
  expect(await available()).toBe(2_000);
  expect(timesSent(id)).toBe(0);
});

test('… and is held when it is submitted again', async () => {
  const { id, sent } = await lost(4_000);
  await restoredWith();
  await told(statusOf(sent(1), 'ACSP'), statusOf(sent(1), 'RJCT', 'MS03'));
  await files.rows(`UPDATE outgoing_transfers SET transfer_date = '2027-06-16' WHERE id = '${id}'`);
  await told(accountReport('camt.054', creditOf(`more for ${id}`, 500_000n, account.ledgerNumber)));
  await files.go(id);
  await files.rows(
    `UPDATE outgoing_transfers SET retry_at = service_now(), transfer_date = '2027-06-16' WHERE id = '${id}'`,
  );
  await files.go(id);
  await exchange.round();
  expect(await instructionsOf(id)).toEqual([
    { attempt: 1, state: 'rejected', held_reason: null },
    { attempt: 2, state: 'queued', held_reason: RESTORED },
  ]);
  expect(timesSent(id)).toBe(0);
});

test.each<[string, number, Json]>([
  ['could not be booked', 4_000, { status: 'pending' }],
  ['its statement has still to end', 100, { status: 'released' }],
])(
  'a debit that %s is not ended by a rejection, which may be of another submission: people find out',
  async (_, pounds, standing) => {
    await exchange.end();
    exchange = files.exchange({ profile: { endsBy: 'camt.053' } });
    const { id, sent } = await lost(pounds);
    await restoredWith();
    // The bank names the payment only.
    await told(accountReport('camt.054', debitOf(sent(2), { instructionId: null })));
    const before = await available();
    await told(statusOf(sent(1), 'RJCT', 'MS03'));
    expect(await files.transfer(id)).toMatchObject(standing);
    expect(await available()).toBe(before);
    expect((await cancelled(id)).status).toBe(409);
    expect((await breaksOf(id)).length).toBeGreaterThan(0);
  },
);

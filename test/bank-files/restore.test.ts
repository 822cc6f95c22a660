import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import type { Transport } from '../../activities/bank-files/exchange/transport.ts';
import { heldInWords } from '../../cli/operations/restores/held-at-banks.ts';
import { readBankFilesAttention } from '../../db/bank-files/attention.ts';
import { findBankRestore, holdForRestore, listBankRestores } from '../../db/bank-files/restores.ts';
import { closeSubmissions, openSubmissions } from '../../db/providers/submissions.ts';
import { PAID_BEFORE, RESTORED, TOLD_BEFORE } from '../../domain/bank-files/exchange/holds.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { FILES_BANK, type FilesWorld, filesWorld, PROFILE } from '../harness/bank-files/files-world.ts';
import { accountReport, creditOf, debitOf, statusOf } from '../harness/bank-files/scripted-bank.ts';
import { incomingSteps } from '../harness/transfers/payment-steps.ts';

// After a restore our rows are older than what the bank has. A test sets back the rows that a restore would.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;
let restores = 0;

beforeAll(async () => {
  files = await filesWorld('bank-restore');
  account = await files.account(1_000);
});

beforeEach(() => {
  exchange = files.exchange();
});

afterEach(async () => {
  await exchange?.end();
  // As if a person had said that the bank does not have them.
  await files.rows('UPDATE bank_instructions SET held_reason = NULL WHERE held_reason IS NOT NULL');
  await files.rows('DELETE FROM bank_restores');
  await files.world.invariantsHold();
});

afterAll(async () => {
  await files?.close();
});

type Sent = ReturnType<FilesWorld['bank']['payment']>;

const timesSent = (id: string) =>
  files.bank.payments().filter(({ paymentReference }) => paymentReference === paymentReferenceOf(id)).length;
const statusNow = async (id: string): Promise<string> => (await files.transfer(id)).status;

async function instructionOf(id: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT * FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt DESC LIMIT 1`,
  );
  return row;
}

/** As `after-restore` begins. */
async function restored(since = new Date(Date.UTC(2027, 5, 16, 11, restores++))): Promise<void> {
  await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], since));
}

/** Payments that waited for their file at the backup, and were sent and taken by the bank since. */
async function sentSinceTheBackup(...pounds: number[]): Promise<Json[]> {
  const ids: string[] = [];
  for (const each of pounds) ids.push(await files.pay(account.id, each));
  await exchange.round();
  const payments = ids.map((id) => ({ id, sent: files.bank.payment(paymentReferenceOf(id)) }));
  files.bank.take();
  const [{ file_id: fileId }] = await files.rows(
    `SELECT file_id FROM bank_instructions WHERE transfer_id = '${ids[0]}'`,
  );
  await files.rows(`UPDATE bank_instructions SET state = 'queued', file_id = NULL, batch_id = NULL, execution_date = NULL,
    delivered_at = NULL, expected_by = NULL WHERE file_id = '${fileId}'`);
  await files.rows(`DELETE FROM bank_files WHERE id = '${fileId}'`);
  return payments;
}

test('what waited for its file is not sent again: the bank’s files of the lost window, read again from the archive, end it', async () => {
  const [paid, rejected, silent] = await sentSinceTheBackup(10, 11, 12);
  files.bank.sayInArchive(statusOf(paid.sent, 'ACSP'));
  files.bank.sayInArchive(accountReport('camt.054', debitOf(paid.sent)));
  files.bank.sayInArchive(statusOf(rejected.sent, 'RJCT', 'AC04'));
  await restored();
  await files.rounds(exchange);
  expect(await statusNow(paid.id)).toBe('completed');
  expect(await statusNow(rejected.id)).toBe('failed');
  expect(await instructionOf(paid.id)).toMatchObject({ state: 'completed', held_reason: null });
  expect(await instructionOf(silent.id)).toMatchObject({ state: 'queued', held_reason: RESTORED });
  for (const one of [paid.id, rejected.id, silent.id]) expect(timesSent(one)).toBe(0);
  const restore = await findBankRestore(files.api.database.reader, FILES_BANK);
  expect(restore).toMatchObject({ heldPayments: 1, heldFiles: 0, untakenFiles: 0 });
  expect(restore === null ? '' : heldInWords(restore, files.api.services.configuration)).toMatch(
    /: 1 payments, 0 files, .* all that it has told is known\.$/,
  );
  expect((await readBankFilesAttention(files.api.database.reader)).silent).toBeGreaterThanOrEqual(1);
});

test('a file that was not delivered is held: the bank’s word proves that it has arrived', async () => {
  const assembled = async (pounds: number) => {
    const id = await files.pay(account.id, pounds);
    await files.api.database.transaction((tx) => closeSubmissions(tx, 'a test', TESTER));
    await exchange.round();
    await files.api.database.transaction((tx) => openSubmissions(tx, 'a test', TESTER));
    return id;
  };
  const proven = await assembled(13);
  const lost = await assembled(14);
  await restored();
  await files.rounds(exchange);
  for (const id of [proven, lost]) {
    expect(timesSent(id)).toBe(0);
    expect(await instructionOf(id)).toMatchObject({ state: 'assigned' });
  }
  const reference = paymentReferenceOf(proven);
  const named = { id: `${reference}1`, paymentReference: reference, amountMinor: 1_300n };
  const [file] = await files.rows(
    `SELECT message_id FROM bank_files WHERE id = '${(await instructionOf(proven)).file_id}'`,
  );
  files.bank.say(statusOf(sentAs(named, file.message_id), 'ACSP'));
  await files.rounds(exchange);
  expect(await instructionOf(proven)).toMatchObject({ state: 'released' });
  expect(timesSent(proven)).toBe(0);

  expect(timesSent(lost)).toBe(0);
  expect(await findBankRestore(files.api.database.reader, FILES_BANK)).toMatchObject({ heldFiles: 1 });
});

/** As the bank has a payment whose file we have lost. */
function sentAs(payment: Pick<Sent, 'id' | 'paymentReference' | 'amountMinor'>, messageId: string): Sent {
  const file = { messageId };
  return { ...payment, batchId: `${messageId}1`, file } as Sent;
}

test('a payment of before the restore is held when it is submitted, and is ended by what the bank had told before', async () => {
  const id = await files.create(account.id, 15);
  const reference = paymentReferenceOf(id);
  const sent = sentAs({ id: `${reference}1`, paymentReference: reference, amountMinor: 1_500n }, 'LOST');
  files.bank.sayInArchive(statusOf(sent, 'RJCT', 'AC04'));
  await restored();
  await files.rounds(exchange);
  // Nothing knows it yet.
  const aside = () => files.rows("SELECT FROM bank_files WHERE direction = 'in' AND state = 'set-aside'");
  expect(await aside()).toHaveLength(1);
  await files.go(id);
  expect(await instructionOf(id)).toMatchObject({ state: 'queued', held_reason: RESTORED });
  await exchange.round();
  expect(await statusNow(id)).toBe('failed');
  expect(timesSent(id)).toBe(0);
  expect(await aside()).toHaveLength(0);
  // One that was made since the restore goes as usual.
  const later = await files.pay(account.id, 16);
  await exchange.round();
  expect(timesSent(later)).toBe(1);
});

test('a repetition for the same instant holds nothing that a person has released; another restore does', async () => {
  const since = new Date('2027-06-16T10:00:00Z');
  const id = await files.pay(account.id, 18);
  await restored(since);
  await files.rows(`UPDATE bank_instructions SET held_reason = NULL WHERE transfer_id = '${id}'`);
  await restored(since);
  expect(await instructionOf(id)).toMatchObject({ held_reason: null });
  await restored();
  expect(await instructionOf(id)).toMatchObject({ held_reason: RESTORED });
});

test('nothing is to be released before all that the archive holds is taken, and a file that cannot be read holds up no other', async () => {
  const [{ id, sent }] = await sentSinceTheBackup(22);
  files.bank.sayInArchive(accountReport('camt.054', debitOf(sent)));
  await restored();
  const [told = ''] = (await listBankRestores(files.api.database.reader)).map((one) =>
    heldInWords(one, files.api.services.configuration),
  );
  expect(told).toContain('release nothing yet: its archive is still to be read');
  await exchange.end();
  const broken = files.exchangeOf({
    ...files.services,
    openTransport: async () => {
      const transport = await files.services.openTransport();
      const list: Transport['list'] = async (place) => {
        const unreadable = ['z1', 'z2', 'z3', 'z4'].map((name) => ({ name, size: 1, modifiedAtMs: 1 }));
        return place === 'archive' ? [...(await transport.list(place)), ...unreadable] : transport.list(place);
      };
      return { ...transport, list };
    },
  });
  for (let round = 0; round < 3; round += 1) await broken.round().catch(() => {});
  await broken.end();
  expect(await statusNow(id)).toBe('completed');
  expect(await findBankRestore(files.api.database.reader, FILES_BANK)).toMatchObject({ archiveReadAt: null });
});

test('a payment that was still pending at the backup, and has been paid since, is paid: nothing can cancel it', async () => {
  const later = { transferDate: '2027-06-18' };
  const ordered = files.order(account.id, 23, later);
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: ordered } };
  const created = await files.api.call('POST', '/outgoing-transfers', body);
  expect(created.status, created.text).toBe(201);
  const { id } = created.body.data.outgoingTransfer;
  const reference = paymentReferenceOf(id);
  await restored();
  const sent = sentAs({ id: `${reference}1`, paymentReference: reference, amountMinor: 2_300n }, 'LOST');
  files.bank.sayInArchive(accountReport('camt.054', debitOf(sent)));
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('completed');
  const cancel = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  expect((await files.api.call('PATCH', `/outgoing-transfers/${id}`, cancel)).status).toBe(409);
  expect(timesSent(id)).toBe(0);
});

test('a payment whose rejection we know, and whose next submission was lost, is paid by that one', async () => {
  const id = await files.pay(account.id, 24);
  await exchange.round();
  const first = files.bank.payment(paymentReferenceOf(id));
  files.bank.say(statusOf(first, 'RJCT', 'MS03'));
  await files.rounds(exchange);
  expect(await instructionOf(id)).toMatchObject({ attempt: 1, state: 'rejected' });
  await restored();
  const second = sentAs({ ...first, id: `${paymentReferenceOf(id)}2` }, 'LOST');
  files.bank.sayInArchive(accountReport('camt.054', debitOf(second)));
  await files.rounds(exchange);
  expect(await instructionOf(id)).toMatchObject({ attempt: 2, state: 'completed' });
  expect(await statusNow(id)).toBe('completed');
});

test('a payment of before the restore that today’s profile rejects is held, as the bank may have it; a later one is rejected', async () => {
  const older = await files.create(account.id, 25, 'Rent of May');
  await restored();
  const newer = await files.create(account.id, 26, 'Rent of May');
  files.takes({ lengths: { ...PROFILE.lengths, remittance: 'Rent'.length } });
  for (const id of [older, newer]) await files.go(id);
  files.takes({});
  expect(await instructionOf(older)).toMatchObject({ state: 'queued', held_reason: RESTORED });
  expect(await instructionOf(newer)).toMatchObject({ state: 'rejected', held_reason: null });
});

test('without a known restore, what the bank says of a payment that no file has carried ends it or holds it', async () => {
  const [paid, rejected, other] = await sentSinceTheBackup(19, 20, 21);
  files.bank.say(accountReport('camt.054', debitOf(paid.sent)));
  files.bank.say(statusOf(rejected.sent, 'RJCT', 'AC04'));
  files.bank.say(accountReport('camt.054', debitOf(other.sent, { amountMinor: 99n })));
  // Before anything is written into a file, as the news is older.
  await files.rows(
    `UPDATE bank_instructions SET queued_at = queued_at + interval '1 hour' WHERE state = 'queued' RETURNING 1`,
  );
  await exchange.end();
  const waiting = files.exchange({ settings: { files: 'per-window', windowSeconds: 600 } });
  await files.rounds(waiting);
  await waiting.end();
  expect(await statusNow(paid.id)).toBe('completed');
  for (const { id } of [rejected, other]) expect(await statusNow(id)).toBe('processing');
  expect(await instructionOf(rejected.id)).toMatchObject({ state: 'queued', held_reason: TOLD_BEFORE });
  expect(await instructionOf(other.id)).toMatchObject({ state: 'queued', held_reason: PAID_BEFORE });
  await exchange.round();
  for (const { id } of [paid, rejected, other]) expect(timesSent(id)).toBe(0);
});

test('money in that was returned since the backup goes back once: the bank’s debit ends it, and what it has not told is held', async () => {
  const iban = 'GB33BUKB20201555555555';
  const debtor = { name: 'Grace Hopper', iban, accountNumber: null, bic: null };
  const keys = ['told', 'asked before it is told', 'untold'].map((name) => `returned, ${name}`);
  files.bank.say(accountReport('camt.054', ...keys.map((key) => ({ ...creditOf(key, 700n, 'unknown'), debtor }))));
  await files.rounds(exchange);
  const ids: string[] = [];
  for (const key of keys) {
    const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
    const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
    expect(answer.status, answer.text).toBe(200);
    ids.push(id);
  }
  const [told = '', asked = '', untold = ''] = ids;
  const { go } = incomingSteps(files.dependencies);
  for (const id of ids) expect(await go(id)).toMatchObject({ do: 'wait' });
  await files.rounds(exchange);
  const sent = new Map(ids.map((id) => [id, files.bank.payment(paymentReferenceOf(id))]));
  files.bank.take();
  await files.rows(`DELETE FROM bank_instructions WHERE transfer_id IN ('${ids.join("','")}')`);

  await restored();
  const debitsOf = (...of: readonly string[]) =>
    of.flatMap((id) => {
      const payment = sent.get(id);
      return payment === undefined ? [] : [debitOf(payment)];
    });
  await go(asked);
  expect(await instructionOf(asked)).toMatchObject({ state: 'queued', held_reason: RESTORED, is_return: true });
  files.bank.sayInArchive(accountReport('camt.054', ...debitsOf(told, asked)));
  await files.rounds(exchange);
  await go(untold);
  await files.rounds(exchange);
  const status = async (id: string) =>
    (await files.rows(`SELECT send_back_status AS status FROM incoming_transfers WHERE id = '${id}'`))[0].status;
  expect(await Promise.all(ids.map(status))).toEqual(['done', 'done', 'due']);
  for (const id of [told, asked])
    expect(await instructionOf(id)).toMatchObject({ state: 'completed', is_return: true });
  expect(await instructionOf(untold)).toMatchObject({ state: 'queued', held_reason: RESTORED });
  expect(ids.map(timesSent)).toEqual([0, 0, 0]);
});

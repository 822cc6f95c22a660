import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import { complianceTransitions } from '../../activities/compliance/activities.ts';
import { settleFile } from '../../db/bank-files/by-hand/files.ts';
import { holdForRestore } from '../../db/bank-files/restores.ts';
import { decideComplianceCheck } from '../../db/compliance/checks.ts';
import { admitWaitingTransfers } from '../../db/outgoing-transfers/admissions.ts';
import { endAfterRestore, failOutgoingTransfer } from '../../db/outgoing-transfers/operator-commands.ts';
import { authorizationRejection, cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import { rescheduleOutgoingTransfer } from '../../db/outgoing-transfers/schedules.ts';
import type { Transaction } from '../../db/query/database.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type BankFileId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import { accountReport, debitOf, statusOf, statusReport } from '../harness/bank-files/scripted-bank.ts';

// Every way in which a payment ends without its bank's word, after a restore that may have lost that the bank has it.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;
let restores = 0;

beforeAll(async () => {
  files = await filesWorld('bank-restored-ends');
  account = await files.account(1_000);
});

beforeEach(() => {
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

const within = <Result>(work: (tx: Transaction) => Promise<Result>) => files.api.database.transaction(work);
const rules = () => files.api.services.configuration;
const idOf = (id: string) => asId<OutgoingTransferId>(id);

/** As `after-restore` begins. */
async function restored(): Promise<void> {
  restores += 1;
  await within((tx) => holdForRestore(tx, [FILES_BANK], new Date(Date.UTC(2027, 5, 16, 11, restores))));
}

/** A payment that waits for its date: one that the bank may have, as it can have been sent where that day has begun. */
async function pending(pounds: number, changed: Json = {}): Promise<string> {
  const outgoingTransfer = files.order(account.id, pounds, { transferDate: '2027-06-17', ...changed });
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const created = await files.api.call('POST', '/outgoing-transfers', body);
  expect(created.status, created.text).toBe(201);
  return created.body.data.outgoingTransfer.id;
}

const statusNow = async (id: string): Promise<string> => (await files.transfer(id)).status;

function cancelled(id: string) {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  return files.api.call('PATCH', `/outgoing-transfers/${id}`, body);
}

const ILLEGAL = { code: 'common.state.illegal_transition' };

/** The bank has paid it, which a file of its archive says. */
function paidSince(id: string, pounds: number): void {
  const reference = paymentReferenceOf(id);
  const named = { id: `${reference}1`, paymentReference: reference, amountMinor: BigInt(pounds) * 100n };
  files.bank.sayInArchive(accountReport('camt.054', debitOf({ ...named, batchId: 'LOST1', file: {} } as never)));
}

test('a caller cannot cancel what the bank may have paid until all that it has told is read; what is paid stays so', async () => {
  const [paid, unpaid, dated] = [
    await pending(10),
    await pending(11),
    await pending(12, { transferDate: '2027-06-21' }),
  ];
  paidSince(paid, 10);
  await restored();
  for (const id of [paid, unpaid]) {
    const answer = await cancelled(id);
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body).toMatchObject(ILLEGAL);
    expect(await statusNow(id)).toBe('pending');
  }
  // Its day had not begun anywhere, and a newer one is in our rows.
  for (const id of [dated, await pending(13)]) expect((await cancelled(id)).status).toBe(200);
  await files.rounds(exchange);
  expect(await statusNow(paid)).toBe('completed');
  expect((await cancelled(paid)).status).toBe(409);
  expect((await cancelled(unpaid)).status).toBe(200);
});

test('a bank that states its days has to state the day of the restore first: a file just sent is answered later', async () => {
  const id = await pending(22);
  const stateDay = (day: string, currency = 'GBP') =>
    files.rows(`INSERT INTO bank_statement_days (provider, currency, account, day, file_id)
      SELECT '${FILES_BANK}', '${currency}', 'ours', ${day}, id FROM bank_files LIMIT 1`);
  await stateDay("(service_now() AT TIME ZONE 'UTC')::date - 1");
  await restored();
  await files.rounds(exchange);
  expect((await cancelled(id)).status).toBe(409);
  expect((await cancelled(await pending(23, { transferDate: '2027-06-21' }))).status).toBe(200);
  const today = "(service_now() AT TIME ZONE 'UTC')::date";
  await stateDay(today, 'EUR');
  expect((await cancelled(id)).status).toBe(409);
  await stateDay(today);
  expect((await cancelled(id)).status).toBe(200);
  // It may state no days any more.
  await files.rows(`DELETE FROM bank_statement_days WHERE day >= ${today}`);
  const another = await pending(24);
  await restored();
  await files.rounds(exchange);
  expect((await cancelled(another)).status).toBe(409);
  await files.rows("UPDATE bank_restores SET archive_read_at = archive_read_at - interval '8 days'");
  expect((await cancelled(another)).status).toBe(200);
  await files.rows('DELETE FROM bank_statement_days');
});

test('what still lies in the bank’s folder has to be read as well', async () => {
  const id = await pending(20);
  const reference = paymentReferenceOf(id);
  const named = { id: `${reference}1`, paymentReference: reference, amountMinor: 2_000n };
  files.bank.say(accountReport('camt.054', debitOf({ ...named, batchId: 'LOST1', file: {} } as never)));
  await restored();
  // The first round only sees it: it may still be written.
  await exchange.round();
  expect((await cancelled(id)).status).toBe(409);
  await exchange.round();
  expect(await statusNow(id)).toBe('completed');
});

test('a file of the bank about a file that is lost may be about it: a person sees to that first', async () => {
  const id = await pending(21);
  files.bank.sayInArchive(statusReport('LOST', { status: 'ACCP', reasons: [] }));
  await restored();
  await files.rounds(exchange);
  expect((await cancelled(id)).status).toBe(409);
  const [file] = await files.rows("SELECT id FROM bank_files WHERE state = 'set-aside' AND settled_at IS NULL");
  await within((tx) => settleFile(tx, asId<BankFileId>(file.id), { ...TESTER, reason: 'of another payment' }));
  expect((await cancelled(id)).status).toBe(200);
});

test('what the bank has paid and the account cannot bear yet is not cancelled', async () => {
  const id = await pending(4_000);
  paidSince(id, 4_000);
  await restored();
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('pending');
  expect((await cancelled(id)).status).toBe(409);
  await files.rows(`DELETE FROM bank_entries WHERE transfer_id = '${id}'`);
  await files.rows(`DELETE FROM bank_instructions WHERE transfer_id = '${id}'`);
  expect((await cancelled(id)).status).toBe(200);
});

test.each<[string, (tx: Transaction, id: OutgoingTransferId) => Promise<unknown>]>([
  [
    'a person’s cancellation',
    (tx, id) => changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: rules() })),
  ],
  ['the command that fails', (tx, id) => failOutgoingTransfer(tx, { id, reason: 'asked' }, rules(), TESTER)],
  [
    'after-restore’s own end',
    (tx, id) => endAfterRestore(tx, { id, since: new Date(0), neverPaid: true }, rules(), TESTER),
  ],
])('%s has to wait as well', async (_name, end) => {
  const id = idOf(await pending(14));
  await restored();
  await expect(within((tx) => end(tx, id))).rejects.toMatchObject(ILLEGAL);
  expect(await statusNow(id)).toBe('pending');
  await files.rounds(exchange);
  await within((tx) => end(tx, id));
  expect(['cancelled', 'failed']).toContain(await statusNow(id));
});

test('nor does a rejected authorization end it', async () => {
  const id = idOf(await pending(15));
  await files.rows(
    `UPDATE outgoing_transfers SET authorization_status = 'not-checked', waiting_for = 'authorization' WHERE id = '${id}'`,
  );
  await restored();
  const reject = () =>
    within((tx) => changeUnderLocks(tx, authorizationRejection({ id, initiator: TESTER, rules: rules() })));
  await expect(reject()).rejects.toMatchObject(ILLEGAL);
  await files.rounds(exchange);
  await reject();
  expect(await statusNow(id)).toBe('cancelled');
});

test('a decline waits until all that the bank has told is read, and one by signal comes again until then', async () => {
  const [declined, signalled] = [await pending(16), await pending(17)];
  await files.rows(
    `UPDATE outgoing_transfers SET compliance_check_status = 'not-checked', waiting_for = 'compliance' WHERE id IN ('${declined}', '${signalled}')`,
  );
  await restored();
  const result = 'hard-stop-rejected';
  const decline = () =>
    within((tx) => decideComplianceCheck(tx, { type: 'outgoing-transfer', id: declined }, result, TESTER, rules()));
  const { logger } = files.api.services;
  const { recordComplianceDecision } = complianceTransitions({ ...files.api, configuration: rules(), logger });
  const decision = {
    decisionId: randomUUID(),
    procedure: 'transaction-monitoring',
    result,
    actor: 'a reviewer',
  } as const;
  const signal = () => recordComplianceDecision('outgoing-transfer', signalled, decision);
  for (const rejected of [decline, signal]) await expect(rejected()).rejects.toMatchObject(ILLEGAL);
  for (const id of [declined, signalled]) {
    expect(await files.transfer(id)).toMatchObject({
      status: 'pending',
      requirementConfiguration: { complianceCheckStatus: 'not-checked' },
    });
  }
  // What only stops it ends nothing.
  await within((tx) =>
    decideComplianceCheck(tx, { type: 'outgoing-transfer', id: declined }, 'hard-stop', TESTER, rules()),
  );
  await files.rounds(exchange);
  await decline();
  await signal();
  for (const id of [declined, signalled]) expect(await statusNow(id)).toBe('failed');
});

const MISSED = "transfer_date = '2027-06-15', original_transfer_date = '2027-06-15', roll_count = 5";

test.each<[string, (id: OutgoingTransferId) => Promise<unknown>]>([
  ['its workflow', (id) => files.go(id)],
  [
    'the admission of what waits for money',
    async (id) => {
      await files.rows(`UPDATE outgoing_transfers SET waiting_for = 'balance', amount_minor = 100 WHERE id = '${id}'`);
      await within((tx) => admitWaitingTransfers(tx, asId<AccountId>(account.id), rules()));
    },
  ],
])('%s does not fail it for a date that it has missed once too often', async (_name, go) => {
  const id = idOf(await pending(5_000));
  await files.rows(`UPDATE outgoing_transfers SET ${MISSED} WHERE id = '${id}'`);
  await restored();
  await go(id);
  expect(await files.transfer(id)).not.toMatchObject({ status: 'failed' });
});

test('once the bank’s files are read, a date that it has missed once too often fails it', async () => {
  const id = idOf(await pending(5_000));
  await files.rows(`UPDATE outgoing_transfers SET ${MISSED} WHERE id = '${id}'`);
  await restored();
  await files.rounds(exchange);
  await files.go(id);
  expect(await files.transfer(id)).toMatchObject({ status: 'failed' });
});

test('a rejected payment whose next submission may be lost is failed only then', async () => {
  const id = idOf(await files.pay(account.id, 18));
  await exchange.round();
  files.bank.say(statusOf(files.bank.payment(paymentReferenceOf(id)), 'RJCT', 'MS03'));
  await files.rounds(exchange);
  await restored();
  const fail = () => within((tx) => failOutgoingTransfer(tx, { id, reason: 'asked' }, rules(), TESTER));
  await expect(fail()).rejects.toMatchObject(ILLEGAL);
  await files.rounds(exchange);
  await fail();
  expect(await statusNow(id)).toBe('failed');
});

test('a new schedule does not fail it either', async () => {
  const id = idOf(await pending(5_000));
  await files.rows(`UPDATE outgoing_transfers SET ${MISSED}, cut_off_at = '2027-06-15T12:00:00Z' WHERE id = '${id}'`);
  await restored();
  await within((tx) => rescheduleOutgoingTransfer(tx, id, rules(), TESTER));
  expect(await statusNow(id)).toBe('pending');
});

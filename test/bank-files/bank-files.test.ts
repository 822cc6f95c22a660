import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exchangedBanks } from '../../activities/bank-files/exchange/banks.ts';
import { OTHER_SIZE, UNPROVEN } from '../../activities/bank-files/exchange/deliver.ts';
import { folderTransport } from '../../activities/bank-files/exchange/folder.ts';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import { type Transport, TransportFailed } from '../../activities/bank-files/exchange/transport.ts';
import { iso20022Provider } from '../../activities/providers/iso20022/iso20022.ts';
import type { PaymentRequest } from '../../activities/providers/ports/payment-port.ts';
import { catchUpWithProviders } from '../../activities/restores.ts';
import { standingByFile } from '../../cli/operations/why/bank-files.ts';
import type { FileExchange } from '../../config/schema/file-exchange.ts';
import { readBankFilesAttention } from '../../db/bank-files/attention.ts';
import { hasUnstated } from '../../db/bank-files/statements.ts';
import { closeSubmissions, openSubmissions } from '../../db/providers/submissions.ts';
import type { Database } from '../../db/query/database.ts';
import type { BankMessage, BookedEntry } from '../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import { Schemes } from '../../domain/providers/schemes.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { FILES_BANK, type FilesWorld, filesWorld, PROFILE } from '../harness/bank-files/files-world.ts';
import { FILES_OFFER } from '../harness/bank-files/offer.ts';
import {
  accountReport,
  creditOf,
  debitOf,
  reported,
  returnOf,
  statusOf,
  statusReport,
} from '../harness/bank-files/scripted-bank.ts';
import { randomFrom } from '../harness/random.ts';
import { until } from '../harness/stage.ts';

// Payments by files, with a bank whose folder the test fills and reads.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;

beforeAll(async () => {
  files = await filesWorld('bank-files');
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

const arrivedOf = (id: string) => files.bank.payment(paymentReferenceOf(id));
const timesArrived = (id: string) =>
  files.bank.payments().filter(({ paymentReference }) => paymentReference === paymentReferenceOf(id)).length;
const statusNow = async (id: string): Promise<string> => (await files.transfer(id)).status;
const balance = async () => (await files.world.balance(account.id)).available;

async function instructionOf(id: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT * FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt DESC LIMIT 1`,
  );
  return row;
}

async function fileOf(id: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT f.* FROM bank_files f JOIN bank_instructions i ON i.file_id = f.id WHERE i.transfer_id = '${id}'`,
  );
  return row;
}

const asideFiles = () =>
  files.rows(`SELECT name, reason FROM bank_files WHERE state = 'set-aside' AND direction = 'in' ORDER BY id`);

test('a payment waits for its file, is delivered, is released by the bank’s acceptance, and ends with its debit', async () => {
  const id = await files.pay(account.id, 10);
  expect(await files.transfer(id)).toMatchObject({ status: 'processing' });
  expect(await instructionOf(id)).toMatchObject({ state: 'queued' });
  await exchange.round();
  expect(await instructionOf(id)).toMatchObject({ state: 'delivered' });
  expect(await fileOf(id)).toMatchObject({ state: 'delivered', direction: 'out' });
  const sent = arrivedOf(id);
  expect(sent).toMatchObject({ id: `${paymentReferenceOf(id)}1`, amountMinor: 1_000n, executionDate: '2027-06-16' });
  expect(sent.file).toMatchObject({ debtorName: 'Clients Ltd', account: '31926819' });
  expect(await statusNow(id)).toBe('processing');

  files.bank.say(statusOf(sent, 'ACTC'));
  files.bank.say(statusOf(sent, 'ACSP'));
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('released');
  files.bank.say(accountReport('camt.054', debitOf(sent)));
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('completed');
  // The day's statement tells it once more.
  files.bank.say(accountReport('camt.053', debitOf(sent)));
  await files.rounds(exchange);
  expect(await balance()).toBe(990);
  expect(await files.world.events(id)).toEqual([
    'outgoing-transfer-created',
    'outgoing-transfer-processing',
    'outgoing-transfer-released',
    'outgoing-transfer-completed',
  ]);
  expect(await files.rows("SELECT name FROM bank_files WHERE direction = 'in' AND state <> 'taken'")).toEqual([]);
  expect(files.bank.archived().filter((name) => name.includes('said-')).length).toBeGreaterThanOrEqual(4);
});

test('a repeated submission finds what the first led to, and a look-up answers from the row', async () => {
  const id = await files.pay(account.id, 10);
  const request = { ourReference: id, paymentReference: paymentReferenceOf(id), attempt: 1 };
  const { debtor, creditor } = {
    debtor: { name: 'Ada', country: 'GB', iban: null, accountNumber: null, routingCodes: {} },
    creditor: {
      name: 'Bob',
      country: 'GB',
      iban: null,
      accountNumber: '12345674',
      routingCodes: { 'sort-code': '601613' },
    },
  };
  const again = {
    ...request,
    amountMinor: 1_000n,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: { ...debtor, accountId: account.id },
    creditor,
    remittanceText: 'Rent',
    attributes: {},
  };
  expect(await files.adapter.submitPayment(again, {})).toEqual({ outcome: 'queued', attempt: 1 });
  await expect(files.adapter.submitPayment({ ...again, amountMinor: 1_001n }, {})).rejects.toThrow('another amount');
  // Whatever the profile takes by now: the instruction stands.
  expect(await files.adapter.submitPayment({ ...again, remittanceText: 'x'.repeat(101) }, {})).toEqual({
    outcome: 'queued',
    attempt: 1,
  });
  await exchange.round();
  files.bank.say(statusOf(arrivedOf(id), 'RJCT', 'AC04'));
  await files.rounds(exchange);
  expect(await files.adapter.submitPayment(again, {})).toMatchObject({ outcome: 'rejected', error: { code: 'AC04' } });
  expect(await files.adapter.lookUpPayment(id, {})).toMatchObject({
    outcome: 'rejected',
    attempt: 1,
    amountMinor: 1_000n,
  });
  expect(await files.adapter.lookUpPayment('019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31', {})).toEqual({
    outcome: 'not-found',
  });
  expect(await statusNow(id)).toBe('failed');
  expect(await balance()).toBe(1_000);
});

test('what the bank’s profile no longer takes is rejected before any file, and stops no other payment', async () => {
  files.takes({ lengths: { ...PROFILE.lengths, remittance: 'Rent'.length } });
  const [bad, good] = [await files.pay(account.id, 10, 'Rent of May'), await files.pay(account.id, 20)];
  files.takes({});
  expect(await statusNow(bad)).toBe('failed');
  await exchange.round();
  expect([timesArrived(bad), timesArrived(good)]).toEqual([0, 1]);
});

test('by the profiles of the product, the file is a pain.001 that names the payment and the account that pays', async () => {
  const id = await files.pay(account.id, 10);
  const profile = files.api.services.configuration.bankProfiles.get('uk');
  if (profile === undefined) throw new Error('there is no profile uk');
  const bank = { ...files.services.bank, profile };
  const { archive } = files.bank.folders;
  const openTransport = folderTransport({ kind: 'folder', ...files.bank.folders, out: archive });
  const product = files.exchangeOf({ ...files.services, bank, openTransport });
  await product.round();
  await product.end();
  const { name, state } = await fileOf(id);
  expect(state).toBe('delivered');
  const text = readFileSync(join(archive, name), 'utf8');
  expect(text).toContain('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09');
  expect(text).toContain(`<EndToEndId>${paymentReferenceOf(id)}</EndToEndId>`);
  expect(text).toContain(`<InstrId>${paymentReferenceOf(id)}1</InstrId>`);
  expect(text).toContain('31926819');
});

test('a payment that cannot be written stays, and the others go', async () => {
  const ids = [await files.pay(account.id, 10, 'Rent of May'), await files.pay(account.id, 20)];
  const strict = files.exchange({ profile: { lengths: { ...PROFILE.lengths, remittance: 'Rent'.length } } });
  await strict.round();
  await strict.end();
  expect(ids.map(timesArrived)).toEqual([0, 1]);
  expect(await instructionOf(ids[0] ?? '')).toMatchObject({ state: 'queued' });
  await exchange.round();
  expect(ids.map(timesArrived)).toEqual([1, 1]);
});

test('one rejected payment of a file fails, the others go on; a rejected file fails all of it', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20), await files.pay(account.id, 30)];
  await exchange.round();
  const [first, second, third] = ids.map(arrivedOf);
  if (!first || !second || !third) throw new Error('three payments have arrived');
  expect(new Set([first, second, third].map(({ file }) => file.messageId)).size).toBe(1);
  const rejected = reported(first, 'RJCT', 'AC01');
  const partly = {
    originalBatchId: first.batchId,
    status: 'PART',
    reasons: [],
    payments: [rejected, reported(second, 'ACSP')],
  };
  files.bank.say(statusReport(first.file.messageId, { status: 'PART', reasons: [] }, [partly]));
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['failed', 'released', 'processing']);
  files.bank.say(statusReport(first.file.messageId, { status: 'ACSP', reasons: [] }));
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['failed', 'released', 'released']);

  const others = [await files.pay(account.id, 1), await files.pay(account.id, 2)];
  await exchange.round();
  const [of] = others.map(arrivedOf);
  files.bank.say(statusReport(of?.file.messageId ?? '', { status: 'RJCT', reasons: ['FF01'] }));
  await files.rounds(exchange);
  expect(await Promise.all(others.map(statusNow))).toEqual(['failed', 'failed']);
  expect(await asideFiles()).toEqual([]);
});

test('a rejection as a duplicate says nothing of the first copy: the payment stays open, and the file is set aside', async () => {
  const id = await files.pay(account.id, 10);
  await exchange.round();
  files.bank.say(statusOf(arrivedOf(id), 'RJCT', 'AM05'), 'duplicate.xml');
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('processing');
  expect(await asideFiles()).toContainEqual({ name: 'duplicate.xml', reason: expect.stringContaining('1 of 1') });
});

test('returns, in parts, come back to the payer once, whichever report tells them', async () => {
  const id = await files.pay(account.id, 10);
  await exchange.round();
  const sent = arrivedOf(id);
  const part = returnOf(sent, 'AC04', { key: `part ${id}`, amountMinor: 400n });
  files.bank.say(accountReport('camt.054', debitOf(sent)));
  files.bank.say(accountReport('camt.054', part));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.053', debitOf(sent), part, returnOf(sent, 'AC04', { amountMinor: 600n })));
  await files.rounds(exchange);
  expect(await balance()).toBe(1_000);
  expect(await files.adapter.lookUpPayment(id, {})).toMatchObject({
    outcome: 'returned',
    returns: [{ returnedMinor: 400n }, { returnedMinor: 600n }],
  });
});

test('a batch booked as one sum ends its payments; a sum that is not theirs waits for the details', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const [one, two] = ids.map(arrivedOf);
  if (!one || !two) throw new Error('two payments have arrived');
  const names = { instructionId: null, paymentReference: null };
  const batch = { originalBatchId: one.batchId, count: 2 };
  files.bank.say(
    accountReport('camt.054', debitOf(one, { ...names, batch, key: `wrong ${one.batchId}`, amountMinor: 2_900n })),
  );
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['processing', 'processing']);
  files.bank.say(
    accountReport('camt.054', debitOf(one, { ...names, batch, key: `sum ${one.batchId}`, amountMinor: 3_000n })),
  );
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['completed', 'completed']);
  expect(await balance()).toBe(970);
});

test('a sum that waits for its details has the bank speak of its payments: they are silent only a day later', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const [one] = ids.map(arrivedOf);
  if (!one) throw new Error('two payments have arrived');
  const silent = async () => (await readBankFilesAttention(files.api.database.reader)).silent;
  const before = await silent();
  await files.rows(
    `UPDATE bank_instructions SET expected_by = service_now() - interval '1 minute' WHERE batch_id = '${one.batchId}'`,
  );
  expect(await silent()).toBe(before + 2);
  const names = { instructionId: null, paymentReference: null };
  const batch = { originalBatchId: one.batchId, count: 2 };
  const entry = debitOf(one, { ...names, batch, key: `part ${one.batchId}`, amountMinor: 2_900n });
  files.bank.say(accountReport('camt.054', entry));
  await files.rounds(exchange);
  expect(await silent()).toBe(before);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['processing', 'processing']);
});

test('a debit of another amount is a break, and completes nothing, also when it is told again', async () => {
  const id = await files.pay(account.id, 10);
  await exchange.round();
  const wrong = debitOf(arrivedOf(id), { amountMinor: 999n });
  files.bank.say(accountReport('camt.054', wrong));
  await files.rounds(exchange);
  files.bank.say(accountReport('camt.053', wrong));
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('processing');
  const breaks = await files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${id}'`);
  expect(breaks).toEqual([{ kind: 'callback-contradicts' }]);
  files.bank.say(accountReport('camt.054', debitOf(arrivedOf(id), { key: `right ${id}` })));
  await files.rounds(exchange);
  expect(await statusNow(id)).toBe('completed');
});

test('a rejection after the debit, and a debit after the rejection, are breaks that change nothing', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const [paid, rejected] = ids.map(arrivedOf);
  if (!paid || !rejected) throw new Error('two payments have arrived');
  files.bank.say(accountReport('camt.054', debitOf(paid)));
  files.bank.say(statusOf(rejected, 'RJCT', 'AC01'));
  await files.rounds(exchange);
  files.bank.say(statusOf(paid, 'RJCT', 'AC01'));
  files.bank.say(accountReport('camt.054', debitOf(rejected)));
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(['completed', 'failed']);
  expect(await balance()).toBe(990);
  const breaks = await files.rows(
    `SELECT our_reference FROM reconciliation_breaks WHERE our_reference IN ('${ids.join("','")}') ORDER BY 1`,
  );
  expect(breaks.map((row) => row.our_reference)).toEqual([...ids].sort());
});

describe('what is not understood', () => {
  test('a file that cannot be read, and what is about nothing that we know, is set aside with a reason; the rest of it is applied', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const sent = arrivedOf(id);
    const strange = debitOf(sent, {
      key: `fee ${id}`,
      instructionId: null,
      paymentReference: 'BANK-FEE',
      amountMinor: 5n,
    });
    files.bank.say('<Document', 'cut.xml');
    files.bank.say(accountReport('camt.054', strange, debitOf(sent)), 'mixed.xml');
    files.bank.say(statusReport('NOT-OURS', { status: 'ACSP', reasons: [] }), 'stranger.xml');
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('completed');
    expect(await asideFiles()).toEqual(
      expect.arrayContaining([
        { name: 'cut.xml', reason: 'not a message of this bank' },
        { name: 'mixed.xml', reason: '1 of 2 statements are about nothing that we know' },
        { name: 'stranger.xml', reason: '1 of 1 statements are about nothing that we know' },
      ]),
    );
    // Nothing of them is lost.
    const [kept] = await files.rows(
      "SELECT convert_from(content, 'UTF8') AS text FROM bank_files WHERE name = 'cut.xml'",
    );
    expect(kept).toEqual({ text: '<Document' });
  });

  test('the same bytes are taken once, whatever the name; the same name with other bytes is another file', async () => {
    const same = accountReport('camt.054', creditOf(`twice ${account.id}`, 500n, account.ledgerNumber));
    files.bank.say(same, 'first.xml');
    await files.rounds(exchange);
    files.bank.say(same, 'second.xml');
    files.bank.say(accountReport('camt.054', creditOf(`other ${account.id}`, 700n, account.ledgerNumber)), 'first.xml');
    await files.rounds(exchange);
    expect(await balance()).toBe(1_012);
    const named = await files.rows("SELECT name FROM bank_files WHERE name IN ('first.xml', 'second.xml') ORDER BY id");
    expect(named.map(({ name }) => name)).toEqual(['first.xml', 'first.xml']);
  });

  test('a file that is still being written is left until it is whole', async () => {
    const path = join(files.bank.folders.in, 'growing.xml');
    writeFileSync(path, '{"message":');
    await exchange.round();
    appendFileSync(path, '"camt.054"');
    await exchange.round();
    writeFileSync(`${path}.part`, 'an upload of the bank');
    expect(await files.rows("SELECT name FROM bank_files WHERE name LIKE 'growing%'")).toEqual([]);
    await exchange.round();
    expect(await files.rows("SELECT name FROM bank_files WHERE name LIKE 'growing%'")).toEqual([
      { name: 'growing.xml' },
    ]);
    renameSync(`${path}.part`, join(files.bank.folders.archive, 'growing.part'));
  });
});

describe('the bank’s payee check', () => {
  test('the bank asks for confirmation: a state of its own, with the answer, which its decision ends', async () => {
    const confirmed = files.exchange({ profile: { payeeCheck: 'confirmed' } });
    const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
    await confirmed.round();
    const [close, match] = ids.map(arrivedOf);
    if (!close || !match) throw new Error('two payments have arrived');
    files.bank.say(statusOf(close, 'PDNG', 'RVMC'));
    files.bank.say(statusOf(match, 'PDNG', 'RCVC'));
    await files.rounds(confirmed);
    expect(await instructionOf(ids[0] ?? '')).toMatchObject({ state: 'confirmation', payee_check: 'RVMC' });
    expect(await instructionOf(ids[1] ?? '')).toMatchObject({ state: 'received', payee_check: 'RCVC' });
    const told = await standingByFile(files.api.database.reader, ids[0] ?? '');
    expect(told).toEqual([
      'by file: the bank asks for confirmation after its payee check: a person confirms or rejects it at the bank',
      expect.stringMatching(/^file pain001-[0-9a-f]{32}\.xml, message [0-9a-f]{32}: delivered$/),
      'the bank’s latest word: PDNG (RVMC)',
      'the bank’s payee check: RVMC, the payee’s name is close',
      expect.stringContaining('the bank is to tell more by '),
    ]);
    files.bank.say(statusOf(close, 'ACSP'));
    files.bank.say(statusOf(match, 'RJCT', 'AC04'));
    await files.rounds(confirmed);
    expect(await Promise.all(ids.map(statusNow))).toEqual(['released', 'failed']);
    await confirmed.end();
  });

  test('opted out of: a single payment waits for company, and goes by itself when its window ends', async () => {
    const rules = { profile: { payeeCheck: 'opted-out' }, settings: { windowSeconds: 3_600 } } as const;
    const optedOut = files.exchange(rules);
    const id = await files.pay(account.id, 10);
    await optedOut.round();
    expect(timesArrived(id)).toBe(0);
    const company = await files.pay(account.id, 20);
    await optedOut.round();
    expect(arrivedOf(id).file.messageId).toBe(arrivedOf(company).file.messageId);
    const single = await files.pay(account.id, 30);
    await files.rows(
      `UPDATE bank_instructions SET queued_at = queued_at - interval '2 hours' WHERE transfer_id = '${single}'`,
    );
    await optedOut.round();
    expect(timesArrived(single)).toBe(1);
    await optedOut.end();
  });
});

describe('delivery', () => {
  test('a payment is dated by the calendar and the cut-off of its scheme', async () => {
    const { configuration } = files.api.services;
    const rule = {
      zone: 'Europe/London',
      accountsNamedBy: null,
      currencies: null,
      destinationCountries: null,
      // It is noon.
      cutOff: '11:00',
      cutOffByCurrency: {},
      opensAt: null,
      calendars: ['gb'],
      amountLimitsMinor: {},
    };
    const calendars = () => configuration.calendars.current;
    const schemes = new Schemes({ rules: { 'faster-payments': rule }, calendars, calendarByCurrency: {} });
    const closing = files.exchangeOf({ ...files.services, configuration: { ...configuration, schemes } });
    const id = await files.pay(account.id, 10);
    await closing.round();
    await closing.end();
    expect(arrivedOf(id)).toMatchObject({ executionDate: '2027-06-17' });
  });

  test('a file that was written before midnight and leaves after it is written again, with the new date', async () => {
    const id = await files.pay(account.id, 10);
    const open = files.services.openTransport;
    const away: Exchange = files.exchangeOf({
      ...files.services,
      openTransport: async () => ({ ...(await open()), upload: () => Promise.reject(new TransportFailed('away')) }),
    });
    await away.round().catch(() => {});
    await away.end();
    const { file_id: first } = await instructionOf(id);
    await files.rows(`UPDATE bank_instructions SET execution_date = '2027-06-15' WHERE transfer_id = '${id}'`);
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(1);
    expect(arrivedOf(id)).toMatchObject({ executionDate: '2027-06-16' });
    const [withdrawn] = await files.rows(`SELECT state, settled_at FROM bank_files WHERE id = '${first}'`);
    expect(withdrawn).toMatchObject({ state: 'set-aside', settled_at: expect.anything() });
    expect((await instructionOf(id)).file_id).not.toBe(first);
  });

  test('nothing leaves while submissions are closed, and the bank’s files are taken all the same', async () => {
    const id = await files.pay(account.id, 10);
    await files.api.database.transaction((tx) => closeSubmissions(tx, 'a test', TESTER));
    files.bank.say(accountReport('camt.054', creditOf(`closed ${account.id}`, 300n, account.ledgerNumber)));
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(0);
    expect((await files.world.balance(account.id)).available).toBe(993);
    await files.api.database.transaction((tx) => openSubmissions(tx, 'a test', TESTER));
    await exchange.round();
    expect(timesArrived(id)).toBe(1);
  });

  test('a name that the bank’s folder has with another size is never written over: the file is set aside', async () => {
    const id = await files.pay(account.id, 10);
    const failing = files.exchangeOf({
      ...files.services,
      openTransport: () => Promise.reject(new TransportFailed('down')),
    });
    await expect(failing.round()).rejects.toThrow('down');
    await failing.end();
    const { name } = await fileOf(id);
    const [other] = files.bank.arrived();
    writeFileSync(join(files.bank.folders.out, name), `${other?.content}<!-- of another size -->`);
    await exchange.round();
    expect(await fileOf(id)).toMatchObject({ state: 'set-aside', reason: OTHER_SIZE });
    expect(timesArrived(id)).toBe(0);
  });

  test('a file that no listing shows after its rename may have arrived: it is not sent again, and the bank’s word proves it', async () => {
    const id = await files.pay(account.id, 10);
    const taken = new Map<string, string>();
    // The bank takes each file at once.
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      return {
        ...transport,
        rename: async (part, name) => {
          await transport.rename(part, name);
          const path = join(files.bank.folders.out, name);
          taken.set(name, `${path}.taken`);
          renameSync(path, `${path}.taken`);
        },
      };
    };
    const quick = files.exchangeOf({ ...files.services, openTransport });
    await files.rounds(quick);
    await quick.round();
    await quick.end();
    expect(taken.size).toBe(1);
    expect(await fileOf(id)).toMatchObject({ state: 'delivering', reason: UNPROVEN });
    const [path] = taken.values();
    if (path === undefined) throw new Error('no file was taken');
    const { name, message_id: messageId } = await fileOf(id);
    files.bank.say(statusReport(messageId, { status: 'ACSP', reasons: [] }));
    await files.rounds(exchange);
    expect(await fileOf(id)).toMatchObject({ state: 'delivered', name });
    expect(await statusNow(id)).toBe('released');
  });

  test('a file that the server fails on holds up no other, in either direction', async () => {
    const exchanging = files.exchange({ settings: { paymentsPerFileMax: 1 } });
    const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
    let bad = '';
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      const failing = (name: string) => name.split('.')[0] === bad || name === 'bad.xml';
      return {
        ...transport,
        upload: (part, content) => {
          if (bad === '') bad = part.split('.')[0] ?? '';
          return failing(part) ? Promise.reject(new TransportFailed('upload: full')) : transport.upload(part, content);
        },
        download: (name) =>
          failing(name) ? Promise.reject(new TransportFailed('download: denied')) : transport.download(name),
      };
    };
    const assembling = files.exchangeOf({
      ...files.services,
      openTransport,
      bank: { ...files.services.bank, settings: { ...files.services.bank.settings, paymentsPerFileMax: 1 } },
    });
    files.bank.say('first in the folder', 'bad.xml');
    files.bank.say(accountReport('camt.054', creditOf(`after ${account.id}`, 400n, account.ledgerNumber)), 'good.xml');
    await expect(assembling.round()).rejects.toThrow('upload: full');
    await expect(assembling.round()).rejects.toThrow('upload: full');
    expect(ids.map(timesArrived).sort()).toEqual([0, 1]);
    expect(await balance()).toBe(974);
    await assembling.end();
    await exchanging.round();
    expect(ids.map(timesArrived)).toEqual([1, 1]);
    await exchanging.end();
  });

  test('one process at a time exchanges files with a bank, until its lease runs out', async () => {
    expect(await exchange.round()).toBe(true);
    const other = files.exchange();
    expect(await other.round()).toBe(false);
    await files.loseLease();
    expect(await other.round()).toBe(true);
    expect(await exchange.round()).toBe(false);
    await other.end();
    expect(await exchange.round()).toBe(true);
  });

  test('a call at the bank’s server that takes longer than the lease does not lose it', async () => {
    const isHeld = async () => {
      const [lease] = await files.rows('SELECT held_until > clock_timestamp() AS held FROM bank_file_leases');
      return lease?.held === true;
    };
    const id = await files.pay(account.id, 10);
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      return {
        ...transport,
        upload: async (part, content) => {
          await transport.upload(part, content);
          await files.loseLease();
          await until(isHeld, (held) => held);
          expect(await files.exchange().round()).toBe(false);
        },
      };
    };
    const slow = files.exchangeOf({ ...files.services, openTransport });
    expect(await slow.round()).toBe(true);
    expect(timesArrived(id)).toBe(1);
    await slow.end();
    expect(await isHeld()).toBe(false);
  });
});

test('recalls go by file: the bank’s rejection is one, and what it accepts comes back as money', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const sent = ids.map(arrivedOf);
  files.bank.say(accountReport('camt.054', ...sent.map((payment) => debitOf(payment))));
  await files.rounds(exchange);
  const references = ids.map((id) => ({ ourReference: id, recallReference: `${id}:recall:1` }));
  for (const request of references) {
    expect(await files.adapter.recallPayment?.(request, {})).toEqual({ outcome: 'asked' });
    expect(await files.adapter.recallPayment?.(request, {})).toEqual({ outcome: 'asked' });
  }
  await exchange.round();
  const requests = files.bank.arrived().filter(({ name }) => name.startsWith('camt055'));
  expect(requests).toHaveLength(1);
  // The bank takes the file from its folder before a listing shows it.
  const name = requests[0]?.name ?? '';
  rmSync(join(files.bank.folders.out, name));
  const unproven = `state = 'delivering', reason = '${UNPROVEN}', delivered_at = NULL, rename_began_at = now(), temporary_name = 'one'`;
  await files.rows(`UPDATE bank_files SET ${unproven} WHERE name = '${name}'`);
  const answer = (id: string, status: string) => {
    const cancellationId = `${paymentReferenceOf(id)}R1`;
    return { cancellationId, instructionId: null, paymentReference: null, status, reasons: ['LEGL'] };
  };
  const head = { message: 'camt.029', version: 'camt.029.001.09', messageId: `C ${ids[0]}`, createdAt: null } as const;
  const answers = [answer(ids[0] ?? '', 'RJCR'), answer(ids[1] ?? '', 'CNCL')];
  const said: BankMessage = { ...head, answers };
  files.bank.say(said);
  await files.rounds(exchange);
  const recalls = await Promise.all(ids.map(async (id) => files.adapter.lookUpPayment(id, {})));
  expect(recalls).toMatchObject([{ recall: { outcome: 'rejected' } }, { recall: { outcome: 'accepted' } }]);
  expect(await files.rows(`SELECT state, reason FROM bank_files WHERE name = '${name}'`)).toEqual([
    { state: 'delivered', reason: null },
  ]);
  const [, accepted] = sent;
  if (accepted !== undefined) files.bank.say(accountReport('camt.054', returnOf(accepted, 'FOCR')));
  await files.rounds(exchange);
  expect(await balance()).toBe(990);
  expect(await asideFiles()).not.toContainEqual(expect.objectContaining({ name: expect.stringContaining('C ') }));
});

test('a recall that cannot be written stays, and the other recalls and payments go', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  files.bank.say(accountReport('camt.054', ...ids.map(arrivedOf).map((payment) => debitOf(payment))));
  await files.rounds(exchange);
  for (const id of ids) {
    await files.adapter.recallPayment?.({ ourReference: id, recallReference: `${id}:recall:1` }, {});
  }
  const [named = '', other = ''] = ids.map((id) => `${paymentReferenceOf(id)}R1`);
  const unwritable = `${named.slice(0, -2)}§1`;
  const rename = (from: string, to: string) =>
    files.rows(`UPDATE bank_cancellations SET cancellation_id = '${to}' WHERE cancellation_id = '${from}'`);
  await rename(named, unwritable);
  const payment = await files.pay(account.id, 30);
  expect(await exchange.round()).toBe(true);
  expect(timesArrived(payment)).toBe(1);
  const recalls = await files.rows(
    `SELECT cancellation_id, state FROM bank_cancellations WHERE cancellation_id IN ('${unwritable}', '${other}')`,
  );
  expect(recalls).toHaveLength(2);
  expect(recalls).toContainEqual({ cancellation_id: unwritable, state: 'queued' });
  expect(recalls).toContainEqual({ cancellation_id: other, state: 'assigned' });
  await rename(unwritable, named);
  await exchange.round();
});

test('an answer to a recall that carries the bank’s own id is found by what it says of the payment', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const sent = ids.map(arrivedOf);
  files.bank.say(accountReport('camt.054', ...sent.map((payment) => debitOf(payment))));
  await files.rounds(exchange);
  for (const id of ids) {
    await files.adapter.recallPayment?.({ ourReference: id, recallReference: `${id}:recall:1` }, {});
  }
  await exchange.round();
  const [one, two] = sent;
  const answers = [
    { instructionId: one?.id ?? null, paymentReference: null },
    { instructionId: null, paymentReference: two?.paymentReference ?? null },
  ].map((names, at) => ({ ...names, cancellationId: `BANK-${at}`, status: 'RJCR', reasons: ['LEGL'] }));
  const head = { message: 'camt.029', version: 'camt.029.001.09', messageId: `D ${ids[0]}`, createdAt: null } as const;
  files.bank.say({ ...head, answers });
  await files.rounds(exchange);
  const recalls = await Promise.all(ids.map(async (id) => files.adapter.lookUpPayment(id, {})));
  expect(recalls).toMatchObject([{ recall: { outcome: 'rejected' } }, { recall: { outcome: 'rejected' } }]);
});

/** A submission of a payment, as the workflow makes it. */
function submission(ourReference: string, attempt: number, changed: Partial<PaymentRequest> = {}): PaymentRequest {
  const party = { country: 'GB', iban: null, accountNumber: '12345674', routingCodes: { 'sort-code': '601613' } };
  return {
    ourReference,
    paymentReference: paymentReferenceOf(ourReference),
    attempt,
    amountMinor: 1_000n,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: { ...party, name: 'Ada', accountId: account.id },
    creditor: { ...party, name: 'Bob' },
    remittanceText: 'Rent',
    attributes: {},
    ...changed,
  };
}

const attemptsOf = (id: string) =>
  files.rows(`SELECT attempt, state FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt`);
const rejectedAtBank = (id: string) =>
  files.rows(`UPDATE bank_instructions SET state = 'rejected', reasons = '{AC04}' WHERE transfer_id = '${id}'`);
const breaksOf = (reference: string) =>
  files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${reference}'`);

describe('submissions of one transfer', () => {
  test('one that the bank has not rejected is the only one: a later one is answered with it, and stores nothing', async () => {
    const id = await files.pay(account.id, 10);
    expect(await files.adapter.submitPayment(submission(id, 2), {})).toEqual({ outcome: 'queued', attempt: 1 });
    expect(await attemptsOf(id)).toEqual([{ attempt: 1, state: 'queued' }]);
    const other = randomUUID();
    const both = [2, 1].map((attempt) => files.adapter.submitPayment(submission(other, attempt), {}));
    const [one, two] = await Promise.all(both);
    expect(one).toEqual(two);
    expect(await attemptsOf(other)).toHaveLength(1);
    await files.rows(`DELETE FROM bank_instructions WHERE transfer_id = '${other}'`);
  });

  test('one that comes after a later one is never stored', async () => {
    const id = randomUUID();
    await files.adapter.submitPayment(submission(id, 2), {});
    expect(await files.adapter.submitPayment(submission(id, 1), {})).toEqual({ outcome: 'queued', attempt: 2 });
    await rejectedAtBank(id);
    expect(await files.adapter.submitPayment(submission(id, 1), {})).toMatchObject({ outcome: 'rejected' });
    expect(await attemptsOf(id)).toEqual([{ attempt: 2, state: 'rejected' }]);
    const ended = AbortSignal.abort();
    await expect(files.adapter.submitPayment(submission(id, 3), { signal: ended })).rejects.toThrow('no usable answer');
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  test('what the profile does not take is rejected with field and rule, and stays rejected when the profile takes it', async () => {
    const uk = files.api.services.configuration.bankProfiles.get('uk');
    if (uk === undefined) throw new Error('there is no profile uk');
    const { database, configuration } = files.api.services;
    const product = iso20022Provider({ database, configuration, provider: FILES_BANK, profile: uk });
    const unnamed = { name: 'Bob', country: null, iban: 'GB00 UNKNOWN', accountNumber: null, routingCodes: {} };
    const request = submission(randomUUID(), 1, {
      creditor: unnamed,
      returnOf: { serviceProviderId: 'entry 1', code: 'CUST' },
    });
    const attributes = { field: 'creditor.accountNumber', rule: 'account' };
    const rejected = { outcome: 'rejected', error: { code: 'bank-file.invalid', attributes } };
    expect(await product.submitPayment(request, {})).toMatchObject(rejected);
    expect(await files.adapter.submitPayment(request, {})).toMatchObject(rejected);
    await exchange.round();
    expect(timesArrived(request.ourReference)).toBe(0);
  });

  test('a late rejection of the first is none of the second, however the bank names it', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const first = arrivedOf(id);
    await rejectedAtBank(id);
    await files.adapter.submitPayment(submission(id, 2), {});
    await exchange.round();
    const second = files.bank.payments().find((payment) => payment.id === `${paymentReferenceOf(id)}2`);
    if (second === undefined) throw new Error('the second submission has not arrived');
    const ofFile = (messageId: string, named: { readonly instructionId: string | null }) =>
      statusReport(messageId, { status: null, reasons: [] }, [
        {
          originalBatchId: first.batchId,
          status: null,
          reasons: [],
          payments: [{ ...reported(first, 'RJCT', 'AC04'), ...named }],
        },
      ]);
    files.bank.say(ofFile(first.file.messageId, { instructionId: null }), 'late-1.xml');
    files.bank.say(ofFile('UNKNOWN', { instructionId: null }), 'late-2.xml');
    files.bank.say(ofFile(first.file.messageId, { instructionId: second.id }), 'late-3.xml');
    await files.rounds(exchange);
    expect(await attemptsOf(id)).toEqual([
      { attempt: 1, state: 'rejected' },
      { attempt: 2, state: 'delivered' },
    ]);
    const aside = (await asideFiles()).map(({ name }) => name);
    expect(aside).toEqual(expect.arrayContaining(['late-2.xml', 'late-3.xml']));
    expect(aside).not.toContain('late-1.xml');
  });

  test('one that was rejected and is booked all the same holds the next, which no file carries', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const first = arrivedOf(id);
    await rejectedAtBank(id);
    await files.adapter.submitPayment(submission(id, 2), {});
    files.bank.say(accountReport('camt.054', debitOf(first)));
    // Taken by a process that has just written its files.
    await files.rows(`UPDATE bank_instructions SET held_reason = 'a test' WHERE transfer_id = '${id}' AND attempt = 2`);
    await files.rounds(exchange);
    await files.rows(`UPDATE bank_instructions SET held_reason = NULL WHERE held_reason = 'a test'`);
    await exchange.round();
    expect(timesArrived(id)).toBe(1);
    expect(await breaksOf(id)).toHaveLength(1);
    const told = await standingByFile(files.api.database.reader, id);
    expect(told).toContain('no file takes it: an earlier submission was booked');
  });

  test('one that is submitted after an earlier one was rejected and booked is held from the beginning', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    await rejectedAtBank(id);
    files.bank.say(accountReport('camt.054', debitOf(arrivedOf(id))));
    await files.rounds(exchange);
    await files.adapter.submitPayment(submission(id, 2), {});
    await exchange.round();
    expect(timesArrived(id)).toBe(1);
  });
});

const pooledAt = (accountNumber: string) => ({ ...FILES_OFFER.bank.pooledAccount, accountNumber });

describe('money is booked once', () => {
  const sumOf = (reference: string, amountMinor: bigint, changed: Partial<BookedEntry> = {}): BookedEntry => ({
    ...creditOf(`sum ${reference}`, amountMinor, account.ledgerNumber),
    bankReference: reference,
    ...changed,
  });
  const partsOf = (reference: string): BookedEntry[] =>
    [300n, 400n].map((amountMinor) => ({
      ...creditOf(`part ${reference} ${amountMinor}`, amountMinor, account.ledgerNumber),
      entryReference: reference,
    }));

  test('the sum of a batch waits for its details', async () => {
    const reference = `A ${account.id}`;
    files.bank.say(accountReport('camt.054', sumOf(reference, 700n, { batch: { originalBatchId: null, count: 2 } })));
    await files.rounds(exchange);
    expect(await balance()).toBe(1_000);
    files.bank.say(accountReport('camt.053', ...partsOf(reference)));
    await files.rounds(exchange);
    expect(await balance()).toBe(1_007);
  });

  test('a sum that came without details, and was booked, is not booked again by them', async () => {
    const reference = `B ${account.id}`;
    files.bank.say(accountReport('camt.054', sumOf(reference, 700n)));
    await files.rounds(exchange);
    files.bank.say(accountReport('camt.053', ...partsOf(reference)), `${reference}.xml`);
    await files.rounds(exchange);
    expect(await balance()).toBe(1_007);
    expect(await asideFiles()).toContainEqual(expect.objectContaining({ name: `${reference}.xml` }));
  });

  test('details that were booked are not booked again by their sum', async () => {
    const reference = `C ${account.id}`;
    files.bank.say(accountReport('camt.054', ...partsOf(reference)));
    files.bank.say(accountReport('camt.053', sumOf(reference, 700n)));
    await files.rounds(exchange);
    expect(await balance()).toBe(1_007);
  });

  test('a sum of another day is not taken for that of details with its reference, and is set aside', async () => {
    const reference = `F ${account.id}`;
    files.bank.say(accountReport('camt.054', ...partsOf(reference)));
    await files.rounds(exchange);
    files.bank.say(
      accountReport('camt.053', sumOf(reference, 700n, { bookedOn: '2027-06-15' })),
      `F-${account.id}.xml`,
    );
    await files.rounds(exchange);
    expect(await balance()).toBe(1_007);
    expect(await asideFiles()).toContainEqual(expect.objectContaining({ name: `F-${account.id}.xml` }));
  });

  test('a sum whose details do not come within days is told as such: the bank has spoken', async () => {
    const waiting = sumOf(`G ${account.id}`, 700n, {
      batch: { originalBatchId: null, count: 2 },
      bookedOn: '2027-06-10',
    });
    const { silent, sumsWithoutDetails } = await readBankFilesAttention(files.api.database.reader);
    files.bank.say(accountReport('camt.054', waiting));
    await files.rounds(exchange);
    expect(await readBankFilesAttention(files.api.database.reader)).toMatchObject({
      silent,
      sumsWithoutDetails: sumsWithoutDetails + 1,
    });
  });

  test('charges that the details of a batch share are no sum of them', async () => {
    const reference = `H ${account.id}`;
    const charge = { ...sumOf(reference, 5n), direction: 'debit' as const, chargesMinor: 5n };
    const parts = partsOf(reference).map((part) => ({ ...part, direction: 'debit' as const }));
    files.bank.say(accountReport('camt.053', charge, ...parts), `H-${account.id}.xml`);
    await files.rounds(exchange);
    const [told] = await files.rows(`SELECT kind, reference FROM bank_entries WHERE key = '${charge.key}'`);
    expect(told).toEqual({ kind: 'unknown', reference: null });
  });

  test('a credit that names neither a payer nor a reference of the bank waits', async () => {
    const debtor = { name: null, iban: null, accountNumber: null, bic: null };
    files.bank.say(accountReport('camt.054', { ...sumOf('D', 700n), bankReference: null, debtor }));
    await files.rounds(exchange);
    expect(await balance()).toBe(1_000);
  });

  test('the details of a batch of ours that its sum has ended are told once by the statement', async () => {
    const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
    await exchange.round();
    const [one, two] = ids.map(arrivedOf);
    if (!one || !two) throw new Error('two payments have arrived');
    const batch = { originalBatchId: one.batchId, count: 2 };
    const reference = `E ${one.batchId}`;
    const names = { instructionId: null, paymentReference: null, bankReference: reference };
    files.bank.say(
      accountReport('camt.054', debitOf(one, { ...names, batch, key: `sum ${one.batchId}`, amountMinor: 3_000n })),
    );
    await files.rounds(exchange);
    const parts = [one, two].map((payment) => debitOf(payment, { entryReference: reference }));
    files.bank.say(accountReport('camt.053', ...parts));
    await files.rounds(exchange);
    const told = await files.rows(
      `SELECT transfer_id FROM bank_entries WHERE kind = 'payment' AND transfer_id IN ('${ids.join("','")}')`,
    );
    expect(told).toHaveLength(2);
    expect(await Promise.all(ids.map(breaksOf))).toEqual([[], []]);
  });

  test('two debits of a payment in one file are a break: the first pays it', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const sent = arrivedOf(id);
    const twice = ['one', 'two'].map((which) => debitOf(sent, { key: `${which} of ${sent.id}` }));
    files.bank.say(accountReport('camt.054', ...twice));
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('completed');
    expect(await breaksOf(id)).toHaveLength(1);
    const entries = await files.rows(`SELECT outcome FROM bank_entries WHERE transfer_id = '${id}' ORDER BY outcome`);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['applied', 'break']);
  });

  test('another debit of a payment that has ended is a break', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const sent = arrivedOf(id);
    files.bank.say(accountReport('camt.054', debitOf(sent)));
    files.bank.say(accountReport('camt.053', debitOf(sent)));
    await files.rounds(exchange);
    expect(await breaksOf(id)).toEqual([]);
    files.bank.say(accountReport('camt.053', debitOf(sent, { key: `again ${id}` })));
    await files.rounds(exchange);
    expect(await breaksOf(id)).toEqual([{ kind: 'callback-contradicts' }]);
    expect(await balance()).toBe(990);
  });

  test.each([
    { what: 'day', changed: { bookedOn: '2027-06-15' } },
    { what: 'payer', changed: { debtor: { name: 'Alan Turing', iban: null, accountNumber: '11112222', bic: null } } },
  ])('money in that is told again with another $what is a break, and changes nothing', async ({ what, changed }) => {
    const entry = creditOf(`${what} ${account.id}`, 500n, account.ledgerNumber);
    files.bank.say(accountReport('camt.054', entry));
    await files.rounds(exchange);
    files.bank.say(accountReport('camt.053', { ...entry, ...changed }), `${what}-${account.id}.xml`);
    files.bank.say(accountReport('camt.054', { ...entry, ...changed }));
    await files.rounds(exchange);
    expect(await balance()).toBe(1_005);
    expect(await breaksOf(entry.key)).toEqual([{ kind: 'callback-contradicts' }]);
    const [told] = await files.rows(`SELECT booked_on, stated_by FROM bank_entries WHERE key = '${entry.key}'`);
    expect(told).toEqual({ booked_on: '2027-06-16', stated_by: null });
    expect((await asideFiles()).map(({ name }) => name)).not.toContain(`${what}-${account.id}.xml`);
    // What the bank uses its reference for once more is not passed over.
    files.bank.say(accountReport('camt.053', { ...entry, ...changed, bookedOn: '2027-06-14' }));
    await files.rounds(exchange);
    expect(await breaksOf(entry.key)).toHaveLength(2);
  });

  test('the debit of a payment that is told again with another day is a break, and changes nothing', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const debit = debitOf(arrivedOf(id));
    files.bank.say(accountReport('camt.054', debit));
    await files.rounds(exchange);
    files.bank.say(accountReport('camt.053', { ...debit, bookedOn: '2027-06-15' }));
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('completed');
    expect(await breaksOf(id)).toEqual([{ kind: 'callback-contradicts' }]);
    const entries = await files.rows(`SELECT outcome, stated_by FROM bank_entries WHERE transfer_id = '${id}'`);
    expect(entries).toEqual([{ outcome: 'applied', stated_by: null }]);
  });

  test('a movement of another account is none of ours, also if its number is ours at another bank', async () => {
    const foreign = ['99999999', '20000031926819'].map((number) => ({
      ...creditOf(`${number} ${account.id}`, 500n, account.ledgerNumber),
      account: number,
    }));
    for (const entry of foreign) files.bank.say(accountReport('camt.053', entry), `${entry.account}-${account.id}.xml`);
    await files.rounds(exchange);
    expect(await balance()).toBe(1_000);
    const aside = (await asideFiles()).map(({ name }) => name);
    expect(aside).toEqual(expect.arrayContaining(foreign.map((entry) => `${entry.account}-${account.id}.xml`)));
  });

  test.each([
    { what: 'another account of ours', number: '44445555', pounds: 14 },
    { what: 'the same account, written otherwise', number: '60161331926819', pounds: 7 },
  ])('a bank’s reference is of one account: a sum that has it in $what', async ({ number, pounds }) => {
    const { configuration } = files.services;
    const offer = { ...FILES_OFFER, bank: { ...FILES_OFFER.bank, pooledAccount: pooledAt('44445555') } };
    const providers = configuration.providers.map((one) =>
      one.code === FILES_BANK ? { ...one, offers: [...one.offers, offer] } : one,
    );
    await exchange.end();
    exchange = files.exchangeOf({ ...files.services, configuration: { ...configuration, providers } });
    const reference = `I ${account.id}`;
    files.bank.say(accountReport('camt.054', ...partsOf(reference)));
    files.bank.say(
      accountReport('camt.053', sumOf(reference, 700n, { key: `sum ${number} ${account.id}`, account: number })),
    );
    await files.rounds(exchange);
    expect(await balance()).toBe(1_000 + pounds);
  });
});

describe('levels of a status report', () => {
  test('a rejection without a reason of its own has that of its batch: as a duplicate it is no outcome', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const sent = arrivedOf(id);
    const batch = { originalBatchId: sent.batchId, status: 'RJCT', reasons: ['AM05'] };
    const file = { status: 'RJCT', reasons: [] };
    files.bank.say(statusReport(sent.file.messageId, file, [{ ...batch, payments: [reported(sent, 'RJCT')] }]));
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('processing');
  });

  test('a payment that is named without a status has that of its file', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const sent = arrivedOf(id);
    const payments = [{ ...reported(sent, ''), status: null }];
    const batch = { originalBatchId: sent.batchId, status: null, reasons: [], payments };
    files.bank.say(statusReport(sent.file.messageId, { status: 'RJCT', reasons: ['FF01'] }, [batch]));
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('failed');
  });
});

describe('trouble that passes', () => {
  test('a file that could not be applied is taken again by the next rounds', async () => {
    const { bank } = files.services;
    let failures = 2;
    const readBankMessage: typeof bank.readBankMessage = async (bytes) => {
      failures -= 1;
      if (failures >= 0) throw new Error('a fault of ours');
      return bank.readBankMessage(bytes);
    };
    const failing = files.exchangeOf({ ...files.services, bank: { ...bank, readBankMessage } });
    files.bank.say(accountReport('camt.054', creditOf(`retried ${account.id}`, 500n, account.ledgerNumber)), 'try.xml');
    await files.rounds(failing);
    await failing.round();
    await failing.round();
    await failing.end();
    expect(await balance()).toBe(1_005);
    expect(await asideFiles()).not.toContainEqual(expect.objectContaining({ name: 'try.xml' }));
  });

  test('a name that the bank uses again while its file is fetched loses neither file', async () => {
    const said = ['one', 'two'].map((key) => creditOf(`${key} ${account.id}`, 500n, account.ledgerNumber));
    const [one, two] = said;
    if (!one || !two) throw new Error('two credits');
    let downloads = 0;
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      return {
        ...transport,
        download: async (name) => {
          const content = await transport.download(name);
          downloads += 1;
          if (downloads === 1)
            files.bank.say(
              accountReport('camt.054', { ...two, remittanceText: `${two.remittanceText} again` }),
              'same.xml',
            );
          return content;
        },
      };
    };
    const reusing = files.exchangeOf({ ...files.services, openTransport });
    files.bank.say(accountReport('camt.054', one), 'same.xml');
    await files.rounds(reusing);
    await files.rounds(reusing);
    await reusing.end();
    expect(await balance()).toBe(1_010);
  });

  test('an upload that another process left is never given the name of a file that may have arrived', async () => {
    const id = await files.pay(account.id, 10);
    let name = '';
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      return {
        ...transport,
        rename: async (part, to) => {
          name = to;
          const bytes = readFileSync(join(files.bank.folders.out, part));
          await transport.rename(part, to);
          // The bank takes the file, and the late upload of a stopped process appears.
          renameSync(join(files.bank.folders.out, to), join(files.bank.folders.archive, to));
          writeFileSync(join(files.bank.folders.out, `${to}.part`), bytes);
        },
      };
    };
    const quick = files.exchangeOf({ ...files.services, openTransport });
    await quick.round();
    await quick.end();
    await exchange.round();
    await exchange.round();
    expect(files.bank.arrived().map((file) => file.name)).not.toContain(name);
    expect(await fileOf(id)).toMatchObject({ state: 'delivering', reason: UNPROVEN });
  });

  test('a process that lost its lease while it read a file applies nothing of it', async () => {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    await exchange.end();
    files.bank.say(statusOf(arrivedOf(id), 'ACSP'));
    const { database } = files.services;
    const statement: Database['reader']['statement'] = async (text, parameters) => {
      if (text.includes('message_id = $2')) {
        await files.rows(
          `UPDATE bank_file_leases SET holder = '${randomUUID()}', held_until = clock_timestamp() + interval '1 hour'`,
        );
      }
      return database.reader.statement(text, parameters);
    };
    const reader = new Proxy(database.reader, {
      get: (target, name) => {
        const member = name === 'statement' ? statement : Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const stopped = new Proxy(database, {
      get: (target, name) => (name === 'reader' ? reader : Reflect.get(target, name)),
    });
    const slow = files.exchangeOf({ ...files.services, database: stopped });
    await slow.round();
    await expect(slow.round()).rejects.toThrow('another process');
    expect(await statusNow(id)).toBe('processing');
    await files.loseLease();
    await exchange.round();
    expect(await statusNow(id)).toBe('released');
  });

  test('a process that lost its lease during an upload does not give the file its name', async () => {
    const id = await files.pay(account.id, 10);
    const openTransport = async (): Promise<Transport> => {
      const transport = await files.services.openTransport();
      return {
        ...transport,
        upload: async (part, content) => {
          await transport.upload(part, content);
          await files.rows(
            `UPDATE bank_file_leases SET holder = '${randomUUID()}', held_until = clock_timestamp() + interval '1 hour'`,
          );
        },
      };
    };
    const slow = files.exchangeOf({ ...files.services, openTransport });
    await expect(slow.round()).rejects.toThrow('another process');
    expect(timesArrived(id)).toBe(0);
    await files.loseLease();
    await exchange.round();
    expect(timesArrived(id)).toBe(1);
  });

  test('a bank whose key cannot be read fails by itself', async () => {
    const { configuration } = files.api.services;
    const transport: FileExchange['transport'] = {
      kind: 'sftp',
      host: '127.0.0.1',
      port: 22,
      user: 'us',
      hostKeys: [],
      addresses: null,
      privateKeyFile: '/nowhere/key',
      out: 'out',
      in: 'in',
      archive: 'archive',
    };
    const settings = { ...files.services.bank.settings, profile: 'uk', transport };
    const fileExchanges = new Map([[FILES_BANK, settings]]);
    const logger = files.api.services.logger;
    const [bank] = await exchangedBanks({
      ...files.services,
      logger,
      configuration: { ...configuration, fileExchanges },
      sftpPassphrase: null,
      pgpPassphrase: null,
    });
    await expect(bank?.openTransport()).rejects.toThrow('key');
  });
});

test('payments in two currencies go by two files', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await files.rows(`UPDATE bank_instructions SET currency = 'EUR' WHERE transfer_id = '${ids[1]}'`);
  await exchange.round();
  const [one, two] = ids.map(arrivedOf);
  expect(one?.file.messageId).not.toBe(two?.file.messageId);
});

test('after a restore a bank with files keeps nothing from being read again: its files are not there to be asked for', async () => {
  const { database, configuration } = files.api.services;
  const providers = new Map([[FILES_BANK, files.adapter]]);
  const fileExchanges = new Map([[FILES_BANK, files.services.bank.settings]]);
  const restored = { database, providers, configuration: { ...configuration, fileExchanges }, initiator: TESTER };
  const window = { from: new Date('2027-06-16T11:00:00Z'), to: new Date('2027-06-16T13:00:00Z') };
  expect(await catchUpWithProviders(restored, window)).toMatchObject({ received: 0 });
});

test('in any order, and twice, the same files lead to the same end (by chance, with the seed printed)', async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  const random = randomFrom(seed);
  console.info(`seed ${seed}`);
  const ids: string[] = [];
  for (let index = 0; index < 8; index += 1) ids.push(await files.pay(account.id, 10 + index));
  await exchange.round();
  const sent = ids.map(arrivedOf);
  const said: BankMessage[] = [];
  const ends = sent.map((payment, index) => {
    const accepted = [statusOf(payment, 'ACTC'), statusOf(payment, 'ACSP')];
    switch (index % 4) {
      case 0:
        said.push(
          ...accepted,
          accountReport('camt.054', debitOf(payment)),
          accountReport('camt.053', debitOf(payment)),
        );
        return 'completed';
      case 1:
        said.push(statusOf(payment, 'ACTC'), statusOf(payment, 'RJCT', 'AC04'));
        return 'failed';
      case 2: {
        const back = returnOf(payment, 'AC01');
        said.push(
          ...accepted,
          accountReport('camt.054', debitOf(payment)),
          accountReport('camt.053', debitOf(payment), back),
          accountReport('camt.054', back),
        );
        return 'completed';
      }
      default:
        said.push(...accepted, statusOf(payment, 'RJCT', 'MS02'));
        return 'failed';
    }
  });
  const twice = [...said, ...said]
    .map((message) => ({ message, at: random.next() }))
    .sort((one, other) => one.at - other.at);
  for (const [index, { message }] of twice.entries()) {
    files.bank.say(message);
    if (index % 5 === 4) await files.rounds(exchange);
  }
  await files.rounds(exchange);
  expect(await Promise.all(ids.map(statusNow))).toEqual(ends);
  // Of the first and fifth: what was paid for good.
  expect(await balance()).toBe(1_000 - 10 - 14);
  const breaks = await files.rows(`SELECT 1 FROM reconciliation_breaks WHERE our_reference IN ('${ids.join("','")}')`);
  expect(breaks).toEqual([]);
});

describe('the statement of a day', () => {
  const DAY = '2027-06-16';
  const ofDay = async () => {
    const range = { from: new Date(`${DAY}T00:00:00Z`), to: new Date('2027-06-17T00:00:00Z') };
    const { entries } = (await files.adapter.fetchStatement({ currency: 'GBP', ...range }, {})) ?? {};
    return entries.filter(({ ourReference }) => ourReference !== null);
  };

  test('has the payments of a batch once, whether its sum or its details are told first, and none that only a camt.054 told', async () => {
    const batches: (readonly string[])[] = [];
    for (const first of ['camt.053', 'camt.054'] as const) {
      const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
      await exchange.round();
      const [one, two] = ids.map(arrivedOf);
      if (!one || !two) throw new Error('two payments have arrived');
      const reference = `S ${one.batchId}`;
      const names = { instructionId: null, paymentReference: null, bankReference: reference };
      // Its number is not ours, so that only the details end its payments.
      const batch = { originalBatchId: one.batchId, count: 3 };
      const sum = debitOf(one, { ...names, batch, key: `sum ${one.batchId}`, amountMinor: 3_000n });
      const details = [one, two].map((payment) => debitOf(payment, { entryReference: reference }));
      const messages = [accountReport('camt.053', sum), accountReport('camt.054', ...details)];
      for (const message of first === 'camt.053' ? messages : messages.reverse()) {
        files.bank.say(message);
        await files.rounds(exchange);
      }
      batches.push(ids);
    }
    const untold = await files.pay(account.id, 30);
    await exchange.round();
    files.bank.say(accountReport('camt.054', debitOf(arrivedOf(untold))));
    await files.rounds(exchange);
    const told = (await ofDay()).map(({ ourReference }) => ourReference);
    for (const id of batches.flat())
      expect(
        told.filter((one) => one === id),
        id,
      ).toHaveLength(1);
    expect(told).not.toContain(untold);
  });

  test('is missed in the account of a movement, whatever the statement of another account covers', async () => {
    const { reader } = files.api.database;
    const [{ id: fileId }] = await files.rows('SELECT id FROM bank_files LIMIT 1');
    const day = '2027-06-01';
    const entry = { ...creditOf(`unstated ${account.id}`, 500n, account.ledgerNumber), bookedOn: day };
    const stated = (number: string) =>
      files.rows(`INSERT INTO bank_statement_days (provider, currency, account, day, file_id)
        VALUES ('${FILES_BANK}', 'GBP', '${number}', '${day}', '${fileId}')`);
    files.bank.say(accountReport('camt.054', entry));
    await files.rounds(exchange);
    await stated('99999999');
    expect(await hasUnstated(reader, FILES_BANK, 'GBP', day)).toBe(true);
    await stated(entry.account);
    expect(await hasUnstated(reader, FILES_BANK, 'GBP', day)).toBe(false);
  });

  test('is there by a statement of the day, or if those before and after it follow each other by their balances', async () => {
    const days = (day: string) => files.adapter.hasStatementOf?.({ currency: 'GBP', day }, {});
    const [{ id: fileId }] = await files.rows('SELECT id FROM bank_files LIMIT 1');
    const stated = (day: string, opening: number | null, closing: number | null) =>
      files.rows(`INSERT INTO bank_statement_days (provider, currency, account, day, opening_minor, closing_minor, file_id)
        VALUES ('${FILES_BANK}', 'GBP', '31926819', '${day}', ${opening}, ${closing}, '${fileId}')`);
    await stated('2027-08-02', 0, 500);
    expect(await days('2027-08-02')).toBe(true);
    expect(await days('2027-08-03')).toBe(false);
    await stated('2027-08-04', 500, 700);
    expect(await days('2027-08-03')).toBe(true);
    await stated('2027-08-06', 900, 950);
    // A statement is missing in between: money has moved.
    expect(await days('2027-08-05')).toBe(false);
    await stated('2027-08-08', null, null);
    expect(await days('2027-08-07')).toBe(false);
    expect(await files.adapter.hasStatementOf?.({ currency: 'EUR', day: '2027-08-02' }, {})).toBe(false);
  });
});

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ToldMessage, told } from '../../test/faults/file-bank/bank-answers.ts';
import { cancellationFile, type HandWrittenPayment, paymentFile } from '../../test/faults/file-bank/payment-file.ts';
import { changeSettings } from './customers.ts';
import { NO_FILE_FAULTS } from './faults.ts';
import { FileBank } from './file-bank.ts';
import { confirm } from './intake/submissions.ts';
import { closeDays } from './outbox/statements.ts';
import { FILE_OUTCOMES } from './outcomes.ts';
import type { CustomerSettings } from './records.ts';

const CUSTOMER = 'acme';
const DAY_MS = 86_400_000;

let directory: string;
let bank: FileBank;
/** It stands still between moves: on a busy machine nothing more comes due while a test looks. */
let nowMs: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'file-bank-'));
  // Noon: no test crosses midnight unless it wants to.
  nowMs = Date.parse('2026-11-26T12:00:00Z');
  await open();
});

afterEach(async () => {
  await bank?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(settings: Partial<CustomerSettings> = {}): Promise<void> {
  const onFailure = (error: unknown) => {
    throw error;
  };
  bank = await FileBank.open({ directory, now: () => new Date(nowMs), onFailure });
  await bank.openCustomer(CUSTOMER);
  await changeSettings(bank.bank, CUSTOMER, settings);
}

function put(name: string, content: string): void {
  const path = bank.folders.path(CUSTOMER, 'in', name);
  writeFileSync(`${path}.part`, content.slice(0, content.length / 2));
  writeFileSync(path, content);
  rmSync(`${path}.part`);
  bank.look();
}

function messages(kind = ''): ToldMessage[] {
  const out = join(bank.folders.of(CUSTOMER), 'out');
  return readdirSync(out)
    .filter((name) => name.startsWith(kind))
    .map((name) => told(readFileSync(join(out, name))));
}

function advance(ms: number): void {
  nowMs += ms;
  bank.clockMoved();
}

/** What is due by now has been told, and nothing is being read. */
async function quiet(): Promise<void> {
  const { books } = bank.bank;
  for (;;) {
    await bank.looked();
    const nowMs = bank.bank.now().getTime();
    const isIdle =
      readdirSync(join(bank.folders.of(CUSTOMER), 'in')).length === 0 &&
      [...books.receivedFiles.values()].every(({ isArchived }) => isArchived) &&
      [...books.timers.values()].every(({ dueAtMs }) => dueAtMs > nowMs) &&
      [...books.notices.values()].every(({ dueAtMs }) => dueAtMs > nowMs) &&
      books.messagesDue.size === 0;
    if (isIdle) return;
  }
}

const statuses = () => messages('pain.002').flatMap((message) => message.statuses);
const movements = (kind: string) =>
  messages(kind).flatMap(({ entries }) =>
    entries.map(({ direction, details }) => `${direction} ${details.join(', ')}`),
  );
const of = (id: string, list: readonly string[]) => list.filter((one) => one.includes(`${id} `)).sort();

/** One payment of each outcome; `E17` is one of the others. */
const EVERY_OUTCOME: readonly HandWrittenPayment[] = [...Object.keys(FILE_OUTCOMES), '17'].map((ending) => ({
  endToEndId: `E${ending.padStart(2, '0')}`,
  amount: `10.${ending.padStart(2, '0')}`,
}));

test('a file with every outcome: each payment is told as the table says, and the day’s statement has every movement once', async () => {
  put('all.xml', paymentFile({ messageId: 'ALL', batches: [EVERY_OUTCOME.slice(0, 9), EVERY_OUTCOME.slice(9)] }));
  await quiet();
  for (const ms of [500, 1_000, 1_000, 5_000, 10_000]) {
    advance(ms);
    await quiet();
  }

  const settled = ['03', '05', '06', '07', '11', '14', '15', '16', '17'];
  for (const ending of settled.filter((one) => one !== '11'))
    expect(of(`E${ending}`, statuses()), ending).toEqual([`E${ending} ACSC`]);
  expect(of('E01', statuses())).toEqual(['E01 RJCT AC03']);
  expect(of('E02', statuses())).toEqual(['E02 ACSP']);
  expect(of('E04', statuses())).toEqual([]);
  expect(of('E08', statuses()).filter((one) => one.endsWith('ACSC'))).toEqual(['E08 ACSC', 'E08 ACSC']);
  expect(of('E09', statuses())).toEqual(['E09 ACSC']);
  expect(of('E10', statuses())).toEqual(['E10 ACSP']);
  expect(of('E11', statuses())).toEqual(['E11 RJCT BE08']);
  expect(of('E12', statuses())).toEqual(['E12 RJCT BE08']);
  expect(of('E13', statuses())).toEqual([]);

  const notified = movements('camt.054');
  expect(of('E01', notified)).toEqual([]);
  expect(of('E02', notified)).toEqual(['CRDT E02 10.02 AC07', 'DBIT E02 10.02']);
  expect(of('E03', notified)).toEqual(['CRDT E03 10.03 AC06', 'DBIT E03 10.03']);
  for (const silent of ['E04', 'E10', 'E11', 'E12', 'E13']) expect(of(silent, notified), silent).toEqual([]);
  expect(of('E08', notified)).toEqual(['DBIT E08 10.08', 'DBIT E08 10.08']);
  for (const ending of ['05', '06', '07', '09', '14', '15', '16', '17']) {
    expect(of(`E${ending}`, notified), ending).toEqual([`DBIT E${ending} 10.${ending}`]);
  }

  await closeDays(bank.bank, '2026-11-27');
  await quiet();
  const [statement, ...others] = messages('camt.053');
  expect(others).toEqual([]);
  const debits = ['02', '03', '04', '05', '06', '07', '08', '09', '14', '15', '16', '17'];
  const booked = movements('camt.053');
  expect(booked.filter((one) => one.startsWith('DBIT')).sort()).toEqual(debits.map((one) => `DBIT E${one} 10.${one}`));
  expect(booked.filter((one) => one.startsWith('CRDT')).sort()).toEqual(['CRDT E02 10.02 AC07', 'CRDT E03 10.03 AC06']);
  const spentMinor = debits.reduce((sum, one) => sum + 1_000 + Number(one), 0) - 2_005;
  expect(statement?.balances).toEqual(['OPBD 0.00', `CLBD -${(spentMinor / 100).toFixed(2)}`]);

  // The engine's own position counts what is accepted and still open, too.
  const { positionMinor = 0n } = bank.bank.positions.all.get('EUR') ?? {};
  expect(positionMinor).toBe(BigInt(-spentMinor - 1_010 - 1_013));

  advance(3 * DAY_MS);
  await quiet();
  expect(of('E16', movements('camt.054'))).toEqual(['CRDT E16 10.16 AC06', 'DBIT E16 10.16']);
});

test('camt.054 comes before pain.002 for .09, and both come late for .07', async () => {
  put(
    'late.xml',
    paymentFile({
      messageId: 'LATE',
      batches: [
        [
          { endToEndId: 'E07', amount: '1.07' },
          { endToEndId: 'E09', amount: '1.09' },
        ],
      ],
    }),
  );
  await quiet();
  expect(statuses()).toEqual([]);
  expect(movements('camt.054')).toEqual(['DBIT E09 1.09']);
  advance(2_000);
  await quiet();
  expect(statuses()).toEqual(['E09 ACSC']);
  advance(8_000);
  await quiet();
  expect(of('E07', statuses())).toEqual(['E07 ACSC']);
  expect(of('E07', movements('camt.054'))).toEqual(['DBIT E07 1.07']);
});

test('a file comes twice, a payment twice, and an instruction after a rejection: paid once, and told so', async () => {
  const file = paymentFile({
    messageId: 'ONE',
    batches: [
      [
        { endToEndId: 'E1', amount: '5.00' },
        { endToEndId: 'E11', amount: '5.11' },
      ],
    ],
  });
  put('one.xml', file);
  await quiet();
  expect(messages('pain.002')).toMatchObject([
    { originalMessageId: 'ONE', fileStatus: 'PART', statuses: ['E1 ACSC', 'E11 RJCT BE08'] },
  ]);

  put('one.xml', file);
  put('one-again.xml', file.replace('5.00', '6.00'));
  await quiet();
  const duplicates = messages('pain.002').filter(({ fileStatus }) => fileStatus === 'RJCT');
  expect(duplicates).toMatchObject([
    { reasons: ['DU01'], statuses: [] },
    { reasons: ['DU01'], statuses: [] },
  ]);

  const again = [
    { endToEndId: 'E1', instructionId: 'E1-2', amount: '5.00' },
    { endToEndId: 'E11', instructionId: 'E11-2', amount: '5.11' },
  ];
  put('two.xml', paymentFile({ messageId: 'TWO', batches: [again] }));
  await quiet();
  expect(
    messages('pain.002')
      .find(({ originalMessageId }) => originalMessageId === 'TWO')
      ?.statuses.toSorted(),
  ).toEqual(['E1 RJCT DU04', 'E11 ACSC']);
  expect(movements('camt.054').sort()).toEqual(['DBIT E1 5.00', 'DBIT E11 5.11']);
});

test('what the bank’s own rules reject is told by file or payment, and the rest is paid', async () => {
  put('count.xml', paymentFile({ messageId: 'COUNT', count: 2, batches: [[{ endToEndId: 'E1', amount: '1.00' }]] }));
  put(
    'sum.xml',
    paymentFile({ messageId: 'SUM', controlSum: '1.01', batches: [[{ endToEndId: 'E2', amount: '1.00' }]] }),
  );
  put('garbage.xml', 'not a message');
  put('schema.xml', paymentFile({ messageId: 'SCHEMA', batches: [[{ endToEndId: 'E3', amount: 'ten' }]] }));
  const mixed = [
    { endToEndId: 'E4', amount: '1.00', iban: 'FR1420041010050500013M02607' },
    { endToEndId: 'E5', amount: '1.00', iban: null },
    { endToEndId: 'E6', amount: '1.001' },
    { endToEndId: 'E7', amount: '1.00' },
  ];
  put('mixed.xml', paymentFile({ messageId: 'MIXED', batches: [mixed] }));
  await quiet();
  const rejected = messages('pain.002').filter(({ fileStatus }) => fileStatus === 'RJCT');
  const byFile = rejected.map(({ originalMessageId, reasons }) => `${originalMessageId} ${reasons.join()}`).sort();
  expect(byFile).toEqual(['COUNT AM18', 'NOTPROVIDED FF01', 'SCHEMA FF01', 'SUM AM10']);
  expect(statuses().sort()).toEqual(['E4 RJCT AC01', 'E5 RJCT AC01', 'E6 RJCT AM12', 'E7 ACSC']);
  expect(movements('camt.054')).toEqual(['DBIT E7 1.00']);
});

test.each([
  ['single', 3, ['DBIT E1 1.00', 'DBIT E2 2.00', 'DBIT E4 3.04']],
  ['with-details', 2, ['DBIT E1 1.00, E2 2.00', 'DBIT E4 3.04']],
  ['details-apart', 2, ['DBIT ', 'DBIT E4 3.04']],
  ['without-details', 2, ['DBIT ', 'DBIT E4 3.04']],
] as const)(
  'batch booking %s: camt.053 has %i entries, and camt.054 the same with the same references',
  async (batchBooking, count, expected) => {
    await changeSettings(bank.bank, CUSTOMER, { batchBooking, camtVersion: '02' });
    const payments = [
      { endToEndId: 'E1', amount: '1.00' },
      { endToEndId: 'E2', amount: '2.00' },
      { endToEndId: 'E4', amount: '3.04' },
    ];
    put('batch.xml', paymentFile({ messageId: 'BATCH', batches: [payments], version: '03' }));
    await quiet();
    advance(2_000);
    await quiet();
    await closeDays(bank.bank, '2026-11-27');
    await quiet();
    expect(movements('camt.053').sort()).toEqual(expected);
    const entries = messages('camt.053').flatMap((message) => message.entries);
    expect(entries).toHaveLength(count);
    const notified = messages('camt.054').flatMap((message) => message.entries);
    const batch = entries.find((entry) => entry.batch !== null);
    if (batchBooking === 'single') expect(batch).toBeUndefined();
    else expect(batch).toMatchObject({ batch: 'BATCH-1 2', amount: '3.00' });
    const ofBatch = notified.filter(({ reference }) => reference === (batch ?? entries[0])?.reference);
    expect(ofBatch.map(({ details }) => details.length)).toEqual(
      {
        single: [1],
        'with-details': [2],
        'details-apart': expect.toSatisfy((found: number[]) => found.toSorted().join() === '0,2'),
        'without-details': [0],
      }[batchBooking],
    );
  },
);

test('a bank that sends rejections only, and camt.053 only', async () => {
  await changeSettings(bank.bank, CUSTOMER, { statusReports: 'rejections', notifications: false });
  put(
    'few.xml',
    paymentFile({
      messageId: 'FEW',
      batches: [
        [
          { endToEndId: 'E0', amount: '1.00' },
          { endToEndId: 'E1', amount: '1.01' },
        ],
      ],
    }),
  );
  await quiet();
  expect(messages()).toMatchObject([{ fileStatus: 'PART', statuses: ['E1 RJCT AC03'] }]);
  advance(DAY_MS);
  await quiet();
  expect(movements('camt.053')).toEqual(['DBIT E0 1.00']);
});

test('the payee check: matches go on, the others wait for a confirmation at the bank, and silence is told by nothing', async () => {
  await changeSettings(bank.bank, CUSTOMER, { payeeCheck: 'confirmed' });
  const payees = ['Zoe Payee', 'Close Zoe Payee', 'Nomatch Ltd', 'Notpossible Ltd', 'Silent Ltd'];
  const payments = payees.map((payee, index) => ({ endToEndId: `E${index}`, amount: '1.00', payee }));
  put('check.xml', paymentFile({ messageId: 'CHECK', batches: [payments] }));
  await quiet();
  const report = messages('pain.002').find((message) => message.statuses.includes('E1 RVMC'));
  expect(report?.statuses).toEqual(['E0 RCVC', 'E1 RVMC', 'E2 RVNM', 'E3 RVNA']);
  expect(of('E0', statuses())).toEqual(['E0 ACSC', 'E0 RCVC']);
  expect(movements('camt.054')).toEqual(['DBIT E0 1.00']);
  for (const instruction of bank.bank.books.instructions.values()) {
    if (instruction.endToEndId !== 'E0') await confirm(bank.bank, instruction);
  }
  await quiet();
  expect(of('E4', statuses())).toEqual(['E4 ACSC']);
  expect(movements('camt.054')).toHaveLength(5);
});

test('opted out of the payee check: packages are not checked, a file of one is', async () => {
  await changeSettings(bank.bank, CUSTOMER, { payeeCheck: 'opted-out' });
  const two = [0, 1].map((index) => ({ endToEndId: `E${index}`, amount: '1.00', payee: 'Nomatch Ltd' }));
  put('two.xml', paymentFile({ messageId: 'TWO', batches: [two] }));
  put(
    'single.xml',
    paymentFile({
      messageId: 'SINGLE',
      version: '03',
      batches: [[{ endToEndId: 'E2', amount: '1.00', payee: 'Nomatch Ltd' }]],
    }),
  );
  await quiet();
  expect(statuses().sort()).toEqual(['E0 ACSC', 'E1 ACSC', 'E2 PDNG RVNM']);
});

test('a cancellation is answered by camt.029, and money that comes back by camt.054', async () => {
  await changeSettings(bank.bank, CUSTOMER, { payeeCheck: 'confirmed' });
  const payments = [
    ...['00', '10', '14', '15'].map((ending) => ({ endToEndId: `E${ending}`, amount: `1.${ending}` })),
    { endToEndId: 'EHELD', amount: '1.00', payee: 'Nomatch Ltd' },
  ];
  put('paid.xml', paymentFile({ messageId: 'PAID', batches: [payments] }));
  await quiet();
  const ids = ['E00', 'E10', 'E14', 'E15', 'EHELD', 'ENEVER'];
  put('cancel.xml', cancellationFile({ messageId: 'C', originalMessageId: 'PAID', endToEndIds: ids }));
  await quiet();
  advance(1_500);
  await quiet();
  const answers = messages('camt.029').flatMap((message) => message.statuses);
  expect(answers.sort()).toEqual(['E00 ACCR', 'E10 ACCR', 'E14 RJCR CUST', 'EHELD ACCR', 'ENEVER RJCR NOOR']);
  const credits = movements('camt.054').filter((one) => one.startsWith('CRDT'));
  expect(credits.sort()).toEqual(['CRDT E00 1.00 FOCR', 'CRDT E10 1.10 FOCR', 'CRDT E15 1.15 FOCR']);
  expect(of('EHELD', statuses())).toContain('EHELD RJCT DS02');
});

test('a payment of a later day waits for it', async () => {
  put(
    'later.xml',
    paymentFile({ messageId: 'LATER', executionDate: '2026-11-28', batches: [[{ endToEndId: 'E1', amount: '1.00' }]] }),
  );
  await quiet();
  expect(statuses()).toEqual(['E1 ACCP']);
  expect(movements('camt.054')).toEqual([]);
  advance(2 * DAY_MS);
  await quiet();
  expect(movements('camt.054')).toEqual(['DBIT E1 1.00']);
});

test('a payment’s day begins where its currency is at home: for euros in Brussels, an hour before London', async () => {
  const tomorrow = { executionDate: '2026-11-27' };
  advance(Date.parse('2026-11-26T23:30:00Z') - bank.bank.now().getTime());
  put('eur.xml', paymentFile({ messageId: 'EUR', ...tomorrow, batches: [[{ endToEndId: 'E1', amount: '1.00' }]] }));
  const pounds: HandWrittenPayment = { endToEndId: 'E2', amount: '1.00', currency: 'GBP' };
  put('gbp.xml', paymentFile({ messageId: 'GBP', ...tomorrow, batches: [[pounds]] }));
  await quiet();
  expect(statuses().sort()).toEqual(['E1 ACSC', 'E2 ACCP']);
});

test('the bank’s files come held, doubled, or for a second in half', async () => {
  bank.faults.set({ ...NO_FILE_FAULTS, answers: 'held' });
  put('one.xml', paymentFile({ messageId: 'ONE', batches: [[{ endToEndId: 'E1', amount: '1.00' }]] }));
  while (bank.bank.books.messagesDue.size < 2) await sleep(20);
  expect(messages()).toEqual([]);
  bank.faults.set({ ...NO_FILE_FAULTS, answers: 'doubled' });
  await quiet();
  const ids = messages().map(({ messageId }) => messageId);
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(2);

  bank.faults.set({ ...NO_FILE_FAULTS, answers: 'half-visible' });
  put('two.xml', paymentFile({ messageId: 'TWO', batches: [[{ endToEndId: 'E2', amount: '1.00' }]] }));
  const isHalf = () => {
    try {
      messages();
      return false;
    } catch {
      return true;
    }
  };
  while (!isHalf()) await sleep(5);
  await quiet();
  expect(statuses()).toContain('E2 ACSC');
});

/** Movements and statuses of all messages that were ever written, and the account's balance. */
function allTold() {
  const content = [...bank.bank.books.messagesOut.values()].map((message) => told(message.content));
  const entries = content.flatMap((message) =>
    message.entries.flatMap(({ direction, details }) => details.map((one) => `${direction} ${one}`)),
  );
  const balance = [...bank.bank.books.bookings.values()].at(-1)?.balanceMinor;
  return { statuses: content.flatMap((message) => message.statuses).sort(), entries: entries.sort(), balance };
}

test('stopped after any line of its journal and opened again, it pays, books and tells the same', async () => {
  const payments = ['01', '03', '04', '11', '14', '17'].map((ending) => ({
    endToEndId: `E${ending}`,
    amount: `10.${ending}`,
  }));
  const file = paymentFile({ messageId: 'LINES', batches: [payments] });
  const runToEnd = async () => {
    await quiet();
    for (const ms of [3_000, 3_000]) {
      advance(ms);
      await quiet();
    }
    await closeDays(bank.bank, '2026-11-27');
    await quiet();
    return allTold();
  };
  await changeSettings(bank.bank, CUSTOMER, { batchBooking: 'with-details' });
  put('lines.xml', file);
  const expected = await runToEnd();
  expect(expected.entries).toHaveLength(9);
  await bank.close();

  const lines = readFileSync(join(directory, 'bank.journal'), 'utf8').split('\n').slice(0, -1);
  const settings = lines.findIndex((line) => line.includes('with-details'));
  expect(lines.length).toBeGreaterThan(20);
  for (let count = settings + 1; count <= lines.length; count += 1) {
    rmSync(directory, { recursive: true });
    mkdirSync(join(directory, 'customers', CUSTOMER, 'in'), { recursive: true });
    const left = lines.slice(0, count);
    writeFileSync(join(directory, 'bank.journal'), left.map((line) => `${line}\n`).join(''));
    const isTaken = left.some((line) => line.includes('"outcome":"taken"'));
    const isArchived = left.some((line) => line.includes('"isArchived":true'));
    // Between the two the file is still there, or in the archive already.
    if (!isArchived && (!isTaken || count % 2 === 0))
      writeFileSync(join(directory, 'customers', CUSTOMER, 'in', 'lines.xml'), file);
    await open({ batchBooking: 'with-details' });
    expect(await runToEnd(), `after line ${count} of ${lines.length}`).toEqual(expected);
    await bank.close();
  }
});

test('opened again after it stopped anywhere, it goes on: nothing is paid, told or written in another way', async () => {
  put('all.xml', paymentFile({ messageId: 'ALL', batches: [EVERY_OUTCOME] }));
  await quiet();
  const before = messages()
    .map(({ messageId }) => messageId)
    .sort();
  await bank.close();
  await open();
  await quiet();
  expect(
    messages()
      .map(({ messageId }) => messageId)
      .sort(),
  ).toEqual(before);
  for (const ms of [500, 1_000, 1_000, 5_000, 10_000]) {
    advance(ms);
    await quiet();
  }
  const { books } = bank.bank;
  const debits = [...books.bookings.values()].filter(({ direction }) => direction === 'debit');
  expect(debits).toHaveLength(12);
  expect(new Set(debits.map(({ place }) => place?.endToEndId)).size).toBe(12);
  expect(of('E08', movements('camt.054'))).toEqual(['DBIT E08 10.08', 'DBIT E08 10.08']);
});

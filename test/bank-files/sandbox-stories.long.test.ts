import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UNPROVEN } from '../../activities/bank-files/exchange/deliver.ts';
import { standingByFile } from '../../cli/operations/why/bank-files.ts';
import { readBankFilesAttention } from '../../db/bank-files/attention.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import { ANSWER_FAULTS, CONNECTION_FAULTS, UPLOAD_FAULTS } from '../../sandbox/file-bank/faults.ts';
import { PAYEE_ANSWERS } from '../../sandbox/file-bank/intake/payee-check.ts';
import { STRANGE_FILES } from '../../sandbox/file-bank/strange-files.ts';
import type { Json } from '../harness/api.ts';
import { type FileAccount, type SandboxWorld, sandboxWorld } from '../harness/bank-files/sandbox-world.ts';
import { until } from '../harness/stage.ts';

// The service and the sandbox's file bank over SFTP: faults of the server, the bank's payee check, recalls, strange and repeated files.

let files: SandboxWorld;
let usualPause: SandboxWorld['pause'];
let bank: FileAccount;
let checking: FileAccount;
let optedOut: FileAccount;

beforeAll(async () => {
  files = await sandboxWorld('sandbox-stories', {
    bank: { place: 'DE', accountNumber: '1000000001' },
    checking: { place: 'DE', accountNumber: '1000000002', atBank: { payeeCheck: 'confirmed' } },
    'opted-out': {
      place: 'DE',
      accountNumber: '1000000003',
      profile: 'de-gbic',
      atBank: { payeeCheck: 'opted-out', statusReports: 'rejections' },
      settings: { windowSeconds: 60 },
    },
  });
  usualPause = files.pause;
  bank = await files.account('bank', 10_000);
  checking = await files.account('checking', 1_000);
  optedOut = await files.account('opted-out', 1_000);
});

afterEach(async () => {
  files.pause = usualPause;
  await files.bank('/faults', {}, 'DELETE');
  await files.world.invariantsHold();
});

afterAll(async () => {
  await files?.close();
});

const EVENTS = ['created', 'processing', 'released', 'completed'].map((what) => `outgoing-transfer-${what}`);

const statusOf = async (id: string): Promise<string> => (await files.transfer(id)).status;
const untilStatus = (id: string, status: string) =>
  files.until(`${id} is ${status}`, async () => ((await statusOf(id)) === status ? true : undefined));
const why = (id: string) => standingByFile(files.api.database.reader, id);

async function instructionOf(id: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT i.*, f.state AS file_state, f.reason AS file_reason, f.name FROM bank_instructions i LEFT JOIN bank_files f ON f.id = i.file_id
      WHERE i.transfer_id = '${id}' ORDER BY i.attempt DESC LIMIT 1`,
  );
  return row;
}

const untilInstruction = (id: string, holds: (row: Json) => boolean) =>
  files.until('the instruction is so', async () => {
    const row = await instructionOf(id);
    return holds(row) ? row : undefined;
  });

async function debitsOf(id: string, provider = 'bank'): Promise<number> {
  const entries = await files.bookedAtBank(provider);
  return entries.filter(({ endToEndId, direction }) => endToEndId === paymentReferenceOf(id) && direction === 'debit')
    .length;
}

describe('faults of the bank’s server', () => {
  const faults = [
    ...CONNECTION_FAULTS.map((connection) => ({ connection, times: connection === 'away' ? 1_000 : 2 })),
    ...ANSWER_FAULTS.map((answers) => ({ answers })),
    ...UPLOAD_FAULTS.filter((uploads) => uploads !== 'lost').map((uploads) => ({ uploads })),
  ];

  /** Half a file is there for a second, in which two of a service's rounds never are: what a round may have seen in half is then whole. */
  async function untilWhole(): Promise<void> {
    const unfinished = async () => {
      const { written } = await files.bank('/files?customer=bank', {}, 'GET');
      return written.flatMap(({ id, isDelivered }: Json) => (isDelivered ? [] : [id]));
    };
    const begun = await unfinished();
    await until(unfinished, (now) => !begun.some((id: string) => now.includes(id)));
    await usualPause();
  }

  async function hasShown(fault: (typeof faults)[number], id: string, failedBefore: number): Promise<boolean> {
    if ('answers' in fault) {
      if (fault.answers !== 'held') return true;
      const { written } = await files.bank('/files?customer=bank', {}, 'GET');
      return written.some(({ isDelivered }: Json) => !isDelivered) && (await statusOf(id)) === 'processing';
    }
    const isFault = ('connection' in fault ? fault.connection : fault.uploads) !== 'normal';
    return !isFault || files.failedRounds > failedBefore;
  }

  test.each(faults)(
    '%j: a payment is sent and booked once, and all that the bank tells has its effect once',
    async (fault) => {
      const failedBefore = files.failedRounds;
      await files.bank('/faults', fault);
      const id = await files.pay(bank, 10);
      if ('answers' in fault && fault.answers === 'half-visible') files.pause = untilWhole;
      else
        await files.until('the fault has shown', async () =>
          (await hasShown(fault, id, failedBefore)) ? true : undefined,
        );
      if (!('answers' in fault) || fault.answers === 'held') await files.bank('/faults', {}, 'DELETE');
      await untilStatus(id, 'completed');
      await files.quiet();
      const archived = readdirSync(join(files.folder('bank'), 'archive'));
      if ('answers' in fault && fault.answers === 'doubled') {
        expect(archived.filter((name) => /-2-(pain\.002|camt\.054)/.test(name)).length).toBeGreaterThan(1);
      }
      expect(await debitsOf(id)).toBe(1);
      expect(await files.world.events(id)).toEqual(EVENTS);
      expect(await instructionOf(id)).toMatchObject({ attempt: 1, file_state: 'delivered' });
      expect(await files.rows("SELECT name, reason FROM bank_files WHERE state = 'set-aside'")).toEqual([]);
    },
  );

  test('a file that the server says it has, and that no listing shows, may have arrived: it is not sent again', async () => {
    await files.bank('/faults', { uploads: 'lost' });
    const id = await files.pay(bank, 10);
    await files.round();
    await files.bank('/faults', {}, 'DELETE');
    for (const _ of [1, 2]) await files.round();
    const row = await instructionOf(id);
    expect(row).toMatchObject({ state: 'assigned', file_state: 'delivering', file_reason: UNPROVEN });
    expect(await statusOf(id)).toBe('processing');
    expect((await why(id)).join('\n')).toContain(UNPROVEN);
    const { received } = await files.bank('/files?customer=bank', {}, 'GET');
    expect(received.filter(({ fileName }: Json) => fileName === row.name)).toEqual([]);
  });
});

describe('the bank’s payee check', () => {
  test('what does not match waits for a person at the bank, as `why` says, and ends as that person decides', async () => {
    const answers = Object.entries(PAYEE_ANSWERS);
    const ids = new Map<string, string>();
    for (const [name] of answers) ids.set(name, await files.pay(checking, 10, { payee: `${name} Bakery Ltd` }));
    const matched = await files.pay(checking, 10);
    await untilStatus(matched, 'completed');
    expect(await instructionOf(matched)).toMatchObject({ payee_check: 'RCVC' });
    for (const [name, answer] of answers) {
      const id = ids.get(name) ?? '';
      expect(await files.atBank(id)).toMatchObject({ hold: 'payee-check', status: null });
      const row = await untilInstruction(id, ({ payee_check }) => payee_check === answer);
      expect(row.state).toBe(answer === null ? 'delivered' : 'confirmation');
      const told = (await why(id)).join('\n');
      if (answer === null) expect(told).toContain('which has told nothing of it yet');
      else expect(told).toContain('the bank asks for confirmation after its payee check');
    }
    const asked = answers.filter(([, answer]) => answer !== null);
    expect((await readBankFilesAttention(files.api.database.reader)).confirmations).toBe(asked.length);

    const [rejected = '', ...confirmed] = ids.values();
    await files.bank(`/payments/${paymentReferenceOf(rejected)}/reject`, { code: 'AC06' });
    for (const id of confirmed) await files.bank(`/payments/${paymentReferenceOf(id)}/confirm`);
    await untilStatus(rejected, 'failed');
    for (const id of confirmed) await untilStatus(id, 'completed');
    await files.booksAgree('checking');
  });

  test('opted out of, it is not made for payments that find company; one that does not is checked, and waits', async () => {
    const first = await files.pay(optedOut, 10, { payee: 'Nomatch Bakery Ltd' });
    await files.round();
    expect(await instructionOf(first)).toMatchObject({ state: 'queued' });
    const second = await files.pay(optedOut, 10);
    await untilInstruction(first, ({ state }) => state === 'released');
    expect(await files.atBank(first)).toMatchObject({ payeeCheck: null, status: 'completed' });
    const single = await files.pay(optedOut, 10, { payee: 'Nomatch Bakery Ltd' });
    await files.moveClock({ advanceBy: 'PT61S' });
    await untilInstruction(single, ({ payee_check }) => payee_check === 'RVNM');
    expect((await why(single)).join('\n')).toContain('the bank asks for confirmation after its payee check');
    expect((await readBankFilesAttention(files.api.database.reader)).confirmations).toBe(1);
    await files.bank(`/payments/${paymentReferenceOf(single)}/confirm`);
    await files.until('it is paid, as camt.054 tells', async () => {
      const told = (await why(single)).join('\n');
      return told.includes('the bank asks for confirmation') ? undefined : told;
    });
    expect((await readBankFilesAttention(files.api.database.reader)).confirmations).toBe(0);
    await files.bank('/end-of-day');
    for (const id of [first, second, single]) await untilStatus(id, 'completed');
    await files.booksAgree('opted-out');
  });
});

describe('recalls', () => {
  test.each([
    ['ordinary', 10.42, 'returned'],
    ['that the payee’s bank rejects', 10.14, 'rejected'],
    ['whose acceptance no camt.029 tells', 10.15, 'returned'],
  ])('a payment %s is recalled by camt.055', async (_, amount, end) => {
    const before = (await files.world.balance(bank.id)).available;
    const id = await files.pay(bank, amount);
    await untilStatus(id, 'completed');
    expect(await files.recall(id)).toBe(200);
    await files.until('the recall has ended', async () =>
      (await files.world.events(id)).some((type) => type === 'outgoing-transfer-returned' || type.includes('recall'))
        ? true
        : undefined,
    );
    const events = await files.world.events(id);
    const { available } = await files.world.balance(bank.id);
    if (end === 'returned') {
      expect(events).toEqual([...EVENTS, 'outgoing-transfer-returned']);
      expect(available).toBeCloseTo(before, 2);
    } else {
      expect(events).toEqual([...EVENTS, 'outgoing-transfer-recall-rejected']);
      expect(available).toBeCloseTo(before - amount, 2);
    }
    await files.quiet();
  });
});

describe('strange and repeated files', () => {
  const setAside = () =>
    files.rows("SELECT reason FROM bank_files WHERE direction = 'in' AND state = 'set-aside' ORDER BY created_at, id");

  test.each(STRANGE_FILES)('%s: the file is set aside with a reason, and nothing else waits for it', async (kind) => {
    const { fileName } = await files.bank('/strange-files', { customer: 'bank', kind });
    const id = await files.pay(bank, 10);
    await untilStatus(id, 'completed');
    const aside = await files.until('the file is set aside', async () => {
      const [row] = await files.rows(
        `SELECT reason FROM bank_files WHERE direction = 'in' AND state = 'set-aside' AND name = '${fileName}'`,
      );
      return row;
    });
    expect(aside.reason).toEqual(expect.any(String));
  });

  test.each([
    ['the same file under another name', { outcome: 'duplicate', code: 'DU01' }, (text: string) => text],
    [
      'its payment in another file',
      { outcome: 'taken' },
      (text: string) => text.replace(/<MsgId>\w+</, `<MsgId>AGAIN${Date.now()}<`).replace(/<PmtInfId>/, '<PmtInfId>A'),
    ],
  ])('%s: the bank’s rejection of it says nothing of the payment, which goes on', async (_, outcome, repeated) => {
    const id = await files.pay(bank, 10.1);
    await untilStatus(id, 'released');
    await files.quiet();
    const before = (await setAside()).length;
    const { name } = await instructionOf(id);
    const archive = join(files.folder('bank'), 'archive');
    const taken = readdirSync(archive).find((one) => one.endsWith(name)) ?? '';
    writeFileSync(
      join(files.folder('bank'), 'in', `again-${name}`),
      repeated(readFileSync(join(archive, taken), 'utf8')),
    );
    const copy = await files.until('the bank has read the repetition', async () => {
      const { received } = await files.bank('/files?customer=bank', {}, 'GET');
      return received.find(({ fileName, outcome: of }: Json) => fileName === `again-${name}` && of !== 'reading');
    });
    expect(copy).toMatchObject(outcome);
    await files.until('the bank’s rejection is set aside', async () =>
      (await setAside()).length === before + 1 ? true : undefined,
    );
    expect((await setAside()).at(-1)?.reason).toContain('about nothing that we know');
    expect(await statusOf(id)).toBe('released');
    await files.bank(`/payments/${paymentReferenceOf(id)}/settle`);
    await untilStatus(id, 'completed');
    expect(await debitsOf(id)).toBe(1);
  });
});

test('after all of it both books have the same money', async () => {
  await files.quiet();
  await files.booksAgree('bank');
  expect(await files.rows('SELECT provider, kind, our_reference FROM reconciliation_breaks')).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { explainIncomingTransfer } from '../../../cli/operations/why/other-resources.ts';
import { readBankFilesAttention } from '../../../db/bank-files/attention.ts';
import { askToRelease, signRequest } from '../../../db/bank-files/by-hand/requests.ts';
import type { BankWord } from '../../../domain/bank-files/by-hand/requests.ts';
import { asId, type IncomingTransferId } from '../../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { type FileAccount, type SandboxWorld, sandboxWorld } from '../../harness/bank-files/sandbox-world.ts';
import { reviews } from '../../harness/transfers/reviews.ts';
import { schemaProblems } from '../messages/iso-schemas.ts';

// Money in that may not be credited, at banks that take files: it goes back by file, over SFTP, or waits for people, who always have a way out.

let files: SandboxWorld;

const BANKS = {
  'sepa-bank': { place: 'DE', accountNumber: '1000000001' },
  'gbic-bank': {
    place: 'DE',
    accountNumber: '1000000002',
    profile: 'de-gbic',
    atBank: { statusReports: 'rejections' },
    settings: { windowSeconds: 1 },
  },
  'uk-bank': { place: 'GB', accountNumber: '10000003' },
} as const;
type BankName = keyof typeof BANKS;
const EUROPEAN = ['sepa-bank', 'gbic-bank'] as const;

const PAYER = { iban: 'FR1420041010050500013M02606' };
const BRITISH_PAYER = { iban: 'GB33BUKB20201555555555' };

const closed = new Map<string, FileAccount>();

beforeAll(async () => {
  files = await sandboxWorld('returned-money', BANKS, (configuration) => ({
    ...configuration,
    compliance: { ...configuration.compliance, incoming: { rule: 'none', byCurrency: { GBP: 'external' } } },
  }));
  for (const bank of EUROPEAN) {
    const account = await files.openAccount(bank);
    await files.closeAccount(account);
    closed.set(bank, account);
  }
});

afterEach(async () => {
  for (const bank of Object.keys(BANKS)) await sumsAgree(bank);
});

afterAll(async () => {
  await files?.close();
});

async function sumsAgree(bank: string): Promise<void> {
  await files.quiet();
  await files.sumsAgree(bank);
}

/** Money for an account that has been closed: it fails, and is to go back. */
async function receiveForClosed(bank: BankName, amount: number, senderAccount: Json = PAYER): Promise<Json> {
  const { ledgerNumber } = closed.get(bank) ?? {};
  const money = await files.receive(bank, { amount, senderAccount, reference: `Rent ${ledgerNumber}` });
  expect(money.status).toBe('failed');
  return money;
}

async function stands(id: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT status, send_back_status, in_suspense, next_check_at FROM incoming_transfers WHERE id = '${id}'`,
  );
  return row;
}

const isBack = async (id: string) => ((await stands(id)).send_back_status === 'done' ? true : undefined);

async function instructionsOf(id: string): Promise<Json[]> {
  return files.rows(`SELECT * FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt`);
}

const untilHeld = (id: string, attempt: number) =>
  files.until(`attempt ${attempt} is held`, async () => {
    const found = (await instructionsOf(id)).at(-1);
    return found?.attempt === attempt && found.held_reason !== null ? found : undefined;
  });

async function why(id: string): Promise<string> {
  const explained = await explainIncomingTransfer(files.api.database.reader, asId<IncomingTransferId>(id));
  return explained?.attempts.join('\n') ?? '';
}

/** What two people say that the bank says. */
async function say(provider: string, id: string, bankSays: BankWord): Promise<void> {
  const reason = 'a test';
  const { database } = files.api;
  const asked = { provider, transferIds: [id], bankSays };
  const request = await database.transaction((tx) =>
    askToRelease(tx, asked, { actor: 'ada', requestId: null, reason }),
  );
  const signed = await database.transaction((tx) =>
    signRequest(tx, request, { actor: 'grace', requestId: null, reason }, new Map()),
  );
  expect(signed.done).toBe(1);
}

async function debitsAtBank(bank: string, endToEndId: string): Promise<number> {
  const entries = await files.bookedAtBank(bank);
  return entries.filter((entry) => entry.endToEndId === endToEndId && entry.direction === 'debit').length;
}

/** Of a bank that ends payments by its statement. */
async function endOfDay(bank: BankName): Promise<void> {
  if (bank === 'gbic-bank') await files.bank('/end-of-day');
}

async function endsOnce(bank: BankName, id: string): Promise<void> {
  await files.until('the bank has booked it', async () =>
    (await debitsAtBank(bank, paymentReferenceOf(id))) === 1 ? true : undefined,
  );
  await endOfDay(bank);
  await files.until('it has gone back', () => isBack(id));
  await files.quiet();
  expect(await stands(id)).toMatchObject({ status: 'failed', in_suspense: false, next_check_at: null });
  expect(await debitsAtBank(bank, paymentReferenceOf(id))).toBe(1);
  const postings = await files.rows(`SELECT amount_minor FROM postings WHERE incoming_transfer_id = '${id}'`);
  // In and out.
  expect(postings).toHaveLength(2);
}

describe.each(EUROPEAN)('at %s', (bank) => {
  test('money for a closed account goes back by file, in full and once, to the account that the bank told', async () => {
    const { id } = await receiveForClosed(bank, 10.42);
    await endsOnce(bank, id);
    const [instruction, ...others] = await instructionsOf(id);
    expect(others).toEqual([]);
    expect(instruction).toMatchObject({ attempt: 1, state: 'completed', amount_minor: 1042n, is_return: true });
    const archive = join(files.folder(bank), 'archive');
    const written = readdirSync(archive).map((name) => readFileSync(join(archive, name), 'utf8'));
    const [file = ''] = written.filter(
      (text) => text.includes('<CstmrCdtTrfInitn>') && text.includes(paymentReferenceOf(id)),
    );
    expect(schemaProblems(file)).toEqual([]);
    const [{ transaction_number }] = await files.rows(
      `SELECT transaction_number FROM incoming_transfers WHERE id = '${id}'`,
    );
    expect(file).toContain(`<IBAN>${PAYER.iban}</IBAN>`);
    expect(file).toContain(`<Ustrd>Return of ${transaction_number}</Ustrd>`);
    expect(file).not.toContain('AC04');
  });

  test('what pain.002 and camt.054 tell twice, and camt.053 again, ends it once', async () => {
    const { id } = await receiveForClosed(bank, 10.08);
    await files.moveClock({ advanceBy: 'PT5S' });
    await endsOnce(bank, id);
    await files.bank('/end-of-day');
    await files.quiet();
    const entries = await files.rows(`SELECT kind FROM bank_entries WHERE transfer_id = '${id}'`);
    expect(entries).toEqual([{ kind: 'payment' }]);
  });

  test('a return that the bank rejects waits for people with its reason, and goes once more when they say so', async () => {
    const { id } = await receiveForClosed(bank, 10.11);
    const held = await untilHeld(id, 2);
    expect(held.held_reason).toBe('the bank has rejected its return: BE08');
    expect(await why(id)).toContain('no file takes it: the bank has rejected its return: BE08');
    expect((await readBankFilesAttention(files.api.database.reader)).silent).toBeGreaterThan(0);
    expect(await stands(id)).toMatchObject({ send_back_status: 'due', in_suspense: true });
    // Nothing more is written for it.
    for (const _ of [1, 2, 3]) await files.round();
    expect(await instructionsOf(id)).toHaveLength(2);
    await say(bank, id, 'not-received');
    await endsOnce(bank, id);
  });

  test('of a payer without an account it waits, and the bank’s own booking of the return by hand ends it', async () => {
    const { id, paymentId } = await receiveForClosed(bank, 10.42, null);
    const held = await untilHeld(id, 1);
    expect(held.held_reason).toBe('the bank told no account of its payer');
    expect(await why(id)).toContain('the bank told no account of its payer');
    await files.bank(`/payments-in/${paymentId}/send-back`);
    await files.until('it has gone back', () => isBack(id));
    await files.bank('/end-of-day');
    await files.quiet();
    expect(await instructionsOf(id)).toMatchObject([
      { attempt: 1, state: 'completed', held_reason: null, file_id: null },
    ]);
    const entries = await files.rows(`SELECT kind, outcome FROM bank_entries WHERE transfer_id = '${id}'`);
    expect(entries).toEqual([{ kind: 'payment', outcome: 'applied' }]);
  });

  test('two people say that it was returned by hand before the bank tells its booking: it is booked once', async () => {
    const { id, paymentId } = await receiveForClosed(bank, 10.42, null);
    await untilHeld(id, 1);
    await say(bank, id, 'paid');
    await files.until('it has gone back', () => isBack(id));
    await files.bank(`/payments-in/${paymentId}/send-back`);
    await files.until('the bank’s booking is known', async () => {
      const [entry] = await files.rows(`SELECT outcome FROM bank_entries WHERE transfer_id = '${id}'`);
      return entry?.outcome === 'no-effect' ? true : undefined;
    });
  });

  test('a return that comes back is money of its own, on hold for a person, from the same payer', async () => {
    const { id } = await receiveForClosed(bank, 10.03);
    await files.moveClock({ advanceBy: 'PT5S' });
    await endsOnce(bank, id);
    const again = await files.until('its return has come back', async () => {
      const [row] = await files.rows(
        `SELECT id, status, hold_reason, sender_account FROM incoming_transfers WHERE provider = '${bank}' AND amount_minor = 1003 AND id <> '${id}'`,
      );
      return row;
    });
    expect(again).toMatchObject({ status: 'on-hold', hold_reason: 'no-match', sender_account: { iban: PAYER.iban } });
  });
});

test('money that a review declines goes back by file', async () => {
  const account = await files.openAccount('uk-bank');
  const money = { amount: 10.42, senderAccount: BRITISH_PAYER, reference: account.ledgerNumber };
  const { id } = await files.receive('uk-bank', money);
  const decided = await reviews(files.api).decide('incoming-transfer', id, 'hard-stop-rejected');
  expect(decided.status, decided.text).toBe(200);
  await endsOnce('uk-bank', id);
});

test('nothing of it is a break, and no file of the bank is set aside', async () => {
  await files.bank('/end-of-day');
  await files.quiet();
  expect(await files.rows('SELECT provider, kind, our_reference FROM reconciliation_breaks')).toEqual([]);
  expect(await files.rows("SELECT provider, reason FROM bank_files WHERE state NOT IN ('delivered', 'taken')")).toEqual(
    [],
  );
});

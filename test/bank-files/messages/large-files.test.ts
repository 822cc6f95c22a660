import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBankMessage } from '../../../activities/bank-files/read-bank-message.ts';
import { type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { NO_DETAIL, type RenderedEntry, renderReport } from './rendered-messages.ts';

let files: FilesWorld;

beforeAll(async () => {
  files = await filesWorld('large-bank-files');
});

afterAll(async () => {
  await files?.close();
});

const TEXT = 'Invoices of the month '.repeat(40);
/** Reading it takes a hundred turns of the event loop or more, a request a few. */
const ENTRIES = 4_000;

const pending = (at: number): RenderedEntry => ({
  reference: `E-${at}`,
  direction: 'credit',
  amountMinor: 100n,
  currency: 'GBP',
  bookedOn: '2027-06-16',
  status: 'PDNG',
  isReversal: false,
  batch: null,
  details: [{ ...NO_DETAIL, amountMinor: 100n, remittanceText: TEXT }],
});

test('a process answers while it reads a large file of a bank, and applies what the file tells', async () => {
  const { bank } = files.services;
  const events: string[] = [];
  let answered: Promise<unknown> = Promise.resolve();
  const reading: typeof bank.readBankMessage = async (bytes) => {
    answered = fetch(`${files.api.url}/health/live`).then(({ status }) => events.push(`answered ${status}`));
    const message = await readBankMessage(bytes);
    events.push('read');
    return message;
  };
  const entries = Array.from({ length: ENTRIES }, (_, at) => pending(at));
  const account = 'GB33BUKB20201555555555';
  const report = { message: 'camt.053', version: '08', messageId: 'LARGE', createdAt: new Date(), account } as const;
  files.bank.say(renderReport({ ...report, entries }).toString(), 'large.xml');
  const exchange = files.exchangeOf({ ...files.services, bank: { ...bank, readBankMessage: reading } });
  await files.rounds(exchange);
  await exchange.end();
  await answered;
  expect(events).toEqual(['answered 200', 'read']);
  const [file] = await files.rows("SELECT state FROM bank_files WHERE name = 'large.xml'");
  expect(file).toMatchObject({ state: 'taken' });
});

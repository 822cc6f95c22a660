import { afterAll, beforeAll, expect, test } from 'vitest';
import { BATCH_BOOKINGS, CAMT_VERSIONS } from '../../sandbox/file-bank/records.ts';
import { everyOutcome, type Paid, standAsAtBank } from '../harness/bank-files/outcome-story.ts';
import { type SandboxWorld, sandboxWorld } from '../harness/bank-files/sandbox-world.ts';

// Banks that book a batch as one sum, with its details, with them in another message, or without any, in both versions of their messages.

const BANKS = Object.fromEntries(
  BATCH_BOOKINGS.flatMap((batchBooking) => CAMT_VERSIONS.map((camtVersion) => ({ batchBooking, camtVersion }))).map(
    (atBank, index) =>
      [
        `${atBank.batchBooking}-${atBank.camtVersion}`,
        { place: 'DE', accountNumber: String(1_000_000_001 + index), atBank },
      ] as const,
  ),
);

let files: SandboxWorld;
let paid: readonly Paid[];

beforeAll(async () => {
  files = await sandboxWorld('sandbox-batches', BANKS);
  const open = async (provider: string) => ({ account: await files.account(provider, 1_000), schemes: ['sepa'] });
  paid = await everyOutcome(files, await Promise.all(Object.keys(BANKS).map(open)));
});

afterAll(async () => {
  await files?.close();
});

test('every payment ends with us as it ended at the bank', () => standAsAtBank(files, paid));

test.each(Object.keys(BANKS))('at %s, both books have the same movements', (provider) => files.booksAgree(provider));

test('no file of the bank is set aside, and no sum waits', async () => {
  const aside = await files.rows(
    "SELECT provider, name, reason FROM bank_files WHERE state NOT IN ('delivered', 'taken')",
  );
  expect(aside).toEqual([]);
  const sums = "SELECT provider, key FROM bank_entries WHERE kind = 'batch' AND outcome <> 'applied'";
  expect(await files.rows(sums)).toEqual([]);
});

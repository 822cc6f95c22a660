import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyOutcome, type Paid, standAsAtBank } from '../harness/bank-files/outcome-story.ts';
import { type SandboxWorld, sandboxWorld } from '../harness/bank-files/sandbox-world.ts';

// The service and the sandbox's file bank over SFTP: every outcome of docs/reference/sandbox/file-bank.md, at banks of each profile, by turns
// in the schemes that it has.

const BANKS = {
  'sepa-bank': { place: 'DE', accountNumber: '1000000001' },
  'gbic-bank': {
    place: 'DE',
    accountNumber: '1000000002',
    profile: 'de-gbic',
    atBank: { payeeCheck: 'opted-out', statusReports: 'rejections' },
  },
  'uk-bank': { place: 'GB', accountNumber: '10000003' },
  'swift-bank': {
    place: 'US',
    accountNumber: '1000000004',
    profile: 'swift-cgi-03',
    atBank: { camtVersion: '02', statusReports: 'acceptances' },
  },
} as const;

const SCHEMES: Readonly<Record<keyof typeof BANKS, readonly string[]>> = {
  'sepa-bank': ['sepa', 'sepa-instant'],
  'gbic-bank': ['sepa', 'target2'],
  'uk-bank': ['faster-payments', 'chaps'],
  'swift-bank': ['swift'],
};

let files: SandboxWorld;
let paid: readonly Paid[];

beforeAll(async () => {
  files = await sandboxWorld('sandbox-outcomes', BANKS);
  const providers = ['sepa-bank', 'gbic-bank', 'uk-bank', 'swift-bank'] as const;
  const accounts = await Promise.all(
    providers.map(async (provider) => ({
      account: await files.account(provider, 1_000),
      schemes: SCHEMES[provider],
    })),
  );
  paid = await everyOutcome(files, accounts);
});

afterAll(async () => {
  await files?.close();
});

test('every payment ends with us as it ended at the bank', () => standAsAtBank(files, paid));

test.each(Object.keys(BANKS))('at %s, both books have the same movements', (provider) => files.booksAgree(provider));

test('no file of the bank is set aside, and nothing is a break', async () => {
  expect(
    await files.rows("SELECT provider, name, reason FROM bank_files WHERE state NOT IN ('delivered', 'taken')"),
  ).toEqual([]);
  expect(await files.rows('SELECT provider, kind, our_reference FROM reconciliation_breaks')).toEqual([]);
});

test('a bank that takes no camt.055 offers no recall', async () => {
  const [payment] = paid.filter(({ provider, digits }) => provider === 'uk-bank' && digits === 14);
  const body = { workflow: { code: 'direct' }, data: {} };
  const { status, text } = await files.api.call('POST', `/outgoing-transfers/${payment?.id}/recall`, body);
  expect(status, text).toBe(422);
  expect(text).toContain('transfer.recall.unavailable');
});

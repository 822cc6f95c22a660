import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingStatements } from '../../activities/bank-files/missing-statements.ts';
import { pgpWith } from '../../activities/bank-files/pgp/pgp.ts';
import { iso20022Provider } from '../../activities/providers/iso20022/iso20022.ts';
import { reconciliationActivities } from '../../activities/reconciliation/activities.ts';
import { compareForPerson, positionsToCompare } from '../../activities/reconciliation/on-demand.ts';
import type { PgpSettings } from '../../config/schema/file-exchange.ts';
import { TESTER } from '../harness/audit.ts';
import { keyFiles, PGP_TEST_PASSPHRASE, testKey } from '../harness/bank-files/pgp-keys.ts';
import { type FileAccount, type SandboxWorld, sandboxWorld } from '../harness/bank-files/sandbox-world.ts';

// Signed and encrypted files with the sandbox's file bank, over SFTP and both ways.

let folder: string;
let files: SandboxWorld;
let paths: Record<string, string>;
let sealed: FileAccount;
let signed: FileAccount;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sealed-'));
  const [ours, other] = await Promise.all([testKey('Ours'), testKey('Another key of the bank')]);
  paths = keyFiles(folder, {
    own: ours.privateKey,
    ourPublic: ours.publicKey,
    otherPrivate: other.privateKey,
    other: other.publicKey,
    present: '',
    next: '',
  });
  const { own = '', present = '', next = '' } = paths;
  const settings = (outgoing: PgpSettings['outgoing']) => ({
    atBank: { pgp: outgoing, pgpKey: ours.publicKey },
    settings: { pgp: { privateKeyFiles: [own], bankKeyFiles: [present, next, paths.other], outgoing } },
  });
  files = await sandboxWorld('sealed-files', {
    'sealed-bank': { place: 'DE', accountNumber: '1000000001', ...settings('signed-and-encrypted') },
    'signed-bank': { place: 'GB', accountNumber: '10000003', ...settings('signed') },
  });
  const keys = await files.bank('/pgp-keys', {}, 'GET');
  writeFileSync(present, keys.present);
  writeFileSync(next, keys.next);
  sealed = await files.account('sealed-bank', 1_000);
  signed = await files.account('signed-bank', 1_000);
});

afterAll(async () => {
  await files?.close();
  rmSync(folder, { recursive: true, force: true });
});

const completed = (id: string) =>
  files.until(`${id} is completed`, async () => ((await files.transfer(id)).status === 'completed' ? true : undefined));
const fileOf = async (id: string) => {
  const [row] = await files.rows(
    `SELECT f.name, encode(f.digest, 'hex') AS digest, convert_from(f.content, 'UTF8') AS content, convert_from(f.plain, 'UTF8') AS plain
     FROM bank_files f JOIN bank_instructions i ON i.file_id = f.id WHERE i.transfer_id = '${id}'`,
  );
  return row;
};

test('payments go out and end by sealed files, which are plain neither at the bank nor on their way', async () => {
  const ids = [await files.pay(sealed, 12.42), await files.pay(signed, 13.42)];
  for (const id of ids) {
    await completed(id);
    const { name, content, plain } = await fileOf(id);
    expect(name).toMatch(/^pain001-[0-9a-f]{32}\.xml\.pgp$/);
    expect(content).toContain('-----BEGIN PGP MESSAGE-----');
    expect(plain).toContain('<CstmrCdtTrfInitn>');
  }
  await files.quiet();
  const taken = await files.rows(
    `SELECT provider, name, state, content = plain AS same, convert_from(content, 'UTF8') LIKE '-----BEGIN PGP MESSAGE%' AS armored
     FROM bank_files WHERE direction = 'in'`,
  );
  expect(taken.length).toBeGreaterThan(2);
  for (const { name, ...file } of taken) {
    expect(name).toMatch(/\.xml\.pgp$/);
    expect(file).toMatchObject({ state: 'taken', same: false, armored: true });
  }
  await files.booksAgree('sealed-bank');
  await files.booksAgree('signed-bank');
});

test('an upload that was cut is made again with the same bytes: the bank has those of the row', async () => {
  await files.bank('/faults', { connection: 'cut-in-write', times: 1 });
  const id = await files.pay(sealed, 14.42);
  await files.round();
  await completed(id);
  const { name, digest } = await fileOf(id);
  const { received } = await files.bank('/files', {}, 'GET');
  expect(received.filter(({ fileName }: { fileName: string }) => fileName === name)).toMatchObject([
    { digest, outcome: 'taken' },
  ]);
});

test('the bank changes to its next key, and its files are taken from the first one on', async () => {
  await files.bank('/customers/sealed-bank', { bankKey: 'next' });
  await completed(await files.pay(sealed, 15.42));
});

test('a file that is not signed is set aside with the rule; nothing of it is lost, and nothing else waits', async () => {
  const { fileName } = await files.bank('/strange-files', { customer: 'sealed-bank', kind: 'unknown-payment' });
  const aside = await files.until('the file is set aside', async () => {
    const [row] = await files.rows(
      `SELECT state, reason, convert_from(content, 'UTF8') AS content FROM bank_files WHERE name = '${fileName}'`,
    );
    return row?.state === 'set-aside' ? row : undefined;
  });
  expect(aside.reason).toBe('The file is not signed, and each file of this bank must be.');
  expect(aside.content).toContain('NEVER-SENT');
  await completed(await files.pay(sealed, 16.42));
});

/** A camt.054 that was taken, set aside as a test says. */
async function setAside(how: string) {
  const [told] = await files.rows(
    `UPDATE bank_files SET state = 'set-aside', taken_at = NULL, ${how}
     WHERE id = (SELECT id FROM bank_files WHERE provider = 'sealed-bank' AND message = 'camt.054' AND state = 'taken' ORDER BY id DESC LIMIT 1)
     RETURNING id, convert_from(plain, 'UTF8') AS plain, items`,
  );
  return told;
}

/** The bank sends a message once more, encrypted again. */
async function encryptedAgain(plain: string, name: string): Promise<void> {
  const bank = pgpWith(
    {
      privateKeyFiles: [paths.otherPrivate ?? ''],
      bankKeyFiles: [paths.ourPublic ?? ''],
      outgoing: 'signed-and-encrypted',
      incoming: 'any',
    },
    PGP_TEST_PASSPHRASE,
  );
  const path = join(files.folder('sealed-bank'), 'out', name);
  writeFileSync(`${path}.part`, await bank.seal(Buffer.from(plain)));
  renameSync(`${path}.part`, path);
  const again = await files.until('the file is taken', async () => {
    const [row] = await files.rows(`SELECT state, reason, items FROM bank_files WHERE name = '${name}'`);
    return row?.state === 'taken' ? row : undefined;
  });
  expect(again).toEqual({ state: 'taken', reason: 'the same message as another file', items: 0 });
}

test('the same message, encrypted once more, is taken once', async () => {
  // As after trouble of ours: nothing of it is applied, and a person has not seen to it yet.
  const { id, plain, items } = await setAside("tries = 20, reason = 'a test'");
  await encryptedAgain(plain, 'again.xml.pgp');
  await files.until('the first copy is taken up again', async () => {
    const [row] = await files.rows(`SELECT state, items FROM bank_files WHERE id = '${id}'`);
    return row?.state === 'taken' && row.items === items ? true : undefined;
  });
  await files.booksAgree('sealed-bank');
});

test('a file that a person has set aside stays so when the bank encrypts its message once more', async () => {
  const { id, plain } = await setAside("tries = 2, reason = 'the bank asks us to wait'");
  await encryptedAgain(plain, 'waits.xml.pgp');
  await files.quiet();
  const row = () => files.rows(`SELECT state, reason FROM bank_files WHERE id = '${id}'`);
  expect(await row()).toEqual([{ state: 'set-aside', reason: 'the bank asks us to wait' }]);
  await files.rows(`UPDATE bank_files SET state = 'fetched', tries = 0, reason = NULL WHERE id = '${id}'`);
  await files.until('it is taken', async () => ((await row())[0]?.state === 'taken' ? true : undefined));
});

test('a day is compared with its camt.053 once that is taken, and what only a camt.054 told is a break', async () => {
  const { database, configuration, logger } = files.api.services;
  const profile = configuration.bankProfiles.get('sepa');
  if (profile === undefined) throw new Error('there is no profile sepa');
  const configured = configuration.providers.find(({ code }) => code === 'sealed-bank');
  if (configured === undefined) throw new Error('there is no sealed-bank');
  const adapter = iso20022Provider({ database, configuration, provider: 'sealed-bank', profile });
  const dependencies = { database, logger, providers: new Map([['sealed-bank', adapter]]) };
  const reconcile = () =>
    new MockActivityEnvironment().run(reconciliationActivities(dependencies).reconcileProvider, 'sealed-bank');
  const compared = () =>
    files.rows(`SELECT day::text, provider_credit_minor + provider_debit_minor AS moved, provider_debit_minor = ledger_debit_minor AS same
      FROM reconciliations WHERE provider = 'sealed-bank' ORDER BY day`);
  await files.quiet();
  const [{ today }] = await files.rows("SELECT (service_now() AT TIME ZONE 'UTC')::date::text AS today");
  await files.moveClock({ advanceBy: 'PT24H' });
  // No round has fetched the statement: the day waits, and no one has to hand a file in.
  expect(await reconcile()).toBe('ok');
  expect((await compared()).map(({ day }) => day)).not.toContain(today);
  expect(await missingStatements(database.reader, configured, 6)).toEqual(['EUR']);
  expect(await missingStatements(database.reader, configured, 72)).toEqual([]);
  await files.until('the statement is taken', async () => {
    const [row] = await files.rows(
      `SELECT day FROM bank_statement_days WHERE provider = 'sealed-bank' AND day = '${today}'::date`,
    );
    return row;
  });
  await files.quiet();
  expect(await missingStatements(database.reader, configured, 6)).toEqual([]);
  expect(await reconcile()).toBe('ok');
  expect((await compared()).at(-1)).toMatchObject({ day: today, same: true });
  expect(await files.rows("SELECT kind FROM reconciliation_breaks WHERE provider = 'sealed-bank'")).toEqual([]);

  const [lost] = await files.rows(
    `UPDATE bank_entries SET stated_by = NULL WHERE provider = 'sealed-bank' AND key = (
       SELECT min(key) FROM bank_entries WHERE provider = 'sealed-bank' AND kind = 'payment') RETURNING transfer_id`,
  );
  const again = { code: 'sealed-bank', provider: adapter, day: today, file: null };
  const position = { provider: 'sealed-bank', currency: 'EUR' };
  await compareForPerson({ database, logger }, again, position, TESTER);
  const found = await files.rows(
    "SELECT kind, our_reference FROM reconciliation_breaks WHERE provider = 'sealed-bank'",
  );
  expect(found).toEqual([{ kind: 'statement-payment-missing', our_reference: lost.transfer_id }]);
  const tomorrow = { ...again, day: (await files.rows('SELECT (service_now()::date)::text AS day'))[0].day };
  await expect(positionsToCompare(database.reader, tomorrow)).rejects.toThrow('cannot be compared yet');
});

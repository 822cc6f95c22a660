import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { folderTransport, MOUNTED } from '../../activities/bank-files/exchange/folder.ts';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import { TransportFailed } from '../../activities/bank-files/exchange/transport.ts';
import { findBankRestore, holdForRestore } from '../../db/bank-files/restores.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import type { Json } from '../harness/api.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import { accountReport, creditOf } from '../harness/bank-files/scripted-bank.ts';

// Folders that are mounted, and that may not be.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;

beforeAll(async () => {
  files = await filesWorld('bank-folders');
  account = await files.account(1_000);
});

beforeEach(() => {
  exchange = files.exchange();
});

afterEach(async () => {
  await exchange?.end();
  await files.rows('DELETE FROM bank_restores');
  await files.world.invariantsHold();
});

afterAll(async () => {
  await files?.close();
});

type Folder = keyof FilesWorld['bank']['folders'];

/** What an unmounted file system leaves: an empty folder, or none. Returns how it is mounted again. */
function unmounted(folder: Folder, left: 'empty' | 'none'): () => void {
  const path = files.bank.folders[folder];
  renameSync(path, `${path}.away`);
  if (left === 'empty') mkdirSync(path);
  return () => {
    rmSync(path, { recursive: true, force: true });
    renameSync(`${path}.away`, path);
  };
}

const balance = async () => (await files.world.balance(account.id)).available;

test.each(['empty', 'none'] as const)(
  'a bank’s folder that is not mounted (%s) is a bank that is away',
  async (left) => {
    const before = await balance();
    files.bank.say(accountReport('camt.054', creditOf(`unmounted ${left}`, 1_000n, account.ledgerNumber)));
    const mount = unmounted('in', left);
    for (let round = 0; round < 2; round += 1) await expect(exchange.round()).rejects.toBeInstanceOf(TransportFailed);
    mount();
    await files.rounds(exchange);
    expect(await balance()).toBe(before + 10);
  },
);

test.each(['empty', 'none'] as const)('nothing is delivered into a folder that is not mounted (%s)', async (left) => {
  const id = await files.pay(account.id, 10);
  const mount = unmounted('out', left);
  await expect(exchange.round()).rejects.toBeInstanceOf(TransportFailed);
  expect(left === 'empty' ? readdirSync(files.bank.folders.out) : []).toEqual([]);
  const [file] = await files.rows(
    `SELECT state FROM bank_files WHERE id = (SELECT file_id FROM bank_instructions WHERE transfer_id = '${id}')`,
  );
  expect(file).toMatchObject({ state: 'built' });
  mount();
  await exchange.round();
  const reference = paymentReferenceOf(id);
  expect(files.bank.payments().filter(({ paymentReference }) => paymentReference === reference)).toHaveLength(1);
});

test('a delivered file of which a folder that is not mounted shows nothing stays delivered', async () => {
  const id = await files.pay(account.id, 11);
  await exchange.round();
  const mount = unmounted('out', 'empty');
  await exchange.round();
  mount();
  const [file] = await files.rows(
    `SELECT state FROM bank_files WHERE id = (SELECT file_id FROM bank_instructions WHERE transfer_id = '${id}')`,
  );
  expect(file).toMatchObject({ state: 'delivered' });
});

test('an archive that is not mounted is not read to its end after a restore', async () => {
  await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], new Date('2027-06-16T11:00:00Z')));
  const mount = unmounted('archive', 'empty');
  await expect(exchange.round()).rejects.toBeInstanceOf(TransportFailed);
  expect(await findBankRestore(files.api.database.reader, FILES_BANK)).toMatchObject({ archiveReadAt: null });
  mount();
  await exchange.round();
  expect(await findBankRestore(files.api.database.reader, FILES_BANK)).toMatchObject({ isCaughtUp: true });
});

/** A folder on another device: a mount of its own, where this process may make one. */
function otherDevice(): string {
  const folder = mkdtempSync(join(tmpdir(), 'other-device-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    onTestFinished(() => {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    const shared = mkdtempSync('/dev/shm/other-device-');
    onTestFinished(() => rmSync(shared, { recursive: true }));
    return shared;
  }
}

test('an archive on another device gets each file whole, and nothing that the bank writes meanwhile is lost', async () => {
  const archive = otherDevice();
  const { folders } = files.bank;
  expect(statSync(archive).dev).not.toBe(statSync(folders.in).dev);
  writeFileSync(join(archive, MOUNTED), '');
  const openTransport = folderTransport({ kind: 'folder', ...folders, archive });
  const across = files.exchangeOf({ ...files.services, openTransport });
  onTestFinished(() => across.end());
  const before = await balance();
  files.bank.say(accountReport('camt.054', creditOf('across 1', 1_000n, account.ledgerNumber)), 'same.xml');
  const content = readFileSync(join(folders.in, 'same.xml'));
  const { mtimeMs } = statSync(join(folders.in, 'same.xml'));
  await files.rounds(across);
  const archived = () => readdirSync(archive).filter((name) => name !== MOUNTED);
  const [name = ''] = archived();
  expect(archived()).toHaveLength(1);
  expect(readFileSync(join(archive, name))).toEqual(content);
  expect(statSync(join(archive, name)).mtimeMs).toBeCloseTo(mtimeMs, -1);
  expect(existsSync(join(folders.in, 'same.xml'))).toBe(false);

  // A process that was killed half-way has left the file under the archive's name, and part of a copy.
  files.bank.say(accountReport('camt.054', creditOf('across 2', 1_000n, account.ledgerNumber)), name);
  writeFileSync(join(archive, '.half.part'), content.subarray(0, 10));
  await files.rounds(across);
  expect(await balance()).toBe(before + 20);
  expect(readdirSync(folders.in)).toEqual([MOUNTED]);
  expect(archived().filter((one) => !one.startsWith('.'))).toHaveLength(2);
});

import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import { FILE_BYTES_MAX, type Transport, TransportFailed } from '../../activities/bank-files/exchange/transport.ts';
import { heldInWords } from '../../cli/operations/restores/held-at-banks.ts';
import { readBankFilesAttention } from '../../db/bank-files/attention.ts';
import { settleFile, takeFileAgain } from '../../db/bank-files/by-hand/files.ts';
import { findBankRestore, holdForRestore } from '../../db/bank-files/restores.ts';
import { asId, type BankFileId } from '../../domain/common/ids.ts';
import type { Json } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';

// What the bank has sent and the service cannot read waits for a person, whatever the reason.

let files: FilesWorld;
let exchange: Exchange;
let restores = 0;

beforeAll(async () => {
  files = await filesWorld('unread-files');
});

beforeEach(() => {
  exchange = files.exchange();
});

afterEach(async () => {
  await exchange?.end();
  await files.rows('DELETE FROM bank_restores');
  await files.rows("UPDATE bank_files SET settled_at = service_now() WHERE state = 'set-aside' AND settled_at IS NULL");
});

afterAll(async () => {
  await files?.close();
});

const aside = () =>
  files.rows("SELECT id, name, size, reason FROM bank_files WHERE state = 'set-aside' AND settled_at IS NULL");
const inFolder = (name: string) => join(files.bank.folders.in, name);
const asked = { ...TESTER, reason: 'seen to' };

async function settle(file: Json): Promise<void> {
  await files.api.database.transaction((tx) => settleFile(tx, asId<BankFileId>(file.id), asked));
}

async function restored(): Promise<void> {
  restores += 1;
  const since = new Date(Date.UTC(2027, 5, 16, 11, restores));
  await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], since));
}

async function restoreNow() {
  const restore = await findBankRestore(files.api.database.reader, FILES_BANK);
  if (restore === null) throw new Error('there is no restore');
  return { isCaughtUp: restore.isCaughtUp, words: heldInWords(restore, files.api.services.configuration) };
}

test('a file that is too large is set aside once, without being read, for a person', async () => {
  writeFileSync(inFolder('large.xml'), '');
  truncateSync(inFolder('large.xml'), FILE_BYTES_MAX + 1);
  const before = (await readBankFilesAttention(files.api.database.reader)).setAside;
  for (let round = 0; round < 4; round += 1) await exchange.round();
  const [file, ...others] = await aside();
  expect(others).toEqual([]);
  expect(file).toMatchObject({
    name: 'large.xml',
    size: FILE_BYTES_MAX + 1,
    reason: expect.stringContaining('64 MiB'),
  });
  expect((await readBankFilesAttention(files.api.database.reader)).setAside).toBe(before + 1);
  await expect(
    files.api.database.transaction((tx) => takeFileAgain(tx, asId<BankFileId>(file.id), asked)),
  ).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
  await settle(file);
  await files.rounds(exchange);
  expect(await aside()).toEqual([]);
  // Another of its name is another file.
  utimesSync(inFolder('large.xml'), 1_000, 1_000);
  await files.rounds(exchange);
  expect(await aside()).toHaveLength(1);
  renameSync(inFolder('large.xml'), join(files.bank.folders.out, '..', 'large.xml'));
});

test('a file of a long name is taken as any other', async () => {
  const name = `${'ä'.repeat(124)}.xml`;
  files.bank.say('no message', `l${name}`);
  await files.rounds(exchange);
  expect(await aside()).toMatchObject([{ name: `l${name}`, reason: expect.not.stringContaining('name') }]);
  expect(files.bank.archived().filter((archived) => archived.includes('lä'))).toHaveLength(1);
  await exchange.round();
});

test.each<[string, (folder: string) => Promise<void> | void, string]>([
  ['a link', (folder) => symlinkSync('/etc/hostname', join(folder, 'link.xml')), 'ordinary'],
  [
    'a name that is not UTF-8',
    (folder) => writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x6b, 0xff])]), 'x'),
    'UTF-8',
  ],
  [
    'one that is still being written after a day',
    (folder) => {
      writeFileSync(join(folder, 'statement.xml.part'), randomBytes(8));
      utimesSync(join(folder, 'statement.xml.part'), Date.now() / 1_000 - 90_000, Date.now() / 1_000 - 90_000);
      writeFileSync(join(folder, 'young.xml.part'), randomBytes(8));
    },
    'written',
  ],
])('%s is set aside for a person', async (_name, put, reason) => {
  await put(files.bank.folders.in);
  await files.rounds(exchange);
  await exchange.round();
  expect(await aside()).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  rmSync(inFolder('young.xml.part'), { force: true });
});

test('a file of the archive that cannot be read again keeps the restore open until a person has settled it', async () => {
  await restored();
  const broken = files.exchangeOf({
    ...files.services,
    openTransport: async () => {
      const transport = await files.services.openTransport();
      const list: Transport['list'] = async (place) => {
        const large = { name: 'large', size: FILE_BYTES_MAX + 1, modifiedAtMs: 1 };
        const lost = { name: 'lost', size: 1, modifiedAtMs: 1 };
        return place === 'archive' ? [...(await transport.list(place)), large, lost] : transport.list(place);
      };
      return { ...transport, list };
    },
  });
  for (let round = 0; round < 20; round += 1) {
    expect(await restoreNow()).toMatchObject({ isCaughtUp: false });
    await broken.round().catch((error: unknown) => expect(error).toBeInstanceOf(TransportFailed));
  }
  await broken.round();
  await broken.end();
  const found = await aside();
  expect(found.map(({ name }) => name).sort()).toEqual(['large', 'lost']);
  for (const file of found) {
    const { isCaughtUp, words } = await restoreNow();
    expect(isCaughtUp).toBe(false);
    expect(words).toContain('settle');
    await settle(file);
  }
  expect(await restoreNow()).toMatchObject({ isCaughtUp: true });
});

test('a file of the bank that is set aside unread keeps the restore open until a person has settled it', async () => {
  files.bank.say('no message that is known');
  await restored();
  await files.rounds(exchange);
  const [file] = await aside();
  expect(await restoreNow()).toMatchObject({ isCaughtUp: false, words: expect.stringContaining('settle') });
  await settle(file);
  expect(await restoreNow()).toMatchObject({ isCaughtUp: true });
});

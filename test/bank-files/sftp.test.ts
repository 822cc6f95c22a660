import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as openpgp from 'openpgp';
import { pino } from 'pino';
import ssh2 from 'ssh2';
import SftpClient from 'ssh2-sftp-client';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { exchangedBanks } from '../../activities/bank-files/exchange/banks.ts';
import { fingerprintOf, sftpTransport } from '../../activities/bank-files/exchange/sftp.ts';
import type { Transport } from '../../activities/bank-files/exchange/transport.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { fileExchange, type SftpSettings } from '../../config/schema/file-exchange.ts';
import type { Database } from '../../db/query/database.ts';
import { newKey } from '../../sandbox/file-bank/sftp/keys.ts';
import { keyFiles, PGP_TEST_PASSPHRASE, testKey } from '../harness/bank-files/pgp-keys.ts';
import { type SftpServer, startSftpServer } from '../harness/bank-files/sftp-server.ts';

// The transport against a real SFTP server, which the test has cut connections, keep silent, and lose answers.

const PASSPHRASE = 'a passphrase of the test';
/** Long enough for a busy machine, where an answer comes; short where none ever does. */
const LONG_MS = 60_000;
const SHORT_MS = 5_000;

let root: string;
let server: SftpServer;
let privateKey: string;
let settings: SftpSettings;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sftp-'));
  for (const folder of ['out', 'in', 'archive']) mkdirSync(join(root, folder));
  const key = newKey(join(root, 'client'), PASSPHRASE);
  privateKey = key.private;
  server = await startSftpServer(root, key.public);
  settings = {
    kind: 'sftp',
    host: '127.0.0.1',
    port: server.port,
    user: 'clients',
    hostKeys: [fingerprintOf(server.hostKey)],
    addresses: ['127.0.0.0/8'],
    privateKeyFile: '/not/read/here',
    out: '/out',
    in: '/in',
    archive: '/archive',
  };
});

beforeEach(() => {
  server.onRequest = () => 'answer';
  for (const folder of ['out', 'in', 'archive']) {
    for (const name of readdirSync(join(root, folder))) rmSync(join(root, folder, name));
  }
});

afterAll(async () => {
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});

function opened(change: Partial<SftpSettings> = {}, deadlineMs = LONG_MS): Promise<Transport> {
  return sftpTransport({ ...settings, ...change }, { privateKey, passphrase: PASSPHRASE }, deadlineMs)();
}

test('a file is uploaded, renamed, listed with its size, downloaded and archived', async () => {
  const content = Buffer.from('payments '.repeat(20_000));
  const transport = await opened();
  await transport.upload('a.xml.part', content);
  await transport.rename('a.xml.part', 'a.xml');
  expect(await transport.list('out')).toMatchObject([{ name: 'a.xml', size: content.length }]);
  expect(readFileSync(join(root, 'out', 'a.xml')).equals(content)).toBe(true);
  writeFileSync(join(root, 'in', 'b.xml'), content);
  expect((await transport.download('b.xml')).equals(content)).toBe(true);
  await transport.archive('b.xml', 'c.xml');
  expect([readdirSync(join(root, 'in')), readdirSync(join(root, 'archive'))]).toEqual([[], ['c.xml']]);
  transport.close();
});

test('a server with another host key, or at an address that is not allowed, is given nothing', async () => {
  const asked: string[] = [];
  server.onRequest = (name) => {
    asked.push(name);
    return 'answer';
  };
  await expect(opened({ hostKeys: [`SHA256:${'A'.repeat(43)}`] })).rejects.toThrow('connect');
  await expect(opened({ addresses: ['192.0.2.0/24'] })).rejects.toThrow('not among those that are allowed');
  expect(asked).toEqual([]);
});

test('a private key must be encrypted, and SFTP_PASSPHRASE must open it', () => {
  const plain = newKey(join(root, 'plain')).private;
  expect(() => sftpTransport(settings, { privateKey: plain, passphrase: '' })).toThrow('not encrypted');
  expect(() => sftpTransport(settings, { privateKey, passphrase: 'another' })).toThrow('SFTP_PASSPHRASE');
});

test('with a private key that is not encrypted no process starts; one that cannot be read stops its own bank only', async () => {
  const start = (privateKeyFile: string, pgp: object | null = null) => {
    const transport = { ...settings, privateKeyFile };
    const exchange = { profile: 'sepa', party: { name: 'Clients Ltd', id: null, country: 'DE' }, transport, pgp };
    const fileExchanges = new Map([['house-bank', v.parse(fileExchange, exchange)]]);
    const configuration = { ...loadConfiguration({}), fileExchanges };
    const database: Database = Object.create(null);
    return exchangedBanks({ database, configuration, logger: pino({ level: 'silent' }), sftpPassphrase: PASSPHRASE });
  };
  const plain = join(root, 'plain-key');
  const nowhere = join(root, 'nowhere');
  newKey(plain);
  await expect(start(plain)).rejects.toThrow('The private key of house-bank for SFTP is not encrypted.');
  expect(await start(nowhere)).toHaveLength(1);

  const { privateKey: armoredKey } = await testKey('Ours');
  const locked = await openpgp.readPrivateKey({ armoredKey });
  const open = await openpgp.decryptKey({ privateKey: locked, passphrase: PGP_TEST_PASSPHRASE });
  const { own = '', unlocked = '' } = keyFiles(root, { own: armoredKey, unlocked: open.armor() });
  const pgp = (...privateKeyFiles: readonly string[]) => ({ privateKeyFiles, bankKeyFiles: [nowhere] });
  await expect(start(nowhere, pgp(nowhere, own, unlocked))).rejects.toThrow(
    'providers.house-bank.iso20022.pgp.privateKeyFiles: The PGP private key in unlocked.asc is not encrypted.',
  );
  expect(await start(nowhere, pgp(nowhere, own))).toHaveLength(1);
});

test('a passphrase, which is slow to try, is tried once for each key, and a replaced key is used from then on', async () => {
  const file = join(root, 'key');
  const transport = { ...settings, privateKeyFile: file };
  const exchange = { profile: 'sepa', party: { name: 'Clients Ltd', id: null, country: 'DE' }, transport };
  const fileExchanges = new Map([['bank', v.parse(fileExchange, exchange)]]);
  const configuration = { ...loadConfiguration({}), fileExchanges };
  // The key is looked at before anything else.
  const database: Database = Object.create(null);
  const logger = pino({ level: 'silent' });
  const [bank] = await exchangedBanks({ database, configuration, logger, sftpPassphrase: PASSPHRASE });
  const other = newKey(join(root, 'other'), 'another').private;
  const tried = vi.spyOn(ssh2.utils, 'parseKey');
  const connected = vi.spyOn(SftpClient.prototype, 'connect');
  const timesTried = () => tried.mock.calls.filter(([, passphrase]) => passphrase !== undefined).length;

  writeFileSync(file, other);
  for (const _ of [1, 2]) await expect(bank?.openTransport()).rejects.toThrow('SFTP_PASSPHRASE');
  expect(timesTried()).toBe(1);
  writeFileSync(file, privateKey);
  for (const _ of [1, 2]) (await bank?.openTransport())?.close();
  expect(timesTried()).toBe(2);
  for (const [given] of connected.mock.calls) expect(given.passphrase).toBeUndefined();
});

test.each([
  ['list', 'silent'],
  ['write', 'cut'],
  ['rename', 'cut'],
] as const)(
  '%s, %s: the call ends with an error in its time, and the connection is never used again',
  async (at, what) => {
    const transport = await opened({}, what === 'silent' ? SHORT_MS : LONG_MS);
    await transport.upload('x.xml.part', Buffer.from('x'));
    server.onRequest = (name) => (name === at ? what : 'answer');
    const call = {
      list: () => transport.list('out'),
      write: () => transport.upload('y.xml.part', Buffer.from('y')),
      rename: () => transport.rename('x.xml.part', 'x.xml'),
    }[at];
    await expect(call()).rejects.toThrow();
    server.onRequest = () => 'answer';
    await expect(transport.list('out')).rejects.toThrow('lost');
    transport.close();
    const next = await opened();
    expect((await next.list('out')).map(({ name }) => name)).not.toContain('x.xml');
    next.close();
  },
);

test('many calls over one connection leave no listeners behind', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const transport = await opened();
  for (let time = 0; time < 20; time += 1) await transport.list('in');
  transport.close();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('two calls are never under way at a time', async () => {
  const transport = await opened();
  const [first, second] = await Promise.allSettled([transport.list('out'), transport.list('in')]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  transport.close();
});

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as openpgp from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PgpSettings } from '../../../config/schema/file-exchange.ts';
import { type KeyLife, PGP_TEST_PASSPHRASE, type TestKey, testKey } from '../../../test/harness/bank-files/pgp-keys.ts';
import { loadOpenPgp } from './library.ts';
import { pgpWith } from './pgp.ts';

const MESSAGE = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\r\n<Document>zażółć — 10 €\n</Document>\r\n');

let folder: string;
let ours: TestKey;
let bank: TestKey;
let next: TestKey;
let stranger: TestKey;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pgp-'));
  [ours, bank, next, stranger] = (await Promise.all(
    ['Ours', 'Bank', 'Next', 'Stranger'].map((name) => testKey(name)),
  )) as [TestKey, TestKey, TestKey, TestKey];
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function fileOf(text: string): string {
  files += 1;
  const path = join(folder, `${files}.asc`);
  writeFileSync(path, text);
  return path;
}

type Side = Partial<Pick<PgpSettings, 'outgoing' | 'incoming'>> & {
  readonly own?: readonly string[];
  readonly theirs?: readonly string[];
};

/** Our side: by default with our key, and the bank's present and next. */
function ourSide({ own = [ours.privateKey], theirs = [bank.publicKey, next.publicKey], ...settings }: Side = {}) {
  return pgpWith(
    {
      outgoing: 'signed-and-encrypted',
      incoming: 'signed',
      ...settings,
      privateKeyFiles: own.map(fileOf),
      bankKeyFiles: theirs.map(fileOf),
    },
    PGP_TEST_PASSPHRASE,
  );
}

/** The bank's side is the same code with the keys the other way round; the program `gpg` is asked below. */
const bankSide = (key = bank, side: Side = {}) => ourSide({ own: [key.privateKey], theirs: [ours.publicKey], ...side });

test.each(['signed', 'encrypted', 'signed-and-encrypted'] as const)(
  'a file that goes out %s is the same, byte by byte, for either key of the bank',
  async (outgoing) => {
    const sealed = await ourSide({ outgoing }).seal(MESSAGE);
    expect(sealed.includes('Document')).toBe(false);
    const incoming = outgoing === 'encrypted' ? 'any' : 'signed';
    for (const key of [bank, next]) {
      expect((await bankSide(key, { incoming }).open(sealed)).equals(MESSAGE)).toBe(true);
    }
  },
);

test('a file is sealed into other bytes each time', async () => {
  const side = ourSide();
  expect((await side.seal(MESSAGE)).equals(await side.seal(MESSAGE))).toBe(false);
});

test('what the bank’s present key has signed is taken, and what its next one has, and no longer what was removed', async () => {
  for (const key of [bank, next]) {
    const sealed = await bankSide(key).seal(MESSAGE);
    expect((await ourSide().open(sealed)).equals(MESSAGE)).toBe(true);
  }
  const removed = await bankSide(bank).seal(MESSAGE);
  await expect(ourSide({ theirs: [next.publicKey] }).open(removed)).rejects.toThrow('none of the bank’s');
});

test('files that the bank has encrypted for an earlier key of ours are opened still', async () => {
  const earlier = await testKey('Earlier', { endsInDays: -1 });
  const sealed = await bankSide(bank, { theirs: [ours.publicKey] }).seal(MESSAGE);
  const changed = ourSide({ own: [next.privateKey, ours.privateKey, earlier.privateKey] });
  expect((await changed.open(sealed)).equals(MESSAGE)).toBe(true);
});

describe('what is set aside, with the rule that it breaks', () => {
  const expired: KeyLife = { endsInDays: -1 };
  const backdated = async (key: TestKey, daysAgo: number) => {
    const signingKeys = await openpgp.decryptKey({
      privateKey: await openpgp.readPrivateKey({ armoredKey: key.privateKey }),
      passphrase: PGP_TEST_PASSPHRASE,
    });
    const message = await openpgp.createMessage({ binary: MESSAGE });
    const date = new Date(Date.now() - daysAgo * 86_400_000);
    return Buffer.from(await openpgp.sign({ message, signingKeys, date, format: 'binary' }));
  };
  type Case = readonly [what: string, rule: string, file: () => Promise<Buffer>, side?: () => Side];
  const CASES: readonly Case[] = [
    ['a plain file', 'is not signed', async () => MESSAGE],
    [
      'an encrypted file without a signature',
      'not signed',
      () => bankSide(bank, { outgoing: 'encrypted' }).seal(MESSAGE),
    ],
    ['a signature of a stranger', 'none of the bank’s', () => bankSide(stranger).seal(MESSAGE)],
    [
      'a signature over other bytes',
      'wrong signature',
      async () => {
        const signed = await backdated(bank, 0);
        signed[signed.indexOf('zażółć')] = 0x41;
        return signed;
      },
    ],
    ['a signature of a time to come', 'of a time to come', () => backdated(bank, -2)],
    ['a file for another', 'for no key of ours', () => bankSide(bank, { theirs: [stranger.publicKey] }).seal(MESSAGE)],
    [
      'a file that is cut off',
      'cut off',
      async () => {
        const sealed = await bankSide().seal(MESSAGE);
        return sealed.subarray(0, sealed.length / 2);
      },
    ],
    [
      'a file that was changed on its way',
      'changed on its way',
      async () => {
        const { data } = await openpgp.unarmor((await bankSide().seal(MESSAGE)).toString());
        const bytes = Buffer.from(data as Uint8Array);
        bytes[bytes.length - 30] = (bytes.at(-30) ?? 0) ^ 1;
        return bytes;
      },
    ],
    [
      'text that is signed in place',
      'cleartext',
      async () => Buffer.from('-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nx\n'),
    ],
    ['keys in place of a message', 'OpenPGP message', async () => Buffer.from(bank.publicKey)],
    ['a signature by a revoked key', 'is revoked', () => bankSide().seal(MESSAGE), () => ({ theirs: [bank.revoked] })],
  ];
  for (const [what, rule, file, side] of CASES) {
    test(`${what}: ${rule}`, async () => {
      const opened = ourSide(side?.()).open(await file());
      await expect(opened).rejects.toThrow(rule);
      await expect(opened).rejects.toHaveProperty('name', 'UnreadableMessage');
    });
  }

  test('a signature by a key that has expired since: has expired', async () => {
    const old = await testKey('Old', expired);
    const signed = await backdated(old, 10);
    await expect(ourSide({ theirs: [old.publicKey] }).open(signed)).rejects.toThrow('has expired');
  });

  test('where files need not be signed, plain ones are taken, and a wrong signature is not', async () => {
    const side = () => ourSide({ incoming: 'any' });
    expect((await side().open(MESSAGE)).equals(MESSAGE)).toBe(true);
    expect((await side().open(Buffer.from('\uFEFF<a/>'))).toString()).toBe('\uFEFF<a/>');
    await expect(side().open(await bankSide(stranger).seal(MESSAGE))).rejects.toThrow('none of the bank’s');
  });
});

describe('keys that cannot be used hold up files, and each says why without its secret', () => {
  const plainKey = async () => {
    const privateKey = await openpgp.readPrivateKey({ armoredKey: ours.privateKey });
    return (await openpgp.decryptKey({ privateKey, passphrase: PGP_TEST_PASSPHRASE })).armor();
  };
  test.each([
    ['a private key that is not encrypted', 'is not encrypted', async () => ({ own: [await plainKey()] })],
    ['a public key as ours', 'no private key', async () => ({ own: [ours.publicKey] })],
    ['a private key as the bank’s', 'holds a private key', async () => ({ theirs: [bank.privateKey] })],
    ['a file that is no key', 'no public key', async () => ({ theirs: ['hello'] })],
    [
      'a key of ours that has expired',
      'Our PGP key that signs',
      async () => ({ own: [(await testKey('Over', { endsInDays: -1 })).privateKey] }),
    ],
    ['a bank without a valid key', 'can encrypt', async () => ({ theirs: [bank.revoked] })],
  ] as const)('%s: %s', async (_what, rule, side) => {
    const failure = ourSide(await side()).seal(MESSAGE);
    await expect(failure).rejects.toThrow(rule);
    await expect(failure).rejects.toHaveProperty('name', 'PgpUnusable');
    await expect(failure).rejects.not.toHaveProperty('message', expect.stringContaining(PGP_TEST_PASSPHRASE));
  });

  test('another passphrase, a file that is not there, and a package that is not installed', async () => {
    const settings = { outgoing: 'signed' as const, incoming: 'any' as const, bankKeyFiles: [fileOf(bank.publicKey)] };
    const own = { ...settings, privateKeyFiles: [fileOf(ours.privateKey)] };
    await expect(pgpWith(own, 'another').seal(MESSAGE)).rejects.toThrow('cannot be read with PGP_PASSPHRASE');
    const absent = { ...settings, privateKeyFiles: [join(folder, 'nowhere.asc')] };
    await expect(pgpWith(absent, '').seal(MESSAGE)).rejects.toThrow('nowhere.asc cannot be read: ENOENT');
    const missing = 'a-package-that-is-not-here';
    const load = () => loadOpenPgp(() => import(/* @vite-ignore */ missing));
    await expect(pgpWith(own, PGP_TEST_PASSPHRASE, load).seal(MESSAGE)).rejects.toThrow('openpgp is not installed');
  });

  test('a new key in the file is used without a new start', async () => {
    const path = fileOf(bank.publicKey);
    const settings = { outgoing: 'signed' as const, incoming: 'signed' as const, bankKeyFiles: [path] };
    const side = pgpWith({ ...settings, privateKeyFiles: [fileOf(ours.privateKey)] }, PGP_TEST_PASSPHRASE);
    const sealed = await bankSide(next).seal(MESSAGE);
    await expect(side.open(sealed)).rejects.toThrow('none of the bank’s');
    writeFileSync(path, next.publicKey);
    expect((await side.open(sealed)).equals(MESSAGE)).toBe(true);
  });
});

test('a key ends when it expires, or the part of it that encrypts does; a revoked one has ended; others do not end', async () => {
  const lives: readonly (readonly [KeyLife, number | null])[] = [
    [{}, null],
    [{ endsInDays: 10 }, 10],
    [{ endsInDays: 300, encryptionEndsInDays: 20 }, 20],
    [{ encryptionEndsInDays: 5 }, 5],
    [{ endsInDays: -2 }, -2],
    [{ encryptionEndsInDays: -3 }, -3],
  ];
  const keys = await Promise.all(lives.map(([life], index) => testKey(`Key ${index}`, life)));
  const side = ourSide({ theirs: [...keys.map(({ publicKey }) => publicKey), bank.revoked] });
  const now = new Date();
  const [own, ...found] = await side.standings(now);
  expect(own).toEqual({ owner: 'ours', fingerprint: ours.fingerprint, endsAt: null });
  const days = found.map(({ endsAt }) =>
    endsAt === null ? null : Math.round((endsAt.getTime() - now.getTime()) / 86_400_000),
  );
  expect(days.slice(0, -1)).toEqual(lives.map(([, ends]) => ends));
  expect(found.at(-1)).toEqual({ owner: 'bank', fingerprint: bank.fingerprint, endsAt: new Date(0) });
});

const hasGpg = spawnSync('gpg', ['--version']).status === 0;

describe.skipIf(!hasGpg)('the program gpg, as a second opinion', () => {
  let home: string;
  const gpg = (args: readonly string[], input?: Buffer) =>
    execFileSync(
      'gpg',
      ['--homedir', home, '--batch', '--quiet', '--trust-model', 'always', '--no-autostart', ...args],
      { input, stdio: ['pipe', 'pipe', 'ignore'] },
    );
  const withSecret = (args: readonly string[], input: Buffer) =>
    execFileSync(
      'gpg',
      [
        '--homedir',
        home,
        '--batch',
        '--quiet',
        '--trust-model',
        'always',
        '--pinentry-mode',
        'loopback',
        '--passphrase',
        PGP_TEST_PASSPHRASE,
        ...args,
      ],
      { input, stdio: ['pipe', 'pipe', 'ignore'] },
    );

  beforeAll(() => {
    // Its agent's socket has a path of at most 107 characters.
    home = mkdtempSync(join(tmpdir(), 'gnupg-'));
    // Its agent would otherwise measure for seconds how slowly a passphrase may be tried.
    writeFileSync(join(home, 'gpg-agent.conf'), 's2k-count 65536\n');
    withSecret(['--import'], Buffer.from(bank.privateKey));
    gpg(['--import'], Buffer.from(ours.publicKey));
  });

  afterAll(() => {
    spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    rmSync(home, { recursive: true, force: true });
  });

  test('it opens what we have signed and encrypted, and finds our signature good', async () => {
    const sealed = await ourSide().seal(MESSAGE);
    const status = join(home, 'status');
    const plain = withSecret(['--status-file', status, '--decrypt'], sealed);
    expect(plain.equals(MESSAGE)).toBe(true);
    expect(readFileSync(status, 'utf8')).toContain(`VALIDSIG ${ours.fingerprint.toUpperCase()}`);
  });

  test.each([
    ['binary', []],
    ['armored', ['--armor']],
    ['not compressed', ['--compress-algo', 'none']],
  ])('we open what it has signed and encrypted, %s', async (_form, form) => {
    const key = ours.fingerprint.toUpperCase();
    const local = bank.fingerprint.toUpperCase();
    const sealed = withSecret([...form, '--local-user', local, '--recipient', key, '--sign', '--encrypt'], MESSAGE);
    expect((await ourSide().open(sealed)).equals(MESSAGE)).toBe(true);
    const signed = withSecret([...form, '--local-user', local, '--sign'], MESSAGE);
    expect((await ourSide().open(signed)).equals(MESSAGE)).toBe(true);
  });
});

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Key, PrivateKey } from 'openpgp';
import type { PgpSettings } from '../../../config/schema/file-exchange.ts';
import { loadOpenPgp, type OpenPgp, PgpUnusable, unusablePgp } from './library.ts';

export interface PgpKeys {
  /** Decrypted; the first one signs. */
  readonly own: readonly [PrivateKey, ...PrivateKey[]];
  readonly bank: readonly Key[];
}

interface KeyFile {
  readonly path: string;
  readonly text: string;
}

export interface KeyFiles {
  readonly own: readonly KeyFile[];
  readonly bank: readonly KeyFile[];
}

export async function readKeyFiles({ privateKeyFiles, bankKeyFiles }: PgpSettings): Promise<KeyFiles> {
  const read = (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => ({ path, text: await textOf(path) })));
  return { own: await read(privateKeyFiles), bank: await read(bankKeyFiles) };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new PgpUnusable(`The PGP key file ${basename(path)} cannot be read: ${code}.`, { cause: error });
  }
}

/** Throws PgpUnusable, which names the file and the rule. */
export async function openKeys(library: OpenPgp, files: KeyFiles, passphrase: string): Promise<PgpKeys> {
  const [first, ...others] = (await Promise.all(files.own.map((file) => ownKeys(library, file, passphrase)))).flat();
  if (first === undefined) throw new PgpUnusable('No PGP key of ours is configured.');
  const bank = (await Promise.all(files.bank.map((file) => bankKeys(library, file)))).flat();
  return { own: [first, ...others], bank };
}

async function ownKeys(library: OpenPgp, file: KeyFile, passphrase: string): Promise<PrivateKey[]> {
  const keys = await encryptedKeys(library, file);
  try {
    return await Promise.all(keys.map((privateKey) => library.decryptKey({ privateKey, passphrase })));
  } catch (error) {
    const name = basename(file.path);
    throw new PgpUnusable(`The PGP private key in ${name} cannot be read with PGP_PASSPHRASE.`, { cause: error });
  }
}

/** A private key that is of use to who reads the disk on which it lies. */
class PlainKey extends PgpUnusable {}

async function encryptedKeys(library: OpenPgp, { path, text }: KeyFile): Promise<PrivateKey[]> {
  const file = basename(path);
  let keys: PrivateKey[];
  try {
    keys = await library.readPrivateKeys({ armoredKeys: text });
  } catch (error) {
    throw new PgpUnusable(`The PGP key file ${file} holds no private key that can be read.`, { cause: error });
  }
  if (keys.some((key) => key.isDecrypted())) {
    throw new PlainKey(`The PGP private key in ${file} is not encrypted. Encrypt it: gpg --change-passphrase KEY.`);
  }
  return keys;
}

/** No process starts with a private key that is not encrypted. Whatever else is wrong with a key stops its own bank only. */
export async function rejectPlainKeys({ privateKeyFiles }: PgpSettings, setting: string): Promise<void> {
  for (const path of privateKeyFiles) {
    try {
      await encryptedKeys(await loadOpenPgp(), { path, text: await textOf(path) });
    } catch (error) {
      const { message } = unusablePgp(error);
      if (error instanceof PlainKey) throw new Error(`${setting}.privateKeyFiles: ${message}`, { cause: error });
    }
  }
}

async function bankKeys(library: OpenPgp, { path, text }: KeyFile): Promise<Key[]> {
  let keys: Key[];
  try {
    keys = await library.readKeys({ armoredKeys: text });
  } catch (error) {
    throw new PgpUnusable(`The PGP key file ${basename(path)} holds no public key that can be read.`, { cause: error });
  }
  if (keys.some((key) => key.isPrivate())) {
    throw new PgpUnusable(`The PGP key file ${basename(path)} holds a private key: only its bank may have that.`);
  }
  return keys;
}

export type KeyUse = 'signing' | 'encryption';

export async function isUsable(key: Key, use: KeyUse, at: Date): Promise<boolean> {
  try {
    await (use === 'signing' ? key.getSigningKey(undefined, at) : key.getEncryptionKey(undefined, at));
    return true;
  } catch {
    return false;
  }
}

export interface KeyStanding {
  readonly owner: 'ours' | 'bank';
  readonly fingerprint: string;
  /** When it can no longer be used; the beginning of time for a revoked one, null for one that does not expire. */
  readonly endsAt: Date | null;
}

/** Until when each key can be used. */
export async function standingsOf({ own, bank }: PgpKeys, now: Date): Promise<readonly KeyStanding[]> {
  const of = async (owner: KeyStanding['owner'], key: Key) => ({
    owner,
    fingerprint: key.getFingerprint(),
    endsAt: await endOf(key, now),
  });
  return Promise.all([...own.map((key) => of('ours', key)), ...bank.map((key) => of('bank', key))]);
}

const REVOKED = new Date(0);
const SECOND_MS = 1_000;

async function endOf(key: Key, now: Date): Promise<Date | null> {
  const expiries = (
    await Promise.all([key.getExpirationTime(), ...key.subkeys.map((subkey) => subkey.getExpirationTime())])
  )
    .filter((end) => end instanceof Date)
    .sort((one, other) => one.getTime() - other.getTime());
  const isValid = await key.verifyPrimaryKey(now).then(
    () => true,
    () => false,
  );
  const past = expiries.filter((end) => end <= now);
  if (!isValid) return past[0] ?? REVOKED;
  const ends = await Promise.all((['signing', 'encryption'] as const).map((use) => endOfUse(key, use, expiries, now)));
  const [first = null] = ends.filter((end) => end !== null).sort((one, other) => one.getTime() - other.getTime());
  return first;
}

/** When the last of a key's parts for a use expires; null: never, or it never had one. */
async function endOfUse(key: Key, use: KeyUse, expiries: readonly Date[], now: Date): Promise<Date | null> {
  for (const end of expiries) {
    const [before, after] = [new Date(end.getTime() - SECOND_MS), new Date(end.getTime() + SECOND_MS)];
    if ((await isUsable(key, use, before)) && !(await isUsable(key, use, after))) {
      // One that expired in the past and was followed by another is not its end.
      if (end > now || !(await isUsable(key, use, now))) return end;
    }
  }
  return null;
}

import type { Key, Message, VerifyMessageResult } from 'openpgp';
import type { PgpSettings } from '../../../config/schema/file-exchange.ts';
import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { BANK_MESSAGE_BYTES_MAX } from '../read-bank-message.ts';
import { isUsable, type PgpKeys } from './keys.ts';
import { type OpenPgp, PgpUnusable } from './library.ts';

/** The clocks of a bank and ours are not one: a signature of this much later is none of the future. */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/** Signs and encrypts a file as configured, for each of the bank's keys that can be used: it may already have changed to the next. */
export async function seal(library: OpenPgp, keys: PgpKeys, outgoing: PgpSettings['outgoing'], content: Uint8Array) {
  const now = new Date();
  const [signingKey] = keys.own;
  const signs = outgoing !== 'encrypted';
  if (signs && !(await isUsable(signingKey, 'signing', now))) {
    throw new PgpUnusable('Our PGP key that signs has expired, is revoked, or cannot sign.');
  }
  const signingKeys = signs ? [signingKey] : [];
  const message = await library.createMessage({ binary: content });
  if (outgoing === 'signed') return Buffer.from(await library.sign({ message, signingKeys, format: 'armored' }));
  const usable = await Promise.all(keys.bank.map((key) => isUsable(key, 'encryption', now)));
  const encryptionKeys = keys.bank.filter((_, index) => usable[index]);
  if (encryptionKeys.length === 0) {
    throw new PgpUnusable('No PGP key of the bank can encrypt: each has expired, is revoked, or only signs.');
  }
  return Buffer.from(await library.encrypt({ message, encryptionKeys, signingKeys, format: 'armored' }));
}

const ARMORED = '-----BEGIN PGP ';
const CLEARTEXT = '-----BEGIN PGP SIGNED MESSAGE-----';

/** What a file of the bank holds. Throws UnreadableMessage, which names the rule that it breaks. */
export async function open(library: OpenPgp, keys: PgpKeys, incoming: PgpSettings['incoming'], bytes: Uint8Array) {
  const form = formOf(bytes);
  if (form === 'plain') {
    if (incoming === 'signed') throw unreadable('is not signed, and each file of this bank must be');
    return Buffer.from(bytes);
  }
  if (form === 'cleartext') throw unreadable('is signed as text (cleartext): only signed OpenPGP messages can be read');
  const message = await parsed(library, bytes, form);
  const { data, signatures } = await contentOf(library, keys, message);
  if (signatures.length > 0) await requireBankSignature(keys, signatures);
  else if (incoming === 'signed') throw unreadable('is encrypted and not signed, and each file of this bank must be');
  return Buffer.from(data);
}

function unreadable(how: string): UnreadableMessage {
  return new UnreadableMessage(`The file ${how}.`);
}

/** Whether a file is an OpenPGP message, rather than the bank's message itself. */
export function isSealed(bytes: Uint8Array): boolean {
  return formOf(bytes) !== 'plain';
}

function formOf(bytes: Uint8Array): 'plain' | 'cleartext' | 'armored' | 'binary' {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').trimStart();
  if (start.startsWith(CLEARTEXT)) return 'cleartext';
  if (start.startsWith(ARMORED)) return 'armored';
  // A packet begins with its highest bit, as the marks of Unicode's encodings do.
  const isMark = /^(\xEF\xBB\xBF|\xFE\xFF|\xFF\xFE)/.test(start);
  return !isMark && ((bytes[0] ?? 0) & 0x80) !== 0 ? 'binary' : 'plain';
}

async function parsed(library: OpenPgp, bytes: Uint8Array, form: 'armored' | 'binary'): Promise<Message<Uint8Array>> {
  try {
    const binaryMessage =
      form === 'binary' ? bytes : (await library.unarmor(Buffer.from(bytes).toString('latin1'))).data;
    return await library.readMessage<Uint8Array>({ binaryMessage });
  } catch {
    throw unreadable('is no whole OpenPGP message: it is cut off, or was changed on its way');
  }
}

type Opened = VerifyMessageResult<Uint8Array>;

async function contentOf(library: OpenPgp, keys: PgpKeys, message: Message<Uint8Array>): Promise<Opened> {
  const { packet } = library.enums;
  const config = { maxDecompressedMessageSize: BANK_MESSAGE_BYTES_MAX };
  const verification = { verificationKeys: [...keys.bank], date: new Date(Date.now() + CLOCKS_DIFFER_MS) };
  const encrypted = message.packets.filterByTag(
    packet.symEncryptedIntegrityProtectedData,
    packet.symmetricallyEncryptedData,
    packet.aeadEncryptedData,
  );
  const isEncrypted = encrypted.length > 0;
  if (isEncrypted && !isForUs(keys, message)) throw unreadable('is encrypted, and for no key of ours');
  const shared = { message, ...verification, format: 'binary', config } as const;
  try {
    return isEncrypted
      ? await library.decrypt({ ...shared, decryptionKeys: [...keys.own] })
      : await library.verify(shared);
  } catch {
    throw unreadable(
      isEncrypted
        ? 'cannot be decrypted: it is cut off, was changed on its way, or is too large'
        : 'holds no signed message, or one that is too large',
    );
  }
}

const HIDDEN_KEY = '0000000000000000';

function isForUs({ own }: PgpKeys, message: Message<Uint8Array>): boolean {
  return message
    .getEncryptionKeyIDs()
    .some((id) => id.toHex() === HIDDEN_KEY || own.some((key) => key.getKeys(id).length > 0));
}

/** One valid signature by a key of the bank that can be used today is enough. */
async function requireBankSignature({ bank }: PgpKeys, signatures: Opened['signatures']): Promise<void> {
  const now = new Date();
  const problems: string[] = [];
  for (const { keyID, verified } of signatures) {
    const id = keyID.toHex().toUpperCase();
    const key = bank.find((one) => one.getKeys(keyID).length > 0);
    if (key === undefined) {
      await verified.catch(() => {});
      problems.push(`is signed by the key ${id}, which is none of the bank’s`);
      continue;
    }
    const standing = await standingOf(key, keyID, now);
    const failure = await verified.then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    if (failure === null && standing === 'usable') return;
    problems.push(problemOf(id, standing, failure));
  }
  throw unreadable(problems[0] ?? 'has no signature that can be read');
}

function problemOf(id: string, standing: Standing, failure: string | null): string {
  if (standing !== 'usable') return `is signed by the bank’s key ${id}, which ${standing}`;
  if (failure?.includes('in the future')) return `has a signature by the bank’s key ${id} of a time to come`;
  return `has a wrong signature by the bank’s key ${id}: its bytes are not those that the bank has signed`;
}

type Standing = 'usable' | 'has expired' | 'is revoked' | 'may not sign';

async function standingOf(key: Key, id: Parameters<Key['getSigningKey']>[0], now: Date): Promise<Standing> {
  try {
    await key.getSigningKey(id, now);
    return 'usable';
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    if (/revoked/i.test(text)) return 'is revoked';
    return /expired/i.test(text) ? 'has expired' : 'may not sign';
  }
}

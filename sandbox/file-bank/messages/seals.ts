import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Key, PrivateKey } from 'openpgp';
import type { CustomerSettings } from '../records.ts';
import { InvalidMessage } from './xml.ts';

type Settings = Pick<CustomerSettings, 'pgp' | 'pgpKey' | 'bankKey'>;

export type BankKeyName = CustomerSettings['bankKey'];

/**
 * The bank's side of signed and encrypted files: its present key and its next one, made when they are first needed. The package is loaded only
 * then.
 */
export class BankPgp {
  readonly #folder: string;
  readonly #keys = new Map<BankKeyName, Promise<PrivateKey>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async publicKey(name: BankKeyName): Promise<string> {
    return (await this.#key(name)).toPublic().armor();
  }

  /** What the bank's file is for a customer, armored. */
  async seal(content: string, settings: Settings): Promise<string> {
    const { createMessage, encrypt, sign } = await import('openpgp');
    const message = await createMessage({ binary: Buffer.from(content) });
    const signingKeys = settings.pgp === 'encrypted' ? [] : [await this.#key(settings.bankKey)];
    if (settings.pgp === 'signed') return sign({ message, signingKeys, format: 'armored' });
    return encrypt({ message, signingKeys, encryptionKeys: [await customerKey(settings)], format: 'armored' });
  }

  /** What a customer's file holds, which must be sealed as agreed. */
  async open(bytes: Buffer, settings: Settings): Promise<Buffer> {
    const { decrypt, readMessage, verify } = await import('openpgp');
    const decryptionKeys = [await this.#key('present'), await this.#key('next')];
    try {
      const message = await readMessage({ armoredMessage: bytes.toString('latin1') });
      const isEncrypted = message.getEncryptionKeyIDs().length > 0;
      if (isEncrypted !== (settings.pgp !== 'signed')) throw new Error('sealed in another way');
      const verificationKeys = await customerKey(settings);
      const shared = { message, verificationKeys, format: 'binary' } as const;
      const { data, signatures } = isEncrypted ? await decrypt({ ...shared, decryptionKeys }) : await verify(shared);
      if (settings.pgp !== 'encrypted') {
        const [signature] = signatures;
        if (signature === undefined) throw new Error('not signed');
        await signature.verified;
      }
      return Buffer.from(data as Uint8Array);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'not readable';
      throw new InvalidMessage(`The file is not ${settings.pgp} as agreed: ${why}.`, {
        version: null,
        messageId: null,
      });
    }
  }

  #key(name: BankKeyName): Promise<PrivateKey> {
    const known = this.#keys.get(name) ?? this.#make(name);
    this.#keys.set(name, known);
    return known;
  }

  async #make(name: BankKeyName): Promise<PrivateKey> {
    const { generateKey, readPrivateKey } = await import('openpgp');
    const file = join(this.#folder, `${name}.asc`);
    if (!existsSync(file)) {
      mkdirSync(this.#folder, { recursive: true });
      const userIDs = [{ name: `Sandbox File Bank, ${name}` }];
      const { privateKey } = await generateKey({ userIDs, type: 'ecc', curve: 'ed25519Legacy' });
      writeFileSync(file, privateKey, { mode: 0o600 });
    }
    return readPrivateKey({ armoredKey: readFileSync(file, 'utf8') });
  }
}

export async function isPublicKey(pgpKey: string): Promise<boolean> {
  return customerKey({ pgpKey }).then(
    (key) => !key.isPrivate(),
    () => false,
  );
}

async function customerKey({ pgpKey }: Pick<Settings, 'pgpKey'>): Promise<Key> {
  const { readKey } = await import('openpgp');
  return readKey({ armoredKey: pgpKey });
}

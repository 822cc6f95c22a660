import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * Encrypts single values (AES-256-GCM). `row` names the table, column and row of a value; copied to another row, the value
 * cannot be decrypted.
 */
export interface Keyring {
  /** Uses the newest key. */
  encrypt(text: string, row: string): string;
  /** Uses whichever key encrypted the text. */
  decrypt(stored: string, row: string): string;
  /** The prefix of every value under the newest key; a background loop re-encrypts all others. */
  readonly prefix: string;
}

const FORM = /^enc:v1:([0-9a-f]{16}):([A-Za-z0-9_-]{38,})$/;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createKeyring(keys: readonly Buffer[]): Keyring {
  const [newest] = keys;
  if (newest === undefined) throw new Error('a keyring needs a key');
  const keyById = new Map(keys.map((key) => [keyId(key), key]));
  const prefix = `enc:v1:${keyId(newest)}:`;
  return {
    prefix,
    encrypt: (text, row) => prefix + encrypt(newest, text, row),
    decrypt: (stored, row) => {
      const [, id, value] = FORM.exec(stored) ?? [];
      if (id === undefined || value === undefined) throw new Error(`a value of ${row} is not encrypted`);
      const key = keyById.get(id);
      if (key === undefined)
        throw new Error(`a value is encrypted under key ${id}, which ENCRYPTION_KEY does not hold`);
      return decrypt(key, value, row);
    },
  };
}

/** Identifies a key without revealing any of it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('financial-accounts encryption key ').update(key).digest('hex').slice(0, 16);
}

function encrypt(key: Buffer, text: string, row: string): string {
  // Random nonces are safe here: one key encrypts far fewer than the 2^32 values at which a collision becomes likely.
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(row, 'utf8'));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

function decrypt(key: Buffer, value: string, row: string): string {
  const bytes = Buffer.from(value, 'base64url');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(row, 'utf8'));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

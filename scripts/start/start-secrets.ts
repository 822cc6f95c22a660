import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Signs the sandbox bank's callbacks. */
export function sandboxBankSecret(directory: string): string {
  return madeOnce(join(directory, 'sandbox-bank-secret'), () => randomBytes(32).toString('hex'));
}

/** Encrypts webhook secrets, and stored answers with secrets or names. */
export function encryptionKey(directory: string): string {
  return madeOnce(join(directory, 'encryption-key'), () => randomBytes(32).toString('base64'));
}

/** The `aud` of this data directory's tokens, which makes them worthless at another installation. */
export function installationName(directory: string): string {
  return madeOnce(join(directory, 'audience'), () => `financial-accounts-service-${randomUUID()}`);
}

/** Reads the file, created if missing: atomically, even if killed in between. */
function madeOnce(file: string, make: () => string): string {
  const present = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (present !== '') return present;
  const made = make();
  writeFileSync(`${file}.new`, `${made}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}

import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Signs the sandbox bank's callbacks. */
export function sandboxBankSecret(directory: string): string {
  return readOrCreate(join(directory, 'sandbox-bank-secret'), () => randomBytes(32).toString('hex'));
}

/** The console's at the sandbox's identity provider. */
export function consoleClientSecret(directory: string): string {
  return readOrCreate(join(directory, 'console-client-secret'), () => randomBytes(32).toString('hex'));
}

/** Encrypts the key for the SFTP server of the sandbox's file bank. */
export function sftpPassphrase(directory: string): string {
  return readOrCreate(join(directory, 'sftp-passphrase'), () => randomBytes(32).toString('hex'));
}

/** Encrypts webhook secrets, and stored answers with secrets or names. */
export function encryptionKeyFile(directory: string): string {
  return join(directory, 'encryption-key');
}

export function encryptionKey(directory: string): string {
  return readOrCreate(encryptionKeyFile(directory), () => randomBytes(32).toString('base64'));
}

/** The `aud` of this data directory's tokens, which makes them worthless at another installation. */
export function installationName(directory: string): string {
  return readOrCreate(join(directory, 'audience'), () => `financial-accounts-service-${randomUUID()}`);
}

/** The development user's password, easy to type on a phone: four groups of four, 77 bits. */
export function developmentPassword(directory: string): string {
  return readOrCreate(join(directory, 'development-password'), () => Array.from({ length: 4 }, letters).join('-'));
}

/** Without characters that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

function letters(): string {
  return Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Signs what `npm run listen` forwards; the last one that was given stays. */
export function listenerSecret(directory: string, given: string | undefined) {
  const file = join(directory, 'listener-secret');
  if (given !== undefined) write(file, given);
  let isNew = false;
  const secret = readOrCreate(file, () => {
    isNew = true;
    return `whsec_${randomBytes(32).toString('base64')}`;
  });
  return { secret, file, isNew };
}

/** Reads the file, created if missing: atomically, even if killed in between. */
function readOrCreate(file: string, make: () => string): string {
  const present = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (present !== '') return present;
  const made = make();
  write(file, made);
  return made;
}

function write(file: string, content: string): void {
  // One that was left behind would keep its mode.
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${content}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

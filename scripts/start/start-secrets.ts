import { randomBytes, randomInt, randomUUID } from 'node:crypto';
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

/** Of the development person, easy to type on a phone: four groups of four, 77 bits. */
export function developmentPassword(directory: string): string {
  return madeOnce(join(directory, 'development-password'), () => Array.from({ length: 4 }, letters).join('-'));
}

/** Without those that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

function letters(): string {
  return Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Signs what `npm run listen` forwards; the last one that was given stays. */
export function listenerSecret(directory: string, given: string | undefined): string {
  const file = join(directory, 'listener-secret');
  if (given !== undefined) write(file, given);
  return madeOnce(file, () => `whsec_${randomBytes(32).toString('base64')}`);
}

/** Reads the file, created if missing: atomically, even if killed in between. */
function madeOnce(file: string, make: () => string): string {
  const present = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (present !== '') return present;
  const made = make();
  write(file, made);
  return made;
}

function write(file: string, content: string): void {
  writeFileSync(`${file}.new`, `${content}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2, { type ParsedKey } from 'ssh2';

const { utils } = ssh2;

/** Only the user of the sandbox may read a private key. */
const PRIVATE = { mode: 0o600 };

/** The server's own key, made once. */
export function hostKey(directory: string): { readonly private: string; readonly fingerprint: string } {
  const file = join(directory, 'host_key');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : newKey(file).private;
  const key = utils.parseKey(text);
  if (key instanceof Error) throw new Error(`${file} is no private key`);
  const digest = createHash('sha256').update(key.getPublicSSH()).digest('base64');
  return { private: text, fingerprint: `SHA256:${digest.replace(/=+$/, '')}` };
}

/**
 * The file with the keys that may sign in, as OpenSSH writes it. Where none is named there is one with a key that the bank makes, whose
 * private part stands next to it.
 */
export function authorizedKeysFile(directory: string, named: string | null): string {
  if (named !== null) return named;
  const file = join(directory, 'authorized_keys');
  if (!existsSync(file)) writeFileSync(file, `${newKey(join(directory, 'client_key')).public}\n`);
  return file;
}

/** Read at each sign-in, so that a key may be added or taken away. */
export function authorizedKeys(file: string): readonly ParsedKey[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const key = utils.parseKey(line);
      return key instanceof Error ? [] : [key];
    });
}

/** A new key in a file, with its public part next to it; one for stand-ins, whose passphrase is quick to try. */
export function newKey(file: string, passphrase?: string): { readonly private: string; readonly public: string } {
  mkdirSync(join(file, '..'), { recursive: true });
  for (;;) {
    const pair =
      passphrase === undefined
        ? utils.generateKeyPairSync('ed25519')
        : utils.generateKeyPairSync('ed25519', { cipher: 'aes256-ctr', passphrase, rounds: 1 });
    // The library writes some keys that it cannot read.
    const isReadable = !(utils.parseKey(pair.private, passphrase) instanceof Error);
    if (!isReadable || utils.parseKey(pair.public) instanceof Error) continue;
    writeFileSync(file, pair.private, PRIVATE);
    writeFileSync(`${file}.pub`, `${pair.public}\n`);
    return pair;
  }
}

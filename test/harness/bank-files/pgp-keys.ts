import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as openpgp from 'openpgp';

export const PGP_TEST_PASSPHRASE = 'a PGP passphrase of the test';

/** A private key is opened in milliseconds. */
const QUICK = { s2kIterationCountByte: 0 };
const DAY_SECONDS = 86_400;

export interface TestKey {
  /** Armored; encrypted by PGP_TEST_PASSPHRASE. */
  readonly privateKey: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  /** The same public key, revoked. */
  readonly revoked: string;
}

export interface KeyLife {
  readonly bornDaysAgo?: number;
  /** From now; negative for one that has expired. */
  readonly endsInDays?: number;
  /** Of the part that encrypts, where it is another. */
  readonly encryptionEndsInDays?: number;
}

export async function testKey(name: string, life: KeyLife = {}): Promise<TestKey> {
  const { bornDaysAgo = 100, endsInDays, encryptionEndsInDays } = life;
  const date = new Date(Date.now() - bornDaysAgo * DAY_SECONDS * 1_000);
  const expiring = (days: number | undefined) =>
    days === undefined ? {} : { keyExpirationTime: (bornDaysAgo + days) * DAY_SECONDS };
  const { privateKey, publicKey, revocationCertificate } = await openpgp.generateKey({
    userIDs: [{ name }],
    // As banks' programs know them: RFC 9580's own kinds of keys are too new for GnuPG 2.2.
    type: 'ecc',
    curve: 'ed25519Legacy',
    passphrase: PGP_TEST_PASSPHRASE,
    date,
    format: 'object',
    config: QUICK,
    ...expiring(endsInDays),
    subkeys: [expiring(encryptionEndsInDays ?? endsInDays)],
  });
  const { publicKey: revoked } = await openpgp.revokeKey({ key: publicKey, revocationCertificate, format: 'armored' });
  return {
    privateKey: privateKey.armor(),
    publicKey: publicKey.armor(),
    fingerprint: publicKey.getFingerprint(),
    revoked,
  };
}

/** Writes key files; returns their paths. */
export function keyFiles(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      const path = join(folder, `${name}.asc`);
      writeFileSync(path, text, { mode: 0o600 });
      return [name, path];
    }),
  );
}

import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningKeyId } from '../../domain/common/ids.ts';
import { type KeyPlan, planKeys } from '../../domain/open-banking/signing-keys.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import type { Keyring } from '../common/keyring.ts';
import type { Database, Reader } from '../query/database.ts';
import { insertRow } from '../query/rows.ts';
import { signingKeys } from './schema.ts';

/** The keys by which this service signs, common to all processes: they exist only in Postgres. */
export interface SigningKey {
  readonly kid: SigningKeyId;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

/** The name of the row by which the keyring encrypts a private key. */
export function signingKeyRow(id: string): string {
  return `signing_keys.private_key ${id}`;
}

interface Stored {
  readonly id: SigningKeyId;
  readonly publicJwk: JsonWebKey;
  readonly privateKey: string;
  readonly signsFrom: Date;
}

const KEYS = `
  SELECT id, public_jwk AS "publicJwk", private_key AS "privateKey", signs_from AS "signsFrom" FROM signing_keys ORDER BY signs_from`;

async function readPlan(reader: Reader): Promise<{ keys: readonly Stored[]; plan: KeyPlan }> {
  const [keys, now] = await Promise.all([reader.statement<Stored>(KEYS, []), readClock(reader)]);
  return { keys, plan: planKeys(keys, now) };
}

/** The key that signs now. The first one is made when it is first needed. */
export async function readSigningKey(database: Database, keyring: Keyring): Promise<SigningKey> {
  const { keys, plan } = await readOrMake(database, keyring);
  const key = keys.find(({ id }) => id === plan.signing);
  if (key === undefined) throw new Error('there is no key to sign with');
  return { kid: key.id, privateKey: keyring.decrypt(key.privateKey, signingKeyRow(key.id)) };
}

/** The public keys of everything signed that may still be valid, and of what is signed next. */
export async function readKeySet(database: Database, keyring: Keyring): Promise<readonly JsonWebKey[]> {
  const { keys, plan } = await readOrMake(database, keyring);
  return keys.filter(({ id }) => plan.published.includes(id)).map(({ publicJwk }) => publicJwk);
}

async function readOrMake(database: Database, keyring: Keyring) {
  const found = await readPlan(database.reader);
  if (found.plan.signing !== null) return found;
  await rotateSigningKeys(database, keyring);
  return readPlan(database.reader);
}

/** Arbitrary, but unique among the advisory locks of this database. */
const LOCK = 'SELECT pg_advisory_xact_lock(7423042)';
const DELETE = 'DELETE FROM signing_keys WHERE id = ANY ($1::uuid[])';

/** Creates the key that is due, and deletes those no longer needed. Safe to call in any process at any time. */
export async function rotateSigningKeys(
  database: Database,
  keyring: Keyring,
): Promise<{ made: boolean; deleted: number }> {
  const { plan } = await readPlan(database.reader);
  if (plan.next === null && plan.over.length === 0) return { made: false, deleted: 0 };
  const pair = plan.next === null ? null : await newPair();
  return database.transaction(async (tx) => {
    await tx.statement(LOCK, []);
    // Another process may have done it in the meantime.
    const { plan: present } = await readPlan(tx);
    const made = present.next !== null && pair !== null;
    if (present.next !== null && pair !== null) {
      await insertRow(tx, signingKeys, {
        id: pair.kid,
        publicJwk: pair.publicJwk,
        privateKey: keyring.encrypt(pair.privateKey, signingKeyRow(pair.kid)),
        signsFrom: present.next,
        createdAt: await readClock(tx),
      });
    }
    await tx.statement(DELETE, [present.over]);
    return { made, deleted: present.over.length };
  });
}

const generate = promisify(generateKeyPair);

const MODULUS_BITS = 2_048;

async function newPair() {
  const kid = newId<SigningKeyId>();
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  return {
    kid,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'PS256', use: 'sig' },
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

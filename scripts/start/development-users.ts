import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import * as v from 'valibot';
import { createDatabase } from '../../db/driver/client.ts';
import { newId } from '../../db/frame/ids.ts';
import { registerMachineUser } from '../../db/machine-users/machine-users.ts';
import { asId, type MachineUserId } from '../../domain/frame/ids.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import type { Endpoints } from '../frame/endpoints.ts';
import { commandInitiator } from '../frame/initiator.ts';
import { RemedyError } from '../frame/remedy.ts';

const ALGORITHM = 'EdDSA' as const;
const TOKEN_LIFE_MINUTES = 60;

const DevelopmentUser = v.object({
  id: v.pipe(
    v.string(),
    v.transform((text) => asId<MachineUserId>(text)),
  ),
  name: v.string(),
  roles: v.array(v.picklist(ROLES)),
  keyId: v.string(),
  privateKey: v.looseObject({ kty: v.string() }),
});

/** A machine user of the development machine, with the private key that a real caller would keep secret. */
export type DevelopmentUser = v.InferOutput<typeof DevelopmentUser>;

function usersFile(dataDirectory: string): string {
  return join(dataDirectory, 'development-users.json');
}

/** Creates the development machine users on the first start, and registers those missing from the database. */
export async function registerDevelopmentUsers(dataDirectory: string, databaseUrl: string): Promise<void> {
  const users = await readOrCreateUsers(dataDirectory);
  const initiator = commandInitiator();
  const database = createDatabase({ url: databaseUrl, maxConnections: 1, applicationName: 'start' });
  try {
    await database.transaction(async (tx) => {
      for (const { id, name, roles, keyId, privateKey } of users) {
        const { kty, crv, x } = privateKey;
        const publicKey = { kty, crv, x };
        await registerMachineUser(tx, { id, name, roles, kid: keyId, algorithm: ALGORITHM, publicKey }, initiator);
      }
    });
  } finally {
    await database.close();
  }
}

async function readOrCreateUsers(dataDirectory: string): Promise<DevelopmentUser[]> {
  const file = usersFile(dataDirectory);
  if (existsSync(file)) return parseUsers(file);
  const users: DevelopmentUser[] = [await newUser('development', ['operator', 'admin'])];
  for (const role of ROLES) users.push(await newUser(`development-${role}`, [role]));
  writeUsers(dataDirectory, users);
  return users;
}

function writeUsers(dataDirectory: string, users: readonly DevelopmentUser[]): void {
  const file = usersFile(dataDirectory);
  writeFileSync(`${file}.new`, `${JSON.stringify(users, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

async function newUser(name: string, roles: Role[]): Promise<DevelopmentUser> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk: JWK = await exportJWK(privateKey);
  return v.parse(DevelopmentUser, { id: newId(), name, roles, keyId: newId(), privateKey: jwk });
}

function parseUsers(file: string): DevelopmentUser[] {
  try {
    return v.parse(v.array(DevelopmentUser), JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new RemedyError(
      `${file} cannot be read as the development machine users. Remove it, and "npm start" makes new ones.`,
      { cause: error },
    );
  }
}

/**
 * A bearer token, valid for 60 minutes, of the development user (operator and admin), or of the one with only the
 * given role.
 */
export async function developmentToken(
  dataDirectory: string,
  service: Pick<Endpoints, 'audience' | 'hasDevelopmentUsers'>,
  options: { role?: Role | undefined; now: Date },
): Promise<string> {
  const { role, now } = options;
  if (!service.hasDevelopmentUsers) {
    throw new RemedyError(
      'The service runs on a Postgres of your own (DATABASE_URL), which knows no development users. Register a machine user: npm run operate -- machine-user register NAME --role R --key FILE.',
    );
  }
  const file = usersFile(dataDirectory);
  if (!existsSync(file)) throw new RemedyError(`${file} is missing. Run "npm start" again, which makes new users.`);
  const name = role === undefined ? 'development' : `development-${role}`;
  const user = parseUsers(file).find((candidate) => candidate.name === name);
  if (user === undefined)
    throw new RemedyError(`${file} has no user "${name}". Remove the file, and "npm start" makes new ones.`);
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, kid: user.keyId })
    .setIssuer(user.id)
    .setSubject(user.id)
    .setAudience(service.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFE_MINUTES * 60)
    .sign(await importJWK(user.privateKey, ALGORITHM));
}

import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import * as v from 'valibot';
import { DevelopmentUser, developmentUsersFile, readDevelopmentUsers } from '../../cli/common/development-users.ts';
import type { Endpoints } from '../../cli/common/endpoints.ts';
import { commandInitiator } from '../../cli/common/initiator.ts';
import { developmentCaller, signToken } from '../../cli/requests/signing.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { registerMachineUser } from '../../db/machine-users/machine-users.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';

const ALGORITHM = 'EdDSA' as const;
const TOKEN_LIFE_MINUTES = 60;

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
  const file = developmentUsersFile(dataDirectory);
  if (existsSync(file)) return readDevelopmentUsers(file);
  const users: DevelopmentUser[] = [await newUser('development', ['operator', 'admin'])];
  for (const role of ROLES) users.push(await newUser(`development-${role}`, [role]));
  writeUsers(dataDirectory, users);
  return users;
}

function writeUsers(dataDirectory: string, users: readonly DevelopmentUser[]): void {
  const file = developmentUsersFile(dataDirectory);
  writeFileSync(`${file}.new`, `${JSON.stringify(users, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

async function newUser(name: string, roles: Role[]): Promise<DevelopmentUser> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk: JWK = await exportJWK(privateKey);
  return v.parse(DevelopmentUser, { id: newId(), name, roles, keyId: newId(), privateKey: jwk });
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
  return signToken(developmentCaller(dataDirectory, service, role), now, TOKEN_LIFE_MINUTES * 60);
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { asId, type MachineUserId } from '../../domain/common/ids.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { ActionableError } from './actionable-error.ts';
import type { Endpoints } from './endpoints.ts';

export const DevelopmentUser = v.object({
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

export function developmentUsersFile(dataDirectory: string): string {
  return join(dataDirectory, 'development-users.json');
}

export function readDevelopmentUsers(file: string): DevelopmentUser[] {
  try {
    return v.parse(v.array(DevelopmentUser), JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new ActionableError(
      `${file} cannot be read as the development machine users. Remove it, and "npm start" makes new ones.`,
      { cause: error },
    );
  }
}

/** The development user (operator and admin), or the one with only the given role. */
export function findDevelopmentUser(
  dataDirectory: string,
  service: Pick<Endpoints, 'hasDevelopmentUsers'>,
  role?: Role,
): DevelopmentUser {
  if (!service.hasDevelopmentUsers) {
    throw new ActionableError(
      'The service runs on a Postgres of your own (DATABASE_URL), which knows no development users. Register a machine user: npm run operate -- machine-user register NAME --role R --key FILE.',
    );
  }
  const file = developmentUsersFile(dataDirectory);
  if (!existsSync(file)) throw new ActionableError(`${file} is missing. Run "npm start" again, which makes new users.`);
  const name = role === undefined ? 'development' : `development-${role}`;
  const user = readDevelopmentUsers(file).find((candidate) => candidate.name === name);
  if (user === undefined)
    throw new ActionableError(`${file} has no user "${name}". Remove the file, and "npm start" makes new ones.`);
  return user;
}

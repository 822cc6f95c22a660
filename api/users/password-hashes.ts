import { hash, verify } from '@node-rs/argon2';
import { normalizePassword } from '../../domain/users/passwords.ts';

/** OWASP's second option of equal strength: 19 MiB, two passes, one lane. The hash records its parameters. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The salted argon2id hash of a password in PHC format, computed off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalizePassword(password), ARGON2ID);
}

/** The hash of a random password, with the parameters of real hashes: verifying takes as long for an address without a user. */
export const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$sBbmMr5zFFhT8hT5IMA67g$ihzSYMx1ZymJ+ey+8DCXFQzzh3FEvXF3OfcfC7XnGCw';

/** Whether the password belongs to the hash; false, in the same time, without one. */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const matches = await verify(passwordHash ?? DUMMY_HASH, normalizePassword(password));
  return matches && passwordHash !== null;
}

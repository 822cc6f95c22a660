import { hash, verify } from '@node-rs/argon2';
import { preparePassword } from '../../domain/users/passwords.ts';

/** OWASP's second option of equal strength: 19 MiB, two passes, one lane. The hash records its parameters. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The salted argon2id hash of a checked password in PHC format, computed off the event loop. */
export function hashPassword(text: string): Promise<string> {
  const prepared = preparePassword(text);
  if ('problem' in prepared) throw new RangeError(`no password: ${prepared.problem}`);
  return hash(prepared.password, ARGON2ID);
}

/** The hash of a random password, with the parameters of real hashes: verification takes as long for an address without a user. */
export const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$sBbmMr5zFFhT8hT5IMA67g$ihzSYMx1ZymJ+ey+8DCXFQzzh3FEvXF3OfcfC7XnGCw';

/** Whether the text is the password of the hash. Without a hash, or for text that cannot be a password, false after the same time. */
export async function isPassword(text: string, passwordHash: string | null): Promise<boolean> {
  const prepared = preparePassword(text);
  const password = 'password' in prepared ? prepared.password : null;
  const matches = await verify(passwordHash ?? DUMMY_HASH, password ?? '');
  return matches && passwordHash !== null && password !== null;
}

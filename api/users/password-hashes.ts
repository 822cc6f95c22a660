import { hash } from '@node-rs/argon2';
import { normalizePassword } from '../../domain/users/passwords.ts';

/** OWASP's second option of equal strength: 19 MiB, two passes, one lane. The hash records its parameters. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The salted argon2id hash of a password in PHC format, computed off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalizePassword(password), ARGON2ID);
}

import { hash } from '@node-rs/argon2';
import { normalizePassword } from '../../domain/users/passwords.ts';

/** OWASP's second choice of equal strength: 19 MiB, two passes, one lane. The text of the hash says what was used. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The argon2id hash of a password as PHC text, with a salt of its own; worked out beside the event loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalizePassword(password), ARGON2ID);
}

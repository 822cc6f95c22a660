import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 32 random bytes in base64url: a session's cookie, a state, a token of forms. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

export function isSecret(text: string | undefined): text is string {
  return text !== undefined && SECRET.test(text);
}

/** What is stored of a secret. */
export function digestOf(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}

/** In constant time, whatever the lengths are. */
export function isSameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(wanted));
}

export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

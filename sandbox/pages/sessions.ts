import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

/** A new secret: 32 random bytes in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** In constant time. */
export function isSameSecret(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The oldest are dropped first; a person at a sandbox has one or two. */
const SESSIONS_MAX = 1_000;

/** What a company remembers of browsers, in memory: a restart of the sandbox forgets it. */
export class Sessions<Value> {
  readonly #kept = new Map<string, { readonly value: Value; readonly endsAt: number }>();
  readonly #cookie: string;
  readonly #path: string;
  readonly #lifetimeMs: number;

  constructor(options: { readonly cookie: string; readonly path: string; readonly lifetimeMs: number }) {
    this.#cookie = options.cookie;
    this.#path = options.path;
    this.#lifetimeMs = options.lifetimeMs;
  }

  find(c: Context): Value | null {
    const id = getCookie(c, this.#cookie);
    const kept = id === undefined ? undefined : this.#kept.get(id);
    return kept !== undefined && performance.now() < kept.endsAt ? kept.value : null;
  }

  /** Under a new id, replacing any session of the browser. */
  begin(c: Context, value: Value): void {
    this.#forget(c);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < SESSIONS_MAX) break;
      this.#kept.delete(oldest);
    }
    const id = newSecret();
    this.#kept.set(id, { value, endsAt: performance.now() + this.#lifetimeMs });
    setCookie(c, this.#cookie, id, {
      path: this.#path,
      httpOnly: true,
      // People arrive from other sites, so not strict. Not secure: the sandbox speaks plain http.
      sameSite: 'Lax',
      maxAge: Math.floor(this.#lifetimeMs / 1_000),
    });
  }

  end(c: Context): void {
    this.#forget(c);
    deleteCookie(c, this.#cookie, { path: this.#path });
  }

  #forget(c: Context): void {
    const id = getCookie(c, this.#cookie);
    if (id !== undefined) this.#kept.delete(id);
  }
}

import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { findSession, noteUse } from '../../db/people/sessions.ts';
import { isSessionOpen, SEEN_EVERY_MS } from '../../domain/people/sessions.ts';
import type { SignedInPerson } from './person.ts';
import { isRefresh } from './refreshes.ts';
import { digestOf, isSecret } from './secrets.ts';
import type { ConsoleServices } from './services.ts';

const COOKIE = 'session';

/** A request asks only once who is signed in. */
const found = new WeakMap<Request, Promise<SignedInPerson | null>>();

/** Who is signed in by the request's cookie, if anybody. Sessions go by real time, never by the sandbox's clock. */
export function findPerson(
  services: Pick<ConsoleServices, 'database' | 'now'>,
  c: Context,
): Promise<SignedInPerson | null> {
  const known = found.get(c.req.raw);
  if (known !== undefined) return known;
  const finding = find(services, sessionToken(c), isRefresh(c));
  found.set(c.req.raw, finding);
  return finding;
}

async function find(
  { database, now: readNow }: Pick<ConsoleServices, 'database' | 'now'>,
  token: string | null,
  isByItself: boolean,
): Promise<SignedInPerson | null> {
  if (token === null) return null;
  const tokenHash = digestOf(token);
  const now = readNow();
  const known = await findSession(database.reader, tokenHash);
  if (known === null || !isSessionOpen(known.session, now)) return null;
  const { session, person } = known;
  // A page that is left open must not keep its session alive.
  if (!isByItself && now.getTime() - session.lastSeenAt.getTime() >= SEEN_EVERY_MS)
    await database.transaction((tx) => noteUse(tx, tokenHash, now));
  return {
    id: session.personId,
    ...person,
    roles: session.roles,
    sessionId: session.id,
    csrfToken: session.csrfToken,
    signedInAt: session.signedInAt,
  };
}

/** The secret of the browser's session, open or not. */
export function sessionToken(c: Context): string | null {
  const token = getCookie(c, COOKIE, 'host');
  return isSecret(token) ? token : null;
}

/** For this host only, over https (or on this machine), out of reach of scripts, and gone when the browser closes. */
export function keepSessionToken(c: Context, token: string): void {
  setCookie(c, COOKIE, token, { prefix: 'host', secure: true, path: '/', httpOnly: true, sameSite: 'Lax' });
}

export function forgetSessionToken(c: Context): void {
  deleteCookie(c, COOKIE, { prefix: 'host', secure: true, path: '/' });
}

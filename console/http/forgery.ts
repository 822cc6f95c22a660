import type { Context, MiddlewareHandler } from 'hono';
import { PageRejection, SIGN_IN_LINK } from './rejections.ts';
import { isSameSecret } from './secrets.ts';
import type { ConsoleServices } from './services.ts';
import { findPerson } from './sessions.ts';

/** Methods that change nothing. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The field of every form. */
export const CSRF_FIELD = 'csrf';

const FORM_TYPES: readonly string[] = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * Rejects a change that another site, or another session, made the browser send: its origin must be the console's own, and the form
 * must hold the token of the person's session. Each of the two is enough by itself.
 */
export function rejectForgeries(services: Pick<ConsoleServices, 'database' | 'now' | 'settings'>): MiddlewareHandler {
  return async (c, next) => {
    if (READING.has(c.req.method)) return next();
    if (!isFromOurPage(c, services.settings.url)) throw forged();
    const person = await findPerson(services, c);
    if (person === null) throw signedOut();
    const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (!FORM_TYPES.includes(type)) throw forged();
    const form = await c.req.parseBody().catch((error: unknown) => {
      throw isUnreadable(error) ? unreadable() : error;
    });
    const given = form[CSRF_FIELD];
    if (typeof given !== 'string' || !isSameSecret(given, person.csrfToken)) throw otherSession();
    return next();
  };
}

/** Browsers name the page in `Origin`, and its relation to us in `Sec-Fetch-Site`; no page can forge either. */
function isFromOurPage(c: Context, url: string): boolean {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site !== undefined : origin === url;
}

/** What the parser of forms throws at one that is none. */
function isUnreadable(error: unknown): boolean {
  return error instanceof TypeError;
}

function unreadable(): PageRejection {
  return new PageRejection({ status: 400, title: 'This is no form', text: 'It cannot be read. Nothing was changed.' });
}

function forged(): PageRejection {
  return new PageRejection({
    status: 403,
    title: 'This did not come from the console',
    text: 'Another page made your browser send this. Nothing was changed. If you did mean it, do it on the page of the console.',
    link: { href: '/', text: 'To the console' },
  });
}

function otherSession(): PageRejection {
  return new PageRejection({
    status: 403,
    title: 'This page is from an earlier session',
    text: 'You have signed in again since this page was opened. Nothing was changed. Go back, reload the page, and do it once more.',
    link: { href: '/', text: 'To the console' },
  });
}

function signedOut(): PageRejection {
  return new PageRejection({
    status: 401,
    title: 'Your session has ended',
    text: 'Nothing was changed. Sign in, and do it once more.',
    link: SIGN_IN_LINK,
  });
}

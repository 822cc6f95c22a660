import type { MiddlewareHandler } from 'hono';
import { BankError } from '../bank/wire.ts';

/** Methods that change nothing; a browser sends them from any page. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * The sandbox requires no token, so any page that a developer opens could use it through the browser. Browsers name the page
 * in `Origin` and `Sec-Fetch-Site`, neither of which a page can forge; a request without either comes from a program, such as curl,
 * and may declare its JSON as any type. A page under a name that leads here (DNS rebinding) is recognized by `Host`.
 */
export function guard(options: {
  /** Names besides those of this machine. */
  readonly hosts: readonly string[];
  /** Paths of pages with forms; all others take JSON. */
  readonly formPaths: readonly string[];
}): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    const name = host.toLowerCase().replace(/:\d+$/, '');
    if (!LOOPBACK.test(name) && !options.hosts.includes(name)) {
      throw new BankError(
        421,
        'foreign-host',
        'The sandbox answers to the names of this machine and those in SANDBOX_HOSTS.',
      );
    }
    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    if (READING.has(c.req.method) || (origin === undefined && site === undefined)) return next();
    if (!isOwnPage(origin, site, host)) {
      throw new BankError(
        403,
        'foreign-origin',
        'The sandbox accepts changes only from its own pages and from programs.',
      );
    }
    const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
    const takesForms = options.formPaths.some((path) => c.req.path === path || c.req.path.startsWith(`${path}/`));
    if (type !== undefined && type !== JSON_TYPE && !(takesForms && type === FORM_TYPE)) {
      throw new BankError(415, 'unsupported-media-type', `The body must be ${takesForms ? FORM_TYPE : JSON_TYPE}.`);
    }
    return next();
  };
}

/** A page that sends no referrer has the origin `null` even here, so `Sec-Fetch-Site` decides where there is one. */
function isOwnPage(origin: string | undefined, site: string | undefined, host: string): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin === undefined || (origin === 'null' && site !== undefined)) return true;
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

import type { MiddlewareHandler } from 'hono';
import type { ConsoleSettings } from '../../config/environment/console.ts';

/**
 * Everything comes from the console itself, and forms end there: browsers count a redirect as a form's action, so a form never leads to
 * the identity provider, only a link or a page does.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** On every answer. What a page shows is kept nowhere; files with a digest in their address say otherwise themselves. */
export function securityHeaders({ url }: Pick<ConsoleSettings, 'url'>): MiddlewareHandler {
  const isEncrypted = url.startsWith('https:');
  return async (c, next) => {
    await next();
    c.header('content-security-policy', CONTENT_SECURITY_POLICY);
    c.header('x-content-type-options', 'nosniff');
    // Not `no-referrer`, with which browsers send forms from the origin `null`.
    c.header('referrer-policy', 'same-origin');
    c.header('x-frame-options', 'DENY');
    c.header('cross-origin-opener-policy', 'same-origin');
    c.header('x-robots-tag', 'noindex, nofollow');
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
    // What was not read of a form is not awaited either (api/http/connections/connection.ts).
    if (c.req.raw.body !== null && !c.req.raw.bodyUsed) c.header('connection', 'close');
    if (isEncrypted) c.header('strict-transport-security', `max-age=${YEAR_SECONDS}`);
  };
}

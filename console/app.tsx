import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { DatabaseUnavailable } from '../db/postgres/failures.ts';
import { createApplication } from './application.tsx';
import { rejectForgeries } from './http/forgery.ts';
import { securityHeaders } from './http/headers.ts';
import { PageRejection } from './http/rejections.ts';
import type { ConsoleServices } from './http/services.ts';
import { findPerson } from './http/sessions.ts';
import { notFound } from './page/errors.tsx';
import { FORMS, PAGES, REMEDIES } from './pages.ts';
import { BANK_FILE_ADDRESS, BANK_FILE_BYTES_MAX } from './reconciliation/remedies.ts';
import { NoticePage } from './sign-in/pages.tsx';
import { signInRoutes } from './sign-in/routes.tsx';

export type Console = Hono<{ Bindings: HttpBindings }>;

/** The console's pages. */
export function createConsole(services: ConsoleServices): Console {
  const app: Console = new Hono();
  app.use(securityHeaders(services.settings));
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    const [row] = await services.database.reader.statement('SELECT 1 AS one', []).catch(() => []);
    return row === undefined ? c.text('the database does not answer', 503) : c.text('ok');
  });
  const formLimit = bodyLimit({ maxSize: services.configuration.bodyLimitBytes, onError: tooLarge });
  const fileLimit = bodyLimit({ maxSize: BANK_FILE_BYTES_MAX, onError: tooLarge });
  app.use((c, next) => (BANK_FILE_ADDRESS.test(c.req.path) ? fileLimit(c, next) : formLimit(c, next)));
  app.use(rejectForgeries(services));
  app.route('/', signInRoutes(services));
  const findPersonOf = (c: Context) => findPerson(services, c);
  app.route('/', createApplication(services, findPersonOf, { pages: PAGES, remedies: REMEDIES, forms: FORMS }));
  app.notFound(async (c) => notFound(c, await findPersonOf(c).catch(() => null)));
  app.onError((error, c) => {
    if (error instanceof PageRejection) {
      const { status, title, text, link } = error;
      // The rest of the body is not read: the next request of the browser must not wait for it.
      if (status === 413) c.header('connection', 'close');
      return c.html(<NoticePage title={title} text={text} links={link === null ? [] : [link]} />, status);
    }
    const isAway = error instanceof DatabaseUnavailable;
    services.logger.error({ error: error.name, method: c.req.method, path: c.req.routePath }, 'a page failed');
    return isAway
      ? c.html(<NoticePage title="The database does not answer" text="Try again in a minute." links={[]} />, 503)
      : c.html(<NoticePage title="The console failed" text="Its log says why." links={[]} />, 500);
  });
  return app;
}

function tooLarge(): never {
  throw new PageRejection({ status: 413, title: 'This is too large', text: 'Nothing was changed.' });
}

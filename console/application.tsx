import { type Context, Hono } from 'hono';
import { appendAuditEntry } from '../db/common/audit-entries.ts';
import { readClock } from '../db/common/clock.ts';
import { takeNotice } from '../db/people/notices.ts';
import { withoutValues } from '../domain/common/errors.ts';
import { isUuid } from '../domain/common/ids.ts';
import type { SignedInPerson } from './http/person.ts';
import { isRefresh } from './http/refreshes.ts';
import type { ConsoleServices } from './http/services.ts';
import { inTraceOfPage } from './http/traces.ts';
import { ASSETS } from './look/assets.ts';
import { Document } from './look/document.tsx';
import { HIDING, SHOWING } from './look/privacy.ts';
import { denied, errorPage, failed, notFound } from './page/errors.tsx';
import { hasRole, type OwnForm, type Page, type PageContext } from './page/page.ts';
import { readingOnce } from './page/reading-once.ts';
import { REASON_RULE, readReason } from './remedies/reason.ts';
import type { Remedy } from './remedies/remedy.ts';
import { doRemedy, showRemedy } from './remedies/remedy-requests.tsx';

/** Finds who is signed in; null: nobody. */
export type FindPerson = (c: Context) => Promise<SignedInPerson | null>;

interface Parts {
  readonly pages: readonly Page[];
  readonly remedies: readonly Remedy[];
  readonly forms: readonly OwnForm[];
}

/**
 * Pages, remedies and assets. Everything but the assets is for people who are signed in; `rejectForgeries` (forgery.ts) has checked what
 * is posted before it comes here.
 */
export function createApplication(services: ConsoleServices, findPerson: FindPerson, parts: Parts): Hono {
  const application = new Hono();
  for (const { path, content, contentType } of ASSETS) {
    application.get(path, (c) =>
      c.body(content, 200, { 'content-type': contentType, 'cache-control': 'public, max-age=31536000, immutable' }),
    );
  }
  const signedIn =
    (answer: (c: Context, person: SignedInPerson, services: ConsoleServices) => Promise<Response>) =>
    (c: Context): Promise<Response> =>
      inTraceOfPage(c, services, async (ofPage) => {
        let person: SignedInPerson | null = null;
        try {
          person = await findPerson(c);
          if (person === null) return signInFirst(c);
          return await answer(c, person, ofPage);
        } catch (error) {
          services.logger.error({ err: withoutValues(error), path: c.req.routePath }, 'a page failed');
          return failed(c, person, error);
        }
      });
  // Remedies first: `/:id/look-up` must not be taken for a page.
  for (const remedy of parts.remedies) {
    const path = `${remedy.page === '/' ? '' : remedy.page}/${remedy.kind}`;
    const withContext = (answer: (c: Context, remedy: Remedy, context: PageContext) => Promise<Response>) =>
      signedIn(async (c, person, ofPage) => {
        const context = await contextOf(c, ofPage, person);
        return context === null ? notFound(c, person) : answer(c, remedy, context);
      });
    application.get(path, withContext(showRemedy));
    application.post(path, withContext(doRemedy));
  }
  for (const page of parts.pages) {
    application.get(
      page.path,
      signedIn((c, person, ofPage) => showPage(c, ofPage, { page, person })),
    );
    if (page.shows !== undefined) {
      application.post(
        `${page.path}/reveal`,
        signedIn((c, person, ofPage) => reveal(c, ofPage, { page, person })),
      );
    }
  }
  for (const form of parts.forms) {
    application.post(
      form.path,
      signedIn((c, person, ofPage) => form.submit(c, ofPage, person)),
    );
  }
  return application;
}

interface Asked {
  readonly page: Page;
  readonly person: SignedInPerson;
}

async function showPage(
  c: Context,
  services: ConsoleServices,
  { page, person }: Asked,
  isRevealed = false,
): Promise<Response> {
  if (page.roles !== undefined && !hasRole(person, page.roles)) return denied(c, person, page.roles);
  const found = await contextOf(c, { ...services, database: readingOnce(services.database) }, person);
  if (found === null) return notFound(c, person);
  const context = isRevealed ? { ...found, privacy: SHOWING } : found;
  const view = await page.view(context);
  if (view === null) return notFound(c, person);
  if (view instanceof Response) return view;
  // A refresh of live rows takes only the rows out of the page: the notice would be lost.
  const isWhole = c.req.method === 'GET' && !context.isRefresh;
  const notice = isWhole ? await takeNotice(services.database.reader, person.sessionId, c.req.path) : null;
  return c.html(
    <Document title={view.title} person={person} section={page.section} notice={notice}>
      {page.shows !== undefined && context.privacy.isHiding ? <RevealForm path={c.req.path} person={person} /> : null}
      {view.body}
    </Document>,
  );
}

function RevealForm({ path, person }: { readonly path: string; readonly person: SignedInPerson }) {
  return (
    <form class="filters" method="post" action={`${path}/reveal`}>
      <input type="hidden" name="csrf" value={person.csrfToken} />
      <label>
        <span>Names and account numbers are hidden. Reason to show them, for the audit log</span>
        <input type="text" name="reason" required />
      </label>
      <button type="submit">Show them</button>
    </form>
  );
}

/** Shows the page once with what is hidden from viewers. That it was shown is in the audit log before the page is. */
async function reveal(c: Context, services: ConsoleServices, { page, person }: Asked): Promise<Response> {
  const { shows } = page;
  const id = c.req.param('id') ?? '';
  if (page.roles !== undefined && !hasRole(person, page.roles)) return denied(c, person, page.roles);
  const context = await contextOf(c, services, person);
  if (shows === undefined || context === null || (await page.view(context)) === null) return notFound(c, person);
  const reason = readReason((await c.req.parseBody()).reason);
  if (reason === null) return errorPage(c, person, { status: 422, title: 'Not shown', text: REASON_RULE });
  const [role] = person.roles;
  const initiator = { actor: person.id, requestId: null, reason, ...(role === undefined ? {} : { role }) };
  await services.database.transaction(async (tx) => {
    appendAuditEntry(tx, { initiator, resource: shows, resourceId: id, action: 'revealed', after: {} });
  });
  return showPage(c, services, { page, person }, true);
}

/** Null if an id in the path is none: there is no such page. */
async function contextOf(c: Context, services: ConsoleServices, person: SignedInPerson): Promise<PageContext | null> {
  const params: Record<string, string> = c.req.param();
  if (params.id !== undefined && !isUuid(params.id)) return null;
  const isOnlyViewer = person.roles.every((role) => role === 'viewer');
  return {
    services,
    person,
    params,
    query: new URL(c.req.url).searchParams,
    now: await readClock(services.database.reader),
    privacy: isOnlyViewer ? HIDING : SHOWING,
    isRefresh: isRefresh(c),
  };
}

/** A page leads back to where the person was going; a form or the refresh of live rows cannot. */
function signInFirst(c: Context): Response {
  const isPage = c.req.method === 'GET' && !isRefresh(c);
  if (!isPage) return c.text('Sign in first: your session has ended. Nothing was changed.', 401);
  const { pathname, search } = new URL(c.req.url);
  return c.redirect(`/sign-in?return_to=${encodeURIComponent(pathname + search)}`, 303);
}

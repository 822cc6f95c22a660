import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Logger } from 'pino';
import { limitForms, readForm } from '../pages/forms.ts';
import { type PageEnv, readLanguage } from '../pages/languages.ts';
import { isSameSecret, newSecret, Sessions } from '../pages/sessions.ts';
import { ServiceUnavailable } from '../service/service.ts';
import type { Consent, Office, SignedIn } from './office.ts';
import { addressOf, consentPage, noticePage, PATH, signInPage } from './pages.ts';
import type { ConsentProblem } from './texts.ts';

/** As long as a request can be answered. */
const SESSION_MS = 10 * 60_000;
const FORM_BYTES_MAX = 16 * 1024;

/** The cookie by which the service recognizes the person's device. */
const DEVICE_COOKIE = 'front-office-device';
const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** Answers one consent; another consent in the same browser needs a sign-in of its own. */
interface Session {
  readonly consentId: string;
  readonly csrf: string;
  /** Null until the person has signed in. */
  readonly user: SignedIn | null;
}

type PageContext = Context<PageEnv>;

/** Where an account holder answers a third party's request: sign in, choose accounts, approve or reject. */
export function frontOfficeRoutes(office: Office, logger: Logger): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  const sessions = new Sessions<Session>({ cookie: 'front-office', path: PATH, lifetimeMs: SESSION_MS });
  app.use(readLanguage, limitForms(FORM_BYTES_MAX));
  app.onError((error, c) => {
    if (error instanceof ServiceUnavailable) return noticePage(c, 'unavailable');
    logger.error({ error: error.name, method: c.req.method }, 'the front office failed');
    return noticePage(c, 'failed');
  });

  const dependencies = { office, sessions };
  app.get('/', (c) => noticePage(c, 'nothing'));
  app.get('/consents/:id', (c) => withOpenConsent(c, dependencies, (consent) => show(c, dependencies, consent)));
  app.post('/consents/:id/sign-in', (c) =>
    withOpenConsent(c, dependencies, (consent) => signIn(c, dependencies, consent)),
  );
  app.post('/consents/:id/sign-out', (c) =>
    withOpenConsent(c, dependencies, (consent) => signOut(c, dependencies, consent)),
  );
  app.post('/consents/:id/answer', (c) =>
    withOpenConsent(c, dependencies, (consent) => answer(c, dependencies, consent)),
  );
  return app;
}

interface Dependencies {
  readonly office: Office;
  readonly sessions: Sessions<Session>;
}

/** Shows why there is nothing to answer, if so. */
async function withOpenConsent(
  c: PageContext,
  dependencies: Dependencies,
  then: (consent: Consent) => Promise<Response>,
): Promise<Response> {
  const consent = await dependencies.office.findConsent(c.req.param('id') ?? '');
  if (consent === null) return noticePage(c, 'unknown');
  return consent.status === 'awaiting-authorisation' ? then(consent) : closedPage(c, dependencies, consent);
}

/** For a request that can no longer be answered; its session ends. One that still seems open has expired. */
function closedPage(c: PageContext, dependencies: Dependencies, consent: Consent): Promise<Response> {
  if (sessionOf(c, dependencies, consent) !== null) dependencies.sessions.end(c);
  const isExpired = consent.status === 'expired' || consent.status === 'awaiting-authorisation';
  return noticePage(c, isExpired ? 'expired' : 'answered', consent);
}

function sessionOf(c: PageContext, { sessions }: Dependencies, consent: Consent): Session | null {
  const session = sessions.find(c);
  return session?.consentId === consent.id ? session : null;
}

async function show(
  c: PageContext,
  dependencies: Dependencies,
  consent: Consent,
  problem: ConsentProblem | null = null,
): Promise<Response> {
  const session = sessionOf(c, dependencies, consent);
  if (session === null || session.user === null) {
    return signInPage(c, consent, (session ?? begun(c, dependencies, consent)).csrf, null);
  }
  const { csrf, user } = session;
  const accounts = await dependencies.office.accountsFor(user, consent);
  if (accounts === null) return signInPage(c, consent, begun(c, dependencies, consent).csrf, null);
  return consentPage(c, { consent, user, csrf, accounts }, problem);
}

/** A session before the sign-in: its CSRF secret shows that a form comes from our own page. */
function begun(c: PageContext, { sessions }: Dependencies, consent: Consent): Session {
  const session = { consentId: consent.id, csrf: newSecret(), user: null };
  sessions.begin(c, session);
  return session;
}

async function signIn(c: PageContext, dependencies: Dependencies, consent: Consent): Promise<Response> {
  const form = await readForm(c);
  const email = form.get('email') ?? '';
  const session = sessionOf(c, dependencies, consent);
  if (session === null || !isFrom(session, form)) {
    return signInPage(c, consent, (session ?? begun(c, dependencies, consent)).csrf, { problem: 'stale', email });
  }
  const source = { ipAddress: getConnInfo(c).remote.address ?? '', deviceToken: getCookie(c, DEVICE_COOKIE) };
  const signedIn = await dependencies.office.signIn(email, form.get('password') ?? '', source);
  if (typeof signedIn === 'string') return signInPage(c, consent, session.csrf, { problem: signedIn, email });
  const { deviceToken, ...user } = signedIn;
  setCookie(c, DEVICE_COOKIE, deviceToken, { path: PATH, httpOnly: true, sameSite: 'Lax', maxAge: DEVICE_SECONDS });
  dependencies.sessions.begin(c, { consentId: consent.id, csrf: newSecret(), user });
  return c.redirect(addressOf(consent), 303);
}

async function signOut(c: PageContext, dependencies: Dependencies, consent: Consent): Promise<Response> {
  const session = sessionOf(c, dependencies, consent);
  if (session !== null && isFrom(session, await readForm(c))) dependencies.sessions.end(c);
  return c.redirect(addressOf(consent), 303);
}

/** Approves only accounts of the signed-in person, or rejects; the session ends with the answer. */
async function answer(c: PageContext, dependencies: Dependencies, consent: Consent): Promise<Response> {
  const { office, sessions } = dependencies;
  const form = await readForm(c);
  const session = sessionOf(c, dependencies, consent);
  if (session === null || session.user === null) return show(c, dependencies, consent);
  if (!isFrom(session, form)) return show(c, dependencies, consent, 'stale');
  const { user } = session;
  const accounts = await office.accountsFor(user, consent);
  if (accounts === null) return show(c, dependencies, consent);
  const own = new Set(accounts.map(({ id }) => id));
  const chosen = [...new Set(form.getAll('account'))].filter((id) => own.has(id));
  const given = form.get('answer');
  if (given !== 'approve' && given !== 'reject') return show(c, dependencies, consent);
  const problem = given === 'approve' ? choiceProblem(consent, chosen) : null;
  if (problem !== null) return show(c, dependencies, consent, problem);
  const decided =
    given === 'approve' ? await office.approve(consent.id, user, chosen) : await office.reject(consent.id);
  if (decided.outcome === 'unusable') return show(c, dependencies, consent, 'unusable');
  if (decided.outcome === 'closed')
    return closedPage(c, dependencies, (await office.findConsent(consent.id)) ?? consent);
  sessions.end(c);
  return c.redirect(decided.location, 303);
}

function choiceProblem({ content }: Consent, chosen: readonly string[]): ConsentProblem | null {
  if (content.scope === 'payments') return chosen.length === 1 ? null : 'choose-one';
  return chosen.length === 0 ? 'choose' : null;
}

/** Whether the form comes from a page of this session, not from another site. */
function isFrom({ csrf }: Session, form: URLSearchParams): boolean {
  return isSameSecret(form.get('csrf') ?? '', csrf);
}

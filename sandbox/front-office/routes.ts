import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Logger } from 'pino';
import { limitForms, readForm } from '../pages/forms.ts';
import { type PageEnv, readLanguage } from '../pages/languages.ts';
import { isSameSecret, newSecret, Sessions } from '../pages/sessions.ts';
import { ServiceAway } from '../service/service.ts';
import type { Consent, Office, SignedIn } from './office.ts';
import { addressOf, consentPage, noticePage, PATH, signInPage } from './pages.ts';
import type { ConsentProblem } from './texts.ts';

/** As long as a request can be answered. */
const SESSION_MS = 10 * 60_000;
const FORM_BYTES_MAX = 16 * 1024;

/** By which the service knows the person's device again, for as long as it does. */
const DEVICE_COOKIE = 'front-office-device';
const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** Answers one consent; another consent at the same browser needs a sign-in of its own. */
interface Session {
  readonly consentId: string;
  readonly csrf: string;
  /** Null until the person has signed in. */
  readonly user: SignedIn | null;
}

type PageContext = Context<PageEnv>;

/** Where an account holder answers a third party's request: sign in, choose accounts, approve or refuse. */
export function frontOfficeRoutes(office: Office, logger: Logger): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  const sessions = new Sessions<Session>({ cookie: 'front-office', path: PATH, lifetimeMs: SESSION_MS });
  app.use(readLanguage, limitForms(FORM_BYTES_MAX));
  app.onError((error, c) => {
    if (error instanceof ServiceAway) return noticePage(c, 'unavailable');
    logger.error({ error: error.name, method: c.req.method }, 'the front office failed');
    return noticePage(c, 'failed');
  });

  const desk = { office, sessions };
  app.get('/', (c) => noticePage(c, 'nothing'));
  app.get('/consents/:id', (c) => withOpenConsent(c, desk, (consent) => show(c, desk, consent)));
  app.post('/consents/:id/sign-in', (c) => withOpenConsent(c, desk, (consent) => signIn(c, desk, consent)));
  app.post('/consents/:id/sign-out', (c) => withOpenConsent(c, desk, (consent) => signOut(c, desk, consent)));
  app.post('/consents/:id/answer', (c) => withOpenConsent(c, desk, (consent) => answer(c, desk, consent)));
  return app;
}

interface Desk {
  readonly office: Office;
  readonly sessions: Sessions<Session>;
}

/** Shows why there is nothing to answer, if so. */
async function withOpenConsent(
  c: PageContext,
  desk: Desk,
  then: (consent: Consent) => Promise<Response>,
): Promise<Response> {
  const consent = await desk.office.findConsent(c.req.param('id') ?? '');
  if (consent === null) return noticePage(c, 'unknown');
  return consent.status === 'awaiting-authorisation' ? then(consent) : closedPage(c, desk, consent);
}

/** For a request that cannot be answered any more; its session ends. One that still seems open is past its time. */
function closedPage(c: PageContext, desk: Desk, consent: Consent): Promise<Response> {
  if (sessionOf(c, desk, consent) !== null) desk.sessions.end(c);
  const isExpired = consent.status === 'expired' || consent.status === 'awaiting-authorisation';
  return noticePage(c, isExpired ? 'expired' : 'answered', consent);
}

function sessionOf(c: PageContext, { sessions }: Desk, consent: Consent): Session | null {
  const session = sessions.find(c);
  return session?.consentId === consent.id ? session : null;
}

async function show(
  c: PageContext,
  desk: Desk,
  consent: Consent,
  problem: ConsentProblem | null = null,
): Promise<Response> {
  const session = sessionOf(c, desk, consent);
  if (session === null || session.user === null) {
    return signInPage(c, consent, (session ?? begun(c, desk, consent)).csrf, null);
  }
  const { csrf, user } = session;
  const accounts = await desk.office.accountsFor(user, consent);
  if (accounts === null) return signInPage(c, consent, begun(c, desk, consent).csrf, null);
  return consentPage(c, { consent, user, csrf, accounts }, problem);
}

/** A session before the sign-in: its CSRF secret shows that a form comes from our own page. */
function begun(c: PageContext, { sessions }: Desk, consent: Consent): Session {
  const session = { consentId: consent.id, csrf: newSecret(), user: null };
  sessions.begin(c, session);
  return session;
}

async function signIn(c: PageContext, desk: Desk, consent: Consent): Promise<Response> {
  const form = await readForm(c);
  const email = form.get('email') ?? '';
  const session = sessionOf(c, desk, consent);
  if (session === null || !isFrom(session, form)) {
    return signInPage(c, consent, (session ?? begun(c, desk, consent)).csrf, { problem: 'stale', email });
  }
  const source = { ipAddress: getConnInfo(c).remote.address ?? '', deviceToken: getCookie(c, DEVICE_COOKIE) };
  const signedIn = await desk.office.signIn(email, form.get('password') ?? '', source);
  if (typeof signedIn === 'string') return signInPage(c, consent, session.csrf, { problem: signedIn, email });
  const { deviceToken, ...user } = signedIn;
  setCookie(c, DEVICE_COOKIE, deviceToken, { path: PATH, httpOnly: true, sameSite: 'Lax', maxAge: DEVICE_SECONDS });
  desk.sessions.begin(c, { consentId: consent.id, csrf: newSecret(), user });
  return c.redirect(addressOf(consent), 303);
}

async function signOut(c: PageContext, desk: Desk, consent: Consent): Promise<Response> {
  const session = sessionOf(c, desk, consent);
  if (session !== null && isFrom(session, await readForm(c))) desk.sessions.end(c);
  return c.redirect(addressOf(consent), 303);
}

/** Approves for accounts of the signed-in person alone, or refuses; the session ends with the answer. */
async function answer(c: PageContext, desk: Desk, consent: Consent): Promise<Response> {
  const { office, sessions } = desk;
  const form = await readForm(c);
  const session = sessionOf(c, desk, consent);
  if (session === null || session.user === null) return show(c, desk, consent);
  if (!isFrom(session, form)) return show(c, desk, consent, 'stale');
  const { user } = session;
  const accounts = await office.accountsFor(user, consent);
  if (accounts === null) return show(c, desk, consent);
  const own = new Set(accounts.map(({ id }) => id));
  const chosen = [...new Set(form.getAll('account'))].filter((id) => own.has(id));
  const given = form.get('answer');
  if (given !== 'approve' && given !== 'refuse') return show(c, desk, consent);
  const problem = given === 'approve' ? choiceProblem(consent, chosen) : null;
  if (problem !== null) return show(c, desk, consent, problem);
  const decided =
    given === 'approve' ? await office.approve(consent.id, user, chosen) : await office.refuse(consent.id);
  if (decided.outcome === 'unusable') return show(c, desk, consent, 'unusable');
  if (decided.outcome === 'closed') return closedPage(c, desk, (await office.findConsent(consent.id)) ?? consent);
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

import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isLoopback } from '../../config/environment.ts';
import { beginSession, revokeSession } from '../../db/people/sessions.ts';
import { beginSignIn, type SignIn, takeSignIn } from '../../db/people/sign-ins.ts';
import { returnPath } from '../../domain/people/return-paths.ts';
import { isSignInOpen, SIGN_IN_MS_MAX } from '../../domain/people/sessions.ts';
import { digestOf, isSameDigest, isSecret, newSecret } from '../http/secrets.ts';
import type { ConsoleServices } from '../http/services.ts';
import { findPerson, forgetSessionToken, keepSessionToken, sessionToken } from '../http/sessions.ts';
import { IdentityProvider, type ProvedIdentity, SignInRejected } from './identity-provider.ts';
import { NoticePage } from './pages.tsx';
import { type CallbackProblem, problemPage } from './problems.ts';

export { findPerson } from '../http/sessions.ts';

/** Names the browser that began a sign-in. */
const BROWSER_COOKIE = 'sign-in';

/** Where people sign in and out, by the company's identity provider. */
export function signInRoutes(services: ConsoleServices): Hono {
  const provider = new IdentityProvider(services.settings);
  const routes = new Hono();

  routes.get('/sign-in', (c) => begin(c, services, provider, false));

  routes.get('/sign-in/again', (c) => begin(c, services, provider, true));

  routes.get('/sign-in/callback', (c) => finish(c, services, provider));

  // `rejectForgeries` (http/forgery.ts) has checked that the person's own page sent it.
  routes.post('/sign-out', async (c) => {
    const person = await findPerson(services, c);
    if (person !== null) {
      const initiator = { actor: person.id, requestId: null };
      await services.database.transaction((tx) => revokeSession(tx, person.sessionId, initiator, services.now()));
    }
    forgetSessionToken(c);
    const address = await provider.endOfSessionAddress().catch(() => null);
    // A page, not a redirect: forms end at the console (http/headers.ts).
    if (address !== null) c.header('refresh', `0; url=${address}`);
    const atProvider = address === null ? [] : [{ href: address, text: 'Sign out at the identity provider too' }];
    return c.html(signedOutPage(atProvider));
  });

  routes.get('/signed-out', (c) => c.html(signedOutPage([])));

  return routes;
}

/** The address for people, if this machine was called by another of its names: cookies belong to a name, and the way back is to this one. */
function otherName(c: Context, url: string): string | null {
  const here = new URL(c.req.url);
  const wanted = new URL(url);
  if (here.host === wanted.host || !isLoopback(here.hostname) || !isLoopback(wanted.hostname)) return null;
  return `${wanted.origin}${here.pathname}${here.search}`;
}

/** Sends the browser to the identity provider; `asksAgain`: there the person proves again who they are. */
async function begin(
  c: Context,
  { database, settings, logger, now }: ConsoleServices,
  provider: IdentityProvider,
  asksAgain: boolean,
): Promise<Response> {
  const elsewhere = otherName(c, settings.url);
  if (elsewhere !== null) return c.redirect(elsewhere, 302);
  const state = newSecret();
  const known = getCookie(c, BROWSER_COOKIE, 'host');
  // Kept if it is there: several pages of one browser may sign in at once.
  const browser = isSecret(known) ? known : newSecret();
  const signIn: SignIn = {
    stateHash: digestOf(state),
    browserHash: digestOf(browser),
    nonce: newSecret(),
    codeVerifier: newSecret(),
    returnTo: returnPath(c.req.query('return_to')),
    asksAgain,
    createdAt: now(),
  };
  try {
    const address = await provider.authorizationAddress(signIn, state);
    await database.transaction((tx) => beginSignIn(tx, signIn));
    const kept = { prefix: 'host', secure: true, path: '/', httpOnly: true, sameSite: 'Lax' } as const;
    setCookie(c, BROWSER_COOKIE, browser, { ...kept, maxAge: SIGN_IN_MS_MAX / 1_000 });
    return asksAgain ? leadOn(c, address) : c.redirect(address, 302);
  } catch (error) {
    return rejected(c, { settings, logger }, error, signIn.returnTo);
  }
}

/** By a page, as a form of the console may have led here, and a form must not be redirected to another site (http/headers.ts). */
function leadOn(c: Context, address: string): Response | Promise<Response> {
  c.header('refresh', `0; url=${address}`);
  const text = 'What you are about to do moves money. Your company’s identity provider asks who you are once more.';
  const on = { href: address, text: 'Go on to the identity provider' };
  return c.html(<NoticePage title="Sign in once more" text={text} links={[on]} />);
}

/** The browser comes back from the identity provider. */
async function finish(c: Context, services: ConsoleServices, provider: IdentityProvider): Promise<Response> {
  const { database, settings, now } = services;
  const state = c.req.query('state');
  if (!isSecret(state)) return problem(c, services, 'unknown', '/');
  const signIn = await database.transaction((tx) => takeSignIn(tx, digestOf(state)));
  if (signIn === null) return problem(c, services, 'unknown', '/');
  const { returnTo } = signIn;
  const browser = getCookie(c, BROWSER_COOKIE, 'host');
  if (!isSecret(browser) || !isSameDigest(digestOf(browser), signIn.browserHash))
    return problem(c, services, 'other-browser', '/');
  if (!isSignInOpen(signIn, now())) return problem(c, services, 'expired', returnTo);
  try {
    const proved = await provider.identityOf(new URL(c.req.url).search, signIn, state);
    await beginSessionOf(c, services, proved);
    return c.redirect(`${settings.url}${returnTo}`, 303);
  } catch (error) {
    return rejected(c, services, error, returnTo);
  }
}

/** A session under a new secret, whatever the browser sent: one that was prepared for the person is of no use. */
async function beginSessionOf(
  c: Context,
  { database, settings, now: readNow }: ConsoleServices,
  { provedAt, ...identity }: ProvedIdentity,
): Promise<void> {
  const now = readNow();
  const token = newSecret();
  const replaced = sessionToken(c);
  const session = {
    tokenHash: digestOf(token),
    csrfToken: newSecret(),
    // The provider's clock may be ahead of ours.
    signedInAt: provedAt < now ? provedAt : now,
    endsAt: new Date(now.getTime() + settings.sessionMinutes * 60_000),
    replacedHash: replaced === null ? null : digestOf(replaced),
  };
  await database.transaction((tx) => beginSession(tx, identity, session, now));
  keepSessionToken(c, token);
}

type Rejecting = Pick<ConsoleServices, 'settings' | 'logger'>;

function rejected(c: Context, services: Rejecting, error: unknown, returnTo: string): Promise<Response> | Response {
  if (!(error instanceof SignInRejected)) throw error;
  return problem(c, services, error.problem, returnTo, error.message);
}

function problem(
  c: Context,
  { settings, logger }: Rejecting,
  name: CallbackProblem | SignInRejected['problem'],
  returnTo: string,
  detail: string | null = null,
): Promise<Response> | Response {
  logger.warn({ event: 'sign-in-rejected', reason: name, detail }, 'a sign-in to the console was rejected');
  const { status, title, text } = problemPage(name, settings.identityProvider.rolesClaim);
  const again = { href: `/sign-in?return_to=${encodeURIComponent(returnTo)}`, text: 'Sign in' };
  return c.html(<NoticePage title={title} text={text} links={[again]} />, status);
}

function signedOutPage(links: readonly { readonly href: string; readonly text: string }[]) {
  const again = { href: '/sign-in', text: 'Sign in again' };
  return <NoticePage title="You are signed out" text="Your session here has ended." links={[...links, again]} />;
}

import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { formatAmount, parseAmountMinor } from '../../domain/common/money.ts';
import { limitForms, readForm } from '../pages/forms.ts';
import { type PageEnv, readLanguage } from '../pages/languages.ts';
import { isSameSecret, newSecret, Sessions } from '../pages/sessions.ts';
import { ServiceUnavailable } from '../service/service.ts';
import { type IdTokens, readFrontChannelAnswer } from './answers.ts';
import { AccessEnded, type Application, type Asked, CURRENCY, type Payment, type Wanted } from './application.ts';
import { accountsPage, callbackPage, homePage, noticePage, PATH, paymentPage, transactionsPage } from './pages.ts';

type PageContext = Context<PageEnv>;

/** As long as the lifetime of an access token. */
const SESSION_MS = 60 * 60_000;
/** An address with a token of some kilobytes, every character escaped. */
const FORM_BYTES_MAX = 32 * 1024;

interface Open extends Asked {
  readonly consentId: string;
}

/** The state of this browser's request. */
type Session =
  | { readonly at: 'asked'; readonly open: Open }
  | { readonly at: 'reading'; readonly accessToken: string }
  | { readonly at: 'paying'; readonly amount: string; readonly consentId: string; readonly accessToken: string }
  | { readonly at: 'paid'; readonly amount: string; readonly payment: Payment };

export interface ThirdPartyParts {
  readonly application: Application;
  readonly idTokens: IdTokens;
  /** The registered addresses of `/callback`: one for each name by which a browser may know this machine. */
  readonly redirectUris: readonly string[];
  readonly logger: Logger;
}

interface Dependencies extends ThirdPartyParts {
  readonly sessions: Sessions<Session>;
}

/** An application of another company: it asks for consents, sends people to the front office, and uses the granted access. */
export function thirdPartyRoutes(parts: ThirdPartyParts): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  app.use(readLanguage, limitForms(FORM_BYTES_MAX));
  app.onError((error, c) => {
    if (error instanceof ServiceUnavailable) return noticePage(c, 'unavailable');
    if (error instanceof AccessEnded) return noticePage(c, 'over');
    parts.logger.error({ error: error.name, method: c.req.method }, 'the third party failed');
    return noticePage(c, 'failed');
  });

  const sessions = new Sessions<Session>({ cookie: 'third-party', path: PATH, lifetimeMs: SESSION_MS });
  const dependencies: Dependencies = { ...parts, sessions };
  app.get('/', (c) => homePage(c));
  app.post('/requests', (c) => ask(c, dependencies));
  app.get('/callback', (c) => callbackPage(c, false));
  app.post('/callback', (c) => comeBack(c, dependencies));
  app.get('/accounts', (c) => showAccounts(c, dependencies));
  app.get('/accounts/:id', (c) => showTransactions(c, dependencies));
  app.post('/payment', (c) => payOnce(c, dependencies));
  app.get('/payment', (c) => showPayment(c, dependencies));
  return app;
}

async function ask(c: PageContext, { application, sessions, redirectUris }: Dependencies): Promise<Response> {
  const form = await readForm(c);
  const wanted = wantedBy(form);
  if (wanted === null) return homePage(c, form.get('amount') ?? '');
  const asked = { wanted, redirectUri: redirectUriFor(c, redirectUris), state: newSecret(), nonce: newSecret() };
  const consentId = await application.ask(asked);
  if (consentId === null) return noticePage(c, 'not-asked');
  sessions.begin(c, { at: 'asked', open: { ...asked, consentId } });
  return c.redirect(`/front-office/consents/${consentId}`, 303);
}

/** Null for an amount that cannot be paid. */
function wantedBy(form: URLSearchParams): Wanted | null {
  if (form.get('scope') === 'accounts') return { scope: 'accounts' };
  // On many keyboards a comma separates the decimals.
  const digits = (form.get('amount') ?? '').trim().replace(',', '.');
  const amountMinor = /^\d{1,9}(\.\d+)?$/.test(digits) ? parseAmountMinor(digits, CURRENCY) : 'not-a-number';
  return typeof amountMinor === 'bigint' ? { scope: 'payments', amount: formatAmount(amountMinor, CURRENCY) } : null;
}

/** The address under which the browser has its cookies. */
function redirectUriFor(c: PageContext, redirectUris: readonly string[]): string {
  const host = c.req.header('host');
  const [first = '', ...others] = redirectUris;
  return others.find((address) => new URL(address).host === host) ?? first;
}

async function comeBack(c: PageContext, dependencies: Dependencies): Promise<Response> {
  const form = await readForm(c);
  const brought = readFrontChannelAnswer(form.get('address') ?? '');
  if (brought === null) return callbackPage(c, true);
  const session = dependencies.sessions.find(c);
  if (session?.at !== 'asked' || !isSameSecret(brought.state, session.open.state)) return noticePage(c, 'foreign');
  // Used up before anything is awaited: submitting a form twice must not exchange the code twice, which revokes its token.
  dependencies.sessions.end(c);
  if (!(await dependencies.idTokens.vouchFor(brought, session.open))) return noticePage(c, 'untrusted');
  return brought.code === null ? noticePage(c, 'rejected') : useCode(c, dependencies, session.open, brought.code);
}

async function useCode(c: PageContext, dependencies: Dependencies, open: Open, code: string) {
  const { application, idTokens, sessions } = dependencies;
  const token = await application.exchange(code, open.redirectUri);
  if (token === null) return noticePage(c, 'late');
  const { access_token: accessToken, id_token: idToken } = token;
  if (!(await idTokens.vouchForAccess(idToken, accessToken, open))) return noticePage(c, 'untrusted');
  const { wanted, consentId } = open;
  if (wanted.scope === 'accounts') {
    sessions.begin(c, { at: 'reading', accessToken });
    return c.redirect(`${PATH}/accounts`, 303);
  }
  return pay(c, dependencies, { at: 'paying', amount: wanted.amount, consentId, accessToken });
}

function payOnce(c: PageContext, dependencies: Dependencies): Promise<Response> {
  const session = dependencies.sessions.find(c);
  return session?.at === 'paying' ? pay(c, dependencies, session, 'again') : showPayment(c, dependencies);
}

async function pay(
  c: PageContext,
  dependencies: Dependencies,
  paying: Extract<Session, { at: 'paying' }>,
  time: 'first' | 'again' = 'first',
): Promise<Response> {
  const { application, sessions } = dependencies;
  const { amount, consentId, accessToken } = paying;
  let payment: Payment | null;
  try {
    payment = await application.pay(amount, consentId, accessToken);
  } catch (error) {
    // If the access has ended since, the first attempt may have paid nevertheless.
    const isUnsure = error instanceof ServiceUnavailable || (time === 'again' && error instanceof AccessEnded);
    if (!isUnsure) throw error;
    sessions.begin(c, paying);
    return noticePage(c, 'payment-unsure');
  }
  if (payment === null) {
    sessions.end(c);
    return noticePage(c, 'payment-rejected');
  }
  sessions.begin(c, { at: 'paid', amount, payment });
  return c.redirect(`${PATH}/payment`, 303);
}

async function showPayment(c: PageContext, { sessions }: Dependencies): Promise<Response> {
  const session = sessions.find(c);
  if (session?.at === 'paying') return noticePage(c, 'payment-unsure');
  return session?.at === 'paid' ? paymentPage(c, session.amount, session.payment) : c.redirect(PATH, 303);
}

async function showAccounts(c: PageContext, { sessions, application }: Dependencies): Promise<Response> {
  const session = sessions.find(c);
  if (session?.at !== 'reading') return noticePage(c, 'over');
  return accountsPage(c, await application.accounts(session.accessToken));
}

async function showTransactions(c: PageContext, { sessions, application }: Dependencies): Promise<Response> {
  const session = sessions.find(c);
  if (session?.at !== 'reading') return noticePage(c, 'over');
  const { accessToken } = session;
  const account = (await application.accounts(accessToken)).find(({ id }) => id === c.req.param('id'));
  if (account === undefined) return c.redirect(`${PATH}/accounts`, 303);
  return transactionsPage(c, account, await application.transactions(account.id, accessToken));
}

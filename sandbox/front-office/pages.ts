import type { Context } from 'hono';
import { html } from 'hono/html';
import { amountText, creditorText, languageOf, numberText, type PageEnv, timeText } from '../pages/languages.ts';
import { type Html, problemBox, showPage } from '../pages/page.ts';
import type { Account, Consent, SignedIn } from './office.ts';
import { type ConsentProblem, FRONT_OFFICE_TEXTS, type NoticeName, type SignInProblem } from './texts.ts';

type PageContext = Context<PageEnv>;

export const PATH = '/front-office';

export function addressOf({ id }: Consent): string {
  return `${PATH}/consents/${id}`;
}

const NOTICE_STATUS = {
  answered: 409,
  expired: 410,
  unknown: 404,
  unavailable: 503,
  failed: 500,
  nothing: 200,
} as const;

/** A page with only a message, and the way back to the application, if it is known. */
export function noticePage(c: PageContext, name: NoticeName, consent: Consent | null = null): Promise<Response> {
  const language = languageOf(c);
  const { owner, notices, back } = FRONT_OFFICE_TEXTS[language];
  const { title, text } = notices[name];
  const { applicationName, applicationWebsite } = consent?.thirdPartyProvider ?? {};
  const link =
    applicationName === undefined || applicationWebsite === undefined
      ? ''
      : html`<p><a href="${applicationWebsite}" rel="noreferrer">${back(applicationName)}</a></p>`;
  const body = html`<p role="status">${text}</p>${link}`;
  const here = consent === null ? null : addressOf(consent);
  return showPage(c, { look: 'front-office', language, owner, title, body, here, status: NOTICE_STATUS[name] });
}

/** Names the application; its request is shown after the sign-in. */
export function signInPage(
  c: PageContext,
  consent: Consent,
  csrf: string,
  rejected: { readonly problem: SignInProblem; readonly email: string } | null,
): Promise<Response> {
  const language = languageOf(c);
  const { owner, signIn } = FRONT_OFFICE_TEXTS[language];
  const problem = rejected === null ? null : signIn.problems[rejected.problem];
  const described = problem === null ? '' : html` aria-describedby="problem"`;
  const body = html`${problemBox(problem)}
<p>${signIn.why(consent.thirdPartyProvider.applicationName)}</p>
<form method="post" action="${addressOf(consent)}/sign-in">
<input type="hidden" name="csrf" value="${csrf}">
<label for="email">${signIn.email}</label>
<input class="field" id="email" name="email" type="email" autocomplete="username" required maxlength="320" value="${rejected?.email ?? ''}"${described}>
<label for="password">${signIn.password}</label>
<input class="field" id="password" name="password" type="password" autocomplete="current-password" required${described}>
<button class="main" type="submit">${signIn.submit}</button>
</form>`;
  const status = rejected === null ? 200 : rejected.problem === 'limited' ? 429 : 422;
  const here = addressOf(consent);
  return showPage(c, { look: 'front-office', language, owner, title: signIn.title, body, here, status });
}

export interface Asked {
  readonly consent: Consent;
  readonly user: SignedIn;
  readonly csrf: string;
  readonly accounts: readonly Account[];
}

/** The application, its request, and the person's own accounts to choose from. */
export function consentPage(c: PageContext, asked: Asked, problem: ConsentProblem | null): Promise<Response> {
  const { consent, user, csrf, accounts } = asked;
  const language = languageOf(c);
  const { owner, consent: texts } = FRONT_OFFICE_TEXTS[language];
  const { content, thirdPartyProvider } = consent;
  const action = addressOf(consent);
  const isPayment = content.scope === 'payments';
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}">`;
  const approve = isPayment ? texts.approvePayment : texts.approve;
  const body = html`${problemBox(problem === null ? null : texts.problems[problem])}
<dl>
<dt>${texts.who}</dt>
<dd>${thirdPartyProvider.applicationName}, ${thirdPartyProvider.name}<br>${thirdPartyProvider.applicationDescription}<br>${thirdPartyProvider.website}</dd>
<dt>${texts.what}</dt><dd>${isPayment ? texts.paymentWhat : texts.accountsWhat}</dd>
${isPayment ? paymentFacts(c, consent) : ''}
</dl>
<form method="post" action="${action}/answer">
${hidden}
${accounts.length === 0 ? html`<p>${texts.noAccount}</p>` : accountChoice(c, asked, problem)}
${accounts.length === 0 ? '' : html`<button class="main" type="submit" name="answer" value="approve">${approve}</button>`}
<button type="submit" name="answer" value="reject" formnovalidate>${texts.reject}</button>
</form>
<p class="hint">${texts.until(timeText(language, consent.requestExpiryDateTime))}</p>
<hr>
<form method="post" action="${action}/sign-out">
${hidden}
<p class="hint">${texts.signedInAs(user.name)}</p>
<button type="submit">${texts.signOut}</button>
</form>`;
  const title = titleOf(c, consent);
  const status = problem === null ? 200 : 422;
  const page = { look: 'front-office', language, owner, title, body, here: action, status } as const;
  return showPage(c, { ...page, leadsAway: true });
}

function titleOf(c: PageContext, { content, thirdPartyProvider: { applicationName } }: Consent): string {
  const language = languageOf(c);
  const { consent: texts } = FRONT_OFFICE_TEXTS[language];
  const { instructedAmount, instructedCurrency } = content;
  if (instructedAmount === null || instructedCurrency === null) return texts.accountsTitle(applicationName);
  return texts.paymentTitle(applicationName, amountText(language, instructedAmount, instructedCurrency));
}

function paymentFacts(c: PageContext, { content }: Consent): Html {
  const language = languageOf(c);
  const { consent: texts } = FRONT_OFFICE_TEXTS[language];
  const { instructedAmount, instructedCurrency, creditorAccount, requestedExecutionDateTime: on } = content;
  return html`
<dt>${texts.amount}</dt><dd>${amountText(language, instructedAmount ?? '0', instructedCurrency ?? 'GBP')}</dd>
<dt>${texts.payee}</dt><dd>${creditorAccount?.name}<br>${creditorText(creditorAccount?.identification ?? '')}</dd>
${on === null ? '' : html`<dt>${texts.on}</dt><dd>${timeText(language, on)}</dd>`}`;
}

function accountChoice(c: PageContext, { consent, accounts }: Asked, problem: ConsentProblem | null): Html {
  const language = languageOf(c);
  const { consent: texts } = FRONT_OFFICE_TEXTS[language];
  const isPayment = consent.content.scope === 'payments';
  const kind = isPayment ? 'radio' : 'checkbox';
  // Several check boxes cannot be required in HTML; one of several radio buttons can.
  const required = isPayment ? html` required` : '';
  const choices = accounts.map(
    ({ id, alias, accountHolderName, iban, accountNumber, availableBalance, currency }) =>
      html`<label class="choice"><input type="${kind}" name="account" value="${id}"${required}><span><strong>${alias}</strong><br>${texts.available(amountText(language, availableBalance, currency))}<br>${accountHolderName}<br>${numberText(iban, accountNumber)}</span></label>`,
  );
  const described = problem === null ? '' : html` aria-describedby="problem"`;
  return html`<fieldset${described}><legend>${isPayment ? texts.whichAccount : texts.whichAccounts}</legend>${choices}</fieldset>`;
}

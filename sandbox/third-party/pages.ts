import type { Context } from 'hono';
import { html } from 'hono/html';
import { amountText, languageOf, numberText, type PageEnv, timeText } from '../pages/languages.ts';
import { type Html, problemBox, showPage } from '../pages/page.ts';
import { type AccountWithBalance, CURRENCY, PAYEE, type Payment, type Transaction } from './application.ts';
import { type NoticeName, THIRD_PARTY_TEXTS } from './texts.ts';

type PageContext = Context<PageEnv>;

export const PATH = '/third-party';
/** The application's name, in every language. */
export const OWNER = 'Harbour Budget';

function shown(c: PageContext) {
  const language = languageOf(c);
  return { look: 'third-party', language, owner: OWNER, texts: THIRD_PARTY_TEXTS[language] } as const;
}

export function homePage(c: PageContext, rejectedAmount: string | null = null): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { home } = texts;
  const problem = rejectedAmount === null ? null : home.amountProblem;
  const described = problem === null ? 'payee' : 'problem payee';
  const body = html`<p>${home.intro}</p>
<form method="post" action="${PATH}/requests">
<button class="main" type="submit" name="scope" value="accounts">${home.read}</button>
</form>
<hr>
<form method="post" action="${PATH}/requests">
<input type="hidden" name="scope" value="payments">
${problemBox(problem)}
<label for="amount">${home.amount}</label>
<input class="field" id="amount" name="amount" inputmode="decimal" autocomplete="off" required maxlength="16" value="${rejectedAmount ?? '12.50'}" aria-describedby="${described}">
<p class="hint" id="payee">${home.amountHint(PAYEE.name)}</p>
<button type="submit">${home.pay}</button>
</form>
<p class="hint">${home.hint}</p>`;
  return showPage(c, { ...page, title: home.title, body, here: PATH, status: problem === null ? 200 : 400 });
}

/** Passes the fragment, which servers never see, to this address by POST; the browser's history forgets it. */
const HAND_OVER = `
const fragment = location.hash;
if (fragment.length > 1) {
  history.replaceState(null, '', location.pathname);
  document.getElementById('address').value = fragment;
  document.getElementById('answer').submit();
}
`;

/** Without a language switch, whose links would lose the fragment. */
export function callbackPage(c: PageContext, isWrong: boolean): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { callback } = texts;
  const described = isWrong ? html` aria-describedby="problem"` : '';
  const body = html`${problemBox(isWrong ? callback.problem : null)}
<p>${callback.text}</p>
<form method="post" action="${PATH}/callback" id="answer">
<label for="address">${callback.address}</label>
<textarea id="address" name="address" rows="4" required autocomplete="off" spellcheck="false"${described}></textarea>
<button class="main" type="submit">${callback.submit}</button>
</form>`;
  const status = isWrong ? 400 : 200;
  return showPage(c, { ...page, title: callback.title, body, here: null, status, script: HAND_OVER });
}

export function accountsPage(c: PageContext, accounts: readonly AccountWithBalance[]): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { language } = page;
  const items = accounts.map((account) => {
    const { id, alias, accountHolderName, availableBalance, bookedBalance, currency } = account;
    return html`<li><strong>${alias}</strong><br>${texts.accounts.available(amountText(language, availableBalance, currency))}
<br>${texts.accounts.booked(amountText(language, bookedBalance, currency))}<br>${accountHolderName}<br>${numberText(account.iban, account.accountNumber)}
<br><a href="${PATH}/accounts/${id}">${texts.accounts.transactions(alias)}</a></li>`;
  });
  const body = html`<p class="hint">${texts.accounts.until}</p><ul>${items}</ul>${againLink(texts.again)}`;
  return showPage(c, { ...page, title: texts.accounts.title, body, here: `${PATH}/accounts` });
}

export function transactionsPage(
  c: PageContext,
  account: AccountWithBalance,
  transactions: readonly Transaction[],
): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { language } = page;
  const { id, alias, currency, availableBalance } = account;
  const items = transactions.map(({ entryDateTime, transactionNumber, direction, amount, narrative }) => {
    const signed = direction === 'debit' ? `-${amount}` : amount;
    return html`<li><div class="sum"><span>${narrative ?? texts.accounts.paid[direction]}</span><span>${amountText(language, signed, currency)}</span></div>
${timeText(language, entryDateTime)}<br>${transactionNumber}</li>`;
  });
  const list = items.length === 0 ? html`<p>${texts.accounts.noTransactions}</p>` : html`<ul>${items}</ul>`;
  const body = html`<p>${texts.accounts.available(amountText(language, availableBalance, currency))}</p>
<p class="hint">${texts.accounts.thisMonth}</p>${list}
<p><a href="${PATH}/accounts">${texts.accounts.allAccounts}</a></p>`;
  return showPage(c, { ...page, title: texts.accounts.transactions(alias), body, here: `${PATH}/accounts/${id}` });
}

export function paymentPage(c: PageContext, digits: string, payment: Payment): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { title, text, amount, payee, number, status } = texts.payment;
  const body = html`<p role="status">${text}</p>
<dl>
<dt>${amount}</dt><dd>${amountText(page.language, digits, CURRENCY)}</dd>
<dt>${payee}</dt><dd>${PAYEE.name}</dd>
<dt>${number}</dt><dd>${payment.outgoingTransferId}</dd>
<dt>${status}</dt><dd>${payment.status}</dd>
</dl>${againLink(texts.again)}`;
  return showPage(c, { ...page, title, body, here: `${PATH}/payment` });
}

const NOTICE_STATUS = {
  rejected: 200,
  foreign: 400,
  untrusted: 400,
  late: 400,
  over: 410,
  'not-asked': 502,
  'payment-rejected': 422,
  'payment-unsure': 503,
  unavailable: 503,
  failed: 500,
} as const;

/** Any other end of a request; for a payment with an unknown outcome, with a retry. */
export function noticePage(c: PageContext, name: NoticeName): Promise<Response> {
  const { texts, ...page } = shown(c);
  const { title, text } = texts.notices[name];
  const retry =
    name === 'payment-unsure'
      ? html`<form method="post" action="${PATH}/payment"><button class="main" type="submit">${texts.tryAgain}</button></form>`
      : againLink(texts.again);
  const body = html`<p role="status">${text}</p>${retry}`;
  return showPage(c, { ...page, title, body, here: null, status: NOTICE_STATUS[name] });
}

function againLink(text: string): Html {
  return html`<p><a href="${PATH}">${text}</a></p>`;
}

import { Hono } from 'hono';
import { html } from 'hono/html';
import type { PageEnv } from './languages.ts';
import { type Html, showPage } from './page.ts';

/** Links to all parts of the sandbox. */
export function homeRoutes({
  hasClock,
  hasConsentWalk,
}: {
  readonly hasClock: boolean;
  readonly hasConsentWalk: boolean;
}): Hono<PageEnv> {
  const body = html`<p>Stand-ins for the outside world of the service. docs/sandbox.md describes them.</p>
${hasConsentWalk ? CONSENT_WALK : ''}
<h2>Mail</h2>
<ul class="links"><li><a href="/mail">All e-mails</a> that the service has sent; <a href="/mail/messages">the same as JSON</a></li></ul>
<h2>Bank</h2>
<ul class="links">
<li><a href="/bank/positions">Positions</a>, payments in and out by currency</li>
<li><a href="/bank/statement?account=GBP">Statement</a> of the pooled pounds</li>
<li><a href="/bank/existing-clients">Clients</a> and <a href="/bank/existing-accounts">accounts</a> to migrate</li>
<li><a href="/bank/callbacks">Callbacks</a> that are still undelivered</li>
<li><a href="/bank/faults">Faults</a> that are switched on</li>
</ul>
<h2>Name directory</h2>
<ul class="links"><li><a href="/directory/faults">Faults</a> of <code>POST /directory/name-checks</code></li></ul>
${hasClock ? CLOCK : ''}`;
  const page = { look: 'sandbox', language: 'en', owner: 'Sandbox', title: 'The sandbox' } as const;
  return new Hono<PageEnv>().get('/', (c) => showPage(c, { ...page, body, here: null }));
}

const CONSENT_WALK: Html = html`<h2>Open banking</h2>
<ul class="links">
<li><a href="/third-party">Harbour Budget</a>, an application that asks for your accounts and payments</li>
<li><a href="/front-office">The front office</a>, where account holders answer</li>
</ul>`;

const CLOCK: Html = html`<h2>Clock</h2>
<ul class="links"><li><a href="/clock">The time</a> of the service, which <code>POST /clock</code> moves forward</li></ul>`;

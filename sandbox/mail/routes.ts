import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { answer, BankError } from '../bank/wire.ts';
import type { PageEnv } from '../pages/languages.ts';
import { type Html, showPage } from '../pages/page.ts';
import type { CaughtMail, Mailbox } from './mailbox.ts';

/** The sandbox's mailbox: every e-mail that was sent, as pages for people and as JSON for programs. */
export function mailRoutes(mailbox: Mailbox): Hono<PageEnv> {
  const app = new Hono<PageEnv>();

  app.get('/', (c) => page(c, 'Mailbox', listOf(mailbox.list())));
  app.get('/messages', (c) => answer(c, 200, { messages: mailbox.list() }));
  app.get('/messages/:id', (c) => answer(c, 200, { message: { ...found(mailbox, c) } }));
  app.get('/:id', (c) => {
    const mail = found(mailbox, c);
    return page(c, mail.subject || 'No subject', mailOf(mail));
  });
  return app;
}

function found(mailbox: Mailbox, c: Context<PageEnv>): CaughtMail {
  const mail = mailbox.find(Number(c.req.param('id')));
  if (mail === undefined) throw new BankError(404, 'no-such-mail', 'No such e-mail was caught.');
  return mail;
}

function listOf(mails: readonly CaughtMail[]): Html {
  if (mails.length === 0) return html`<p>No e-mail has been sent yet.</p>`;
  const items = mails.map(
    ({ id, subject, to, recipients, receivedAt }) =>
      html`<li><a href="/mail/${id}">${subject || 'No subject'}</a><br>to ${to || recipients.join(', ')}, <time>${receivedAt}</time></li>`,
  );
  return html`<ul>${items}</ul>`;
}

function mailOf({ from, to, recipients, receivedAt, text }: CaughtMail): Html {
  const facts = { From: from, To: to || recipients.join(', '), Received: receivedAt };
  const list = Object.entries(facts).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<p><a href="/mail">All mail</a></p>\n<dl>${list}</dl>\n<hr>\n<pre>${linked(text)}</pre>`;
}

/** Text with its web addresses as links; everything else stays text. */
function linked(text: string): readonly Html[] {
  return text
    .split(/(https?:\/\/[^\s<>"']+)/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}" rel="noreferrer">${part}</a>` : html`${part}`));
}

function page(c: Context<PageEnv>, title: string, body: Html): Promise<Response> {
  return showPage(c, { look: 'sandbox', language: 'en', owner: 'Sandbox', title, body, here: null });
}

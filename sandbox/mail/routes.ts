import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { answer, BankError } from '../bank/wire.ts';
import type { CaughtMail, Mailbox } from './mailbox.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
li { margin-bottom: 0.75rem; }
dt { font-weight: 600; }
pre { white-space: pre-wrap; font: inherit; border-top: 1px solid; padding-top: 1rem; }
`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
} as const;

type MailContext = Context<{ Bindings: HttpBindings }>;

/** The sandbox's mailbox: every e-mail that was sent, as pages for people and as JSON for programs. */
export function mailRoutes(mailbox: Mailbox): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();

  app.get('/', (c) => page(c, 'Mailbox', listOf(mailbox.list())));
  app.get('/messages', (c) => answer(c, 200, { messages: mailbox.list() }));
  app.get('/messages/:id', (c) => answer(c, 200, { message: { ...found(mailbox, c) } }));
  app.get('/:id', (c) => {
    const mail = found(mailbox, c);
    return page(c, mail.subject || 'No subject', mailOf(mail));
  });
  return app;
}

function found(mailbox: Mailbox, c: MailContext): CaughtMail {
  const mail = mailbox.find(Number(c.req.param('id')));
  if (mail === undefined) throw new BankError(404, 'no-such-mail', 'No such e-mail was caught.');
  return mail;
}

function listOf(mails: readonly CaughtMail[]): string {
  if (mails.length === 0) return '<p>No e-mail has been sent yet.</p>';
  const items = mails.map(
    ({ id, subject, to, recipients, receivedAt }) =>
      `<li><a href="/mail/${id}">${escaped(subject || 'No subject')}</a><br>to ${escaped(to || recipients.join(', '))}, <time>${escaped(receivedAt)}</time></li>`,
  );
  return `<ul>${items.join('\n')}</ul>`;
}

function mailOf({ from, to, recipients, receivedAt, text }: CaughtMail): string {
  const facts = { From: from, To: to || recipients.join(', '), Received: receivedAt };
  const list = Object.entries(facts).map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`);
  return `<p><a href="/mail">All mail</a></p>\n<dl>${list.join('')}</dl>\n<pre>${linked(text)}</pre>`;
}

/** Text with its web addresses as links; everything else stays text. */
function linked(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>"']+)/)
    .map((part, index) =>
      index % 2 === 1 ? `<a href="${escaped(part)}" rel="noreferrer">${escaped(part)}</a>` : escaped(part),
    )
    .join('');
}

function page(c: MailContext, title: string, body: string): Response {
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`;
  return c.body(html, 200, HEADERS);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

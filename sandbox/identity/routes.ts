import type { IncomingMessage } from 'node:http';

import { Hono } from 'hono';
import { html } from 'hono/html';
import type Provider from 'oidc-provider';
import { alreadySent } from '../http/already-sent.ts';
import { limitForms, readForm } from '../pages/forms.ts';
import type { PageEnv } from '../pages/languages.ts';
import { showPage } from '../pages/page.ts';
import { IDENTITY_PATH, PICK_PATH } from './addresses.ts';
import type { SandboxPerson } from './people.ts';

const FORM_BYTES_MAX = 16 * 1024;

/** The company's identity provider: its own pages, and everything else by the provider itself. */
export function identityRoutes(provider: Provider, people: readonly SandboxPerson[]): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  const answer = provider.callback();

  app.get(`${PICK_PATH}/:uid`, async (c) => {
    const { incoming, outgoing } = c.env;
    const { uid } = await provider.interactionDetails(incoming, outgoing).catch(() => ({ uid: null }));
    const page = { look: 'sandbox', language: 'en', owner: 'Sandbox identity provider', here: null } as const;
    if (uid === null) {
      const gone = html`<p>It was used, or took too long. Go back to the console and sign in again.</p>`;
      return showPage(c, { ...page, title: 'This sign-in has ended', body: gone, status: 410 });
    }
    const body = html`<p>This stands in for your company’s identity provider. Pick who you are; there is no password.</p>
<form method="post" action="${IDENTITY_PATH}${PICK_PATH}/${uid}">
${people.map(({ id, name, title }) => html`<button type="submit" name="person" value="${id}">${name} (${title})</button>`)}
<button type="submit" name="person" value="">Cancel</button>
</form>`;
    return showPage(c, { ...page, title: 'Who are you?', body, leadsAway: true });
  });

  app.post(`${PICK_PATH}/:uid`, limitForms(FORM_BYTES_MAX), async (c) => {
    const { incoming, outgoing } = c.env;
    const id = (await readForm(c)).get('person') ?? '';
    const result = people.some((person) => person.id === id)
      ? { login: { accountId: id } }
      : { error: 'access_denied', error_description: 'The person cancelled the sign-in.' };
    return c.redirect(await provider.interactionResult(incoming, outgoing, result), 303);
  });

  app.all('*', async (c) => {
    const { incoming, outgoing } = c.env;
    mount(incoming);
    await answer(incoming, outgoing);
    return alreadySent();
  });
  return app;
}

/** The provider knows itself by the path below which it is mounted. */
function mount(incoming: IncomingMessage): void {
  const url = incoming.url ?? '/';
  Object.assign(incoming, { originalUrl: url, url: url.slice(IDENTITY_PATH.length) || '/' });
}

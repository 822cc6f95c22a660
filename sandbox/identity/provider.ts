import { randomBytes } from 'node:crypto';
import { html, raw } from 'hono/html';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { PICK_PATH } from './addresses.ts';
import type { SandboxPerson } from './people.ts';

export interface IdentityProviderSettings {
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** The addresses of the client, without paths. */
  readonly clientUrls: readonly string[];
  readonly people: readonly SandboxPerson[];
}

const SCOPE = 'openid profile email';
const HOUR_SECONDS = 60 * 60;

/**
 * A real OpenID provider for the sandbox and for tests only: everything is in memory, its keys are new at each start, and a person is
 * let in without a password.
 */
export async function createIdentityProvider(settings: IdentityProviderSettings): Promise<Provider> {
  const { issuer, client, clientUrls, people } = settings;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const mountPath = new URL(issuer).pathname.replace(/\/$/, '');
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: clientUrls.map((url) => `${url}/sign-in/callback`),
        post_logout_redirect_uris: clientUrls.map((url) => `${url}/signed-out`),
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        async logoutSource(ctx, form) {
          ctx.body = await page(
            'Sign out here too?',
            html`${raw(form)}
<button form="op.logoutForm" type="submit" name="logout" value="yes">Yes, sign me out</button>
<button form="op.logoutForm" type="submit">No, stay signed in</button>`,
          );
        },
        async postLogoutSuccessSource(ctx) {
          ctx.body = await page(
            'You are signed out',
            html`<p>The sandbox’s identity provider no longer knows this browser.</p>`,
          );
        },
      },
    },
    async renderError(ctx, { error }) {
      ctx.type = 'html';
      ctx.body = await page('This cannot be done', html`<p>The identity provider answers: <code>${error}</code></p>`);
    },
    interactions: { url: (_, { uid }) => `${mountPath}${PICK_PATH}/${uid}` },
    ttl: {
      AccessToken: HOUR_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      Session: 8 * HOUR_SECONDS,
      Grant: 8 * HOUR_SECONDS,
    },
    findAccount(_, id) {
      const found = people.find((person) => person.id === id);
      if (found === undefined) return undefined;
      const { name, email, groups } = found;
      return { accountId: id, claims: () => ({ sub: id, name, email, groups }) };
    },
    // The company has agreed for its people: there is no consent to give.
    async loadExistingGrant(ctx) {
      const grant = new provider.Grant({
        clientId: client.id,
        ...(ctx.oidc.session?.accountId === undefined ? {} : { accountId: ctx.oidc.session.accountId }),
      });
      grant.addOIDCScope(SCOPE);
      await grant.save();
      return grant;
    },
  });
  return provider;
}

/** In place of the provider's own pages, which load a font from elsewhere. */
async function page(title: string, body: ReturnType<typeof html>): Promise<string> {
  const whole = await html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><main><h1>${title}</h1>${body}</main></body></html>`;
  return whole.toString();
}

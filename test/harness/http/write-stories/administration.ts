import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { newId } from '../../../../db/common/ids.ts';
import type { Json } from '../../api.ts';
import type { Story, StoryCaller } from './story.ts';

const ADMIN = { as: 'admin' } as const;

export function newKey(kid: string): Json {
  const { kty, crv, x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return { kid, algorithm: 'EdDSA', jwk: { kty, crv, x } };
}

export const machineUserStory: Story = async ({ post, patch, remove, name }) => {
  const key = newKey(`${name}-first`);
  const machineUser = { name, roles: ['operator', 'viewer'], key };
  const { machineUser: made } = await post('/machine-users', { machineUser }, ADMIN);
  // Neither a kid nor a key is registered twice, and then there is no machine user either.
  await post('/machine-users', { machineUser: { ...machineUser, key: newKey(key.kid) } }, { ...ADMIN, rejected: 409 });
  const keyAgain = { ...key, kid: `${name}-again` };
  await post('/machine-users', { machineUser: { ...machineUser, key: keyAgain } }, { ...ADMIN, rejected: 409 });
  const path = `/machine-users/${made.id}`;
  await post(`${path}/keys`, { machineUserKey: newKey(`${name}-second`) }, ADMIN);
  await post(`${path}/keys`, { machineUserKey: keyAgain }, { ...ADMIN, rejected: 409 });
  const unknown = `/machine-users/${randomUUID()}`;
  await post(`${unknown}/keys`, { machineUserKey: newKey(`${name}-third`) }, { ...ADMIN, rejected: 404 });
  const [first] = made.keys;
  await remove(`${path}/keys/${first.id}`, ADMIN);
  await remove(`${path}/keys/${first.id}`, ADMIN);
  await remove(`${path}/keys/${randomUUID()}`, { ...ADMIN, rejected: 404 });
  await patch(path, { machineUser: { name: `${name} renamed`, roles: ['viewer'] } }, ADMIN);
  await patch(path, { machineUser: { status: 'revoked' } }, ADMIN);
  await patch(path, { machineUser: { status: 'active' } }, { ...ADMIN, rejected: 409 });
  await post(`${path}/keys`, { machineUserKey: newKey(`${name}-third`) }, { ...ADMIN, rejected: 409 });
  await patch(unknown, { machineUser: { name } }, { ...ADMIN, rejected: 404 });
};

const JWK = {
  kid: 'budgets',
  alg: 'ES256',
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
};

export const thirdPartyProviderStory: Story = async ({ post, patch, name }) => {
  const site = `https://${name}.example.com`;
  const thirdPartyProvider = {
    name,
    website: site,
    applicationName: 'Budgets',
    applicationDescription: 'Shows all accounts of a household',
    applicationWebsite: site,
    redirectUris: [`${site}/callback`],
    jwks: { keys: [JWK] },
  };
  const { thirdPartyProvider: made } = await post('/third-party-providers', { thirdPartyProvider }, ADMIN);
  const wrong = { ...thirdPartyProvider, redirectUris: [`${site}/callback#fragment`] };
  await post('/third-party-providers', { thirdPartyProvider: wrong }, { ...ADMIN, rejected: 400 });
  const path = `/third-party-providers/${made.id}`;
  await patch(path, { thirdPartyProvider: { redirectUris: [`${site}/a`, `${site}/b`], name: `${name} Ltd` } }, ADMIN);
  await patch(path, { thirdPartyProvider: { dpopBoundAccessTokens: true } }, ADMIN);
  await patch(path, { thirdPartyProvider: { status: 'inactive' } }, ADMIN);
  await patch(path, { thirdPartyProvider: { status: 'inactive' } }, ADMIN);
  await patch(path, { thirdPartyProvider: { jwks: { keys: [{ ...JWK, kid: 'next' }] }, status: 'active' } }, ADMIN);
  const unknown = `/third-party-providers/${randomUUID()}`;
  await patch(unknown, { thirdPartyProvider: { status: 'inactive' } }, { ...ADMIN, rejected: 404 });
};

export const webhookStory: Story = async ({ post, patch, remove, name }) => {
  const webhookSubscription = { url: `http://127.0.0.1:43210/${name}`, modules: ['clients'], description: name };
  const { webhookSubscription: made } = await post('/webhook-subscriptions', { webhookSubscription }, ADMIN);
  const elsewhere = { ...webhookSubscription, url: 'http://10.0.0.1/hook' };
  await post('/webhook-subscriptions', { webhookSubscription: elsewhere }, { ...ADMIN, rejected: 400 });
  const path = `/webhook-subscriptions/${made.id}`;
  await patch(path, { webhookSubscription: { status: 'paused', modules: null, types: ['created'] } }, ADMIN);
  await post(`${path}/ping`, {}, { ...ADMIN, rejected: 409 });
  await patch(path, { webhookSubscription: { status: 'active', url: `${webhookSubscription.url}/other` } }, ADMIN);
  await patch(path, { webhookSubscription: { url: elsewhere.url } }, { ...ADMIN, rejected: 400 });
  for (let rotation = 1; rotation <= 3; rotation += 1) await post(`${path}/rotate-secret`, {}, ADMIN);
  const { webhookDelivery } = await post(`${path}/ping`, {}, ADMIN);
  await post(`/webhook-deliveries/${webhookDelivery.id}/retry`, {}, ADMIN);
  await post(`/webhook-deliveries/${randomUUID()}/retry`, {}, { ...ADMIN, rejected: 404 });
  await remove(path, ADMIN);
  await remove(path, { ...ADMIN, rejected: 404 });
  await post(`${path}/rotate-secret`, {}, { ...ADMIN, rejected: 404 });
  await patch(path, { webhookSubscription: { status: 'active' } }, { ...ADMIN, rejected: 404 });
};

/** A difference between a provider's statement and our books, which no request can create. */
export async function newBreakId({ api, name }: StoryCaller): Promise<string> {
  const id = newId();
  await api.database.reader.statement(
    `INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, currency, day)
     VALUES ($1, 'sandbox-bank', 'statement-unknown-payment', $2, '{}', service_now(), 'GBP', '2026-11-20')`,
    [id, name],
  );
  return id;
}

export const reconciliationBreakStory: Story = async (caller) => {
  const { patch } = caller;
  const path = `/reconciliation-breaks/${await newBreakId(caller)}`;
  const resolved = { reconciliationBreak: { status: 'resolved', note: 'Paid back' } };
  await patch(path, resolved);
  await patch(path, resolved, { rejected: 409 });
  await patch(`/reconciliation-breaks/${randomUUID()}`, resolved, { rejected: 404 });
};

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createClient } from '../client.ts';
import { createSandbox } from '../sandbox.ts';
import { signTestWebhook, verifyWebhook } from '../webhooks.ts';
import type { Credentials } from './token.ts';

// What a new user gets wrong: the message says what to mend, never a key, a token or a secret.

const ed25519 = generateKeyPairSync('ed25519');
const pem = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const encrypted = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** The settings of a program in JavaScript, or of one that casts. */
function created(settings: object): unknown {
  const good = {
    baseUrl: 'http://127.0.0.1:9',
    machineUser: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
    audience: 'any',
    key: { kid: 'any', privateKey: pem },
  };
  return createClient({ ...good, ...settings } as Parameters<typeof createClient>[0] & Credentials);
}

test.each<[string, unknown, string]>([
  ['the path of the file', 'payments.pem', 'give the content of the file, not its path'],
  [
    'a JSON Web Key as text with something behind it',
    `${JSON.stringify(ed25519.privateKey.export({ format: 'jwk' }))}x`,
    'it is not a JSON Web Key with its private part',
  ],
  ['an empty text', '', 'give the content of the file, not its path'],
  ['the public key', publicPem, 'it is the public key'],
  ['an encrypted key', encrypted, 'it is encrypted'],
  ['line breaks as \\n', pem.replaceAll('\n', '\\n'), 'its line breaks are written as \\n'],
  ['a cut key', pem.slice(0, 60), 'key.privateKey cannot be read'],
  ['nothing', undefined, 'key.privateKey is missing'],
  ['bytes', Buffer.from(pem), 'key.privateKey cannot be read'],
  ['a JSON Web Key of no kind', { ...ed25519.privateKey.export({ format: 'jwk' }), kty: 'oct' }, 'cannot be read'],
  ['a public JSON Web Key', ed25519.publicKey.export({ format: 'jwk' }), 'with its private part'],
  ['a public key of Node', ed25519.publicKey, 'it is the public key'],
  ['another curve', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey), 'Ed25519, P-256 or RSA'],
  ['a short RSA key', pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey), '2048 bits'],
  ['another kind', pemOf(generateKeyPairSync('x25519').privateKey), 'Ed25519, P-256 or RSA'],
])('a private key that is %s is rejected at once, with the reason', (_, privateKey, reason) => {
  let message = '';
  try {
    created({ key: { kid: 'any', privateKey } });
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    message = inspect(error);
  }
  expect(message).toContain(reason);
  const [, base64 = ''] = pem.split('\n');
  const { d = '' } = ed25519.privateKey.export({ format: 'jwk' });
  for (const part of [base64, d]) {
    expect(part).not.toBe('');
    expect(message).not.toContain(part);
  }
});

test.each<[object, string]>([
  [{ key: undefined }, 'key is missing'],
  [{ key: { privateKey: pem } }, 'key.kid is missing'],
  [{ machineUser: undefined }, 'machineUser is missing'],
  [{ machineUser: '' }, 'machineUser is missing'],
  [{ audience: undefined }, 'audience is missing'],
  [{ token: 'a.b.c' }, 'token must be a function'],
  [{ baseUrl: undefined }, 'baseUrl must be an http or https URL'],
  [{ baseUrl: '127.0.0.1:3000' }, 'baseUrl must be an http or https URL'],
  [{ baseUrl: 'localhost:3000' }, 'baseUrl must be an http or https URL'],
])('an incomplete or wrong option is rejected at once, by its name (%#)', (settings, reason) => {
  expect(() => created(settings)).toThrow(TypeError);
  expect(() => created(settings)).toThrow(reason);
});

test.each(['', undefined])('a function that gives no token is named as the reason: %j', async (given) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: () => given as string });
  await expect(client.clients.list().page()).rejects.toMatchObject({
    code: 'client.token.failed',
    cause: expect.objectContaining({ message: 'The option token gave no text' }),
  });
});

test('an address at which nothing listens stands in the error, of the service and of the sandbox', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  await once(server.close(), 'close');
  const baseUrl = `http://${host}`;
  const message = expect.stringContaining(`No answer came: connect ECONNREFUSED ${host}.`);
  const expected = { code: 'client.connection.failed', message };
  const client = createClient({ baseUrl, token: () => 'any', retriesMax: 0 });
  await expect(client.clients.list().page()).rejects.toMatchObject({ ...expected, operation: 'listClients' });
  await expect(createSandbox({ baseUrl }).now()).rejects.toMatchObject({ ...expected, operation: 'GET /clock' });
});

test.each([
  [Number.NaN, 'amount is NaN, which JSON cannot hold'],
  [Number.POSITIVE_INFINITY, 'amount is Infinity, which JSON cannot hold'],
  [100n, 'amount is a bigint, which JSON cannot hold'],
])('a number that JSON cannot hold is rejected by its field, before a request: %s', async (amount, reason) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: () => 'any' });
  const call = client.request('POST', '/unknown', { body: { data: { transfers: [{ amount }] } } });
  await expect(call).rejects.toThrow(new TypeError(`data.transfers.0.${reason}`));
});

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

test.each<[string, object, string]>([
  [
    'a parsed body',
    { body: { webhook: {} } },
    'rawBody must be the text or the bytes (Uint8Array) as received, not what was parsed',
  ],
  ['no secret', { secrets: [] }, 'A webhook secret is missing'],
  ['an empty secret', { secrets: '' }, 'A webhook secret is missing'],
  ['an unset secret among others', { secrets: [secret, undefined] }, 'A webhook secret is missing'],
])('%s is a fault of the receiver, not of the webhook', (_, changes, reason) => {
  const signed = signTestWebhook({ name: 'clients.created', data: {} as never, secret });
  const { body, headers, secrets } = { ...signed, secrets: secret, ...changes };
  expect(() => verifyWebhook(body, headers, secrets)).toThrow(TypeError);
  expect(() => verifyWebhook(body, headers, secrets)).toThrow(reason);
});

test('what cannot be verified is told by its reason', () => {
  const signed = signTestWebhook({ name: 'clients.created', data: {} as never, secret });
  const again = JSON.stringify(JSON.parse(signed.body), null, 2);
  expect(() => verifyWebhook(again, signed.headers, secret)).toThrow('not the body as received');
  const { 'webhook-signature': _, ...others } = signed.headers;
  expect(() => verifyWebhook(signed.body, others, secret)).toThrow('The header webhook-signature is missing.');
});

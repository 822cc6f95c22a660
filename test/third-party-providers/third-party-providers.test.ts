import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import {
  ACCOUNTS,
  newKey,
  REDIRECT_URI,
  signed,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { WEAK_RSA_KEYS } from '../harness/parties/weak-keys.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let strict: TestApi;
let parties: ThirdPartyWorld;
let party: ThirdParty;

beforeAll(async () => {
  database = await createTestDatabase('third-party-providers');
  api = await startApi(database);
  strict = await startApi(database, {
    users: api.users,
    configuration: (configuration) => ({ ...configuration, openBanking: { allowLoopbackRedirects: false } }),
  });
  parties = thirdPartyWorld(api);
  party = await parties.thirdParty('PS256');
});

afterAll(async () => {
  await strict?.stop();
  await api?.stop();
  await database?.drop();
});

const read = async (id: string): Promise<Json> =>
  (await api.call('GET', `/third-party-providers/${id}`, undefined, { as: 'admin' })).body.data.thirdPartyProvider;

describe('a registration', () => {
  test('is shown as it was sent, with the public parts of its keys, and listed', async () => {
    const keys = [newKey('ES256').jwk, newKey('PS256').jwk];
    const sent = parties.registration({ jwks: { keys } });
    const { status, body } = await parties.register(sent);
    expect(status).toBe(201);
    const shown = body.data.thirdPartyProvider;
    expect(shown).toEqual({
      ...sent,
      id: expect.any(String),
      dpopBoundAccessTokens: false,
      status: 'active',
      createdDateTime: expect.any(String),
      updatedDateTime: expect.any(String),
    });
    expect(await read(shown.id)).toEqual(shown);
    await parties.change(shown.id, { status: 'inactive' });
    const list = async (wanted: string) =>
      (
        await api.call(
          'GET',
          `/third-party-providers?data.thirdPartyProvider.status=${wanted}&metadata.page.size=100`,
          undefined,
          { as: 'admin' },
        )
      ).body.data.thirdPartyProviders.map(({ id }: Json) => id);
    expect([(await list('inactive')).includes(shown.id), (await list('active')).includes(shown.id)]).toEqual([
      true,
      false,
    ]);
  });

  test('two third parties may use one kid', async () => {
    const answers = await Promise.all(
      [newKey('ES256', 'key-1'), newKey('ES256', 'key-1')].map(({ jwk }) =>
        parties.register(parties.registration({ jwks: { keys: [jwk] } })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  });

  const ec = newKey('ES256').jwk;
  const rsa = newKey('PS256').jwk;
  const keys = (...list: Json[]) => ({ jwks: { keys: list } });
  const { d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });

  const REJECTED: readonly (readonly [string, Json, string, string])[] = [
    ['an address over plain http', { redirectUris: ['http://budgets.example/'] }, 'field_invalid', 'redirectUris.0'],
    [
      'an address with a fragment',
      { redirectUris: [REDIRECT_URI, 'https://budgets.example/#x'] },
      'field_invalid',
      'redirectUris.1',
    ],
    ['an address with a wildcard', { redirectUris: ['https://*.budgets.example/'] }, 'field_invalid', 'redirectUris.0'],
    [
      'an address with credentials',
      { redirectUris: ['https://user:sesame@budgets.example/'] },
      'field_invalid',
      'redirectUris.0',
    ],
    ['an address twice', { redirectUris: [REDIRECT_URI, REDIRECT_URI] }, 'field_invalid', 'redirectUris.1'],
    ['no address', { redirectUris: [] }, 'limit_exceeded', 'redirectUris'],
    ['a website that is a script', { website: 'javascript:alert(1)' }, 'field_invalid', 'website'],
    ['no keys', keys(), 'limit_exceeded', 'jwks.keys'],
    ['a key without kid', keys({ ...ec, kid: undefined }), 'field_required', 'jwks.keys.0.kid'],
    ['a kid twice', keys(ec, { ...rsa, kid: ec.kid }), 'field_invalid', 'jwks.keys.1.kid'],
    ['a private key', keys({ ...ec, d }), 'field_unexpected', 'jwks.keys.0.d'],
    ['a secret key', keys({ kid: 'k', kty: 'oct', k: 'c2VzYW1l' }), 'field_invalid', 'jwks.keys.0.kty'],
    ['an RSA key of 1,024 bits', keys({ ...small, kid: 'k' }), 'field_invalid', 'jwks.keys.0'],
    ['a key on P-384', keys({ ...p384, kid: 'k' }), 'field_invalid', 'jwks.keys.0.crv'],
    ['a key for RS256', keys({ ...rsa, alg: 'RS256' }), 'field_invalid', 'jwks.keys.0.alg'],
    ['an RSA key for ES256', keys({ ...rsa, alg: 'ES256' }), 'field_invalid', 'jwks.keys.0'],
    ['a point that is on no curve', keys({ ...ec, x: ec.y }), 'field_invalid', 'jwks.keys.0'],
    ...WEAK_RSA_KEYS.map(([what, jwk]) => [what, keys({ ...jwk, kid: 'k' }), 'field_invalid', 'jwks.keys.0'] as const),
    ['a key for encryption', keys({ ...ec, use: 'enc' }), 'field_invalid', 'jwks.keys.0.use'],
    [
      'a reference to other keys',
      { jwks: { keys: [ec], jwks_uri: 'https://budgets.example/jwks' } },
      'field_unexpected',
      'jwks.jwks_uri',
    ],
  ];

  test.each(REJECTED)('with %s is 400, naming the field and not the secret', async (_, change, code, field) => {
    const rejections = [await parties.register(parties.registration(change)), await parties.change(party.id, change)];
    for (const { status, body, text } of rejections) {
      expect([status, body.code, body.messageParameters.slice(0, 2)], text).toEqual([
        400,
        `common.validation.${code}`,
        ['thirdPartyProvider', field],
      ]);
      for (const secret of ['sesame', d ?? '', 'c2VzYW1l']) expect(text).not.toContain(secret);
    }
  });

  test('names every problem of its addresses and keys at once', async () => {
    const { body } = await parties.register(
      parties.registration({ redirectUris: ['http://x.example/', 'https://x.example/#'], ...keys(ec, ec) }),
    );
    expect([body, ...body.errors].map(({ messageParameters }) => messageParameters[1])).toEqual([
      'redirectUris.0',
      'redirectUris.1',
      'jwks.keys.1.kid',
    ]);
  });

  test('may have addresses on this machine where the configuration allows them, and only there', async () => {
    const local = parties.registration({ redirectUris: ['http://127.0.0.1:3100/third-party'] });
    expect((await parties.register(local)).status).toBe(201);
    expect((await thirdPartyWorld(strict).register(local)).status).toBe(400);
  });

  test('is for administrators', async () => {
    const body = { workflow: { code: 'direct' }, data: { thirdPartyProvider: parties.registration() } };
    for (const as of ['operator', 'viewer', 'approver', 'compliance'] as const) {
      expect((await api.call('POST', '/third-party-providers', body, { as })).status).toBe(403);
      expect((await api.call('GET', '/third-party-providers', undefined, { as })).status).toBe(403);
    }
  });
});

const ask = (token: string | null, scheme = 'Bearer'): Promise<ApiResponse> =>
  api.call('POST', '/open-banking/GB/consents', parties.consentBody(ACCOUNTS), {
    as: null,
    headers: token === null ? {} : { authorization: `${scheme} ${token}` },
  });

const now = () => Math.floor(Date.now() / 1000);

describe('a third party’s own bearer', () => {
  test.each(['PS256', 'ES256'] as const)('signed by %s gets a token, once', async (algorithm) => {
    const signer = await parties.thirdParty(algorithm);
    const token = await signed(signer);
    expect((await ask(token)).status).toBe(201);
    expect((await ask(token)).status).toBe(401);
    // Two third parties may draw one jti.
    const jti = randomUUID();
    const both = [await signed(signer, { jti }), await signed(party, { jti })];
    expect((await Promise.all(both.map((one) => ask(one)))).map(({ status }) => status)).toEqual([201, 201]);
  });

  const claims = (change: Json) => () => signed(party, change);
  const header = (change: Json) => () => signed(party, {}, change);
  const forged = (head: Json, change: Json = {}) => {
    const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = {
      iss: party.id,
      sub: party.id,
      aud: TEST_AUDIENCE,
      iat: now(),
      exp: now() + 60,
      jti: randomUUID(),
      ...change,
    };
    return `${part({ kid: party.kid, ...head })}.${part(payload)}`;
  };

  const REJECTED: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['is nothing', () => ''],
    ['is no JWT', () => 'sesame'],
    ['has alg none', () => `${forged({ alg: 'none' })}.`],
    ['has alg none and a signature', () => `${forged({ alg: 'none' })}.AAAA`],
    ['has alg nOnE', () => `${forged({ alg: 'nOnE' })}.AAAA`],
    [
      'is signed by HS256 with the public key',
      () =>
        new SignJWT({
          iss: party.id,
          sub: party.id,
          aud: TEST_AUDIENCE,
          iat: now(),
          exp: now() + 60,
          jti: randomUUID(),
        })
          .setProtectedHeader({ alg: 'HS256', kid: party.kid })
          .sign(Buffer.from(JSON.stringify(party.jwk))),
    ],
    ['has an empty signature', () => `${forged({ alg: 'PS256' })}.AAAA`],
    ['is signed by RS256', () => signed({ ...party, algorithm: 'RS256' as 'PS256' })],
    ['brings a key of its own', header({ jwk: { kty: 'EC' } })],
    ['refers to keys elsewhere', header({ jku: 'https://attacker.example/jwks' })],
    ['refers to a certificate elsewhere', header({ x5u: 'https://attacker.example/cert' })],
    ['brings a certificate', header({ x5c: ['MIIB'] })],
    ['names no kid', header({ kid: undefined })],
    ['names an unknown kid', header({ kid: randomUUID() })],
    ['names a kid that is a path', header({ kid: '../../dev/null' })],
    [
      'names another key of the same third party',
      async () => signed({ ...party, ...newKey('PS256', party.kid), id: party.id }),
    ],
    ['is issued by an unknown party', claims({ iss: randomUUID() })],
    ['is issued by no id', claims({ iss: 'admin' })],
    ['has another subject', claims({ sub: randomUUID() })],
    ['is for another service', claims({ aud: 'elsewhere' })],
    ['is for several services', claims({ aud: [TEST_AUDIENCE, 'elsewhere'] })],
    ['has no audience', claims({ aud: undefined })],
    ['does not expire', claims({ exp: undefined })],
    ['was issued at no time', claims({ iat: undefined })],
    ['has expired', () => signed(party, { iat: now() - 200, exp: now() - 60 })],
    ['lives longer than five minutes', () => signed(party, { iat: now(), exp: now() + 301 })],
    ['comes from the future', () => signed(party, { iat: now() + 60, exp: now() + 120 })],
    ['has no jti', claims({ jti: undefined })],
    ['has a jti that is a number', claims({ jti: 17 })],
    ['has a jti of 256 characters', claims({ jti: 'x'.repeat(256) })],
    ['has 5 kB', claims({ padding: 'x'.repeat(5_000) })],
    ['is a machine user’s', () => api.users.admin.token],
  ];

  test.each(REJECTED)('that %s is 401', async (_, make) => {
    const answer = await ask(await make());
    expect([answer.status, answer.body.code], answer.text).toEqual([401, 'common.security.unauthenticated']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('is rejected without a scheme or under another one', async () => {
    expect((await ask(null)).status).toBe(401);
    expect((await ask(await signed(party), 'DPoP')).status).toBe(401);
  });

  test('follows a key change at once: the old key is worth nothing, the new one works', async () => {
    const third = await parties.thirdParty();
    const next = newKey('ES256', third.kid);
    expect((await ask(await signed(third))).status).toBe(201);
    await parties.change(third.id, { jwks: { keys: [next.jwk] } });
    expect((await ask(await signed(third))).status).toBe(401);
    expect((await ask(await signed({ id: third.id, ...next }))).status).toBe(201);
  });

  test('is used by one of ten requests that send it at once', async () => {
    const token = await signed(party);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
  });
});

import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ApiResponse,
  createTestMachineUser,
  signToken,
  startApi,
  TEST_AUDIENCE,
  type TestApi,
  type TestMachineUser,
} from '../harness/api.ts';
import { dummyRoutes } from '../harness/http/dummy-routes.ts';
import { runTokenSample, tokenSample } from '../harness/http/token-samples.ts';
import { pemOf, WEAK_ED25519_KEYS, WEAK_RSA_KEYS } from '../harness/parties/weak-keys.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let other: TestApi;
let user: TestMachineUser;
/** Counts requests to an address that a token names. */
let trap: Server;
let trapUrl: string;
let trapCount = 0;

beforeAll(async () => {
  database = await createTestDatabase('api-tokens');
  api = await startApi(database, { routes: dummyRoutes });
  other = await startApi(database, { routes: dummyRoutes, users: api.users });
  user = api.users.operator;
  trap = createServer((_, response) => {
    trapCount += 1;
    response.end(JSON.stringify({ keys: [] }));
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;
});

afterAll(async () => {
  trap?.close();
  await api?.stop();
  await other?.stop();
  await database?.drop();
});

const nowSeconds = () => Math.floor(Date.now() / 1000);

function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const now = nowSeconds();
  return { iss: user.id, sub: user.id, aud: TEST_AUDIENCE, iat: now, exp: now + 3_600, ...changes };
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A token with any header at all, signed with the user's own key as ES256 unless another signature is given. */
function forge(
  header: Record<string, unknown>,
  payload: unknown = claims(),
  signature?: (input: string) => string,
): string {
  const input = `${part(header)}.${part(payload)}`;
  const own = (text: string) =>
    sign('sha256', Buffer.from(text), { key: user.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return `${input}.${(signature ?? own)(input)}`;
}

async function statusOf(token: string | null, from: TestApi = api): Promise<number> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await from.call('GET', '/things', undefined, { as: null, headers });
  if (status !== 200) expect(body.code).toBe('common.security.unauthenticated');
  return status;
}

async function register(algorithm: string, publicKey: KeyObject, pem = false) {
  const kid = randomUUID();
  const key = pem
    ? { kid, algorithm, pem: publicKey.export({ format: 'pem', type: 'spki' }) }
    : { kid, algorithm, jwk: publicKey.export({ format: 'jwk' }) };
  const body = { workflow: { code: 'direct' }, data: { machineUser: { name: algorithm, roles: ['viewer'], key } } };
  const answer = await api.call('POST', '/machine-users', body, { as: 'admin' });
  return { kid, answer };
}

test('an honest token is accepted', async () => {
  expect(await statusOf(forge({ alg: 'ES256', kid: user.kid }))).toBe(200);
  expect(await statusOf(forge({ alg: 'ES256', kid: user.kid, typ: 'JWT' }))).toBe(200);
});

describe('every algorithm of the contract works, with a JWK and with PEM', () => {
  test.each([
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['PS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', () => generateKeyPairSync('ed25519')],
  ] as const)('%s', async (algorithm, generate) => {
    for (const pem of [false, true]) {
      const { publicKey, privateKey } = generate();
      const { kid, answer } = await register(algorithm, publicKey, pem);
      expect(answer.status).toBe(201);
      const id = answer.body.data.machineUser.id;
      const token = await new SignJWT(claims({ iss: id, sub: id }))
        .setProtectedHeader({ alg: algorithm, kid })
        .sign(privateKey);
      expect(await statusOf(token)).toBe(200);
    }
  });
});

describe('keys that cannot be trusted are not registered', () => {
  test.each([
    ['RS256', 'RSA of 1024 bits', () => generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey],
    ['ES256', 'an RSA key for ES256', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey],
    ['ES256', 'another curve', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey],
    ['EdDSA', 'an EC key for EdDSA', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
    ['HS256', 'a symmetric algorithm', () => generateKeyPairSync('ed25519').publicKey],
  ] as const)('%s: %s', async (algorithm, _, generate) => {
    expect((await register(algorithm, generate(), true)).answer.status).toBe(400);
  });

  const weak = [
    ...WEAK_RSA_KEYS.map((key) => ['PS256', ...key] as const),
    ...WEAK_ED25519_KEYS.map((key) => ['EdDSA', ...key] as const),
  ];

  test.each(weak)('%s: %s, at every entry point and in both forms', async (algorithm, _, jwk, rule) => {
    for (const sent of [{ jwk }, { pem: pemOf(jwk) }]) {
      const key = { kid: randomUUID(), algorithm, ...sent };
      const entryPoints: [string, string, object][] = [
        ['/machine-users', 'machineUser.key', { machineUser: { name: 'weak', roles: ['viewer'], key } }],
        [`/machine-users/${user.id}/keys`, 'machineUserKey', { machineUserKey: key }],
      ];
      for (const [path, entity, data] of entryPoints) {
        const answer = await api.call('POST', path, { workflow: { code: 'direct' }, data }, { as: 'admin' });
        const forged = answer.status === 201 && algorithm === 'EdDSA' && (await statusOf(withoutKey(answer, key.kid)));
        const field = `${entity}.${Object.keys(sent)[0]}`;
        expect([answer.status, answer.body.message, forged], answer.text).toEqual([400, `${field} ${rule}.`, false]);
        expect(answer.body.messageParameters.slice(0, 2)).toEqual([entity, Object.keys(sent)[0]]);
      }
    }
  });

  /** A token that can be signed without a private key, if the point is the neutral one. */
  function withoutKey({ body }: ApiResponse, kid: string): string {
    const { id } = body.data.machineUser;
    const signature = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]).toString('base64url');
    return forge({ alg: 'EdDSA', kid }, claims({ iss: id, sub: id }), () => signature);
  }

  test('a private key is rejected and never echoed', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const jwk = privateKey.export({ format: 'jwk' });
    const key = { kid: randomUUID(), algorithm: 'EdDSA', jwk };
    const body = { workflow: { code: 'direct' }, data: { machineUser: { name: 'x', roles: ['viewer'], key } } };
    const answer = await api.call('POST', '/machine-users', body, { as: 'admin' });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(jwk.d);
  });

  test('a kid that is taken is a conflict', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const key = { kid: user.kid, algorithm: 'EdDSA', jwk: publicKey.export({ format: 'jwk' }) };
    const body = { workflow: { code: 'direct' }, data: { machineUser: { name: 'x', roles: ['viewer'], key } } };
    expect((await api.call('POST', '/machine-users', body, { as: 'admin' })).status).toBe(409);
  });
});

describe('forged headers are 401', () => {
  test.each([
    'none',
    'None',
    'NONE',
    'nOnE',
    '',
    'HS256',
    'HS512',
    'ES384',
    'RS512',
    'RS256',
    'PS256',
    'EdDSA',
    'es256',
  ])('alg %s', async (alg) => {
    expect(await statusOf(forge({ alg, kid: user.kid }))).toBe(401);
    expect(await statusOf(forge({ alg, kid: user.kid }, claims(), () => ''))).toBe(401);
  });

  test('HS256 with our public key as the secret', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { kid, answer } = await register('RS256', publicKey);
    const id = answer.body.data.machineUser.id;
    void privateKey;
    for (const secret of [
      publicKey.export({ format: 'pem', type: 'spki' }),
      JSON.stringify(publicKey.export({ format: 'jwk' })),
    ]) {
      const mac = (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
      expect(await statusOf(forge({ alg: 'HS256', kid }, claims({ iss: id, sub: id }), mac))).toBe(401);
      expect(await statusOf(forge({ alg: 'RS256', kid }, claims({ iss: id, sub: id }), mac))).toBe(401);
    }
  });

  test.each([
    '../../etc/passwd',
    '/dev/null',
    "' OR 1=1 --",
    'a\u0000b',
    'http://127.0.0.1/',
    '',
    'unknown',
    'x'.repeat(200),
  ])('kid %j', async (kid) => {
    expect(await statusOf(forge({ alg: 'ES256', kid }))).toBe(401);
  });

  test('no kid, and a kid that is no text', async () => {
    expect(await statusOf(forge({ alg: 'ES256' }))).toBe(401);
    expect(await statusOf(forge({ alg: 'ES256', kid: 1 }))).toBe(401);
    expect(await statusOf(forge({ alg: 'ES256', kid: [user.kid] }))).toBe(401);
  });

  test("another user's kid", async () => {
    expect(await statusOf(forge({ alg: 'ES256', kid: api.users.admin.kid }))).toBe(401);
    const token = await signToken({ ...user, kid: api.users.admin.kid }, { aud: TEST_AUDIENCE });
    expect(await statusOf(token)).toBe(401);
    const asAdmin = await signToken(user, { aud: TEST_AUDIENCE, iss: api.users.admin.id, sub: api.users.admin.id });
    expect(await statusOf(asAdmin)).toBe(401);
  });

  test('embedded jwk, jku, x5u, x5c, crit and b64, with no fetch of any', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const theirs = (input: string) =>
      sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    const jwk = publicKey.export({ format: 'jwk' });
    for (const extra of [
      { jwk },
      { jku: trapUrl },
      { x5u: trapUrl },
      { x5c: ['MIIB'] },
      { crit: ['exp'], exp: 1 },
      { crit: ['b64'], b64: false },
      { zip: 'DEF' },
    ]) {
      expect(await statusOf(forge({ alg: 'ES256', kid: user.kid, ...extra }))).toBe(401);
      expect(await statusOf(forge({ alg: 'ES256', kid: user.kid, ...extra }, claims(), theirs))).toBe(401);
    }
    expect(trapCount).toBe(0);
  });

  test('a zero signature, a cut one, and one of another payload', async () => {
    const header = { alg: 'ES256', kid: user.kid };
    const zeros = Buffer.alloc(64).toString('base64url');
    expect(await statusOf(forge(header, claims(), () => zeros))).toBe(401);
    expect(await statusOf(forge(header).slice(0, -4))).toBe(401);
    const [, , signature = ''] = forge(header).split('.');
    expect(await statusOf(forge(header, claims({ exp: nowSeconds() + 60 }), () => signature))).toBe(401);
  });

  test('a token of 5 kB, nonsense, other schemes and no token', async () => {
    expect(await statusOf(forge({ alg: 'ES256', kid: user.kid }, claims({ padding: 'x'.repeat(5_000) })))).toBe(401);
    for (const token of ['a.b.c', '...', 'abc', 'e30.e30.e30']) expect(await statusOf(token)).toBe(401);
    expect(await statusOf(null)).toBe(401);
    const basic = await api.call('GET', '/things', undefined, { as: null, headers: { authorization: 'Basic YTpi' } });
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('claims', () => {
  const now = nowSeconds;
  const [tooLong, notNow, otherAudience, otherUser] = [
    'exp is at most 3600 seconds after iat',
    'By the service’s clock',
    'GET / shows the service’s audience',
    'iss and sub must be the id of the machine user',
  ];
  test.each<[string, () => Record<string, unknown>, string]>([
    ['exp more than 60 minutes after iat', () => ({ exp: now() + 3_601 }), tooLong],
    ['exp years ahead', () => ({ exp: now() + 100_000_000 }), tooLong],
    ['no exp', () => ({ exp: undefined }), 'exp is missing'],
    ['exp as text', () => ({ exp: String(now() + 60) }), 'exp must be'],
    ['expired', () => ({ iat: now() - 200, exp: now() - 31 }), notNow],
    ['exp before iat', () => ({ iat: now() + 20, exp: now() + 10 }), tooLong],
    ['no iat', () => ({ iat: undefined }), 'iat is missing'],
    ['iat as text', () => ({ iat: String(now()) }), 'iat must be'],
    ['iat in the future', () => ({ iat: now() + 120, exp: now() + 600 }), notNow],
    ['nbf in the future', () => ({ nbf: now() + 600 }), notNow],
    ['another aud', () => ({ aud: 'another-service' }), otherAudience],
    ['several aud', () => ({ aud: [TEST_AUDIENCE, 'another-service'] }), otherAudience],
    ['no aud', () => ({ aud: undefined }), 'aud is missing'],
    ['iss unlike sub', () => ({ iss: randomUUID() }), otherUser],
    ['sub unlike iss', () => ({ sub: randomUUID() }), otherUser],
    ['no iss', () => ({ iss: undefined }), 'iss is missing'],
    ['no sub', () => ({ sub: undefined }), 'sub is missing'],
    ['exp not a number', () => ({ exp: null }), 'exp must be'],
  ])('%s is 401, and only who holds the key is told so', async (_, changes, rule) => {
    const messageTo = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const { status, body } = await api.call('GET', '/things', undefined, { as: null, headers });
      expect(status).toBe(401);
      return `${body.message}`;
    };
    const header = { alg: 'ES256', kid: user.kid };
    const message = await messageTo(forge(header, claims(changes())));
    expect(message).toContain(rule);
    expect(message).not.toContain(TEST_AUDIENCE);
    const zeros = Buffer.alloc(64).toString('base64url');
    const unsigned = await messageTo(forge(header, claims(changes()), () => zeros));
    expect(unsigned).toBe(await messageTo(forge({ ...header, kid: randomUUID() }, claims(changes()))));
    expect(unsigned).not.toContain(rule);
  });

  test('30 seconds of another clock are tolerated', async () => {
    expect(await statusOf(forge({ alg: 'ES256', kid: user.kid }, claims({ iat: now() - 100, exp: now() - 20 })))).toBe(
      200,
    );
    expect(await statusOf(forge({ alg: 'ES256', kid: user.kid }, claims({ iat: now() + 20, exp: now() + 100 })))).toBe(
      200,
    );
  });
});

describe('roles', () => {
  test('every role reads; only the named ones write', async () => {
    const body = { workflow: { code: 'direct' }, data: { thing: { amount: 1, currency: 'EUR' } } };
    for (const as of ['viewer', 'operator', 'approver', 'compliance', 'admin'] as const) {
      expect((await api.call('GET', '/things', undefined, { as })).status).toBe(200);
      expect((await api.call('POST', '/things', body, { as })).status).toBe(as === 'operator' ? 201 : 403);
      const { status, body: answer } = await api.call('GET', '/machine-users', undefined, { as });
      expect(status).toBe(as === 'admin' ? 200 : 403);
      if (status === 403) expect(answer.message).toBe('This needs the role admin.');
    }
  });

  test('a rejected role learns nothing of the body', async () => {
    const { status, body } = await api.call('POST', '/things', '{', { as: 'viewer' });
    expect(status).toBe(403);
    expect(body.code).toBe('common.security.access_denied');
  });
});

describe('revocation stops a token before it ends, on every process', () => {
  async function stopsEverywhere(token: string): Promise<void> {
    // Bounded by the test's own limit, a guard against hanging.
    const statuses = async () => [await statusOf(token), await statusOf(token, other)];
    await expect.poll(statuses, { timeout: 120_000, interval: 100 }).toEqual([401, 401]);
  }

  test('of a user', async () => {
    const revoked = await createTestMachineUser(api.database, TEST_AUDIENCE, ['viewer']);
    expect([await statusOf(revoked.token), await statusOf(revoked.token, other)]).toEqual([200, 200]);
    const body = { workflow: { code: 'direct' }, data: { machineUser: { status: 'revoked' } } };
    const answer = await api.call('PATCH', `/machine-users/${revoked.id}`, body, { as: 'admin' });
    expect(answer.body.data.machineUser.status).toBe('revoked');
    await stopsEverywhere(revoked.token);
    const back = { workflow: { code: 'direct' }, data: { machineUser: { status: 'active' } } };
    expect((await api.call('PATCH', `/machine-users/${revoked.id}`, back, { as: 'admin' })).status).toBe(409);
  });

  test('of a key, while another key of the same user stays valid', async () => {
    const rotated = await createTestMachineUser(api.database, TEST_AUDIENCE, ['viewer']);
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = randomUUID();
    const key = { kid, algorithm: 'ES256', jwk: publicKey.export({ format: 'jwk' }) };
    const body = { workflow: { code: 'direct' }, data: { machineUserKey: key } };
    const added = await api.call('POST', `/machine-users/${rotated.id}/keys`, body, { as: 'admin' });
    expect(added.status).toBe(201);
    const [oldKey] = added.body.data.machineUser.keys;
    const next = await signToken({ id: rotated.id, kid, privateKey }, { aud: TEST_AUDIENCE });
    expect([await statusOf(rotated.token), await statusOf(rotated.token, other), await statusOf(next)]).toEqual([
      200, 200, 200,
    ]);
    const path = `/machine-users/${rotated.id}/keys/${oldKey.id}`;
    expect((await api.call('DELETE', path, undefined, { as: 'admin' })).status).toBe(200);
    await stopsEverywhere(rotated.token);
    expect(await statusOf(next)).toBe(200);
  });
});

test('the guide’s sample in TypeScript signs a token that is accepted', async () => {
  const node = [process.execPath, '--input-type=module', '--eval'];
  expect(await runTokenSample(api, tokenSample('ts'), node)).toBe('200');
});

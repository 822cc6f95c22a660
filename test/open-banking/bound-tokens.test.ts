import { createHmac, randomUUID, type webcrypto } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import * as oauth from 'oauth4webapi';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Method } from '../../api/http/route.ts';
import type { ThirdPartyRoute } from '../../api/http/third-party-route.ts';
import { ROUTES } from '../../api/routes.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { newProofKey, type ProofKey, type Proven, proofOf } from '../harness/parties/proofs.ts';
import {
  ACCOUNTS,
  NONCE,
  PAYMENT,
  PUBLIC_URL,
  REDIRECT_URI,
  STATE,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { WEAK_ED25519_KEYS, WEAK_RSA_KEYS } from '../harness/parties/weak-keys.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** Access tokens that are bound to the sender's key (DPoP, RFC 9449). */

const TOKEN = `${PUBLIC_URL}/open-banking/GB/token`;
const READ = { method: 'GET', address: `${PUBLIC_URL}/open-banking/GB/accounts` } as const;
const ALGS = 'algs="PS256 ES256 EdDSA Ed25519"';

let database: TestDatabase;
let api: TestApi;
let second: TestApi;
let parties: ThirdPartyWorld;
let party: ThirdParty;
let clientId: string;
let userId: string;
let account: string;
let key: ProofKey;
let bound: string;
const logged: string[] = [];
const secrets = new Set<string>();

beforeAll(async () => {
  database = await createTestDatabase('bound-tokens');
  const logger = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  api = await startApi(database, { env: { PUBLIC_URL }, logger });
  second = await startApi(database, { env: { PUBLIC_URL }, users: api.users });
  const world = moneyWorld(api);
  parties = thirdPartyWorld(api);
  party = await parties.thirdParty();
  clientId = await world.client();
  userId = await parties.user([clientId]);
  account = await world.account(clientId, { amount: 1_000 });
  key = newProofKey();
  bound = await boundToken(ACCOUNTS);
});

afterAll(async () => {
  await second?.stop();
  await api?.stop();
  await database?.drop();
});

const approved = async (content: Json = ACCOUNTS, by = party) =>
  (await parties.approved(by, content, userId, [account])).code;

const atToken = async (code: string, proof: string, by = party) => {
  secrets.add(proof);
  return parties.token(by, code, {}, { dpop: proof });
};

async function boundToken(content: Json, by = party, to = key): Promise<string> {
  const { status, body } = await atToken(
    await approved(content, by),
    await proofOf(to, { method: 'POST', address: TOKEN }),
    by,
  );
  expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'DPoP']);
  secrets.add(body.access_token);
  return body.access_token;
}

interface Sent {
  readonly method?: Method;
  readonly path?: string;
  readonly body?: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly to?: TestApi;
}

async function send({ method = 'GET', path = '/open-banking/GB/accounts', body, headers, to = api }: Sent) {
  if (headers.dpop !== undefined) secrets.add(headers.dpop);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${to.url}${path}`, {
    method,
    headers: { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status } = response;
  return { status, text, code: JSON.parse(text).code, challenge: response.headers.get('www-authenticate') };
}

const withProof = (accessToken: string, proof: string) => ({ authorization: `DPoP ${accessToken}`, dpop: proof });
const read = async (proof: string, to = api) => send({ headers: withProof(bound, proof), to });
const rightProof = (more: Partial<Proven> = {}) => proofOf(key, { ...READ, accessToken: bound, ...more });

const rejectedWith = (error: string) => ({
  status: 401,
  code: 'common.security.unauthenticated',
  challenge: `DPoP error="${error}", ${ALGS}`,
});

test.each([
  ['ES256', { name: 'ECDSA', namedCurve: 'P-256' }],
  ['PS256', { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2_048, publicExponent: new Uint8Array([1, 0, 1]) }],
  ['Ed25519', { name: 'Ed25519' }],
] as const)('an independent OAuth client binds its token to a key for %s, and reads with it', async (_, algorithm) => {
  const pair = (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const server: oauth.AuthorizationServer = { issuer: PUBLIC_URL, token_endpoint: TOKEN };
  const client: oauth.Client = { client_id: party.id, id_token_signed_response_alg: 'PS256' };
  const itself = await crypto.subtle.importKey(
    'pkcs8',
    party.privateKey.export({ type: 'pkcs8', format: 'der' }),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  );
  // It believes in the public address; a proxy leads to the process.
  const proxied = (
    address: string,
    { body, headers, method }: oauth.CustomFetchOptions<string, oauth.ProtectedResourceRequestBody>,
  ) => fetch(address.replace(PUBLIC_URL, api.url), { method, headers, body: body ?? null });
  const options = { DPoP: oauth.DPoP(client, pair), [oauth.customFetch]: proxied };
  const address = await parties.approve(await parties.requested(party, ACCOUNTS), userId, [account]);
  const answered = new URLSearchParams(address.hash.slice(1));
  const parameters = oauth.validateAuthResponse(
    server,
    client,
    new URLSearchParams({ code: answered.get('code') ?? '', state: answered.get('state') ?? '' }),
    STATE,
  );
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.PrivateKeyJwt({ key: itself, kid: party.kid }),
    parameters,
    REDIRECT_URI,
    oauth.nopkce,
    options,
  );
  const granted = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: NONCE });
  expect(granted.token_type).toBe('dpop');
  const resource = (path: string) =>
    oauth.protectedResourceRequest(
      granted.access_token,
      'GET',
      new URL(`${PUBLIC_URL}${path}`),
      undefined,
      null,
      options,
    );
  for (const path of [
    '/open-banking/GB/accounts',
    `/v1/open-banking/GB/accounts/${account}/transactions?metadata.page.size=5`,
  ])
    expect((await resource(path)).status, path).toBe(200);
});

/** Of a right request: its key, and what a proof must be for. */
interface Right extends Proven {
  readonly key: ProofKey;
}
type Forge = (right: Right) => Promise<string>;

const now = () => Math.floor(Date.now() / 1_000);
const claims =
  (change: (right: Right) => object): Forge =>
  (right) =>
    proofOf(right.key, right, change(right));
const header =
  (change: object, by?: () => ProofKey): Forge =>
  (right) =>
    proofOf(by?.() ?? right.key, right, {}, change);
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Not signed, or by a shared secret. */
const unsigned =
  (named: object, secret?: string): Forge =>
  async (right) => {
    const [, payload = ''] = (await proofOf(right.key, right)).split('.');
    const signed = `${part({ typ: 'dpop+jwt', jwk: right.key.jwk, ...named })}.${payload}`;
    const signature = secret === undefined ? 'AAAA' : createHmac('sha256', secret).update(signed).digest('base64url');
    return `${signed}.${signature}`;
  };

const RSA = newProofKey('PS256');

const BAD_PROOFS: readonly (readonly [what: string, forge: Forge])[] = [
  ['that is empty', async () => ''],
  ['that is no JWT', async () => 'a.b'],
  ['of 9 kB', claims(() => ({ padding: 'x'.repeat(7_000) }))],
  ['together with another', async (right) => `${await proofOf(right.key, right)}, ${await proofOf(right.key, right)}`],
  ['of another type', header({ typ: 'JWT' })],
  ['without a type', header({ typ: undefined })],
  ['by no algorithm', unsigned({ alg: 'none' })],
  ['by a shared secret', unsigned({ alg: 'HS256', jwk: { kty: 'oct', k: part({}) } }, '{}')],
  ['by its public key as a secret', async (right) => unsigned({ alg: 'HS256' }, JSON.stringify(right.key.jwk))(right)],
  ['by RS256', header({ alg: 'RS256' as 'PS256', jwk: RSA.jwk }, () => RSA)],
  ['without a key', header({ jwk: undefined })],
  ['with a key that is a text', header({ jwk: 'key' })],
  ['with a key without its coordinates', header({ jwk: { kty: 'EC', crv: 'P-256' } })],
  ['with a coordinate that is a number', async (right) => header({ jwk: { ...right.key.jwk, y: 17 } })(right)],
  ['with the private key', async (right) => header({ jwk: right.key.privateKey.export({ format: 'jwk' }) })(right)],
  ['signed by another key than its own', async (right) => proofOf({ ...newProofKey(), jwk: right.key.jwk }, right)],
  [
    'whose claims were changed after it was signed',
    async (right) => {
      const [head, payload = '', signature] = (await proofOf(right.key, right)).split('.');
      const read = JSON.parse(Buffer.from(payload, 'base64url').toString());
      return `${head}.${part({ ...read, jti: randomUUID() })}.${signature}`;
    },
  ],
  ['without jti', claims(() => ({ jti: undefined }))],
  ['with an empty jti', claims(() => ({ jti: '' }))],
  ['with a jti of 256 characters', claims(() => ({ jti: 'x'.repeat(256) }))],
  ['with a jti that is a number', claims(() => ({ jti: 17 }))],
  ['without htm', claims(() => ({ htm: undefined }))],
  ['for another method', claims(() => ({ htm: 'PUT' }))],
  ['for a method in small letters', claims(({ method }) => ({ htm: method.toLowerCase() }))],
  ['without htu', claims(() => ({ htu: undefined }))],
  ['for another path', claims(({ address }) => ({ htu: `${address}/1` }))],
  ['for another host', claims(({ address }) => ({ htu: address.replace('accounts', 'attacker') }))],
  ['for plain http', claims(({ address }) => ({ htu: address.replace('https', 'http') }))],
  ['for a path only', claims(({ address }) => ({ htu: new URL(address).pathname }))],
  ['without iat', claims(() => ({ iat: undefined }))],
  ['of two minutes ago', claims(() => ({ iat: now() - 120 }))],
  ['from the future', claims(() => ({ iat: now() + 60 }))],
  ['that has expired by its own word', claims(() => ({ exp: now() - 60 }))],
];

test.each(BAD_PROOFS)('the token endpoint rejects a proof %s, says why, and the code stays good', async (_, forge) => {
  const code = await approved();
  const right = { key, method: 'POST', address: TOKEN };
  const proof = await forge(right);
  const { status, body } = await atToken(code, proof);
  expect([status, body.error, body.error_description]).toEqual([
    400,
    'invalid_dpop_proof',
    expect.stringMatching(/^The proof in the DPoP header is rejected: .+\.$/),
  ]);
  expect((await atToken(code, await proofOf(key, right))).body.token_type).toBe('DPoP');
});

const BAD_WITH_TOKEN: typeof BAD_PROOFS = [
  ...BAD_PROOFS,
  ['without ath', claims(() => ({ ath: undefined }))],
  ['for another access token', claims(() => ({ ath: 'x'.repeat(43) }))],
  ['with the access token in place of its hash', claims(() => ({ ath: bound }))],
];

test.each(BAD_WITH_TOKEN)('a bound access token opens nothing with a proof %s', async (_, forge) => {
  const { text, ...answer } = await read(await forge({ key, ...READ, accessToken: bound }));
  expect(answer).toEqual(rejectedWith('invalid_dpop_proof'));
  expect(JSON.parse(text).messageParameters).toEqual(['header', 'DPoP', '']);
  expect((await read(await rightProof())).status).toBe(200);
});

test('two DPoP headers are none, though each of the proofs is right', async () => {
  const proofs = [await rightProof(), await rightProof()];
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `DPoP ${bound}`, dpop: proofs };
    httpRequest(`${api.url}/open-banking/GB/accounts`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(401);
  for (const proof of proofs) expect((await read(proof)).status).toBe(200);
});

const WEAK_KEYS = [
  ...WEAK_RSA_KEYS.map(([what, jwk, rule]) => [what, { alg: 'PS256', jwk }, rule] as const),
  ...WEAK_ED25519_KEYS.map(([what, jwk, rule]) => [what, { alg: 'EdDSA', jwk }, rule] as const),
  ...WEAK_ED25519_KEYS.map(
    ([what, jwk, rule]) => [`${what}, by its other name`, { alg: 'Ed25519', jwk }, rule] as const,
  ),
];

test.each(WEAK_KEYS)('no access token is bound to %s', async (_, named, rule) => {
  const proof = await unsigned(named)({ key, method: 'POST', address: TOKEN });
  const { status, body } = await atToken('x'.repeat(43), proof);
  expect([status, body.error]).toEqual([400, 'invalid_dpop_proof']);
  expect(body.error_description).toContain(rule);
});

const GOOD_PROOFS: readonly (readonly [what: string, forge: Forge])[] = [
  ['with query and fragment in htu', claims(({ address }) => ({ htu: `${address}?a=1#b` }))],
  [
    'with the alias of the path',
    claims(({ address }) => ({ htu: address.replace('/open-banking', '/v1/open-banking') })),
  ],
  [
    'with the host in capitals',
    claims(({ address }) => ({ htu: address.replace('accounts.example', 'ACCOUNTS.example:443') })),
  ],
  ['of a minute ago', claims(() => ({ iat: now() - 60 }))],
  ['by a clock that is 20 s fast', claims(() => ({ iat: now() + 20 }))],
];

test.each(GOOD_PROOFS)('a proof %s is right', async (_, forge) => {
  expect((await read(await forge({ key, ...READ, accessToken: bound }))).status).toBe(200);
  const right = { key, method: 'POST', address: TOKEN };
  expect((await atToken(await approved(), await forge(right))).status).toBe(200);
});

test('a proof is good once: of ten requests at once, at two processes, one is answered, and none afterwards', async () => {
  const proof = await rightProof();
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => read(proof, at % 2 === 0 ? api : second)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(401)]);
  const { text, ...again } = await read(proof);
  expect(again).toEqual(rejectedWith('invalid_dpop_proof'));
  expect(text).toContain('used before');
});

test('a proof that gave an access token gives no other, and the second code stays good', async () => {
  const right = { method: 'POST', address: TOKEN };
  const proof = await proofOf(key, right);
  expect((await atToken(await approved(), proof)).status).toBe(200);
  const code = await approved();
  expect((await atToken(code, proof)).body.error).toBe('invalid_dpop_proof');
  expect((await atToken(code, await proofOf(key, right))).status).toBe(200);
});

test('only proofs made with an access token and its key are stored, until they are too old to be used', async () => {
  const stored = async () => {
    const [row] = await api.database.reader.statement<{ count: string }>(
      'SELECT count(*) FROM third_party_assertions',
      [],
    );
    return Number(row?.count);
  };
  const before = await stored();
  const stranger = newProofKey();
  await read(await proofOf(stranger, { ...READ, accessToken: bound }));
  await send({ headers: withProof('x'.repeat(43), await proofOf(key, { ...READ, accessToken: 'x'.repeat(43) })) });
  await read(await proofOf(key, { ...READ, accessToken: bound }, { htm: 'PUT' }));
  expect(await stored()).toBe(before);
  const iat = now() - 4.75;
  await read(await proofOf(key, { ...READ, accessToken: bound }, { iat }));
  const kept = await api.database.reader.statement(
    'SELECT FROM third_party_assertions WHERE third_party_provider_id = $1 AND expires_at = to_timestamp($2)',
    [party.id, iat + 90],
  );
  expect([await stored(), kept.length]).toEqual([before + 1, 1]);
});

test('each access token has its own scheme, and an answer to neither names both', async () => {
  const { accessToken } = await parties.granted(party, ACCOUNTS, userId, [account]);
  const bearer = await send({ headers: { authorization: `Bearer ${accessToken}` } });
  expect(bearer.status).toBe(200);
  const asBound = await send({
    headers: withProof(accessToken, await proofOf(key, { ...READ, accessToken })),
  });
  expect(asBound).toMatchObject(rejectedWith('invalid_token'));
  for (const authorization of [`Bearer ${bound}`, `bearer ${bound}`, `Bearer ${'x'.repeat(43)}`]) {
    const answer = await send({ headers: { authorization, dpop: await rightProof() } });
    expect([answer.status, answer.challenge]).toEqual([401, `Bearer error="invalid_token", DPoP ${ALGS}`]);
  }
  expect(await send({ headers: withProof('x'.repeat(43), await rightProof()) })).toMatchObject(
    rejectedWith('invalid_token'),
  );
  expect((await send({ headers: {} })).challenge).toBe(`Bearer, DPoP ${ALGS}`);
  expect((await send({ headers: { authorization: `dpop ${bound}`, dpop: await rightProof() } })).status).toBe(200);
});

test('a third party that must bind its access tokens gets no others, and those that it has are worth nothing at once', async () => {
  const strict = await parties.thirdParty();
  const { accessToken } = await parties.granted(strict, ACCOUNTS, userId, [account]);
  const early = await boundToken(ACCOUNTS, strict);
  const changed = await parties.change(strict.id, { dpopBoundAccessTokens: true });
  expect(changed.body.data.thirdPartyProvider.dpopBoundAccessTokens).toBe(true);
  const code = await approved(ACCOUNTS, strict);
  const { status, body } = await parties.token(strict, code);
  expect([status, body]).toEqual([400, { error: 'invalid_request', error_description: 'A DPoP proof is required.' }]);
  expect((await atToken(code, await proofOf(key, { method: 'POST', address: TOKEN }), strict)).status).toBe(200);
  expect((await send({ headers: { authorization: `Bearer ${accessToken}` } })).status).toBe(401);
  const proof = await proofOf(key, { ...READ, accessToken: early });
  expect((await send({ headers: withProof(early, proof) })).status).toBe(200);
  const registered = await parties.register(parties.registration());
  expect(registered.body.data.thirdPartyProvider.dpopBoundAccessTokens).toBe(false);
});

/** Every route that an access token opens; new ones join by being declared. */
const OPENED = ROUTES.filter(
  (route): route is ThirdPartyRoute => route.kind === 'third-party' && route.scope !== null,
).map((route) => [`${route.contract.method} ${route.contract.path}`, route] as const);

test.each(OPENED)('a stolen access token is worth nothing without its key: %s', async (_, { scope, contract }) => {
  const { method } = contract;
  const path = contract.path.replace('{countryCode}', 'GB').replaceAll(/\{\w+\}/g, account);
  const address = `${PUBLIC_URL}${path}`;
  const [example] = Object.entries(contract.examples.requests ?? {});
  const body = example === undefined ? {} : { body: { workflow: { code: example[0] }, data: example[1]?.data } };
  const accessToken = await boundToken(scope === 'payments' ? PAYMENT : ACCOUNTS);
  const attempt = async (headers: Record<string, string>) => {
    const { status, code, challenge } = await send({ method, path, headers, ...body });
    return { status, code, challenge };
  };
  const thief = newProofKey();
  const proven = { method, address, accessToken };
  const bearer = await attempt({ authorization: `Bearer ${accessToken}` });
  expect([bearer.status, bearer.code]).toEqual([401, 'common.security.unauthenticated']);
  expect(await attempt({ authorization: `DPoP ${accessToken}` })).toEqual(rejectedWith('invalid_dpop_proof'));
  expect(await attempt(withProof(accessToken, await proofOf(thief, proven)))).toEqual(rejectedWith('invalid_token'));
  for (const seen of [
    { ...proven, address: TOKEN },
    { ...proven, address: `${address}/other` },
    { ...proven, method: 'DELETE' },
    { ...proven, accessToken: bound },
  ])
    expect(await attempt(withProof(accessToken, await proofOf(key, seen)))).toEqual(rejectedWith('invalid_dpop_proof'));
  const owners = withProof(accessToken, await proofOf(key, proven));
  expect((await attempt(owners)).status).toBe(contract.method === 'POST' ? 201 : 200);
  expect(await attempt(owners)).toEqual(rejectedWith('invalid_dpop_proof'));
});

test('a payment that is repeated under its key needs a proof of its own, and has its first answer', async () => {
  const accessToken = await boundToken(PAYMENT);
  const path = '/open-banking/GB/payments';
  const { instructedAmount, instructedCurrency, creditorAccount } = PAYMENT;
  const body = {
    workflow: { code: 'direct' },
    data: { payment: { instructedAmount, instructedCurrency, creditorAccount } },
  };
  const proven = { method: 'POST', address: `${PUBLIC_URL}${path}`, accessToken };
  const pay = (proof: string) =>
    send({ method: 'POST', path, body, headers: { ...withProof(accessToken, proof), 'idempotency-key': 'once' } });
  const proof = await proofOf(key, proven);
  const first = await pay(proof);
  expect(first.status, first.text).toBe(201);
  expect((await pay(proof)).status).toBe(401);
  const { status, text } = await pay(await proofOf(key, proven));
  expect([status, text]).toEqual([201, first.text]);
});

test('a stolen code gives nothing to a caller who has only another key; sent again by its owner, it revokes the bound token', async () => {
  const code = await approved();
  const right = { method: 'POST', address: TOKEN };
  const stolen = await parties.token(
    party,
    code,
    { client_assertion: undefined },
    { dpop: await proofOf(newProofKey(), right) },
  );
  expect([stolen.status, stolen.body.error]).toEqual([401, 'invalid_client']);
  const { access_token: accessToken } = (await atToken(code, await proofOf(key, right))).body;
  const reads = async () =>
    (await send({ headers: withProof(accessToken, await proofOf(key, { ...READ, accessToken })) })).status;
  expect(await reads()).toBe(200);
  expect((await atToken(code, await proofOf(newProofKey(), right))).body.error).toBe('invalid_grant');
  expect(await reads()).toBe(401);
});

test('neither proofs nor access tokens are in the log', async () => {
  await read(await rightProof());
  const log = logged.join('');
  expect(log).toContain('/open-banking/{countryCode}/accounts');
  for (const secret of secrets) if (secret.length > 3) expect(log.includes(secret)).toBe(false);
});

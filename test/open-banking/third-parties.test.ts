import { createPrivateKey, randomUUID } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiResponse, startApi, type TestApi } from '../harness/api.ts';
import { dumpDatabase } from '../harness/http/dump.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  ACCOUNTS,
  CREDITOR,
  NONCE,
  PAYMENT,
  PUBLIC_URL,
  REDIRECT_URI,
  STATE,
  signed,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let parties: ThirdPartyWorld;
let party: ThirdParty;
let other: ThirdParty;
let clientId: string;
let userId: string;
let account: string;
let foreign: string;
let offset = '0';

beforeAll(async () => {
  database = await createTestDatabase('third-parties');
  api = await startApi(database, { env: { PUBLIC_URL }, clockOffset: () => offset });
  world = moneyWorld(api);
  parties = thirdPartyWorld(api);
  [party, other] = [await parties.thirdParty('PS256'), await parties.thirdParty('ES256')];
  clientId = await world.client();
  userId = await parties.user([clientId]);
  account = await world.account(clientId, { amount: 1_000 });
  foreign = await world.account(clientId, { amount: 7 });
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

/** Moves the clock for the rest of a step. */
async function later<Result>(interval: string, step: () => Promise<Result>): Promise<Result> {
  offset = interval;
  try {
    return await step();
  } finally {
    offset = '0';
  }
}

const seen = ({ status, body }: Pick<ApiResponse, 'status' | 'body'>) => [status, body.code ?? body.error];

test.each(['PS256', 'ES256'] as const)(
  'an independent OpenID client goes the whole way with a key for %s: request, redirect, id_token, token, access',
  async (algorithm) => {
    const client = await parties.thirdParty(algorithm);
    const consentId = await parties.requested(client, ACCOUNTS);
    const redirect = await parties.approve(consentId, userId, [account]);

    const server: oauth.AuthorizationServer = {
      issuer: PUBLIC_URL,
      token_endpoint: `${api.url}/open-banking/GB/token`,
      jwks_uri: `${api.url}/.well-known/jwks.json`,
    };
    const itself: oauth.Client = { client_id: client.id, id_token_signed_response_alg: 'PS256' };
    const options = { [oauth.allowInsecureRequests]: true };
    // Checks signature, issuer, audience, times, nonce, c_hash and s_hash.
    const parameters = await oauth.validateDetachedSignatureResponse(
      server,
      itself,
      redirect,
      NONCE,
      STATE,
      undefined,
      options,
    );
    const idToken = JSON.parse(
      Buffer.from((redirect.hash.match(/id_token=[^.]+\.([^.]+)/) ?? [])[1] ?? '', 'base64url').toString(),
    );
    expect(idToken.openbanking_intent_id).toBe(consentId);

    const key = await crypto.subtle.importKey(
      'pkcs8',
      createPrivateKey(client.privateKey.export({ type: 'pkcs8', format: 'pem' })).export({
        type: 'pkcs8',
        format: 'der',
      }),
      algorithm === 'PS256' ? { name: 'RSA-PSS', hash: 'SHA-256' } : { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign'],
    );
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      itself,
      oauth.PrivateKeyJwt({ key, kid: client.kid }),
      parameters,
      REDIRECT_URI,
      oauth.nopkce,
      options,
    );
    const granted = await oauth.processAuthorizationCodeResponse(server, itself, response, {
      expectedNonce: NONCE,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, options);
    expect(granted).toMatchObject({ token_type: 'bearer', expires_in: 3_600, scope: 'accounts' });
    expect(oauth.getValidatedIdTokenClaims(granted)).toMatchObject({
      sub: consentId,
      openbanking_intent_id: consentId,
    });

    const read = await oauth.protectedResourceRequest(
      granted.access_token,
      'GET',
      new URL(`${api.url}/open-banking/GB/accounts`),
      undefined,
      undefined,
      options,
    );
    expect(await read.json()).toMatchObject({
      data: { accounts: [{ id: account, currency: 'GBP', status: 'active' }] },
    });
  },
);

test('a rejected consent comes back to the client as access_denied, signed, and without a code', async () => {
  const consentId = await parties.requested(party, ACCOUNTS);
  const answer = await parties.decide(consentId, { action: 'reject' });
  const { hash } = new URL(answer.body.data.resource.location);
  const given = new URLSearchParams(hash.slice(1));
  expect([given.get('error'), given.get('state'), given.has('id_token'), given.has('code')]).toEqual([
    'access_denied',
    STATE,
    true,
    false,
  ]);
});

/** Each case has an approved consent of its own, whose code stays good unless the case says otherwise. */
interface Attempt {
  readonly code: string;
  readonly consentId: string;
}

const withChange =
  (change: (attempt: Attempt) => Promise<Record<string, string | undefined>>, as = () => party) =>
  async (attempt: Attempt) =>
    parties.token(as(), attempt.code, await change(attempt));
const assertion = (claims: object, header: object = {}, by = () => party) =>
  withChange(async () => ({
    client_assertion: await signed(by(), { aud: PUBLIC_URL, ...claims }, header),
  }));
const now = () => Math.floor(Date.now() / 1000);

const raw = async (body: string, headers: Record<string, string>, path = '/open-banking/GB/token') => {
  const response = await fetch(`${api.url}${path}`, { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
};
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const ABUSE: readonly (readonly [
  string,
  (attempt: Attempt) => Promise<{ status: number; body: ApiResponse['body'] }>,
  number,
  string,
])[] = [
  ['no client assertion', withChange(async () => ({ client_assertion: undefined })), 401, 'invalid_client'],
  ['no assertion type', withChange(async () => ({ client_assertion_type: undefined })), 401, 'invalid_client'],
  ['another assertion type', withChange(async () => ({ client_assertion_type: 'urn:x' })), 401, 'invalid_client'],
  ['an assertion that is no JWT', withChange(async () => ({ client_assertion: 'a.b.c' })), 401, 'invalid_client'],
  ['an assertion of 5 kB', assertion({ padding: 'x'.repeat(5_000) }), 401, 'invalid_client'],
  ['an assertion for another service', assertion({ aud: 'https://elsewhere.example' }), 401, 'invalid_client'],
  [
    'an assertion for several services',
    assertion({ aud: [PUBLIC_URL, 'https://elsewhere.example'] }),
    401,
    'invalid_client',
  ],
  [
    'a bearer in place of an assertion',
    withChange(async () => ({ client_assertion: await signed(party) })),
    401,
    'invalid_client',
  ],
  ['an assertion that lives six minutes', assertion({ iat: now(), exp: now() + 360 }), 401, 'invalid_client'],
  ['an expired assertion', assertion({ iat: now() - 200, exp: now() - 100 }), 401, 'invalid_client'],
  ['an assertion from the future', assertion({ iat: now() + 100, exp: now() + 200 }), 401, 'invalid_client'],
  ['an assertion without exp', assertion({ exp: undefined }), 401, 'invalid_client'],
  ['an assertion without iat', assertion({ iat: undefined }), 401, 'invalid_client'],
  ['an assertion without jti', assertion({ jti: undefined }), 401, 'invalid_client'],
  ['an empty jti', assertion({ jti: '' }), 401, 'invalid_client'],
  ['a subject that is not the issuer', assertion({ sub: randomUUID() }), 401, 'invalid_client'],
  ['an unknown third party', assertion({ iss: randomUUID(), sub: randomUUID() }), 401, 'invalid_client'],
  ['an issuer that is no id', assertion({ iss: "' OR 1=1", sub: "' OR 1=1" }), 401, 'invalid_client'],
  [
    'another third party’s key',
    withChange(async () => ({ client_assertion: await signed({ ...other, id: party.id }, { aud: PUBLIC_URL }) })),
    401,
    'invalid_client',
  ],
  ['a kid that names another key', assertion({}, { kid: randomUUID() }), 401, 'invalid_client'],
  ['a header with jku', assertion({}, { jku: 'https://attacker.example/jwks' }), 401, 'invalid_client'],
  ['a header with x5u', assertion({}, { x5u: 'https://attacker.example/cert' }), 401, 'invalid_client'],
  [
    'a header with its own key',
    withChange(async () => ({ client_assertion: await signed(party, { aud: PUBLIC_URL }, { jwk: party.jwk }) })),
    401,
    'invalid_client',
  ],
  ['another client_id than the assertion’s', withChange(async () => ({ client_id: other.id })), 401, 'invalid_client'],
  [
    'a replayed assertion',
    async ({ code }) => {
      const client_assertion = await signed(party, { aud: PUBLIC_URL });
      await parties.token(party, 'x'.repeat(43), { client_assertion });
      return parties.token(party, code, { client_assertion });
    },
    401,
    'invalid_client',
  ],
  ['another grant type', withChange(async () => ({ grant_type: 'client_credentials' })), 400, 'unsupported_grant_type'],
  ['no grant type', withChange(async () => ({ grant_type: undefined })), 400, 'invalid_request'],
  ['no code', withChange(async () => ({ code: undefined })), 400, 'invalid_request'],
  ['no redirect_uri', withChange(async () => ({ redirect_uri: undefined })), 400, 'invalid_request'],
  [
    'a parameter twice',
    async ({ code }) => raw(`grant_type=authorization_code&code=${code}&code=${code}`, FORM),
    400,
    'invalid_request',
  ],
  ['a JSON body', async () => raw('{}', { 'content-type': 'application/json' }), 400, 'invalid_request'],
  ['another country', async () => raw('', FORM, '/open-banking/FR/token'), 422, 'invalid_request'],
  [
    'another registered redirect_uri',
    withChange(async () => ({ redirect_uri: 'https://app.budgets.example/other' })),
    400,
    'invalid_grant',
  ],
  [
    'a redirect_uri with a slash more',
    withChange(async () => ({ redirect_uri: `${REDIRECT_URI}/` })),
    400,
    'invalid_grant',
  ],
  ['a forged code', withChange(async () => ({ code: 'A'.repeat(43) })), 400, 'invalid_grant'],
  ['a code of another form', withChange(async () => ({ code: "' OR 1=1 --" })), 400, 'invalid_grant'],
  ['another third party', async ({ code }) => parties.token(other, code), 400, 'invalid_grant'],
];

test.each(ABUSE)('the token endpoint rejects %s, and the code stays good', async (_, attempt, status, error) => {
  const approved = await parties.approved(party, ACCOUNTS, userId, [account]);
  expect(seen(await attempt(approved))).toEqual([status, error]);
  const { status: afterwards } = await parties.token(party, approved.code);
  expect(afterwards).toBe(200);
});

const LATE: readonly (readonly [string, (attempt: Attempt) => Promise<unknown>, string])[] = [
  ['that is a minute old', async () => undefined, '61 seconds'],
  ['of a consent that was revoked', async ({ consentId }) => parties.decide(consentId, { action: 'revoke' }), '0'],
];

test.each(LATE)('the token endpoint rejects a code %s', async (_, before, interval) => {
  const approved = await parties.approved(party, ACCOUNTS, userId, [account]);
  await before(approved);
  expect(seen(await later(interval, () => parties.token(party, approved.code)))).toEqual([400, 'invalid_grant']);
});

test('a code that is sent again is rejected, and revokes the access token that it gave', async () => {
  const { code } = await parties.approved(party, ACCOUNTS, userId, [account]);
  const { body } = await parties.token(party, code);
  expect((await parties.call('GET', '/open-banking/GB/accounts', body.access_token)).status).toBe(200);
  // Neither a stranger nor a wrong address can have that done.
  expect(seen(await parties.token(other, code))).toEqual([400, 'invalid_grant']);
  expect((await parties.call('GET', '/open-banking/GB/accounts', body.access_token)).status).toBe(200);
  expect(seen(await parties.token(party, code))).toEqual([400, 'invalid_grant']);
  expect((await parties.call('GET', '/open-banking/GB/accounts', body.access_token)).status).toBe(401);
});

test('of ten exchanges at once one succeeds', async () => {
  const { code } = await parties.approved(party, ACCOUNTS, userId, [account]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => parties.token(party, code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('an assertion that ten requests send at once is used by one', async () => {
  const client_assertion = await signed(party, { aud: PUBLIC_URL });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => parties.token(party, 'A'.repeat(43), { client_assertion })),
  );
  expect(answers.map(({ body }) => body.error).sort()).toEqual([
    ...Array.from({ length: 9 }, () => 'invalid_client'),
    'invalid_grant',
  ]);
});

const REQUESTS: readonly (readonly [string, object, object, number, string, string])[] = [
  [
    'an address that is not registered',
    ACCOUNTS,
    { redirectUri: 'https://attacker.example/' },
    422,
    'third_party_provider.redirect_uri.not_registered',
    'redirectUri',
  ],
  [
    'a registered address with a path more',
    ACCOUNTS,
    { redirectUri: `${REDIRECT_URI}/x` },
    422,
    'third_party_provider.redirect_uri.not_registered',
    'redirectUri',
  ],
  [
    'a registered address in capitals',
    ACCOUNTS,
    { redirectUri: REDIRECT_URI.replace('app', 'APP') },
    422,
    'third_party_provider.redirect_uri.not_registered',
    'redirectUri',
  ],
  [
    'a registered address without its query',
    ACCOUNTS,
    { redirectUri: REDIRECT_URI.split('?')[0] },
    422,
    'third_party_provider.redirect_uri.not_registered',
    'redirectUri',
  ],
  ['no state', ACCOUNTS, { state: undefined }, 400, 'common.validation.field_required', 'state'],
  ['no nonce', ACCOUNTS, { nonce: undefined }, 400, 'common.validation.field_required', 'nonce'],
  ['no redirect address', ACCOUNTS, { redirectUri: undefined }, 400, 'common.validation.field_required', 'redirectUri'],
  ['an unknown scope', { scope: 'cards' }, {}, 400, 'common.validation.field_invalid', 'content.scope'],
  [
    'a payment’s field for accounts',
    { ...ACCOUNTS, instructedAmount: 1 },
    {},
    400,
    'common.validation.field_unexpected',
    'content.instructedAmount',
  ],
  [
    'a payment of nothing',
    { ...PAYMENT, instructedAmount: 0 },
    {},
    400,
    'common.validation.field_invalid',
    'content.instructedAmount',
  ],
  [
    'a payment of less than a penny',
    { ...PAYMENT, instructedAmount: 0.001 },
    {},
    400,
    'common.validation.field_invalid',
    'content.instructedAmount',
  ],
  [
    'a creditor without a name',
    { ...PAYMENT, creditorAccount: { ...CREDITOR, name: undefined } },
    {},
    400,
    'common.validation.field_required',
    'content.creditorAccount.name',
  ],
  [
    'an account number that is too short',
    { ...PAYMENT, creditorAccount: { ...CREDITOR, identification: '6016133192681' } },
    {},
    400,
    'common.validation.field_invalid',
    'content.creditorAccount.identification',
  ],
  [
    'an IBAN with a wrong check digit',
    {
      ...PAYMENT,
      creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.IBAN', identification: 'GB28NWBK60161331926819' },
    },
    {},
    400,
    'common.validation.field_invalid',
    'content.creditorAccount.identification',
  ],
  [
    'a currency that needs more than a creditor account says',
    { ...PAYMENT, instructedCurrency: 'USD' },
    {},
    400,
    'common.validation.field_invalid',
    'content.creditorAccount.identification',
  ],
  [
    'another way to name accounts',
    { ...PAYMENT, creditorAccount: { ...CREDITOR, schemeName: 'UK.OBIE.PAN' } },
    {},
    400,
    'common.validation.field_invalid',
    'content.creditorAccount.schemeName',
  ],
  [
    'a domestic payment with a currency of transfer',
    { ...PAYMENT, currencyOfTransfer: 'GBP' },
    {},
    400,
    'common.validation.field_invalid',
    'content.currencyOfTransfer',
  ],
  [
    'an international payment without one',
    { ...PAYMENT, paymentScope: 'international' },
    {},
    400,
    'common.validation.field_required',
    'content.currencyOfTransfer',
  ],
  [
    'an exchange of currencies',
    { ...PAYMENT, paymentScope: 'international', currencyOfTransfer: 'EUR' },
    {},
    400,
    'common.validation.field_invalid',
    'content.currencyOfTransfer',
  ],
  [
    'a scheduled payment without its time',
    { ...PAYMENT, paymentType: 'scheduled' },
    {},
    400,
    'common.validation.field_required',
    'content.requestedExecutionDateTime',
  ],
  [
    'a scheduled payment in the past',
    { ...PAYMENT, paymentType: 'scheduled', requestedExecutionDateTime: '2020-01-01T00:00:00' },
    {},
    400,
    'common.validation.field_invalid',
    'content.requestedExecutionDateTime',
  ],
  [
    'a scheduled payment further ahead than a transfer may be dated',
    { ...PAYMENT, paymentType: 'scheduled', requestedExecutionDateTime: '9999-01-01T00:00:00' },
    {},
    400,
    'common.validation.field_invalid',
    'content.requestedExecutionDateTime',
  ],
  [
    'a standard payment with a time',
    { ...PAYMENT, requestedExecutionDateTime: '2030-01-01T00:00:00' },
    {},
    400,
    'common.validation.field_invalid',
    'content.requestedExecutionDateTime',
  ],
];

test.each(REQUESTS)('a consent request with %s is rejected', async (_, content, change, status, code, field) => {
  const answer = await parties.request(party, content, change);
  expect([answer.status, answer.body.code, answer.body.messageParameters[1]], answer.text).toEqual([
    status,
    code,
    field,
  ]);
  expect(answer.text).not.toContain('attacker.example');
});

test('a consent request shows what was asked for, is repeated under its key, and exists in GB only', async () => {
  const body = parties.consentBody(PAYMENT);
  const post = async (country: string, key?: string) =>
    parties.call('POST', `/open-banking/${country}/consents`, await signed(party), body, key);
  const [first, again] = [await post('GB', 'one consent'), await post('GB', 'one consent')];
  expect(first.body.data.consent).toMatchObject({
    status: 'awaiting-authorisation',
    thirdPartyProvider: { applicationName: 'Budgets' },
    content: { ...PAYMENT, currencyOfTransfer: null, requestedExecutionDateTime: null },
    userId: null,
    accounts: null,
  });
  expect(first.text).not.toContain(NONCE);
  expect([again.text, again.headers.get('x-idempotency-status')]).toEqual([first.text, 'replayed']);
  expect(seen(await post('FR'))).toEqual([422, 'consent.country.not_supported']);
  // Another third party's key of the same name is its own.
  const foreignKey = await parties.call('POST', '/open-banking/GB/consents', await signed(other), body, 'one consent');
  expect(foreignKey.body.data.consent.id).not.toBe(first.body.data.consent.id);
});

test('the access token reads the accounts of the consent, their balances and statements, and nothing else', async () => {
  const { accessToken } = await parties.granted(party, ACCOUNTS, userId, [account]);
  const get = (path: string) => parties.call('GET', `/open-banking/GB/accounts${path}`, accessToken);
  const { accounts } = (await get('')).body.data;
  expect(accounts.map(({ id }: { id: string }) => id)).toEqual([account]);
  expect(Object.keys(accounts[0])).not.toContain('clientId');
  expect((await get(`/${account}/balances`)).body.data.balances).toMatchObject([
    { accountId: account, currency: 'GBP', availableBalance: 1_000, bookedBalance: 1_000 },
  ]);
  const { data, metadata } = (await get(`/${account}/transactions`)).body;
  expect(data.transactions).toMatchObject([{ accountId: account, direction: 'credit', amount: 1_000 }]);
  expect(metadata.page).toEqual({ size: 10, number: 0, totalElements: 1, totalPages: 1 });
  for (const id of [foreign, randomUUID()]) {
    for (const what of ['balances', 'transactions']) {
      expect(seen(await get(`/${id}/${what}`))).toEqual([404, 'common.coding.internal.record_not_found']);
    }
  }
  expect((await get('/17/balances')).status).toBe(400);
  expect(seen(await parties.call('GET', '/open-banking/FR/accounts', accessToken))).toEqual([
    422,
    'consent.country.not_supported',
  ]);
  // Neither token gives access to the other side.
  for (const token of [accessToken, await signed(party)]) {
    expect((await parties.call('GET', '/accounts', token)).status).toBe(401);
    expect((await parties.call('GET', '/open-banking/GB/consents', token)).status).toBe(401);
  }
  expect((await parties.call('GET', '/open-banking/GB/accounts', api.users.admin.token)).status).toBe(401);
  expect((await parties.call('GET', '/open-banking/GB/accounts', await signed(party))).status).toBe(401);
  expect(
    (await parties.call('POST', '/open-banking/GB/consents', accessToken, parties.consentBody(ACCOUNTS))).status,
  ).toBe(401);
  expect(seen(await parties.pay(accessToken))).toEqual([403, 'common.security.access_denied']);
});

const ENDS: readonly (readonly [string, (grant: { consentId: string }) => Promise<unknown>, string])[] = [
  ['is revoked', ({ consentId }) => parties.decide(consentId, { action: 'revoke' }), '0'],
  ['has expired', async () => undefined, '91 days'],
];

test.each(ENDS)('the access token is worth nothing once its consent %s', async (_, end, interval) => {
  const grant = await parties.granted(party, ACCOUNTS, userId, [account]);
  await end(grant);
  const read = await later(interval, () => parties.call('GET', '/open-banking/GB/accounts', grant.accessToken));
  expect(seen(read)).toEqual([401, 'common.security.unauthenticated']);
});

test('the access token lives an hour', async () => {
  const { accessToken } = await parties.granted(party, ACCOUNTS, userId, [account]);
  const read = () => parties.call('GET', '/open-banking/GB/accounts', accessToken);
  expect([(await later('59 minutes', read)).status, (await later('61 minutes', read)).status]).toEqual([200, 401]);
});

test('an inactive third party loses access at once, with every token; active again, it needs a new grant', async () => {
  const third = await parties.thirdParty();
  const { accessToken } = await parties.granted(third, ACCOUNTS, userId, [account]);
  const { code } = await parties.approved(third, ACCOUNTS, userId, [account]);
  await parties.change(third.id, { status: 'inactive' });
  const read = () => parties.call('GET', '/open-banking/GB/accounts', accessToken);
  expect(seen(await read())).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.request(third, ACCOUNTS))).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.token(third, code))).toEqual([401, 'invalid_client']);
  await parties.change(third.id, { status: 'active' });
  expect(seen(await read())).toEqual([401, 'common.security.unauthenticated']);
  expect(seen(await parties.token(third, code))).toEqual([400, 'invalid_grant']);
  const granted = await parties.granted(third, ACCOUNTS, userId, [account]);
  expect((await parties.call('GET', '/open-banking/GB/accounts', granted.accessToken)).status).toBe(200);
  await parties.change(third.id, { status: 'active', name: 'Budgets Ltd' });
  expect((await parties.call('GET', '/open-banking/GB/accounts', granted.accessToken)).status).toBe(200);
});

const INTERACTION = '93bac548-d2de-4546-b106-880a5018460d';

test('every answer of open banking has the interaction id of its request, or a new one', async () => {
  const { accessToken } = await parties.granted(party, ACCOUNTS, userId, [account]);
  const answers = async (headers: Record<string, string>) => {
    const authorization = `Bearer ${accessToken}`;
    const call = (method: 'GET' | 'POST', path: string, more: Record<string, string> = {}) =>
      fetch(`${api.url}${path}`, { method, headers: { ...headers, ...more } });
    return Promise.all([
      call('GET', '/open-banking/GB/accounts', { authorization }),
      call('GET', '/open-banking/GB/accounts'),
      call('POST', '/open-banking/GB/consents'),
      call('POST', '/open-banking/GB/token'),
      call('GET', `/open-banking/GB/accounts/${account}`, { authorization }),
    ]);
  };
  const ids = async (headers: Record<string, string>) =>
    (await answers(headers)).map((answer) => answer.headers.get('x-fapi-interaction-id'));
  expect(await ids({ 'x-fapi-interaction-id': INTERACTION })).toEqual(Array(5).fill(INTERACTION));
  for (const made of [await ids({}), await ids({ 'x-fapi-interaction-id': 'no uuid <script>' })]) {
    expect(new Set(made).size).toBe(5);
    for (const id of made) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  }
  expect((await fetch(`${api.url}/.well-known/jwks.json`)).headers.get('x-fapi-interaction-id')).toBeNull();
});

test('codes and access tokens are nowhere in the database', async () => {
  const { code } = await parties.approved(party, ACCOUNTS, userId, [account]);
  const { body } = await parties.token(party, code);
  const dump = await dumpDatabase(api.database);
  expect(dump).toContain(userId);
  for (const secret of [code, body.access_token, body.id_token]) expect(dump.includes(secret)).toBe(false);
});

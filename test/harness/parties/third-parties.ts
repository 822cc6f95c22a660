import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, SignJWT } from 'jose';
import { expect } from 'vitest';
import type { Method } from '../../../api/http/route.ts';
import { type ApiResponse, type Json, TEST_AUDIENCE, type TestApi } from '../api.ts';

/** A third-party provider with its own key. */
export interface ThirdParty {
  readonly id: string;
  readonly kid: string;
  readonly algorithm: 'PS256' | 'ES256';
  readonly privateKey: KeyObject;
  readonly jwk: Json;
}

export interface Grant {
  readonly consentId: string;
  readonly accessToken: string;
}

export const REDIRECT_URI = 'https://app.budgets.example/callback?tenant=1&empty=';
export const PUBLIC_URL = 'https://accounts.example';
export const STATE = 'state & more';
export const NONCE = 'n-0S6_WzA2Mj';
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export const ACCOUNTS = { scope: 'accounts' };
export const CREDITOR = {
  schemeName: 'UK.OBIE.SortCodeAccountNumber',
  identification: '60161331926819',
  name: 'Brook Lane Bakery Ltd',
};
export const PAYMENT = {
  scope: 'payments',
  paymentScope: 'domestic',
  paymentType: 'standard',
  instructedAmount: 10.5,
  instructedCurrency: 'GBP',
  creditorAccount: CREDITOR,
};

/** A key, and its registered public part. */
export function newKey(algorithm: ThirdParty['algorithm'] = 'ES256', kid: string = randomUUID()) {
  const { privateKey, publicKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { kid, algorithm, privateKey, jwk: { kid, alg: algorithm, ...publicKey.export({ format: 'jwk' }) } };
}

/** A token that the third party signs; `claims` and `header` override valid values. */
export async function signed(
  { id, kid, algorithm, privateKey }: Omit<ThirdParty, 'jwk'>,
  claims: Json = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const all = { iss: id, sub: id, aud: TEST_AUDIENCE, iat, exp: iat + 60, jti: randomUUID(), ...claims };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(given)).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(privateKey);
}

/** Third parties and account holders, each through its own side of the API. */
export function thirdPartyWorld(api: Pick<TestApi, 'call' | 'url'>, publicUrl = PUBLIC_URL) {
  const call = (method: Method, path: string, token: string, body?: unknown, key?: string): Promise<ApiResponse> =>
    api.call(method, path, body, {
      as: null,
      headers: { authorization: `Bearer ${token}` },
      ...(key === undefined ? {} : { key }),
    });
  const world = {
    call,
    registration: (change: Json = {}): Json => ({
      name: 'Brook Lane Budgets Ltd',
      website: 'https://budgets.example',
      applicationName: 'Budgets',
      applicationDescription: 'Shows all accounts of a household',
      applicationWebsite: 'https://app.budgets.example',
      redirectUris: [REDIRECT_URI, 'https://app.budgets.example/other'],
      jwks: { keys: [newKey().jwk] },
      ...change,
    }),
    register: (thirdPartyProvider: Json): Promise<ApiResponse> =>
      api.call(
        'POST',
        '/third-party-providers',
        { workflow: { code: 'direct' }, data: { thirdPartyProvider } },
        { as: 'admin' },
      ),
    thirdParty: async (algorithm: ThirdParty['algorithm'] = 'ES256', change: Json = {}): Promise<ThirdParty> => {
      const key = newKey(algorithm);
      const answer = await world.register(world.registration({ jwks: { keys: [key.jwk] }, ...change }));
      expect(answer.status, answer.text).toBe(201);
      return { id: answer.body.data.thirdPartyProvider.id, ...key };
    },
    change: (id: string, thirdPartyProvider: Json): Promise<ApiResponse> =>
      api.call(
        'PATCH',
        `/third-party-providers/${id}`,
        { workflow: { code: 'direct' }, data: { thirdPartyProvider } },
        { as: 'admin' },
      ),
    consentBody: (content: Json, change: Json = {}): Json => ({
      workflow: { code: 'direct' },
      data: { consent: { content, redirectUri: REDIRECT_URI, state: STATE, nonce: NONCE, ...change } },
    }),
    request: async (party: ThirdParty, content: Json, change: Json = {}): Promise<ApiResponse> =>
      call('POST', '/open-banking/GB/consents', await signed(party), world.consentBody(content, change)),
    requested: async (party: ThirdParty, content: Json, change: Json = {}): Promise<string> => {
      const answer = await world.request(party, content, change);
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.consent.id;
    },
    decide: (id: string, consent: Json): Promise<ApiResponse> =>
      api.call('PATCH', `/open-banking/GB/consents/${id}`, { workflow: { code: 'direct' }, data: { consent } }),
    /** A user who may act for the clients. */
    user: async (clientIds: readonly string[]): Promise<string> => {
      const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
      const data = {
        user: { email: `${randomUUID()}@example.com`, identity },
        userClientRelations: clientIds.map((clientId) => ({ clientId })),
      };
      const answer = await api.call('POST', '/users', { workflow: { code: 'human.external.direct' }, data });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.user.id;
    },
    /** Approves, and follows the redirect. */
    approve: async (id: string, userId: string, accounts: readonly string[]): Promise<URL> => {
      const answer = await world.decide(id, { action: 'approve', userId, accounts });
      expect(answer.status, answer.text).toBe(200);
      return new URL(answer.body.data.resource.location);
    },
    /** A valid request to the token endpoint, except for what `change` overrides; undefined omits a parameter. */
    token: async (
      party: ThirdParty,
      code: string,
      change: Readonly<Record<string, string | undefined>> = {},
      headers: Readonly<Record<string, string>> = {},
    ): Promise<{ status: number; body: Json }> => {
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await signed(party, { aud: `${publicUrl}/open-banking/GB/token` }),
        ...change,
      };
      const given = new URLSearchParams();
      for (const [name, value] of Object.entries(form)) if (value !== undefined) given.append(name, value);
      const response = await fetch(`${api.url}/open-banking/GB/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: given.toString(),
      });
      return { status: response.status, body: await response.json() };
    },
    /** The code of a new, approved consent. */
    approved: async (
      party: ThirdParty,
      content: Json,
      userId: string,
      accounts: readonly string[],
    ): Promise<{ consentId: string; code: string }> => {
      const consentId = await world.requested(party, content);
      const { hash } = await world.approve(consentId, userId, accounts);
      return { consentId, code: new URLSearchParams(hash.slice(1)).get('code') ?? '' };
    },
    granted: async (party: ThirdParty, content: Json, userId: string, accounts: readonly string[]): Promise<Grant> => {
      const { consentId, code } = await world.approved(party, content, userId, accounts);
      const { status, body } = await world.token(party, code);
      expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'Bearer']);
      return { consentId, accessToken: body.access_token };
    },
    pay: (accessToken: string, change: Json = {}, key?: string): Promise<ApiResponse> => {
      const { instructedAmount, instructedCurrency, creditorAccount } = PAYMENT;
      const payment = { instructedAmount, instructedCurrency, creditorAccount, ...change };
      const body = { workflow: { code: 'direct' }, data: { payment } };
      return call('POST', '/open-banking/GB/payments', accessToken, body, key);
    },
    consent: async (id: string): Promise<Json> =>
      (await api.call('GET', `/open-banking/GB/consents/${id}`)).body.data.consent,
  };
  return world;
}

export type ThirdPartyWorld = ReturnType<typeof thirdPartyWorld>;

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let away: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('token-errors');
  api = await startApi(database);
  away = await startApi({ ...database, url: 'postgres://unknown:x@127.0.0.1:9/none' }, { users: api.users });
});

afterAll(async () => {
  await away?.stop();
  await api?.stop();
  await database?.drop();
});

const FORM = 'application/x-www-form-urlencoded';
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = part({ alg: 'ES256', kid: 'k' });
const assertion = `${header}.${part({ iss: '0199c4b5-2c11-7d3e-8f0a-3b5d7e9f1a24' })}.x`;
const authenticated = new URLSearchParams({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
}).toString();

test.each([
  ['GET', () => api, undefined, FORM, 405, 'invalid_request'],
  ['PUT', () => api, 'a=b', FORM, 405, 'invalid_request'],
  ['PATCH', () => api, 'a=b', FORM, 405, 'invalid_request'],
  ['DELETE', () => api, undefined, FORM, 405, 'invalid_request'],
  ['POST', () => api, 'a'.repeat(20_000), FORM, 413, 'invalid_request'],
  ['POST', () => api, '{}', 'application/json', 400, 'invalid_request'],
  ['POST', () => api, authenticated, FORM, 401, 'invalid_client'],
  ['POST', () => away, authenticated, FORM, 503, 'temporarily_unavailable'],
] as const)(
  '%s at the token endpoint is rejected as OAuth has it: %#',
  async (method, target, body, type, status, error) => {
    const init = { method, headers: { 'content-type': type }, ...(body === undefined ? {} : { body }) };
    const answer = await fetch(`${target().url}/open-banking/GB/token`, init);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ error, error_description: expect.any(String) });
  },
);

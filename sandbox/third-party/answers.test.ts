import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceUnavailable } from '../service/service.ts';
import { IdTokens, readFrontChannelAnswer } from './answers.ts';

describe('what a browser brings back', () => {
  test.each([
    ['a whole address', 'http://127.0.0.1:3100/third-party/callback#code=c%2B1&state=s+1&id_token=t', 'c+1'],
    ['its fragment', '#code=c&state=s+1&id_token=t', 'c'],
    ['an address with spaces around', '  http://a/b?x=y#code=c&state=s%201&id_token=t\n', 'c'],
    ['a rejection', 'http://a/b#error=access_denied&state=s+1&id_token=t', null],
  ])('is read from %s', (_, text, code) => {
    expect(readFrontChannelAnswer(text)).toEqual({ state: 's 1', idToken: 't', code });
  });

  test.each([
    ['nothing', ''],
    ['an address without a fragment', 'http://127.0.0.1:3100/third-party/callback'],
    ['neither a code nor an error', '#state=s&id_token=t'],
    ['no state', '#code=c&id_token=t'],
    ['no ID token', '#code=c&state=s'],
  ])('is not there: %s', (_, text) => {
    expect(readFrontChannelAnswer(text)).toBeNull();
  });
});

const ISSUER = 'https://accounts.example';
const THIRD_PARTY = '0199c4d2-3f10-7c44-8a51-2b6d9e0f7a31';
const EXPECTED = { consentId: '0199c4d5-6a21-7e90-b3c4-8d2f1a0b9c57', nonce: 'n-0S6_WzA2Mj' };
const BROUGHT = { state: 'state & more', code: 'kZ3' };

describe('an ID token', () => {
  let server: Server;
  let idTokens: IdTokens;
  let key: Awaited<ReturnType<typeof generateKeyPair>>;
  let otherKey: Awaited<ReturnType<typeof generateKeyPair>>;

  beforeAll(async () => {
    key = await generateKeyPair('PS256', { extractable: true });
    otherKey = await generateKeyPair('PS256');
    const keys = [{ ...(await exportJWK(key.publicKey)), kid: 'now', alg: 'PS256', use: 'sig' }];
    server = createServer((_, response) => response.end(JSON.stringify({ keys })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const service = { apiUrl: `http://127.0.0.1:${port}`, publicUrl: ISSUER, audience: 'unused' };
    idTokens = new IdTokens(service, THIRD_PARTY);
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const half = (text: string) => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

  /** Valid except for the given claims; undefined omits a claim. */
  async function signed(change: Readonly<Record<string, unknown>> = {}, by = key, kid = 'now'): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: ISSUER,
      sub: EXPECTED.consentId,
      aud: THIRD_PARTY,
      iat: now,
      exp: now + 300,
      nonce: EXPECTED.nonce,
      openbanking_intent_id: EXPECTED.consentId,
      s_hash: half(BROUGHT.state),
      c_hash: half(BROUGHT.code),
      ...change,
    };
    const given = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    return new SignJWT(given).setProtectedHeader({ alg: 'PS256', kid }).sign(by.privateKey);
  }

  test('vouches for the code and the state that it was signed for, and for a rejection', async () => {
    expect(await idTokens.vouchFor({ ...BROUGHT, idToken: await signed() }, EXPECTED)).toBe(true);
    const rejection = { ...BROUGHT, code: null, idToken: await signed({ c_hash: undefined }) };
    expect(await idTokens.vouchFor(rejection, EXPECTED)).toBe(true);
  });

  const past = Math.floor(Date.now() / 1_000) - 3_600;
  test.each([
    ['another issuer', { iss: 'https://other.example' }],
    ['another audience', { aud: EXPECTED.consentId }],
    ['another consent', { sub: THIRD_PARTY }],
    ['another intent', { openbanking_intent_id: THIRD_PARTY }],
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['another state', { s_hash: half('other') }],
    ['no state', { s_hash: undefined }],
    ['another code', { c_hash: half('other') }],
    ['no code', { c_hash: undefined }],
    ['a time that has passed', { iat: past, exp: past + 300 }],
    ['no end', { exp: undefined }],
  ])('does not vouch with %s', async (_, change) => {
    expect(await idTokens.vouchFor({ ...BROUGHT, idToken: await signed(change) }, EXPECTED)).toBe(false);
  });

  test('does not vouch under a key that is not the service’s, or under none', async () => {
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await signed()).split('.')[1]}.`;
    for (const idToken of [await signed({}, otherKey), await signed({}, key, 'unknown'), unsigned, 'no token']) {
      expect(await idTokens.vouchFor({ ...BROUGHT, idToken }, EXPECTED)).toBe(false);
    }
  });

  test('vouches only for the access token next to it', async () => {
    const idToken = await signed({ at_hash: half('access') });
    expect(await idTokens.vouchForAccess(idToken, 'access', EXPECTED)).toBe(true);
    expect(await idTokens.vouchForAccess(idToken, 'other', EXPECTED)).toBe(false);
    expect(await idTokens.vouchForAccess(await signed(), 'access', EXPECTED)).toBe(false);
  });

  test('is not decided on while the keys cannot be read', async () => {
    const away = new IdTokens({ apiUrl: 'http://127.0.0.1:1', publicUrl: ISSUER, audience: '' }, THIRD_PARTY);
    const vouched = away.vouchFor({ ...BROUGHT, idToken: await signed() }, EXPECTED);
    await expect(vouched).rejects.toBeInstanceOf(ServiceUnavailable);
  });
});

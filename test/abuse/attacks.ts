import { randomUUID } from 'node:crypto';
import { PAGE_NUMBER_MAX } from '../../api/http/requests/request.ts';

/** What attackers know: the address, tokens of machine users with few roles, and one invitation link. */
export interface Target {
  readonly url: string;
  readonly viewerToken: string;
  readonly viewerKid: string;
  readonly operatorToken: string;
  readonly signUpPath: string;
}

export interface AttackRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent every second after that, so that the request seems to continue. */
  readonly drip?: string;
}

export interface Attack {
  readonly name: string;
  /** The expected status; null = the connection is closed without an answer. */
  readonly answers: readonly (number | null)[];
  /** The request; text is sent verbatim. */
  request(target: Target): AttackRequest | string;
}

const MEGABYTE = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const CALLBACKS = '/provider-callbacks/sandbox-bank';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const length = (body: string | number) => ({
  'content-length': String(typeof body === 'number' ? body : Buffer.byteLength(body)),
});
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const forged = (header: object, payload: object = {}) => `${part(header)}.${part(payload)}.${'A'.repeat(86)}`;

function write(body: string, headers: Readonly<Record<string, string>> = {}): Attack['request'] {
  return ({ operatorToken }) => ({
    method: 'POST',
    path: '/clients',
    headers: { ...bearer(operatorToken), ...JSON_TYPE, ...length(body), ...headers },
    body,
  });
}

const read = (path: string): Attack['request'] => {
  return ({ viewerToken }) => ({ path, headers: bearer(viewerToken) });
};
const withToken = (token: (target: Target) => string): Attack['request'] => {
  return (target) => ({ path: '/clients', headers: bearer(token(target)) });
};
const enveloped = (data: string) => `{"workflow":{"code":"direct"},"data":${data}}`;

const chunkedBody = `120000\r\n${' '.repeat(0x120000)}\r\n`;
const deepBody = enveloped(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
const wideBody = enveloped(`{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(',')}}`);
const longBody = enveloped(`{"client":{"identity":{"type":"individual","givenName":"${'a'.repeat(900_000)}"}}}`);
const password = (text: string) => `answer=accept&password=${text}`;
const longPassword = password('\uFDFA'.repeat(2_700));
const hugePassword = password('\uFDFA'.repeat(349_000));
const manyParameters = Array.from({ length: 500 }, (_, index) => `data.client.x${index}=1`).join('&');

/** Bodies, announced or not, that are too long, too deep, or never finished. */
const BODIES: readonly Attack[] = [
  {
    name: 'a body of 100 MB without a token',
    answers: [401],
    request: () => ({ method: 'POST', path: '/clients', headers: { ...JSON_TYPE, ...length(100 * MEGABYTE) } }),
  },
  { name: 'a body of 100 MB with a token', answers: [413], request: write('', length(100 * MEGABYTE)) },
  {
    name: 'a body without a length and without an end',
    answers: [413],
    request: ({ operatorToken }) => ({
      method: 'POST',
      path: '/clients',
      headers: { ...bearer(operatorToken), ...JSON_TYPE, 'transfer-encoding': 'chunked' },
      body: chunkedBody,
    }),
  },
  {
    name: 'a body of a megabyte of a caller who may not write',
    answers: [403],
    request: ({ viewerToken }) => ({
      method: 'POST',
      path: '/clients',
      headers: { ...bearer(viewerToken), ...JSON_TYPE, ...length(MEGABYTE) },
      body: ' '.repeat(MEGABYTE),
    }),
  },
  { name: 'a name of 900 kB', answers: [400], request: write(longBody) },
  { name: 'a megabyte of digits', answers: [400], request: write('0'.repeat(MEGABYTE - 1)) },
  { name: 'JSON that is 5,000 deep', answers: [400], request: write(deepBody) },
  { name: 'JSON with 60,000 keys', answers: [400], request: write(wideBody) },
  { name: 'JSON that would change prototypes', answers: [400], request: write(enveloped('{"__proto__":{"a":1}}')) },
  { name: 'JSON with 1e309 and a key twice', answers: [400], request: write(enveloped('{"a":1e309,"a":2}')) },
  { name: 'a compressed body', answers: [415], request: write(enveloped('{}'), { 'content-encoding': 'gzip' }) },
  { name: 'a body of another type', answers: [415], request: write('<a/>', { 'content-type': 'text/xml' }) },
  {
    name: 'a body with a length and in chunks',
    answers: [400],
    request: write('{}', { 'transfer-encoding': 'chunked' }),
  },
];

/** Routes without a token. */
const OPEN_DOORS: readonly Attack[] = [
  {
    name: 'a sign-up without a link',
    answers: [404],
    request: () => ({
      method: 'POST',
      path: `/sign-up/${randomUUID()}`,
      headers: { ...FORM_TYPE, ...length(MEGABYTE) },
    }),
  },
  ...[
    { name: 'a password of a megabyte', answers: [413], body: hugePassword },
    { name: 'a password that composing makes longer', answers: [400], body: longPassword },
  ].map(({ name, answers, body }) => ({
    name,
    answers,
    request: ({ signUpPath }: Target) => ({
      method: 'POST',
      path: signUpPath,
      headers: { ...FORM_TYPE, ...length(body) },
      body,
    }),
  })),
  {
    name: 'a sign-up that is never sent to its end',
    answers: [408],
    request: ({ signUpPath }) => ({
      method: 'POST',
      path: signUpPath,
      headers: { ...FORM_TYPE, ...length(8_000) },
      body: 'answer=',
      drip: 'a',
    }),
  },
  {
    name: 'a callback of an unknown provider',
    answers: [404],
    request: () => ({
      method: 'POST',
      path: `/provider-callbacks/${randomUUID()}`,
      headers: { ...JSON_TYPE, ...length(MEGABYTE) },
    }),
  },
  {
    name: 'a callback of a megabyte',
    answers: [413],
    request: () => ({ method: 'POST', path: CALLBACKS, headers: { ...JSON_TYPE, ...length(MEGABYTE) } }),
  },
  {
    name: 'a callback without a signature',
    answers: [401],
    request: () => ({ method: 'POST', path: CALLBACKS, headers: { ...JSON_TYPE, ...length('{}') }, body: '{}' }),
  },
  {
    name: 'a callback of 60 kB that is never sent to its end',
    answers: [408],
    request: () => ({
      method: 'POST',
      path: CALLBACKS,
      headers: { ...JSON_TYPE, ...length(64_000) },
      body: ' '.repeat(60_000),
      drip: ' ',
    }),
  },
  { name: 'metrics at the port of the API', answers: [404], request: () => ({ path: '/metrics' }) },
  { name: 'a method that nothing has', answers: [404, 405], request: () => ({ method: 'PUT', path: '/clients' }) },
  { name: 'a path of odd bytes', answers: [401], request: () => ({ path: '/clients/%00%ff..%2f' }) },
];

const TOKENS: readonly Attack[] = [
  { name: 'an unknown key', answers: [401], request: withToken(() => forged({ alg: 'ES256', kid: randomUUID() })) },
  { name: 'a token of no algorithm', answers: [401], request: withToken(() => forged({ alg: 'none', kid: 'a' })) },
  {
    name: 'a bad signature of a known key',
    answers: [401],
    request: withToken(({ viewerKid }) => forged({ alg: 'ES256', kid: viewerKid }, { jti: randomUUID() })),
  },
  {
    name: 'a token of 5 kB',
    answers: [401],
    request: withToken(() => forged({ alg: 'ES256' }, { a: 'a'.repeat(5_000) })),
  },
  {
    name: 'a key from outside',
    answers: [401],
    request: withToken(() => forged({ alg: 'ES256', kid: 'a', jku: 'http://127.0.0.1:9/' })),
  },
];

/** Headers, connections, and malformed requests. */
const CONNECTIONS: readonly Attack[] = [
  { name: 'headers of 100 kB', answers: [431], request: () => ({ path: '/', headers: { x: 'a'.repeat(100_000) } }) },
  {
    name: 'two thousand headers',
    answers: [431],
    request: () => ({
      path: '/',
      headers: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x-${index}`, 'aaaa'])),
    }),
  },
  {
    name: 'headers that never end',
    answers: [408, null],
    request: () => 'GET /clients HTTP/1.1\r\nhost: x\r\nx-slow: ',
  },
  { name: 'a connection that says nothing', answers: [408, null], request: () => '' },
  { name: 'what is no HTTP', answers: [400], request: () => 'EHLO attacker.example.org\r\n\r\n' },
];

const READS: readonly Attack[] = [
  { name: 'page 10^12', answers: [400], request: read('/clients?metadata.page.number=1000000000000') },
  { name: 'a page of 10^9', answers: [400], request: read('/clients?metadata.page.size=1000000000') },
  {
    name: 'the last page that may be asked for',
    answers: [200],
    request: read(`/clients?metadata.page.number=${PAGE_NUMBER_MAX}`),
  },
  { name: '500 unknown parameters', answers: [400], request: read(`/clients?${manyParameters}`) },
  {
    name: 'a filter of 2,000 wild cards',
    answers: [200, 400],
    request: read(`/clients?data.client.fullName=${'%25_'.repeat(500)}`),
  },
];

export const ATTACKS: readonly Attack[] = [...BODIES, ...OPEN_DOORS, ...TOKENS, ...CONNECTIONS, ...READS];

/** The comparison sends as many of these as attacks. */
export const HARMLESS: Attack = {
  name: 'a client that is read',
  answers: [200],
  request: read('/clients?metadata.page.size=1'),
};

import { createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { createApi } from '../../api/app.ts';
import { startServer } from '../../api/http/connections/server.ts';
import type { OpenRoute, Route } from '../../api/http/route.ts';
import { ROUTES } from '../../api/routes.ts';
import { newId } from '../../db/common/ids.ts';
import { createSignUpLink } from '../../db/users/sign-ups.ts';
import { asId } from '../../domain/common/ids.ts';
import { checkPassword } from '../../domain/users/passwords.ts';
import { signToken, startApi, type TestApi } from '../harness/api.ts';
import { nextStatus, requestHead, socketTo } from '../harness/faults/sockets.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** What unauthenticated callers can send, and how much of it the service reads. */

const SECRET = 'shared by bank and service';
/** Longer than any answer here takes unless a limit of its own cuts it short. */
const PATIENT = { headersMs: 600_000, requestMs: 600_000, checkMs: 200 };
/** Bounds a wait for an answer that the service owes. */
const ANSWER_MS_MAX = 60_000;

let database: TestDatabase;
let api: TestApi;
let signUpToken: string;

beforeAll(async () => {
  database = await createTestDatabase('unauthenticated');
  const bank = createSandboxBank({ url: 'http://127.0.0.1:9', secret: SECRET });
  api = await startApi(database, { providers: new Map([['sandbox-bank', bank]]), limits: PATIENT });
  signUpToken = await newSignUp();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function newSignUp(): Promise<string> {
  const identity = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
  const client = { identity, profile: { identityType: 'individual', residentialAddress: { country: 'GB' } } };
  const made = await api.call('POST', '/clients', { workflow: { code: 'direct' }, data: { client } });
  const invited = await api.call('POST', '/users', {
    workflow: { code: 'human.external.invitation' },
    data: {
      user: { email: `${randomUUID()}@example.com`, identity },
      invitations: [{ clientId: made.body.data.client.id, userClientRelation: 'director' }],
    },
  });
  const token = randomBytes(32).toString('base64url');
  const id = asId<Parameters<typeof createSignUpLink>[1]>(invited.body.data.invitations[0].id);
  await api.database.transaction((tx) => createSignUpLink(tx, id, createHash('sha256').update(token).digest()));
  return token;
}

const withBody = ({ contract }: Route | OpenRoute) => contract.method === 'POST' || contract.method === 'PATCH';
const openRoutes = ROUTES.filter((route): route is OpenRoute => route.kind === 'open' && withBody(route));
const ownRoutes = ROUTES.filter((route): route is Route => route.kind === 'route' && withBody(route));

/** Valid callers of each route without a token: a new route needs a line here. */
const KNOWN: Readonly<Record<string, () => string>> = {
  '/sign-up/{token}': () => `/sign-up/${signUpToken}`,
  '/provider-callbacks/{provider}': () => '/provider-callbacks/sandbox-bank',
  '/open-banking/{countryCode}/token': () => '/open-banking/GB/token',
};

/** Its callers authenticate in the body, so it rejects what it can before: another country, as every route of open banking does. */
const REJECTED_AS: Readonly<Record<string, number>> = { '/open-banking/{countryCode}/token': 422 };

function knownPath({ contract }: OpenRoute): string {
  const known = KNOWN[contract.path];
  if (known === undefined) throw new Error(`KNOWN has no line for ${contract.path}`);
  return known();
}

/** The answer to a request whose body never arrives, unless `body` provides it. */
async function statusBefore(
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<number | null> {
  const socket = await socketTo(api.url);
  try {
    socket.write(requestHead('POST', path, headers) + body);
    return await Promise.race([nextStatus(socket), sleep(ANSWER_MS_MAX, null, { ref: false })]);
  } finally {
    socket.destroy();
  }
}

describe.each(openRoutes.map((route) => [route.contract.path, route] as const))('POST %s', (path, route) => {
  const mediaType = () => route.contract.body?.mediaType ?? 'none';
  const bytesMax = () => route.contract.body?.bytesMax ?? 0;

  test('has a limit of its own, of 64 kB at most', () => {
    expect(route.contract.body).toBeDefined();
    expect(bytesMax()).toBeGreaterThan(0);
    expect(bytesMax()).toBeLessThanOrEqual(64 * 1024);
  });

  test('rejects unknown callers before reading their body', async () => {
    const unknown = path.replaceAll(/\{\w+\}/g, 'nonsense');
    const headers = { 'content-type': mediaType(), 'content-length': '1000' };
    expect(await statusBefore(unknown, headers)).toBe(REJECTED_AS[path] ?? 404);
  });

  test('rejects what is longer than its limit, with and without an announced length', async () => {
    const headers = { 'content-type': mediaType() };
    const length = bytesMax() + 1;
    expect(await statusBefore(knownPath(route), { ...headers, 'content-length': String(length) })).toBe(413);
    const chunk = `${length.toString(16)}\r\n${' '.repeat(length)}\r\n`;
    expect(await statusBefore(knownPath(route), { ...headers, 'transfer-encoding': 'chunked' }, chunk)).toBe(413);
  });

  test('gives a body up that does not arrive within seconds', async () => {
    const headers = { 'content-type': mediaType(), 'content-length': '1000' };
    expect(await statusBefore(knownPath(route), headers, 'half')).toBe(408);
  });
});

test.each(ownRoutes.map(({ contract }) => [contract.method, contract.path] as const))(
  '%s %s reads no body of an unknown caller',
  async (method, path) => {
    const socket = await socketTo(api.url);
    const concrete = path.replaceAll(/\{\w+\}/g, () => randomUUID());
    socket.write(requestHead(method, concrete, { 'content-type': 'application/json', 'content-length': '1000' }));
    expect(await Promise.race([nextStatus(socket), sleep(ANSWER_MS_MAX, null, { ref: false })])).toBe(401);
    socket.destroy();
  },
);

/** Well below the time that a body may take. */
const TOGETHER_MS_MAX = 2_500;
const SENDING_ATTEMPTS = 40;

test('unauthenticated bodies take at most 64 MiB together; afterwards valid ones are read again', async () => {
  const held = 63_000;
  const roomFor = Math.floor((64 * 1024 * 1024) / held);
  const body = ' '.repeat(held);
  const headers = { 'content-type': 'application/json', 'content-length': String(held + 1) };
  const sendAll = async () => {
    const sockets = await Promise.all(Array.from({ length: roomFor + 50 }, () => socketTo(api.url)));
    const began = performance.now();
    const answers = sockets.map(nextStatus);
    const text = requestHead('POST', '/provider-callbacks/sandbox-bank', headers) + body;
    await Promise.all(sockets.map((socket) => new Promise<void>((sent) => socket.write(text, () => sent()))));
    const areTogether = performance.now() - began < TOGETHER_MS_MAX;
    const statuses = await Promise.all(answers);
    for (const socket of sockets) socket.destroy();
    return areTogether ? statuses : null;
  };
  let statuses = await sendAll();
  const slots = (of: readonly (number | null)[]) => of.filter((status) => status === 408).length;
  // A busy machine sends or reads the last bodies when the first have already been given up, and their slots are free again.
  const isLate = () => statuses === null || slots(statuses) > roomFor;
  for (let attempt = 2; isLate() && attempt <= SENDING_ATTEMPTS; attempt += 1) statuses = await sendAll();
  if (statuses === null) throw new Error('this machine is too slow to send so many bodies together');
  // Those who got a slot and did not use it in time; the others were rejected, and may have lost the answer by a reset while they still sent.
  expect(statuses.filter((status) => status !== 408 && status !== 429 && status !== null)).toEqual([]);
  expect(slots(statuses)).toBeLessThanOrEqual(roomFor);
  expect(statuses.filter((status) => status !== 408).length).toBeGreaterThanOrEqual(50);
  expect(await callback()).toBe(200);
});

/** Of an account that the service does not know: it is stored, and waits. */
const CHANGE = { ourReference: randomUUID(), changeReference: 'change-1' };

async function callback(): Promise<number> {
  const event = { id: `evt-${newId()}`, type: 'account-changed', createdAt: new Date().toISOString(), data: CHANGE };
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', SECRET).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  const signed = { 'webhook-id': event.id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
  const answer = await fetch(`${api.url}/provider-callbacks/sandbox-bank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed },
    body,
  });
  return answer.status;
}

describe('a password', () => {
  test('is rejected by its length before it is composed', () => {
    const composing = vi.spyOn(String.prototype, 'normalize');
    try {
      expect(checkPassword('\uFDFA'.repeat(349_000), [])).toBe('too-long');
      expect(composing).not.toHaveBeenCalled();
    } finally {
      composing.mockRestore();
    }
  });

  test('of a megabyte is rejected as a form, one of the largest form as a password; the link stays good', async () => {
    const send = (password: string) =>
      fetch(`${api.url}/sign-up/${signUpToken}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `answer=accept&password=${password}`,
      });
    expect((await send('\uFDFA'.repeat(349_000))).status).toBe(413);
    // No form that a person fills in exceeds 8 kB.
    expect((await send('a'.repeat(8 * 1024))).status).toBe(413);
    const page = await send('\uFDFA'.repeat(2_700));
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('at most 128 characters');
    // 128 of the characters that are longest in a form.
    const longest = Array.from({ length: 128 }, (_, index) => String.fromCodePoint(0x10428 + (index % 40))).join('');
    expect((await send(encodeURIComponent(longest))).status).toBe(200);
  });
});

describe('tokens of unknown keys', () => {
  /** An API on the same database whose reads of keys are counted. */
  async function countingApi(): Promise<{ url: string; reads(): number; stop(): Promise<void> }> {
    let reads = 0;
    const { reader } = api.database;
    const counting = new Proxy(reader, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (name === 'statement' && String(given[0]).includes('machine_user_keys')) reads += 1;
          return Reflect.apply(value, target, given);
        };
      },
    });
    const services = { ...api.services, database: Object.assign(Object.create(api.database), { reader: counting }) };
    const server = await startServer(createApi(services), { port: 0, host: null });
    return { url: `http://127.0.0.1:${server.port}`, reads: () => reads, stop: () => server.drain() };
  }

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const strange = () => signToken({ id: api.users.operator.id, kid: randomUUID(), privateKey }, { aud: 'x' });
  const statusOf = async (url: string, token: string) =>
    (await fetch(`${url}/machine-users`, { headers: { authorization: `Bearer ${token}` } })).status;

  test('are 401 and cost no read of the database each, and known and new keys count all the while', async () => {
    const counted = await countingApi();
    try {
      expect(await statusOf(counted.url, api.users.admin.token)).toBe(200);
      const before = counted.reads();
      const tokens = await Promise.all(Array.from({ length: 600 }, strange));
      const flood = Promise.all(tokens.map((token) => statusOf(counted.url, token)));
      // This process has not seen their keys before.
      const fresh = await Promise.all(
        [api.users.viewer, api.users.operator].map(({ token }) => statusOf(counted.url, token)),
      );
      expect(fresh).toEqual([403, 403]);
      expect(await statusOf(counted.url, api.users.admin.token)).toBe(200);
      expect(new Set(await flood)).toEqual(new Set([401]));
      expect(counted.reads() - before).toBeLessThan(100);
      // Sent again they cost nothing at all.
      const afterwards = counted.reads();
      expect(await statusOf(counted.url, tokens[0] ?? '')).toBe(401);
      expect(counted.reads()).toBe(afterwards);
    } finally {
      await counted.stop();
    }
  });
});

describe('metrics', () => {
  test('are shown on their own port, and at nothing else there', async () => {
    const shown = await fetch(api.metricsUrl);
    expect(shown.status).toBe(200);
    expect(await shown.text()).toContain('# TYPE http_request_duration_seconds histogram');
    for (const path of ['', 'clients', 'health/ready', 'metrics/x'])
      expect((await fetch(new URL(`/${path}`, api.metricsUrl))).status).toBe(404);
    expect((await fetch(api.metricsUrl, { method: 'POST' })).status).toBe(404);
  });

  test('are not on the port of the API', async () => {
    expect((await api.call('GET', '/metrics', undefined, { as: null })).status).toBe(404);
    expect((await api.call('GET', '/metrics', undefined, { as: 'admin' })).status).toBe(404);
    const { body } = await api.call('GET', '/openapi.json', undefined, { as: null });
    expect(Object.keys(body.paths)).not.toContain('/metrics');
  });
});

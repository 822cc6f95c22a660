import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { SECURITY_REJECTIONS, type SecurityRejection } from '../../../api/http/connections/security-rejections.ts';
import { credentialOf } from '../../../api/http/respond.ts';
import type { AnyRoute } from '../../../api/http/third-party-route.ts';
import { ROUTES } from '../../../api/routes.ts';
import { type Json, signToken, startApi, type TestApi } from '../../harness/api.ts';
import { nextStatus, requestHead, socketTo } from '../../harness/faults/sockets.ts';
import {
  ASSERTION_TYPE,
  newKey,
  signed,
  type ThirdParty,
  thirdPartyWorld,
} from '../../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

/** Rejections that an attack would cause have a line in the log and are counted, and show nothing of what was sent. */

const EMAIL = 'canary.address@example.com';
const PASSWORD = 'canary password of a person';
const SIGNATURE = `v1,${Buffer.from('canary signature').toString('base64')}`;
const JSON_TYPE = { 'content-type': 'application/json' };

let database: TestDatabase;
let api: TestApi;
let crowded: TestApi;
let full: TestApi;
let party: ThirdParty;
const lines: string[] = [];
const secrets: string[] = [EMAIL, PASSWORD, SIGNATURE];

beforeAll(async () => {
  database = await createTestDatabase('security-rejections');
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const bank = createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'shared' });
  api = await startApi(database, { logger, providers: new Map([['sandbox-bank', bank]]) });
  crowded = await startApi(database, {
    logger,
    users: api.users,
    configuration: (usual) => ({ ...usual, connections: { ...usual.connections, withoutTokenPerAddress: 0 } }),
  });
  full = await startApi(database, { logger, users: api.users, limits: { connectionsMax: 1 } });
  party = await thirdPartyWorld(api).thirdParty();
});

afterAll(async () => {
  await full?.stop();
  await crowded?.stop();
  await api?.stop();
  await database?.drop();
});

const metrics = async () => (await fetch(api.metricsUrl)).text();

function countOf(text: string, reason: SecurityRejection): number {
  const [, count] = new RegExp(`^security_rejections_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text) ?? [];
  return Number(count);
}

function linesOf(reason: SecurityRejection): Json[] {
  const parsed: Json[] = lines.map((line) => JSON.parse(line));
  return parsed.filter((line) => line.event === 'security-rejection' && line.reason === reason);
}

/** Its path with parameters that have their form. */
function pathOf({ contract: { path } }: AnyRoute): string {
  return path
    .replace('{countryCode}', 'GB')
    .replace('{provider}', 'sandbox-bank')
    .replaceAll(/\{\w+\}/g, () => randomUUID());
}

function someRoute(credential: SecurityRejection): AnyRoute {
  const route = ROUTES.find((one) => one.contract.method === 'GET' && credentialOf(one) === credential);
  const found = route ?? ROUTES.find((one) => credentialOf(one) === credential);
  if (found === undefined) throw new Error(`no route takes ${credential}`);
  return found;
}

/** Sends a bearer that is not accepted. */
async function show(credential: SecurityRejection, token: string): Promise<number> {
  secrets.push(token);
  const route = someRoute(credential);
  const { method } = route.contract;
  const headers = { authorization: `Bearer ${token}`, ...(method === 'GET' ? {} : JSON_TYPE) };
  const answer = await fetch(`${api.url}${pathOf(route)}`, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  return answer.status;
}

async function signIn(email: string): Promise<number> {
  const source = { ipAddress: '203.0.113.199' };
  const body = { workflow: { code: 'password' }, data: { user: { email }, password: PASSWORD, source } };
  return (await api.call('POST', '/user-authentications', body)).status;
}

async function connectionClosedBy({ url }: TestApi): Promise<void> {
  const socket = await socketTo(url).catch(() => null);
  if (socket === null) return;
  socket.write(requestHead('GET', '/health/live', {}));
  expect(await nextStatus(socket)).toBeNull();
}

interface Provoked {
  /** Rejections that it caused. */
  readonly count: number;
  /** What the last line says in addition to its reason. */
  readonly line?: Json;
}

/** Each reason as it comes about. A new one does not compile without a line here. */
const PROVOKE: Readonly<Record<SecurityRejection, () => Promise<Provoked>>> = {
  token: async () => {
    const { privateKey, kid } = newKey();
    expect(await show('token', 'canary.of.nothing')).toBe(401);
    expect(await show('token', await signToken({ id: api.users.operator.id, kid, privateKey }, {}))).toBe(401);
    return { count: 2, line: { status: 401, method: 'GET', kid, machineUserId: null } };
  },
  'client-assertion': async () => {
    const { privateKey } = newKey();
    const assertion = await signed({ ...party, privateKey });
    secrets.push(assertion);
    const form = new URLSearchParams({ client_assertion_type: ASSERTION_TYPE, client_assertion: assertion });
    const answer = await fetch(`${api.url}/open-banking/GB/token`, { method: 'POST', body: form });
    expect(answer.status).toBe(401);
    expect(await show('client-assertion', assertion)).toBe(401);
    return { count: 2, line: { status: 401, kid: party.kid } };
  },
  'access-token': async () => {
    expect(await show('access-token', randomBytes(32).toString('base64url'))).toBe(401);
    return { count: 1, line: { status: 401, kid: null } };
  },
  'callback-signature': async () => {
    const id = 'evt-1';
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': SIGNATURE };
    const init = {
      method: 'POST',
      headers: { ...JSON_TYPE, ...signature },
      body: JSON.stringify({ id, email: EMAIL }),
    };
    const answer = await fetch(`${api.url}/provider-callbacks/sandbox-bank`, init);
    expect(answer.status).toBe(401);
    return { count: 1, line: { status: 401, provider: 'sandbox-bank', route: '/provider-callbacks/{provider}' } };
  },
  forbidden: async () => {
    const headers = { 'request-id': 'asked-by-a-viewer' };
    const answer = await api.call('POST', '/clients', { email: EMAIL }, { as: 'viewer', headers });
    expect(answer.status).toBe(403);
    const { id, kid } = api.users.viewer;
    const line = { requestId: 'asked-by-a-viewer', status: 403, machineUserId: id, kid, route: '/clients' };
    return { count: 1, line };
  },
  password: async () => {
    expect(await signIn(EMAIL)).toBe(422);
    return { count: 1, line: { status: 422, machineUserId: api.users.operator.id, route: '/user-authentications' } };
  },
  'password-locked': async () => {
    const email = `locked.${EMAIL}`;
    for (let status = 422; status !== 429; ) status = await signIn(email);
    return { count: 1, line: { status: 429, machineUserId: api.users.operator.id } };
  },
  'connections-of-address': async () => {
    await connectionClosedBy(crowded);
    return { count: 1 };
  },
  'connections-of-server': async () => {
    const holder = await socketTo(full.url);
    await connectionClosedBy(full);
    holder.destroy();
    return { count: 1 };
  },
};

test.each(SECURITY_REJECTIONS)('%s: each rejection has a line and is counted', async (reason) => {
  const before = countOf(await metrics(), reason);
  const { count, line = {} } = await PROVOKE[reason]();
  expect(countOf(await metrics(), reason) - before).toBe(count);
  const written = linesOf(reason);
  expect(written).toHaveLength(count);
  expect(written.at(-1)).toMatchObject({ ...line, sourceAddress: '127.0.0.1' });
});

test('every route that asks for a credential has its rejection counted as one', async () => {
  const asking = ROUTES.filter((route) => route.kind !== 'open' || '401' in route.contract.responses);
  const expected = new Map<SecurityRejection, number>();
  const before = await metrics();
  for (const route of asking) {
    const credential = credentialOf(route);
    if (credential === null) throw new Error(`${route.contract.path} does not say what it rejects with 401`);
    const { method } = route.contract;
    const isForm = route.kind === 'open' && route.contract.body?.mediaType.endsWith('form-urlencoded') === true;
    const headers = { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' };
    const hasBody = method === 'POST' || method === 'PATCH';
    const init = { method, headers, ...(hasBody ? { body: isForm ? 'a=b' : '{}' } : {}) };
    const answer = await fetch(`${api.url}${pathOf(route)}`, init);
    await answer.arrayBuffer();
    expect(answer.status, route.contract.path).toBe(401);
    expected.set(credential, (expected.get(credential) ?? 0) + 1);
  }
  const after = await metrics();
  for (const [reason, count] of expected) expect(countOf(after, reason) - countOf(before, reason), reason).toBe(count);
});

test('nothing that was sent is in the log', () => {
  const log = lines.join('');
  expect(secrets.length).toBeGreaterThan(6);
  for (const secret of [...secrets, '203.0.113.199', ...Object.values(api.users).map(({ token }) => token)])
    expect(log).not.toContain(secret);
});

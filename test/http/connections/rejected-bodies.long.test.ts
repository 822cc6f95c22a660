import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import type { AnyRoute } from '../../../api/http/third-party-route.ts';
import { ROUTES } from '../../../api/routes.ts';
import { ROLES, type Role } from '../../../domain/machine-users/roles.ts';
import { startApi, type TestApi } from '../../harness/api.ts';
import { UPLOADERS, type Upload } from '../../harness/faults/uploads/uploads.ts';
import { signed, type ThirdParty, thirdPartyWorld } from '../../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

/** A rejection must reach its caller also while the body of the request is still on its way (RFC 9112, 9.6). */

let database: TestDatabase;
let api: TestApi;
let limited: TestApi;
let party: ThirdParty;

beforeAll(async () => {
  database = await createTestDatabase('rejected-bodies');
  const bank = createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'shared' });
  api = await startApi(database, { providers: new Map([['sandbox-bank', bank]]), limits: { lingerMs: 60_000 } });
  limited = await startApi(database, {
    users: api.users,
    configuration: (configuration) => ({ ...configuration, rateLimit: { requestsPerSecond: 1 } }),
    limits: { lingerMs: 60_000 },
  });
  party = await thirdPartyWorld(api).thirdParty();
});

afterAll(async () => {
  await limited?.stop();
  await api?.stop();
  await database?.drop();
});

const takesBody = ({ contract: { method } }: AnyRoute) => method === 'POST' || method === 'PATCH';
const routes = ROUTES.filter(takesBody);
const MIB = 1024 * 1024;
/** Clients are still sending this when they are rejected. */
const BODY_BYTES = 2 * MIB;
/** The largest that a batch may have is 4 MiB. */
const LARGE_BYTES = 5 * MIB;
const JSON_TYPE = { 'content-type': 'application/json' };

interface Case extends Upload {
  readonly name: string;
  readonly status: number;
}

async function authorization(route: AnyRoute, role: Role): Promise<Record<string, string>> {
  if (route.kind === 'route') return { authorization: `Bearer ${api.users[role].token}` };
  // An access token is rejected like none at all; who signs its own token gets further.
  if (route.kind === 'open' || route.scope !== null) return {};
  return { authorization: `Bearer ${await signed(party)}` };
}

/** What can be rejected of a route before its body has been read. */
async function casesOf(route: AnyRoute): Promise<Case[]> {
  const { contract } = route;
  const { method } = contract;
  const path = contract.path
    .replace('{countryCode}', 'GB')
    .replace('{userEmail}', 'ada@example.com')
    .replaceAll(/\{\w+\}/g, () => randomUUID());
  const base = { method, path, bytes: BODY_BYTES, chunked: false };
  const name = (what: string) => `${method} ${contract.path}: ${what}`;
  const wrongMethod = { ...base, name: name('a wrong method'), method: 'PUT', headers: JSON_TYPE, status: 405 };
  if (route.kind === 'open') {
    const headers = { 'content-type': route.contract.body?.mediaType ?? 'none' };
    const unknown = /token$/.test(path) ? 413 : 404;
    return [wrongMethod, { ...base, name: name('an unknown caller'), headers, status: unknown }];
  }
  const stranger = { ...base, name: name('no token'), headers: JSON_TYPE, status: 401 };
  if (route.kind === 'third-party' && route.scope !== null) return [wrongMethod, stranger];
  const { roles, bodyLimit, dryRun } = route.contract;
  const allowed = roles?.[0] ?? 'operator';
  const bytes = bodyLimit === undefined ? BODY_BYTES : LARGE_BYTES;
  const known = async () => ({ ...(await authorization(route, allowed)), ...JSON_TYPE });
  const cases = [
    wrongMethod,
    stranger,
    { ...base, name: name('no JSON'), headers: { ...(await known()), 'content-type': 'text/plain' }, status: 415 },
    { ...base, bytes, name: name('a body that is too large'), headers: await known(), status: 413 },
    { ...base, bytes, name: name('the same without its length'), headers: await known(), chunked: true, status: 413 },
    { ...base, name: name('an unknown parameter'), path: `${path}?nonsense=1`, headers: await known(), status: 400 },
  ];
  const forbidden = ROLES.find((role) => roles?.includes(role) === false);
  if (route.kind === 'third-party' || forbidden === undefined) return cases;
  const headers = { ...(await authorization(route, forbidden)), ...JSON_TYPE };
  // Every role may make a dry run, and only the body says whether it is one.
  return [...cases, { ...base, name: name('another role'), headers, status: dryRun === undefined ? 403 : 413 }];
}

describe.each(Object.entries(UPLOADERS))('%s sees the rejection', (_, uploader) => {
  test('of every route that takes a body, whatever is wrong before the body is read', async () => {
    const cases = (await Promise.all(routes.map(casesOf))).flat();
    const nowhere = { method: 'POST', path: '/nowhere', headers: JSON_TYPE, bytes: BODY_BYTES, chunked: false };
    const all = [...cases, { ...nowhere, name: 'no route', status: 404 }];
    const answers = await uploader(api.url, all);
    const seen = all.map(({ name }, at) => `${name}: ${answers[at]?.status ?? answers[at]?.text}`);
    expect(seen).toEqual(all.map(({ name, status }) => `${name}: ${status}`));
    // In full: JSON, or the page of a link.
    for (const { text } of answers) expect(text).toMatch(/^\{.*\}$|<\/html>\s*$/s);
  });

  test('of a caller that exceeds its rate limit', async () => {
    const { token } = limited.users.operator;
    const headers = { ...JSON_TYPE, authorization: `Bearer ${token}` };
    const upload = { method: 'POST', path: '/clients', headers, bytes: BODY_BYTES, chunked: false };
    const answers = await uploader(limited.url, [upload, upload, upload]);
    // The first of a second is rejected for its length.
    for (const { status } of answers) expect([413, 429]).toContain(status);
    expect(answers.map(({ status }) => status)).toContain(429);
  });
});

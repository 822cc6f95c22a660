import { request as httpRequest } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressAt } from '../../console/page/page.ts';
import { PAGES, REMEDIES } from '../../console/pages.ts';
import type { Remedy } from '../../console/remedies/remedy.ts';
import { addressOf } from '../../console/remedies/remedy-pages.tsx';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { Browser, type BrowserAnswer } from './browser.ts';
import { type ConsoleCaller, type ConsoleUnderTest, SESSION_COOKIE, startConsole } from './console-under-test.ts';
import {
  type ConsoleWorld,
  EMAIL,
  FAMILY_NAME,
  GIVEN_NAME,
  idOn,
  makeConsoleWorld,
  RECEIVER_SECRET,
} from './console-world.ts';

// What an attacker, a careless person or a hostile text may do to the console, besides what every page and remedy is put through
// (pages.test.ts) and sign-ins and sessions are (sign-in.test.ts, sessions.test.ts).

let testDatabase: TestDatabase;
let api: TestApi;
let underTest: ConsoleUnderTest;
let world: ConsoleWorld;
const callers = new Map<Role, ConsoleCaller>();
/** Another session of each. */
const others = new Map<Role, ConsoleCaller>();
const log: string[] = [];
let aheadMs = 0;
let remediesOff: 'all' | readonly string[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase('console-abuse');
  // From which amount on a payment needs a second signature.
  api = await startApi(testDatabase, { env: { AUTHORIZATION_RULE: '1000' } });
  underTest = await startConsole(testDatabase, {
    now: () => new Date(Date.now() + aheadMs),
    logger: pino({}, { write: (line) => log.push(line) }),
    settings: (settings) =>
      Object.defineProperty({ ...settings }, 'remediesOff', { get: () => remediesOff, enumerable: true }),
  });
  world = await makeConsoleWorld(api);
  for (const role of ROLES) {
    callers.set(role, await underTest.signIn(role));
    others.set(role, await underTest.signIn(role));
  }
});

afterAll(async () => {
  await underTest?.stop();
  await api?.stop();
  await testDatabase?.drop();
});

function as(role: Role, of = callers): ConsoleCaller {
  const caller = of.get(role);
  if (caller === undefined) throw new Error(`no one is signed in as ${role}`);
  return caller;
}

function roleOf(remedy: Remedy): Role {
  const [role] = remedy.roles;
  if (role === undefined) throw new Error(`${remedy.kind} is for no role`);
  return role;
}

const idAt = (path: string) => idOn(world, path);
const addressOfPage = (path: string) => addressAt(path, { id: idAt(path) });
/** A remedy for many is asked for one that there is. */
const addressOfRemedy = (remedy: Remedy) =>
  `${addressOf(remedy, { id: idAt(remedy.page) })}${remedy.kind.startsWith('for-all-') ? '?remedy=cancel' : ''}`;

async function countOf(table: string, condition = 'true'): Promise<number> {
  const [row] = await testDatabase.asOwner<{ count: string }>(
    `SELECT count(*) AS count FROM ${table} WHERE ${condition}`,
  );
  return Number(row?.count);
}

/** An answer that was thought of: neither a fault, nor a page that tells of the machinery. */
function expectAnswered({ status, text, url }: BrowserAnswer): void {
  expect(status, `${url}: ${text}`).toBeLessThan(500);
  expectNoMachinery(text, url);
}

function expectNoMachinery(text: string, url: string): void {
  expect(text, url).not.toMatch(/node_modules|\.tsx?:\d|SELECT |invalid input syntax|PostgresError|TypeError/);
}

/** Bytes of our own making, past what `fetch` would send. */
function sendRaw(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<{ readonly status: number; readonly text: string; readonly headers: NodeJS.Dict<string | string[]> }> {
  const { hostname, port } = new URL(underTest.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

function cookieOf({ browser }: ConsoleCaller): string {
  return `${SESSION_COOKIE}=${browser.cookie(underTest.url, SESSION_COOKIE)}`;
}

const BAD_CURSORS = [
  '',
  '-1',
  '1e9',
  '999999999',
  '99999999999999999999',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '2026-99-99 99:99:99+99/00000000-0000-0000-0000-000000000000',
  '2026-11-26 10:00:00+00/------------------------------------',
  "'; DROP TABLE people; --",
  '\u0000',
];
const BAD_VALUES = ['\u0000', '\'"%_\\', '2026-02-31', '0000-01-01', '9999-12-31', 'x'.repeat(201), '\u202e', '\ud800'];

describe.each(PAGES.map(({ path }) => ({ path })))('the address of $path', ({ path }) => {
  test('may hold any cursor', async () => {
    const answers = await Promise.all(
      BAD_CURSORS.flatMap((cursor) =>
        (path.includes(':id') ? ['after', 'timeline-from'] : ['after']).map((name) =>
          as('admin').get(`${addressOfPage(path)}?${new URLSearchParams({ [name]: cursor })}`),
        ),
      ),
    );
    answers.forEach(expectAnswered);
  });

  test('may hold anything in each of its filters, and in their export', async () => {
    const { text } = await as('admin').get(addressOfPage(path));
    const form = /<form class="filters" method="get".*?<\/form>/s.exec(text)?.[0] ?? '';
    const names = [...form.matchAll(/<(?:input|select)[^>]* name="([^"]+)"/g)].map(([, name = '']) => name);
    const more = names.length === 0 ? [] : ['format'];
    for (const name of [...names, ...more, ...(path === '/search' ? ['q'] : [])]) {
      const answers = await Promise.all(
        BAD_VALUES.map((value) =>
          as('admin').get(`${addressOfPage(path)}?${new URLSearchParams({ [name]: value, unknown: value })}`),
        ),
      );
      answers.forEach(expectAnswered);
      const exports = await Promise.all(
        BAD_VALUES.slice(0, 3).map((value) =>
          as('admin').get(`${addressOfPage(path)}?${new URLSearchParams({ [name]: value, format: 'csv' })}`),
        ),
      );
      exports.forEach(expectAnswered);
    }
  });

  test.skipIf(!path.includes(':id'))('takes an id in one form only', async () => {
    const id = idAt(path);
    for (const wrong of [id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), `${id}%00`, `%2e%2e%2f${id}`, '1', "'"]) {
      const answer = await as('admin').get(addressAt(path, { id: 'ID' }).replace('ID', wrong));
      expect(answer.status, `${wrong}: ${answer.text}`).toBe(404);
    }
  });
});

describe('a path', () => {
  test.each([
    '//other.example/',
    '/%2f%2fother.example',
    '/accounts/..%2f..%2faccess',
    '/accounts/%2e%2e/%2e%2e/access',
    '/%252e%252e/access',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/x/console.css',
    '/accounts%00',
    '/%c0%ae%c0%ae/access',
    '/%ff',
    '/%',
    '/accounts/%E0%A4%A',
    '/;/access',
    '/access/.',
    '/ACCESS',
  ])('%s leads no one past the roles of a page, and nowhere else', async (path) => {
    const { status, text, headers } = await sendRaw('GET', path, { cookie: cookieOf(as('viewer')) });
    expect([301, 302, 303, 400, 403, 404], text).toContain(status);
    expectNoMachinery(text, path);
    expect(text).not.toContain('Machine users');
    expect(headers.location ?? '/').toMatch(/^\/(?!\/)/);
  });
});

describe('a request that is no page of a form', () => {
  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'POSTx'])(
    'by %s does nothing, also with a token',
    async (method) => {
      const before = await countOf('audit_entries');
      const caller = as('operator');
      const headers = {
        cookie: cookieOf(caller),
        origin: underTest.url,
        'content-type': 'application/x-www-form-urlencoded',
      };
      const body = new URLSearchParams({ csrf: caller.csrfToken, reason: 'because' }).toString();
      const address = `/outgoing-transfers/${world.unauthorized}/cancel`;
      const { status } = await sendRaw(method, address, headers, method === 'TRACE' ? '' : body);
      expect([400, 403, 404, 405]).toContain(status);
      expect(await countOf('audit_entries')).toBe(before);
    },
  );

  test.each([
    ['x-http-method-override', 'POST'],
    ['x-method-override', 'POST'],
    ['x-http-method', 'POST'],
  ])('cannot become one by %s', async (name, value) => {
    const before = await countOf('audit_entries');
    const address = `/outgoing-transfers/${world.unauthorized}/cancel?_method=POST&reason=because&csrf=${as('operator').csrfToken}`;
    const answer = await as('operator').get(address, { [name]: value });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('What will happen');
    expect(await countOf('audit_entries')).toBe(before);
  });

  test.each([
    ['application/json', (csrf: string) => JSON.stringify({ csrf, reason: 'because' })],
    ['text/plain', (csrf: string) => `csrf=${csrf}&reason=because`],
    ['text/plain;charset=utf-8', (csrf: string) => `csrf=${csrf}\r\nreason=because`],
    ['', (csrf: string) => `csrf=${csrf}&reason=because`],
    ['application/xml', (csrf: string) => `<csrf>${csrf}</csrf>`],
    ['multipart/form-data', (csrf: string) => `csrf=${csrf}`],
    ['multipart/form-data; boundary=', (csrf: string) => `--\r\n${csrf}`],
    [
      'multipart/form-data; boundary=x',
      (csrf: string) => `--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n${csrf}`,
    ],
  ])('of the type “%s” changes nothing', async (type, bodyOf) => {
    const caller = as('operator');
    const before = await countOf('audit_entries');
    const headers = { cookie: cookieOf(caller), origin: underTest.url, 'content-type': type };
    const address = `/outgoing-transfers/${world.unauthorized}/cancel`;
    const { status, text } = await sendRaw('POST', address, headers, bodyOf(caller.csrfToken));
    expect([400, 403], text).toContain(status);
    expectNoMachinery(text, type);
    expect(await countOf('audit_entries')).toBe(before);
  });

  test.each([
    ['http for https', (url: string) => url.replace('http:', 'https:')],
    ['our host without its port', (url: string) => url.replace(/:\d+$/, '')],
    ['a name below ours', (url: string) => url.replace('127', 'x.127')],
    ['user and password before our host', (url: string) => url.replace('//', '//a:b@')],
    ['our origin in capitals', (url: string) => url.toUpperCase()],
    ['our origin with a slash', (url: string) => `${url}/`],
    ['our origin twice', (url: string) => `${url}, ${url}`],
    ['this machine by its other name', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['a file', () => 'file://'],
    ['nothing', () => ''],
  ])('from an origin that is %s changes nothing', async (_, originOf) => {
    const caller = as('operator');
    const before = await countOf('audit_entries');
    const answer = await caller.browser.request(`${underTest.url}/stop-submissions`, {
      headers: { origin: originOf(underTest.url), 'sec-fetch-site': 'same-origin' },
      form: { csrf: caller.csrfToken, reason: 'because' },
    });
    expect(answer.status, answer.text).toBe(403);
    expect(await countOf('audit_entries')).toBe(before);
  });
});

describe('a form of a great size', () => {
  const post = (fields: Readonly<Record<string, string>>) =>
    as('operator').post(`/outgoing-transfers/${world.unauthorized}/look-up`, fields);

  test('with 10,000 fields is answered', async () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, 'x']));
    const answer = await post(fields);
    expect([413, 422]).toContain(answer.status);
  });

  test('with a reason of half a megabyte is not done, and the page does not give it back', async () => {
    const answer = await post({ reason: 'r'.repeat(500_000) });
    expect(answer.status).toBe(422);
    expect(answer.text.length).toBeLessThan(50_000);
  });

  test('with names of JavaScript’s own is like any other', async () => {
    const answer = await post({ __proto__x: 'x', constructor: 'x', toString: 'x', 'a.b[c]': 'x', reason: '' });
    expect(answer.status).toBe(422);
  });
});

describe('a reason', () => {
  test.each([
    ['a right-to-left override', 'paid\u202Efdp.exe'],
    ['a text that is isolated', '\u2066hidden\u2069'],
    ['a character of no width', 'ad\u200Bmin'],
    ['a line break', 'one\ntwo'],
    ['a NUL', 'a\u0000b'],
    ['an escape of a terminal', '\u001b[31mred'],
    ['nothing that can be seen', '\u2060\u00a0'],
    ['half of a character', '\ud83d'],
    ['too many marks', `e${'\u0301'.repeat(40)}`],
  ])('with %s is none', async (_, reason) => {
    const before = await countOf('audit_entries');
    const answer = await as('operator').post(`/outgoing-transfers/${world.unauthorized}/look-up`, { reason });
    // `fetch` sends half a character as U+FFFD, which is a character.
    if (reason === '\ud83d') return expectAnswered(answer);
    expect(answer.status, answer.text).toBe(422);
    expect(await countOf('audit_entries')).toBe(before);
  });
});

describe.each(REMEDIES.map((remedy) => ({ kind: remedy.kind, remedy })))('the remedy $kind', ({ kind, remedy }) => {
  const filled = { ...Object.fromEntries((remedy.fields ?? []).map(({ name }) => [name, 'x'])), reason: 'because' };

  test('finds what it is for', async () => {
    const answer = await as(roleOf(remedy)).get(addressOfRemedy(remedy));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain('What will happen');
  });

  test.each([
    ['all', 'all' as const],
    ['its kind', [kind]],
  ])('does nothing while %s is turned off, and says why', async (_, off) => {
    const before = await countOf('audit_entries');
    remediesOff = off;
    try {
      const caller = as(roleOf(remedy));
      for (const answer of [
        await caller.get(addressOfRemedy(remedy)),
        await caller.post(addressOfRemedy(remedy), filled),
      ]) {
        expect(answer.status).toBe(403);
        expect(answer.text).toContain('Turned off in this installation.');
      }
    } finally {
      remediesOff = [];
    }
    expect(await countOf('audit_entries')).toBe(before);
  });

  test('asks for a recent sign-in exactly if it moves money', async () => {
    const caller = as(roleOf(remedy));
    const [session] = await testDatabase.asOwner<{ at: Date }>(
      `SELECT signed_in_at AS at FROM console_sessions WHERE id = '${caller.sessionId}'`,
    );
    const limitMs = underTest.services.settings.recentSignInMinutes * 60_000;
    const sinceMs = Date.now() - (session?.at.getTime() ?? 0);
    const before = await countOf('audit_entries');
    try {
      aheadMs = limitMs + 1 - sinceMs;
      const [asked, sent] = [
        await caller.get(addressOfRemedy(remedy)),
        // Without a reason it is not done, if it comes so far.
        await caller.post(addressOfRemedy(remedy), { ...filled, reason: '' }),
      ];
      expect([asked.status, sent.status]).toEqual(remedy.movesMoney ? [303, 303] : [200, 422]);
      const leadsTo = remedy.movesMoney
        ? `/sign-in/again?return_to=${encodeURIComponent(addressOfRemedy(remedy))}`
        : null;
      expect([asked, sent].map(({ headers }) => headers.get('location'))).toEqual([leadsTo, leadsTo]);
      // As long before the limit as a request may take.
      aheadMs = limitMs - 30_000 - sinceMs;
      expect((await caller.get(addressOfRemedy(remedy))).status).toBe(200);
    } finally {
      aheadMs = 0;
    }
    expect(await countOf('audit_entries')).toBe(before);
  });

  test('is not done by a person whose role or session was taken away after the form was opened', async () => {
    const caller = as(roleOf(remedy), others);
    expect((await caller.get(addressOfRemedy(remedy))).status).toBe(200);
    const ofSession = `WHERE id = '${caller.sessionId}'`;
    const before = await countOf('audit_entries');
    await testDatabase.asOwner(`UPDATE console_sessions SET roles = ARRAY['viewer'] ${ofSession}`);
    expect((await caller.post(addressOfRemedy(remedy), filled)).status).toBe(403);
    await testDatabase.asOwner(`UPDATE console_sessions SET revoked_at = now() ${ofSession}`);
    expect((await caller.post(addressOfRemedy(remedy), filled)).status).toBe(401);
    await testDatabase.asOwner(
      `UPDATE console_sessions SET roles = ARRAY['${roleOf(remedy)}'], revoked_at = NULL ${ofSession}`,
    );
    expect(await countOf('audit_entries')).toBe(before);
  });

  test('is not done by the session of one person with the form of another', async () => {
    const [one, other] = [as(roleOf(remedy)), as(roleOf(remedy), others)];
    const before = await countOf('audit_entries');
    const answer = await one.post(addressOfRemedy(remedy), { ...filled, csrf: other.csrfToken });
    expect(answer.status).toBe(403);
    expect(await countOf('audit_entries')).toBe(before);
  });
});

describe('personal data', () => {
  const HIDDEN = [GIVEN_NAME, FAMILY_NAME, EMAIL, EMAIL.split('@')[0] ?? ''];

  test('is hidden from a viewer in every export', async () => {
    for (const { path } of PAGES) {
      const answer = await as('viewer').get(`${addressOfPage(path)}?format=csv`);
      if (answer.status !== 200) continue;
      for (const hidden of HIDDEN) expect(answer.text, path).not.toContain(hidden);
    }
  });

  test('is hidden from a viewer in what a search finds, also the address of a receiver from everybody', async () => {
    const { webhooks: receiver = '' } = world.ids;
    for (const q of [...Object.values(world.ids), FAMILY_NAME.toLowerCase().slice(0, 5)]) {
      const { text, status } = await as('viewer').get(`/search?q=${q}`);
      expect(status).toBe(200);
      for (const hidden of HIDDEN) expect(text, q).not.toContain(hidden);
    }
    const found = await as('admin').get(`/search?q=${receiver}`);
    expect(found.text).toContain('127.0.0.1:40123');
    expect(found.text).not.toContain(RECEIVER_SECRET);
  });

  test('is hidden from a viewer in the parts that live rows refresh', async () => {
    const answer = await as('viewer').get('/outgoing-transfers', { 'hx-request': 'true' });
    for (const hidden of HIDDEN) expect(answer.text).not.toContain(hidden);
  });

  test('is shown to a viewer by an act that is in the audit log, for this one page and this once', async () => {
    const [viewer, path] = [as('viewer'), `/clients/${world.client}`];
    const revealed = await viewer.post(`${path}/reveal`, { reason: 'A caller asks' });
    expect(revealed.text).toContain(FAMILY_NAME);
    for (const page of [path, '/clients', `/accounts/${world.account}`])
      expect((await viewer.get(page)).text, page).not.toContain(FAMILY_NAME);
    const entries = await testDatabase.asOwner(
      `SELECT resource, resource_id, role, reason FROM audit_entries WHERE action = 'revealed'`,
    );
    const entry = { resource: 'client', resource_id: world.client, role: 'viewer', reason: 'A caller asks' };
    expect(entries).toEqual([entry]);
  });

  test('that does not exist is not shown, and leaves nothing in the audit log', async () => {
    const before = await countOf('audit_entries');
    for (const id of ['0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e8f', 'x', world.account]) {
      const answer = await as('viewer').post(`/clients/${id}/reveal`, { reason: 'because' });
      expect(answer.status).toBe(404);
    }
    expect((await as('viewer').post(`/clients/${world.client}/reveal`, { reason: ' ' })).status).toBe(422);
    expect((await as('viewer').get(`/clients/${world.client}/reveal`)).status).toBe(404);
    expect(await countOf('audit_entries')).toBe(before);
  });
});

describe('the log', () => {
  test('of a page that failed holds what kind of fault it was and where, and nothing that was sent', async () => {
    await testDatabase.asOwner('ALTER TABLE clients RENAME COLUMN email TO email_away');
    try {
      const answer = await as('admin').get(`/clients?email=${EMAIL}&name=${FAMILY_NAME}`);
      expect(answer.status).toBe(500);
      expectNoMachinery(answer.text, answer.url);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    } finally {
      await testDatabase.asOwner('ALTER TABLE clients RENAME COLUMN email_away TO email');
    }
    const lines = log.filter((line) => line.includes('a page failed'));
    expect(lines.join()).toContain('"path":"/clients"');
    expect(lines.join()).toContain('"type":"');
  });

  test('holds no name, e-mail address, token or reason, whatever was done', async () => {
    const caller = await underTest.signIn('operator', new Browser());
    await caller.post(`/outgoing-transfers/${world.unauthorized}/cancel`, { reason: `for ${FAMILY_NAME}` });
    await caller.post(`/outgoing-transfers/${world.unauthorized}/cancel`, { reason: `again for ${FAMILY_NAME}` });
    const text = log.join('\n');
    const token = caller.browser.cookie(underTest.url, SESSION_COOKIE) ?? '';
    for (const secret of [GIVEN_NAME, FAMILY_NAME, EMAIL, token, caller.csrfToken, RECEIVER_SECRET, 'Ladyzhenskaya'])
      expect(text).not.toContain(secret);
  });
});

describe('a session', () => {
  test('is not kept alive by live rows of a page that was left open', async () => {
    const caller = await underTest.signIn('viewer');
    const seen = async () => {
      const [row] = await testDatabase.asOwner<{ at: Date }>(
        `SELECT last_seen_at AS at FROM console_sessions WHERE id = '${caller.sessionId}'`,
      );
      return row?.at.getTime();
    };
    const before = await seen();
    try {
      aheadMs = 20 * 60_000;
      expect((await caller.get('/outgoing-transfers', { 'hx-request': 'true' })).status).toBe(200);
      expect(await seen()).toBe(before);
      aheadMs = 31 * 60_000;
      expect((await caller.get('/outgoing-transfers', { 'hx-request': 'true' })).status).toBe(401);
    } finally {
      aheadMs = 0;
    }
  });

  test('is not found by its cookie under another name, or among several', async () => {
    const cookie = cookieOf(as('viewer'));
    const token = cookie.split('=')[1] ?? '';
    for (const sent of [`session=${token}`, `__Secure-session=${token}`, `__host-session=${token}`, `a=${cookie}`]) {
      const { status } = await sendRaw('GET', '/', { cookie: sent });
      expect(status, sent).toBe(303);
    }
  });
});

describe('the views that a person keeps', () => {
  const keep = (fields: Readonly<Record<string, string>>) =>
    as('viewer').post('/views', { path: '/clients', query: 'status=active', name: 'Mine', ...fields });

  test.each([
    '//other.example',
    '/\\other.example',
    'https://other.example/',
    '/clients/../../x',
    '/clients?x=//other.example',
    '/clients#x',
    '/%2f/other.example',
    '/clients\r\nset-cookie: a=b',
    'clients',
    '',
    `/${'a'.repeat(5_000)}`,
  ])('cannot be of the path %j', async (path) => {
    const before = await countOf('console_views');
    expect((await keep({ path })).status).toBe(422);
    expect(await countOf('console_views')).toBe(before);
  });

  test('lead to the list and nowhere else, whatever their query holds', async () => {
    const query = '"><script>alert(1)</script>\r\nlocation: //other.example&a=b#//other.example';
    const kept = await keep({ query, name: 'Odd' });
    expect(kept.status).toBe(303);
    expect(kept.headers.get('location')).toMatch(/^\/clients\?[\w%.=&+*-]*$/);
    const { text } = await as('viewer').get('/clients');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('Odd');
  });

  test('are of one person: another neither sees nor deletes them', async () => {
    await keep({ name: 'Of the viewer' });
    const [view] = await testDatabase.asOwner<{ id: string }>(
      `SELECT id FROM console_views WHERE name = 'Of the viewer'`,
    );
    expect((await as('admin').get('/clients')).text).not.toContain('Of the viewer');
    expect((await as('admin').post(`/views/${view?.id}/delete`)).status).toBe(404);
    expect(await countOf('console_views', `id = '${view?.id}'`)).toBe(1);
    expect((await as('viewer').post(`/views/${view?.id}/delete`)).status).toBe(303);
    expect(await countOf('console_views', `id = '${view?.id}'`)).toBe(0);
  });

  test('are not without end, also under paths that no list has', async () => {
    await testDatabase.asOwner(
      `INSERT INTO console_views SELECT gen_random_uuid(), '${as('compliance').personId}', '/x-' || n, 'n', '', now()
       FROM generate_series(1, 1000) AS n`,
    );
    const answer = await as('compliance').post('/views', { path: '/y', query: 'a=b', name: 'one more' });
    expect(answer.status).toBe(422);
  });
});

test.each(['9999-01-01T00:00:00Z', '+275760-09-13T00:00:00.000Z', '-000001-01-01T00:00:00Z', 'x', '', '0'])(
  'what has not happened yet cannot be said to have been seen: %j',
  async (at) => {
    const answer = await as('viewer').post('/seen', { at });
    expect(answer.status).toBe(303);
    const [row] = await testDatabase.asOwner<{ later: boolean }>(
      `SELECT coalesce(last_looked_at > now() OR last_looked_at < '2000-01-01', false) AS later FROM people
       WHERE id = '${as('viewer').personId}'`,
    );
    expect(row?.later).toBe(false);
  },
);

describe('a resource', () => {
  const STATUSES = {
    // An account with money is never closed or declined: contests.test.ts closes an empty one.
    accounts: ['pending', 'active', 'inactive', 'suspended'],
    clients: ['pending', 'active', 'inactive', 'suspended', 'closed', 'declined'],
    webhooks: ['active', 'paused', 'disabled'],
    'webhook-deliveries': ['pending', 'succeeded', 'failed'],
  } as const;
  const TABLES = {
    accounts: 'accounts',
    clients: 'clients',
    webhooks: 'webhook_subscriptions',
    'webhook-deliveries': 'webhook_deliveries',
  } as const;
  const CASES = Object.entries(STATUSES).flatMap(([folder, statuses]) =>
    statuses.map((status) => ({ folder, status })),
  );

  test.each(CASES)('of $folder that is $status can be looked at, with what can be done', async ({ folder, status }) => {
    const table = Object.entries(TABLES).find(([known]) => known === folder)?.[1];
    const id = world.ids[folder];
    const [before] = await testDatabase.asOwner<{ status: string }>(`SELECT status FROM ${table} WHERE id = '${id}'`);
    // Its other columns do not follow: only the pages are looked at.
    const set = (to: string) =>
      `SET session_replication_role = replica; UPDATE ${table} SET status = '${to}' WHERE id = '${id}'`;
    await testDatabase.asOwner(set(status));
    try {
      for (const role of ROLES) {
        const answer = await as(role).get(`/${folder}/${id}`);
        expect(answer.status, answer.text).toBe(200);
      }
      for (const remedy of REMEDIES.filter(({ page }) => page === `/${folder}/:id`)) {
        const answer = await as(roleOf(remedy)).get(addressOfRemedy(remedy));
        expect(answer.status, answer.text).toBe(200);
      }
    } finally {
      await testDatabase.asOwner(set(before?.status ?? ''));
    }
  });
});

// Last, as it changes what all others read.
describe('a text that a payer, a client, a receiver or a bank has sent', () => {
  const SENT = `</title></textarea>"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const FORMULA = '=HYPERLINK("http://other.example";"x")';
  const setAll = async (text: string) => {
    const quoted = `'${text.replaceAll("'", "''")}'`;
    const json = `'${JSON.stringify(text).replaceAll("'", "''")}'::jsonb`;
    const changes = [
      `outgoing_transfers SET description = ${quoted}, service_provider_id = ${quoted} || id, service_provider_reference = ${quoted},
        failure_code = 'transfer.cancelled', failure_message = ${quoted},
        beneficiary = jsonb_set(coalesce(beneficiary, '{}'), '{fullName}', ${json})`,
      `incoming_transfers SET sender_information = ${quoted}, sender_name = ${quoted}, service_provider_id = ${quoted} || id,
        service_provider_reference = ${quoted}`,
      `accounts SET account_holder_name = ${quoted}, ledger_number = ${quoted} || id, connection_reference = ${quoted}`,
      `clients SET full_name = ${quoted}, client_number = ${quoted} || id, country = ${quoted}, email = ${quoted},
        profile = jsonb_set(jsonb_set(profile, '{email}', ${json}), '{phone}', ${json})`,
      `webhook_subscriptions SET description = ${quoted}`,
      `webhook_deliveries SET type = ${quoted}, body = ${quoted}`,
      `webhook_attempts SET response_body = ${quoted}, error = ${quoted}`,
      `third_party_providers SET name = ${quoted}, application_name = ${quoted}, application_description = ${quoted}`,
      `machine_users SET name = ${quoted}`,
      `people SET name = ${quoted}, email = ${quoted}`,
      `console_views SET name = left(${quoted}, 60), query = ${quoted}`,
      `audit_entries SET reason = ${quoted}, actor = ${quoted}, action = ${quoted}, before = ${json}, after = jsonb_build_object(${quoted}, ${json})`,
    ];
    for (const change of changes)
      await testDatabase.asOwner(`SET session_replication_role = replica; UPDATE ${change}`);
  };

  test('stands as text on every page, form and error', async () => {
    await setAll(SENT);
    const addresses = [
      ...PAGES.map(({ path }) => addressOfPage(path)),
      ...REMEDIES.map(addressOfRemedy),
      ...Object.values(world.ids).map((id) => `/search?q=${id}`),
      `/search?q=${encodeURIComponent(SENT)}`,
      `/clients?name=${encodeURIComponent(SENT)}`,
      `/clients?status=${encodeURIComponent(SENT)}`,
      `/${encodeURIComponent(SENT)}`,
    ];
    let shown = 0;
    for (const address of addresses) {
      for (const role of ['operator', 'admin', 'viewer'] as const) {
        const { text, status } = await as(role).get(address);
        expect(status, `${address}: ${text}`).toBeLessThan(500);
        expect(text, address).not.toMatch(/<script>|<img|onerror=alert\(1\)>|<\/title>.*<\/title>/);
        if (text.includes('&lt;script&gt;')) shown += 1;
      }
    }
    expect(shown).toBeGreaterThan(40);
  });

  test('is no formula in any export', async () => {
    await setAll(FORMULA);
    let lines = 0;
    for (const { path } of PAGES) {
      const { headers, text } = await as('admin').get(`${addressOfPage(path)}?format=csv`);
      if (!(headers.get('content-type') ?? '').startsWith('text/csv')) continue;
      expect(headers.get('content-disposition'), path).toMatch(/^attachment; filename="[a-z0-9-]+\.csv"$/);
      expect(text, path).not.toMatch(/(^|[\r\n,;])"*[=+@\t]/);
      lines += text.split('\r\n').length - 2;
    }
    expect(lines).toBeGreaterThan(8);
  });
});

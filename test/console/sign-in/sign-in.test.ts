import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ROLES } from '../../../domain/machine-users/roles.ts';
import { SANDBOX_PEOPLE, type SandboxPerson } from '../../../sandbox/identity/people.ts';
import { auditOf } from '../../harness/audit.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { Browser, locationOf } from '../browser.ts';
import { BROWSER_COOKIE, type ConsoleUnderTest, SESSION_COOKIE, startConsole } from '../console-under-test.ts';

// People sign in to the console at a real OpenID provider.

const PEOPLE: readonly SandboxPerson[] = [
  ...SANDBOX_PEOPLE,
  { ...personNamed('two-groups', 'Two Groups'), groups: ['sandbox-viewers', 'sandbox-approvers', 'choir'] },
  { ...personNamed('as-text', 'As Text'), groups: 'sandbox-operators choir' },
];

function personNamed(id: string, name: string) {
  return { id, name, email: `${id}@company.example`, title: '', groups: [] as readonly string[] };
}

let testDatabase: TestDatabase;
let console_: ConsoleUnderTest;
const log: string[] = [];
/** What the provider answers in place of itself. */
let instead: ((request: Request) => Promise<Response | null> | Response | null) | null = null;

beforeAll(async () => {
  testDatabase = await createTestDatabase('sign-in');
  console_ = await startConsole(testDatabase, {
    people: PEOPLE,
    atProvider: (request) => instead?.(request) ?? null,
    logger: pino({}, { write: (line) => log.push(line) }),
  });
});

afterAll(async () => {
  await console_?.stop();
  await testDatabase?.drop();
});

beforeEach(() => {
  instead = null;
});

const at = (path: string) => `${console_.url}${path}`;

async function sessionCount(): Promise<number> {
  const [row] = await testDatabase.asOwner<{ count: string }>('SELECT count(*) AS count FROM console_sessions');
  return Number(row?.count);
}

describe('who may sign in', () => {
  test.each(ROLES)('a person with the group of %s signs in and has this role and no other', async (role) => {
    const caller = await console_.signIn(role);
    expect((await caller.get('/')).status).toBe(200);
    const [session] = await testDatabase.asOwner(`SELECT roles FROM console_sessions WHERE id = '${caller.sessionId}'`);
    expect(session?.roles).toEqual([role]);
  });

  test('a person has the roles of all their groups, however the claim is written, and groups without one give nothing', async () => {
    for (const [who, roles] of [
      ['two-groups', ['approver', 'viewer']],
      ['as-text', ['operator']],
    ] as const) {
      const caller = await console_.signIn(who);
      expect((await auditOf(console_.database.reader, caller.personId)).at(-1)?.after.roles, who).toEqual(roles);
    }
  });

  test('without a group that has a role there is no session, and the page names the claim and nothing of the person', async () => {
    const before = await sessionCount();
    const browser = new Browser();
    const answer = await console_.walk(browser, at('/sign-in'), 'without-role');
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('“groups”');
    expect(answer.text).not.toMatch(/bohr|company\.example|eyJ/i);
    expect(browser.cookie(console_.url, SESSION_COOKIE)).toBeNull();
    expect(await sessionCount()).toBe(before);
  });

  test('a person is the same at each sign-in, with the name of the last, and each sign-in is in the audit log', async () => {
    const [first, second] = [await console_.signIn('admin'), await console_.signIn('admin')];
    expect(second.personId).toBe(first.personId);
    const signIns = (await auditOf(console_.database.reader, first.personId)).filter(
      ({ action }) => action === 'signed-in',
    );
    expect(signIns.slice(-2).map(({ resource, actor, after }) => [resource, actor, after.sessionId])).toEqual(
      [first, second].map(({ sessionId }) => ['person', first.personId, sessionId]),
    );
  });
});

describe('a sign-in that was not begun here', () => {
  test('a state works once', async () => {
    const browser = new Browser();
    const callback = await console_.walkToCallback(browser, at('/sign-in'), 'viewer');
    expect((await browser.request(callback)).status).toBe(303);
    const replayed = await browser.request(callback);
    expect([replayed.status, replayed.headers.getSetCookie()]).toEqual([400, []]);
  });

  test('a callback in another browser gets no session, and does not work in its own afterwards', async () => {
    for (const other of [new Browser(), new Browser()]) {
      const browser = new Browser();
      const callback = await console_.walkToCallback(browser, at('/sign-in'), 'admin');
      const rejected = await other.request(callback);
      expect(rejected.status).toBe(400);
      expect(rejected.text).toContain('another browser');
      expect(other.cookie(console_.url, SESSION_COOKIE)).toBeNull();
      expect((await browser.request(callback)).status).toBe(400);
      // The second of them has begun a sign-in of its own.
      other.setCookie(console_.url, BROWSER_COOKIE, 'A'.repeat(43));
    }
  });

  test.each<[string, (callback: URL) => void]>([
    ['a state of ours', ({ searchParams }) => searchParams.set('state', 'A'.repeat(43))],
    ['a state', ({ searchParams }) => searchParams.delete('state')],
    ['its own state', ({ searchParams }) => searchParams.append('state', 'A'.repeat(43))],
    ['a code of the provider', ({ searchParams }) => searchParams.set('code', 'A'.repeat(43))],
    ['a code', ({ searchParams }) => searchParams.delete('code')],
    ['the issuer', ({ searchParams }) => searchParams.set('iss', 'https://other.example')],
    ['an issuer', ({ searchParams }) => searchParams.delete('iss')],
  ])('a callback without %s gets no session', async (_, change) => {
    const browser = new Browser();
    const callback = new URL(await console_.walkToCallback(browser, at('/sign-in'), 'admin'));
    change(callback);
    const answer = await browser.request(callback.href);
    expect(answer.status).toBe(400);
    expect(browser.cookie(console_.url, SESSION_COOKIE)).toBeNull();
  });

  test.each([
    ['nonce', "nonce = 'another'"],
    ['PKCE verifier', `code_verifier = '${'A'.repeat(43)}'`],
    ['time', "created_at = created_at - interval '601 seconds'"],
  ])('a code that belongs to another %s gets no session', async (_, change) => {
    const browser = new Browser();
    const callback = await console_.walkToCallback(browser, at('/sign-in'), 'admin');
    await testDatabase.asOwner(`UPDATE console_sign_ins SET ${change}`);
    const answer = await browser.request(callback);
    expect(answer.status).toBe(400);
    expect(browser.cookie(console_.url, SESSION_COOKIE)).toBeNull();
  });

  test('an ID token that the provider has not signed gets no session', async () => {
    instead = async (request) => {
      if (!request.url.endsWith('/token')) return null;
      instead = null;
      const answer = await fetch(request.url, {
        method: 'POST',
        headers: passedOn(request),
        body: await request.text(),
      });
      const tokens: { id_token: string } = JSON.parse(await answer.text());
      const [head, body, signature = ''] = tokens.id_token.split('.');
      const forged = `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
      return Response.json({ ...tokens, id_token: forged });
    };
    const browser = new Browser();
    const callback = await console_.walkToCallback(browser, at('/sign-in'), 'admin');
    expect((await browser.request(callback)).status).toBe(400);
    expect(browser.cookie(console_.url, SESSION_COOKIE)).toBeNull();
  });

  test('the provider gets a challenge by S256, a state, a nonce and the wish for auth_time, none twice', async () => {
    const browser = new Browser();
    const asked = [await browser.request(at('/sign-in')), await browser.request(at('/sign-in'))].map(
      (answer) => new URL(locationOf(answer)).searchParams,
    );
    for (const name of ['state', 'nonce', 'code_challenge']) {
      const values = asked.map((query) => query.get(name));
      expect(values[0], name).toMatch(/^[\w-]{43}$/);
      expect(values[0], name).not.toBe(values[1]);
    }
    expect(asked[0]?.get('code_challenge_method')).toBe('S256');
    expect(asked[0]?.get('max_age')).toBe('28800');
    // Both are finished in the end: pages of one browser do not disturb each other.
    const [state] = asked.map((query) => query.get('state') ?? '');
    const [row] = await testDatabase.asOwner(
      `SELECT encode(state_hash, 'hex') AS hash FROM console_sign_ins WHERE state_hash = '\\x${sha256(state ?? '')}'`,
    );
    expect(row?.hash).toBe(sha256(state ?? ''));
  });
});

describe('what goes wrong at the provider', () => {
  test('a person who cancels there reads that the sign-in was declined', async () => {
    const answer = await console_.walk(new Browser(), at('/sign-in'), '');
    expect([answer.status, answer.text.includes('declined')]).toEqual([403, true]);
  });

  test('a provider that does not answer, or fails, gets a page with 503, and the sign-in works once it is back', async () => {
    const other = await startConsole(testDatabase, { atProvider: (request) => instead?.(request) ?? null });
    try {
      instead = () => new Response('down', { status: 502 });
      const browser = new Browser();
      expect((await browser.request(`${other.url}/sign-in`)).status).toBe(503);
      instead = null;
      const callback = await other.walkToCallback(browser, `${other.url}/sign-in`, 'viewer');
      instead = () => new Response('down', { status: 502 });
      const failed = await browser.request(callback);
      expect([failed.status, failed.text.includes('/sign-in?return_to=')]).toEqual([503, true]);
      instead = null;
      await other.signIn('viewer', browser);
    } finally {
      await other.stop();
    }
  });

  test('a provider that has ended a connection since its last answer is asked on another', async () => {
    const other = await startConsole(testDatabase, { providerEndsConnections: true });
    try {
      for (let count = 0; count < 3; count += 1) await other.signIn('viewer');
    } finally {
      await other.stop();
    }
  });

  test('a provider that is gone gets a page with 503', async () => {
    const gone = await startConsole(testDatabase, {
      settings: (settings) => ({
        ...settings,
        identityProvider: { ...settings.identityProvider, issuer: 'http://127.0.0.1:1/identity' },
      }),
    });
    try {
      expect((await new Browser().request(`${gone.url}/sign-in`)).status).toBe(503);
    } finally {
      await gone.stop();
    }
  });
});

describe('the session’s cookie', () => {
  test('is for this host only, over https, out of reach of scripts, and only its digest is stored', async () => {
    const browser = new Browser();
    const callback = await console_.walkToCallback(browser, at('/sign-in'), 'viewer');
    const cookies = (await browser.request(callback)).headers.getSetCookie();
    const [cookie = ''] = cookies;
    expect(cookies).toHaveLength(1);
    const [pair = '', ...flags] = cookie.split('; ');
    expect(pair).toMatch(/^__Host-session=[\w-]{43}$/);
    expect(flags.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
    const dump = JSON.stringify(
      await testDatabase.asOwner('SELECT row_to_json(console_sessions) FROM console_sessions'),
    );
    const token = browser.cookie(console_.url, SESSION_COOKIE) ?? '';
    expect(dump).not.toContain(token);
    expect(dump).toContain(sha256(token));
    const began = (await browser.request(at('/sign-in'))).headers.getSetCookie().join();
    expect(began).toMatch(/^__Host-sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  });

  test('one that was there before the sign-in is not used by it, and ends if it was open', async () => {
    const planted = new Browser();
    planted.setCookie(console_.url, SESSION_COOKIE, 'A'.repeat(43));
    await console_.signIn('admin', planted);
    expect(planted.cookie(console_.url, SESSION_COOKIE)).not.toBe('A'.repeat(43));

    const attacker = await console_.signIn('viewer');
    const token = attacker.browser.cookie(console_.url, SESSION_COOKIE) ?? '';
    const victim = new Browser();
    victim.setCookie(console_.url, SESSION_COOKIE, token);
    const caller = await console_.signIn('admin', victim);
    expect(victim.cookie(console_.url, SESSION_COOKIE)).not.toBe(token);
    expect((await caller.get('/')).status).toBe(200);
    expect((await attacker.get('/')).status).toBe(303);
  });

  test.each(['', 'x', 'A'.repeat(42), 'A'.repeat(43), 'A'.repeat(44), `${'A'.repeat(42)}%27`])(
    'one that is none (%j) signs no person in',
    async (token) => {
      const browser = new Browser();
      browser.setCookie(console_.url, SESSION_COOKIE, token);
      expect((await browser.request(at('/'))).status).toBe(303);
    },
  );
});

describe('after the sign-in', () => {
  test('the person is where they wanted to go', async () => {
    const browser = new Browser();
    const asked = await browser.request(at('/outgoing-transfers?status=pending&q=%C3%A4'));
    const answer = await console_.walk(browser, locationOf(asked), 'viewer');
    expect(locationOf(answer)).toBe(at('/outgoing-transfers?status=pending&q=%C3%A4'));
  });

  test.each([
    'https://other.example/',
    '//other.example/',
    '///other.example/',
    '/\\other.example/',
    '\\\\other.example/',
    '/\t/other.example/',
    '/\n/other.example/',
    '/.//other.example/',
    '/..//other.example/',
    '/x/..//other.example/',
    '/%2e//other.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'other.example',
    '@other.example/',
    ' //other.example/',
    'http:other.example',
    '//user@other.example',
    '/\u0000//other.example',
    '/sign-in',
    '/sign-in/again?return_to=/',
    '/sign-out',
  ])('%j leads to the first page of the console and nowhere else', async (wanted) => {
    const browser = new Browser();
    const answer = await console_.walk(browser, at(`/sign-in?return_to=${encodeURIComponent(wanted)}`), 'viewer');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, at('/')]);
  });

  test('nor does a path that is too long for an address', async () => {
    const answer = await console_.walk(new Browser(), at(`/sign-in?return_to=/${'a'.repeat(2_000)}`), 'viewer');
    expect(answer.headers.get('location')).toBe(at('/'));
  });

  test('on this machine the console has one name, under which its cookies are', async () => {
    const { port } = new URL(console_.url);
    const answer = await new Browser().request(`http://localhost:${port}/sign-in?return_to=/waiting`);
    expect(locationOf(answer)).toBe(at('/sign-in?return_to=/waiting'));
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

test('the log says that sign-ins were rejected and why, and holds no code, token, state, name or address of a person', () => {
  const text = log.join('\n');
  for (const reason of ['unknown', 'other-browser', 'expired', 'denied', 'no-role', 'failed'])
    expect(text, reason).toContain(`"reason":"${reason}"`);
  expect(text).not.toMatch(/eyJ|[\w-]{43}|company\.example|turing|rubin|bohr/i);
});

function passedOn(request: Request): Headers {
  const headers = new Headers(request.headers);
  for (const name of ['host', 'content-length', 'connection']) headers.delete(name);
  return headers;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

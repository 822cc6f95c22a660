import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retentionActivities } from '../../../activities/common/retention.ts';
import { digestOf } from '../../../console/http/secrets.ts';
import { findSession, revokeSession } from '../../../db/people/sessions.ts';
import { auditOf, TESTER } from '../../harness/audit.ts';
import { TEST_KEYRING } from '../../harness/keyring.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { Browser, type BrowserAnswer } from '../browser.ts';
import { type ConsoleCaller, type ConsoleUnderTest, SESSION_COOKIE, startConsole } from '../console-under-test.ts';

// How long a person stays signed in to the console, and what may be sent from which page.

const MINUTE_MS = 60_000;

let testDatabase: TestDatabase;
let console_: ConsoleUnderTest;
/** How far real time is ahead. */
let aheadMs = 0;
/** How far the sandbox's clock is. */
let clockOffset = '0';

beforeAll(async () => {
  testDatabase = await createTestDatabase('sessions');
  console_ = await startConsole(testDatabase, {
    now: () => new Date(Date.now() + aheadMs),
    clockOffset: () => clockOffset,
  });
});

afterAll(async () => {
  await console_?.stop();
  await testDatabase?.drop();
});

beforeEach(() => {
  aheadMs = 0;
  clockOffset = '0';
});

async function isSignedIn(caller: ConsoleCaller): Promise<boolean> {
  // The page that costs the least.
  const { status } = await caller.get('/search');
  expect([200, 303]).toContain(status);
  return status === 200;
}

async function lastSeen({ sessionId }: ConsoleCaller): Promise<Date> {
  const [row] = await testDatabase.asOwner<{ at: Date }>(
    `SELECT last_seen_at AS at FROM console_sessions WHERE id = '${sessionId}'`,
  );
  if (row === undefined) throw new Error('there is no such session');
  return row.at;
}

describe('a session', () => {
  test('goes by real time: with the sandbox’s clock moved by three days the person is still signed in, and can sign in', async () => {
    const caller = await console_.signIn('operator');
    clockOffset = '3 days';
    expect(await isSignedIn(caller)).toBe(true);
    expect(await isSignedIn(await console_.signIn('viewer'))).toBe(true);
  });

  test('ends after half an hour without a request, and not before', async () => {
    const caller = await console_.signIn('viewer');
    aheadMs = 29 * MINUTE_MS;
    expect(await isSignedIn(caller)).toBe(true);
    aheadMs = 58 * MINUTE_MS;
    expect(await isSignedIn(caller)).toBe(true);
    aheadMs = 89 * MINUTE_MS;
    expect(await isSignedIn(caller)).toBe(false);
  });

  test('ends eight hours after its sign-in, however much it is used', async () => {
    const caller = await console_.signIn('viewer');
    for (let minutes = 20; minutes < 480; minutes += 20) {
      aheadMs = minutes * MINUTE_MS;
      expect(await isSignedIn(caller), `${minutes} minutes`).toBe(true);
    }
    aheadMs = 481 * MINUTE_MS;
    expect(await isSignedIn(caller)).toBe(false);
  });

  test('notes its use at most once a minute', async () => {
    const caller = await console_.signIn('viewer');
    const began = await lastSeen(caller);
    aheadMs = 50_000 - (Date.now() - began.getTime());
    await caller.get('/');
    expect(await lastSeen(caller)).toEqual(began);
    aheadMs = 2 * MINUTE_MS;
    await caller.get('/');
    expect((await lastSeen(caller)).getTime()).toBeGreaterThan(began.getTime() + MINUTE_MS);
  });

  test('ends at once when an administrator revokes it, which is audited, and others go on', async () => {
    const [caller, other] = [await console_.signIn('approver'), await console_.signIn('approver')];
    const revoke = () => console_.database.transaction((tx) => revokeSession(tx, caller.sessionId, TESTER, new Date()));
    expect(await revoke()).toBe(true);
    expect(await revoke(), 'again').toBe(false);
    expect([await isSignedIn(caller), await isSignedIn(other)]).toEqual([false, true]);
    const audited = await auditOf(console_.database.reader, caller.personId);
    expect(audited.filter(({ action }) => action === 'session-revoked')).toMatchObject([
      { actor: TESTER.actor, before: { sessionId: caller.sessionId } },
    ]);
  });

  test('ends with the sign-out, whose page leads on to the provider’s own sign-out, and is audited', async () => {
    const caller = await console_.signIn('compliance');
    const token = caller.browser.cookie(console_.url, SESSION_COOKIE) ?? '';
    const answer = await caller.post('/sign-out');
    expect(answer.status).toBe(200);
    expect(caller.browser.cookie(console_.url, SESSION_COOKIE)).toBeNull();
    caller.browser.setCookie(console_.url, SESSION_COOKIE, token);
    expect(await isSignedIn(caller)).toBe(false);
    expect((await auditOf(console_.database.reader, caller.personId)).at(-1)).toMatchObject({
      action: 'signed-out',
      actor: caller.personId,
      before: { sessionId: caller.sessionId },
    });
    const [, address = ''] = /^0; url=(.+)$/.exec(answer.headers.get('refresh') ?? '') ?? [];
    const atProvider = await caller.browser.open(address);
    expect([atProvider.status, atProvider.url.startsWith(console_.issuer)]).toEqual([200, true]);
  });

  test('is forgotten by housekeeping once it has ended, as are sign-ins that never came back', async () => {
    const [ended, open] = [await console_.signIn('viewer'), await console_.signIn('viewer')];
    const begin = () => new Browser().request(`${console_.url}/sign-in`);
    const age = () => testDatabase.asOwner(`UPDATE console_sign_ins SET created_at = now() - interval '11 minutes'`);
    const begun = async () => {
      const [row] = await testDatabase.asOwner<{ count: string }>('SELECT count(*) AS count FROM console_sign_ins');
      return Number(row?.count);
    };
    await begin();
    await age();
    await testDatabase.asOwner(
      `UPDATE console_sessions SET ends_at = now() - interval '1 second' WHERE id = '${ended.sessionId}'`,
    );
    expect(await begun()).toBeGreaterThan(0);
    const tasks = retentionActivities({
      ...console_.services,
      keyring: TEST_KEYRING,
      publicUrl: '',
      mail: { smtpUrl: null, from: '' },
    });
    expect(await new MockActivityEnvironment().run(tasks.forgetWhatHasExpired)).toBe('ok');
    const left = await testDatabase.asOwner<{ id: string }>('SELECT id FROM console_sessions');
    expect(left.map(({ id }) => id)).toContain(open.sessionId);
    expect(left.map(({ id }) => id)).not.toContain(ended.sessionId);
    expect(await begun()).toBe(0);
    // A flood of beginnings needs no housekeeping.
    for (let count = 0; count < 3; count += 1) await begin();
    await age();
    await begin();
    expect(await begun()).toBe(1);
  });
});

describe('a recent sign-in', () => {
  /** Of the session that the person's browser has now. */
  const signedInAt = async ({ browser }: ConsoleCaller): Promise<Date | undefined> => {
    const digest = digestOf(browser.cookie(console_.url, SESSION_COOKIE) ?? '');
    return (await findSession(console_.database.reader, digest))?.session.signedInAt;
  };

  test('is of the instant at which the person proved who they are, not of the way through a provider that knew them', async () => {
    const browser = new Browser();
    const first = await console_.signIn('operator', browser);
    const proved = await signedInAt(first);
    // Seconds are what auth_time tells.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const second = await console_.signIn('operator', browser);
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(await signedInAt(second)).toEqual(proved);
    const begin = `${console_.url}/sign-in/again?return_to=/outgoing-transfers`;
    const answer = await console_.walk(browser, begin, 'operator');
    expect(answer.headers.get('location')).toBe(`${console_.url}/outgoing-transfers`);
    expect((await signedInAt(second))?.getTime()).toBeGreaterThan(proved?.getTime() ?? Number.NaN);
    expect(await isSignedIn(second), 'the new session').toBe(true);
    const [old] = await testDatabase.asOwner(
      `SELECT revoked_at FROM console_sessions WHERE id = '${second.sessionId}'`,
    );
    expect(old?.revoked_at).not.toBeNull();
  });

  test('that the provider did not ask for again is none: the session stays as it was', async () => {
    const browser = new Browser();
    const caller = await console_.signIn('admin', browser);
    const before = await signedInAt(caller);
    const callback = await console_.walkToCallback(browser, `${console_.url}/sign-in/again`, 'admin');
    // As if the console had asked an hour later, and the provider had let the person through on the old sign-in.
    await testDatabase.asOwner(`UPDATE console_sign_ins SET created_at = created_at + interval '1 hour'`);
    const answer = await browser.request(callback);
    expect([answer.status, answer.text.includes('not asked to sign in again')]).toEqual([403, true]);
    expect(await signedInAt(caller)).toEqual(before);
    expect(await isSignedIn(caller)).toBe(true);
  });
});

describe('a form', () => {
  const send = (caller: ConsoleCaller, headers: Record<string, string>, form: Record<string, string>) =>
    caller.browser.request(`${console_.url}/sign-out`, { headers, form });

  const expectRejected = async (caller: ConsoleCaller, answer: BrowserAnswer, status = 403) => {
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).toContain('Nothing was changed');
    expect(await isSignedIn(caller)).toBe(true);
  };

  test.each<[string, Record<string, string>]>([
    ['another site', { origin: 'https://other.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['a name that begins like ours', { origin: '{url}.other.example' }],
    ['a sibling', { 'sec-fetch-site': 'same-site' }],
    ['another site, by its relation', { origin: '{url}', 'sec-fetch-site': 'cross-site' }],
    ['a typed address', { 'sec-fetch-site': 'none' }],
    ['nowhere', {}],
    ['another site that names ours as referrer', { referer: '{url}/', origin: 'https://other.example' }],
  ])('from %s changes nothing, even with the right token', async (_, given) => {
    const caller = await console_.signIn('viewer');
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('{url}', console_.url)]),
    );
    await expectRejected(caller, await send(caller, headers, { csrf: caller.csrfToken }));
  });

  test('without the session’s token, or with that of another session, changes nothing, even from our own page', async () => {
    const [caller, other] = [await console_.signIn('viewer'), await console_.signIn('viewer')];
    const own = { origin: console_.url, 'sec-fetch-site': 'same-origin' };
    for (const form of [{}, { csrf: '' }, { csrf: other.csrfToken }, { csrf: `${caller.csrfToken}x` }])
      await expectRejected(caller, await send(caller, own, form));
    const text = { method: 'POST', headers: { ...own, 'content-type': 'text/plain' } };
    await expectRejected(
      caller,
      await caller.browser.request(`${console_.url}/sign-out?csrf=${caller.csrfToken}`, text),
    );
    expect((await send(caller, { 'sec-fetch-site': 'same-origin' }, { csrf: caller.csrfToken })).status).toBe(200);
  });

  test('of a session that has ended changes nothing, and says so', async () => {
    const answer = await new Browser().request(`${console_.url}/sign-out`, {
      headers: { origin: console_.url },
      form: { csrf: 'x' },
    });
    expect([answer.status, answer.text.includes('Nothing was changed')]).toEqual([401, true]);
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('is no other method: %s is rejected without a token', async (method) => {
    const caller = await console_.signIn('viewer');
    const answer = await caller.browser.request(`${console_.url}/`, { method, headers: { origin: console_.url } });
    expect(answer.status).toBe(403);
  });

  test('that is too large is not read', async () => {
    const caller = await console_.signIn('viewer');
    const answer = await caller.post('/sign-out', { padding: 'x'.repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
    expect(await isSignedIn(caller)).toBe(true);
  });
});

test('every answer tells browsers to load nothing from elsewhere, to be in no frame, and to keep no page', async () => {
  const caller = await console_.signIn('viewer');
  const answers = await Promise.all(
    ['/', '/sign-in', '/sign-in/callback', '/signed-out', '/no/such/page', '/healthz'].map((path) => caller.get(path)),
  );
  answers.push(await caller.post('/sign-out', { csrf: 'wrong' }));
  for (const { url, headers } of answers) {
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy.split('; '), url).toContain(part);
    expect(policy, url).not.toContain('unsafe');
    expect(headers.get('x-frame-options'), url).toBe('DENY');
    expect(headers.get('x-content-type-options'), url).toBe('nosniff');
    expect(headers.get('referrer-policy'), url).toBe('same-origin');
    expect(headers.get('cache-control'), url).toBe('no-store');
    expect(headers.get('strict-transport-security'), 'plain http on this machine').toBeNull();
  }
});

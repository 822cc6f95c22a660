import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, Json } from '../harness/api.ts';
import { GOOD_PASSWORD, type InvitationStage, linkIn, startInvitations } from '../harness/parties/invitations.ts';
import { until } from '../harness/stage.ts';

let on: InvitationStage;

beforeAll(async () => {
  on = await startInvitations('passwords');
});

afterAll(async () => {
  await on?.close();
});

const OTHER_PASSWORD = 'sleepless herons wade';

/** Passwords that the page rejects, so that none of them opens anything: and at sign-in each is a wrong password. */
const IMPOSSIBLE = [
  ['nothing', ''],
  ['a tab', 'wandering\totters sing'],
  ['a line break', 'wandering\notters sing'],
  ['a character without width', 'wandering\u200Botters sing'],
  ['tag characters', 'wandering otters sing\u{E0073}\u{E0074}'],
  ['a soft hyphen', 'wandering ot\u00ADters sing'],
  ['a change of direction', 'wandering otters \u202Esing'],
  ['a character of private use', 'wandering otters \uE000sing'],
  ['129 characters', 'k7 wandering otters sing '.repeat(6).slice(0, 129)],
  ['513 units', 'k7 wandering otters sing '.repeat(21).slice(0, 513)],
] as const;

let count = 0;
function newEmail(): string {
  count += 1;
  return `front.office.${count}@example.com`;
}

const authenticate = (email: unknown, password: unknown = GOOD_PASSWORD, key?: string): Promise<ApiResponse> =>
  on.api.call(
    'POST',
    '/user-authentications',
    { workflow: { code: 'password' }, data: { user: { email }, password } },
    key === undefined ? {} : { key },
  );

const reset = (userId: string): Promise<ApiResponse> =>
  on.api.call('POST', `/users/${userId}/password-reset`, { workflow: { code: 'direct' }, data: {} });

const change = (userId: string, user: Json): Promise<ApiResponse> =>
  on.api.call('PATCH', `/users/${userId}`, { workflow: { code: 'human.external.direct' }, data: { user } });

/** A user who has accepted an invitation. */
async function signedUp(email = newEmail()): Promise<{ id: string; email: string }> {
  const { link } = await on.invited(email, [await on.newClientId()]);
  expect((await on.submit(link, { answer: 'accept', password: GOOD_PASSWORD })).status).toBe(200);
  const query = `data.user.category=external&data.user.email=${email}`;
  const [user] = (await on.api.call('GET', `/users?${query}`)).body.data.users;
  return user;
}

async function createdDirectly(email: string): Promise<Json> {
  const user = { email, identity: { givenName: 'Ada', familyName: 'Lovelace' } };
  const body = { workflow: { code: 'human.external.direct' }, data: { user } };
  return (await on.api.call('POST', '/users', body)).body.data.user;
}

/** Resets, and waits for the link. */
async function linkFor({ id, email }: { id: string; email: string }, mails = 1): Promise<{ id: string; link: string }> {
  const answer = await reset(id);
  expect(answer.status, answer.text).toBe(201);
  const sent = await until(
    () => on.mailsTo(email),
    (all) => all.filter(({ subject }) => subject.includes('new password')).length >= mails,
  );
  const links = sent.filter(({ subject }) => subject.includes('new password')).map(linkIn);
  const known = linksSeen.get(email) ?? [];
  const link = links.find((one) => !known.includes(one));
  if (link === undefined) throw new Error('no new link');
  linksSeen.set(email, links);
  return { id: answer.body.data.passwordReset.id, link };
}
const linksSeen = new Map<string, string[]>();

const failed = { status: 422, body: { code: 'user.authentication.failed', messageParameters: ['user', 'email', ''] } };

describe('an authentication', () => {
  test('answers the user by address, in any case, and password', async () => {
    const { id, email } = await signedUp();
    const answer = await authenticate(email.toUpperCase());
    expect(answer).toMatchObject({ status: 200, body: { data: { user: { id, email, status: 'active' } } } });
  });

  test('is one rejection for an unknown address, a wrong password, a user without one, and an inactive user', async () => {
    const gone = await signedUp();
    await change(gone.id, { status: 'inactive' });
    const known = await signedUp();
    const direct = newEmail();
    await createdDirectly(direct);
    const answers = [
      await authenticate('unknown@example.com'),
      await authenticate(known.email, `${GOOD_PASSWORD}!`),
      await authenticate(direct),
      await authenticate(gone.email),
    ];
    const [first] = answers;
    for (const answer of answers) {
      expect(answer).toMatchObject(failed);
      const { timestamp: _, ...body } = answer.body;
      const { timestamp: __, ...firstBody } = first?.body ?? {};
      expect(body).toEqual(firstBody);
    }
  });

  test.each([
    ['of an address with a user', async () => (await signedUp()).email],
    ['of an address without one', async () => newEmail()],
  ])(
    '%s is 429 after ten failures, also at once and with the right password, until 15 minutes have passed',
    async (_, of) => {
      const email = await of();
      const isUser = (await authenticate(email)).status === 200;
      const before = isUser ? 0 : 1;
      const wrong = await Promise.all(Array.from({ length: 20 }, () => authenticate(email, 'not the password')));
      expect(wrong.filter(({ status }) => status === 422)).toHaveLength(10 - before);
      expect(wrong.filter(({ status }) => status === 429)).toHaveLength(10 + before);
      const limited = await authenticate(email.toUpperCase());
      expect(limited).toMatchObject({ status: 429, body: { code: 'common.rate.limited' } });
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await authenticate(newEmail())).status).toBe(422);
      on.setClock('16 minutes');
      expect((await authenticate(email)).status).toBe(isUser ? 200 : 422);
      on.setClock('0');
    },
  );

  test('that succeeds is no failure, and resets none', async () => {
    const { email } = await signedUp();
    for (let times = 0; times < 3; times += 1) {
      for (let wrong = 0; wrong < 3; wrong += 1) expect((await authenticate(email, 'wrong')).status).toBe(422);
      expect((await authenticate(email)).status).toBe(200);
    }
    expect((await authenticate(email, 'wrong')).status).toBe(422);
    expect((await authenticate(email)).status).toBe(429);
  });

  test('is checked again under a key that was used: no answer outlives the password, and no hash of the body is kept', async () => {
    const { id, email } = await signedUp();
    expect((await authenticate(email, GOOD_PASSWORD, 'front-office')).status).toBe(200);
    await change(id, { status: 'inactive' });
    expect((await authenticate(email, GOOD_PASSWORD, 'front-office')).status).toBe(422);
    const keys = await on.api.database.reader.statement(
      `SELECT 1 FROM idempotency_keys WHERE path = '/user-authentications'`,
      [],
    );
    expect(keys).toEqual([]);
  });

  describe('with what cannot be a password', () => {
    let email: string;
    let wrong: Json;

    beforeAll(async () => {
      ({ email } = await signedUp());
      wrong = (await authenticate((await signedUp()).email, 'not the password')).body;
    });

    // As many as may fail before the address is limited.
    test.each(IMPOSSIBLE)(
      '(%s) is one rejection, that of a wrong password, which shows nothing of it',
      async (_, password) => {
        const answer = await authenticate(email, password);
        expect(answer).toMatchObject(failed);
        expect({ ...answer.body, timestamp: null }).toEqual({ ...wrong, timestamp: null });
      },
    );
  });

  test('counts a password that no user can have as a failure', async () => {
    const { email } = await signedUp();
    for (let wrong = 0; wrong < 10; wrong += 1) expect((await authenticate(email, 'a\ttab')).status).toBe(422);
    expect((await authenticate(email)).status).toBe(429);
  });

  test.each([17, true, null, ['a secret of canaries'], { a: 'a secret of canaries' }])(
    'whose password is no text (%j) is malformed, and shows nothing of it',
    async (password) => {
      const answer = await authenticate(newEmail(), password);
      expect([answer.status, answer.body.messageParameters]).toEqual([400, ['data', 'password', '']]);
      expect(answer.text).not.toContain('canaries');
    },
  );
});

describe('a sign-in whose source is known', () => {
  const from = (
    email: string,
    ipAddress: string,
    password = 'a wrong one',
    deviceToken?: string,
  ): Promise<ApiResponse> =>
    on.api.call('POST', '/user-authentications', {
      workflow: { code: 'password' },
      data: { user: { email }, password, source: { ipAddress, deviceToken } },
    });
  const statuses = async (calls: Promise<ApiResponse>[]) => (await Promise.all(calls)).map(({ status }) => status);
  const times = (count: number) => Array.from({ length: count }, (_, index) => index);
  const limited = { status: 429, body: { code: 'common.rate.limited' } };

  test('is limited after ten failures from there, and not from elsewhere or without a source', async () => {
    const { email } = await signedUp();
    expect(await statuses(times(10).map(() => from(email, '203.0.113.1')))).toEqual(Array(10).fill(422));
    expect(await from(email, '203.0.113.1', GOOD_PASSWORD)).toMatchObject(limited);
    expect(await from(email, '::ffff:203.0.113.1', GOOD_PASSWORD)).toMatchObject(limited);
    expect((await from(email, '203.0.113.2', GOOD_PASSWORD)).status).toBe(200);
    expect((await authenticate(email)).status).toBe(200);
  });

  test('meets a limit of its own after one password on fifty addresses, also across a network that one subscriber has', async () => {
    const spray = times(50).map((index) => from(`spray.${index}@example.com`, `2001:db8:1:2::${index + 1}`));
    expect(await statuses(spray)).toEqual(Array(50).fill(422));
    expect(await from(newEmail(), '2001:db8:1:2:ffff::1')).toMatchObject(limited);
    expect((await from(newEmail(), '2001:db8:1:3::1')).status).toBe(422);
  });

  test('from a known device passes while the address is limited by others; the device has ten failures of its own', async () => {
    const { email } = await signedUp();
    const { deviceToken } = (await from(email, '203.0.113.9', GOOD_PASSWORD)).body.data.source;
    for (let round = 0; round < 10; round += 1)
      await statuses(times(10).map((index) => from(email, `198.51.100.${10 * round + index}`)));
    expect(await from(email, '203.0.113.10', GOOD_PASSWORD)).toMatchObject(limited);
    expect(await from(email, '203.0.113.10', GOOD_PASSWORD, `${deviceToken}x`)).toMatchObject(limited);
    const again = await from(email, '203.0.113.10', GOOD_PASSWORD, deviceToken);
    expect([again.status, again.body.data.source.deviceToken]).toEqual([200, deviceToken]);
    expect(await statuses(times(10).map(() => from(email, '203.0.113.10', 'a wrong one', deviceToken)))).toEqual(
      Array(10).fill(422),
    );
    expect(await from(email, '203.0.113.10', GOOD_PASSWORD, deviceToken)).toMatchObject(limited);
  });

  test('accepts no device of another user, none that was idle for 90 days, and none from before a new password', async () => {
    const [one, other, third] = [await signedUp(), await signedUp(), await signedUp()];
    const tokenOf = async ({ email }: { email: string }) =>
      (await from(email, '192.0.2.1', GOOD_PASSWORD)).body.data.source.deviceToken;
    const [token, othersToken, thirdToken] = [await tokenOf(one), await tokenOf(other), await tokenOf(third)];
    expect((await from(one.email, '192.0.2.1', GOOD_PASSWORD, othersToken)).body.data.source.deviceToken).not.toBe(
      othersToken,
    );
    const { link } = await linkFor(one);
    await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD });
    const renewed = await from(one.email, '192.0.2.1', OTHER_PASSWORD, token);
    expect([renewed.status, renewed.body.data.source.deviceToken === token]).toEqual([200, false]);
    on.setClock('91 days');
    const late = await from(third.email, '192.0.2.1', GOOD_PASSWORD, thirdToken);
    on.setClock('0');
    expect([late.status, late.body.data.source.deviceToken === thirdToken]).toEqual([200, false]);
  });

  test('remembers twenty devices of a user, and each by its hash only', async () => {
    const { id, email } = await signedUp();
    let first = '';
    for (const index of times(21)) {
      const { deviceToken } = (await from(email, `192.0.2.${index + 10}`, GOOD_PASSWORD)).body.data.source;
      if (index === 0) first = deviceToken;
    }
    const kept = await on.api.database.reader.statement<{ text: string }>(
      'SELECT row_to_json(user_known_devices)::text AS text FROM user_known_devices WHERE user_id = $1',
      [id],
    );
    expect(kept).toHaveLength(20);
    expect(JSON.stringify(kept)).not.toContain(first);
    expect((await from(email, '192.0.2.1', GOOD_PASSWORD, first)).body.data.source.deviceToken).not.toBe(first);
  });

  test.each(['', 'localhost', '1.2.3', '0x7f.1', '203.0.113.7:80', ':::', 7])(
    'is rejected with 400 if its address is %j',
    async (ipAddress) => {
      const answer = await from(newEmail(), ipAddress as string);
      expect([answer.status, answer.body.messageParameters.slice(0, 2)]).toEqual([400, ['source', 'ipAddress']]);
    },
  );
});

describe('what the page takes as a password', () => {
  describe('by one link, which works until one is taken,', () => {
    let link: string;

    beforeAll(async () => {
      ({ link } = await on.invited(newEmail(), [await on.newClientId()]));
    });

    test.each(IMPOSSIBLE)('is none with %s', async (_, password) => {
      expect((await on.submit(link, { answer: 'accept', password })).status).toBe(400);
    });

    test('is a good one', async () => {
      expect(await on.submit(link, { answer: 'accept', password: GOOD_PASSWORD })).toMatchObject({ status: 200 });
    });
  });

  test.each([
    ['a letter and its mark apart', 'cafe\u0301 au lait de nuit', 'caf\u00E9 au lait de nuit'],
    ['spaces of other widths', 'wandering\u00A0otters\u3000sing', 'wandering otters sing'],
    [
      'letters that Persian joins',
      '\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 \u0628\u062E\u0648\u0627\u0628\u0645',
      '',
    ],
    ['signs and pictures', 'otters \u{1F9A6} sing \u{1D11E} at \u00BD past', ''],
  ])('with %s signs in, whichever way a keyboard composes it', async (_, chosen, other) => {
    const email = newEmail();
    const { link } = await on.invited(email, [await on.newClientId()]);
    expect((await on.submit(link, { answer: 'accept', password: chosen })).status).toBe(200);
    for (const password of [chosen, other || chosen.normalize('NFD')])
      expect((await authenticate(email, password)).status).toBe(200);
  });
});

describe('a password reset', () => {
  describe('of one user', () => {
    let email: string;
    let link: string;

    beforeAll(async () => {
      const user = await signedUp();
      ({ email } = user);
      ({ link } = await linkFor(user));
    });

    test.each(IMPOSSIBLE)('saves no password with %s', async (_, password) => {
      expect((await on.submit(link, { answer: 'accept', password })).status).toBe(400);
      expect((await authenticate(email)).status).toBe(200);
    });
  });

  test('mails a link by which the user sets a new password; until then the old one works, and afterwards it does not', async () => {
    const user = await signedUp();
    const { id, link } = await linkFor(user);
    expect((await authenticate(user.email)).status).toBe(200);
    const page = await on.open(link);
    expect(page.status).toBe(200);
    expect(page.html).toContain('Your new password');
    expect(page.html).not.toContain('value="reject"');
    expect((await authenticate(user.email)).status).toBe(200);
    expect((await on.submit(link, { answer: 'accept', password: 'too short' })).status).toBe(400);
    expect((await on.submit(link, { answer: 'reject', password: '' })).status).toBe(400);
    expect((await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD })).html).toContain('Password saved');
    expect((await authenticate(user.email)).status).toBe(422);
    expect((await authenticate(user.email, OTHER_PASSWORD)).status).toBe(200);
    expect((await on.submit(link, { answer: 'accept', password: GOOD_PASSWORD })).status).toBe(410);
    expect((await authenticate(user.email, OTHER_PASSWORD)).status).toBe(200);
    await until(
      () => on.workflowStatus(id),
      (status) => status === 'COMPLETED',
    );
  });

  test.each([
    ['de', 'Ihr neues Passwort', 'Er galt eine Stunde'],
    ['fr', 'Votre nouveau mot de passe', 'Il valait une heure'],
  ])('speaks %s, and its link works for an hour', async (language, title, tooOld) => {
    const user = await signedUp();
    const { link } = await linkFor(user);
    expect((await on.open(link, language)).html).toContain(title);
    on.setClock('59 minutes');
    expect((await on.open(link, language)).status).toBe(200);
    on.setClock('61 minutes');
    const late = await on.open(link, language);
    expect([late.status, late.html.includes(tooOld)]).toEqual([410, true]);
    expect((await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD })).status).toBe(410);
    on.setClock('0');
    expect((await authenticate(user.email)).status).toBe(200);
  });

  test('replaces the one before, and of two concurrent answers one counts', async () => {
    const user = await signedUp();
    const first = await linkFor(user);
    const second = await linkFor(user, 2);
    expect((await on.submit(first.link, { answer: 'accept', password: OTHER_PASSWORD })).status).toBe(410);
    const answers = await Promise.all(
      [OTHER_PASSWORD, `${OTHER_PASSWORD} again`].map((password) =>
        on.submit(second.link, { answer: 'accept', password }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410]);
  });

  test.each([
    ['has become inactive', { status: 'inactive' }],
    ['has another address', { email: 'moved@example.com' }],
  ])('does nothing for a user who %s meanwhile', async (_, become) => {
    const user = await signedUp();
    const { link } = await linkFor(user);
    expect((await change(user.id, become)).status).toBe(200);
    expect((await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD })).status).toBe(410);
    await change(user.id, { status: 'active', email: user.email });
    expect((await authenticate(user.email)).status).toBe(200);
    expect((await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD })).status).toBe(410);
  });

  test('is rejected for an unknown user, an inactive one, and one without a password', async () => {
    const gone = await signedUp();
    await change(gone.id, { status: 'inactive' });
    const direct = await createdDirectly(newEmail());
    expect((await reset('0199c4b1-1d20-7f10-8b65-6a4f0e9b2c11')).status).toBe(404);
    expect(await reset(gone.id)).toMatchObject({ status: 422, body: { code: 'user.status.not_active' } });
    expect(await reset(direct.id)).toMatchObject({ status: 422, body: { code: 'user.password.not_set' } });
  });

  test('ends the limit on the address, whose owner has the e-mail', async () => {
    const user = await signedUp();
    for (let wrong = 0; wrong < 10; wrong += 1) await authenticate(user.email, 'wrong');
    const { link } = await linkFor(user);
    expect((await authenticate(user.email)).status).toBe(429);
    await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD });
    expect((await authenticate(user.email, OTHER_PASSWORD)).status).toBe(200);
  });
});

test('no password, address or link is in the log, the audit log, or a history', async () => {
  const user = await signedUp();
  const { id, link } = await linkFor(user);
  await authenticate(user.email, 'a wrong password of canaries');
  await on.submit(link, { answer: 'accept', password: OTHER_PASSWORD });
  const entries = await on.api.database.reader.statement<{ text: string }>(
    'SELECT row_to_json(audit_entries)::text AS text FROM audit_entries',
    [],
  );
  expect(entries.some(({ text }) => text.includes('password-reset-requested'))).toBe(true);
  const said = [on.log(), await on.historyText(id), ...entries.map(({ text }) => text)].join('\n');
  for (const secret of [user.email, GOOD_PASSWORD, OTHER_PASSWORD, 'canaries', link.split('/').at(-1) ?? link]) {
    expect(said).not.toContain(secret);
  }
});

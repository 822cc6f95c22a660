import { randomBytes, randomUUID } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import { GOOD_PASSWORD, type InvitationStage, linkIn, startInvitations } from '../harness/parties/invitations.ts';
import { until } from '../harness/stage.ts';

let on: InvitationStage;

beforeAll(async () => {
  on = await startInvitations('user-invitations');
});

afterAll(async () => {
  await on?.close();
});

let count = 0;
function newEmail(word = 'person'): string {
  count += 1;
  return `${word}.${count}@example.com`;
}

const ACCEPT = { answer: 'accept', password: GOOD_PASSWORD };
const REJECT = { answer: 'reject' };

async function usersWith(email: string): Promise<Json[]> {
  const query = `data.user.category=external&data.user.email=${encodeURIComponent(email)}`;
  return (await on.api.call('GET', `/users?${query}`)).body.data.users;
}

async function relationOf(userId: string, clientId: string): Promise<Json[]> {
  const query = `data.userClientRelation.clientId=${clientId}`;
  return (await on.api.call('GET', `/users/${userId}/client-relations?${query}`)).body.data.userClientRelations;
}

async function passwordHashOf(email: string): Promise<string | null> {
  const [row] = await on.api.database.reader.statement<{ hash: string | null }>(
    'SELECT password_hash AS hash FROM users WHERE email_key = $1',
    [email],
  );
  return row?.hash ?? null;
}

const patch = (email: string, id: string, status: string) =>
  on.api.call('PATCH', `/users/${encodeURIComponent(email)}/invitations/${id}`, {
    workflow: { code: 'direct' },
    data: { userInvitation: { status } },
  });

const ends = (signUpId: string) =>
  until(
    () => on.workflowStatus(signUpId),
    (status) => status === 'COMPLETED',
  );

async function createDirectly(email: string, clientIds: readonly string[] = []): Promise<Json> {
  const answer = await on.api.call('POST', '/users', {
    workflow: { code: 'human.external.direct' },
    data: {
      user: { email, identity: { givenName: 'Ada', familyName: 'Lovelace' } },
      userClientRelations: clientIds.map((clientId) => ({ clientId })),
    },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.user;
}

describe('an invitation', () => {
  test('answers without a user, is mailed once for all clients, and becomes a user with relations when accepted', async () => {
    const email = newEmail();
    const clientIds = [await on.newClientId('First & Sons Ltd'), await on.newClientId('Second Ltd')];
    const { status, body } = await on.invite(email, clientIds);
    expect(status).toBe(201);
    expect(body.data.user).toEqual({
      email,
      identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper', birthDate: null },
      category: 'external',
      type: 'human',
    });
    expect(body.data.invitations).toEqual(
      clientIds.map((clientId, index) => ({
        id: body.data.invitations[index].id,
        clientId,
        userClientRelation: 'director',
        status: 'pending',
      })),
    );
    expect(await usersWith(email)).toEqual([]);

    const [first] = body.data.invitations;
    const mail = await on.mailTo(email);
    expect(mail.messageId).toBe(`<${first.id}@example.com>`);
    expect(mail.text).toContain('First & Sons Ltd');
    expect(mail.html).toContain('<li>First &amp; Sons Ltd</li><li>Second Ltd</li>');
    const link = linkIn(mail);
    expect(link.startsWith(`${on.api.url}/sign-up/`)).toBe(true);

    const page = await on.open(link);
    expect(page.status).toBe(200);
    expect(page.html).toContain('<li>First &amp; Sons Ltd</li><li>Second Ltd</li>');
    expect(page.html).toContain(email);
    expect((await on.statuses(email)).sort()).toEqual(['pending', 'pending']);

    const accepted = await on.submit(link, ACCEPT);
    expect(accepted.status).toBe(200);
    expect(accepted.html).toContain('Invitation accepted');
    const [user, ...others] = await usersWith(email);
    expect(others).toEqual([]);
    expect(user).toMatchObject({ email, status: 'active', identity: { givenName: 'Grace', familyName: 'Hopper' } });
    for (const clientId of clientIds) {
      expect(await relationOf(user.id, clientId)).toMatchObject([{ userId: user.id, clientId, status: 'allowed' }]);
    }
    expect(await on.statuses(email)).toEqual(['accepted', 'accepted']);
    const hash = (await passwordHashOf(email)) ?? '';
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verify(hash, GOOD_PASSWORD)).toBe(true);
    await ends(first.id);
  });

  test('is found by its address in any case, percent-encoded, and by no other', async () => {
    const email = newEmail("o'brien+tag");
    const { body } = await on.invite(email, [await on.newClientId()]);
    const [invitation] = body.data.invitations;
    const encoded = encodeURIComponent(email.toUpperCase());
    const list = await on.api.call('GET', `/users/${encoded}/invitations`);
    expect(list.body.data.userInvitations).toEqual([invitation]);
    expect(list.body.metadata.page).toMatchObject({ totalElements: 1 });
    const one = await on.api.call('GET', `/users/${encoded}/invitations/${invitation.id}`);
    expect(one.body.data.userInvitation).toEqual(invitation);
    expect((await on.api.call('GET', `/users/other@example.com/invitations/${invitation.id}`)).status).toBe(404);
    expect((await on.api.call('GET', '/users/other@example.com/invitations')).body.data.userInvitations).toEqual([]);
    expect((await on.api.call('GET', '/users/nonsense/invitations')).status).toBe(400);
  });

  test('is rejected for an unknown client, for one client twice, and while another is pending; then nothing is mailed', async () => {
    const email = newEmail();
    const clientId = await on.newClientId();
    const unknown = await on.invite(email, [clientId, randomUUID()]);
    expect([unknown.status, unknown.body.messageParameters.slice(0, 2)]).toEqual([404, ['userInvitation', 'clientId']]);
    expect((await on.invite(email, [clientId, clientId])).status).toBe(400);
    expect((await on.invite(email, [])).status).toBe(400);
    expect(await on.statuses(email)).toEqual([]);
    const { invitations } = await on.invited(email, [clientId]);
    const again = await on.invite(email.toUpperCase(), [await on.newClientId(), clientId]);
    expect([again.status, again.body.code]).toEqual([409, 'common.state.illegal_transition']);
    expect(await on.statuses(email)).toEqual(['pending']);
    await patch(email, invitations[0].id, 'cancelled');
    expect((await on.invite(email, [clientId])).status).toBe(201);
  });

  test('that is rejected leaves no user, and its link says so', async () => {
    const email = newEmail();
    const { link, invitations } = await on.invited(email, [await on.newClientId()]);
    const rejected = await on.submit(link, REJECT);
    expect([rejected.status, rejected.html.includes('Invitation rejected')]).toEqual([200, true]);
    expect(await usersWith(email)).toEqual([]);
    expect(await on.statuses(email)).toEqual(['rejected']);
    await ends(invitations[0].id);
    for (const page of [await on.open(link), await on.submit(link, ACCEPT)]) {
      expect([page.status, page.html.includes('This link has already been used')]).toEqual([410, true]);
    }
    expect(await usersWith(email)).toEqual([]);
  });

  test('is cancelled by the caller only, once, one by one; the link then offers what is left', async () => {
    const email = newEmail();
    const { link, invitations } = await on.invited(email, [
      await on.newClientId('Staying Ltd'),
      await on.newClientId('Leaving Ltd'),
    ]);
    const [staying, leaving] = invitations;
    for (const status of ['accepted', 'rejected', 'pending']) {
      const rejected = await patch(email, staying.id, status);
      expect([rejected.status, rejected.body.code]).toEqual([409, 'common.state.illegal_transition']);
    }
    const cancelled = await patch(email, leaving.id, 'cancelled');
    expect(cancelled.body.data.userInvitation).toEqual({ ...leaving, status: 'cancelled' });
    expect((await patch(email, leaving.id, 'cancelled')).status).toBe(409);
    const page = await on.open(link);
    expect([page.html.includes('Staying Ltd'), page.html.includes('Leaving Ltd')]).toEqual([true, false]);
    await on.submit(link, ACCEPT);
    const [user] = await usersWith(email);
    expect(await relationOf(user.id, staying.clientId)).toHaveLength(1);
    expect(await relationOf(user.id, leaving.clientId)).toEqual([]);
    expect(await on.statuses(email)).toEqual(['accepted', 'cancelled']);
    expect((await patch(email, staying.id, 'cancelled')).status).toBe(409);
  });

  test('that was cancelled cannot be accepted, its page says so, and its workflow ends', async () => {
    const email = newEmail();
    const { link, invitations } = await on.invited(email, [await on.newClientId()]);
    expect((await patch(email, invitations[0].id, 'cancelled')).status).toBe(200);
    for (const page of [await on.open(link), await on.submit(link, ACCEPT)]) {
      expect([page.status, page.html.includes('The invitation was withdrawn')]).toEqual([410, true]);
    }
    expect(await usersWith(email)).toEqual([]);
    await ends(invitations[0].id);
  });

  test('accepted twice at the same moment makes one user, and answers the slower request that the link was used', async () => {
    const email = newEmail();
    const { link } = await on.invited(email, [await on.newClientId()]);
    const answers = await Promise.all(Array.from({ length: 4 }, () => on.submit(link, ACCEPT)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
    expect(await usersWith(email)).toHaveLength(1);
  });

  test('accepted and cancelled at the same moment ends in one way only', async () => {
    const email = newEmail();
    const { link, invitations } = await on.invited(email, [await on.newClientId()]);
    const [accepted, cancelled] = await Promise.all([
      on.submit(link, ACCEPT),
      patch(email, invitations[0].id, 'cancelled'),
    ]);
    const won = accepted.status === 200;
    expect(cancelled.status).toBe(won ? 409 : 200);
    expect(await on.statuses(email)).toEqual([won ? 'accepted' : 'cancelled']);
    expect(await usersWith(email)).toHaveLength(won ? 1 : 0);
  });
});

describe('an invitation to an existing user', () => {
  test('adds the relation only; a user without a password sets one', async () => {
    const email = newEmail();
    const known = await on.newClientId();
    const clientId = await on.newClientId();
    const user = await createDirectly(email, [known]);
    const { link } = await on.invited(email.toUpperCase(), [clientId, known]);
    expect((await on.open(link)).html).toContain('type="password"');
    expect((await on.submit(link, { answer: 'accept' })).status).toBe(400);
    expect((await on.submit(link, ACCEPT)).status).toBe(200);
    expect(await usersWith(email)).toEqual([user]);
    expect(await relationOf(user.id, clientId)).toMatchObject([{ status: 'allowed' }]);
    expect(await relationOf(user.id, known)).toHaveLength(1);
    expect(await passwordHashOf(email)).toMatch(/^\$argon2id\$/);
  });

  test('restores no relation that was revoked after it was sent; the link then says that it was cancelled', async () => {
    const email = newEmail();
    const [revoked, other] = [await on.newClientId(), await on.newClientId()];
    const revokedOnly = await on.invited(email, [revoked]);
    const user = { email, identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' } };
    const workflow = { code: 'human.external.direct' };
    const made = await on.api.call('POST', '/users', {
      workflow,
      data: { user, userClientRelations: [{ clientId: revoked }, { clientId: other }] },
    });
    expect(made.status, made.text).toBe(201);
    const userId = made.body.data.user.id;
    const revoke = async (clientId: string) => {
      const [relation] = await relationOf(userId, clientId);
      const answer = await on.api.call('PATCH', `/users/${userId}/client-relations/${relation.id}`, {
        workflow: { code: 'direct' },
        data: { userClientRelation: { status: 'revoked' } },
      });
      expect(answer.status, answer.text).toBe(200);
    };
    await revoke(revoked);
    const late = await on.submit(revokedOnly.link, ACCEPT);
    expect([late.status, late.html.includes('cancelled')]).toEqual([410, true]);
    expect(await relationOf(userId, revoked)).toMatchObject([{ status: 'revoked' }]);
    expect(await on.statuses(email)).toEqual(['cancelled']);
    // One of several: the other invitations stay valid.
    await on.invite(email, [revoked, other]);
    const mails = await until(
      () => on.mailsTo(email),
      (all) => all.length === 2,
    );
    await revoke(other);
    const [link = ''] = mails.map(linkIn).filter((one) => one !== revokedOnly.link);
    expect((await on.submit(link, ACCEPT)).status).toBe(200);
    expect(await relationOf(userId, revoked)).toMatchObject([{ status: 'allowed' }]);
    expect(await relationOf(userId, other)).toMatchObject([{ status: 'revoked' }]);
  });

  test('asks for no second password, keeps the first, and allows again what was revoked', async () => {
    const email = newEmail();
    const clientId = await on.newClientId();
    const first = await on.invited(email, [clientId]);
    await on.submit(first.link, ACCEPT);
    const hash = await passwordHashOf(email);
    const [user] = await usersWith(email);
    const [relation] = await relationOf(user.id, clientId);
    await on.api.call('PATCH', `/users/${user.id}/client-relations/${relation.id}`, {
      workflow: { code: 'direct' },
      data: { userClientRelation: { status: 'revoked' } },
    });
    await on.invite(email, [clientId]);
    const [newest] = await until(
      () => on.mailsTo(email),
      (mails) => mails.length === 2,
    );
    const link = newest === undefined ? '' : linkIn(newest);
    expect((await on.open(link)).html).not.toContain('type="password"');
    expect((await on.submit(link, { answer: 'accept', password: 'another long password' })).status).toBe(200);
    expect(await passwordHashOf(email)).toBe(hash);
    expect(await relationOf(user.id, clientId)).toEqual([{ ...relation, status: 'allowed' }]);
  });
});

describe('after seven days', () => {
  test('the durable timer cancels the invitation, and the page says that it expired', async () => {
    const email = newEmail();
    const clientId = await on.newClientId();
    on.setClock('-7 days 25 seconds');
    try {
      const { status, body } = await on.invite(email, [clientId]);
      expect(status).toBe(201);
      on.setClock('0');
      const [invitation] = body.data.invitations;
      const link = linkIn(await on.mailTo(email));
      await until(
        () => on.statuses(email),
        (statuses) => statuses[0] === 'cancelled',
      );
      await ends(invitation.id);
      for (const page of [await on.open(link), await on.submit(link, ACCEPT)]) {
        expect([page.status, page.html.includes('The invitation has expired')]).toEqual([410, true]);
      }
      expect((await patch(email, invitation.id, 'cancelled')).status).toBe(409);
      expect(await usersWith(email)).toEqual([]);
      expect(await on.historyText(invitation.id)).toContain('Waits for the invited person’s answer');
    } finally {
      on.setClock('0');
    }
  });

  test('the link has no effect even before the workflow has recorded the expiry', async () => {
    const email = newEmail();
    const { link } = await on.invited(email, [await on.newClientId()]);
    on.setClock('6 days 23 hours');
    expect((await on.open(link)).status).toBe(200);
    on.setClock('7 days');
    try {
      expect(await on.statuses(email)).toEqual(['pending']);
      expect((await on.open(link)).status).toBe(410);
      expect((await on.submit(link, ACCEPT)).status).toBe(410);
      expect((await on.submit(link, REJECT)).status).toBe(410);
    } finally {
      on.setClock('0');
    }
    expect(await usersWith(email)).toEqual([]);
  });
});

describe('the e-mail', () => {
  test('waits for a mail server that rejects for now, and comes once', async () => {
    const email = newEmail('busy+unavailable')
      .replace(/\.(\d+)@/, '@')
      .replace('busy', `busy${count}`);
    const { link } = await on.invited(email, [await on.newClientId()]);
    expect((await on.mailTo(email)).deliveryCount).toBe(1);
    expect((await on.open(link)).status).toBe(200);
    const [row] = await on.api.database.reader.statement<{ links: bigint }>(
      `SELECT count(*) AS links FROM user_sign_up_links l JOIN user_sign_ups s ON s.id = l.sign_up_id WHERE s.email = $1`,
      [email],
    );
    expect(row?.links).toBe(1n);
  });

  test('whose outcome is unknown is sent again as the same one, and the link of either works', async () => {
    count += 1;
    const email = `cut${count}+cut@example.com`;
    await on.invite(email, [await on.newClientId()]);
    const mail = await until(
      () => on.mailTo(email),
      ({ deliveryCount }) => deliveryCount === 3,
    );
    expect((await on.submit(linkIn(mail), ACCEPT)).status).toBe(200);
    expect(await usersWith(email)).toHaveLength(1);
  });

  test('waits for a mail server that does not answer, without holding up the request', async () => {
    const email = newEmail();
    on.mailLine.hold();
    const { status, body } = await on.invite(email, [await on.newClientId()]);
    expect(status).toBe(201);
    await until(
      () => on.workflowStatus(body.data.invitations[0].id),
      (seen) => seen === 'RUNNING',
    );
    expect(await on.mailsTo(email)).toEqual([]);
    on.mailLine.release();
    await on.mailTo(email);
  });

  test('is not sent for an invitation that was cancelled before', async () => {
    const email = newEmail();
    on.mailLine.hold();
    const { body } = await on.invite(email, [await on.newClientId()]);
    const [invitation] = body.data.invitations;
    expect((await patch(email, invitation.id, 'cancelled')).status).toBe(200);
    on.mailLine.release();
    await ends(invitation.id);
    expect(await on.mailsTo(email)).toEqual([]);
  });
});

describe('the sign-up page', () => {
  test('rejects a forged link', async () => {
    for (const token of [
      randomBytes(32).toString('base64url'),
      'nonsense',
      `${'a'.repeat(43)}%00`,
      'a'.repeat(5_000),
    ]) {
      for (const page of [
        await on.open(`${on.api.url}/sign-up/${token}`),
        await on.submit(`${on.api.url}/sign-up/${token}`, ACCEPT),
      ]) {
        expect([page.status, page.html.includes('This link is not valid')]).toEqual([404, true]);
      }
    }
  });

  test('rejects bad passwords with a reason, shows none again, and changes nothing', async () => {
    const email = newEmail('mary.shelley');
    const identity = { givenName: 'Mary', familyName: 'Wollstonecraft' };
    const { link } = await on.invited(email, [await on.newClientId()], identity);
    for (const [password, reason] of [
      ['too short', 'at least 12 characters'],
      ['x'.repeat(129), 'at most 128 characters'],
      ['Password2026!', 'This password is common'],
      ['Wollstonecraft1', 'too close to your name'],
      [email, 'too close to your name'],
    ] as const) {
      const page = await on.submit(link, { answer: 'accept', password });
      expect([page.status, page.html.includes(reason)], password).toEqual([400, true]);
      expect(page.html).toContain('role="alert"');
      if (password !== email) expect(page.html).not.toContain(password);
    }
    expect((await on.submit(link, {})).status).toBe(400);
    expect(await on.statuses(email)).toEqual(['pending']);
    expect(await usersWith(email)).toEqual([]);
    expect((await on.submit(link, ACCEPT)).status).toBe(200);
  });

  test('is not cached, framed, scripted or leaked, and no name is interpreted as markup', async () => {
    const email = newEmail();
    const identity = { givenName: '<b>Grace</b>', familyName: '"><script>alert(1)</script>' };
    const { link } = await on.invited(email, [await on.newClientId('<i>&amp; Ltd')], identity);
    const { headers, html } = await on.open(link);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/);
    expect(html).not.toMatch(/<script|<b>|<i>|\son\w+=/);
    expect(html).toContain('&lt;b&gt;Grace&lt;/b&gt;');
    expect((await on.mailTo(email)).html).not.toMatch(/<script|<b>|<i>/);
  });

  test.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Ihre Einladung'],
    ['fr', 'fr', 'Votre invitation'],
    ['es, it;q=0.9', 'en', 'Your invitation'],
    ['en;q=0.3, fr;q=0.7, de;q=0', 'fr', 'Votre invitation'],
    ['x'.repeat(2_000), 'en', 'Your invitation'],
  ])('speaks the language of %s', async (header, language, title) => {
    const email = newEmail();
    const { link } = await on.invited(email, [await on.newClientId()]);
    const { html, headers } = await on.open(link, header);
    expect(html).toContain(`<html lang="${language}">`);
    expect(html).toContain(`<h1>${title}</h1>`);
    expect(headers.get('content-language')).toBe(language);
  });
});

test('names of people, their addresses, links and passwords are in no log and no history', async () => {
  count += 1;
  const email = `canary.quellwasser${count}+unavailable@example.com`;
  const clientId = await on.newClientId('Zebrafink Verwaltung Ltd');
  const identity = { givenName: 'Zebrafink', familyName: 'Quellwasser' };
  const { link, invitations } = await on.invited(email, [clientId], identity);
  await on.open(link);
  await on.submit(link, { answer: 'accept', password: 'quellwasser' });
  await on.submit(link, { answer: 'accept', password: 'grasshopper canary valley' });
  await on.api.call('GET', `/users/${encodeURIComponent(email)}/invitations`);
  const [user] = await usersWith(email);
  await on.api.call('PATCH', `/users/${user.id}`, {
    workflow: { code: 'human.external.direct' },
    data: { user: { email: 'canary.quellwasser', identity: { givenName: '\u0000Zebrafink' } } },
  });
  await ends(invitations[0].id);
  const history = await on.historyText(invitations[0].id);
  expect(history).toContain(invitations[0].id);
  expect(on.log()).toContain(invitations[0].id);
  const token = link.split('/').at(-1) ?? '';
  for (const text of [history, on.log()]) {
    for (const secret of ['Zebrafink', 'Quellwasser', 'quellwasser', 'grasshopper', token]) {
      expect(text).not.toContain(secret);
    }
  }
});

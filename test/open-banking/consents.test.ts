import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  ACCOUNTS,
  type ConsentWorld,
  consentWorld,
  PAYMENT,
  REDIRECT_URI,
  redirectOf,
} from '../harness/parties/consents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let consents: ConsentWorld;
let thirdParty: ThirdPartyProviderId;
let clientId: string;
let otherClientId: string;
let userId: string;
let account: string;
let secondAccount: string;
let euroAccount: string;
let foreignAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('consents');
  api = await startApi(database);
  world = moneyWorld(api);
  consents = consentWorld(api);
  thirdParty = await consents.thirdParty();
  clientId = await world.client();
  otherClientId = await world.client();
  userId = await consents.user([clientId]);
  account = await world.account(clientId);
  secondAccount = await world.account(clientId);
  euroAccount = await world.account(clientId, { currency: 'EUR' });
  foreignAccount = await world.account(otherClientId);
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

const approval = (change: Json = {}) => ({ action: 'approve', userId, accounts: [account], ...change });
const rejectionOf = ({ status, body }: ApiResponse) => [status, body.code, body.messageParameters];

const NO_PAYMENT = {
  paymentScope: null,
  paymentType: null,
  instructedAmount: null,
  instructedCurrency: null,
  creditorAccount: null,
  currencyOfTransfer: null,
  requestedExecutionDateTime: null,
};

describe('specification 2.12: a consent shows', () => {
  const { creditorAccount } = PAYMENT;
  const shared = { instructedAmount: 10.5, instructedCurrency: 'GBP', creditorAccount };
  const executionAt = new Date('2027-01-04T09:30:00Z');
  test.each([
    ['accounts', ACCOUNTS, { scope: 'accounts', ...NO_PAYMENT }],
    [
      'a domestic standard payment',
      PAYMENT,
      {
        scope: 'payments',
        paymentScope: 'domestic',
        paymentType: 'standard',
        ...shared,
        currencyOfTransfer: null,
        requestedExecutionDateTime: null,
      },
    ],
    [
      'an international scheduled payment',
      {
        ...PAYMENT,
        paymentScope: 'international',
        paymentType: 'scheduled',
        currencyOfTransfer: PAYMENT.instructedCurrency,
        requestedExecutionAt: executionAt,
      } as const,
      {
        scope: 'payments',
        paymentScope: 'international',
        paymentType: 'scheduled',
        ...shared,
        currencyOfTransfer: 'GBP',
        requestedExecutionDateTime: '2027-01-04T09:30:00',
      },
    ],
  ])('%s, with its third party and times, and nothing that is the third party’s own', async (_, content, shown) => {
    const requested = await consents.request(thirdParty, content);
    const at = (instant: Date) => instant.toISOString().slice(0, 19);
    const expected = {
      id: requested.id,
      thirdPartyProvider: {
        name: 'Budget Ltd',
        website: 'https://budget.example.com',
        applicationName: 'Budget',
        applicationDescription: 'Shows where the money goes',
        applicationWebsite: 'https://app.example.com',
      },
      status: 'awaiting-authorisation',
      content: shown,
      userId: null,
      accounts: null,
      requestCreatedDateTime: at(requested.createdAt),
      requestExpiryDateTime: at(new Date(requested.createdAt.getTime() + 600_000)),
      grantedDateTime: null,
      expiryDateTime: null,
    };
    expect(await consents.find(requested.id)).toEqual(expected);
    const { code } = await consents.approve(requested.id, userId, [account]);
    const approved = { ...expected, status: 'awaiting-exchange', userId, accounts: [account] };
    expect(await consents.find(requested.id)).toEqual(approved);
    const granted = await consents.exchange(requested, code);
    if (granted.outcome !== 'granted') throw new Error(granted.outcome);
    expect(await consents.find(requested.id)).toEqual({
      ...approved,
      status: 'authorised',
      grantedDateTime: at(granted.now),
      expiryDateTime: at(new Date(granted.now.getTime() + 90 * 86_400_000)),
    });
  });
});

describe('specification 4.11: GET', () => {
  test('lists consents in the order of their requests, by user, paged, with or without workflow.code', async () => {
    const holder = await consents.user([clientId]);
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await consents.request(thirdParty);
      await consents.approve(id, holder, [account, secondAccount]);
      made.push(id);
    }
    const list = (query: string) => api.call('GET', `/open-banking/GB/consents?${query}`);
    for (const code of ['', '&workflow.code=direct']) {
      const { body } = await list(`data.consent.userId=${holder}&metadata.page.size=2${code}`);
      expect(body.data.consents.map(({ id }: Json) => id)).toEqual(made.slice(0, 2));
      expect(body.metadata.page).toEqual({ number: 0, size: 2, totalElements: 3, totalPages: 2 });
      expect(body.data.consents[0]).toEqual(await consents.find(made[0] ?? ''));
    }
    const { body: all } = await list('metadata.page.size=100');
    expect(all.data.consents.map(({ id }: Json) => id)).toEqual(expect.arrayContaining(made));
    expect((await list(`data.consent.userId=${randomUUID()}`)).body.data.consents).toEqual([]);
  });

  test.each([
    ['workflow.code=other', 400, 'common.validation.field_invalid', 'code'],
    ['data.consent.userId=me', 400, 'common.validation.field_invalid', 'userId'],
    ['data.consent.status=revoked', 400, 'common.validation.field_unexpected', 'status'],
  ])('rejects the query %s', async (query, status, code, field) => {
    const answer = await api.call('GET', `/open-banking/GB/consents?${query}`);
    expect([answer.status, answer.body.code, answer.body.messageParameters[1]]).toEqual([status, code, field]);
  });
});

describe('another country', () => {
  test.each([
    ['DE', 422, 'consent.country.not_supported'],
    ['US', 422, 'consent.country.not_supported'],
    ['XX', 400, 'common.validation.field_invalid'],
    ['gb', 400, 'common.validation.field_invalid'],
  ])('%s is rejected by every operation', async (country, status, code) => {
    const { id } = await consents.request(thirdParty);
    const path = `/open-banking/${country}/consents`;
    const body = { workflow: { code: 'direct' }, data: { consent: approval() } };
    const answers = [
      await api.call('GET', path),
      await api.call('GET', `${path}/${id}`),
      await api.call('PATCH', `${path}/${id}`, body),
    ];
    for (const answer of answers) expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await consents.find(id)).status).toBe('awaiting-authorisation');
  });
});

describe('specification 4.11: PATCH', () => {
  const send = (id: string, data: Json) =>
    api.call('PATCH', `/open-banking/GB/consents/${id}`, { workflow: { code: 'direct' }, data });

  test.each(['consent', 'accountOpenBankingConsent'])(
    'takes the action under %s, with or without its id',
    async (key) => {
      for (const more of [{}, { repeatsId: true }]) {
        const consent = await consents.request(thirdParty);
        const own = 'repeatsId' in more ? { consentId: consent.id } : {};
        const approved = await send(consent.id, { [key]: { ...approval(), ...own } });
        expect(approved.status, approved.text).toBe(200);
        expect(Object.keys(approved.body.data.resource)).toEqual(['location']);
        const revoked = await send(consent.id, { [key]: { action: 'revoke', ...own } });
        expect(revoked.body.data).toEqual({ resource: { consent: await consents.find(consent.id) } });
        expect(revoked.body.data.resource.consent.status).toBe('revoked');
        const other = await consents.request(thirdParty);
        const rejected = await send(other.id, { [key]: { action: 'reject' } });
        expect(redirectOf(rejected)).toMatchObject({ error: 'access_denied', code: null });
      }
    },
  );

  const invalid: readonly [string, (id: string) => Json, string, string][] = [
    [
      'both names',
      () => ({ consent: approval(), accountOpenBankingConsent: approval() }),
      'mutually_exclusive',
      'accountOpenBankingConsent',
    ],
    ['neither name', () => ({}), 'field_required', 'consent'],
    ['another name', () => ({ openBankingConsent: approval() }), 'field_unexpected', 'openBankingConsent'],
    ['no action', () => ({ consent: { userId, accounts: [account] } }), 'field_required', 'action'],
    ['an unknown action', () => ({ consent: { action: 'authorise' } }), 'field_invalid', 'action'],
    ['an approval without a user', () => ({ consent: approval({ userId: undefined }) }), 'field_required', 'userId'],
    [
      'an approval without accounts',
      () => ({ consent: approval({ accounts: undefined }) }),
      'field_required',
      'accounts',
    ],
    ['an approval of no account', () => ({ consent: approval({ accounts: [] }) }), 'limit_exceeded', 'accounts'],
    [
      'an account named twice',
      () => ({ consent: approval({ accounts: [account, account.toUpperCase()] }) }),
      'field_invalid',
      'accounts',
    ],
    ['an account that is no id', () => ({ consent: approval({ accounts: ['mine'] }) }), 'field_invalid', 'accounts'],
    ['a user that is no id', () => ({ consent: approval({ userId: 'me' }) }), 'field_invalid', 'userId'],
    ['a rejection by a user', () => ({ consent: { action: 'reject', userId } }), 'field_unexpected', 'userId'],
    [
      'a revocation of accounts',
      () => ({ consent: { action: 'revoke', accounts: [account] } }),
      'field_unexpected',
      'accounts',
    ],
    ['another consent’s id', () => ({ consent: approval({ consentId: randomUUID() }) }), 'field_invalid', 'consentId'],
    [
      'another consent’s id under the other name',
      () => ({ accountOpenBankingConsent: { action: 'revoke', consentId: randomUUID() } }),
      'field_invalid',
      'consentId',
    ],
    ['a status', () => ({ consent: { ...approval(), status: 'authorised' } }), 'field_unexpected', 'status'],
  ];
  test.each(invalid)('rejects %s, and does nothing', async (_, data, code, field) => {
    const { id } = await consents.request(thirdParty);
    const answer = await send(id, data(id));
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.code).toBe(`common.validation.${code}`);
    expect(answer.body.messageParameters.join('.')).toContain(field);
    expect(await consents.find(id)).toMatchObject({ status: 'awaiting-authorisation', userId: null });
  });

  test('is for operators only', async () => {
    const { id } = await consents.request(thirdParty);
    for (const as of ['viewer', 'approver', 'compliance', 'admin'] as const)
      expect((await consents.decide(id, { action: 'reject' }, { as })).status, as).toBe(403);
  });
});

describe('an approval is rejected', () => {
  interface Case {
    readonly of?: typeof ACCOUNTS;
    readonly sent: Json;
    /** Runs before, and what it returns after. */
    readonly given?: () => Promise<() => Promise<unknown>>;
    readonly expected: readonly [status: number, code: string, entity: string, value: () => string];
  }
  const unknown = randomUUID();
  const status = (path: string, key: string, code: string) => async (to: string) => {
    const answer = await api.call(
      'PATCH',
      path,
      { workflow: { code }, data: { [key]: { status: to } } },
      { as: key === 'client' ? 'compliance' : 'operator' },
    );
    expect(answer.status, answer.text).toBe(200);
  };
  const during = (set: (to: string) => Promise<unknown>, to: string, back: string) => async () => {
    await set(to);
    return () => set(back);
  };
  const userTo = (to: string) => status(`/users/${userId}`, 'user', 'human.external.direct')(to);
  const accountTo = (to: string) => status(`/accounts/${account}`, 'account', 'client.direct')(to);
  const clientTo = (to: string) => status(`/clients/${clientId}`, 'client', 'direct')(to);
  const relationTo = async (to: string) => {
    const { body } = await api.call(
      'GET',
      `/users/${userId}/client-relations?data.userClientRelation.clientId=${clientId}`,
    );
    const { id } = body.data.userClientRelations[0];
    await status(`/users/${userId}/client-relations/${id}`, 'userClientRelation', 'direct')(to);
  };
  const cases: Readonly<Record<string, () => Case>> = {
    'by an unknown user': () => ({
      sent: { userId: unknown },
      expected: [404, 'common.coding.internal.record_not_found', 'user', () => unknown],
    }),
    'for an unknown account among known ones': () => ({
      sent: { accounts: [account, unknown] },
      expected: [404, 'common.coding.internal.record_not_found', 'account', () => unknown],
    }),
    'by an unknown user for a foreign account: what is not there comes first': () => ({
      sent: { userId: unknown, accounts: [foreignAccount] },
      expected: [404, 'common.coding.internal.record_not_found', 'user', () => unknown],
    }),
    'for an account of a client that the user has no relation to': () => ({
      sent: { accounts: [account, foreignAccount] },
      expected: [422, 'user.client_relation.not_allowed', 'account', () => foreignAccount],
    }),
    'while the relation is revoked': () => ({
      sent: {},
      given: during(relationTo, 'revoked', 'allowed'),
      expected: [422, 'user.client_relation.not_allowed', 'account', () => account],
    }),
    'while the user is inactive': () => ({
      sent: {},
      given: during(userTo, 'inactive', 'active'),
      expected: [422, 'user.status.not_active', 'user', () => userId],
    }),
    'while an account is inactive': () => ({
      sent: { accounts: [secondAccount, account] },
      given: during(accountTo, 'inactive', 'active'),
      expected: [422, 'account.status.not_active', 'account', () => account],
    }),
    'while the client is suspended': () => ({
      sent: {},
      given: during(clientTo, 'suspended', 'active'),
      expected: [422, 'client.status.not_active', 'client', () => clientId],
    }),
    'of a payment from two accounts': () => ({
      of: PAYMENT,
      sent: { accounts: [account, secondAccount] },
      expected: [422, 'consent.accounts.limit_exceeded', 'consent', () => '2'],
    }),
    'of a payment from an account in another currency': () => ({
      of: PAYMENT,
      sent: { accounts: [euroAccount] },
      expected: [422, 'account.currency.mismatch', 'account', () => euroAccount],
    }),
    'of a payment from a foreign account in another number: ownership comes first': () => ({
      of: PAYMENT,
      sent: { accounts: [account, foreignAccount] },
      expected: [422, 'user.client_relation.not_allowed', 'account', () => foreignAccount],
    }),
    'while the user is inactive, in another currency: the currency comes first': () => ({
      of: PAYMENT,
      sent: { accounts: [euroAccount] },
      given: during(userTo, 'inactive', 'active'),
      expected: [422, 'account.currency.mismatch', 'account', () => euroAccount],
    }),
  };
  test.each(Object.keys(cases))('%s', async (name) => {
    const { of = ACCOUNTS, sent, given, expected } = cases[name]?.() ?? { sent: {}, expected: [0, '', '', () => ''] };
    const { id } = await consents.request(thirdParty, of);
    const restore = await given?.();
    const answer = await consents.decide(id, approval(sent));
    await restore?.();
    const [code, , entity, value] = expected;
    expect(rejectionOf(answer)).toEqual([code, expected[1], [entity, expect.any(String), value()]]);
    expect(await consents.find(id)).toMatchObject({ status: 'awaiting-authorisation', userId: null, accounts: null });
    expect(await api.database.reader.statement('SELECT FROM open_banking_codes WHERE consent_id = $1', [id])).toEqual(
      [],
    );
  });

  test('of an unknown consent, as is every action', async () => {
    for (const sent of [approval(), { action: 'reject' }, { action: 'revoke' }]) {
      const answer = await consents.decide(unknown, sent);
      expect(rejectionOf(answer)).toEqual([404, 'common.coding.internal.record_not_found', ['consent', 'id', unknown]]);
    }
  });

  test('for a third party that is no longer active, or to an address that it no longer has registered', async () => {
    const idle = await consents.thirdParty({ status: 'inactive' });
    const moved = await consents.thirdParty({
      redirectUris: [`${REDIRECT_URI}x`, 'https://budget.example.com/callback'],
    });
    const ofIdle = await consents.request(idle);
    const ofMoved = await consents.request(moved);
    const unreachable = [422, 'third_party_provider.redirect_uri.not_registered', ['thirdPartyProvider', 'id', moved]];
    expect(rejectionOf(await consents.decide(ofMoved.id, approval()))).toEqual(unreachable);
    expect(rejectionOf(await consents.decide(ofMoved.id, { action: 'reject' }))).toEqual(unreachable);
    const inactive = [422, 'third_party_provider.status.not_active', ['thirdPartyProvider', 'id', idle]];
    expect(rejectionOf(await consents.decide(ofIdle.id, approval()))).toEqual(inactive);
    expect((await consents.decide(ofIdle.id, { action: 'reject' })).status).toBe(200);
  });
});

describe('a consent is revoked, in the same transaction,', () => {
  interface Held {
    readonly user: string;
    readonly client: string;
    readonly accounts: readonly string[];
    /** One waits for its exchange, one is authorised. */
    readonly own: readonly string[];
  }
  const held = async (): Promise<Held> => {
    const client = await world.client();
    const user = await consents.user([client, clientId]);
    const accounts = [await world.account(client), await world.account(client)];
    const own: string[] = [];
    for (const isExchanged of [false, true]) {
      const consent = await consents.request(thirdParty);
      const { code } = await consents.approve(consent.id, user, accounts);
      if (isExchanged) await consents.exchange(consent, code);
      own.push(consent.id);
    }
    return { user, client, accounts, own };
  };
  const patch = async (path: string, code: string, data: Json, as: 'operator' | 'compliance' = 'operator') => {
    const answer = await api.call('PATCH', path, { workflow: { code }, data }, { as });
    expect(answer.status, answer.text).toBe(200);
  };
  const close = (id: string) => patch(`/accounts/${id}`, 'client.direct', { account: { status: 'closed' } });
  const inactivate = (id: string) => patch(`/users/${id}`, 'human.external.direct', { user: { status: 'inactive' } });
  const revokeRelation = async ({ user, client }: Pick<Held, 'user' | 'client'>) => {
    const path = `/users/${user}/client-relations`;
    const { body } = await api.call('GET', `${path}?data.userClientRelation.clientId=${client}`);
    const { id } = body.data.userClientRelations[0];
    await patch(`${path}/${id}`, 'direct', { userClientRelation: { status: 'revoked' } });
  };
  const statuses = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await consents.find(id)).status));

  test.each<[string, (of: Held) => Promise<void>]>([
    ['when its user becomes inactive', ({ user }) => inactivate(user)],
    ['when the relation of its user to the client is revoked', (of) => revokeRelation(of)],
    [
      'when its last account is closed, as before the client is',
      async ({ accounts, client }) => {
        for (const id of accounts) await close(id);
        await patch(`/clients/${client}`, 'direct', { client: { status: 'closed' } }, 'compliance');
      },
    ],
  ])('%s: with its event and audit entry, and no other consent', async (_, happen) => {
    const of = await held();
    const other = await held();
    const [notApproved, rejected] = [await consents.request(thirdParty), await consents.request(thirdParty)];
    await consents.decide(rejected.id, { action: 'reject' });
    await happen(of);
    expect(await statuses(of.own)).toEqual(['revoked', 'revoked']);
    expect(await statuses(other.own)).toEqual(['awaiting-exchange', 'authorised']);
    expect(await statuses([notApproved.id, rejected.id])).toEqual(['awaiting-authorisation', 'rejected']);
    for (const id of of.own) {
      expect((await world.events(id)).at(-1)).toBe('consent-revoked');
      const entry = (await auditOf(api.database.reader, id)).at(-1);
      expect(entry).toMatchObject({ resource: 'consent', action: 'revoked', actor: api.users.operator.id });
    }
  });

  test('and its code gives nothing any more', async () => {
    const { user, accounts } = await held();
    const consent = await consents.request(thirdParty);
    const { code } = await consents.approve(consent.id, user, accounts);
    await inactivate(user);
    expect((await consents.exchange(consent, code)).outcome).toBe('rejected');
  });

  test('not when another relation of its user is revoked, nor another account closed; one of two is gone from it', async () => {
    const { user, accounts, own } = await held();
    const [first = '', second = ''] = accounts;
    await revokeRelation({ user, client: clientId });
    await close(first);
    expect(await statuses(own)).toEqual(['awaiting-exchange', 'authorised']);
    for (const id of own) {
      expect((await consents.find(id)).accounts).toEqual([second]);
      const entry = (await auditOf(api.database.reader, id)).at(-1);
      expect(entry).toMatchObject({ action: 'account-closed', before: { accounts }, after: { accounts: [second] } });
    }
    await close(second);
    expect(await statuses(own)).toEqual(['revoked', 'revoked']);
    for (const id of own) expect((await consents.find(id)).accounts).toEqual([second]);
  });

  test.each<[string, (of: Held) => Promise<void>]>([
    ['its user becomes inactive', ({ user }) => inactivate(user)],
    ['its relation is revoked', (of) => revokeRelation(of)],
    ['its only account is closed', ({ accounts: [first = ''] }) => close(first)],
  ])('or rejected: whichever comes first when it is approved as %s', async (_, happen) => {
    for (let round = 0; round < 3; round += 1) {
      const client = await world.client();
      const of = { client, user: await consents.user([client]), accounts: [await world.account(client)], own: [] };
      const { id } = await consents.request(thirdParty);
      const sent = { action: 'approve', userId: of.user, accounts: of.accounts };
      const [answer] = await Promise.all([consents.decide(id, sent), happen(of)]);
      expect([200, 422]).toContain(answer.status);
      expect(await statuses([id])).toEqual([answer.status === 200 ? 'revoked' : 'awaiting-authorisation']);
    }
  });
});

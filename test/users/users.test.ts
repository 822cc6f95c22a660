import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import type { Transaction } from '../../db/query/database.ts';
import { createUserClientRelations } from '../../db/users/client-relations.ts';
import { inviteUser } from '../../db/users/invitations.ts';
import { asId, type ClientId, type UserId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { sequence, subscribe } from '../harness/webhooks/webhooks.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('users');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const DIRECT = { code: 'human.external.direct' };
const IDENTITY = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };

let count = 0;
function newEmail(): string {
  count += 1;
  return `grace.${count}@example.com`;
}

function person(email = newEmail(), more: Json = {}): Json {
  return { email, identity: IDENTITY, ...more };
}

function post(data: Json, workflow: Json = DIRECT): Promise<ApiResponse> {
  return api.call('POST', '/users', { workflow, data });
}

async function created(data: Json): Promise<Json> {
  const answer = await post(data);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

async function newClient(change: Json = {}, workflow: Json = {}): Promise<ApiResponse> {
  const client = {
    identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' },
    profile: { identityType: 'individual', residentialAddress: { country: 'GB' }, ...change },
  };
  return api.call('POST', '/clients', { workflow: { code: 'direct', ...workflow }, data: { client } });
}

async function newClientId(): Promise<string> {
  return (await newClient()).body.data.client.id;
}

const patch = (id: string, user: Json) => api.call('PATCH', `/users/${id}`, { workflow: DIRECT, data: { user } });
const list = (query: string) => api.call('GET', `/users?data.user.category=external${query}`);

/** Code and field of every problem of a rejected request. */
function problems(answer: ApiResponse, status = 400): string[] {
  expect(answer.status, answer.text).toBe(status);
  return [answer.body, ...(answer.body.errors ?? [])].map(
    ({ code, messageParameters: [entity, field] }: Json) => `${code} ${entity}.${field}`,
  );
}

async function eventTypes(id: string): Promise<string[]> {
  const rows = await api.database.reader.statement<{ module: string; entries: Json[] }>(
    'SELECT module, entries FROM events WHERE resource_id = $1 ORDER BY id',
    [id],
  );
  return rows.flatMap(({ module, entries }) => entries.map(({ type }: Json) => `${module}/${type}`));
}

describe('POST /users, direct', () => {
  test('creates an active user from e-mail and names only, with every absent value null', async () => {
    const email = newEmail();
    const answer = await post({ user: { email, identity: { givenName: 'Grace', familyName: 'Hopper' } } });
    expect(answer.status, answer.text).toBe(201);
    const { id, ...user } = answer.body.data.user;
    expect(user).toEqual({
      email,
      identity: { ...IDENTITY, birthDate: null },
      profile: { phone: null, residentialAddress: null },
      category: 'external',
      type: 'human',
      status: 'active',
    });
    expect(answer.body.data.userClientRelations).toEqual([]);
    expect((await api.call('GET', `/users/${id}`)).body.data.user).toEqual(answer.body.data.user);
    expect(await eventTypes(id)).toEqual(['users/user-created']);
  });

  test('creates a user with every field and with relations to clients', async () => {
    const clientIds = [await newClientId(), await newClientId()];
    const profile = {
      phone: '+44 20 7946 0000',
      residentialAddress: {
        country: 'US',
        region: 'CA',
        city: 'San Francisco',
        street: 'Market Street',
        houseNumber: '1',
        postalCode: '94105',
        refinement: null,
      },
    };
    const user = person(undefined, { identity: { ...IDENTITY, birthDate: '1906-12-09' }, profile });
    const data = await created({ user, userClientRelations: clientIds.map((clientId) => ({ clientId })) });
    expect(data.user).toMatchObject({ ...user, status: 'active' });
    expect(data.userClientRelations.map(({ id, ...relation }: Json) => relation)).toEqual(
      clientIds.map((clientId) => ({ userId: data.user.id, clientId, status: 'allowed' })),
    );
  });

  test('rejects an address that a user has, in any letter case, and has no other effect', async () => {
    const { user } = await created({ user: person('Mixed.Case@Example.com') });
    expect(user.email).toBe('Mixed.Case@Example.com');
    const again = await post({ user: person('mixed.case@example.COM') });
    expect(problems(again, 409)).toEqual(['common.state.illegal_transition user.email']);
  });

  test('gives the address to one of many concurrent requests', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post({ user: person(email) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test('rejects unknown clients by name, the same client twice, and creates nothing then', async () => {
    const email = newEmail();
    const clientId = await newClientId();
    const unknown = await post({
      user: person(email),
      userClientRelations: [{ clientId }, { clientId: randomUUID() }],
    });
    expect(problems(unknown, 404)).toEqual(['common.coding.internal.record_not_found userClientRelation.clientId']);
    const twice = await post({ user: person(email), userClientRelations: [{ clientId }, { clientId }] });
    expect(problems(twice)).toEqual(['common.validation.field_invalid data.userClientRelations']);
    expect((await list(`&data.user.email=${email}`)).body.data.users).toEqual([]);
  });

  test('answers the same again for the same key', async () => {
    const body = { workflow: DIRECT, data: { user: person() } };
    const first = await api.call('POST', '/users', body, { key: 'user-1' });
    const second = await api.call('POST', '/users', body, { key: 'user-1' });
    expect([second.status, second.text]).toEqual([201, first.text]);
  });
});

describe('PATCH /users/{userId}', () => {
  test('changes what was sent, clears what is null, keeps the rest, and records one event per change', async () => {
    const profile = { phone: '+49 30 123456', residentialAddress: { country: 'DE', city: 'Berlin' } };
    const { user } = await created({ user: person(undefined, { profile }) });
    const renamed = await patch(user.id, { identity: { familyName: 'Murray' } });
    expect(renamed.body.data.user).toEqual({ ...user, identity: { ...user.identity, familyName: 'Murray' } });
    const cleared = await patch(user.id, { profile: { phone: null }, identity: { birthDate: '1906-12-09' } });
    expect(cleared.body.data.user.profile).toEqual({ ...user.profile, phone: null });
    expect(cleared.body.data.user.identity.birthDate).toBe('1906-12-09');
    const moved = await patch(user.id, { profile: { residentialAddress: { country: 'FR' } } });
    expect(moved.body.data.user.profile.residentialAddress).toMatchObject({ country: 'FR', city: null });
    expect((await patch(user.id, { status: 'active' })).body.data.user).toEqual(moved.body.data.user);
    expect((await patch(user.id, {})).body.data.user).toEqual(moved.body.data.user);
    expect((await api.call('GET', `/users/${user.id}`)).body.data.user).toEqual(moved.body.data.user);
    expect(await eventTypes(user.id)).toEqual(['users/user-created', ...Array(3).fill('users/user-updated')]);
  });

  test("changes the address, also its letters' case, but never to another user's", async () => {
    const { user } = await created({ user: person() });
    const { user: other } = await created({ user: person() });
    const upper = await patch(user.id, { email: user.email.toUpperCase() });
    expect(upper.body.data.user.email).toBe(user.email.toUpperCase());
    const taken = await patch(user.id, { email: other.email.toUpperCase() });
    expect(problems(taken, 409)).toEqual(['common.state.illegal_transition user.email']);
    const email = newEmail();
    expect((await patch(user.id, { email })).body.data.user.email).toBe(email);
  });

  test('of two users who request one address at once, gives it to one', async () => {
    const [{ user: one }, { user: other }] = [await created({ user: person() }), await created({ user: person() })];
    const email = newEmail();
    const answers = await Promise.all([patch(one.id, { email }), patch(other.id, { email })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('GET /users', () => {
  test('pages in the order of creation, and finds by the whole address in any case', async () => {
    const users = [];
    for (let index = 0; index < 3; index += 1) users.push((await created({ user: person() })).user);
    const { body: first } = await list('&metadata.page.size=100');
    expect(first.data.users.slice(-3)).toEqual(users);
    const total = first.metadata.page.totalElements;
    const { body: last } = await list(`&metadata.page.size=1&metadata.page.number=${total - 1}`);
    expect(last.data.users).toEqual([users[2]]);
    const { body: found } = await list(`&data.user.email=${users[1].email.toUpperCase()}`);
    expect(found.data.users).toEqual([users[1]]);
    expect((await list('&data.user.email=unknown@example.com')).body.data.users).toEqual([]);
  });
});

describe('client relations of a user', () => {
  const relate = (userId: string, clientIds: readonly string[]) =>
    api.call('POST', `/users/${userId}/client-relations`, {
      workflow: { code: 'direct' },
      data: { userClientRelations: clientIds.map((clientId) => ({ clientId })) },
    });
  const set = (userId: string, id: string, status: string) =>
    api.call('PATCH', `/users/${userId}/client-relations/${id}`, {
      workflow: { code: 'direct' },
      data: { userClientRelation: { status } },
    });
  const find = (userId: string, query: string) => api.call('GET', `/users/${userId}/client-relations?${query}`);

  test('are created allowed, listed by client, read, revoked and allowed again', async () => {
    const { user } = await created({ user: person() });
    const clientIds = [await newClientId(), await newClientId()];
    const answer = await relate(user.id, clientIds);
    expect(answer.status, answer.text).toBe(201);
    const [relation, other] = answer.body.data.userClientRelations;
    expect(relation).toEqual({ id: relation.id, userId: user.id, clientId: clientIds[0], status: 'allowed' });
    expect(other.clientId).toBe(clientIds[1]);

    const query = `data.userClientRelation.clientId=${clientIds[0]}`;
    expect((await find(user.id, query)).body.data.userClientRelations).toEqual([relation]);
    expect((await set(user.id, relation.id, 'revoked')).body.data.userClientRelation.status).toBe('revoked');
    const allowed = await find(user.id, `${query}&data.userClientRelation.status=allowed`);
    expect(allowed.body.data.userClientRelations).toEqual([]);
    const revoked = await find(user.id, `${query}&data.userClientRelation.status=revoked`);
    expect(revoked.body.data.userClientRelations).toEqual([{ ...relation, status: 'revoked' }]);
    expect((await set(user.id, relation.id, 'revoked')).status).toBe(200);
    expect((await set(user.id, relation.id, 'allowed')).body.data.userClientRelation).toEqual(relation);
    const read = await api.call('GET', `/users/${user.id}/client-relations/${relation.id}`);
    expect(read.body.data.userClientRelation).toEqual(relation);
  });

  test('are one per client, and all or nothing', async () => {
    const { user } = await created({ user: person() });
    const [known, fresh] = [await newClientId(), await newClientId()];
    expect((await relate(user.id, [known])).status).toBe(201);
    expect(problems(await relate(user.id, [fresh, known]), 409)).toEqual([
      'common.state.illegal_transition userClientRelation.clientId',
    ]);
    const query = `data.userClientRelation.clientId=${fresh}`;
    expect((await find(user.id, query)).body.data.userClientRelations).toEqual([]);
    expect((await relate(user.id, [randomUUID()])).status).toBe(404);
    expect(problems(await relate(user.id, []))).toEqual(['common.validation.limit_exceeded data.userClientRelations']);
  });
});

describe('two requests that name the same clients in opposite orders', () => {
  const NAME = 'opposite-orders';

  async function seen(): Promise<{ open: number; waiting: number; deadlocks: number }> {
    const [row] = await api.database.reader.statement<{ open: number; waiting: number; deadlocks: number }>(
      `SELECT count(*)::int AS open, (count(*) FILTER (WHERE wait_event_type = 'Lock'))::int AS waiting,
         (SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()) AS deadlocks
       FROM pg_stat_activity WHERE application_name = '${NAME}'`,
      [],
    );
    if (row === undefined) throw new Error('a count returned no row');
    return row;
  }

  /** A third transaction locks the client until both wait; then it ends, and each could take what the other needs. */
  async function meet(
    ask: (tx: Transaction, clientIds: readonly ClientId[]) => Promise<readonly { clientId: string }[]>,
  ) {
    const own = createDatabase({ url: database.url, maxConnections: 3, applicationName: NAME, deadlineMs: 60_000 });
    const clientIds = (await Promise.all([newClientId(), newClientId(), newClientId()])).map((id) =>
      asId<ClientId>(id),
    );
    const orders = [clientIds, clientIds.toReversed()];
    const asked: Promise<readonly { clientId: string }[]>[] = [];
    const gone = own.transaction(
      async (tx) => {
        await ask(tx, clientIds.slice(1, 2));
        asked.push(...orders.map((ids) => own.transaction((other) => ask(other, ids), { deadlineMs: 30_000 })));
        await until(seen, ({ waiting }) => waiting === 2);
        throw new Error('gone');
      },
      { deadlineMs: 30_000 },
    );
    await expect(gone).rejects.toThrow('gone');
    const made = (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await own.close();
    expect(made).toHaveLength(1);
    expect(orders).toContainEqual(made[0]?.map(({ clientId }) => clientId));
    // A connection reports its counts at its end.
    expect((await until(seen, ({ open }) => open === 0)).deadlocks).toBe(0);
  }

  test('follow each other where they relate a user, without a deadlock', async () => {
    const { user } = await created({ user: person() });
    await meet((tx, clientIds) => createUserClientRelations(tx, asId<UserId>(user.id), clientIds, TESTER));
  });

  test('follow each other where they invite a person, without a deadlock', async () => {
    const { email, identity } = person();
    await meet((tx, clientIds) =>
      inviteUser(
        tx,
        {
          email,
          identity: { ...identity, birthDate: null },
          invitations: clientIds.map((clientId) => ({ clientId, userClientRelation: 'director' })),
        },
        TESTER,
      ),
    );
  });
});

test('events of users reach only subscribers who name them, in order', async () => {
  const named = await subscribe(api.database, 'http://127.0.0.1:9/named', { modules: ['users'] });
  await subscribe(api.database, 'http://127.0.0.1:9/all');
  const { user } = await created({ user: person() });
  await patch(user.id, { status: 'inactive' });
  await sequence(api.database);
  const deliveries = await api.database.reader.statement<{ subscriptionId: string; type: string }>(
    'SELECT subscription_id AS "subscriptionId", type FROM webhook_deliveries WHERE resource_id = $1 ORDER BY position',
    [user.id],
  );
  expect(deliveries).toEqual([
    { subscriptionId: named.id, type: 'user-created' },
    { subscriptionId: named.id, type: 'user-updated' },
  ]);
  const log = await api.call('GET', '/events?data.event.module=users&metadata.page.size=100', undefined, {
    as: 'admin',
  });
  const own = log.body.data.events.filter(({ resourceId }: Json) => resourceId === user.id);
  expect(own.map(({ data, metadata }: Json) => [data.user, metadata.sequence])).toEqual([
    [user, 1],
    [{ ...user, status: 'inactive' }, 2],
  ]);
});

describe('POST /clients with createUser', () => {
  test('answers with client, user and relation, made together', async () => {
    const email = newEmail();
    const answer = await newClient({ email, phone: '+44 20 7946 0000' }, { createUser: true });
    expect(answer.status, answer.text).toBe(201);
    const { client, user, userClientRelation } = answer.body.data;
    expect(answer.body.workflow).toEqual({ code: 'direct', createUser: true });
    expect(user).toMatchObject({ email, category: 'external', type: 'human', status: 'active' });
    expect(user.identity).toEqual({ type: 'individual', givenName: 'Ada', familyName: 'Lovelace', birthDate: null });
    expect(user.profile).toEqual({ phone: '+44 20 7946 0000', residentialAddress: client.profile.residentialAddress });
    expect(userClientRelation).toMatchObject({ userId: user.id, clientId: client.id, status: 'allowed' });
    expect((await api.call('GET', `/users/${user.id}`)).body.data.user).toEqual(user);
  });

  test('makes no user unless requested', async () => {
    const email = newEmail();
    const { body } = await newClient({ email }, { createUser: false });
    expect(Object.keys(body.data)).toEqual(['client']);
    expect((await list(`&data.user.email=${email}`)).body.data.users).toEqual([]);
  });

  test('rejects a profile without e-mail, a corporate client and an address that is taken, and creates nothing', async () => {
    const count = async () => (await api.call('GET', '/clients')).body.metadata.page.totalElements;
    const { user } = await created({ user: person() });
    const before = await count();
    expect(problems(await newClient({}, { createUser: true }))).toEqual([
      'common.validation.field_required client.profile.email',
    ]);
    expect(problems(await newClient({ email: user.email }, { createUser: true }), 409)).toEqual([
      'common.state.illegal_transition user.email',
    ]);
    const client = {
      identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
      profile: { identityType: 'corporate', registrationAddress: { country: 'GB' }, email: newEmail() },
    };
    const corporate = await api.call('POST', '/clients', {
      workflow: { code: 'direct', createUser: true },
      data: { client },
    });
    expect(problems(corporate)).toEqual(['common.validation.field_invalid workflow.createUser']);
    expect(await count()).toBe(before);
  });
});

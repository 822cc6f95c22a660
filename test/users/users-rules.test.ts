import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type CallOptions, type Json, startApi, type TestApi } from '../harness/api.ts';
import {
  expectShown,
  type FieldRule,
  fieldRules,
  invalid,
  problemsOf,
  type Resource,
  rejected,
  same,
  shownAs,
} from '../harness/parties/field-rules.ts';
import {
  addressRules,
  dateValues,
  emailValues,
  nameValues,
  phoneValues,
  readOnly,
} from '../harness/parties/parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Specification 2.3 and 4.2: every row and rule, as taken and as rejected. First the fields of each resource, by POST and by
// PATCH, then the operations. What the invited person does is in user-invitations.test.ts.

let database: TestDatabase;
let api: TestApi;
let clientId = '';
let otherClientId = '';

beforeAll(async () => {
  database = await createTestDatabase('users_rules');
  api = await startApi(database);
  clientId = await newClientId();
  otherClientId = await newClientId();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const DIRECT = { code: 'direct' };
const USER = { code: 'human.external.direct' };
const INVITATION = { code: 'human.external.invitation' };
const IDENTITY = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
const NO_PROFILE = { phone: null, residentialAddress: null };

const newEmail = (): string => `${randomUUID()}@example.com`;
const grace = (): Json => ({ email: newEmail(), identity: { givenName: 'Grace', familyName: 'Hopper' } });
const invitation = (): Json => ({ clientId, userClientRelation: 'director' });

async function newClientId(): Promise<string> {
  const client = {
    identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' },
    profile: { identityType: 'individual', residentialAddress: { country: 'GB' } },
  };
  return (await api.call('POST', '/clients', { workflow: DIRECT, data: { client } })).body.data.client.id;
}

const get = (path: string): Promise<ApiResponse> => api.call('GET', path);
const postUser = (data: Json, workflow: Json = USER, options?: CallOptions): Promise<ApiResponse> =>
  api.call('POST', '/users', { workflow, data }, options);
const patchUser = (id: string, user: Json, options?: CallOptions): Promise<ApiResponse> =>
  api.call('PATCH', `/users/${id}`, { workflow: USER, data: { user } }, options);
const relate = (userId: string, userClientRelations: Json, options?: CallOptions): Promise<ApiResponse> =>
  api.call('POST', `/users/${userId}/client-relations`, { workflow: DIRECT, data: { userClientRelations } }, options);
const setRelation = (
  userId: string,
  id: string,
  userClientRelation: Json,
  options?: CallOptions,
): Promise<ApiResponse> =>
  api.call(
    'PATCH',
    `/users/${userId}/client-relations/${id}`,
    { workflow: DIRECT, data: { userClientRelation } },
    options,
  );
const setInvitation = (email: string, id: string, userInvitation: Json, options?: CallOptions): Promise<ApiResponse> =>
  api.call('PATCH', `/users/${email}/invitations/${id}`, { workflow: DIRECT, data: { userInvitation } }, options);

async function created(data: Json, workflow: Json = USER): Promise<Json> {
  const answer = await postUser(data, workflow);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

const emailRejected = invalid(...emailValues.rejects.map(({ sent }) => sent));

const identityRules: FieldRule[] = [
  { rule: '2.3 identity', path: 'identity', need: 'required', rejects: invalid('Grace', []) },
  { rule: '2.3 identity', path: 'identity.givenName', need: 'required', ...nameValues },
  { rule: '2.3 identity', path: 'identity.familyName', need: 'required', ...nameValues },
  { rule: '2.3 identity', path: 'identity.birthDate', need: 'optional', ...dateValues },
  {
    rule: '2.3 identity, individuals only',
    path: 'identity.type',
    need: 'optional',
    absent: 'individual',
    takes: same('individual'),
    rejects: invalid('corporate', 1),
    only: 'POST',
  },
  ...readOnly('2.3 identity, has none', { 'identity.country': 'GB', 'identity.legalName': 'Hopper Ltd' }),
];

const requiredWithUser = {
  identity: { givenName: 'Grace', familyName: 'Hopper' },
  'profile.residentialAddress': { country: 'GB' },
};

describe('specification 2.3, a user', () => {
  const user: Resource = {
    label: 'user',
    least: grace,
    alsoRequired: { 'profile.residentialAddress': requiredWithUser['profile.residentialAddress'] },
    post: (sent) => postUser({ user: sent }),
    shown: ({ body }) => body.data.user,
    patch: ({ id }, change) => patchUser(id, change),
    read: ({ id }) => get(`/users/${id}`),
  };
  const rule = '2.3 user';
  fieldRules(user, [
    {
      rule,
      path: 'email',
      need: 'required',
      takes: same('grace@example.com', newEmail()),
      rejects: emailRejected,
      only: 'POST',
    },
    {
      rule,
      path: 'email',
      need: 'required',
      takes: same('Hopper@Example.com', newEmail()),
      rejects: emailRejected,
      only: 'PATCH',
    },
    ...identityRules,
    {
      rule: '2.3 identity, individuals only',
      path: 'identity.type',
      need: 'required',
      takes: same('individual'),
      rejects: invalid('corporate', 1),
      only: 'PATCH',
    },
    {
      rule: '2.3 profile',
      path: 'profile',
      need: 'optional',
      absent: NO_PROFILE,
      takes: [
        shownAs({}, NO_PROFILE),
        shownAs({ phone: '+44 20 7946 0000' }, { ...NO_PROFILE, phone: '+44 20 7946 0000' }),
      ],
      rejects: [...invalid('London', []), rejected({ email: 'grace@example.com' }, 'field_unexpected', 'email')],
    },
    { rule: '2.3 profile', path: 'profile.phone', need: 'optional', ...phoneValues },
    ...addressRules('profile.residentialAddress', 'optional'),
    ...readOnly(rule, { id: randomUUID(), category: 'external', type: 'human' }),
    {
      rule: '2.3 status, active from the start',
      path: 'status',
      need: 'read-only',
      rejects: [rejected('inactive', 'field_unexpected')],
      only: 'POST',
    },
    {
      rule: '2.3 status',
      path: 'status',
      need: 'required',
      takes: same('inactive', 'active'),
      rejects: invalid('closed', 'Active', 1),
      only: 'PATCH',
    },
  ]);
});

describe('specification 2.3, who is invited', () => {
  fieldRules(
    {
      label: 'user',
      least: grace,
      alsoRequired: requiredWithUser,
      post: (sent) => postUser({ user: sent, invitations: [invitation()] }, INVITATION),
      shown: ({ body }) => body.data.user,
    },
    [
      { rule: '2.3 user', path: 'email', need: 'required', takes: same('invited@example.com'), rejects: emailRejected },
      ...identityRules,
      ...readOnly('4.2 invitation of a user', {
        id: randomUUID(),
        profile: {},
        category: 'external',
        type: 'human',
        status: 'active',
      }),
    ],
  );
});

describe('specification 2.3, a user invitation', () => {
  fieldRules(
    {
      label: 'invitations.0',
      least: invitation,
      alsoRequired: {},
      post: (sent) => postUser({ user: grace(), invitations: [sent] }, INVITATION),
      shown: ({ body }) => body.data.invitations[0],
    },
    [
      { rule: '2.3 user invitation', path: 'clientId', need: 'required', rejects: invalid('17', '', 17) },
      {
        rule: '2.3 user invitation',
        path: 'userClientRelation',
        need: 'required',
        takes: same('director', 'shareholder', 'director-and-shareholder', 'authorized-person'),
        rejects: invalid('owner', 1),
      },
      ...readOnly('2.3 user invitation', { id: randomUUID(), status: 'pending' }),
    ],
  );
});

const relationRules: FieldRule[] = [
  { rule: '2.3 user client relation', path: 'clientId', need: 'required', rejects: invalid('17', '', 17) },
  ...readOnly('2.3 user client relation', { id: randomUUID(), userId: randomUUID(), status: 'allowed' }),
];

describe('specification 2.3, a user client relation of a new user', () => {
  fieldRules(
    {
      label: 'userClientRelations.0',
      least: () => ({ clientId }),
      alsoRequired: {},
      post: (sent) => postUser({ user: grace(), userClientRelations: [sent] }),
      shown: ({ body }) => body.data.userClientRelations[0],
    },
    relationRules,
  );
});

describe('specification 2.3, a user client relation of its own operations', () => {
  fieldRules(
    {
      label: 'userClientRelations.0',
      least: () => ({ clientId }),
      alsoRequired: {},
      post: async (sent) => relate((await created({ user: grace() })).user.id, [sent]),
      shown: ({ body }) => body.data.userClientRelations[0],
    },
    relationRules,
  );
});

interface Given {
  readonly user: Json;
  readonly relation: Json;
  readonly otherUser: Json;
  readonly invited: string;
  readonly invitations: readonly Json[];
}

async function makeGiven(): Promise<Given> {
  const { user, userClientRelations } = await created({ user: grace(), userClientRelations: [{ clientId }] });
  const { user: otherUser } = await created({ user: grace() });
  const invited = newEmail();
  const { invitations } = await created(
    { user: { ...grace(), email: invited }, invitations: [invitation(), { ...invitation(), clientId: otherClientId }] },
    INVITATION,
  );
  return { user, relation: userClientRelations[0], otherUser, invited, invitations };
}

type Row = [rule: string, call: () => Promise<ApiResponse>, status: number, seen: () => Json];

describe('specification 4.2, answers', () => {
  let given: Given;
  beforeAll(async () => {
    given = await makeGiven();
  });

  const list = (query: string) => get(`/users?data.user.category=external&${query}`);
  const relations = (query: string) => get(`/users/${given.user.id}/client-relations?${query}`);
  const ofClient = () => `data.userClientRelation.clientId=${clientId}`;
  const invitations = (query = '') => get(`/users/${given.invited}/invitations${query}`);

  const rows: Row[] = [
    [
      'POST direct: an active external human without relations',
      () => postUser({ user: grace() }),
      201,
      () => ({
        workflow: USER,
        data: {
          user: { identity: IDENTITY, profile: NO_PROFILE, category: 'external', type: 'human', status: 'active' },
          userClientRelations: [],
        },
      }),
    ],
    [
      'POST direct: with relations, each allowed, in their order',
      () => postUser({ user: grace(), userClientRelations: [{ clientId }, { clientId: otherClientId }] }),
      201,
      () => ({
        data: {
          userClientRelations: [
            { clientId, status: 'allowed' },
            { clientId: otherClientId, status: 'allowed' },
          ],
        },
      }),
    ],
    [
      'POST direct: with no relations of a list',
      () => postUser({ user: grace(), userClientRelations: [] }),
      201,
      () => ({ data: { userClientRelations: [] } }),
    ],
    [
      'POST invitation: no user yet, the invitation pending',
      () => postUser({ user: grace(), invitations: [invitation()] }, INVITATION),
      201,
      () => ({
        workflow: INVITATION,
        data: {
          user: {
            id: undefined,
            status: undefined,
            profile: undefined,
            identity: IDENTITY,
            category: 'external',
            type: 'human',
          },
          userClientRelations: undefined,
          invitations: [{ ...invitation(), status: 'pending' }],
        },
      }),
    ],
    [
      'POST invitation: several clients, each with its own relation',
      () =>
        postUser(
          {
            user: grace(),
            invitations: [invitation(), { clientId: otherClientId, userClientRelation: 'authorized-person' }],
          },
          INVITATION,
        ),
      201,
      () => ({
        data: {
          invitations: [
            { ...invitation(), status: 'pending' },
            { clientId: otherClientId, userClientRelation: 'authorized-person', status: 'pending' },
          ],
        },
      }),
    ],
    [
      'PATCH: the user is returned',
      () => patchUser(given.user.id, {}),
      200,
      () => ({ workflow: USER, data: { user: given.user } }),
    ],
    [
      'GET list: external users',
      () => list(''),
      200,
      () => ({ workflow: {}, metadata: { page: { size: 10, number: 0 } } }),
    ],
    [
      'GET list: by e-mail',
      () => list(`data.user.email=${given.user.email}`),
      200,
      () => ({ data: { users: [given.user] } }),
    ],
    [
      'GET list: by e-mail in any case',
      () => list(`data.user.email=${given.user.email.toUpperCase()}`),
      200,
      () => ({ data: { users: [given.user] } }),
    ],
    [
      'GET list: by an unknown e-mail',
      () => list('data.user.email=unknown@example.com'),
      200,
      () => ({ data: { users: [] } }),
    ],
    [
      'GET list: who is invited is no user yet',
      () => list(`data.user.email=${given.invited}`),
      200,
      () => ({ data: { users: [] } }),
    ],
    [
      'GET list: by page',
      () => list(`data.user.email=${given.user.email}&metadata.page.number=1&metadata.page.size=1`),
      200,
      () => ({ data: { users: [] }, metadata: { page: { size: 1, number: 1, totalElements: 1, totalPages: 1 } } }),
    ],
    ['GET by id', () => get(`/users/${given.user.id}`), 200, () => ({ workflow: {}, data: { user: given.user } })],
    [
      'GET invitations: by e-mail, in the order of creation, paged',
      () => invitations(),
      200,
      () => ({
        data: { userInvitations: [...given.invitations] },
        metadata: { page: { size: 10, number: 0, totalElements: 2, totalPages: 1 } },
      }),
    ],
    [
      'GET invitations: the second page of one',
      () => invitations('?metadata.page.size=1&metadata.page.number=1'),
      200,
      () => ({
        data: { userInvitations: [given.invitations[1]] },
        metadata: { page: { totalElements: 2, totalPages: 2 } },
      }),
    ],
    [
      'GET invitations: none',
      () => get('/users/unknown@example.com/invitations'),
      200,
      () => ({ data: { userInvitations: [] } }),
    ],
    [
      'GET invitation: by id',
      () => invitations(`/${given.invitations[0].id}`),
      200,
      () => ({ data: { userInvitation: given.invitations[0] } }),
    ],
    [
      'GET invitation: the e-mail percent-encoded, in any case',
      () => get(`/users/${encodeURIComponent(given.invited.toUpperCase())}/invitations/${given.invitations[0].id}`),
      200,
      () => ({ data: { userInvitation: given.invitations[0] } }),
    ],
    [
      'PATCH invitation: cancelled',
      async () => {
        const user = grace();
        const { invitations: made } = await created({ user, invitations: [invitation()] }, INVITATION);
        return setInvitation(user.email, made[0].id, { status: 'cancelled' });
      },
      200,
      () => ({ workflow: DIRECT, data: { userInvitation: { ...invitation(), status: 'cancelled' } } }),
    ],
    [
      'POST relations: a list, each allowed, in its order',
      async () => relate((await created({ user: grace() })).user.id, [{ clientId }, { clientId: otherClientId }]),
      201,
      () => ({
        workflow: DIRECT,
        data: {
          userClientRelations: [
            { clientId, status: 'allowed' },
            { clientId: otherClientId, status: 'allowed' },
          ],
        },
      }),
    ],
    [
      'GET relations: by client, paged',
      () => relations(ofClient()),
      200,
      () => ({
        data: { userClientRelations: [given.relation] },
        metadata: { page: { size: 10, number: 0, totalElements: 1, totalPages: 1 } },
      }),
    ],
    [
      'GET relations: by client and status',
      () => relations(`${ofClient()}&data.userClientRelation.status=allowed`),
      200,
      () => ({ data: { userClientRelations: [given.relation] } }),
    ],
    [
      'GET relations: by a status that it has not',
      () => relations(`${ofClient()}&data.userClientRelation.status=revoked`),
      200,
      () => ({ data: { userClientRelations: [] } }),
    ],
    [
      'GET relations: by another client',
      () => relations(`data.userClientRelation.clientId=${otherClientId}`),
      200,
      () => ({ data: { userClientRelations: [] } }),
    ],
    [
      'GET relations: a page behind the last',
      () => relations(`${ofClient()}&metadata.page.number=1`),
      200,
      () => ({ data: { userClientRelations: [] } }),
    ],
    [
      'GET relation: by id',
      () => get(`/users/${given.user.id}/client-relations/${given.relation.id}`),
      200,
      () => ({ data: { userClientRelation: given.relation } }),
    ],
    ...['revoked', 'allowed'].map(
      (status): Row => [
        `PATCH relation: ${status}`,
        () => setRelation(given.user.id, given.relation.id, { status }),
        200,
        () => ({ workflow: DIRECT, data: { userClientRelation: { ...given.relation, status } } }),
      ],
    ),
  ];

  test.each(rows)('%s', async (_, call, status, seen) => {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    expectShown(answer.body, seen());
  });
});

describe('specification 4.2, rejections', () => {
  let given: Given;
  beforeAll(async () => {
    given = await makeGiven();
  });

  const unknown = randomUUID();
  const field = (code: string, name: string) => `common.validation.${code} ${name}`;
  const notFound = (name: string) => `common.coding.internal.record_not_found ${name}`;
  const illegal = (name: string) => `common.state.illegal_transition ${name}`;
  const DENIED = 'common.security.access_denied machineUser.roles';
  const CODE = 'common.workflow.unknown_code workflow.code';
  const VIEWER: CallOptions = { as: 'viewer' };
  const relations = (query: string) => get(`/users/${given.user.id}/client-relations?${query}`);
  const invite = (invitations: Json, user: Json = grace()) => postUser({ user, invitations }, INVITATION);
  const one = () => given.invitations[0].id;

  const rows: [rule: string, call: () => Promise<ApiResponse>, status: number, problem: string][] = [
    ['POST: another workflow', () => postUser({ user: grace() }, DIRECT), 400, CODE],
    ['POST: no user', () => postUser({}), 400, field('field_required', 'data.user')],
    ['POST: by a viewer', () => postUser({ user: grace() }, USER, VIEWER), 403, DENIED],
    [
      'POST direct: an e-mail that a user has, in any case',
      () => postUser({ user: { ...grace(), email: given.user.email.toUpperCase() } }),
      409,
      illegal('user.email'),
    ],
    [
      'POST direct: an unknown client',
      () => postUser({ user: grace(), userClientRelations: [{ clientId: unknown }] }),
      404,
      notFound('userClientRelation.clientId'),
    ],
    [
      'POST direct: one client twice',
      () => postUser({ user: grace(), userClientRelations: [{ clientId }, { clientId }] }),
      400,
      field('field_invalid', 'data.userClientRelations'),
    ],
    [
      'POST direct: invitations',
      () => postUser({ user: grace(), invitations: [invitation()] }),
      400,
      field('field_unexpected', 'data.invitations'),
    ],
    [
      'POST invitation: no invitations',
      () => postUser({ user: grace() }, INVITATION),
      400,
      field('field_required', 'data.invitations'),
    ],
    ['POST invitation: none of a list', () => invite([]), 400, field('limit_exceeded', 'data.invitations')],
    [
      'POST invitation: relations to clients',
      () => postUser({ user: grace(), invitations: [invitation()], userClientRelations: [{ clientId }] }, INVITATION),
      400,
      field('field_unexpected', 'data.userClientRelations'),
    ],
    [
      'POST invitation: an unknown client',
      () => invite([{ ...invitation(), clientId: unknown }]),
      404,
      notFound('userInvitation.clientId'),
    ],
    [
      'POST invitation: one client twice',
      () => invite([invitation(), invitation()]),
      400,
      field('field_invalid', 'data.invitations'),
    ],
    [
      'POST invitation: a second one while one is pending',
      () => invite([invitation()], { ...grace(), email: given.invited.toUpperCase() }),
      409,
      illegal('userInvitation.clientId'),
    ],
    [
      'PATCH: the workflow of relations',
      () => api.call('PATCH', `/users/${given.user.id}`, { workflow: DIRECT, data: { user: {} } }),
      400,
      CODE,
    ],
    ['PATCH: an unknown user', () => patchUser(unknown, {}), 404, notFound('user.id')],
    [
      'PATCH: the e-mail of another user',
      () => patchUser(given.otherUser.id, { email: given.user.email }),
      409,
      illegal('user.email'),
    ],
    [
      'PATCH: relations',
      () => patchUser(given.user.id, { userClientRelations: [] }),
      400,
      field('field_unexpected', 'user.userClientRelations'),
    ],
    ['PATCH: by a viewer', () => patchUser(given.user.id, {}, VIEWER), 403, DENIED],
    ['GET list: no category', () => get('/users'), 400, field('field_required', 'user.category')],
    [
      'GET list: another category',
      () => get('/users?data.user.category=internal'),
      400,
      field('field_invalid', 'user.category'),
    ],
    [
      'GET list: an e-mail that is none',
      () => get('/users?data.user.category=external&data.user.email=grace'),
      400,
      field('field_invalid', 'user.email'),
    ],
    [
      'GET list: an unknown filter',
      () => get('/users?data.user.category=external&data.user.status=active'),
      400,
      field('field_unexpected', 'user.status'),
    ],
    [
      'GET list: a size over 100',
      () => get('/users?data.user.category=external&metadata.page.size=101'),
      400,
      field('field_invalid', 'metadata.page.size'),
    ],
    ['GET by id: an unknown user', () => get(`/users/${unknown}`), 404, notFound('user.id')],
    ['GET by id: no id', () => get('/users/17'), 400, field('field_invalid', 'path.userId')],
    ['GET by id: who is invited has none', () => get(`/users/${one()}`), 404, notFound('user.id')],
    [
      'GET invitations: an e-mail that is none',
      () => get('/users/grace/invitations'),
      400,
      field('field_invalid', 'path.userEmail'),
    ],
    [
      'GET invitation: an unknown one',
      () => get(`/users/${given.invited}/invitations/${unknown}`),
      404,
      notFound('userInvitation.id'),
    ],
    [
      'GET invitation: of another e-mail',
      () => get(`/users/other@example.com/invitations/${one()}`),
      404,
      notFound('userInvitation.id'),
    ],
    ...['accepted', 'rejected', 'pending'].map((status): [string, () => Promise<ApiResponse>, number, string] => [
      `PATCH invitation: ${status}, which is not the caller's`,
      () => setInvitation(given.invited, one(), { status }),
      409,
      illegal('userInvitation.status'),
    ]),
    [
      'PATCH invitation: an unknown status',
      () => setInvitation(given.invited, one(), { status: 'expired' }),
      400,
      field('field_invalid', 'userInvitation.status'),
    ],
    [
      'PATCH invitation: no status',
      () => setInvitation(given.invited, one(), {}),
      400,
      field('field_required', 'userInvitation.status'),
    ],
    [
      'PATCH invitation: another field',
      () => setInvitation(given.invited, one(), { status: 'cancelled', clientId }),
      400,
      field('field_unexpected', 'userInvitation.clientId'),
    ],
    [
      'PATCH invitation: of another e-mail',
      () => setInvitation('other@example.com', one(), { status: 'cancelled' }),
      404,
      notFound('userInvitation.id'),
    ],
    ['PATCH invitation: cancelled twice', cancelledTwice, 409, illegal('userInvitation.status')],
    [
      'PATCH invitation: by a viewer',
      () => setInvitation(given.invited, one(), { status: 'cancelled' }, VIEWER),
      403,
      DENIED,
    ],
    [
      'POST relations: another workflow',
      () =>
        api.call('POST', `/users/${given.user.id}/client-relations`, {
          workflow: USER,
          data: { userClientRelations: [{ clientId }] },
        }),
      400,
      CODE,
    ],
    [
      'POST relations: no list',
      () => api.call('POST', `/users/${given.user.id}/client-relations`, { workflow: DIRECT, data: {} }),
      400,
      field('field_required', 'data.userClientRelations'),
    ],
    [
      'POST relations: none of a list',
      () => relate(given.user.id, []),
      400,
      field('limit_exceeded', 'data.userClientRelations'),
    ],
    [
      'POST relations: a single one',
      () => relate(given.user.id, { clientId }),
      400,
      field('field_invalid', 'data.userClientRelations'),
    ],
    [
      'POST relations: one client twice',
      () => relate(given.otherUser.id, [{ clientId }, { clientId }]),
      400,
      field('field_invalid', 'data.userClientRelations'),
    ],
    [
      'POST relations: one that there is',
      () => relate(given.user.id, [{ clientId }]),
      409,
      illegal('userClientRelation.clientId'),
    ],
    [
      'POST relations: an unknown client',
      () => relate(given.user.id, [{ clientId: unknown }]),
      404,
      notFound('userClientRelation.clientId'),
    ],
    ['POST relations: an unknown user', () => relate(unknown, [{ clientId }]), 404, notFound('user.id')],
    ['POST relations: by a viewer', () => relate(given.user.id, [{ clientId: otherClientId }], VIEWER), 403, DENIED],
    ['GET relations: no client', () => relations(''), 400, field('field_required', 'userClientRelation.clientId')],
    [
      'GET relations: a client that is none',
      () => relations('data.userClientRelation.clientId=17'),
      400,
      field('field_invalid', 'userClientRelation.clientId'),
    ],
    [
      'GET relations: an unknown status',
      () => relations(`data.userClientRelation.clientId=${clientId}&data.userClientRelation.status=pending`),
      400,
      field('field_invalid', 'userClientRelation.status'),
    ],
    [
      'GET relations: of an unknown user',
      () => get(`/users/${unknown}/client-relations?data.userClientRelation.clientId=${clientId}`),
      404,
      notFound('user.id'),
    ],
    [
      'GET relation: an unknown one',
      () => get(`/users/${given.user.id}/client-relations/${unknown}`),
      404,
      notFound('userClientRelation.id'),
    ],
    [
      'GET relation: of another user',
      () => get(`/users/${given.otherUser.id}/client-relations/${given.relation.id}`),
      404,
      notFound('userClientRelation.id'),
    ],
    [
      'PATCH relation: an unknown status',
      () => setRelation(given.user.id, given.relation.id, { status: 'active' }),
      400,
      field('field_invalid', 'userClientRelation.status'),
    ],
    [
      'PATCH relation: no status',
      () => setRelation(given.user.id, given.relation.id, {}),
      400,
      field('field_required', 'userClientRelation.status'),
    ],
    [
      'PATCH relation: another client',
      () => setRelation(given.user.id, given.relation.id, { status: 'allowed', clientId }),
      400,
      field('field_unexpected', 'userClientRelation.clientId'),
    ],
    [
      'PATCH relation: of another user',
      () => setRelation(given.otherUser.id, given.relation.id, { status: 'revoked' }),
      404,
      notFound('userClientRelation.id'),
    ],
    [
      'PATCH relation: by a viewer',
      () => setRelation(given.user.id, given.relation.id, { status: 'revoked' }, VIEWER),
      403,
      DENIED,
    ],
  ];

  async function cancelledTwice(): Promise<ApiResponse> {
    const user = grace();
    const { invitations } = await created({ user, invitations: [invitation()] }, INVITATION);
    expect((await setInvitation(user.email, invitations[0].id, { status: 'cancelled' })).status).toBe(200);
    return setInvitation(user.email, invitations[0].id, { status: 'cancelled' });
  }

  test.each(rows)('%s', async (_, call, status, problem) => {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    expect(problemsOf(answer)).toContain(problem);
  });

  test('and none of them had an effect', async () => {
    const { user, otherUser, relation, invited, invitations } = given;
    expect((await get(`/users/${user.id}`)).body.data.user).toEqual(user);
    expect((await get(`/users/${otherUser.id}`)).body.data.user).toEqual(otherUser);
    expect((await get(`/users/${user.id}/client-relations/${relation.id}`)).body.data.userClientRelation).toEqual(
      relation,
    );
    expect((await get(`/users/${invited}/invitations`)).body.data.userInvitations).toEqual(invitations);
    const none = await get(`/users/${user.id}/client-relations?data.userClientRelation.clientId=${otherClientId}`);
    expect(none.body.data.userClientRelations).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isClientNumber } from '../../domain/common/numbers/numbers.ts';
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
  countryValues,
  dateValues,
  emailValues,
  historicDateValues,
  identificationRules,
  nameValues,
  phoneValues,
  readOnly,
} from '../harness/parties/parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Specification 2.1, 2.2 and 4.1: every row and rule, as taken and as rejected. First the fields of each resource, by POST
// and by PATCH, then the operations. Those of the workflow `migration` are in clients-migration.test.ts.

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('clients_rules');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const DIRECT = { code: 'direct' };
const PERSON = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
const RELATED = { relation: 'director', identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' } };

const person = (): Json => ({
  identity: { ...PERSON },
  profile: { identityType: 'individual', residentialAddress: { country: 'GB' } },
});

const company = (): Json => ({
  identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
  profile: { identityType: 'corporate', registrationAddress: { country: 'GB' } },
});

const postClient = (client: Json, workflow: Json = {}): Promise<ApiResponse> =>
  api.call('POST', '/clients', { workflow: { ...DIRECT, ...workflow }, data: { client } });
const patchClient = (id: string, client: Json): Promise<ApiResponse> =>
  api.call('PATCH', `/clients/${id}`, { workflow: DIRECT, data: { client } });
const postRelations = (id: string, data: Json, options?: CallOptions): Promise<ApiResponse> =>
  api.call('POST', `/clients/${id}/relations`, { workflow: DIRECT, data }, options);
const patchRelation = (clientId: string, id: string, clientRelation: Json): Promise<ApiResponse> =>
  api.call('PATCH', `/clients/${clientId}/relations/${id}`, { workflow: DIRECT, data: { clientRelation } });

async function created(client: Json): Promise<Json> {
  const answer = await postClient(client);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.client;
}

const clientId = async (client: Json): Promise<string> => (await created(client)).id;

const client = (least: () => Json, type: 'individual' | 'corporate', address: string): Resource => ({
  label: 'client',
  least,
  alsoRequired: {
    identity: { type },
    profile: { identityType: type },
    [`profile.${address}`]: { country: 'GB' },
    'identity.identifications': [{ type: 'passport', identificationNumber: '1' }],
  },
  post: (sent) => postClient(sent),
  shown: ({ body }) => body.data.client,
  patch: ({ id }, change) => patchClient(id, change),
  read: ({ id }) => api.call('GET', `/clients/${id}`),
});

const contactRules: FieldRule[] = [
  { rule: '2.2 profile', path: 'profile.phone', need: 'optional', ...phoneValues },
  { rule: '2.2 profile', path: 'profile.email', need: 'optional', ...emailValues },
];

const clientReadOnly = readOnly('2.2 client', {
  id: randomUUID(),
  clientNumber: '0000000195',
  fullName: 'Ada Lovelace',
});

/** A change of the status has a role and tests of its own (test/clients/client-status.test.ts). */
const clientStatus: FieldRule = {
  rule: '2.2 client, status',
  path: 'status',
  need: 'read-only',
  rejects: [rejected('active', 'field_unexpected')],
  only: 'POST',
};

describe('specification 2.2, an individual client', () => {
  const rule = '2.2 identity of an individual';
  fieldRules(client(person, 'individual', 'residentialAddress'), [
    {
      rule: '2.2 identity',
      path: 'identity',
      need: 'required',
      rejects: [...invalid('Ada', true, 17, [PERSON]), rejected({}, 'field_required', 'type')],
    },
    {
      rule,
      path: 'identity.type',
      need: 'required',
      takes: same('individual'),
      rejects: invalid('trust', 'Individual', 1),
    },
    { rule, path: 'identity.givenName', need: 'required', ...nameValues, moves: ['fullName'] },
    { rule, path: 'identity.familyName', need: 'required', ...nameValues, moves: ['fullName'] },
    { rule, path: 'identity.birthDate', need: 'optional', ...dateValues },
    { rule: `${rule}, nationality`, path: 'identity.country', need: 'optional', ...countryValues },
    ...readOnly(`${rule}, not of a corporate`, {
      'identity.legalName': 'Ada Ltd',
      'identity.incorporationDate': '2012-02-29',
      'identity.corporationType': 'ltd',
      'profile.registrationAddress': { country: 'GB' },
    }),
    ...identificationRules('identity'),
    {
      rule: '2.2 profile',
      path: 'profile',
      need: 'required',
      rejects: [...invalid('London', 17, []), rejected({}, 'field_required', 'identityType')],
    },
    {
      rule: '2.2 profile, of the type of the identity',
      path: 'profile.identityType',
      need: 'required',
      takes: same('individual'),
      rejects: invalid('trust', 'corporate', 1),
    },
    ...addressRules('profile.residentialAddress', 'required'),
    ...contactRules,
    ...clientReadOnly,
    clientStatus,
    {
      rule: '2.2 relations, corporate clients only',
      path: 'relations',
      need: 'optional',
      absent: undefined,
      rejects: invalid([RELATED]),
      only: 'POST',
    },
    {
      rule: '4.1 PATCH of relations has operations of its own',
      path: 'relations',
      need: 'read-only',
      rejects: [rejected([], 'field_unexpected'), rejected(null, 'field_unexpected')],
      only: 'PATCH',
    },
    {
      rule: '4.1 PATCH never changes the type',
      path: 'identity.type',
      need: 'read-only',
      rejects: invalid('corporate'),
      only: 'PATCH',
    },
  ]);
});

describe('specification 2.2, a corporate client', () => {
  const rule = '2.2 identity of a corporate';
  fieldRules(client(company, 'corporate', 'registrationAddress'), [
    { rule, path: 'identity.type', need: 'required', takes: same('corporate'), rejects: invalid('ltd', 1) },
    { rule, path: 'identity.legalName', need: 'required', ...nameValues, moves: ['fullName'] },
    { rule, path: 'identity.incorporationDate', need: 'optional', ...historicDateValues },
    {
      rule,
      path: 'identity.corporationType',
      need: 'optional',
      takes: same('ltd', 'GmbH & Co. KG', 'x'.repeat(40)),
      rejects: invalid('', 'x'.repeat(41), 1),
    },
    { rule: `${rule}, registered country`, path: 'identity.country', need: 'optional', ...countryValues },
    ...readOnly(`${rule}, not of an individual`, {
      'identity.givenName': 'Ada',
      'identity.familyName': 'Lovelace',
      'identity.birthDate': '1990-12-10',
      'profile.residentialAddress': { country: 'GB' },
    }),
    ...identificationRules('identity'),
    {
      rule: '2.2 profile, of the type of the identity',
      path: 'profile.identityType',
      need: 'required',
      takes: same('corporate'),
      rejects: invalid('trust', 'individual', 1),
    },
    ...addressRules('profile.registrationAddress', 'required'),
    ...contactRules,
    ...clientReadOnly,
    clientStatus,
    {
      rule: '8 relations, at most ten per creation',
      path: 'relations',
      need: 'optional',
      absent: [],
      takes: same([]),
      rejects: [
        ...invalid('Grace', RELATED),
        rejected(
          Array.from({ length: 11 }, () => RELATED),
          'limit_exceeded',
        ),
      ],
      only: 'POST',
    },
    {
      rule: '4.1 PATCH of relations has operations of its own',
      path: 'relations',
      need: 'read-only',
      rejects: [rejected([RELATED], 'field_unexpected')],
      only: 'PATCH',
    },
    {
      rule: '4.1 PATCH never changes the type',
      path: 'identity.type',
      need: 'read-only',
      rejects: invalid('individual'),
      only: 'PATCH',
    },
  ]);
});

const bothForms = ({ region, street, houseNumber, refinement }: Record<string, string | null>) => ({
  state: region,
  firstLine: [street, houseNumber].filter((part) => part !== null).join(' ') || null,
  secondLine: refinement,
});

const NO_PROFILE = { identityType: 'individual', residentialAddress: null, phone: null, email: null };

/** `inWhole`: where a profile or an identity that is sent says its type; a change of a relation need not. */
function relationRules(inWhole: 'POST' | undefined): FieldRule[] {
  const rule = '2.2 client relation';
  return [
    {
      rule,
      path: 'relation',
      need: 'required',
      takes: same('director', 'shareholder', 'director-and-shareholder', 'authorized-person'),
      rejects: invalid('owner', 'Director', 1),
    },
    { rule, path: 'identity', need: 'required', rejects: invalid('Grace', []) },
    {
      rule: `${rule}, individuals only`,
      path: 'identity.type',
      need: 'required',
      takes: same('individual'),
      rejects: invalid('corporate', 'trust', 1),
    },
    { rule, path: 'identity.givenName', need: 'required', ...nameValues, moves: ['fullName'] },
    { rule, path: 'identity.familyName', need: 'required', ...nameValues, moves: ['fullName'] },
    { rule, path: 'identity.birthDate', need: 'optional', ...dateValues },
    { rule, path: 'identity.country', need: 'optional', ...countryValues },
    ...readOnly(`${rule}, has none`, {
      'identity.legalName': 'Hopper Ltd',
      'identity.identifications': [],
      'identity.identificationNumbers': {},
      'profile.registrationAddress': { country: 'GB' },
    }),
    {
      rule,
      path: 'profile',
      need: 'optional',
      absent: NO_PROFILE,
      takes: [shownAs({ identityType: 'individual' }, NO_PROFILE)],
      rejects: invalid('London', []),
    },
    {
      rule,
      path: 'profile.identityType',
      need: 'required',
      takes: same('individual'),
      rejects: invalid('corporate', 1),
      ...(inWhole === undefined ? {} : { only: inWhole }),
    },
    ...addressRules('profile.residentialAddress', 'optional', bothForms),
    { rule, path: 'profile.phone', need: 'optional', ...phoneValues },
    { rule, path: 'profile.email', need: 'optional', ...emailValues },
    ...readOnly(rule, { id: randomUUID(), clientId: randomUUID(), fullName: 'Grace Hopper' }),
  ];
}

const requiredWithRelation = {
  identity: { type: 'individual' },
  profile: { identityType: 'individual' },
  'profile.residentialAddress': { country: 'GB' },
};

describe('specification 2.2, a client relation of POST /clients', () => {
  fieldRules(
    {
      label: 'client.relations.0',
      least: () => structuredClone(RELATED),
      alsoRequired: requiredWithRelation,
      post: (sent) => postClient({ ...company(), relations: [sent] }),
      shown: ({ body }) => body.data.client.relations[0],
    },
    relationRules(undefined),
  );
});

describe('specification 2.2, a client relation of its own operations', () => {
  fieldRules(
    {
      label: 'clientRelation',
      least: () => structuredClone(RELATED),
      alsoRequired: requiredWithRelation,
      post: async (sent) => postRelations(await clientId(company()), { clientRelation: sent }),
      shown: ({ body }) => body.data.clientRelation,
      patch: (made, change) => patchRelation(made.clientId, made.id, change),
      read: (made) => api.call('GET', `/clients/${made.clientId}/relations/${made.id}`),
    },
    relationRules('POST'),
  );

  test.each([
    ['2.2 a change may leave the type of the profile out', { profile: { phone: '+44 20 7946 0000' } }],
    ['2.2 a change may leave the type of the identity out', { identity: { birthDate: '1976-12-09' } }],
    ['4.1 a change of nothing', {}],
  ])('%s', async (_, change) => {
    const id = await clientId(company());
    const made = (await postRelations(id, { clientRelation: RELATED })).body.data.clientRelation;
    const answer = await patchRelation(id, made.id, change);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.clientRelation).toMatchObject(change);
  });
});

/** Fixtures of the operations below: created once, unchanged by any row. */
interface Given {
  person: Json;
  company: Json;
  relation: Json;
  otherCompany: Json;
  full: Json;
  /** The only word of its family name. */
  mark: string;
}

const given: Given = { person: null, company: null, relation: null, otherCompany: null, full: null, mark: '' };
const PATCHED_PERSON = { identity: { type: 'individual', birthDate: '1990-12-10' } };

async function makeGiven(): Promise<void> {
  given.mark = `Quill ${randomUUID().slice(0, 8)}`;
  given.person = await created({
    identity: { ...PERSON, familyName: given.mark, country: 'SE' },
    profile: {
      identityType: 'individual',
      residentialAddress: { country: 'GB', city: 'London' },
      email: `${randomUUID()}@example.com`,
    },
  });
  given.company = await created({
    ...company(),
    identity: { type: 'corporate', legalName: `Bakery of ${given.mark}` },
    relations: [RELATED, { ...RELATED, relation: 'shareholder' }],
  });
  given.relation = given.company.relations[0];
  given.otherCompany = await created(company());
  given.full = await created({ ...company(), relations: Array.from({ length: 10 }, () => RELATED) });
}

const get = (path: string): Promise<ApiResponse> => api.call('GET', path);
const EMPTY = { workflow: {}, data: {}, connect: {}, metadata: {} };

type Row = [rule: string, call: () => Promise<ApiResponse>, status: number, seen: () => Json];

describe('specification 4.1, answers', () => {
  beforeAll(makeGiven);

  const read = (query: string) => get(`/clients/${given.person.id}?${query}`);
  const readCompany = (query: string) => get(`/clients/${given.company.id}?${query}`);
  const list = (query: string) => get(`/clients?data.client.fullName=${encodeURIComponent(given.mark)}&${query}`);
  const relations = (query = '') => get(`/clients/${given.company.id}/relations${query}`);
  const both = () => ({ data: { clients: [{ id: given.person.id }, { id: given.company.id }] } });
  const onlyPerson = () => ({ data: { clients: [{ id: given.person.id }] } });
  const onlyCompany = () => ({ data: { clients: [{ id: given.company.id }] } });
  const none = () => ({ data: { clients: [] } });
  const include = (name: string) => `metadata.include=${name}`;
  const ADDRESS = 'data.client.profile';

  const rows: Row[] = [
    ['POST direct: the workflow is echoed', () => postClient(person()), 201, () => ({ workflow: DIRECT })],
    [
      'POST direct: an individual from identity and address only, active',
      () => postClient(person()),
      201,
      () => ({ data: { client: { status: 'active', fullName: 'Ada Lovelace', identity: PERSON } } }),
    ],
    [
      'POST direct: a corporate from identity and address only, active',
      () => postClient(company()),
      201,
      () => ({ data: { client: { status: 'active', fullName: 'Brook Lane Bakery Ltd', relations: [] } } }),
    ],
    [
      'POST direct: up to ten relations, in their order',
      () => postClient({ ...company(), relations: Array.from({ length: 10 }, () => RELATED) }),
      201,
      () => ({ data: { client: { relations: Array.from({ length: 10 }, () => ({ fullName: 'Grace Hopper' })) } } }),
    ],
    [
      'POST direct: createUser false creates the client only',
      () => postClient(person(), { createUser: false }),
      201,
      () => ({ workflow: { createUser: false }, data: { client: { status: 'active' } } }),
    ],
    [
      'POST direct: createUser makes client, user and relation',
      () =>
        postClient(
          { ...person(), profile: { ...person().profile, email: `${randomUUID()}@example.com` } },
          { createUser: true },
        ),
      201,
      () => ({
        data: {
          client: { status: 'active' },
          user: { category: 'external', type: 'human', identity: { givenName: 'Ada', familyName: 'Lovelace' } },
          userClientRelation: { status: 'allowed' },
        },
      }),
    ],
    [
      'PATCH: the client is returned, relations and all',
      () => patchClient(given.company.id, {}),
      200,
      () => ({ workflow: DIRECT, data: { client: given.company } }),
    ],
    [
      'GET by id: the whole client, workflow empty',
      () => read(''),
      200,
      () => ({ ...EMPTY, data: { client: given.person } }),
    ],
    [
      'GET by id: includeProfile true is echoed',
      () => read('metadata.includeProfile=true'),
      200,
      () => ({ data: { client: { profile: given.person.profile } }, metadata: { includeProfile: true } }),
    ],
    [
      'GET by id: includeProfile false leaves the profile out, and is echoed',
      () => read('metadata.includeProfile=false'),
      200,
      () => ({ data: { client: { profile: undefined } }, metadata: { includeProfile: false } }),
    ],
    [
      'GET by id: the primary address of an individual is the residential one',
      () => read(include(`${ADDRESS}.primaryAddress`)),
      200,
      () => ({
        data: { client: { profile: { primaryAddress: given.person.profile.residentialAddress } } },
        metadata: { include: [`${ADDRESS}.primaryAddress`] },
      }),
    ],
    [
      'GET by id: the primary address of a corporate is the registration one',
      () => readCompany(include(`${ADDRESS}.primaryAddress`)),
      200,
      () => ({ data: { client: { profile: { primaryAddress: given.company.profile.registrationAddress } } } }),
    ],
    [
      'GET by id: include of the residential address implies its profile',
      () => read(`metadata.includeProfile=false&${include(`${ADDRESS}.residentialAddress`)}`),
      200,
      () => ({
        data: { client: { profile: given.person.profile } },
        metadata: { includeProfile: false, include: [`${ADDRESS}.residentialAddress`] },
      }),
    ],
    [
      'GET by id: include of the registration address implies its profile',
      () => readCompany(`metadata.includeProfile=false&${include(`${ADDRESS}.registrationAddress`)}`),
      200,
      () => ({ data: { client: { profile: given.company.profile } } }),
    ],
    [
      'GET by id: an address that the type has not is null where it is included',
      () => readCompany(include(`${ADDRESS}.residentialAddress`)),
      200,
      () => ({ data: { client: { profile: { residentialAddress: null } } } }),
    ],
    [
      'GET by id: connections where they are included',
      () => read(include('connect.connections')),
      200,
      () => ({ connect: { connections: [] }, metadata: { include: ['connect.connections'] } }),
    ],
    ['GET by id: no connections where they are not included', () => read(''), 200, () => ({ connect: {} })],
    [
      'GET by id: several includes, by commas',
      () => read(include(`connect.connections,${ADDRESS}.primaryAddress`)),
      200,
      () => ({ metadata: { include: ['connect.connections', `${ADDRESS}.primaryAddress`] } }),
    ],
    [
      'GET by id: several includes, by repetition',
      () => read(`${include('connect.connections')}&${include(`${ADDRESS}.primaryAddress`)}`),
      200,
      () => ({ metadata: { include: ['connect.connections', `${ADDRESS}.primaryAddress`] } }),
    ],
    [
      'GET by id: an unknown include is neither obeyed nor echoed',
      () => read(include('data.client.nonsense')),
      200,
      () => ({ metadata: {} }),
    ],
    [
      'GET list: without a filter, the first page of ten',
      () => get('/clients'),
      200,
      () => ({ metadata: { page: { size: 10, number: 0 } } }),
    ],
    ['GET list: by a part of the full name, in the order of creation', () => list(''), 200, both],
    [
      'GET list: pages by size and number, and counts the whole',
      () => list('metadata.page.size=1&metadata.page.number=1'),
      200,
      () => ({ ...onlyCompany(), metadata: { page: { size: 1, number: 1, totalElements: 2, totalPages: 2 } } }),
    ],
    ['GET list: a page behind the last is empty', () => list('metadata.page.number=9'), 200, none],
    ['GET list: by status', () => list('data.client.status=active'), 200, both],
    ['GET list: by a status that none has', () => list('data.client.status=closed'), 200, none],
    [
      'GET list: by client number',
      () => list(`data.client.clientNumber=${given.company.clientNumber}`),
      200,
      onlyCompany,
    ],
    [
      'GET list: by e-mail',
      () => list(`data.client.email=${given.person.profile.email.toUpperCase()}`),
      200,
      onlyPerson,
    ],
    ['GET list: by country', () => list('data.client.country=SE'), 200, onlyPerson],
    ['GET list: by identity type individual', () => list('data.client.identityType=individual'), 200, onlyPerson],
    ['GET list: by identity type corporate', () => list('data.client.identityType=corporate'), 200, onlyCompany],
    [
      'GET list: filters hold together',
      () => list('data.client.country=SE&data.client.identityType=corporate'),
      200,
      none,
    ],
    [
      'POST relations: one, answered as one with id and clientId',
      async () => postRelations(await clientId(company()), { clientRelation: RELATED }),
      201,
      () => ({ workflow: DIRECT, data: { clientRelation: { ...RELATED, fullName: 'Grace Hopper' } } }),
    ],
    [
      'POST relations: several, answered as several in their order',
      async () =>
        postRelations(await clientId(company()), {
          clientRelations: [RELATED, { ...RELATED, relation: 'authorized-person' }],
        }),
      201,
      () => ({ data: { clientRelations: [{ relation: 'director' }, { relation: 'authorized-person' }] } }),
    ],
    [
      'POST relations: several may be one',
      async () => postRelations(await clientId(company()), { clientRelations: [RELATED] }),
      201,
      () => ({ data: { clientRelations: [RELATED] } }),
    ],
    [
      'POST relations: an eleventh in all',
      () => postRelations(given.full.id, { clientRelation: RELATED }),
      201,
      () => ({ data: { clientRelation: { ...RELATED, clientId: given.full.id } } }),
    ],
    [
      'POST relations: ten at once',
      async () =>
        postRelations(await clientId(company()), { clientRelations: Array.from({ length: 10 }, () => RELATED) }),
      201,
      () => ({ data: { clientRelations: Array.from({ length: 10 }, () => RELATED) } }),
    ],
    [
      'GET relation: as it was created',
      () => relations(`/${given.relation.id}`),
      200,
      () => ({ ...EMPTY, data: { clientRelation: given.relation } }),
    ],
    [
      'GET relations: in the order of creation, paged',
      () => relations(),
      200,
      () => ({
        data: { clientRelations: given.company.relations },
        metadata: { page: { size: 10, number: 0, totalElements: 2, totalPages: 1 } },
      }),
    ],
    [
      'GET relations: the second page of one',
      () => relations('?metadata.page.size=1&metadata.page.number=1'),
      200,
      () => ({
        data: { clientRelations: [given.company.relations[1]] },
        metadata: { page: { size: 1, number: 1, totalElements: 2, totalPages: 2 } },
      }),
    ],
    [
      'GET relations: none for an individual client',
      () => get(`/clients/${given.person.id}/relations`),
      200,
      () => ({ data: { clientRelations: [] }, metadata: { page: { totalElements: 0 } } }),
    ],
    [
      'DELETE relation: the containers are empty',
      async () => {
        const id = await clientId(company());
        const { body } = await postRelations(id, { clientRelation: RELATED });
        return api.call('DELETE', `/clients/${id}/relations/${body.data.clientRelation.id}`);
      },
      200,
      () => EMPTY,
    ],
  ];

  test.each(rows)('%s', async (_, call, status, seen) => {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    expectShown(answer.body, seen());
  });

  test('2.2: id is a UUID, clientNumber has its check digits, and no two clients share either', async () => {
    const clients = [given.person, given.company, given.otherCompany];
    for (const { clientNumber } of clients) expect(isClientNumber(clientNumber)).toBe(true);
    expect(new Set(clients.map(({ id }) => id)).size).toBe(3);
    expect(new Set(clients.map(({ clientNumber }) => clientNumber)).size).toBe(3);
  });

  test('4.1: a user is created only with createUser', async () => {
    expect(Object.keys((await postClient(person())).body.data)).toEqual(['client']);
  });

  test('2.2: only corporate clients have relations', async () => {
    expect([given.company.relations.length, 'relations' in given.person]).toEqual([2, false]);
  });
});

test.each<[string, Json, string]>([
  ['identity that is a list', { identity: [PERSON] }, 'data.client.identity must be an object.'],
  ['identity that is a number', { identity: 17 }, 'data.client.identity must be an object.'],
  ['profile that is a list', { profile: [] }, 'data.client.profile must be an object.'],
  [
    'identity of no type',
    { identity: { type: 'trust' } },
    'data.client.identity.type must be of type individual or corporate.',
  ],
  [
    'identity of a relation that is a company',
    { relations: [{ ...RELATED, identity: { ...RELATED.identity, type: 'corporate' } }] },
    'data.client.relations.0.identity.type must be individual.',
  ],
])('specification 7: the message names the field and its rule: %s', async (_, change, message) => {
  const answer = await postClient({ ...company(), ...change });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.message).toBe(message);
});

describe('specification 4.1, rejections', () => {
  beforeAll(makeGiven);

  const unknown = randomUUID();
  const field = (code: string, name: string) => `common.validation.${code} ${name}`;
  const notFound = (name: string) => `common.coding.internal.record_not_found ${name}`;
  const relation = (clientOf: Json, id: string) => `/clients/${clientOf.id}/relations/${id}`;
  const change = { clientRelation: { relation: 'shareholder' } };
  const rows: [string, () => Promise<ApiResponse>, number, string][] = [
    [
      'POST: another workflow',
      () => postClient(person(), { code: 'client.direct' }),
      400,
      'common.workflow.unknown_code workflow.code',
    ],
    [
      'POST: no workflow code',
      () => api.call('POST', '/clients', { workflow: {}, data: { client: person() } }),
      400,
      field('field_required', 'workflow.code'),
    ],
    [
      'POST: no data',
      () => api.call('POST', '/clients', { workflow: DIRECT }),
      400,
      field('field_required', 'body.data'),
    ],
    [
      'POST: no client',
      () => api.call('POST', '/clients', { workflow: DIRECT, data: {} }),
      400,
      field('field_required', 'data.client'),
    ],
    [
      'POST: relations of an individual',
      () => postClient({ ...person(), relations: [RELATED] }),
      400,
      field('field_invalid', 'client.relations'),
    ],
    [
      'POST: createUser without an e-mail',
      () => postClient(person(), { createUser: true }),
      400,
      field('field_required', 'client.profile.email'),
    ],
    [
      'POST: createUser of a corporate client',
      () => postClient(company(), { createUser: true }),
      400,
      field('field_invalid', 'workflow.createUser'),
    ],
    [
      'POST: createUser that is no boolean',
      () => postClient(person(), { createUser: 'true' }),
      400,
      field('field_invalid', 'workflow.createUser'),
    ],
    ['POST: createUser for an e-mail that a user has', takenEmail, 409, 'common.state.illegal_transition user.email'],
    [
      'PATCH: another workflow',
      () =>
        api.call('PATCH', `/clients/${given.person.id}`, { workflow: { code: 'client.direct' }, data: { client: {} } }),
      400,
      'common.workflow.unknown_code workflow.code',
    ],
    ['PATCH: an unknown client', () => patchClient(unknown, {}), 404, notFound('client.id')],
    [
      'PATCH: an individual as a corporate, by identity',
      () => patchClient(given.person.id, { identity: { type: 'corporate', legalName: 'Ada Ltd' } }),
      400,
      field('field_invalid', 'client.identity.type'),
    ],
    [
      'PATCH: an individual as a corporate, by profile',
      () => patchClient(given.person.id, { profile: { identityType: 'corporate', phone: null } }),
      400,
      field('field_invalid', 'client.profile.identityType'),
    ],
    [
      'PATCH: a corporate as an individual, by identity',
      () => patchClient(given.company.id, { identity: { type: 'individual' } }),
      400,
      field('field_invalid', 'client.identity.type'),
    ],
    [
      'PATCH: a corporate as an individual, by profile',
      () => patchClient(given.company.id, { profile: { identityType: 'individual' } }),
      400,
      field('field_invalid', 'client.profile.identityType'),
    ],
    [
      'PATCH: identity and profile of two types',
      () => patchClient(given.company.id, { identity: { type: 'corporate' }, profile: { identityType: 'individual' } }),
      400,
      field('field_invalid', 'client.profile.identityType'),
    ],
    [
      'PATCH: by a viewer',
      () =>
        api.call(
          'PATCH',
          `/clients/${given.person.id}`,
          { workflow: DIRECT, data: { client: PATCHED_PERSON } },
          { as: 'viewer' },
        ),
      403,
      'common.security.access_denied machineUser.roles',
    ],
    ['GET by id: an unknown client', () => get(`/clients/${unknown}`), 404, notFound('client.id')],
    ['GET by id: no id', () => get('/clients/17'), 400, field('field_invalid', 'path.clientId')],
    [
      'GET by id: includeProfile that is no boolean',
      () => get(`/clients/${given.person.id}?metadata.includeProfile=yes`),
      400,
      field('field_invalid', 'metadata.includeProfile'),
    ],
    [
      'GET list: a size of none',
      () => get('/clients?metadata.page.size=0'),
      400,
      field('field_invalid', 'metadata.page.size'),
    ],
    [
      'GET list: a size over 100',
      () => get('/clients?metadata.page.size=101'),
      400,
      field('field_invalid', 'metadata.page.size'),
    ],
    [
      'GET list: a number below none',
      () => get('/clients?metadata.page.number=-1'),
      400,
      field('field_invalid', 'metadata.page.number'),
    ],
    [
      'GET list: an unknown status',
      () => get('/clients?data.client.status=open'),
      400,
      field('field_invalid', 'client.status'),
    ],
    [
      'GET list: a client number that is none',
      () => get('/clients?data.client.clientNumber=A1'),
      400,
      field('field_invalid', 'client.clientNumber'),
    ],
    [
      'GET list: an e-mail that is none',
      () => get('/clients?data.client.email=ada'),
      400,
      field('field_invalid', 'client.email'),
    ],
    [
      'GET list: a country that is none',
      () => get('/clients?data.client.country=XX'),
      400,
      field('field_invalid', 'client.country'),
    ],
    [
      'GET list: another identity type',
      () => get('/clients?data.client.identityType=trust'),
      400,
      field('field_invalid', 'client.identityType'),
    ],
    [
      'GET list: an empty name',
      () => get('/clients?data.client.fullName='),
      400,
      field('field_invalid', 'client.fullName'),
    ],
    [
      'GET list: an unknown filter',
      () => get('/clients?data.client.phone=1'),
      400,
      field('field_unexpected', 'client.phone'),
    ],
    [
      'POST relations: both forms',
      () => postRelations(given.otherCompany.id, { clientRelation: RELATED, clientRelations: [RELATED] }),
      400,
      field('mutually_exclusive', 'data.clientRelations'),
    ],
    [
      'POST relations: neither form',
      () => postRelations(given.otherCompany.id, {}),
      400,
      field('field_required', 'data.clientRelation'),
    ],
    [
      'POST relations: both forms null',
      () => postRelations(given.otherCompany.id, { clientRelation: null, clientRelations: null }),
      400,
      field('field_required', 'data.clientRelation'),
    ],
    [
      'POST relations: none of several',
      () => postRelations(given.otherCompany.id, { clientRelations: [] }),
      400,
      field('limit_exceeded', 'data.clientRelations'),
    ],
    [
      'POST relations: eleven at once',
      () => postRelations(given.otherCompany.id, { clientRelations: Array.from({ length: 11 }, () => RELATED) }),
      400,
      field('limit_exceeded', 'data.clientRelations'),
    ],
    [
      'POST relations: of an individual client',
      () => postRelations(given.person.id, { clientRelation: RELATED }),
      400,
      field('field_invalid', 'client.identity.type'),
    ],
    [
      'POST relations: a corporate relation',
      () =>
        postRelations(given.otherCompany.id, {
          clientRelation: { relation: 'director', identity: { type: 'corporate', legalName: 'Hopper Ltd' } },
        }),
      400,
      field('field_invalid', 'clientRelation.identity.type'),
    ],
    [
      'POST relations: the second of several is named',
      () => postRelations(given.otherCompany.id, { clientRelations: [RELATED, { ...RELATED, relation: 'owner' }] }),
      400,
      field('field_invalid', 'clientRelations.1.relation'),
    ],
    [
      'POST relations: another workflow',
      () =>
        api.call('POST', `/clients/${given.otherCompany.id}/relations`, {
          workflow: { code: 'client.direct' },
          data: { clientRelation: RELATED },
        }),
      400,
      'common.workflow.unknown_code workflow.code',
    ],
    [
      'POST relations: an unknown client',
      () => postRelations(unknown, { clientRelation: RELATED }),
      404,
      notFound('client.id'),
    ],
    [
      'POST relations: by a viewer',
      () => postRelations(given.otherCompany.id, { clientRelation: RELATED }, { as: 'viewer' }),
      403,
      'common.security.access_denied machineUser.roles',
    ],
    [
      'PATCH relation: of another client',
      () => patchRelation(given.otherCompany.id, given.relation.id, change.clientRelation),
      404,
      notFound('clientRelation.id'),
    ],
    [
      'PATCH relation: an unknown one',
      () => patchRelation(given.company.id, unknown, change.clientRelation),
      404,
      notFound('clientRelation.id'),
    ],
    [
      'PATCH relation: of an unknown client',
      () => patchRelation(unknown, given.relation.id, change.clientRelation),
      404,
      notFound('clientRelation.id'),
    ],
    [
      'GET relation: of another client',
      () => get(relation(given.otherCompany, given.relation.id)),
      404,
      notFound('clientRelation.id'),
    ],
    ['GET relation: an unknown one', () => get(relation(given.company, unknown)), 404, notFound('clientRelation.id')],
    [
      'GET relation: no id',
      () => get(relation(given.company, '17')),
      400,
      field('field_invalid', 'path.clientRelationId'),
    ],
    ['GET relations: of an unknown client', () => get(`/clients/${unknown}/relations`), 404, notFound('client.id')],
    [
      'GET relations: an unknown filter',
      () => get(`/clients/${given.company.id}/relations?data.clientRelation.relation=director`),
      400,
      field('field_unexpected', 'clientRelation.relation'),
    ],
    [
      'DELETE relation: of another client',
      () => api.call('DELETE', relation(given.otherCompany, given.relation.id)),
      404,
      notFound('clientRelation.id'),
    ],
    [
      'DELETE relation: an unknown one',
      () => api.call('DELETE', relation(given.company, unknown)),
      404,
      notFound('clientRelation.id'),
    ],
    [
      'DELETE relation: by a viewer',
      () => api.call('DELETE', relation(given.company, given.relation.id), undefined, { as: 'viewer' }),
      403,
      'common.security.access_denied machineUser.roles',
    ],
    ['DELETE relation: twice', deletedTwice, 404, notFound('clientRelation.id')],
  ];

  async function takenEmail(): Promise<ApiResponse> {
    const sent = { ...person(), profile: { ...person().profile, email: `${randomUUID()}@example.com` } };
    expect((await postClient(sent, { createUser: true })).status).toBe(201);
    return postClient(sent, { createUser: true });
  }

  async function deletedTwice(): Promise<ApiResponse> {
    const made = await created({ ...company(), relations: [RELATED] });
    const path = relation(made, made.relations[0].id);
    expect((await api.call('DELETE', path)).status).toBe(200);
    return api.call('DELETE', path);
  }

  test.each(rows)('%s', async (_, call, status, problem) => {
    const answer = await call();
    expect(answer.status, answer.text).toBe(status);
    expect(problemsOf(answer)).toContain(problem);
  });

  test('and none of them had an effect', async () => {
    for (const key of ['person', 'company', 'otherCompany', 'full'] as const) {
      expect((await get(`/clients/${given[key].id}`)).body.data.client).toEqual(given[key]);
    }
  });
});

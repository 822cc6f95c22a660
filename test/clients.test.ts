import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isClientNumber } from '../domain/numbers.ts';
import { type Called, type Json, startApi, type TestApi } from './harness/api.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('clients');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const PERSON = { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' };
const COMPANY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };

function person(identity: Json = {}, profile: Json = {}): Json {
  return {
    identity: { ...PERSON, ...identity },
    profile: { identityType: 'individual', residentialAddress: { country: 'GB' }, ...profile },
  };
}

function company(change: Json = {}, identity: Json = {}): Json {
  return {
    identity: { ...COMPANY, ...identity },
    profile: { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } },
    ...change,
  };
}

function post(client: Json, workflow: Json = {}): Promise<Called> {
  return api.call('POST', '/clients', { workflow: { code: 'direct', ...workflow }, data: { client } });
}

async function created(client: Json): Promise<Json> {
  const answer = await post(client);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.client;
}

async function read(id: string, query = ''): Promise<Called> {
  const answer = await api.call('GET', `/clients/${id}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** Code and field of every problem of a refused request, in the order of the answer. */
function problems(answer: Called): string[] {
  expect(answer.status, answer.text).toBe(400);
  return [answer.body, ...(answer.body.errors ?? [])].map(
    ({ code, messageParameters: [entity, field] }: Json) =>
      `${code.replace('common.validation.', '')} ${entity}.${field}`,
  );
}

describe('POST /clients', () => {
  test('creates an individual from identity and address alone, with every absent value null', async () => {
    const answer = await post(person());
    expect(answer.status).toBe(201);
    const { id, clientNumber, ...client } = answer.body.data.client;
    expect(isClientNumber(clientNumber)).toBe(true);
    expect(client).toEqual({
      status: 'active',
      fullName: 'Ada Lovelace',
      identity: { ...PERSON, birthDate: null, country: null, identifications: [], identificationNumbers: {} },
      profile: {
        identityType: 'individual',
        residentialAddress: {
          country: 'GB',
          region: null,
          city: null,
          street: null,
          houseNumber: null,
          postalCode: null,
          refinement: null,
        },
        phone: null,
        email: null,
      },
    });
    expect(answer.body.workflow).toEqual({ code: 'direct' });
    expect((await read(id)).body.data.client).toEqual(answer.body.data.client);
  });

  test('creates a corporate with every field and its relations, and tells of it in one event', async () => {
    const sent = company(
      {
        profile: {
          identityType: 'corporate',
          registrationAddress: {
            country: 'US',
            region: 'CA',
            city: 'San Francisco',
            street: 'Market Street',
            houseNumber: '1',
            postalCode: '94105',
            refinement: 'Floor 3',
          },
          phone: '+1 (415) 555-0100',
          email: 'Office@Example.com',
        },
        relations: [
          {
            relation: 'director',
            identity: { ...PERSON, birthDate: '1990-12-10', country: 'GB' },
            profile: { identityType: 'individual', residentialAddress: { country: 'GB' }, email: 'ada@example.com' },
          },
          { relation: 'authorized-person', identity: { ...PERSON, givenName: 'Grace' } },
        ],
      },
      {
        incorporationDate: '2012-02-29',
        corporationType: 'ltd',
        country: 'GB',
        identifications: [
          {
            type: 'registration-number',
            identificationNumber: '07654321',
            issuingCountry: 'GB',
            issueDate: '2012-02-29',
            expirationDate: '2042-02-28',
          },
        ],
      },
    );
    const client = await created(sent);
    const { relations, ...own } = client;
    expect(own).toMatchObject({ fullName: COMPANY.legalName, identity: sent.identity, profile: sent.profile });
    expect(own.identity.identificationNumbers).toEqual({ 'registration-number': '07654321' });
    expect(relations.map(({ relation, fullName }: Json) => [relation, fullName])).toEqual([
      ['director', 'Ada Lovelace'],
      ['authorized-person', 'Grace Lovelace'],
    ]);
    expect(relations[0]).toMatchObject({ clientId: client.id, profile: { email: 'ada@example.com' } });
    expect(relations[1].profile.residentialAddress).toBeNull();
    expect((await read(client.id)).body.data.client).toEqual(client);
    const events = await api.database.reader.statement<{ module: string; entries: Json[] }>(
      'SELECT module, entries FROM events WHERE resource_id = $1',
      [client.id],
    );
    expect(events.map(({ module, entries }) => [module, entries.map(({ type }) => type)])).toEqual([
      ['clients', ['created']],
    ]);
  });

  test.each([
    ['Greek', 'Σωκράτης', 'Παπαδόπουλος'],
    ['Cyrillic', 'Лев', 'Толстой'],
    ['Arabic', 'محمد', 'الخوارزمي'],
    ['Hebrew with points', 'דָּוִד', 'בֶּן־גּוּרְיוֹן'],
    ['Persian with a zero-width non-joiner', 'علی‌رضا', 'نوری'],
    ['Devanagari', 'श्रीनिवास', 'रामानुजन्'],
    ['Tamil', 'சந்திரசேகர', 'வெங்கட ராமன்'],
    ['Thai', 'สมชาย', 'ใจดี'],
    ['Han outside of the basic plane', '𠮷野', '家'],
    ['Hangul', '세종', '이'],
    ['Vietnamese', 'Nguyễn', 'Phúc Ánh'],
    ['apostrophes, dots, dashes', "D'Arcy", 'St. John-Smythe Jr.'],
    ['quotes and markup', '"Bobby"; DROP TABLE', '<b>Tables</b> & Söhne'],
    ['one letter', 'Ø', 'O'],
  ])('keeps names as sent: %s', async (_, givenName, familyName) => {
    const client = await created(person({ givenName, familyName }));
    const composed = { givenName: givenName.normalize('NFC'), familyName: familyName.normalize('NFC') };
    expect(client.identity).toMatchObject(composed);
    expect(client.fullName).toBe(`${composed.givenName} ${composed.familyName}`);
    expect((await read(client.id)).body.data.client.fullName).toBe(client.fullName);
  });

  test.each([
    ['nothing', ''],
    ['blanks alone', ' \u00a0 '],
    ['a NUL', 'A\0da'],
    ['a line break', 'Ada\nLovelace'],
    ['a change of direction', 'Ada\u202eevolaL'],
    ['an invisible character', 'A\u200bda'],
    ['half a surrogate pair', 'A\ud842'],
    ['a heap of marks', `A${'\u0301'.repeat(6)}`],
    ['141 characters', 'a'.repeat(141)],
  ])('refuses a name of %s', async (_, givenName) => {
    expect(problems(await post(person({ givenName })))).toEqual(['field_invalid client.identity.givenName']);
  });

  test('counts a name in characters, not in units of an encoding', async () => {
    const legalName = '𠮷'.repeat(140);
    expect((await created(company({}, { legalName }))).fullName).toBe(legalName);
  });

  test('names every problem of a body at once, of fields and between them', async () => {
    const answer = await post(
      {
        identity: { type: 'individual', givenName: '', birthDate: '2023-02-29', country: 'XX', nonsense: 1 },
        profile: {
          identityType: 'corporate',
          registrationAddress: { country: 'US', city: 'a'.repeat(71) },
          email: 'nobody',
          phone: 'call me',
        },
        relations: [{ relation: 'director', identity: PERSON }],
        status: 'active',
      },
      { stranger: true },
    );
    expect(problems(answer).sort()).toEqual([
      'field_invalid client.identity.birthDate',
      'field_invalid client.identity.country',
      'field_invalid client.identity.givenName',
      'field_invalid client.profile.email',
      'field_invalid client.profile.identityType',
      'field_invalid client.profile.phone',
      'field_invalid client.profile.registrationAddress.city',
      'field_invalid client.relations',
      'field_required client.identity.familyName',
      'field_required client.profile.registrationAddress.region',
      'field_unexpected client.identity.nonsense',
      'field_unexpected client.status',
      'field_unexpected workflow.stranger',
    ]);
  });

  test.each<[string, Json, string[]]>([
    ['no identity', { profile: person().profile }, ['field_required client.identity']],
    ['no profile', { identity: PERSON }, ['field_required client.profile']],
    [
      'no address',
      { identity: PERSON, profile: { identityType: 'individual' } },
      ['field_required client.profile.residentialAddress'],
    ],
    [
      'an address of the other type',
      person({}, { registrationAddress: { country: 'GB' } }),
      ['field_unexpected client.profile.registrationAddress'],
    ],
    ['another type of client', person({ type: 'trust' }), ['field_invalid client.identity.type']],
    ['no type of client', person({ type: null }), ['field_required client.identity.type']],
    [
      'relations of an individual',
      { ...person(), relations: [{ relation: 'director', identity: PERSON }] },
      ['field_invalid client.relations'],
    ],
    [
      'a corporate relation',
      company({ relations: [{ relation: 'director', identity: COMPANY }] }),
      [
        'field_invalid client.relations.0.identity.type',
        'field_required client.relations.0.identity.givenName',
        'field_required client.relations.0.identity.familyName',
        'field_unexpected client.relations.0.identity.legalName',
      ],
    ],
    [
      'an unknown relation',
      company({ relations: [{ relation: 'owner', identity: PERSON }] }),
      ['field_invalid client.relations.0.relation'],
    ],
    [
      'an unknown identification',
      person({ identifications: [{ type: 'library-card', identificationNumber: '1' }] }),
      ['field_invalid client.identity.identifications.0.type'],
    ],
    [
      'an identification without its number',
      person({ identifications: [{ type: 'passport' }] }),
      ['field_required client.identity.identifications.0.identificationNumber'],
    ],
    [
      'an unknown key of the deprecated map',
      person({ identificationNumbers: { 'library-card': '1' } }),
      ['field_unexpected client.identity.identificationNumbers.library-card'],
    ],
  ])('refuses %s', async (_, client, expected) => {
    expect(problems(await post(client)).sort()).toEqual([...expected].sort());
  });

  test('takes null for a field that may be absent', async () => {
    const client = await created(
      person({ birthDate: null, identifications: null, identificationNumbers: { passport: null } }, { phone: null }),
    );
    expect(client.identity).toMatchObject({ birthDate: null, identifications: [], identificationNumbers: {} });
  });

  test('takes ten relations, not eleven', async () => {
    const relations = Array.from({ length: 11 }, (_, index) => ({
      relation: 'shareholder',
      identity: { ...PERSON, givenName: `Ada ${index}` },
    }));
    const client = await created(company({ relations: relations.slice(0, 10) }));
    expect(client.relations.map(({ fullName }: Json) => fullName)).toEqual(
      relations.slice(0, 10).map(({ identity }) => `${identity.givenName} Lovelace`),
    );
    expect(problems(await post(company({ relations })))).toEqual(['limit_exceeded client.relations']);
  });

  test.each([
    ['US', 'NY', 'New York'],
    ['CA', 'QC', 'Québec'],
    ['MX', 'CMX', 'DF'],
  ])('wants the ISO code of the region in %s', async (country, region, wrong) => {
    const at = (address: Json) => person({}, { residentialAddress: { country, ...address } });
    expect((await created(at({ region }))).profile.residentialAddress).toMatchObject({ country, region });
    const field = 'client.profile.residentialAddress.region';
    expect(problems(await post(at({})))).toEqual([`field_required ${field}`]);
    expect(problems(await post(at({ region: wrong })))).toEqual([`field_invalid ${field}`]);
    expect(problems(await post(at({ region: `${country}-${region}` })))).toEqual([`field_invalid ${field}`]);
    expect(problems(await post(at({ region: region.toLowerCase() })))).toEqual([`field_invalid ${field}`]);
  });

  test('takes any region elsewhere', async () => {
    const client = await created(person({}, { residentialAddress: { country: 'DE', region: 'Freistaat Bayern' } }));
    expect(client.profile.residentialAddress.region).toBe('Freistaat Bayern');
  });
});

describe('identifications', () => {
  const passport = { type: 'passport', identificationNumber: '925665416', issuingCountry: 'GB' };
  const dates = { issueDate: null, expirationDate: null };
  const licence = { type: 'driving-licence', identificationNumber: 'LOVEL9901', issuingCountry: null, ...dates };

  test.each<[string, Json, Json[], Json]>([
    ['the list', { identifications: [passport] }, [{ ...passport, ...dates }], { passport: '925665416' }],
    [
      'the deprecated map',
      { identificationNumbers: { 'driving-licence': 'LOVEL9901' } },
      [licence],
      {
        'driving-licence': 'LOVEL9901',
      },
    ],
    [
      'both, each once',
      {
        identifications: [passport],
        identificationNumbers: { passport: '925665416', 'driving-licence': 'LOVEL9901' },
      },
      [{ ...passport, ...dates }, licence],
      { passport: '925665416', 'driving-licence': 'LOVEL9901' },
    ],
    [
      'two of one type: the map has the first',
      { identifications: [passport, { ...passport, identificationNumber: '2', issuingCountry: 'FR' }] },
      [
        { ...passport, ...dates },
        { ...passport, ...dates, identificationNumber: '2', issuingCountry: 'FR' },
      ],
      { passport: '925665416' },
    ],
  ])('%s gives both views of the same data', async (_, sent, list, map) => {
    const client = await created(person(sent));
    expect(client.identity.identifications).toEqual(list);
    expect(client.identity.identificationNumbers).toEqual(map);
  });

  test('takes every type, and twenty, not twenty-one', async () => {
    const types = [
      'registration-number',
      'passport',
      'identity-card',
      'driving-licence',
      'national-id-number',
      'tax-identification-number',
      'vat-number',
      'lei',
      'residence-permit',
      'other',
    ];
    const list = Array.from({ length: 21 }, (_, index) => ({
      type: types[index % types.length],
      identificationNumber: `N${index}`,
    }));
    const { identity } = await created(person({ identifications: list.slice(0, 20) }));
    expect(identity.identifications).toHaveLength(20);
    expect(Object.keys(identity.identificationNumbers)).toEqual(types);
    expect(problems(await post(person({ identifications: list })))).toEqual([
      'limit_exceeded client.identity.identifications',
    ]);
  });
});

describe('GET /clients/{clientId}', () => {
  test('leaves the profile out when asked to, and adds the primary address where it is included', async () => {
    const individual = await created(person());
    const corporate = await created(company());
    expect((await read(individual.id, '?metadata.includeProfile=false')).body.data.client.profile).toBeUndefined();
    const with_ = (await read(individual.id, '?metadata.includeProfile=true')).body;
    expect(with_.data.client.profile).toEqual(individual.profile);
    expect(with_.metadata).toEqual({ includeProfile: true });
    const include = '?metadata.include=data.client.profile.primaryAddress';
    const answer = (await read(corporate.id, include)).body;
    expect(answer.data.client.profile.primaryAddress).toEqual(corporate.profile.registrationAddress);
    expect(answer.metadata).toEqual({ include: ['data.client.profile.primaryAddress'] });
    expect((await read(individual.id, include)).body.data.client.profile.primaryAddress).toEqual(
      individual.profile.residentialAddress,
    );
    for (const [client, address] of [
      [individual, 'residentialAddress'],
      [corporate, 'registrationAddress'],
    ]) {
      const query = `?metadata.includeProfile=false&metadata.include=data.client.profile.${address}`;
      expect((await read(client.id, query)).body.data.client.profile[address]).toEqual(client.profile[address]);
    }
  });

  test('shows the connections of the client where they are included', async () => {
    const { id } = await created(person());
    expect((await read(id)).body.connect).toEqual({});
    expect((await read(id, '?metadata.include=connect.connections')).body.connect).toEqual({ connections: [] });
  });

  test('is 404 for an id of nothing', async () => {
    const id = randomUUID();
    const { status, body } = await api.call('GET', `/clients/${id}`);
    expect([status, body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
    expect(body.messageParameters).toEqual(['client', 'id', id]);
  });
});

describe('GET /clients', () => {
  const mark = `Zeta ${randomUUID().slice(0, 8)}`;
  let clients: Json[];

  beforeAll(async () => {
    clients = [
      await created(person({ givenName: 'Åsa 100%', familyName: mark, country: 'SE' }, { email: 'Asa@Example.com' })),
      await created(person({ givenName: 'Bo_b', familyName: mark, country: 'SE' })),
      await created(company({}, { legalName: `Bo\\b ${mark}`, country: 'GB' })),
      await created(company({}, { legalName: `BOxB ${mark} 1000` })),
    ];
  });

  async function list(query: Json): Promise<Json> {
    const parameters = Object.entries({ 'data.client.fullName': mark, ...query })
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join('&');
    const answer = await api.call('GET', `/clients?${parameters}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async function found(query: Json): Promise<number[]> {
    const { data } = await list(query);
    return data.clients.map(({ id }: Json) => clients.findIndex((client) => client.id === id));
  }

  test('filters by every field, all together, in the order of creation', async () => {
    const name = 'data.client.fullName';
    expect(await found({})).toEqual([0, 1, 2, 3]);
    expect(await found({ [name]: mark.toUpperCase() })).toEqual([0, 1, 2, 3]);
    expect(await found({ [name]: `åSA 100% ${mark}` })).toEqual([0]);
    expect(await found({ [name]: `0% ${mark}` })).toEqual([0]);
    expect(await found({ [name]: `%${mark}` })).toEqual([]);
    expect(await found({ [name]: `Bo_b ${mark}` })).toEqual([1]);
    expect(await found({ [name]: `Bo\\b ${mark}` })).toEqual([2]);
    expect(await found({ 'data.client.identityType': 'corporate' })).toEqual([2, 3]);
    expect(await found({ 'data.client.country': 'SE' })).toEqual([0, 1]);
    expect(await found({ 'data.client.country': 'SE', 'data.client.identityType': 'corporate' })).toEqual([]);
    expect(await found({ 'data.client.email': 'asa@example.COM' })).toEqual([0]);
    expect(await found({ 'data.client.clientNumber': clients[2].clientNumber })).toEqual([2]);
    expect(await found({ 'data.client.status': 'active' })).toEqual([0, 1, 2, 3]);
    expect(await found({ 'data.client.status': 'closed' })).toEqual([]);
  });

  test('pages, and counts the whole', async () => {
    const second = await list({ 'metadata.page.size': 3, 'metadata.page.number': 1 });
    expect(second.metadata.page).toEqual({ size: 3, number: 1, totalElements: 4, totalPages: 2 });
    expect(second.data.clients.map(({ id }: Json) => id)).toEqual([clients[3].id]);
    const beyond = await list({ 'metadata.page.number': 9 });
    expect(beyond.data.clients).toEqual([]);
    expect(beyond.metadata.page).toEqual({ size: 10, number: 9, totalElements: 4, totalPages: 1 });
  });

  test.each(['metadata.page.size=0', 'metadata.page.size=101', 'metadata.page.number=-1', 'data.client.status=open'])(
    'refuses %s',
    async (query) => {
      expect((await api.call('GET', `/clients?${query}`)).status).toBe(400);
    },
  );
});

test('a repeated key answers with the first client and makes no second one', async () => {
  const key = randomUUID();
  const body = { workflow: { code: 'direct' }, data: { client: person({ familyName: `Once ${key}` }) } };
  const [first, second] = [
    await api.call('POST', '/clients', body, { key }),
    await api.call('POST', '/clients', body, { key }),
  ];
  expect(second.text).toBe(first.text);
  expect(second.headers.get('x-idempotency-status')).toBe('replayed');
  const listed = await api.call('GET', `/clients?data.client.fullName=${encodeURIComponent(`Once ${key}`)}`);
  expect(listed.body.metadata.page.totalElements).toBe(1);
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isClientNumber } from '../../domain/common/numbers/numbers.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

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

function post(client: Json, workflow: Json = {}): Promise<ApiResponse> {
  return api.call('POST', '/clients', { workflow: { code: 'direct', ...workflow }, data: { client } });
}

function patch(id: string, client: Json): Promise<ApiResponse> {
  return api.call('PATCH', `/clients/${id}`, { workflow: { code: 'direct' }, data: { client } });
}

function postRelations(id: string, data: Json, key?: string): Promise<ApiResponse> {
  const body = { workflow: { code: 'direct' }, data };
  return api.call('POST', `/clients/${id}/relations`, body, key === undefined ? {} : { key });
}

async function created(client: Json): Promise<Json> {
  const answer = await post(client);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.client;
}

async function read(id: string, query = ''): Promise<ApiResponse> {
  const answer = await api.call('GET', `/clients/${id}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** Code and field of every problem of a rejected request, in the order of the answer. */
function problems(answer: ApiResponse): string[] {
  expect(answer.status, answer.text).toBe(400);
  return [answer.body, ...(answer.body.errors ?? [])].map(
    ({ code, messageParameters: [entity, field] }: Json) =>
      `${code.replace('common.validation.', '')} ${entity}.${field}`,
  );
}

describe('POST /clients', () => {
  test('creates an individual from identity and address only, with every absent value null', async () => {
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

  test('creates a corporate with every field and its relations, in one event', async () => {
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
    expect(events[0]?.entries[0]?.data).toEqual(client);
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
    ['blanks only', ' \u00a0 '],
    ['a NUL', 'A\0da'],
    ['a line break', 'Ada\nLovelace'],
    ['a change of direction', 'Ada\u202eevolaL'],
    ['an invisible character', 'A\u200bda'],
    ['half a surrogate pair', 'A\ud842'],
    ['a heap of marks', `A${'\u0301'.repeat(6)}`],
    ['141 characters', 'a'.repeat(141)],
  ])('rejects a name of %s', async (_, givenName) => {
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
          email: 'not-an-address',
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

  test('filters by a part of the name in any case, in which no character is special', async () => {
    const name = 'data.client.fullName';
    expect(await found({})).toEqual([0, 1, 2, 3]);
    expect(await found({ [name]: mark.toUpperCase() })).toEqual([0, 1, 2, 3]);
    expect(await found({ [name]: `åSA 100% ${mark}` })).toEqual([0]);
    expect(await found({ [name]: `0% ${mark}` })).toEqual([0]);
    expect(await found({ [name]: `%${mark}` })).toEqual([]);
    expect(await found({ [name]: `Bo_b ${mark}` })).toEqual([1]);
    expect(await found({ [name]: `Bo\\b ${mark}` })).toEqual([2]);
  });

  test('finds the longest name that there is by all of it', async () => {
    const longest = await created(person({ givenName: 'g'.repeat(140), familyName: 'f'.repeat(140) }));
    const { data } = await list({ 'data.client.fullName': longest.fullName });
    expect(data.clients).toEqual([longest]);
  });
});

describe('PATCH /clients/{clientId}', () => {
  test('changes any subset at once, here and wherever the client is found, and keeps the rest', async () => {
    const mark = `Renamed ${randomUUID().slice(0, 8)}`;
    const before = await created(
      company(
        { relations: [{ relation: 'director', identity: PERSON }] },
        { country: 'GB', corporationType: 'ltd', incorporationDate: '2012-02-29' },
      ),
    );
    const email = `${randomUUID()}@example.com`;
    const answer = await patch(before.id, {
      identity: { type: 'corporate', legalName: mark, country: 'IE', corporationType: null },
      profile: { identityType: 'corporate', email, registrationAddress: { country: 'IE' } },
    });
    expect(answer.status, answer.text).toBe(200);
    const after = {
      ...before,
      fullName: mark,
      identity: { ...before.identity, legalName: mark, country: 'IE', corporationType: null },
      profile: {
        ...before.profile,
        email,
        registrationAddress: { ...before.profile.registrationAddress, country: 'IE', city: null },
      },
    };
    expect(answer.body.data.client).toEqual(after);
    expect((await read(before.id)).body.data.client).toEqual(after);
    const { relations: _, ...listed } = after;
    const query = `data.client.email=${email}&data.client.country=IE&data.client.fullName=${encodeURIComponent(mark)}`;
    expect((await api.call('GET', `/clients?${query}`)).body.data.clients).toEqual([listed]);
  });

  const passport = { type: 'passport', identificationNumber: 'P1', issuingCountry: 'GB' };
  const licence = { type: 'driving-licence', identificationNumber: 'D1', issuingCountry: 'GB' };
  const newer = { type: 'passport', identificationNumber: 'P2', issuingCountry: 'FR' };
  const bare = (type: string, identificationNumber: string) => ({ type, identificationNumber, issuingCountry: null });

  test.each<[string, Json, Json[]]>([
    ['a list replaces the list', { identifications: [newer] }, [newer]],
    ['an empty list empties', { identifications: [] }, []],
    [
      'the map is merged: a number is set',
      { identificationNumbers: { passport: 'P9' } },
      [bare('passport', 'P9'), licence],
    ],
    [
      'the map is merged: a number that stays keeps the rest',
      { identificationNumbers: { passport: 'P1' } },
      [passport, licence],
    ],
    ['the map is merged: null takes a type away', { identificationNumbers: { passport: null } }, [licence]],
    [
      'the map is merged: another type is added',
      { identificationNumbers: { lei: 'L1' } },
      [passport, licence, bare('lei', 'L1')],
    ],
    [
      'a new list with the map as it was read is the list',
      { identifications: [newer], identificationNumbers: { passport: 'P1', 'driving-licence': 'D1' } },
      [newer],
    ],
    [
      'null for the map with the list as it was read empties',
      { identifications: [passport, licence], identificationNumbers: null },
      [],
    ],
    [
      'null for the list with the map as it was read empties',
      { identifications: null, identificationNumbers: { passport: 'P1', 'driving-licence': 'D1' } },
      [],
    ],
    [
      'null for the map with a new list is the list',
      { identifications: [newer], identificationNumbers: null },
      [newer],
    ],
  ])('takes identifications in both views: %s', async (_, sent, wanted) => {
    const { id } = await created(person({ identifications: [passport, licence] }));
    const answer = await patch(id, { identity: { type: 'individual', ...sent } });
    expect(answer.status, answer.text).toBe(200);
    const { identifications, identificationNumbers } = answer.body.data.client.identity;
    const dates = { issueDate: null, expirationDate: null };
    expect(identifications).toEqual(wanted.map((one) => ({ ...one, ...dates })));
    expect(identificationNumbers).toEqual(
      Object.fromEntries(wanted.map(({ type, identificationNumber }) => [type, identificationNumber])),
    );
  });

  test('names in any script are kept as sent, in both directions', async () => {
    const { id } = await created(person());
    for (const [givenName, familyName] of [
      ['Σωκράτης', 'Παπαδόπουλος'],
      ['محمد', 'الخوارزمي'],
      ['𠮷野', '家'],
    ]) {
      const answer = await patch(id, { identity: { type: 'individual', givenName, familyName } });
      expect(answer.body.data.client).toMatchObject({
        fullName: `${givenName} ${familyName}`,
        identity: { givenName, familyName },
      });
    }
  });

  test('concurrent changes of different fields all take effect', async () => {
    const { id } = await created(person());
    const changes = {
      givenName: 'Augusta',
      familyName: 'King',
      birthDate: '1990-12-10',
      country: 'FR',
      identifications: [{ ...passport, issueDate: null, expirationDate: null }],
    };
    const contact = { phone: '+44 20 7946 0000', email: 'augusta@example.com' };
    const answers = await Promise.all([
      ...Object.entries(changes).map(([field, value]) =>
        patch(id, { identity: { type: 'individual', [field]: value } }),
      ),
      ...Object.entries(contact).map(([field, value]) =>
        patch(id, { profile: { identityType: 'individual', [field]: value } }),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200));
    const after = (await read(id)).body.data.client;
    expect(after).toMatchObject({ fullName: 'Augusta King', identity: changes, profile: contact });
  });

  test('a rejected change changes nothing, and names all that is wrong with it', async () => {
    const before = await created(person());
    const answer = await patch(before.id, {
      identity: { type: 'individual', givenName: 'Augusta', familyName: null, birthDate: 'soon' },
      profile: { identityType: 'individual', residentialAddress: null, email: 'not-an-address' },
      fullName: 'Augusta King',
    });
    expect(problems(answer).sort()).toEqual([
      'field_invalid client.identity.birthDate',
      'field_invalid client.profile.email',
      'field_required client.identity.familyName',
      'field_required client.profile.residentialAddress',
      'field_unexpected client.fullName',
    ]);
    expect((await read(before.id)).body.data.client).toEqual(before);
    const otherType = await patch(before.id, {
      identity: { type: 'corporate', legalName: 'Ada Ltd' },
      profile: { identityType: 'corporate', phone: '+44 20 7946 0000' },
    });
    expect(problems(otherType)).toEqual([
      'field_invalid client.identity.type',
      'field_invalid client.profile.identityType',
    ]);
  });

  test('emits no event: the interface has none for it', async () => {
    const { id } = await created(company());
    expect((await patch(id, { identity: { type: 'corporate', legalName: 'Bakery Ltd' } })).status).toBe(200);
    const relation = { relation: 'director', identity: PERSON };
    const made = await postRelations(id, { clientRelation: relation });
    expect(made.status).toBe(201);
    expect((await api.call('DELETE', `/clients/${id}/relations/${made.body.data.clientRelation.id}`)).status).toBe(200);
    const rows = await api.database.reader.statement<{ entries: Json[] }>(
      'SELECT entries FROM events WHERE resource_id = $1',
      [id],
    );
    expect(rows.flatMap(({ entries }) => entries.map(({ type }) => type))).toEqual(['created']);
  });
});

describe('relations of a client', () => {
  const related = (givenName = 'Grace'): Json => ({
    relation: 'director',
    identity: { type: 'individual', givenName, familyName: 'Hopper' },
  });
  const listed = async (id: string): Promise<Json[]> =>
    (await api.call('GET', `/clients/${id}/relations?metadata.page.size=100`)).body.data.clientRelations;

  test('show the address of the entity under both sets of keys, wherever they are shown', async () => {
    const residentialAddress = {
      country: 'US',
      region: 'CA',
      city: 'San Francisco',
      street: 'Market Street',
      houseNumber: '1',
      postalCode: '94105',
      refinement: 'Floor 3',
    };
    const sent = { ...related(), profile: { identityType: 'individual', residentialAddress } };
    const client = await created(company({ relations: [sent] }));
    const [relation] = client.relations;
    expect(relation.profile.residentialAddress).toEqual({
      ...residentialAddress,
      state: 'CA',
      firstLine: 'Market Street 1',
      secondLine: 'Floor 3',
    });
    expect((await read(client.id)).body.data.client.relations).toEqual([relation]);
    expect(await listed(client.id)).toEqual([relation]);
    const one = await api.call('GET', `/clients/${client.id}/relations/${relation.id}`);
    expect(one.body.data.clientRelation).toEqual(relation);
    const { body } = await postRelations(client.id, { clientRelation: sent });
    expect(body.data.clientRelation.profile).toEqual(relation.profile);
  });

  /** A company with a number of relations, created ten at a time. */
  async function companyWith(count: number): Promise<string> {
    const { id } = await created(company());
    for (let made = 0; made < count; made += 10) {
      const clientRelations = Array.from({ length: Math.min(10, count - made) }, () => related());
      expect((await postRelations(id, { clientRelations })).status).toBe(201);
    }
    return id;
  }

  test('are ten at most per creation and per call, and more in total', async () => {
    const ten = Array.from({ length: 10 }, () => related());
    const { id } = await created(company({ relations: ten }));
    expect((await postRelations(id, { clientRelations: ten })).status).toBe(201);
    const { body } = await read(id);
    expect(body.data.client.relations).toHaveLength(20);
    expect(body.data.client.relations).toEqual(await listed(id));
  });

  test('are at most 1,000 in total, however many are requested at once', async () => {
    const id = await companyWith(990);
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) => postRelations(id, { clientRelation: related(`Grace ${index}`) })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(problems(answer)).toEqual(['limit_exceeded client.relations']);
    }
    const ids = made.map(({ body }) => body.data.clientRelation.id);
    const last = await api.call('GET', `/clients/${id}/relations?metadata.page.size=10&metadata.page.number=99`);
    expect(last.body.metadata.page.totalElements).toBe(1_000);
    expect(last.body.data.clientRelations.map((one: Json) => one.id).sort()).toEqual(ids.sort());
    expect((await read(id)).body.data.client.relations).toHaveLength(1_000);
  });

  test('of one request are all created or none; after one ends, another can be created', async () => {
    const id = await companyWith(996);
    const { relations } = (await read(id)).body.data.client;
    const five = { clientRelations: Array.from({ length: 5 }, () => related()) };
    const answers = await Promise.all([postRelations(id, five), postRelations(id, five)]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect((await read(id)).body.data.client.relations).toEqual(relations);
    expect((await api.call('DELETE', `/clients/${id}/relations/${relations[0].id}`)).status).toBe(200);
    expect((await postRelations(id, five)).status).toBe(201);
    expect((await read(id)).body.data.client.relations).toHaveLength(1_000);
  });

  test('changed at once in different fields keep every change', async () => {
    const { id, relations } = await created(company({ relations: [related()] }));
    const path = `/clients/${id}/relations/${relations[0].id}`;
    const changes = [
      { relation: 'shareholder' },
      { identity: { givenName: 'Amazing Grace' } },
      { identity: { familyName: 'Murray' } },
      { profile: { phone: '+1 202 555 0100' } },
      { profile: { email: 'grace@example.com' } },
    ];
    const answers = await Promise.all(
      changes.map((clientRelation) =>
        api.call('PATCH', path, { workflow: { code: 'direct' }, data: { clientRelation } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect((await api.call('GET', path)).body.data.clientRelation).toMatchObject({
      relation: 'shareholder',
      fullName: 'Amazing Grace Murray',
      profile: { phone: '+1 202 555 0100', email: 'grace@example.com' },
    });
  });

  test('are created once for a key, and a rejected request leaves its key free', async () => {
    const id = await companyWith(1_000);
    const { relations } = (await read(id)).body.data.client;
    const key = randomUUID();
    const post = () => postRelations(id, { clientRelation: related('Once') }, key);
    expect((await post()).status).toBe(400);
    expect((await api.call('DELETE', `/clients/${id}/relations/${relations[0].id}`)).status).toBe(200);
    const [first, second] = [await post(), await post()];
    expect([first.status, second.text, second.headers.get('x-idempotency-status')]).toEqual([
      201,
      first.text,
      'replayed',
    ]);
    const all: Json[] = (await read(id)).body.data.client.relations;
    expect(all.filter(({ fullName }) => fullName === 'Once Hopper')).toHaveLength(1);
  });

  test('are no users who act for the client, nor the other way round', async () => {
    const { id, relations } = await created(company({ relations: [related()] }));
    const users = '/users?data.user.category=external&data.user.email=grace@example.com';
    const profile = { identityType: 'individual', email: 'grace@example.com' };
    expect((await postRelations(id, { clientRelation: { ...related(), profile } })).status).toBe(201);
    expect((await api.call('GET', users)).body.data.users).toEqual([]);
    const made = await api.call('POST', '/users', {
      workflow: { code: 'human.external.direct' },
      data: {
        user: { email: 'grace@example.com', identity: { givenName: 'Grace', familyName: 'Hopper' } },
        userClientRelations: [{ clientId: id }],
      },
    });
    const { user, userClientRelations } = made.body.data;
    expect((await api.call('GET', `/clients/${id}/relations/${userClientRelations[0].id}`)).status).toBe(404);
    expect((await api.call('GET', `/users/${user.id}/client-relations/${relations[0].id}`)).status).toBe(404);
    expect(await listed(id)).toHaveLength(2);
  });
});

test('a repeated key answers with the first client and creates no second one', async () => {
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

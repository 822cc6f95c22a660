import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isClientNumber } from '../../domain/common/numbers/numbers.ts';
import type { Json } from '../harness/api.ts';
import {
  eventsOf,
  type MigrationStage,
  migrateClient,
  rejectionIn,
  rowCounts,
  startMigrationStage,
} from '../harness/parties/migration.ts';

let stage: MigrationStage;

beforeAll(async () => {
  stage = await startMigrationStage('clients-migration');
});

afterEach(async () => {
  await stage.bank('DELETE', '/faults');
});

afterAll(async () => {
  await stage?.close();
});

/** An existing client of the bank, put there as its operator would. */
async function existing(sourceId: string, change: Json = {}): Promise<Json> {
  const client = {
    sourceId,
    identity: { type: 'individual', givenName: 'Emmy', familyName: 'Noether', country: 'DE' },
    address: { country: 'DE', city: 'Erlangen' },
    ...change,
  };
  const { status, body } = await stage.bank('POST', '/existing-clients', client);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function migrated(sourceId: string): Promise<Json> {
  const answer = await migrateClient(stage.api, sourceId);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** The rejection of a request that must have written nothing. */
async function rejected(sourceId: string, connect?: Json): Promise<Json> {
  const before = await rowCounts(stage.api);
  const answer = await migrateClient(stage.api, sourceId, {
    key: `rejected ${sourceId}`,
    ...(connect ? { connect } : {}),
  });
  expect(await rowCounts(stage.api)).toEqual(before);
  return { ...rejectionIn(answer), message: answer.body.message, headers: answer.headers, text: answer.text };
}

describe('a client that the provider has', () => {
  test('is created as a direct one would be, with every field that the provider has', async () => {
    const { workflow, data, connect } = await migrated('client-individual');
    expect(workflow).toEqual({ code: 'migration' });
    const { id, clientNumber, ...client } = data.client;
    expect(isClientNumber(clientNumber)).toBe(true);
    expect(client).toEqual({
      status: 'active',
      fullName: 'Mary Somerville',
      identity: {
        type: 'individual',
        givenName: 'Mary',
        familyName: 'Somerville',
        birthDate: '1980-12-26',
        country: 'GB',
        identifications: [
          {
            type: 'passport',
            identificationNumber: '509871234',
            issuingCountry: 'GB',
            issueDate: '2021-03-04',
            expirationDate: '2031-03-04',
          },
        ],
        identificationNumbers: { passport: '509871234' },
      },
      profile: {
        identityType: 'individual',
        residentialAddress: {
          country: 'GB',
          region: null,
          city: 'Jedburgh',
          street: 'High Street',
          houseNumber: '12',
          postalCode: 'TD8 6AR',
          refinement: null,
        },
        phone: '+44 1835 555 0101',
        email: 'mary.somerville@example.com',
      },
    });
    expect(connect).toEqual({
      type: 'explicit',
      serviceProvider: 'sandbox-bank',
      connection: {
        id: expect.any(String),
        serviceProvider: 'sandbox-bank',
        reference: 'SBC-client-individual',
        state: 'completed-up-to-date',
      },
    });
    const read = await stage.api.call('GET', `/clients/${id}?metadata.include=connect.connections`);
    expect(read.body.data.client).toEqual(data.client);
    expect(read.body.connect.connections).toEqual([connect.connection]);
  });

  test('has events for its creation and for its connection at the provider', async () => {
    const { data, connect } = await migrated((await existing('named')).sourceId);
    const events = await eventsOf(stage.api, data.client.id);
    expect(events.map(({ module, type }) => [module, type])).toEqual([
      ['clients', 'created'],
      ['clients', 'connection-created'],
    ]);
    const { id, serviceProvider } = connect.connection;
    expect(events[1].data.connection).toEqual({ id, serviceProvider });
  });

  test('brings its relations, if it is corporate', async () => {
    const { data } = await migrated('client-corporate');
    expect(data.client).toMatchObject({ fullName: 'Analytical Engines Ltd', identity: { corporationType: 'ltd' } });
    expect(data.client.relations.map(({ relation, fullName }: Json) => [relation, fullName])).toEqual([
      ['director', 'Charles Babbage'],
      ['shareholder', 'Luigi Menabrea'],
      ['authorized-person', 'Joseph Clement'],
    ]);
    const read = await stage.api.call('GET', `/clients/${data.client.id}/relations`);
    expect(read.body.data.clientRelations).toEqual(data.client.relations);
    const [made, connected] = await eventsOf(stage.api, data.client.id);
    expect(made?.data).toEqual(data.client);
    expect(connected?.data).toMatchObject(data.client);
  });

  test('keeps its name in every script', async () => {
    const accents = await migrated('client-accents');
    expect(accents.data.client.fullName).toBe('Zoë Ñusta Đặng-Łukasiewicz');
    expect(accents.data.client.profile.residentialAddress.city).toBe('Łódź');
    const other = await migrated('client-other-script');
    expect(other.data.client.fullName).toBe('株式会社さくら貿易');
    expect(other.data.client.relations[0].fullName).toBe('太郎 山田');
  });

  test('is found under a source id of any characters, and also after the bank was killed', async () => {
    const sourceId = 'A/7 ?#%ü';
    await existing(sourceId, { email: 'emmy@example.org' });
    await stage.restartSandbox();
    expect((await migrated(sourceId)).data.client.profile.email).toBe('emmy@example.org');
  });
});

describe('the same source id', () => {
  test('is 409 the second time, names the client, and does not ask the provider', async () => {
    const { sourceId } = await existing('twice');
    const { data } = await migrated(sourceId);
    const asked = stage.lookUps.count;
    const { message, ...rejection } = await rejected(sourceId);
    expect(rejection).toMatchObject({ status: 409, problems: ['common.state.illegal_transition client.sourceId'] });
    expect(message).toContain(data.client.id);
    expect(stage.lookUps.count).toBe(asked);
  });

  test('requested ten times at once is one client', async () => {
    const { sourceId } = await existing('at once', { email: 'once@example.org' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => migrateClient(stage.api, sourceId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const id = answers.find(({ status }) => status === 201)?.body.data.client.id;
    for (const { status, body } of answers) if (status === 409) expect(body.message).toContain(id);
    const { body } = await stage.api.call('GET', '/clients?data.client.email=once@example.org');
    expect(body.metadata.page.totalElements).toBe(1);
    expect(await eventsOf(stage.api, id)).toHaveLength(2);
  });

  test('under one Idempotency-Key is one answer, byte for byte, asked of the provider once', async () => {
    const { sourceId } = await existing('one key');
    const first = await migrateClient(stage.api, sourceId, { key: 'one key' });
    expect(first.headers.get('x-idempotency-status')).toBe('processed');
    const asked = stage.lookUps.count;
    // The stored answer needs no provider.
    await stage.bank('POST', '/faults', { errorRate: 1 });
    const again = await migrateClient(stage.api, sourceId, { key: 'one key' });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('x-idempotency-status')).toBe('replayed');
    expect(stage.lookUps.count).toBe(asked);
  });

  test('ten times at once under one Idempotency-Key is one answer to all', async () => {
    const { sourceId } = await existing('one key at once');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => migrateClient(stage.api, sourceId, { key: 'one key at once' })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  });

  test('of a client that the service itself created at the provider is 409', async () => {
    const { reference } = await existing('known by its reference');
    const { body } = await stage.api.call('POST', '/clients', {
      workflow: { code: 'direct' },
      data: {
        client: {
          identity: { type: 'individual', givenName: 'Emmy', familyName: 'Noether' },
          profile: { identityType: 'individual', residentialAddress: { country: 'DE' } },
        },
      },
    });
    await stage.api.database.reader.statement(
      `INSERT INTO client_connections (id, client_id, provider, reference, state, created_at)
       VALUES (gen_random_uuid(), $1, 'sandbox-bank', $2, 'completed-up-to-date', service_now())`,
      [body.data.client.id, reference],
    );
    const { message, status } = await rejected('known by its reference');
    expect(status).toBe(409);
    expect(message).toContain(body.data.client.id);
  });
});

describe('a client that cannot be imported is rejected, and nothing is written', () => {
  test('404 for a source id that the provider does not know', async () => {
    expect(await rejected('unknown')).toMatchObject({
      status: 404,
      problems: ['connect.resource.not_found client.sourceId'],
    });
  });

  test('422 for data without what the service requires, naming field and rule', async () => {
    const rejection = await rejected('client-without-address');
    expect(rejection).toMatchObject({
      status: 422,
      problems: ['connect.resource.invalid client.profile.residentialAddress'],
    });
    expect(rejection.message).toBe(
      'The data of sandbox-bank cannot be imported: data.client.profile.residentialAddress is required.',
    );
  });

  test('422 for all that is wrong at once, without a value of the provider', async () => {
    const rejection = await rejected('client-faulty');
    expect(rejection.status).toBe(422);
    expect(rejection.problems.sort()).toEqual([
      'connect.resource.invalid client.identity.birthDate',
      'connect.resource.invalid client.profile.phone',
      'connect.resource.invalid client.profile.residentialAddress.region',
    ]);
    for (const value of ['1990-02-30', 'Nevada', 'ask at the desk', 'Nymous'])
      expect(rejection.text).not.toContain(value);
  });

  test.each<[string, Json, string]>([
    ['a third kind of identity', { identity: { type: 'trust', legalName: 'X' } }, 'identity.type'],
    ['no name', { identity: { type: 'individual', familyName: 'X' } }, 'identity.givenName'],
    [
      'relations of an individual',
      { relations: [{ relation: 'director', identity: { type: 'individual', givenName: 'A', familyName: 'B' } }] },
      'relations',
    ],
    [
      'a company as a relation',
      {
        identity: { type: 'corporate', legalName: 'X Ltd' },
        relations: [{ relation: 'shareholder', identity: { type: 'corporate', legalName: 'Y Ltd' } }],
      },
      'relations.0.identity.type',
    ],
    [
      'eleven relations',
      {
        identity: { type: 'corporate', legalName: 'X Ltd' },
        relations: Array.from({ length: 11 }, () => ({
          relation: 'shareholder',
          identity: { type: 'individual', givenName: 'A', familyName: 'B' },
        })),
      },
      'relations',
    ],
    [
      'an unknown identification',
      {
        identity: {
          type: 'individual',
          givenName: 'A',
          familyName: 'B',
          identifications: [{ type: 'library-card', identificationNumber: '1' }],
        },
      },
      'identity.identifications.0.type',
    ],
    ['a country that is none', { address: { country: 'XX' } }, 'profile.residentialAddress.country'],
    ['a broken e-mail address', { email: 'not-an-address' }, 'profile.email'],
    [
      'a name with nothing to see in it',
      { identity: { type: 'individual', givenName: '\u202e\u200b', familyName: 'C' } },
      'identity.givenName',
    ],
    [
      'a name that is too long, which is not cut',
      { identity: { type: 'individual', givenName: 'A'.repeat(141), familyName: 'C' } },
      'identity.givenName',
    ],
  ])('422 for %s', async (what, change, field) => {
    await existing(`wrong: ${what}`, change);
    const rejection = await rejected(`wrong: ${what}`);
    expect(rejection.status).toBe(422);
    expect(rejection.problems).toContain(`connect.resource.invalid client.${field}`);
  });

  test('misleading characters are removed from a name, as from every text of a provider', async () => {
    await existing('deceiving', { identity: { type: 'individual', givenName: 'A\u202eB', familyName: 'C' } });
    const migrated = await migrateClient(stage.api, 'deceiving', { key: 'deceiving' });
    expect(migrated.status, migrated.text).toBe(201);
    expect(migrated.body.data.client.identity).toMatchObject({ givenName: 'AB', familyName: 'C' });
  });

  test('422 for a client that the provider does not hand over', async () => {
    for (const [sourceId, code] of [
      ['client-closed', 'client-closed'],
      ['fail-functional-1', 'not-accepted'],
    ] as const) {
      const rejection = await rejected(sourceId);
      expect(rejection).toMatchObject({ status: 422, problems: ['connect.resource.invalid client.sourceId'] });
      expect(rejection.message).toContain(code);
    }
  });
});

describe('a provider that gives no answer is 503, and the request can be repeated', () => {
  const away = { status: 503, problems: ['connect.provider.unavailable connect.serviceProvider'] };

  test.each(['unavailable-1', 'cut-1', 'fail-technical-1', 'slow-1'])('%s', async (sourceId) => {
    const rejection = await rejected(sourceId);
    expect(rejection).toMatchObject(away);
    expect(Number(rejection.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('later than the deadline allows, and then in time under the same key', async () => {
    const { sourceId } = await existing('late');
    await stage.bank('POST', '/faults', { latencyMs: 10_000 });
    expect(await rejected(sourceId)).toMatchObject(away);
    await stage.bank('DELETE', '/faults');
    expect((await migrateClient(stage.api, sourceId, { key: `rejected ${sourceId}` })).status).toBe(201);
  });

  test('not there at all', async () => {
    await stage.sandbox.kill();
    expect(await rejected('client-individual-2')).toMatchObject(away);
    await stage.restartSandbox();
    expect((await rejected('client-individual-2')).status).toBe(404);
  });
});

describe('the request', () => {
  test.each<[string, Json, string]>([
    [
      'an unknown provider',
      { type: 'explicit', serviceProvider: 'no-bank' },
      'common.validation.field_invalid connect.serviceProvider',
    ],
    [
      'a plug-in provider',
      { type: 'explicit', serviceProvider: 'custom-bank' },
      'connect.method.type_mismatch connect.serviceProvider',
    ],
    ['no provider', { type: 'explicit' }, 'common.validation.field_required connect.serviceProvider'],
    [
      'type implicit',
      { type: 'implicit', serviceProvider: 'sandbox-bank' },
      'common.validation.field_invalid connect.type',
    ],
    ['no type', { serviceProvider: 'sandbox-bank' }, 'common.validation.field_required connect.type'],
  ])('is 400 with %s', async (_, connect, problem) => {
    expect(await rejected('client-individual', connect)).toMatchObject({ status: 400, problems: [problem] });
  });

  test('is 400 without a source id, with client data, or with createUser', async () => {
    const connect = { type: 'explicit', serviceProvider: 'sandbox-bank' };
    const post = (workflow: Json, data: Json) =>
      stage.api.call('POST', '/clients', { workflow: { code: 'migration', ...workflow }, data, connect });
    expect(rejectionIn(await post({}, {})).problems).toEqual(['common.validation.field_required data.sourceId']);
    expect(rejectionIn(await post({}, { sourceId: '' })).status).toBe(400);
    expect(rejectionIn(await post({}, { sourceId: 'x'.repeat(201) })).status).toBe(400);
    expect(rejectionIn(await post({}, { sourceId: 'x', client: {} })).problems).toEqual([
      'common.validation.field_unexpected data.client',
    ]);
    expect(rejectionIn(await post({ createUser: true }, { sourceId: 'x' })).status).toBe(400);
  });

  test('needs the role operator', async () => {
    for (const as of ['viewer', 'approver', 'compliance', 'admin'] as const) {
      expect((await migrateClient(stage.api, 'client-individual', { as })).status).toBe(403);
    }
  });
});

/** Ids and measured numbers of a log line, which may contain any four digits. */
const CHANCE_DIGITS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"(?:time|pid|durationMs)":[\d.]+/g;

test('no personal data of a migration is logged, whether it succeeds or is rejected', async () => {
  await existing('for the log', { email: 'secret.log@example.org', phone: '+49 30 555 0199' });
  await migrated('for the log');
  await existing('for the log 2', { email: 'secret log', address: { country: 'US', region: 'Secretland' } });
  await rejected('for the log 2');
  const log = stage.logged.join('').replaceAll(CHANCE_DIGITS, '');
  expect(log).toContain('provider gave no answer');
  for (const value of ['Noether', 'Emmy', 'Erlangen', 'secret', '0199', 'Secretland', 'Somerville', 'Babbage']) {
    expect(log).not.toContain(value);
  }
});

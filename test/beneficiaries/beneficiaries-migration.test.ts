import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseModulusWeights } from '../../domain/accounts/uk-modulus-check.ts';
import type { Json } from '../harness/api.ts';
import {
  eventsOf,
  type MigrationStage,
  migrateBeneficiary,
  migrateClient,
  rejectionIn,
  rowCounts,
  startMigrationStage,
} from '../harness/parties/migration.ts';

let stage: MigrationStage;
/** Clients of the service, by their source ids at the bank. */
const clients: Record<string, string> = {};

beforeAll(async () => {
  stage = await startMigrationStage('beneficiaries-migration');
  for (const sourceId of ['client-individual', 'client-corporate', 'client-accents']) {
    const answer = await migrateClient(stage.api, sourceId);
    expect(answer.status, answer.text).toBe(201);
    clients[sourceId] = answer.body.data.client.id;
  }
});

afterEach(async () => {
  await stage.bank('DELETE', '/faults');
});

afterAll(async () => {
  await stage?.close();
});

const EURO = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };

/** An existing beneficiary of the bank, put there as its operator would. */
async function existing(sourceId: string, change: Json = {}): Promise<string> {
  const { status, body } = await stage.bank('POST', '/existing-beneficiaries', {
    sourceId,
    clientSourceId: 'client-individual',
    fullName: 'Emmy Noether',
    bankAccounts: [EURO],
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return sourceId;
}

const idOf = (clientSourceId: string): string => clients[clientSourceId] ?? '';

async function migrated(sourceId: string, clientSourceId = 'client-individual'): Promise<Json> {
  const answer = await migrateBeneficiary(stage.api, { sourceId, clientId: idOf(clientSourceId) });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** The rejection of a request that must have written nothing. */
async function rejected(sourceId: string, given: { clientId?: string; connect?: Json } = {}): Promise<Json> {
  const { clientId = idOf('client-individual'), connect } = given;
  const before = await rowCounts(stage.api);
  const options = { key: `rejected ${sourceId}`, ...(connect === undefined ? {} : { connect }) };
  const answer = await migrateBeneficiary(stage.api, { sourceId, clientId }, options);
  expect(await rowCounts(stage.api)).toEqual(before);
  return { ...rejectionIn(answer), message: answer.body.message, headers: answer.headers, text: answer.text };
}

async function directClient(givenName: string): Promise<string> {
  const { body } = await stage.api.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: {
      client: {
        identity: { type: 'individual', givenName, familyName: 'Noether' },
        profile: { identityType: 'individual', residentialAddress: { country: 'DE' } },
      },
    },
  });
  return body.data.client.id;
}

describe('a beneficiary that the provider of its client has', () => {
  test('is created as a direct one would be, with its bank account', async () => {
    const { workflow, data, connect } = await migrated('beneficiary-individual');
    expect(workflow).toEqual({ code: 'migration' });
    const address = {
      country: 'GB',
      region: null,
      city: 'Edinburgh',
      street: null,
      houseNumber: null,
      postalCode: 'EH1 1AA',
      refinement: null,
    };
    const { id, bankAccounts, ...beneficiary } = data.beneficiary;
    expect(beneficiary).toEqual({
      clientId: idOf('client-individual'),
      identity: {
        type: 'individual',
        givenName: 'William',
        familyName: 'Wallace',
        birthDate: '1968-09-23',
        country: 'GB',
        identifications: [],
      },
      fullName: 'William Wallace',
      title: 'Dr',
      contact: { phone: '+44 131 555 0102', email: null, address },
      address,
    });
    expect(bankAccounts).toEqual([
      {
        id: expect.any(String),
        beneficiaryId: id,
        accountHolderName: 'William Wallace',
        accountHolderType: 'individual',
        bankName: null,
        alias: 'Household',
        country: 'GB',
        currency: 'GBP',
        accountNumber: '31926819',
        iban: null,
        routingCodes: { 'sort-code': '601613' },
        status: 'active',
      },
    ]);
    expect(connect).toEqual({
      type: 'explicit',
      serviceProvider: 'sandbox-bank',
      connection: {
        id: expect.any(String),
        serviceProvider: 'sandbox-bank',
        reference: 'SBB-beneficiary-individual',
        state: 'completed-up-to-date',
      },
    });
    const read = await stage.api.call('GET', `/beneficiaries/${id}?metadata.include=data.beneficiary.bankAccounts`);
    expect(read.body.data.beneficiary).toEqual(data.beneficiary);
    expect((await eventsOf(stage.api, id)).map(({ module, type }) => [module, type])).toEqual([
      ['beneficiaries', 'beneficiary-created'],
    ]);
  });

  test('may be a company with three accounts, stored in their usual form', async () => {
    const { data } = await migrated('beneficiary-corporate', 'client-corporate');
    expect(data.beneficiary.fullName).toBe('Clement Precision Tools Ltd');
    expect(
      data.beneficiary.bankAccounts.map(({ currency, iban, accountNumber, routingCodes }: Json) => [
        currency,
        iban ?? accountNumber,
        routingCodes,
      ]),
    ).toEqual([
      ['GBP', '31926819', { 'sort-code': '601613' }],
      ['EUR', 'DE89370400440532013000', null],
      ['USD', '000123456789', { bic: 'CHASUS33', aba: '021000021' }],
    ]);
  });

  test('may be known by a full name only, in any script', async () => {
    const { data } = await migrated('beneficiary-accents', 'client-accents');
    expect(data.beneficiary).toMatchObject({ identity: null, fullName: 'Renée Müller-Ångström', contact: null });
  });

  test('may belong to a client that the service itself connected at the provider', async () => {
    const clientId = await directClient('Connected');
    const answer = await stage.bank('POST', '/clients', {
      ourReference: clientId,
      identityType: 'individual',
      fullName: 'Connected Noether',
    });
    const { reference } = answer.body;
    await existing('of a connected client', { clientSourceId: undefined, clientReference: reference });
    expect(await rejected('of a connected client', { clientId })).toMatchObject({
      status: 422,
      problems: ['connect.client.not_connected beneficiary.clientId'],
    });
    await stage.api.database.reader.statement(
      `INSERT INTO client_connections (id, client_id, provider, reference, state, created_at)
       VALUES (gen_random_uuid(), $1, 'sandbox-bank', $2, 'completed-up-to-date', service_now())`,
      [clientId, reference],
    );
    const made = await migrateBeneficiary(stage.api, { sourceId: 'of a connected client', clientId });
    expect(made.status, made.text).toBe(201);
    expect(made.body.data.beneficiary.clientId).toBe(clientId);
  });

  test('is found after the bank was killed', async () => {
    const sourceId = await existing('B/1 ?#%');
    await stage.restartSandbox();
    expect((await migrated(sourceId)).data.beneficiary.fullName).toBe('Emmy Noether');
  });
});

describe('the same source id', () => {
  test('is 409 the second time, names the beneficiary, and does not ask the provider', async () => {
    const sourceId = await existing('twice');
    const { data } = await migrated(sourceId);
    const asked = stage.lookUps.count;
    const { message, ...rejection } = await rejected(sourceId);
    expect(rejection).toMatchObject({
      status: 409,
      problems: ['common.state.illegal_transition beneficiary.sourceId'],
    });
    expect(message).toContain(data.beneficiary.id);
    expect(stage.lookUps.count).toBe(asked);
  });

  test('requested ten times at once is one beneficiary', async () => {
    const sourceId = await existing('at once');
    const before = await rowCounts(stage.api);
    const clientId = idOf('client-individual');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => migrateBeneficiary(stage.api, { sourceId, clientId })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const after = await rowCounts(stage.api);
    expect(after).toEqual({
      ...before,
      beneficiaries: before.beneficiaries + 1,
      beneficiary_bank_accounts: before.beneficiary_bank_accounts + 1,
      beneficiary_connections: before.beneficiary_connections + 1,
      events: before.events + 1,
      audit_entries: before.audit_entries + 2,
    });
  });

  test('under one Idempotency-Key is one answer, one after the other and ten times at once', async () => {
    const sourceId = await existing('one key');
    const clientId = idOf('client-individual');
    const ask = () => migrateBeneficiary(stage.api, { sourceId, clientId }, { key: 'one key' });
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    const asked = stage.lookUps.count;
    await stage.bank('POST', '/faults', { errorRate: 1 });
    const texts = new Set([...answers, await ask()].map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(stage.lookUps.count).toBe(asked);
  });
});

describe('a beneficiary that cannot be imported is rejected, and nothing is written', () => {
  test('404 for a source id that the provider does not know', async () => {
    expect(await rejected('unknown')).toMatchObject({
      status: 404,
      problems: ['connect.resource.not_found beneficiary.sourceId'],
    });
  });

  test('404 for an unknown client, 422 for one that is not active', async () => {
    const unknown = '0190c8a0-0000-7000-8000-000000000000';
    expect(await rejected('beneficiary-without-account', { clientId: unknown })).toMatchObject({
      status: 404,
      problems: ['common.coding.internal.record_not_found beneficiary.clientId'],
    });
    await stage.bank('POST', '/existing-clients', {
      sourceId: 'suspended',
      identity: { type: 'individual', givenName: 'A', familyName: 'B' },
      address: { country: 'DE' },
    });
    const { body } = await migrateClient(stage.api, 'suspended');
    const { id } = body.data.client;
    await stage.api.database.reader.statement(`UPDATE clients SET status = 'suspended' WHERE id = $1`, [id]);
    await existing('of a suspended client', { clientSourceId: 'suspended' });
    expect(await rejected('of a suspended client', { clientId: id })).toMatchObject({
      status: 422,
      problems: ['client.status.not_active beneficiary.clientId'],
    });
  });

  test('422 for a client that the provider does not know, without a call to it', async () => {
    const clientId = await directClient('Unconnected');
    const asked = stage.lookUps.count;
    expect(await rejected('beneficiary-wrong-iban', { clientId })).toMatchObject({
      status: 422,
      problems: ['connect.client.not_connected beneficiary.clientId'],
    });
    expect(stage.lookUps.count).toBe(asked);
  });

  test('422 for a beneficiary of another client of the provider', async () => {
    const sourceId = await existing('of another client', { clientSourceId: 'client-corporate' });
    expect(await rejected(sourceId)).toMatchObject({
      status: 422,
      problems: ['connect.client.mismatch beneficiary.clientId'],
    });
  });

  test.each<[string, Json, string]>([
    ['no name', { fullName: null }, 'fullName'],
    ['a name with an identity', { identity: { type: 'corporate', legalName: 'X Ltd' } }, 'fullName'],
    ['no bank account', { bankAccounts: [] }, 'bankAccounts'],
    ['four bank accounts', { bankAccounts: [EURO, EURO, EURO, EURO] }, 'bankAccounts'],
    ['no IBAN for euros', { bankAccounts: [{ country: 'DE', currency: 'EUR' }] }, 'bankAccounts.0.iban'],
    ['a currency that is none', { bankAccounts: [EURO, { ...EURO, currency: 'XXX' }] }, 'bankAccounts.1.currency'],
    [
      'a wrong sort code',
      {
        bankAccounts: [
          { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '60161' } },
        ],
      },
      'bankAccounts.0.routingCodes.sort-code',
    ],
    ['a broken telephone number', { phone: 'none' }, 'contact.phone'],
    ['an address without a country', { address: { city: 'Erlangen' } }, 'contact.address.country'],
    ['an unknown kind of identity', { fullName: null, identity: { type: 'trust' } }, 'identity.type'],
  ])('422 for %s, naming the field', async (what, change, field) => {
    const rejection = await rejected(await existing(`wrong: ${what}`, change));
    expect(rejection.status).toBe(422);
    expect(rejection.problems).toContain(`connect.resource.invalid beneficiary.${field}`);
  });

  test('422 for an IBAN with wrong check digits, without showing it', async () => {
    const rejection = await rejected('beneficiary-wrong-iban');
    expect(rejection).toMatchObject({
      status: 422,
      problems: ['connect.resource.invalid beneficiary.bankAccounts.0.iban'],
    });
    expect(rejection.message).toContain('the IBAN has the wrong length or check digits');
    expect(rejection.text).not.toContain('0532');
  });

  test('422 for what the bank does not hand over, 503 where it gives no answer', async () => {
    expect(await rejected('fail-functional')).toMatchObject({
      status: 422,
      problems: ['connect.resource.invalid beneficiary.sourceId'],
    });
    for (const sourceId of ['unavailable', 'cut', 'fail-technical', 'slow']) {
      const rejection = await rejected(sourceId);
      expect(rejection).toMatchObject({
        status: 503,
        problems: ['connect.provider.unavailable connect.serviceProvider'],
      });
      expect(rejection.headers.get('retry-after')).not.toBeNull();
    }
  });

  test('400 for an unknown provider, a plug-in one, type implicit, or beneficiary data with the client', async () => {
    const connect = (change: Json) => ({ connect: { type: 'explicit', serviceProvider: 'sandbox-bank', ...change } });
    expect((await rejected('x', connect({ serviceProvider: 'no-bank' }))).problems).toEqual([
      'common.validation.field_invalid connect.serviceProvider',
    ]);
    expect(await rejected('x', connect({ serviceProvider: 'custom-bank' }))).toMatchObject({
      status: 400,
      problems: ['connect.method.type_mismatch connect.serviceProvider'],
    });
    expect((await rejected('x', connect({ type: 'implicit' }))).problems).toEqual([
      'common.validation.field_invalid connect.type',
    ]);
    const beneficiary = { clientId: idOf('client-individual'), fullName: 'X' };
    const answer = await stage.api.call('POST', '/beneficiaries', {
      workflow: { code: 'migration' },
      data: { sourceId: 'x', beneficiary },
      ...connect({}),
    });
    expect(rejectionIn(answer).problems).toEqual(['common.validation.field_unexpected beneficiary.fullName']);
  });

  test('403 without the role operator', async () => {
    const asked = { sourceId: 'beneficiary-without-account', clientId: idOf('client-individual') };
    expect((await migrateBeneficiary(stage.api, asked, { as: 'viewer' })).status).toBe(403);
  });
});

describe('the UK modulus check applies to the provider’s data', () => {
  // One row of the published cases: it takes 88837491 at 107999 and rejects 88837493.
  const { rows } = parseModulusWeights(
    '102400 107999 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1',
  );
  const wrong = { country: 'GB', currency: 'GBP', accountNumber: '88837493', routingCodes: { 'sort-code': '107999' } };

  test.each(['reject', 'warn'] as const)('%s', async (onFailure) => {
    const api = await stage.configured((configuration) => ({
      ...configuration,
      modulusCheck: { table: { rows, substitutions: new Map() }, onFailure },
    }));
    try {
      const sourceId = await existing(`modulus ${onFailure}`, { bankAccounts: [EURO, wrong] });
      const before = await rowCounts(api);
      const answer = await migrateBeneficiary(api, { sourceId, clientId: idOf('client-individual') });
      if (onFailure === 'warn') {
        expect(answer.status).toBe(201);
        expect(answer.body.metadata.warnings).toHaveLength(1);
        return;
      }
      expect(rejectionIn(answer)).toEqual({
        status: 422,
        problems: ['connect.resource.invalid beneficiary.bankAccounts.1.accountNumber'],
      });
      expect(answer.text).not.toContain(wrong.accountNumber);
      expect(await rowCounts(api)).toEqual(before);
    } finally {
      await api.stop();
    }
  });
});

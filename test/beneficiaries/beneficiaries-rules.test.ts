import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import {
  BAKERY,
  type Beneficiaries,
  beneficiariesOf,
  DOLLAR,
  direct,
  EURO,
  PERSON,
  problems,
  STERLING,
} from '../harness/parties/beneficiaries.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Specification 2.4 and 4.3: a row is a rule.

let database: TestDatabase;
let api: TestApi;
let clientId: string;
let beneficiaries: Beneficiaries;

beforeAll(async () => {
  database = await createTestDatabase('beneficiaries-rules');
  api = await startApi(database);
  clientId = await moneyWorld(api).client();
  beneficiaries = beneficiariesOf(api, clientId);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const NO_IDENTITY = { identity: null, fullName: 'Sam Taylor' };
const PASSPORT = { type: 'passport', identificationNumber: '123456789' };
const UNDATED = { issuingCountry: null, issueDate: null, expirationDate: null };
const LONDON = { country: 'GB', city: 'London' };
const NOWHERE_ELSE = { region: null, street: null, houseNumber: null, postalCode: null, refinement: null };
const unknown = (...fields: string[]) => fields.map((field) => `field_unexpected beneficiary.${field}`);
const missing = (...fields: string[]) => fields.map((field) => `field_required beneficiary.${field}`);
const invalid = (...fields: string[]) => fields.map((field) => `field_invalid beneficiary.${field}`);

describe('POST /beneficiaries takes', () => {
  test.each<[rule: string, sent: Json, shown: Json]>([
    [
      'a corporate: legal name; the full name is made of it',
      { identity: BAKERY },
      { identity: { ...BAKERY, identifications: [] }, fullName: BAKERY.legalName },
    ],
    [
      'an individual: given and family name; the full name is made of them',
      { identity: PERSON },
      { identity: { ...PERSON, birthDate: null, country: null, identifications: [] }, fullName: 'Grace Hopper' },
    ],
    [
      'an individual’s date of birth',
      { identity: { ...PERSON, birthDate: '1906-12-09' } },
      { identity: { birthDate: '1906-12-09' } },
    ],
    ['an individual’s country', { identity: { ...PERSON, country: 'US' } }, { identity: { country: 'US' } }],
    [
      'identifications of an individual',
      { identity: { ...PERSON, identifications: [PASSPORT] } },
      { identity: { identifications: [{ ...PASSPORT, ...UNDATED }] } },
    ],
    [
      'identifications of a corporate, with country and dates',
      {
        identity: {
          ...BAKERY,
          identifications: [
            {
              type: 'registration-number',
              identificationNumber: '01234567',
              issuingCountry: 'GB',
              issueDate: '2001-02-03',
              expirationDate: '2031-02-03',
            },
          ],
        },
      },
      {
        identity: {
          identifications: [{ issuingCountry: 'GB', issueDate: '2001-02-03', expirationDate: '2031-02-03' }],
        },
      },
    ],
    ['one known by its full name only', NO_IDENTITY, { identity: null, fullName: 'Sam Taylor' }],
    ['a title', { title: 'Messrs' }, { title: 'Messrs' }],
    ['no title', {}, { title: null }],
    ['no contact: no address', {}, { contact: null, address: null }],
    ['a contact of nothing is none', { contact: {} }, { contact: null, address: null }],
    ['nor is one whose parts are null', { contact: { phone: null, email: null } }, { contact: null, address: null }],
    [
      'a telephone number only',
      { contact: { phone: '+44 20 7946 0000' } },
      { contact: { phone: '+44 20 7946 0000', email: null, address: null }, address: null },
    ],
    [
      'an e-mail address only',
      { contact: { email: 'office@example.com' } },
      { contact: { phone: null, email: 'office@example.com', address: null }, address: null },
    ],
    [
      'an address: reads show it next to the contact as well',
      { contact: { address: LONDON } },
      { contact: { address: { ...NOWHERE_ELSE, ...LONDON } }, address: { ...NOWHERE_ELSE, ...LONDON } },
    ],
    [
      'an address with a country only',
      { contact: { address: { country: 'FR' } } },
      { address: { ...NOWHERE_ELSE, country: 'FR', city: null } },
    ],
    [
      'an address in the US with its state',
      { contact: { address: { country: 'US', region: 'NY' } } },
      { address: { region: 'NY' } },
    ],
    [
      'an address in Canada with its province',
      { contact: { address: { country: 'CA', region: 'ON' } } },
      { address: { region: 'ON' } },
    ],
    [
      'an address in Mexico with its state',
      { contact: { address: { country: 'MX', region: 'JAL' } } },
      { address: { region: 'JAL' } },
    ],
    [
      'a region elsewhere as free text',
      { contact: { address: { country: 'DE', region: 'Bayern (Süd)' } } },
      { address: { region: 'Bayern (Süd)' } },
    ],
    ['a name in Chinese', { identity: { ...PERSON, givenName: '小明', familyName: '王' } }, { fullName: '小明 王' }],
    ['a name in Arabic', { identity: { ...BAKERY, legalName: 'مخبز الطريق' } }, { fullName: 'مخبز الطريق' }],
    ['a name in Thai, with its marks', { ...NO_IDENTITY, fullName: 'ร้านขนมปัง' }, { fullName: 'ร้านขนมปัง' }],
    ['a name with marks apart, which it composes', { ...NO_IDENTITY, fullName: 'Jose\u0301' }, { fullName: 'José' }],
    ['a name of 140 characters', { ...NO_IDENTITY, fullName: 'é'.repeat(140) }, { fullName: 'é'.repeat(140) }],
    ['null for what can be left out', { title: null, contact: null, fullName: null }, { title: null, contact: null }],
  ])('%s', async (_, sent, shown) => {
    const { bankAccounts, ...beneficiary } = await beneficiaries.created(beneficiaries.body(sent));
    expect(beneficiary).toMatchObject({ clientId, ...shown });
    expect(bankAccounts).toHaveLength(1);
    // A GET returns what the POST answered; bank accounts only on request.
    const path = `/beneficiaries/${beneficiary.id}`;
    expect((await beneficiaries.read(path)).beneficiary).toEqual(beneficiary);
    const included = await beneficiaries.read(`${path}?metadata.include=data.beneficiary.bankAccounts`);
    expect(included.beneficiary).toEqual({ ...beneficiary, bankAccounts });
  });

  test.each([1, 2, 3])('%i bank accounts', async (number) => {
    const sent = [STERLING, EURO, DOLLAR].slice(0, number);
    const { bankAccounts } = await beneficiaries.created(beneficiaries.body({ bankAccounts: sent }));
    expect(bankAccounts).toMatchObject(sent);
  });
});

describe('POST /beneficiaries rejects', () => {
  test.each<[rule: string, change: Json, rejected: string[]]>([
    ['an id, which is read-only', { id: randomUUID() }, unknown('id')],
    ['no client', { clientId: null }, missing('clientId')],
    ['a client that is no UUID', { clientId: 'me' }, invalid('clientId')],
    ['neither an identity nor a full name', { identity: null }, missing('fullName')],
    ['both an identity and a full name', { fullName: 'Brook Lane' }, ['mutually_exclusive beneficiary.fullName']],
    ['an identity without a type', { identity: { legalName: 'Brook Lane' } }, missing('identity.type')],
    ['an identity of another type', { identity: { type: 'trust' } }, invalid('identity.type')],
    ['an individual without a given name', { identity: { ...PERSON, givenName: null } }, missing('identity.givenName')],
    [
      'an individual without a family name',
      { identity: { ...PERSON, familyName: null } },
      missing('identity.familyName'),
    ],
    [
      'an individual with a legal name',
      { identity: { ...PERSON, legalName: 'Hopper Ltd' } },
      unknown('identity.legalName'),
    ],
    [
      'a date of birth that is none',
      { identity: { ...PERSON, birthDate: '1906-02-30' } },
      invalid('identity.birthDate'),
    ],
    ['a country that is none', { identity: { ...PERSON, country: 'UK' } }, invalid('identity.country')],
    ['a corporate without a legal name', { identity: { type: 'corporate' } }, missing('identity.legalName')],
    ['a corporate with a given name', { identity: { ...BAKERY, givenName: 'Grace' } }, unknown('identity.givenName')],
    [
      'a corporate with a date of birth',
      { identity: { ...BAKERY, birthDate: '1906-12-09' } },
      unknown('identity.birthDate'),
    ],
    ['a corporate with a country', { identity: { ...BAKERY, country: 'GB' } }, unknown('identity.country')],
    [
      'the deprecated map of identifications',
      { identity: { ...BAKERY, identificationNumbers: {} } },
      unknown('identity.identificationNumbers'),
    ],
    [
      'an identification without a type',
      { identity: { ...BAKERY, identifications: [{ identificationNumber: '1' }] } },
      missing('identity.identifications.0.type'),
    ],
    [
      'an identification of an unknown type',
      { identity: { ...BAKERY, identifications: [{ ...PASSPORT, type: 'card' }] } },
      invalid('identity.identifications.0.type'),
    ],
    [
      'an identification without a number',
      { identity: { ...BAKERY, identifications: [{ type: 'lei' }] } },
      missing('identity.identifications.0.identificationNumber'),
    ],
    ['a blank name', { ...NO_IDENTITY, fullName: '  ' }, invalid('fullName')],
    ['a name of 141 characters', { ...NO_IDENTITY, fullName: 'x'.repeat(141) }, invalid('fullName')],
    ['a name that turns the text around', { ...NO_IDENTITY, fullName: 'John \u202Ehtims' }, invalid('fullName')],
    ['a title of 36 characters', { title: 'x'.repeat(36) }, invalid('title')],
    ['a telephone number that is none', { contact: { phone: 'none' } }, invalid('contact.phone')],
    ['an e-mail address that is none', { contact: { email: 'not-an-address' } }, invalid('contact.email')],
    ['an address without a country', { contact: { address: { city: 'London' } } }, missing('contact.address.country')],
    [
      'an address in the US without a state',
      { contact: { address: { country: 'US' } } },
      missing('contact.address.region'),
    ],
    [
      'an address in the US with a state of nothing',
      { contact: { address: { country: 'US', region: 'New York' } } },
      invalid('contact.address.region'),
    ],
    [
      'an address in Canada without a province',
      { contact: { address: { country: 'CA' } } },
      missing('contact.address.region'),
    ],
    [
      'an address in Mexico by two letters',
      { contact: { address: { country: 'MX', region: 'JA' } } },
      invalid('contact.address.region'),
    ],
    ['a field of the contact that there is not', { contact: { fax: '1' } }, unknown('contact.fax')],
    ['an address next to the contact, which only reads have', { address: LONDON }, unknown('address')],
    ['no bank accounts', { bankAccounts: null }, missing('bankAccounts')],
    ['an empty list of bank accounts', { bankAccounts: [] }, ['limit_exceeded beneficiary.bankAccounts']],
    [
      'four bank accounts',
      { bankAccounts: [STERLING, EURO, DOLLAR, EURO] },
      ['limit_exceeded beneficiary.bankAccounts'],
    ],
    [
      'a bank account’s status',
      { bankAccounts: [{ ...STERLING, status: 'inactive' }] },
      unknown('bankAccounts.0.status'),
    ],
    ['a field that there is not', { nickname: 'Lane' }, unknown('nickname')],
  ])('%s', async (_, change, rejected) => {
    expect(problems(await beneficiaries.post(beneficiaries.body(change)))).toEqual(rejected);
  });

  test('every problem of a body at once, of fields and between them', async () => {
    const answer = await beneficiaries.post({
      clientId: 'me',
      identity: { type: 'corporate', nonsense: 1 },
      fullName: 'Both',
      contact: { address: { country: 'US' }, email: 'not-an-address' },
      bankAccounts: [
        { country: 'GB', currency: 'GBP', accountNumber: '12', routingCodes: { 'sort-code': '1', bic: 'X' }, color: 1 },
        { ...EURO, iban: 'DE00370400440532013000', alias: '' },
        { country: 'US', currency: 'USD' },
      ],
    });
    expect(problems(answer)).toEqual(
      [
        ...invalid(
          'clientId',
          'contact.email',
          'bankAccounts.0.accountNumber',
          'bankAccounts.0.routingCodes.sort-code',
        ),
        ...invalid('bankAccounts.0.routingCodes.bic', 'bankAccounts.1.iban', 'bankAccounts.1.alias'),
        ...missing('identity.legalName', 'contact.address.region'),
        ...missing('bankAccounts.2.routingCodes.bic', 'bankAccounts.2.accountNumber'),
        ...unknown('identity.nonsense', 'bankAccounts.0.color'),
        'mutually_exclusive beneficiary.fullName',
      ].sort(),
    );
  });

  test('another workflow than those of the specification', async () => {
    const body = { workflow: { code: 'indirect' }, data: { beneficiary: beneficiaries.body() } };
    const answer = await api.call('POST', '/beneficiaries', body);
    expect([answer.status, answer.body.code]).toEqual([400, 'common.workflow.unknown_code']);
  });

  test('an unknown client with 404, and one that is not active with 422; nothing is stored', async () => {
    const foreign = await beneficiaries.post(beneficiaries.body({ clientId: randomUUID() }));
    expect([foreign.status, foreign.body.messageParameters[1]]).toEqual([404, 'clientId']);
    const suspended = await moneyWorld(api).client('Suspended');
    await api.database.statement(`UPDATE clients SET status = 'suspended' WHERE id = $1`, [suspended]);
    const rejected = await beneficiaries.post(beneficiaries.body({ clientId: suspended }));
    expect([rejected.status, rejected.body.code]).toEqual([422, 'client.status.not_active']);
    const listed = await beneficiaries.read(`/beneficiaries?data.beneficiary.clientId=${suspended}`);
    expect(listed.beneficiaries).toEqual([]);
  });
});

/** Beneficiaries to change, by what they are. */
const BEFORE = {
  individual: {
    identity: { ...PERSON, birthDate: '1906-12-09', country: 'US', identifications: [PASSPORT] },
    title: 'Dr',
    contact: { phone: '+1 202 555 0100', email: 'grace@example.com', address: LONDON },
  },
  corporate: { identity: { ...BAKERY, identifications: [PASSPORT] } },
  named: NO_IDENTITY,
} as const;
type Kind = keyof typeof BEFORE;
const FULL = { ...BEFORE.individual.contact, address: { ...NOWHERE_ELSE, ...LONDON } };
const PARIS = { country: 'FR', city: 'Paris' };

describe('PATCH /beneficiaries/{beneficiaryId} changes', () => {
  /** A row's `shown` is applied to the previous state: exactly this changes. */
  test.each<[rule: string, kind: Kind, data: Json, shown: (before: Json) => Json]>([
    [
      'a legal name by data.identity, as the specification has it',
      'corporate',
      { identity: { legalName: 'Mill Lane Bakery Ltd' } },
      ({ identity }) => ({
        identity: { ...identity, legalName: 'Mill Lane Bakery Ltd' },
        fullName: 'Mill Lane Bakery Ltd',
      }),
    ],
    [
      'a legal name by data.beneficiary.identity',
      'corporate',
      { beneficiary: { identity: { legalName: 'パン屋 株式会社' } } },
      ({ identity }) => ({ identity: { ...identity, legalName: 'パン屋 株式会社' }, fullName: 'パン屋 株式会社' }),
    ],
    [
      'a given name; the family name and all else stay',
      'individual',
      { beneficiary: { identity: { givenName: 'Брюстер' } } },
      ({ identity }) => ({ identity: { ...identity, givenName: 'Брюстер' }, fullName: 'Брюстер Hopper' }),
    ],
    [
      'a family name, with the type that it is',
      'individual',
      { identity: { type: 'individual', familyName: 'Murray' } },
      ({ identity }) => ({ identity: { ...identity, familyName: 'Murray' }, fullName: 'Grace Murray' }),
    ],
    [
      'a date of birth',
      'individual',
      { identity: { birthDate: '1906-12-10' } },
      ({ identity }) => ({ identity: { ...identity, birthDate: '1906-12-10' } }),
    ],
    [
      'a date of birth to none',
      'individual',
      { identity: { birthDate: null } },
      ({ identity }) => ({ identity: { ...identity, birthDate: null } }),
    ],
    [
      'a country to none',
      'individual',
      { identity: { country: null } },
      ({ identity }) => ({ identity: { ...identity, country: null } }),
    ],
    [
      'identifications as a whole',
      'individual',
      { identity: { identifications: [{ type: 'lei', identificationNumber: 'X' }] } },
      ({ identity }) => ({
        identity: { ...identity, identifications: [{ type: 'lei', identificationNumber: 'X', ...UNDATED }] },
      }),
    ],
    [
      'identifications to none',
      'corporate',
      { identity: { identifications: [] } },
      ({ identity }) => ({ identity: { ...identity, identifications: [] } }),
    ],
    [
      'identifications to none by null',
      'corporate',
      { identity: { identifications: null } },
      ({ identity }) => ({ identity: { ...identity, identifications: [] } }),
    ],
    [
      'a full name where there is no identity',
      'named',
      { beneficiary: { fullName: 'Another Name' } },
      () => ({ fullName: 'Another Name' }),
    ],
    [
      'one known by its full name into a corporate',
      'named',
      { beneficiary: { identity: BAKERY } },
      () => ({ identity: { ...BAKERY, identifications: [] }, fullName: BAKERY.legalName }),
    ],
    [
      'one known by its full name into an individual',
      'named',
      { identity: PERSON },
      () => ({
        identity: { ...PERSON, birthDate: null, country: null, identifications: [] },
        fullName: 'Grace Hopper',
      }),
    ],
    ['a title', 'individual', { beneficiary: { title: 'Rear Admiral' } }, () => ({ title: 'Rear Admiral' })],
    ['a title to none', 'individual', { beneficiary: { title: null } }, () => ({ title: null })],
    [
      'a telephone number; the rest of the contact stays',
      'individual',
      { beneficiary: { contact: { phone: '112 112' } } },
      () => ({ contact: { ...FULL, phone: '112 112' } }),
    ],
    [
      'an e-mail address to none',
      'individual',
      { beneficiary: { contact: { email: null } } },
      () => ({ contact: { ...FULL, email: null } }),
    ],
    [
      'an address as a whole',
      'individual',
      { beneficiary: { contact: { address: { country: 'FR' } } } },
      () => ({
        contact: { ...FULL, address: { ...NOWHERE_ELSE, country: 'FR', city: null } },
        address: { ...NOWHERE_ELSE, country: 'FR', city: null },
      }),
    ],
    [
      'an address that is sent as it was read, nulls and all',
      'individual',
      { beneficiary: { contact: { address: { ...NOWHERE_ELSE, ...PARIS } } } },
      () => ({ contact: { ...FULL, address: { ...NOWHERE_ELSE, ...PARIS } }, address: { ...NOWHERE_ELSE, ...PARIS } }),
    ],
    [
      'an address to none',
      'individual',
      { beneficiary: { contact: { address: null } } },
      () => ({ contact: { ...FULL, address: null }, address: null }),
    ],
    ['a contact to none', 'individual', { beneficiary: { contact: null } }, () => ({ contact: null, address: null })],
    [
      'a contact where there was none',
      'corporate',
      { beneficiary: { contact: { phone: '112 112' } } },
      () => ({ contact: { phone: '112 112', email: null, address: null } }),
    ],
    [
      'data.identity together with data.beneficiary',
      'corporate',
      { identity: { legalName: 'Mill Lane' }, beneficiary: { title: 'Messrs' } },
      ({ identity }) => ({ identity: { ...identity, legalName: 'Mill Lane' }, fullName: 'Mill Lane', title: 'Messrs' }),
    ],
    ['nothing, where nothing is sent', 'individual', { beneficiary: {} }, () => ({})],
    ['nothing, by an identity of nothing', 'individual', { identity: {} }, () => ({})],
  ])('%s', async (_, kind, data, shown) => {
    const { bankAccounts: __, ...before } = await beneficiaries.created(beneficiaries.body(BEFORE[kind]));
    const answer = await beneficiaries.patch(before.id, data);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.beneficiary).toEqual({ ...before, ...shown(before) });
    expect((await beneficiaries.read(`/beneficiaries/${before.id}`)).beneficiary).toEqual(answer.body.data.beneficiary);
  });
});

describe('PATCH /beneficiaries/{beneficiaryId} rejects', () => {
  let ids: Readonly<Record<Kind, string>>;
  let before: Json;
  const all = async (): Promise<Json> => {
    const path = (id: string) => `/beneficiaries/${id}?metadata.include=data.beneficiary.bankAccounts`;
    return Promise.all(Object.values(ids).map((id) => beneficiaries.read(path(id))));
  };

  beforeAll(async () => {
    const made = async (kind: Kind) => (await beneficiaries.created(beneficiaries.body(BEFORE[kind]))).id;
    ids = { individual: await made('individual'), corporate: await made('corporate'), named: await made('named') };
    before = await all();
  });

  afterAll(async () => {
    expect(await all()).toEqual(before);
  });

  const bank = (field: string) => [`beneficiary.bank_account.update_not_allowed ${field}`];

  test.each<[rule: string, kind: Kind, data: Json, rejected: string[]]>([
    ['no beneficiary and no identity', 'corporate', {}, ['field_required data.beneficiary']],
    [
      'both forms of the identity',
      'corporate',
      { identity: { legalName: 'A' }, beneficiary: { identity: { legalName: 'A' } } },
      ['mutually_exclusive data.identity'],
    ],
    ['another type', 'corporate', { beneficiary: { identity: { type: 'individual' } } }, invalid('identity.type')],
    [
      'another type, whole',
      'individual',
      { identity: BAKERY },
      ['field_invalid identity.type', 'field_unexpected identity.legalName'],
    ],
    ['a type of nothing', 'corporate', { beneficiary: { identity: { type: 'trust' } } }, invalid('identity.type')],
    [
      'a legal name of an individual',
      'individual',
      { beneficiary: { identity: { legalName: 'A' } } },
      unknown('identity.legalName'),
    ],
    [
      'a given name of a corporate',
      'corporate',
      { beneficiary: { identity: { givenName: 'A' } } },
      unknown('identity.givenName'),
    ],
    [
      'a date of birth of a corporate, even none',
      'corporate',
      { identity: { birthDate: null } },
      ['field_unexpected identity.birthDate'],
    ],
    ['a country of a corporate', 'corporate', { identity: { country: 'GB' } }, ['field_unexpected identity.country']],
    ['no identity', 'corporate', { beneficiary: { identity: null } }, missing('identity')],
    ['no type', 'corporate', { beneficiary: { identity: { type: null } } }, missing('identity.type')],
    ['no legal name', 'corporate', { beneficiary: { identity: { legalName: null } } }, missing('identity.legalName')],
    ['no given name', 'individual', { identity: { givenName: null } }, ['field_required identity.givenName']],
    ['no family name', 'individual', { identity: { familyName: null } }, ['field_required identity.familyName']],
    ['no full name', 'named', { beneficiary: { fullName: null } }, missing('fullName')],
    [
      'a full name of an individual',
      'individual',
      { beneficiary: { fullName: 'Grace Hopper' } },
      ['mutually_exclusive beneficiary.fullName'],
    ],
    [
      'a full name of a corporate',
      'corporate',
      { beneficiary: { fullName: BAKERY.legalName } },
      ['mutually_exclusive beneficiary.fullName'],
    ],
    [
      'a full name with a new identity',
      'named',
      { identity: BAKERY, beneficiary: { fullName: 'A' } },
      ['mutually_exclusive beneficiary.fullName'],
    ],
    [
      'a new identity without a type',
      'named',
      { beneficiary: { identity: { legalName: 'A' } } },
      missing('identity.type'),
    ],
    [
      'a new individual without its names',
      'named',
      { beneficiary: { identity: { type: 'individual' } } },
      missing('identity.familyName', 'identity.givenName'),
    ],
    [
      'a new corporate without its name',
      'named',
      { identity: { type: 'corporate' } },
      ['field_required identity.legalName'],
    ],
    [
      'a new corporate with a given name',
      'named',
      { identity: { ...BAKERY, givenName: 'A' } },
      ['field_unexpected identity.givenName'],
    ],
    ['an id', 'corporate', { beneficiary: { id: randomUUID() } }, unknown('id')],
    ['another client', 'corporate', { beneficiary: { clientId: randomUUID() } }, unknown('clientId')],
    ['an address next to the contact', 'corporate', { beneficiary: { address: LONDON } }, unknown('address')],
    ['a blank name', 'corporate', { beneficiary: { identity: { legalName: ' ' } } }, invalid('identity.legalName')],
    ['a name of 141 characters', 'named', { beneficiary: { fullName: 'x'.repeat(141) } }, invalid('fullName')],
    ['a title of 36 characters', 'corporate', { beneficiary: { title: 'x'.repeat(36) } }, invalid('title')],
    [
      'a telephone number that is none',
      'corporate',
      { beneficiary: { contact: { phone: 'none' } } },
      invalid('contact.phone'),
    ],
    [
      'an e-mail address that is none',
      'corporate',
      { beneficiary: { contact: { email: 'not-an-address' } } },
      invalid('contact.email'),
    ],
    [
      'an address without its country',
      'individual',
      { beneficiary: { contact: { address: { city: 'Paris' } } } },
      missing('contact.address.country'),
    ],
    [
      'an address in the US whose state is null',
      'individual',
      { beneficiary: { contact: { address: { country: 'US', region: null } } } },
      missing('contact.address.region'),
    ],
    ['bank accounts', 'corporate', { beneficiary: { bankAccounts: [STERLING] } }, bank('beneficiary.bankAccounts')],
    [
      'bank accounts of nothing',
      'corporate',
      { beneficiary: { bankAccounts: null } },
      bank('beneficiary.bankAccounts'),
    ],
    ['bank accounts in data', 'corporate', { bankAccounts: [STERLING] }, bank('data.bankAccounts')],
    [
      'bank accounts by another spelling',
      'corporate',
      { beneficiary: { bank_accounts: [] } },
      bank('beneficiary.bank_accounts'),
    ],
    ['an IBAN in capitals', 'corporate', { beneficiary: { IBAN: EURO.iban } }, bank('beneficiary.IBAN')],
    ['a sort code by another spelling', 'corporate', { identity: { Sort_Code: '601613' } }, bank('identity.Sort_Code')],
    ['the account', 'corporate', { beneficiary: { account: STERLING } }, bank('beneficiary.account')],
    ['a bank account', 'corporate', { beneficiary: { bankAccount: STERLING } }, bank('beneficiary.bankAccount')],
    [
      'a bank account in data',
      'corporate',
      { bankAccount: STERLING, identity: { legalName: 'A' } },
      bank('data.bankAccount'),
    ],
    [
      'a bank account by its own name',
      'corporate',
      { beneficiaryBankAccount: STERLING },
      bank('data.beneficiaryBankAccount'),
    ],
    ['an IBAN', 'corporate', { beneficiary: { iban: EURO.iban } }, bank('beneficiary.iban')],
    ['an IBAN in data', 'corporate', { iban: EURO.iban }, bank('data.iban')],
    ['an IBAN in the identity', 'corporate', { identity: { iban: EURO.iban } }, bank('identity.iban')],
    [
      'an account number',
      'corporate',
      { beneficiary: { accountNumber: '31926819' } },
      bank('beneficiary.accountNumber'),
    ],
    ['routing codes', 'corporate', { beneficiary: { routingCodes: {} } }, bank('beneficiary.routingCodes')],
    ['a sort code', 'corporate', { beneficiary: { 'sort-code': '601613' } }, bank('beneficiary.sort-code')],
    ['a BIC', 'corporate', { beneficiary: { bic: 'CHASUS33' } }, bank('beneficiary.bic')],
    [
      'an account holder',
      'corporate',
      { beneficiary: { accountHolderName: 'A' } },
      bank('beneficiary.accountHolderName'),
    ],
    ['the name of a bank', 'corporate', { beneficiary: { bankName: 'Bank' } }, bank('beneficiary.bankName')],
    ['a currency', 'corporate', { beneficiary: { currency: 'EUR' } }, bank('beneficiary.currency')],
    [
      'an account number in the contact',
      'corporate',
      { beneficiary: { contact: { accountNumber: '1' } } },
      bank('beneficiary.contact.accountNumber'),
    ],
    [
      'all of it at once',
      'corporate',
      { beneficiary: { identity: { legalName: '' }, iban: 'X', nonsense: 1 } },
      [...bank('beneficiary.iban'), ...invalid('identity.legalName'), ...unknown('nonsense')],
    ],
  ])('%s', async (_, kind, data, rejected) => {
    expect(problems(await beneficiaries.patch(ids[kind], data))).toEqual(rejected);
  });

  test('another workflow', async () => {
    const body = { workflow: { code: 'migration' }, data: { beneficiary: { title: 'Messrs' } } };
    const answer = await api.call('PATCH', `/beneficiaries/${ids.corporate}`, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'common.workflow.unknown_code']);
  });
});

describe('GET /beneficiaries', () => {
  let owner: string;
  let all: Json[];

  beforeAll(async () => {
    owner = await moneyWorld(api).client('Owner');
    const french = { ...PERSON, country: 'FR' };
    all = [];
    for (const change of [
      {},
      { identity: french, bankAccounts: [EURO, DOLLAR] },
      { contact: { address: { country: 'FR' } } },
      NO_IDENTITY,
      { identity: french, contact: { address: { country: 'GB' } } },
    ]) {
      all.push(await beneficiaries.created(beneficiaries.body({ clientId: owner, ...change })));
    }
  });

  const list = async (query: string) => {
    const answer = await api.call('GET', `/beneficiaries?data.beneficiary.clientId=${owner}${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  test.each<[rule: string, query: string, found: number[]]>([
    ['lists those of a client, in the order of their creation', '', [0, 1, 2, 3, 4]],
    ['by type: corporates', '&data.beneficiary.type=corporate', [0, 2]],
    ['by type: individuals', '&data.beneficiary.type=individual', [1, 4]],
    ['by country: that of the identity, or of the address', '&data.beneficiary.country=FR', [1, 2, 4]],
    ['by country: that of the address', '&data.beneficiary.country=GB', [4]],
    ['by a country that no beneficiary has', '&data.beneficiary.country=JP', []],
    ['by type and country together', '&data.beneficiary.country=FR&data.beneficiary.type=corporate', [2]],
    ['the first page of two', '&metadata.page.size=2', [0, 1]],
    ['the second page of two', '&metadata.page.size=2&metadata.page.number=1', [2, 3]],
    ['a page beyond the last', '&metadata.page.size=2&metadata.page.number=3', []],
    ['a page of a filter', '&data.beneficiary.type=individual&metadata.page.size=1&metadata.page.number=1', [4]],
    ['with an include that there is not', '&metadata.include=data.beneficiary.secrets', [0, 1, 2, 3, 4]],
  ])('%s', async (_, query, found) => {
    const { data } = await list(query);
    expect(data.beneficiaries.map(({ id }: Json) => all.findIndex((one) => one.id === id))).toEqual(found);
    expect(data.beneficiaries.every(({ bankAccounts }: Json) => bankAccounts === undefined)).toBe(true);
  });

  test('shows the bank accounts where they are included, and counts all of a filter', async () => {
    const include = '&metadata.include=data.beneficiary.bankAccounts';
    const page = await list(`${include}&metadata.page.size=2&metadata.page.number=0`);
    expect(page.data.beneficiaries).toEqual(all.slice(0, 2));
    expect(page.metadata.page).toEqual({ size: 2, number: 0, totalElements: 5, totalPages: 3 });
    const filtered = await list(`${include}&data.beneficiary.type=individual`);
    expect(filtered.data.beneficiaries).toEqual([all[1], all[4]]);
    expect(filtered.metadata.page).toMatchObject({ totalElements: 2, totalPages: 1 });
  });

  test('without a client lists those of every client', async () => {
    const answer = await api.call('GET', '/beneficiaries?metadata.page.size=1');
    expect(answer.body.metadata.page.totalElements).toBeGreaterThan(all.length);
  });

  test.each([
    ['a type that there is not', 'data.beneficiary.type=trust', 'beneficiary.type'],
    ['a country that is none', 'data.beneficiary.country=UK', 'beneficiary.country'],
    ['a client that is no UUID', 'data.beneficiary.clientId=me', 'beneficiary.clientId'],
    ['a page of 101', 'metadata.page.size=101', 'metadata.page.size'],
  ])('rejects %s', async (_, query, field) => {
    expect(problems(await api.call('GET', `/beneficiaries?${query}`))).toEqual([`field_invalid ${field}`]);
  });

  test('rejects an unknown parameter', async () => {
    const answer = await api.call('GET', '/beneficiaries?data.beneficiary.shoeSize=9');
    expect(problems(answer)).toEqual(unknown('shoeSize'));
  });
});

test.each<[string, string, Json, string]>([
  [
    'a beneficiary whose identity is a list',
    '/beneficiaries',
    direct({ beneficiary: { clientId: randomUUID(), identity: [PERSON], bankAccounts: [STERLING] } }),
    'data.beneficiary.identity must be an object.',
  ],
  [
    'a verification whose identity is a number',
    '/beneficiary-verifications',
    { ...direct({ beneficiary: { clientId: randomUUID(), identity: 17 } }), workflow: { code: 'client.pay-uk.cop' } },
    'data.beneficiary.identity must be an object.',
  ],
  [
    'a transfer whose destination is text',
    '/outgoing-transfers',
    { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { destination: 'here' } } },
    'data.outgoingTransfer.destination must be an object.',
  ],
])('specification 7: the message names the field and its rule: %s', async (_, path, sent, message) => {
  const { status, body } = await api.call('POST', path, sent);
  expect(status).toBe(400);
  expect([body, ...(body.errors ?? [])].map((problem: Json) => problem.message)).toContain(message);
});

test('GET of an unknown beneficiary is 404, of no UUID 400', async () => {
  const answer = await api.call('GET', `/beneficiaries/${randomUUID()}`);
  expect([answer.status, answer.body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
  expect((await api.call('GET', '/beneficiaries/me')).status).toBe(400);
});

test('every answer has the four containers; writes echo their workflow', async () => {
  const { id } = await beneficiaries.created();
  const read = await api.call('GET', `/beneficiaries/${id}`);
  expect(read.body).toMatchObject({ workflow: {}, connect: {}, metadata: {} });
  const changed = await api.call('PATCH', `/beneficiaries/${id}`, direct({ beneficiary: { title: 'Messrs' } }));
  expect(changed.body).toMatchObject({ workflow: { code: 'direct' }, connect: {}, metadata: {} });
});

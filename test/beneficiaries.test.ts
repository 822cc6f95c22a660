import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Called, type Json, startApi, type TestApi } from './harness/api.ts';
import { moneyWorld } from './harness/money.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('beneficiaries');
  api = await startApi(database);
  clientId = await moneyWorld(api).client();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const BAKERY = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };
const STERLING = { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
const EURO = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
const DOLLAR = { country: 'US', currency: 'USD', accountNumber: '1234567', routingCodes: { bic: 'CHASUS33' } };

function bakery(change: Json = {}): Json {
  return { clientId, identity: BAKERY, bankAccounts: [STERLING], ...change };
}

function post(beneficiary: Json): Promise<Called> {
  return api.call('POST', '/beneficiaries', { workflow: { code: 'direct' }, data: { beneficiary } });
}

async function created(beneficiary: Json): Promise<Json> {
  const answer = await post(beneficiary);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.beneficiary;
}

async function data(path: string): Promise<Json> {
  const answer = await api.call('GET', path);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}

/** Code and field of every problem of a refused request. */
function problems(answer: Called): string[] {
  expect(answer.status, answer.text).toBe(400);
  return [answer.body, ...(answer.body.errors ?? [])]
    .map(
      ({ code, messageParameters: [entity, field] }: Json) =>
        `${code.replace('common.validation.', '')} ${entity}.${field}`,
    )
    .sort();
}

describe('POST /beneficiaries', () => {
  test.each<[string, Json, Json]>([
    ['a corporate', { identity: BAKERY }, { identity: { ...BAKERY, identifications: [] }, fullName: BAKERY.legalName }],
    [
      'an individual',
      { identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' }, title: 'Rear Admiral' },
      {
        identity: {
          type: 'individual',
          givenName: 'Grace',
          familyName: 'Hopper',
          birthDate: null,
          country: null,
          identifications: [],
        },
        fullName: 'Grace Hopper',
        title: 'Rear Admiral',
      },
    ],
    [
      'one known by its full name',
      { identity: null, fullName: '株式会社 日本橋' },
      { identity: null, fullName: '株式会社 日本橋' },
    ],
  ])('creates %s, and reads it back', async (_, sent, shown) => {
    const { bankAccounts, ...beneficiary } = await created(bakery(sent));
    expect(beneficiary).toEqual({ id: beneficiary.id, clientId, title: null, contact: null, address: null, ...shown });
    const path = `/beneficiaries/${beneficiary.id}`;
    expect((await data(path)).beneficiary).toEqual(beneficiary);
    expect((await data(`${path}?metadata.include=data.beneficiary.bankAccounts`)).beneficiary).toEqual({
      ...beneficiary,
      bankAccounts,
    });
  });

  test('keeps identifications and contact, and shows the address beside the contact', async () => {
    const address = { country: 'CA', region: 'ON', city: 'Toronto', street: null };
    const beneficiary = await created(
      bakery({
        identity: {
          ...BAKERY,
          identifications: [{ type: 'lei', identificationNumber: '5493001KJTIIGC8Y1R12', issuingCountry: 'GB' }],
        },
        contact: { phone: '+44 20 7946 0000', email: 'office@example.com', address },
      }),
    );
    expect(beneficiary.identity.identifications).toMatchObject([
      { type: 'lei', identificationNumber: '5493001KJTIIGC8Y1R12', issueDate: null },
    ]);
    expect(beneficiary.contact).toMatchObject({ phone: '+44 20 7946 0000', email: 'office@example.com', address });
    expect(beneficiary.address).toEqual(beneficiary.contact.address);
  });

  test('takes one to three bank accounts; holder and type are the beneficiary unless sent', async () => {
    const { bankAccounts } = await created(
      bakery({
        bankAccounts: [
          STERLING,
          {
            ...EURO,
            accountHolderName: 'Brook Lane GmbH',
            accountHolderType: 'individual',
            bankName: 'Bank',
            alias: 'E',
          },
          DOLLAR,
        ],
      }),
    );
    expect(bankAccounts.map((account: Json) => [account.currency, account.accountHolderName, account.status])).toEqual([
      ['GBP', BAKERY.legalName, 'active'],
      ['EUR', 'Brook Lane GmbH', 'active'],
      ['USD', BAKERY.legalName, 'active'],
    ]);
    expect(bankAccounts[0]).toMatchObject({ accountHolderType: 'corporate', bankName: null, alias: null, iban: null });
    expect(bankAccounts[1]).toMatchObject({ accountHolderType: 'individual', bankName: 'Bank', alias: 'E' });
    for (const number of [0, 4]) {
      const answer = await post(bakery({ bankAccounts: Array.from({ length: number }, () => STERLING) }));
      expect(problems(answer)).toEqual(['limit_exceeded beneficiary.bankAccounts']);
    }
  });

  test('names every problem of a body at once, of fields and between them', async () => {
    const answer = await post({
      clientId: 'me',
      identity: { type: 'corporate', nonsense: 1 },
      fullName: 'Both',
      contact: { address: { country: 'US' }, email: 'nobody' },
      bankAccounts: [
        { country: 'GB', currency: 'GBP', accountNumber: '12', routingCodes: { 'sort-code': '1', bic: 'X' }, color: 1 },
        { ...EURO, iban: 'DE00370400440532013000', alias: '' },
        { country: 'US', currency: 'USD' },
      ],
    });
    expect(problems(answer)).toEqual(
      [
        'field_invalid beneficiary.clientId',
        'field_required beneficiary.identity.legalName',
        'field_unexpected beneficiary.identity.nonsense',
        'mutually_exclusive beneficiary.fullName',
        'field_required beneficiary.contact.address.region',
        'field_invalid beneficiary.contact.email',
        'field_invalid beneficiary.bankAccounts.0.accountNumber',
        'field_invalid beneficiary.bankAccounts.0.routingCodes.sort-code',
        'field_invalid beneficiary.bankAccounts.0.routingCodes.bic',
        'field_unexpected beneficiary.bankAccounts.0.color',
        'field_invalid beneficiary.bankAccounts.1.iban',
        'field_invalid beneficiary.bankAccounts.1.alias',
        'field_required beneficiary.bankAccounts.2.routingCodes.bic',
        'field_required beneficiary.bankAccounts.2.accountNumber',
      ].sort(),
    );
  });

  test.each<[string, Json, string[]]>([
    ['neither identity nor full name', { identity: null }, ['field_required beneficiary.fullName']],
    ['both', { fullName: 'Brook Lane' }, ['mutually_exclusive beneficiary.fullName']],
    ['another type', { identity: { type: 'trust' } }, ['field_invalid beneficiary.identity.type']],
    ['no bank accounts', { bankAccounts: null }, ['field_required beneficiary.bankAccounts']],
    [
      'a status',
      { bankAccounts: [{ ...STERLING, status: 'inactive' }] },
      ['field_unexpected beneficiary.bankAccounts.0.status'],
    ],
  ])('refuses %s', async (_, change, expected) => {
    expect(problems(await post(bakery(change)))).toEqual(expected);
  });

  test('refuses a client of nothing with 404 and one that is not active with 422, and stores nothing', async () => {
    const foreign = await post(bakery({ clientId: randomUUID() }));
    expect([foreign.status, foreign.body.messageParameters[1]]).toEqual([404, 'clientId']);
    const closed = await moneyWorld(api).client('Closed');
    await api.database.transaction((tx) =>
      tx.statement(`UPDATE clients SET status = 'suspended' WHERE id = $1`, [closed]),
    );
    const refused = await post(bakery({ clientId: closed }));
    expect([refused.status, refused.body.code]).toEqual([422, 'account.status.not_active']);
    expect((await data(`/beneficiaries?data.beneficiary.clientId=${closed}`)).beneficiaries).toEqual([]);
  });
});

describe('a bank account', () => {
  test.each<[string, Json, Json]>([
    ['a sort code with dashes', { ...STERLING, routingCodes: { 'sort-code': '60-16-13' } }, STERLING],
    ['a seven-digit British number', { ...STERLING, accountNumber: '1926819' }, { accountNumber: '01926819' }],
    ['an IBAN as people write it', { ...EURO, iban: 'de89 3704 0044 0532 0130 00' }, EURO],
    [
      'sterling by IBAN alone',
      { country: 'GB', currency: 'GBP', iban: 'GB29NWBK60161331926819' },
      { iban: 'GB29NWBK60161331926819', accountNumber: null, routingCodes: {} },
    ],
    [
      'dollars by IBAN and BIC',
      { country: 'AE', currency: 'USD', iban: 'AE070331234567890123456', routingCodes: { bic: 'EBILAEAD' } },
      { iban: 'AE070331234567890123456' },
    ],
    ['a BIC of eleven characters', { ...DOLLAR, routingCodes: { bic: 'CHASUS33XXX' } }, {}],
    [
      'a kind that nobody knows',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', 'zengin-code': 'Ab 1' } },
      {
        routingCodes: { bic: 'CHASUS33', 'zengin-code': 'Ab 1' },
      },
    ],
    ['a national code that holds', { ...DOLLAR, routingCodes: { bic: 'CHASUS33', aba: '021000021' } }, {}],
  ])('is taken with %s', async (_, account, shown) => {
    const { bankAccounts } = await created(bakery({ bankAccounts: [account] }));
    expect(bankAccounts).toMatchObject([shown]);
  });

  const at = (field: string) => `field_invalid beneficiary.bankAccounts.0.${field}`;
  const missing = (field: string) => `field_required beneficiary.bankAccounts.0.${field}`;

  test.each<[string, Json, string[]]>([
    [
      'a sort code of five digits',
      { ...STERLING, routingCodes: { 'sort-code': '60161' } },
      [at('routingCodes.sort-code')],
    ],
    ['a sort code alone', { ...STERLING, accountNumber: null }, [missing('accountNumber')]],
    ['a British number alone', { ...STERLING, routingCodes: null }, [missing('routingCodes.sort-code')]],
    [
      'nothing at all',
      { country: 'GB', currency: 'GBP' },
      [missing('accountNumber'), missing('routingCodes.sort-code')],
    ],
    ['a British number of nine digits', { ...STERLING, accountNumber: '319268190' }, [at('accountNumber')]],
    ['euros without an IBAN', { ...EURO, iban: null, accountNumber: '532013000' }, [missing('iban')]],
    ['an IBAN with a digit changed', { ...EURO, iban: 'DE89370400440532013001' }, [at('iban')]],
    ['an IBAN too short for its country', { ...EURO, iban: 'DE8937040044053201300' }, [at('iban')]],
    ['an IBAN of no country', { ...EURO, iban: 'XX89370400440532013000' }, [at('iban')]],
    ['dollars without a BIC', { ...DOLLAR, routingCodes: null }, [missing('routingCodes.bic')]],
    ['dollars without a number', { ...DOLLAR, accountNumber: null }, [missing('accountNumber')]],
    ['a BIC of nine characters', { ...DOLLAR, routingCodes: { bic: 'CHASUS33X' } }, [at('routingCodes.bic')]],
    ['a BIC in small letters', { ...DOLLAR, routingCodes: { bic: 'chasus33' } }, [at('routingCodes.bic')]],
    [
      'an ABA number with a wrong check digit',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', aba: '021000022' } },
      [at('routingCodes.aba')],
    ],
    [
      'a kind that is no code',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', 'Sort Code': '1' } },
      [at('routingCodes.Sort Code')],
    ],
    [
      'a value of 35 characters',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', other: 'x'.repeat(35) } },
      [at('routingCodes.other')],
    ],
    ['an unknown country', { ...STERLING, country: 'UK' }, [at('country')]],
    ['an unknown currency', { ...STERLING, currency: 'GBX' }, [at('currency')]],
  ])('is refused with %s', async (_, account, expected) => {
    expect(problems(await post(bakery({ bankAccounts: [account] })))).toEqual(expected.sort());
  });
});

describe('GET /beneficiaries', () => {
  test('filters by client, country and type, pages, and includes bank accounts', async () => {
    const owner = await moneyWorld(api).client('Owner');
    const person = { type: 'individual', givenName: 'Grace', familyName: 'Hopper', country: 'FR' };
    const all = [
      await created(bakery({ clientId: owner })),
      await created(bakery({ clientId: owner, identity: person, bankAccounts: [EURO, DOLLAR] })),
      await created(bakery({ clientId: owner, contact: { address: { country: 'FR' } } })),
      await created(bakery({ clientId: owner, identity: null, fullName: 'Somebody' })),
    ];
    const list = async (query: string) => {
      const answer = await api.call('GET', `/beneficiaries?data.beneficiary.clientId=${owner}${query}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const found = async (query: string) =>
      (await list(query)).data.beneficiaries.map(({ id }: Json) => all.findIndex((one) => one.id === id));
    expect(await found('')).toEqual([0, 1, 2, 3]);
    expect(await found('&data.beneficiary.type=corporate')).toEqual([0, 2]);
    expect(await found('&data.beneficiary.type=individual')).toEqual([1]);
    expect(await found('&data.beneficiary.country=FR')).toEqual([1, 2]);
    expect(await found('&data.beneficiary.country=FR&data.beneficiary.type=corporate')).toEqual([2]);
    const page = await list(
      '&metadata.page.size=1&metadata.page.number=1&metadata.include=data.beneficiary.bankAccounts',
    );
    expect(page.metadata.page).toEqual({ size: 1, number: 1, totalElements: 4, totalPages: 4 });
    expect(page.data.beneficiaries).toEqual([all[1]]);
    expect((await list('')).data.beneficiaries[0].bankAccounts).toBeUndefined();
    expect((await api.call('GET', '/beneficiaries?data.beneficiary.type=trust')).status).toBe(400);
  });
});

describe('/beneficiaries/{beneficiaryId}/bank-accounts', () => {
  let beneficiaryId: string;
  let first: Json;

  beforeAll(async () => {
    const beneficiary = await created(bakery());
    beneficiaryId = beneficiary.id;
    first = beneficiary.bankAccounts[0];
  });

  const pathOf = (id?: string) => `/beneficiaries/${beneficiaryId}/bank-accounts${id === undefined ? '' : `/${id}`}`;
  const body = (beneficiaryBankAccount: Json) => ({ workflow: { code: 'direct' }, data: { beneficiaryBankAccount } });
  const patch = (id: string, change: Json) => api.call('PATCH', pathOf(id), body(change));

  test('adds, changes and reads; at most three are active, however many there are', async () => {
    const answer = await api.call('POST', pathOf(), body(EURO));
    expect(answer.status, answer.text).toBe(201);
    const euro = answer.body.data.beneficiaryBankAccount;
    expect(euro).toMatchObject({ ...EURO, beneficiaryId, accountHolderName: BAKERY.legalName, status: 'active' });
    expect((await data(pathOf(euro.id))).beneficiaryBankAccount).toEqual(euro);
    expect((await api.call('POST', pathOf(), body(DOLLAR))).status).toBe(201);
    const fourth = await api.call('POST', pathOf(), body(STERLING));
    expect([fourth.status, fourth.body.code]).toEqual([400, 'common.validation.limit_exceeded']);
    expect((await patch(euro.id, { status: 'inactive' })).status).toBe(200);
    expect((await api.call('POST', pathOf(), body(STERLING))).status).toBe(201);
    const again = await patch(euro.id, { status: 'active' });
    expect([again.status, again.body.code]).toEqual([400, 'common.validation.limit_exceeded']);
    expect((await data(pathOf())).beneficiaryBankAccounts.map(({ status }: Json) => status)).toEqual([
      'active',
      'inactive',
      'active',
      'active',
    ]);
  });

  test('four at once: three are active in the end', async () => {
    const { id } = await created(bakery());
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => api.call('POST', `/beneficiaries/${id}/bank-accounts`, body(EURO))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
    expect((await data(`/beneficiaries/${id}/bank-accounts`)).beneficiaryBankAccounts).toHaveLength(3);
  });

  test('changes what is sent, clears what may be absent, and keeps the whole sound', async () => {
    const changed = await patch(first.id, {
      alias: 'Wages',
      bankName: 'Bank',
      routingCodes: { 'sort-code': '20-00-00' },
    });
    expect(changed.body.data.beneficiaryBankAccount).toEqual({
      ...first,
      alias: 'Wages',
      bankName: 'Bank',
      routingCodes: { 'sort-code': '200000' },
    });
    const cleared = await patch(first.id, { alias: null, bankName: null });
    expect(cleared.body.data.beneficiaryBankAccount).toMatchObject({ alias: null, bankName: null });
    const byIban = { iban: 'GB29NWBK60161331926819', accountNumber: null, routingCodes: null };
    expect((await patch(first.id, byIban)).body.data.beneficiaryBankAccount).toMatchObject({
      ...byIban,
      routingCodes: {},
    });
    expect(problems(await patch(first.id, { iban: null }))).toEqual([
      'field_required beneficiaryBankAccount.accountNumber',
      'field_required beneficiaryBankAccount.routingCodes.sort-code',
    ]);
    expect(problems(await patch(first.id, { iban: 'GB00', accountNumber: '1' }))).toEqual([
      'field_invalid beneficiaryBankAccount.accountNumber',
      'field_invalid beneficiaryBankAccount.iban',
    ]);
    expect(problems(await patch(first.id, { accountHolderName: null, country: 'DE', currency: 'EUR' }))).toEqual([
      'field_required beneficiaryBankAccount.accountHolderName',
      'field_unexpected beneficiaryBankAccount.country',
      'field_unexpected beneficiaryBankAccount.currency',
    ]);
    expect((await data(pathOf(first.id))).beneficiaryBankAccount).toMatchObject({ iban: byIban.iban });
  });

  test('lists by country, currency, IBAN, account number and routing code', async () => {
    const all = (await created(bakery({ bankAccounts: [STERLING, EURO, DOLLAR] }))).bankAccounts;
    const list = async (query: string) =>
      (await data(`/beneficiaries/${all[0].beneficiaryId}/bank-accounts?${query}`)).beneficiaryBankAccounts.map(
        ({ id }: Json) => all.findIndex((one: Json) => one.id === id),
      );
    const field = 'data.beneficiaryBankAccount';
    expect(await list('')).toEqual([0, 1, 2]);
    expect(await list(`${field}.country=DE`)).toEqual([1]);
    expect(await list(`${field}.currency=USD`)).toEqual([2]);
    expect(await list(`${field}.iban=${EURO.iban}`)).toEqual([1]);
    expect(await list(`${field}.iban=de89%203704%200044%200532%200130%2000`)).toEqual([1]);
    expect(await list(`${field}.accountNumber=31926819`)).toEqual([0]);
    expect(await list(`${field}.routingCodeKey=bic`)).toEqual([2]);
    expect(await list(`${field}.routingCodeValue=601613`)).toEqual([0]);
    expect(await list(`${field}.routingCodeKey=bic&${field}.routingCodeValue=601613`)).toEqual([]);
    expect(await list(`${field}.routingCodeKey=sort-code&${field}.routingCodeValue=601613`)).toEqual([0]);
    expect(await list('metadata.page.size=2&metadata.page.number=1')).toEqual([2]);
  });

  test('is 404 for a beneficiary of nothing, and for an account of another beneficiary', async () => {
    const other = await created(bakery());
    const foreign = `/beneficiaries/${other.id}/bank-accounts/${first.id}`;
    expect((await api.call('GET', foreign)).status).toBe(404);
    expect((await api.call('PATCH', foreign, body({ alias: 'mine' }))).status).toBe(404);
    const nobody = `/beneficiaries/${randomUUID()}/bank-accounts`;
    expect((await api.call('GET', nobody)).status).toBe(404);
    const posted = await api.call('POST', nobody, body(EURO));
    expect(posted.body.messageParameters[0]).toBe('beneficiary');
  });
});

describe('GET /beneficiary-bank-account-requirements', () => {
  const required = async (currency: string, country: string) => {
    const field = 'data.beneficiaryBankAccountRequirement';
    const query = `${field}.currency=${currency}&${field}.country=${country}`;
    return (await data(`/beneficiary-bank-account-requirements?${query}`)).beneficiaryBankAccountRequirement;
  };

  test.each<[string, string, Json]>([
    ['GBP', 'GB', STERLING],
    ['EUR', 'DE', EURO],
    ['USD', 'US', DOLLAR],
    [
      'INR',
      'IN',
      { ...DOLLAR, country: 'IN', currency: 'INR', routingCodes: { bic: 'HDFCINBB', ifsc: 'HDFC0000001' } },
    ],
  ])('says what %s in %s must carry, as the creation judges it', async (currency, country, account) => {
    const { fields, alternatives } = await required(currency, country);
    const values: Json = { iban: account.iban, accountNumber: account.accountNumber };
    for (const [kind, code] of Object.entries(account.routingCodes ?? {})) values[`routingCodes.${kind}`] = code;
    for (const [field, { requirement, pattern }] of Object.entries<Json>(fields)) {
      if (values[field] !== undefined) expect(values[field], field).toMatch(new RegExp(pattern));
      if (requirement === 'required') expect(values[field], field).toBeDefined();
      expect(pattern === null, field).toBe(requirement === 'none');
    }
    if (alternatives.length > 0) {
      expect(alternatives.some((set: string[]) => set.every((field) => values[field] !== undefined))).toBe(true);
    }
    expect((await post(bakery({ bankAccounts: [account] }))).status).toBe(201);
  });

  test('needs both a currency and a country', async () => {
    const answer = await api.call('GET', '/beneficiary-bank-account-requirements');
    expect(problems(answer)).toEqual([
      'field_required beneficiaryBankAccountRequirement.country',
      'field_required beneficiaryBankAccountRequirement.currency',
    ]);
  });
});

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
  problems,
  STERLING,
} from '../harness/parties/beneficiaries.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Bank accounts of beneficiaries (specification 2.4, and the operations that it names without showing): a row is a rule.

let database: TestDatabase;
let api: TestApi;
let beneficiaries: Beneficiaries;

beforeAll(async () => {
  database = await createTestDatabase('beneficiary-bank-accounts');
  api = await startApi(database);
  beneficiaries = beneficiariesOf(api, await moneyWorld(api).client());
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const SWISS_BIC = { bic: 'UBSWCHZH' };
const abroad = (country: string, currency: string, routingCodes: Json): Json => ({
  country,
  currency,
  accountNumber: '12345-6',
  routingCodes: { ...SWISS_BIC, ...routingCodes },
});

describe('a bank account is taken with', () => {
  test.each<[rule: string, account: Json, shown: Json]>([
    ['sterling: a sort code and an account number', STERLING, { ...STERLING, iban: null }],
    ['a sort code with dashes', { ...STERLING, routingCodes: { 'sort-code': '60-16-13' } }, STERLING],
    [
      'a seven-digit British number, filled up',
      { ...STERLING, accountNumber: '1926819' },
      { accountNumber: '01926819' },
    ],
    ['an account number with spaces', { ...STERLING, accountNumber: '3192 6819' }, { accountNumber: '31926819' }],
    [
      'sterling by IBAN only',
      { country: 'GB', currency: 'GBP', iban: 'GB29NWBK60161331926819' },
      { iban: 'GB29NWBK60161331926819', accountNumber: null, routingCodes: null },
    ],
    [
      'sterling with a BIC as well',
      { ...STERLING, routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' } },
      { routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' } },
    ],
    ['sterling outside Britain as every other currency', { ...abroad('GI', 'GBP', {}) }, { routingCodes: SWISS_BIC }],
    ['euros: an IBAN only', EURO, { ...EURO, accountNumber: null, routingCodes: null }],
    ['euros with a BIC as well', { ...EURO, routingCodes: { bic: 'COBADEFF' } }, { routingCodes: { bic: 'COBADEFF' } }],
    ['an IBAN as people write it', { ...EURO, iban: 'de89 3704 0044 0532 0130 00' }, EURO],
    ['every other: an account number and a BIC', DOLLAR, DOLLAR],
    [
      'every other: an IBAN and a BIC',
      { country: 'AE', currency: 'USD', iban: 'AE070331234567890123456', routingCodes: { bic: 'EBILAEAD' } },
      { iban: 'AE070331234567890123456' },
    ],
    [
      'a BIC of eleven characters',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33XXX' } },
      { routingCodes: { bic: 'CHASUS33XXX' } },
    ],
    [
      'an ABA number',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', aba: '021000021' } },
      { routingCodes: { aba: '021000021' } },
    ],
    [
      'a BSB code, dash or no dash',
      abroad('AU', 'AUD', { 'bsb-code': '062-000' }),
      { routingCodes: { 'bsb-code': '062000' } },
    ],
    ['an IFSC', abroad('IN', 'INR', { ifsc: 'HDFC0000001' }), { routingCodes: { ifsc: 'HDFC0000001' } }],
    ['a CNAPS code', abroad('CN', 'CNY', { cnaps: '102100099996' }), { routingCodes: { cnaps: '102100099996' } }],
    [
      'a CLABE',
      abroad('MX', 'MXN', { clabe: '032180000118359719' }),
      { routingCodes: { clabe: '032180000118359719' } },
    ],
    [
      'a bank code and a branch code',
      abroad('CA', 'CAD', { 'bank-code': '003', 'branch-code': '00001' }),
      { routingCodes: { 'bank-code': '003', 'branch-code': '00001' } },
    ],
    [
      'an unknown kind, as it was sent',
      { ...DOLLAR, routingCodes: { bic: 'CHASUS33', 'zengin-code': 'Ab 1' } },
      { routingCodes: { bic: 'CHASUS33', 'zengin-code': 'Ab 1' } },
    ],
    [
      'the beneficiary as its holder, unless sent',
      STERLING,
      { accountHolderName: BAKERY.legalName, accountHolderType: 'corporate' },
    ],
    [
      'a holder of its own',
      { ...STERLING, accountHolderName: '王 小明', accountHolderType: 'individual' },
      { accountHolderName: '王 小明', accountHolderType: 'individual' },
    ],
    [
      'the name of the bank, and an alias',
      { ...STERLING, bankName: 'Bank', alias: 'Wages' },
      { bankName: 'Bank', alias: 'Wages' },
    ],
    ['neither of them', STERLING, { bankName: null, alias: null }],
    ['the status active', STERLING, { status: 'active' }],
  ])('%s', async (_, account, shown) => {
    const { bankAccounts } = await beneficiaries.created(beneficiaries.body({ bankAccounts: [account] }));
    expect(bankAccounts).toMatchObject([shown]);
  });

  test('a holder whose kind is unknown, where the beneficiary is known by its full name only', async () => {
    const { bankAccounts } = await beneficiaries.created(
      beneficiaries.body({ identity: null, fullName: 'Sam Taylor' }),
    );
    expect(bankAccounts).toMatchObject([{ accountHolderName: 'Sam Taylor', accountHolderType: null }]);
  });
});

describe('a bank account is rejected with', () => {
  const at = (...fields: string[]) => fields.map((field) => `field_invalid beneficiary.bankAccounts.0.${field}`);
  const missing = (...fields: string[]) => fields.map((field) => `field_required beneficiary.bankAccounts.0.${field}`);
  const dollar = (codes: Json): Json => ({ ...DOLLAR, routingCodes: { ...DOLLAR.routingCodes, ...codes } });

  test.each<[rule: string, account: Json, rejected: string[]]>([
    ['no country', { ...STERLING, country: null }, missing('country')],
    ['no currency', { ...STERLING, currency: null }, missing('currency')],
    ['an unknown country', { ...STERLING, country: 'UK' }, at('country')],
    ['an unknown currency', { ...STERLING, currency: 'GBX' }, at('currency')],
    ['sterling: a sort code only', { ...STERLING, accountNumber: null }, missing('accountNumber')],
    ['sterling: an account number only', { ...STERLING, routingCodes: null }, missing('routingCodes.sort-code')],
    [
      'sterling: nothing at all',
      { country: 'GB', currency: 'GBP' },
      missing('accountNumber', 'routingCodes.sort-code'),
    ],
    ['euros without an IBAN', { ...EURO, iban: null, accountNumber: '532013000' }, missing('iban')],
    ['every other without a BIC', { ...DOLLAR, routingCodes: null }, missing('routingCodes.bic')],
    ['every other without a number', { ...DOLLAR, accountNumber: null }, missing('accountNumber')],
    [
      'a sort code of five digits',
      { ...STERLING, routingCodes: { 'sort-code': '60161' } },
      at('routingCodes.sort-code'),
    ],
    ['a sort code of letters', { ...STERLING, routingCodes: { 'sort-code': '60161A' } }, at('routingCodes.sort-code')],
    ['a British number of five digits', { ...STERLING, accountNumber: '31926' }, at('accountNumber')],
    ['a British number of nine digits', { ...STERLING, accountNumber: '319268190' }, at('accountNumber')],
    ['an account number of 35 characters', { ...DOLLAR, accountNumber: '1'.repeat(35) }, at('accountNumber')],
    ['an account number with other signs', { ...DOLLAR, accountNumber: '12*34' }, at('accountNumber')],
    ['an IBAN with a digit changed', { ...EURO, iban: 'DE89370400440532013001' }, at('iban')],
    ['an IBAN with two digits swapped', { ...EURO, iban: 'DE89370400440532010300' }, at('iban')],
    ['an IBAN too short for its country', { ...EURO, iban: 'DE8937040044053201300' }, at('iban')],
    ['an IBAN too long for its country', { ...EURO, iban: 'DE893704004405320130000' }, at('iban')],
    ['an IBAN of another account than the number', { ...STERLING, iban: 'GB33BUKB20201555555555' }, at('iban')],
    ['sterling by an IBAN from elsewhere', { country: 'GB', currency: 'GBP', iban: EURO.iban }, at('iban')],
    ['an account number of nothing but dashes', { ...DOLLAR, accountNumber: '----' }, at('accountNumber')],
    ['an IBAN of no country', { ...EURO, iban: 'XX89370400440532013000' }, at('iban')],
    ['an IBAN whose check digits are never issued', { ...EURO, iban: 'DE00370400440532013000' }, at('iban')],
    ['a BIC of nine characters', { ...DOLLAR, routingCodes: { bic: 'CHASUS33X' } }, at('routingCodes.bic')],
    ['a BIC in small letters', { ...DOLLAR, routingCodes: { bic: 'chasus33' } }, at('routingCodes.bic')],
    ['a BIC of no country', { ...DOLLAR, routingCodes: { bic: 'CHASUX33' } }, at('routingCodes.bic')],
    ['an ABA number with a wrong check digit', dollar({ aba: '021000022' }), at('routingCodes.aba')],
    ['a BSB code of five digits', dollar({ 'bsb-code': '06200' }), at('routingCodes.bsb-code')],
    ['an IFSC without its zero', dollar({ ifsc: 'HDFC1000001' }), at('routingCodes.ifsc')],
    ['a CNAPS code of eleven digits', dollar({ cnaps: '10210009999' }), at('routingCodes.cnaps')],
    ['a CLABE with a wrong check digit', dollar({ clabe: '032180000118359718' }), at('routingCodes.clabe')],
    ['a bank code of twelve characters', dollar({ 'bank-code': 'A'.repeat(12) }), at('routingCodes.bank-code')],
    ['a branch code with other signs', dollar({ 'branch-code': '00-1' }), at('routingCodes.branch-code')],
    ['a kind that is no code', dollar({ 'Sort Code': '1' }), at('routingCodes.Sort Code')],
    ['a kind of 41 characters', dollar({ ['x'.repeat(41)]: '1' }), at(`routingCodes.${'x'.repeat(41)}`)],
    ['a value of 35 characters', dollar({ other: 'x'.repeat(35) }), at('routingCodes.other')],
    [
      'a kind of routing code that no object may have',
      dollar({ constructor: '1' }),
      ['field_invalid body.constructor'],
    ],
    [
      'eleven routing codes',
      dollar(Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`kind-${index}`, '1']))),
      ['limit_exceeded beneficiary.bankAccounts.0.routingCodes'],
    ],
    ['a holder of another type', { ...STERLING, accountHolderType: 'trust' }, at('accountHolderType')],
    ['a blank holder', { ...STERLING, accountHolderName: ' ' }, at('accountHolderName')],
    ['an alias of 31 characters', { ...STERLING, alias: 'x'.repeat(31) }, at('alias')],
    ['a name of the bank of 141 characters', { ...STERLING, bankName: 'x'.repeat(141) }, at('bankName')],
    ['an id', { ...STERLING, id: randomUUID() }, ['field_unexpected beneficiary.bankAccounts.0.id']],
    [
      'a ledger number, which it has not',
      { ...STERLING, ledgerNumber: '1' },
      ['field_unexpected beneficiary.bankAccounts.0.ledgerNumber'],
    ],
  ])('%s', async (_, account, rejected) => {
    expect(problems(await beneficiaries.post(beneficiaries.body({ bankAccounts: [account] })))).toEqual(
      rejected.sort(),
    );
  });
});

describe('/beneficiaries/{beneficiaryId}/bank-accounts', () => {
  const body = (beneficiaryBankAccount: Json) => direct({ beneficiaryBankAccount });
  const pathOf = ({ beneficiaryId, id }: Json) => `/beneficiaries/${beneficiaryId}/bank-accounts/${id}`;
  const patch = (account: Json, change: Json) => api.call('PATCH', pathOf(account), body(change));
  const made = async (account: Json = STERLING) =>
    (await beneficiaries.created(beneficiaries.body({ bankAccounts: [account] }))).bankAccounts[0];
  const IBAN = 'GB29NWBK60161331926819';

  test.each<[rule: string, account: Json, change: Json, shown: Json]>([
    ['an alias', STERLING, { alias: 'Wages' }, { alias: 'Wages' }],
    ['an alias to none', { ...STERLING, alias: 'Wages' }, { alias: null }, { alias: null }],
    ['the name of the bank', STERLING, { bankName: 'Bank' }, { bankName: 'Bank' }],
    ['the name of the bank to none', { ...STERLING, bankName: 'Bank' }, { bankName: null }, { bankName: null }],
    ['the holder', STERLING, { accountHolderName: 'Sam Taylor' }, { accountHolderName: 'Sam Taylor' }],
    ['the kind of holder', STERLING, { accountHolderType: 'individual' }, { accountHolderType: 'individual' }],
    ['the kind of holder to unknown', STERLING, { accountHolderType: null }, { accountHolderType: null }],
    ['the account number', STERLING, { accountNumber: '1234567' }, { accountNumber: '01234567' }],
    [
      'the routing codes, as a whole',
      { ...STERLING, routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' } },
      { routingCodes: { 'sort-code': '20-00-00' } },
      { routingCodes: { 'sort-code': '200000' } },
    ],
    ['the IBAN', EURO, { iban: 'NL91 ABNA 0417 1643 00' }, { iban: 'NL91ABNA0417164300' }],
    [
      'a number and code into an IBAN',
      STERLING,
      { iban: IBAN, accountNumber: null, routingCodes: null },
      { iban: IBAN, accountNumber: null, routingCodes: null },
    ],
    ['the status to inactive', STERLING, { status: 'inactive' }, { status: 'inactive' }],
    ['nothing, where nothing is sent', STERLING, {}, {}],
  ])('PATCH changes %s, and nothing else', async (_, sent, change, shown) => {
    const account = await made(sent);
    const answer = await patch(account, change);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.beneficiaryBankAccount).toEqual({ ...account, ...shown });
    expect((await beneficiaries.read(pathOf(account))).beneficiaryBankAccount).toEqual({ ...account, ...shown });
  });

  test.each<[rule: string, account: Json, change: Json, rejected: string[]]>([
    ['a country', STERLING, { country: 'GI' }, ['field_unexpected beneficiaryBankAccount.country']],
    ['a currency', STERLING, { currency: 'EUR' }, ['field_unexpected beneficiaryBankAccount.currency']],
    [
      'another beneficiary',
      STERLING,
      { beneficiaryId: randomUUID() },
      ['field_unexpected beneficiaryBankAccount.beneficiaryId'],
    ],
    ['no holder', STERLING, { accountHolderName: null }, ['field_required beneficiaryBankAccount.accountHolderName']],
    ['no status', STERLING, { status: null }, ['field_required beneficiaryBankAccount.status']],
    ['another status', STERLING, { status: 'closed' }, ['field_invalid beneficiaryBankAccount.status']],
    ['the last that names the account', EURO, { iban: null }, ['field_required beneficiaryBankAccount.iban']],
    [
      'a number without its sort code',
      STERLING,
      { routingCodes: {} },
      ['field_required beneficiaryBankAccount.routingCodes.sort-code'],
    ],
    [
      'an IBAN of another account',
      STERLING,
      { iban: 'GB33BUKB20201555555555' },
      ['field_invalid beneficiaryBankAccount.iban'],
    ],
    [
      'another number in addition to its IBAN',
      { ...STERLING, iban: 'GB29NWBK60161331926819' },
      { accountNumber: '31926818' },
      ['field_invalid beneficiaryBankAccount.iban'],
    ],
    [
      'a wrong IBAN and a wrong number at once',
      STERLING,
      { iban: 'GB00', accountNumber: '1' },
      ['field_invalid beneficiaryBankAccount.accountNumber', 'field_invalid beneficiaryBankAccount.iban'],
    ],
    [
      'a BIC that is none',
      DOLLAR,
      { routingCodes: { bic: 'X' } },
      ['field_invalid beneficiaryBankAccount.routingCodes.bic'],
    ],
  ])('PATCH rejects %s, and leaves it as it was', async (_, sent, change, rejected) => {
    const account = await made(sent);
    expect(problems(await patch(account, change))).toEqual(rejected);
    expect((await beneficiaries.read(pathOf(account))).beneficiaryBankAccount).toEqual(account);
  });

  test('an account that a later rule would reject is renamed and set inactive, but its numbers are validated when they change', async () => {
    const account = await made();
    const iban = 'GB33BUKB20201555555555';
    await api.database.statement('UPDATE beneficiary_bank_accounts SET iban = $2 WHERE id = $1', [account.id, iban]);
    const answer = await patch(account, { alias: 'Old', status: 'inactive' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.beneficiaryBankAccount).toEqual({ ...account, iban, alias: 'Old', status: 'inactive' });
    expect(problems(await patch(account, { accountNumber: account.accountNumber }))).toEqual([
      'field_invalid beneficiaryBankAccount.iban',
    ]);
    expect((await patch(account, { iban: null })).status).toBe(200);
  });

  test('POST adds one with what it is sent; at most three are active, however many there are', async () => {
    const { id: beneficiaryId } = await beneficiaries.created();
    const path = `/beneficiaries/${beneficiaryId}/bank-accounts`;
    const answer = await api.call('POST', path, body(EURO));
    expect(answer.status, answer.text).toBe(201);
    const euro = answer.body.data.beneficiaryBankAccount;
    expect(euro).toMatchObject({ ...EURO, beneficiaryId, accountHolderName: BAKERY.legalName, status: 'active' });
    expect((await beneficiaries.read(pathOf(euro))).beneficiaryBankAccount).toEqual(euro);
    expect((await api.call('POST', path, body(DOLLAR))).status).toBe(201);
    const limit = ['limit_exceeded beneficiaryBankAccount.beneficiaryId'];
    expect(problems(await api.call('POST', path, body(STERLING)))).toEqual(limit);
    expect((await patch(euro, { status: 'inactive' })).status).toBe(200);
    expect((await api.call('POST', path, body(STERLING))).status).toBe(201);
    expect(problems(await patch(euro, { status: 'active' }))).toEqual(limit);
    const statuses = (await beneficiaries.read(path)).beneficiaryBankAccounts.map(({ status }: Json) => status);
    expect(statuses).toEqual(['active', 'inactive', 'active', 'active']);
  });

  test('four at once: three are active in the end', async () => {
    const { id } = await beneficiaries.created();
    const path = `/beneficiaries/${id}/bank-accounts`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.call('POST', path, body(EURO))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
    expect((await beneficiaries.read(path)).beneficiaryBankAccounts).toHaveLength(3);
  });

  test('is 404 for an unknown beneficiary, an unknown account and an account of another beneficiary', async () => {
    const account = await made();
    const other = await beneficiaries.created();
    for (const path of [
      pathOf({ ...account, beneficiaryId: other.id }),
      pathOf({ ...account, id: randomUUID() }),
      pathOf({ ...account, beneficiaryId: randomUUID() }),
    ]) {
      expect((await api.call('GET', path)).status).toBe(404);
      expect((await api.call('PATCH', path, body({ alias: 'mine' }))).status).toBe(404);
    }
    const unknownBeneficiary = `/beneficiaries/${randomUUID()}/bank-accounts`;
    expect((await api.call('GET', unknownBeneficiary)).status).toBe(404);
    const posted = await api.call('POST', unknownBeneficiary, body(EURO));
    expect([posted.status, posted.body.messageParameters[0]]).toEqual([404, 'beneficiary']);
  });
});

describe('GET /beneficiaries/{beneficiaryId}/bank-accounts', () => {
  const field = 'data.beneficiaryBankAccount';
  let all: Json[];

  beforeAll(async () => {
    const sterling = { ...STERLING, accountNumber: '1926819' };
    all = (await beneficiaries.created(beneficiaries.body({ bankAccounts: [sterling, EURO, DOLLAR] }))).bankAccounts;
    await beneficiaries.created();
  });

  test.each<[rule: string, query: string, found: number[]]>([
    ['those of the beneficiary, in the order of their creation', '', [0, 1, 2]],
    ['by country', `${field}.country=DE`, [1]],
    ['by currency', `${field}.currency=USD`, [2]],
    ['by country and currency', `${field}.country=DE&${field}.currency=USD`, []],
    ['by IBAN', `${field}.iban=${EURO.iban}`, [1]],
    ['by IBAN as people write it', `${field}.iban=de89%203704%200044%200532%200130%2000`, [1]],
    ['by account number as people write it', `${field}.accountNumber=0192%206819`, [0]],
    ['by account number without its leading zero', `${field}.accountNumber=1926819`, [0]],
    ['by account number with its leading zero', `${field}.accountNumber=01926819`, [0]],
    ['by account number elsewhere', `${field}.accountNumber=12%2034567`, [2]],
    ['by account number with a zero that it does not have elsewhere', `${field}.accountNumber=01234567`, []],
    ['by kind of routing code', `${field}.routingCodeKey=bic`, [2]],
    ['by routing code of any kind', `${field}.routingCodeValue=601613`, [0]],
    ['by a code of another kind', `${field}.routingCodeKey=bic&${field}.routingCodeValue=601613`, []],
    ['by a code of its kind', `${field}.routingCodeKey=sort-code&${field}.routingCodeValue=601613`, [0]],
    ['by a sort code with dashes', `${field}.routingCodeKey=sort-code&${field}.routingCodeValue=60-16-13`, [0]],
    ['a page', 'metadata.page.size=2&metadata.page.number=1', [2]],
  ])('lists %s', async (_, query, found) => {
    const { beneficiaryBankAccounts } = await beneficiaries.read(
      `/beneficiaries/${all[0].beneficiaryId}/bank-accounts?${query}`,
    );
    expect(beneficiaryBankAccounts.map(({ id }: Json) => all.findIndex((one) => one.id === id))).toEqual(found);
  });

  test.each([
    ['a country that is none', 'country=UK', 'country'],
    ['a currency that is none', 'currency=GBX', 'currency'],
    ['a kind that is no code', 'routingCodeKey=Sort%20Code', 'routingCodeKey'],
  ])('rejects %s', async (_, query, name) => {
    const answer = await api.call('GET', `/beneficiaries/${all[0].beneficiaryId}/bank-accounts?${field}.${query}`);
    expect(problems(answer)).toEqual([`field_invalid beneficiaryBankAccount.${name}`]);
  });
});

describe('GET /beneficiary-bank-account-requirements', () => {
  const field = 'data.beneficiaryBankAccountRequirement';
  const required = async (currency: string, country: string) =>
    (
      await beneficiaries.read(
        `/beneficiary-bank-account-requirements?${field}.currency=${currency}&${field}.country=${country}`,
      )
    ).beneficiaryBankAccountRequirement;

  /** Fields that are not "none", and the sets of which one must be complete. */
  test.each<[currency: string, country: string, fields: Json, alternatives: string[][]]>([
    [
      'GBP',
      'GB',
      {
        accountNumber: 'optional',
        iban: 'optional',
        'routingCodes.bic': 'optional',
        'routingCodes.sort-code': 'optional',
      },
      [['routingCodes.sort-code', 'accountNumber'], ['iban']],
    ],
    ['EUR', 'DE', { accountNumber: 'optional', iban: 'required', 'routingCodes.bic': 'optional' }, []],
    [
      'USD',
      'US',
      { accountNumber: 'optional', iban: 'optional', 'routingCodes.bic': 'required', 'routingCodes.aba': 'optional' },
      [['accountNumber'], ['iban']],
    ],
    [
      'AUD',
      'AU',
      {
        accountNumber: 'optional',
        iban: 'optional',
        'routingCodes.bic': 'required',
        'routingCodes.bsb-code': 'optional',
      },
      [['accountNumber'], ['iban']],
    ],
    [
      'INR',
      'IN',
      { accountNumber: 'optional', iban: 'optional', 'routingCodes.bic': 'required', 'routingCodes.ifsc': 'optional' },
      [['accountNumber'], ['iban']],
    ],
    [
      'CNY',
      'CN',
      { accountNumber: 'optional', iban: 'optional', 'routingCodes.bic': 'required', 'routingCodes.cnaps': 'optional' },
      [['accountNumber'], ['iban']],
    ],
    [
      'MXN',
      'MX',
      { accountNumber: 'optional', iban: 'optional', 'routingCodes.bic': 'required', 'routingCodes.clabe': 'optional' },
      [['accountNumber'], ['iban']],
    ],
    [
      'CAD',
      'CA',
      {
        accountNumber: 'optional',
        iban: 'optional',
        'routingCodes.bic': 'required',
        'routingCodes.bank-code': 'optional',
        'routingCodes.branch-code': 'optional',
      },
      [['accountNumber'], ['iban']],
    ],
    [
      'USD',
      'GB',
      {
        accountNumber: 'optional',
        iban: 'optional',
        'routingCodes.bic': 'required',
        'routingCodes.sort-code': 'optional',
      },
      [['accountNumber'], ['iban']],
    ],
    [
      'JPY',
      'JP',
      { accountNumber: 'optional', iban: 'optional', 'routingCodes.bic': 'required' },
      [['accountNumber'], ['iban']],
    ],
  ])('%s in %s', async (currency, country, expected, alternatives) => {
    const shown = await required(currency, country);
    expect(shown).toMatchObject({ currency, country, alternatives });
    const asked = Object.entries<Json>(shown.fields).filter(([, { requirement }]) => requirement !== 'none');
    expect(Object.fromEntries(asked.map(([name, { requirement }]) => [name, requirement]))).toEqual(expected);
  });

  test.each<[currency: string, country: string, account: Json]>([
    ['GBP', 'GB', STERLING],
    ['EUR', 'DE', EURO],
    ['USD', 'US', { ...DOLLAR, routingCodes: { bic: 'CHASUS33', aba: '021000021' } }],
    ['INR', 'IN', abroad('IN', 'INR', { ifsc: 'HDFC0000001' })],
    ['MXN', 'MX', abroad('MX', 'MXN', { clabe: '032180000118359719' })],
  ])('of %s in %s have patterns that the creation enforces', async (currency, country, account) => {
    const { fields, alternatives } = await required(currency, country);
    const values: Json = { iban: account.iban, accountNumber: account.accountNumber };
    for (const [kind, code] of Object.entries(account.routingCodes ?? {})) values[`routingCodes.${kind}`] = code;
    for (const [name, { requirement, pattern }] of Object.entries<Json>(fields)) {
      if (values[name] !== undefined) expect(values[name], name).toMatch(new RegExp(pattern));
      if (requirement === 'required') expect(values[name], name).toBeDefined();
      expect(pattern === null, name).toBe(requirement === 'none');
    }
    if (alternatives.length > 0) {
      expect(alternatives.some((set: string[]) => set.every((name) => values[name] !== undefined))).toBe(true);
    }
    expect((await beneficiaries.post(beneficiaries.body({ bankAccounts: [account] }))).status).toBe(201);
  });

  test('need both a currency and a country', async () => {
    const answer = await api.call('GET', '/beneficiary-bank-account-requirements');
    expect(problems(answer)).toEqual([
      'field_required beneficiaryBankAccountRequirement.country',
      'field_required beneficiaryBankAccountRequirement.currency',
    ]);
  });
});

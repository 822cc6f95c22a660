import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../../harness/api.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

// The rows of specification 4.8, and that creation accepts exactly what they announce: schemes, the bank accounts that each can
// pay to, limits, reasons and dates.

/** The service's clock: a Wednesday, eleven o'clock in Brussels and ten in London. */
const MORNING = '2027-06-16T09:00:00Z';

/**
 * One example of each IBAN country (ISO 13616 registry) in the SEPA schemes' area (European Payments Council, EPC409-09). Guernsey, Jersey and the Isle
 * of Man use British IBANs, Åland Finnish ones, and the overseas territories of France French ones.
 */
const IBANS_IN_AREA = [
  'AD1200012030200359100100',
  'AL47212110090000000235698741',
  'AT611904300234573201',
  'BE68539007547034',
  'BG80BNBG96611020345678',
  'CH9300762011623852957',
  'CY17002001280000001200527600',
  'CZ6508000000192000145399',
  'DE89370400440532013000',
  'DK5000400440116243',
  'EE382200221020145685',
  'ES9121000418450200051332',
  'FI2112345600000785',
  'FR1420041010050500013M02606',
  'GB29NWBK60161331926819',
  'GI75NWBK000000007099453',
  'GR1601101250000000012300695',
  'HR1210010051863000160',
  'HU42117730161111101800000000',
  'IE29AIBK93115212345678',
  'IS140159260076545510730339',
  'IT60X0542811101000000123456',
  'LI21088100002324013AA',
  'LT121000011101001000',
  'LU280019400644750000',
  'LV80BANK0000435195001',
  'MC5811222000010123456789030',
  'MD24AG000225100013104168',
  'ME25505000012345678951',
  'MK07250120000058984',
  'MT84MALT011000012345MTLCAST001S',
  'NL91ABNA0417164300',
  'NO9386011117947',
  'PL61109010140000071219812874',
  'PT50000201231234567890154',
  'RO49AAAA1B31007593840000',
  'RS35260005601001611379',
  'SE4550000000058398257466',
  'SI56263300012039086',
  'SK3112000000198742637541',
  'SM86U0322509800000000270100',
  'VA59001123000012345678',
] as const;
const IBANS_ELSEWHERE = [
  'AE070331234567890123456',
  'BA391290079401028494',
  'BY13NBRB3600900000002Z00AB00',
  'FO6264600001631634',
  'GE29NB0000000101904917',
  'GL8964710001000206',
  'IL620108000000099999999',
  'SA0380000000608010167519',
  'TR330006100519786457841326',
  'UA213223130000026007233566001',
] as const;
/** Parts of the area whose IBANs have another country's letters. */
const TERRITORIES: Readonly<Record<string, string>> = {
  AX: 'FI2112345600000785',
  BL: 'FR1420041010050500013M02606',
  GF: 'FR1420041010050500013M02606',
  GG: 'GB29NWBK60161331926819',
  GP: 'FR1420041010050500013M02606',
  IM: 'GB29NWBK60161331926819',
  JE: 'GB29NWBK60161331926819',
  MF: 'FR1420041010050500013M02606',
  MQ: 'FR1420041010050500013M02606',
  PM: 'FR1420041010050500013M02606',
  RE: 'FR1420041010050500013M02606',
  YT: 'FR1420041010050500013M02606',
};
const BY_IBAN = ['sepa', 'sepa-instant', 'target2'] as const;

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
const accounts: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase('reference-tables');
  api = await start();
  world = moneyWorld(api);
  payer = await world.client('Ada');
  for (const currency of ['GBP', 'EUR', 'USD', 'CHF', 'CNY', 'JPY', 'KWD']) {
    accounts[currency] = await world.account(payer, { currency, amount: 100 });
  }
  accounts.builtIn = (await builtInAccounts(api).opened(payer)).id;
});

afterAll(async () => {
  await world.invariantsHold();
  await api.stop();
  await database.drop();
});

function start(env: Readonly<Record<string, string>> = {}, users?: TestApi['users']): Promise<TestApi> {
  return startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(MORNING) - Date.now()) / 1000)} seconds`,
    env,
    ...(users === undefined ? {} : { users }),
  });
}

/** The bank accounts of as few beneficiaries as it takes; their ids in order. */
async function banks(details: readonly Json[]): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < details.length; from += 3) {
    const identity = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };
    const bankAccounts = details.slice(from, from + 3);
    const body = { workflow: { code: 'direct' }, data: { beneficiary: { clientId: payer, identity, bankAccounts } } };
    const answer = await api.call('POST', '/beneficiaries', body);
    expect(answer.status, answer.text).toBe(201);
    ids.push(...answer.body.data.beneficiary.bankAccounts.map(({ id }: Json) => id));
  }
  return ids;
}

function payment(
  currency: string,
  scheme: string,
  beneficiaryBankAccountId: string | undefined,
  change: Json = {},
): Json {
  return {
    clientId: payer,
    currency,
    amount: 1,
    scope: 'external',
    scheme,
    source: { type: 'client-account', accountId: accounts[currency] },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
    ...change,
  };
}

function dryRun(outgoingTransfer: Json, by = api): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct', dryRun: true }, data: { outgoingTransfer } };
  return by.call('POST', '/outgoing-transfers', body);
}

/** As items of a batch: accepted, or what rejected it. */
async function inBatch(payments: readonly Json[]): Promise<Json[]> {
  const items = payments.map((outgoingTransfer) => ({ reference: randomUUID(), outgoingTransfer }));
  const batch = await api.call('POST', '/outgoing-transfers/batch', {
    workflow: { code: 'client.direct' },
    data: { items },
  });
  expect(batch.status, batch.text).toBe(201);
  return batch.body.data.results.map(({ error }: Json) => outcome(error ?? {}));
}

function outcome({ code, messageParameters }: Json): Json {
  return code === undefined ? 'accepted' : [code, messageParameters[1]];
}

/** The same as a dry run, as a single request, and as an item of a batch. */
async function outcomes(payments: readonly Json[]): Promise<Json[]> {
  const batched = await inBatch(payments);
  for (const [index, outgoingTransfer] of payments.entries()) {
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const single = await api.call('POST', '/outgoing-transfers', body);
    for (const answer of [single, await dryRun(outgoingTransfer)]) {
      expect(outcome(answer.body), JSON.stringify(outgoingTransfer)).toEqual(batched[index]);
    }
  }
  return batched;
}

const BANK_ACCOUNT = 'destination.beneficiaryBankAccountId';
const NOT_THERE = ['transfer.scheme.unavailable', BANK_ACCOUNT];
const NOT_CARRIED = ['transfer.scheme.unavailable', 'scheme'];

describe('the area of the schemes that pay to an IBAN is the IBAN’s country, whatever the record’s country is', () => {
  test.each([
    ...IBANS_IN_AREA.map((iban) => [iban.slice(0, 2), iban, 'accepted'] as const),
    ...IBANS_ELSEWHERE.map((iban) => [iban.slice(0, 2), iban, NOT_THERE] as const),
  ])('%s %s', async (country, iban, expected) => {
    const [own, other] = await banks([
      { country, currency: 'EUR', iban },
      { country: country === 'TR' ? 'DE' : 'TR', currency: 'EUR', iban },
    ]);
    const payments = [own, other].flatMap((bank) => BY_IBAN.map((scheme) => payment('EUR', scheme, bank)));
    expect(await inBatch(payments)).toEqual(Array(payments.length).fill(expected));
  });
});

describe('the bank account that a scheme can pay to', () => {
  const sterling = {
    currency: 'GBP',
    country: 'GB',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };
  const iban = 'GB29NWBK60161331926819';
  const bic = { bic: 'NWBKGB2L' };
  const local = { bic: 'NWBKGB2L', 'sort-code': '601613' };
  const island = (country: string, more: Json) => ({ currency: 'GBP', country, routingCodes: bic, ...more });

  test.each<[string, Json, Json, Json]>([
    ['sort code and account number', sterling, 'accepted', NOT_THERE],
    ['and a BIC', { ...sterling, routingCodes: local }, 'accepted', 'accepted'],
    ['a British IBAN only', { currency: 'GBP', country: 'GB', iban }, 'accepted', NOT_THERE],
    ['a British IBAN and its BIC', { currency: 'GBP', country: 'GB', iban, routingCodes: bic }, 'accepted', 'accepted'],
    ['Guernsey, a British IBAN', island('GG', { iban }), 'accepted', 'accepted'],
    ['Jersey, a British IBAN', island('JE', { iban }), 'accepted', 'accepted'],
    [
      'the Isle of Man, sort code and number',
      island('IM', { accountNumber: '31926819', routingCodes: local }),
      'accepted',
      'accepted',
    ],
    ['Jersey, a number without a sort code', island('JE', { accountNumber: '31926819' }), NOT_THERE, 'accepted'],
    [
      'Jersey, a sort code without a number',
      island('JE', { iban: 'DE89370400440532013000', routingCodes: local }),
      NOT_THERE,
      'accepted',
    ],
    ['Jersey, a German IBAN', island('JE', { iban: 'DE89370400440532013000' }), NOT_THERE, 'accepted'],
    ['sterling in Germany, a British IBAN', island('DE', { iban }), NOT_CARRIED, 'accepted'],
    ['sterling in America', island('US', { accountNumber: '31926819' }), NOT_CARRIED, 'accepted'],
  ])('in sterling: %s', async (_, details, local, swift) => {
    const [bank] = await banks([details]);
    const schemes = ['faster-payments', 'chaps', 'swift'];
    expect(await outcomes(schemes.map((scheme) => payment('GBP', scheme, bank)))).toEqual([local, local, swift]);
  });

  test('by swift, a BIC in every currency', async () => {
    const euro = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
    const [without, having, dollars, francs] = await banks([
      euro,
      { ...euro, routingCodes: { bic: 'COBADEFF' } },
      { country: 'US', currency: 'USD', accountNumber: '1234567', routingCodes: { bic: 'CHASUS33' } },
      { country: 'CH', currency: 'CHF', iban: 'CH9300762011623852957', routingCodes: { bic: 'UBSWCHZH' } },
    ]);
    const payments = [
      payment('EUR', 'swift', without),
      payment('EUR', 'swift', having),
      payment('USD', 'swift', dollars),
      payment('CHF', 'swift', francs),
    ];
    expect(await outcomes(payments)).toEqual([NOT_THERE, 'accepted', 'accepted', 'accepted']);
  });
});

describe('specification 4.8: schemes from an account to a country', () => {
  const schemesTo = async (accountId: string | undefined, country: string): Promise<ApiResponse> =>
    api.call('GET', `/accounts/${accountId}/outgoing-transfer-schemes/${country}`);
  const STERLING = ['faster-payments', 'chaps', 'swift'];
  const EURO = ['sepa', 'sepa-instant', 'target2', 'swift'];

  test.each<[string, string, readonly string[]]>([
    ['GBP', 'GB', STERLING],
    ['GBP', 'GG', STERLING],
    ['GBP', 'IM', STERLING],
    ['GBP', 'JE', STERLING],
    ['GBP', 'GI', ['swift']],
    ['GBP', 'DE', ['swift']],
    ['builtIn', 'GB', STERLING],
    ['builtIn', 'US', ['swift']],
    ...[...IBANS_IN_AREA.map((iban) => iban.slice(0, 2)), ...Object.keys(TERRITORIES)].map(
      (country) => ['EUR', country, EURO] as [string, string, readonly string[]],
    ),
    ...IBANS_ELSEWHERE.map((iban) => ['EUR', iban.slice(0, 2), ['swift']] as [string, string, readonly string[]]),
    ['EUR', 'US', ['swift']],
    ['USD', 'US', ['swift']],
    ['USD', 'DE', ['swift']],
    ['CHF', 'CH', ['swift']],
  ])('%s to %s', async (account, country, expected) => {
    const { status, body } = await schemesTo(accounts[account], country);
    expect([status, body.data]).toEqual([200, { transferSchemes: expected }]);
  });

  test('are those that creation accepts for a bank account there', async () => {
    const codes = ['faster-payments', 'chaps', 'sepa', 'sepa-instant', 'target2', 'swift'];
    const routingCodes = { bic: 'NWBKGB2L', 'sort-code': '601613' };
    const places = [
      ...['GB', 'GG', 'IM', 'JE', 'GI', 'DE', 'US'].map((country) => ({
        currency: 'GBP',
        country,
        accountNumber: '31926819',
        routingCodes,
      })),
      ...[...IBANS_IN_AREA, ...IBANS_ELSEWHERE].map((iban) => ({
        currency: 'EUR',
        country: iban.slice(0, 2),
        iban,
        routingCodes: { bic: 'NWBKGB2L' },
      })),
      ...Object.entries(TERRITORIES).map(([country, iban]) => ({
        currency: 'EUR',
        country,
        iban,
        routingCodes: { bic: 'NWBKGB2L' },
      })),
    ];
    const ids = await banks(places);
    const results = await inBatch(
      places.flatMap(({ currency }, index) =>
        codes.map((scheme) => payment(currency, scheme, ids[index], { transferCustomReason: 'Goods' })),
      ),
    );
    for (const [index, { currency, country }] of places.entries()) {
      const { transferSchemes } = (await schemesTo(accounts[currency], country)).body.data;
      const accepted = codes.filter((_, place) => results[index * codes.length + place] === 'accepted');
      expect(accepted.sort(), `${currency} to ${country}`).toEqual([...transferSchemes].sort());
    }
  });

  test('of an unknown account 404, to no country 400', async () => {
    expect((await schemesTo(randomUUID(), 'GB')).body.code).toBe('common.coding.internal.record_not_found');
    const answer = await schemesTo(accounts.GBP, 'UK');
    expect([answer.status, answer.body.messageParameters[1]]).toEqual([400, 'destinationCountry']);
  });
});

describe('the limit of a scheme in a currency', () => {
  const sterling = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' },
  };
  const euro = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000', routingCodes: { bic: 'COBADEFF' } };
  const ABOVE = ['transfer.amount.limit_exceeded', 'amount'];

  test.each([
    ['faster-payments', 'GBP', 1_000_000, 1_000_000.01],
    ['sepa', 'EUR', 999_999_999.99, 1_000_000_000],
  ])('%s in %s: %d, not %d', async (scheme, currency, most, more) => {
    const [bank] = await banks([currency === 'GBP' ? sterling : euro]);
    const payments = [most, more].map((amount) => payment(currency, scheme, bank, { amount }));
    expect(await outcomes(payments)).toEqual(['accepted', ABOVE]);
  });

  test.each([
    ['chaps', 'GBP'],
    ['swift', 'GBP'],
    ['sepa-instant', 'EUR'],
    ['target2', 'EUR'],
    ['swift', 'EUR'],
  ])('%s in %s: none', async (scheme, currency) => {
    const [bank] = await banks([currency === 'GBP' ? sterling : euro]);
    expect(await outcomes([payment(currency, scheme, bank, { amount: 9_999_999_999_999.99 })])).toEqual(['accepted']);
  });

  test('is the configuration’s, of that currency only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'limits-'));
    const file = join(folder, 'limits.json');
    writeFileSync(file, JSON.stringify({ schemes: { swift: { amountLimits: { GBP: '50', JPY: '1000' } } } }));
    const limited = await start({ CONFIG_FILE: file }, api.users);
    rmSync(folder, { recursive: true });
    const [inSterling, inEuros, inYen] = await banks([
      sterling,
      euro,
      { country: 'JP', currency: 'JPY', accountNumber: '1234567', routingCodes: { bic: 'BOTKJPJT' } },
    ]);
    const rows = [
      ['GBP', inSterling, 50, 200],
      ['GBP', inSterling, 50.01, 422],
      ['EUR', inEuros, 50.01, 200],
      ['JPY', inYen, 1_000, 200],
      ['JPY', inYen, 1_001, 422],
    ] as const;
    for (const [currency, bank, amount, expected] of rows) {
      const { status, body } = await dryRun(payment(currency, 'swift', bank, { amount }), limited);
      expect([currency, amount, status, body.code]).toEqual([
        currency,
        amount,
        expected,
        expected === 200 ? undefined : ABOVE[0],
      ]);
      if (expected === 200) continue;
      expect(body.messageParameters).toEqual(['outgoingTransfer', 'amount', String(amount)]);
      expect(body.message).toBe(`swift supports amounts up to ${currency === 'GBP' ? 50 : 1_000} ${currency}.`);
    }
    await limited.stop();
  });
});

describe('specification 4.8: reasons', () => {
  const COUNTS = { AE: 8, BH: 4, CN: 5, IN: 10, JO: 4, KR: 5, MY: 5, PH: 4, GB: 0, DE: 0, US: 0 };

  test.each(Object.entries(COUNTS))('to %s: %d, of an account and, deprecated, without one', async (country, count) => {
    const { body } = await api.call('GET', `/accounts/${accounts.GBP}/transfer-reasons/${country}`);
    expect(body.data.transferReasons).toHaveLength(count);
    for (const reason of body.data.transferReasons) expect(Object.keys(reason).sort()).toEqual(['description', 'id']);
    const deprecated = await api.call('GET', `/transfer-reasons/${country}`);
    expect(deprecated.body.data).toEqual(body.data);
    expect(deprecated.headers.get('deprecation')).not.toBeNull();
    const routingCodes = { bic: 'NWBKGB2L' };
    const [there, elsewhere] = await banks([
      { country, currency: 'KWD', accountNumber: '1234567', routingCodes },
      { country: 'SG', currency: 'KWD', accountNumber: '1234567', routingCodes },
    ]);
    const code = async (bank: string | undefined, change: Json) =>
      (await dryRun(payment('KWD', 'swift', bank, change))).body.code ?? 'accepted';
    for (const { id } of body.data.transferReasons) {
      expect(await code(there, { transferReasonId: id })).toBe('accepted');
      expect(await code(elsewhere, { transferReasonId: id })).toBe('common.coding.internal.record_not_found');
    }
    expect(await code(there, {})).toBe(count === 0 ? 'accepted' : 'common.validation.field_required');
    expect(await code(there, { transferCustomReason: 'A gift' })).toBe('accepted');
  });

  test('of an unknown account 404, to no country 400', async () => {
    const unknown = await api.call('GET', `/accounts/${randomUUID()}/transfer-reasons/CN`);
    expect(unknown.body.code).toBe('common.coding.internal.record_not_found');
    for (const path of [`/accounts/${accounts.GBP}/transfer-reasons/cn`, '/transfer-reasons/ZZ']) {
      const answer = await api.call('GET', path);
      expect([answer.status, answer.body.messageParameters[1]]).toEqual([400, 'country']);
    }
  });
});

describe('specification 4.8: date metadata', () => {
  const metadata = (account: string | undefined, scope: string, scheme: string) =>
    api.call('GET', `/accounts/${account}/outgoing-transfer-date-metadata/${scope}/${scheme}`);
  const sterling = {
    country: 'GB',
    currency: 'GBP',
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' },
  };
  const euro = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000', routingCodes: { bic: 'COBADEFF' } };
  const dollar = { country: 'US', currency: 'USD', accountNumber: '1234567', routingCodes: { bic: 'CHASUS33' } };
  const franc = { country: 'CH', currency: 'CHF', iban: 'CH9300762011623852957', routingCodes: { bic: 'UBSWCHZH' } };

  test.each<[string, string, Json, string, string | null, number]>([
    ['GBP', 'faster-payments', sterling, '2027-06-16', null, 0],
    ['GBP', 'chaps', sterling, '2027-06-16', '2027-06-16T16:00:00', 112],
    ['GBP', 'swift', sterling, '2027-06-16', '2027-06-16T10:00:00', 112],
    ['EUR', 'sepa', euro, '2027-06-16', '2027-06-16T14:00:00', 107],
    ['EUR', 'sepa-instant', euro, '2027-06-16', null, 0],
    ['EUR', 'target2', euro, '2027-06-16', '2027-06-16T15:00:00', 107],
    ['EUR', 'swift', euro, '2027-06-16', '2027-06-16T13:30:00', 112],
    ['USD', 'swift', dollar, '2027-06-16', '2027-06-16T16:00:00', 119],
    ['CHF', 'swift', franc, '2027-06-16', '2027-06-16T10:00:00', 112],
  ])('%s by %s are those of a transfer created now', async (currency, scheme, details, date, cutOff, closed) => {
    const { body } = await metadata(accounts[currency], 'external', scheme);
    const { nextAvailableDate, nextCutoffDateTime, unavailableDates } = body.data;
    expect([nextAvailableDate, nextCutoffDateTime]).toEqual([date, cutOff]);
    const [bank] = await banks([details]);
    const planned = async (transferDate?: string) =>
      (await dryRun(payment(currency, scheme, bank, { transferDate }))).body.data.outgoingTransfer;
    const { transferDate, cutOffDateTime, rollCount } = await planned();
    expect([transferDate, cutOffDateTime, rollCount]).toEqual([date, cutOff, 0]);
    for (const unavailable of unavailableDates.slice(0, 12)) {
      const rolled = await planned(unavailable);
      expect(rolled).toMatchObject({ originalTransferDate: unavailable, rollCount: 1 });
      expect(unavailableDates).not.toContain(rolled.transferDate);
    }
    expect(unavailableDates).toHaveLength(closed);
  });

  test('inside: today, at any time', async () => {
    const { body } = await metadata(accounts.GBP, 'internal', 'internal');
    expect(body.data).toEqual({ nextAvailableDate: '2027-06-16', nextCutoffDateTime: null, unavailableDates: [] });
  });

  test.each<[string, string, string, number, string]>([
    ['GBP', 'internal', 'chaps', 400, 'common.validation.field_invalid'],
    ['GBP', 'external', 'internal', 400, 'common.validation.field_invalid'],
    ['GBP', 'local', 'chaps', 400, 'common.validation.field_invalid'],
    ['GBP', 'external', 'CHAPS', 400, 'common.validation.field_invalid'],
    ['GBP', 'external', 'sepa', 422, 'transfer.scheme.unavailable'],
    ['EUR', 'external', 'chaps', 422, 'transfer.scheme.unavailable'],
    ['USD', 'external', 'target2', 422, 'transfer.scheme.unavailable'],
    ['GBP', 'external', 'pigeon', 422, 'transfer.scheme.unavailable'],
    ['unknown', 'external', 'chaps', 404, 'common.coding.internal.record_not_found'],
  ])('%s %s/%s: %d', async (account, scope, scheme, status, code) => {
    const answer = await metadata(accounts[account] ?? randomUUID(), scope, scheme);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

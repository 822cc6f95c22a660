import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

// The rows of specification 2.8 and 2.9, and of 4.9 as far as it concerns POST /outgoing-transfers.

/** The service's clock: a Wednesday, eleven o'clock in Brussels and ten in London, before the cut-offs of all but four currencies. */
const MORNING = '2027-06-16T09:00:00Z';
const TODAY = '2027-06-16';
const GOODS = '22a44cc8-b2c6-555a-87be-ad49f61e0340';
const SERVICES = '392b51a2-4e13-5e6e-b107-85fc02c9ec48';
const OTHER = '560252ff-9115-5899-8638-18cefc1934fe';

type Currency = 'GBP' | 'EUR' | 'USD' | 'CAD' | 'AUD' | 'CNY' | 'KRW' | 'JPY' | 'KWD';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let payee: string;
const accounts = new Map<Currency, string>();
const bankAccounts = new Map<Currency, string>();
let destination: string;

/** What each currency is for; all others need neither an authorization nor a review. */
const RULES = {
  authorization: {
    rule: 'never',
    byCurrency: { USD: 'always', AUD: 'always', EUR: { fromTenThousandths: 5_000_000n } },
  },
  compliance: {
    incoming: { rule: 'none', byCurrency: {} },
    outgoing: { rule: 'none', byCurrency: { CAD: 'external', AUD: 'external' } },
  },
  // A fixed part and one in a hundred, from 1.00 to 20.00 for the latter, of payments in dollars by swift only.
  prices: [
    {
      direction: 'outgoing',
      scheme: 'swift',
      currency: 'USD',
      fixedMinor: 250n,
      pricing: { ratio: { numerator: 1n, denominator: 100n }, minimumMinor: 100n, maximumMinor: 2_000n },
    },
  ],
} as const;

const BANKS: Readonly<Record<Currency, Json>> = {
  GBP: { country: 'GB', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
  EUR: { country: 'DE', iban: 'DE89370400440532013000' },
  USD: { country: 'US', accountNumber: '1234567', routingCodes: { bic: 'CHASUS33' } },
  CAD: { country: 'CA', accountNumber: '1234567', routingCodes: { bic: 'ROYCCAT2' } },
  AUD: { country: 'AU', accountNumber: '1234567', routingCodes: { bic: 'CTBAAU2S' } },
  CNY: { country: 'CN', accountNumber: '6222021234567', routingCodes: { bic: 'ICBKCNBJ' } },
  KRW: { country: 'KR', accountNumber: '110123456789', routingCodes: { bic: 'SHBKKRSE' } },
  JPY: { country: 'JP', accountNumber: '1234567', routingCodes: { bic: 'BOTKJPJT' } },
  KWD: { country: 'KW', accountNumber: '1234567', routingCodes: { bic: 'NBOKKWKW' } },
};
const CURRENCIES: readonly Currency[] = ['GBP', 'EUR', 'USD', 'CAD', 'AUD', 'CNY', 'KRW', 'JPY', 'KWD'];
/** What the account of each currency holds. */
const MONEY = 1_000;

/** The transfers of 2.8: as their creation answers them, and as they are read then. */
const made: Record<string, { posted: Json; read: Json }> = {};

beforeAll(async () => {
  database = await createTestDatabase('creation-tables');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(MORNING) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, ...RULES }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  payee = await world.client('Grace');
  for (const currency of CURRENCIES) {
    accounts.set(currency, await world.account(payer, { currency, amount: MONEY }));
    bankAccounts.set(currency, await world.beneficiary(payer, { currency, ...BANKS[currency] }));
  }
  destination = await world.account(payee);
  await makeTransfers();
});

afterAll(async () => {
  await world.invariantsHold();
  await api.stop();
  await database.drop();
});

function internal(change: Json = {}): Json {
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'internal',
    source: { type: 'client-account', accountId: accounts.get('GBP') },
    destination: { type: 'client-account', accountId: destination },
    ...change,
  };
}

const SCHEME: Partial<Record<Currency, string>> = { GBP: 'faster-payments', EUR: 'sepa-instant' };

function external(currency: Currency, change: Json = {}): Json {
  return {
    clientId: payer,
    currency,
    amount: 10,
    scope: 'external',
    scheme: SCHEME[currency] ?? 'swift',
    source: { type: 'client-account', accountId: accounts.get(currency) },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccounts.get(currency) },
    ...change,
  };
}

function send(outgoingTransfer: Json, workflow: Json = {}, pricing?: Json): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct', ...workflow }, data: { outgoingTransfer, pricing } };
  return api.call('POST', '/outgoing-transfers', body);
}

function dryRun(outgoingTransfer: Json, workflow: Json = {}, pricing?: Json): Promise<ApiResponse> {
  return send(outgoingTransfer, { dryRun: true, ...workflow }, pricing);
}

/** The code and the field of every problem that an answer names. */
function problems({ status, body }: Pick<ApiResponse, 'status' | 'body'>): Json {
  const all = [body, ...(body.errors ?? [])];
  return [status, ...all.map(({ code, messageParameters }: Json) => [code, messageParameters[1]])];
}

const TRADE = {
  'trade-order-id': 'PO-1',
  'trade-time': '15/06/2027',
  'trade-currency': 'CNY',
  'trade-amount': '10.00',
  'trade-name': 'Bearings',
  'trade-count': '3',
};
const GOODS_TRADE = { ...TRADE, 'goods-carrier': 'Cargo Ltd' };
const SERVICE_TRADE = {
  ...TRADE,
  'trade-name': 'Software development',
  'service-detail': 'A website',
  'service-time': 'June',
};

async function makeTransfers(): Promise<void> {
  const ratio = { type: 'ratio', ratio: '0.01' };
  const explicit = { pricing: { sourcingMethod: 'explicit' } };
  const sent: Record<string, Promise<ApiResponse>> = {
    internal: send(
      internal({ amount: 12.5, description: 'Rent', transferCustomReason: 'Rent of June' }),
      explicit,
      ratio,
    ),
    rolled: send(external('GBP', { scheme: 'chaps', transferDate: '2027-06-19', amount: 7 })),
    traded: send(
      external('CNY', { amount: 20, transferReasonId: GOODS, schemeAttributes: GOODS_TRADE, description: 'Order 1' }),
      explicit,
      ratio,
    ),
  };
  for (const [name, answer] of Object.entries(sent)) {
    const { status, body, text } = await answer;
    expect(status, text).toBe(201);
    const posted = body.data.outgoingTransfer;
    const read = (await api.call('GET', `/outgoing-transfers/${posted.id}`)).body.data.outgoingTransfer;
    made[name] = { posted, read };
  }
}

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const clientAccount = (accountId: unknown) => ({ type: 'client-account', accountId });
const starting = {
  transferDateStatus: 'not-checked',
  complianceCheckStatus: 'not-required',
  balanceCheckStatus: 'not-checked',
  authorizationStatus: 'not-required',
};
const met = { ...starting, transferDateStatus: 'fulfilled', balanceCheckStatus: 'fulfilled' };

/** Of each field of 2.8: what the three transfers show, and where reading differs from creating, what it shows then. */
type Shown = readonly [internal: () => Json, rolled: () => Json, traded: () => Json];
const all = (value: Json): Shown => [() => value, () => value, () => value];
const three = (...values: readonly [Json, Json, Json]): Shown => [() => values[0], () => values[1], () => values[2]];
const FIELDS: Readonly<Record<string, Shown | readonly [posted: Shown, read: Shown]>> = {
  id: all(UUID),
  transactionNumber: all(expect.stringMatching(/^20270616-[0-9A-Z]{6}$/)),
  paymentReference: all(expect.stringMatching(/^[0-9a-f]{32}$/)),
  clientId: [() => payer, () => payer, () => payer],
  transferDate: three(TODAY, '2027-06-21', TODAY),
  originalTransferDate: three(TODAY, '2027-06-19', TODAY),
  rollCount: three(0, 1, 0),
  cutOffDateTime: three(null, '2027-06-21T16:00:00', '2027-06-16T10:00:00'),
  status: [all('pending'), three('completed', 'pending', 'processing')],
  currency: three('GBP', 'GBP', 'CNY'),
  amount: three(12.5, 7, 20),
  feeCurrency: three('GBP', 'GBP', 'CNY'),
  feeAmount: three(0.13, 0, 0.2),
  totalAmount: three(12.63, 7, 20.2),
  description: three('Rent', null, 'Order 1'),
  transferReasonId: three(null, null, GOODS),
  transferCustomReason: three('Rent of June', null, null),
  scope: three('internal', 'external', 'external'),
  scheme: three(null, 'chaps', 'swift'),
  ownerType: all('client'),
  returned: all(false),
  incomingTransferId: three(UUID, null, null),
  source: [
    () => clientAccount(accounts.get('GBP')),
    () => clientAccount(accounts.get('GBP')),
    () => clientAccount(accounts.get('CNY')),
  ],
  destination: [() => clientAccount(destination), () => bankDestination('GBP'), () => bankDestination('CNY')],
  beneficiary: [
    all(undefined),
    [
      () =>
        expect.objectContaining({
          fullName: 'Grace Lovelace',
          identity: expect.objectContaining({ type: 'individual' }),
        }),
      () =>
        company({ accountNumber: '31926819', routingCodes: { 'sort-code': '601613' }, country: 'GB', currency: 'GBP' }),
      () =>
        company({ accountNumber: '6222021234567', routingCodes: { bic: 'ICBKCNBJ' }, country: 'CN', currency: 'CNY' }),
    ],
  ],
  requirementConfiguration: [all(starting), three(met, starting, met)],
  serviceProviderId: all(null),
  serviceProviderReference: all(null),
  // The service's own additions, which say what holds when it is read.
  waitingFor: [all(undefined), three(null, 'next-window', 'caller')],
  returningIncomingTransferIds: [all(undefined), all([])],
  returnedIncomingTransferId: [all(undefined), all(null)],
  returnReason: [all(undefined), all(null)],
  statusReason: all(null),
  // Create-only.
  schemeAttributes: all(undefined),
  pricing: all(undefined),
};

function bankDestination(currency: Currency): Json {
  const beneficiaryBankAccountId = bankAccounts.get(currency);
  return { type: 'beneficiary-bank-account', beneficiaryBankAccountId, beneficiaryId: UUID };
}

function company(account: Json): Json {
  const identity = expect.objectContaining({ type: 'corporate', legalName: 'Brook Lane Bakery Ltd' });
  const shown = expect.objectContaining({
    accountHolderName: 'Brook Lane Bakery Ltd',
    ledgerNumber: null,
    iban: null,
    ...account,
  });
  return { fullName: 'Brook Lane Bakery Ltd', identity, address: null, title: null, account: shown };
}

describe('specification 2.8: a field of an outgoing transfer, as created and as read', () => {
  const names = ['internal', 'rolled', 'traded'] as const;
  const rows = Object.entries(FIELDS).flatMap(([field, shown]) => {
    const [posted, read] = shown.length === 2 ? shown : [shown, shown];
    return names.map((name, place) => ({ field, name, posted: posted[place], read: read[place] }));
  });

  test.each(rows)('$field of the $name one', ({ field, name, posted, read }) => {
    expect(made[name]?.posted[field]).toEqual(posted?.());
    expect(made[name]?.read[field]).toEqual(read?.());
  });

  test('and shows no other field', () => {
    const known = Object.keys(FIELDS);
    for (const { posted, read } of Object.values(made)) {
      expect([...Object.keys(posted), ...Object.keys(read)].filter((field) => !known.includes(field))).toEqual([]);
    }
  });
});

describe('specification 2.8: a field that the service decides cannot be sent', () => {
  test.each([
    ['id', UUID],
    ['transactionNumber', '20270616-ABCDEF'],
    ['paymentReference', '0'.repeat(32)],
    ['originalTransferDate', TODAY],
    ['rollCount', 0],
    ['cutOffDateTime', '2027-06-16T10:00:00'],
    ['status', 'pending'],
    ['feeCurrency', 'GBP'],
    ['feeAmount', 1],
    ['totalAmount', 11],
    ['ownerType', 'client'],
    ['returned', false],
    ['incomingTransferId', GOODS],
    ['beneficiary', {}],
    ['requirementConfiguration', {}],
    ['serviceProviderId', 'x'],
    ['serviceProviderReference', 'x'],
    ['statusReason', { code: 'x' }],
    ['pricing', {}],
  ])('%s', async (field, value) => {
    const sent = field === 'id' ? GOODS : value;
    const rejected = [400, ['common.validation.field_unexpected', field]];
    expect(problems(await send(internal({ [field]: sent })))).toEqual(rejected);
  });
});

describe('specification 4.9: what must be sent', () => {
  const required: readonly (readonly [string, () => Json])[] = [
    ['clientId', () => internal({ clientId: null })],
    ['currency', () => internal({ currency: null })],
    ['amount', () => internal({ amount: null })],
    ['scope', () => internal({ scope: null })],
    ['source', () => internal({ source: null })],
    ['source.type', () => internal({ source: { accountId: accounts.get('GBP') } })],
    ['source.accountId', () => internal({ source: { type: 'client-account' } })],
    ['destination', () => internal({ destination: null })],
    ['destination.accountId', () => internal({ destination: { type: 'client-account' } })],
    [
      'destination.beneficiaryBankAccountId',
      () => external('GBP', { destination: { type: 'beneficiary-bank-account' } }),
    ],
    ['scheme', () => external('GBP', { scheme: null })],
    ['transferReasonId', () => external('CNY', { schemeAttributes: TRADE })],
  ];
  test.each(required)('%s', async (field, transfer) => {
    expect(problems(await send(transfer()))).toEqual([400, ['common.validation.field_required', field]]);
  });

  test.each(['transferDate', 'scheme', 'description', 'transferReasonId', 'transferCustomReason', 'schemeAttributes'])(
    '%s may be absent or null',
    async (field) => {
      expect((await dryRun(internal({ [field]: null }))).status).toBe(200);
      expect((await dryRun(internal({ [field]: undefined }))).status).toBe(200);
    },
  );
});

describe('specification 4.9: values that no transfer has', () => {
  const invalid: readonly (readonly [string, () => Json, Json])[] = [
    ['a client that is no UUID', () => internal({ clientId: '1' }), ['common.validation.field_invalid', 'clientId']],
    [
      'a date that is none',
      () => internal({ transferDate: '2027-06-31' }),
      ['common.validation.field_invalid', 'transferDate'],
    ],
    ['a currency that is none', () => internal({ currency: 'XXX' }), ['common.validation.field_invalid', 'currency']],
    ['an amount in words', () => internal({ amount: '10' }), ['common.validation.field_invalid', 'amount']],
    ['a negative amount', () => internal({ amount: -1 }), ['common.validation.field_invalid', 'amount']],
    ['an amount of zero', () => internal({ amount: 0 }), ['common.validation.field_invalid', 'amount']],
    [
      '10^15 minor units',
      () => internal({ amount: 10_000_000_000_000 }),
      ['common.validation.field_invalid', 'amount'],
    ],
    ['a third decimal of sterling', () => internal({ amount: 1.005 }), ['common.validation.field_invalid', 'amount']],
    ['a decimal of yen', () => external('JPY', { amount: 1.5 }), ['common.validation.field_invalid', 'amount']],
    [
      'a fourth decimal of dinars',
      () => external('KWD', { amount: 1.0005 }),
      ['common.validation.field_invalid', 'amount'],
    ],
    ['an unknown scope', () => internal({ scope: 'local' }), ['common.validation.field_invalid', 'scope']],
    [
      'a scheme in words',
      () => external('GBP', { scheme: 'Faster Payments' }),
      ['common.validation.field_invalid', 'scheme'],
    ],
    ['a scheme of an internal one', () => internal({ scheme: 'chaps' }), ['common.validation.field_invalid', 'scheme']],
    [
      '141 characters',
      () => internal({ description: 'x'.repeat(141) }),
      ['common.validation.field_invalid', 'description'],
    ],
    [
      'a reason that is no UUID',
      () => internal({ transferReasonId: 'x' }),
      ['common.validation.field_invalid', 'transferReasonId'],
    ],
    [
      'another source',
      () => internal({ source: { type: 'card', accountId: accounts.get('GBP') } }),
      ['common.validation.field_invalid', 'source.type'],
    ],
    [
      'a bank account inside',
      () =>
        internal({
          destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccounts.get('GBP') },
        }),
      ['common.validation.field_invalid', 'destination'],
    ],
    [
      'a client account outside',
      () => external('GBP', { destination: { type: 'client-account', accountId: destination } }),
      ['common.validation.field_invalid', 'destination'],
    ],
    [
      'the source itself',
      () => internal({ destination: clientAccount(accounts.get('GBP')) }),
      ['common.validation.field_invalid', 'destination'],
    ],
    [
      'attributes of an internal one',
      () => internal({ schemeAttributes: { 'trade-order-id': '1' } }),
      ['common.validation.field_invalid', 'schemeAttributes'],
    ],
    [
      'an attribute that is no text',
      () => external('GBP', { schemeAttributes: { a: 1 } }),
      ['common.validation.field_invalid', 'schemeAttributes.a'],
    ],
  ];
  test.each(invalid)('%s', async (_, transfer, problem) => {
    expect(problems(await send(transfer()))).toEqual([400, problem]);
  });

  test('all of them are named at once, and before anything is looked up', async () => {
    const answer = await send(internal({ clientId: GOODS, amount: -1, scope: 'local', source: { type: 'card' } }));
    const named = problems(answer)
      .slice(1)
      .map(([, field]: Json) => field);
    expect([answer.status, ...named.sort()]).toEqual([400, 'amount', 'scope', 'source.accountId', 'source.type']);
  });

  test.each([
    ['JPY', 15, 15],
    ['KWD', 1.005, 1.005],
    ['GBP', 1.1, 1.1],
  ] as const)('%s %d is one of them not', async (currency, amount, shown) => {
    const { body } = await dryRun(external(currency, { amount }));
    expect(body.data.outgoingTransfer.totalAmount).toBe(shown);
  });

  test.each([
    [{ code: 'client.transfer' }, 'common.workflow.unknown_code'],
    [{ dryRun: 'yes' }, 'common.validation.field_invalid'],
    [{ run: true }, 'common.validation.field_unexpected'],
  ])('workflow %j', async (workflow, code) => {
    expect((await send(internal(), workflow)).body.code).toBe(code);
  });
});

describe('specification 2.9: pricing', () => {
  const explicit = { sourcingMethod: 'explicit', enabled: true, chargingType: 'fee', chargingMethod: 'on-source' };
  const ratio = (value: Json, more: Json = {}) => ({ type: 'ratio', ratio: value, ...more });
  const bounds = { boundaryCurrency: 'GBP', minimumAmount: 0.5, maximumAmount: 5 };
  const wrong = (field: string) => ['common.validation.field_invalid', field];

  const fees: readonly (readonly [string, Json, Json, Json, number])[] = [
    ['explicit, with every field', { amount: 100 }, explicit, ratio('0.01', bounds), 1],
    ['sourcingMethod explicit only', { amount: 100 }, { sourcingMethod: 'explicit' }, ratio('0.01'), 1],
    ['enabled false', { amount: 100 }, { ...explicit, enabled: false }, undefined, 0],
    ['enabled false, with terms', { amount: 100 }, { ...explicit, enabled: false }, ratio('0.01', bounds), 0],
    ['a ratio of 0', { amount: 100 }, explicit, ratio('0'), 0],
    ['a ratio of 1', { amount: 100 }, explicit, ratio('1'), 100],
    ['ten decimals', { amount: 100 }, explicit, ratio('0.0123456789'), 1.23],
    ['half a minor unit, up', { amount: 0.5 }, explicit, ratio('0.01'), 0.01],
    ['less than half, down', { amount: 0.49 }, explicit, ratio('0.01'), 0],
    ['below the minimum', { amount: 1 }, explicit, ratio('0.01', bounds), 0.5],
    ['above the maximum', { amount: 900 }, explicit, ratio('0.01', bounds), 5],
    ['a minimum only', { amount: 1 }, explicit, ratio('0.01', { boundaryCurrency: 'GBP', minimumAmount: 0.5 }), 0.5],
    ['a maximum only', { amount: 900 }, explicit, ratio('0.01', { boundaryCurrency: 'GBP', maximumAmount: 5 }), 5],
    ['implicit', { amount: 100 }, { sourcingMethod: 'implicit' }, undefined, 0],
    ['no pricing at all', { amount: 100 }, undefined, undefined, 0],
  ];
  test.each(fees)('%s', async (_, transfer, pricing, terms, fee) => {
    const answer = await dryRun(internal(transfer), { pricing }, terms);
    expect(answer.status, answer.text).toBe(200);
    const { feeAmount, feeCurrency, amount, totalAmount } = answer.body.data.outgoingTransfer;
    expect([feeAmount, feeCurrency]).toEqual([fee, 'GBP']);
    expect(totalAmount).toBeCloseTo(amount + fee, 10);
  });

  // By the price table: 2.50 and one per cent, the latter from 1.00 to 20.00.
  test.each([
    ['its minimum', 10, 3.5],
    ['its ratio', 500, 7.5],
    ['its maximum', 5_000, 22.5],
  ])('implicit by the price table, %s', async (_, amount, fee) => {
    for (const pricing of [undefined, { sourcingMethod: 'implicit' }]) {
      const { body } = await dryRun(external('USD', { amount }), { pricing });
      expect(body.data.outgoingTransfer).toMatchObject({
        feeAmount: fee,
        feeCurrency: 'USD',
        totalAmount: amount + fee,
      });
    }
  });

  const rejected: readonly (readonly [string, Json, Json, Json])[] = [
    ['explicit without terms', explicit, undefined, ['common.validation.field_required', 'pricing']],
    [
      'implicit with terms',
      { sourcingMethod: 'implicit' },
      ratio('0.1'),
      ['common.validation.field_invalid', 'pricing'],
    ],
    ['terms only', undefined, ratio('0.1'), ['common.validation.field_invalid', 'pricing']],
    [
      'an unknown sourcing method',
      { sourcingMethod: 'free' },
      undefined,
      ['common.validation.field_invalid', 'pricing.sourcingMethod'],
    ],
    ['no sourcing method', {}, undefined, ['common.validation.field_required', 'pricing.sourcingMethod']],
    [
      'enabled in words',
      { ...explicit, enabled: 'yes' },
      ratio('0.1'),
      ['common.validation.field_invalid', 'pricing.enabled'],
    ],
    [
      'another charging type',
      { ...explicit, chargingType: 'spread' },
      ratio('0.1'),
      ['common.validation.field_invalid', 'pricing.chargingType'],
    ],
    [
      'another charging method',
      { ...explicit, chargingMethod: 'on-target' },
      ratio('0.1'),
      ['common.validation.field_invalid', 'pricing.chargingMethod'],
    ],
    [
      'enabled with implicit',
      { sourcingMethod: 'implicit', enabled: true },
      undefined,
      ['common.validation.field_unexpected', 'pricing.enabled'],
    ],
    [
      'a charging type with implicit',
      { sourcingMethod: 'implicit', chargingType: 'fee' },
      undefined,
      ['common.validation.field_unexpected', 'pricing.chargingType'],
    ],
    [
      'a charging method with implicit',
      { sourcingMethod: 'implicit', chargingMethod: 'on-source' },
      undefined,
      ['common.validation.field_unexpected', 'pricing.chargingMethod'],
    ],
    [
      'another field',
      { ...explicit, discount: 1 },
      ratio('0.1'),
      ['common.validation.field_unexpected', 'pricing.discount'],
    ],
    ['another type', explicit, { type: 'fixed', ratio: '0.1' }, ['common.validation.field_invalid', 'type']],
    ['no type', explicit, { ratio: '0.1' }, ['common.validation.field_required', 'type']],
    ['no ratio', explicit, { type: 'ratio' }, ['common.validation.field_required', 'ratio']],
    ['a ratio that is a number', explicit, ratio(0.1), ['common.validation.field_invalid', 'ratio']],
    ['a negative ratio', explicit, ratio('-0.1'), ['common.validation.field_invalid', 'ratio']],
    ['a ratio above 1', explicit, ratio('1.1'), ['common.validation.field_invalid', 'ratio']],
    ['a ratio with an exponent', explicit, ratio('1e-2'), ['common.validation.field_invalid', 'ratio']],
    [
      'bounds without their currency',
      explicit,
      ratio('0.1', { minimumAmount: 1 }),
      ['common.validation.field_required', 'boundaryCurrency'],
    ],
    [
      'bounds in another currency',
      explicit,
      ratio('0.1', { boundaryCurrency: 'EUR', minimumAmount: 1 }),
      ['common.validation.field_invalid', 'boundaryCurrency'],
    ],
    [
      'a bound in words',
      explicit,
      ratio('0.1', { boundaryCurrency: 'GBP', minimumAmount: '1' }),
      ['common.validation.field_invalid', 'minimumAmount'],
    ],
    [
      'a bound with a third decimal',
      explicit,
      ratio('0.1', { boundaryCurrency: 'GBP', maximumAmount: 1.005 }),
      ['common.validation.field_invalid', 'maximumAmount'],
    ],
    [
      'a minimum above the maximum',
      explicit,
      ratio('0.1', { ...bounds, minimumAmount: 6 }),
      ['common.validation.field_invalid', 'minimumAmount'],
    ],
  ];
  test.each(rejected)('%s is rejected', async (_, pricing, terms, problem) => {
    expect(problems(await send(internal(), { pricing }, terms))).toEqual([400, problem]);
  });

  const disabled = { sourcingMethod: 'explicit', enabled: false };
  const belongs = ['common.validation.field_invalid', 'pricing'];
  const amount = ['common.validation.field_invalid', 'amount'];
  test.each<[string, Json, Json, Json[]]>([
    ['terms only', undefined, ratio('0.1'), [amount, belongs]],
    [
      'implicit with terms that are wrong',
      { sourcingMethod: 'implicit' },
      ratio('x'),
      [amount, wrong('ratio'), belongs],
    ],
    ['explicit without terms', explicit, undefined, [amount, ['common.validation.field_required', 'pricing']]],
    [
      'terms that are wrong in several places',
      explicit,
      ratio('2', { boundaryCurrency: 'EUR', minimumAmount: -1, maximumAmount: 0.001 }),
      [amount, wrong('ratio'), wrong('minimumAmount'), wrong('maximumAmount'), wrong('boundaryCurrency')],
    ],
    ['terms that are wrong though they do not apply', disabled, ratio('abc'), [amount, wrong('ratio')]],
    [
      'bounds that are wrong though they do not apply',
      disabled,
      ratio('0.1', { ...bounds, minimumAmount: 6 }),
      [amount, wrong('minimumAmount')],
    ],
  ])('%s: rejected together with what else is wrong, singly and in a batch', async (_, pricing, terms, named) => {
    const transfer = internal({ amount: -1 });
    expect(problems(await send(transfer, { pricing }, terms))).toEqual([400, ...named]);
    const items = [{ reference: 'one', outgoingTransfer: transfer, pricing: terms }];
    const body = { workflow: { code: 'client.direct', pricing }, data: { items } };
    const [result] = (await api.call('POST', '/outgoing-transfers/batch', body)).body.data.results;
    expect(problems({ status: 400, body: result.error })).toEqual([400, ...named]);
  });
});

describe('specification 4.9: scheme attributes', () => {
  const chinese = (reason: string, schemeAttributes: Json) =>
    external('CNY', { transferReasonId: reason, schemeAttributes });
  const korean = (schemeAttributes: Json) =>
    external('KRW', { transferReasonId: '5d3f2020-3039-5525-9826-9e4191cbc891', schemeAttributes });
  const without = (attributes: Json, key: string) =>
    Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== key));
  const rejected = (...keys: readonly string[]) => [
    400,
    ...keys.map((key) => ['transfer.attribute.invalid', `schemeAttributes.${key}`]),
  ];

  const needed: readonly (readonly [string, string, () => Json])[] = [
    ...Object.keys(GOODS_TRADE).map(
      (key) => [key, 'trade in goods', () => chinese(GOODS, without(GOODS_TRADE, key))] as const,
    ),
    ...Object.keys(SERVICE_TRADE).map(
      (key) => [key, 'trade in services', () => chinese(SERVICES, without(SERVICE_TRADE, key))] as const,
    ),
    ...Object.keys(TRADE).map((key) => [key, 'any other reason', () => chinese(OTHER, without(TRADE, key))] as const),
    ['sender-account-number', 'won', () => korean({})],
  ];
  test.each(needed)('%s is required for %s', async (key, _, transfer) => {
    expect(problems(await dryRun(transfer()))).toEqual(rejected(key));
  });

  const valid: readonly (readonly [string, string, string])[] = [
    ['trade-order-id', 'x'.repeat(32), 'x'.repeat(33)],
    ['trade-time', '29/02/2028', '29/02/2027'],
    ['trade-time', '01/12/2027', '2027-12-01'],
    ['trade-currency', 'USD', 'USDT'],
    ['trade-currency', 'EUR', 'eur'],
    ['trade-amount', '0.50', '0.5'],
    ['trade-amount', '1000000.00', '1,000,000.00'],
    ['trade-name', 'x'.repeat(128), ''],
    ['trade-count', '12', 'a dozen'],
    ['trade-count', '1', '-1'],
    ['goods-carrier', 'x'.repeat(64), 'x'.repeat(65)],
  ];
  test.each(valid)('%s may be %j and not %j', async (key, good, bad) => {
    const accepted = await dryRun(chinese(GOODS, { ...GOODS_TRADE, [key]: good }));
    expect(accepted.status, accepted.text).toBe(200);
    const answer = await dryRun(chinese(GOODS, { ...GOODS_TRADE, [key]: bad }));
    expect([answer.status, answer.body.messageParameters[1]]).toEqual([400, `schemeAttributes.${key}`]);
  });

  test.each([
    ['service-detail', 'x'.repeat(128), 'x'.repeat(129)],
    ['service-time', 'x'.repeat(64), 'x'.repeat(65)],
    ['trade-name', 'Software development', 'Bearings'],
  ])('%s of a service may be %j and not %j', async (key, good, bad) => {
    expect((await dryRun(chinese(SERVICES, { ...SERVICE_TRADE, [key]: good }))).status).toBe(200);
    const answer = await dryRun(chinese(SERVICES, { ...SERVICE_TRADE, [key]: bad }));
    expect([answer.status, answer.body.messageParameters[1]]).toEqual([400, `schemeAttributes.${key}`]);
  });

  test.each([
    ['too long for it', 'x'.repeat(33)],
    ['too long for any', 'x'.repeat(129)],
    ['far too long', 'x'.repeat(10_000)],
    ['empty', ''],
    ['blank', ' '],
  ])('an attribute that is %s is rejected by one code', async (_, text) => {
    expect(problems(await dryRun(chinese(GOODS, { ...GOODS_TRADE, 'trade-order-id': text })))).toEqual(
      rejected('trade-order-id'),
    );
  });

  test('an internal transfer may carry a map without any', async () => {
    const empty = { amount: 0.01, schemeAttributes: {} };
    for (const transfer of [internal(empty), internal({ ...empty, transferDate: TODAY })]) {
      const answer = await send(transfer);
      expect(answer.status, answer.text).toBe(201);
    }
  });

  const foreign: readonly (readonly [string, string, () => Json])[] = [
    ['goods-carrier', 'a service', () => chinese(SERVICES, { ...SERVICE_TRADE, 'goods-carrier': 'x' })],
    ['service-detail', 'goods', () => chinese(GOODS, { ...GOODS_TRADE, 'service-detail': 'x' })],
    ['service-time', 'goods', () => chinese(GOODS, { ...GOODS_TRADE, 'service-time': 'x' })],
    ['goods-carrier', 'any other reason', () => chinese(OTHER, { ...TRADE, 'goods-carrier': 'x' })],
    ['sender-account-number', 'yuan', () => chinese(OTHER, { ...TRADE, 'sender-account-number': '1' })],
    ['trade-order-id', 'won', () => korean({ 'sender-account-number': '1', 'trade-order-id': '1' })],
    ['trade-order-id', 'sterling', () => external('GBP', { schemeAttributes: { 'trade-order-id': '1' } })],
    ['colour', 'yuan', () => chinese(OTHER, { ...TRADE, colour: 'red' })],
  ];
  test.each(foreign)('%s does not belong to %s', async (key, _, transfer) => {
    expect(problems(await dryRun(transfer()))).toEqual(rejected(key));
  });

  test('all that is wrong is named at once', async () => {
    const answer = await send(chinese(GOODS, without({ ...GOODS_TRADE, 'trade-count': 'x' }, 'trade-time')));
    expect(problems(answer)).toEqual(rejected('trade-time', 'trade-count'));
  });

  test.each([
    ['all attributes of goods', () => chinese(GOODS, GOODS_TRADE)],
    ['all of services', () => chinese(SERVICES, SERVICE_TRADE)],
    ['all of another reason, and the bank’s code', () => chinese(OTHER, { ...TRADE, cnaps: '102100099996' })],
    ['a custom reason', () => external('CNY', { transferCustomReason: 'Gift', schemeAttributes: TRADE })],
    ['won', () => korean({ 'sender-account-number': '110-123-456789' })],
  ])('accepted: %s', async (_, transfer) => {
    const answer = await send(transfer());
    expect(answer.status, answer.text).toBe(201);
  });
});

describe('specification 4.9: a dry run', () => {
  const configuration = (authorization: string, compliance: string, date: string, balance: string) => ({
    authorizationStatus: authorization,
    complianceCheckStatus: compliance,
    transferDateStatus: date,
    balanceCheckStatus: balance,
  });
  const [free, open, due, short] = ['not-required', 'not-checked', 'fulfilled', 'not-fulfilled'] as const;
  const more = MONEY + 1;
  const LATER = '2027-06-17';

  const rows: readonly (readonly [string, () => Json, Json])[] = [
    ['an internal transfer now', () => internal(), configuration(free, free, due, due)],
    ['an internal transfer for today', () => internal({ transferDate: TODAY }), configuration(free, free, due, due)],
    ['an internal transfer for later', () => internal({ transferDate: LATER }), configuration(free, free, open, open)],
    [
      'an internal transfer for later, short of money',
      () => internal({ transferDate: LATER, amount: more }),
      configuration(free, free, open, open),
    ],
    ['a payment now', () => external('GBP'), configuration(free, free, due, due)],
    ['a payment of all there is', () => external('KWD', { amount: MONEY }), configuration(free, free, due, due)],
    [
      'a payment short of money',
      () => external('KWD', { amount: MONEY + 0.001 }),
      configuration(free, free, due, short),
    ],
    ['a payment short of its fee', () => external('USD', { amount: MONEY }), configuration(open, free, due, short)],
    ['a payment for later', () => external('GBP', { transferDate: LATER }), configuration(free, free, open, open)],
    [
      'a payment for later, short of money',
      () => external('GBP', { transferDate: LATER, amount: more }),
      configuration(free, free, open, open),
    ],
    [
      'a payment for a closed day',
      () => external('GBP', { scheme: 'chaps', transferDate: '2027-06-19' }),
      configuration(free, free, open, open),
    ],
    ['below the amount to authorize', () => external('EUR', { amount: 499.99 }), configuration(free, free, due, due)],
    ['the amount to authorize', () => external('EUR', { amount: 500 }), configuration(open, free, due, due)],
    ['always to authorize', () => external('USD'), configuration(open, free, due, due)],
    ['reviewed', () => external('CAD'), configuration(free, open, due, due)],
    ['reviewed, short of money', () => external('CAD', { amount: more }), configuration(free, open, due, short)],
    ['reviewed, for later', () => external('CAD', { transferDate: LATER }), configuration(free, open, open, open)],
    ['both', () => external('AUD'), configuration(open, open, due, due)],
    ['both, short of money', () => external('AUD', { amount: more }), configuration(open, open, due, short)],
    ['both, for later', () => external('AUD', { transferDate: LATER }), configuration(open, open, open, open)],
  ];
  test.each(rows)('shows each requirement as it would come out now: %s', async (_, transfer, expected) => {
    const before = await everythingWritten();
    const { status, body, text } = await dryRun(transfer());
    expect(status, text).toBe(200);
    expect(body.data.outgoingTransfer.requirementConfiguration).toEqual(expected);
    expect(await everythingWritten()).toEqual(before);
  });

  const OF_EXISTING = [
    'id',
    'transactionNumber',
    'paymentReference',
    'status',
    'statusReason',
    'returned',
    'incomingTransferId',
  ];
  const OF_PROVIDER = ['serviceProviderId', 'serviceProviderReference'];

  test('echoes the transfer with its fee and dates, and has no field that only an existing one has', async () => {
    const sent = external('CNY', { transferReasonId: GOODS, schemeAttributes: GOODS_TRADE });
    const planned = (await dryRun(sent)).body.data.outgoingTransfer;
    const created = (await send(sent)).body.data.outgoingTransfer;
    for (const field of [...OF_EXISTING, ...OF_PROVIDER]) delete created[field];
    const { requirementConfiguration } = planned;
    expect(planned).toEqual({ ...created, requirementConfiguration });
  });

  test('needs no more than the role viewer, because it writes nothing', async () => {
    const body = { workflow: { code: 'client.direct', dryRun: true }, data: { outgoingTransfer: internal() } };
    for (const as of ['viewer', 'approver', 'compliance'] as const) {
      expect((await api.call('POST', '/outgoing-transfers', body, { as })).status).toBe(200);
    }
  });
});

const WRITTEN = [
  'outgoing_transfers',
  'incoming_transfers',
  'postings',
  'events',
  'workflow_wakeups',
  'audit_entries',
  'idempotency_keys',
];

/** How many rows each table has, and the versions of all accounts. */
async function everythingWritten(): Promise<Json> {
  const counts = WRITTEN.map((table) => `(SELECT count(*) FROM ${table})`).join(', ');
  const accountsNow = `(SELECT jsonb_agg(to_jsonb(a) ORDER BY id) FROM accounts a)`;
  return (await api.database.statement(`SELECT jsonb_build_array(${counts}, ${accountsNow}) AS all`, []))[0];
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../config/configuration.ts';
import { identifiersOf } from '../../sandbox/bank/identifiers.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts, PAYMENT_IN } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { reviews } from '../harness/transfers/reviews.ts';

// Every scheme by which money can come into every kind of account.
let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('deposit-information');
  api = await startApi(database);
  world = moneyWorld(api);
  clientId = await world.client();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const BIC: Readonly<Record<string, string>> = { GB: 'SBNKGB2L', DE: 'SBNKDE2L', IE: 'SBNKIE2L', FR: 'SBNKFR2L' };
const SORT_CODE = { 'sort-code': '040075' };
const ABA = { aba: '000000754' };
const SEPA = ['sepa', 'sepa-instant', 'target2'];

/** The intermediary of dollars, by the default configuration. */
const CORRESPONDENT = {
  accountHolderName: 'Sandbox Bank NA',
  country: 'US',
  currency: 'USD',
  routingCodes: { bic: 'SBXCUS3N', ...ABA },
  accountNumber: '8900627301',
  iban: null,
  ledgerNumber: null,
  reference: null,
  bankName: 'Sandbox Correspondent Bank NA',
  bankAddress: '6 Sandbox Plaza, New York, NY 10004, United States',
  intermediaryAccount: null,
};

interface Kind {
  readonly currency: string;
  readonly country: string;
  readonly number: string;
  readonly bankName: string;
  /** Routing codes by scheme. */
  readonly schemes: Readonly<Record<string, Record<string, string>>>;
  readonly intermediary?: typeof CORRESPONDENT;
}

const euro = (country: string, number: string, bankName: string): Kind => ({
  currency: 'EUR',
  country,
  number,
  bankName,
  schemes: Object.fromEntries([...SEPA, 'swift'].map((scheme) => [scheme, { bic: BIC[country] ?? '' }])),
});

const sterling: Kind = {
  currency: 'GBP',
  country: 'GB',
  number: '31926819',
  bankName: 'Sandbox Bank plc',
  schemes: { 'faster-payments': SORT_CODE, chaps: SORT_CODE, swift: { bic: 'SBNKGB2L' } },
};

const KINDS: Readonly<Record<string, Kind>> = {
  'sterling in Britain': sterling,
  'euro in Germany': euro('DE', '3192681900', 'Sandbox Bank Europe AG'),
  'euro in Ireland': euro('IE', '31926819', 'Sandbox Bank Europe AG, Dublin branch'),
  'euro in France': euro('FR', '31926819000', 'Sandbox Bank Europe AG, succursale de Paris'),
  'dollars in the United States': {
    currency: 'USD',
    country: 'US',
    number: '3192681900',
    bankName: 'Sandbox Bank NA',
    schemes: { swift: { bic: 'SBNKUS2L' } },
    intermediary: CORRESPONDENT,
  },
  'yen in Japan': {
    currency: 'JPY',
    country: 'JP',
    number: '3192681900',
    bankName: 'Sandbox Bank plc',
    schemes: { swift: { bic: 'SBNKJP2L' } },
  },
};

const NOTHING = {
  routingCodes: null,
  accountNumber: null,
  iban: null,
  ledgerNumber: null,
  reference: null,
  bankName: null,
  bankAddress: null,
  intermediaryAccount: null,
};

async function opened({ currency, country, number }: Kind): Promise<Json> {
  const answer = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency, country } },
  });
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data.account;
  const details = { country, ...identifiersOf({ currency, country }, number) };
  const outcome = { outcome: 'opened', reference: `SBA-${id}`, details } as const;
  expect(await builtInAccounts(api).report(id, 'open', 1, outcome)).toBe('applied');
  return (await api.call('GET', `/accounts/${id}`)).body.data.account;
}

/** A sub-account of the main one, with a ledger number of its own. */
async function subAccountOf({ id, currency, country }: Json): Promise<Json> {
  const answer = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency, country } },
  });
  const sub = answer.body.data.account;
  await api.database.reader.statement(
    `UPDATE accounts SET main_account_id = $2, status = 'active', connection_id = NULL, connection_state = NULL,
       requested_change = NULL, next_check_at = NULL WHERE id = $1`,
    [sub.id, id],
  );
  return sub;
}

async function depositInformation(id: string): Promise<Json> {
  const answer = await api.call('GET', `/accounts/${id}/deposit-information`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.depositInformation;
}

/** What the table says of an account and its main account, which is itself unless it is a sub-account. */
function expected(kind: Kind, account: Json, main: Json): Json {
  const { currency, country, bankName, schemes, intermediary = null } = kind;
  const holder = { accountHolderName: 'Ada Lovelace', country, currency };
  const external = Object.entries(schemes).map(([scheme, routingCodes]) => [
    scheme,
    {
      ...NOTHING,
      ...holder,
      routingCodes,
      accountNumber: main.accountNumber,
      iban: main.iban,
      reference: account.id === main.id ? null : account.ledgerNumber,
      bankName,
      bankAddress: expect.any(String),
      intermediaryAccount: scheme === 'swift' ? intermediary : null,
    },
  ]);
  return { ...Object.fromEntries(external), internal: { ...NOTHING, ...holder, ledgerNumber: account.ledgerNumber } };
}

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test('each scheme has the account’s numbers and a fitting routing code; a sub-account its main account’s, and a reference', async () => {
    const main = await opened(kind);
    expect(await depositInformation(main.id)).toEqual(expected(kind, main, main));
    const sub = await subAccountOf(main);
    expect(await depositInformation(sub.id)).toEqual(expected(kind, sub, main));
  });
});

test('of a plug-in account nothing is known but what its caller reported', async () => {
  const id = await world.account(clientId);
  const iban = 'GB82WEST12345698765432';
  const answer = await api.call('PATCH', `/accounts/${id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { iban } },
  });
  const { account } = answer.body.data;
  const holder = { accountHolderName: 'Ada Lovelace', country: 'GB', currency: 'GBP' };
  const external = { ...NOTHING, ...holder, iban };
  expect(await depositInformation(id)).toEqual({
    'faster-payments': external,
    chaps: external,
    swift: external,
    internal: { ...NOTHING, ...holder, ledgerNumber: account.ledgerNumber },
  });
});

test('accounts of a pooled offer are paid into by its pooled account, each with its ledger number as the reference', async () => {
  const account = await opened({ ...sterling, number: '31926835' });
  const sub = await subAccountOf(account);
  const pooledAccount = { accountHolderName: 'Safeguarded Clients Ltd', accountNumber: '00000017', iban: POOLED_IBAN };
  const other = await startApi(database, { users: api.users, configuration: withBank({ pooledAccount }) });
  try {
    for (const { id, ledgerNumber, ...own } of [account, sub]) {
      const answer = await other.call('GET', `/accounts/${id}/deposit-information`);
      const { internal, ...external } = answer.body.data.depositInformation;
      expect(Object.keys(external)).toEqual(['faster-payments', 'chaps', 'swift']);
      for (const [scheme, details] of Object.entries<Json>(external)) {
        const routingCodes = scheme === 'swift' ? { bic: 'SBNKGB2L' } : SORT_CODE;
        expect(details).toMatchObject({ ...pooledAccount, routingCodes, reference: ledgerNumber, ledgerNumber: null });
      }
      expect(internal).toMatchObject({ accountHolderName: own.accountHolderName, ledgerNumber, reference: null });
    }
    // A payment made by the deposit information is credited to the account.
    for (const { id, ledgerNumber } of [account, sub]) {
      const receiver = { ...PAYMENT_IN.receiver, iban: POOLED_IBAN };
      await reviews(other).payIn({ receiver, remittanceText: `Rent ${ledgerNumber}` });
      expect(await world.balance(id)).toMatchObject({ available: 10 });
    }
  } finally {
    await other.stop();
  }
});

const POOLED_IBAN = 'GB82WEST12345698765432';
test('only swift has an intermediary, and an empty map of its codes is null', async () => {
  const account = await opened({ ...sterling, number: '31926827' });
  const intermediary = {
    name: 'Correspondent plc',
    address: '7 Sandbox Street, London',
    country: 'GB',
    routingCodes: {},
    accountNumber: null,
    iban: 'GB82WEST12345698765432',
  };
  const other = await startApi(database, { users: api.users, configuration: withBank({ intermediary }) });
  try {
    const answer = await other.call('GET', `/accounts/${account.id}/deposit-information`);
    const { swift, ...others } = answer.body.data.depositInformation;
    expect(swift.intermediaryAccount).toEqual({
      accountHolderName: 'Sandbox Bank plc',
      country: 'GB',
      currency: 'GBP',
      routingCodes: null,
      accountNumber: null,
      iban: intermediary.iban,
      ledgerNumber: null,
      reference: null,
      bankName: 'Correspondent plc',
      bankAddress: '7 Sandbox Street, London',
      intermediaryAccount: null,
    });
    for (const details of Object.values<Json>(others)) expect(details.intermediaryAccount).toBeNull();
  } finally {
    await other.stop();
  }
});

type Bank = NonNullable<Configuration['providers'][number]['offers'][number]['bank']>;

/** Every offer's bank with these changes. */
function withBank(change: Partial<Bank>): (configuration: Configuration) => Configuration {
  return (configuration) => ({
    ...configuration,
    providers: configuration.providers.map((provider) => ({
      ...provider,
      offers: provider.offers.map((offer) =>
        offer.bank === null ? offer : { ...offer, bank: { ...offer.bank, ...change } },
      ),
    })),
  });
}

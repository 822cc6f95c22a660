import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountProviderCalls, accountTransitions } from '../../activities/accounts/activities.ts';
import type { ActivityDependencies } from '../../activities/common/dependencies.ts';
import { type Provider, ProviderUnavailable } from '../../activities/providers/port.ts';
import { createProviders } from '../../activities/providers/providers.ts';
import { accountReportOf, openingOutcome } from '../../activities/providers/reports/account-reports.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Provider as ConfiguredProvider } from '../../domain/providers/providers.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { PAYMENT_IN } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { reviews } from '../harness/transfers/reviews.ts';

// Accounts that share their provider's pooled account, and a provider that only pays: it opens no accounts, hands none over and sends no callbacks.

const PAYMENTS_ONLY: Provider = {
  name: 'sandbox-bank',
  submitPayment: async ({ attempt }) => ({ outcome: 'queued', attempt }),
  lookUpPayment: async () => ({ outcome: 'not-found' }),
  lookUpPaymentIn: async () => ({ outcome: 'not-found' }),
  returnPayment: () => Promise.reject(new ProviderUnavailable('sandbox-bank', 'not asked')),
  fetchStatement: async () => ({ entries: [], unreadable: [], next: null }),
};

const POOLED = {
  accountHolderName: 'Safeguarded Clients Ltd',
  accountNumber: '31926819',
  iban: 'GB82WEST12345698765432',
};

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;

function pooling({ providers, ...configuration }: Configuration): Configuration {
  return {
    ...configuration,
    providers: providers.map((provider) => ({
      ...provider,
      offers: provider.offers.map((offer) => ({
        ...offer,
        bank: offer.bank === null ? null : { ...offer.bank, pooledAccount: POOLED },
      })),
    })),
  };
}

beforeAll(async () => {
  database = await createTestDatabase('own-accounts');
  api = await startApi(database, {
    providers: new Map([['sandbox-bank', PAYMENTS_ONLY]]),
    configuration: (configuration) => ({ ...pooling(configuration), prices: [] }),
  });
  world = moneyWorld(api);
  clientId = await world.client('Ada');
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function issued(): Promise<Json> {
  const body = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
  const answer = await api.call('POST', '/accounts', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.account;
}

const accountOf = async (id: string): Promise<Json> => (await api.call('GET', `/accounts/${id}`)).body.data.account;

function dependencies(): ActivityDependencies {
  const { configuration, environment, keyring, logger, providers } = api.services;
  const shared = { configuration, keyring, logger, providers };
  return { ...shared, database: api.database, publicUrl: api.url, mail: environment.mail };
}

const calls = () => accountProviderCalls(dependencies());

test('its clients’ accounts are ours: one is active at once, is paid into by the pooled account, and closes', async () => {
  const { id } = await issued();
  await new MockActivityEnvironment().run(calls().connectClient, id);
  const account = await accountOf(id);
  expect(account).toMatchObject({ status: 'active', iban: null, accountNumber: null });
  const deposits = (await api.call('GET', `/accounts/${id}/deposit-information`)).body.data.depositInformation;
  expect(deposits['faster-payments']).toMatchObject({ ...POOLED, reference: account.ledgerNumber });
  const receiver = { ...PAYMENT_IN.receiver, iban: POOLED.iban };
  await reviews(api).payIn({ receiver, remittanceText: `Rent ${account.ledgerNumber}` });
  expect(await world.balance(id)).toMatchObject({ available: 10 });

  const { id: empty } = await issued();
  await new MockActivityEnvironment().run(calls().connectClient, empty);
  const body = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
  expect((await api.call('PATCH', `/accounts/${empty}`, body)).status).toBe(200);
  const next = await accountTransitions(dependencies()).advanceAccountConnection(empty);
  if (next.do !== 'close-account') throw new Error(`the next step is ${next.do}`);
  await new MockActivityEnvironment().run(calls().closeAccount, empty, next.attempt);
  expect((await accountOf(empty)).status).toBe('closed');
  await world.invariantsHold();
});

test('nothing can be migrated from it, and it has no callbacks', async () => {
  const connect = { type: 'explicit', serviceProvider: 'sandbox-bank' };
  const migration = { workflow: { code: 'migration' }, data: { sourceId: 'one' }, connect };
  const answer = await api.call('POST', '/clients', migration);
  expect(answer.status, answer.text).toBe(400);
  expect(answer.text).toContain('hands over no accounts');
  const callback = await fetch(`${api.url}/provider-callbacks/sandbox-bank`, { method: 'POST', body: '{}' });
  expect(callback.status).toBe(404);
});

test('a built-in provider that opens no accounts needs a pooled account in each of its offers, and has all calls about accounts or none', () => {
  const { configuration } = api.services;
  const adapters = { 'sandbox-bank': () => PAYMENTS_ONLY };
  const half = {
    'sandbox-bank': (): Provider => ({ ...PAYMENTS_ONLY, openAccount: () => Promise.reject(new Error()) }),
  };
  const settings = { sandboxUrl: '', sandboxBankSecret: null };
  const without = {
    ...configuration,
    providers: configuration.providers.map((provider) => ({
      ...provider,
      offers: provider.offers.map((offer) => ({
        ...offer,
        bank: offer.bank === null ? null : { ...offer.bank, pooledAccount: null },
      })),
    })),
  };
  expect([...createProviders(configuration, settings, undefined, adapters).keys()]).toContain('sandbox-bank');
  expect(() => createProviders(configuration, settings, undefined, half)).toThrow(/lacks connectClient, lookUpAccount/);
  expect(() => createProviders(without, settings, undefined, adapters)).toThrow(/pooledAccount/);
});

const PROVIDERS: readonly ConfiguredProvider[] = ['pooling-bank', 'other-bank'].map((code) => ({
  code,
  method: 'built-in',
  offers: [
    {
      currencies: null,
      countries: null,
      defaultCountry: 'GB',
      schemes: [],
      bank: {
        name: 'Bank plc',
        address: '1 Street, London',
        country: 'GB',
        routingCodes: {},
        intermediary: null,
        pooledAccount: code === 'pooling-bank' ? POOLED : null,
      },
    },
  ],
}));

const OPENED = { reference: 'B-1', country: 'GB', currency: 'GBP', routingCodes: { 'sort-code': '040075' } };
const ACCOUNT_ID = '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31';

test.each([
  ['pooling-bank', POOLED, { iban: null, accountNumber: null }],
  ['pooling-bank', { ...POOLED, iban: 'GB82 WEST 1234 5698 7654 32' }, { iban: null, accountNumber: null }],
  ['pooling-bank', { iban: null, accountNumber: '3192-6819' }, { iban: null, accountNumber: null }],
  ['pooling-bank', { iban: null, accountNumber: '31926827' }, { iban: null, accountNumber: '31926827' }],
  ['other-bank', POOLED, { iban: POOLED.iban, accountNumber: POOLED.accountNumber }],
])('%s: the numbers of a pooled account belong to no account, by answer and by callback', (provider, numbers, own) => {
  const account = { ...OPENED, iban: numbers.iban, accountNumber: numbers.accountNumber };
  const from = { provider, providers: PROVIDERS };
  const outcome = {
    outcome: 'opened',
    reference: 'B-1',
    details: { ...own, country: 'GB', routingCodes: OPENED.routingCodes },
  };
  expect(openingOutcome({ outcome: 'opened', ...account }, from)).toEqual(outcome);
  const event = {
    type: 'account-opened',
    providerEventId: 'e-1',
    occurredAt: new Date(0),
    accountId: ACCOUNT_ID,
    ...account,
  } as const;
  expect(accountReportOf(event, from)).toMatchObject({ accountId: ACCOUNT_ID, outcome });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { inlinedPaths } from '../harness/http/openapi.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

// Absent values are null: `routingCodes` without any is never an empty map, in no answer and in no event.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;

beforeAll(async () => {
  database = await createTestDatabase('routing-codes');
  api = await startApi(database);
  world = moneyWorld(api);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

/** Every value of a key, at any depth. */
function valuesOf(key: string, value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.hasOwn(value, key) ? [value[key]] : [];
  return [...own, ...Object.values(value).flatMap((inner) => valuesOf(key, inner))];
}

/** What a schema says of the value where it is not null. */
function withoutNull(schema: Json): Json {
  const alternatives: Json[] = schema.anyOf ?? [schema];
  return alternatives.find(({ type }) => type !== 'null');
}

test('every answer of the document that shows routing codes shows at least one, or null', () => {
  const shown = Object.entries<Json>(inlinedPaths(ROUTES)).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, { responses }]) =>
      valuesOf('routingCodes', responses)
        // Examples have values, schemas have types.
        .filter((schema) => schema !== null && (schema.anyOf !== undefined || schema.type !== undefined))
        .map((schema) => ({ at: `${method} ${path}`, minProperties: withoutNull(schema).minProperties })),
    ),
  );
  expect(shown.length).toBeGreaterThan(15);
  expect(shown.filter(({ minProperties }) => minProperties !== 1)).toEqual([]);
});

async function answer(method: 'GET' | 'POST' | 'PATCH', path: string, body?: Json): Promise<Json> {
  const { status, body: answered, text } = await api.call(method, path, body);
  expect(status, text).toBeLessThan(300);
  return answered.data;
}

test('answers and events show null for a sender, a receiver, a beneficiary and an account without routing codes', async () => {
  const clientId = await world.client();
  const account = await world.account(clientId, { amount: 100 });
  const identified = { account: { status: 'active', accountNumber: '31926819', routingCodes: {} } };
  const answers = [
    await answer('PATCH', `/accounts/${account}`, { workflow: { code: 'client.direct' }, data: identified }),
    await answer('GET', `/accounts/${account}`),
  ];
  const senderBankAccount = { iban: 'DE89370400440532013000', routingCodes: {} };
  const credit = {
    accountId: account,
    amount: 10,
    currency: 'GBP',
    scope: 'external',
    scheme: 'swift',
    senderBankAccount,
  };
  answers.push(
    await answer('POST', '/provisioned-account-credits', {
      workflow: { code: 'client.direct' },
      data: { provisionedAccountCredit: credit },
    }),
  );
  const payment = {
    provider: 'sandbox-bank',
    amountMinor: 1_000n,
    currency: 'GBP',
    scheme: 'faster-payments',
    senderName: null,
    senderAccount: { ...NOTHING, routingCodes: {} },
    receiver: { iban: 'GB33BUKB20201555555555', accountNumber: null, routingCodes: {} },
    remittanceText: null,
    serviceProviderId: 'routing-codes-1',
    serviceProviderReference: null,
    held: false,
  };
  await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
  answers.push(await answer('GET', '/incoming-transfers?metadata.page.size=100'));
  answers.push(await answer('GET', '/provisioned-account-credits?metadata.page.size=100'));

  const euros = await world.account(clientId, { currency: 'EUR', amount: 100 });
  const iban = { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
  const beneficiaryBankAccountId = await world.beneficiary(clientId, iban);
  const include = 'metadata.include=data.beneficiary.bankAccounts';
  answers.push(await answer('GET', `/beneficiaries?data.beneficiary.clientId=${clientId}&${include}`));
  const [{ id: beneficiaryId }] = answers.at(-1).beneficiaries;
  answers.push(await answer('GET', `/beneficiaries/${beneficiaryId}/bank-accounts`));
  const outgoingTransfer = {
    clientId,
    currency: 'EUR',
    amount: 10,
    scope: 'external',
    scheme: 'sepa',
    source: { type: 'client-account', accountId: euros },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
  };
  const sent = await answer('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: { outgoingTransfer },
  });
  answers.push(await answer('GET', `/outgoing-transfers/${sent.outgoingTransfer.id}`));
  await sequence(api.database);
  const log = await api.call('GET', '/events?metadata.page.size=100', undefined, { as: 'admin' });

  for (const [index, shown] of answers.entries()) {
    const codes = valuesOf('routingCodes', shown);
    expect([index, codes.length > 0, codes.filter((value) => value !== null)]).toEqual([index, true, []]);
  }
  const inEvents = valuesOf('routingCodes', log.body.data.events);
  expect(inEvents.length).toBeGreaterThan(10);
  expect(inEvents.filter((value) => value !== null)).toEqual([]);
});

const NOTHING = {
  accountHolderName: null,
  alias: null,
  ledgerNumber: null,
  accountNumber: null,
  iban: null,
  country: null,
  currency: null,
};

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { FULL_NAME_LENGTH_MAX, NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { inlinedPaths } from '../harness/http/openapi.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

// The lengths that the document promises agree with each other: what was sent can be shown, and what is shown can be searched for.

const document: Json = documentOf(ROUTES, 'test');
const schemas: Json = document.components.schemas;

/** The longest text that a schema allows; undefined where it names no length. */
function longest(schema: Json): number | undefined {
  const alternatives: Json[] = schema.anyOf ?? [schema];
  return alternatives.map(({ maxLength }) => maxLength).find((length) => length !== undefined);
}

/** The fields of one row of a list's answer; none of a file. */
function rowOf(operation: Json): Json {
  const { data } = operation.responses[200].content['application/json']?.schema.properties ?? {};
  const [list] = Object.values<Json>(data?.properties ?? {}).filter(({ type }) => type === 'array');
  return list?.items.properties ?? {};
}

test('every text filter takes all that the list shows in its field', () => {
  const filters = Object.entries<Json>(inlinedPaths(ROUTES)).flatMap(([path, { get }]) =>
    (get?.parameters ?? []).flatMap(({ name, schema }: Json) => {
      const [, , field] = /^data\.(\w+)\.(\w+)$/.exec(name) ?? [];
      const shown = field === undefined ? undefined : rowOf(get)[field];
      const length = shown === undefined ? undefined : longest(shown);
      const taken = longest(schema);
      return length === undefined || taken === undefined ? [] : [{ at: `${path} ${name}`, length, taken }];
    }),
  );
  expect(filters.length).toBeGreaterThan(20);
  expect(filters.filter(({ length, taken }) => taken < length)).toEqual([]);
});

/** Written with spaces, and shown without: 34 characters at most. */
const SHORTENED = ['BeneficiaryBankAccount.accountNumber', 'BeneficiaryBankAccount.iban'];

test('every answer can show the longest text that a request may send in its field', () => {
  const requested = Object.keys(schemas).flatMap((name) => {
    const shown = schemas[name.replace(/(Input|Change)$/, '')];
    return shown === schemas[name] || shown === undefined ? [] : [[name, shown] as const];
  });
  const pairs = requested.flatMap(([name, shown]) =>
    Object.entries<Json>(schemas[name].properties ?? {}).flatMap(([field, sent]) => {
      const length = longest(sent);
      const can = shown.properties?.[field] === undefined ? undefined : longest(shown.properties[field]);
      return length === undefined || can === undefined ? [] : [{ at: `${name}.${field}`, length, can }];
    }),
  );
  expect(pairs.length).toBeGreaterThan(60);
  const shorter = pairs.filter(({ length, can }) => can < length).map(({ at }) => at.replace(/(Input|Change)\./, '.'));
  expect([...new Set(shorter)].sort()).toEqual(SHORTENED);
});

test('every name that is made of given and family name is long enough for both', () => {
  const names = Object.entries<Json>(schemas)
    .filter(([name]) => !/(Input|Change)$/.test(name))
    .flatMap(([name, { properties = {} }]) =>
      ['fullName', 'accountHolderName', 'senderName'].flatMap((field) =>
        properties[field] === undefined ? [] : [{ at: `${name}.${field}`, length: longest(properties[field]) ?? 0 }],
      ),
    );
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter(({ length }) => length < FULL_NAME_LENGTH_MAX)).toEqual([]);
});

describe('a person with the longest names', () => {
  let database: TestDatabase;
  let api: TestApi;

  beforeAll(async () => {
    database = await createTestDatabase('bounds');
    api = await startApi(database);
  });

  afterAll(async () => {
    await api?.stop();
    await database?.drop();
  });

  const identity = {
    type: 'individual',
    givenName: 'A'.repeat(NAME_LENGTH_MAX),
    familyName: 'B'.repeat(NAME_LENGTH_MAX),
  };
  const fullName = `${identity.givenName} ${identity.familyName}`;

  /** The harness checks each answer against the document. */
  async function answered(method: 'GET' | 'POST' | 'PATCH', path: string, body?: Json): Promise<Json> {
    const { status, body: answer, text } = await api.call(method, path, body);
    expect(status, text).toBeLessThan(300);
    return answer.data;
  }

  async function account(clientId: string): Promise<string> {
    const { account } = await answered('POST', '/accounts', {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP' } },
      connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
    });
    const details = { iban: 'GB29NWBK60161331926819', accountNumber: '31926819' };
    await answered('PATCH', `/accounts/${account.id}`, {
      workflow: { code: 'client.direct' },
      data: { account: { status: 'active', ...details } },
    });
    const credit = { accountId: account.id, amount: 100, currency: 'GBP', scope: 'external', scheme: 'swift' };
    await answered('POST', '/provisioned-account-credits', {
      workflow: { code: 'client.direct' },
      data: { provisionedAccountCredit: credit },
    });
    return account.id;
  }

  async function transferred(clientId: string, accountId: string, destination: Json, scope: Json): Promise<Json> {
    const source = { type: 'client-account', accountId };
    const { outgoingTransfer } = await answered('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer: { clientId, currency: 'GBP', amount: 10, source, destination, ...scope } },
    });
    return (await answered('GET', `/outgoing-transfers/${outgoingTransfer.id}`)).outgoingTransfer;
  }

  /** A payment from outside with the longest texts that a bank may report. */
  async function paidIn(accountId: string): Promise<Json> {
    const { iban } = (await answered('GET', `/accounts/${accountId}`)).account;
    const sender = { accountHolderName: 'C'.repeat(300), alias: null, ledgerNumber: null, accountNumber: null };
    const payment = {
      provider: 'custom-bank',
      amountMinor: 1_000n,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'C'.repeat(300),
      senderAccount: { ...sender, iban: null, country: null, currency: null, routingCodes: null },
      receiver: { iban, accountNumber: null, routingCodes: {} },
      remittanceText: 'D'.repeat(500),
      serviceProviderId: 'longest-1',
      serviceProviderReference: null,
      held: false,
    };
    await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
    return payment;
  }

  test('is shown and found in full by accounts, beneficiaries, transfers of both kinds, statements and events', async () => {
    const { client } = await answered('POST', '/clients', {
      workflow: { code: 'direct' },
      data: {
        client: {
          identity: { ...identity, country: 'GB' },
          profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
        },
      },
    });
    const { beneficiary } = await answered('POST', '/beneficiaries', {
      workflow: { code: 'direct' },
      data: {
        beneficiary: {
          clientId: client.id,
          identity,
          bankAccounts: [
            { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
          ],
        },
      },
    });
    const accountId = await account(client.id);
    const payee = { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiary.bankAccounts[0].id };
    const out = await transferred(client.id, accountId, payee, { scope: 'external', scheme: 'faster-payments' });
    expect(out.beneficiary).toMatchObject({ fullName, account: { accountHolderName: fullName } });

    const { account: other } = await answered('POST', '/accounts', {
      workflow: { code: 'client.sub-account' },
      data: { account: { mainAccountId: accountId } },
    });
    await transferred(client.id, accountId, { type: 'client-account', accountId: other.id }, { scope: 'internal' });
    const payment = await paidIn(accountId);

    const found = async (list: string, filters: Record<string, string>) => {
      const query = new URLSearchParams(filters).toString();
      return (await answered('GET', `/${list}?${query}`))[list.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())];
    };
    expect(await found('clients', { 'data.client.fullName': fullName })).toHaveLength(1);
    expect(await found('accounts', { 'data.account.accountHolderName': fullName })).toHaveLength(2);
    expect(await found('incoming-transfers', { 'data.incomingTransfer.senderName': fullName })).toMatchObject([
      { receiverAccount: { accountHolderName: fullName } },
    ]);
    const reported = {
      'data.incomingTransfer.senderName': payment.senderName,
      'data.incomingTransfer.senderInformation': payment.remittanceText,
    };
    expect(await found('incoming-transfers', reported)).toHaveLength(1);
    const { accountStatements } = await answered('GET', `/accounts/${accountId}/account-statements`);
    expect(accountStatements.map(({ narrative }: Json) => narrative)).toContain(payment.remittanceText);
    await sequence(api.database);
    const { events } = await answered('GET', '/events?metadata.page.size=100');
    expect(events.length).toBeGreaterThan(8);
  });
});

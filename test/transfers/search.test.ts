import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchOperation } from '../../cli/operations/why/search.ts';
import { createDatabase } from '../../db/client.ts';
import type { Database } from '../../db/query/database.ts';
import { searchStatements } from '../../db/search/search.ts';
import { isExact, searchTermsOf } from '../../domain/search/search-terms.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { reviews } from '../harness/transfers/reviews.ts';

// `search TEXT`: one box for whatever a customer, a bank or a log has named.

let testDatabase: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let client: Json;
let account: Json;
let incoming: Json;
let outgoing: Json;
let bankAccount: string;
let user: Json;

const IBAN = 'DE89370400440532013000';

beforeAll(async () => {
  testDatabase = await createTestDatabase('search');
  api = await startApi(testDatabase);
  world = moneyWorld(api);
  const created = await api.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: {
      client: {
        identity: { type: 'individual', givenName: 'Mary', familyName: 'Somerville', country: 'GB' },
        profile: {
          identityType: 'individual',
          residentialAddress: { country: 'GB', city: 'Jedburgh' },
          email: 'Mary@Example.com',
        },
      },
    },
  });
  client = created.body.data.client;
  account = await builtInAccounts(api).opened(client.id);
  incoming = await reviews(api).payIn({ serviceProviderReference: 'BANKREF-1', remittanceText: account.ledgerNumber });
  await builtInAccounts(api).payIn(account, randomUUID(), 100_000n);
  bankAccount = await world.beneficiary(client.id, { country: 'DE', currency: 'EUR', iban: IBAN });
  const receiver = await builtInAccounts(api).opened(await world.client('Grace'));
  outgoing = await reviews(api).internal({ clientId: client.id, id: account.id }, receiver.id, { amount: 12.34 });
  const invited = await api.call('POST', '/users', {
    workflow: { code: 'human.external.direct' },
    data: {
      user: {
        email: 'mary@example.com',
        identity: { type: 'individual', givenName: 'Mary', familyName: 'Somerville' },
      },
      userClientRelations: [{ clientId: client.id }],
    },
  });
  user = invited.body.data.user;
});

afterAll(async () => {
  await api?.stop();
  await testDatabase?.drop();
});

const run = (...given: readonly string[]) => runWith(api.database, given);

async function runWith(database: Database, given: readonly string[]): Promise<{ status: number; lines: string[] }> {
  const lines: string[] = [];
  const temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  const context = { database, temporal, initiator: { actor: 'night-operator', requestId: null } };
  const status = await searchOperation.run({ ...context, arguments: given, print: (line) => lines.push(line) });
  return { status, lines };
}

async function foundBy(text: string): Promise<Json[]> {
  const { lines } = await run(text, '--json');
  return JSON.parse(lines[0] ?? '').found;
}

describe('a search finds', () => {
  test.each<[what: string, text: () => string, kind: string, id: () => string]>([
    [
      'an outgoing transfer by its transaction number',
      () => outgoing.transactionNumber,
      'outgoing-transfer',
      () => outgoing.id,
    ],
    [
      'a transaction number in small letters',
      () => outgoing.transactionNumber.toLowerCase(),
      'outgoing-transfer',
      () => outgoing.id,
    ],
    ['an incoming transfer by the bank’s reference', () => 'BANKREF-1', 'incoming-transfer', () => incoming.id],
    [
      'an incoming transfer by its provider’s id',
      () => incoming.serviceProviderId,
      'incoming-transfer',
      () => incoming.id,
    ],
    ['an account by its ledger number', () => account.ledgerNumber, 'account', () => account.id],
    ['a client by its number', () => client.clientNumber, 'client', () => client.id],
    [
      'a beneficiary’s bank account by its IBAN with spaces',
      () => 'DE89 3704 0044 0532 0130 00',
      'beneficiary-bank-account',
      () => bankAccount,
    ],
    [
      'a payment by its reference',
      () => outgoing.id.replaceAll('-', '').toUpperCase(),
      'outgoing-transfer',
      () => outgoing.id,
    ],
    ['a client by its name, in part', () => 'somervi', 'client', () => client.id],
  ])('%s', async (_, text, kind, id) => {
    expect(await foundBy(text())).toMatchObject([{ kind, id: id() }]);
  });

  test('client and user by an e-mail address in any case', async () => {
    const found = await foundBy('MARY@example.com');
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['client', client.id],
      ['user', user.id],
    ]);
  });

  test('every account with an account number', async () => {
    const ids = (await foundBy('31926819')).map(({ kind }) => kind);
    expect(ids).toEqual(['account', 'account']);
  });

  test('both sides of a transfer by amount and date, with or without the currency, and no other amount', async () => {
    const date = outgoing.transferDate;
    for (const text of [`12.34 ${date}`, `${date} 12.34 GBP`]) {
      expect((await foundBy(text)).map(({ kind, amount }) => [kind, amount])).toEqual([
        ['outgoing-transfer', '12.34'],
        ['incoming-transfer', '12.34'],
      ]);
    }
    expect(await foundBy(`12.35 ${date}`)).toEqual([]);
    expect(await foundBy(`12.34 EUR ${date}`)).toEqual([]);
    expect(await foundBy('12.34 2020-01-01')).toEqual([]);
  });

  test('the table for people has ids, and exit status 1 and a sentence say that nothing is found', async () => {
    const { status, lines } = await run(outgoing.transactionNumber);
    expect(status).toBe(0);
    expect(lines.join('\n')).toMatch(/^WHAT +ID +NAME +STATUS +AMOUNT +SINCE\noutgoing-transfer +[0-9a-f-]{36} /);
    expect(lines.join('\n')).toContain('12.34 GBP');
    expect(await run(randomUUID())).toEqual({ status: 1, lines: ['Nothing is found.'] });
    await expect(run(' ')).rejects.toThrow('Give TEXT as');
  });
});

test('what a name finds too late hides no exact hit, nor names of other kinds, and is said', async () => {
  const named = await reviews(api).payIn({ serviceProviderReference: 'Somerville' });
  const few = { maxConnections: 2, applicationName: 'search-test', deadlineMs: 4_000 };
  const database = createDatabase({ url: testDatabase.url, ...few });
  await api.database.transaction(async (tx) => {
    // The look-up of clients waits for this lock until its time is over.
    await tx.statement('LOCK TABLE clients IN ACCESS EXCLUSIVE MODE', []);
    const { status, lines } = await runWith(database, ['Somerville']);
    expect(status).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`\nincoming-transfer +${named.id} `)),
      expect.stringMatching(/^Not searched in time: client\. /),
    ]);
    const inJson = await runWith(database, ['Somerville', '--json']);
    expect(JSON.parse(inJson.lines[0] ?? '')).toMatchObject({ found: [{ id: named.id }], unsearched: ['client'] });
    // A client may have this name.
    expect(await runWith(database, ['Fairfax'])).toMatchObject({
      status: 2,
      lines: ['Nothing is found.', expect.anything()],
    });
  });
  await database.close();
  expect((await foundBy('Somerville')).map(({ kind }) => kind)).toContain('client');
});

/** Each has a row per installation, provider or receiver, or so. */
const SMALL = ['system_accounts', 'webhook_subscriptions'];

test.each([
  '20261124-ABC123',
  '000000000195',
  '0000000195',
  IBAN,
  '31926819',
  'a@b.example',
  'BANKREF-1',
  randomUUID(),
])('an exact search (%s) reads indexes, however many rows there are', async (text) => {
  const plans = await api.database.transaction(async (tx) => {
    await tx.statement('SET LOCAL enable_seqscan = off', []);
    const lines: string[] = [];
    for (const { text: statement, params } of searchTermsOf(text).filter(isExact).flatMap(searchStatements)) {
      const plan = await tx.statement<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`, params);
      lines.push(...plan.map((line) => line['QUERY PLAN']));
    }
    return lines;
  });
  const scans = plans.filter((line) => line.includes('Seq Scan') && !SMALL.some((table) => line.includes(table)));
  expect(plans.length).toBeGreaterThan(0);
  expect(scans).toEqual([]);
});

test('an amount with a date reads the transfers of some days', async () => {
  const plans = await api.database.transaction(async (tx) => {
    await tx.statement('SET LOCAL enable_seqscan = off', []);
    const [term] = searchTermsOf('12.34 2026-11-24');
    if (term === undefined) throw new Error('no term');
    const lines: string[] = [];
    for (const { text, params } of searchStatements(term)) {
      const plan = await tx.statement<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, params);
      lines.push(...plan.map((line) => line['QUERY PLAN']));
    }
    return lines;
  });
  expect(plans.filter((line) => line.includes('Index Cond: ((created_at >='))).toHaveLength(2);
  expect(plans.join('\n')).not.toContain('Seq Scan');
});

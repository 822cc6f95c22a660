import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolationsSince } from '../../../db/ledger/check.ts';
import type { Json } from '../../harness/api.ts';
import { auditOf } from '../../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import {
  type AccountAsked,
  eventsOf,
  type MigrationStage,
  migrateAccount,
  migrateClient,
  rejectionIn,
  rowCounts,
  startMigrationStage,
} from '../../harness/parties/migration.ts';
import { eventually } from '../../harness/servers/sandbox.ts';

// What a migration of an account writes and rejects. What goes wrong at the bank meanwhile: account-migration-faults.long.test.ts.

let stage: MigrationStage;
let world: MoneyWorld;
/** Clients of the service, by their source ids at the bank. */
const clients: Record<string, string> = {};

beforeAll(async () => {
  stage = await startMigrationStage('accounts-migration');
  world = moneyWorld(stage.api);
  for (const sourceId of ['client-individual', 'client-corporate', 'client-accents', 'client-other-script']) {
    const answer = await migrateClient(stage.api, sourceId);
    expect(answer.status, answer.text).toBe(201);
    clients[sourceId] = answer.body.data.client.id;
  }
});

afterEach(async () => {
  stage.handOvers.after = async () => {};
  await stage.bank('DELETE', '/faults');
  await world.invariantsHold();
  expect(await findViolationsSince(stage.api.database.reader)).toEqual([]);
});

afterAll(async () => {
  await stage?.close();
});

const idOf = (clientSourceId: string): string => clients[clientSourceId] ?? '';

/** An existing account of the bank, put there as its operator would; each has numbers of its own. */
async function existing(sourceId: string, change: Json = {}): Promise<string> {
  const { status, body } = await stage.bank('POST', '/existing-accounts', {
    sourceId,
    clientSourceId: 'client-individual',
    currency: 'GBP',
    country: 'GB',
    balance: 50,
    accountNumber: accountNumber(),
    routingCodes: { 'sort-code': '040075' },
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return sourceId;
}

let accountNumbers = 80_000_000;

function accountNumber(): string {
  accountNumbers += 1;
  return String(accountNumbers);
}

async function migrated(sourceId: string, change: Partial<AccountAsked> = {}): Promise<Json> {
  const asked = { sourceId, clientId: idOf('client-individual'), ...change };
  const answer = await migrateAccount(stage.api, asked);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** The rejection of a request that must have written nothing, here or at the bank. */
async function rejected(sourceId: string, change: Json = {}): Promise<Json> {
  const { connect, ...rest } = change;
  const [before, positions] = [await rowCounts(stage.api), await stage.bank('GET', '/positions')];
  const options = { key: randomUUID(), ...(connect === undefined ? {} : { connect }) };
  const answer = await migrateAccount(stage.api, { sourceId, clientId: idOf('client-individual'), ...rest }, options);
  expect(await rowCounts(stage.api)).toEqual(before);
  expect(await stage.bank('GET', '/positions')).toEqual(positions);
  return { ...rejectionIn(answer), message: answer.body.message, headers: answer.headers, text: answer.text };
}

async function listed(sourceId: string): Promise<Json> {
  const { body } = await stage.bank('GET', '/existing-accounts');
  return body.accounts.find((account: Json) => account.sourceId === sourceId);
}

/** Our settlement account and the bank's pooled position, in minor units, by currency. */
async function positions(): Promise<{ ours: Json; theirs: Json }> {
  const rows = await stage.api.database.reader.statement<{ currency: string; minor: bigint }>(
    `SELECT account.currency, sum(CASE WHEN credit_account_id = account.id THEN -amount_minor ELSE amount_minor END)::bigint AS minor
     FROM system_accounts account JOIN postings ON account.id IN (debit_account_id, credit_account_id)
     WHERE account.provider = 'sandbox-bank' AND account.kind = 'settlement' GROUP BY 1`,
    [],
  );
  const { body } = await stage.bank('GET', '/positions');
  const minor = ({ currency, position }: Json) => Math.round(position * (currency === 'JPY' ? 1 : 100));
  return {
    ours: Object.fromEntries(rows.map((row) => [row.currency, Number(row.minor)])),
    theirs: Object.fromEntries(body.positions.map((one: Json) => [one.currency, minor(one)])),
  };
}

async function payIn(to: Json, amount: number, currency = 'GBP'): Promise<Json> {
  const { iban, accountNumber: number, routingCodes } = to;
  const receiver = iban === null ? { accountNumber: number, routingCodes } : { iban };
  const scheme = currency === 'GBP' ? 'faster-payments' : 'swift';
  const { status, body } = await stage.bank('POST', '/payments-in', { amount, currency, scheme, ...receiver });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const delivered = () =>
  eventually('the bank has delivered its callbacks', async () =>
    (await stage.bank('GET', '/callbacks')).body.pending === 0 ? true : undefined,
  );

async function available(id: string, wanted: number): Promise<void> {
  await eventually(`account ${id} holds ${wanted}`, async () =>
    (await world.balance(id)).available === wanted ? true : undefined,
  );
}

async function paymentsOf(paymentId: string): Promise<Json[]> {
  const path = `/incoming-transfers?data.incomingTransfer.serviceProviderId=${paymentId}`;
  return (await stage.api.call('GET', path)).body.data.incomingTransfers;
}

const READY_MADE: readonly [sourceId: string, owner: string, currency: string, country: string, balance: number][] = [
  ['account-individual-gbp', 'client-individual', 'GBP', 'GB', 1250.75],
  ['account-individual-eur', 'client-individual', 'EUR', 'DE', 300],
  ['account-corporate-gbp', 'client-corporate', 'GBP', 'GB', 84_000],
  ['account-corporate-usd', 'client-corporate', 'USD', 'US', 12_345.67],
  ['account-accents-eur', 'client-accents', 'EUR', 'FR', 99.99],
  ['account-accents-empty', 'client-accents', 'EUR', 'IE', 0],
  ['account-other-script-jpy', 'client-other-script', 'JPY', 'JP', 500_000],
];

describe('a ready-made account of the bank', () => {
  test.each(READY_MADE)('%s is active at once, with its numbers and its balance', async (...row) => {
    const [sourceId, owner, currency, country, balance] = row;
    const there = await listed(sourceId);
    expect(there).toMatchObject({ sourceId, clientSourceId: owner, currency, balance });
    const headers = { 'request-id': randomUUID() };
    const asked = { sourceId, clientId: idOf(owner), currency, alias: `Old ${currency}` };
    const answer = await migrateAccount(stage.api, asked, { headers });
    expect(answer.status, answer.text).toBe(201);
    const { workflow, data, connect, metadata } = answer.body;
    expect([workflow, metadata]).toEqual([{ code: 'client.migration' }, {}]);
    const { id, ledgerNumber, accountHolderName, accountHolderIdentityType, connection, ...account } = data.account;
    expect(account).toEqual({
      clientId: idOf(owner),
      mainAccountId: null,
      status: 'active',
      country,
      currency,
      alias: `Old ${currency}`,
      routingCodes: there.routingCodes,
      iban: there.iban,
      accountNumber: there.accountNumber,
      availableBalance: balance,
      receivableBalance: 0,
      serviceProvider: 'sandbox-bank',
    });
    const reference = `SBA-${sourceId}`;
    expect(connection).toEqual({
      id: connection.id,
      method: 'built-in',
      serviceProvider: 'sandbox-bank',
      reference,
      state: 'completed-up-to-date',
      status: 'active',
      error: null,
    });
    const shown = { id: connection.id, serviceProvider: 'sandbox-bank', reference, state: 'completed-up-to-date' };
    expect(connect).toEqual({ type: 'explicit', serviceProvider: 'sandbox-bank', connection: shown });
    expect((await stage.api.call('GET', `/accounts/${id}`)).body.data.account).toEqual(data.account);

    const events = await eventsOf(stage.api, id);
    expect(events.map(({ type, data: { status, availableBalance } }) => [type, status, availableBalance])).toEqual([
      ['connection-created', 'pending', balance],
      ['account-activated', 'active', balance],
    ]);
    const entries = await world.statement(id);
    expect(entries.map(({ entryDateTime: _, transactionNumber: __, ...entry }) => entry)).toEqual(
      balance === 0
        ? []
        : [
            {
              accountId: id,
              direction: 'credit',
              amount: balance,
              transactionType: 'balance-adjustment',
              entryType: 'principal',
              balance,
              currency,
              narrative: 'opening balance',
            },
          ],
    );
    expect(await auditOf(stage.api.database.reader, id)).toEqual([
      {
        resource: 'account',
        action: 'created',
        actor: stage.api.users.operator.id,
        requestId: headers['request-id'],
        before: null,
        after: {
          clientId: idOf(owner),
          mainAccountId: null,
          status: 'active',
          country,
          currency,
          ledgerNumber,
          method: 'built-in',
          serviceProvider: 'sandbox-bank',
          sourceId,
          openingBalance: balance,
        },
      },
    ]);
    const { ours, theirs } = await positions();
    expect(ours[currency] ?? 0).toBe(theirs[currency] ?? 0);
  });

  test('belongs to a client that cannot be migrated, and so cannot be either', async () => {
    for (const name of ['without-address', 'faulty', 'closed']) {
      expect(await listed(`account-${name}-gbp`)).toMatchObject({ clientSourceId: `client-${name}` });
      expect((await rejected(`account-${name}-gbp`)).problems).toEqual(['connect.client.mismatch account.clientId']);
    }
  });

  test('may belong to a client that an account of the service connected', async () => {
    const clientId = await world.client('Connected');
    const { body } = await stage.bank('POST', '/clients', {
      ourReference: clientId,
      identityType: 'individual',
      fullName: 'Connected Lovelace',
    });
    await stage.api.database.reader.statement(
      `INSERT INTO client_connections (id, client_id, provider, reference, state, created_at)
       VALUES (gen_random_uuid(), $1, 'sandbox-bank', $2, 'completed-up-to-date', service_now())`,
      [clientId, body.reference],
    );
    await existing('of a connected client', { clientSourceId: undefined, clientReference: body.reference });
    const { data } = await migrated('of a connected client', { clientId });
    expect(data.account).toMatchObject({ clientId, alias: 'GBP Account', availableBalance: 50 });
  });

  test('has its numbers in their usual form, and takes `connect.method` built-in', async () => {
    const number = `7${accountNumber().slice(2)}`;
    const sourceId = await existing('B/1 ?#%', { accountNumber: number, routingCodes: { 'sort-code': '04-00-75' } });
    const connect = { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' };
    const answer = await migrateAccount(stage.api, { sourceId, clientId: idOf('client-individual') }, { connect });
    expect(answer.status, answer.text).toBe(201);
    const { accountNumber: stored, routingCodes, iban } = answer.body.data.account;
    expect([stored, routingCodes, iban]).toEqual([`0${number}`, { 'sort-code': '040075' }, null]);
  });
});

describe('the same source id', () => {
  test('is 409 the second time, names the account, and does not ask the provider', async () => {
    const sourceId = await existing('twice');
    const { data } = await migrated(sourceId);
    const asked = stage.lookUps.count;
    const { message, ...rejection } = await rejected(sourceId);
    expect(rejection).toMatchObject({ status: 409, problems: ['common.state.illegal_transition account.sourceId'] });
    expect(message).toContain(data.account.id);
    expect(stage.lookUps.count).toBe(asked);
  });

  test('requested ten times at once is one account with one balance', async () => {
    const sourceId = await existing('at once');
    const before = await rowCounts(stage.api);
    const asked = { sourceId, clientId: idOf('client-individual') };
    const answers = await Promise.all(Array.from({ length: 10 }, () => migrateAccount(stage.api, asked)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    expect(await rowCounts(stage.api)).toEqual({
      ...before,
      accounts: before.accounts + 1,
      account_migrations: before.account_migrations + 1,
      balance_adjustments: before.balance_adjustments + 1,
      postings: before.postings + 1,
      audit_entries: before.audit_entries + 1,
      events: before.events + 1,
    });
    const { ours, theirs } = await positions();
    expect(ours.GBP).toBe(theirs.GBP);
  });

  test('under one Idempotency-Key is one answer, one after the other and ten times at once', async () => {
    const asked = { sourceId: await existing('one key'), clientId: idOf('client-individual') };
    const ask = () => migrateAccount(stage.api, asked, { key: 'one key' });
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    const count = stage.lookUps.count;
    await stage.bank('POST', '/faults', { errorRate: 1 });
    expect(new Set([...answers, await ask()].map(({ text }) => text)).size).toBe(1);
    expect(stage.lookUps.count).toBe(count);
  });
});

describe('an account that cannot be migrated is rejected, and nothing is written, here or at the bank', () => {
  test('404 for a source id that the provider does not know, and for an unknown client', async () => {
    expect(await rejected('unknown')).toMatchObject({
      status: 404,
      problems: ['connect.resource.not_found account.sourceId'],
    });
    expect(await rejected('unknown', { clientId: '0190c8a0-0000-7000-8000-000000000000' })).toMatchObject({
      status: 404,
      problems: ['common.coding.internal.record_not_found account.clientId'],
    });
  });

  test('422 for a client that is not active, or that the provider does not know, without a call to it', async () => {
    const clientId = await world.client('Unconnected');
    const count = stage.lookUps.count;
    expect(await rejected('account-faulty-gbp', { clientId })).toMatchObject({
      status: 422,
      problems: ['connect.client.not_connected account.clientId'],
    });
    const suspend = "UPDATE clients SET status = 'suspended' WHERE id = $1";
    await stage.api.database.reader.statement(suspend, [clientId]);
    expect(await rejected('account-faulty-gbp', { clientId })).toMatchObject({
      status: 422,
      problems: ['client.status.not_active account.clientId'],
    });
    expect(stage.lookUps.count).toBe(count);
  });

  test('422 for the account of another client, and then for another currency', async () => {
    const sourceId = await existing('of another client', { clientSourceId: 'client-corporate' });
    expect(await rejected(sourceId, { currency: 'EUR' })).toMatchObject({
      status: 422,
      problems: ['connect.client.mismatch account.clientId'],
    });
    expect(await rejected(sourceId, { clientId: idOf('client-corporate'), currency: 'EUR' })).toMatchObject({
      status: 422,
      problems: ['account.currency.mismatch account.currency'],
    });
  });

  test.each<[string, Json, string]>([
    ['a country that is none', { country: 'XX' }, 'connect.resource.invalid account.country'],
    ['a negative balance', { balance: -0.01 }, 'connect.resource.invalid account.balance'],
    ['a wrong IBAN', { iban: 'GB82WEST12345698765433' }, 'connect.resource.invalid account.iban'],
    ['a wrong account number', { accountNumber: '12' }, 'connect.resource.invalid account.accountNumber'],
    [
      'a wrong sort code',
      { routingCodes: { 'sort-code': '12' } },
      'connect.resource.invalid account.routingCodes.sort-code',
    ],
    ['a country without an offer', { country: 'FR' }, 'connect.offer.unavailable account.currency'],
    ['an account that the bank closed', { status: 'closed' }, 'connect.resource.invalid account.sourceId'],
  ])('422 for %s, naming the field and not the value', async (what, change, problem) => {
    const rejection = await rejected(await existing(`wrong: ${what}`, change));
    expect(rejection).toMatchObject({ status: 422, problems: [problem] });
    if (change.iban) expect(rejection.text).not.toContain(change.iban);
  });

  test('409 for an IBAN that another open account of the currency has', async () => {
    const iban = 'GB82WEST12345698765432';
    const taken = await world.account(await world.client('Taken'));
    const body = { workflow: { code: 'client.direct' }, data: { account: { iban } } };
    expect((await stage.api.call('PATCH', `/accounts/${taken}`, body)).status).toBe(200);
    expect(await rejected(await existing('taken IBAN', { iban, accountNumber: null, routingCodes: {} }))).toMatchObject(
      {
        status: 409,
        problems: ['common.state.illegal_transition account.iban'],
      },
    );
  });

  test('422 for what the bank does not release, 503 where it gives no answer', async () => {
    expect(await rejected('fail-functional')).toMatchObject({
      status: 422,
      problems: ['connect.resource.invalid account.sourceId'],
    });
    for (const sourceId of ['unavailable', 'cut', 'fail-technical', 'slow']) {
      const rejection = await rejected(sourceId);
      const problems = ['connect.provider.unavailable connect.serviceProvider'];
      expect(rejection).toMatchObject({ status: 503, problems });
      expect(rejection.headers.get('retry-after')).not.toBeNull();
    }
  });

  const FROM_BANK = { type: 'explicit', serviceProvider: 'sandbox-bank' };
  test.each<[string, Json, string]>([
    ['an unknown provider', { serviceProvider: 'no-bank' }, 'common.validation.field_invalid connect.serviceProvider'],
    ['a plug-in provider', { serviceProvider: 'custom-bank' }, 'connect.method.type_mismatch connect.serviceProvider'],
    ['type implicit', { type: 'implicit' }, 'common.validation.field_invalid connect.type'],
    ['no type', { type: undefined }, 'common.validation.field_required connect.type'],
    ['no provider', { serviceProvider: undefined }, 'common.validation.field_required connect.serviceProvider'],
    ['method plug-in', { method: 'plug-in' }, 'connect.method.type_mismatch connect.method'],
  ])('400 for %s', async (_what, change, problem) => {
    expect(await rejected('x', { connect: { ...FROM_BANK, ...change } })).toMatchObject({
      status: 400,
      problems: [problem],
    });
  });

  test.each<[string, Json, string]>([
    ['no source id', { sourceId: undefined }, 'common.validation.field_required sourceId'],
    ['a source id of 201 characters', { sourceId: 'x'.repeat(201) }, 'common.validation.field_invalid sourceId'],
    ['no client', { account: { currency: 'GBP' } }, 'common.validation.field_required account.clientId'],
    ['a currency that is none', { account: { currency: 'XXX' } }, 'common.validation.field_invalid account.currency'],
    [
      'an alias of 31 characters',
      { account: { alias: 'x'.repeat(31) } },
      'common.validation.field_invalid account.alias',
    ],
    ['a country', { account: { country: 'GB' } }, 'common.validation.field_unexpected account.country'],
    ['an IBAN', { account: { iban: 'x' } }, 'common.validation.field_unexpected account.iban'],
  ])('400 for %s', async (what, change, problem) => {
    const required = what === 'no client' ? {} : { clientId: idOf('client-individual'), currency: 'GBP' };
    const data = { sourceId: 'x', ...change, account: { ...required, ...change.account } };
    const answer = await stage.api.call('POST', '/accounts', {
      workflow: { code: 'client.migration' },
      data,
      connect: FROM_BANK,
    });
    expect([answer.status, `${answer.body.code} ${nameIn(answer.body)}`]).toEqual([400, problem]);
  });

  test('403 without the role operator', async () => {
    const asked = { sourceId: 'x', clientId: idOf('client-individual') };
    expect((await migrateAccount(stage.api, asked, { as: 'viewer' })).status).toBe(403);
  });
});

function nameIn({ messageParameters: [entity, field] }: Json): string {
  return entity === 'data' ? field : `${entity}.${field}`;
}

describe('money that moves meanwhile is neither lost nor doubled', () => {
  test('before the hand-over it is part of the balance, and the service is not notified of it', async () => {
    const sourceId = await existing('paid before');
    const { paymentId } = await payIn(await listed(sourceId), 20);
    await delivered();
    expect((await listed(sourceId)).balance).toBe(70);
    const { data } = await migrated(sourceId);
    expect(data.account.availableBalance).toBe(70);
    expect(await paymentsOf(paymentId)).toEqual([]);
  });

  test('between hand-over and commit it waits in suspense, and is the account’s as soon as that is here', async () => {
    const sourceId = await existing('paid between');
    const payments: Json[] = [];
    stage.handOvers.after = async () => {
      payments.push(await payIn(await listed(sourceId), 20), await payIn(await listed(sourceId), 3));
      await delivered();
      for (const { paymentId } of payments) {
        expect(await paymentsOf(paymentId)).toMatchObject([
          { status: 'on-hold', accountId: null, statusReason: { code: 'incoming.match.none' } },
        ]);
      }
    };
    const { data } = await migrated(sourceId);
    expect(data.account.availableBalance).toBe(73);
    for (const { paymentId } of payments) {
      expect(await paymentsOf(paymentId)).toMatchObject([{ status: 'completed', accountId: data.account.id }]);
    }
    const [opening, ...arrived] = await world.statement(data.account.id);
    expect([opening?.amount, opening?.transactionType]).toEqual([50, 'balance-adjustment']);
    expect(arrived.map(({ amount }) => amount).sort()).toEqual([20, 3]);
  });

  test('what the bank holds meanwhile is credited once it is released', async () => {
    const sourceId = await existing('held between');
    const payments: Json[] = [];
    stage.handOvers.after = async () => {
      const { accountNumber: number, routingCodes } = await listed(sourceId);
      const receiver = { accountNumber: number, routingCodes };
      const payment = { amount: 20, currency: 'GBP', scheme: 'chaps', hold: true, ...receiver };
      payments.push((await stage.bank('POST', '/payments-in', payment)).body);
      await delivered();
    };
    const { data } = await migrated(sourceId);
    expect(data.account.availableBalance).toBe(50);
    await stage.bank('POST', `/payments-in/${payments[0]?.paymentId}/release`);
    await available(data.account.id, 70);
  });

  test('a payment to a number that no account has stays on hold', async () => {
    const sourceId = await existing('another number');
    const there = await listed(sourceId);
    const { paymentId } = await payIn({ ...there, routingCodes: { 'sort-code': '999999' } }, 20);
    await delivered();
    expect((await migrated(sourceId)).data.account.availableBalance).toBe(50);
    expect(await paymentsOf(paymentId)).toMatchObject([{ status: 'on-hold', accountId: null }]);
  });

  test('callbacks that arrive while the migration commits find the account, or it finds their money', async () => {
    const rounds = 8;
    for (let round = 0; round < rounds; round += 1) {
      const sourceId = await existing(`race ${round}`);
      const paid: Promise<Json>[] = [];
      stage.handOvers.after = async () => {
        const there = await listed(sourceId);
        paid.push(...Array.from({ length: 5 }, () => payIn(there, 1)));
      };
      const { data } = await migrated(sourceId);
      await Promise.all(paid);
      await available(data.account.id, 55);
      expect(await world.statement(data.account.id)).toHaveLength(6);
    }
  });

  test.each<[string[], string]>([
    [['suspended'], 'suspended'],
    [['suspended', 'active'], 'active'],
    [['inactive', 'suspended'], 'suspended'],
  ])('the bank’s own moves between hand-over and commit count: %s', async (moves, status) => {
    const sourceId = await existing(`moved ${moves.join()}`);
    stage.handOvers.after = async () => {
      const { ourReference } = await listed(sourceId);
      for (const move of moves) await stage.bank('POST', `/accounts/${ourReference}/status`, { status: move });
      await delivered();
    };
    const { data } = await migrated(sourceId);
    expect(data.account.status).toBe(status);
    expect((await stage.api.call('GET', `/accounts/${data.account.id}`)).body.data.account.status).toBe(status);
  });

  test('a hand-over that the service did not survive is finished by the next request, under any key', async () => {
    const sourceId = await existing('not survived');
    stage.handOvers.after = async () => {
      throw new Error('the process ends here');
    };
    const asked = { sourceId, clientId: idOf('client-individual') };
    expect((await migrateAccount(stage.api, asked)).status).toBe(500);
    stage.handOvers.after = async () => {};
    const { ourReference } = await listed(sourceId);
    await payIn(await listed(sourceId), 20);
    await delivered();
    const { data } = await migrated(sourceId);
    expect(data.account).toMatchObject({ id: ourReference, availableBalance: 70 });
  });

  test('a client that is suspended meanwhile gets its account once it is active again', async () => {
    const clientId = idOf('client-accents');
    const sourceId = await existing('suspended meanwhile', { clientSourceId: 'client-accents' });
    const setStatus = (status: string) =>
      stage.api.database.reader.statement('UPDATE clients SET status = $2 WHERE id = $1', [clientId, status]);
    stage.handOvers.after = async () => {
      await setStatus('suspended');
    };
    const answer = await migrateAccount(stage.api, { sourceId, clientId });
    expect(rejectionIn(answer)).toEqual({ status: 422, problems: ['client.status.not_active account.clientId'] });
    stage.handOvers.after = async () => {};
    await setStatus('active');
    expect((await migrated(sourceId, { clientId })).data.account.availableBalance).toBe(50);
  });
});

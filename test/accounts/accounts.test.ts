import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/common/ids.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { post } from '../../db/ledger/ledger.ts';
import {
  ACCOUNT_STATUSES,
  ACCOUNT_TRANSITIONS,
  type AccountStatus,
  CONNECTION_STATES,
  type ConnectionState,
} from '../../domain/accounts/accounts.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { isLedgerNumber } from '../../domain/common/numbers/numbers.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('accounts');
  api = await startApi(database);
  clientId = await createClient('Ada');
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

async function createClient(givenName: string): Promise<string> {
  const { status, body, text } = await api.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: {
      client: {
        identity: { type: 'individual', givenName, familyName: 'Lovelace', birthDate: '1990-12-10', country: 'GB' },
        profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
      },
    },
  });
  expect(status, text).toBe(201);
  return body.data.client.id;
}

const PLUG_IN = { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' };

function issue(account: Json, connect: Json = PLUG_IN) {
  return api.call('POST', '/accounts', { workflow: { code: 'client.issuing' }, data: { account }, connect });
}

async function plugInAccount(fields: Json = {}): Promise<Json> {
  const { status, body, text } = await issue({ clientId, currency: 'GBP', ...fields });
  expect(status, text).toBe(201);
  return body.data.account;
}

function patch(id: string, account: Json) {
  return api.call('PATCH', `/accounts/${id}`, { workflow: { code: 'client.direct' }, data: { account } });
}

async function activeAccount(fields: Json = {}, details: Json = {}): Promise<Json> {
  const account = await plugInAccount(fields);
  const { status, body, text } = await patch(account.id, { status: 'active', ...details });
  expect(status, text).toBe(200);
  return body.data.account;
}

async function events(id: string): Promise<Json[]> {
  const rows = await api.database.reader.execute<{ entries: Json[] }>(
    sql`SELECT entries FROM events WHERE resource_id = ${id} ORDER BY first_sequence`,
  );
  return rows.flatMap(({ entries }) => entries);
}

async function eventTypes(id: string): Promise<string[]> {
  return (await events(id)).map(({ type }) => type);
}

/** Money of an account, by real postings against its provider's settlement account. */
async function credit(accountId: string, amountMinor: bigint, number: string, postedAt?: Date): Promise<void> {
  await api.database.transaction(async (tx) => {
    await tx.execute(sql`SELECT id FROM accounts WHERE id = ${accountId} FOR UPDATE`);
    const debit = { provider: 'custom-bank', kind: 'settlement' } as const;
    await post(tx, {
      now: postedAt ?? new Date(),
      debit: amountMinor > 0n ? debit : asId<AccountId>(accountId),
      credit: amountMinor > 0n ? asId<AccountId>(accountId) : debit,
      amountMinor: amountMinor > 0n ? amountMinor : -amountMinor,
      currency: 'GBP',
      debitNumber: number,
      debitType: 'incoming-transfer',
      entryType: 'principal',
      narrative: number,
    });
  });
}

function expectRejected(
  answer: { status: number; body: Json },
  status: number,
  code: string,
  parameters?: string[],
): void {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  if (parameters !== undefined) expect(answer.body.messageParameters).toEqual(parameters);
}

describe('POST /accounts', () => {
  test('a plug-in account is pending with a ledger number and a connection in creation', async () => {
    const { status, body } = await issue({ clientId, currency: 'EUR', country: 'FR', alias: 'Savings' });
    expect(status).toBe(201);
    expect(body.workflow).toEqual({ code: 'client.issuing' });
    expect(body.connect).toEqual(PLUG_IN);
    const { account } = body.data;
    expect(account).toMatchObject({
      clientId,
      mainAccountId: null,
      status: 'pending',
      country: 'FR',
      currency: 'EUR',
      alias: 'Savings',
      routingCodes: null,
      iban: null,
      accountNumber: null,
      availableBalance: 0,
      receivableBalance: 0,
      serviceProvider: 'custom-bank',
      accountHolderName: 'Ada Lovelace',
      accountHolderIdentityType: 'individual',
      connection: {
        method: 'plug-in',
        serviceProvider: 'custom-bank',
        reference: null,
        state: 'creation-in-progress',
        status: null,
        error: null,
      },
    });
    expect(isLedgerNumber(account.ledgerNumber)).toBe(true);
    expect(await eventTypes(account.id)).toEqual(['connection-creation-instructed']);
  });

  test('a built-in account wakes its workflow in the same transaction, and takes the provider of its choice', async () => {
    const { status, body } = await issue({ clientId, currency: 'GBP' }, {});
    expect(status).toBe(201);
    const { account } = body.data;
    expect(account).toMatchObject({
      status: 'pending',
      alias: 'GBP Account',
      country: 'GB',
      serviceProvider: 'sandbox-bank',
      connection: { method: 'built-in', state: 'creation-in-progress' },
    });
    const wakes = await api.database.reader.execute(
      sql`SELECT workflow_type AS type FROM workflow_wakeups WHERE workflow_id = ${`account-connection/${account.id}`}`,
    );
    expect(wakes).toEqual([{ type: 'account-connection' }]);
    const explicit = await issue(
      { clientId, currency: 'EUR', country: 'IE' },
      { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' },
    );
    expect(explicit.body.data.account).toMatchObject({ country: 'IE', serviceProvider: 'sandbox-bank' });
  });

  test('contradictions and unknown providers are 400, accounts that no provider offers are 422', async () => {
    const account = { clientId, currency: 'GBP' };
    expectRejected(await issue(account, { method: 'plug-in', type: 'implicit' }), 400, 'connect.method.type_mismatch');
    expectRejected(
      await issue(account, { method: 'plug-in', type: 'explicit', serviceProvider: 'sandbox-bank' }),
      400,
      'connect.method.type_mismatch',
    );
    expectRejected(
      await issue(account, { type: 'explicit', serviceProvider: 'unknown' }),
      400,
      'common.validation.field_invalid',
      ['connect', 'serviceProvider', 'unknown'],
    );
    expectRejected(await issue(account, { method: 'smoke-signals' }), 400, 'common.validation.field_invalid');
    expectRejected(await issue({ clientId, currency: 'GBP', country: 'FR' }, {}), 422, 'connect.offer.unavailable');
  });

  test('what contradicts itself in connect is named with everything else that is wrong', async () => {
    const account = { clientId: 'x', currency: 'GBP' };
    const named = async (connect: Json) => {
      const { status, body } = await issue(account, connect);
      const all = [body, ...(body.errors ?? [])];
      return [status, ...all.map(({ code, messageParameters: [entity, field] }: Json) => `${code} ${entity}.${field}`)];
    };
    const [type, provider] = ['connect.method.type_mismatch connect.type', 'connect.serviceProvider'];
    const client = 'common.validation.field_invalid account.clientId';
    const [exclusive, missing] = ['mutually_exclusive', 'field_required'].map((code) => `common.validation.${code}`);
    expect(await named({ method: 'plug-in' })).toEqual([400, client, type]);
    expect(await named({ method: 'plug-in', type: 'implicit', serviceProvider: 'custom-bank' })).toEqual([
      400,
      client,
      type,
      `${exclusive} ${provider}`,
    ]);
    expect(await named({ type: 'explicit' })).toEqual([400, client, `${missing} ${provider}`]);
  });

  test('the client must exist and be active', async () => {
    const unknown = randomUUID();
    expectRejected(
      await issue({ clientId: unknown, currency: 'GBP' }),
      404,
      'common.coding.internal.record_not_found',
      ['account', 'clientId', unknown],
    );
    const inactive = await createClient('Idle');
    await api.database.reader.execute(sql`UPDATE clients SET status = 'suspended' WHERE id = ${inactive}`);
    expectRejected(await issue({ clientId: inactive, currency: 'GBP' }), 422, 'client.status.not_active');
  });

  test('an alias has at most 30 characters, and unknown fields and workflows are rejected', async () => {
    expectRejected(
      await issue({ clientId, currency: 'GBP', alias: 'x'.repeat(31) }),
      400,
      'common.validation.field_invalid',
    );
    expect((await issue({ clientId, currency: 'GBP', alias: 'ä'.repeat(30) })).status).toBe(201);
    expectRejected(
      await issue({ clientId, currency: 'GBP', colour: 'red' }),
      400,
      'common.validation.field_unexpected',
    );
    const other = await api.call('POST', '/accounts', { workflow: { code: 'client.unknown' }, data: { account: {} } });
    expectRejected(other, 400, 'common.workflow.unknown_code');
  });

  test('a repeated key answers the same account byte for byte and opens one', async () => {
    const body = {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP', alias: 'Once' } },
      connect: PLUG_IN,
    };
    const first = await api.call('POST', '/accounts', body, { key: 'accounts-1' });
    const again = await api.call('POST', '/accounts', body, { key: 'accounts-1' });
    expect(again.text).toBe(first.text);
    const { body: found } = await api.call(
      'GET',
      `/accounts?data.account.clientId=${clientId}&data.account.alias=once`,
    );
    expect(found.data.accounts).toHaveLength(1);
  });

  test('a viewer cannot open an account', async () => {
    const body = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
    expectRejected(await api.call('POST', '/accounts', body, { as: 'viewer' }), 403, 'common.security.access_denied');
  });
});

describe('PATCH /accounts/{accountId} of plug-in accounts', () => {
  test('the whole life of a connection, with its events in order', async () => {
    const account = await plugInAccount();
    const activated = await patch(account.id, {
      status: 'active',
      iban: 'GB29 NWBK 6016 1331 9268 19',
      accountNumber: '1926819',
      routingCodes: { 'sort-code': '60-16-13', bic: 'NWBKGB2L' },
      connection: {
        id: account.connection.id,
        reference: 'CB-1',
        state: 'completed-up-to-date',
        status: 'active',
        error: null,
      },
    });
    expect(activated.status, activated.text).toBe(200);
    expect(activated.body.data.account).toMatchObject({
      status: 'active',
      iban: 'GB29NWBK60161331926819',
      accountNumber: '01926819',
      routingCodes: { 'sort-code': '601613', bic: 'NWBKGB2L' },
      connection: { reference: 'CB-1', state: 'completed-up-to-date', status: 'active' },
    });
    expect((await patch(account.id, { alias: 'Rent' })).body.data.account.alias).toBe('Rent');
    expect((await patch(account.id, { status: 'suspended' })).status).toBe(200);
    const closed = await patch(account.id, { status: 'closed', connection: { status: 'closed' } });
    expect(closed.body.data.account).toMatchObject({ status: 'closed', connection: { status: 'closed' } });
    const recorded = await events(account.id);
    expect(recorded.map(({ type }) => type)).toEqual([
      'connection-creation-instructed',
      'connection-created',
      'account-activated',
      'account-information-updated',
      'account-suspended',
      'connection-updated',
      'account-closed',
    ]);
    expect(recorded[0]?.data).toMatchObject({ status: 'pending', connection: { state: 'creation-in-progress' } });
    expect(recorded[1]?.data).toMatchObject({
      status: 'pending',
      iban: null,
      connection: { state: 'completed-up-to-date' },
    });
    expect(recorded[2]?.data).toMatchObject({ status: 'active', iban: 'GB29NWBK60161331926819', availableBalance: 0 });
    expect(recorded[5]?.data).toMatchObject({ connection: { status: 'closed' } });
  });

  test('the first account at a provider connects its client, once', async () => {
    const owner = await createClient('Grace');
    for (const currency of ['GBP', 'EUR']) {
      const { body } = await issue({ clientId: owner, currency });
      expect((await patch(body.data.account.id, { status: 'active' })).status).toBe(200);
    }
    const connected = (await events(owner)).filter(({ type }) => type === 'connection-created');
    expect(connected).toHaveLength(1);
    expect(connected[0]?.data).toMatchObject({ id: owner, connection: { serviceProvider: 'custom-bank' } });
  });

  test('a decline has its error, and no connection in the event of the account', async () => {
    const account = await plugInAccount();
    const error = {
      category: 'functional',
      origin: 'provider',
      code: 'kyc',
      message: 'Not accepted',
      attributes: { level: '2' },
    };
    const declined = await patch(account.id, { status: 'declined', connection: { state: 'creation-failed', error } });
    expect(declined.body.data.account).toMatchObject({
      status: 'declined',
      connection: { state: 'creation-failed', error },
    });
    const recorded = await events(account.id);
    expect(recorded.slice(1).map(({ type }) => type)).toEqual(['connection-creation-failed', 'account-declined']);
    expect(recorded[1]?.data.connection.error).toEqual(error);
    expect(recorded[2]?.data.connection).toBeNull();
  });

  const ERROR = { category: 'technical', origin: 'provider', code: 'no', message: 'No.', attributes: {} };
  const FAILED: readonly ConnectionState[] = ['creation-failed', 'dependency-failed', 'completed-outdated'];
  const reported = (state: ConnectionState) => ({ state, ...(FAILED.includes(state) ? { error: ERROR } : {}) });

  // By the state that is reported with the status, then by the one that was reported before it.
  const RESULTS: Record<ConnectionState, { active: [number, number]; declined: [number, number] }> = {
    'creation-in-progress': { active: [409, 200], declined: [409, 200] },
    'creation-failed': { active: [409, 409], declined: [200, 200] },
    'dependency-failed': { active: [409, 409], declined: [200, 200] },
    'completed-up-to-date': { active: [200, 200], declined: [409, 409] },
    // A connection in creation cannot become these at once.
    'update-in-progress': { active: [409, 200], declined: [409, 409] },
    'completed-outdated': { active: [409, 200], declined: [409, 409] },
  };
  for (const state of CONNECTION_STATES) {
    test.each(['active', 'declined'] as const)(
      `with a connection that is ${state}, a pending account becomes %s only where its events tell the same of its creation`,
      async (status) => {
        const [together, afterwards] = RESULTS[state][status];
        const one = await plugInAccount();
        await expectResult(one.id, { status, connection: reported(state) }, together);
        const other = await plugInAccount();
        if (['update-in-progress', 'completed-outdated'].includes(state)) {
          expect((await patch(other.id, { connection: { state: 'completed-up-to-date' } })).status).toBe(200);
        }
        expect((await patch(other.id, { connection: reported(state) })).status).toBe(200);
        await expectResult(other.id, { status }, afterwards);
      },
    );
  }

  /** A rejected result changes nothing; an accepted one has the event of its connection first. */
  async function expectResult(id: string, change: Json, expected: number): Promise<void> {
    const before = await eventTypes(id);
    const answer = await patch(id, change);
    expect(answer.status, answer.text).toBe(expected);
    const types = await eventTypes(id);
    if (expected === 409) {
      expect(answer.body.code).toBe('common.state.illegal_transition');
      expect(types).toEqual(before);
      return;
    }
    const created = change.status === 'active' ? 'connection-created' : 'connection-creation-failed';
    const result = change.status === 'active' ? 'account-activated' : 'account-declined';
    expect(types.filter((type) => type === created)).toEqual([created]);
    expect(types.at(-1)).toBe(result);
    const { connection } = (await events(id)).at(-1)?.data ?? {};
    if (change.status === 'active') expect(connection).toMatchObject({ status: 'active' });
    else expect(connection).toBeNull();
  }

  test('an account that was opened and never used is closed instead of declined', async () => {
    const account = await plugInAccount();
    expect((await patch(account.id, { connection: { state: 'completed-up-to-date' } })).status).toBe(200);
    expect((await patch(account.id, { status: 'declined' })).status).toBe(409);
    expect((await patch(account.id, { status: 'closed', connection: { status: 'closed' } })).status).toBe(200);
  });

  test('the error of a connection is kept or rejected, never dropped', async () => {
    const unexpected = async (id: string, change: Json) =>
      expectRejected(await patch(id, change), 400, 'common.validation.field_unexpected', [
        'account',
        'connection.error',
        '',
      ]);
    const pending = await plugInAccount();
    await unexpected(pending.id, { status: 'active', connection: { error: ERROR } });
    await unexpected(pending.id, { connection: { state: 'completed-up-to-date', error: ERROR } });
    await unexpected(pending.id, { connection: { error: ERROR } });
    expect((await patch(pending.id, { connection: { error: null } })).status).toBe(200);

    const { id } = await activeAccount();
    await unexpected(id, { connection: { status: 'inactive', error: ERROR } });
    await unexpected(id, { connection: { state: 'update-in-progress', error: ERROR } });
    const kept = await patch(id, { connection: { status: 'inactive', error: null } });
    expect(kept.body.data.account.connection).toMatchObject({ status: 'inactive', error: null });

    await patch(id, { connection: { state: 'completed-outdated', error: ERROR } });
    const later = { ...ERROR, code: 'later' };
    const replaced = await patch(id, { connection: { error: later } });
    expect(replaced.body.data.account.connection).toMatchObject({ state: 'completed-outdated', error: later });
    expectRejected(await patch(id, { connection: { error: null } }), 400, 'common.validation.field_required', [
      'account',
      'connection.error',
      '',
    ]);
    const sound = await patch(id, { connection: { state: 'completed-up-to-date', error: null } });
    expect(sound.body.data.account.connection).toMatchObject({ state: 'completed-up-to-date', error: null });

    const declined = await plugInAccount();
    const rejected = await patch(declined.id, { status: 'declined', connection: { error: ERROR } });
    expect(rejected.body.data.account.connection).toMatchObject({ state: 'creation-failed', error: ERROR });
  });

  // The way to each status, from pending.
  const WAYS: Record<AccountStatus, AccountStatus[]> = {
    pending: [],
    active: ['active'],
    inactive: ['active', 'inactive'],
    suspended: ['active', 'suspended'],
    closed: ['closed'],
    declined: ['declined'],
  };
  for (const from of ACCOUNT_STATUSES) {
    test(`from ${from} exactly the transitions of the table are legal, every other is 409 and changes nothing`, async () => {
      for (const to of ACCOUNT_STATUSES) {
        const account = await plugInAccount();
        for (const status of WAYS[from]) expect((await patch(account.id, { status })).status).toBe(200);
        const before = await eventTypes(account.id);
        const stays = from === to && ACCOUNT_TRANSITIONS[from].length > 0;
        const legal = stays || ACCOUNT_TRANSITIONS[from].includes(to);
        const moved = await patch(account.id, { status: to });
        expect([to, moved.status]).toEqual([to, legal ? 200 : 409]);
        const { body } = await api.call('GET', `/accounts/${account.id}`);
        expect(body.data.account.status).toBe(legal ? to : from);
        if (!legal || stays) expect(await eventTypes(account.id)).toEqual(before);
      }
    });
  }

  test('bank details without the status are 400 unless the account is active', async () => {
    const account = await plugInAccount();
    expectRejected(await patch(account.id, { accountNumber: '12345678' }), 400, 'common.validation.field_required', [
      'account',
      'status',
      '',
    ]);
    const active = await activeAccount();
    expect((await patch(active.id, { accountNumber: '12345678' })).body.data.account.accountNumber).toBe('12345678');
    expect((await eventTypes(active.id)).at(-1)).toBe('account-information-updated');
  });

  test('another connection, a wrong IBAN and an IBAN that another account has are rejected', async () => {
    const account = await activeAccount({}, { iban: 'GB94BARC10201530093459' });
    expectRejected(
      await patch(account.id, { connection: { id: newId(), status: 'closed' } }),
      400,
      'common.validation.field_invalid',
    );
    expectRejected(await patch(account.id, { iban: 'GB00NWBK60161331926819' }), 400, 'common.validation.field_invalid');
    const other = await activeAccount();
    expectRejected(await patch(other.id, { iban: 'GB94BARC10201530093459' }), 409, 'common.state.illegal_transition');
  });

  test('an unknown account is 404, an empty patch changes nothing', async () => {
    expectRejected(await patch(randomUUID(), { alias: 'x' }), 404, 'common.coding.internal.record_not_found');
    const account = await activeAccount();
    const before = await eventTypes(account.id);
    expect((await patch(account.id, {})).body.data.account).toEqual(account);
    expect(await eventTypes(account.id)).toEqual(before);
  });
});

describe('closing', () => {
  test('with money, then with money on its way, is 422; emptied it closes', async () => {
    const account = await activeAccount();
    await credit(account.id, 500n, '20261121-M00001');
    expectRejected(await patch(account.id, { status: 'closed' }), 422, 'account.close.not_empty');
    await credit(account.id, -500n, '20261121-M00002');
    await api.database.reader.execute(sql`UPDATE accounts SET receivable_minor = 5 WHERE id = ${account.id}`);
    expectRejected(await patch(account.id, { status: 'closed' }), 422, 'account.close.not_empty');
    await api.database.reader.execute(sql`UPDATE accounts SET receivable_minor = 0 WHERE id = ${account.id}`);
    expect((await patch(account.id, { status: 'closed' })).status).toBe(200);
  });

  test('and money that arrives at the same moment: one of them wins, and no closed account has money', async () => {
    for (let round = 0; round < 10; round += 1) {
      const account = await activeAccount();
      const arrive = () =>
        api.call('POST', '/provisioned-account-credits', {
          workflow: { code: 'client.direct' },
          data: {
            provisionedAccountCredit: {
              accountId: account.id,
              amount: 5,
              currency: 'GBP',
              scope: 'external',
              scheme: 'chaps',
            },
          },
        });
      const close = () => patch(account.id, { status: 'closed' });
      const [closed, arrived] =
        round % 2 === 0
          ? await Promise.all([close(), arrive()])
          : await Promise.all([arrive(), close()]).then(([one, other]) => [other, one] as const);
      expect(arrived.status, arrived.text).toBe(201);
      const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${account.id}`);
      const { status: outcome } = body.data.incomingTransfers[0];
      expect([
        [200, 'failed', 0],
        [422, 'completed', 5],
      ]).toContainEqual([
        closed.status,
        outcome,
        (await api.call('GET', `/accounts/${account.id}`)).body.data.account.availableBalance,
      ]);
    }
  });
});

describe('GET /accounts', () => {
  test('one, with its client and the deprecated copy of its connection on request', async () => {
    const account = await activeAccount();
    const plain = await api.call('GET', `/accounts/${account.id}`);
    expect(plain.body).toMatchObject({ workflow: {}, connect: {} });
    expect(plain.body.data).toEqual({ account });
    expect(plain.headers.get('sunset')).toBeNull();
    const full = await api.call(
      'GET',
      `/accounts/${account.id}?metadata.include=connect.connection&metadata.expand=data.account.clientId`,
    );
    expect(full.body.connect.connection).toEqual(account.connection);
    expect(full.body.data.client).toMatchObject({
      id: clientId,
      fullName: 'Ada Lovelace',
      status: 'active',
      identity: { givenName: 'Ada' },
    });
    expect(full.headers.get('deprecation')).not.toBeNull();
    expect(full.headers.get('sunset')).toContain('31 May 2024');
    expectRejected(await api.call('GET', `/accounts/${randomUUID()}`), 404, 'common.coding.internal.record_not_found');
  });

  test('every filter finds the account that it describes and not the other', async () => {
    const owner = await createClient('Filtered');
    const wanted = await activeAccount(
      { clientId: owner, currency: 'JPY', country: 'JP', alias: '100%_Rent' },
      { accountNumber: 'JP-77', routingCodes: { bic: 'BOTKJPJT' } },
    );
    await credit0(wanted.id);
    const other = await activeAccount(
      { clientId: owner, currency: 'GBP', alias: '100 Rents' },
      { iban: 'GB33BUKB20201555555555' },
    );
    await credit(other.id, 12_345n, '20261121-M00003');
    await patch(other.id, { status: 'suspended' });
    const ids = async (query: string) => {
      const { status, body, text } = await api.call('GET', `/accounts?data.account.clientId=${owner}&${query}`);
      expect(status, text).toBe(200);
      expect(body.metadata.page.totalElements).toBe(body.data.accounts.length);
      return body.data.accounts.map(({ id }: { id: string }) => id);
    };
    const only: [string, string[]][] = [
      ['', [wanted.id, other.id]],
      ['data.account.status=suspended', [other.id]],
      ['data.account.currency=JPY', [wanted.id]],
      ['data.account.alias=0%25_r', [wanted.id]],
      ['data.account.alias=RENT', [wanted.id, other.id]],
      ['data.account.routingCodeKey=bic', [wanted.id]],
      ['data.account.routingCodeValue=BOTKJPJT', [wanted.id]],
      ['data.account.routingCodeKey=bic&data.account.routingCodeValue=BARCGB22', []],
      ['data.account.iban=gb33+BUKB+2020+1555+5555+55', [other.id]],
      ['data.account.accountNumber=JP-77', [wanted.id]],
      [`data.account.ledgerNumber=${other.ledgerNumber}`, [other.id]],
      ['data.account.availableBalanceFrom=123.45', [wanted.id, other.id]],
      ['data.account.availableBalanceFrom=123.46', [wanted.id]],
      ['data.account.availableBalanceTo=123.45', [other.id]],
      ['data.account.availableBalanceFrom=500&data.account.availableBalanceTo=500', [wanted.id]],
      ['data.account.serviceProvider=custom-bank', [wanted.id, other.id]],
      ['data.account.serviceProvider=sandbox-bank', []],
      ['data.account.accountHolderName=filtered%20love', [wanted.id, other.id]],
      [`data.account.mainAccountId=${wanted.id}`, []],
    ];
    for (const [query, expected] of only) expect([query, await ids(query)]).toEqual([query, expected]);
    await patch(other.id, { status: 'active' });
    await patch(other.id, { accountNumber: '1 926819' });
    await patch(wanted.id, { accountNumber: '09268 19' });
    const numbers: [string, string[]][] = [
      ['1926819', [other.id]],
      ['192+6819', [other.id]],
      ['01926819', [other.id]],
      ['0192 6819', [other.id]],
      ['0926819', [wanted.id]],
      ['09268 19', [wanted.id]],
      // Only a sterling account in Britain fills its number up.
      ['926819', []],
      ['00926819', []],
    ];
    for (const [number, expected] of numbers)
      expect([number, await ids(`data.account.accountNumber=${number}`)]).toEqual([number, expected]);
    const page = await api.call(
      'GET',
      `/accounts?data.account.clientId=${owner}&metadata.page.size=1&metadata.page.number=1`,
    );
    expect(page.body.metadata.page).toEqual({ size: 1, number: 1, totalElements: 2, totalPages: 2 });
    expect(page.body.data.accounts[0].id).toBe(other.id);
    expectRejected(
      await api.call('GET', '/accounts?data.account.colour=red'),
      400,
      'common.validation.field_unexpected',
    );
  });

  test('those of a user are the accounts of all clients that the user may act for, while it may', async () => {
    const owners = [await createClient('Related'), await createClient('Related Too'), await createClient('Unrelated')];
    const opened = await Promise.all(
      owners.map((clientId) => activeAccount({ clientId, currency: 'JPY', country: 'JP' })),
    );
    const created = await api.call('POST', '/users', {
      workflow: { code: 'human.external.direct' },
      data: {
        user: {
          email: `${randomUUID()}@example.com`,
          identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' },
        },
        userClientRelations: owners.slice(0, 2).map((clientId) => ({ clientId })),
      },
    });
    expect(created.status, created.text).toBe(201);
    const { user, userClientRelations } = created.body.data;
    const ids = async (query = '') => {
      const { body } = await api.call('GET', `/accounts?data.account.userId=${user.id}${query}`);
      expect(body.metadata.page.totalElements).toBe(body.data.accounts.length);
      return body.data.accounts.map(({ id }: { id: string }) => id).sort();
    };
    const [first, second] = opened.map(({ id }) => id);
    expect(await ids()).toEqual([first, second].sort());
    expect(await ids(`&data.account.clientId=${owners[0]}&data.account.status=active`)).toEqual([first]);
    expect(await ids(`&data.account.clientId=${owners[2]}`)).toEqual([]);
    await api.call('PATCH', `/users/${user.id}/client-relations/${userClientRelations[0].id}`, {
      workflow: { code: 'direct' },
      data: { userClientRelation: { status: 'revoked' } },
    });
    expect(await ids()).toEqual([second]);
    const unknown = await api.call('GET', `/accounts?data.account.userId=${randomUUID()}`);
    expect(unknown.body.data.accounts).toEqual([]);
  });

  /** 500 yen, which have no decimals. */
  async function credit0(accountId: string): Promise<void> {
    await api.database.transaction(async (tx) => {
      await tx.execute(sql`SELECT id FROM accounts WHERE id = ${accountId} FOR UPDATE`);
      await post(tx, {
        now: new Date(),
        debit: { provider: 'custom-bank', kind: 'settlement' },
        credit: asId<AccountId>(accountId),
        amountMinor: 500n,
        currency: 'JPY',
        debitNumber: '20261121-M00009',
        debitType: 'incoming-transfer',
        entryType: 'principal',
      });
    });
  }
});

describe('GET /accounts/{accountId}/account-statements', () => {
  test('entries by time with the balance after each, paged, within the requested range', async () => {
    const account = await activeAccount();
    const now = new Date();
    const monthsBack = (months: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15, 10, 0, 0, 123));
    await credit(account.id, 1_000n, '20260101-M0000A', monthsBack(2));
    await credit(account.id, 250n, '20260201-M0000B', monthsBack(1));
    await credit(account.id, -1_050n, '20260201-M0000C', monthsBack(1));
    await credit(account.id, 7n, '20260301-M0000D', now);
    const statement = (query: string) => api.call('GET', `/accounts/${account.id}/account-statements?${query}`);
    const narratives = async (query: string) => {
      const { status, body, text } = await statement(query);
      expect(status, text).toBe(200);
      return body.data.accountStatements.map(({ narrative }: Json) => narrative.slice(-1)).join('');
    };
    const at = (months: number) => monthsBack(months).toISOString().slice(0, 23);
    expect(await narratives('')).toBe('D');
    expect(await narratives(`data.accountStatement.entryDateTimeFrom=${at(1)}`)).toBe('BC');
    expect(await narratives(`data.accountStatement.entryDateTimeTo=${at(2)}`)).toBe('A');
    expect(
      await narratives(
        `data.accountStatement.entryDateTimeFrom=${at(2)}&data.accountStatement.entryDateTimeTo=${at(1)}`,
      ),
    ).toBe('ABC');
    const whole = `data.accountStatement.entryDateTimeFrom=${at(2)}&data.accountStatement.entryDateTimeTo=2999-01-01T00:00:00.000`;
    const { body } = await statement(whole);
    expect(
      body.data.accountStatements.map(({ direction, amount, balance }: Json) => [direction, amount, balance]),
    ).toEqual([
      ['credit', 10, 10],
      ['credit', 2.5, 12.5],
      ['debit', 10.5, 2],
      ['credit', 0.07, 2.07],
    ]);
    expect(body.data.accountStatements[0]).toEqual({
      accountId: account.id,
      transactionNumber: '20260101-M0000A',
      entryDateTime: at(2),
      direction: 'credit',
      amount: 10,
      transactionType: 'incoming-transfer',
      entryType: 'principal',
      balance: 10,
      currency: 'GBP',
      narrative: '20260101-M0000A',
    });
    const second = await statement(`${whole}&metadata.page.size=2&metadata.page.number=1`);
    expect(second.body.metadata.page).toEqual({ size: 2, number: 1, totalElements: 4, totalPages: 2 });
    expect(second.body.data.accountStatements[0].transactionNumber).toBe('20260201-M0000C');
    expect(await narratives(`${whole}&data.accountStatement.transactionNumber=20260201-M0000B`)).toBe('B');
    expectRejected(
      await statement(
        `data.accountStatement.entryDateTimeFrom=${at(1)}&data.accountStatement.entryDateTimeTo=${at(2)}`,
      ),
      400,
      'common.validation.field_invalid',
    );
    expectRejected(
      await api.call('GET', `/accounts/${randomUUID()}/account-statements`),
      404,
      'common.coding.internal.record_not_found',
    );
  });
});

describe('queries before a transfer', () => {
  test('deposit information has one entry for each scheme, and internal', async () => {
    const account = await activeAccount(
      {},
      { iban: 'GB82WEST12345698765432', routingCodes: { 'sort-code': '123456', bic: 'WESTGB2L' } },
    );
    const { body } = await api.call('GET', `/accounts/${account.id}/deposit-information`);
    const information = body.data.depositInformation;
    expect(Object.keys(information).sort()).toEqual(['chaps', 'faster-payments', 'internal', 'swift']);
    expect(information.swift).toMatchObject({
      routingCodes: { bic: 'WESTGB2L' },
      iban: 'GB82WEST12345698765432',
      ledgerNumber: null,
    });
    expect(information.chaps).toMatchObject({
      routingCodes: { 'sort-code': '123456' },
      accountHolderName: 'Ada Lovelace',
    });
    expect(information.internal).toMatchObject({ ledgerNumber: account.ledgerNumber, iban: null });
  });

  test('schemes by destination, reasons by country, dates by scheme', async () => {
    const account = await activeAccount();
    const get = async (path: string) => api.call('GET', `/accounts/${account.id}/${path}`);
    expect((await get('outgoing-transfer-schemes/GB')).body.data.transferSchemes).toEqual([
      'faster-payments',
      'chaps',
      'swift',
    ]);
    expect((await get('outgoing-transfer-schemes/US')).body.data.transferSchemes).toEqual(['swift']);
    expectRejected(await get('outgoing-transfer-schemes/XX'), 400, 'common.validation.field_invalid');
    const reasons = await get('transfer-reasons/CN');
    expect(reasons.body.data.transferReasons.length).toBeGreaterThan(1);
    expect((await get('transfer-reasons/GB')).body.data.transferReasons).toEqual([]);
    const deprecated = await api.call('GET', '/transfer-reasons/CN');
    expect(deprecated.body.data).toEqual(reasons.body.data);
    expect(deprecated.headers.get('deprecation')).not.toBeNull();
    const internal = await get('outgoing-transfer-date-metadata/internal/internal');
    expect(internal.body.data).toMatchObject({ nextCutoffDateTime: null, unavailableDates: [] });
    const chaps = await get('outgoing-transfer-date-metadata/external/chaps');
    expect(chaps.body.data.unavailableDates.length).toBeGreaterThan(103);
    expect(chaps.body.data.unavailableDates).not.toContain(chaps.body.data.nextAvailableDate);
    expect(chaps.body.data.nextCutoffDateTime.slice(0, 10)).toBe(chaps.body.data.nextAvailableDate);
    expectRejected(await get('outgoing-transfer-date-metadata/external/sepa'), 422, 'transfer.scheme.unavailable');
    expectRejected(await get('outgoing-transfer-date-metadata/internal/chaps'), 400, 'common.validation.field_invalid');
  });
});

test('after all this every invariant of the books holds', async () => {
  expect(await checkLedger(api.database.reader)).toEqual([]);
});

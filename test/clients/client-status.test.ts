import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { ACCOUNT_TRANSITIONS } from '../../domain/accounts/accounts.ts';
import { CLIENT_STATUSES, type ClientStatus } from '../../domain/clients/clients.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { gate, lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;

beforeAll(async () => {
  database = await createTestDatabase('client-status');
  api = await startApi(database);
  world = moneyWorld(api);
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

function patch(
  id: string,
  client: Json,
  as: Role = 'compliance',
  requestId: string = randomUUID(),
): Promise<ApiResponse> {
  const body = { workflow: { code: 'direct' }, data: { client } };
  return api.call('PATCH', `/clients/${id}`, body, { as, headers: { 'request-id': requestId } });
}

async function statusOf(id: string): Promise<string> {
  return (await api.call('GET', `/clients/${id}`)).body.data.client.status;
}

/** A client in any status, including those that no caller can set. */
async function clientThatIs(status: ClientStatus): Promise<string> {
  const id = await world.client();
  await api.database.reader.statement('UPDATE clients SET status = $2 WHERE id = $1', [id, status]);
  return id;
}

function rejection({ status, body }: ApiResponse): Json[] {
  return [status, body.code, body.messageParameters];
}

describe('PATCH /clients/{clientId} with a status', () => {
  const pairs = CLIENT_STATUSES.flatMap((from) => CLIENT_STATUSES.map((to) => ({ from, to })));

  test.each(pairs)('from $from to $to, as for accounts', async ({ from, to }) => {
    const id = await clientThatIs(from);
    const answer = await patch(id, { status: to });
    const stays = from === to && ACCOUNT_TRANSITIONS[from].length > 0;
    if (!stays && !ACCOUNT_TRANSITIONS[from].includes(to)) {
      expect(rejection(answer)).toEqual([409, 'common.state.illegal_transition', ['client', 'status', to]]);
      expect(await statusOf(id)).toBe(from);
      return;
    }
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.client.status).toBe(to);
    expect(await statusOf(id)).toBe(to);
    const events = stays ? ['created'] : ['created', 'status-changed'];
    expect(await world.events(id)).toEqual(events);
    expect(await changesOf(id)).toHaveLength(stays ? 0 : 1);
  });

  test('records the actor and the request', async () => {
    const id = await world.client();
    expect((await patch(id, { status: 'suspended' }, 'admin', 'suspended-by-hand')).status).toBe(200);
    expect(await changesOf(id)).toEqual([
      {
        resource: 'client',
        action: 'status-changed',
        actor: api.users.admin.id,
        requestId: 'suspended-by-hand',
        before: { status: 'active' },
        after: { status: 'suspended' },
      },
    ]);
  });

  test('has an event without the relations of the client, of which there may be a thousand', async () => {
    const address = { country: 'GB', city: 'London' };
    const director = {
      type: 'individual',
      givenName: 'Grace',
      familyName: 'Hopper',
      birthDate: '1990-12-09',
      country: 'GB',
    };
    const client = {
      identity: { type: 'corporate', legalName: 'Brook Lane Bakery Limited' },
      profile: { identityType: 'corporate', registrationAddress: address },
      relations: [
        {
          relation: 'director',
          identity: director,
          profile: { identityType: 'individual', residentialAddress: address },
        },
      ],
    };
    const created = await api.call('POST', '/clients', { workflow: { code: 'direct' }, data: { client } });
    expect(created.status, created.text).toBe(201);
    const { id } = created.body.data.client;
    const answer = await patch(id, { status: 'suspended' });
    const { relations, ...shown } = answer.body.data.client;
    expect(relations).toHaveLength(1);
    const [event] = await api.database.reader.statement<{ entries: Json[] }>(
      'SELECT entries FROM events WHERE resource_id = $1 ORDER BY first_sequence DESC LIMIT 1',
      [id],
    );
    expect(event?.entries).toEqual([{ type: 'status-changed', data: shown }]);
  });

  test('is for compliance and admin; identity and profile are for operators', async () => {
    const id = await world.client();
    const phone = { profile: { identityType: 'individual', phone: '+44 20 7946 0000' } };
    const name = { identity: { type: 'individual', givenName: 'Augusta' } };
    for (const as of ROLES) {
      const decides = as === 'compliance' || as === 'admin';
      const status = await patch(id, { status: 'inactive' }, as);
      expect([as, status.status]).toEqual([as, decides ? 200 : 403]);
      for (const change of [phone, name]) {
        expect([as, (await patch(id, change, as)).status]).toEqual([as, as === 'operator' ? 200 : 403]);
      }
      const both = await patch(id, { ...phone, status: 'suspended' }, as);
      expect([as, both.status, both.body.code]).toEqual([as, 403, 'common.security.access_denied']);
    }
    expect(await statusOf(id)).toBe('inactive');
  });

  test('rejects an unknown status, and the whole change with it', async () => {
    const id = await world.client();
    for (const status of ['open', '', null, 1]) expect((await patch(id, { status })).status).toBe(400);
    expect((await patch(randomUUID(), { status: 'inactive' })).status).toBe(404);
    expect(await statusOf(id)).toBe('active');
  });

  test('closes only without an open account', async () => {
    const id = await world.client();
    const account = await world.account(id);
    const change = (status: string) =>
      api.call('PATCH', `/accounts/${account}`, { workflow: { code: 'client.direct' }, data: { account: { status } } });
    expect(rejection(await patch(id, { status: 'closed' }))).toEqual([
      422,
      'client.close.not_empty',
      ['client', 'status', 'closed'],
    ]);
    expect(await statusOf(id)).toBe('active');
    expect((await change('closed')).status).toBe(200);
    expect((await patch(id, { status: 'closed' })).status).toBe(200);
    expect(await statusOf(id)).toBe('closed');
  });

  test('and opening an account at once never leave an open account under a closed client', async () => {
    for (let round = 0; round < 5; round += 1) {
      const clientId = await world.client();
      const [closed, opened] = await Promise.all([
        patch(clientId, { status: 'closed' }),
        api.call('POST', '/accounts', {
          workflow: { code: 'client.issuing' },
          data: { account: { clientId, currency: 'GBP' } },
          connect: { method: 'plug-in', type: 'explicit', serviceProvider: 'custom-bank' },
        }),
      ]);
      expect([
        [200, 422],
        [422, 201],
      ]).toContainEqual([closed.status, opened.status]);
    }
  });
});

describe('a client that is not active', () => {
  test.each(['inactive', 'suspended', 'closed'])('opens no account: %s', async (status) => {
    const clientId = await world.client();
    expect((await patch(clientId, { status })).status).toBe(200);
    for (const serviceProvider of ['sandbox-bank', 'custom-bank']) {
      const method = serviceProvider === 'custom-bank' ? 'plug-in' : 'built-in';
      const answer = await api.call('POST', '/accounts', {
        workflow: { code: 'client.issuing' },
        data: { account: { clientId, currency: 'GBP' } },
        connect: { method, type: 'explicit', serviceProvider },
      });
      expect(rejection(answer)).toEqual([422, 'client.status.not_active', ['account', 'clientId', clientId]]);
    }
  });

  test('resumes what waits for it when it becomes active: held money, and payments out', async () => {
    const clientId = await world.client();
    const account = await world.account(clientId, { amount: 100 });
    const beneficiary = await world.beneficiary(clientId);
    expect((await patch(clientId, { status: 'suspended' })).status).toBe(200);
    await world.credit(account, 10);
    const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${account}`);
    const held = body.data.incomingTransfers.find((transfer: Json) => transfer.status === 'on-hold');
    await api.database.reader.statement(
      `INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
         transfer_date, original_transfer_date, beneficiary_bank_account_id, authorization_status, compliance_check_status,
         transfer_date_status, balance_check_status, method, provider, waiting_for, created_at, updated_at)
       VALUES ($1, '20260101-AWAITS', $2, $3, 'pending', 'external', 'faster-payments', 'GBP', 100, '2026-01-01', '2026-01-01', $4,
         'not-required', 'not-required', 'fulfilled', 'not-checked', 'plug-in', 'custom-bank', 'account', service_now(), service_now())`,
      [randomUUID(), clientId, account, beneficiary],
    );
    await api.database.reader.statement('DELETE FROM workflow_wakeups', []);
    expect((await patch(clientId, { status: 'active' })).status).toBe(200);
    const woken = await api.database.reader.statement<{ type: string }>(
      'SELECT workflow_type AS type FROM workflow_wakeups ORDER BY 1',
      [],
    );
    expect(woken.map(({ type }) => type)).toEqual(['incoming-transfer', 'outgoing-transfer']);
    expect(held).toBeDefined();
    await api.database.reader.statement(
      `DELETE FROM outgoing_transfers WHERE transaction_number = '20260101-AWAITS'`,
      [],
    );
  });
});

describe('a change of status', () => {
  interface Held {
    readonly release: () => void;
    readonly done: Promise<unknown>;
  }

  /** Another transaction that has taken a lock, until it is released. */
  async function hold(lock: string, values: readonly unknown[] = []): Promise<Held> {
    const [taken, released] = [gate(), gate()];
    const done = api.database.transaction(async (tx) => {
      await tx.statement(lock, values);
      taken.open();
      await released.opened;
    });
    await taken.opened;
    return { release: released.open, done };
  }

  const holdAccount = (id: string) => hold('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [id]);

  const waiting = (number: number) =>
    until(
      () => lockWaiters(api.database.reader),
      (waiters) => waiters === number,
    );

  /** Whether the change waits too, as the `number`th session; otherwise it has been answered. */
  function waits(changing: Promise<ApiResponse>, number: number): Promise<boolean> {
    return Promise.race([changing.then(() => false), waiting(number).then(() => true)]);
  }

  function external(clientId: string, accountId: string, bankAccount: string, amount: number): Json {
    return {
      ...{ clientId, currency: 'GBP', amount, scope: 'external', scheme: 'faster-payments' },
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    };
  }

  test('waits for a batch that has read the status: the batch is whole before it', async () => {
    const clientId = await world.client();
    const account = await world.account(clientId, { amount: 100 });
    const bankAccount = await world.beneficiary(clientId);
    // Keeps the batch between its reads and its first row.
    const table = await hold('LOCK TABLE outgoing_transfers IN SHARE MODE');
    const items = [1, 2, 3].map((amount) => ({
      reference: randomUUID(),
      outgoingTransfer: external(clientId, account, bankAccount, amount),
    }));
    const body = { workflow: { code: 'client.direct', mode: 'all' }, data: { items } };
    const paying = api.call('POST', '/outgoing-transfers/batch', body);
    await waiting(1);
    const changing = patch(clientId, { status: 'suspended' });
    const isHeld = await waits(changing, 2);
    table.release();
    const [paid, changed] = await Promise.all([paying, changing, table.done]);
    expect([isHeld, paid.status, changed.status]).toEqual([true, 201, 200]);
    const rows = await api.database.reader.statement<{ status: string; isBefore: boolean }>(
      `SELECT status, created_at <= (SELECT max(occurred_at) FROM events WHERE resource_id = $2) AS "isBefore"
       FROM outgoing_transfers WHERE account_id = $1`,
      [account, clientId],
    );
    expect(rows).toEqual(items.map(() => ({ status: 'processing', isBefore: true })));
  });

  test('wakes a payment that was about to wait for the client', async () => {
    const clientId = await world.client();
    const account = await world.account(clientId);
    const outgoingTransfer = external(clientId, account, await world.beneficiary(clientId), 10);
    const made = await api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: { outgoingTransfer },
    });
    expect(made.status, made.text).toBe(201);
    const id = asId<OutgoingTransferId>(made.body.data.outgoingTransfer.id);
    expect((await patch(clientId, { status: 'suspended' })).status).toBe(200);
    await api.database.reader.statement('DELETE FROM workflow_wakeups', []);
    // Keeps the advance between its read of the client and its decision.
    const transfer = await hold('SELECT FROM outgoing_transfers WHERE id = $1 FOR UPDATE', [id]);
    const advancing = api.database.transaction((tx) => advanceOutgoingTransfer(tx, id, api.services.configuration));
    await waiting(1);
    const changing = patch(clientId, { status: 'active' });
    const isHeld = await waits(changing, 2);
    transfer.release();
    const [, changed] = await Promise.all([advancing, changing, transfer.done]);
    expect([isHeld, changed.status]).toEqual([true, 200]);
    const woken = await api.database.reader.statement(
      `SELECT waiting_for AS "waitsFor", EXISTS (SELECT FROM workflow_wakeups WHERE workflow_id LIKE '%' || id::text) AS "isWoken"
       FROM outgoing_transfers WHERE id = $1`,
      [id],
    );
    expect(woken).toEqual([{ waitsFor: 'account', isWoken: true }]);
  });

  test('waits for an account that opened while it waited for another one', async () => {
    const clientId = await world.client();
    const first = await holdAccount(await world.account(clientId));
    const changing = patch(clientId, { status: 'suspended' });
    await waiting(1);
    const second = await holdAccount(await world.account(clientId));
    first.release();
    await first.done;
    const isHeld = await waits(changing, 1);
    second.release();
    await second.done;
    expect([isHeld, (await changing).status]).toEqual([true, 200]);
  });

  test('that does not lock an account in time releases the others, and says that nothing was done', async () => {
    const clientId = await world.client();
    await world.account(clientId);
    const account = await holdAccount(await world.account(clientId));
    const { status, body } = await patch(clientId, { status: 'suspended' });
    expect([status, body.message]).toEqual([503, 'The database is not available. Nothing was done.']);
    account.release();
    await account.done;
    expect((await patch(clientId, { status: 'suspended' })).status).toBe(200);
  });

  test('is the only change of a client that waits for its accounts', async () => {
    const clientId = await world.client();
    const account = await holdAccount(await world.account(clientId));
    const change = { profile: { identityType: 'individual', phone: '+44 20 7946 0000' } };
    expect((await patch(clientId, change, 'operator')).status).toBe(200);
    account.release();
    await account.done;
  });
});

async function changesOf(id: string): Promise<Json[]> {
  return (await auditOf(api.database.reader, id)).filter(({ action }) => action !== 'created');
}

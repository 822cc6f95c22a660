import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditEntry, appendAuditEntry } from '../../db/common/audit-entries.ts';
import { sqlState } from '../../db/postgres/failures.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { entryArguments } from '../tools/run/entries.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let source: string;
let destination: string;
let bankAccount: string;

/** Noon of a Wednesday, a business day of every scheme. */
const NOW = Date.parse('2027-06-16T12:00:00Z');

beforeAll(async () => {
  database = await createTestDatabase('audit-entries');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((NOW - Date.now()) / 1000)} seconds`,
    env: { AUTHORIZATION_RULE: '500' },
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  source = await world.account(payer, { amount: 5000 });
  destination = await world.account(await world.client('Grace'));
  bankAccount = await world.beneficiary(payer);
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

function ask(method: 'POST' | 'PATCH', path: string, data: Json, requestId: string, as: Role = 'operator') {
  const headers = { 'request-id': requestId };
  return api.call(method, path, { workflow: { code: 'client.direct' }, data }, { as, headers });
}

async function sent(change: Json = {}): Promise<Json> {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
  const answer = await ask('POST', '/outgoing-transfers', { outgoingTransfer }, randomUUID());
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

async function change(id: string, outgoingTransfer: Json, requestId: string, as?: Role): Promise<ApiResponse> {
  return ask('PATCH', `/outgoing-transfers/${id}`, { outgoingTransfer }, requestId, as);
}

const audited = (id: string) => auditOf(api.database.reader, id);

describe('who changed a transfer is recorded with the request', () => {
  test('its authorization', async () => {
    const { id } = await sent({ amount: 600, transferDate: '2027-07-01' });
    const authorized = { requirementConfiguration: { authorizationStatus: 'fulfilled' } };
    expect((await change(id, authorized, 'request-authorize', 'approver')).status).toBe(200);
    expect(await audited(id)).toEqual([
      {
        resource: 'outgoing-transfer',
        action: 'authorized',
        actor: api.users.approver.id,
        requestId: 'request-authorize',
        before: { authorizationStatus: 'not-checked' },
        after: { authorizationStatus: 'fulfilled' },
      },
    ]);
  });

  test('its cancellation', async () => {
    const { id } = await sent({ transferDate: '2027-07-01' });
    expect((await change(id, { status: 'cancelled' }, 'request-cancel')).status).toBe(200);
    expect(await audited(id)).toEqual([
      {
        resource: 'outgoing-transfer',
        action: 'cancelled',
        actor: api.users.operator.id,
        requestId: 'request-cancel',
        before: { status: 'pending' },
        after: { status: 'cancelled' },
      },
    ]);
  });

  test('each report about its payment', async () => {
    const paid = (await sent()).id;
    const failed = (await sent()).id;
    expect((await change(paid, { status: 'released' }, 'request-released')).status).toBe(200);
    expect((await change(paid, { status: 'completed' }, 'request-completed')).status).toBe(200);
    const returned = await change(paid, { returned: true }, 'request-returned');
    expect((await change(failed, { status: 'failed' }, 'request-failed')).status).toBe(200);
    const { incomingTransferId } = returned.body.data.outgoingTransfer;
    const reports = [...(await audited(paid)), ...(await audited(failed))];
    expect(new Set(reports.map(({ actor, action }: Json) => `${action} ${actor}`))).toEqual(
      new Set([`reported ${api.users.operator.id}`]),
    );
    expect(reports.map(({ requestId, before, after }: Json) => [requestId, before, after])).toEqual([
      ['request-released', { status: 'processing' }, { status: 'released' }],
      ['request-completed', { status: 'released' }, { status: 'completed' }],
      [
        'request-returned',
        { returned: false, incomingTransferId: null, statusReasonCode: null },
        { returned: true, incomingTransferId, statusReasonCode: 'caller.reported' },
      ],
      [
        'request-failed',
        { status: 'processing', statusReasonCode: null },
        { status: 'failed', statusReasonCode: 'caller.reported' },
      ],
    ]);
  });

  test('a rejected change leaves none', async () => {
    const { id } = await sent();
    expect((await change(id, { status: 'cancelled' }, 'request-rejected')).status).toBe(409);
    expect(await audited(id)).toEqual([]);
  });

  test('a straight-through transfer is its own record: its row names its creator, and nothing more is written', async () => {
    const { id } = await sent({
      scope: 'internal',
      scheme: null,
      destination: { type: 'client-account', accountId: destination },
    });
    const [row] = await api.database.reader.statement<{ created_by: string }>(
      'SELECT created_by FROM outgoing_transfers WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ created_by: api.users.operator.id });
    expect(await audited(id)).toEqual([]);
  });
});

test('who credited an account is recorded, once for a credit that is reported again, and without its sender', async () => {
  const provisionedAccountCredit = {
    accountId: source,
    amount: 12.5,
    currency: 'GBP',
    scope: 'external',
    scheme: 'swift',
    senderName: 'Hedy Lamarr',
    serviceProviderId: randomUUID(),
  };
  const credit = (requestId: string) =>
    ask('POST', '/provisioned-account-credits', { provisionedAccountCredit }, requestId);
  const first = await credit('request-credit');
  expect((await credit('request-again')).status).toBe(200);
  const { accountId, serviceProviderId } = provisionedAccountCredit;
  const entries = await audited(first.body.data.provisionedAccountCredit.id);
  expect(entries).toEqual([
    {
      resource: 'provisioned-account-credit',
      action: 'created',
      actor: api.users.operator.id,
      requestId: 'request-credit',
      before: null,
      after: expect.objectContaining({ accountId, amount: 12.5, currency: 'GBP', serviceProviderId }),
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain('Hedy');
});

test('who changed a machine user is recorded, with only the fields that changed', async () => {
  const body = {
    workflow: { code: 'direct' },
    data: { machineUser: { name: 'test viewer', roles: ['viewer', 'operator'] } },
  };
  const { id } = api.users.viewer;
  const headers = { 'request-id': 'request-roles' };
  const answer = await api.call('PATCH', `/machine-users/${id}`, body, { as: 'admin', headers });
  expect(answer.status, answer.text).toBe(200);
  expect((await audited(id)).at(-1)).toEqual({
    resource: 'machine-user',
    action: 'changed',
    actor: api.users.admin.id,
    requestId: 'request-roles',
    before: { roles: ['viewer'] },
    after: { roles: ['viewer', 'operator'] },
  });
});

test('of an operator’s command the actor is the operating system’s user', async () => {
  const serviceProviderId = randomUUID();
  await builtInAccounts(api).payIn({ ledgerNumber: 'no account' }, serviceProviderId, 500n);
  const query = `data.incomingTransfer.serviceProviderId=${serviceProviderId}`;
  const { body } = await api.call('GET', `/incoming-transfers?${query}`);
  const { id } = body.data.incomingTransfers[0];
  const env = { ...process.env, DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  await promisify(execFile)(process.execPath, [...entryArguments('cli/operate.ts'), 'return-incoming', id], { env });
  expect(await audited(id)).toEqual([
    {
      resource: 'incoming-transfer',
      action: 'returned',
      actor: userInfo().username,
      requestId: null,
      before: { status: 'on-hold' },
      after: { status: 'failed' },
    },
  ]);
});

test('a change that cannot be audited does not happen', async () => {
  const { id } = await sent({ transferDate: '2027-07-01' });
  const before = await world.balance(source);
  await database.asOwner('ALTER TABLE audit_entries ADD CONSTRAINT rejects CHECK (false) NOT VALID');
  try {
    expect((await change(id, { status: 'cancelled' }, 'request-unaudited')).status).toBe(500);
    await expect(world.credit(source, 1)).rejects.toThrow();
  } finally {
    await database.asOwner('ALTER TABLE audit_entries DROP CONSTRAINT rejects');
  }
  const { body } = await api.call('GET', `/outgoing-transfers/${id}`);
  expect(body.data.outgoingTransfer.status).toBe('pending');
  expect(await world.balance(source)).toEqual(before);
});

describe('the audit is append-only, against raw SQL of the service and of the owner too', () => {
  const APPEND_ONLY = '23001';
  const DENIED = '42501';
  test.each([
    `UPDATE audit_entries SET actor = 'another actor'`,
    `DELETE FROM audit_entries WHERE actor <> 'another actor'`,
    'TRUNCATE audit_entries',
  ])('%s', async (text) => {
    await append({ resource: 'client', resourceId: randomUUID(), action: 'created', after: { status: 'active' } });
    const kept = await countEntries();
    expect(sqlState(await database.asOwner(text).catch((error: unknown) => error))).toBe(APPEND_ONLY);
    const byService = api.database.reader.statement(text, []);
    expect(sqlState(await byService.catch((error: unknown) => error))).toBe(DENIED);
    expect(await countEntries()).toBe(kept);
  });
});

describe('an entry', () => {
  test('holds only the fields that changed', async () => {
    const id = randomUUID();
    await append({
      resource: 'client',
      resourceId: id,
      action: 'changed',
      before: { status: 'active', roles: ['viewer'], name: null },
      after: { status: 'active', roles: ['viewer', 'operator'], name: 'Ada' },
    });
    expect(await audited(id)).toMatchObject([
      { before: { roles: ['viewer'], name: null }, after: { roles: ['viewer', 'operator'], name: 'Ada' } },
    ]);
  });

  test('is not written for a change without an effect', async () => {
    const id = randomUUID();
    const same = { status: 'active', roles: ['viewer'] };
    await append({ resource: 'client', resourceId: id, action: 'changed', before: same, after: { ...same } });
    expect(await audited(id)).toEqual([]);
  });
});

async function append(entry: Omit<AuditEntry, 'initiator'>): Promise<void> {
  await api.database.transaction(async (tx) => appendAuditEntry(tx, { initiator: TESTER, ...entry }));
}

async function countEntries(): Promise<bigint | undefined> {
  const [row] = await api.database.reader.statement<{ count: bigint }>('SELECT count(*) FROM audit_entries', []);
  return row?.count;
}

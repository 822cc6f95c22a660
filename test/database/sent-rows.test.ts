import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getTableColumns, sql } from 'drizzle-orm';
import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beneficiaryVerifications } from '../../db/beneficiaries/schema.ts';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import { beneficiaries, beneficiaryBankAccounts, clientRelations, clients } from '../../db/common/schema.ts';
import { machineUserKeys, machineUsers } from '../../db/machine-users/schema.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import type { TableWithId } from '../../db/query/list-statements.ts';
import { insertRow, lookUpIn, sendInsertion, sendUpdate } from '../../db/query/rows.ts';
import { reconciliationBreaks } from '../../db/reconciliation/schema.ts';
import { thirdPartyProviders } from '../../db/third-party-providers/schema.ts';
import { userClientRelations, userInvitations, userSignUps, users } from '../../db/users/schema.ts';
import { webhookDeliveries, webhookSecrets, webhookSubscriptions } from '../../db/webhooks/schema.ts';
import type { ClientProfile } from '../../domain/clients/clients.ts';
import type {
  BeneficiaryBankAccountId,
  BeneficiaryId,
  BeneficiaryVerificationId,
  ClientId,
  EventId,
  MachineUserId,
  MachineUserKeyId,
  ThirdPartyProviderId,
  UserClientRelationId,
  UserId,
  UserInvitationId,
  UserSignUpId,
  WebhookDeliveryId,
  WebhookSubscriptionId,
} from '../../domain/common/ids.ts';
import { startLateProxy } from '../harness/faults/late-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('sent-rows');
  database = createDatabase({ url: testDatabase.url, maxConnections: 2, applicationName: 'sent-rows-test' });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const NOW = new Date('2026-02-28T23:59:59.999Z');
const IDENTITY = {
  type: 'individual',
  familyName: 'Lovelace "\\',
  givenName: 'Ada é',
  birthDate: '1815-12-10',
  country: 'GB',
  identifications: [],
} as const;
const NAMED = { fullName: 'Ada Lovelace', createdAt: NOW };

/** Keys in an order that Postgres does not keep: by length in bytes, and by bytes where that is equal. */
function oddProfile(): ClientProfile {
  const odd: object = { é: 1, zzz: [{ b: 1.5, a: undefined, c: { bb: [], aa: {}, d: null } }], ab: '"', aB: '\\' };
  return { identityType: 'individual', phone: null, email: 'ada@example.com', ...odd };
}

const clientId = newId<ClientId>();
const beneficiaryId = newId<BeneficiaryId>();
const subscriptionId = newId<WebhookSubscriptionId>();
const userId = newId<UserId>();
const machineUserId = newId<MachineUserId>();
const signUpId = newId<UserSignUpId>();
const SIGN_UP = { type: 'individual', familyName: 'Lovelace', givenName: 'Ada', birthDate: null } as const;

type Sent = readonly [TableWithId, { readonly id: string }];
type Send = (tx: Transaction) => Sent | Promise<Sent>;

/** Inserts and changes a row; returns it as it is said to be stored. */
function sender<Table extends TableWithId>(
  table: Table,
  values: Table['$inferInsert'],
  changes: Partial<Table['$inferInsert']>,
): Send {
  return (tx) => {
    const made = sendInsertion(tx, table, values);
    return [table, sendUpdate(tx, table, made, changes)];
  };
}

const SENT: Readonly<Record<string, Send>> = {
  clients: sender(
    clients,
    {
      ...NAMED,
      id: clientId,
      clientNumber: '1234567890',
      status: 'active',
      identityType: 'individual',
      identity: IDENTITY,
      profile: oddProfile(),
      email: undefined,
    },
    { profile: oddProfile(), email: null, country: undefined, revision: 2n },
  ),
  clientRelations: sender(
    clientRelations,
    { ...NAMED, id: newId(), clientId, relation: 'director', identity: IDENTITY, profile: oddProfile() },
    { profile: oddProfile(), relation: 'shareholder' },
  ),
  beneficiaries: sender(
    beneficiaries,
    { ...NAMED, id: beneficiaryId, clientId, identityType: 'individual', identity: IDENTITY },
    { identityType: null, identity: null, contact: { phone: null, email: null, address: null } },
  ),
  beneficiaryBankAccounts: sender(
    beneficiaryBankAccounts,
    {
      id: newId<BeneficiaryBankAccountId>(),
      beneficiaryId,
      status: 'active',
      accountHolderName: 'Ada',
      iban: 'GB29NWBK60161331926819',
      country: 'GB',
      currency: 'GBP',
      createdAt: NOW,
    },
    { routingCodes: { 'sort-code': '040004', aba: '1' }, alias: 'Savings' },
  ),
  users: sender(
    users,
    {
      id: userId,
      email: 'Ada@example.com',
      emailKey: 'ada@example.com',
      status: 'active',
      identity: { type: 'individual', familyName: 'Lovelace', givenName: 'Ada', birthDate: null },
      profile: { phone: null, residentialAddress: null },
      createdAt: NOW,
    },
    { status: 'inactive', profile: { residentialAddress: null, phone: '+44 20 7946 0000' } },
  ),
  userClientRelations: sender(
    userClientRelations,
    { id: newId<UserClientRelationId>(), userId, clientId, status: 'allowed', createdAt: NOW },
    { status: 'revoked', revision: 2n },
  ),
  machineUsers: sender(
    machineUsers,
    { id: machineUserId, name: 'n', roles: ['viewer', 'admin'], status: 'active', createdAt: NOW },
    { roles: [], status: 'revoked', revokedAt: NOW },
  ),
  machineUserKeys: async (tx) => {
    const key = { kid: 'k', algorithm: 'EdDSA', publicKey: { x: 'é', kty: 'OKP' }, createdAt: NOW } as const;
    const made = await insertRow(tx, machineUserKeys, {
      ...key,
      id: newId<MachineUserKeyId>(),
      machineUserId,
      status: 'active',
    });
    return [machineUserKeys, sendUpdate(tx, machineUserKeys, made, { status: 'revoked', revokedAt: NOW })];
  },
  userSignUps: sender(
    userSignUps,
    {
      ...{ id: signUpId, email: 'Ada@example.com', identity: SIGN_UP, status: 'pending' },
      ...{ expiresAt: NOW, nextCheckAt: NOW, createdAt: NOW },
    },
    { status: 'cancelled', nextCheckAt: null, mailedAt: NOW, revision: 2n },
  ),
  userInvitations: sender(
    userInvitations,
    {
      ...{ id: newId<UserInvitationId>(), signUpId, clientId, emailKey: 'ada@example.com', createdAt: NOW },
      ...{ userClientRelation: 'director', status: 'pending' },
    },
    { status: 'cancelled' },
  ),
  thirdPartyProviders: sender(
    thirdPartyProviders,
    {
      ...{
        id: newId<ThirdPartyProviderId>(),
        name: 'n',
        website: 'w',
        applicationName: 'a',
        applicationDescription: '"',
      },
      ...{ applicationWebsite: 'aw', redirectUris: ['https://a.example/"\\'], jwks: { keys: [] }, status: 'active' },
      ...{ dpopBoundAccessTokens: true, createdAt: NOW, updatedAt: NOW, activeSince: NOW },
    },
    { redirectUris: ['https://b.example/', 'https://c.example/{a,b}'], status: 'inactive' },
  ),
  reconciliationBreaks: sender(
    reconciliationBreaks,
    {
      id: newId(),
      provider: 'sandbox-bank',
      kind: 'callback-contradicts',
      details: { b: 1, a: [null] },
      foundAt: NOW,
      currency: 'GBP',
    },
    { status: 'resolved', resolvedAt: NOW, note: 'é', resolvedBy: 'someone', day: '2026-02-28', part: 2 },
  ),
  webhookSubscriptions: sender(
    webhookSubscriptions,
    { id: subscriptionId, url: 'http://127.0.0.1/', types: ['a', 'b"'], status: 'active', shard: 3, createdAt: NOW },
    { types: null, modules: ['clients'], status: 'disabled', statusReason: 'gone' },
  ),
  webhookDeliveries: sender(
    webhookDeliveries,
    {
      ...{
        id: newId<WebhookDeliveryId>(),
        subscriptionId,
        eventId: newId<EventId>(),
        position: 0n,
        resourceId: newId(),
      },
      ...{ module: 'm', type: 't', body: '{"a": 1}', nextAttemptAt: NOW, createdAt: NOW },
    },
    { status: 'succeeded', completedAt: NOW, attemptCount: 1 },
  ),
  webhookSecrets: sender(
    webhookSecrets,
    { id: newId(), subscriptionId, secret: 's', createdAt: NOW },
    { expiresAt: new Date('2026-03-01T00:00:00.001Z') },
  ),
  beneficiaryVerifications: sender(
    beneficiaryVerifications,
    {
      id: newId<BeneficiaryVerificationId>(),
      clientId,
      directory: 'pay-uk',
      provider: 'sandbox-bank',
      providerReference: 'r',
      identity: { type: 'individual', givenName: 'Ada é', familyName: 'Lovelace' },
      bankAccount: { accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
      matched: true,
      requestedBy: machineUserId,
      createdAt: NOW,
    },
    { matched: false, reason: 'close-match', schemeReasonCode: 'MBAM', accountHolderName: 'encrypted' },
  ),
};

/** With the order of JSON's keys, which `toEqual` ignores. */
function bytesOf(table: TableWithId, row: object): string {
  const values = new Map(Object.entries(row));
  const columns = Object.keys(getTableColumns(table)).map((name) => [name, values.get(name)]);
  return JSON.stringify(columns, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

test('a row that is sent with the commit is answered as Postgres stores it, to the order of the keys', async () => {
  await database.transaction(async (tx) => {
    for (const send of Object.values(SENT)) {
      const [table, changed] = await send(tx);
      const found = await tx.find(lookUpIn(table), changed.id);
      expect(changed).toEqual(found);
      expect(bytesOf(table, changed)).toBe(bytesOf(table, found ?? {}));
    }
  });
});

test('every table whose rows are sent with the commit is compared above', () => {
  const directory = fileURLToPath(new URL('../../db/', import.meta.url));
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const calls = files.flatMap((name) => [
    ...readFileSync(join(directory, name), 'utf8').matchAll(/\bsend(?:Insertion|Update)\(\s*tx,\s*(\w+)/g),
  ]);
  // No one reads an account as it was sent: its trigger sets a column. The others have another key than an id, and are never read so.
  const withOtherKey = [
    'accountMigrations',
    'consoleSessions',
    'consoleSignIns',
    'openBankingAccessTokens',
    'openBankingCodes',
    'userSignUpLinks',
  ];
  const compared = new Set(['accounts', ...withOtherKey, ...Object.keys(SENT)]);
  expect(new Set(calls.map(([, table]) => table))).toEqual(compared);
});

/** The time of its creation has an expression as its default. */
const timedByPostgres = pgTable('machine_users', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  roles: text('roles').array().notNull(),
  status: text('status').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull().default(sql`now()`),
});

test('a row whose default Postgres alone knows cannot be sent without waiting for it', async () => {
  const id = newId<MachineUserId>();
  const values = { id, name: 'timed', roles: ['viewer'], status: 'active' };
  const work = database.transaction(async (tx) => sendInsertion(tx, timedByPostgres, values));
  await expect(work).rejects.toThrow('only Postgres knows the default of created_at');
  expect(await database.reader.find(lookUpIn(machineUsers), id)).toBeNull();
});

test('a row that breaks a rule of its table fails the transaction with its own error', async () => {
  const id = newId<MachineUserId>();
  const row = { id, name: 'twice', roles: ['viewer' as const], status: 'active' as const, createdAt: NOW };
  const work = database.transaction(async (tx) => {
    sendInsertion(tx, machineUsers, row);
    return sendInsertion(tx, machineUsers, row);
  });
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect(await database.reader.find(lookUpIn(machineUsers), id)).toBeNull();
});

test('a transaction waits for no answer while it sends more than a socket takes at once', async () => {
  const target = new URL(testDatabase.url);
  const proxy = await startLateProxy({ host: target.hostname, port: Number(target.port) });
  const url = new URL(testDatabase.url);
  url.port = String(proxy.port);
  const far = createDatabase({ url: url.href, maxConnections: 1, applicationName: 'sent-rows-far' });
  const send = (tx: Transaction, name: string) => tx.statement('SELECT $1::text', [`${name} ${'-'.repeat(600)}`]);
  try {
    // From then on the statement is prepared, and sent whole.
    await far.transaction((tx) => send(tx, 'first'));
    proxy.hold('row 0');
    const work = far.transaction((tx) =>
      Promise.all(Array.from({ length: 60 }, (_, index) => send(tx, `row ${index}`))),
    );
    await until(
      async () => proxy.holds('row 59'),
      (isSent) => isSent,
    );
    proxy.deliver();
    expect(await work).toHaveLength(60);
  } finally {
    await far.close();
    await proxy.close();
  }
});

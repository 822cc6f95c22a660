import { getTableColumns } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database, type Transaction } from '../../db/driver/client.ts';
import { lookUpIn, sendInsertion, sendUpdate, type TableWithId } from '../../db/driver/queries/rows.ts';
import { newId } from '../../db/frame/ids.ts';
import { accounts, beneficiaries, beneficiaryBankAccounts, clientRelations, clients } from '../../db/frame/schema.ts';
import { machineUsers } from '../../db/machine-users/machine-users-schema.ts';
import { users } from '../../db/users/users-schema.ts';
import { webhookSecrets, webhookSubscriptions } from '../../db/webhooks/schema.ts';
import type { ClientProfile } from '../../domain/clients/clients.ts';
import type {
  AccountId,
  BeneficiaryBankAccountId,
  BeneficiaryId,
  ClientId,
  MachineUserId,
  UserId,
  WebhookSubscriptionId,
} from '../../domain/frame/ids.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

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

type Send = (tx: Transaction) => readonly [TableWithId, { readonly id: string }];

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

const SENT: readonly Send[] = [
  sender(
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
  sender(
    clientRelations,
    { ...NAMED, id: newId(), clientId, relation: 'director', identity: IDENTITY, profile: oddProfile() },
    { profile: oddProfile(), relation: 'shareholder' },
  ),
  sender(
    beneficiaries,
    { ...NAMED, id: beneficiaryId, clientId, identityType: 'individual', identity: IDENTITY },
    { identityType: null, identity: null, contact: { phone: null, email: null, address: null } },
  ),
  sender(
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
  sender(
    users,
    {
      id: newId<UserId>(),
      email: 'Ada@example.com',
      emailKey: 'ada@example.com',
      status: 'active',
      identity: { type: 'individual', familyName: 'Lovelace', givenName: 'Ada', birthDate: null },
      profile: { phone: null, residentialAddress: null },
      createdAt: NOW,
    },
    { status: 'inactive', profile: { residentialAddress: null, phone: '+44 20 7946 0000' } },
  ),
  sender(
    machineUsers,
    { id: newId<MachineUserId>(), name: 'n', roles: ['viewer', 'admin'], status: 'active', createdAt: NOW },
    { roles: [], status: 'revoked', revokedAt: NOW },
  ),
  sender(
    webhookSubscriptions,
    { id: subscriptionId, url: 'http://127.0.0.1/', types: ['a', 'b"'], status: 'active', shard: 3, createdAt: NOW },
    { types: null, modules: ['clients'], status: 'disabled', statusReason: 'gone' },
  ),
  sender(
    webhookSecrets,
    { id: newId(), subscriptionId, secret: 's', createdAt: NOW },
    { expiresAt: new Date('2026-03-01T00:00:00.001Z') },
  ),
];

/** With the order of JSON's keys, which `toEqual` ignores. */
function bytesOf(table: TableWithId, row: object): string {
  const values = new Map(Object.entries(row));
  const columns = Object.keys(getTableColumns(table)).map((name) => [name, values.get(name)]);
  return JSON.stringify(columns, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

test('a row that is sent with the commit is answered as Postgres stores it, to the order of the keys', async () => {
  await database.transaction(async (tx) => {
    for (const send of SENT) {
      const [table, changed] = send(tx);
      const found = await tx.find(lookUpIn(table), changed.id);
      expect(changed).toEqual(found);
      expect(bytesOf(table, changed)).toBe(bytesOf(table, found ?? {}));
    }
  });
});

test('a row whose default Postgres alone knows cannot be sent without waiting for it', async () => {
  const id = newId<AccountId>();
  const values = {
    id,
    clientId,
    status: 'pending',
    method: 'plug-in',
    provider: 'custom-bank',
    country: 'GB',
    currency: 'GBP',
    alias: 'a',
    ledgerNumber: '1',
    accountHolderName: 'Ada',
    accountHolderIdentityType: 'individual',
    createdAt: NOW,
  } as const;
  const work = database.transaction(async (tx) => sendInsertion(tx, accounts, values));
  await expect(work).rejects.toThrow('Postgres alone knows the default of last_entry_at');
  expect(await database.reader.find(lookUpIn(accounts), id)).toBeNull();
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

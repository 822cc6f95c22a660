import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../db/client.ts';
import { newId } from '../db/ids.ts';
import {
  addMachineUserKey,
  changeMachineUser,
  createMachineUser,
  findMachineUser,
  findMachineUserKey,
  type KnownMachineUser,
  registerMachineUser,
  revokeMachineUserKey,
} from '../db/machine-users.ts';
import type { MachineUserId } from '../domain/ids.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('machine_users');
  database = createDatabase({ url: testDatabase.url, maxConnections: 3, applicationName: 'machine-users-test' });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

function knownUser(): KnownMachineUser {
  return {
    id: newId<MachineUserId>(),
    name: 'development',
    roles: ['operator', 'admin'],
    kid: newId(),
    algorithm: 'EdDSA',
    publicKey: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
  };
}

async function auditOf(id: string): Promise<string[]> {
  const rows = await database.statement<{ action: string }>(
    'select action from audit_entries where subject = $1 order by id',
    [id],
  );
  return rows.map((row) => row.action);
}

test('registering the same user again, also at the same moment, makes one user, one key and one audit entry', async () => {
  const user = knownUser();
  await Promise.all([1, 2, 3].map(() => database.transaction((tx) => registerMachineUser(tx, user))));
  const found = await findMachineUser(database.reader, user.id);
  expect(found).toMatchObject({ id: user.id, roles: user.roles, status: 'active' });
  expect(found?.keys.map((key) => key.kid)).toEqual([user.kid]);
  expect(await auditOf(user.id)).toEqual(['machine-user-registered']);
  expect(await findMachineUserKey(database.reader, user.kid)).toEqual({
    machineUserId: user.id,
    roles: user.roles,
    algorithm: 'EdDSA',
    publicKey: user.publicKey,
    active: true,
  });
});

test('registering again revives neither a revoked user nor a revoked key', async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user));
  const keyId = (await findMachineUser(database.reader, user.id))?.keys[0]?.id;
  if (keyId === undefined) throw new Error('the user has no key');
  await database.transaction((tx) => revokeMachineUserKey(tx, user.id, keyId));
  await database.transaction((tx) => registerMachineUser(tx, user));
  expect((await findMachineUserKey(database.reader, user.kid))?.active).toBe(false);
  await database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'revoked' }));
  await database.transaction((tx) => registerMachineUser(tx, { ...user, kid: newId() }));
  expect((await findMachineUser(database.reader, user.id))?.status).toBe('revoked');
});

test("a revoked user's keys stop counting, and it gets no new one", async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user));
  await database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'revoked' }));
  expect((await findMachineUserKey(database.reader, user.kid))?.active).toBe(false);
  const more = { kid: newId(), algorithm: 'EdDSA' as const, publicKey: user.publicKey };
  const adding = database.transaction((tx) => addMachineUserKey(tx, user.id, more));
  await expect(adding).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
  const reviving = database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'active' }));
  await expect(reviving).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
});

test('a kid belongs to one user: a second one with it is refused and nothing of it stays', async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user));
  const key = { kid: user.kid, algorithm: 'EdDSA' as const, publicKey: user.publicKey };
  const taking = database.transaction((tx) => createMachineUser(tx, { name: 'other', roles: ['viewer'], key }));
  await expect(taking).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
  const others = await database.statement(`select id from machine_users where name = 'other'`, []);
  expect(others).toEqual([]);
  const stranger = { ...knownUser(), kid: user.kid };
  await expect(database.transaction((tx) => registerMachineUser(tx, stranger))).rejects.toMatchObject({
    code: 'common.state.illegal_transition',
  });
});

test('an unknown kid is null', async () => {
  expect(await findMachineUserKey(database.reader, 'nobody')).toBeNull();
});

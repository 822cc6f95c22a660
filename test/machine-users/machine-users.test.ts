import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { newId } from '../../db/common/ids.ts';
import {
  addMachineUserKey,
  changeMachineUser,
  createMachineUser,
  findMachineUser,
  findMachineUserKeys,
  type KnownMachineUser,
  type RegisteredKeyRow,
  registerMachineUser,
  revokeMachineUserKey,
} from '../../db/machine-users/machine-users.ts';
import type { Database } from '../../db/query/database.ts';
import type { MachineUserId } from '../../domain/common/ids.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('machine_users');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 3,
    applicationName: 'machine-users-test',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

function newPublicKey(): object {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
}

function knownUser(): KnownMachineUser {
  return {
    id: newId<MachineUserId>(),
    name: 'development',
    roles: ['operator', 'admin'],
    kid: newId(),
    algorithm: 'EdDSA',
    publicKey: newPublicKey(),
  };
}

test('registering the same user again, also at the same moment, makes one user, one key and one audit entry', async () => {
  const user = knownUser();
  await Promise.all([1, 2, 3].map(() => database.transaction((tx) => registerMachineUser(tx, user, TESTER))));
  const found = await findMachineUser(database.reader, user.id);
  expect(found).toMatchObject({ id: user.id, roles: user.roles, status: 'active' });
  expect(found?.keys.map((key) => key.kid)).toEqual([user.kid]);
  const { name, roles, kid } = user;
  expect(await auditOf(database.reader, user.id)).toEqual([
    { resource: 'machine-user', action: 'created', ...TESTER, before: null, after: { name, roles, kid } },
  ]);
  expect(await keyOf(user.kid)).toEqual({
    machineUserId: user.id,
    roles: user.roles,
    algorithm: 'EdDSA',
    publicKey: user.publicKey,
    active: true,
  });
});

test('registering again revives neither a revoked user nor a revoked key', async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user, TESTER));
  const keyId = (await findMachineUser(database.reader, user.id))?.keys[0]?.id;
  if (keyId === undefined) throw new Error('the user has no key');
  await database.transaction((tx) => revokeMachineUserKey(tx, user.id, keyId, TESTER));
  await database.transaction((tx) => registerMachineUser(tx, user, TESTER));
  expect((await keyOf(user.kid))?.active).toBe(false);
  await database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'revoked' }, TESTER));
  await database.transaction((tx) =>
    registerMachineUser(tx, { ...user, kid: newId(), publicKey: newPublicKey() }, TESTER),
  );
  expect((await findMachineUser(database.reader, user.id))?.status).toBe('revoked');
});

test("a revoked user's keys stop counting, and it gets no new one", async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user, TESTER));
  await database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'revoked' }, TESTER));
  expect((await keyOf(user.kid))?.active).toBe(false);
  const more = { kid: newId(), algorithm: 'EdDSA' as const, publicKey: newPublicKey() };
  const adding = database.transaction((tx) => addMachineUserKey(tx, user.id, more, TESTER));
  await expect(adding).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
  const reviving = database.transaction((tx) => changeMachineUser(tx, user.id, { status: 'active' }, TESTER));
  await expect(reviving).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
});

test('a kid belongs to one user: a second one with it is rejected and nothing of it stays', async () => {
  const user = knownUser();
  await database.transaction((tx) => registerMachineUser(tx, user, TESTER));
  const key = { kid: user.kid, algorithm: 'EdDSA' as const, publicKey: newPublicKey() };
  const taking = database.transaction((tx) => createMachineUser(tx, { name: 'other', roles: ['viewer'], key }, TESTER));
  await expect(taking).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
  const others = await database.statement(`select id from machine_users where name = 'other'`, []);
  expect(others).toEqual([]);
  const stranger = { ...knownUser(), kid: user.kid };
  await expect(database.transaction((tx) => registerMachineUser(tx, stranger, TESTER))).rejects.toMatchObject({
    code: 'common.state.illegal_transition',
  });
});

async function keyOf(kid: string): Promise<RegisteredKeyRow | null> {
  return (await findMachineUserKeys(database.reader, [kid])).get(kid) ?? null;
}

describe('a public key belongs to one machine user', () => {
  const other = { name: 'other', roles: ['approver'] as const };

  test.each([
    ['Ed25519', 'EdDSA', () => generateKeyPairSync('ed25519')],
    ['P-256', 'ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RSA', 'RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ] as const)(
    '%s: a second registration is rejected, for another user, for the same one, and after revocation',
    async (_, algorithm, generate) => {
      const publicKey = generate().publicKey.export({ format: 'jwk' });
      const key = () => ({ kid: newId(), algorithm, publicKey });
      const register = () => database.transaction((tx) => createMachineUser(tx, { ...other, key: key() }, TESTER));
      const first = await register();
      await expect(register()).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
      const stranger = await database.transaction((tx) =>
        createMachineUser(tx, { ...other, key: knownUser() }, TESTER),
      );
      const adding = database.transaction((tx) => addMachineUserKey(tx, stranger.id, key(), TESTER));
      await expect(adding).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
      const again = database.transaction((tx) => addMachineUserKey(tx, first.id, key(), TESTER));
      await expect(again).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
      // Its holder still knows a revoked key.
      await database.transaction((tx) => changeMachineUser(tx, first.id, { status: 'revoked' }, TESTER));
      await expect(register()).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
    },
  );

  test('the other point of the same private key counts as the same', async () => {
    const { x, y, ...rest } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
    const negated = prime - BigInt(`0x${Buffer.from(y ?? '', 'base64url').toString('hex')}`);
    const mirrored = Buffer.from(negated.toString(16).padStart(64, '0'), 'hex').toString('base64url');
    const register = (publicKey: object) =>
      database.transaction((tx) =>
        createMachineUser(tx, { ...other, key: { kid: newId(), algorithm: 'ES256', publicKey } }, TESTER),
      );
    await register({ ...rest, x, y });
    await expect(register({ ...rest, x, y: mirrored })).rejects.toMatchObject({
      code: 'common.state.illegal_transition',
    });
  });

  test('of two that register it at the same moment, one succeeds', async () => {
    const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const settled = await Promise.allSettled(
      [1, 2, 3].map(() =>
        database.transaction((tx) =>
          createMachineUser(tx, { ...other, key: { kid: newId(), algorithm: 'EdDSA', publicKey } }, TESTER),
        ),
      ),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('an unknown kid is null', async () => {
  expect(await keyOf('unknown')).toBeNull();
});

import { and, eq, or, sql } from 'drizzle-orm';
import { rejection } from '../../domain/common/errors.ts';
import type { MachineUserId, MachineUserKeyId } from '../../domain/common/ids.ts';
import type { MachineUserStatus, TokenAlgorithm } from '../../domain/machine-users/machine-users.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listWith, type PageOf, type PageRequest, readPageWith } from '../query/lists.ts';
import { type Given, type Grouped, groupRows, type LeftJoin, prepared, type RowOf } from '../query/queries.ts';
import { lockIn, lookUpIn, lookUpWith, sendInsertion, sendUpdate } from '../query/rows.ts';
import { machineUserKeys, machineUsers } from './schema.ts';

const audit = auditorOf('machine-user');

export interface MachineUser {
  readonly id: MachineUserId;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly status: MachineUserStatus;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly keys: readonly MachineUserKey[];
}

export interface MachineUserKey {
  readonly id: MachineUserKeyId;
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly status: MachineUserStatus;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** A public key to register; `publicKey` is a JWK without any private part. */
export interface NewMachineUserKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly publicKey: object;
}

export interface NewMachineUser {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly key: NewMachineUserKey;
}

const KEYS_BY_KID = prepared((db, given: Given<{ kids: string }>) =>
  db
    .select({
      kid: machineUserKeys.kid,
      machineUserId: machineUsers.id,
      roles: machineUsers.roles,
      algorithm: machineUserKeys.algorithm,
      publicKey: machineUserKeys.publicKey,
      active: sql<boolean>`${machineUsers.status} = 'active' AND ${machineUserKeys.status} = 'active'`,
    })
    .from(machineUserKeys)
    .innerJoin(machineUsers, eq(machineUsers.id, machineUserKeys.machineUserId))
    .where(sql`${machineUserKeys.kid} = ANY (ARRAY(SELECT json_array_elements_text(${given.kids}::json)))`),
);

/** Decides whether tokens with this kid are valid. */
export type RegisteredKeyRow = Omit<RowOf<typeof KEYS_BY_KID>, 'kid'>;

/** Every bearer token needs this, so callers cache it for a few seconds per key. Unknown kids are absent. */
export async function findMachineUserKeys(
  reader: Reader,
  kids: readonly string[],
): Promise<ReadonlyMap<string, RegisteredKeyRow>> {
  const rows = await reader.run(KEYS_BY_KID, { kids: JSON.stringify(kids) });
  return new Map(rows.map(({ kid, ...key }) => [kid, key]));
}

type MachineUserRow = typeof machineUsers.$inferSelect;

const KEYS: LeftJoin<MachineUserKey> = {
  table: machineUserKeys,
  columns: {
    id: machineUserKeys.id,
    kid: machineUserKeys.kid,
    algorithm: machineUserKeys.algorithm,
    status: machineUserKeys.status,
    createdAt: machineUserKeys.createdAt,
    revokedAt: machineUserKeys.revokedAt,
  },
  on: eq(machineUserKeys.machineUserId, machineUsers.id),
  order: [machineUserKeys.createdAt, machineUserKeys.id],
};

function machineUserOf({ row, joined }: Grouped<MachineUserRow, MachineUserKey>): MachineUser {
  return { ...row, keys: joined };
}

const MACHINE_USER = lookUpWith(machineUsers, KEYS);

export async function findMachineUser(reader: Reader, id: MachineUserId): Promise<MachineUser | null> {
  const [found] = groupRows(await reader.findChildren(MACHINE_USER, id));
  return found === undefined ? null : machineUserOf(found);
}

interface Filter {
  readonly status?: string | undefined;
}

const LIST = listWith<Filter, typeof machineUsers, MachineUserKey>(
  machineUsers,
  KEYS,
  (given) => and(...equalTo([[machineUsers.status, given.status]])),
  ['createdAt', 'id'],
);

export async function listMachineUsers(
  reader: Reader,
  filter: Filter,
  page: PageRequest,
): Promise<PageOf<MachineUser>> {
  const { rows, totalElements } = await readPageWith(reader, LIST(filter), filter, page);
  return { rows: rows.map(machineUserOf), totalElements };
}

export async function createMachineUser(
  tx: Transaction,
  user: NewMachineUser,
  initiator: Initiator,
): Promise<MachineUser> {
  const { name, roles, key } = user;
  const [createdAt] = await Promise.all([readClock(tx), requireFreeKey(tx, key)]);
  const id = newId<MachineUserId>();
  const made = sendInsertion(tx, machineUsers, { id, name, roles: [...roles], status: 'active', createdAt });
  const first = insertKey(tx, id, key, createdAt);
  audit(tx, id, { initiator, action: 'created', after: { name, roles, kid: key.kid } });
  return { ...made, keys: [first] };
}

/** A machine user with a predetermined id and first key, as kept in the files of a development machine. */
export interface KnownMachineUser extends NewMachineUserKey {
  readonly id: MachineUserId;
  readonly name: string;
  readonly roles: readonly Role[];
}

/** Registers a machine user under its own id. Repeating it with the same id and kid changes nothing, and does not undo a revocation. */
export async function registerMachineUser(
  tx: Transaction,
  user: KnownMachineUser,
  initiator: Initiator,
): Promise<void> {
  const { id, name, roles, ...key } = user;
  const made = await tx.execute(sql`
    INSERT INTO machine_users (id, name, roles, status, created_at)
    VALUES (${id}, ${name}, ${sql.param([...roles])}::text[], 'active', service_now())
    ON CONFLICT (id) DO NOTHING RETURNING id`);
  const known = await tx.execute(
    sql`SELECT id FROM machine_user_keys WHERE machine_user_id = ${id} AND kid = ${key.kid}`,
  );
  if (known.length === 0) {
    await requireFreeKey(tx, key);
    insertKey(tx, id, key, await readClock(tx));
  }
  if (made.length === 0 && known.length > 0) return;
  if (made.length > 0) audit(tx, id, { initiator, action: 'created', after: { name, roles, kid: key.kid } });
  else audit(tx, id, { initiator, action: 'key-added', after: { kid: key.kid } });
}

/** Adds a key, so that the old one can then be revoked. Null for an unknown user. */
export async function addMachineUserKey(
  tx: Transaction,
  id: MachineUserId,
  key: NewMachineUserKey,
  initiator: Initiator,
): Promise<MachineUser | null> {
  const [user, found, now] = await Promise.all([lockMachineUser(tx, id), findMachineUser(tx, id), readClock(tx)]);
  if (user === null || found === null) return null;
  if (user.status === 'revoked') throw revoked(id);
  await requireFreeKey(tx, key);
  const added = insertKey(tx, id, key, now);
  audit(tx, id, { initiator, action: 'key-added', after: { kid: key.kid } });
  return { ...found, keys: [...found.keys, added] };
}

const KEY = lookUpIn(machineUserKeys);

/** Revokes a key permanently; repeating it changes nothing. Null for an unknown user or key. */
export async function revokeMachineUserKey(
  tx: Transaction,
  id: MachineUserId,
  keyId: MachineUserKeyId,
  initiator: Initiator,
): Promise<'revoked' | 'unchanged' | null> {
  const [user, key, now] = await Promise.all([lockMachineUser(tx, id), tx.find(KEY, keyId), readClock(tx)]);
  if (user === null || key?.machineUserId !== id) return null;
  if (key.status === 'revoked') return 'unchanged';
  sendUpdate(tx, machineUserKeys, key, { status: 'revoked', revokedAt: now });
  audit(tx, id, { initiator, action: 'key-revoked', before: { kid: key.kid } });
  return 'revoked';
}

export interface MachineUserChange {
  readonly name?: string | undefined;
  readonly roles?: readonly Role[] | undefined;
  /** Revocation is permanent. */
  readonly status?: MachineUserStatus | undefined;
}

export async function changeMachineUser(
  tx: Transaction,
  id: MachineUserId,
  change: MachineUserChange,
  initiator: Initiator,
): Promise<{ readonly before: MachineUserRow; readonly after: MachineUser } | null> {
  const [user, found, now] = await Promise.all([lockMachineUser(tx, id), findMachineUser(tx, id), readClock(tx)]);
  if (user === null || found === null) return null;
  const status = change.status ?? user.status;
  if (user.status === 'revoked' && status === 'active') throw revoked(id);
  const changed = sendUpdate(tx, machineUsers, user, {
    name: change.name ?? user.name,
    roles: [...(change.roles ?? user.roles)],
    status,
    revokedAt: status === 'revoked' ? (user.revokedAt ?? now) : null,
  });
  audit(tx, id, { initiator, action: 'changed', before: openFields(user), after: openFields(changed) });
  return { before: user, after: { ...changed, keys: found.keys } };
}

function openFields({ name, roles, status }: MachineUserRow) {
  return { name, roles, status };
}

const LOCK = lockIn(machineUsers, 'update', 'row and parts');

function lockMachineUser(tx: Transaction, id: MachineUserId): Promise<MachineUserRow | null> {
  return tx.lock(LOCK, id);
}

const TAKEN_KEYS = prepared((db, given: Given<{ kid: string; publicKey: string }>) =>
  db
    .select({ kid: machineUserKeys.kid })
    .from(machineUserKeys)
    .where(
      or(
        eq(machineUserKeys.kid, given.kid),
        // As the column is filled.
        sql`key_material = coalesce(${given.publicKey}::json ->> 'n', ${given.publicKey}::json ->> 'x')`,
      ),
    ),
);

/** Rejects a kid, and a public key, that are registered. */
async function requireFreeKey(tx: Transaction, { kid, publicKey }: NewMachineUserKey): Promise<void> {
  const taken = await tx.run(TAKEN_KEYS, { kid, publicKey: JSON.stringify(publicKey) });
  if (taken.length === 0) return;
  if (taken.some((other) => other.kid === kid)) {
    throw rejection(
      'common.state.illegal_transition',
      ['machineUserKey', 'kid', kid],
      'A key with this kid is registered already.',
    );
  }
  throw rejection(
    'common.state.illegal_transition',
    ['machineUserKey', 'publicKey', ''],
    'This public key is registered already: a key belongs to one machine user, and once revoked it stays so.',
  );
}

function insertKey(
  tx: Transaction,
  machineUserId: MachineUserId,
  { kid, algorithm, publicKey }: NewMachineUserKey,
  createdAt: Date,
): MachineUserKey {
  const own = { id: newId<MachineUserKeyId>(), machineUserId, kid, algorithm, publicKey, createdAt };
  return sendInsertion(tx, machineUserKeys, { ...own, status: 'active' });
}

function revoked(id: MachineUserId) {
  return rejection(
    'common.state.illegal_transition',
    ['machineUser', 'status', 'revoked'],
    `Machine user ${id} is permanently revoked.`,
  );
}

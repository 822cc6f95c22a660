import { sql } from 'drizzle-orm';
import { refusal } from '../../domain/frame/errors.ts';
import type { MachineUserId, MachineUserKeyId } from '../../domain/frame/ids.ts';
import type { MachineUserStatus, TokenAlgorithm } from '../../domain/machine-users/machine-users.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type Reader, type Transaction, uniqueViolation } from '../driver/client.ts';
import { type AuditEntry, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';

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

/** Decides whether tokens with this kid are valid. */
export interface RegisteredKeyRow {
  readonly machineUserId: MachineUserId;
  readonly roles: readonly string[];
  readonly algorithm: string;
  readonly publicKey: unknown;
  readonly active: boolean;
}

/** Every bearer token needs this, so callers cache it for a few seconds per key. Unknown kids are absent. */
export async function findMachineUserKeys(
  reader: Reader,
  kids: readonly string[],
): Promise<ReadonlyMap<string, RegisteredKeyRow>> {
  const rows = await reader.statement<RegisteredKeyRow & { readonly kid: string }>(
    `SELECT k.kid, u.id AS "machineUserId", u.roles, k.algorithm, k.public_key AS "publicKey",
       u.status = 'active' AND k.status = 'active' AS active
     FROM machine_user_keys k JOIN machine_users u ON u.id = k.machine_user_id
     WHERE k.kid = ANY (ARRAY(SELECT json_array_elements_text($1::json)))`,
    [JSON.stringify(kids)],
  );
  return new Map(rows.map(({ kid, ...key }) => [kid, key]));
}

const MACHINE_USER = sql`
  SELECT u.id, u.name, u.roles, u.status, u.created_at AS "createdAt", u.revoked_at AS "revokedAt"
  FROM machine_users u`;

type MachineUserRow = Omit<MachineUser, 'keys'>;
type KeyRow = MachineUserKey & { readonly machineUserId: MachineUserId };

export async function findMachineUser(reader: Reader, id: MachineUserId): Promise<MachineUser | null> {
  const [row] = await reader.execute<MachineUserRow>(sql`${MACHINE_USER} WHERE u.id = ${id}`);
  if (row === undefined) return null;
  const [user] = await withKeys(reader, [row]);
  return user ?? null;
}

export async function listMachineUsers(
  reader: Reader,
  filter: { readonly status?: string | undefined },
  page: PageRequest,
): Promise<PageOf<MachineUser>> {
  const where = filter.status === undefined ? sql`true` : sql`u.status = ${filter.status}`;
  const rows = await reader.execute<MachineUserRow>(
    sql`${MACHINE_USER} WHERE ${where} ORDER BY u.created_at, u.id LIMIT ${page.size} OFFSET ${page.offset}`,
  );
  const [count] = await reader.execute<{ count: bigint }>(
    sql`SELECT count(*) AS count FROM machine_users u WHERE ${where}`,
  );
  return { rows: await withKeys(reader, rows), totalElements: Number(count?.count ?? 0n) };
}

async function withKeys(reader: Reader, rows: readonly MachineUserRow[]): Promise<MachineUser[]> {
  const keys = await reader.execute<KeyRow>(sql`
    SELECT id, machine_user_id AS "machineUserId", kid, algorithm, status, created_at AS "createdAt",
      revoked_at AS "revokedAt"
    FROM machine_user_keys WHERE machine_user_id = ANY (${sql.param(rows.map((row) => row.id))}::uuid[])
    ORDER BY created_at, id`);
  return rows.map((row) => ({
    ...row,
    keys: keys.filter((key) => key.machineUserId === row.id).map(({ machineUserId: _, ...key }) => key),
  }));
}

export async function createMachineUser(
  tx: Transaction,
  user: NewMachineUser,
  initiator: Initiator,
): Promise<MachineUser> {
  const id = newId<MachineUserId>();
  await tx.execute(sql`
    INSERT INTO machine_users (id, name, roles, status, created_at)
    VALUES (${id}, ${user.name}, ${sql.param([...user.roles])}::text[], 'active', service_now())`);
  await insertKey(tx, id, user.key);
  const after = { name: user.name, roles: user.roles, kid: user.key.kid };
  audit(tx, id, { initiator, action: 'created', after });
  return required(await findMachineUser(tx, id), id);
}

/** A machine user with a predetermined id and first key, as kept in the files of a development machine. */
export interface KnownMachineUser extends NewMachineUserKey {
  readonly id: MachineUserId;
  readonly name: string;
  readonly roles: readonly Role[];
}

/** Registers a machine user under its own id. Repeating it with the same id and kid changes and revives nothing. */
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
  if (known.length === 0) await insertKey(tx, id, key);
  if (made.length === 0 && known.length > 0) return;
  if (made.length > 0) audit(tx, id, { initiator, action: 'created', after: { name, roles, kid: key.kid } });
  else audit(tx, id, { initiator, action: 'key-added', after: { kid: key.kid } });
}

function audit(tx: Transaction, id: MachineUserId, entry: Omit<AuditEntry, 'resource' | 'resourceId'>): void {
  appendAuditEntry(tx, { resource: 'machine-user', resourceId: id, ...entry });
}

/** Adds a key, so that the old one can then be revoked. Null for an unknown user. */
export async function addMachineUserKey(
  tx: Transaction,
  id: MachineUserId,
  key: NewMachineUserKey,
  initiator: Initiator,
): Promise<MachineUser | null> {
  const user = await lockMachineUser(tx, id);
  if (user === null) return null;
  if (user.status === 'revoked') throw revoked(id);
  await insertKey(tx, id, key);
  audit(tx, id, { initiator, action: 'key-added', after: { kid: key.kid } });
  return findMachineUser(tx, id);
}

/** Revokes a key permanently; repeating it changes nothing. False for an unknown user or key. */
export async function revokeMachineUserKey(
  tx: Transaction,
  id: MachineUserId,
  keyId: MachineUserKeyId,
  initiator: Initiator,
): Promise<boolean> {
  if ((await lockMachineUser(tx, id)) === null) return false;
  const [key] = await tx.execute<{ kid: string; status: MachineUserStatus }>(
    sql`SELECT kid, status FROM machine_user_keys WHERE id = ${keyId} AND machine_user_id = ${id}`,
  );
  if (key === undefined) return false;
  if (key.status === 'revoked') return true;
  await tx.execute(sql`
    UPDATE machine_user_keys SET status = 'revoked', revoked_at = service_now() WHERE id = ${keyId}`);
  audit(tx, id, { initiator, action: 'key-revoked', before: { kid: key.kid } });
  return true;
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
): Promise<MachineUser | null> {
  const user = await lockMachineUser(tx, id);
  if (user === null) return null;
  const status = change.status ?? user.status;
  if (user.status === 'revoked' && status === 'active') throw revoked(id);
  await tx.execute(sql`
    UPDATE machine_users SET name = ${change.name ?? user.name},
      roles = ${sql.param([...(change.roles ?? user.roles)])}::text[], status = ${status},
      revoked_at = CASE WHEN ${status}::text = 'revoked' THEN coalesce(revoked_at, service_now()) END
    WHERE id = ${id}`);
  const { name, roles } = user;
  const before = { name, roles, status: user.status };
  const after = { name: change.name ?? name, roles: change.roles ?? roles, status };
  audit(tx, id, { initiator, action: 'changed', before, after });
  return findMachineUser(tx, id);
}

async function lockMachineUser(tx: Transaction, id: MachineUserId): Promise<MachineUserRow | null> {
  const [row] = await tx.execute<MachineUserRow>(sql`${MACHINE_USER} WHERE u.id = ${id} FOR UPDATE`);
  return row ?? null;
}

async function insertKey(tx: Transaction, id: MachineUserId, key: NewMachineUserKey): Promise<void> {
  try {
    await tx.execute(sql`
      INSERT INTO machine_user_keys (id, machine_user_id, kid, algorithm, public_key, status, created_at)
      VALUES (${newId()}, ${id}, ${key.kid}, ${key.algorithm}, ${JSON.stringify(key.publicKey)}::jsonb, 'active',
        service_now())`);
  } catch (error) {
    const violated = uniqueViolation(error);
    if (violated === null) throw error;
    if (violated === 'machine_user_keys_one_registration') {
      throw refusal(
        'common.state.illegal_transition',
        ['machineUserKey', 'publicKey', ''],
        'This public key is registered already: a key belongs to one machine user, and once revoked it stays so.',
      );
    }
    throw refusal(
      'common.state.illegal_transition',
      ['machineUserKey', 'kid', key.kid],
      'A key with this kid is registered already.',
    );
  }
}

function revoked(id: MachineUserId) {
  return refusal(
    'common.state.illegal_transition',
    ['machineUser', 'status', 'revoked'],
    `Machine user ${id} is revoked for good.`,
  );
}

function required<Value>(value: Value | null, id: string): Value {
  if (value === null) throw new Error(`machine user ${id} is not there after its insertion`);
  return value;
}

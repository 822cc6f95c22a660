import { type SQL, sql } from 'drizzle-orm';
import { accountHolderNameRow } from './beneficiaries/verifications.ts';
import { storedAnswerRow } from './common/idempotency-keys.ts';
import type { Keyring } from './common/keyring.ts';
import { signingKeyRow } from './open-banking/signing-keys.ts';
import type { Reader } from './query/database.ts';
import { webhookSecretRow } from './webhooks/schema.ts';

/**
 * The columns that hold encrypted values. Values under an older key are re-encrypted under the newest key. A value that
 * changes meanwhile stays as it is.
 */
export interface EncryptedColumn {
  readonly name: string;
  /** The next values after a cursor, in a fixed order, each with its row's name and cursor. */
  read(reader: Reader, after: Cursor | null, limit: number, prefix: string): Promise<readonly EncryptedValue[]>;
  replace(reader: Reader, value: EncryptedValue, fresh: string): Promise<void>;
}

type Cursor = readonly string[];

export interface EncryptedValue {
  readonly cursor: Cursor;
  /** Null if it is already under the newest key. */
  readonly stored: string | null;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

const webhookSecrets = columnOf('webhook_secrets', 'secret', webhookSecretRow);
const accountHolderNames = columnOf('beneficiary_verifications', 'account_holder_name', accountHolderNameRow);
const signingPrivateKeys = columnOf('signing_keys', 'private_key', signingKeyRow);

/** A column of a table whose rows have an id. `rowOf`: the name of the row by which the keyring encrypts. */
function columnOf(table: string, column: string, rowOf: (id: string) => string): NamedEncryptedColumn {
  const [from, value] = [sql.identifier(table), sql.identifier(column)];
  return {
    name: `${table}.${column}`,
    row: ([id = '']) => rowOf(id),
    read: (reader, after, limit, prefix) =>
      reader.execute<EncryptedValue>(sql`
        SELECT ARRAY[id::text] AS cursor, ${unlessCurrent(sql`${value}`, prefix)} AS stored
        FROM ${from} WHERE id > ${after?.[0] ?? NO_ID} ORDER BY id LIMIT ${limit}`),
    replace: async (reader, { cursor: [id = ''], stored }, fresh) => {
      await reader.execute(sql`UPDATE ${from} SET ${value} = ${fresh} WHERE id = ${id} AND ${value} = ${stored}`);
    },
  };
}

/** The routes whose contract marks their answers as confidential. */
export const CONFIDENTIAL_PATHS = [
  '/beneficiary-verifications',
  '/webhook-subscriptions',
  '/webhook-subscriptions/{webhookSubscriptionId}/rotate-secret',
] as const;

/** The stored answers of confidential routes. In a path, `{webhookSubscriptionId}` matches any id. */
function storedAnswers(paths: readonly string[]): EncryptedColumn & Named {
  const all = sql`ARRAY(
    SELECT path FROM unnest(${sql.param([...paths])}::text[]) AS path WHERE path NOT LIKE '%{%'
    UNION ALL SELECT replace(path, '{webhookSubscriptionId}', subscription.id::text)
      FROM unnest(${sql.param([...paths])}::text[]) AS path, webhook_subscriptions subscription WHERE path LIKE '%{%')`;
  return {
    name: 'idempotency_keys.response_body',
    row: (cursor) => storedAnswerRow(scopeOf(cursor)),
    read: (reader, after, limit, prefix) => {
      const { machineUserId, method, path, key } = scopeOf(after ?? [NO_ID, '', '', '']);
      return reader.execute<EncryptedValue>(sql`
        SELECT ARRAY[machine_user_id::text, method, path, key::text] AS cursor,
          ${unlessCurrent(sql`response_body`, prefix)} AS stored
        FROM idempotency_keys
        WHERE machine_user_id = ANY (ARRAY(SELECT id FROM machine_users)) AND method = 'POST' AND path = ANY (${all})
          AND (machine_user_id, method, path, key) > (${machineUserId}::uuid, ${method}::text, ${path}::text, ${key}::text)
        ORDER BY machine_user_id, method, path, key LIMIT ${limit}`);
    },
    replace: async (reader, { cursor, stored }, fresh) => {
      const { machineUserId, method, path, key } = scopeOf(cursor);
      await reader.execute(sql`
        UPDATE idempotency_keys SET response_body = ${fresh}
        WHERE machine_user_id = ${machineUserId} AND method = ${method} AND path = ${path} AND key = ${key}
          AND response_body = ${stored}`);
    },
  };
}

interface Named {
  /** The name of the row by which the keyring encrypts. */
  row(cursor: Cursor): string;
}

export type NamedEncryptedColumn = EncryptedColumn & Named;

export function encryptedColumns(confidentialPaths: readonly string[]): readonly NamedEncryptedColumn[] {
  return [webhookSecrets, accountHolderNames, signingPrivateKeys, storedAnswers(confidentialPaths)];
}

/** Re-encrypts one batch. Returns the next cursor, or null at the end, and how many values no key could decrypt. */
export async function reEncryptBatch(
  reader: Reader,
  keyring: Keyring,
  column: NamedEncryptedColumn,
  after: Cursor | null,
  limit: number,
): Promise<{ readonly next: Cursor | null; readonly unreadable: number }> {
  const values = await column.read(reader, after, limit, keyring.prefix);
  let unreadable = 0;
  for (const value of values) {
    if (value.stored === null) continue;
    const fresh = decrypted(keyring, value.stored, column.row(value.cursor));
    if (fresh === null) unreadable += 1;
    else await column.replace(reader, value, keyring.encrypt(fresh, column.row(value.cursor)));
  }
  return { next: values.length < limit ? null : (values.at(-1)?.cursor ?? null), unreadable };
}

/** Of the first values of a column, how many a key decrypts; none without a keyring. */
export async function countReadable(
  reader: Reader,
  keyring: Keyring | null,
  column: NamedEncryptedColumn,
  limit: number,
): Promise<{ readonly readable: number; readonly all: number }> {
  const values = await column.read(reader, null, limit, NO_PREFIX);
  const stored = values.flatMap(({ stored, cursor }) => (stored === null ? [] : [{ stored, row: column.row(cursor) }]));
  const readable =
    keyring === null ? [] : stored.filter((value) => decrypted(keyring, value.stored, value.row) !== null);
  return { readable: readable.length, all: stored.length };
}

/** Of no value: all are read. */
const NO_PREFIX = '-';

function decrypted(keyring: Keyring, stored: string, row: string): string | null {
  try {
    return keyring.decrypt(stored, row);
  } catch {
    return null;
  }
}

function scopeOf([machineUserId = '', method = '', path = '', key = '']: Cursor) {
  return { machineUserId, method, path, key };
}

function unlessCurrent(column: SQL, prefix: string): SQL {
  return sql`CASE WHEN starts_with(${column}, ${prefix}) THEN NULL ELSE ${column} END`;
}

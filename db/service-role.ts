import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { SharedSessions } from './postgres/failures.ts';
import type { Database, Reader } from './query/database.ts';

// Two roles: one owns the tables and migrates, and one runs the service's processes with the rights that they need. A table's owner can
// switch off the triggers that protect postings and the audit log; the service cannot.

const STATEMENTS = readFileSync(new URL('./service-role.sql', import.meta.url), 'utf8');

/** Revoking from a table also removes rights to its columns that are needed, so a second pass may find more. */
const PASSES_MAX = 3;

/**
 * Grants the role what the service needs, and no more; changes nothing if that is so already. Returns the statements that had no
 * effect: a right that a third role has granted can be revoked only by that role.
 */
export async function grantToService(sql: Pick<postgres.Sql, 'unsafe'>, role: string): Promise<readonly string[]> {
  for (let pass = 1; ; pass += 1) {
    const rows = await sql.unsafe<{ text: string }[]>(STATEMENTS, [role]);
    const statements = rows.map(({ text }) => text);
    if (statements.length === 0 || pass > PASSES_MAX) return statements;
    await sql.unsafe(statements.join(';\n'));
  }
}

export interface RoleFacts {
  /** It is the migrating role, a member of it, or a superuser. */
  readonly actsAsMigrator: boolean;
  readonly ownsTables: boolean;
}

/** Null: there is no such role. */
export async function readRole(sql: postgres.Sql, role: string): Promise<RoleFacts | null> {
  const [found] = await sql<RoleFacts[]>`
    SELECT pg_has_role(oid, current_user, 'MEMBER') AS "actsAsMigrator", EXISTS (
      SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND pg_has_role(role.oid, relowner, 'MEMBER')
    ) AS "ownsTables" FROM pg_roles role WHERE rolname = ${role}`;
  return found ?? null;
}

/** For a role that owns the tables, or was granted what only their owner should have. */
export const OWNER_RUNS =
  'The service’s role can undo what keeps postings and the audit log unchanged: it owns tables, or was given too much. Give it a role of its own, and migrate (docs/installation.md).';

const LACKS_RIGHTS =
  'The role of DATABASE_URL lacks rights to tables of the service: migrate with MIGRATION_DATABASE_URL, the owner’s address, and this DATABASE_URL.';

// Checks the append-only tables: there an excessive right does the most harm, and every process reads and writes them.
const RIGHTS = `SELECT
  coalesce(bool_or(pg_has_role(relowner, 'MEMBER') OR has_table_privilege(tgrelid, 'UPDATE, DELETE, TRUNCATE, TRIGGER')), false)
    AS "hasTooMany",
  coalesce(bool_or(NOT (has_table_privilege(tgrelid, 'SELECT') AND has_table_privilege(tgrelid, 'INSERT'))), false) AS "hasTooFew"
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE tgfoid = to_regproc('reject_change') AND tgtype & 32 > 0 AND NOT relispartition`;

/** What is wrong with the rights of this process's role; null if nothing is. */
export async function faultOfRole(reader: Reader): Promise<string | null> {
  const [rights] = await reader.statement<{ hasTooMany: boolean; hasTooFew: boolean }>(RIGHTS, []);
  if (rights?.hasTooMany) return OWNER_RUNS;
  return rights?.hasTooFew ? LACKS_RIGHTS : null;
}

const LOOK_PAUSE_MS = 1_000;

/** Ends the process by a sentence if no session would be its own. Resolves while Postgres is away: such sessions are never used. */
export async function rejectSharedSessions(database: Database, reject: (reason: string) => void): Promise<void> {
  const failure = await database.statement('SELECT 1', []).catch((error: unknown) => error);
  if (failure instanceof SharedSessions) reject(failure.message);
}

/** Warns of a role with too many rights or too few, as soon as Postgres answers. */
export async function warnOfRole(database: Database, logger: { warn(line: string): void }): Promise<void> {
  for (;;) {
    const fault = await faultOfRole(database.reader).catch(() => undefined);
    if (typeof fault === 'string') logger.warn(fault);
    if (fault !== undefined) return;
    await sleep(LOOK_PAUSE_MS, undefined, { ref: false });
  }
}

import { randomUUID } from 'node:crypto';
import type { CallLimits, Database } from '../../../db/query/database.ts';
import type { TestDatabase } from '../servers/postgres.ts';

/** A service that applies every change of a transfer under locks, and the schema whose functions it calls instead of its own. */
export async function withChangesUnderLocks(database: TestDatabase): Promise<{ url: string; schema: string }> {
  const schema = `changes_under_locks_${randomUUID().replaceAll('-', '')}`;
  await database.asOwner(`
    CREATE SCHEMA ${schema};
    GRANT USAGE ON SCHEMA ${schema} TO PUBLIC;
    CREATE FUNCTION ${schema}.apply_transfer_changes(changes json, waits boolean, OUT outcome text, OUT response_body text)
      RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN
        IF waits THEN RETURN QUERY SELECT * FROM public.apply_transfer_changes(changes, waits);
        ELSE RETURN QUERY SELECT 'not-applied', NULL FROM json_array_elements(changes); END IF;
      END $$`);
  const url = new URL(database.url);
  url.searchParams.set('options', `-c search_path=${schema},public`);
  return { url: url.href, schema };
}

/** A database in which something happens after a request has read and before it writes. */
export interface InterruptedDatabase {
  readonly wrap: (database: Database) => Database;
  /** What happens before the next statement or transaction that writes, once. */
  interrupt(happening: () => Promise<unknown>): void;
  /** How many changes have been applied without locks. */
  applied(): number;
}

export function interruptedDatabase(): InterruptedDatabase {
  let pending: (() => Promise<unknown>) | null = null;
  let applied = 0;
  const happen = async () => {
    const happening = pending;
    pending = null;
    await happening?.();
  };
  const wrap = (database: Database): Database => {
    const wrapped: Database = {
      ...database,
      write: async <Row>(text: string, params: readonly unknown[], limits?: CallLimits) => {
        await happen();
        const rows = await database.write<Row>(text, params, limits);
        applied += rows.filter((row) => Object(row).outcome === 'applied').length;
        return rows;
      },
      transaction: async (work, options) => {
        await happen();
        return database.transaction(work, options);
      },
      forCaller: (limits, reads) => ({
        ...database.forCaller(limits, reads),
        transaction: async (work, options) => {
          await happen();
          return database.forCaller(limits, reads).transaction(work, options);
        },
        shared: () => wrapped,
      }),
      shared: () => wrapped,
    };
    return wrapped;
  };
  return {
    wrap,
    interrupt: (happening) => {
      pending = happening;
    },
    applied: () => applied,
  };
}

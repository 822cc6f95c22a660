import { sql } from 'drizzle-orm';
import type { Database } from '../../../db/query/database.ts';

/** Every row of every table, one per line, as a thief of a backup would read it. */
export async function dumpDatabase(database: Database): Promise<string> {
  const tables = await database.reader.execute<{ name: string }>(
    sql`SELECT oid::regclass::text AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const rows = await database.reader.execute<{ row: string }>(
      sql`SELECT row_to_json(t)::text AS row FROM ${sql.raw(name)} t`,
    );
    for (const { row } of rows) lines.push(`${name} ${row}`);
  }
  return lines.join('\n');
}

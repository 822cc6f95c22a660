import { sql } from 'drizzle-orm';
import type { AccountId } from '../domain/ids.ts';
import type { Reader } from './client.ts';

/** Accounts that were credited while transfers wait there for money. */
export async function listAdmissionsDue(reader: Reader, limit: number): Promise<AccountId[]> {
  const rows = await reader.execute<{ id: AccountId }>(
    sql`SELECT id FROM accounts WHERE admission_due ORDER BY id LIMIT ${limit}`,
  );
  return rows.map((row) => row.id);
}

import { sql } from 'drizzle-orm';
import type { Transaction } from './client.ts';
import { newId } from './ids.ts';

/** Who did what to what, where no event tells it. No secrets and no personal data in `details`. */
export interface AuditEntry {
  /** A machine user's id, or `operator` for a command. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Appends to the audit log, in the transaction of what it tells. */
export async function appendAuditEntry(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx.execute(sql`
    INSERT INTO audit_entries (id, occurred_at, actor, action, subject, details)
    VALUES (${newId()}, service_now(), ${entry.actor}, ${entry.action}, ${entry.subject},
      ${JSON.stringify(entry.details ?? {})}::jsonb)`);
}

import type { Reader, Transaction } from '../../query/database.ts';
import { findBankRestore, IS_UNREAD, unfit } from '../restores.ts';

const NOT_READ = `
  SELECT name FROM bank_files file WHERE provider = $1 AND ${IS_UNREAD} LIMIT 1`;

/** The name of a file of the bank that is still to be read, or that a person has to see to. */
export async function findUnread(reader: Reader, provider: string): Promise<string | null> {
  const [reading] = await reader.statement<{ name: string }>(NOT_READ, [provider]);
  return reading?.name ?? null;
}

/** What the bank has said already may forbid it: nothing is sent again before all of that has been read. */
export async function requireAllRead(tx: Transaction, provider: string): Promise<void> {
  const restore = await findBankRestore(tx, provider);
  if (restore !== null && restore.archiveReadAt === null) {
    throw unfit(provider, `The archive of ${provider} has not been read again since the restore: wait for it.`);
  }
  const reading = await findUnread(tx, provider);
  if (reading === null) return;
  throw unfit(
    provider,
    `The file ${reading} of ${provider} is not read, and may say of it: wait for it, or settle it if it is set aside.`,
  );
}

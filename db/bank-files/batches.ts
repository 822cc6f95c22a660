import type { Reader, Transaction } from '../query/database.ts';

const FILE_OF_BATCH = `
  SELECT file_id AS "fileId" FROM bank_instructions WHERE provider = $1 AND batch_id = $2 AND file_id IS NOT NULL LIMIT 1`;

/** The file with a batch; null: no file of ours has it. */
export async function findFileOfBatch(reader: Reader, provider: string, batchId: string): Promise<string | null> {
  const [found] = await reader.statement<{ readonly fileId: string }>(FILE_OF_BATCH, [provider, batchId]);
  return found?.fileId ?? null;
}

const HEARD_TOGETHER = `
  UPDATE bank_instructions SET expected_by = service_now() + $3 * interval '1 hour' WHERE provider = $1 AND batch_id = $2 AND expected_by IS NOT NULL`;

/** The bank has told of a batch, and not what became of its payments: that may take `silenceHours` more. */
export async function noteHeardOfBatch(
  tx: Transaction,
  { provider, batchId }: { readonly provider: string; readonly batchId: string },
  silenceHours: number,
): Promise<void> {
  await tx.statement(HEARD_TOGETHER, [provider, batchId, silenceHours]);
}

import { type BankRestore, listBankRestores } from '../../../db/bank-files/restores.ts';
import type { OperationContext } from '../operation.ts';

/** What a restore holds at a bank that takes files, in one line. */
export function heldInWords(restore: BankRestore): string {
  const { provider, heldPayments, heldFiles, archiveReadAt, untakenFiles, isCaughtUp } = restore;
  const left =
    archiveReadAt === null ? 'its archive is still to be read' : `${untakenFiles} of its files are still to be taken`;
  const next = isCaughtUp ? 'all that it has told is known' : `release nothing yet: ${left}`;
  return `held at ${provider} since the restore: ${heldPayments} payments, ${heldFiles} files, and each older payment that is submitted; ${next}.`;
}

/** Prints it for each bank; returns their number. */
export async function printHeldAtBanks({
  database,
  print,
}: Pick<OperationContext, 'database' | 'print'>): Promise<number> {
  const restores = await listBankRestores(database.reader);
  for (const restore of restores) print(heldInWords(restore));
  return restores.length;
}

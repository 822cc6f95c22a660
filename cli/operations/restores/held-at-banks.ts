import type { Configuration } from '../../../config/configuration.ts';
import { type BankRestore, listBankRestores } from '../../../db/bank-files/restores.ts';
import type { OperationContext } from '../operation.ts';
import { operate } from '../why/commands.ts';

type Exchanges = Pick<Configuration, 'fileExchanges'>;

/** What a restore holds at a bank that takes files, in one line. */
export function heldInWords(restore: BankRestore, { fileExchanges }: Exchanges): string {
  const { provider, heldPayments, heldFiles, isCaughtUp, isClosed } = restore;
  const told = isCaughtUp ? 'all that it has told is known' : `release nothing yet: ${leftInWords(restore)}`;
  const unconfigured = isClosed
    ? 'its restore is closed: what is held waits until it is configured again, and its archive is read'
    : `it is no longer configured: ask it what it has, then ${operate(`bank-files close-restore --bank ${provider} --reason TEXT`)}`;
  const next = fileExchanges.has(provider) ? told : unconfigured;
  return `held at ${provider} since the restore: ${heldPayments} payments, ${heldFiles} files, and each older payment that is submitted; ${next}.`;
}

function leftInWords({ provider, archiveReadAt, untakenFiles, unreadFiles }: BankRestore): string {
  if (archiveReadAt === null) return 'its archive is still to be read';
  if (untakenFiles > 0) return `${untakenFiles} of its files are still to be taken`;
  const list = operate(`bank-files list --bank ${provider} --direction in --state set-aside`);
  return `${unreadFiles} of its files are set aside, unread or about what is lost: find out what they mean, and settle them (${list})`;
}

/** Prints it for each bank; returns their number. */
export async function printHeldAtBanks(
  { database, print }: Pick<OperationContext, 'database' | 'print'>,
  exchanges: Exchanges,
): Promise<number> {
  const restores = await listBankRestores(database.reader);
  for (const restore of restores) print(heldInWords(restore, exchanges));
  return restores.length;
}

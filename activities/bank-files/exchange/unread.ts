import { storeUnreadFile } from '../../../db/bank-files/files.ts';
import type { BankServices } from './bank.ts';
import { FILE_BYTES_MAX, isUnfinished, type ListedFile } from './transport.ts';

/** Longer than any bank writes one file. */
const UNFINISHED_MS_MAX = 86_400_000;

/** Why a file is not fetched, but left to a person; null: it is fetched, or may be later. `nowMs`: in real time, as files' times are. */
export function whyUnread({ name, size, modifiedAtMs, unfit }: ListedFile, nowMs: number): string | null {
  if (unfit !== undefined) return `not read: ${unfit}`;
  if (size > FILE_BYTES_MAX)
    return `not read: it has more than ${FILE_BYTES_MAX / 1024 / 1024} MiB, the most of a file`;
  const isLeft = isUnfinished(name) && nowMs - modifiedAtMs > UNFINISHED_MS_MAX;
  return isLeft ? 'not read: its name has said for a day that it is still being written' : null;
}

/** Gives it a row that raises the alarm of files that are set aside, once for what the listing shows. */
export async function leaveToPerson(
  { database, logger, bank: { provider } }: BankServices,
  { name, size, modifiedAtMs }: ListedFile,
  reason: string,
): Promise<void> {
  const file = { provider, name: storedName(name), size, modifiedAt: new Date(modifiedAtMs), reason };
  const isNew = await database.transaction((tx) => storeUnreadFile(tx, file));
  if (isNew) logger.error({ provider, file: name, size, reason }, 'a file of the bank is set aside');
}

const NAME_BYTES_MAX = 255;

/** A name as Postgres and file systems hold it: servers may allow longer ones. */
export function storedName(name: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > NAME_BYTES_MAX) break;
    kept += character;
  }
  return kept;
}

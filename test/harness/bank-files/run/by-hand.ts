import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UNPROVEN } from '../../../../activities/bank-files/exchange/deliver.ts';
import { markDeliveredByHand } from '../../../../db/bank-files/by-hand/files.ts';
import type { BankFileId } from '../../../../domain/common/ids.ts';
import type { Json } from '../../api.ts';
import { TESTER } from '../../audit.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { FILE_BANK } from './names.ts';

/** By then the bank has taken it, or never had it. */
const LOST_AFTER_SECONDS = 10;
const SILENCE_HOURS = 24;
const LOST = `SELECT id, name, message, temporary_name AS "temporaryName", encode(digest, 'hex') AS digest, content FROM bank_files
  WHERE provider = $1 AND direction = 'out' AND state = 'delivering' AND reason = $2 AND rename_began_at < clock_timestamp() - $3 * interval '1 second'`;

/**
 * What a person does with a file whose delivery is not proven: looks for it at the bank, and if it is nowhere there, hands over the same bytes
 * under the same name by another way. Returns how many there were.
 */
export async function carryLostFiles({ database, sandboxUrl, directory }: WholeService): Promise<number> {
  const asked = [FILE_BANK, UNPROVEN, LOST_AFTER_SECONDS];
  const unproven = await database.reader.statement<LostFile>(LOST, asked);
  if (unproven.length === 0) return 0;
  const folder = join(directory, 'sandbox/file-bank/customers', FILE_BANK, 'in');
  const { received }: Json = await (await fetch(`${sandboxUrl}/file-bank/files?customer=${FILE_BANK}`)).json();
  const taken = new Set(received.map(({ fileName }: Json) => fileName));
  const known = new Set([...taken, ...readdirSync(folder)]);
  // The bank may say nothing of a request, so that no word of it ever proves the delivery.
  for (const { id, digest } of unproven.filter(({ name, message }) => message === 'camt.055' && taken.has(name))) {
    const initiator = { ...TESTER, reason: 'the bank lists it as taken' };
    await database.transaction((tx) => markDeliveredByHand(tx, id, { digest, silenceHours: SILENCE_HOURS }, initiator));
  }
  const lost = unproven.filter(({ name, temporaryName }) => !known.has(name) && !known.has(temporaryName));
  for (const { name, content } of lost) {
    writeFileSync(join(folder, `.${name}`), content);
    renameSync(join(folder, `.${name}`), join(folder, name));
  }
  return lost.length;
}

interface LostFile {
  readonly id: BankFileId;
  readonly name: string;
  readonly message: string;
  readonly digest: string;
  readonly temporaryName: string;
  readonly content: Buffer;
}

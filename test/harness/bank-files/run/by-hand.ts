import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UNPROVEN } from '../../../../activities/bank-files/exchange/deliver.ts';
import type { Json } from '../../api.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { FILE_BANK } from './names.ts';

/** By then the bank has taken it, or never had it. */
const LOST_AFTER_SECONDS = 10;
const LOST = `SELECT name, temporary_name AS "temporaryName", content FROM bank_files
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
  const known = new Set([...received.map(({ fileName }: Json) => fileName), ...readdirSync(folder)]);
  const lost = unproven.filter(({ name, temporaryName }) => !known.has(name) && !known.has(temporaryName));
  for (const { name, content } of lost) {
    writeFileSync(join(folder, `.${name}`), content);
    renameSync(join(folder, `.${name}`), join(folder, name));
  }
  return lost.length;
}

interface LostFile {
  readonly name: string;
  readonly temporaryName: string;
  readonly content: Buffer;
}
